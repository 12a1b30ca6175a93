/* pess.h — Pessimist: fixed-dataset policy optimization.
 *
 * A log of decisions (state, action, reward, next state) goes in; a policy comes out that is good in the worst
 * world the log still allows. This header is the whole interface of the library and reads as its manual, in the
 * order in which a transition travels:
 *
 *     1 status      2 names and data     3 counts, models and start distributions     4 MDPs     5 policies
 *     6 uncertainty     7 solving     8 simulation     9 certificates     10 environments
 *     11 experiments and figures     12 networks and deep training     13 networks from a fixed dataset
 *
 * Habits. Every function that can fail returns a pess_status and, when `error` is not NULL, leaves a sentence in it
 * that says which input, which line, what was found and what was expected. A `T **out` is set only on success.
 * `const T *` arguments are borrowed for the call. destroy(NULL) does nothing. The library keeps no global state,
 * never prints and never exits: any number of threads may use it at once on different objects, and on the same
 * object as long as all of them only read. Arrays over state-action pairs are row-major: [S*A], index s*A + a.
 * Same inputs and same seed give the same bytes at any thread count.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_H
#define PESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PESS_VERSION_MAJOR 0
#define PESS_VERSION_MINOR 1
#define PESS_VERSION_PATCH 0
#define PESS_VERSION "0.1.0"

#if defined(__GNUC__)
#define PESS_API __attribute__((visibility("default")))
#else
#define PESS_API
#endif

/* ------------------------------------------------------------------------------------------------ 1 status */

/* name, exit code of the command line, text */
#define PESS_STATUS_LIST(X)                                                                                            \
    X(OK, 0, "fine")                                                                                                   \
    X(ARGUMENT, 2, "an argument or setting is not valid")                                                              \
    X(INPUT, 3, "the input is not valid")                                                                              \
    X(MEMORY, 4, "not enough memory")                                                                                  \
    X(LIMIT, 4, "a size is beyond the limits")                                                                         \
    X(IO, 5, "a file cannot be read or written")                                                                       \
    X(NOT_CONVERGED, 6, "the computation did not converge")                                                            \
    X(INTERRUPTED, 6, "the computation was interrupted")

typedef enum pess_status {
#define PESS_STATUS_ENUM(name, exit_code, text) PESS_##name,
    PESS_STATUS_LIST(PESS_STATUS_ENUM)
#undef PESS_STATUS_ENUM
        PESS_STATUS_COUNT
} pess_status;

typedef struct pess_error {
    pess_status status;
    char message[1000];
} pess_error;

PESS_API const char *pess_version(void);
PESS_API const char *pess_status_name(pess_status status); /* "INPUT" */
PESS_API const char *pess_status_text(pess_status status);
PESS_API int pess_status_exit_code(pess_status status);

/* Long work reports here about ten times a second, from the calling thread. `done` and `total` are in `unit`s; total
 * is 0 where it is not known. Returning false asks the work to stop in good order with PESS_INTERRUPTED. */
typedef struct pess_progress {
    bool (*report)(void *user, const char *what, double done, double total, const char *unit);
    void *user;
} pess_progress;

/* ------------------------------------------------------------------------------------------------ 2 names and data */

#define PESS_MAX_STATES ((int64_t)1 << 28)
#define PESS_MAX_ACTIONS ((int64_t)1 << 20)
#define PESS_MAX_PAIRS ((int64_t)1 << 31)

/* The names of states, actions or episodes. Ids run from 0. Where the input used integers there are no names and
 * a name is the id in decimal. */
typedef struct pess_names pess_names;

PESS_API bool pess_names_given(const pess_names *names);                  /* false: ids are the names; NULL is fine */
PESS_API int64_t pess_names_count(const pess_names *names);               /* 0 where there are no names */
PESS_API const char *pess_names_get(const pess_names *names, int64_t id); /* NULL where there are no names */
PESS_API int64_t pess_names_find(const pess_names *names, const char *name); /* -1: not there */

/* How a transition ends. A terminal one has no future: value 0 follows, and nothing is uncertain about that. A
 * cut-off one (time limit) has a future that the log does not show; it is never counted as a zero. */
typedef enum pess_end { PESS_END_NONE = 0, PESS_END_TERMINAL = 1, PESS_END_CUTOFF = 2 } pess_end;

/* A log, column by column, one entry per transition. Optional columns are NULL where the log has none. */
typedef struct pess_columns {
    int64_t rows;
    const uint32_t *state, *action, *next_state;
    const double *reward;
    const uint8_t *end;        /* pess_end; never NULL in what the library hands out */
    const int64_t *episode;    /* optional; any integers, equal within an episode */
    const int64_t *step;       /* optional; position within the episode */
    const double *probability; /* optional; the behaviour policy's probability of `action` */
} pess_columns;

typedef struct pess_dataset pess_dataset;

typedef struct pess_read_options {
    int64_t states, actions; /* declared sizes; 0: taken from the log */
    const char *format;      /* a name of pess_format_list, or NULL: told by the file's first bytes */
    int threads;             /* 0: all there are */
    pess_progress progress;
} pess_read_options;

PESS_API pess_read_options pess_read_options_defaults(void);

/* Files of transitions. Formats are told apart by their first bytes when reading and by the file name when writing
 * (.csv, .csv.gz, .npz, .pesslog). path "-" reads standard input. Writing is whole or not at all. */
PESS_API pess_status pess_dataset_read(const char *path, const pess_read_options *options, pess_dataset **out,
                                       pess_error *error);
PESS_API pess_status pess_dataset_write(const pess_dataset *data, const char *path, const char *format,
                                        pess_error *error);
/* Copies the columns. states and actions may be 0: the largest id plus one is taken. */
PESS_API pess_status pess_dataset_create(const pess_columns *columns, int64_t states, int64_t actions,
                                         pess_dataset **out, pess_error *error);
PESS_API void pess_dataset_destroy(pess_dataset *data);
PESS_API void pess_dataset_columns(const pess_dataset *data, pess_columns *out);
PESS_API int64_t pess_dataset_states(const pess_dataset *data);
PESS_API int64_t pess_dataset_actions(const pess_dataset *data);
PESS_API const pess_names *pess_dataset_state_names(const pess_dataset *data);
PESS_API const pess_names *pess_dataset_action_names(const pess_dataset *data);
PESS_API const pess_names *pess_dataset_episode_names(const pess_dataset *data);

typedef struct pess_format_info {
    const char *name, *extensions, *summary;
    bool reads, writes;
} pess_format_info;

PESS_API const pess_format_info *pess_format_list(size_t *count);

/* What a look at a log finds. `findings` are sentences, most serious first. */
typedef enum pess_severity { PESS_SEVERITY_NOTE = 0, PESS_SEVERITY_WARNING = 1 } pess_severity;

typedef struct pess_finding {
    pess_severity severity;
    const char *code; /* a short fixed word, e.g. "episode-gap" */
    char text[400];
} pess_finding;

typedef struct pess_inspection {
    int64_t rows, states, actions;         /* as declared, or as found */
    int64_t states_seen, actions_seen;     /* that occur as `state` / `action` */
    int64_t next_only_states;              /* occur as next_state only, after a transition that continues */
    int64_t terminal_states;               /* occur only as the next state of terminal transitions */
    int64_t episodes;                      /* 0: no episode column */
    int64_t terminals, cutoffs, open_ends; /* open_ends: episodes whose last row is neither */
    int64_t gaps;                          /* consecutive steps whose next_state is not the following state */
    int64_t duplicates;                    /* rows that repeat an (episode, step), or a whole row where there is none */
    double reward_min, reward_max, reward_mean;
    int64_t pairs, pairs_seen;         /* pairs: state-action pairs of the states seen as `state` */
    int64_t count_least, count_median; /* over the pairs seen */
    int64_t count_most;
    size_t finding_count;
    pess_finding *findings;
} pess_inspection;

PESS_API pess_status pess_dataset_inspect(const pess_dataset *data, pess_inspection **out, pess_error *error);
PESS_API void pess_inspection_destroy(pess_inspection *inspection);

/* ---------------------------------------------------- 3 counts, models and start distributions (paper, appendix A) */

/* n(s,a), n(s,a,s'), sums of rewards: all that the tabular algorithms need of a log. Its size depends on the number of
 * different (s,a,s'), not on the number of rows; pess_counts_read never holds the log in memory. */
typedef struct pess_counts pess_counts;

typedef struct pess_counts_info {
    int64_t states, actions;
    bool states_declared, actions_declared;
    int64_t transitions, terminals, cutoffs, episodes; /* episodes 0: none marked */
    int64_t pairs_seen, successors;                    /* successors: different (s,a,s') */
    double reward_min, reward_max;                     /* as found in the log; both 0 for an empty one */
    bool has_episodes;                                 /* the log has an episode column */
    bool has_starts;                                   /* episode starts are known, so ρ can be estimated */
} pess_counts_info;

