/* index.html of a deep experiment: figure, claims, what was predicted and what was obtained, tables. */
#include "core/text.h"
#include "experiment/games_judge.h"
#include "report/games.h"
#include "report/html.h"
#include "report/style.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- claims */

static void write_verdict(pess__outfile *file, const pess_minatar_claim *claim) {
    char title[80];
    pess__game_title(claim->game, title, sizeof title);
    pess__outfile_print(file, "<tr>");
    pess__html_tag(file, "td", "", title);
    pess__outfile_print(file, !claim->judged ? "<td>not judged</td>"
                              : claim->holds ? "<td><span class=\"yes\">✓ came out</span></td>"
                                             : "<td><span class=\"no\">✗ did not come out</span></td>");
    pess__html_tag(file, "td", "", claim->found);
    pess__outfile_print(file, "</tr>\n");
}

/* A sentence, its rule, and the games below it. */
static void write_claims(pess__outfile *file, const pess_minatar *m) {
    if (m->claim_count == 0) return;
    pess__html_tag(file, "h2", "", m->info->findings);
    pess__outfile_print(file, "\n<p>Each sentence is judged by a rule that was fixed beforehand, on the curves "
                              "alone.</p>\n");
    for (size_t i = 0; i < m->claim_count; i++) {
        bool told = false;
        for (size_t j = 0; j < i; j++) told |= m->claims[j].claim == m->claims[i].claim;
        if (told) continue;
        pess__html_tag(file, "h3", "", m->claims[i].claim);
        pess__outfile_print(file, "\n");
        pess__html_tag(file, "p", "class=\"note\"", m->claims[i].rule);
        pess__outfile_print(file, "\n<div class=\"scroll\"><table class=\"verdicts\"><tbody>\n");
        for (size_t j = i; j < m->claim_count; j++)
            if (m->claims[j].claim == m->claims[i].claim) write_verdict(file, &m->claims[j]);
        pess__outfile_print(file, "</tbody></table></div>\n");
    }
}

/* ---- tables: a game each */

/* What a cell tells of a point. */
typedef enum cell_kind { CELL_SCORE, CELL_VALUES, CELL_DETAILS } cell_kind;

static void number(pess__outfile *file, double value) {
    if (isnan(value))
        pess__outfile_print(file, "–");
    else
        pess__outfile_print(file, fabs(value) >= 100 ? "%.0f" : fabs(value) >= 10 ? "%.1f" : "%.2f", value);
}

static void write_cell(pess__outfile *file, const pess_minatar_point *p, cell_kind kind) {
    pess__outfile_print(file, "<td>");
    if (p == NULL) {
        pess__outfile_print(file, "–");
    } else if (kind == CELL_SCORE) {
        number(file, p->mean);
        if (p->trials > 1) {
            pess__outfile_print(file, " (");
            number(file, p->min);
            pess__outfile_print(file, " … ");
            number(file, p->max);
            pess__outfile_print(file, ")");
        }
    } else if (kind == CELL_VALUES) {
        number(file, p->predicted);
        pess__outfile_print(file, " / ");
        number(file, p->obtained);
    } else {
        number(file, p->final_mean);
        pess__outfile_print(file, " / ");
        number(file, p->best_mean);
        pess__outfile_print(file, " / ");
        number(file, p->spread);
        pess__outfile_print(file, " / %.0f %%", 100 * p->outside);
    }
    pess__outfile_print(file, "</td>");
}

static bool belongs(const pess_minatar_point *p, cell_kind kind) {
    return kind == CELL_SCORE || (kind == CELL_VALUES ? !isnan(p->predicted) : !isnan(p->final_mean));
}

/* The algorithms with something to tell in this game, in the order of the results. */
static int list_algorithms(const pess_minatar *m, const char *game, cell_kind kind, const char **names, int room) {
    int count = 0;
    for (size_t i = 0; i < m->point_count && count < room; i++) {
        const pess_minatar_point *p = &m->points[i];
        if (strcmp(p->game, game) != 0 || !belongs(p, kind)) continue;
        if (count == 0 || strcmp(names[count - 1], p->algorithm) != 0) names[count++] = p->algorithm;
    }
    return count;
}

