/* pess_solve and pess_evaluate: check what was asked, hand it to the algorithm, add what every solution carries. */
#include "core/memory.h"
#include "core/threads.h"
#include "model/named.h"
#include "model/problem.h"
#include "model/spread.h"
#include "solve/algorithm.h"
#include "solve/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pess_outcome_name(pess_outcome outcome) {
    switch (outcome) {
        case PESS_OUTCOME_CONVERGED: return "converged";
        case PESS_OUTCOME_ITERATION_LIMIT: return "iteration-limit";
        case PESS_OUTCOME_TIME_LIMIT: return "time-limit";
    }
    return "unknown";
}

/* Appends ", name" to a list of names in a message. */
static void list_name(char *list, size_t size, const char *name) {
    const size_t length = strlen(list);
    (void)snprintf(list + length, size - length, "%s%s", length > 0 ? ", " : "", name);
}

static pess_status find_algorithm(const char *name, const pess__algorithm **out, pess_error *error) {
    *out = name != NULL ? pess__algorithm_find(name) : NULL;
    if (*out != NULL) return PESS_OK;
    char known[400] = "";
    const pess_algorithm_info *info;
    for (size_t i = 0; (info = pess_algorithm_list(i)) != NULL; i++) list_name(known, sizeof known, info->name);
    return pess__fail(error, PESS_ARGUMENT, "there is no algorithm '%s'; there are: %s", name != NULL ? name : "(none)",
                      known);
}

static pess_status find_uncertainty(const pess_algorithm_info *algorithm, const char *name,
                                    const pess__uncertainty **out, pess_error *error) {
    *out = NULL;
    if (algorithm->default_uncertainty == NULL) {
        if (name == NULL) return PESS_OK;
        return pess__fail(error, PESS_ARGUMENT, "the algorithm '%s' takes no uncertainty, but '%s' was given",
                          algorithm->name, name);
    }
    if (name == NULL) name = algorithm->default_uncertainty;
    const pess__uncertainty *found = name != NULL ? pess__uncertainty_find(name) : NULL;
    if (found != NULL && (found->info.is_set || !algorithm->takes_sets_only)) {
        *out = found;
        return PESS_OK;
    }
    char known[400] = "";
    const pess_uncertainty_info *info;
    for (size_t i = 0; (info = pess_uncertainty_list(i)) != NULL; i++)
        if (info->is_set || !algorithm->takes_sets_only) list_name(known, sizeof known, info->name);
    if (found != NULL)
        return pess__fail(error, PESS_ARGUMENT,
                          "the algorithm '%s' needs a set of transition rows, which '%s' is not; there are: %s",
                          algorithm->name, name, known);
    return pess__fail(error, PESS_ARGUMENT, "there is no uncertainty '%s' for '%s'; there are: %s",
                      name != NULL ? name : "(none)", algorithm->name, known);
}

static pess_status take_own_uncertainty(const pess_algorithm_info *algorithm, const pess_solve_options *options,
                                        pess__problem *problem, pess_error *error) {
    const pess_own_uncertainty *own = options->own_uncertainty;
    PESS_TRY(pess__uncertainty_check_own(own, error));
    if (options->uncertainty != NULL)
        return pess__fail(error, PESS_ARGUMENT,
                          "both the uncertainty '%s' and one of the caller's own, '%s', are given",
                          options->uncertainty, own->name);
    if (algorithm->default_uncertainty == NULL || algorithm->takes_sets_only)
        return pess__fail(error, PESS_ARGUMENT, "the algorithm '%s' takes no number per pair, which '%s' is",
                          algorithm->name, own->name);
    problem->own = pess__uncertainty_of_caller(own);
    problem->uncertainty = &problem->own;
    return PESS_OK;
}

/* α as it is given. Where it is not: the span of the rewards, in absorbed units, for the algorithm's own uncertainty
 * (whose theory units say little), so that the policy does not depend on the unit of rewards; 1 in the theory's units
 * for another one and for sets. */
