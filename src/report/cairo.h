/* Cairo, loaded when the first figure is drawn: whoever draws none needs none of the libraries behind it. A call is
 * pess__cairo.line_to(cr, x, y); a new one is one row here. */
#ifndef PESS_REPORT_CAIRO_H
#define PESS_REPORT_CAIRO_H

#include "core/status.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#define PESS__CAIRO_CALLS(X)                                                                                           \
    X(arc)                                                                                                             \
    X(close_path)                                                                                                      \
    X(create)                                                                                                          \
    X(destroy)                                                                                                         \
    X(fill)                                                                                                            \
    X(font_options_create)                                                                                             \
    X(font_options_destroy)                                                                                            \
    X(font_options_set_antialias)                                                                                      \
    X(font_options_set_hint_metrics)                                                                                   \
    X(font_options_set_hint_style)                                                                                     \
    X(image_surface_create)                                                                                            \
    X(line_to)                                                                                                         \
    X(move_to)                                                                                                         \
    X(new_path)                                                                                                        \
    X(new_sub_path)                                                                                                    \
    X(paint)                                                                                                           \
    X(pdf_surface_create_for_stream)                                                                                   \
    X(pdf_surface_set_metadata)                                                                                        \
    X(scale)                                                                                                           \
    X(select_font_face)                                                                                                \
    X(set_dash)                                                                                                        \
    X(set_font_options)                                                                                                \
    X(set_font_size)                                                                                                   \
    X(set_line_join)                                                                                                   \
    X(set_line_width)                                                                                                  \
    X(set_source_rgba)                                                                                                 \
    X(show_text)                                                                                                       \
    X(status)                                                                                                          \
    X(status_to_string)                                                                                                \
    X(stroke)                                                                                                          \
    X(surface_destroy)                                                                                                 \
    X(surface_finish)                                                                                                  \
    X(surface_status)                                                                                                  \
    X(surface_write_to_png_stream)                                                                                     \
    X(svg_surface_create_for_stream)                                                                                   \
    X(text_extents)

#define PESS__FONT "DejaVu Sans"

typedef struct pess__cairo_calls {
#define PESS__CAIRO_POINTER(name) __typeof__ (&cairo_##name)(name);
    PESS__CAIRO_CALLS(PESS__CAIRO_POINTER)
#undef PESS__CAIRO_POINTER
} pess__cairo_calls;

extern pess__cairo_calls pess__cairo;
pess_status pess__cairo_load(pess_error *error); /* before the first call; any number of times, one thread at a time */

#endif
