/* Pessimist: uncertainty, solving and simulation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_SOLVING_H
#define PESS_SOLVING_H

#include "pess/tabular.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- uncertainty (paper, appendix B; docs/notation.md) */

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
    const char *settings;   /* the specific settings that it reads: "delta iid"; NULL: none */
} pess_uncertainty_info;

PESS_API const pess_uncertainty_info *pess_uncertainty_list(size_t index);     /* by position; NULL past the last */
PESS_API const pess_uncertainty_info *pess_uncertainty_find(const char *name); /* NULL: no such one */

/* An uncertainty of one's own, for algorithms that subtract one number per pair. It holds for nothing: results call it
 * a heuristic. */
typedef struct pess_own_uncertainty {
    size_t size;      /* sizeof(pess_own_uncertainty) */
    const char *name; /* for results, which borrow it */
    /* u [S*A] of all pairs at once, before α; from 0 on, and what is above V_hi − V_lo counts as that. Called from the
     * thread that solves; false refuses (PESS_INTERRUPTED). */
    bool (*compute)(void *user, const pess_counts *counts, const pess_model *model, double *u);
    void *user;
} pess_own_uncertainty;

/* ---- solving */

typedef struct pess_algorithm_info {
    const char *name, *summary, *equation, *source;
    const char *settings;            /* the specific settings that it reads: "alpha absorbed-alpha"; NULL: none */
    const char *default_uncertainty; /* NULL where it takes none */
    bool takes_sets_only;            /* only uncertainties with is_set fit */
} pess_algorithm_info;

PESS_API const pess_algorithm_info *pess_algorithm_list(size_t index);     /* by position; NULL past the last */
PESS_API const pess_algorithm_info *pess_algorithm_find(const char *name); /* NULL: no such one */

typedef enum pess_method {
    PESS_METHOD_AUTO,
    PESS_METHOD_POLICY_ITERATION,
    PESS_METHOD_VALUE_ITERATION,
    PESS_METHOD_MODIFIED_POLICY_ITERATION,
    PESS_METHOD_INEXACT_POLICY_ITERATION,
    PESS_METHOD_GAUSS_SEIDEL
} pess_method;

/* What was found out about the graph of a model to choose a method by; -1: it was not looked for. */
typedef struct pess_structure {
    bool measured;
    double deterministic;   /* share of pairs with one possible outcome, of a sample of 65,536 pairs */
    int64_t bandwidth;      /* largest distance of a state's number to that of a successor; the same */
    int64_t sources, depth; /* states that can end or have an unusual reward, and the largest distance to one of them */
    int64_t components, largest_component; /* strongly connected ones, and the states of the largest */
} pess_structure;

typedef enum pess_evaluation { PESS_EVALUATION_AUTO, PESS_EVALUATION_LU, PESS_EVALUATION_KRYLOV } pess_evaluation;

typedef struct pess_solve_options {
    size_t size;
    const char *algorithm;   /* a name of pess_algorithm_list */
    const char *uncertainty; /* a name of pess_uncertainty_list; NULL: the algorithm's default */
    double gamma;            /* discount; 1 only where episodes end */
    double delta;            /* error probability */
    double alpha;            /* strength of the pessimism, in the theory's units; NAN: not given */
    double absorbed_alpha; /* the same with all constants absorbed: penalty α/√n for UA, α·TV for proximal; NAN: not
                              given. Give one of the two or none */
    bool clip;             /* UA: clip the penalised reward to the reward range, as the paper's experiments do */
    bool iid;              /* declared: the transitions are independent draws, although the log has episodes. Counts
                              of episodes are adaptive: bounds pay for every n at once */
    int64_t max_successors; /* m: declared number of possible next states of a pair; 0: all states */
    double local_policies;  /* hoeffding-s: |Π_local|; NAN: the |A| deterministic ones */
    double min_count;       /* SPIBB n_∧, R-MIN m; NAN: the root of the mean count of a pair, and 10 for R-MIN */
    double budget;          /* Soft-SPIBB ε */
    pess_method method;
    pess_evaluation evaluation;
    double tolerance;       /* sup-norm of the Bellman residual at which to stop */
    int64_t max_iterations; /* of the outer loop; reaching it is an outcome, never silent */
    double time_limit;      /* seconds; NAN: none */
    int threads;            /* 0: all there are */
    pess_progress progress;
    const pess_own_uncertainty *own_uncertainty; /* in place of `uncertainty`; NULL: none */
    int64_t horizon; /* decisions of an episode; 0: no limit. The policy then has a table for each step */
} pess_solve_options;

/* The settings in pess_solve_options, a row each. */
PESS_API const pess_setting_table *pess_solve_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_solve_options pess_solve_options_defaults(void);
/* Does the algorithm, with this uncertainty (NULL: its default), read the setting? All read those that are not
 * specific. */
PESS_API bool pess_algorithm_reads(const char *algorithm, const char *uncertainty, const char *setting);
/* The same where a given policy is evaluated: how the best one is found makes no difference then. */
PESS_API bool pess_evaluation_reads(const char *algorithm, const char *uncertainty, const char *setting);

typedef enum pess_outcome {
    PESS_OUTCOME_CONVERGED,
    PESS_OUTCOME_ITERATION_LIMIT,
    PESS_OUTCOME_TIME_LIMIT
} pess_outcome;

PESS_API const char *pess_outcome_name(pess_outcome outcome); /* "converged", "iteration-limit", "time-limit" */

