/* Discounted visitation d = ρ + Gᵀd: d(s) = Σ_t γ^t P(s_t = s), by the transposed system of policy evaluation. */
#include "core/lu.h"
#include "core/memory.h"
#include "core/scattered.h"
#include "core/sparse_row.h"
#include "model/spread.h"
#include "policy/policy.h"
#include "solve/check.h"
#include "solve/evaluator.h"
#include "solve/horizon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gᵀ by rows, so that the product runs without collisions between threads. */
typedef struct transposed {
    const pess__evaluator *chain;
    int64_t *row;
    uint32_t *from;
    double *weight;
} transposed;

static void transposed_release(transposed *t) {
    free(t->row);
    free(t->from);
    free(t->weight);
}

static pess_status transposed_build(const pess__evaluator *chain, transposed *out, pess_error *error) {
    const int64_t states = chain->states, entries = chain->row[states];
    *out = (transposed){.chain = chain};
    pess_status status = pess__allocate(&out->row, states + 2, sizeof(int64_t), "the transposed chain", error);
    if (status == PESS_OK)
        status = pess__allocate(&out->from, entries, sizeof(uint32_t), "the transposed chain", error);
    if (status == PESS_OK)
        status = pess__allocate(&out->weight, entries, sizeof(double), "the transposed chain", error);
    if (status != PESS_OK) {
        transposed_release(out);
        return status;
    }
    int64_t *at = out->row + 1; /* at[t] ends as the end of row t, that is row[t+1] */
    for (int64_t k = 0; k < entries; k++) at[chain->next[k] + 1]++;
    for (int64_t t = 0; t < states; t++) at[t + 1] += at[t];
    for (int64_t s = 0; s < states; s++)
        for (int64_t k = chain->row[s]; k < chain->row[s + 1]; k++) {
            const int64_t place = at[chain->next[k]]++;
            out->from[place] = (uint32_t)s;
            out->weight[place] = chain->weight[k];
        }
    return PESS_OK;
}

/* y = (I − Gᵀ) x; the rank-one part is (w·x)/S in every state that is not terminal. */
static void apply_transposed(const void *context, const double *x, double *y) {
    const transposed *t = context;
    const pess__evaluator *chain = t->chain;
    const double spread =
        chain->any_uniform ? pess__dot(&chain->krylov, chain->uniform, x) / (double)chain->states : 0.0;
    const int64_t last = chain->states >= PESS__FETCH_FROM ? t->row[chain->states] - 1 : PESS__FETCH_NONE;
#pragma omp parallel for num_threads(chain->threads) if (chain->threads > 1) schedule(static)
    for (int64_t s = 0; s < chain->states; s++) {
        const double uniform = chain->model->terminal[s] ? 0.0 : spread;
        y[s] = x[s] - uniform - pess__row_product_ahead(t->weight, t->from, x, t->row[s], t->row[s + 1], last);
    }
}

static pess_status solve_transposed(pess__evaluator *chain, const double *start, double tolerance, double *d,
                                    pess_error *error) {
    transposed t;
    PESS_TRY(transposed_build(chain, &t, error));
    pess__krylov *krylov = &chain->krylov;
    krylov->apply = apply_transposed;
    krylov->precondition = NULL;
    krylov->context = &t;
    krylov->keep_going = chain->monitor != NULL ? pess__monitor_check : NULL;
    krylov->user = chain->monitor;
    pess__krylov_result result;
    pess_status status = pess__krylov_solve(krylov, start, d, tolerance, 20 * chain->states + 1000, &result, error);
    transposed_release(&t);
    PESS_TRY(status);
    if (chain->monitor != NULL && chain->monitor->interrupted)
        return pess__fail(error, PESS_INTERRUPTED, "interrupted while computing the discounted visitation");
    if (!result.converged)
        return pess__fail(error, PESS_NOT_CONVERGED,
                          "the discounted visitation: residual %.3g after %lld Krylov iterations, %.3g was asked for",
                          result.residual, (long long)result.iterations, tolerance);
    return PESS_OK;
}

pess_status pess__evaluator_visitation(pess__evaluator *chain, const double *start, double tolerance, double *d,
                                       pess_error *error) {
    memcpy(d, start, (size_t)chain->states * sizeof *d);
    if (chain->evaluation == PESS_EVALUATION_KRYLOV) {
        PESS_TRY(pess__evaluator_krylov(chain, error));
        PESS_TRY(solve_transposed(chain, start, tolerance, d, error));
    } else {
        pess__evaluator_factor(chain);
        pess__lu_solve_transposed(chain->matrix, chain->states, chain->stride, d);
    }
    for (int64_t s = 0; s < chain->states; s++)
        if (d[s] < 0.0 || chain->model->terminal[s])
            d[s] = 0.0; /* rounding below zero; nothing happens after the end */
    return PESS_OK;
}

static pess_status finite_visitation(const pess_model *model, const double *start, const pess_policy *policy,
                                     const pess_solve_options *options, double *out, pess_error *error) {
    double *pairs = NULL;
    PESS_TRY(pess__allocate(&pairs, model->states * model->actions, sizeof *pairs, "the visits", error));
    const pess_status status =
        pess__horizon_visits(model, start, policy, options->gamma, options->horizon, pairs, error);
    memset(out, 0, (size_t)model->states * sizeof *out);
    for (int64_t z = 0; status == PESS_OK && z < model->states * model->actions; z++)
        out[z / model->actions] += pairs[z];
    free(pairs);
    return status;
}

pess_status pess_visitation(const pess_model *model, const double *start, const pess_policy *policy,
                            const pess_solve_options *options, double *out, pess_error *error) {
    pess_solve_options settled;
    PESS_TRY(pess__solve_settle(options, &settled, error));
    options = &settled;
    double v_lo, v_hi;
    int64_t endless;
    PESS_TRY(pess__check_range(model, options->gamma, options->horizon, NULL, &v_lo, &v_hi, &endless, error));
    PESS_TRY(pess__check_start(model, start, error));
    PESS_TRY(pess__check_policy(model, policy, options->horizon, error));
    if (model->spread != NULL) return model->spread->visits(model, start, policy, options, out, error);
    if (options->horizon > 0) return finite_visitation(model, start, policy, options, out, error);
    if (endless >= 0) PESS_TRY(pess__check_proper(model, policy->probability, NULL, error));
    pess__monitor monitor = pess__monitor_start(&options->progress, "visitation", pess__deadline(options));
    pess__evaluator *chain = NULL;
    PESS_TRY(pess__evaluator_create(model, options->gamma, v_lo, options->evaluation, pess__threads(options->threads),
                                    &monitor, &chain, error));
    double *d = NULL;
    pess_status status = pess__allocate_scattered(&d, model->states, sizeof(double), "the visitation", error);
    if (status == PESS_OK) status = pess__evaluator_fill_policy(chain, policy->probability, NULL, error);
    if (status == PESS_OK) status = pess__evaluator_visitation(chain, start, options->tolerance, d, error);
    if (status == PESS_OK) memcpy(out, d, (size_t)model->states * sizeof *d);
    free(d);
    pess__evaluator_destroy(chain);
    return status;
}
