/* What every policy can do, whatever its kind. */
#include "policy/policy.h"

#include "core/text.h"
#include "data/observations.h"

#include <assert.h>
#include <math.h>

void pess_policy_destroy(pess_policy *policy) {
    if (policy != NULL) policy->kind->destroy(policy);
}

int64_t pess_policy_states(const pess_policy *policy) { return policy->states; }
int64_t pess_policy_actions(const pess_policy *policy) { return policy->actions; }

void pess_policy_get_info(const pess_policy *policy, pess_policy_info *out) {
    *out = (pess_policy_info){.actions = policy->actions, .states = policy->states, .samples = policy->samples};
    policy->kind->describe(policy, out);
}

bool pess_policy_note(const pess_policy *policy, const char *key, char *value, size_t size) {
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    return pess__note(info.notes, key, value, size);
}

pess_status pess_policy_write(const pess_policy *policy, const char *path, const pess_names *state_names,
                              const pess_names *action_names, pess_error *error) {
    return policy->kind->write(policy, path, state_names, action_names, error);
}

/* ---- probabilities */

pess_status pess_policy_state_probabilities(const pess_policy *policy, const int64_t *states, int64_t count,
                                            double *out, pess_error *error) {
    if (policy->states == 0)
        return pess__fail(error, PESS_ARGUMENT, "the policy is made of networks: it sees observations, not states");
    PESS_TRY(pess__policy_check_one_for_all(policy, error));
    for (int64_t i = 0; i < count; i++)
        if (states[i] < 0 || states[i] >= policy->states)
            return pess__fail(error, PESS_ARGUMENT, "state: found %lld, expected 0 to %lld", (long long)states[i],
                              (long long)policy->states - 1);
    policy->kind->apply(policy, NULL, &(pess__seen){.states = states}, count, out, NULL);
    return PESS_OK;
}

pess_status pess__policy_check_observations(const pess_policy *policy, const uint8_t *bits, int64_t stride,
                                            int64_t count, pess_error *error) {
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    if (stride < info.bytes)
        return pess__fail(error, PESS_ARGUMENT, "observations %lld bytes apart; this policy reads %lld bytes each",
                          (long long)stride, (long long)info.bytes);
    for (int64_t i = 0; info.shape.kind == PESS_OBSERVATION_FLOATS && i < count; i++) {
        int64_t at;
        float found;
        if (!pess__floats_hold(bits + i * stride, info.shape.length, &at, &found))
            return pess__fail(error, PESS_INPUT, "observation %lld, feature %lld: found %g, expected a finite number",
                              (long long)i, (long long)at, (double)found);
    }
    return PESS_OK;
}

pess_status pess_policy_observation_probabilities(const pess_policy *policy, const uint8_t *bits, int64_t stride,
                                                  int64_t count, double *out, pess_error *error) {
    enum { PART = 48 };
    double values[PART];
    if (policy->states > 0)
        return pess__fail(error, PESS_ARGUMENT, "the policy is a table: it sees states, not observations");
    PESS_TRY(pess__policy_check_observations(policy, bits, stride, count, error));
    void *worker = NULL;
    PESS_TRY(policy->kind->open(policy, PART, &worker, error));
    for (int64_t first = 0; first < count; first += PART) {
        const pess__seen seen = {.bits = bits + first * stride, .stride = stride};
        policy->kind->apply(policy, worker, &seen, count - first < PART ? count - first : PART,
                            out + first * policy->actions, values);
    }
    policy->kind->close(worker);
    return PESS_OK;
}

/* ---- acting */

bool pess__policy_row_holds(const double *probabilities, int64_t actions) {
    double sum = 0;
    for (int64_t a = 0; a < actions; a++) {
        if (!(probabilities[a] >= 0)) return false;
        sum += probabilities[a];
    }
    return fabs(sum - 1) < 1e-4; /* networks compute in single precision */
}

/* Rounding may leave a little mass beyond the last action: then it is the last possible one. */
int32_t pess__policy_draw(const double *probabilities, int64_t actions, double uniform) {
    double left = uniform;
    int32_t last = 0;
    assert(pess__policy_row_holds(probabilities, actions));
    for (int32_t a = 0; a < actions; a++) {
        if (!(probabilities[a] > 0)) continue;
        last = a;
        if (left < probabilities[a]) return a;
        left -= probabilities[a];
    }
    return last;
}

int32_t pess__policy_most_probable(const double *probabilities, int64_t actions) {
    int32_t best = 0;
    for (int32_t a = 1; a < actions; a++)
        if (probabilities[a] > probabilities[best]) best = a;
    return best;
}

int64_t pess_policy_act(const pess_policy *policy, const double *probabilities, pess_random *random) {
    if (!policy->samples || random == NULL) return pess__policy_most_probable(probabilities, policy->actions);
    return pess__policy_draw(probabilities, policy->actions, pess_random_uniform(random));
}

/* ---- where a table is needed */

pess_status pess__policy_check_one_for_all(const pess_policy *policy, pess_error *error) {
    if (policy->steps <= 1) return PESS_OK;
    return pess__fail(
        error, PESS_INPUT,
        "the policy has a table for each of %lld steps; expected one for all steps, or the horizon that it "
        "is for",
        (long long)policy->steps);
}

pess_status pess__policy_check_table(const pess_policy *policy, int64_t states, int64_t actions, const char *whose,
                                     pess_error *error) {
    if (policy->states == 0)
        return pess__fail(
            error, PESS_INPUT,
            "the policy is made of networks, which see observations; expected a table over the states of %s", whose);
    PESS_TRY(pess__policy_check_one_for_all(policy, error));
    if (policy->states == states && policy->actions == actions) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "the policy has %lld states and %lld actions, but %s has %lld and %lld",
                      (long long)policy->states, (long long)policy->actions, whose, (long long)states,
                      (long long)actions);
}

pess_status pess__policy_check_whole(const pess_policy *policy, const char *name, pess_error *error) {
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    if (!info.partial) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s: acts by the rule of '%s', which needs more than this network; the .pesspolicy file of the "
                      "same training has all of it",
                      name, info.rule);
}
