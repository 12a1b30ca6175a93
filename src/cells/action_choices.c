/* Actions that are vectors become a few: the points of a grid, the centres of k-means of the logged ones, or given
 * vectors. A logged action is then the nearest of them, every number counted in its deviation over the log. */
#include "cells/kmeans.h"
#include "core/memory.h"
#include "core/settings.h"
#include "core/text.h"
#include "core/threads.h"
#include "data/observations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) PESS__FIELD(pess_actions_options, field)

static const pess_setting rows_of_settings[] = {
    {"actions-grid", 0, PESS_SETTING_TEXT, FIELD(grid), NULL, .argument = "N|LO:HI:N,…",
     .sentence = "actions that are vectors become the points of a grid: so many values of each number, between the "
                 "least and the most logged or as declared"},
    {"actions-kmeans", 0, PESS_SETTING_COUNT, FIELD(kmeans), "0", PESS__FROM_TO(0, PESS__DATA_MAX_ACTIONS),
     .argument = "K", .sentence = "actions that are vectors become K centres of the logged ones, by k-means"},
};
static const pess_setting_table table = PESS__SETTING_TABLE("actions", pess_actions_options, rows_of_settings);
PESS__SETTINGS_OF(actions, table)

static const char what[] = "the choice of actions";

/* What is known of each number of the vectors, and the actions as they are made. */
typedef struct choice {
    const pess_observations *data;
    int64_t width, rows, count; /* count: of actions */
    double *mean, *deviation;   /* [width] deviation 1 where a number never changes */
    double *least, *most;       /* [width] logged */
    float *values;              /* [count*width] the actions, as they are logged */
    uint32_t *number;           /* [rows] */
} choice;

