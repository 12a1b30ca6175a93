/* Folds of the episodes. The counts of all folds but one are those of the whole log less those of the one. */
#include "choose/choose.h"

#include "core/memory.h"
#include "core/rng.h"

#include <stdlib.h>

/* A permutation of 0 … count−1 (Fisher & Yates). */
static void shuffle(int64_t *order, int64_t count, uint64_t seed) {
    pess__rng rng = pess__rng_stream(seed, "folds", 0);
    for (int64_t i = 0; i < count; i++) order[i] = i;
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t j = (int64_t)pess__rng_below(&rng, (uint64_t)i + 1), keep = order[i];
        order[i] = order[j];
        order[j] = keep;
    }
}

/* Rows as episodes of one step. */
static pess_status single_rows(const pess_dataset *data, pess__trajectories **out, pess_error *error) {
    pess__trajectories *t = NULL;
    PESS_TRY(pess__allocate(&t, 1, sizeof *t, "the folds", error));
    t->count = data->rows;
    pess_status status = pess__allocate(&t->begin, t->count + 1, sizeof *t->begin, "the folds", error);
    if (status == PESS_OK) status = pess__allocate(&t->row, data->rows, sizeof *t->row, "the folds", error);
    for (int64_t i = 0; status == PESS_OK && i < data->rows; i++) t->begin[i + 1] = (t->row[i] = i) + 1;
    if (status == PESS_OK)
        *out = t;
    else
        pess__trajectories_destroy(t);
    return status;
}

/* Fold k gets episodes order[first[k]] … order[first[k+1]−1], in ascending order: rows stay in the order of the log. */
static pess_status deal(pess__folds *folds, const pess__trajectories *from, uint64_t seed, pess_error *error) {
    int64_t *order = NULL, *fold_of = NULL, at = 0, e = 0;
    pess_status status = pess__allocate(&order, from->count, sizeof *order, "the folds", error);
    if (status == PESS_OK) status = pess__allocate(&fold_of, from->count, sizeof *fold_of, "the folds", error);
    if (status == PESS_OK) {
        shuffle(order, from->count, seed);
        for (int64_t i = 0; i < from->count; i++) fold_of[order[i]] = i % folds->count;
        for (int64_t k = 0; k < folds->count; k++) {
            folds->first[k] = e;
            for (int64_t i = 0; i < from->count; i++) {
                if (fold_of[i] != k) continue;
                folds->episodes.begin[e++] = at;
                for (int64_t r = from->begin[i]; r < from->begin[i + 1]; r++) folds->episodes.row[at++] = from->row[r];
            }
        }
        folds->first[folds->count] = e;
        folds->episodes.begin[e] = at;
    }
    free(order);
    free(fold_of);
    return status;
}

static pess_status fill(pess__folds *folds, uint64_t seed, int threads, pess_error *error) {
    const pess_dataset *data = folds->data;
    pess__trajectories *from = NULL;
    PESS_TRY(data->episode != NULL ? pess__trajectories_create(data, &from, error) : single_rows(data, &from, error));
    const int64_t count = folds->episodes.count = from->count;
    pess_status status = PESS_OK;
    if (count < folds->count)
        status = pess__fail(error, PESS_ARGUMENT, "%lld folds need as many %s; the log has %lld",
                            (long long)folds->count, data->episode != NULL ? "episodes" : "rows", (long long)count);
    if (status == PESS_OK)
        status = pess__allocate(&folds->episodes.begin, count + 1, sizeof(int64_t), "the folds", error);
    if (status == PESS_OK)
        status = pess__allocate(&folds->episodes.row, data->rows, sizeof(int64_t), "the folds", error);
    if (status == PESS_OK)
        status = pess__allocate(&folds->first, folds->count + 1, sizeof(int64_t), "the folds", error);
    if (status == PESS_OK) status = deal(folds, from, seed, error);
    pess__trajectories_destroy(from);
    if (status == PESS_OK) status = pess_counts_create(data, threads, &folds->whole, error);
    return status;
}

pess_status pess__folds_create(const pess_dataset *data, int64_t count, uint64_t seed, int threads, pess__folds *out,
                               pess_error *error) {
    *out = (pess__folds){.data = data, .count = count};
    const pess_status status = fill(out, seed, threads, error);
    if (status != PESS_OK) pess__folds_release(out);
    return status;
}

void pess__folds_release(pess__folds *folds) {
    free(folds->episodes.begin);
    free(folds->episodes.row);
    free(folds->first);
    pess_counts_destroy(folds->whole);
    *folds = (pess__folds){0};
}

pess_status pess__folds_part(const pess__folds *folds, int64_t fold, int threads, pess_counts **out,
                             pess_error *error) {
    const int64_t from = folds->episodes.begin[folds->first[fold]];
    const int64_t rows = folds->episodes.begin[folds->first[fold + 1]] - from;
    return pess__counts_of_rows(folds->data, folds->episodes.row + from, rows, threads, out, error);
}
