/* Policy iteration, value iteration and modified policy iteration (Puterman 1994, chapter 6; inexact policy iteration:
 * Gargiani et al. 2024), and which of the ways to iterate fits a model (docs/solving.md). */
#include "model/named.h"
#include "solve/check.h"
#include "solve/optimise.h"
#include "solve/proper.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    ROUND = 4, /* evaluation sweeps of modified policy iteration between two shifts … */
    ROUNDS = 8 /* … and how often at most before the policy is improved again */
};
/* Modified policy iteration gives up where a round of evaluation sweeps leaves more than this share of the residual. */
static const double SLOW = 0.5;

double pess__solve_rounding(double scale) { return 64 * DBL_EPSILON * scale; }

static double larger(double x, double y) { return x > y ? x : y; }

bool pess__go_on(pess__solver *solver, int64_t iterations, pess_outcome *outcome) {
    solver->monitor.done = (double)iterations;
    if (!pess__monitor_check(&solver->monitor)) {
        *outcome = PESS_OUTCOME_TIME_LIMIT;
        return false;
    }
    if (iterations >= solver->problem->options->max_iterations) {
        *outcome = PESS_OUTCOME_ITERATION_LIMIT;
        return false;
    }
    return true;
}

void pess__swap_values(pess__solver *solver) {
    double *swap = solver->v;
    solver->v = solver->tv;
    solver->tv = swap;
}

/* `count` more sweeps v ← Tv after the one whose result is in tv; the policy follows. They end where it hardly changes
 * any more. Returns the last one. */
static pess__sweep look_ahead(pess__solver *solver, int count, double threshold, pess__sweep last) {
    const int64_t few = solver->states / PESS__SETTLED;
    for (int k = 0; k < count && (k == 0 || last.changed > few) && pess__monitor_check(&solver->monitor); k++) {
        pess__swap_values(solver);
        last = pess__improve(solver, PESS__SWITCH_GAINS, threshold);
    }
    return last;
}

/* Whether the policy that no state left has its value: an evaluation that the clock cut short proves nothing. */
static bool evaluated(const pess__solver *solver, const pess__sweep *sweep) {
    return sweep->changed == 0 && !pess__monitor_stopped(&solver->monitor);
}

/* How far to evaluate after a sweep: a policy that the sweep left as it was may be the last one. */
static double evaluate_to(const pess__sweep *sweep, bool exact, double tightest) {
    return exact || sweep->changed == 0 ? tightest : larger(PESS__FORCING * sweep->residual, tightest);
}

/* At γ = 1 the greedy policy in v = 0 may take so long to an end (against a drift, exponentially) that its values are
 * too large to tell actions apart. One that hurries has values from which every other step only gains. */
static pess_status begin_with_end(pess__solver *solver, pess_error *error) {
    solver->filled = PESS__FILLED_NOT;
    solver->chain->moved += solver->states;
    return pess__soonest_end(solver->model, solver->local->bonus, solver->choice, error);
}

/* π_{k+1} greedy in v^{π_k}, until no state gains: a row is replaced only where it gains more than a quarter of the
 * tolerance, so that values rise strictly, no policy returns and ties cannot make it cycle. With `exact` each
 * evaluation goes to the end; otherwise to PESS__FORCING of the last residual, and some sweeps that cost as much as one
 * step of the linear solver carry each improvement further. */
pess_status pess__policy_iteration(pess__solver *solver, bool exact, pess_solution_info *info, pess_error *error) {
    const double tolerance = solver->problem->options->tolerance, tightest = 0.25 * tolerance;
    pess__sweep sweep = pess__improve(solver, PESS__SWITCH_ALWAYS, 0);
    if (solver->gamma == 1 && solver->choice != NULL)
        PESS_TRY(begin_with_end(solver, error));
    else if (!exact)
        sweep = look_ahead(solver, pess__sweeps_for(solver->actions, PESS__FIRST_SWEEPS), tightest, sweep);
    if (!exact && solver->choice != NULL && solver->actions >= PESS__MANY_ACTIONS && solver->gamma < 1) {
        pess__swap_values(solver);
        PESS_TRY(pess__begin_with_best(solver, evaluate_to(&sweep, exact, tightest), error));
        pess__swap_values(solver); /* as a sweep leaves them */
    }
    while (pess__go_on(solver, info->iterations, &info->outcome)) {
        const double target = evaluate_to(&sweep, exact, tightest);
        if (!exact) pess__swap_values(solver);
        PESS_TRY(pess__solver_evaluate(solver, target, error));
        info->iterations++;
        const double threshold = larger(tightest, pess__solve_rounding(sweep.scale));
        sweep = pess__improve(solver, PESS__SWITCH_GAINS, threshold);
        solver->evaluated = evaluated(solver, &sweep) && target == tightest;
        if (sweep.residual <= larger(tolerance, pess__solve_rounding(sweep.scale)) || solver->evaluated) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            break;
        }
        if (!exact && sweep.changed > 0)
            sweep = look_ahead(solver, pess__sweeps_for(solver->actions, PESS__MORE_SWEEPS), threshold, sweep);
    }
    return PESS_OK;
}

