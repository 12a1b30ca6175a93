/* Pessimist: counts, models, known processes and policies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_TABULAR_H
#define PESS_TABULAR_H

#include "pess/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- counts, models and start distributions (paper, appendix A) */

/* n(s,a), n(s,a,s'), sums of rewards: all that the tabular algorithms need of a log. Its size depends on the number of
 * different (s,a,s'), not on the number of rows; pess_counts_read never holds the log in memory. */
typedef struct pess_counts pess_counts;

typedef struct pess_counts_info {
    int64_t states, actions;
    bool states_declared, actions_declared;
    int64_t transitions, terminals, cutoffs, episodes; /* episodes 0: none marked */
    int64_t pairs_seen, successors;                    /* successors: different (s,a,s') */
    double reward_min, reward_max;                     /* as found in the log; 0 of an empty one, NAN: not known */
    bool has_episodes;                                 /* the log has an episode column */
    bool has_starts;                                   /* episode starts are known, so ρ can be estimated */
    bool has_squares;                                  /* sums of squared rewards are known, and so variances */
} pess_counts_info;

/* Counts a log as it flows by, without keeping its rows; also counted logs and files of counts. */
PESS_API pess_status pess_counts_read(const char *path, const pess_read_options *options, pess_counts **out,
                                      pess_error *error);
/* Counts a log in memory; threads 0: all there are. */
PESS_API pess_status pess_counts_create(const pess_dataset *data, int threads, pess_counts **out, pess_error *error);
/* The same from a piece of memory that holds a file; `name` begins the messages. */
PESS_API pess_status pess_counts_read_memory(const char *name, const void *bytes, size_t length,
                                             const pess_read_options *options, pess_counts **out, pess_error *error);
/* Straight from columns, which are borrowed for the call. */
PESS_API pess_status pess_counts_from_columns(const pess_columns *columns, const pess_read_options *options,
                                              pess_counts **out, pess_error *error);
/* Counts logs, counted logs and files of counts together and writes a file of counts (.pesscounts), which
 * pess_counts_read reads. Its bytes depend on the transitions alone: shards that were counted apart and merged, in any
 * order, give what counting all rows at once gives. An episode that is in several shards needs steps. Without an
 * episode column, a shard ends where an episode does, and one in which nothing ends tells no start. Names are numbered
 * in ascending order. */
PESS_API pess_status pess_counts_merge(const char *const *paths, size_t count, const pess_read_options *options,
                                       const char *target, pess_error *error);
/* The rows of a log into *data or, where it was counted, its counts into *counts; the other one is set to NULL. The
 * source is read once: it may be standard input or a query. */
PESS_API pess_status pess_log_read(const char *path, const pess_read_options *options, pess_dataset **data,
                                   pess_counts **counts, pess_error *error);
/* Is the file a log that was counted (docs/formats.md): counts can be read of it, and rows cannot? False for what
 * cannot be read at all, and for standard input, which can be read once. */
PESS_API bool pess_counts_file(const char *path, const pess_read_options *options);
/* Frees it. */
PESS_API void pess_counts_destroy(pess_counts *counts);
PESS_API const pess_reading *pess_counts_reading(const pess_counts *counts); /* as pess_dataset_reading */
PESS_API void pess_counts_get_info(const pess_counts *counts, pess_counts_info *out);
/* Names of the states; NULL: integers. They live as long as the counts. */
PESS_API const pess_names *pess_counts_state_names(const pess_counts *counts);
/* The same of actions. */
PESS_API const pess_names *pess_counts_action_names(const pess_counts *counts);
PESS_API int64_t pess_counts_pair(const pess_counts *counts, int64_t state, int64_t action);       /* n(s,a) */
PESS_API int64_t pess_counts_state(const pess_counts *counts, int64_t state);                      /* n(s) */
PESS_API double pess_counts_mean_reward(const pess_counts *counts, int64_t state, int64_t action); /* 0 at n = 0 */

/* All of it at once; borrowed, valid as long as the counts. Pairs are s*A + a, and the successors of pair z are entries
 * row[z] … row[z+1]-1 of the last three arrays (CSR), next states ascending. */