PESS_API pess_status pess_counts_read(const char *path, const pess_read_options *options, pess_counts **out,
                                      pess_error *error);
PESS_API pess_status pess_counts_create(const pess_dataset *data, pess_counts **out, pess_error *error);
PESS_API void pess_counts_destroy(pess_counts *counts);
PESS_API void pess_counts_get_info(const pess_counts *counts, pess_counts_info *out);
PESS_API const pess_names *pess_counts_state_names(const pess_counts *counts);
PESS_API const pess_names *pess_counts_action_names(const pess_counts *counts);
PESS_API int64_t pess_counts_pair(const pess_counts *counts, int64_t state, int64_t action);       /* n(s,a) */
PESS_API int64_t pess_counts_state(const pess_counts *counts, int64_t state);                      /* n(s) */
PESS_API double pess_counts_mean_reward(const pess_counts *counts, int64_t state, int64_t action); /* 0 at n = 0 */

/* What stands in for a pair that the log never shows. One draw per dataset and seed. */
typedef enum pess_unseen {
    PESS_UNSEEN_PAPER,    /* reward uniform at random in the reward range, next state uniform over all */
    PESS_UNSEEN_WORST,    /* the lowest reward for ever: q = V_lo */
    PESS_UNSEEN_SELF_LOOP /* the lowest reward, and the state stays: q = r_lo + γ v(s) */
} pess_unseen;

typedef struct pess_model_options {
    pess_unseen unseen;
    double reward_lo, reward_hi; /* declared range; NAN: taken from the log */
    uint64_t seed;               /* for PESS_UNSEEN_PAPER */
} pess_model_options;

/* A decision process as the solvers see it: expected rewards and sparse rows of next-state probabilities, either
 * estimated from counts (r_D, P_D) or exact (of an MDP). Nothing in it is dense in S*A*S. */
typedef struct pess_model pess_model;

PESS_API pess_model_options pess_model_options_defaults(void);
PESS_API pess_status pess_model_estimate(const pess_counts *counts, const pess_model_options *options, pess_model **out,
                                         pess_error *error);
PESS_API void pess_model_destroy(pess_model *model);
PESS_API int64_t pess_model_states(const pess_model *model);
PESS_API int64_t pess_model_actions(const pess_model *model);
PESS_API double pess_model_reward(const pess_model *model, int64_t state, int64_t action);
PESS_API double pess_model_probability(const pess_model *model, int64_t state, int64_t action, int64_t next_state);
/* Probability that the pair ends the episode. */
PESS_API double pess_model_terminal(const pess_model *model, int64_t state, int64_t action);
PESS_API bool pess_model_is_terminal_state(const pess_model *model, int64_t state); /* no actions, value 0 */
PESS_API void pess_model_reward_range(const pess_model *model, double *lo, double *hi);

/* Start distributions are plain arrays [S] that sum to one. Terminal states get no mass from `uniform`. */
PESS_API pess_status pess_start_uniform(const pess_model *model, double *start, pess_error *error);
PESS_API pess_status pess_start_from_counts(const pess_counts *counts, double *start, pess_error *error);
PESS_API pess_status pess_start_read(const char *path, int64_t states, const pess_names *state_names, double *start,
                                     pess_error *error);
PESS_API pess_status pess_start_write(const char *path, int64_t states, const pess_names *state_names,
                                      const double *start, pess_error *error);

/* ------------------------------------------------------------------------------------------------ 4 MDPs */

/* A decision process that is known: per pair a list of outcomes (next state, probability, reward). Several outcomes may
 * share a next state and differ in reward, which is how random rewards are written down. A state without actions is
 * terminal. */
typedef struct pess_mdp pess_mdp;

typedef struct pess_outcome {
    int64_t state, action, next_state;
    double probability, reward;
} pess_outcome;

PESS_API pess_status pess_mdp_create(int64_t states, int64_t actions, const pess_outcome *outcomes, int64_t count,
                                     pess_mdp **out, pess_error *error);
PESS_API void pess_mdp_destroy(pess_mdp *mdp);
PESS_API int64_t pess_mdp_states(const pess_mdp *mdp);
PESS_API int64_t pess_mdp_actions(const pess_mdp *mdp);
PESS_API int64_t pess_mdp_outcomes(const pess_mdp *mdp);
/* CSV with the columns idstatefrom,idaction,idstateto,probability,reward: read by name in any order, written in this
 * one. */
PESS_API pess_status pess_mdp_read(const char *path, pess_mdp **out, pess_error *error);
PESS_API pess_status pess_mdp_write(const pess_mdp *mdp, const char *path, pess_error *error);
PESS_API pess_status pess_mdp_model(const pess_mdp *mdp, pess_model **out, pess_error *error);

/* Torus of rows × cols cells; actions up, right, down, left. With probability `slip` the direction is drawn uniformly
 * from all four (the intended one included). Mean rewards per (s,a) are drawn from Beta(a,b) and paid as 0 or 1, or as
 * the mean itself where `bernoulli` is false. Defaults are those of the paper's code: 8×8, slip 0.2, Beta(1,3). */
typedef struct pess_gridworld_options {
    int64_t rows, cols;
    double slip, beta_a, beta_b;
    bool bernoulli;
    uint64_t seed;
} pess_gridworld_options;

PESS_API pess_gridworld_options pess_gridworld_options_defaults(void);
PESS_API pess_status pess_mdp_gridworld(const pess_gridworld_options *options, pess_mdp **out, pess_error *error);

/* One state, `arms` actions with Bernoulli rewards: the first of mean `best`, the others of mean `rest`; every pull
 * leads back to the state. Defaults: the paper's example (1000 arms, 0.99 and 0.01). */
typedef struct pess_bandit_options {
    int64_t arms;
    double best, rest;
} pess_bandit_options;

PESS_API pess_bandit_options pess_bandit_options_defaults(void);
PESS_API pess_status pess_mdp_bandit(const pess_bandit_options *options, pess_mdp **out, pess_error *error);

/* Garnet: each pair has `branching` different next states with probabilities from a uniformly random point of the
 * simplex, mean reward uniform in [0,1] paid as 0 or 1; the last `terminals` states are terminal. */
typedef struct pess_garnet_options {
    int64_t states, actions, branching, terminals;
    bool bernoulli;
    uint64_t seed;
} pess_garnet_options;

PESS_API pess_garnet_options pess_garnet_options_defaults(void);
PESS_API pess_status pess_mdp_garnet(const pess_garnet_options *options, pess_mdp **out, pess_error *error);

/* ------------------------------------------------------------------------------------------------ 5 policies */

/* π(a|s), stochastic. Rows of terminal states are zero, all others sum to one. */
typedef struct pess_policy pess_policy;

PESS_API pess_status pess_policy_create(int64_t states, int64_t actions, const double *probabilities, /* [S*A] */
                                        pess_policy **out, pess_error *error);
PESS_API pess_status pess_policy_uniform(const pess_model *model, pess_policy **out, pess_error *error);
/* π̂(a|s) = n(s,a)/n(s); uniform where the state was never seen. */
PESS_API pess_status pess_policy_empirical(const pess_counts *counts, const pess_model *model, pess_policy **out,
                                           pess_error *error);
/* (1-ε)π + ε·uniform over the actions that the model has in each state. */
PESS_API pess_status pess_policy_soften(const pess_policy *policy, const pess_model *model, double epsilon,
                                        pess_policy **out, pess_error *error);
PESS_API void pess_policy_destroy(pess_policy *policy);
PESS_API int64_t pess_policy_states(const pess_policy *policy);
PESS_API int64_t pess_policy_actions(const pess_policy *policy);
PESS_API const double *pess_policy_row(const pess_policy *policy, int64_t state); /* [A] */
/* CSV with the columns state,action,probability; only non-zero rows. Reading checks the policy against the model it is
 * meant for: the same states, no action that a state does not have, rows that sum to one. */
PESS_API pess_status pess_policy_read(const char *path, const pess_model *model, const pess_names *state_names,
                                      const pess_names *action_names, pess_policy **out, pess_error *error);
PESS_API pess_status pess_policy_write(const pess_policy *policy, const char *path, const pess_names *state_names,
                                       const pess_names *action_names, pess_error *error);
/* CSV with the columns state,value. */
PESS_API pess_status pess_values_write(const char *path, int64_t states, const pess_names *state_names,
                                       const double *values, pess_error *error);

/* ---------------------------------------------------------------- 6 uncertainty (paper, appendix B; docs/notation.md)
 */

