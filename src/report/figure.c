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

static void release_curve(pess__curve *curve) {
    free(curve->x);
    free(curve->mean);
    free(curve->lo);
    free(curve->hi);
}

static void release_panel(pess__panel *panel) {
    for (int64_t c = 0; c < panel->curve_count; c++) release_curve(&panel->curves[c]);
    free(panel->curves);
}

/* Brings the curve of this name to place `at`, the others behind it. */
static bool bring(pess__panel *panel, const char *name, size_t length, int64_t at) {
    for (int64_t c = at; c < panel->curve_count; c++) {
        if (strlen(panel->curves[c].algorithm) != length || memcmp(panel->curves[c].algorithm, name, length) != 0)
            continue;
        const pess__curve found = panel->curves[c];
        memmove(&panel->curves[at + 1], &panel->curves[at], (size_t)(c - at) * sizeof found);
        panel->curves[at] = found;
        return true;
    }
    return false;
}

static int64_t select_curves(pess__panel *panel, const char *algorithms) {
    int64_t kept = 0;
    for (const char *name = algorithms; *name != '\0';) {
        const size_t length = strcspn(name, ",");
        kept += bring(panel, name, length, kept);
        name += length + (name[length] == ',');
    }
    while (panel->curve_count > kept) release_curve(&panel->curves[--panel->curve_count]);
    return kept;
}

static bool anywhere(const pess__figure *figure, const char *name, size_t length) {
    for (int64_t p = 0; p < figure->panel_count; p++)
        for (int64_t c = 0; c < figure->panels[p].curve_count; c++) {
            const char *own = figure->panels[p].curves[c].algorithm;
            if (strlen(own) == length && memcmp(own, name, length) == 0) return true;
        }
    return false;
}

pess_status pess__figure_select(pess__figure *figure, const char *algorithms, pess_error *error) {
    const char *name = algorithms;
    do {
        const size_t length = strcspn(name, ",");
        if (!anywhere(figure, name, length))
            return pess__fail(error, PESS_INPUT, "the results have no curve '%.*s'", (int)length, name);
        name += length;
    } while (*name++ == ',');
    int64_t kept = 0;
    for (int64_t p = 0; p < figure->panel_count; p++) {
        pess__panel panel = figure->panels[p];
        if (select_curves(&panel, algorithms) > 0)
            figure->panels[kept++] = panel;
        else
            release_panel(&panel);
    }
    figure->panel_count = kept;
    return PESS_OK;
}

void pess__figure_release(pess__figure *figure) {
    for (int64_t p = 0; p < figure->panel_count; p++) release_panel(&figure->panels[p]);
    free(figure->panels);
    memset(figure, 0, sizeof *figure);
}
