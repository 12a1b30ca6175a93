#include "core/ilu.h"

#include "core/memory.h"
#include "core/ranges.h"
#include "core/scattered.h"
#include "core/sparse_row.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 131072, MOST_BLOCKS = 64 };

pess_status pess__ilu_create(int64_t n, int threads, pess__ilu *out, pess_error *error) {
    const int64_t blocks = n / BLOCK;
    *out = (pess__ilu){.n = n, .blocks = blocks < 1 ? 1 : blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS};
    out->threads = threads < out->blocks ? threads : (int)out->blocks;
    pess_status status = pess__allocate(&out->order, n, sizeof *out->order, "the order of the states", error);
    if (status == PESS_OK) status = pess__allocate_scattered(&out->place, n, sizeof *out->place, "their places", error);
    if (status == PESS_OK) status = pess__allocate(&out->row, n + 1, sizeof *out->row, "the ordered chain", error);
    if (status == PESS_OK) status = pess__allocate(&out->diagonal, n, sizeof *out->diagonal, "its diagonal", error);
    if (status != PESS_OK) pess__ilu_release(out);
    return status;
}

void pess__ilu_release(pess__ilu *ilu) {
    free(ilu->order);
    free(ilu->place);
    free(ilu->row);
    free(ilu->diagonal);
    free(ilu->column);
    free(ilu->value);
    free(ilu->factor);
    *ilu = (pess__ilu){0};
}

/* ------------------------------------------------------------------------------------------------ order */

/* Where each row leads to with most of its weight, itself aside; the row itself where it leads nowhere. */
static void dominant_columns(const pess__sparse *g, uint32_t *to) {
    for (int64_t i = 0; i < g->n; i++) {
        double most = 0;
        to[i] = (uint32_t)i;
        for (int64_t k = g->row[i]; k < g->row[i + 1]; k++)
            if (g->value[k] > most && g->column[k] != i) {
                most = g->value[k];
                to[i] = g->column[k];
            }
    }
}

/* Rows by where they lead: from[begin[j]] … from[begin[j+1]-1] lead to j. */
static void invert(int64_t n, const uint32_t *to, uint32_t *begin, uint32_t *from) {
    memset(begin, 0, (size_t)(n + 2) * sizeof *begin);
    for (int64_t i = 0; i < n; i++) begin[to[i] + 2]++;
    for (int64_t j = 0; j < n; j++) begin[j + 2] += begin[j + 1];
    for (int64_t i = 0; i < n; i++) from[begin[to[i] + 1]++] = (uint32_t)i;
}

/* Appends all that leads to `root`, nearest first. */
static int64_t append_tree(uint32_t root, const uint32_t *begin, const uint32_t *from, uint8_t *seen, uint32_t *order,
                           int64_t count) {
    int64_t head = count;
    seen[root] = 2;
    order[count++] = root;
    for (; head < count; head++) {
        const uint32_t at = order[head];
        for (uint32_t k = begin[at]; k < begin[at + 1]; k++) {
            if (seen[from[k]] == 2) continue;
            seen[from[k]] = 2;
            order[count++] = from[k];
        }
    }
    return count;
}

/* Following `to` from any row ends in a cycle (or at a row that leads nowhere): that is a root. */
static uint32_t root_of(uint32_t at, const uint32_t *to, uint8_t *seen) {
    while (seen[at] == 0) {
        seen[at] = 1;
        at = to[at];
    }
    return at;
}

static void order_trees(const pess__sparse *g, pess__ilu *ilu, uint32_t *scratch, uint8_t *seen) {
    const int64_t n = g->n;
    uint32_t *to = scratch, *begin = to + n, *from = begin + n + 2;
    dominant_columns(g, to);
    invert(n, to, begin, from);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (seen[i] != 0) continue;
        const uint32_t root = root_of((uint32_t)i, to, seen);
        if (seen[root] == 1) count = append_tree(root, begin, from, seen, ilu->order, count);
    }
}

pess_status pess__ilu_order(const pess__sparse *g, pess__ilu *ilu, pess_error *error) {
    const int64_t n = g->n;
    uint32_t *scratch = NULL;
    uint8_t *seen = NULL;
    pess_status status = pess__allocate(&scratch, 3 * n + 2, sizeof *scratch, "the order of the states", error);
    if (status == PESS_OK) status = pess__allocate(&seen, n, 1, "the order of the states", error);
    if (status == PESS_OK) {
        order_trees(g, ilu, scratch, seen);
        for (int64_t i = 0; i < n / 2; i++) { /* leaves first */
            const uint32_t swap = ilu->order[i];
            ilu->order[i] = ilu->order[n - 1 - i];
            ilu->order[n - 1 - i] = swap;
        }
        for (int64_t i = 0; i < n; i++) ilu->place[ilu->order[i]] = (uint32_t)i;
    }
    free(scratch);
    free(seen);
    return status;
}

