/* Policies as tables: made from numbers, uniform, from counts, softened. */
#include "policy/policy.h"

#include "core/memory.h"
#include "model/counts.h"
#include "model/model.h"
#include "model/named.h"
#include "model/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the kind */

static void describe(const pess_policy *policy, pess_policy_info *out) {
    out->kind = out->rule = "table";
    out->steps = policy->steps;
    out->notes = "";
}

/* A table needs no memory of its own. */
static pess_status open_worker(const pess_policy *policy, int64_t capacity, void **worker, pess_error *error) {
    (void)policy, (void)capacity, (void)error;
    *worker = NULL;
    return PESS_OK;
}

static void close_worker(void *worker) { (void)worker; }

static void apply(const pess_policy *policy, void *worker, const pess__seen *seen, int64_t count, double *probabilities,
                  double *values) {
    (void)worker;
    for (int64_t i = 0; i < count; i++) {
        const int64_t state = seen->states[seen->index != NULL ? seen->index[i] : i];
        memcpy(probabilities + i * policy->actions, policy->probability + state * policy->actions,
               (size_t)policy->actions * sizeof *probabilities);
        if (values != NULL) values[i] = NAN;
    }
}

static void destroy(pess_policy *policy) {
    free(policy->probability);
    free(policy);
}

static const pess__policy_kind table_kind = {describe, open_worker, close_worker, apply, pess__policy_write_table,
                                             destroy};

/* ---- making one */

pess_status pess__policy_allocate(int64_t states, int64_t actions, pess_policy **out, pess_error *error) {
    return pess__policy_allocate_steps(1, states, actions, out, error);
}

pess_status pess__policy_allocate_steps(int64_t steps, int64_t states, int64_t actions, pess_policy **out,
                                        pess_error *error) {
    PESS_TRY(pess__model_check_sizes(states, actions, error));
    if (steps > PESS_MAX_PAIRS / (states * actions))
        return pess__fail(error, PESS_LIMIT, "a policy of %lld steps, %lld states and %lld actions is too large",
                          (long long)steps, (long long)states, (long long)actions);
    pess_policy *policy = NULL;
    PESS_TRY(pess__allocate(&policy, 1, sizeof *policy, "a policy", error));
    policy->kind = &table_kind;
    policy->samples = true;
    policy->states = states;
    policy->actions = actions;
    policy->steps = steps;
    const pess_status status =
        pess__allocate(&policy->probability, steps * states * actions, sizeof *policy->probability, "a policy", error);
    if (status != PESS_OK) {
        free(policy);
        return status;
    }
    *out = policy;
    return PESS_OK;
}

pess_status pess__policy_of_model(const pess_model *model, pess_policy **out, pess_error *error) {
    if (model->spread != NULL) return model->spread->policy(model->spread, model->actions, out, error);
    return pess__policy_allocate(model->states, model->actions, out, error);
}

const double *pess_policy_probabilities(const pess_policy *policy) { return policy->probability; }

const double *pess_policy_row(const pess_policy *policy, int64_t state) {
    return state >= 0 && state < policy->states ? policy->probability + state * policy->actions : NULL;
}

const double *pess_policy_step_row(const pess_policy *policy, int64_t step, int64_t state) {
    if (step < 0 || step >= policy->steps || state < 0 || state >= policy->states) return NULL;
    return policy->probability + (step * policy->states + state) * policy->actions;
}

/* A row of zeros stands for a terminal state; any other sums to one. */
static pess_status check_row(double *row, int64_t actions, int64_t state, pess_error *error) {
    double sum = 0;
    for (int64_t a = 0; a < actions; a++)
        if (!(row[a] >= 0 && row[a] <= 1))
            return pess__fail(error, PESS_INPUT, "policy: state %lld, action %lld: probability %g is not in [0,1]",
                              (long long)state, (long long)a, row[a]);
    if (pess__normalise(row, actions, &sum) || sum == 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "policy: state %lld: the probabilities sum to %.12g, expected 1",
                      (long long)state, sum);
}

pess_status pess_policy_create(int64_t states, int64_t actions, const double *probabilities, pess_policy **out,
                               pess_error *error) {
    return pess_policy_create_steps(1, states, actions, probabilities, out, error);
}