typedef struct pess_counts_arrays {
    int64_t states, actions, successors;
    const int64_t *pair;         /* [S*A] n(s,a), terminal transitions included */
    const int64_t *state;        /* [S]   n(s) */
    const int64_t *terminal;     /* [S*A] how many of n(s,a) were terminal; they are among no successors */
    const double *reward_sum;    /* [S*A] Σ r */
    double reward_origin;        /* the least reward; the next sums are relative to it, so that nothing large cancels */
    const double *reward_offset; /* [S*A] Σ (r − origin) */
    const double *reward_square; /* [S*A] Σ (r − origin)² */
    const int64_t *row;          /* [S*A+1] */
    const uint32_t *next;        /* [successors] s' */
    const int64_t *next_count;   /* [successors] n(s,a,s') */
    const double *next_offset;   /* [successors] Σ (r − origin) of those samples */
    const int64_t *starts;       /* [S] how many episodes begin here; NULL where that is not known */
} pess_counts_arrays;

/* The arrays. */
PESS_API void pess_counts_get_arrays(const pess_counts *counts, pess_counts_arrays *out);

/* What stands in for a pair that the log never shows. One draw per dataset and seed. */
typedef enum pess_unseen {
    PESS_UNSEEN_PAPER,    /* reward uniform at random in the reward range, next state uniform over all */
    PESS_UNSEEN_WORST,    /* the lowest reward for ever: q = V_lo */
    PESS_UNSEEN_SELF_LOOP /* the lowest reward, and the state stays: q = r_lo + γ v(s) */
} pess_unseen;

typedef struct pess_model_options {
    size_t size;
    pess_unseen unseen;
    double reward_range[2]; /* declared; NAN: as the log shows */
    uint64_t seed;          /* of the rewards of PESS_UNSEEN_PAPER */
    double return_range[2]; /* declared: the discounted return from any state on; NAN: by rewards and discount */
} pess_model_options;

/* A decision process as the solvers see it: expected rewards and sparse rows of next-state probabilities, either
 * estimated from counts (r_D, P_D) or exact (of an MDP). Nothing in it is dense in S*A*S. */
typedef struct pess_model pess_model;

/* The settings in pess_model_options, a row each. */
PESS_API const pess_setting_table *pess_model_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_model_options pess_model_options_defaults(void);
/* r_D and P_D: means of the log, and what is assumed of pairs that it never shows. */
PESS_API pess_status pess_model_estimate(const pess_counts *counts, const pess_model_options *options, pess_model **out,
                                         pess_error *error);
/* Frees it. */
PESS_API void pess_model_destroy(pess_model *model);
/* How many states it has. */
PESS_API int64_t pess_model_states(const pess_model *model);
/* How many actions it has. */
PESS_API int64_t pess_model_actions(const pess_model *model);
/* The expected reward of a pair. */
PESS_API double pess_model_reward(const pess_model *model, int64_t state, int64_t action);
/* P(s'|s,a). */
PESS_API double pess_model_probability(const pess_model *model, int64_t state, int64_t action, int64_t next_state);
/* Probability that the pair ends the episode. */
PESS_API double pess_model_terminal(const pess_model *model, int64_t state, int64_t action);
PESS_API bool pess_model_is_terminal_state(const pess_model *model, int64_t state); /* no actions, value 0 */
PESS_API void pess_model_reward_range(const pess_model *model, double *lo, double *hi);

/* How the successors of a pair are given. */
typedef enum pess_row_kind {
    PESS_ROW_NONE,    /* the state has no such action */
    PESS_ROW_SPARSE,  /* the listed successors; what is missing to one ends the episode */
    PESS_ROW_UNIFORM, /* every state alike; none are listed */
    PESS_ROW_SINK     /* the worst for ever: the value that follows is V_lo; none are listed */
} pess_row_kind;

/* All of it at once; borrowed, valid as long as the model. Laid out as pess_counts_arrays. */
typedef struct pess_model_arrays {
    int64_t states, actions, successors;
    const double *reward;      /* [S*A] expected reward */
    const uint8_t *kind;       /* [S*A] pess_row_kind */
    const double *end;         /* [S*A] probability that the pair ends the episode */
    const int64_t *row;        /* [S*A+1] */
    const uint32_t *next;      /* [successors] */
    const double *probability; /* [successors] */
    const uint8_t *terminal;   /* [S] 1: no actions, value 0 */
} pess_model_arrays;

/* The arrays. */
PESS_API void pess_model_get_arrays(const pess_model *model, pess_model_arrays *out);

