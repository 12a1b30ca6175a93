/* The tables of an experiment's page: rows are x, columns are algorithms, a table per panel. */
#include "core/memory.h"
#include "experiment/games_judge.h"
#include "report/html.h"
#include "report/report.h"
#include "report/style.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells */

static void write_number(pess__outfile *file, double value) {
    if (isnan(value))
        pess__outfile_print(file, "–");
    else
        pess__outfile_print(file, fabs(value) >= 100 ? "%.0f" : fabs(value) >= 10 ? "%.1f" : "%.2f", value);
}

static void write_interval(pess__outfile *file, double mean, double ci95) {
    pess__outfile_print(file, fabs(mean) >= 2 || mean == 0 ? "%.2f" : "%.5g", mean);
    if (!isnan(ci95)) pess__outfile_print(file, fabs(mean) >= 2 || ci95 == 0 ? " ± %.2f" : " ± %.2g", ci95);
}

static void write_mean(pess__outfile *file, const pess_experiment *e, const pess_experiment_point *p) {
    if (e->kind->info.band == PESS_BAND_CI95) {
        write_interval(file, p->mean, p->ci95);
        return;
    }
    write_number(file, p->mean);
    if (p->trials < 2) return;
    pess__outfile_print(file, " (");
    write_number(file, p->min);
    pess__outfile_print(file, " … ");
    write_number(file, p->max);
    pess__outfile_print(file, ")");
}

/* A word of the table's columns: "outside%" is the column outside as a share. */
static double value_of(const pess_experiment *e, const pess_experiment_point *p, const char *word, bool *share) {
    char column[40];
    const size_t length = strcspn(word, "%");
    *share = word[length] == '%';
    (void)snprintf(column, sizeof column, "%.*s", (int)length, word);
    return strcmp(column, "mean") == 0 ? p->mean : pess_experiment_value(e, p, column);
}

static void write_values(pess__outfile *file, const pess_experiment *e, const pess_experiment_point *p,
                         const char *columns) {
    char word[40];
    const char *separator = "";
    while ((columns = pess__next_word(columns, word, sizeof word)) != NULL) {
        bool share = false;
        const double value = value_of(e, p, word, &share);
        pess__outfile_print(file, "%s", separator);
        if (share)
            pess__outfile_print(file, "%.0f %%", 100 * value);
        else
            write_number(file, value);
        separator = " / ";
    }
}

static void write_cell(pess__outfile *file, const pess_experiment *e, const pess__experiment_table *table,
                       const pess_experiment_point *p) {
    pess__outfile_print(file, "<td>");
    if (p == NULL)
        pess__outfile_print(file, "–");
    else if (strcmp(table->columns, "mean") == 0)
        write_mean(file, e, p);
    else if (table->ci95 != NULL)
        write_interval(file, pess_experiment_value(e, p, table->columns), pess_experiment_value(e, p, table->ci95));
    else
        write_values(file, e, p, table->columns);
    pess__outfile_print(file, "</td>");
}

/* ---- panels: points come panel after panel, curve after curve, x ascending */

typedef struct curve {
    int64_t next, end; /* points of the curve that have not been written yet */
} curve;

typedef struct panel {
    char title[160];
    int64_t begin, end; /* points */
    int64_t curve_count, x_count;
    curve *curves; /* [points of the experiment] */
    double *x;     /* [points of the experiment] */
} panel;

