/* A policy: probabilities of actions given what is seen. There are two kinds: a table over states (table.c), and
 * networks with the rule that makes probabilities of their outputs (deep/bundle.c). Whoever acts uses these functions
 * and does not ask which it is. */
#ifndef PESS_POLICY_POLICY_H
#define PESS_POLICY_POLICY_H

#include "core/rng.h"
#include "core/status.h"

/* What is seen in a number of places: packed observations, and the numbers of states where there are any. */
typedef struct pess__seen {
    const uint8_t *bits;
    int64_t stride;        /* bytes from one observation to the next */
    const int64_t *states; /* NULL: the environment has no numbered states */
    const int64_t *index;  /* which places; NULL: the first ones */
} pess__seen;

typedef struct pess__policy_kind {
    void (*describe)(const pess_policy *policy, pess_policy_info *out);
    /* The memory of one worker, for up to `capacity` places at a time. */
    pess_status (*open)(const pess_policy *policy, int64_t capacity, void **worker, pess_error *error);
    void (*close)(void *worker);
    /* Probabilities [count*actions], and what the policy expects from there on [count], NAN where it expects nothing.
     */
    void (*apply)(const pess_policy *policy, void *worker, const pess__seen *seen, int64_t count, double *probabilities,
                  double *values);
    pess_status (*write)(const pess_policy *policy, const char *path, const pess_names *state_names,
                         const pess_names *action_names, pess_error *error);
    void (*destroy)(pess_policy *policy);
} pess__policy_kind;

/* Other kinds begin with it. */
struct pess_policy {
    const pess__policy_kind *kind;
    int64_t actions;
    bool samples;        /* draws its actions; otherwise one action has probability 1 everywhere */
    int64_t states;      /* of a table; 0: it is none */
    int64_t steps;       /* a table for each of so many steps; 1: one for all */
    double *probability; /* [steps*S*A] of a table */
};

/* A table, all zero; or one for each step. */
pess_status pess__policy_allocate(int64_t states, int64_t actions, pess_policy **out, pess_error *error);
pess_status pess__policy_allocate_steps(int64_t steps, int64_t states, int64_t actions, pess_policy **out,
                                        pess_error *error);
/* A table for a model's states, all zero; processes that share them write it together. */
pess_status pess__policy_of_model(const pess_model *model, pess_policy **out, pess_error *error);
/* A table from a CSV file: pess_policy_read, once it is known to be one. */
pess_status pess__policy_read_table(const char *path, const pess_model *model, const pess_names *state_names,
                                    const pess_names *action_names, pess_policy **out, pess_error *error);
pess_status pess__policy_write_table(const pess_policy *policy, const char *path, const pess_names *state_names,
                                     const pess_names *action_names, pess_error *error);
/* PESS_INPUT where it is a table for each step. */
pess_status pess__policy_check_one_for_all(const pess_policy *policy, pess_error *error);
/* PESS_INPUT where it is no table of that many states and actions, one for all steps; `whose` has them: "the model". */
pess_status pess__policy_check_table(const pess_policy *policy, int64_t states, int64_t actions, const char *whose,
                                     pess_error *error);
/* Does the process have this action: is there something under pair s*A + a? */
typedef bool (*pess__has_pair)(const void *process, int64_t pair);
/* PESS_INPUT where a table [S*A] takes an action that the process lacks or, in a state that is not `terminal` [S], its
 * probabilities do not sum to one. */
pess_status pess__policy_check_rows(const double *probability, int64_t states, int64_t actions, const uint8_t *terminal,
                                    pess__has_pair has, const void *process, pess_error *error);
/* The same with the actions and states of a model. */
pess_status pess__policy_check_model(const double *probability, const pess_model *model, pess_error *error);
/* PESS_INPUT where it is one network of a rule that needs several; `name` is its file's. */
pess_status pess__policy_check_whole(const pess_policy *policy, const char *name, pess_error *error);
/* Observations that stand far enough apart, of floats that are finite. */
pess_status pess__policy_check_observations(const pess_policy *policy, const uint8_t *bits, int64_t stride,
                                            int64_t count, pess_error *error);
/* Probabilities of actions, none below 0, that sum to 1: for assertions. */
bool pess__policy_row_holds(const double *probabilities, int64_t actions);
/* The action of probabilities [actions]: a draw, or the most probable one (the smallest of equals). */
int32_t pess__policy_draw(const double *probabilities, int64_t actions, double uniform);
int32_t pess__policy_most_probable(const double *probabilities, int64_t actions);

#endif
