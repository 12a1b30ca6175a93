/* pess_act: a policy applied to rows. */
#include "policy/decider.h"

#include "core/memory.h"
#include "core/rng.h"
#include "core/settings.h"
#include "data/names.h"
#include "policy/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) PESS__FIELD(pess_act_options, field)

static const pess_setting settings[] = {
    {"choice", 0, PESS_SETTING_CHOICE, FIELD(choice), "most-probable", .choices = "most-probable|draw",
     .sentence = "which action to give: the most probable one, or one drawn from the policy's probabilities"},
    {"outside-limit", 0, PESS_SETTING_NUMBER, FIELD(outside_limit), "1", PESS__ABOVE(0), .argument = "X",
     .sentence = "keep present practice where a row lies more than X times as far from the centre of its cell as any "
                 "row that made it"},
    {"least-count", 0, PESS_SETTING_COUNT, FIELD(least_count), "1", PESS__AT_LEAST(0), .argument = "N",
     .sentence = "keep present practice where the log took the action fewer than N times in this state"},
    {"probabilities", 0, PESS_SETTING_SWITCH, FIELD(probabilities), "off",
     .sentence = "give the probability of every action too"},
    {"json", 0, PESS_SETTING_SWITCH, FIELD(json), "off", .sentence = "print a line of JSON per row"},
    PESS__SEED_SETTING(pess_act_options, "of the actions that are drawn"),
    PESS__THREADS_SETTING(pess_act_options),
};
static const pess_setting_table table = PESS__SETTING_TABLE("act", pess_act_options, settings);
PESS__SETTINGS_OF(act, table)

const char *pess_advice_name(pess_advice advice) {
    static const char *const names[] = {"policy", "outside", "no-policy", "few-counts", "missing"};
    return names[advice];
}

void pess_decider_destroy(pess_decider *decider) {
    if (decider == NULL) return;
    pess_policy_destroy(decider->own_policy);
    pess_names_destroy(decider->own_state_names);
    pess_names_destroy(decider->own_action_names);
    free(decider->best);
    free(decider->state_count);
    free(decider->pair_count);
    free(decider);
}

int64_t pess_decider_states(const pess_decider *decider) { return decider->states; }
int64_t pess_decider_actions(const pess_decider *decider) { return decider->actions; }

const char *pess_decider_action_name(const pess_decider *decider, int64_t action) {
    return pess_names_get(decider->action_names, action);
}

/* ---- setting up */

/* The id of the same thing in the log's numbering; -1: the log has none. */
static int64_t same_in_log(const pess_names *mine, const pess_names *log, int64_t id, int64_t count) {
    char number[24];
    const char *name = pess_names_get(mine, id);
    if (name == NULL && !pess_names_given(log)) return id < count ? id : -1;
    if (name == NULL) {
        (void)snprintf(number, sizeof number, "%lld", (long long)id);
        name = number;
    }
    if (pess_names_given(log)) return pess_names_find(log, name);
    char *end = NULL;
    const long long found = strtoll(name, &end, 10);
    return *name != '\0' && *end == '\0' && found >= 0 && found < count ? found : -1;
}

static pess_status take_counts(pess_decider *decider, const pess_counts *counts, pess_error *error) {
    if (counts == NULL) return PESS_OK;
    pess_counts_info info;
    pess_counts_get_info(counts, &info);
    const int64_t states = decider->states, actions = decider->actions;
    decider->has_counts = true;
    PESS_TRY(pess__allocate(&decider->state_count, states, sizeof *decider->state_count, "counts", error));
    PESS_TRY(pess__allocate(&decider->pair_count, states * actions, sizeof *decider->pair_count, "counts", error));
    for (int64_t s = 0; s < states; s++) {
        const int64_t log_state = same_in_log(decider->state_names, pess_counts_state_names(counts), s, info.states);
        if (log_state < 0) continue;
        decider->state_count[s] = pess_counts_state(counts, log_state);
        for (int64_t a = 0; a < actions; a++) {
            const int64_t log_action =
                same_in_log(decider->action_names, pess_counts_action_names(counts), a, info.actions);
            if (log_action >= 0) decider->pair_count[s * actions + a] = pess_counts_pair(counts, log_state, log_action);
        }
    }
    return PESS_OK;
}

static pess_status take_actions(pess_decider *decider, pess_error *error) {
    PESS_TRY(pess__allocate(&decider->best, decider->states, sizeof *decider->best, "actions", error));
    for (int64_t s = 0; s < decider->states; s++) {
        const double *row = pess_policy_row(decider->policy, s);
        int32_t best = 0;
        for (int32_t a = 1; a < decider->actions; a++)
            if (row[a] > row[best]) best = a;
        decider->best[s] = row[best] > 0 ? best : -1;
    }
    return PESS_OK;
}

static pess_status set_up(pess_decider *decider, const pess_counts *counts, pess_error *error) {
    PESS_TRY(pess__policy_check_one_for_all(decider->policy, error));
    decider->states = pess_policy_states(decider->policy);
    decider->actions = pess_policy_actions(decider->policy);
    if (decider->map != NULL && decider->states != decider->map->cells)
        return pess__fail(error, PESS_ARGUMENT, "the policy has %lld states, expected %lld: the cells of the map",
                          (long long)decider->states, (long long)decider->map->cells);
    PESS_TRY(take_actions(decider, error));
    return take_counts(decider, counts, error);
}

