/* Panels: curves with bands and direct labels, or a list of dots. */
#include "report/draw.h"

#include <math.h>
#include <stdio.h>

enum { MAX_LABELS = 32 };

#define TEXT 11.0
#define LABEL_GAP 14.5  /* between the baselines of direct labels */
#define LABEL_LEFT 18.0 /* from the area of the curves to its direct labels */

/* ---- axes */

static void ranges(const pess__panel *panel, double x[2], double y[2]) {
    x[0] = y[0] = INFINITY;
    x[1] = y[1] = -INFINITY;
    for (int64_t c = 0; c < panel->curve_count; c++) {
        const pess__curve *curve = &panel->curves[c];
        for (int64_t i = 0; i < curve->count; i++) {
            x[0] = fmin(x[0], curve->x[i]);
            x[1] = fmax(x[1], curve->x[i]);
            y[0] = fmin(y[0], fmin(curve->mean[i], curve->lo[i])); /* fmin and fmax pass over NAN */
            y[1] = fmax(y[1], fmax(curve->mean[i], curve->hi[i]));
        }
    }
}

static void draw_axes(cairo_t *cr, const pess__panel *panel, const pess__axis *x, const pess__axis *y, pess__box box) {
    char text[32];
    pess__cairo.set_line_width(cr, 0.7);
    for (int i = 0; i < y->tick_count; i++) {
        const double at = pess__axis_place(y, y->tick[i]);
        pess__draw_colour(cr, PESS__GRID, 1);
        pess__cairo.move_to(cr, box.left, at);
        pess__cairo.line_to(cr, box.left + box.width, at);
        pess__cairo.stroke(cr);
        pess__axis_label(y, y->tick[i], text, sizeof text);
        pess__draw_text(cr, box.left - 7, at + 4, TEXT, false, PESS__SOFT, PESS__RIGHT, text);
    }
    for (int i = 0; i < x->tick_count; i++) {
        const double at = pess__axis_place(x, x->tick[i]);
        pess__draw_colour(cr, PESS__SOFT, 1);
        pess__cairo.move_to(cr, at, box.top + box.height);
        pess__cairo.line_to(cr, at, box.top + box.height + 4);
        pess__cairo.stroke(cr);
        pess__axis_label(x, x->tick[i], text, sizeof text);
        pess__draw_text(cr, at, box.top + box.height + 17, TEXT, false, PESS__SOFT, PESS__CENTRE, text);
    }
    pess__draw_colour(cr, PESS__SOFT, 1);
    pess__cairo.move_to(cr, box.left, box.top + box.height);
    pess__cairo.line_to(cr, box.left + box.width, box.top + box.height);
    pess__cairo.stroke(cr);
    pess__draw_text(cr, box.left + box.width / 2, box.top + box.height + 36, TEXT, false, PESS__INK, PESS__CENTRE,
                    panel->x_label);
    if (panel->title[0] == '\0' || box.width > 300)
        pess__draw_text(cr, box.left - 40, box.top - 12, TEXT, false, PESS__INK, PESS__LEFT, panel->y_label);
}

/* ---- curves */

static void draw_band(cairo_t *cr, const pess__curve *curve, const pess__axis *x, const pess__axis *y,
                      uint32_t colour) {
    for (int64_t i = 0; i < curve->count; i++)
        if (isnan(curve->lo[i]) || isnan(curve->hi[i])) return;
    for (int64_t i = 0; i < curve->count; i++)
        pess__cairo.line_to(cr, pess__axis_place(x, curve->x[i]), pess__axis_place(y, curve->hi[i]));
    for (int64_t i = curve->count - 1; i >= 0; i--)
        pess__cairo.line_to(cr, pess__axis_place(x, curve->x[i]), pess__axis_place(y, curve->lo[i]));
    pess__cairo.close_path(cr);
    pess__draw_colour(cr, colour, 0.2);
    pess__cairo.fill(cr);
}

static void draw_line(cairo_t *cr, const pess__curve *curve, const pess__axis *x, const pess__axis *y,
                      const pess__style *style, double radius) {
    for (int64_t i = 0; i < curve->count; i++)
        pess__cairo.line_to(cr, pess__axis_place(x, curve->x[i]), pess__axis_place(y, curve->mean[i]));
    pess__draw_colour(cr, style->colour, 1);
    pess__draw_dash(cr, style->dash);
    pess__cairo.set_line_width(cr, pess__line_width(style));
    pess__cairo.set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    pess__cairo.stroke(cr);
    pess__cairo.set_dash(cr, NULL, 0, 0);
    for (int64_t i = 0; i < curve->count; i++)
        pess__draw_marker(cr, style->marker, pess__axis_place(x, curve->x[i]), pess__axis_place(y, curve->mean[i]),
                          radius);
}

typedef struct label {
    int64_t curve;
    double wanted, at;
} label;

/* Labels as near to their curves' ends as they can be without touching: sorted by height, pushed down where they are
 * too close, then up from the bottom where that went too far. */
static int place_labels(const pess__panel *panel, const pess__axis *y, pess__box box, label *labels) {
    int count = 0;
    for (int64_t c = 0; c < panel->curve_count && count < MAX_LABELS; c++) {
        const pess__curve *curve = &panel->curves[c];
        label next = {c, pess__axis_place(y, curve->mean[curve->count - 1]), 0};
        int at = count++;
        for (; at > 0 && labels[at - 1].wanted > next.wanted; at--) labels[at] = labels[at - 1];
        labels[at] = next;
    }
    double floor_line = box.top + 4;
    for (int i = 0; i < count; i++) {
        labels[i].at = fmax(labels[i].wanted, floor_line);
        floor_line = labels[i].at + LABEL_GAP;
    }
    double ceiling = box.top + box.height;
    for (int i = count - 1; i >= 0; i--) {
        labels[i].at = fmin(labels[i].at, ceiling);
        ceiling = labels[i].at - LABEL_GAP;
    }
    return count;
}