typedef enum pess_holds {
    PESS_HOLDS_NOTHING,   /* no error probability in it: a heuristic */
    PESS_HOLDS_FIXED_V,   /* for one value function fixed before the data; a heuristic for one chosen from them */
    PESS_HOLDS_EVERYTHING /* for all values and all policies at once: may stand behind a certificate */
} pess_holds;

typedef struct pess_uncertainty_info {
    const char *name, *summary, *formula;
    pess_holds holds;
    const char *holds_for;  /* the same in words, as the reports print it */
    bool per_action;        /* one number per (s,a); otherwise it depends on the whole π(·|s) */
    bool depends_on_values; /* recomputed as v changes */
    bool is_set;            /* a set of transition rows: fits `robust` */
    const char *absorbed;   /* the formula with its constants dropped, or NULL where there is none */
} pess_uncertainty_info;

PESS_API const pess_uncertainty_info *pess_uncertainty_list(size_t *count);
PESS_API const pess_uncertainty_info *pess_uncertainty_find(const char *name); /* NULL: no such one */

/* ------------------------------------------------------------------------------------------------ 7 solving */

typedef struct pess_algorithm_info {
    const char *name, *summary, *equation, *source;
    bool takes_uncertainty;          /* -u is needed or has a default */
    const char *default_uncertainty; /* NULL where it takes none */
    bool takes_alpha;
    bool takes_sets_only; /* only uncertainties with is_set fit */
    const char *knobs;    /* other settings it reads, in words; NULL: none */
} pess_algorithm_info;

PESS_API const pess_algorithm_info *pess_algorithm_list(size_t *count);
PESS_API const pess_algorithm_info *pess_algorithm_find(const char *name);

typedef enum pess_method {
    PESS_METHOD_AUTO,
    PESS_METHOD_POLICY_ITERATION,
    PESS_METHOD_VALUE_ITERATION,
    PESS_METHOD_MODIFIED_POLICY_ITERATION
} pess_method;

typedef enum pess_evaluation { PESS_EVALUATION_AUTO, PESS_EVALUATION_LU, PESS_EVALUATION_KRYLOV } pess_evaluation;

typedef struct pess_solve_options {
    const char *algorithm;   /* a name of pess_algorithm_list; default "ua" */
    const char *uncertainty; /* a name of pess_uncertainty_list; NULL: the algorithm's default */
    double gamma;            /* discount in [0,1]; 1 only where every policy reaches a terminal. Default 0.99 */
    double delta;            /* error probability in (0,1). Default 0.05 */
    double alpha;            /* strength of the pessimism, >= 0. Default 1, absorbed */
    bool absorbed;           /* α in absorbed units: penalty α/√n for UA, α·TV for proximal */
    bool clip_rewards;       /* UA: clip the penalised reward to the reward range, as the paper's code does */
    bool trajectories;       /* counts are adaptive: pay for every n at once (default for logs with episodes) */
    int64_t max_successors;  /* m: declared number of possible next states of a pair; 0: all states */
    double local_policies;   /* hoeffding-s: |Π_local|; 0: the |A| deterministic ones */
    double min_count;        /* SPIBB n_∧, R-MIN m. Default 10 */
    double budget;           /* Soft-SPIBB ε. Default 1 */
    pess_method method;
    pess_evaluation evaluation;
    double tolerance;       /* sup-norm of the Bellman residual at which to stop. Default 1e-10 */
    int64_t max_iterations; /* of the outer loop. Default 1e6; reaching it is an outcome, never silent */
    double time_limit;      /* seconds; 0: none */
    uint64_t seed;
    int threads; /* 0: all there are */
    pess_progress progress;
} pess_solve_options;

PESS_API pess_solve_options pess_solve_options_defaults(void);

typedef enum pess_outcome_kind {
    PESS_OUTCOME_CONVERGED,
    PESS_OUTCOME_ITERATION_LIMIT,
    PESS_OUTCOME_TIME_LIMIT
} pess_outcome_kind;

PESS_API const char *pess_outcome_name(pess_outcome_kind outcome); /* "converged", "iteration-limit", "time-limit" */

typedef struct pess_solution pess_solution;

typedef struct pess_solution_info {
    const char *algorithm, *uncertainty, *holds_for; /* uncertainty NULL where none is used */
    double value;                                    /* E_ρ of the family's own (penalised) value of the policy */
    double naive_value;                              /* E_ρ of its unpenalised empirical value */
    pess_outcome_kind outcome;
    int64_t iterations;
    double residual; /* sup-norm of v - T v for the family's own operator */
    double seconds;
    const char *method, *evaluation; /* what was used */
} pess_solution_info;

/* Finds the best policy of a family. `counts` may be NULL for algorithms that need none (naive on an exact model). */
PESS_API pess_status pess_solve(const pess_counts *counts, const pess_model *model, const double *start,
                                const pess_solve_options *options, pess_solution **out, pess_error *error);
/* The family's value of a given policy. */
PESS_API pess_status pess_evaluate(const pess_counts *counts, const pess_model *model, const double *start,
                                   const pess_policy *policy, const pess_solve_options *options, pess_solution **out,
                                   pess_error *error);
PESS_API void pess_solution_destroy(pess_solution *solution);
PESS_API void pess_solution_get_info(const pess_solution *solution, pess_solution_info *out);
PESS_API const pess_policy *pess_solution_policy(const pess_solution *solution);
PESS_API const double *pess_solution_values(const pess_solution *solution);       /* [S] the family's */
PESS_API const double *pess_solution_naive_values(const pess_solution *solution); /* [S] */
/* u(s,a) that the solution rests on, before α; NULL for algorithms without one or where it is not per action. [S*A] */
PESS_API const double *pess_solution_uncertainty(const pess_solution *solution);
/* Discounted visitation d(s) = Σ_t γ^t P(s_t = s) of the policy in the model, from ρ. `out` [S]. */
PESS_API pess_status pess_visitation(const pess_model *model, const double *start, const pess_policy *policy,
                                     const pess_solve_options *options, double *out, pess_error *error);

/* ------------------------------------------------------------------------------------------------ 8 simulation */

typedef enum pess_state_dist {
    PESS_STATE_DIST_START,     /* states of the transitions drawn from ρ */
    PESS_STATE_DIST_STATIONARY /* from the stationary law of the collecting policy */
} pess_state_dist;

typedef struct pess_simulate_options {
    int64_t transitions;        /* > 0: that many independent transitions … */
    pess_state_dist state_dist; /* … from these states */
    int64_t episodes, horizon;  /* or whole episodes, cut off after `horizon` steps */
    double epsilon;             /* the policy is softened by this much first */
    uint64_t seed;
    pess_progress progress;
} pess_simulate_options;

PESS_API pess_simulate_options pess_simulate_options_defaults(void);
PESS_API pess_status pess_simulate(const pess_mdp *mdp, const pess_policy *policy, const double *start,
                                   const pess_simulate_options *options, pess_dataset **out, pess_error *error);
/* Stationary law of a policy, [S]; a linear solve, so periodic chains are fine. PESS_INPUT where it is not unique. */
PESS_API pess_status pess_stationary(const pess_model *model, const pess_policy *policy, double *out,
                                     pess_error *error);

/* --------------------------------------------------------- 9 certificates (docs/certificates.md, docs/theory.md) */

/* A certificate is a number L with P(E_ρ[v^π] >= L) >= 1−δ for the policy π that comes with it, although π was chosen
 * from the same log. `robust`: the worst case over a set of processes that holds for all policies at once. `split`: a
 * part of the log chooses the policy, the rest tests it. `best`: both, δ shared, the better one is returned. */
typedef enum pess_certify_method { PESS_CERTIFY_BEST, PESS_CERTIFY_ROBUST, PESS_CERTIFY_SPLIT } pess_certify_method;

typedef struct pess_certify_options {
    pess_certify_method method;
    const char *uncertainty; /* l1, support or good-turing; NULL: l1 where few successors are declared, else support */
    const pess_policy *policy;   /* certify this one; NULL: find one */
    bool policy_fresh;           /* `policy` was made without this log: then the split may test it too */
    double gamma;                /* in [0,1). Default 0.99 */
    double delta;                /* total error probability. Default 0.05 */
    double split;                /* share of the log that chooses the policy, in (0,1). Default 0.25 */
    int64_t max_successors;      /* declared number of possible next states of a pair; 0: all states */
    bool iid;                    /* declared: transitions are independent draws although the log has episodes */
    double reward_lo, reward_hi; /* declared range; NAN: as the log shows, listed as an assumption */
    const double *start;         /* ρ [S]; NULL: estimated from the episode starts, which costs part of δ */
    uint64_t seed;               /* of the random halves of an i.i.d. log */
    int threads;
    pess_progress progress;
} pess_certify_options;

