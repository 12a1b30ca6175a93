/* What is written about a comparison: a figure (interquartile means, profiles), a page and the tables as files. */
#include "compare/compare.h"
#include "experiment/games.h"
#include "report/html.h"
#include "report/report.h"
#include "report/staging.h"

#include <math.h>
#include <stdio.h>

/* ---- the figure */

static const char *score_label(const pess_comparison *c) {
    return c->info.scale == PESS_SCALE_RANGE ? "score, 0 to 1 per game" : "score";
}

static pess_status add_means(const pess_comparison *c, pess__figure *figure, pess_error *error) {
    pess__panel *panel = NULL;
    PESS_TRY(pess__figure_add_panel(figure, &panel, error));
    (void)snprintf(panel->title, sizeof panel->title, "Interquartile mean");
    (void)snprintf(panel->y_label, sizeof panel->y_label, "interquartile mean of the %s", score_label(c));
    for (int64_t a = 0; a < c->info.algorithms; a++) {
        const pess_interval *iqm = &c->compared[a].iqm;
        PESS_TRY(pess__panel_add_band(panel, c->compared[a].name, 0, iqm->value, iqm->lo, iqm->hi, error));
    }
    return PESS_OK;
}

static pess_status add_profiles(const pess_comparison *c, pess__figure *figure, pess_error *error) {
    pess__panel *panel = NULL;
    PESS_TRY(pess__figure_add_panel(figure, &panel, error));
    (void)snprintf(panel->title, sizeof panel->title, "Performance profiles");
    (void)snprintf(panel->x_label, sizeof panel->x_label, "%s τ", score_label(c));
    (void)snprintf(panel->y_label, sizeof panel->y_label, "share of runs above τ");
    for (int64_t a = 0; a < c->info.algorithms; a++)
        for (int p = 0; p < PESS_PROFILE_POINTS; p++) {
            const pess_interval *at = &c->profile[a * PESS_PROFILE_POINTS + p];
            PESS_TRY(
                pess__panel_add_band(panel, c->compared[a].name, c->info.tau[p], at->value, at->lo, at->hi, error));
        }
    return PESS_OK;
}

static pess_status make_figure(const pess_comparison *c, pess__figure *figure, pess_error *error) {
    (void)snprintf(figure->title, sizeof figure->title, "%lld algorithms compared on %lld task%s",
                   (long long)c->info.algorithms, (long long)c->info.tasks, c->info.tasks == 1 ? "" : "s");
    (void)snprintf(figure->note, sizeof figure->note,
                   "Intervals of %g %% from %lld resamples of the runs within each task (Agarwal et al. 2021).",
                   100 * (1 - c->info.delta), (long long)c->info.resamples);
    figure->tabular = true;
    PESS_TRY(add_means(c, figure, error));
    PESS_TRY(add_profiles(c, figure, error));
    figure->columns = 2;
    return PESS_OK;
}

/* ---- the page */

static const char css[] = "td.number,th.number{text-align:right}table{border-collapse:collapse}"
                          "td,th{padding:.2em .8em;text-align:left}\n";

/* Resamples of single runs are all the same: that is no interval. */
static void put_interval(pess__outfile *out, const pess_interval *i, bool repeated) {
    pess__outfile_print(out, "<td class=\"number\">%.3g</td><td class=\"number\">", i->value);
    if (repeated)
        pess__outfile_print(out, "%.3g to %.3g</td>", i->lo, i->hi);
    else
        pess__outfile_print(out, "–</td>");
}

/* Has an algorithm several runs on any task? */
static bool has_repeated(const pess_comparison *c) {
    for (int64_t i = 0; i < c->info.algorithms * c->info.tasks; i++)
        if (c->cells[i].count > 1) return true;
    return false;
}

static void write_algorithms(pess__outfile *out, const pess_comparison *c) {
    const bool repeated = has_repeated(c);
    pess__outfile_print(
        out,
        "<h2>Over all tasks</h2>\n<div class=\"scroll\"><table><tr><th>algorithm</th><th class=\"number\">runs</th>"
        "<th class=\"number\">interquartile mean</th><th class=\"number\">interval</th>"
        "<th class=\"number\">mean</th><th class=\"number\">interval</th>"
        "<th class=\"number\">median of the tasks</th><th class=\"number\">interval</th></tr>\n");
    for (int64_t a = 0; a < c->info.algorithms; a++) {
        const pess_compared *own = &c->compared[a];
        pess__outfile_print(out, "<tr><td>");
        pess__html_text(out, own->name);
        pess__outfile_print(out, "</td><td class=\"number\">%lld</td>", (long long)own->runs);
        put_interval(out, &own->iqm, repeated);
        put_interval(out, &own->mean, repeated);
        put_interval(out, &own->median, repeated);
        pess__outfile_print(out, "</tr>\n");
    }
    pess__outfile_print(out, "</table></div>\n");
}