/* ------------------------------------------------------------------------------------------------ factors */

static pess_status make_room(pess__ilu *ilu, int64_t needed, pess_error *error) {
    if (needed <= ilu->room) return PESS_OK;
    free(ilu->column);
    free(ilu->value);
    free(ilu->factor);
    ilu->column = NULL;
    ilu->value = ilu->factor = NULL;
    ilu->room = 0;
    const int64_t room = needed + needed / 8;
    PESS_TRY(pess__allocate(&ilu->column, room, sizeof *ilu->column, "the ordered chain", error));
    PESS_TRY(pess__allocate(&ilu->value, room, sizeof *ilu->value, "the ordered chain", error));
    PESS_TRY(pess__allocate(&ilu->factor, room, sizeof *ilu->factor, "its factors", error));
    ilu->room = room;
    return PESS_OK;
}

/* Adds x at column j to the row that begins at `begin` and ends at `end`, ascending; returns the new end. */
static int64_t insert(pess__ilu *ilu, int64_t begin, int64_t end, uint32_t j, double x) {
    int64_t at = end;
    while (at > begin && ilu->column[at - 1] > j) at--;
    if (at > begin && ilu->column[at - 1] == j) {
        ilu->value[at - 1] += x;
        return end;
    }
    for (int64_t k = end; k > at; k--) {
        ilu->column[k] = ilu->column[k - 1];
        ilu->value[k] = ilu->value[k - 1];
    }
    ilu->column[at] = j;
    ilu->value[at] = x;
    return end + 1;
}

static int64_t block_begin(const pess__ilu *ilu, int64_t block) { return ilu->n * block / ilu->blocks; }

typedef struct filling {
    const pess__sparse *g;
    pess__ilu *ilu;
    int64_t *end; /* [n] */
} filling;

/* Rows are read in an order of their own, so their entries are asked for beforehand, and before those where they are.
 */
static inline void ask_ahead(const filling *f, int64_t i) {
    const pess__sparse *g = f->g;
    const int64_t last = g->n - 1, soon = f->ilu->order[i + 8 < last ? i + 8 : last];
    __builtin_prefetch(g->row + f->ilu->order[i + 16 < last ? i + 16 : last]);
    __builtin_prefetch(g->column + g->row[soon]);
    __builtin_prefetch(g->value + g->row[soon]);
}

/* Each row where there is room for it if no column is named twice; where it ends goes to `end`. */
static void fill_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const filling *f = context;
    const pess__sparse *g = f->g;
    pess__ilu *ilu = f->ilu;
    for (int64_t i = block_begin(ilu, from); i < block_begin(ilu, to); i++) {
        const int64_t begin = ilu->row[i], source = ilu->order[i];
        ask_ahead(f, i);
        int64_t end = insert(ilu, begin, begin, (uint32_t)i, 1);
        for (int64_t k = g->row[source]; k < g->row[source + 1]; k++)
            end = insert(ilu, begin, end, ilu->place[g->column[k]], -g->value[k]);
        f->end[i] = end;
    }
}

/* Rows move together, where some are shorter than there was room for. */
static void close_gaps(pess__ilu *ilu, const int64_t *end) {
    int64_t used = 0;
    for (int64_t i = 0; i < ilu->n; i++) {
        const int64_t begin = ilu->row[i], length = end[i] - begin;
        if (used != begin) {
            memmove(ilu->column + used, ilu->column + begin, (size_t)length * sizeof *ilu->column);
            memmove(ilu->value + used, ilu->value + begin, (size_t)length * sizeof *ilu->value);
        }
        ilu->row[i] = used;
        used += length;
    }
    ilu->row[ilu->n] = used;
}

static void find_diagonals(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    pess__ilu *ilu = context;
    for (int64_t i = block_begin(ilu, from); i < block_begin(ilu, to); i++)
        for (int64_t k = ilu->row[i]; k < ilu->row[i + 1]; k++)
            if (ilu->column[k] == i) ilu->diagonal[i] = k;
}

