/* Rows of four neighbouring pairs whose successors are the same states. */
#include "core/memory.h"
#include "core/sparse_row.h"
#include "solve/packed_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATTERNS = 65536,
    SLOTS = 4 * PATTERNS, /* of the hash table of patterns */
    COMMON = 2            /* pairs that lead to a state of their slice, on average, at least */
};

typedef struct pattern {
    double share[PESS__SLICE];
} pattern;

/* Which fours of probabilities occur: a hash table of places plus one, 0 where a slot is empty. */
typedef struct patterns {
    uint32_t *slot; /* [SLOTS] */
    pattern *value; /* [PATTERNS] */
    int64_t count;
} patterns;

static bool equal(const pattern *a, const pattern *b) {
    for (int i = 0; i < PESS__SLICE; i++)
        if (a->share[i] != b->share[i]) return false;
    return true;
}

/* The place of the four, which may be a new one; -1: there are too many. */
static int64_t place_of(patterns *book, const pattern *wanted) {
    uint64_t bits[PESS__SLICE], hash = 0;
    memcpy(bits, wanted->share, sizeof bits);
    for (int i = 0; i < PESS__SLICE; i++) hash = (hash ^ bits[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
    uint64_t at = hash >> 46;
    while (book->slot[at] != 0 && !equal(&book->value[book->slot[at] - 1], wanted)) at = (at + 1) % SLOTS;
    if (book->slot[at] != 0) return book->slot[at] - 1;
    if (book->count == PATTERNS) return -1;
    book->value[book->count] = *wanted;
    book->slot[at] = (uint32_t)++book->count;
    return book->count - 1;
}

/* The four rows of a slice, and how far each is read. */
typedef struct reading {
    const pess_model *model;
    int64_t at[PESS__SLICE], end[PESS__SLICE];
} reading;

static reading begin_slice(const pess_model *model, int64_t slice) {
    reading r = {.model = model};
    for (int i = 0; i < PESS__SLICE; i++) {
        const int64_t z = PESS__SLICE * slice + i;
        if (z >= model->states * model->actions || model->kind[z] != PESS_ROW_SPARSE) continue;
        r.at[i] = model->row[z];
        r.end[i] = model->row[z + 1];
    }
    return r;
}

/* The nearest state that is left, with the four's probabilities; false: none is. */
static bool next_common(reading *r, uint32_t *state, pattern *shares) {
    const pess_model *model = r->model;
    *state = UINT32_MAX;
    for (int i = 0; i < PESS__SLICE; i++)
        if (r->at[i] < r->end[i] && model->next[r->at[i]] < *state) *state = model->next[r->at[i]];
    for (int i = 0; i < PESS__SLICE; i++) {
        const bool has = r->at[i] < r->end[i] && model->next[r->at[i]] == *state;
        shares->share[i] = has ? model->probability[r->at[i]++] : 0;
    }
    return *state != UINT32_MAX;
}

static bool in_order(const pess_model *model, int64_t z) {
    for (int64_t k = model->row[z] + 1; k < model->row[z + 1]; k++)
        if (model->next[k] <= model->next[k - 1]) return false;
    return true;
}

/* Uniform rows and sinks read values behind the states, which may be infinite: they are not joined to others. */
static bool suits(const pess_model *model, int64_t from, int64_t to) {
    for (int64_t z = from; z < to; z++) {
        const pess_row_kind kind = (pess_row_kind)model->kind[z];
        if (kind == PESS_ROW_UNIFORM || kind == PESS_ROW_SINK || !in_order(model, z)) return false;
    }
    return true;
}

/* Where each slice begins, and the patterns; false: too little is common, there are too many patterns, or some row does
 * not suit. */
static bool lay_out(const pess_model *model, pess__packed *packed, patterns *book) {
    const int64_t slices = pess__packed_slices(packed), pairs = model->states * model->actions;
    int64_t used = 0;
    for (int64_t slice = 0; slice < slices; slice++) {
        const int64_t first = PESS__SLICE * slice, last = pairs - first < PESS__SLICE ? pairs : first + PESS__SLICE;
        if (!suits(model, first, last)) return false;
        reading r = begin_slice(model, slice);
        uint32_t state;
        pattern shares;
        packed->begin[slice] = (uint32_t)used;
        for (; next_common(&r, &state, &shares); used++)
            if (place_of(book, &shares) < 0) return false;
        if (COMMON * used > model->row[last] + PATTERNS || used > UINT32_MAX) return false;
    }
    packed->begin[slices] = (uint32_t)used;
    return COMMON * used <= model->row[pairs];
}

static void fill(const pess_model *model, const double *bonus, pess__packed *packed, patterns *book) {
    const int64_t pairs = model->states * model->actions;
    for (int64_t slice = 0; slice < pess__packed_slices(packed); slice++) {
        reading r = begin_slice(model, slice);
        uint32_t state;
        pattern shares;
        for (int64_t at = packed->begin[slice]; next_common(&r, &state, &shares); at++) {
            packed->next[at] = state;
            packed->code[at] = (uint16_t)place_of(book, &shares);
        }
        for (int64_t z = PESS__SLICE * slice; z < PESS__SLICE * (slice + 1); z++)
            packed->constant[z] = z >= pairs || model->kind[z] == PESS_ROW_NONE
                                      ? -INFINITY
                                      : model->reward[z] + (bonus != NULL ? bonus[z] : 0.0);
    }
}

static pess_status create(const pess_model *model, const double *bonus, patterns *book, pess__packed **out,
                          pess_error *error) {
    pess__packed *packed = NULL;
    PESS_TRY(pess__allocate(&packed, 1, sizeof *packed, "the packed rows", error));
    *packed = (pess__packed){.states = model->states, .actions = model->actions, .joint = true};
    const int64_t slices = pess__packed_slices(packed);
    pess_status status = pess__allocate(&packed->begin, slices + 1, sizeof(uint32_t), "the packed rows", error);
    const bool gains = status == PESS_OK && lay_out(model, packed, book);
    if (gains) status = pess__packed_allocate(packed, packed->begin[slices], error);
    if (gains && status == PESS_OK) {
        fill(model, bonus, packed, book);
        packed->probability = (double *)(void *)book->value;
        packed->probabilities = PESS__SLICE * book->count;
        book->value = NULL;
        *out = packed;
    } else
        pess__packed_destroy(packed);
    return status;
}

pess_status pess__packed_joint(const pess_model *model, const double *bonus, pess__packed **out, pess_error *error) {
    patterns book = {0};
    *out = NULL;
    pess_status status = pess__allocate(&book.slot, SLOTS, sizeof *book.slot, "the table of probabilities", error);
    if (status == PESS_OK)
        status = pess__allocate(&book.value, PATTERNS, sizeof *book.value, "the probabilities", error);
    if (status == PESS_OK) status = create(model, bonus, &book, out, error);
    free(book.slot);
    free(book.value);
    return status;
}
