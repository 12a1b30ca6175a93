/* The settings of the solvers, and what they ask of their input before they start. */
#include "solve/check.h"

#include "core/settings.h"
#include "core/threads.h"
#include "model/named.h"
#include "model/spread.h"
#include "solve/proper.h"

#include <math.h>

#define FIELD(name) PESS__FIELD(pess_solve_options, name)

static const pess_setting settings[] = {
    {"algorithm", 'a', PESS_SETTING_TEXT, FIELD(algorithm), "ua", .argument = "ALGORITHM", .sentence = "algorithm"},
    {"uncertainty", 'u', PESS_SETTING_TEXT, FIELD(uncertainty), NULL, .argument = "UNCERTAINTY",
     .sentence = "uncertainty function", .where_unset = "that of the algorithm", .specific = true},
    {"gamma", 0, PESS_SETTING_NUMBER, FIELD(gamma), "0.99", PESS__FROM_TO(0, 1), .argument = "G",
     .sentence = "discount; 1 only if episodes end"},
    {"horizon", 0, PESS_SETTING_COUNT, FIELD(horizon), NULL, PESS__AT_LEAST(1), .argument = "H",
     .sentence = "decisions of an episode; the policy then has a table for each step", .where_unset = "no limit"},
    {"delta", 0, PESS_SETTING_NUMBER, FIELD(delta), "0.05", PESS__BETWEEN(0, 1), .argument = "D",
     .sentence = "error probability", .specific = true},
    {"alpha", 0, PESS_SETTING_NUMBER, FIELD(alpha), NULL, PESS__AT_LEAST(0), .argument = "X",
     .sentence = "strength of the pessimism in the theory's units",
     .where_unset = "1 if the uncertainty is a set or not the algorithm's own; otherwise the absorbed strength counts",
     .specific = true},
    {"absorbed-alpha", 0, PESS_SETTING_NUMBER, FIELD(absorbed_alpha), NULL, PESS__AT_LEAST(0), .argument = "X",
     .sentence = "strength of the pessimism with all constants absorbed: penalty X/sqrt(n) for ua, X*TV for proximal",
     .where_unset = "the span of the rewards, where it counts", .specific = true},
    {"clip", 0, PESS_SETTING_SWITCH, FIELD(clip), "off", .argument = "on|off",
     .sentence = "clip the penalised reward to the reward range, as the paper's experiments do", .specific = true},
    {"iid", 0, PESS_SETTING_SWITCH, FIELD(iid), "off",
     .sentence = "declare that the transitions are independent draws, even though the log has episodes",
     .specific = true},
    {"max-successors", 0, PESS_SETTING_COUNT, FIELD(max_successors), NULL, PESS__AT_LEAST(1), .argument = "K",
     .sentence = "declare how many next states a state-action pair can have at most", .where_unset = "all states",
     .specific = true},
    {"local-policies", 0, PESS_SETTING_NUMBER, FIELD(local_policies), NULL, PESS__ABOVE(0), .argument = "N",
     .sentence = "number of local policies for which the state-wise bound is to hold",
     .where_unset = "the deterministic ones", .specific = true},
    {"min-count", 0, PESS_SETTING_NUMBER, FIELD(min_count), NULL, PESS__AT_LEAST(0), .argument = "N",
     .sentence = "state-action pairs with fewer samples than this count as uncertain",
     .where_unset = "for spibb the square root of the mean count of a pair, which grows with the log; for rmin 10",
     .specific = true},
    {"budget", 0, PESS_SETTING_NUMBER, FIELD(budget), "1", PESS__AT_LEAST(0), .argument = "E",
     .sentence = "how far the policy may move from the logging policy in a state", .specific = true},
    {"method", 0, PESS_SETTING_CHOICE, FIELD(method), "auto",
     .choices = "auto|policy-iteration|value-iteration|modified-policy-iteration|inexact-policy-iteration|"
                "gauss-seidel",
     .sentence = "how the best policy is found", .specific = true},
    {"evaluation", 0, PESS_SETTING_CHOICE, FIELD(evaluation), "auto", .choices = "auto|lu|krylov",
     .sentence = "how linear systems are solved"},
    {"tolerance", 0, PESS_SETTING_NUMBER, FIELD(tolerance), "1e-10", PESS__ABOVE(0), .argument = "E",
     .sentence = "stop when the Bellman residual is no larger than this"},
    {"max-iterations", 0, PESS_SETTING_COUNT, FIELD(max_iterations), "1000000", PESS__AT_LEAST(1), .argument = "N",
     .sentence = "largest number of iterations of the outer loop", .specific = true},
    {"time-limit", 0, PESS_SETTING_NUMBER, FIELD(time_limit), NULL, PESS__AT_LEAST(0), .argument = "SECONDS",
     .unit = "seconds", .sentence = "stop after this long; 0: never", .where_unset = "never"},
    PESS__THREADS_SETTING(pess_solve_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("solve", pess_solve_options, settings);
PESS__SETTINGS_OF(solve, table)

pess_status pess__solve_settle(const pess_solve_options *options, pess_solve_options *settled, pess_error *error) {
    PESS_TRY(pess__settle(&table, options, settled, error));
    if (isnan(settled->alpha) || isnan(settled->absorbed_alpha)) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "alpha and absorbed-alpha are two scales of one setting: give one");
}

double pess__deadline(const pess_solve_options *options) {
    return options->time_limit > 0 ? pess__clock() + options->time_limit : INFINITY;
}

/* The value of a sink is V_lo. */
static pess_status check_sinks(const pess_model *model, const pess_names *names, pess_error *error) {
    char shown[PESS__ID_SIZE];
    for (int64_t z = 0; z < model->states * model->actions; z++)
        if (model->kind[z] == PESS_ROW_SINK)
            return pess__fail(error, PESS_ARGUMENT,
                              "gamma is 1 and action %lld of state %s is taken to be the worst for ever, which has no "
                              "finite value here; declare the range of returns, use gamma < 1 or another choice for "
                              "unseen pairs",
                              (long long)(z % model->actions), pess__show_id(names, z / model->actions, shown));
    return PESS_OK;
}

pess_status pess__check_range(const pess_model *model, double gamma, int64_t horizon, const pess_names *names,
                              double *v_lo, double *v_hi, int64_t *endless, pess_error *error) {
    char shown[PESS__ID_SIZE];
    PESS_TRY(pess__value_range_checked(model, gamma, v_lo, v_hi, error));
    *endless = -1;
    if (horizon > 0) pess__horizon_range(model, gamma, horizon, v_lo, v_hi);
    if (model->spread != NULL && (gamma >= 1 || horizon > 0))
        return pess__fail(
            error, PESS_ARGUMENT,
            "%s: several processes together solve discounted problems only; one process solves the others",
            horizon > 0 ? "a finite horizon" : "gamma is 1");
    if (gamma < 1 || horizon > 0) return PESS_OK;
    if (!isfinite(*v_lo)) PESS_TRY(check_sinks(model, names, error));
    PESS_TRY(pess__endless_state(model, endless, error));
    if (*endless < 0) return PESS_OK;
    int64_t never;
    PESS_TRY(pess__never_ends(model, (pess__taken){NULL, NULL}, NULL, &never, error));
    if (never < 0) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT,
                      "gamma is 1, but from state %s no policy reaches an end: returns have no limit there; use "
                      "gamma < 1, or mark where episodes end",
                      pess__show_id(names, never, shown));
}

