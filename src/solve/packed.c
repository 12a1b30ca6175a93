/* Rows in slices of four pairs. */
#include "solve/packed_parts.h"

#include "core/memory.h"
#include "core/ranges.h"
#include "core/sparse_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CODES = 65536,
    SLOTS = 4 * CODES, /* of the hash table of probabilities */
};

void pess__packed_destroy(pess__packed *packed) {
    if (packed == NULL) return;
    free(packed->constant);
    free(packed->begin);
    free(packed->next);
    free(packed->code);
    free(packed->probability);
    free(packed);
}

static int64_t entries_of(const pess__packed *packed) {
    return (packed->joint ? 1 : PESS__SLICE) * (int64_t)packed->begin[pess__packed_slices(packed)];
}

int64_t pess__packed_bytes(const pess__packed *packed) {
    const int64_t slices = pess__packed_slices(packed), entries = entries_of(packed);
    return slices * (PESS__SLICE * (int64_t)sizeof(double) + (int64_t)sizeof(uint32_t)) +
           entries * (int64_t)(sizeof(uint32_t) + sizeof(uint16_t)) + packed->probabilities * (int64_t)sizeof(double);
}

/* ------------------------------------------------------------------------------------------------ probabilities */

/* Which probabilities occur: a hash table of places, 0 where a slot is empty. */
typedef struct codebook {
    uint32_t *slot; /* [SLOTS] */
    double *value;  /* [CODES] */
    int64_t count;
} codebook;

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The slot of x: its own, or the empty one where it belongs. */
static inline uint32_t slot_of(const codebook *book, double x) {
    uint64_t at = (bits_of(x) * UINT64_C(0x9e3779b97f4a7c15)) >> 46;
    while (book->slot[at] != 0 && book->value[book->slot[at]] != x) at = (at + 1) % SLOTS;
    return (uint32_t)at;
}

/* False: there are too many. */
static bool note(codebook *book, double x) {
    const uint32_t at = slot_of(book, x);
    if (book->slot[at] != 0) return true;
    if (book->count == CODES) return false;
    book->value[book->count] = x;
    book->slot[at] = (uint32_t)book->count++;
    return true;
}

static pess_status codebook_create(codebook *book, pess_error *error) {
    *book = (codebook){.count = 1}; /* place 0 is the probability 0 */
    PESS_TRY(pess__allocate(&book->slot, SLOTS, sizeof *book->slot, "the table of probabilities", error));
    const pess_status status = pess__allocate(&book->value, CODES, sizeof *book->value, "the probabilities", error);
    if (status != PESS_OK) free(book->slot);
    return status;
}