static void free_choice(choice *c) {
    void *const owned[] = {c->mean, c->deviation, c->least, c->most, c->values, c->number};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

static void look_at_numbers(choice *c) {
    const float *v = c->data->vector;
    for (int64_t j = 0; j < c->width; j++) {
        double squares = 0;
        c->least[j] = INFINITY, c->most[j] = -INFINITY;
        for (int64_t i = 0; i < c->rows; i++) {
            const double x = (double)v[i * c->width + j];
            c->mean[j] += x / (double)c->rows;
            c->least[j] = fmin(c->least[j], x);
            c->most[j] = fmax(c->most[j], x);
        }
        for (int64_t i = 0; i < c->rows; i++) {
            const double x = (double)v[i * c->width + j] - c->mean[j];
            squares += x * x;
        }
        c->deviation[j] = squares > 0 ? sqrt(squares / (double)c->rows) : 1;
    }
}

static pess_status open_choice(const pess_observations *data, choice *c, pess_error *error) {
    *c = (choice){.data = data, .width = data->space.width, .rows = data->transitions};
    double **const columns[] = {&c->mean, &c->deviation, &c->least, &c->most};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        PESS_TRY(pess__allocate(columns[i], c->width, sizeof **columns[i], what, error));
    PESS_TRY(pess__allocate(&c->number, c->rows, sizeof *c->number, what, error));
    look_at_numbers(c);
    return PESS_OK;
}

/* ---- the grid */

typedef struct axis {
    double low, high;
    int64_t points;
} axis;

/* "5", or "-1:1:5". */
static bool read_axis(const char *text, size_t length, axis *out) {
    const char *end = text + length, *first = memchr(text, ':', length);
    const char *second = first != NULL ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
    if ((first == NULL) != (second == NULL)) return false;
    if (first != NULL && (!pess__parse_double(text, first, &out->low) ||
                          !pess__parse_double(first + 1, second, &out->high) || !(out->low <= out->high)))
        return false;
    return pess__parse_int64(second != NULL ? second + 1 : text, end, &out->points) && out->points >= 1 &&
           out->points <= PESS__DATA_MAX_ACTIONS;
}

static pess_status bad_grid(const choice *c, const char *text, pess_error *error) {
    return pess__fail(
        error, PESS_ARGUMENT,
        "actions-grid: found '%.80s', expected a number of values from 1 to %d, or LOW:HIGH:VALUES, once or "
        "for each of the %lld numbers of an action with commas between them",
        text, PESS__DATA_MAX_ACTIONS, (long long)c->width);
}

/* One part of the text stands for all numbers. */
static pess_status read_grid(const choice *c, const char *text, axis *axes, pess_error *error) {
    const char *at = text;
    int64_t parts = 0;
    for (bool more = true; more; parts++) {
        const size_t length = strcspn(at, ",");
        if (parts == c->width) return bad_grid(c, text, error);
        axes[parts] = (axis){c->least[parts], c->most[parts], 0};
        if (!read_axis(at, length, &axes[parts])) return bad_grid(c, text, error);
        more = at[length] == ',';
        at += length + more;
    }
    if (parts != c->width && parts != 1) return bad_grid(c, text, error);
    const bool declared = strchr(text, ':') != NULL;
    for (int64_t j = parts; j < c->width; j++)
        axes[j] = declared ? axes[0] : (axis){c->least[j], c->most[j], axes[0].points};
    return PESS_OK;
}

/* Point k of an axis; of one there is only the middle. */
static double point(const axis *a, int64_t k) {
    return a->points == 1 ? (a->low + a->high) / 2 : a->low + (a->high - a->low) * (double)k / (double)(a->points - 1);
}

static int64_t nearest_point(const axis *a, double x) {
    if (a->points == 1 || !(a->high > a->low)) return 0;
    const double place = nearbyint((x - a->low) / (a->high - a->low) * (double)(a->points - 1));
    return (int64_t)fmin(fmax(place, 0), (double)(a->points - 1));
}

/* Action (k_0, k_1, …) has the number (k_0·n_1 + k_1)·n_2 + …; the nearest point is the nearest on every axis. */
static void lay_grid(choice *c, const axis *axes) {
    for (int64_t a = 0; a < c->count; a++)
        for (int64_t j = c->width - 1, rest = a; j >= 0; rest /= axes[j--].points)
            c->values[a * c->width + j] = (float)point(&axes[j], rest % axes[j].points);
    for (int64_t i = 0; i < c->rows; i++) {
        int64_t number = 0;
        for (int64_t j = 0; j < c->width; j++)
            number = number * axes[j].points + nearest_point(&axes[j], (double)c->data->vector[i * c->width + j]);
        c->number[i] = (uint32_t)number;
    }
}

static pess_status choose_grid(choice *c, const char *text, pess_error *error) {
    axis *axes = NULL;
    PESS_TRY(pess__allocate(&axes, c->width, sizeof *axes, what, error));
    pess_status status = read_grid(c, text, axes, error);
    c->count = 1;
    for (int64_t j = 0; j < c->width && status == PESS_OK; j++) {
        c->count *= axes[j].points;
        if (c->count > PESS__DATA_MAX_ACTIONS)
            status = pess__fail(error, PESS_ARGUMENT,
                                "actions-grid: found more than %d points in all, expected fewer; k-means of the logged "
                                "actions needs fewer where they have many numbers",
                                PESS__DATA_MAX_ACTIONS);
    }
    if (status == PESS_OK) status = pess__allocate(&c->values, c->count * c->width, sizeof *c->values, what, error);
    if (status == PESS_OK) lay_grid(c, axes);
    free(axes);
    return status;
}

/* ---- k-means */

/* The centres as logged: the means of their rows. */
static pess_status take_means(choice *c, pess_error *error) {
    double *sums = NULL;
    PESS_TRY(pess__allocate(&sums, c->count * (c->width + 1), sizeof *sums, what, error));
    const pess_status status = pess__allocate(&c->values, c->count * c->width, sizeof *c->values, what, error);
    for (int64_t i = 0; i < c->rows && status == PESS_OK; i++) {
        double *sum = sums + c->number[i] * (c->width + 1);
        for (int64_t j = 0; j < c->width; j++) sum[j] += (double)c->data->vector[i * c->width + j];
        sum[c->width]++;
    }
    for (int64_t k = 0; k < c->count * c->width && status == PESS_OK; k++) {
        const double *sum = sums + k / c->width * (c->width + 1);
        c->values[k] = (float)(sum[k % c->width] / fmax(sum[c->width], 1));
    }
    free(sums);
    return status;
}

static pess_status run_kmeans(choice *c, const float *x, int64_t cells, pess_error *error) {
    const pess__rows rows = {x, c->rows, c->width};
    const pess__kmeans_options options = {
        .cells = cells, .restarts = 3, .max_iterations = 300, .tolerance = 1e-4, .threads = pess__threads(0)};
    pess__kmeans result = {0};
    int64_t distinct = 0;
    PESS_TRY(pess__rows_distinct(&rows, cells, &distinct, error));
    if (distinct < cells)
        return pess__fail(
            error, PESS_ARGUMENT,
            "actions-kmeans: found %lld, but the log has only %lld different actions; expected at most as "
            "many",
            (long long)cells, (long long)distinct);
    PESS_TRY(pess__kmeans_run(&rows, &options, &result, error));
    memcpy(c->number, result.cell, (size_t)c->rows * sizeof *c->number);
    pess__kmeans_free(&result);
    c->count = cells;
    return take_means(c, error);
}

static pess_status choose_kmeans(choice *c, int64_t cells, pess_error *error) {
    float *x = NULL;
    PESS_TRY(pess__allocate(&x, c->rows * c->width, sizeof *x, what, error));
    for (int64_t k = 0; k < c->rows * c->width; k++)
        x[k] = (float)(((double)c->data->vector[k] - c->mean[k % c->width]) / c->deviation[k % c->width]);
    const pess_status status = run_kmeans(c, x, cells, error);
    free(x);
    return status;
}

/* ---- given vectors */

/* The nearest of them; the first of equals. */
static uint32_t nearest_value(const choice *c, const float *vector) {
    double least = INFINITY;
    uint32_t nearest = 0;
    for (int64_t a = 0; a < c->count; a++) {
        double distance = 0;
        for (int64_t j = 0; j < c->width; j++) {
            const double apart = ((double)vector[j] - (double)c->values[a * c->width + j]) / c->deviation[j];
            distance += apart * apart;
        }
        if (distance < least) {
            least = distance;
            nearest = (uint32_t)a;
        }
    }
    return nearest;
}

static pess_status choose_given(choice *c, const float *values, int64_t count, int64_t width, pess_error *error) {
    if (width != c->width)
        return pess__fail(error, PESS_ARGUMENT, "values: found actions of %lld numbers, expected %lld as in the data",
                          (long long)width, (long long)c->width);
    if (count < 1 || count > PESS__DATA_MAX_ACTIONS)
        return pess__fail(error, PESS_ARGUMENT, "values: found %lld actions, expected 1 to %d", (long long)count,
                          PESS__DATA_MAX_ACTIONS);
    c->count = count;
    PESS_TRY(pess__allocate(&c->values, count * width, sizeof *c->values, what, error));
    for (int64_t k = 0; k < count * width; k++)
        if (!isfinite(c->values[k] = values[k]))
            return pess__fail(error, PESS_ARGUMENT, "values: found %g for action %lld, expected finite numbers",
                              (double)values[k], (long long)(k / width));
    for (int64_t i = 0; i < c->rows; i++) c->number[i] = nearest_value(c, c->data->vector + i * width);
    return PESS_OK;
}

/* ---- the whole */

static pess_status measure(const choice *c, pess_actions_fit *fit, pess_error *error) {
    int64_t *taken = NULL;
    double lost = 0, all = 0;
    PESS_TRY(pess__allocate(&taken, c->count, sizeof *taken, what, error));
    for (int64_t i = 0; i < c->rows; i++) taken[c->number[i]]++;
    for (int64_t k = 0; k < c->rows * c->width; k++) {
        const int64_t j = k % c->width;
        const double x = (double)c->data->vector[k], to = (double)c->values[c->number[k / c->width] * c->width + j];
        lost += (x - to) * (x - to) / (c->deviation[j] * c->deviation[j]);
        all += (x - c->mean[j]) * (x - c->mean[j]) / (c->deviation[j] * c->deviation[j]);
    }
    *fit = (pess_actions_fit){.width = c->width, .actions = c->count, .lost = all > 0 ? lost / all : 0};
    for (int64_t a = 0; a < c->count; a++) fit->unlogged += taken[a] == 0;
    free(taken);
    return PESS_OK;
}

/* Says in the notes of the data where their actions come from. */
static void note(pess_observations *data, const char *line, double lost) {
    const size_t used = strlen(data->notes), left = sizeof data->notes - used;
    char whole[300];
    const int all = snprintf(whole, sizeof whole, "%.200s\nactions_lost=%.4g\n", line, lost);
    if (all > 0 && (size_t)all < left) memcpy(data->notes + used, whole, (size_t)all + 1);
}

/* Numbers the data's actions by the choice, if it could be made, and frees the choice. */
static pess_status finish(pess_observations *data, choice *c, pess_status status, const char *line,
                          pess_actions_fit *fit, pess_error *error) {
    pess_actions_fit found;
    if (status == PESS_OK) status = measure(c, &found, error);
    if (status == PESS_OK) status = pess__observations_take_numbers(data, c->number, c->values, c->count, error);
    free_choice(c);
    if (status != PESS_OK) return status;
    note(data, line, found.lost);
    if (fit != NULL) *fit = found;
    return PESS_OK;
}

pess_status pess_observations_number_actions(pess_observations *data, const pess_actions_options *options,
                                             pess_actions_fit *fit, pess_error *error) {
    pess_actions_options o;
    choice c;
    char line[128];
    PESS_TRY(pess__settle(&table, options, &o, error));
    if ((o.grid == NULL) == (o.kmeans == 0))
        return pess__fail(error, PESS_ARGUMENT, "actions-grid, actions-kmeans: found %s, expected one of them",
                          o.grid == NULL ? "neither" : "both");
    if (data->vector == NULL)
        return pess__fail(error, PESS_ARGUMENT,
                          "%s: found actions that have numbers already, expected actions of several numbers or with "
                          "decimals",
                          o.grid != NULL ? "actions-grid" : "actions-kmeans");
    pess_status status = open_choice(data, &c, error);
    if (status == PESS_OK)
        status = o.grid != NULL ? choose_grid(&c, o.grid, error) : choose_kmeans(&c, o.kmeans, error);
    if (o.grid != NULL)
        (void)snprintf(line, sizeof line, "actions_grid=%.100s", o.grid);
    else
        (void)snprintf(line, sizeof line, "actions_kmeans=%lld", (long long)o.kmeans);
    return finish(data, &c, status, line, fit, error);
}

pess_status pess_observations_number_actions_as(pess_observations *data, const float *values, int64_t actions,
                                                int64_t width, pess_actions_fit *fit, pess_error *error) {
    choice c;
    if (data->vector == NULL)
        return pess__fail(error, PESS_ARGUMENT, "values: found actions that have numbers already, expected vectors");
    pess_status status = open_choice(data, &c, error);
    if (status == PESS_OK) status = choose_given(&c, values, actions, width, error);
    return finish(data, &c, status, "actions_given=1", fit, error);
}