PESS_API pess_certify_options pess_certify_options_defaults(void);

enum { PESS_LEDGER_LIMIT = 24, PESS_CERTIFY_ASSUMPTION_LIMIT = 24, PESS_CANDIDATE_LIMIT = 12 };

/* Where δ went: the entries sum to it. */
typedef struct pess_ledger_entry {
    char what[80];
    double delta;
} pess_ledger_entry;

/* A policy that was tried. */
typedef struct pess_candidate {
    char name[40];
    double predicted; /* lower bound that the first part alone predicts; NAN where it was not asked */
    double lower;     /* certified; NAN: not tested, and nothing paid for it */
} pess_candidate;

typedef struct pess_certificate_info {
    double lower_bound;                                     /* of E_ρ[v^π]: at least V_lo */
    double value_estimate;                                  /* of the same at face value */
    double optimal_upper_bound;                             /* of E_ρ[v] of any policy */
    double suboptimality_upper_bound;                       /* their difference */
    double behaviour_value_estimate, behaviour_upper_bound; /* the policy that made the log */
    double improvement_lower_bound;                         /* lower_bound − behaviour_upper_bound */
    bool recommend_switch;                                  /* the improvement is certified */
    bool vacuous;                                           /* lower_bound says nothing: it is V_lo */
    double value_lo, value_hi;                              /* V_lo, V_hi: what any policy has */
    const char *method, *uncertainty, *test;                /* test: what gave the bound, "sets", "box" or "pooled" */
    double gamma, delta, split;
    pess_outcome_kind outcome;
    double residual; /* of the fixed points behind the bounds; already paid for */
    int64_t transitions, first_part, second_part;
    int ledger_count, assumption_count, candidate_count;
    pess_ledger_entry ledger[PESS_LEDGER_LIMIT];
    char assumptions[PESS_CERTIFY_ASSUMPTION_LIMIT][400];
    pess_candidate candidates[PESS_CANDIDATE_LIMIT];
} pess_certificate_info;

typedef struct pess_certificate pess_certificate;

PESS_API pess_status pess_certify(const pess_dataset *data, const pess_certify_options *options, pess_certificate **out,
                                  pess_error *error);
PESS_API void pess_certificate_destroy(pess_certificate *certificate);
PESS_API const pess_certificate_info *pess_certificate_get_info(const pess_certificate *certificate);
PESS_API const pess_policy *pess_certificate_policy(const pess_certificate *certificate);

/* Where data is missing: d(s)π(a|s)u(s,a) is what a pair adds to the doubt about the policy's value. */
typedef struct pess_gap {
    int64_t state, action, count;
    double visits;      /* d(s)π(a|s), discounted, in the empirical model */
    double uncertainty; /* u(s,a) */
    double share;       /* of the whole doubt Σ d·π·u */
    double gain;        /* by how much one more sample here brings the doubt down, to first order */
} pess_gap;

/* The `top` pairs by gain, the best first, into out; *found of them. options: gamma, delta, uncertainty (one per pair;
 * NULL: hoeffding), trajectories, max_successors. *doubt is the whole (may be NULL). */
PESS_API pess_status pess_gaps(const pess_counts *counts, const pess_model *model, const double *start,
                               const pess_policy *policy, const pess_solve_options *options, int64_t top, pess_gap *out,
                               int64_t *found, double *doubt, pess_error *error);

/* What the page of a certificate tells beside the certificate itself. Everything is optional. */
typedef struct pess_certificate_page {
    const char *log;     /* its name */
    const char *command; /* the command line that repeats it */
    const pess_names *state_names, *action_names;
    const pess_gap *gaps; /* the thin places */
    int64_t gap_count;
} pess_certificate_page;

/* One self-contained HTML page for people: the recommendation first. Whole or not at all. */
PESS_API pess_status pess_certificate_write_page(const pess_certificate *certificate, const pess_certificate_page *page,
                                                 const char *path, pess_error *error);

/* The paper's theorems as programs (docs/theory.md states each one). Theorem 1, for a finite set of `count` choices
 * with objective f and proxy f_hat: regret <= inf + sup. Returns inf + sup; the parts go to the pointers that are not
 * NULL. The proxy's maximiser is the first one. Corollary 1 is the same with policies as choices. */
PESS_API double pess_theorem_1(int64_t count, const double *f, const double *f_hat, double *inf_term, double *sup_term,
                               double *regret);

typedef struct pess_theorem_row {
    const char *theorem;   /* "2 (naive)", "3 (uncertainty-aware)", … */
    const char *algorithm; /* whose policy it speaks of */
    double alpha;          /* in the theory's units */
    double inf_term, sup_term, bound;
    double suboptimality; /* the truth */
    bool holds;
    const char *witness; /* the policy behind inf_term: any policy gives a valid, looser one */
} pess_theorem_row;

typedef struct pess_theorem_options {
    const char *uncertainty; /* one number per pair; NULL: hoeffding, as in the paper */
    double gamma, delta;
    bool trajectories;
    int64_t max_successors;
    const double *alphas;
    int64_t alpha_count;
    int threads;
} pess_theorem_options;

PESS_API pess_theorem_options pess_theorem_options_defaults(void);
/* Theorems 2, 3, 4 and the density variant on one dataset, for every α, beside the truth in `mdp`. counts and model are
 * of the dataset, with the MDP's states and actions. rows has room for 4·alpha_count; *count are filled. */
PESS_API pess_status pess_theorems(const pess_mdp *mdp, const pess_counts *counts, const pess_model *model,
                                   const double *start, const pess_theorem_options *options, pess_theorem_row *rows,
                                   int64_t *count, pess_error *error);

/* ------------------------------------------------------------------------------------------------ 10 environments */

/* Environments to act in, step by step: the five MinAtar games, and tabular MDPs behind the same functions. A game's
 * board is rows × cols cells of `channels` bits each; six actions, of which each game uses some. */
typedef struct pess_env_channel {
    const char *name;
    uint32_t colour; /* 0xRRGGBB, for drawing */
    char glyph;      /* for drawing without colours */
    int layer;       /* where several channels share a cell, the one of the highest layer is drawn */
} pess_env_channel;

typedef struct pess_env_info {
    const char *name, *summary;
    int rows, cols, channels;
    const pess_env_channel *channel; /* [channels] */
    int minimal_count;
    const uint8_t *minimal; /* [minimal_count] the actions that mean something in this game, ascending */
    bool ramps;             /* `ramping` matters */
} pess_env_info;

#define PESS_ENV_ACTIONS 6
#define PESS_ENV_MAX_BYTES 128 /* of a game's packed observation */

PESS_API const pess_env_info *pess_env_list(size_t index);     /* by position from 0; NULL past the last */
PESS_API const pess_env_info *pess_env_find(const char *name); /* NULL: no such game */
PESS_API const char *pess_env_action_name(int action); /* 0 "nothing", "left", "up", "right", "down", 5 "fire" */

typedef enum pess_generator {
    PESS_GENERATOR_FAST, /* xoshiro256++, stream (seed, stream) */
    PESS_GENERATOR_NUMPY /* numpy's RandomState(seed + stream), draw for draw; seed + stream < 2^32 */
} pess_generator;

typedef struct pess_env_options {
    const char *game;      /* a name of pess_env_list */
    double sticky;         /* probability that the previous action is taken instead. Default 0.1 */
    bool ramping;          /* difficulty grows. Default true */
    bool minimal_actions;  /* actions are 0 … minimal_count-1 and stand for info.minimal[action]. Default false */
    int64_t step_limit;    /* > 0: an episode is cut off after that many steps; that is never a terminal */
    uint64_t seed, stream; /* environments of one seed and different streams are independent */
    pess_generator generator;
} pess_env_options;

typedef struct pess_env pess_env;

PESS_API pess_env_options pess_env_options_defaults(void);
/* A new environment is at the start of its first episode: reset has been called once. */
PESS_API pess_status pess_env_create(const pess_env_options *options, pess_env **out, pess_error *error);
/* The MDP as an environment; episodes start from `start` [S] (NULL: uniform over states with actions). The tables are
 * copied. Of the options it reads step_limit, seed, stream and generator. An episode ends (terminal) on entering a
 * state without actions. */
PESS_API pess_status pess_env_create_mdp(const pess_mdp *mdp, const double *start, const pess_env_options *options,
                                         pess_env **out, pess_error *error);
