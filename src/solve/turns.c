/* The linear system of a chain that leads anywhere, by Gauss–Seidel in turns: the states are cut into ranges; the rows
 * of one see what the ranges before it became, and of its own states and of later ones what they were. Let M be what I
 * − G has there, below the ranges and on the diagonal, and M − N = I − G. A sweep v ← M⁻¹(c + Nv) costs what a product
 * costs. The ranges are the same at any number of threads.
 *
 * The eigenvalues of G fill a disc, beside γ, whose eigenvector is constant: no polynomial in G, so no Krylov method,
 * gains on plain sweeps but for the constant, which the shift v + α·1 finds, with Σ(r − α(I − M⁻¹N)1) = 0 and r what
 * the sweep added. Turns make the disc smaller. Where a few states keep much to themselves, and sweeps with shifts gain
 * little, BiCGSTAB takes over: (I − M⁻¹N)v = M⁻¹c. */
#include "core/memory.h"
#include "core/quad.h"
#include "core/ranges.h"
#include "core/scattered.h"
#include "core/sparse_row.h"
#include "solve/evaluator.h"

#include <math.h>
#include <string.h>

enum {
    TURNS = 16,
    SHIFT_EVERY = 2, /* sweeps: the first one after a shift still spreads what it left */
    ROUND = 4,       /* sweeps in which much is to be gained … */
    PATIENCE = 2,    /* … except so many times */
    BLOCK = 4096     /* states whose sums are added up by themselves, so that threads change no bit */
};
/* A round is weak where it leaves more of the residual: BiCGSTAB would leave as much after as many products. */
static const double WEAK = 0.25;

typedef struct pass {
    const pess__evaluator *chain;
    const double *x;
    double *y, shift;
} pass;

static int64_t blocks_of(const pess__evaluator *chain) { return (chain->states + BLOCK - 1) / BLOCK; }

static int64_t block_end(const pess__evaluator *chain, int64_t block) {
    return (block + 1) * BLOCK < chain->states ? (block + 1) * BLOCK : chain->states;
}

static void sum_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const pass *p = context;
    for (int64_t block = from; block < to; block++) {
        pess__quad sums = {0};
        int64_t s = block * BLOCK;
        const int64_t end = block_end(p->chain, block);
        for (; s + 4 <= end; s += 4) sums += pess__quad_load(p->x + s);
        double sum = pess__quad_sum(sums);
        for (; s < end; s++) sum += p->x[s];
        p->chain->block[block] = sum;
    }
}

/* The mean of x, where some row needs it. */
static double mean_of(const pess__evaluator *chain, const double *x) {
    double sum = 0;
    if (!chain->any_uniform) return 0;
    pess__ranges(chain->threads, blocks_of(chain), sum_blocks, &(pass){.chain = chain, .x = x});
    for (int64_t block = 0; block < blocks_of(chain); block++) sum += chain->block[block];
    return sum / (double)chain->states;
}

/* ------------------------------------------------------------------------------------------------ turns */

typedef struct turns {
    const pess__evaluator *chain;
    const double *constant; /* c; NULL: 0 */
    const double *x;
    double *y, mean;
    int64_t first, last; /* of the range whose turn it is; the last of the chain's entries */
} turns;

static inline const double *seen(const turns *t, uint32_t next) { return (next < t->first ? t->y : t->x) + next; }

static void turn_rows(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const turns *t = context;
    const pess__evaluator *chain = t->chain;
    for (int64_t s = t->first + from; s < t->first + to; s++) {
        double sum = (t->constant != NULL ? t->constant[s] : 0) + chain->uniform[s] * t->mean;
        for (int64_t k = chain->row[s]; k < chain->row[s + 1]; k++) {
            const int64_t ahead = k + PESS__FETCH_AHEAD < t->last ? k + PESS__FETCH_AHEAD : t->last;
            __builtin_prefetch(seen(t, chain->next[ahead]));
            sum += chain->weight[k] * *seen(t, chain->next[k]);
        }
        const double inverse = chain->inverse[s]; /* what the row has of its own state is in the sum */
        t->y[s] = inverse * sum - (inverse - 1) * t->x[s];
    }
}

/* y = M⁻¹(c + Nx) */
static void take_turns(const pess__evaluator *chain, const double *constant, const double *x, double *y) {
    turns t = {chain, constant, x, y, mean_of(chain, x), 0, chain->row[chain->states] - 1};
    for (int64_t i = 0; i < TURNS; i++) {
        t.first = chain->states * i / TURNS;
        pess__ranges(chain->threads, chain->states * (i + 1) / TURNS - t.first, turn_rows, &t);
    }
}

/* ------------------------------------------------------------------------------------------------ sweeps */

typedef struct gain {
    double most, sum; /* sup|y − x| and Σ(y − x) */
} gain;

static void gain_of_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const pass *p = context;
    for (int64_t block = from; block < to; block++) {
        pess__quad sums = {0}, sizes = {0};
        int64_t s = block * BLOCK;
        const int64_t end = block_end(p->chain, block);
        for (; s + 4 <= end; s += 4) {
            const pess__quad change = pess__quad_load(p->y + s) - pess__quad_load(p->x + s);
            sums += change;
            sizes = pess__quad_larger(sizes, pess__quad_abs(change));
        }
        double sum = pess__quad_sum(sums), most = pess__quad_most(sizes);
        for (; s < end; s++) {
            sum += p->y[s] - p->x[s];
            most = fmax(most, fabs(p->y[s] - p->x[s]));
        }
        p->chain->block[2 * block] = most;
        p->chain->block[2 * block + 1] = sum;
    }
}

