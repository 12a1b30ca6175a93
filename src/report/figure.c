/* A figure's data: panels and curves. */
#include "report/figure.h"

#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pess__panel_is_dots(const pess__panel *panel) {
    for (int64_t c = 0; c < panel->curve_count; c++)
        if (panel->curves[c].count != 1) return false;
    return panel->curve_count > 0;
}

pess_status pess__figure_add_panel(pess__figure *figure, pess__panel **out, pess_error *error) {
    PESS_TRY(pess__grow(&figure->panels, &figure->panel_room, figure->panel_count + 1, sizeof *figure->panels,
                        "the figure", error));
    pess__panel *panel = &figure->panels[figure->panel_count++];
    memset(panel, 0, sizeof *panel);
    *out = panel;
    return PESS_OK;
}

static pess_status find_curve(pess__panel *panel, const char *algorithm, pess__curve **out, pess_error *error) {
    for (int64_t c = panel->curve_count - 1; c >= 0; c--)
        if (strcmp(panel->curves[c].algorithm, algorithm) == 0) {
            *out = &panel->curves[c];
            return PESS_OK;
        }
    PESS_TRY(pess__grow(&panel->curves, &panel->curve_room, panel->curve_count + 1, sizeof *panel->curves, "the figure",
                        error));
    pess__curve *curve = &panel->curves[panel->curve_count++];
    memset(curve, 0, sizeof *curve);
    (void)snprintf(curve->algorithm, sizeof curve->algorithm, "%.79s", algorithm);
    *out = curve;
    return PESS_OK;
}

/* Four arrays share one capacity: x grows first and tells it. */
static pess_status make_room(pess__curve *curve, pess_error *error) {
    if (curve->count < curve->room) return PESS_OK;
    double **const others[] = {&curve->mean, &curve->lo, &curve->hi};
    int64_t room = curve->room;
    PESS_TRY(pess__grow(&curve->x, &room, curve->count + 1, sizeof *curve->x, "a curve", error));
    for (int i = 0; i < 3; i++) {
        int64_t same = curve->room;
        PESS_TRY(pess__grow(others[i], &same, room, sizeof **others[i], "a curve", error));
    }
    curve->room = room;
    return PESS_OK;
}

pess_status pess__panel_add_point(pess__panel *panel, const char *algorithm, double x, double mean, double ci95,
                                  pess_error *error) {
    return pess__panel_add_band(panel, algorithm, x, mean, mean - ci95, mean + ci95, error);
}

pess_status pess__panel_add_band(pess__panel *panel, const char *algorithm, double x, double mean, double lo, double hi,
                                 pess_error *error) {
    pess__curve *curve = NULL;
    PESS_TRY(find_curve(panel, algorithm, &curve, error));
    PESS_TRY(make_room(curve, error));
    int64_t at = curve->count++; /* kept ascending; results come that way, so this rarely moves anything */
    for (; at > 0 && curve->x[at - 1] > x; at--) {
        curve->x[at] = curve->x[at - 1];
        curve->mean[at] = curve->mean[at - 1];
        curve->lo[at] = curve->lo[at - 1];
        curve->hi[at] = curve->hi[at - 1];
    }
    curve->x[at] = x;
    curve->mean[at] = mean;
    curve->lo[at] = lo;
    curve->hi[at] = hi;
    return PESS_OK;
}

void pess__figure_release(pess__figure *figure) {
    for (int64_t p = 0; p < figure->panel_count; p++) {
        for (int64_t c = 0; c < figure->panels[p].curve_count; c++) {
            free(figure->panels[p].curves[c].x);
            free(figure->panels[p].curves[c].mean);
            free(figure->panels[p].curves[c].lo);
            free(figure->panels[p].curves[c].hi);
        }
        free(figure->panels[p].curves);
    }
    free(figure->panels);
    memset(figure, 0, sizeof *figure);
}
