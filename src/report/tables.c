/* results.csv, paired.csv and trials.csv.gz. */
#include "core/memory.h"
#include "core/text.h"
#include "experiment/trials.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- results.csv and paired.csv */

/* Empty where it does not apply. */
static void write_value(pess__outfile *file, double value) {
    pess__outfile_write(file, ",", 1);
    if (!isnan(value)) pess__outfile_double(file, value);
}

/* Further columns: their names, or their values of a point. */
static void write_columns(pess__outfile *file, const pess_experiment *e, const pess_experiment_point *point) {
    char column[40];
    for (const char *list = e->kind->results; (list = pess__next_word(list, column, sizeof column)) != NULL;)
        if (point == NULL)
            pess__outfile_print(file, ",%s", column);
        else
            write_value(file, pess_experiment_value(e, point, column));
}

/* "game,algorithm,x,trials" */
static void write_head(pess__outfile *file, const pess_experiment_point *point) {
    if (point->game != NULL) pess__outfile_print(file, "%s,", point->game);
    pess__outfile_field(file, point->algorithm);
    pess__outfile_write(file, ",", 1);
    pess__outfile_double(file, point->x);
    pess__outfile_print(file, ",%lld", (long long)point->trials);
}

pess_status pess__report_results(const pess_experiment *e, const char *path, pess_error *error) {
    const bool range = e->kind->info.band == PESS_BAND_RANGE;
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "%salgorithm,x,trials,mean,%s", e->kind->games != NULL ? "game," : "",
                        range ? "min,max" : "ci95");
    write_columns(file, e, NULL);
    pess__outfile_write(file, "\n", 1);
    for (int64_t i = 0; i < e->point_count; i++) {
        const pess_experiment_point *p = &e->points[i];
        write_head(file, p);
        write_value(file, p->mean);
        if (range) write_value(file, p->min);
        pess__outfile_write(file, ",", 1);
        pess__outfile_double(file, range ? p->max : p->ci95); /* nan: the interval of a single trial */
        write_columns(file, e, p);
        pess__outfile_write(file, "\n", 1);
    }
    return pess__outfile_commit(file, error);
}

pess_status pess__report_paired(const pess_experiment *e, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "algorithm,x,trials,below_optimal,ci95");
    write_columns(file, e, NULL);
    pess__outfile_write(file, "\n", 1);
    for (int64_t i = 0; i < e->point_count; i++) {
        const pess_experiment_point *p = &e->points[i];
        write_head(file, p);
        write_value(file, p->values[PESS__BELOW_OPTIMAL]);
        pess__outfile_write(file, ",", 1);
        pess__outfile_double(file, p->values[PESS__BELOW_OPTIMAL_CI95]);
        write_columns(file, e, p);
        pess__outfile_write(file, "\n", 1);
    }
    return pess__outfile_commit(file, error);
}

/* ---- trials: rows are made and compressed in pieces, one gzip member each, on all cores. Pieces are the same whatever
 * the number of threads. */

enum { PIECE_ROWS = 20000, PREFIX = 160, ROW = PREFIX + 2 * PESS__NUMBER_SIZE };

typedef struct piece {
    unsigned char *bytes;
    size_t length;
    pess_status status;
    pess_error error;
} piece;

/* "algorithm,x[,epsilon,transitions]," of every column, made once. */
static pess_status make_prefixes(const pess__trials *t, char (**out)[PREFIX], pess_error *error) {
    char(*prefixes)[PREFIX] = NULL;
    PESS_TRY(pess__allocate(&prefixes, t->column_count, sizeof *prefixes, "the table of trials", error));
    const bool panels = t->experiment->kind->panel_per_dataset;
    for (int64_t c = 0; c < t->column_count; c++) {
        const pess__column *column = &t->columns[c];
        char x[PESS__NUMBER_SIZE], panel[64] = "";
        (void)pess__format_double(column->x, x);
        if (panels) (void)snprintf(panel, sizeof panel, "%g,%lld,", column->epsilon, (long long)column->transitions);
        (void)snprintf(prefixes[c], PREFIX, ",%s,%s,%s", column->algorithm, x, panel);
    }
    *out = prefixes;
    return PESS_OK;
}