static void write_improvements(pess__outfile *out, const pess_comparison *c) {
    const bool repeated = has_repeated(c);
    pess__outfile_print(out, "<h2>Probability of improvement</h2>\n<p class=\"note\">That a run of the one beats a run "
                             "of the other on the same task, ties half. An interval that holds 0.5 decides "
                             "nothing.</p>\n<table><tr><th>algorithm</th><th>beats</th><th class=\"number\">with "
                             "probability</th><th class=\"number\">interval</th></tr>\n");
    for (int64_t i = 0; i < pess__comparison_pairs(c); i++) {
        pess__outfile_print(out, "<tr><td>");
        pess__html_text(out, c->improvement[i].better);
        pess__outfile_print(out, "</td><td>");
        pess__html_text(out, c->improvement[i].than);
        pess__outfile_print(out, "</td>");
        put_interval(out, &c->improvement[i].probability, repeated);
        pess__outfile_print(out, "</tr>\n");
    }
    pess__outfile_print(out, "</table>\n");
}

static void write_tasks(pess__outfile *out, const pess_comparison *c) {
    pess__outfile_print(out, "<h2>Task by task</h2>\n<table><tr><th>game</th><th class=\"number\">x</th>"
                             "<th>algorithm</th><th class=\"number\">runs</th><th class=\"number\">mean</th>"
                             "<th class=\"number\">interquartile mean</th><th class=\"number\">interval</th></tr>\n");
    for (int64_t i = 0; i < c->info.tasks * c->info.algorithms; i++) {
        const pess_compared_task *t = &c->by_task[i];
        pess__outfile_print(out, "<tr><td>");
        pess__html_text(out, t->game);
        pess__outfile_print(out, "</td><td class=\"number\">");
        if (!isnan(t->x)) pess__outfile_print(out, "%g", t->x);
        pess__outfile_print(out, "</td><td>");
        pess__html_text(out, t->algorithm);
        pess__outfile_print(out, "</td><td class=\"number\">%lld</td><td class=\"number\">%.4g</td>",
                            (long long)t->runs, t->mean);
        put_interval(out, &t->iqm, t->runs > 1);
        pess__outfile_print(out, "</tr>\n");
    }
    pess__outfile_print(out, "</table>\n");
}

static pess_status write_page(const pess_comparison *c, const pess__figure *figure, const char *command,
                              const char *path, pess_error *error) {
    pess__outfile *out = NULL;
    PESS_TRY(pess__outfile_open(path, &out, error));
    pess__html_head(out, figure->title, css);
    pess__outfile_print(out, "<header><div>");
    pess__html_tag(out, "h1", "", figure->title);
    pess__html_tag(out, "p", "class=\"note\"", figure->note);
    if (c->info.warning[0] != '\0') pess__html_tag(out, "p", "class=\"note\"", c->info.warning);
    pess__outfile_print(out, "</div><button id=\"theme\" type=\"button\">Light / dark</button></header>\n");
    pess__html_plots(out, 0);
    pess__outfile_print(out, "<noscript><p><img src=\"figure.svg\" alt=\"the figure\"></p></noscript>\n");
    write_algorithms(out, c);
    write_improvements(out, c);
    write_tasks(out, c);
    if (command != NULL) {
        pess__outfile_print(out, "<h2>How to repeat it</h2>\n");
        pess__html_tag(out, "pre", "", command);
    }
    pess__outfile_print(out, "<p class=\"note\">Pessimist %s</p>\n", pess_version());
    pess__html_end(out, figure, NULL);
    return pess__outfile_commit(out, error);
}

/* ---- on the page of an experiment */

static pess_status add_runs(const pess__games *m, pess_comparison *c, pess_error *error) {
    for (int curve = 0; curve < m->curve_count; curve++)
        for (int64_t d = 0; m->curves[curve].shown && d < m->dataset_count; d++) {
            const pess__games_run *run = pess__games_run_of(m, d, curve);
            if (run->finished && isfinite(run->result.score))
                PESS_TRY(pess__comparison_add(c, m->curves[curve].name, m->games[m->datasets[d].game]->name,
                                              m->x[m->datasets[d].x], run->result.score, error));
        }
    return PESS_OK;
}

pess_status pess__page_compared(pess__outfile *file, const pess_experiment *experiment, pess_error *error) {
    pess_comparison *c = NULL;
    PESS_TRY(pess__comparison_open(&c, error));
    pess_status status = add_runs(pess__games_of(experiment), c, error);
    if (status == PESS_OK && c->run_count > 0) {
        pess_error why; /* a curve alone, or none that have a point in common, are no comparison */
        status = pess__comparison_finish(c, NULL, &why);
        if (status == PESS_OK) {
            char note[300];
            (void)snprintf(note, sizeof note,
                           "%lld tasks (game and point) that all curves have, scores from 0 to 1 per game; intervals "
                           "of %g %% from %lld resamples of the runs within each task (Agarwal et al. 2021). %s",
                           (long long)c->info.tasks, 100 * (1 - c->info.delta), (long long)c->info.resamples,
                           c->info.warning);
            write_algorithms(file, c);
            pess__html_tag(file, "p", "class=\"note\"", note);
            write_improvements(file, c);
        } else if (status == PESS_INPUT || status == PESS_LIMIT) {
            status = PESS_OK;
        } else if (error != NULL) {
            *error = why;
        }
    }
    pess_comparison_destroy(c);
    return status;
}

