/* index.html: one page that needs nothing else. The figure is drawn in the browser from the data in the page; tables
 * are there without a script. Nothing of the time or place of writing is in it. */
#include "report/html.h"
#include "report/report.h"
#include "report/style.h"

#include <stdio.h>
#include <string.h>

/* ---- claims */

static void write_verdict(pess__outfile *file, const pess_experiment_claim *claim) {
    pess__outfile_print(file, !claim->judged ? "<td>–"
                              : claim->holds ? "<td><span class=\"yes\">✓ holds</span>"
                                             : "<td><span class=\"no\">✗ does not hold</span>");
    if (claim->judged && !claim->holds && claim->reason != NULL) {
        pess__outfile_print(file, "<br>");
        pess__html_text(file, claim->reason);
    }
    pess__outfile_print(file, "</td>");
}

/* Claims that are their own rule: a row each, about an algorithm. */
static void write_plain_claims(pess__outfile *file, const pess_experiment *e) {
    const bool judged = e->claims[0].judged;
    pess__outfile_print(
        file,
        "<div class=\"scroll\"><table id=\"predictions\" class=\"verdicts\"><thead><tr><th>About</th><th>%s</th>"
        "<th>Found</th>%s</tr></thead><tbody>\n",
        judged ? "Prediction" : "What", judged ? "<th>Verdict</th>" : "");
    for (int64_t i = 0; i < e->claim_count; i++) {
        const pess_experiment_claim *claim = &e->claims[i];
        pess__outfile_print(file, "<tr>");
        pess__html_tag(file, "td", "", pess__style_of(claim->about).label);
        pess__html_tag(file, "td", "", claim->claim);
        pess__html_tag(file, "td", "", claim->found);
        if (judged) write_verdict(file, claim);
        pess__outfile_print(file, "</tr>\n");
    }
    pess__outfile_print(file, "</tbody></table></div>\n");
}

/* Is the claim about a curve, and not about a game? */
static bool about_a_curve(const pess_experiment *e, const char *about) {
    for (int64_t i = 0; i < e->point_count; i++)
        if (strcmp(e->points[i].algorithm, about) == 0) return true;
    return false;
}

/* A claim, its rule, and a row for every game, or every curve, below it. */
static void write_ruled_claim(pess__outfile *file, const pess_experiment *e, int64_t first) {
    const char *text = e->claims[first].claim;
    pess__html_tag(file, "h3", "", text);
    pess__outfile_print(file, "\n");
    pess__html_tag(file, "p", "class=\"note\"", e->claims[first].rule);
    pess__outfile_print(file, "\n<div class=\"scroll\"><table class=\"verdicts\"><tbody>\n");
    for (int64_t i = first; i < e->claim_count; i++) {
        char title[80];
        if (strcmp(e->claims[i].claim, text) != 0) continue;
        pess__game_title(e->claims[i].about, title, sizeof title);
        pess__outfile_print(file, "<tr>");
        pess__html_tag(file, "td", "",
                       about_a_curve(e, e->claims[i].about) ? pess__style_of(e->claims[i].about).label : title);
        write_verdict(file, &e->claims[i]);
        pess__html_tag(file, "td", "", e->claims[i].found);
        pess__outfile_print(file, "</tr>\n");
    }
    pess__outfile_print(file, "</tbody></table></div>\n");
}

static void write_claims(pess__outfile *file, const pess_experiment *e) {
    if (e->claim_count == 0) return;
    pess__html_tag(file, "h2", "", e->kind->info.findings);
    pess__outfile_print(file, "\n");
    if (e->claims[0].rule == NULL) {
        write_plain_claims(file, e);
        return;
    }
    pess__outfile_print(file,
                        "<p>Each claim is judged by a rule that was fixed beforehand, from the curves alone.</p>\n");
    for (int64_t i = 0; i < e->claim_count; i++) {
        bool told = false;
        for (int64_t j = 0; j < i; j++) told |= strcmp(e->claims[j].claim, e->claims[i].claim) == 0;
        if (!told) write_ruled_claim(file, e, i);
    }
}

/* ---- what was run */

