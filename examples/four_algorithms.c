/* The paper's four algorithms on one simulated gridworld log, each measured in the true world. */
#include "pess.h"

#include <stdio.h>

enum { STATES = 64 };

typedef struct world {
    pess_mdp *mdp;
    pess_model *truth;
    double start[STATES];
    pess_counts *counts;  /* of the log */
    pess_model *estimate; /* from the log */
} world;

/* A gridworld, an ε-greedy optimal policy in it, and 2000 transitions of that policy. */
static pess_status prepare(world *w, pess_error *error) {
    pess_gridworld_options grid = pess_gridworld_options_defaults();
    pess_solve_options exact = pess_solve_options_defaults();
    exact.algorithm = "naive";
    pess_simulate_options simulate = pess_simulate_options_defaults();
    simulate.transitions = 2000;
    simulate.epsilon = 0.25;
    pess_model_options model_options = pess_model_options_defaults();
    model_options.unseen = PESS_UNSEEN_PAPER;
    pess_solution *optimal = NULL;
    pess_dataset *log = NULL;
    pess_status status = pess_mdp_gridworld(&grid, &w->mdp, error);
    if (status == PESS_OK) status = pess_mdp_model(w->mdp, 0, &w->truth, error);
    if (status == PESS_OK) status = pess_start_uniform(w->truth, w->start, error);
    if (status == PESS_OK) status = pess_solve(NULL, w->truth, w->start, &exact, &optimal, error);
    if (status == PESS_OK)
        status = pess_simulate(w->mdp, pess_solution_policy(optimal), w->start, &simulate, &log, error);
    if (status == PESS_OK) status = pess_counts_create(log, 0, &w->counts, error);
    if (status == PESS_OK) status = pess_model_estimate(w->counts, &model_options, &w->estimate, error);
    pess_dataset_destroy(log);
    pess_solution_destroy(optimal);
    return status;
}

static pess_status compare(const world *w, const char *algorithm, pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = algorithm;
    pess_solve_options exact = options;
    exact.algorithm = "naive";
    pess_solution *solution = NULL, *truth = NULL;
    pess_status status = pess_solve(w->counts, w->estimate, w->start, &options, &solution, error);
    if (status == PESS_OK)
        status = pess_evaluate(NULL, w->truth, w->start, pess_solution_policy(solution), &exact, &truth, error);
    if (status == PESS_OK) {
        pess_solution_info promised, obtained;
        pess_solution_get_info(solution, &promised);
        pess_solution_get_info(truth, &obtained);
        printf("%-10s promised %6.2f, worth %6.2f\n", algorithm, promised.value, obtained.value);
    }
    pess_solution_destroy(truth);
    pess_solution_destroy(solution);
    return status;
}

int main(void) {
    static const char *const algorithms[] = {"imitation", "naive", "ua", "proximal"};
    pess_error error = {0};
    world w = {0};
    pess_status status = prepare(&w, &error);
    for (int i = 0; status == PESS_OK && i < 4; i++) status = compare(&w, algorithms[i], &error);
    if (status != PESS_OK) (void)fprintf(stderr, "%s\n", error.message);
    pess_model_destroy(w.estimate);
    pess_counts_destroy(w.counts);
    pess_model_destroy(w.truth);
    pess_mdp_destroy(w.mdp);
    return status == PESS_OK ? 0 : 1;
}
