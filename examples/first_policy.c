/* From a handful of transitions in memory to a pessimistic policy: the smallest use of the library. */
#include "pess.h"

#include <stdio.h>

int main(void) {
    /* Two rooms, two actions (0 stay, 1 go). Staying in room 0 paid once; the way to room 1 is well known. */
    enum { ROWS = 34 };
    uint32_t state[ROWS], action[ROWS], next_state[ROWS];
    double reward[ROWS];
    for (int i = 0; i < ROWS; i++) {
        state[i] = i < 17 ? 0 : 1;
        action[i] = i == 0 || i == 33 ? (uint32_t)(i != 0) : (uint32_t)(i < 17);
        next_state[i] = action[i] == 0 ? state[i] : 1 - state[i];
        reward[i] = i == 0 || (i >= 17 && i < 29) ? 1 : 0;
    }
    const pess_columns columns = {
        .rows = ROWS, .state = state, .action = action, .next_state = next_state, .reward = reward};

    pess_error error = {0};
    pess_dataset *data = NULL;
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_solution *solution = NULL;
    double start[2] = {0};
    pess_model_options model_options = pess_model_options_defaults();
    pess_solve_options options = pess_solve_options_defaults(); /* uncertainty-aware, absorbed alpha 1 */
    options.gamma = 0.5;

    pess_status status = pess_dataset_create(&columns, 2, 2, &data, &error);
    if (status == PESS_OK) status = pess_counts_create(data, 0, &counts, &error);
    if (status == PESS_OK) status = pess_model_estimate(counts, &model_options, &model, &error);
    if (status == PESS_OK) status = pess_start_uniform(model, start, &error);
    if (status == PESS_OK) status = pess_solve(counts, model, start, &options, &solution, &error);
    if (status == PESS_OK) {
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        const double *row = pess_policy_row(pess_solution_policy(solution), 0);
        printf("in room 0: %s, promised value %.4f\n", row[1] > row[0] ? "go" : "stay", info.value);
    } else {
        (void)fprintf(stderr, "%s\n", error.message);
    }
    pess_solution_destroy(solution);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    pess_dataset_destroy(data);
    return status == PESS_OK ? 0 : 1;
}
