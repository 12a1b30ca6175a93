/* Small known processes, logs of them, and the truth about policies in them. */
#ifndef PESS_TESTS_SMALL_WORLDS_H
#define PESS_TESTS_SMALL_WORLDS_H

#include "pess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct world {
    pess_mdp *mdp;
    pess_model *model;
    double *start; /* [S] uniform over the states with actions */
    pess_policy *logging;
    double gamma, optimal, logging_value;
} world;

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        pess_error must_error = {0};                                                                                   \
        pess_error *error = &must_error;                                                                               \
        if ((call) != PESS_OK) fail_msg("%s: %s", #call, must_error.message);                                          \
    } while (0)

static inline double true_value(const world *w, const pess_policy *policy) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = w->gamma;
    options.threads = 1;
    /* A state that is terminal in the log may go on in the process, or the other way round. */
    const int64_t states = pess_policy_states(policy), actions = pess_policy_actions(policy);
    double *pi = calloc((size_t)(states * actions), sizeof *pi);
    for (int64_t s = 0; s < states; s++) {
        double sum = 0;
        for (int64_t a = 0; a < actions; a++) sum += pi[s * actions + a] = pess_policy_row(policy, s)[a];
        if (sum == 0 && !pess_model_is_terminal_state(w->model, s)) pi[s * actions] = 1;
        if (pess_model_is_terminal_state(w->model, s)) memset(pi + s * actions, 0, (size_t)actions * sizeof *pi);
    }
    pess_policy *full = NULL;
    pess_solution *solution = NULL;
    MUST(pess_policy_create(states, actions, pi, &full, error));
    MUST(pess_evaluate(NULL, w->model, w->start, full, &options, &solution, error));
    pess_solution_info info;
    pess_solution_get_info(solution, &info);
    pess_solution_destroy(solution);
    pess_policy_destroy(full);
    free(pi);
    return info.value;
}

/* Takes the mdp; the logging policy is the optimal one softened by epsilon. */
static inline world world_of(pess_mdp *mdp, double gamma, double epsilon) {
    world w = {.mdp = mdp, .gamma = gamma};
    MUST(pess_mdp_model(mdp, 0, &w.model, error));
    w.start = calloc((size_t)pess_mdp_states(mdp), sizeof *w.start);
    MUST(pess_start_uniform(w.model, w.start, error));
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = gamma;
    options.threads = 1;
    pess_solution *solution = NULL;
    MUST(pess_solve(NULL, w.model, w.start, &options, &solution, error));
    pess_solution_info info;
    pess_solution_get_info(solution, &info);
    w.optimal = info.value;
    MUST(pess_policy_soften(pess_solution_policy(solution), w.model, epsilon, &w.logging, error));
    pess_solution_destroy(solution);
    w.logging_value = true_value(&w, w.logging);
    return w;
}

static inline void world_free(world *w) {
    pess_mdp_destroy(w->mdp);
    pess_model_destroy(w->model);
    pess_policy_destroy(w->logging);
    free(w->start);
}

static inline world world_gridworld(int64_t side, uint64_t seed, double gamma, double epsilon) {
    pess_gridworld_options options = pess_gridworld_options_defaults();
    options.rows = options.cols = side;
    options.seed = seed;
    pess_mdp *mdp = NULL;
    MUST(pess_mdp_gridworld(&options, &mdp, error));
    return world_of(mdp, gamma, epsilon);
}

static inline world world_garnet(int64_t states, uint64_t seed, double gamma, double epsilon) {
    pess_garnet_options options = pess_garnet_options_defaults();
    options.states = states;
    options.actions = 2;
    options.branching = 3;
    options.terminals = 1;
    options.seed = seed;
    pess_mdp *mdp = NULL;
    MUST(pess_mdp_garnet(&options, &mdp, error));
    return world_of(mdp, gamma, epsilon);
}

static inline world world_bandit(int64_t arms, double best, double rest, double gamma, double epsilon) {
    pess_bandit_options options = pess_bandit_options_defaults();
    options.arms = arms;
    options.best = best;
    options.rest = rest;
    pess_mdp *mdp = NULL;
    MUST(pess_mdp_bandit(&options, &mdp, error));
    return world_of(mdp, gamma, epsilon);
}

/* `length` states in a row: action 1 goes on with probability 0.8 and pays 1 at the end, which leads back to the
 * beginning; action 0 goes back to the beginning and pays 0.1 on average. */
static inline world world_chain(int64_t length, double gamma, double epsilon) {
    pess_mdp_transition transitions[64];
    int64_t count = 0;
    for (int64_t s = 0; s < length; s++) {
        const int64_t next = s + 1 < length ? s + 1 : 0;
        transitions[count++] = (pess_mdp_transition){s, 0, 0, 0.1, 1};
        transitions[count++] = (pess_mdp_transition){s, 0, 0, 0.9, 0};
        transitions[count++] = (pess_mdp_transition){s, 1, next, 0.8, next == 0 ? 1 : 0};
        transitions[count++] = (pess_mdp_transition){s, 1, s, 0.2, 0};
    }
    pess_mdp *mdp = NULL;
    MUST(pess_mdp_create(length, 2, transitions, count, &mdp, error));
    return world_of(mdp, gamma, epsilon);
}

static inline pess_dataset *log_of(const world *w, int64_t transitions, int64_t horizon, uint64_t seed) {
    pess_simulate_options options = pess_simulate_options_defaults();
    if (horizon > 0) {
        options.episodes = transitions / horizon;
        options.horizon = horizon;
    } else {
        options.transitions = transitions;
    }
    options.seed = seed;
    pess_dataset *data = NULL;
    MUST(pess_simulate(w->mdp, w->logging, w->start, &options, &data, error));
    return data;
}

/* The counts of independent rows, of all states and actions. */
static inline pess_counts *counts_of(const world *w, int64_t transitions, uint64_t seed) {
    pess_dataset *data = log_of(w, transitions, 0, seed), *sized = NULL;
    pess_columns columns;
    pess_dataset_columns(data, &columns);
    MUST(pess_dataset_create(&columns, pess_mdp_states(w->mdp), pess_mdp_actions(w->mdp), &sized, error));
    pess_counts *counts = NULL;
    MUST(pess_counts_create(sized, 0, &counts, error));
    pess_dataset_destroy(sized);
    pess_dataset_destroy(data);
    return counts;
}

#endif
