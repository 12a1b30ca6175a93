/* Drawing on a cairo surface: the only files that know cairo are draw*.c and cairo.[ch]. */
#ifndef PESS_REPORT_DRAW_H
#define PESS_REPORT_DRAW_H

#include "report/axis.h"
#include "report/cairo.h"
#include "report/figure.h"
#include "report/style.h"

typedef enum pess__anchor { PESS__LEFT, PESS__CENTRE, PESS__RIGHT } pess__anchor;

typedef struct pess__box {
    double left, top, width, height;
} pess__box;

void pess__draw_text(cairo_t *cr, double x, double y, double size, bool bold, uint32_t colour, pess__anchor anchor,
                     const char *text);
double pess__text_width(cairo_t *cr, double size, const char *text);
void pess__draw_colour(cairo_t *cr, uint32_t colour, double opacity);
void pess__draw_dash(cairo_t *cr, pess__dash dash);
void pess__draw_marker(cairo_t *cr, pess__marker marker, double x, double y, double radius);
double pess__line_width(const pess__style *style);
/* A sample of the curve's line, for legends. */
void pess__draw_sample(cairo_t *cr, const pess__style *style, double x, double y, double width);

/* Room right of the curves that the direct label of one of them needs. */
double pess__label_width(cairo_t *cr, const char *algorithm);
void pess__draw_curves(cairo_t *cr, const pess__panel *panel, pess__box box, bool labels);
void pess__draw_dots(cairo_t *cr, const pess__panel *panel, pess__box box);

enum { PESS__INK = 0x222222, PESS__SOFT = 0x666666, PESS__GRID = 0xE4E4E4 };

#endif