PESS_API void pess_env_destroy(pess_env *env);
PESS_API pess_status pess_env_clone(const pess_env *env, pess_env **out, pess_error *error);
PESS_API const pess_env_info *pess_env_get_info(const pess_env *env); /* NULL for an MDP */
PESS_API int64_t pess_env_actions(const pess_env *env);
PESS_API int64_t pess_env_bits(const pess_env *env);  /* of an observation: rows*cols*channels; S for an MDP */
PESS_API int64_t pess_env_bytes(const pess_env *env); /* of a packed observation: bits/8 rounded up */
PESS_API int64_t pess_env_state(const pess_env *env); /* the state of an MDP; -1 for a game */
PESS_API int64_t pess_env_steps(const pess_env *env); /* since the last reset */
PESS_API pess_end pess_env_ended(const pess_env *env);

typedef struct pess_env_step_result {
    double reward;
    pess_end end;
    int action; /* the one really taken (sticky); of the full set for games */
} pess_env_step_result;

/* PESS_ARGUMENT for an action the environment does not have and for a step after the end of an episode; then nothing
 * has changed. */
PESS_API pess_status pess_env_reset(pess_env *env, pess_error *error);
PESS_API pess_status pess_env_step(pess_env *env, int64_t action, pess_env_step_result *out, pess_error *error);

/* Observations. Packed: bit ((y*cols + x)*channels + c), least significant bit of each byte first, padded with zero
 * bits; an MDP's is one-hot. Planes: one float or byte, 0 or 1, per bit. */
typedef enum pess_layout {
    PESS_LAYOUT_HWC, /* [rows][cols][channels], the order of the bits */
    PESS_LAYOUT_CHW  /* [channels][rows][cols] */
} pess_layout;

PESS_API void pess_env_observe_bits(const pess_env *env, uint8_t *out);
PESS_API void pess_env_observe_bytes(const pess_env *env, pess_layout layout, uint8_t *out);
PESS_API void pess_env_observe_floats(const pess_env *env, pess_layout layout, float *out);
/* The same from packed bits that were kept. cells: rows*cols; channels 1 makes the layouts equal. */
PESS_API void pess_bits_to_floats(const uint8_t *bits, int64_t cells, int channels, pess_layout layout, float *out);
PESS_API void pess_bits_to_bytes(const uint8_t *bits, int64_t cells, int channels, pess_layout layout, uint8_t *out);

/* The whole state as plain bytes: board, hidden timers, previous action, step count and generator. The settings are not
 * part of it: restore needs an environment of the same game (or an MDP of the same size) and generator. Bytes that are
 * damaged, or that describe no possible state, are refused with PESS_INPUT and change nothing. They are meant for the
 * same version of the library on the same kind of machine. An environment on a tape cannot be saved. */
PESS_API int64_t pess_env_save_size(const pess_env *env);
PESS_API pess_status pess_env_save(const pess_env *env, uint8_t *out, int64_t size, pess_error *error);
PESS_API pess_status pess_env_restore(pess_env *env, const uint8_t *bytes, int64_t size, pess_error *error);

/* Every random number passes one door, and a tape can stand in it in place of the generator. */
typedef struct pess_draw {
    bool integer; /* an integer result; otherwise a uniform in [0,1) */
    double value;
} pess_draw;

/* Plays the draws (borrowed until replaced; NULL: back to the generator) from the next reset or step on. A draw that is
 * missing, of the wrong kind or out of range makes reset or step fail with PESS_INPUT. */
PESS_API void pess_env_set_tape(pess_env *env, const pess_draw *draws, int64_t count);
PESS_API int64_t pess_env_tape_used(const pess_env *env);
/* Notes every draw in `out` from now on, up to `capacity` (borrowed; NULL ends it). pess_env_drawn: how many there were
 * since, also beyond the capacity. */
PESS_API void pess_env_record_draws(pess_env *env, pess_draw *out, int64_t capacity);
PESS_API int64_t pess_env_drawn(const pess_env *env);

/* Many environments stepped in one call. Environment i is the one that pess_env_create makes from the same options with
 * stream + i, at any thread count. When an episode ends its environment is reset at once: the observation is then the
 * first of the next episode, and pess_batch_final_bits has the last one of the old. */
typedef struct pess_batch pess_batch;

typedef struct pess_batch_out { /* any may be NULL */
    double *rewards;            /* [N] */
    uint8_t *ends;              /* [N] pess_end */
    uint8_t *bits;              /* [N * bytes] */
    float *floats;              /* [N * bits] */
    uint8_t *bytes;             /* [N * bits] */
    int64_t *states;            /* [N] of an MDP; -1 for games */
    pess_layout layout;         /* of floats and bytes */
} pess_batch_out;

PESS_API pess_status pess_batch_create(const pess_env_options *options, int64_t count, int threads, pess_batch **out,
                                       pess_error *error); /* threads 0: all there are */
PESS_API pess_status pess_batch_create_mdp(const pess_mdp *mdp, const double *start, const pess_env_options *options,
                                           int64_t count, int threads, pess_batch **out, pess_error *error);
PESS_API void pess_batch_destroy(pess_batch *batch);
PESS_API int64_t pess_batch_count(const pess_batch *batch);
PESS_API int64_t pess_batch_actions(const pess_batch *batch);
PESS_API int64_t pess_batch_bits(const pess_batch *batch);
PESS_API int64_t pess_batch_bytes(const pess_batch *batch);
/* Where all are now; rewards and ends are set to 0. */
PESS_API void pess_batch_observe(const pess_batch *batch, const pess_batch_out *out);
/* actions [N]. One illegal action refuses the whole step and changes nothing. */
PESS_API pess_status pess_batch_step(pess_batch *batch, const int32_t *actions, const pess_batch_out *out,
                                     pess_error *error);
/* [bytes] The last observation of the latest episode of environment i that has ended; false where none has. */
PESS_API bool pess_batch_final_bits(const pess_batch *batch, int64_t index, uint8_t *out);
PESS_API int64_t pess_batch_final_state(const pess_batch *batch, int64_t index); /* of an MDP; -1 otherwise */
PESS_API int64_t pess_batch_save_size(const pess_batch *batch);                  /* as for one environment */
PESS_API pess_status pess_batch_save(const pess_batch *batch, uint8_t *out, int64_t size, pess_error *error);
PESS_API pess_status pess_batch_restore(pess_batch *batch, const uint8_t *bytes, int64_t size, pess_error *error);

/* A small generator for those who choose actions: same seed, purpose and index, same numbers, everywhere. */
typedef struct pess_random {
    uint64_t state[4];
} pess_random;

PESS_API pess_random pess_random_create(uint64_t seed, const char *purpose, uint64_t index);
PESS_API double pess_random_uniform(pess_random *random);           /* [0,1) */
PESS_API int64_t pess_random_below(pess_random *random, int64_t n); /* 0 … n-1; n > 0 */

/* Somebody who acts. NULL in place of `act`: uniformly at random. */
typedef struct pess_actor {
    int64_t (*act)(void *user, const pess_env *env);
    void *user;
} pess_actor;

/* Traces: a game as text, one reset or step a line with its draws and the packed state in hexadecimal
 * (docs/environments.md). Replaying puts the draws on a tape and checks rewards, ends, draws and states. */
typedef struct pess_trace_report {
    char game[32];
    int64_t records, steps, resets, draws; /* that conform */
    bool conforms;
    int64_t line;    /* of the first record that does not */
    char text[400];  /* what differs there */
    bool has_boards; /* the states after it: */
    uint8_t expected[PESS_ENV_MAX_BYTES], found[PESS_ENV_MAX_BYTES];
} pess_trace_report;

/* PESS_INPUT, with the line, for a file that is no trace or is damaged; not conforming is a result, not an error. */
PESS_API pess_status pess_trace_replay(const char *path, pess_trace_report *out, pess_error *error);
/* Plays `steps` steps, resetting as episodes end, and writes them. */
PESS_API pess_status pess_trace_record(const pess_env_options *options, const pess_actor *actor, int64_t steps,
                                       const char *path, pess_error *error);

/* Pictures. The channel to draw in each cell, or -1 for none; `top` [rows*cols]. */
PESS_API void pess_env_top_channels(const pess_env_info *info, const uint8_t *bits, int *top);
/* The board as an image: cells of `size` pixels with a thin grid, a margin of size/2, and a line of digits below for
 * the score where score >= 0. Pixels are indices into `palette` (RGB, 3 bytes each; colour 0 is the background). */
#define PESS_PALETTE_COLOURS 32
PESS_API void pess_env_picture_size(const pess_env_info *info, int size, int *width, int *height);
PESS_API void pess_env_palette(const pess_env_info *info, uint8_t palette[3 * PESS_PALETTE_COLOURS]);
PESS_API void pess_env_picture(const pess_env_info *info, const uint8_t *bits, int size, int64_t score,
                               uint8_t *pixels);
/* Image files, whole or not at all. */
PESS_API pess_status pess_png_write(const char *path, int width, int height, const uint8_t *pixels,
                                    const uint8_t palette[3 * PESS_PALETTE_COLOURS], pess_error *error);
