/* The table of uncertainty functions, and what they share. Adding one means one new file and one row here. */
#include "uncertainty/uncertainty.h"

#include "model/named.h"
#include "model/spread.h"

#include <math.h>
#include <string.h>

const char pess__holds_nothing[] = "nothing: there is no error probability in it (a heuristic)";
const char pess__holds_fixed_v[] =
    "one value function fixed before the data were seen; a heuristic for one that was chosen from them";
const char pess__holds_everything[] = "all value functions and all policies at once";

/* One file each: pess__uncertainty_<name>. */
/* clang-format off */
#define UNCERTAINTIES(X)                                                                                               \
    X(trivial) X(count) X(hoeffding) X(hoeffding_s) X(bernstein) X(l1) X(support) X(good_turing)
/* clang-format on */

#define DECLARE(name) extern const pess__uncertainty pess__uncertainty_##name;
UNCERTAINTIES(DECLARE)
#undef DECLARE

#define ADDRESS(name) &pess__uncertainty_##name,
static const pess__uncertainty *const uncertainties[] = {UNCERTAINTIES(ADDRESS)};
#undef ADDRESS

enum { UNCERTAINTY_COUNT = sizeof uncertainties / sizeof uncertainties[0] };

const pess__uncertainty *pess__uncertainty_find(const char *name) {
    for (size_t i = 0; name != NULL && i < UNCERTAINTY_COUNT; i++)
        if (strcmp(uncertainties[i]->info.name, name) == 0) return uncertainties[i];
    return NULL;
}

const pess_uncertainty_info *pess_uncertainty_list(size_t index) {
    return index < UNCERTAINTY_COUNT ? &uncertainties[index]->info : NULL;
}

const pess_uncertainty_info *pess_uncertainty_find(const char *name) {
    const pess__uncertainty *uncertainty = pess__uncertainty_find(name);
    return uncertainty != NULL ? &uncertainty->info : NULL;
}

double pess__u_inverse_root(const pess__u_problem *problem, const double *v, int64_t pair) {
    (void)v;
    return 1 / sqrt((double)problem->counts->n[pair]);
}

pess_status pess__u_check_counts(const pess__u_problem *problem, pess_error *error) {
    if (problem->counts) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "the uncertainty needs the counts of a log; an exact model has none");
}

pess_status pess__u_check_successors(const pess__u_problem *problem, int64_t pair, int64_t seen, pess_error *error) {
    const int64_t actions = problem->model->actions;
    const pess_names *states = problem->model->spread == NULL ? problem->counts->state_names : NULL;
    char state[PESS__ID_SIZE], action[PESS__ID_SIZE];
    if (problem->max_successors == 0 || seen <= problem->max_successors) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT,
                      "at most %lld possible next states were declared, but the log shows %lld of state %s, action %s",
                      (long long)problem->max_successors, (long long)seen,
                      pess__show_id(states, pess__state_number(problem->model, pair / actions), state),
                      pess__show_id(problem->counts->action_names, pair % actions, action));
}

pess_status pess__u_check_range(const pess__u_problem *problem, pess_error *error) {
    if (isfinite(problem->v_hi - problem->v_lo)) return PESS_OK;
    return pess__fail(
        error, PESS_ARGUMENT,
        "this uncertainty needs a bounded range of values, which runs from %g to %g here: take a discount "
        "below 1 instead of %g, or declare the range of returns",
        problem->v_lo, problem->v_hi, problem->gamma);
}

double pess__u_log_pairs(const pess__u_problem *problem, double delta, int64_t n) {
    const double base =
        log((double)pess__all_states(problem->model)) + log((double)problem->model->actions) - log(delta);
    return problem->trajectories ? base + log((double)n) + log1p((double)n) : base;
}

pess_status pess__u_fill(const pess__u_problem *problem, const double *v, pess__u_pair *bound, double *u,
                         pess_error *error) {
    PESS_TRY(pess__u_check_counts(problem, error));
    const int64_t pairs = problem->model->states * problem->model->actions;
    const double width = problem->v_hi - problem->v_lo;
#pragma omp parallel for num_threads(problem->threads) schedule(static) if (pairs > 4096)
    for (int64_t z = 0; z < pairs; z++) {
        if (problem->model->kind[z] == PESS_ROW_NONE)
            u[z] = 0;
        else if (problem->counts->n[z] == 0)
            u[z] = width;
        else
            u[z] = fmin(bound(problem, v, z), width);
    }
    return PESS_OK;
}
