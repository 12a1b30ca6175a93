/* A policy ready to act: the action of each state and what the log knows of it, looked up once. */
#ifndef PESS_POLICY_DECIDER_H
#define PESS_POLICY_DECIDER_H

#include "cells/map.h"

struct pess_decider {
    pess_act_options options;
    const pess_policy *policy;
    const pess_map *map; /* NULL: rows have states */
    const pess_names *state_names, *action_names;
    pess_policy *own_policy; /* of pess_decider_read, like the names */
    pess_names *own_state_names, *own_action_names;
    int64_t states, actions;
    bool has_counts;
    int32_t *best;        /* [states] the most probable action; -1: none */
    int64_t *state_count; /* [states] where there are counts */
    int64_t *pair_count;  /* [states*actions] */
};

/* What to do in a state, where the row lies `outside`. */
pess_decision pess__decide(const pess_decider *decider, int64_t state, double outside, int64_t number);

/* The advice in words, as answers have it. */
static inline const char *pess__advice_words(pess_advice advice) {
    return advice == PESS_ADVICE_POLICY ? "follow the policy" : "keep present practice";
}

static inline const char *pess__advice_reason(pess_advice advice) {
    return advice == PESS_ADVICE_POLICY ? "" : pess_advice_name(advice);
}

/* A policy table that stands alone: its states and actions are integers, or names in order of appearance. states: how
 * many there are to be, 0: as many as are named. */
pess_status pess__policy_read_alone(const char *path, int64_t states, pess_policy **policy, pess_names **state_names,
                                    pess_names **action_names, pess_error *error);

#endif