static void write_table(pess__outfile *file, const pess_minatar *m, const char *game, cell_kind kind) {
    const char *names[2 * PESS__GAMES_CURVES + 1];
    const int count = list_algorithms(m, game, kind, names, 2 * PESS__GAMES_CURVES + 1);
    char title[80];
    if (count == 0) return;
    pess__game_title(game, title, sizeof title);
    pess__outfile_print(file, "<h3>");
    pess__html_text(file, title);
    pess__outfile_print(file, "</h3>\n<div class=\"scroll\"><table><thead><tr>");
    pess__html_tag(file, "th", "", m->info->x_label);
    for (int c = 0; c < count; c++) {
        const pess__style style = pess__style_of(names[c]);
        pess__html_tag(file, "th", "", style.label);
    }
    pess__outfile_print(file, "</tr></thead><tbody>\n");
    for (int x = 0; x < m->x_count; x++) {
        char text[PESS__NUMBER_SIZE];
        (void)pess__format_double(m->x[x], text);
        pess__outfile_print(file, "<tr><td>%s</td>", text);
        for (int c = 0; c < count; c++)
            write_cell(file, pess__games_point_at(m->points, m->point_count, game, names[c], m->x[x]), kind);
        pess__outfile_print(file, "</tr>\n");
    }
    pess__outfile_print(file, "</tbody></table></div>\n");
}

static void write_tables(pess__outfile *file, const pess_minatar *m, cell_kind kind) {
    for (int g = 0; g < m->game_count; g++) write_table(file, m, m->games[g]->name, kind);
}

/* ---- averages: who does best over all of it */

static void write_average(pess__outfile *file, const pess_minatar *m, const pess__curves *games, const char *name) {
    const pess__style style = pess__style_of(name);
    pess__outfile_print(file, "<tr>");
    pess__html_tag(file, "td", "", style.label);
    for (int g = 0; g < m->game_count; g++) {
        pess__outfile_print(file, "<td>");
        number(file, pess__curve_mean(&games[g], name));
        pess__outfile_print(file, "</td>");
    }
    if (!pess__games_is_data(m)) {
        const double share = pess__curve_share(games, m->game_count, name);
        pess__outfile_print(file, "<td>");
        number(file, isfinite(share) ? share : NAN);
        pess__outfile_print(file, "</td>");
    }
    pess__outfile_print(file, "</tr>\n");
}

static void write_averages(pess__outfile *file, const pess_minatar *m) {
    pess__curves games[PESS__GAMES_LIMIT];
    const char *names[2 * PESS__GAMES_CURVES + 1];
    const int count = list_algorithms(m, m->games[0]->name, CELL_SCORE, names, 2 * PESS__GAMES_CURVES + 1);
    const bool data = pess__games_is_data(m); /* a share of what random play gets says nothing */
    if (m->x_count < 2) return;
    pess__outfile_print(file,
                        "<h2>Table: averages</h2>\n<p>Mean score over the whole axis, game by game%s. A curve with a "
                        "point missing has none.</p>\n<div "
                        "class=\"scroll\"><table><thead><tr><th>Algorithm</th>",
                        data ? ""
                             : "; and over all games, as a share of the data policy's return at the first point of the "
                               "axis");
    for (int g = 0; g < m->game_count; g++) {
        char title[80];
        pess__game_title(m->games[g]->name, title, sizeof title);
        pess__html_tag(file, "th", "", title);
        games[g] = (pess__curves){
            .points = m->points, .count = m->point_count, .game = m->games[g]->name, .x = m->x, .x_count = m->x_count};
    }
    pess__outfile_print(file, "%s</tr></thead><tbody>\n", data ? "" : "<th>All, share</th>");
    for (int c = 0; c < count; c++) write_average(file, m, games, names[c]);
    pess__outfile_print(file, "</tbody></table></div>\n");
}

