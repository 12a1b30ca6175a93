/* Policy evaluation: building the chain of a policy and solving its linear system. */
#include "solve/evaluator.h"

#include "core/lu.h"
#include "core/memory.h"
#include "core/ranges.h"
#include "core/scattered.h"
#include "core/sparse_row.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARALLEL_FROM = 131072, ROUND = 4 };

pess_status pess__evaluator_create(const pess_model *model, double gamma, double v_lo, pess_evaluation evaluation,
                                   int threads, pess__monitor *monitor, pess__evaluator **out, pess_error *error) {
    const int64_t states = model->states;
    pess__evaluator *chain = NULL;
    PESS_TRY(pess__allocate(&chain, 1, sizeof *chain, "the chain", error));
    if (evaluation == PESS_EVALUATION_AUTO)
        evaluation = states <= PESS__LU_STATES ? PESS_EVALUATION_LU : PESS_EVALUATION_KRYLOV;
    *chain = (pess__evaluator){.model = model,
                               .states = states,
                               .actions = model->actions,
                               .gamma = gamma,
                               .v_lo = v_lo,
                               .threads = states >= PARALLEL_FROM ? threads : 1,
                               .evaluation = evaluation,
                               .moved = -1,
                               .monitor = monitor};
    pess_status status = pess__allocate(&chain->row, states + 1, sizeof(int64_t), "the chain's rows", error);
    if (status == PESS_OK) status = pess__allocate(&chain->uniform, states, sizeof(double), "the chain", error);
    if (status == PESS_OK) status = pess__allocate(&chain->constant, states, sizeof(double), "the chain", error);
    if (status == PESS_OK)
        status = pess__allocate_scattered(&chain->scratch, states, sizeof(double), "the chain", error);
    if (status == PESS_OK) status = pess__allocate(&chain->most, chain->threads, sizeof(double), "the chain", error);
    for (int64_t z = 0; z < states * model->actions && !chain->any_uniform; z++)
        chain->any_uniform = model->kind[z] == PESS_ROW_UNIFORM;
    if (status == PESS_OK && evaluation == PESS_EVALUATION_LU) {
        chain->stride = pess__lu_stride(states);
        status = pess__allocate(&chain->matrix, states * chain->stride, sizeof(double),
                                "the dense matrix of LU (evaluation `krylov` needs none)", error);
    }
    chain->krylov_threads = threads;
    if (status != PESS_OK) {
        pess__evaluator_destroy(chain);
        return status;
    }
    *out = chain;
    return PESS_OK;
}

void pess__evaluator_destroy(pess__evaluator *chain) {
    if (chain == NULL) return;
    free(chain->row);
    free(chain->next);
    free(chain->weight);
    free(chain->uniform);
    free(chain->constant);
    free(chain->matrix);
    free(chain->scratch);
    free(chain->most);
    pess__krylov_release(&chain->krylov);
    pess__ilu_release(&chain->ilu);
    free(chain->ordered);
    free(chain->inverse);
    free(chain->turned);
    free(chain->block);
    free(chain);
}

pess_status pess__evaluator_krylov(pess__evaluator *chain, pess_error *error) {
    if (chain->krylov.work == NULL)
        PESS_TRY(pess__krylov_create(chain->states, chain->krylov_threads, &chain->krylov, error));
    chain->krylov.context = chain;
    chain->krylov.keep_going = chain->monitor != NULL ? pess__monitor_check : NULL;
    chain->krylov.user = chain->monitor;
    return PESS_OK;
}

static pess_status make_room(pess__evaluator *chain, int64_t needed, pess_error *error) {
    if (needed <= chain->room) return PESS_OK;
    /* Nothing of the old rows is kept, so that nothing need be copied. */
    free(chain->next);
    free(chain->weight);
    chain->next = NULL;
    chain->weight = NULL;
    chain->room = 0;
    const int64_t room = needed + needed / 8;
    PESS_TRY(pess__allocate(&chain->next, room, sizeof(uint32_t), "the chain's successors", error));
    PESS_TRY(pess__allocate(&chain->weight, room, sizeof(double), "the chain's successors", error));
    chain->room = room;
    return PESS_OK;
}

