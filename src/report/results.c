/* Figures from results.csv and learning curves on disk: pess plot. */
#include "core/json.h"
#include "data/table.h"
#include "report/learning.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- panels: one per dataset or per game, where results say which */

typedef struct source {
    bool panels, games;
    bool range; /* bands from the smallest to the largest */
    char title[200], x_label[200], y_label[120];
    bool log_x;
    int64_t first; /* panel of the figure at which this source begins */
} source;

static void label_panel(const source *from, const char *title, pess__panel *panel) {
    (void)snprintf(panel->title, sizeof panel->title, "%s", title);
    (void)snprintf(panel->x_label, sizeof panel->x_label, "%s", from->x_label);
    (void)snprintf(panel->y_label, sizeof panel->y_label, "%s", from->y_label);
    panel->log_x = from->log_x;
    panel->range = from->range;
}

/* The last panel where it has this title, else a new one: rows come panel after panel. */
static pess_status panel_for(pess__figure *figure, const source *from, const char *title, pess__panel **out,
                             pess_error *error) {
    for (int64_t p = figure->panel_count - 1; p >= from->first; p--)
        if (strcmp(figure->panels[p].title, title) == 0) {
            *out = &figure->panels[p];
            return PESS_OK;
        }
    PESS_TRY(pess__figure_add_panel(figure, out, error));
    label_panel(from, title, *out);
    return PESS_OK;
}

/* ---- manifest.json */

static bool copy_text(const pess__json_value *manifest, const char *key, char *out, size_t size) {
    const char *text = pess__json_text(manifest, key);
    if (text != NULL) (void)snprintf(out, size, "%s", text);
    return text != NULL;
}

/* Titles and labels, where there is a manifest. */
static pess_status read_labels(const char *path, source *from, pess__figure *figure, pess_error *error) {
    pess__json *json = NULL;
    if (access(path, F_OK) != 0) return PESS_OK;
    PESS_TRY(pess__json_read(path, &json, error));
    const pess__json_value *manifest = pess__json_root(json);
    char scale[16] = "";
    (void)copy_text(manifest, "x_label", from->x_label, sizeof from->x_label);
    (void)copy_text(manifest, "y_label", from->y_label, sizeof from->y_label);
    (void)copy_text(manifest, "title", from->title, sizeof from->title);
    if (copy_text(manifest, "x_scale", scale, sizeof scale)) from->log_x = strcmp(scale, "log") == 0;
    if (figure->note[0] == '\0') (void)copy_text(manifest, "note", figure->note, sizeof figure->note);
    pess__json_destroy(json);
    return PESS_OK;
}

/* ---- results.csv */

/* The band is ci95, or min and max. */
typedef struct columns {
    int64_t algorithm, x, mean, ci95, min, max, epsilon, transitions, game;
} columns;

static pess_status find_columns(const pess__table *table, columns *c, pess_error *error) {
    int64_t trials = 0;
    PESS_TRY(pess__table_require(table, "algorithm", &c->algorithm, error));
    PESS_TRY(pess__table_require(table, "x", &c->x, error));
    PESS_TRY(pess__table_require(table, "trials", &trials, error));
    PESS_TRY(pess__table_require(table, "mean", &c->mean, error));
    c->min = pess__table_column(table, "min");
    c->max = pess__table_column(table, "max");
    c->ci95 = -1;
    if (c->min < 0 || c->max < 0) PESS_TRY(pess__table_require(table, "ci95", &c->ci95, error));
    c->game = pess__table_column(table, "game");
    c->epsilon = pess__table_column(table, "epsilon");
    c->transitions = pess__table_column(table, "transitions");
    return PESS_OK;
}

/* A name that has to be there, copied. */
static pess_status read_name(const pess__table *table, int64_t column, char out[80], pess_error *error) {
    const pess__csv_field name = pess__table_field(table, column);
    if (name.length == 0 || name.length > 79)
        return pess__table_fail(table, column, error, "expected a name of 1 to 79 bytes");
    memcpy(out, name.text, name.length);
    out[name.length] = '\0';
    return PESS_OK;
}