/* A policy that ends, where not all do: one that hurries to an end, or, where the algorithm has a say in which policies
 * there are, the logging policy, which every one of them allows. */
static pess_status start_proper(pess__solver *solver, pess_error *error) {
    if (solver->choice != NULL) return begin_with_end(solver, error);
    solver->filled = PESS__FILLED_NOT;
    pess_policy *empirical = NULL;
    PESS_TRY(pess_policy_empirical(solver->problem->counts, solver->model, &empirical, error));
    memcpy(solver->pi, empirical->probability, (size_t)(solver->states * solver->actions) * sizeof *solver->pi);
    pess_policy_destroy(empirical);
    return pess__check_proper(solver->model, solver->pi, solver->problem->counts->state_names, error);
}

static pess_status still_proper(const pess__solver *solver, pess_error *error) {
    const pess_counts *counts = solver->problem->counts;
    char shown[PESS__ID_SIZE];
    int64_t never;
    PESS_TRY(pess__never_ends(solver->model, (pess__taken){solver->pi, solver->choice}, NULL, &never, error));
    if (never < 0) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT,
                      "gamma is 1, and from state %s a policy can collect reward for ever: the best return has no "
                      "limit; use gamma < 1",
                      pess__show_id(counts != NULL ? counts->state_names : NULL, never, shown));
}

/* γ = 1 where some policies never end: from a policy that does, by strict gains alone. If the next one π' did not, it
 * would have a recurrent class without an end; with μ its stationary law, μ(T_π' v − v) = μ r_π', and the left side is
 * positive, for a class without a changed state would have been there before. So its mean reward is positive, and
 * returns have no limit: that is refused. Otherwise all policies are proper, and the last one is the best of these, for
 * v ≥ T_π v implies v ≥ v^π where π ends. Values are found to a thousandth of what counts as a gain, so that their
 * errors gain nothing. Breaking ties afterwards could make the policy endless, so they stay as they are. */
static pess_status proper_policy_iteration(pess__solver *solver, pess_solution_info *info, pess_error *error) {
    const double gain = solver->problem->options->tolerance;
    double scale = 0;
    PESS_TRY(start_proper(solver, error));
    while (pess__go_on(solver, info->iterations, &info->outcome)) {
        PESS_TRY(pess__solver_evaluate(solver, 1e-3 * gain, error));
        info->iterations++;
        const pess__sweep sweep = pess__improve(solver, PESS__SWITCH_GAINS, larger(gain, pess__solve_rounding(scale)));
        scale = sweep.scale;
        solver->evaluated = evaluated(solver, &sweep);
        if (solver->evaluated) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            return PESS_OK;
        }
        PESS_TRY(still_proper(solver, error));
    }
    return PESS_OK;
}

/* v ← Tv */
void pess__value_iteration(pess__solver *solver, pess_solution_info *info) {
    while (pess__go_on(solver, info->iterations, &info->outcome)) {
        const pess__sweep sweep = pess__improve(solver, PESS__SWITCH_NEVER, 0);
        pess__swap_values(solver);
        info->iterations++;
        if (sweep.residual <= larger(solver->problem->options->tolerance, pess__solve_rounding(sweep.scale))) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            return;
        }
    }
}

/* v ← T_π^m v in rounds that end with v + α·1, Σ(T_π v − v) = α·Σ(I − G)1: chains that mix well forget everything but a
 * constant at once. Returns sup|T_π v − v| before the last sweep; *slow: rounds gained little. */
static double evaluate_by_sweeps(pess__solver *solver, double target, bool shifts, bool *slow) {
    pess__evaluator *chain = solver->chain;
    const double lost = pess__evaluator_lost(chain);
    double change = INFINITY, before = INFINITY;
    const int64_t patience = solver->actions / 8; /* rounds that cost half a sweep over all actions */
    int64_t weak = 0;
    for (int64_t round = 0; round < ROUNDS + patience && change > target && !*slow; round++) {
        for (int k = 0; k < ROUND; k++) {
            if (k == ROUND - 1 && shifts) pess__evaluator_shift(chain, lost, solver->tv, solver->v);
            change = pess__evaluator_apply(chain, solver->v, solver->tv);
            pess__swap_values(solver);
        }
        *slow = change > SLOW * before && ++weak > patience;
        before = change;
    }
    return change;
}