/* Start distributions are plain arrays [S] that sum to one. Terminal states get no mass from `uniform`. */
PESS_API pess_status pess_start_uniform(const pess_model *model, double *start, pess_error *error);
/* As the episodes of the log started; PESS_INPUT where that is not known. */
PESS_API pess_status pess_start_from_counts(const pess_counts *counts, double *start, pess_error *error);
/* From a CSV file with the columns state,probability. */
PESS_API pess_status pess_start_read(const char *path, int64_t states, const pess_names *state_names, double *start,
                                     pess_error *error);
/* Into such a file. */
PESS_API pess_status pess_start_write(const char *path, int64_t states, const pess_names *state_names,
                                      const double *start, pess_error *error);

/* A log ready to solve: its counts, the model estimated from them and a start distribution. `start` is "uniform", "log"
 * (as the episodes of the log did), or the name of a file; NULL: as the log where it has an episode column, else
 * uniform. */
typedef struct pess_problem pess_problem;

/* Reads, counts and models a log, and finds its start distribution. */
PESS_API pess_status pess_problem_read(const char *path, const pess_read_options *read, const pess_model_options *model,
                                       const char *start, pess_problem **out, pess_error *error);
/* The same; a range of returns that the model options declare is held against every episode, at this discount
 * (pess_dataset_check_returns). A counted log has no episodes: there it is an assumption, returns-unchecked. */
PESS_API pess_status pess_problem_read_checked(const char *path, const pess_read_options *read,
                                               const pess_model_options *model, const char *start, double gamma,
                                               pess_problem **out, pess_error *error);
/* The counts are borrowed for the life of the problem. */
PESS_API pess_status pess_problem_create(const pess_counts *counts, const pess_model_options *model, const char *start,
                                         pess_problem **out, pess_error *error);
/* Frees it. */
PESS_API void pess_problem_destroy(pess_problem *problem);
/* Its counts; borrowed, like what follows. */
PESS_API const pess_counts *pess_problem_counts(const pess_problem *problem);
/* Its model. */
PESS_API const pess_model *pess_problem_model(const pess_problem *problem);
PESS_API const double *pess_problem_start(const pess_problem *problem); /* [S] */
/* Is that start an estimate from the log's episodes? */
PESS_API bool pess_problem_start_from_log(const pess_problem *problem);
/* What every result from it rests on, by position; NULL past the last. */
PESS_API const pess_assumption *pess_problem_assumption(const pess_problem *problem, size_t index);

/* ---- MDPs */

/* A decision process that is known: per pair a list of outcomes (next state, probability, reward). Several outcomes may
 * share a next state and differ in reward, which is how random rewards are written down. A state without actions is
 * terminal. */
typedef struct pess_mdp pess_mdp;

typedef struct pess_mdp_transition {
    int64_t state, action, next_state;
    double probability, reward;
} pess_mdp_transition;

/* A process from its outcomes [count]; the probabilities of a pair sum to one. */
PESS_API pess_status pess_mdp_create(int64_t states, int64_t actions, const pess_mdp_transition *outcomes,
                                     int64_t count, pess_mdp **out, pess_error *error);
/* Frees it. */
PESS_API void pess_mdp_destroy(pess_mdp *mdp);
/* How many states it has. */
PESS_API int64_t pess_mdp_states(const pess_mdp *mdp);
/* How many actions it has. */
PESS_API int64_t pess_mdp_actions(const pess_mdp *mdp);
/* How many outcomes it has, all pairs together. */
PESS_API int64_t pess_mdp_transitions(const pess_mdp *mdp);
/* CSV with the columns idstatefrom,idaction,idstateto,probability,reward: read by name in any order, written in this
 * one. Or a .pessmdp, told by its first bytes. */
PESS_API pess_status pess_mdp_read(const char *path, pess_mdp **out, pess_error *error);
/* The same file, whole or not at all, binary where its name ends in .pessmdp; threads 0: all there are. */
PESS_API pess_status pess_mdp_write(const pess_mdp *mdp, const char *path, int threads, pess_error *error);
/* Its exact model, for the solvers. */
PESS_API pess_status pess_mdp_model(const pess_mdp *mdp, int threads, pess_model **out, pess_error *error);

/* How the rewards of a known process are paid. */
typedef enum pess_reward_kind {
    PESS_REWARD_BERNOULLI, /* 0 or 1 */
    PESS_REWARD_MEAN       /* the mean itself */
} pess_reward_kind;

/* The built-in processes: by name, with any settings. */
typedef struct pess_mdp_info {
    const char *name, *summary;
    const char *description;            /* more sentences, or NULL */
    const pess_setting_table *settings; /* of its options */
} pess_mdp_info;