static pess_status read_band(const pess__table *table, const columns *c, double mean, double *lo, double *hi,
                             pess_error *error) {
    if (c->ci95 < 0) {
        PESS_TRY(pess__table_double(table, c->min, -INFINITY, mean, "a number not above the mean", lo, error));
        return pess__table_double(table, c->max, mean, INFINITY, "a number not below the mean", hi, error);
    }
    const pess__csv_field half = pess__table_field(table, c->ci95);
    double ci95 = NAN;
    if (!(half.length == 3 && memcmp(half.text, "nan", 3) == 0)) /* of a single trial */
        PESS_TRY(pess__table_double(table, c->ci95, 0, INFINITY, "a half-width, 0 or more", &ci95, error));
    *lo = mean - ci95;
    *hi = mean + ci95;
    return PESS_OK;
}

static pess_status read_title(const pess__table *table, const columns *c, const source *from, char *out, size_t size,
                              pess_error *error) {
    double epsilon = NAN, transitions = NAN;
    if (from->games) {
        char game[80];
        PESS_TRY(read_name(table, c->game, game, error));
        pess__game_title(game, out, size);
        return PESS_OK;
    }
    *out = '\0';
    if (from->panels) {
        PESS_TRY(pess__table_double(table, c->epsilon, -INFINITY, INFINITY, "a number", &epsilon, error));
        PESS_TRY(pess__table_double(table, c->transitions, 0, INFINITY, "a number", &transitions, error));
        pess__dataset_title(epsilon, transitions, out, size);
    }
    return PESS_OK;
}

static pess_status read_row(const pess__table *table, const columns *c, const source *from, pess__figure *figure,
                            pess_error *error) {
    double x = 0, mean = 0, lo = NAN, hi = NAN;
    char algorithm[80], title[160];
    pess__panel *panel = NULL;
    PESS_TRY(pess__table_double(table, c->x, -INFINITY, INFINITY, "a number", &x, error));
    PESS_TRY(pess__table_double(table, c->mean, -INFINITY, INFINITY, "a number", &mean, error));
    PESS_TRY(read_band(table, c, mean, &lo, &hi, error));
    PESS_TRY(read_title(table, c, from, title, sizeof title, error));
    PESS_TRY(read_name(table, c->algorithm, algorithm, error));
    if (from->log_x && !(x > 0)) return pess__table_fail(table, c->x, error, "expected a number above 0 (log axis)");
    PESS_TRY(panel_for(figure, from, title, &panel, error));
    return pess__panel_add_band(panel, algorithm, x, mean, lo, hi, error);
}

/* Without a manifest: logarithmic where numbers are positive and span more than two powers of ten. */
static void guess_scale(pess__figure *figure, int64_t first) {
    for (int64_t p = first; p < figure->panel_count; p++) {
        double lo = INFINITY, hi = -INFINITY;
        const pess__panel *panel = &figure->panels[p];
        for (int64_t c = 0; c < panel->curve_count; c++) {
            lo = fmin(lo, panel->curves[c].x[0]);
            hi = fmax(hi, panel->curves[c].x[panel->curves[c].count - 1]);
        }
        figure->panels[p].log_x = lo > 0 && hi > 100 * lo;
    }
}

static pess_status read_table(pess__table *table, source *from, pess__figure *figure, pess_error *error) {
    columns c;
    PESS_TRY(find_columns(table, &c, error));
    from->games = c.game >= 0;
    from->panels = !from->games && c.epsilon >= 0 && c.transitions >= 0;
    from->range = c.ci95 < 0;
    for (;;) {
        bool row = false;
        PESS_TRY(pess__table_next(table, &row, error));
        if (!row) return PESS_OK;
        PESS_TRY(read_row(table, &c, from, figure, error));
    }
}

/* The file that holds the results of a directory; the first name is the one that is missed where there is none. */
static void file_with_results(const char *path, char *out, size_t size) {
    static const char *const names[] = {"results.csv", "learning_curves.csv", "log.csv"};
    struct stat info;
    (void)snprintf(out, size, "%s", path);
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return;
    for (int i = 0; i < 3; i++) {
        (void)snprintf(out, size, "%s/%s", path, names[i]);
        if (stat(out, &info) == 0) return;
    }
    (void)snprintf(out, size, "%s/%s", path, names[0]);
}

