/* Figures of an experiment in memory, a panel per game or dataset. */
#include "report/report.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void pess__game_title(const char *game, char *out, size_t size) {
    (void)snprintf(out, size, "%s", game);
    for (char *c = out; *c != '\0'; c++)
        if (*c == '_') *c = ' ';
    *out = pess__upper(*out);
}

void pess__dataset_title(double epsilon, double transitions, char *out, size_t size) {
    (void)snprintf(out, size, "ε = %g, %.0f transitions", epsilon, transitions);
}

void pess__report_panel_title(const pess_experiment *e, const pess_experiment_point *point, char *out, size_t size) {
    *out = '\0';
    if (point->game != NULL)
        pess__game_title(point->game, out, size);
    else if (e->kind->panel_per_dataset)
        pess__dataset_title(pess_experiment_value(e, point, "epsilon"), pess_experiment_value(e, point, "transitions"),
                            out, size);
}

/* The point's panel, begun where it is new: points come panel after panel. */
static pess_status panel_of(pess__figure *figure, const pess_experiment *e, const pess_experiment_point *point,
                            const char *y_label, pess__panel **out, pess_error *error) {
    const pess_experiment_info *info = &e->kind->info;
    char title[160];
    pess__report_panel_title(e, point, title, sizeof title);
    *out = figure->panel_count > 0 ? &figure->panels[figure->panel_count - 1] : NULL;
    if (*out != NULL && strcmp((*out)->title, title) == 0) return PESS_OK;
    PESS_TRY(pess__figure_add_panel(figure, out, error));
    (void)snprintf((*out)->title, sizeof(*out)->title, "%s", title);
    (void)snprintf((*out)->x_label, sizeof(*out)->x_label, "%s", info->x.label);
    (void)snprintf((*out)->y_label, sizeof(*out)->y_label, "%s", y_label);
    (*out)->log_x = info->x.log_scale;
    (*out)->range = info->band == PESS_BAND_RANGE;
    return PESS_OK;
}

pess_status pess__report_figure(const pess_experiment *e, pess__figure *out, pess_error *error) {
    (void)snprintf(out->title, sizeof out->title, "%s", e->kind->info.title);
    (void)snprintf(out->note, sizeof out->note, "%s", e->note);
    for (int64_t i = 0; i < e->point_count; i++) {
        const pess_experiment_point *p = &e->points[i];
        pess__panel *panel = NULL;
        PESS_TRY(panel_of(out, e, p, e->kind->info.y_label, &panel, error));
        PESS_TRY(panel->range ? pess__panel_add_band(panel, p->algorithm, p->x, p->mean, p->min, p->max, error)
                              : pess__panel_add_point(panel, p->algorithm, p->x, p->mean, p->ci95, error));
    }
    return PESS_OK;
}

static bool has_all(const pess_experiment *e, const pess_experiment_point *point, const char *columns) {
    char column[40];
    while ((columns = pess__next_word(columns, column, sizeof column)) != NULL)
        if (isnan(pess_experiment_value(e, point, column))) return false;
    return true;
}

pess_status pess__report_second_figure(const pess_experiment *e, const pess__experiment_table *table, pess__figure *out,
                                       pess_error *error) {
    (void)snprintf(out->title, sizeof out->title, "%s", table->title);
    for (int64_t i = 0; i < e->point_count; i++) {
        const pess_experiment_point *p = &e->points[i];
        pess__panel *panel = NULL;
        char column[40], name[120];
        if (!has_all(e, p, table->columns)) continue;
        PESS_TRY(panel_of(out, e, p, table->y_label, &panel, error));
        for (const char *list = table->columns; (list = pess__next_word(list, column, sizeof column)) != NULL;) {
            (void)snprintf(name, sizeof name, "%s-%s", p->algorithm, column);
            PESS_TRY(pess__panel_add_band(panel, name, p->x, pess_experiment_value(e, p, column), NAN, NAN, error));
        }
    }
    return PESS_OK;
}