/* Only sparse rows are read: an algorithm may turn a row into a sink and leave its successors where they are. */
static inline int64_t successors(const pess_model *model, int64_t z) {
    return model->kind[z] == PESS_ROW_SPARSE ? model->row[z + 1] - model->row[z] : 0;
}

/* Adds pair z with probability p to state s, whose entries end at `at`; returns their new end. */
static inline int64_t add_pair(pess__evaluator *chain, int64_t s, int64_t z, double p, const double *bonus,
                               int64_t at) {
    const pess_model *model = chain->model;
    double gain = model->reward[z] + (bonus != NULL ? bonus[z] : 0.0);
    switch ((pess_row_kind)model->kind[z]) {
        case PESS_ROW_SPARSE:
            for (int64_t k = model->row[z]; k < model->row[z + 1]; k++, at++) {
                chain->next[at] = model->next[k];
                chain->weight[at] = p * (chain->gamma * model->probability[k]);
            }
            break;
        case PESS_ROW_UNIFORM: chain->uniform[s] += p * chain->gamma; break;
        case PESS_ROW_SINK: gain += chain->gamma * chain->v_lo; break;
        case PESS_ROW_NONE: break;
    }
    chain->constant[s] += p * gain;
    return at;
}

typedef struct filling {
    pess__evaluator *chain;
    const double *pi;
    const int32_t *choice;
    const double *bonus;
} filling;

static void fill_choice_rows(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const filling *f = context;
    pess__evaluator *chain = f->chain;
    for (int64_t s = from; s < to; s++) {
        chain->constant[s] = chain->uniform[s] = 0.0;
        if (f->choice[s] < 0) continue;
        (void)add_pair(chain, s, s * chain->actions + f->choice[s], 1.0, f->bonus, chain->row[s]);
    }
}

static void fill_policy_rows(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const filling *f = context;
    pess__evaluator *chain = f->chain;
    for (int64_t s = from; s < to; s++) {
        chain->constant[s] = chain->uniform[s] = 0.0;
        int64_t at = chain->row[s];
        for (int64_t z = s * chain->actions; z < (s + 1) * chain->actions; z++)
            if (f->pi[z] > 0.0) at = add_pair(chain, s, z, f->pi[z], f->bonus, at);
    }
}

pess_status pess__evaluator_fill_choice(pess__evaluator *chain, const int32_t *choice, const double *bonus,
                                        pess_error *error) {
    const pess_model *model = chain->model;
    int64_t *row = chain->row;
    chain->factored = false;
    row[0] = 0;
    for (int64_t s = 0; s < chain->states; s++) {
        const int64_t z = s * chain->actions + choice[s];
        row[s + 1] = row[s] + (choice[s] < 0 ? 0 : successors(model, z));
    }
    PESS_TRY(make_room(chain, row[chain->states], error));
    pess__ranges(chain->threads, chain->states, fill_choice_rows, &(filling){chain, NULL, choice, bonus});
    return PESS_OK;
}

pess_status pess__evaluator_fill_policy(pess__evaluator *chain, const double *pi, const double *bonus,
                                        pess_error *error) {
    const pess_model *model = chain->model;
    const int64_t actions = chain->actions;
    int64_t *row = chain->row;
    chain->factored = false;
    row[0] = 0;
    for (int64_t s = 0; s < chain->states; s++) {
        int64_t count = 0;
        for (int64_t z = s * actions; z < (s + 1) * actions; z++)
            if (pi[z] > 0.0) count += successors(model, z);
        row[s + 1] = row[s] + count;
    }
    PESS_TRY(make_room(chain, row[chain->states], error));
    pess__ranges(chain->threads, chain->states, fill_policy_rows, &(filling){chain, pi, NULL, bonus});
    return PESS_OK;
}

/* (Gv)(s) = Σ_k weight·v(next) + w(s)·mean(v), the first part of it; `last`: of the chain's entries. */
static inline double row_times(const pess__evaluator *chain, int64_t s, const double *v, int64_t last) {
    return pess__row_product_ahead(chain->weight, chain->next, v, chain->row[s], chain->row[s + 1], last);
}