typedef struct pess_gif pess_gif;
PESS_API pess_status pess_gif_create(const char *path, int width, int height,
                                     const uint8_t palette[3 * PESS_PALETTE_COLOURS], pess_gif **out,
                                     pess_error *error);
PESS_API pess_status pess_gif_add(pess_gif *gif, const uint8_t *pixels, int delay_ms, pess_error *error);
PESS_API pess_status pess_gif_finish(pess_gif *gif, pess_error *error); /* the file appears; the handle is gone */
PESS_API void pess_gif_abandon(pess_gif *gif);

/* -------------------------------------------------------------------- 11 experiments and figures (paper, section 6) */

/* The paper's text and the code that made its figures differ in some settings; a preset chooses all of them at once,
 * and each is an option of its own. */
typedef enum pess_preset {
    PESS_PRESET_CODE, /* what made the figures: Beta(1,3) rewards, clipped penalised rewards, data from ρ in figure 1a
                       */
    PESS_PRESET_TEXT  /* the paper's words: Beta(3,1) rewards, no clipping, data from the stationary law */
} pess_preset;

typedef struct pess_experiment_info {
    const char *name, *summary, *title;
    const char *x_label, *y_label;
    const char *findings; /* heading of pess_experiment_predictions */
    bool log_x;
    int64_t default_trials, default_points;
} pess_experiment_info;

PESS_API const pess_experiment_info *pess_experiment_list(size_t *count);
PESS_API const pess_experiment_info *pess_experiment_find(const char *name);

/* A setting of 0 trials or points, NAN, or -1 is the experiment's and the preset's own. */
typedef struct pess_experiment_options {
    const char *experiment; /* a name of pess_experiment_list */
    int64_t trials, points; /* bandit has one point; it does not read rows to absorbed_alpha, but for gamma */
    uint64_t seed;          /* default 1 */
    pess_preset preset;
    int64_t rows, cols; /* of the gridworld; default 8×8 */
    double gamma;
    double beta_a, beta_b; /* mean rewards are drawn from Beta(a,b) */
    int state_dist;        /* pess_state_dist, or -1 */
    int clip;              /* 1: clip UA's penalised reward to [0,1]; 0: do not; or -1 */
    double absorbed_alpha; /* default 1; not read by gridworld-alpha */
    /* "a,b,…": families, each "name" or "name:uncertainty", e.g. "ua,robust:l1,ua:hoeffding-s". NULL: the paper's four,
     * imitation, naive, ua, proximal. The random and the optimal policy are always there. */
    const char *algorithms;
    int threads;
    const char *checkpoint; /* file that keeps finished trials while the experiment runs; NULL: none */
    bool resume;            /* go on with the trials that it holds */
    pess_progress progress;
} pess_experiment_options;

PESS_API pess_experiment_options pess_experiment_options_defaults(void);

/* One point of one curve. Every trial gives all algorithms the same MDP and the same dataset, so differences are
 * paired: `regret` is the mean of (optimal − this one) over trials. */
typedef struct pess_experiment_point {
    const char *algorithm;
    double x;
    int64_t trials;
    double mean, ci95; /* half-width of the 95 % interval of the mean */
    double regret, regret_ci95;
    double epsilon;      /* of the policy that collected the data; NAN where there is none */
    int64_t transitions; /* in the dataset */
    double alpha_theory; /* gridworld-alpha: x in the theory's units; NAN elsewhere */
} pess_experiment_point;

/* What the paper predicts, and what came out. */
typedef struct pess_prediction {
    const char *algorithm, *claim;
    bool judged; /* false: a finding, not a prediction; `holds` then says nothing */
    bool holds;
    char found[240];
    const char *reason; /* why it does not hold under this preset, where it is known; else NULL */
} pess_prediction;

typedef struct pess_experiment pess_experiment;

PESS_API pess_status pess_experiment_run(const pess_experiment_options *options, pess_experiment **out,
                                         pess_error *error);
PESS_API void pess_experiment_destroy(pess_experiment *experiment);
/* The settings, resolved: what was 0, NAN or -1 is now what was used. */
PESS_API void pess_experiment_get_options(const pess_experiment *experiment, pess_experiment_options *out);
PESS_API double pess_experiment_seconds(const pess_experiment *experiment);
PESS_API const char *pess_experiment_description(const pess_experiment *experiment); /* what was run, in words */
PESS_API const pess_experiment_point *pess_experiment_points(const pess_experiment *experiment, size_t *count);
PESS_API const pess_prediction *pess_experiment_predictions(const pess_experiment *experiment, size_t *count);

/* Makes `directory` ready for results: creates it, or checks that it is empty, holds earlier results (which will be
 * replaced) or, with resume, an interrupted run. Writes the name of its checkpoint file to `checkpoint`. */
PESS_API pess_status pess_experiment_directory(const char *directory, bool resume, char *checkpoint, size_t size,
                                               pess_error *error);
/* results.csv, paired.csv, trials.csv.gz, figure.svg, figure.png, figure.pdf, index.html and manifest.json, all of them
 * or none; removes the checkpoint. `command` is the command line that repeats the experiment, for the page. */
PESS_API pess_status pess_experiment_write(const pess_experiment *experiment, const char *directory,
                                           const char *command, pess_error *error);
/* Draws results (directories, or files results.csv), a panel each, into an .svg, .png or .pdf; and learning curves
 * (files with columns frame and return: the log.csv of a training run; with a column game, a panel per game).
 * `algorithms`, "a,b,…", names the curves that are drawn, in this order; NULL: all. */
PESS_API pess_status pess_figure_write(const char *const *results, size_t count, const char *algorithms,
                                       const char *path, pess_error *error);

/* ------------------------------------------------------------------------------------ 12 networks and deep training */

/* A network that turns a packed observation into one number per action. It computes on the best instructions the
 * machine has ("avx2" or "portable"); the same path gives the same bytes, at any thread count. */
typedef struct pess_net pess_net;

typedef struct pess_net_info {
    int rows, cols, channels; /* of the observations it reads */
    int outputs, layer_count;
    int64_t bytes; /* of a packed observation */
    int64_t parameters;
    uint32_t checksum;   /* CRC-32 of its file; 0 where it has none yet */
    const char *kernels; /* the path it computes on */
    const char *notes;   /* lines "key=value": how it was trained */
} pess_net_info;

typedef struct pess_net_layer {
    const char *kind;        /* "conv" or "dense" */
    int kernel, stride;      /* 0 for a dense layer */
    int outputs, rows, cols; /* channels and board after it */
    double slope;            /* activation max(y, slope·y): 1 none, 0 ReLU */
    int64_t parameters;
} pess_net_layer;

/* kernels: "avx2", "portable", or NULL for the best there is. Truncated, damaged or foreign files are PESS_INPUT. */
PESS_API pess_status pess_net_read(const char *path, const char *kernels, pess_net **out, pess_error *error);
PESS_API pess_status pess_net_write(const pess_net *net, const char *path, pess_error *error);
PESS_API void pess_net_destroy(pess_net *net);
PESS_API void pess_net_get_info(const pess_net *net, pess_net_info *out); /* texts live as long as the network */
PESS_API bool pess_net_get_layer(const pess_net *net, int index, pess_net_layer *out); /* false: no such layer */
/* The value of a note, cut to size - 1 characters; false where there is no such key. */
PESS_API bool pess_net_note(const pess_net *net, const char *key, char *value, size_t size);
/* Outputs [count*outputs] of `count` packed observations, `stride` bytes apart. */
PESS_API pess_status pess_net_apply(const pess_net *net, const uint8_t *bits, int64_t stride, int64_t count,
                                    int threads, float *out, pess_error *error);
/* How a network acts, by its note "acts": "softmax" (imitation) means by sampling, "argmax" or no note greedily. Any
 * other rule needs more than this network: PESS_INPUT. */
PESS_API pess_status pess_net_samples(const pess_net *net, const char *name, bool *sample, pess_error *error);
/* The action of these outputs: the largest (the smallest of equals), or one drawn from their softmax. */
PESS_API int64_t pess_net_action(const float *outputs, int64_t actions, bool sample, pess_random *random);
/* PESS_INPUT where the network was made for another game or another board, or is no policy (acts=uncertainty). */
PESS_API pess_status pess_net_check_game(const pess_net *net, const char *name, const pess_env_info *game,
                                         pess_error *error);

/* How well somebody plays: whole episodes, each in an environment of its own, so the result depends on the seed and the
 * number of episodes alone. */
