/* Text, colours, dashes and markers. */
#include "report/draw.h"

#include <math.h>

/* No hinting: text has the same shape and width on every surface, whatever was drawn before. */
static void choose_font(cairo_t *cr, double size, bool bold) {
    cairo_font_options_t *options = pess__cairo.font_options_create();
    pess__cairo.font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    pess__cairo.font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pess__cairo.font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pess__cairo.set_font_options(cr, options);
    pess__cairo.font_options_destroy(options);
    pess__cairo.select_font_face(cr, PESS__FONT, CAIRO_FONT_SLANT_NORMAL,
                                 bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    pess__cairo.set_font_size(cr, size);
}

double pess__text_width(cairo_t *cr, double size, const char *text) {
    cairo_text_extents_t extents;
    choose_font(cr, size, false);
    pess__cairo.text_extents(cr, text, &extents);
    return extents.x_advance;
}

void pess__draw_text(cairo_t *cr, double x, double y, double size, bool bold, uint32_t colour, pess__anchor anchor,
                     const char *text) {
    cairo_text_extents_t extents;
    choose_font(cr, size, bold);
    pess__cairo.text_extents(cr, text, &extents);
    const double shift = anchor == PESS__LEFT ? 0 : anchor == PESS__CENTRE ? extents.x_advance / 2 : extents.x_advance;
    pess__draw_colour(cr, colour, 1);
    pess__cairo.move_to(cr, x - shift, y);
    pess__cairo.show_text(cr, text);
    pess__cairo.new_path(cr);
}

void pess__draw_colour(cairo_t *cr, uint32_t colour, double opacity) {
    pess__cairo.set_source_rgba(cr, (colour >> 16 & 255) / 255.0, (colour >> 8 & 255) / 255.0, (colour & 255) / 255.0,
                                opacity);
}

void pess__draw_dash(cairo_t *cr, pess__dash dash) {
    static const double lengths[][2] = {{0, 0}, {8, 4}, {2, 3}, {5, 2.5}};
    pess__cairo.set_dash(cr, lengths[dash], dash == PESS__DASH_SOLID ? 0 : 2, 0);
}

static void polygon(cairo_t *cr, double x, double y, double radius, int corners, double turn) {
    for (int i = 0; i < corners; i++) {
        const double angle = turn + 2 * M_PI * i / corners;
        pess__cairo.line_to(cr, x + radius * cos(angle), y + radius * sin(angle));
    }
    pess__cairo.close_path(cr);
}

void pess__draw_marker(cairo_t *cr, pess__marker marker, double x, double y, double radius) {
    switch (marker) {
        case PESS__MARKER_NONE: return;
        case PESS__MARKER_CIRCLE:
            pess__cairo.new_sub_path(cr);
            pess__cairo.arc(cr, x, y, radius, 0, 2 * M_PI);
            break;
        case PESS__MARKER_SQUARE: polygon(cr, x, y, 1.25 * radius, 4, M_PI / 4); break;
        case PESS__MARKER_DIAMOND: polygon(cr, x, y, 1.35 * radius, 4, 0); break;
        case PESS__MARKER_UP: polygon(cr, x, y, 1.35 * radius, 3, -M_PI / 2); break;
        case PESS__MARKER_DOWN: polygon(cr, x, y, 1.35 * radius, 3, M_PI / 2); break;
    }
    pess__cairo.fill(cr);
}

double pess__line_width(const pess__style *style) { return style->thin ? 1.0 : 1.8; }

void pess__draw_sample(cairo_t *cr, const pess__style *style, double x, double y, double width) {
    pess__draw_colour(cr, style->colour, 1);
    pess__cairo.set_line_width(cr, pess__line_width(style));
    pess__draw_dash(cr, style->dash);
    pess__cairo.move_to(cr, x, y);
    pess__cairo.line_to(cr, x + width, y);
    pess__cairo.stroke(cr);
    pess__cairo.set_dash(cr, NULL, 0, 0);
    pess__draw_marker(cr, style->marker, x + width / 2, y, 2.6);
}