static void set_alpha(const pess_algorithm_info *algorithm, pess__problem *problem) {
    const pess_solve_options *options = problem->options;
    const pess_uncertainty_info *bound = problem->uncertainty != NULL ? &problem->uncertainty->info : NULL;
    const double span = pess__reward_span(problem->model, problem->v_lo, problem->v_hi);
    problem->alpha = NAN;
    problem->unit = 1;
    if (!pess_setting_listed(algorithm->settings, "alpha")) return;
    const bool own = bound == NULL || strcmp(bound->name, algorithm->default_uncertainty) == 0;
    const bool neither = isnan(options->alpha) && isnan(options->absorbed_alpha);
    problem->absorbed = neither ? own : isnan(options->alpha);
    if (bound != NULL && bound->absorbed == NULL) problem->absorbed = false;
    problem->unit = problem->absorbed && span > 0 ? span : 1;
    problem->alpha = neither                 ? (problem->absorbed ? span : 1)
                     : isnan(options->alpha) ? options->absorbed_alpha
                                             : options->alpha;
}

static pess_status fail_spread(const pess__algorithm *algorithm, pess_error *error) {
    char known[400] = "";
    const pess_algorithm_info *info;
    for (size_t i = 0; (info = pess_algorithm_list(i)) != NULL; i++)
        if (pess__algorithm_find(info->name)->spreads) list_name(known, sizeof known, info->name);
    return pess__fail(error, PESS_ARGUMENT,
                      "the algorithm '%s' needs all states in one process; those that do not are: %s",
                      algorithm->info.name, known);
}

static bool reads_pairs_alone(const pess__algorithm *algorithm, const pess__uncertainty *uncertainty) {
    return algorithm->pairs_alone && (uncertainty == NULL || uncertainty->pairs_alone);
}

void pess_problem_keep_for(pess_problem *problem, const pess_solve_options *options) {
    const pess__algorithm *algorithm;
    const pess__uncertainty *uncertainty;
    pess_solve_options settled;
    if (problem != NULL && pess__solve_settle(options, &settled, NULL) == PESS_OK && settled.own_uncertainty == NULL &&
        find_algorithm(settled.algorithm, &algorithm, NULL) == PESS_OK &&
        find_uncertainty(&algorithm->info, settled.uncertainty, &uncertainty, NULL) == PESS_OK &&
        reads_pairs_alone(algorithm, uncertainty))
        pess__problem_keep_pairs(problem);
}

static pess_status check_counts(const pess__algorithm *algorithm, const pess_counts *counts, const pess_model *model,
                                pess_error *error) {
    if (model->spread != NULL && !algorithm->spreads) return fail_spread(algorithm, error);
    if (counts == NULL)
        return algorithm->works_without_counts
                   ? PESS_OK
                   : pess__fail(error, PESS_ARGUMENT,
                                "the algorithm '%s' needs the counts of a log; on an exact model "
                                "only algorithms without data work, such as 'naive'",
                                algorithm->info.name);
    if (counts->states != model->states || counts->actions != model->actions)
        return pess__fail(error, PESS_ARGUMENT, "the counts have %lld states and %lld actions, the model %lld and %lld",
                          (long long)counts->states, (long long)counts->actions, (long long)model->states,
                          (long long)model->actions);
    return PESS_OK;
}

/* E_ρ[v]; terms without mass do not count, whatever their value. */
static double expectation(const pess__problem *problem, const double *v) {
    double sum = 0;
    for (int64_t s = 0; s < problem->model->states; s++)
        if (problem->start[s] > 0) sum += problem->start[s] * v[s];
    return pess__sum_of_all(problem->model->spread, sum);
}

/* The unpenalised value, where the algorithm did not leave it. */
static pess_status add_naive_values(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    if (solution->naive_values != NULL) return PESS_OK;
    pess__problem plain = *problem;
    plain.deadline = INFINITY; /* the answer is there; its naive value belongs to it */
    pess_solution evaluated = {.policy = solution->policy};
    pess_status status = pess__evaluate_plain(&plain, &evaluated, error);
    solution->naive_values = evaluated.naive_values;
    free(evaluated.values);
    return status;
}