static pess_status begin(const pess_act_options *options, const pess_map *map, pess_decider **out, pess_error *error) {
    pess_act_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    PESS_TRY(pess__allocate(out, 1, sizeof **out, "a decider", error));
    (*out)->options = settled;
    (*out)->map = map;
    return PESS_OK;
}

static pess_status finish(pess_decider *decider, const pess_counts *counts, pess_decider **out, pess_error *error) {
    const pess_status status = set_up(decider, counts, error);
    if (status == PESS_OK)
        *out = decider;
    else
        pess_decider_destroy(decider);
    return status;
}

pess_status pess_decider_create(const pess_policy *policy, const pess_names *state_names,
                                const pess_names *action_names, const pess_map *map, const pess_counts *counts,
                                const pess_act_options *options, pess_decider **out, pess_error *error) {
    pess_decider *decider = NULL;
    PESS_TRY(begin(options, map, &decider, error));
    decider->policy = policy;
    decider->state_names = state_names;
    decider->action_names = action_names;
    return finish(decider, counts, out, error);
}

pess_status pess_decider_read(const char *policy, const pess_map *map, const pess_counts *counts,
                              const pess_act_options *options, pess_decider **out, pess_error *error) {
    pess_decider *decider = NULL;
    PESS_TRY(begin(options, map, &decider, error));
    const pess_status status = pess__policy_read_alone(policy, map != NULL ? map->cells : 0, &decider->own_policy,
                                                       &decider->own_state_names, &decider->own_action_names, error);
    if (status != PESS_OK) {
        pess_decider_destroy(decider);
        return status;
    }
    decider->policy = decider->own_policy;
    decider->state_names = decider->own_state_names;
    decider->action_names = decider->own_action_names;
    return finish(decider, counts, out, error);
}

/* ---- acting */

/* An action by its probability: the first at which the sum of the probabilities is above u. */
static int64_t draw_action(const pess_decider *decider, const double *row, int64_t number) {
    pess__rng rng = pess__rng_stream(decider->options.seed, "act", (uint64_t)number);
    const double u = pess__rng_uniform(&rng);
    double sum = 0;
    int64_t last = -1;
    for (int64_t a = 0; a < decider->actions; a++) {
        if (!(row[a] > 0)) continue;
        last = a;
        sum += row[a];
        if (u < sum) break;
    }
    return last;
}

pess_decision pess__decide(const pess_decider *decider, int64_t state, double outside, int64_t number) {
    pess_decision d = {.advice = PESS_ADVICE_POLICY,
                       .state = state,
                       .action = -1,
                       .probability = NAN,
                       .state_count = -1,
                       .action_count = -1,
                       .outside = outside};
    const double *row = state >= 0 ? pess_policy_row(decider->policy, state) : NULL;
    if (row != NULL) d.action = decider->best[state];
    if (d.action >= 0 && decider->options.choice == PESS_ACT_DRAW) d.action = draw_action(decider, row, number);
    if (d.action >= 0) d.probability = row[d.action];
    if (decider->has_counts && state >= 0) {
        d.state_count = decider->state_count[state];
        if (d.action >= 0) d.action_count = decider->pair_count[state * decider->actions + d.action];
    }
    if (outside > decider->options.outside_limit)
        d.advice = PESS_ADVICE_OUTSIDE;
    else if (d.action < 0)
        d.advice = PESS_ADVICE_NO_POLICY;
    else if (decider->has_counts && d.action_count < decider->options.least_count)
        d.advice = PESS_ADVICE_FEW_COUNTS;
    return d;
}

pess_status pess_act(const pess_decider *decider, const double *row, int64_t number, pess_decision *out,
                     pess_error *error) {
    if (decider->map == NULL)
        return pess__fail(error, PESS_ARGUMENT, "found a row of measurements and no map, expected a state");
    for (int64_t f = 0; f < decider->map->names.count; f++)
        if (isnan(row[f]) && decider->map->columns[f].missing == PESS_MISSING_REFUSE) {
            *out = pess__decide(decider, -1, NAN, number);
            out->advice = PESS_ADVICE_MISSING;
            return PESS_OK;
        }
    pess_place place;
    PESS_TRY(pess_map_place(decider->map, row, &place, error));
    *out = pess__decide(decider, place.cell, place.outside, number);
    return PESS_OK;
}

pess_status pess_act_state(const pess_decider *decider, int64_t state, int64_t number, pess_decision *out,
                           pess_error *error) {
    if (state < 0 || state >= decider->states)
        return pess__fail(error, PESS_ARGUMENT, "found the state %lld, expected one from 0 to %lld", (long long)state,
                          (long long)decider->states - 1);
    *out = pess__decide(decider, state, NAN, number);
    return PESS_OK;
}

pess_status pess_act_many(const pess_decider *decider, const double *rows, int64_t count, pess_decision *out,
                          pess_error *error) {
    const int64_t features = decider->map != NULL ? decider->map->names.count : 0;
    for (int64_t i = 0; i < count; i++) PESS_TRY(pess_act(decider, rows + i * features, i, &out[i], error));
    return PESS_OK;
}

pess_status pess_act_states(const pess_decider *decider, const int64_t *states, int64_t count, pess_decision *out,
                            pess_error *error) {
    for (int64_t i = 0; i < count; i++) PESS_TRY(pess_act_state(decider, states[i], i, &out[i], error));
    return PESS_OK;
}