static void write_values(pess__outfile *file, const pess_minatar *m) {
    pess__outfile_print(file,
                        "<h2>Predicted and obtained</h2>\n<p>What an algorithm promises itself in the first states of "
                        "the evaluation episodes, beside the discounted return of the same episodes. Where the first "
                        "is far above the second, the algorithm believes in places that the data do not show: the "
                        "paper's point about overestimation. Thin dotted lines are what was obtained.</p>\n");
    pess__html_plots(file, 1);
    pess__outfile_print(file, "<details><summary>Table: predicted / obtained</summary>\n");
    write_tables(file, m, CELL_VALUES);
    pess__outfile_print(file, "</details>\n");
}

/* What the data of some runs do not support. */
static void write_warnings(pess__outfile *file, const pess_minatar *m) {
    for (int i = 0; i < m->game_count * m->curve_count; i++) {
        const int game = i / m->curve_count, curve = i % m->curve_count;
        const pess__style style = pess__style_of(m->curves[curve].name);
        char title[80], text[500];
        int64_t runs = 0;
        const char *warning = pess__games_warning(m, game, curve, &runs);
        if (warning == NULL) continue;
        pess__game_title(m->games[game]->name, title, sizeof title);
        (void)snprintf(text, sizeof text, "Warning of %lld run%s of %s in %s: %s.", (long long)runs,
                       runs == 1 ? "" : "s", style.label, title, warning);
        pess__html_tag(file, "p", "class=\"note\"", text);
        pess__outfile_print(file, "\n");
    }
}

static void write_rest(pess__outfile *file, const pess_minatar *m, bool values, const char *command) {
    write_claims(file, m);
    pess__outfile_print(file, "<h2>What was run</h2>\n");
    pess__html_tag(file, "p", "", m->description);
    pess__outfile_print(file,
                        "<p>The data policy is the player that collected the data, scored on episodes of its own. "
                        "“Argmax” is a control: the algorithms that act by sampling, scored when they take their "
                        "most probable action instead.</p>\n");
    write_warnings(file, m);
    if (values) write_values(file, m);
    pess__outfile_print(file, "<h2>Table: mean score (smallest … largest of the trials)</h2>\n");
    write_tables(file, m, CELL_SCORE);
    write_averages(file, m);
    pess__outfile_print(file,
                        "<h2>Table: how steady</h2>\n<p>Final update alone / best evaluation seen (not a result: it is "
                        "chosen by looking) / largest minus smallest of the scored updates / share of steps in states "
                        "that are not in the data.</p>\n<details><summary>Show</summary>\n");
    write_tables(file, m, CELL_DETAILS);
    pess__outfile_print(file, "</details>\n<h2>To repeat it</h2>\n");
    pess__html_tag(file, "pre", "", command);
    pess__outfile_print(
        file,
        "\n<p class=\"note\">Beside this page: <a href=\"results.csv\">results.csv</a>, <a "
        "href=\"runs.csv\">runs.csv</a>, "
        "<a href=\"figure.svg\">figure.svg</a>, <a href=\"figure.png\">figure.png</a>, "
        "<a href=\"figure.pdf\">figure.pdf</a>, <a href=\"manifest.json\">manifest.json</a>, and the runs in <a "
        "href=\"runs\">runs</a>. Pessimist %s.</p>\n",
        pess_build());
}

pess_status pess__games_page(const pess_minatar *m, const char *command, const char *path, pess_error *error) {
    pess__figure figure = {0}, values = {0};
    pess__outfile *file = NULL;
    pess_status status = pess__games_figure(m, &figure, error);
    if (status == PESS_OK) status = pess__games_overestimation(m, &values, error);
    if (status == PESS_OK) status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        pess__html_begin(file, &figure);
        write_rest(file, m, values.panel_count > 0, command);
        pess__html_end(file, &figure, &values);
        status = pess__outfile_commit(file, error);
    }
    pess__figure_release(&figure);
    pess__figure_release(&values);
    return status;
}
