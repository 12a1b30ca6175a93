#include "solve/check.h"

#include "solve/evaluator.h"

#include <math.h>

static pess_status out_of_range(const char *what, double found, const char *expected, pess_error *error) {
    return pess__fail(error, PESS_ARGUMENT, "%s is %g; it must be %s", what, found, expected);
}

pess_status pess__check_options(const pess_model *model, const pess_solve_options *options, double *v_lo, double *v_hi,
                                pess_error *error) {
    const pess_solve_options *o = options;
    if (!(o->gamma >= 0 && o->gamma <= 1)) return out_of_range("gamma", o->gamma, "in [0,1]", error);
    if (!(o->delta > 0 && o->delta < 1)) return out_of_range("delta", o->delta, "in (0,1)", error);
    if (!(o->alpha >= 0 && isfinite(o->alpha)))
        return out_of_range("alpha", o->alpha, "finite and not negative", error);
    if (!(o->tolerance > 0 && isfinite(o->tolerance)))
        return out_of_range("tolerance", o->tolerance, "positive and finite", error);
    if (o->max_iterations < 1) return out_of_range("max_iterations", (double)o->max_iterations, "at least 1", error);
    if (!(o->time_limit >= 0)) return out_of_range("time_limit", o->time_limit, "0 (none) or positive", error);
    if (!(o->min_count >= 0)) return out_of_range("min_count", o->min_count, "not negative", error);
    if (!(o->budget >= 0)) return out_of_range("budget", o->budget, "not negative", error);
    if (o->max_successors < 0)
        return out_of_range("max_successors", (double)o->max_successors, "0 (all states) or positive", error);
    if (!(o->local_policies >= 0)) return out_of_range("local_policies", o->local_policies, "not negative", error);
    if (o->threads < 0) return out_of_range("threads", o->threads, "0 (all there are) or positive", error);
    if ((unsigned)o->method > PESS_METHOD_MODIFIED_POLICY_ITERATION)
        return out_of_range("method", o->method, "a pess_method", error);
    if ((unsigned)o->evaluation > PESS_EVALUATION_KRYLOV)
        return out_of_range("evaluation", o->evaluation, "a pess_evaluation", error);
    pess__value_range(model, o->gamma, v_lo, v_hi);
    if (o->gamma == 1.0) PESS_TRY(pess__check_undiscounted(model, *v_lo, error));
    return PESS_OK;
}

pess_status pess__check_start(const pess_model *model, const double *start, pess_error *error) {
    double sum = 0;
    for (int64_t s = 0; s < model->states; s++) {
        if (!(start[s] >= 0)) /* also NaN */
            return pess__fail(error, PESS_INPUT, "start: state %lld has probability %g; it must not be negative",
                              (long long)s, start[s]);
        sum += start[s];
    }
    if (!(fabs(sum - 1.0) <= 1e-9 * (1.0 + sqrt((double)model->states))))
        return pess__fail(error, PESS_INPUT, "start: the probabilities sum to %.12g; they must sum to 1", sum);
    return PESS_OK;
}

pess_status pess__check_policy(const pess_model *model, const pess_policy *policy, pess_error *error) {
    if (policy->states != model->states || policy->actions != model->actions)
        return pess__fail(error, PESS_ARGUMENT, "the policy has %lld states and %lld actions, the model %lld and %lld",
                          (long long)policy->states, (long long)policy->actions, (long long)model->states,
                          (long long)model->actions);
    for (int64_t s = 0; s < model->states; s++) {
        double sum = 0;
        for (int64_t a = 0; a < model->actions; a++) {
            const int64_t z = s * model->actions + a;
            const double p = policy->probability[z];
            if (!(p >= 0))
                return pess__fail(error, PESS_INPUT, "policy: state %lld, action %lld has probability %g", (long long)s,
                                  (long long)a, p);
            if (p > 0 && model->kind[z] == PESS__ROW_NONE)
                return pess__fail(error, PESS_INPUT,
                                  "policy: state %lld takes action %lld, which the model does not have there",
                                  (long long)s, (long long)a);
            sum += p;
        }
        if (!model->terminal[s] && !(fabs(sum - 1.0) <= 1e-9))
            return pess__fail(error, PESS_INPUT, "policy: the probabilities of state %lld sum to %.12g, not to 1",
                              (long long)s, sum);
    }
    return PESS_OK;
}

pess__monitor pess__monitor_start(const pess_solve_options *options, const char *what) {
    const double now = pess__clock();
    return (pess__monitor){.progress = &options->progress,
                           .what = what,
                           .unit = "iterations",
                           .deadline = options->time_limit > 0 ? now + options->time_limit : INFINITY,
                           .next_report = now + 0.1};
}