double pess__label_width(cairo_t *cr, const char *algorithm) {
    return LABEL_LEFT + pess__text_width(cr, TEXT, pess__style_of(algorithm).label) + 4;
}

static void draw_labels(cairo_t *cr, const pess__panel *panel, const pess__axis *x, const pess__axis *y,
                        pess__box box) {
    label labels[MAX_LABELS];
    const int count = place_labels(panel, y, box, labels);
    const double right = box.left + box.width;
    for (int i = 0; i < count; i++) {
        const pess__curve *curve = &panel->curves[labels[i].curve];
        const pess__style style = pess__style_of(curve->algorithm);
        const double end = pess__axis_place(x, curve->x[curve->count - 1]);
        pess__draw_colour(cr, style.colour, 0.6);
        pess__cairo.set_line_width(cr, 0.7);
        pess__cairo.move_to(cr, end + 4, labels[i].wanted);
        pess__cairo.line_to(cr, right + LABEL_LEFT - 4, labels[i].at);
        pess__cairo.stroke(cr);
        pess__draw_text(cr, right + LABEL_LEFT, labels[i].at + 4, TEXT, false, style.colour, PESS__LEFT, style.label);
    }
}

void pess__draw_curves(cairo_t *cr, const pess__panel *panel, pess__box box, bool labels) {
    double range_x[2], range_y[2];
    ranges(panel, range_x, range_y);
    const pess__axis x = pess__axis_make(range_x[0], range_x[1], panel->log_x, false, box.width > 300 ? 5 : 3, box.left,
                                         box.left + box.width);
    const pess__axis y =
        pess__axis_make(range_y[0], range_y[1], false, true, box.height > 250 ? 6 : 4, box.top + box.height, box.top);
    draw_axes(cr, panel, &x, &y, box);
    for (int64_t c = 0; c < panel->curve_count; c++) {
        const pess__style style = pess__style_of(panel->curves[c].algorithm);
        if (!style.thin) draw_band(cr, &panel->curves[c], &x, &y, style.colour);
    }
    for (int64_t c = 0; c < panel->curve_count; c++) {
        const pess__style style = pess__style_of(panel->curves[c].algorithm);
        draw_line(cr, &panel->curves[c], &x, &y, &style, box.width > 300 ? 2.6 : 1.8);
    }
    if (labels) draw_labels(cr, panel, &x, &y, box);
    if (panel->title[0] == '\0') return;
    if (box.width > 300)
        pess__draw_text(cr, box.left - 40, box.top - 34, TEXT + 1, true, PESS__INK, PESS__LEFT, panel->title);
    else
        pess__draw_text(cr, box.left + box.width / 2, box.top - 12, TEXT, true, PESS__INK, PESS__CENTRE, panel->title);
}

/* ---- dots: one row per algorithm, the mean with its interval on a common axis */

void pess__draw_dots(cairo_t *cr, const pess__panel *panel, pess__box box) {
    const double names = 150, values = 90, step = box.height / (double)panel->curve_count;
    double range_x[2], range_y[2];
    ranges(panel, range_x, range_y);
    const double from = box.left + names, to = box.left + box.width - values;
    const pess__axis axis = pess__axis_make(0, fmax(1, range_y[1]), false, true, to - from > 300 ? 5 : 3, from, to);
    char text[64];
    pess__draw_text(cr, box.left, box.top - 12, TEXT + 1, true, PESS__INK, PESS__LEFT, panel->title);
    pess__cairo.set_line_width(cr, 0.7);
    for (int i = 0; i < axis.tick_count; i++) {
        const double at = pess__axis_place(&axis, axis.tick[i]);
        pess__draw_colour(cr, PESS__GRID, 1);
        pess__cairo.move_to(cr, at, box.top);
        pess__cairo.line_to(cr, at, box.top + box.height);
        pess__cairo.stroke(cr);
        pess__axis_label(&axis, axis.tick[i], text, sizeof text);
        pess__draw_text(cr, at, box.top + box.height + 17, TEXT, false, PESS__SOFT, PESS__CENTRE, text);
    }
    for (int64_t c = 0; c < panel->curve_count; c++) {
        const pess__curve *curve = &panel->curves[c];
        const pess__style style = pess__style_of(curve->algorithm);
        const double y = box.top + ((double)c + 0.5) * step, x = pess__axis_place(&axis, curve->mean[0]);
        pess__draw_text(cr, box.left + names - 12, y + 4, TEXT, false, PESS__INK, PESS__RIGHT, style.label);
        pess__draw_colour(cr, style.colour, 1);
        pess__cairo.set_line_width(cr, 1.8);
        if (!isnan(curve->lo[0]) && !isnan(curve->hi[0])) {
            pess__cairo.move_to(cr, pess__axis_place(&axis, fmax(curve->lo[0], 0)), y);
            pess__cairo.line_to(cr, pess__axis_place(&axis, curve->hi[0]), y);
            pess__cairo.stroke(cr);
        }
        pess__draw_marker(cr, style.marker == PESS__MARKER_NONE ? PESS__MARKER_CIRCLE : style.marker, x, y, 4);
        (void)snprintf(text, sizeof text, "%.6g", curve->mean[0]);
        pess__draw_text(cr, box.left + box.width - values + 16, y + 4, TEXT, false, PESS__SOFT, PESS__LEFT, text);
    }
    pess__draw_text(cr, (axis.from + axis.to) / 2, box.top + box.height + 36, TEXT, false, PESS__INK, PESS__CENTRE,
                    panel->y_label);
}
