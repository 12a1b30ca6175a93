/* The whole figure: title, panels in rows, a legend where there are many, and the surface it goes to. */
#include "core/memory.h"
#include "core/outfile.h"
#include "report/draw.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN 20.0
#define HEADER 50.0 /* title and note */
#define LEGEND_LINE 18.0
#define PNG_SCALE 2.0

typedef struct layout {
    double panel_width, panel_height; /* of the curves' area */
    double left, right, top, bottom;  /* around it */
    bool labels;                      /* direct labels; else a legend above the panels */
    int64_t columns, rows;
} layout;

/* Text widths need a surface, here one that nothing is drawn on. */
static cairo_t *open_measure(void) {
    cairo_surface_t *surface = pess__cairo.image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cr = pess__cairo.create(surface);
    pess__cairo.surface_destroy(surface); /* cr keeps it */
    return cr;
}

/* Room for the direct labels of curves, right of them. */
static double label_width(const pess__figure *figure) {
    cairo_t *cr = open_measure();
    double width = 132;
    for (int64_t p = 0; p < figure->panel_count; p++)
        for (int64_t c = 0; c < figure->panels[p].curve_count; c++)
            width = fmax(width, pess__label_width(cr, figure->panels[p].curves[c].algorithm));
    pess__cairo.destroy(cr);
    return ceil(width);
}

static layout layout_of(const pess__figure *figure) {
    const int64_t n = figure->panel_count;
    layout l = {.left = 52, .top = 30, .bottom = 46, .labels = n <= 2};
    const bool some = n > 2 && n <= 6; /* few enough to be large */
    l.columns = figure->columns > 0 ? figure->columns : n < 3 ? n : some ? 2 : 3;
    l.rows = l.columns > 0 ? (n + l.columns - 1) / l.columns : 0;
    l.panel_width = n == 1 ? 600 : n == 2 ? 430 : some ? 380 : 240;
    l.panel_height = n == 1 ? 370 : n == 2 ? 320 : some ? 220 : 170;
    l.right = l.labels ? label_width(figure) : 14;
    if (n == 2 || some || (n == 1 && figure->panels[0].title[0] != '\0')) l.top = 44; /* a title each */
    if (n == 1 && pess__panel_is_dots(&figure->panels[0])) {
        l.panel_height = 26.0 * (double)figure->panels[0].curve_count;
        l.panel_width += l.left + l.right - 20;
        l.left = l.right = 10;
    }
    return l;
}

/* All algorithms of the figure, each once. */
static int64_t legend_entries(const pess__figure *figure, const char **names, int64_t room) {
    int64_t count = 0;
    for (int64_t p = 0; p < figure->panel_count; p++)
        for (int64_t c = 0; c < figure->panels[p].curve_count; c++) {
            const char *name = figure->panels[p].curves[c].algorithm;
            int64_t i = 0;
            while (i < count && strcmp(names[i], name) != 0) i++;
            if (i == count && count < room) names[count++] = name;
        }
    return count;
}

static double inner_width(const layout *l) { return (double)l->columns * (l->left + l->panel_width + l->right); }

/* Draws (or, with cr of a size-only use, walks) the legend; returns its height. */
static double draw_legend(cairo_t *cr, const pess__figure *figure, double left, double top, double width, bool draw) {
    const char *names[64];
    const int64_t count = legend_entries(figure, names, 64);
    double x = left, y = top;
    for (int64_t i = 0; i < count; i++) {
        const pess__style style = pess__style_of(names[i]);
        const double needed = 30 + pess__text_width(cr, 11, style.label) + 18;
        if (x > left && x + needed > left + width) {
            x = left;
            y += LEGEND_LINE;
        }
        if (draw) {
            pess__draw_sample(cr, &style, x, y, 24);
            pess__draw_text(cr, x + 30, y + 4, 11, false, PESS__INK, PESS__LEFT, style.label);
        }
        x += needed;
    }
    return y - top + LEGEND_LINE;
}

static double legend_height(const pess__figure *figure, const layout *l) {
    if (l->labels) return 0;
    cairo_t *cr = open_measure();
    const double height = draw_legend(cr, figure, 0, 0, inner_width(l), false);
    pess__cairo.destroy(cr);
    return height;
}

void pess__figure_size(const pess__figure *figure, double *width, double *height) {
    const layout l = layout_of(figure);
    *width = 2 * MARGIN + inner_width(&l);
    *height = 2 * MARGIN + HEADER + legend_height(figure, &l) + (double)l.rows * (l.top + l.panel_height + l.bottom);
}