PESS_API const pess_mdp_info *pess_mdp_list(size_t index); /* NULL past the last */
PESS_API const pess_mdp_info *pess_mdp_find(const char *name);
/* options: a struct of the table's size that pess_setting_defaults and pess_setting_set filled; NULL: the defaults. */
PESS_API pess_status pess_mdp_make(const char *name, const void *options, pess_mdp **out, pess_error *error);

/* Torus of rows × cols cells; actions up, right, down, left. With probability `slip` the direction is drawn uniformly
 * from all four (the intended one included). Mean rewards per (s,a) are drawn from Beta(a,b). Defaults are those of the
 * paper's code. */
typedef struct pess_gridworld_options {
    size_t size;
    int64_t rows, cols;
    double slip;
    double reward_beta[2]; /* a, b */
    pess_reward_kind rewards;
    uint64_t seed;
    int threads; /* 0: all there are */
} pess_gridworld_options;

/* The settings in pess_gridworld_options, a row each. */
PESS_API const pess_setting_table *pess_gridworld_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_gridworld_options pess_gridworld_options_defaults(void);
/* The process of these options. */
PESS_API pess_status pess_mdp_gridworld(const pess_gridworld_options *options, pess_mdp **out, pess_error *error);

/* One state, `arms` actions with Bernoulli rewards: the first of mean `best`, the others of mean `rest`; every pull
 * leads back to the state. Defaults: the paper's example. */
typedef struct pess_bandit_options {
    size_t size;
    int64_t arms;
    double best, rest;
} pess_bandit_options;

/* The settings in pess_bandit_options, a row each. */
PESS_API const pess_setting_table *pess_bandit_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_bandit_options pess_bandit_options_defaults(void);
/* The process of these options. */
PESS_API pess_status pess_mdp_bandit(const pess_bandit_options *options, pess_mdp **out, pess_error *error);

/* Garnet: each pair has `branching` different next states with probabilities from a uniformly random point of the
 * simplex, mean reward uniform in [0,1]; the last `terminals` states are terminal. */
typedef struct pess_garnet_options {
    size_t size;
    int64_t states, actions, branching, terminals;
    pess_reward_kind rewards;
    uint64_t seed;
    int threads; /* 0: all there are */
} pess_garnet_options;

/* The settings in pess_garnet_options, a row each. */
PESS_API const pess_setting_table *pess_garnet_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_garnet_options pess_garnet_options_defaults(void);
/* The process of these options. */
PESS_API pess_status pess_mdp_garnet(const pess_garnet_options *options, pess_mdp **out, pess_error *error);

/* ---- policies */

/* A policy: probabilities of actions given what is seen. Either a table over states, where rows of terminal states are
 * zero and all others sum to one; or networks, which see packed observations, with the rule that makes probabilities
 * of their outputs (pess/networks.h). One type, one file reader, one way of acting. */
typedef struct pess_policy pess_policy;

typedef struct pess_policy_info {
    const char *kind; /* "table" or "networks" */
    const char *rule; /* "table"; of networks "argmax" or "softmax" of the one, or the learner whose rule it is */
    int64_t actions, states;      /* states: of a table; 0 otherwise */
    int64_t steps;                /* of a table for a finite horizon: one for each step; 1: one for all; 0: no table */
    bool samples;                 /* draws its actions; otherwise one action has probability 1 everywhere */
    bool partial;                 /* a network whose rule needs further ones: may act by its largest output alone */
    pess_observation_shape shape; /* of networks: what they see, and in how many bytes */
    int64_t bytes;
    int64_t network_count, parameters;
    uint32_t checksum;              /* CRC-32 of its file; 0 where it has none */
    const char *kernels;            /* the instructions that networks compute with; NULL for a table */
    const char *notes;              /* lines "key=value": how it was made */
    int64_t action_width;           /* numbers of the vector that an action stands for; 0: it is a number alone */
    const float *action_values;     /* [actions*action_width]; NULL where there are none */
    const pess_names *action_names; /* NULL where they have none */
} pess_policy_info;

PESS_API void pess_policy_get_info(const pess_policy *policy, pess_policy_info *out); /* texts live as long as it */
/* The value of a note, cut to size - 1 characters; false where there is no such key. */
PESS_API bool pess_policy_note(const pess_policy *policy, const char *key, char *value, size_t size);
/* Probabilities [count*actions], for a table and for networks. */
PESS_API pess_status pess_policy_state_probabilities(const pess_policy *policy, const int64_t *states, int64_t count,
                                                     double *out, pess_error *error);
