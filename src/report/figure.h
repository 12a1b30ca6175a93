/* A figure of one or more panels of curves with bands, drawn once for SVG, PNG and PDF. */
#ifndef PESS_REPORT_FIGURE_H
#define PESS_REPORT_FIGURE_H

#include "core/status.h"

typedef struct pess__curve {
    char algorithm[80];
    int64_t count, room;
    double *x, *mean, *lo, *hi; /* [count]; x ascending; lo and hi, the band, may be NAN: none */
} pess__curve;

typedef struct pess__panel {
    char title[160], x_label[200], y_label[120];
    bool log_x;
    bool range; /* bands go from the smallest to the largest; else they are intervals of the mean */
    int64_t curve_count, curve_room;
    pess__curve *curves;
} pess__panel;

typedef struct pess__figure {
    char title[200], note[400];
    bool tabular, learning; /* what its panels show: results of experiments, learning curves, or both */
    int64_t panel_count, panel_room, columns; /* panels per row */
    pess__panel *panels;
} pess__figure;

/* A panel whose curves have one point each is drawn as a list of dots. */
bool pess__panel_is_dots(const pess__panel *panel);

pess_status pess__figure_add_panel(pess__figure *figure, pess__panel **out, pess_error *error);
/* Adds to the algorithm's curve, begun where there is none yet. Points come in any order of algorithms. */
pess_status pess__panel_add_band(pess__panel *panel, const char *algorithm, double x, double mean, double lo, double hi,
                                 pess_error *error);
/* The same with the band mean ± ci95. */
pess_status pess__panel_add_point(pess__panel *panel, const char *algorithm, double x, double mean, double ci95,
                                  pess_error *error);
/* Keeps the curves that are named in the list "a,b,…", in its order; panels left without any go. An error names one
 * that no panel has. */
pess_status pess__figure_select(pess__figure *figure, const char *algorithms, pess_error *error);
void pess__figure_release(pess__figure *figure);

/* Width and height in points (1/72 inch; pixels of the SVG). */
void pess__figure_size(const pess__figure *figure, double *width, double *height);
/* By the name's end: .svg, .pdf, .png (at twice the size). Nothing of the time or place of writing is in the file. */
pess_status pess__figure_save(const pess__figure *figure, const char *path, const char *format, pess_error *error);

#endif