/* ---- tables as files */

static void put_number(pess__outfile *out, double value) {
    pess__outfile_write(out, ",", 1);
    if (!isnan(value)) pess__outfile_double(out, value);
}

static void put_numbers(pess__outfile *out, const pess_interval *i) {
    put_number(out, i->value);
    put_number(out, i->lo);
    put_number(out, i->hi);
}

static void csv_algorithms(pess__outfile *out, const pess_comparison *c) {
    pess__outfile_print(out, "algorithm,runs,iqm,iqm_lo,iqm_hi,mean,mean_lo,mean_hi,median,median_lo,median_hi\n");
    for (int64_t a = 0; a < c->info.algorithms; a++) {
        pess__outfile_field(out, c->compared[a].name);
        pess__outfile_print(out, ",%lld", (long long)c->compared[a].runs);
        put_numbers(out, &c->compared[a].iqm);
        put_numbers(out, &c->compared[a].mean);
        put_numbers(out, &c->compared[a].median);
        pess__outfile_write(out, "\n", 1);
    }
}

static void csv_tasks(pess__outfile *out, const pess_comparison *c) {
    pess__outfile_print(out, "game,x,algorithm,runs,mean,iqm,iqm_lo,iqm_hi\n");
    for (int64_t i = 0; i < c->info.tasks * c->info.algorithms; i++) {
        const pess_compared_task *t = &c->by_task[i];
        pess__outfile_field(out, t->game);
        put_number(out, t->x);
        pess__outfile_write(out, ",", 1);
        pess__outfile_field(out, t->algorithm);
        pess__outfile_print(out, ",%lld", (long long)t->runs);
        put_number(out, t->mean);
        put_numbers(out, &t->iqm);
        pess__outfile_write(out, "\n", 1);
    }
}

static void csv_improvements(pess__outfile *out, const pess_comparison *c) {
    pess__outfile_print(out, "better,than,probability,lo,hi\n");
    for (int64_t i = 0; i < pess__comparison_pairs(c); i++) {
        pess__outfile_field(out, c->improvement[i].better);
        pess__outfile_write(out, ",", 1);
        pess__outfile_field(out, c->improvement[i].than);
        put_numbers(out, &c->improvement[i].probability);
        pess__outfile_write(out, "\n", 1);
    }
}

static void csv_profiles(pess__outfile *out, const pess_comparison *c) {
    pess__outfile_print(out, "algorithm,tau,above,lo,hi\n");
    for (int64_t i = 0; i < c->info.algorithms * PESS_PROFILE_POINTS; i++) {
        pess__outfile_field(out, c->compared[i / PESS_PROFILE_POINTS].name);
        put_number(out, c->info.tau[i % PESS_PROFILE_POINTS]);
        put_numbers(out, &c->profile[i]);
        pess__outfile_write(out, "\n", 1);
    }
}

/* ---- all of it */

/* The page comes last: where it is, all the others are. */
typedef struct part {
    const char *name;
    void (*csv)(pess__outfile *out, const pess_comparison *c);
    const char *figure; /* format */
} part;

static const part parts[] = {{"algorithms.csv", csv_algorithms, NULL},
                             {"tasks.csv", csv_tasks, NULL},
                             {"improvements.csv", csv_improvements, NULL},
                             {"profiles.csv", csv_profiles, NULL},
                             {"figure.svg", NULL, "svg"},
                             {"figure.png", NULL, "png"},
                             {"index.html", NULL, NULL}};
enum { PARTS = sizeof parts / sizeof parts[0] };

static pess_status write_part(const pess_comparison *c, const part *which, const pess__figure *figure,
                              const char *command, const char *path, pess_error *error) {
    if (which->figure != NULL) return pess__figure_save(figure, path, which->figure, error);
    if (which->csv == NULL) return write_page(c, figure, command, path, error);
    pess__outfile *out = NULL;
    PESS_TRY(pess__outfile_open(path, &out, error));
    which->csv(out, c);
    return pess__outfile_commit(out, error);
}

pess_status pess_comparison_write(const pess_comparison *c, const char *command, const char *directory,
                                  pess_error *error) {
    const part *wanted[PARTS];
    const char *names[PARTS];
    int count = 0;
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].figure != NULL && pess_figure_possible(NULL) != PESS_OK) continue;
        wanted[count] = &parts[i];
        names[count++] = parts[i].name;
    }
    pess__staging staging;
    pess__figure figure = {0};
    PESS_TRY(pess__staging_open(&staging, directory, names, count, error));
    pess_status status = make_figure(c, &figure, error);
    for (int i = 0; i < count && status == PESS_OK; i++) {
        char path[PESS__STAGING_PATH];
        pess__staging_file(&staging, i, path);
        status = write_part(c, wanted[i], &figure, command, path, error);
    }
    if (status == PESS_OK) status = pess__staging_publish(&staging, error);
    pess__figure_release(&figure);
    pess__staging_close(&staging);
    return status;
}