static bool same_panel(const pess_experiment *e, const pess_experiment_point *point, const panel *p) {
    char title[160];
    pess__report_panel_title(e, point, title, sizeof title);
    return strcmp(title, p->title) == 0;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A curve is shown where its first column applies anywhere. */
static bool has_values(const pess_experiment *e, const pess__experiment_table *table, int64_t begin, int64_t end) {
    char word[40];
    bool share;
    (void)pess__next_word(table->columns, word, sizeof word);
    for (int64_t i = begin; i < end; i++)
        if (!isnan(value_of(e, &e->points[i], word, &share))) return true;
    return false;
}

/* The panel that begins at p->begin. */
static void find_panel(const pess_experiment *e, const pess__experiment_table *table, panel *p) {
    pess__report_panel_title(e, &e->points[p->begin], p->title, sizeof p->title);
    p->curve_count = p->x_count = 0;
    for (p->end = p->begin; p->end < e->point_count && same_panel(e, &e->points[p->end], p);) {
        const int64_t begin = p->end;
        const char *name = e->points[begin].algorithm;
        while (p->end < e->point_count && strcmp(e->points[p->end].algorithm, name) == 0 &&
               same_panel(e, &e->points[p->end], p))
            p->x[p->x_count++] = e->points[p->end++].x;
        if (has_values(e, table, begin, p->end)) p->curves[p->curve_count++] = (curve){begin, p->end};
    }
    qsort(p->x, (size_t)p->x_count, sizeof *p->x, ascending);
    int64_t different = 0;
    for (int64_t i = 0; i < p->x_count; i++)
        if (i == 0 || p->x[i] != p->x[different - 1]) p->x[different++] = p->x[i];
    p->x_count = different;
}

static void write_row(pess__outfile *file, const pess_experiment *e, const pess__experiment_table *table, panel *p,
                      double x) {
    pess__outfile_print(file, x == floor(x) && fabs(x) < 1e15 ? "<tr><td>%.0f</td>" : "<tr><td>%.6g</td>", x);
    for (int64_t c = 0; c < p->curve_count; c++) {
        curve *own = &p->curves[c];
        const bool here = own->next < own->end && e->points[own->next].x == x;
        write_cell(file, e, table, here ? &e->points[own->next++] : NULL);
    }
    pess__outfile_print(file, "</tr>\n");
}

static void write_panel(pess__outfile *file, const pess_experiment *e, const pess__experiment_table *table, panel *p) {
    if (p->curve_count == 0) return;
    if (p->title[0] != '\0') {
        pess__html_tag(file, "h3", "", p->title);
        pess__outfile_print(file, "\n");
    }
    pess__outfile_print(file, "<div class=\"scroll\"><table><thead><tr>");
    pess__html_tag(file, "th", "", e->kind->info.x.label);
    for (int64_t c = 0; c < p->curve_count; c++)
        pess__html_tag(file, "th", "", pess__style_of(e->points[p->curves[c].next].algorithm).label);
    pess__outfile_print(file, "</tr></thead><tbody>\n");
    for (int64_t i = 0; i < p->x_count; i++) write_row(file, e, table, p, p->x[i]);
    pess__outfile_print(file, "</tbody></table></div>\n");
}

/* Many panels are opened by a click. */
static void write_panels(pess__outfile *file, const pess_experiment *e, const pess__experiment_table *table, panel *p) {
    const bool folded = table->folded || e->kind->panel_per_dataset;
    if (folded) pess__outfile_print(file, "<details><summary>Show the table</summary>\n");
    for (p->begin = 0; p->begin < e->point_count; p->begin = p->end) {
        find_panel(e, table, p);
        write_panel(file, e, table, p);
    }
    if (folded) pess__outfile_print(file, "</details>\n");
}

pess_status pess__page_table(pess__outfile *file, const pess_experiment *e, const pess__experiment_table *table,
                             pess_error *error) {
    panel p = {.begin = 0};
    PESS_TRY(pess__allocate(&p.curves, e->point_count, sizeof *p.curves, "a table", error));
    const pess_status status = pess__allocate(&p.x, e->point_count, sizeof *p.x, "a table", error);
    if (status == PESS_OK) write_panels(file, e, table, &p);
    free(p.curves);
    free(p.x);
    return status;
}

/* ---- averages: who does best over all of it */

static void write_average(pess__outfile *file, const pess__games *m, const pess__curves *games, const char *name) {
    pess__outfile_print(file, "<tr>");
    pess__html_tag(file, "td", "", pess__style_of(name).label);
    for (int g = 0; g < m->game_count; g++) {
        pess__outfile_print(file, "<td>");
        write_number(file, pess__curve_mean(&games[g], name));
        pess__outfile_print(file, "</td>");
    }
    if (m->experiment->kind->share_of != NULL) {
        const double share = pess__curve_share(games, m->game_count, name, m->experiment->kind->share_of);
        pess__outfile_print(file, "<td>");
        write_number(file, isfinite(share) ? share : NAN);
        pess__outfile_print(file, "</td>");
    }
    pess__outfile_print(file, "</tr>\n");
}

static void write_average_head(pess__outfile *file, const pess__games *m, bool share) {
    pess__outfile_print(file,
                        "<h2>Averages</h2>\n<p>Mean score over the whole axis, game by game%s. A curve with a missing "
                        "point has none.</p>\n<div class=\"scroll\"><table><thead><tr><th>Algorithm</th>",
                        share ? "; and over all games, as a share of the data policy's return at the first point of "
                                "the axis"
                              : "");
    for (int g = 0; g < m->game_count; g++) {
        char title[80];
        pess__game_title(m->games[g]->name, title, sizeof title);
        pess__html_tag(file, "th", "", title);
    }
    pess__outfile_print(file, "%s</tr></thead><tbody>\n", share ? "<th>All, share</th>" : "");
}

void pess__page_averages(pess__outfile *file, const pess_experiment *e) {
    const pess__games *m = pess__games_of(e);
    pess__curves games[PESS__GAMES_LIMIT];
    if (m->x_count < 2 || e->point_count == 0) return;
    for (int g = 0; g < m->game_count; g++)
        games[g] = (pess__curves){.points = e->points,
                                  .count = (size_t)e->point_count,
                                  .game = m->games[g]->name,
                                  .x = m->x,
                                  .x_count = m->x_count};
    write_average_head(file, m, e->kind->share_of != NULL);
    for (int64_t i = 0; i < e->point_count && strcmp(e->points[i].game, m->games[0]->name) == 0; i++)
        if (i == 0 || strcmp(e->points[i].algorithm, e->points[i - 1].algorithm) != 0)
            write_average(file, m, games, e->points[i].algorithm);
    pess__outfile_print(file, "</tbody></table></div>\n");
}