typedef struct pess_play_options {
    pess_env_options env; /* its seed and stream are not read; env.step_limit 0: 10,000 */
    double epsilon;       /* probability of a uniformly random action. Default 0 */
    bool sample;          /* draw actions from the softmax of the outputs; else the largest output. Default false */
    int64_t episodes;     /* Default 1,000 */
    uint64_t seed;
    int threads; /* 0: all there are */
    pess_progress progress;
} pess_play_options;

typedef struct pess_play_result {
    double mean_return, ci95; /* ci95: half-width of the 95 % interval of the mean (normal approximation) */
    double mean_length;
    int64_t episodes, cutoffs; /* cutoffs: episodes that reached the step limit */
    double least_return, most_return;
} pess_play_result;

PESS_API pess_play_options pess_play_options_defaults(void);
/* Greedy (the smallest of equally good actions), or by sampling, but for epsilon; net NULL: uniformly random. */
PESS_API pess_status pess_play(const pess_net *net, const pess_play_options *options, pess_play_result *out,
                               pess_error *error);

/* DQN (Mnih et al. 2015) with double targets (van Hasselt et al. 2016), many environments at once and replay in packed
 * bits. The directory gets log.csv, two generations of checkpoints and, at the end, policy.pessnet: of the best
 * snapshots by `evaluate_episodes` greedy episodes the one that is best again on fresh episodes. */
typedef struct pess_dqn_options {
    const char *game;    /* a name of pess_env_list */
    const char *network; /* "dqn" (default), "value" or "dense" */
    const char *kernels; /* NULL: the best */
    const char *out;     /* directory; made where it is missing */
    const pess_mdp *mdp; /* in place of a game: one-hot states, network "dense" */
    bool resume;         /* go on from the newest good checkpoint in `out` */
    uint64_t seed;
    int threads;                               /* of the evaluations; 0: all there are */
    int64_t frames;                            /* in all environments together. Default 5,000,000 */
    int64_t envs;                              /* Default 32 */
    int64_t replay;                            /* transitions kept. Default 100,000 */
    int64_t batch;                             /* Default 32 */
    int64_t train_every;                       /* frames per update. Default 8 */
    int64_t target_every;                      /* updates between copies to the target network. Default 1,000 */
    int64_t average;                           /* updates whose running mean is evaluated and kept. Default 1,000 */
    int64_t warmup;                            /* frames of random play before the first update. Default 5,000 */
    double epsilon_first, epsilon_last;        /* of the exploring policy. Default 1 and 0.05 … */
    int64_t epsilon_frames;                    /* … linearly over these. Default 250,000 */
    double gamma;                              /* Default 0.99 */
    int64_t n_step;                            /* rewards summed before the value of the state reached. Default 3 */
    double rate, rate_last;                    /* Adam's step size, linear over the frames. Default 3e-4 to 3e-5 */
    double adam_epsilon;                       /* Default 1.5e-4, as usual for DQN: small gradients stay small steps */
    double huber;                              /* threshold of the loss. Default 1 */
    int64_t step_limit;                        /* of an episode in training; cut off, never terminal. Default 5,000 */
    int64_t evaluate_every, evaluate_episodes; /* frames; Default 100,000 and 100 */
    int64_t final_episodes;                    /* of the last comparison. Default 1,000 */
    int64_t checkpoint_every;                  /* frames. Default 500,000 */
    pess_progress progress;
} pess_dqn_options;

typedef struct pess_dqn_result {
    int64_t frames, updates, resumed_from; /* resumed_from: frame of the checkpoint; -1: from the beginning */
    double mean_return, ci95;              /* of the policy written, on fresh episodes */
    int64_t best_frame;                    /* when it was taken */
    double seconds, network_seconds;       /* of this run; network_seconds: acting, targets and training */
} pess_dqn_result;

PESS_API pess_dqn_options pess_dqn_options_defaults(void);
PESS_API pess_status pess_dqn_run(const pess_dqn_options *options, pess_dqn_result *out, pess_error *error);

/* ------------------------------------------------------------- 13 networks from a fixed dataset (paper, section 6) */

/* A log of a game: packed observations, each different one kept once, and transitions between them. The last
 * observation of every episode is kept, and whether it was terminal or a cut-off. */
typedef struct pess_transitions pess_transitions;

typedef struct pess_transitions_info {
    const char *game;    /* "mdp" for one-hot states of an MDP */
    const char *notes;   /* lines "key=value": how it was collected */
    int64_t bits, bytes; /* of an observation */
    int64_t actions;
    int64_t transitions, states, pairs; /* states: different observations; pairs: different (state, action) */
    int64_t episodes;                   /* that are whole: begun and ended in the log */
    int64_t terminals, cutoffs;         /* transitions that end so; where collecting stopped counts as a cut-off */
    double mean_return, ci95;           /* of the whole episodes; NAN where there are none, ci95 also for one */
    double gamma_return;                /* their mean return discounted by 0.99 */
} pess_transitions_info;

typedef struct pess_collect_options {
    pess_env_options env; /* its seed and stream are not read; env.step_limit 0: 10,000 */
    const pess_net *net;  /* who acts; NULL: uniformly at random */
    bool sample;          /* draw from the softmax of its outputs (pess_net_samples); else the largest. Default false */
    const pess_mdp *mdp;  /* in place of a game; then net reads one-hot states */
    double epsilon;       /* probability of a uniformly random action. Default 0 */
    int64_t transitions;  /* Default 500,000 */
    int64_t envs;         /* environments that step together; the log has them one after the other. Default 32 */
    uint64_t seed;
    pess_progress progress;
} pess_collect_options;

PESS_API pess_collect_options pess_collect_options_defaults(void);
/* Environment i is stream 2^32 + i of the seed, so it shares no luck with the episodes of pess_play. An episode that
 * goes on when its environment has its share of the transitions is cut off there. The result depends on the options
 * alone. */
PESS_API pess_status pess_collect(const pess_collect_options *options, pess_transitions **out, pess_error *error);
/* Files (.pessdata; docs/formats.md): truncated, damaged or foreign ones are PESS_INPUT. */
PESS_API pess_status pess_transitions_read(const char *path, pess_transitions **out, pess_error *error);
PESS_API pess_status pess_transitions_write(const pess_transitions *data, const char *path, pess_error *error);
PESS_API void pess_transitions_destroy(pess_transitions *data);
PESS_API void pess_transitions_get_info(const pess_transitions *data, pess_transitions_info *out);
/* Transition i; any may be NULL. state, next: [bytes] packed observations, which live as long as the data. */
PESS_API bool pess_transitions_get(const pess_transitions *data, int64_t i, const uint8_t **state, int32_t *action,
                                   double *reward, const uint8_t **next, pess_end *end);

/* The algorithms, and named sets of numbers to train with. */
typedef struct pess_learner_info {
    const char *name, *summary;
    bool values;             /* learns q-values (imitation does not) */
    bool imitation;          /* needs the imitation network */
    bool samples;            /* acts by sampling; argmax of its policy is a control */
    double alpha;            /* default of absorbed_alpha; NAN where it has none */
    double alpha_most;       /* largest possible one; 0: any */
    const char *knob;        /* what alpha is, where it is not the weight of a penalty; else NULL */
    const char *source;      /* whose settings these are; NULL: the paper's */
    const char *uncertainty; /* the uncertainty it reads; NULL: none */
} pess_learner_info;

/* The uncertainty-aware learners are "ua-" and the name of a neural uncertainty. */
PESS_API const pess_learner_info *pess_learner_list(size_t index);     /* by position from 0; NULL past the last */
PESS_API const pess_learner_info *pess_learner_find(const char *name); /* "ua" finds the first of them */

/* Where networks take the uncertainty u(s,a) of a pair from. None of these is a bound: alpha is in absorbed units. */
typedef struct pess_neural_uncertainty_info {
    const char *name, *summary, *formula;
    const char *outside; /* what it says of states outside the data */
    double cap;          /* default of u_cap; INFINITY: none */
    bool imitation;      /* needs the imitation network */
} pess_neural_uncertainty_info;

PESS_API const pess_neural_uncertainty_info *pess_neural_uncertainty_list(size_t index); /* NULL past the last */

typedef struct pess_protocol {
    const char *name, *summary;
    int64_t updates, steps, batch; /* Bellman updates, gradient steps of each, samples of a step */
    double rate, rate_last;        /* Adam's step size within an update, linear from first to last step */
    bool reset;                    /* the network begins anew at each update */
    int64_t imitation_steps, imitation_batch;
    double imitation_rate;      /* of its first step */
    double imitation_rate_last; /* of its last; linear in between */
    int64_t eval_every;         /* updates between evaluations; the last five are always evaluated */
    int64_t eval_episodes;      /* of those in between */
    int64_t score_episodes;     /* of each of the last five */
    int64_t control_episodes;   /* of each of the last five, acting by argmax where the algorithm samples */
    int64_t transitions;        /* that an experiment collects, unless told otherwise */
} pess_protocol;

