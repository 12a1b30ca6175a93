#include "report/learning.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool pess__learning_is(const pess__table *table) {
    return pess__table_column(table, "frame") >= 0 && pess__table_column(table, "return") >= 0;
}

/* space_invaders becomes Space Invaders. */
static void write_title(const char *name, size_t length, char *out, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < size; i++) {
        const bool first = i == 0 || name[i - 1] == '_';
        out[used++] = name[i] == '_' ? ' ' : first ? pess__upper(name[i]) : name[i];
    }
    out[used] = '\0';
}

/* runs/breakout.csv and runs/breakout/log.csv are both named breakout. */
static void name_of_file(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/'), *begin = slash != NULL ? slash + 1 : path, *end = strchr(begin, '.');
    if (strcmp(begin, "log.csv") == 0 && slash != NULL) {
        for (end = slash, begin = slash; begin > path && begin[-1] != '/';) begin--;
    }
    write_title(begin, end != NULL && end > begin ? (size_t)(end - begin) : strlen(begin), out, size);
}

/* The panel of this title among those from `first` on, else a new one. */
static pess_status panel_of(pess__figure *figure, int64_t first, const char *title, pess__panel **out,
                            pess_error *error) {
    for (int64_t p = first; p < figure->panel_count; p++)
        if (strcmp(figure->panels[p].title, title) == 0) {
            *out = &figure->panels[p];
            return PESS_OK;
        }
    PESS_TRY(pess__figure_add_panel(figure, out, error));
    (void)snprintf((*out)->title, sizeof(*out)->title, "%s", title);
    (void)snprintf((*out)->x_label, sizeof(*out)->x_label, "frames");
    (void)snprintf((*out)->y_label, sizeof(*out)->y_label, "mean return");
    return PESS_OK;
}

static pess_status read_row(const pess__table *table, int64_t first, const char *name, pess__figure *figure,
                            pess_error *error) {
    const int64_t game = pess__table_column(table, "game");
    double frame = 0, value = 0;
    PESS_TRY(pess__table_double(table, pess__table_column(table, "frame"), 0, INFINITY, "a number of frames, 0 or more",
                                &frame, error));
    PESS_TRY(
        pess__table_double(table, pess__table_column(table, "return"), -INFINITY, INFINITY, "a number", &value, error));
    char title[80];
    (void)snprintf(title, sizeof title, "%s", name);
    if (game >= 0) {
        const pess__csv_field field = pess__table_field(table, game);
        if (field.length == 0 || field.length >= sizeof title)
            return pess__table_fail(table, game, error, "expected a name of 1 to 79 bytes");
        write_title(field.text, field.length, title, sizeof title);
    }
    pess__panel *panel = NULL;
    PESS_TRY(panel_of(figure, first, title, &panel, error));
    return pess__panel_add_point(panel, "greedy", frame, value, NAN, error);
}

pess_status pess__learning_read(pess__table *table, const char *path, pess__figure *figure, pess_error *error) {
    const int64_t first = figure->panel_count;
    char name[80];
    name_of_file(path, name, sizeof name);
    for (;;) {
        bool row = false;
        PESS_TRY(pess__table_next(table, &row, error));
        if (!row) return PESS_OK;
        PESS_TRY(read_row(table, first, name, figure, error));
    }
}