pess_status pess_policy_create_steps(int64_t steps, int64_t states, int64_t actions, const double *probabilities,
                                     pess_policy **out, pess_error *error) {
    if (steps < 1)
        return pess__fail(error, PESS_ARGUMENT, "a policy has %lld steps, expected 1 or more", (long long)steps);
    pess_policy *policy = NULL;
    PESS_TRY(pess__policy_allocate_steps(steps, states, actions, &policy, error));
    for (int64_t i = 0; i < steps * states; i++) {
        double *row = policy->probability + i * actions;
        for (int64_t a = 0; a < actions; a++) row[a] = probabilities[i * actions + a];
        const pess_status status = check_row(row, actions, i % states, error);
        if (status != PESS_OK) {
            pess_policy_destroy(policy);
            return status;
        }
    }
    *out = policy;
    return PESS_OK;
}

/* The uniform policy over the actions that the state has; zero at terminal states. */
static void uniform_row(const pess_model *model, int64_t state, double *row) {
    const uint8_t *kind = model->kind + state * model->actions;
    int64_t available = 0;
    for (int64_t a = 0; a < model->actions; a++) available += kind[a] != PESS_ROW_NONE;
    for (int64_t a = 0; a < model->actions; a++) row[a] = kind[a] != PESS_ROW_NONE ? 1 / (double)available : 0;
}

pess_status pess_policy_uniform(const pess_model *model, pess_policy **out, pess_error *error) {
    pess_policy *policy = NULL;
    PESS_TRY(pess__policy_allocate(model->states, model->actions, &policy, error));
    for (int64_t s = 0; s < model->states; s++) uniform_row(model, s, policy->probability + s * model->actions);
    *out = policy;
    return PESS_OK;
}

pess_status pess_policy_empirical(const pess_counts *counts, const pess_model *model, pess_policy **out,
                                  pess_error *error) {
    if (counts->states != model->states || counts->actions != model->actions)
        return pess__fail(
            error, PESS_INPUT, "the log has %lld states and %lld actions, but the model has %lld and %lld",
            (long long)counts->states, (long long)counts->actions, (long long)model->states, (long long)model->actions);
    pess_policy *policy = NULL;
    PESS_TRY(pess__policy_allocate(model->states, model->actions, &policy, error));
    for (int64_t s = 0; s < model->states; s++) {
        double *row = policy->probability + s * model->actions;
        uniform_row(model, s, row);
        if (counts->n_state[s] == 0 || model->terminal[s]) continue;
        for (int64_t a = 0; a < model->actions; a++)
            row[a] = (double)counts->n[s * model->actions + a] / (double)counts->n_state[s];
    }
    *out = policy;
    return PESS_OK;
}

pess_status pess__policy_check_rows(const double *probability, int64_t states, int64_t actions, const uint8_t *terminal,
                                    pess__has_pair has, const void *process, pess_error *error) {
    for (int64_t s = 0; s < states; s++) {
        double sum = 0;
        for (int64_t pair = s * actions; pair < (s + 1) * actions; pair++) {
            const double p = probability[pair];
            if (p > 0 && !has(process, pair))
                return pess__fail(error, PESS_INPUT,
                                  "policy: state %lld has no action %lld, but it is given probability %g", (long long)s,
                                  (long long)(pair % actions), p);
            sum += p;
        }
        if (!terminal[s] && !(fabs(sum - 1) <= 1e-9))
            return pess__fail(error, PESS_INPUT, "policy: state %lld: the probabilities sum to %.12g, expected 1",
                              (long long)s, sum);
    }
    return PESS_OK;
}

static bool model_has(const void *model, int64_t pair) {
    return ((const pess_model *)model)->kind[pair] != PESS_ROW_NONE;
}

pess_status pess__policy_check_model(const double *probability, const pess_model *model, pess_error *error) {
    return pess__policy_check_rows(probability, model->states, model->actions, model->terminal, model_has, model,
                                   error);
}

pess_status pess_policy_soften(const pess_policy *policy, const pess_model *model, double epsilon, pess_policy **out,
                               pess_error *error) {
    if (!(epsilon >= 0 && epsilon <= 1)) return pess__fail(error, PESS_ARGUMENT, "epsilon %g is not in [0,1]", epsilon);
    PESS_TRY(pess__policy_check_table(policy, model->states, model->actions, "the model", error));
    PESS_TRY(pess__policy_check_model(policy->probability, model, error));
    pess_policy *soft = NULL;
    PESS_TRY(pess__policy_allocate(model->states, model->actions, &soft, error));
    for (int64_t s = 0; s < model->states; s++) {
        const double *from = policy->probability + s * model->actions;
        double *row = soft->probability + s * model->actions;
        uniform_row(model, s, row);
        for (int64_t a = 0; a < model->actions; a++) row[a] = (1 - epsilon) * from[a] + epsilon * row[a];
    }
    *out = soft;
    return PESS_OK;
}