static gain gain_of(const pess__evaluator *chain, const double *x, double *y) {
    gain all = {0};
    pess__ranges(chain->threads, blocks_of(chain), gain_of_blocks, &(pass){.chain = chain, .x = x, .y = y});
    for (int64_t block = 0; block < blocks_of(chain); block++) {
        const double *of = chain->block + 2 * block;
        all.most = of[0] > all.most ? of[0] : all.most;
        all.sum += of[1];
    }
    if (!isfinite(all.sum)) all.most = INFINITY;
    return all;
}

static void shift_states(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const pass *p = context;
    const uint8_t *terminal = p->chain->model->terminal;
    for (int64_t s = from; s < to; s++) p->y[s] += terminal[s] ? 0 : p->shift;
}

static void shift(const pess__evaluator *chain, double by, double *y) {
    pess__ranges(chain->threads, chain->states, shift_states, &(pass){.chain = chain, .y = y, .shift = by});
}

/* v ← M⁻¹(c + Nv) and shifts, until a sweep changes no value by more than the target, or too little is gained. Returns
 * what the last one changed at most. */
static double sweep_in_turns(const pess__evaluator *chain, double target, double *v, int64_t *sweeps) {
    double *x = v, *y = chain->scratch, before = INFINITY;
    gain gained = {.most = INFINITY};
    const bool shifts = chain->lost > 1e-9 * (double)chain->states;
    for (int weak = 0; gained.most > target && weak < PATIENCE;) {
        if (chain->monitor != NULL && !pess__monitor_check(chain->monitor)) break;
        take_turns(chain, chain->constant, x, y);
        gained = gain_of(chain, x, y);
        double *swap = x;
        x = y;
        y = swap;
        ++*sweeps;
        if (gained.most > target && shifts && *sweeps % SHIFT_EVERY == 0) shift(chain, gained.sum / chain->lost, x);
        if (*sweeps % ROUND == 0) {
            weak += gained.most > WEAK * before;
            before = gained.most;
        }
    }
    if (x != v) memcpy(v, x, (size_t)chain->states * sizeof *v);
    return gained.most;
}

/* ------------------------------------------------------------------------------------------------ BiCGSTAB */

static void subtract_rows(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const pass *p = context;
    for (int64_t s = from; s < to; s++) p->y[s] = p->x[s] - p->y[s];
}

/* y = (I − M⁻¹N) x */
static void apply_turns(const void *context, const double *x, double *y) {
    const pess__evaluator *chain = context;
    take_turns(chain, NULL, x, y);
    pess__ranges(chain->threads, chain->states, subtract_rows, &(pass){.chain = chain, .x = x, .y = y});
}

/* (I − M⁻¹N)v = M⁻¹c */
static pess_status by_bicgstab(pess__evaluator *chain, double target, double *v, pess__krylov_result *result,
                               pess_error *error) {
    PESS_TRY(pess__evaluator_krylov(chain, error));
    memset(chain->scratch, 0, (size_t)chain->states * sizeof(double));
    take_turns(chain, chain->constant, chain->scratch, chain->turned);
    chain->krylov.apply = apply_turns;
    chain->krylov.precondition = NULL;
    return pess__krylov_solve(&chain->krylov, chain->turned, v, target, 20 * chain->states + 1000, result, error);
}

/* ------------------------------------------------------------------------------------------------ both */

static void invert_rows(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    pess__evaluator *chain = context;
    for (int64_t s = from; s < to; s++) {
        double stays = 0;
        for (int64_t k = chain->row[s]; k < chain->row[s + 1]; k++) stays += chain->next[k] == s ? chain->weight[k] : 0;
        chain->inverse[s] = 1 / (1 - stays);
    }
}

/* The diagonal, and Σ(I − M⁻¹N)1. */
static void prepare(pess__evaluator *chain) {
    double *one = chain->turned;
    pess__ranges(chain->threads, chain->states, invert_rows, chain);
    memset(one, 0, (size_t)chain->states * sizeof *one);
    shift(chain, 1, one);
    take_turns(chain, NULL, one, chain->scratch);
    chain->lost = -gain_of(chain, one, chain->scratch).sum;
    chain->factored = true;
}

/* The rows of M sum to 1 + γ at most in size: the residual of (I − G)v = c is at most twice that of the system that is
 * solved. */
pess_status pess__evaluator_by_turns(pess__evaluator *chain, double tolerance, double *v, pess__krylov_result *result,
                                     pess_error *error) {
    int64_t sweeps = 0;
    if (chain->inverse == NULL) {
        PESS_TRY(pess__allocate(&chain->inverse, chain->states, sizeof(double), "the chain's diagonal", error));
        PESS_TRY(
            pess__allocate_scattered(&chain->turned, chain->states, sizeof(double), "the chain's constant", error));
        PESS_TRY(pess__allocate(&chain->block, 2 * blocks_of(chain), sizeof(double), "the chain's sums", error));
    }
    if (!chain->factored) prepare(chain);
    const double target = 0.5 * tolerance, most = sweep_in_turns(chain, target, v, &sweeps);
    *result = (pess__krylov_result){.residual = most, .converged = most <= target};
    result->stopped = chain->monitor != NULL && !pess__monitor_check(chain->monitor);
    if (!result->converged && !result->stopped) PESS_TRY(by_bicgstab(chain, target, v, result, error));
    result->iterations += sweeps;
    result->residual *= 2;
    return PESS_OK;
}
