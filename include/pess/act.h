/* Pessimist: a policy applied to new rows. What to do, how often the log was there and did that, how far the row lies
 * outside anything seen, and where to keep present practice instead.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_ACT_H
#define PESS_ACT_H

#include "pess/cells.h"
#include "pess/tabular.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pess_act_choice {
    PESS_ACT_MOST_PROBABLE, /* the first of equals */
    PESS_ACT_DRAW           /* by its probability; a function of the seed and the number of the row */
} pess_act_choice;

typedef struct pess_act_options {
    size_t size;
    pess_act_choice choice;
    double outside_limit; /* rows farther out than this keep present practice */
    int64_t least_count;  /* so do actions that the log took less often in this state */
    bool probabilities;   /* pess_act_rows: of every action */
    bool json;            /* pess_act_rows: JSON lines */
    uint64_t seed;
    int threads;
    pess_progress progress;
    const pess_read_options *read; /* pess_act_rows: how the rows are read; NULL: what is found by looking */
} pess_act_options;

/* The settings in pess_act_options, a row each. */
PESS_API const pess_setting_table *pess_act_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_act_options pess_act_options_defaults(void);

/* What to do. Anything but PESS_ADVICE_POLICY means: keep present practice. */
typedef enum pess_advice {
    PESS_ADVICE_POLICY,
    PESS_ADVICE_OUTSIDE,    /* the row lies outside anything seen */
    PESS_ADVICE_NO_POLICY,  /* the policy has no action for this state */
    PESS_ADVICE_FEW_COUNTS, /* the log took the action too rarely here */
    PESS_ADVICE_MISSING     /* a measurement is missing that has no rule for that */
} pess_advice;

PESS_API const char *pess_advice_name(pess_advice advice); /* "outside" */

typedef struct pess_decision {
    pess_advice advice;
    int64_t state;                     /* -1 where it cannot be told */
    int64_t action;                    /* of the policy, whatever the advice; -1: none */
    double probability;                /* of the action */
    int64_t state_count, action_count; /* n(s) and n(s,a) of the log; -1 where there is none */
    double outside;                    /* pess_place; NAN without a map */
} pess_decision;

/* All that is needed to act: memory is taken once, here. */
typedef struct pess_decider pess_decider;

/* A policy table over the cells of the map, or over states where map is NULL; names as in the log it was made from,
 * NULL for integers. counts NULL: nothing is known of the log. Borrows all of them until it is destroyed. */
PESS_API pess_status pess_decider_create(const pess_policy *policy, const pess_names *state_names,
                                         const pess_names *action_names, const pess_map *map, const pess_counts *counts,
                                         const pess_act_options *options, pess_decider **out, pess_error *error);
/* The same with a policy from a CSV table of its own (state,action,probability); states that it does not name have no
 * action. */
PESS_API pess_status pess_decider_read(const char *policy, const pess_map *map, const pess_counts *counts,
                                       const pess_act_options *options, pess_decider **out, pess_error *error);
/* Frees it. */
PESS_API void pess_decider_destroy(pess_decider *decider);
/* How many states the policy has a row for. */
PESS_API int64_t pess_decider_states(const pess_decider *decider);
/* How many actions it has. */
PESS_API int64_t pess_decider_actions(const pess_decider *decider);
PESS_API const char *pess_decider_action_name(const pess_decider *decider, int64_t action); /* NULL: integers */

/* What to do at a row of measurements [features], in the order of pess_map_features. `number` is that of the row, for
 * PESS_ACT_DRAW. Takes no memory; any number of threads may call it at once. */
PESS_API pess_status pess_act(const pess_decider *decider, const double *row, int64_t number, pess_decision *out,
                              pess_error *error);
/* The same in a state. */
PESS_API pess_status pess_act_state(const pess_decider *decider, int64_t state, int64_t number, pess_decision *out,
                                    pess_error *error);
/* Many at once, numbered from 0: rows [count*features], or states [count]. The first that is refused refuses all. */
PESS_API pess_status pess_act_many(const pess_decider *decider, const double *rows, int64_t count, pess_decision *out,
                                   pess_error *error);
/* The same for states [count]. */
PESS_API pess_status pess_act_states(const pess_decider *decider, const int64_t *states, int64_t count,
                                     pess_decision *out, pess_error *error);
/* All rows of a CSV file ("-": standard input, answered as they come), with the columns of the map or a column `state`;
 * answers to `output` ("-": standard output), one line per row behind a header, or as JSON lines. *rows is how many. */
PESS_API pess_status pess_act_rows(const pess_decider *decider, const char *input, const char *output, int64_t *rows,
                                   pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