static bool note_all(codebook *book, const pess_model *model) {
    if (!note(book, 1)) return false;
    double last = 0;
    for (int64_t k = 0; k < model->row[model->states * model->actions]; k++) {
        if (model->probability[k] == last) continue;
        last = model->probability[k];
        if (!note(book, last)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ slices */

static int64_t length_of(const pess_model *model, int64_t z) {
    if (z >= model->states * model->actions) return 0;
    switch ((pess_row_kind)model->kind[z]) {
        case PESS_ROW_SPARSE: return model->row[z + 1] - model->row[z];
        case PESS_ROW_UNIFORM:
        case PESS_ROW_SINK: return 1;
        case PESS_ROW_NONE: break;
    }
    return 0;
}

/* Where each slice begins; false: more than a quarter would be filling, or it is too large to count. */
static bool lay_out(const pess_model *model, pess__packed *packed) {
    int64_t used = 0, needed = 0;
    for (int64_t slice = 0; slice < pess__packed_slices(packed); slice++) {
        packed->begin[slice] = (uint32_t)used;
        int64_t longest = 0;
        for (int64_t z = slice * PESS__SLICE; z < (slice + 1) * PESS__SLICE; z++) {
            const int64_t length = length_of(model, z);
            longest = length > longest ? length : longest;
            needed += length;
        }
        used += longest;
        if (used > UINT32_MAX) return false;
    }
    packed->begin[pess__packed_slices(packed)] = (uint32_t)used;
    return 4 * PESS__SLICE * used <= 5 * needed + 4 * PESS__SLICE;
}

typedef struct packing {
    const pess_model *model;
    const double *bonus;
    const codebook *book;
    pess__packed *packed;
} packing;

static void pack_pair(const packing *p, int64_t z) {
    const pess_model *model = p->model;
    pess__packed *packed = p->packed;
    packed->constant[z] = -INFINITY;
    if (z >= model->states * model->actions || model->kind[z] == PESS_ROW_NONE) return;
    packed->constant[z] = model->reward[z] + (p->bonus != NULL ? p->bonus[z] : 0.0);
    int64_t at = PESS__SLICE * (int64_t)packed->begin[z / PESS__SLICE] + z % PESS__SLICE;
    if (model->kind[z] != PESS_ROW_SPARSE) {
        packed->next[at] = (uint32_t)(model->states + (model->kind[z] == PESS_ROW_SINK));
        packed->code[at] = (uint16_t)p->book->slot[slot_of(p->book, 1)];
        return;
    }
    for (int64_t k = model->row[z]; k < model->row[z + 1]; k++, at += PESS__SLICE) {
        packed->next[at] = model->next[k];
        packed->code[at] = (uint16_t)p->book->slot[slot_of(p->book, model->probability[k])];
    }
}

static void pack_slices(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    for (int64_t z = from * PESS__SLICE; z < to * PESS__SLICE; z++) pack_pair(context, z);
}

pess_status pess__packed_allocate(pess__packed *packed, int64_t entries, pess_error *error) {
    const int64_t pairs = PESS__SLICE * pess__packed_slices(packed);
    PESS_TRY(pess__allocate(&packed->constant, pairs, sizeof(double), "the packed rewards", error));
    PESS_TRY(pess__allocate(&packed->next, entries + PESS__FETCH_AHEAD, sizeof(uint32_t), "the packed rows", error));
    return pess__allocate(&packed->code, entries, sizeof(uint16_t), "the packed rows", error);
}

static pess_status pack(packing *p, int threads, pess_error *error) {
    pess__packed *packed = p->packed;
    const int64_t slices = pess__packed_slices(packed);
    PESS_TRY(pess__packed_allocate(packed, entries_of(packed), error));
    PESS_TRY(pess__allocate(&packed->probability, p->book->count, sizeof(double), "the probabilities", error));
    packed->probabilities = p->book->count;
    memcpy(packed->probability, p->book->value, (size_t)p->book->count * sizeof(double));
    pess__ranges(threads, slices, pack_slices, p);
    return PESS_OK;
}

static pess_status create(const pess_model *model, const double *bonus, int threads, const codebook *book,
                          pess__packed **out, pess_error *error) {
    pess__packed *packed = NULL;
    PESS_TRY(pess__allocate(&packed, 1, sizeof *packed, "the packed rows", error));
    *packed = (pess__packed){.states = model->states, .actions = model->actions};
    pess_status status =
        pess__allocate(&packed->begin, pess__packed_slices(packed) + 1, sizeof(uint32_t), "the packed rows", error);
    const bool gains = status == PESS_OK && lay_out(model, packed);
    packing p = {.model = model, .bonus = bonus, .book = book, .packed = packed};
    if (gains) status = pack(&p, threads, error);
    if (gains && status == PESS_OK)
        *out = packed;
    else
        pess__packed_destroy(packed);
    return status;
}

pess_status pess__packed_create(const pess_model *model, const double *bonus, int threads, pess__packed **out,
                                pess_error *error) {
    codebook book;
    *out = NULL;
    if (model->states > UINT32_MAX - PESS__MORE_VALUES) return PESS_OK;
    PESS_TRY(pess__packed_joint(model, bonus, out, error));
    if (*out != NULL) return PESS_OK;
    PESS_TRY(codebook_create(&book, error));
    const pess_status status = note_all(&book, model) ? create(model, bonus, threads, &book, out, error) : PESS_OK;
    free(book.slot);
    free(book.value);
    return status;
}

/* ------------------------------------------------------------------------------------------------ products */

/* `ahead`, known where this is compiled into: ask for values that later entries will want. */
static inline void slices_q(const pess__packed *packed, double gamma, const double *v, int64_t from, int64_t to,
                            bool ahead, double *q) {
    const double *probability = packed->probability;
    for (int64_t slice = from; slice < to; slice++, q += PESS__SLICE) {
        double sum[PESS__SLICE] = {0};
        const int64_t begin = packed->begin[slice], end = packed->begin[slice + 1];
        const uint32_t *next = packed->next + PESS__SLICE * begin;
        const uint16_t *code = packed->code + PESS__SLICE * begin;
        for (int64_t j = begin; j < end; j++, next += PESS__SLICE, code += PESS__SLICE)
            for (int i = 0; i < PESS__SLICE; i++) {
                if (ahead) __builtin_prefetch(v + next[i + PESS__FETCH_AHEAD]);
                sum[i] += probability[code[i]] * v[next[i]];
            }
        const double *constant = packed->constant + PESS__SLICE * slice;
        for (int i = 0; i < PESS__SLICE; i++) q[i] = constant[i] + gamma * sum[i];
    }
}

typedef double two __attribute__((vector_size(16))); /* what every x86-64 and AArch64 has */

static inline two load_two(const double *p) {
    two x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline void store_two(double *p, two x) { memcpy(p, &x, sizeof x); }

/* One value of v for four products. */
static inline void joint_q(const pess__packed *packed, double gamma, const double *v, int64_t from, int64_t to,
                           bool ahead, double *q) {
    const two discount = {gamma, gamma};
    for (int64_t slice = from; slice < to; slice++, q += PESS__SLICE) {
        two low = {0, 0}, high = {0, 0};
        const int64_t end = packed->begin[slice + 1];
        for (int64_t j = packed->begin[slice]; j < end; j++) {
            if (ahead) __builtin_prefetch(v + packed->next[j + PESS__FETCH_AHEAD]);
            const double *shares = packed->probability + PESS__SLICE * packed->code[j];
            const two value = {v[packed->next[j]], v[packed->next[j]]};
            low += load_two(shares) * value;
            high += load_two(shares + 2) * value;
        }
        const double *constant = packed->constant + PESS__SLICE * slice;
        store_two(q, load_two(constant) + discount * low);
        store_two(q + 2, load_two(constant + 2) + discount * high);
    }
}

void pess__packed_q(const pess__packed *packed, double gamma, const double *v, int64_t from, int64_t to, double *q) {
    const bool ahead = packed->states >= PESS__FETCH_FROM;
    if (packed->joint && ahead)
        joint_q(packed, gamma, v, from, to, true, q);
    else if (packed->joint)
        joint_q(packed, gamma, v, from, to, false, q);
    else if (ahead)
        slices_q(packed, gamma, v, from, to, true, q);
    else
        slices_q(packed, gamma, v, from, to, false, q);
}