/* What the data of some runs do not support. */
static void write_warnings(pess__outfile *file, const pess_experiment *e) {
    for (int64_t i = 0; i < e->warning_count; i++) {
        const pess__experiment_warning *warning = &e->warnings[i];
        char title[80], text[500];
        pess__game_title(warning->game, title, sizeof title);
        (void)snprintf(text, sizeof text, "Warning of %lld run%s of %s in %s: %s.", (long long)warning->runs,
                       warning->runs == 1 ? "" : "s", pess__style_of(warning->algorithm).label, title, warning->text);
        pess__html_tag(file, "p", "class=\"note\"", text);
        pess__outfile_print(file, "\n");
    }
}

static void write_description(pess__outfile *file, const pess_experiment *e) {
    pess__outfile_print(file, "<h2>What was run</h2>\n");
    pess__html_tag(file, "p", "", e->description);
    pess__outfile_print(file, "\n");
    pess__html_tag(file, "p", "", e->kind->explanation);
    pess__outfile_print(file, "\n");
    write_warnings(file, e);
}

/* ---- tables and files */

static pess_status write_tables(pess__outfile *file, const pess_experiment *e, const pess__figure *second,
                                pess_error *error) {
    for (const pess__experiment_table *table = e->kind->tables; table->title != NULL; table++) {
        if (table->y_label != NULL && second->panel_count == 0) continue;
        pess__html_tag(file, "h2", "", table->title);
        pess__outfile_print(file, "\n");
        if (table->note != NULL) {
            pess__html_tag(file, "p", "", table->note);
            pess__outfile_print(file, "\n");
        }
        if (table->y_label != NULL) pess__html_plots(file, 1);
        PESS_TRY(pess__page_table(file, e, table, error));
    }
    if (!e->kind->averages) return PESS_OK;
    pess__page_averages(file, e);
    return pess__page_compared(file, e, error);
}

static void write_files(pess__outfile *file, const pess_experiment *e, const char *command) {
    char name[40];
    pess__outfile_print(file, "<h2>To repeat it</h2>\n");
    pess__html_tag(file, "pre", "", command);
    pess__outfile_print(file, "\n<p class=\"note\">Beside this page: <a href=\"results.csv\">results.csv</a>");
    for (const char *list = e->kind->engine->files; (list = pess__next_word(list, name, sizeof name)) != NULL;)
        pess__outfile_print(file, ", <a href=\"%s\">%s</a>", name, name);
    pess_error why = {0};
    const bool drawn = pess_figure_possible(&why) == PESS_OK;
    if (drawn)
        pess__outfile_print(file, ", <a href=\"figure.svg\">figure.svg</a>, <a href=\"figure.png\">figure.png</a>, "
                                  "<a href=\"figure.pdf\">figure.pdf</a>");
    pess__outfile_print(file, " and <a href=\"manifest.json\">manifest.json</a>. ");
    if (!drawn) {
        pess__outfile_print(file, "There are no figure files: ");
        pess__html_text(file, why.message);
        pess__outfile_print(file, ". ");
    }
    pess__outfile_print(file, "Made by Pessimist %s.</p>\n", pess_build());
}

/* The first table that is drawn gives the second figure. */
static pess_status make_second(const pess_experiment *e, pess__figure *out, pess_error *error) {
    for (const pess__experiment_table *table = e->kind->tables; table->title != NULL; table++)
        if (table->y_label != NULL) return pess__report_second_figure(e, table, out, error);
    return PESS_OK;
}

static pess_status write_page(pess__outfile *file, const pess_experiment *e, const pess__figure *figure,
                              const pess__figure *second, const char *command, pess_error *error) {
    pess__html_begin(file, figure);
    write_claims(file, e);
    write_description(file, e);
    PESS_TRY(write_tables(file, e, second, error));
    write_files(file, e, command);
    pess__html_end(file, figure, second);
    return PESS_OK;
}

pess_status pess__report_page(const pess_experiment *e, const char *command, const char *path, pess_error *error) {
    pess__figure figure = {0}, second = {0};
    pess__outfile *file = NULL;
    pess_status status = pess__report_figure(e, &figure, error);
    if (status == PESS_OK) status = make_second(e, &second, error);
    if (status == PESS_OK) status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        status = write_page(file, e, &figure, &second, command, error);
        if (status == PESS_OK)
            status = pess__outfile_commit(file, error);
        else
            pess__outfile_abandon(file);
    }
    pess__figure_release(&figure);
    pess__figure_release(&second);
    return status;
}