PESS_API const pess_protocol *pess_protocol_list(size_t index);
PESS_API const pess_protocol *pess_protocol_find(const char *name);

#define PESS_SCORED_UPDATES 5 /* the score is the mean over this many last updates */

/* Policies are evaluated in the game as the notes of the data have it: sticky, ramping, minimal_actions. */
typedef struct pess_train_options {
    const pess_transitions *data;
    const char *data_name;     /* for messages and the manifest; NULL: "data" */
    const char *algorithm;     /* a name of pess_learner_list */
    pess_protocol protocol;    /* a copy, to be changed at will; default "quick" */
    double alpha;              /* absorbed α; NAN: the algorithm's own */
    const char *uncertainty;   /* with algorithm "ua": a name of pess_neural_uncertainty_list; NULL: the first */
    double u_cap;              /* largest u; NAN: the uncertainty's own */
    bool relative;             /* u counts from the smallest u of its state (default): without that, every action is
                                  penalised and ending an episode early looks good */
    int64_t uncertainty_steps; /* of the uncertainty's network, a quarter of the protocol's batch each; 0: three fifths
                                  of all steps of the values */
    double gamma;              /* Default 0.99 */
    const char *network;       /* "value" (default), "dqn" or "dense" */
    const char *kernels;       /* NULL: the best */
    const char *out;           /* directory; made where it is missing */
    const char *imitation;     /* file of a trained imitation network of these data; one whose notes name others is
                                  refused. NULL: one is trained first, where it is needed, in out/imitation */
    const pess_mdp *mdp;       /* for data of an MDP: where policies are evaluated; NULL: they are not */
    bool resume;               /* go on from the newest good checkpoint in `out` */
    uint64_t seed;
    int threads;               /* of targets and evaluations; 0: all there are. The result does not depend on it */
    double checkpoint_seconds; /* between checkpoints, which are taken after updates. Default 10 */
    double report_seconds;     /* least time between reports of progress. Default 0.1 */
    pess_progress progress;
} pess_train_options;

/* How a policy did: means over the last PESS_SCORED_UPDATES updates unless said otherwise. Discounted by gamma. */
typedef struct pess_train_result {
    double score;        /* mean undiscounted return */
    double score_final;  /* of the final update alone */
    double score_best;   /* the best seen at any evaluation: not a result, shown as a warning */
    double score_spread; /* largest minus smallest of the scored updates: oscillation; 0 for those without values, who
                            have one evaluation; NAN where nothing was played */
    double control;      /* score when acting by argmax; equals score where the algorithm does not sample */
    double predicted;    /* mean value that the algorithm gives to the episodes' first states; NAN without values */
    double obtained;     /* mean discounted return of the same episodes */
    double outside;      /* share of acting steps in states that are not in the data */
    double mean_target, loss;
    double seconds;                /* of this run */
    int64_t updates, resumed_from; /* resumed_from: update of the checkpoint; -1: from the beginning */
    char warning[256];             /* what the data do not support, in a sentence; empty where there is nothing */
} pess_train_result;

PESS_API pess_train_options pess_train_options_defaults(void);
/* The learner that algorithm and uncertainty name together. */
PESS_API pess_status pess_train_learner(const pess_train_options *options, const pess_learner_info **out,
                                        pess_error *error);
PESS_API pess_status pess_train_run(const pess_train_options *options, pess_train_result *out, pess_error *error);

/* The paper's deep experiments. x is the ε of the policy that collected the data ("minatar-exploration") or the number
 * of transitions ("minatar-data"). Every (game, x, trial) is a dataset with seeds of its own: data, imitation network
 * and training; every algorithm is trained on it. A finished training leaves result.json in
 * out/runs/GAME/x-X/trial-T/ALGORITHM and is not run again; an interrupted one goes on from its checkpoint. */
PESS_API const pess_experiment_info *pess_minatar_list(size_t index); /* by position from 0; NULL past the last */
PESS_API const pess_experiment_info *pess_minatar_find(const char *name);

typedef struct pess_minatar_options {
    const char *experiment; /* a name of pess_minatar_list */
    const char *games;      /* "a,b,…". Default asterix,breakout,freeway,space_invaders */
    const char *algorithms; /* "a,b,…", each NAME or NAME:ALPHA. Default imitation,naive,proximal:0.25,proximal:0.5 */
    bool controls;          /* uncertainty-aware learners bring imitation, proximal and counts-alone. Default true */
    const char *epsilons;   /* x of minatar-exploration. Default 0,0.05,0.1,0.2,0.33,0.66,1 */
    const char *sizes;      /* x of minatar-data. Default 10000,20000,50000,100000,200000,500000 */
    double epsilon;         /* of minatar-data. Default 1 */
    int64_t transitions;    /* of minatar-exploration; 0: the protocol's */
    int64_t trials;         /* Default 3 */
    pess_protocol protocol; /* a copy, to be changed at will; default "quick" */
    const char *policies;   /* directory of the players that collect, GAME.pessnet */
    const char *out;        /* directory */
    bool resume;            /* `out` holds runs already: go on with them */
    bool keep_data;         /* datasets stay beside their runs. Default false: they are collected again from the seed;
                               those that an earlier run in `out` has kept stay */
    uint64_t seed;
    int64_t shard, shards; /* this part, from 1, of so many: every shards-th dataset. Default 1 of 1 */
    int64_t jobs;          /* trainings at once, a thread each; 0: as many as there are cores */
    /* A line about every finished run, with the seconds that the others will take, about; and about what data do not
     * support, with NAN. NULL: none. */
    void (*notice)(void *user, const char *line, double seconds_left);
    void *notice_user;
    pess_progress progress;
} pess_minatar_options;

PESS_API pess_minatar_options pess_minatar_options_defaults(void);

typedef struct pess_minatar pess_minatar;

/* Checks the options and the players, reads the results that are there. Nothing is written. */
PESS_API pess_status pess_minatar_create(const pess_minatar_options *options, pess_minatar **out, pess_error *error);
PESS_API void pess_minatar_destroy(pess_minatar *experiment);

typedef struct pess_minatar_cost {
    int64_t datasets, runs, finished; /* of this shard */
    int64_t jobs;
    double samples; /* that the runs still have to learn from, repetitions counted */
    double seconds; /* that they take with `jobs` at once on this machine, about */
    bool measured;  /* by a few training steps; false: by the runs that are finished */
} pess_minatar_cost;

PESS_API pess_status pess_minatar_estimate(pess_minatar *experiment, pess_minatar_cost *out, pess_error *error);
/* Runs what is not finished. PESS_INTERRUPTED where progress asked to stop; the same options with resume go on. */
PESS_API pess_status pess_minatar_run(pess_minatar *experiment, pess_error *error);

/* A point of a curve: means over trials; min and max of the same scores. Beside the algorithms there are curves
 * "behaviour", the policy that collected the data, and "NAME-argmax" for algorithms that act by sampling. NAN: does not
 * apply. */
typedef struct pess_minatar_point {
    const char *game, *algorithm;
    double x;
    int64_t trials;        /* that are finished */
    double mean, min, max; /* of pess_train_result.score */
    double final_mean;     /* of the final update alone */
    double best_mean;      /* of the best evaluations seen: not a result */
    double control_mean;   /* acting by argmax */
    double predicted, obtained, outside, spread;
    double behaviour_mean;
} pess_minatar_point;

/* What is expected of a game ("all games": of all), the rule by which it is judged, and what came out. */
typedef struct pess_minatar_claim {
    const char *game, *claim, *rule;
    bool judged; /* false: a curve or a point that the rule needs is not there */
    bool holds;
    char found[400];
} pess_minatar_claim;

PESS_API const pess_minatar_point *pess_minatar_points(const pess_minatar *experiment, size_t *count);
PESS_API const pess_minatar_claim *pess_minatar_claims(const pess_minatar *experiment, size_t *count);
PESS_API const char *pess_minatar_description(const pess_minatar *experiment); /* what was run, in words */
/* results.csv, runs.csv, figure.svg, figure.png, figure.pdf, index.html and manifest.json in the experiment's
 * directory, all of them or none. `command` is the command line that repeats it, for the page. */
PESS_API pess_status pess_minatar_write(const pess_minatar *experiment, const char *command, pess_error *error);
/* Puts the runs of several directories (shards) together in the directory `out`, which must be new or empty, and hands
 * out the whole experiment, to be written. PESS_INPUT where settings differ or, unless `partial`, runs are missing. */
PESS_API pess_status pess_minatar_merge(const char *const *directories, size_t count, const char *out, bool partial,
                                        pess_minatar **experiment, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