/* v ← T_π^m T v with π greedy in v. Ends at the tolerance, or where the policy stays and v is its value: a tie given to
 * the smaller action leaves a gain of up to PESS__TIE that no sweep removes. Shifts end where a residual grows, so that
 * it converges as it does without them. */
pess_status pess__modified_policy_iteration(pess__solver *solver, bool may_give_up, bool *done,
                                            pess_solution_info *info, pess_error *error) {
    const double tolerance = solver->problem->options->tolerance;
    double change = INFINITY, before = INFINITY; /* change: of the last evaluation sweep, sup|T_π v − v| */
    bool shifts = solver->gamma < 1;
    *done = true;
    while (pess__go_on(solver, info->iterations, &info->outcome)) {
        const pess__switching switching = info->iterations == 0 ? PESS__SWITCH_ALWAYS : PESS__SWITCH_GAINS;
        const pess__sweep sweep = pess__improve(solver, switching, 0.25 * tolerance);
        const double enough = larger(tolerance, pess__solve_rounding(sweep.scale));
        pess__swap_values(solver);
        info->iterations++;
        if (sweep.residual <= enough || (sweep.changed == 0 && change <= 0.25 * enough)) {
            info->outcome = PESS_OUTCOME_CONVERGED;
            return PESS_OK;
        }
        bool slow = false;
        if (sweep.residual > before) shifts = false;
        before = sweep.residual;
        PESS_TRY(pess__fill_chain(solver, true, error));
        change = evaluate_by_sweeps(solver, larger(PESS__FORCING * sweep.residual, 0.2 * enough), shifts, &slow);
        if (slow && may_give_up) {
            *done = false;
            return PESS_OK;
        }
    }
    return PESS_OK;
}

static pess_status by_gauss_seidel(pess__solver *solver, pess_solution_info *info, pess_error *error) {
    bool done = true;
    PESS_TRY(pess__structure_order(solver->model, &solver->structure, error));
    info->method = "gauss-seidel";
    pess__gauss_seidel(solver, false, &done, info);
    return PESS_OK;
}

static const char *ordered_reason(const pess__structure *structure) {
    if (structure->components != NULL) return "many components: each is finished before those that lead to it";
    return "steps are deterministic: values are passed on in order of the distance from ends and rewards";
}

/* What fits, found by looking: the graph, then how fast the values of the first policies settle. Where the first guess
 * does not get there soon, what it found is where inexact policy iteration starts. */
static pess_status by_structure(pess__solver *solver, pess_solution_info *info, pess_error *error) {
    bool done = false;
    PESS_TRY(pess__structure_measure(solver->model, solver->gamma, &solver->structure, error));
    if (solver->structure.order != NULL) {
        info->method = "gauss-seidel";
        info->reason = ordered_reason(&solver->structure);
        pess__gauss_seidel(solver, true, &done, info);
        if (done || pess__monitor_stopped(&solver->monitor)) return PESS_OK;
    }
    info->method = "modified policy iteration";
    info->reason = "chains mix fast: a few sweeps settle the value of a policy";
    if (solver->structure.order == NULL) PESS_TRY(pess__modified_policy_iteration(solver, true, &done, info, error));
    if (done) return PESS_OK;
    info->method = "inexact policy iteration";
    info->reason = "chains mix slowly: the value of a policy takes a linear solver";
    return pess__policy_iteration(solver, false, info, error);
}

pess_status pess__iterate(pess__solver *solver, pess_solution_info *info, pess_error *error) {
    const pess_method method = solver->problem->options->method;
    bool done = true;
    if (solver->problem->endless >= 0) {
        if (method == PESS_METHOD_VALUE_ITERATION || method == PESS_METHOD_MODIFIED_POLICY_ITERATION ||
            method == PESS_METHOD_GAUSS_SEIDEL)
            return pess__need_ends(solver->problem, "this method", error);
        info->method = "policy iteration";
        return proper_policy_iteration(solver, info, error);
    }
    switch (method) {
        case PESS_METHOD_VALUE_ITERATION:
            info->method = "value iteration";
            pess__value_iteration(solver, info);
            return PESS_OK;
        case PESS_METHOD_MODIFIED_POLICY_ITERATION:
            info->method = "modified policy iteration";
            return pess__modified_policy_iteration(solver, false, &done, info, error);
        case PESS_METHOD_INEXACT_POLICY_ITERATION:
            info->method = "inexact policy iteration";
            return pess__policy_iteration(solver, false, info, error);
        case PESS_METHOD_GAUSS_SEIDEL: return by_gauss_seidel(solver, info, error);
        case PESS_METHOD_POLICY_ITERATION: break;
        case PESS_METHOD_AUTO:
            if (solver->chain->evaluation != PESS_EVALUATION_LU) return by_structure(solver, info, error);
    }
    info->method = "policy iteration";
    return pess__policy_iteration(solver, true, info, error);
}