static pess_status set_up(const pess_counts *counts, const pess_model *model, const double *start,
                          const pess_solve_options *options, const pess__algorithm **algorithm, pess__problem *problem,
                          pess_error *error) {
    PESS_TRY(find_algorithm(options->algorithm, algorithm, error));
    *problem = (pess__problem){.counts = counts,
                               .model = model,
                               .start = start,
                               .options = options,
                               .trajectories = counts != NULL && counts->has_episodes && !options->iid,
                               .threads = pess__threads(options->threads),
                               .deadline = pess__deadline(options)};
    if (options->own_uncertainty != NULL)
        PESS_TRY(take_own_uncertainty(&(*algorithm)->info, options, problem, error));
    else
        PESS_TRY(find_uncertainty(&(*algorithm)->info, options->uncertainty, &problem->uncertainty, error));
    PESS_TRY(check_counts(*algorithm, counts, model, error));
    if (counts != NULL && !reads_pairs_alone(*algorithm, problem->uncertainty))
        PESS_TRY(pess__counts_need_all(counts, error));
    PESS_TRY(pess__check_range(model, options->gamma, options->horizon, counts != NULL ? counts->state_names : NULL,
                               &problem->v_lo, &problem->v_hi, &problem->endless, error));
    set_alpha(&(*algorithm)->info, problem);
    return pess__check_start(model, start, error);
}

pess_status pess__keep_uncertainty(pess_solution *solution, double *u, pess_status status) {
    double *const gone = status == PESS_OK ? solution->uncertainty : u;
    if (status == PESS_OK) solution->uncertainty = u;
    free(gone);
    return status;
}

double pess__min_count(const pess__problem *problem, double otherwise) {
    return isnan(problem->options->min_count) ? otherwise : problem->options->min_count;
}

pess_status pess__unseen_without_limit(const pess__problem *problem, int64_t pair, pess_error *error) {
    const pess_counts *counts = problem->counts;
    char state[PESS__ID_SIZE], action[PESS__ID_SIZE];
    return pess__fail(error, PESS_ARGUMENT,
                      "action %s of state %s was never seen, and at gamma %g what it could cost has no limit: declare "
                      "the range of returns, or use gamma < 1",
                      pess__show_id(counts->action_names, pair % counts->actions, action),
                      pess__show_id(counts->state_names, pair / counts->actions, state), problem->options->gamma);
}

pess_status pess__need_ends(const pess__problem *problem, const char *whom, pess_error *error) {
    char shown[PESS__ID_SIZE];
    if (problem->endless < 0) return PESS_OK;
    return pess__fail(
        error, PESS_ARGUMENT,
        "gamma is 1, and from state %s a policy can go on for ever: %s needs every policy to end, algorithms that use "
        "policy iteration (such as naive, ua, spibb) do not; use one of them, or gamma < 1",
        pess__show_id(problem->counts != NULL ? problem->counts->state_names : NULL, problem->endless, shown), whom);
}

static void describe(const pess__problem *problem, const pess__algorithm *algorithm, pess_solution_info *info) {
    const pess__uncertainty *uncertainty = problem->uncertainty;
    info->algorithm = algorithm->info.name;
    info->uncertainty = uncertainty != NULL ? uncertainty->info.name : NULL;
    info->gamma = problem->options->gamma;
    info->alpha = problem->alpha;
    info->absorbed = problem->absorbed;
    info->min_count = NAN;
    info->holds_for = uncertainty != NULL ? uncertainty->info.holds_for : "nothing: no bound is used";
}

/* A row that collects the probabilities of several actions may exceed one by rounding. */
static void at_most_one(pess_policy *policy) {
    for (int64_t z = 0; z < policy->steps * policy->states * policy->actions; z++)
        if (policy->probability[z] > 1) policy->probability[z] = 1;
}