/* A = I − G by place. */
static void fill(const pess__sparse *g, pess__ilu *ilu) {
    ilu->row[0] = 0;
    for (int64_t i = 0; i < ilu->n; i++) {
        const int64_t source = ilu->order[i];
        ilu->row[i + 1] = ilu->row[i] + 1 + g->row[source + 1] - g->row[source];
    }
    filling f = {g, ilu, ilu->diagonal}; /* the ends are kept where the diagonals will be */
    pess__ranges(ilu->threads, ilu->blocks, fill_blocks, &f);
    close_gaps(ilu, ilu->diagonal);
    pess__ranges(ilu->threads, ilu->blocks, find_diagonals, ilu);
}

/* Row i: for each k of it before i, l_ik = a_ik/u_kk and a_ij −= l_ik·u_kj for the j > k that both rows have. */
static void factor_row(const pess__ilu *ilu, int64_t i, int64_t first, int64_t last) {
    const uint32_t *column = ilu->column;
    double *factor = ilu->factor;
    const int64_t begin = ilu->row[i], end = ilu->row[i + 1];
    memcpy(factor + begin, ilu->value + begin, (size_t)(end - begin) * sizeof *factor);
    for (int64_t k = begin; k < ilu->diagonal[i]; k++) {
        if (column[k] < first) continue;
        const int64_t other = column[k], other_end = ilu->row[other + 1];
        factor[k] *= factor[ilu->diagonal[other]];
        int64_t j = k + 1;
        for (int64_t u = ilu->diagonal[other] + 1; u < other_end && j < end; u++) {
            while (j < end && column[j] < column[u]) j++;
            if (j < end && column[j] == column[u] && column[u] < last) factor[j] -= factor[k] * factor[u];
        }
    }
    factor[ilu->diagonal[i]] = 1 / factor[ilu->diagonal[i]];
}

static void factor_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const pess__ilu *ilu = context;
    for (int64_t block = from; block < to; block++) {
        const int64_t first = block_begin(ilu, block), last = block_begin(ilu, block + 1);
        for (int64_t i = first; i < last; i++) factor_row(ilu, i, first, last);
    }
}

pess_status pess__ilu_factor(const pess__sparse *g, pess__ilu *ilu, pess_error *error) {
    PESS_TRY(make_room(ilu, g->row[g->n] + g->n, error));
    fill(g, ilu);
    pess__ranges(ilu->threads, ilu->blocks, factor_blocks, ilu);
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ products */

typedef struct product {
    const pess__ilu *ilu;
    const double *x;
    double *y;
} product;

static void apply_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const product *p = context;
    const pess__ilu *ilu = p->ilu;
    const int64_t last = ilu->n >= PESS__FETCH_FROM ? ilu->row[ilu->n] - 1 : PESS__FETCH_NONE;
    for (int64_t i = block_begin(ilu, from); i < block_begin(ilu, to); i++)
        p->y[i] = pess__row_product_ahead(ilu->value, ilu->column, p->x, ilu->row[i], ilu->row[i + 1], last);
}

void pess__ilu_apply(const pess__ilu *ilu, const double *x, double *y) {
    product p = {ilu, x, y};
    pess__ranges(ilu->threads, ilu->blocks, apply_blocks, &p);
}

/* L z = x downwards, U y = z upwards; z is kept in y. */
static void solve_block(const product *p, int64_t first, int64_t last) {
    const pess__ilu *ilu = p->ilu;
    double *y = p->y;
    for (int64_t i = first; i < last; i++) {
        double sum = p->x[i];
        for (int64_t k = ilu->row[i]; k < ilu->diagonal[i]; k++)
            if (ilu->column[k] >= first) sum -= ilu->factor[k] * y[ilu->column[k]];
        y[i] = sum;
    }
    for (int64_t i = last - 1; i >= first; i--) {
        double sum = y[i];
        for (int64_t k = ilu->diagonal[i] + 1; k < ilu->row[i + 1]; k++)
            if (ilu->column[k] < last) sum -= ilu->factor[k] * y[ilu->column[k]];
        y[i] = sum * ilu->factor[ilu->diagonal[i]];
    }
}

static void solve_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const product *p = context;
    for (int64_t block = from; block < to; block++)
        solve_block(p, block_begin(p->ilu, block), block_begin(p->ilu, block + 1));
}

void pess__ilu_precondition(const pess__ilu *ilu, const double *x, double *y) {
    product p = {ilu, x, y};
    pess__ranges(ilu->threads, ilu->blocks, solve_blocks, &p);
}
