/* Columns of a map: how each is standardised and what a missing value counts as.
 *
 *     z = (x − median)/scale,  scale = (upper − lower quartile)/1.349,
 *
 * which is the standard deviation for normal measurements and does not mind outliers; where the quartiles are equal,
 * the standard deviation itself. Quantiles are order statistics of the rows that make the cells. */
#include "cells/map.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The i-th smallest, by quickselect; the order of the values changes. */
static double select_nth(double *v, int64_t n, int64_t i) {
    int64_t from = 0, to = n - 1;
    while (from < to) {
        const double pivot = v[from + (to - from) / 2];
        int64_t a = from, b = to;
        while (a <= b) {
            while (v[a] < pivot) a++;
            while (v[b] > pivot) b--;
            if (a > b) break;
            const double t = v[a];
            v[a++] = v[b];
            v[b--] = t;
        }
        if (i <= b)
            to = b;
        else if (i >= a)
            from = a;
        else
            break;
    }
    return v[i];
}

static double standard_deviation(const double *v, int64_t n) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i];
    const double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) squares += (v[i] - mean) * (v[i] - mean);
    return sqrt(squares / (double)n);
}

/* ---- rules for missing values */

static bool rule_of(const char *text, size_t length, pess_missing *rule, double *value) {
    static const char *const words[] = {"refuse", "median", NULL, "flag"};
    for (int i = 0; i < 4; i++)
        if (words[i] != NULL && strlen(words[i]) == length && memcmp(words[i], text, length) == 0) {
            *rule = (pess_missing)i;
            return true;
        }
    *rule = PESS_MISSING_VALUE;
    return pess__parse_double(text, text + length, value) && isfinite(*value);
}

static pess_status set_rule(pess_map *map, const char *item, size_t length, pess_error *error) {
    const char *equals = memchr(item, '=', length);
    const char *rule = equals != NULL ? equals + 1 : item;
    pess_missing missing;
    double value = NAN;
    if (!rule_of(rule, length - (size_t)(rule - item), &missing, &value))
        return pess__fail(error, PESS_ARGUMENT,
                          "missing: found '%.*s', expected refuse, median, flag or a number, for all columns or as "
                          "column=rule",
                          (int)(length < 100 ? length : 100), item);
    bool found = equals == NULL;
    for (int64_t f = 0; f < map->names.count; f++) {
        const size_t size = equals != NULL ? (size_t)(equals - item) : 0;
        if (equals != NULL && (strlen(map->names.names[f]) != size || memcmp(map->names.names[f], item, size) != 0))
            continue;
        found = true;
        map->columns[f].missing = missing;
        map->columns[f].fill = value;
    }
    if (found) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "missing: found a rule for '%.*s', expected one of the features",
                      (int)(equals - item < 100 ? equals - item : 100), item);
}

/* "median,lactate=flag": rules from left to right. */
static pess_status set_rules(pess_map *map, const char *text, pess_error *error) {
    while (text != NULL && *text != '\0') {
        const size_t length = strcspn(text, ",");
        PESS_TRY(set_rule(map, text, length, error));
        text += length + (text[length] == ',');
    }
    return PESS_OK;
}

/* ---- columns */

typedef struct column_rows {
    const pess_measurements *measurements;
    const int64_t *row;
    int64_t count;
} column_rows;

/* The values that are there, and where the first missing one is. */
static int64_t gather(const column_rows *r, int64_t feature, double *values, int64_t *first_missing) {
    int64_t found = 0;
    *first_missing = -1;
    for (int64_t i = 0; i < r->count; i++) {
        const double v = r->measurements->values[r->row[i] * r->measurements->features.count + feature];
        if (!isnan(v))
            values[found++] = v;
        else if (*first_missing < 0)
            *first_missing = r->row[i];
    }
    return found;
}