/* The figure's title is the source's where it is the only one; a lone panel carries it. */
static void set_titles(const source *from, pess__figure *figure) {
    if (from->title[0] == '\0') return;
    if (figure->panel_count > from->first + 1 || from->first == 0)
        (void)snprintf(figure->title, sizeof figure->title, "%s", from->title);
    if (figure->panel_count == from->first + 1 && !from->games)
        (void)snprintf(figure->panels[from->first].title, sizeof figure->panels[0].title, "%.150s", from->title);
}

static pess_status read_results(pess__table *table, const char *results, pess__figure *figure, pess_error *error) {
    char manifest[4200];
    const char *slash = strrchr(results, '/');
    (void)snprintf(manifest, sizeof manifest, "%.*smanifest.json", slash != NULL ? (int)(slash - results + 1) : 0,
                   results);
    source from = {.first = figure->panel_count, .x_label = "x", .y_label = "mean"};
    PESS_TRY(read_labels(manifest, &from, figure, error));
    const bool labelled = strcmp(from.x_label, "x") != 0;
    PESS_TRY(read_table(table, &from, figure, error));
    if (!labelled) guess_scale(figure, from.first);
    set_titles(&from, figure);
    return PESS_OK;
}

pess_status pess__report_read(const char *path, pess__figure *figure, pess_error *error) {
    char results[4200];
    const int64_t first = figure->panel_count;
    if (strlen(path) > 4000) return pess__fail(error, PESS_ARGUMENT, "the name of the results is too long");
    file_with_results(path, results, sizeof results);
    pess__table *table = NULL;
    PESS_TRY(pess__table_open(results, &table, error));
    const bool learning = pess__learning_is(table);
    const pess_status status =
        learning ? pess__learning_read(table, results, figure, error) : read_results(table, results, figure, error);
    pess__table_close(table);
    PESS_TRY(status);
    if (figure->panel_count == first) return pess__fail(error, PESS_INPUT, "%s: has no rows", results);
    figure->learning = figure->learning || learning;
    figure->tabular = figure->tabular || !learning;
    return PESS_OK;
}

/* ---- pess plot */

static const char *format_of(const char *path) {
    static const char *const formats[] = {"svg", "png", "pdf"};
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot != NULL && i < 3; i++)
        if (strcmp(dot + 1, formats[i]) == 0) return formats[i];
    return NULL;
}

/* Of several sources panels carry their own titles, and one setting does not speak for all; of a single panel the
 * figure's title is the panel's. */
static void title_figure(pess__figure *figure, size_t sources) {
    if (figure->learning && !figure->tabular) {
        (void)snprintf(figure->title, sizeof figure->title, "Learning curves of double DQN");
        if (figure->panel_count == 1)
            (void)snprintf(figure->title, sizeof figure->title, "%s: learning curve of double DQN",
                           figure->panels[0].title);
        (void)snprintf(figure->note, sizeof figure->note, "return of greedy evaluations during training");
    } else if (sources > 1) {
        (void)snprintf(figure->title, sizeof figure->title, "Experiments");
        figure->note[0] = '\0';
    }
    if (figure->panel_count == 1 && !figure->panels[0].range) figure->panels[0].title[0] = '\0';
}

pess_status pess_figure_write(const char *const *results, size_t count, const char *algorithms, const char *path,
                              pess_error *error) {
    if (count == 0) return pess__fail(error, PESS_ARGUMENT, "found no results to draw, expected some");
    const char *format = path != NULL ? format_of(path) : NULL;
    if (format == NULL)
        return pess__fail(error, PESS_ARGUMENT, "%s: expected a name that ends in .svg, .png or .pdf",
                          path != NULL ? path : "the figure");
    pess__figure figure = {0};
    pess_status status = PESS_OK;
    for (size_t i = 0; i < count && status == PESS_OK; i++) status = pess__report_read(results[i], &figure, error);
    if (status == PESS_OK && algorithms != NULL) status = pess__figure_select(&figure, algorithms, error);
    if (status == PESS_OK) title_figure(&figure, count);
    if (status == PESS_OK) status = pess__figure_save(&figure, path, format, error);
    pess__figure_release(&figure);
    return status;
}