static pess_status compress_piece(char *text, size_t length, piece *out) {
    z_stream z = {0};
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return pess__fail(&out->error, PESS_MEMORY, "not enough memory to compress the trials");
    const uLong room = deflateBound(&z, (uLong)length);
    pess_status status = pess__allocate(&out->bytes, (int64_t)room, 1, "the table of trials", &out->error);
    if (status == PESS_OK) {
        z.next_in = (Bytef *)text;
        z.avail_in = (uInt)length;
        z.next_out = out->bytes;
        z.avail_out = (uInt)room;
        if (deflate(&z, Z_FINISH) != Z_STREAM_END)
            status = pess__fail(&out->error, PESS_IO, "the trials cannot be compressed");
        out->length = z.total_out;
    }
    (void)deflateEnd(&z);
    return status;
}

static int64_t piece_trials(const pess__trials *t) {
    return t->column_count < PIECE_ROWS ? PIECE_ROWS / t->column_count : 1;
}

static pess_status make_piece(const pess__trials *t, char (*prefixes)[PREFIX], int64_t first, piece *out) {
    const int64_t last = first + piece_trials(t), end = last < t->options->trials ? last : t->options->trials;
    char *text = NULL;
    PESS_TRY(pess__allocate(&text, (end - first) * t->column_count + 1, ROW, "the table of trials", &out->error));
    char *at = text;
    if (first == 0) {
        const bool panels = t->experiment->kind->panel_per_dataset;
        at += snprintf(at, ROW, "trial,algorithm,x,%sreturn\n", panels ? "epsilon,transitions," : "");
    }
    for (int64_t i = first; i < end; i++) {
        char number[24];
        if (!t->finished[i]) continue;
        const size_t digits = (size_t)snprintf(number, sizeof number, "%lld", (long long)i);
        for (int64_t c = 0; c < t->column_count; c++) {
            const size_t length = strlen(prefixes[c]);
            memcpy(at, number, digits);
            memcpy(at + digits, prefixes[c], length);
            at += digits + length;
            at += snprintf(at, PESS__NUMBER_SIZE, "%.17g\n", t->values[i * t->value_count + t->columns[c].value]);
        }
    }
    const pess_status status = compress_piece(text, (size_t)(at - text), out);
    free(text);
    return status;
}

static pess_status write_pieces(const piece *pieces, int64_t count, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    for (int64_t i = 0; i < count; i++)
        if (pieces[i].status != PESS_OK) return pess__fail(error, pieces[i].status, "%s", pieces[i].error.message);
    PESS_TRY(pess__outfile_open(path, &file, error));
    for (int64_t i = 0; i < count; i++) pess__outfile_write(file, pieces[i].bytes, pieces[i].length);
    return pess__outfile_commit(file, error);
}

pess_status pess__report_trials(const pess_experiment *experiment, const char *path, pess_error *error) {
    const pess__trials *t = pess__trials_of(experiment);
    const int64_t each = piece_trials(t), count = (t->options->trials + each - 1) / each;
    char(*prefixes)[PREFIX] = NULL;
    piece *pieces = NULL;
    PESS_TRY(make_prefixes(t, &prefixes, error));
    pess_status status = pess__allocate(&pieces, count, sizeof *pieces, "the table of trials", error);
    if (status == PESS_OK) {
#pragma omp parallel for schedule(dynamic) num_threads(t->options->threads)
        for (int64_t i = 0; i < count; i++) pieces[i].status = make_piece(t, prefixes, i * each, &pieces[i]);
        status = write_pieces(pieces, count, path, error);
        for (int64_t i = 0; i < count; i++) free(pieces[i].bytes);
    }
    free(pieces);
    free(prefixes);
    return status;
}
