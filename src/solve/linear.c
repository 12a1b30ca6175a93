/* The linear system of a chain: by BiCGSTAB, preconditioned by incomplete factors in the order of its drift, or, where
 * the chain leads anywhere at once, by turns (turns.c). */
#include "core/memory.h"
#include "core/ranges.h"
#include "core/scattered.h"
#include "solve/evaluator.h"

#include <stdlib.h>

enum {
    LARGE = 131072,  /* states … */
    APART = 524288,  /* … from which factors are of several blocks, and hold less */
    FEW_MOVED = 256, /* one state in so many */
    PROBES = 16,     /* searches, each until it has met … */
    NEAR = 1024,     /* … so many states */
    SLOTS = 4096     /* of the table of those */
};

typedef struct product {
    const pess__evaluator *chain;
    const double *x;
    double *y, mean;
} product;

/* ------------------------------------------------------------------------------------------------ ILU(0), ordered */

static void subtract_uniform(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const product *p = context;
    const double *uniform = p->chain->ordered + 2 * p->chain->states;
    for (int64_t i = from; i < to; i++) p->y[i] -= uniform[i] * p->mean;
}

/* y = (I − G) x and y ≈ (I − G)⁻¹ x by place. */
static void apply_ordered(const void *context, const double *x, double *y) {
    const pess__evaluator *chain = context;
    pess__ilu_apply(&chain->ilu, x, y);
    if (!chain->any_uniform) return;
    pess__ranges(chain->threads, chain->states, subtract_uniform,
                 &(product){.chain = chain, .y = y, .mean = pess__evaluator_mean(chain, x)});
}

static void precondition_ordered(const void *context, const double *x, double *y) {
    const pess__evaluator *chain = context;
    pess__ilu_precondition(&chain->ilu, x, y);
}

/* The order is that of the chain's own drift; in a large chain also that of an earlier one, if few of its rows were
 * others: finding it takes one thread alone. */
static bool order_serves(const pess__evaluator *chain) {
    return chain->states >= LARGE && chain->moved >= 0 && chain->moved <= chain->states / FEW_MOVED;
}

static pess_status order_chain(pess__evaluator *chain, pess_error *error) {
    const pess__sparse g = {chain->states, chain->row, chain->next, chain->weight};
    if (chain->factored) return PESS_OK;
    if (chain->ordered == NULL)
        PESS_TRY(
            pess__allocate_scattered(&chain->ordered, 3 * chain->states, sizeof(double), "the ordered chain", error));
    const bool first = chain->ilu.n == 0;
    if (first) PESS_TRY(pess__ilu_create(chain->states, chain->krylov_threads, &chain->ilu, error));
    if (first || !order_serves(chain)) {
        PESS_TRY(pess__ilu_order(&g, &chain->ilu, error));
        if (chain->moved > 0) chain->moved = 0;
    }
    PESS_TRY(pess__ilu_factor(&g, &chain->ilu, error));
    chain->factored = true;
    return PESS_OK;
}

/* Constant, values (in y) and weights of the uniform part by place. */
static void to_places(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const product *p = context;
    const pess__evaluator *chain = p->chain;
    double *b = chain->ordered, *x = b + chain->states, *w = x + chain->states;
    for (int64_t i = from; i < to; i++) {
        const uint32_t s = chain->ilu.order[i];
        b[i] = chain->constant[s];
        x[i] = p->y[s];
        w[i] = chain->uniform[s];
    }
}

static void values_from_places(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const product *p = context;
    const double *x = p->chain->ordered + p->chain->states;
    for (int64_t s = from; s < to; s++) p->y[s] = x[p->chain->ilu.place[s]];
}

/* BiCGSTAB preconditioned by ILU(0), in the order of the chain's own drift. */
static pess_status by_factors(pess__evaluator *chain, double tolerance, double *v, pess__krylov_result *result,
                              pess_error *error) {
    PESS_TRY(pess__evaluator_krylov(chain, error));
    PESS_TRY(order_chain(chain, error));
    double *b = chain->ordered, *x = b + chain->states;
    product p = {.chain = chain, .y = v};
    pess__ranges(chain->threads, chain->states, to_places, &p);
    chain->krylov.apply = apply_ordered;
    chain->krylov.precondition = precondition_ordered;
    const pess_status status =
        pess__krylov_solve(&chain->krylov, b, x, tolerance, 20 * chain->states + 1000, result, error);
    pess__ranges(chain->threads, chain->states, values_from_places, &p);
    return status;
}

/* ------------------------------------------------------------------------------------------------ which of them */

/* States that a search has met, in the order in which it met them, and a hash table of them. */
typedef struct search {
    uint32_t met[NEAR + 1];
    uint32_t slot[SLOTS]; /* place in `met` plus one; 0: free */
    int64_t count;
} search;

/* False: it was met before. */
static bool meet(search *found, uint32_t state) {
    uint32_t at = (state * UINT32_C(2654435769)) % SLOTS;
    for (; found->slot[at] != 0; at = (at + 1) % SLOTS)
        if (found->met[found->slot[at] - 1] == state) return false;
    found->met[found->count++] = state;
    found->slot[at] = (uint32_t)found->count;
    return true;
}

/* Breadth first from a state, until NEAR are met: entries that were followed, and those that led back. */
static int64_t walk(const pess__evaluator *chain, int64_t from, search *found, int64_t *entries, int64_t *back) {
    int64_t head = 0;
    *found = (search){.count = 0};
    (void)meet(found, (uint32_t)from);
    for (; head < found->count; head++) {
        const uint32_t s = found->met[head];
        for (int64_t k = chain->row[s]; k < chain->row[s + 1]; k++) {
            if (found->count > NEAR) return head;
            ++*entries;
            *back += !meet(found, chain->next[k]);
        }
    }
    return head;
}

/* Nearly every way leads to where no other has led: in grids, queues and mazes ways meet again soon, whatever the
 * numbers of the states. Incomplete factors then hold little of what is near: they halve the steps, each of which costs
 * twice as much, and take memory. Where most states have one successor only, they hold all. A heuristic: it decides on
 * time and memory alone. */
static pess_status branches_out(const pess__evaluator *chain, bool *out, pess_error *error) {
    search *found = NULL;
    int64_t entries = 0, back = 0, left = 0;
    PESS_TRY(pess__allocate(&found, 1, sizeof *found, "a search", error));
    for (int64_t i = 0; i < PROBES; i++)
        left += walk(chain, chain->states * (2 * i + 1) / (2 * PROBES), found, &entries, &back);
    free(found);
    *out = 8 * back < entries && entries >= 2 * left;
    return PESS_OK;
}

pess_status pess__evaluator_by_krylov(pess__evaluator *chain, double tolerance, double *v, pess__krylov_result *result,
                                      pess_error *error) {
    if (!chain->searched && chain->states >= APART) PESS_TRY(branches_out(chain, &chain->branches_out, error));
    chain->searched = true; /* the next policy's chain is of the same kind */
    return chain->branches_out ? pess__evaluator_by_turns(chain, tolerance, v, result, error)
                               : by_factors(chain, tolerance, v, result, error);
}