static void measure(pess_map_column *column, double *values, int64_t found) {
    column->low = column->high = values[0];
    for (int64_t i = 1; i < found; i++) {
        column->low = values[i] < column->low ? values[i] : column->low;
        column->high = values[i] > column->high ? values[i] : column->high;
    }
    column->middle = select_nth(values, found, (found - 1) / 2);
    const double lower = select_nth(values, found, (found - 1) / 4);
    const double upper = select_nth(values, found, (3 * (found - 1) + 3) / 4);
    column->scale = (upper - lower) / 1.349;
    if (!(column->scale > 0)) column->scale = standard_deviation(values, found);
    if (!(column->scale > 0)) column->scale = 1;
}

static pess_status make_column(const column_rows *r, int64_t feature, pess_map_column *column, double *values,
                               pess_error *error) {
    int64_t first_missing = 0;
    const int64_t found = gather(r, feature, values, &first_missing);
    column->name = r->measurements->features.names[feature];
    column->missing_rows = r->count - found;
    if (found == 0)
        return pess__fail(error, PESS_INPUT,
                          "column '%.100s': found no value in the %lld rows that make the cells, "
                          "expected some",
                          column->name, (long long)r->count);
    if (column->missing_rows > 0 && column->missing == PESS_MISSING_REFUSE) {
        (void)pess__fail(error, PESS_INPUT,
                         "column '%.100s': found no value in %lld of the %lld rows that make the cells (first in row "
                         "%lld), expected one in each, or a rule for missing ones: median, flag or a number",
                         column->name, (long long)column->missing_rows, (long long)r->count,
                         (long long)first_missing + 1);
        return pess__missing_rule_remedy(column->name, error);
    }
    measure(column, values, found);
    if (column->low == column->high && !(column->missing == PESS_MISSING_FLAG && column->missing_rows > 0))
        return pess__fail(error, PESS_INPUT,
                          "column '%.100s': found %g in all %lld rows that make the cells, expected a measurement that "
                          "varies",
                          column->name, column->low, (long long)found);
    if (!isfinite(column->high - column->low) || !isfinite(column->scale))
        return pess__fail(error, PESS_INPUT,
                          "column '%.100s': found values from %g to %g, expected a range that is finite", column->name,
                          column->low, column->high);
    if (column->missing == PESS_MISSING_MEDIAN || column->missing == PESS_MISSING_FLAG) column->fill = column->middle;
    return PESS_OK;
}

pess_status pess__columns_make(const pess_measurements *measurements, const int64_t *row, int64_t count,
                               const pess_cells_options *options, pess_map *map, pess_error *error) {
    const int64_t features = map->names.count;
    const column_rows rows = {measurements, row, count};
    for (int64_t f = 0; f < features; f++) map->columns[f] = (pess_map_column){.fill = NAN};
    PESS_TRY(set_rules(map, options->missing, error));
    pess_error *found = NULL; /* of each column; the first failure is told */
    PESS_TRY(pess__allocate(&found, features, sizeof *found, "the columns", error));
#pragma omp parallel for num_threads(options->threads) schedule(dynamic, 1) if (options->threads > 1)
    for (int64_t f = 0; f < features; f++) {
        double *values = NULL;
        if (pess__allocate(&values, count, sizeof *values, "a column", &found[f]) == PESS_OK)
            (void)make_column(&rows, f, &map->columns[f], values, &found[f]);
        free(values);
    }
    int64_t first = 0;
    while (first < features && found[first].status == PESS_OK) first++;
    const pess_status status = first < features ? found[first].status : PESS_OK;
    if (status != PESS_OK && error != NULL) *error = found[first];
    free(found);
    return status;
}

pess_status pess__map_set_coordinates(pess_map *map, pess_error *error) {
    const int64_t features = map->names.count;
    PESS_TRY(pess__allocate(&map->flag_of, 2 * features, sizeof *map->flag_of, "the coordinates", error));
    for (int64_t f = 0; f < features; f++) map->flag_of[f] = -1;
    map->coordinates = features;
    for (int64_t f = 0; f < features; f++)
        if (map->columns[f].missing == PESS_MISSING_FLAG) map->flag_of[map->coordinates++] = (int32_t)f;
    return PESS_OK;
}