typedef struct product {
    const pess__evaluator *chain;
    const double *x;
    double *y, mean;
    double *most; /* [threads] */
} product;

static void sweep_rows(void *context, int64_t from, int64_t to, int part) {
    const product *p = context;
    const pess__evaluator *chain = p->chain;
    const int64_t last = chain->states >= PESS__FETCH_FROM ? chain->row[chain->states] - 1 : PESS__FETCH_NONE;
    double most = 0;
    for (int64_t s = from; s < to; s++) {
        const double value = chain->constant[s] + row_times(chain, s, p->x, last) + chain->uniform[s] * p->mean;
        const double size = fabs(value - p->x[s]);
        p->y[s] = value;
        if (size > most) most = size;
    }
    p->most[part] = most;
}

double pess__evaluator_apply(const pess__evaluator *chain, const double *v, double *out) {
    product p = {.chain = chain, .x = v, .y = out, .mean = pess__evaluator_mean(chain, v), .most = chain->most};
    pess__ranges(chain->threads, chain->states, sweep_rows, &p);
    double most = 0;
    for (int t = 0; t < chain->threads; t++) most = chain->most[t] > most ? chain->most[t] : most;
    return most;
}

/* matrix = I − G, dense. */
static void fill_matrix(pess__evaluator *chain) {
    const int64_t n = chain->states;
    for (int64_t s = 0; s < n; s++) {
        double *line = chain->matrix + s * chain->stride;
        const double spread = chain->any_uniform ? -chain->uniform[s] / (double)n : 0.0;
        for (int64_t t = 0; t < n; t++) line[t] = spread;
        line[s] += 1.0;
        for (int64_t k = chain->row[s]; k < chain->row[s + 1]; k++) line[chain->next[k]] -= chain->weight[k];
    }
}

void pess__evaluator_factor(pess__evaluator *chain) {
    fill_matrix(chain);
    pess__lu_factor(chain->matrix, chain->states, chain->stride, chain->threads);
}

