/* Solving and evaluating in tests, and the same problem with its states in another order. */
#ifndef TESTS_SOLVED_H
#define TESTS_SOLVED_H

#include "policy/policy.h"
#include "sampled.h"

static inline pess_solve_options options_for(const char *algorithm, const char *uncertainty, double alpha) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = algorithm;
    options.uncertainty = uncertainty;
    options.alpha = alpha;
    options.gamma = 0.9;
    options.delta = 0.1;
    options.threads = 2;
    return options;
}

/* The same number, in absorbed units. */
static inline void absorb(pess_solve_options *options) {
    options->absorbed_alpha = options->alpha;
    options->alpha = NAN;
}

static inline pess_solution *solved(const estimate *e, const pess_solve_options *options) {
    pess_error error = {0};
    pess_solution *solution = NULL;
    double *start = malloc((size_t)e->model->states * sizeof *start);
    assert_non_null(start);
    OK(pess_start_uniform(e->model, start, &error));
    OK(pess_solve(e->counts, e->model, start, options, &solution, &error));
    free(start);
    return solution;
}

static inline pess_solution *evaluated(const estimate *e, const pess_policy *policy,
                                       const pess_solve_options *options) {
    pess_error error = {0};
    pess_solution *solution = NULL;
    double *start = malloc((size_t)e->model->states * sizeof *start);
    assert_non_null(start);
    OK(pess_start_uniform(e->model, start, &error));
    OK(pess_evaluate(e->counts, e->model, start, policy, options, &solution, &error));
    free(start);
    return solution;
}

static inline pess_solution_info info_of(const pess_solution *solution) {
    pess_solution_info info;
    pess_solution_get_info(solution, &info);
    return info;
}

static inline void assert_converged(const pess_solution *solution) {
    const pess_solution_info info = info_of(solution);
    if (info.outcome != PESS_OUTCOME_CONVERGED)
        fail_msg("%s: %s after %lld, residual %g", info.algorithm, pess_outcome_name(info.outcome),
                 (long long)info.iterations, info.residual);
    assert_true(info.residual <= 1e-9);
}

/* A random policy on the actions that the model has. */
static inline pess_policy *random_policy(const pess_model *model, uint64_t seed) {
    pess_error error = {0};
    pess_policy *policy = NULL;
    OK(pess__policy_allocate(model->states, model->actions, &policy, &error));
    pess__rng rng = pess__rng_stream(seed, "test policy", 0);
    for (int64_t s = 0; s < model->states; s++) {
        double *row = policy->probability + s * model->actions, sum = 0;
        if (model->terminal[s]) continue;
        for (int64_t a = 0; a < model->actions; a++) sum += row[a] = pess__rng_exponential(&rng);
        for (int64_t a = 0; a < model->actions; a++) row[a] /= sum;
    }
    return policy;
}

/* naive q = r + γPv by the definition of the rows. */
static inline double naive_q(const pess_model *model, double gamma, double v_lo, int64_t z, const double *v) {
    double future = 0;
    if (model->kind[z] == PESS_ROW_SINK) future = v_lo;
    if (model->kind[z] == PESS_ROW_UNIFORM)
        for (int64_t s = 0; s < model->states; s++) future += v[s] / (double)model->states;
    if (model->kind[z] == PESS_ROW_SPARSE)
        for (int64_t i = model->row[z]; i < model->row[z + 1]; i++) future += model->probability[i] * v[model->next[i]];
    return model->reward[z] + gamma * future;
}

/* A world's log and the same log with state s called (s·step + shift) mod S; step and S have no common factor. */
static inline void relabelled(int64_t states, int64_t actions, int64_t step, int64_t shift, uint64_t seed,
                              estimate *plain, estimate *other) {
    world w = world_create(states, actions, 3, 0.3, seed);
    sample_log log = sample_log_create(states * actions * 40);
    pess__rng rng = pess__rng_stream(seed, "relabel", 0);
    for (int64_t z = 0; z < states * actions; z++) world_sample(&w, z, (int64_t)pess__rng_below(&rng, 40), &rng, &log);
    *plain = estimate_create(&log, states, actions, PESS_UNSEEN_WORST);
    for (int64_t i = 0; i < log.rows; i++) {
        log.state[i] = (uint32_t)((log.state[i] * step + shift) % states);
        log.next[i] = (uint32_t)((log.next[i] * step + shift) % states);
    }
    *other = estimate_create(&log, states, actions, PESS_UNSEEN_WORST);
    sample_log_destroy(&log);
    world_destroy(&w);
}

#endif