pess_status pess__check_proper(const pess_model *model, const double *pi, const pess_names *names, pess_error *error) {
    char shown[PESS__ID_SIZE];
    int64_t never;
    PESS_TRY(pess__never_ends(model, (pess__taken){pi, NULL}, NULL, &never, error));
    if (never < 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "gamma is 1, but from state %s the policy never reaches an end: it has no value there; use "
                      "gamma < 1",
                      pess__show_id(names, never, shown));
}

double pess__reward_span(const pess_model *model, double v_lo, double v_hi) {
    const double lo = model->has_terminals ? fmin(model->reward_lo, 0) : model->reward_lo;
    const double hi = model->has_terminals ? fmax(model->reward_hi, 0) : model->reward_hi;
    return fmin(hi - lo, v_hi - v_lo);
}

pess_status pess__check_start(const pess_model *model, const double *start, pess_error *error) {
    double sum = 0;
    for (int64_t s = 0; s < model->states; s++) {
        if (!(start[s] >= 0)) /* also NaN */
            return pess__fail(error, PESS_INPUT, "start: state %lld has probability %g; it must not be negative",
                              (long long)s, start[s]);
        sum += start[s];
    }
    sum = pess__sum_of_all(model->spread, sum);
    if (!(fabs(sum - 1.0) <= 1e-9 * (1.0 + sqrt((double)pess__all_states(model)))))
        return pess__fail(error, PESS_INPUT, "start: the probabilities sum to %.12g; they must sum to 1", sum);
    return PESS_OK;
}

pess_status pess__check_policy(const pess_model *model, const pess_policy *policy, int64_t horizon, pess_error *error) {
    if (policy->steps > 1 && policy->steps == horizon && policy->states == model->states &&
        policy->actions == model->actions) {
        for (int64_t t = 0; t < horizon; t++)
            PESS_TRY(pess__policy_check_model(policy->probability + t * model->states * model->actions, model, error));
        return PESS_OK;
    }
    PESS_TRY(pess__policy_check_table(policy, model->states, model->actions, "the model", error));
    return pess__policy_check_model(policy->probability, model, error);
}