/* The same at observations, which stand `stride` bytes apart. */
PESS_API pess_status pess_policy_observation_probabilities(const pess_policy *policy, const uint8_t *bits,
                                                           int64_t stride, int64_t count, double *out,
                                                           pess_error *error);
/* The action of probabilities [actions]: a draw where the policy samples; the most probable one (the smallest of
 * equals) where it does not, or random is NULL. */
PESS_API int64_t pess_policy_act(const pess_policy *policy, const double *probabilities, pess_random *random);

PESS_API pess_status pess_policy_create(int64_t states, int64_t actions, const double *probabilities, /* [S*A] */
                                        pess_policy **out, pess_error *error);
/* The same for a finite horizon: a table for each step. */
PESS_API pess_status pess_policy_create_steps(int64_t steps, int64_t states, int64_t actions,
                                              const double *probabilities, /* [steps*S*A] */
                                              pess_policy **out, pess_error *error);
/* Every action that the model has in a state alike. */
PESS_API pess_status pess_policy_uniform(const pess_model *model, pess_policy **out, pess_error *error);
/* π̂(a|s) = n(s,a)/n(s); uniform where the state was never seen. */
PESS_API pess_status pess_policy_empirical(const pess_counts *counts, const pess_model *model, pess_policy **out,
                                           pess_error *error);
/* (1-ε)π + ε·uniform over the actions that the model has in each state. */
PESS_API pess_status pess_policy_soften(const pess_policy *policy, const pess_model *model, double epsilon,
                                        pess_policy **out, pess_error *error);
/* Frees it. */
PESS_API void pess_policy_destroy(pess_policy *policy);
/* How many states its table has; 0 for networks. */
PESS_API int64_t pess_policy_states(const pess_policy *policy);
/* How many actions it has. */
PESS_API int64_t pess_policy_actions(const pess_policy *policy);
PESS_API const double *pess_policy_row(const pess_policy *policy, int64_t state); /* [A] of a table; NULL */
PESS_API const double *pess_policy_step_row(const pess_policy *policy, int64_t step, int64_t state); /* the same */
PESS_API const double *pess_policy_probabilities(const pess_policy *policy); /* [S*A], or [steps*S*A]; NULL */
/* Files, told apart by their bytes. Tables: CSV with the columns state,action,probability; only non-zero rows; those
 * for a finite horizon begin with the column step, from 0, and are read by pess_policy_read_for_log alone. Reading
 * checks a table against the model it is meant for: the same states, no action that a state does not have, rows that
 * sum to one; where `model` is NULL, states and actions have to be numbers. Networks: .pesspolicy, and .pessnet where
 * one is all that the rule needs, or the directory of a finished training; for them model and names are not read and
 * may be NULL. */
PESS_API pess_status pess_policy_read(const char *path, const pess_model *model, const pess_names *state_names,
                                      const pess_names *action_names, pess_policy **out, pess_error *error);
/* What a policy does in the states of a log that its file says nothing of. */
typedef enum pess_unknown {
    PESS_UNKNOWN_REFUSE,    /* such a file is PESS_INPUT */
    PESS_UNKNOWN_BEHAVIOUR, /* as the log did there; uniform where the state was never acted in */
    PESS_UNKNOWN_UNIFORM    /* every action that the state has alike */
} pess_unknown;

/* How a file and a log fit. */
typedef struct pess_policy_fit {
    int64_t filled;  /* states of the log that the file lacks */
    int64_t skipped; /* rows of the file for states that the log lacks */
} pess_policy_fit;

/* A table for a log that may have gained or lost states since the file was written. Where `unknown` is not refuse, rows
 * for states that the log lacks are passed over. `fit` may be NULL. horizon: that of the problem, 0: none; a file with
 * the column step has as many. */
PESS_API pess_status pess_policy_read_for_log(const char *path, const pess_counts *counts, const pess_model *model,
                                              pess_unknown unknown, int64_t horizon, pess_policy **out,
                                              pess_policy_fit *fit, pess_error *error);
/* A table as CSV: state,action,probability; networks as .pesspolicy. Whole or not at all. */
PESS_API pess_status pess_policy_write(const pess_policy *policy, const char *path, const pess_names *state_names,
                                       const pess_names *action_names, pess_error *error);
/* CSV with the columns state,value. */
PESS_API pess_status pess_values_write(const char *path, int64_t states, const pess_names *state_names,
                                       const double *values, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