static double largest(const double *x, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

/* v ← c + G v until the tolerance: G is a contraction where γ < 1, so this always gets there in the end. */
static pess_status sweep(pess__evaluator *chain, double tolerance, double *v, pess__evaluator_result *result) {
    while (result->residual > tolerance) {
        if (chain->monitor != NULL && !pess__monitor_check(chain->monitor)) break;
        const double before = result->residual;
        result->residual = pess__evaluator_apply(chain, v, chain->scratch);
        memcpy(v, chain->scratch, (size_t)chain->states * sizeof *v);
        result->iterations++;
        const double floor = 8 * DBL_EPSILON * largest(v, chain->states);
        if (result->residual >= before && result->residual <= floor) break; /* rounding, no more to gain */
    }
    result->residual = pess__evaluator_apply(chain, v, chain->scratch);
    return PESS_OK;
}

/* r = c + Gv − v in scratch; its sup-norm, and Σr. */
static double residual_of(pess__evaluator *chain, const double *v, double *sum) {
    const double most = pess__evaluator_apply(chain, v, chain->scratch);
    *sum = pess__sum(chain->states, chain->scratch) - pess__sum(chain->states, v);
    return most;
}

/* v(s) ← c + Gv over the states in order, each seeing what the ones before it became. */
static void sweep_in_place(const pess__evaluator *chain, double *v) {
    const double mean = pess__evaluator_mean(chain, v);
    for (int64_t s = 0; s < chain->states; s++)
        v[s] = chain->constant[s] + row_times(chain, s, v, PESS__FETCH_NONE) + chain->uniform[s] * mean;
}

double pess__evaluator_lost(const pess__evaluator *chain) {
    const int64_t entries = chain->row[chain->states];
    return (double)chain->states - pess__sum(chain->states, chain->uniform) - pess__sum(entries, chain->weight);
}

/* α = Σr/lost in all states but terminal ones. */
static void shift_by(const pess__evaluator *chain, double lost, double sum, double *v) {
    if (lost <= 1e-9 * (double)chain->states) return;
    for (int64_t s = 0; s < chain->states; s++)
        if (!chain->model->terminal[s]) v[s] += sum / lost;
}

void pess__evaluator_shift(const pess__evaluator *chain, double lost, const double *before, double *v) {
    shift_by(chain, lost, pess__sum(chain->states, v) - pess__sum(chain->states, before), v);
}

/* Rounds of in-place sweeps and a shift of all values, v + α·1 with Σ(r − α(I − G)1) = 0: chains that mix well forget
 * everything but a constant at once, and no polynomial in G, so no Krylov method, gains on plain sweeps where the
 * eigenvalues fill a disc. Leaves where a round brings less than a digit: chains of grids, which mix slowly. Serial, so
 * that it is for small chains only, at any number of threads. */
static void sweep_rounds(pess__evaluator *chain, double tolerance, double *v, pess__evaluator_result *result) {
    const double lost = pess__evaluator_lost(chain);
    double sum, before = INFINITY;
    result->residual = residual_of(chain, v, &sum);
    while (result->residual > tolerance && result->residual <= 0.1 * before) {
        if (chain->monitor != NULL && !pess__monitor_check(chain->monitor)) return;
        before = result->residual;
        shift_by(chain, lost, sum, v);
        for (int k = 0; k < ROUND; k++) sweep_in_place(chain, v);
        result->iterations += ROUND;
        result->residual = residual_of(chain, v, &sum);
    }
}

static pess_status solve_krylov(pess__evaluator *chain, double tolerance, double *v, pess__evaluator_result *result,
                                pess_error *error) {
    *result = (pess__evaluator_result){0};
    if (chain->states < PARALLEL_FROM && !chain->mixes_slowly) {
        sweep_rounds(chain, tolerance, v, result);
        if (result->residual <= tolerance) return PESS_OK;
        chain->mixes_slowly = true; /* and so will the next policy's chain */
    } else {
        result->residual = pess__evaluator_apply(chain, v, chain->scratch);
        if (result->residual <= tolerance) return PESS_OK;
    }
    pess__krylov_result krylov_result;
    PESS_TRY(pess__evaluator_by_krylov(chain, tolerance, v, &krylov_result, error));
    result->iterations += krylov_result.iterations;
    result->residual = krylov_result.residual;
    if (chain->monitor != NULL && chain->monitor->interrupted)
        return pess__fail(error, PESS_INTERRUPTED, "interrupted during policy evaluation");
    /* Doubles cannot tell v from v(1 + ε): a residual of that size is all there is to have. */
    const double floor = 4 * DBL_EPSILON * largest(v, chain->states);
    if (krylov_result.converged || krylov_result.stopped || krylov_result.residual <= floor) return PESS_OK;
    PESS_TRY(sweep(chain, tolerance > floor ? tolerance : floor, v, result));
    if (chain->monitor != NULL && chain->monitor->interrupted)
        return pess__fail(error, PESS_INTERRUPTED, "interrupted during policy evaluation");
    return PESS_OK;
}

pess_status pess__evaluator_again(pess__evaluator *chain, const double *constant, double tolerance, double *v,
                                  pess__evaluator_result *result, pess_error *error) {
    if (constant != chain->constant) memcpy(chain->constant, constant, (size_t)chain->states * sizeof *constant);
    if (chain->evaluation == PESS_EVALUATION_KRYLOV) return solve_krylov(chain, tolerance, v, result, error);
    memcpy(v, chain->constant, (size_t)chain->states * sizeof *v);
    pess__lu_solve(chain->matrix, chain->states, chain->stride, v);
    *result = (pess__evaluator_result){.residual = NAN};
    return PESS_OK;
}

pess_status pess__evaluator_evaluate(pess__evaluator *chain, double tolerance, double *v,
                                     pess__evaluator_result *result, pess_error *error) {
    if (chain->evaluation == PESS_EVALUATION_LU) pess__evaluator_factor(chain);
    return pess__evaluator_again(chain, chain->constant, tolerance, v, result, error);
}