typedef struct pess_solution pess_solution;

typedef struct pess_solution_info {
    const char *algorithm, *uncertainty, *holds_for; /* uncertainty NULL where none is used */
    double gamma;
    double alpha;       /* as it was used; NAN where the algorithm takes none */
    bool absorbed;      /* in absorbed units */
    double min_count;   /* as it was used; NAN where the algorithm takes none */
    double value;       /* E_ρ of the algorithm's own (penalised) value of the policy */
    double naive_value; /* E_ρ of its unpenalised empirical value */
    pess_outcome outcome;
    int64_t iterations;
    double residual; /* sup-norm of v - T v for the algorithm's own operator */
    double seconds;
    const char *method, *evaluation; /* what was used */
    const char *reason;              /* why this method, where the library chose it; NULL */
    pess_structure structure;
} pess_solution_info;

/* Finds the best policy by an algorithm. `counts` may be NULL for algorithms that need none (naive on an exact model).
 */
PESS_API pess_status pess_solve(const pess_counts *counts, const pess_model *model, const double *start,
                                const pess_solve_options *options, pess_solution **out, pess_error *error);
/* For a problem that is only solved or evaluated from now on, by the algorithm and the uncertainty of these options:
 * gives back the memory of what they do not read of the counts that pess_problem_read counted. n(s,a), n(s) and the
 * successors always stay; arrays that are gone are NULL in pess_counts_get_arrays, mean rewards NAN, and what needs
 * them is PESS_ARGUMENT. */
PESS_API void pess_problem_keep_for(pess_problem *problem, const pess_solve_options *options);
/* The algorithm's value of a given policy. */
PESS_API pess_status pess_evaluate(const pess_counts *counts, const pess_model *model, const double *start,
                                   const pess_policy *policy, const pess_solve_options *options, pess_solution **out,
                                   pess_error *error);
/* Frees it. */
PESS_API void pess_solution_destroy(pess_solution *solution);
/* The outcome, the value and how it was found. */
PESS_API void pess_solution_get_info(const pess_solution *solution, pess_solution_info *out);
/* The policy; borrowed, like the values. */
PESS_API const pess_policy *pess_solution_policy(const pess_solution *solution);
PESS_API const double *pess_solution_values(const pess_solution *solution);       /* [S] the algorithm's */
PESS_API const double *pess_solution_naive_values(const pess_solution *solution); /* [S] */
/* What the solution rests on, by position; NULL past the last. None for an exact model. */
PESS_API const pess_assumption *pess_solution_assumption(const pess_solution *solution, size_t index);
/* u(s,a) that the solution rests on, before α; NULL for algorithms without one or where it is not per action. [S*A] */
PESS_API const double *pess_solution_uncertainty(const pess_solution *solution);
/* q(s,a) = r(s,a) + γ(Pv)(s,a) for the values of a solution, or any others [S]; −∞ where the state has no such action.
 * `out` [S*A]. What an algorithm subtracts from it is alpha times pess_solution_uncertainty. */
PESS_API pess_status pess_q_values(const pess_model *model, double gamma, const double *values, double *out,
                                   pess_error *error);
/* Discounted visitation d(s) = Σ_t γ^t P(s_t = s) of the policy in the model, from ρ. `out` [S]. */
PESS_API pess_status pess_visitation(const pess_model *model, const double *start, const pess_policy *policy,
                                     const pess_solve_options *options, double *out, pess_error *error);

/* A pair that the policy uses for its number of samples most: by visits/√count. */
typedef struct pess_thin_place {
    int64_t state, action, count;
    double visits; /* share of the policy's discounted steps */
} pess_thin_place;

/* The `top` thinnest places of a policy, the thinnest first, into out; *found of them. */
PESS_API pess_status pess_thin_places(const pess_counts *counts, const pess_model *model, const double *start,
                                      const pess_policy *policy, const pess_solve_options *options, int64_t top,
                                      pess_thin_place *out, int64_t *found, pess_error *error);

/* ---- simulation */

typedef enum pess_state_dist {
    PESS_STATE_DIST_START,     /* states of the transitions drawn from ρ */
    PESS_STATE_DIST_STATIONARY /* from the stationary law of the collecting policy */
} pess_state_dist;

/* Either `transitions` or `episodes` are given; 0: not. */
typedef struct pess_simulate_options {
    size_t size;
    int64_t transitions;        /* that many independent transitions … */
    pess_state_dist state_dist; /* … from these states; */
    int64_t episodes, horizon;  /* or whole episodes, cut off after `horizon` steps; 0: 1000 */
    double epsilon;             /* the policy is softened by this much first */
    uint64_t seed;
    int threads; /* 0: all there are */
    pess_progress progress;
} pess_simulate_options;

/* The settings in pess_simulate_options, a row each. */
PESS_API const pess_setting_table *pess_simulate_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_simulate_options pess_simulate_options_defaults(void);
/* A log of the policy acting in a known process; `start` [S] is where episodes begin. */
PESS_API pess_status pess_simulate(const pess_mdp *mdp, const pess_policy *policy, const double *start,
                                   const pess_simulate_options *options, pess_dataset **out, pess_error *error);
/* Stationary law of a policy, [S]; a linear solve, so periodic chains are fine. PESS_INPUT where it is not unique. */
PESS_API pess_status pess_stationary(const pess_model *model, const pess_policy *policy, double *out,
                                     pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