static void draw_figure(const pess__figure *figure, cairo_t *cr) {
    const layout l = layout_of(figure);
    double width = 0, height = 0, y = MARGIN + HEADER;
    pess__figure_size(figure, &width, &height);
    pess__draw_colour(cr, 0xFFFFFF, 1);
    pess__cairo.paint(cr);
    char title[340];
    const bool titled = !l.labels && l.panel_width <= 300; /* small panels have no room for their y label */
    (void)snprintf(title, sizeof title, "%s%s%s", figure->title, titled ? " · vertical: " : "",
                   titled ? figure->panels[0].y_label : "");
    pess__draw_text(cr, MARGIN, MARGIN + 14, 15, true, PESS__INK, PESS__LEFT, title);
    pess__draw_text(cr, MARGIN, MARGIN + 32, 10.5, false, PESS__SOFT, PESS__LEFT, figure->note);
    if (!l.labels) y += draw_legend(cr, figure, MARGIN, y, inner_width(&l), true);
    for (int64_t p = 0; p < figure->panel_count; p++) {
        const pess__panel *panel = &figure->panels[p];
        const int64_t row_number = p / l.columns;
        const double column = (double)(p % l.columns), row = (double)row_number;
        const pess__box box = {MARGIN + column * (l.left + l.panel_width + l.right) + l.left,
                               y + row * (l.top + l.panel_height + l.bottom) + l.top, l.panel_width, l.panel_height};
        if (pess__panel_is_dots(panel))
            pess__draw_dots(cr, panel, box);
        else
            pess__draw_curves(cr, panel, box, l.labels);
    }
}

/* ---- surfaces. What cairo writes is kept in memory first: its SVG numbers surfaces through the life of the process,
 * and those numbers must not tell what was drawn before. */

typedef struct bytes {
    char *data;
    int64_t length, room;
} bytes;

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned length) {
    bytes *to = closure;
    if (pess__grow(&to->data, &to->room, to->length + (int64_t)length, 1, "a figure", NULL) != PESS_OK)
        return CAIRO_STATUS_NO_MEMORY;
    memcpy(to->data + to->length, data, length);
    to->length += length;
    return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *create_surface(const char *format, double width, double height, bytes *to) {
    if (strcmp(format, "svg") == 0) return pess__cairo.svg_surface_create_for_stream(collect, to, width, height);
    if (strcmp(format, "png") == 0)
        return pess__cairo.image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(PNG_SCALE * width),
                                                (int)ceil(PNG_SCALE * height));
    cairo_surface_t *surface = pess__cairo.pdf_surface_create_for_stream(collect, to, width, height);
    /* the time of writing would make every file different */
    pess__cairo.pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    return surface;
}

static cairo_status_t render(const pess__figure *figure, const char *format, bytes *to) {
    double width = 0, height = 0;
    pess__figure_size(figure, &width, &height);
    cairo_surface_t *surface = create_surface(format, width, height, to);
    cairo_t *cr = pess__cairo.create(surface);
    if (strcmp(format, "png") == 0) pess__cairo.scale(cr, PNG_SCALE, PNG_SCALE);
    draw_figure(figure, cr);
    cairo_status_t status = pess__cairo.status(cr);
    pess__cairo.destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS && strcmp(format, "png") == 0)
        status = pess__cairo.surface_write_to_png_stream(surface, collect, to);
    pess__cairo.surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) status = pess__cairo.surface_status(surface);
    pess__cairo.surface_destroy(surface);
    return status;
}

/* id="surface123" becomes id="surface". One surface, so one such id. */
static void write_svg(pess__outfile *file, const bytes *from) {
    static const char mark[] = "id=\"surface";
    const int64_t size = (int64_t)sizeof mark - 1;
    int64_t done = 0;
    for (int64_t at = 0; at + size < from->length; at++) {
        if (memcmp(from->data + at, mark, (size_t)size) != 0) continue;
        pess__outfile_write(file, from->data + done, (size_t)(at + size - done));
        done = at + size;
        while (done < from->length && from->data[done] >= '0' && from->data[done] <= '9') done++;
        at = done;
    }
    pess__outfile_write(file, from->data + done, (size_t)(from->length - done));
}

static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;

pess_status pess_figure_possible(pess_error *error) {
    (void)pthread_mutex_lock(&drawing);
    const pess_status status = pess__cairo_load(error);
    (void)pthread_mutex_unlock(&drawing);
    return status;
}

static pess_status draw(const pess__figure *figure, const char *path, const char *format, bytes *to,
                        pess_error *error) {
    PESS_TRY(pess__cairo_load(error));
    const cairo_status_t status = render(figure, format, to);
    if (status == CAIRO_STATUS_SUCCESS) return PESS_OK;
    return pess__fail(error, status == CAIRO_STATUS_NO_MEMORY ? PESS_MEMORY : PESS_IO,
                      "%s: the figure cannot be drawn: %s", path, pess__cairo.status_to_string(status));
}

static pess_status write_drawn(const bytes *drawn, const char *path, const char *format, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    if (strcmp(format, "svg") == 0)
        write_svg(file, drawn);
    else
        pess__outfile_write(file, drawn->data, (size_t)drawn->length);
    return pess__outfile_commit(file, error);
}

pess_status pess__figure_save(const pess__figure *figure, const char *path, const char *format, pess_error *error) {
    bytes drawn = {0};
    /* one at a time: fonts and their caches are shared by the whole process */
    (void)pthread_mutex_lock(&drawing);
    pess_status status = draw(figure, path, format, &drawn, error);
    (void)pthread_mutex_unlock(&drawing);
    if (status == PESS_OK) status = write_drawn(&drawn, path, format, error);
    free(drawn.data);
    return status;
}
