/* Which pairs have the same row: by a signature of a few entries first, then entry by entry. */
#include "core/memory.h"
#include "solve/packed.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 256 };

void pess__shared_rows_destroy(pess__shared_rows *shared) {
    if (shared == NULL) return;
    free(shared->row);
    free(shared->pair);
    free(shared->product);
    free(shared);
}

static uint64_t mixed(uint64_t hash, const void *from) {
    uint64_t bits;
    memcpy(&bits, from, sizeof bits);
    hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

/* Of length, both ends and the middle of a row. */
static uint64_t signature(const pess_model *model, int64_t z) {
    const int64_t from = model->row[z], to = model->row[z + 1], ends[] = {from, from + (to - from) / 2, to - 1};
    uint64_t hash = (uint64_t)(to - from) * UINT64_C(0x9e3779b97f4a7c15);
    if (to == from) return hash;
    for (int i = 0; i < 3; i++) {
        const uint64_t next = model->next[ends[i]];
        hash = mixed(mixed(hash, &next), &model->probability[ends[i]]);
    }
    return hash;
}

static bool same_row(const pess_model *model, int64_t y, int64_t z) {
    const int64_t length = model->row[y + 1] - model->row[y];
    if (length != model->row[z + 1] - model->row[z]) return false;
    return memcmp(model->next + model->row[y], model->next + model->row[z], (size_t)length * sizeof(uint32_t)) == 0 &&
           memcmp(model->probability + model->row[y], model->probability + model->row[z],
                  (size_t)length * sizeof(double)) == 0;
}

/* Are there two alike among neighbouring states' rows? Looks at a few, so that nothing is lost where there are none. */
static bool worth_looking(const pess_model *model) {
    const int64_t pairs = model->states * model->actions, step = pairs / SAMPLE + 1, reach = 2 * model->actions;
    int64_t looked = 0, found = 0;
    for (int64_t z = 0; z < pairs; z += step) {
        if (model->kind[z] != PESS_ROW_SPARSE) continue;
        looked++;
        bool alike = false;
        for (int64_t y = z + 1; y < pairs && y < z + reach && !alike; y++)
            alike = model->kind[y] == PESS_ROW_SPARSE && signature(model, y) == signature(model, z) &&
                    same_row(model, y, z);
        found += alike;
    }
    return 4 * found > 3 * looked;
}

/* Every row's number, in a hash table of [mask+1] numbers plus one; false: most rows are on their own. */
static bool number_rows(const pess_model *model, uint32_t *slot, uint64_t mask, pess__shared_rows *shared) {
    const int64_t pairs = model->states * model->actions;
    int64_t sparse = 0;
    for (int64_t z = 0; z < pairs; z++) {
        if (model->kind[z] != PESS_ROW_SPARSE) continue;
        sparse++;
        uint64_t at = signature(model, z) & mask;
        while (slot[at] != 0 && !same_row(model, shared->pair[slot[at] - 1], z)) at = (at + 1) & mask;
        if (slot[at] == 0) {
            if (2 * shared->rows > pairs) return false;
            shared->pair[shared->rows++] = (uint32_t)z;
            slot[at] = (uint32_t)shared->rows;
        }
        shared->row[z] = slot[at] - 1;
    }
    return 2 * shared->rows < sparse;
}

static pess_status find(const pess_model *model, uint32_t *slot, uint64_t mask, pess__shared_rows *shared, bool *found,
                        pess_error *error) {
    const int64_t pairs = model->states * model->actions;
    PESS_TRY(pess__allocate(&shared->row, pairs, sizeof *shared->row, "the shared rows", error));
    PESS_TRY(pess__allocate(&shared->pair, pairs / 2 + 2, sizeof *shared->pair, "the shared rows", error));
    *found = number_rows(model, slot, mask, shared);
    return *found ? pess__allocate(&shared->product, shared->rows, sizeof *shared->product, "their products", error)
                  : PESS_OK;
}

pess_status pess__shared_rows_find(const pess_model *model, pess__shared_rows **out, pess_error *error) {
    const int64_t pairs = model->states * model->actions;
    uint64_t slots = 2;
    uint32_t *slot = NULL;
    pess__shared_rows *shared = NULL;
    bool found = false;
    *out = NULL;
    if (pairs >= UINT32_MAX || !worth_looking(model)) return PESS_OK;
    while (slots < 2 * (uint64_t)pairs) slots *= 2;
    PESS_TRY(pess__allocate(&slot, (int64_t)slots, sizeof *slot, "the shared rows", error));
    pess_status status = pess__allocate(&shared, 1, sizeof *shared, "the shared rows", error);
    if (status == PESS_OK) status = find(model, slot, slots - 1, shared, &found, error);
    free(slot);
    if (status == PESS_OK && found)
        *out = shared;
    else
        pess__shared_rows_destroy(shared);
    return status;
}