/* policy NULL: solve; otherwise evaluate it. */
static pess_status answer(const pess__algorithm *algorithm, const pess__problem *problem, const pess_policy *policy,
                          double begun, pess_solution **out, pess_error *error) {
    pess_solution *solution = NULL;
    PESS_TRY(pess__allocate(&solution, 1, sizeof *solution, "the solution", error));
    describe(problem, algorithm, &solution->info);
    pess_status status = PESS_OK;
    if (policy != NULL) {
        status = pess__policy_allocate_steps(policy->steps, policy->states, policy->actions, &solution->policy, error);
        if (status == PESS_OK) {
            memcpy(solution->policy->probability, policy->probability,
                   (size_t)(policy->steps * policy->states * policy->actions) * sizeof(double));
            status = algorithm->evaluate(problem, solution, error);
        }
    } else
        status = algorithm->solve(problem, solution, error);
    if (status == PESS_OK) at_most_one(solution->policy);
    if (status == PESS_OK) status = add_naive_values(problem, solution, error);
    if (status == PESS_OK && problem->counts != NULL)
        status = pess__log_assumptions(problem->counts, problem->model, problem->start, &solution->assumptions, error);
    if (status != PESS_OK) {
        pess_solution_destroy(solution);
        return status;
    }
    solution->info.value = expectation(problem, solution->values);
    solution->info.naive_value = expectation(problem, solution->naive_values);
    solution->info.seconds = pess__clock() - begun;
    *out = solution;
    return PESS_OK;
}

static pess_status check_method(const pess__algorithm *algorithm, pess_method method, pess_error *error) {
    if (method == PESS_METHOD_AUTO || algorithm->own_way == NULL) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "the algorithm '%s' has no choice of method: %s; leave the method at auto",
                      algorithm->info.name, algorithm->own_way);
}

/* policy NULL: it is to be found. */
static pess_status run(const pess_counts *counts, const pess_model *model, const double *start,
                       const pess_policy *policy, const pess_solve_options *options, pess_solution **out,
                       pess_error *error) {
    const double begun = pess__clock();
    const pess__algorithm *algorithm;
    pess__problem problem;
    pess_solve_options settled;
    PESS_TRY(pess__solve_settle(options, &settled, error));
    PESS_TRY(set_up(counts, model, start, &settled, &algorithm, &problem, error));
    if (policy != NULL)
        PESS_TRY(pess__check_policy(model, policy, settled.horizon, error));
    else
        PESS_TRY(check_method(algorithm, settled.method, error));
    return answer(algorithm, &problem, policy, begun, out, error);
}

pess_status pess_solve(const pess_counts *counts, const pess_model *model, const double *start,
                       const pess_solve_options *options, pess_solution **out, pess_error *error) {
    return run(counts, model, start, NULL, options, out, error);
}

pess_status pess_evaluate(const pess_counts *counts, const pess_model *model, const double *start,
                          const pess_policy *policy, const pess_solve_options *options, pess_solution **out,
                          pess_error *error) {
    if (policy == NULL) return pess__fail(error, PESS_ARGUMENT, "there is no policy to evaluate");
    return run(counts, model, start, policy, options, out, error);
}

void pess_solution_destroy(pess_solution *solution) {
    if (solution == NULL) return;
    pess_policy_destroy(solution->policy);
    free(solution->values);
    free(solution->naive_values);
    free(solution->uncertainty);
    pess__assumptions_release(&solution->assumptions);
    free(solution);
}

void pess_solution_get_info(const pess_solution *solution, pess_solution_info *out) { *out = solution->info; }
const pess_policy *pess_solution_policy(const pess_solution *solution) { return solution->policy; }
const double *pess_solution_values(const pess_solution *solution) { return solution->values; }
const double *pess_solution_naive_values(const pess_solution *solution) { return solution->naive_values; }
const double *pess_solution_uncertainty(const pess_solution *solution) { return solution->uncertainty; }

const pess_assumption *pess_solution_assumption(const pess_solution *solution, size_t index) {
    return pess__assumption(&solution->assumptions, index);
}
