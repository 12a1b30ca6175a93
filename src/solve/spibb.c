/* SPIBB: where a pair was seen less than n_∧ times, do as the logging policy does (Laroche, Trichelair, Tachet des
 * Combes 2019). Two sets of policies: Π_b keeps π̂ on those pairs exactly, Π_≤b never exceeds it. */
#include "model/spread.h"
#include "policy/policy.h"
#include "solve/algorithm.h"

#include <math.h>

typedef struct spibb {
    const pess_policy *empirical;
    const pess_counts *counts;
    double least; /* n_∧ */
} spibb;

/* The best pair with n ≥ n_∧, ties within 1e-8 to the smallest action; -1: none. *top is the largest such q. */
static int64_t best_known(const spibb *context, int64_t state, const double *q, double *top) {
    const int64_t actions = context->empirical->actions;
    const int64_t *n = context->counts->n + state * actions;
    *top = -INFINITY;
    for (int64_t a = 0; a < actions; a++)
        if ((double)n[a] >= context->least && q[a] > *top) *top = q[a];
    for (int64_t a = 0; a < actions; a++)
        if ((double)n[a] >= context->least && q[a] > -INFINITY && q[a] >= *top - PESS__TIE) return a;
    return -1;
}

/* Π_b: π = π̂ on pairs with n < n_∧; the rest of the mass on the best of the others. */
static double improve_equal(const void *context, int64_t state, const double *q, double *pi) {
    const spibb *b = context;
    const int64_t actions = b->empirical->actions;
    const double *base = b->empirical->probability + state * actions;
    double top, freed = 0, value = 0;
    const int64_t best = best_known(b, state, q, &top);
    for (int64_t a = 0; a < actions; a++) {
        const bool known = (double)b->counts->n[state * actions + a] >= b->least && best >= 0;
        pi[a] = known ? 0.0 : base[a];
        if (known)
            freed += base[a];
        else if (base[a] > 0)
            value += base[a] * q[a];
    }
    if (best < 0) return value;
    pi[best] = freed;
    return value + freed * top;
}

/* Π_≤b: π ≤ π̂ on pairs with n < n_∧. Those that beat the best known action are filled to π̂, the others are emptied. */
static double improve_at_most(const void *context, int64_t state, const double *q, double *pi) {
    const spibb *b = context;
    const int64_t actions = b->empirical->actions;
    const double *base = b->empirical->probability + state * actions;
    double top, freed = 0, value = 0;
    const int64_t best = best_known(b, state, q, &top);
    for (int64_t a = 0; a < actions; a++) {
        const bool known = (double)b->counts->n[state * actions + a] >= b->least;
        const bool beats = q[a] > top + PESS__TIE || (q[a] >= top - PESS__TIE && a < best);
        const bool keeps = best < 0 || (!known && beats);
        pi[a] = keeps ? base[a] : 0.0;
        if (!keeps) freed += base[a];
        if (base[a] > 0) value += base[a] * (best < 0 || (!known && q[a] > top) ? q[a] : top);
    }
    if (best >= 0) pi[best] = freed;
    return value;
}

/* √m, m the mean count of the pairs of states that the log acts in. What is trusted then has errors that vanish as the
 * log grows, and what is not trusted becomes less and less: counts grow faster than their root. */
static double usual_least(const pess_counts *counts) {
    double states = 0, rows = 0;
    for (int64_t s = 0; s < counts->states; s++) {
        states += counts->n_state[s] > 0;
        rows += (double)counts->n_state[s];
    }
    rows = pess__sum_of_all(counts->spread, rows);
    states = pess__sum_of_all(counts->spread, states);
    return sqrt(rows / fmax(states * (double)counts->actions, 1));
}

static pess_status optimise(const pess__problem *problem, pess_solution *solution,
                            double (*improve)(const void *, int64_t, const double *, double *), pess_error *error) {
    pess_policy *empirical = NULL;
    PESS_TRY(pess_policy_empirical(problem->counts, problem->model, &empirical, error));
    const spibb context = {empirical, problem->counts, pess__min_count(problem, usual_least(problem->counts))};
    solution->info.min_count = context.least;
    const pess__local local = {.context = &context, .improve = improve};
    const pess_status status = pess__optimise(problem, &local, solution, error);
    pess_policy_destroy(empirical);
    return status;
}

static pess_status solve_equal(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return optimise(problem, solution, improve_equal, error);
}

static pess_status solve_at_most(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return optimise(problem, solution, improve_at_most, error);
}

/* The two differ in the rule alone. */
#define SPIBB(name_, set, summary_, rule, solve_)                                                                      \
    {                                                                                                                  \
        .info = {.name = (name_),                                                                                      \
                 .summary = "pairs seen fewer than min_count times " summary_,                                         \
                 .equation = "v = max_π A^π(r_D + γ·P_D·v),  " rule " where n(s,a) < min_count",                       \
                 .source = "Laroche, Trichelair, Tachet des Combes 2019, " set,                                        \
                 .settings = "min-count " PESS__READS_METHOD},                                                         \
        .pairs_alone = true, .spreads = true, .solve = (solve_), .evaluate = pess__evaluate_plain                      \
    }

const pess__algorithm pess__algorithm_spibb =
    SPIBB("spibb", "Pi_b-SPIBB", "keep the logging policy's probability", "π(a|s) = π̂(a|s)", solve_equal);

const pess__algorithm pess__algorithm_spibb_leq = SPIBB(
    "spibb-leq", "Pi_<=b-SPIBB", "get at most the logging policy's probability", "π(a|s) ≤ π̂(a|s)", solve_at_most);
