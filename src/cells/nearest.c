#include "cells/nearest.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = PESS__CENTRES };

static const pess__nearest *const tables[] = {
#ifdef PESS__NEAREST_X86
    &pess__nearest_avx512, &pess__nearest_avx2,
#endif
    &pess__nearest_portable};

const pess__nearest *const *pess__nearest_list(size_t *count) {
    *count = sizeof tables / sizeof tables[0];
    return tables;
}

const pess__nearest *pess__nearest_best(void) {
    const pess__nearest *const *table = tables;
    while (!(*table)->supported()) table++;
    return *table;
}

pess_status pess__panels_create(int64_t centres, int64_t coordinates, pess__panels *out, pess_error *error) {
    const int64_t panels = (centres + PANEL - 1) / PANEL;
    *out = (pess__panels){.centres = centres, .coordinates = coordinates, .panels = panels};
    PESS_TRY(pess__allocate(&out->values, panels * PANEL * coordinates, sizeof *out->values, "the centres", error));
    const pess_status status = pess__allocate(&out->half, panels * PANEL, sizeof *out->half, "the centres", error);
    if (status != PESS_OK) pess__panels_free(out);
    return status;
}

void pess__panels_fill(pess__panels *panels, const float *centres, int64_t count) {
    const int64_t k = panels->coordinates;
    for (int64_t c = 0; c < panels->panels * PANEL; c++) {
        float *to = panels->values + c / PANEL * k * PANEL + c % PANEL;
        double length = 0;
        for (int64_t i = 0; i < k; i++) {
            const float value = c < count ? centres[c * k + i] : 0;
            to[i * PANEL] = value;
            length += (double)value * (double)value;
        }
        panels->half[c] = c < count ? (float)(length / 2) : INFINITY;
    }
}

void pess__panels_free(pess__panels *panels) {
    free(panels->values);
    free(panels->half);
    panels->values = panels->half = NULL;
}

/* ---- plain C, for any machine */

static bool always(void) { return true; }

static void panel_scores(const pess__panels *panels, int64_t panel, const float *x, float out[PANEL]) {
    const int64_t k = panels->coordinates;
    const float *values = panels->values + panel * k * PANEL;
    memcpy(out, panels->half + panel * PANEL, PANEL * sizeof *out);
    for (int64_t i = 0; i < k; i++)
        for (int j = 0; j < PANEL; j++) out[j] = fmaf(-x[i], values[i * PANEL + j], out[j]);
}

static void nearest(const pess__panels *panels, const float *x, int64_t rows, uint32_t *cell, float *second) {
    for (int64_t row = 0; row < rows; row++) {
        float least = INFINITY;
        second[row] = INFINITY;
        cell[row] = 0;
        for (int64_t panel = 0; panel < panels->panels; panel++) {
            float s[PANEL];
            panel_scores(panels, panel, x + row * panels->coordinates, s);
            for (int j = 0; j < PANEL; j++)
                if (s[j] < least) {
                    second[row] = least;
                    least = s[j];
                    cell[row] = (uint32_t)(panel * PANEL + j);
                } else if (s[j] < second[row]) {
                    second[row] = s[j];
                }
        }
    }
}

static void scores(const pess__panels *panels, const float *x, int64_t rows, float *out) {
    for (int64_t row = 0; row < rows; row++) panel_scores(panels, 0, x + row * panels->coordinates, out + row * PANEL);
}

const pess__nearest pess__nearest_portable = {"portable", always, nearest, scores};
