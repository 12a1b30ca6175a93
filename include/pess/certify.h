/* Pessimist: certificates (docs/certificates.md, docs/theory.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_CERTIFY_H
#define PESS_CERTIFY_H

#include "pess/solving.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A certificate is a number L with P(E_ρ[v^π] >= L) >= 1−δ for the policy π that comes with it, although π was chosen
 * from the same log. `robust`: the worst case over a set of processes that holds for all policies at once. `split`: a
 * part of the log chooses the policy, the rest tests it. `episodes`: the same with importance weights of whole
 * episodes, without a Markov assumption. `best`: all that the log allows, δ shared, the best one is returned. */
typedef enum pess_certify_method {
    PESS_CERTIFY_BEST,
    PESS_CERTIFY_ROBUST,
    PESS_CERTIFY_SPLIT,
    PESS_CERTIFY_EPISODES
} pess_certify_method;

/* May a transition end the episode where the log shows no end? auto: where it marks episodes. */
typedef enum pess_may_end { PESS_MAY_END_AUTO, PESS_MAY_END_ON, PESS_MAY_END_OFF } pess_may_end;

typedef struct pess_certify_options {
    size_t size;
    pess_certify_method method;
    const char *uncertainty; /* l1, support or good-turing */
    bool fresh;              /* `policy` was made without this log: then the split may test it too */
    double gamma;
    double delta;       /* that any of the bounds is wrong */
    double split;       /* share of the log that chooses the policy; NAN: 0.2, 0.25 by episodes, 0.5 of whole ones */
    int64_t first_part; /* rows declared for that before looking at the log; 0: by the share */
    int64_t max_successors; /* declared number of possible next states of a pair; 0: all states */
    bool iid;               /* declared: transitions are independent draws although the log has episodes */
    pess_may_end may_end;
    double reward_range[2]; /* declared; NAN: as the log shows, listed as an assumption */
    uint64_t seed;          /* of the random parts of a log without episodes */
    int threads;

    /* Not in the table. */
    const pess_policy *policy; /* certify this one; NULL: find one */
    const double *start;       /* ρ [S]; NULL: estimated from the episode starts, and δ is shared with the estimate */
    const pess_counts *counts; /* of the same log, where they are at hand; NULL: counted here */
    pess_progress progress;

    double return_range[2]; /* declared: the discounted return from any state on; NAN: by rewards and discount. With it
                             * the discount may be 1 */
    const pess_own_uncertainty *own_uncertainty; /* one more candidate of the split, `ua` with it; NULL: none. Not in
                                                  * the table */
    /* Probabilities of the logged actions, for whole episodes: of the log's column unless one of these is set. */
    const pess_policy *behaviour; /* declared: the policy that made the log */
    bool behaviour_estimated;     /* the shares of the actions at each state; then nothing is proved */

    int64_t horizon; /* decisions of an episode that count; 0: all. The policies then may have a table for each step,
                      * and the one that is returned does */
} pess_certify_options;

/* The settings in pess_certify_options, a row each. */
PESS_API const pess_setting_table *pess_certify_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_certify_options pess_certify_options_defaults(void);

typedef struct pess_certificate_info {
    double lower_bound;                                     /* of E_ρ[v^π]: at least V_lo */
    double value_estimate;                                  /* of the same at face value */
    double optimal_upper_bound;                             /* of E_ρ[v] of any policy */
    double suboptimality_upper_bound;                       /* their difference */
    double behaviour_value_estimate, behaviour_upper_bound; /* the policy that made the log */
    double improvement_lower_bound;                         /* lower_bound − behaviour_upper_bound, or by pairs */
    bool recommend_switch;                                  /* the improvement is certified */
    bool vacuous; /* lower_bound is V_lo, or so little above it that it says nothing: certified_share is below 0.05 */
    double value_lo, value_hi;               /* V_lo, V_hi: what any policy has */
    const char *method, *uncertainty, *test; /* test: what gave the bound: "sets", "box", "pooled" or a bet on episodes;
                                                uncertainty NULL where no sets were used */
    bool may_end;                            /* 0 is a possible value after a transition */
    double gamma, delta, split;
    pess_outcome outcome; /* an iteration limit makes the bounds looser, not wrong */
    double residual;      /* of the fixed points behind the bounds; already subtracted, or added */
    int64_t transitions, first_part, second_part;
    int64_t episodes;                        /* 0: the log does not mark them */
    double certified_share;                  /* where lower_bound lies between V_lo (0) and value_estimate (1) */
    int64_t states_compared, states_changed; /* states with data; those whose most likely action is another one */
    double decisions_changed;                /* share of the logged decisions that the policy makes otherwise */
    double data_needed; /* a guess: times the data with which the estimated improvement would be certified; NAN: the
                         * estimate is no improvement, or it is certified, or nothing was compared */
    int64_t horizon;    /* 0: none. With one, a state at a step counts as a state */
} pess_certificate_info;

/* Where δ went: the entries sum to it. */
typedef struct pess_ledger_entry {
    const char *what;
    double delta;
} pess_ledger_entry;

/* A policy that was tried. */
typedef struct pess_candidate {
    const char *name;
    double predicted; /* lower bound that the first part alone predicts; NAN where it was not asked */
    double lower;     /* certified; NAN: not tested, and it has no share of δ */
} pess_candidate;

/* What whole episodes said. */
typedef struct pess_episode_report {
    const char *behaviour;                 /* "logged", "declared" or "estimated" probabilities */
    int64_t choosing, tested;              /* episodes */
    const char *bet, *difference_bet;      /* "whole", "per-decision" or "doubly-robust" */
    double cap, difference_cap;            /* numbers that are bet on are cut to it; INFINITY: not */
    double floor, difference_floor;        /* of doubly robust bets, as a multiple of the range of returns */
    double lower_bound;                    /* of the value of the policy that they tested */
    double difference_lower_bound;         /* of its value minus that of the policy that made the log */
    double effective;                      /* effective number of tested episodes (Σw)²/Σw² */
    double largest_weight, zero_share;     /* of the tested episodes */
    double mean_weight;                    /* should be near 1, */
    double mean_weight_lo, mean_weight_hi; /* with its interval (99 %, by the normal approximation), */
    bool doubtful;                         /* in which 1 does not lie: the probabilities are wrong, or π does what the
                                              behaviour policy never does */
} pess_episode_report;

typedef struct pess_certificate pess_certificate;

/* Bounds, at probability 1 − δ, for a policy found in the log, for the best one and for the one that made the log.
 * Where there are counts alone (data is NULL, options->counts is not), by `robust`, which `best` then is; what needs
 * rows is refused. */
PESS_API pess_status pess_certify(const pess_dataset *data, const pess_certify_options *options, pess_certificate **out,
                                  pess_error *error);
/* Frees it. */
PESS_API void pess_certificate_destroy(pess_certificate *certificate);
/* The bounds, the estimates and what is recommended. */
PESS_API void pess_certificate_get_info(const pess_certificate *certificate, pess_certificate_info *out);
/* What the bounds speak of: its rows sum to one at every state that is not terminal. */
PESS_API const pess_policy *pess_certificate_policy(const pess_certificate *certificate);
/* Lists by position, borrowed; NULL past the last. */
PESS_API const pess_ledger_entry *pess_certificate_ledger(const pess_certificate *certificate, size_t index);
/* What the bounds assume, one by one. */
PESS_API const pess_assumption *pess_certificate_assumption(const pess_certificate *certificate, size_t index);
/* NULL where whole episodes were not tested. */
PESS_API const pess_episode_report *pess_certificate_episodes(const pess_certificate *certificate);
/* The policies that were tried, and how they were judged. */
PESS_API const pess_candidate *pess_certificate_candidate(const pess_certificate *certificate, size_t index);

/* Where data are missing: the value uncertainty of a policy is E_ρ[μ^π] = Σ d(s)π(a|s)u(s,a), pair by pair. */
typedef struct pess_gap {
    int64_t state, action, count;
    double visits;      /* d(s)π(a|s), discounted, in the empirical model */
    double uncertainty; /* u(s,a) */
    double share;       /* of the value uncertainty */
    double gain;        /* by how much one more sample here lowers the value uncertainty, to first order */
} pess_gap;

/* The `top` pairs by gain, the best first, into out; *found of them. options: gamma, delta, horizon, uncertainty (one
 * per pair; NULL: hoeffding), iid, max_successors. *value_uncertainty is E_ρ[μ^π] (may be NULL). */
PESS_API pess_status pess_gaps(const pess_counts *counts, const pess_model *model, const double *start,
                               const pess_policy *policy, const pess_solve_options *options, int64_t top, pess_gap *out,
                               int64_t *found, double *value_uncertainty, pess_error *error);

/* What the page of a certificate tells beside the certificate itself. Everything but the size is optional, also the
 * struct. */
typedef struct pess_certificate_page {
    size_t size;         /* sizeof(pess_certificate_page) */
    const char *log;     /* its name */
    const char *command; /* the command line that repeats it */
    const pess_names *state_names, *action_names;
    const pess_gap *gaps; /* the thin places */
    int64_t gap_count;
    const char *unit; /* what values are measured in: "survival probability", "euros" */
    const char *date; /* of the page, as it is to be read */
} pess_certificate_page;

/* One self-contained HTML page for people: the recommendation first. Whole or not at all. */
PESS_API pess_status pess_certificate_write_page(const pess_certificate *certificate, const pess_certificate_page *page,
                                                 const char *path, pess_error *error);

/* ---- estimates beside certificates: evidence, never proof */

typedef struct pess_estimator_options {
    size_t size;
    double gamma, delta;
    double return_range[2]; /* declared; NAN: by rewards and discount */
    int64_t bootstrap;      /* resamples of the episodes, for errors without a formula */
    uint64_t seed;          /* of them */
    int threads;

    /* Not in the table. */
    const pess_policy *behaviour; /* as in pess_certify_options */
    bool behaviour_estimated;
} pess_estimator_options;

/* The settings in pess_estimator_options, a row each. */
PESS_API const pess_setting_table *pess_estimator_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_estimator_options pess_estimator_options_defaults(void);

typedef struct pess_estimate {
    const char *name;     /* "importance sampling", … */
    const char *unbiased; /* "unbiased", "consistent" (with what is added where episodes were cut off), or "only with
                             Markov states" */
    double value, error;  /* standard error */
    double effective;     /* effective number of episodes; NAN for the model */
    double lower_bound;   /* certified for a policy that was made without this log, and so is the next, each with */
    double upper_bound;   /* probability 1 - delta; NAN: there is none */
} pess_estimate;

enum { PESS_ESTIMATES = 6 };

typedef struct pess_estimates {
    pess_estimate rows[PESS_ESTIMATES];
    int64_t episodes, cutoffs; /* episodes that go on behind their last row */
    double disagreement;       /* of the model and the doubly robust estimate, in standard errors of their difference */
    bool disagrees;            /* by more than 3: the shown states may not be Markov */
} pess_estimates;

/* What a policy is worth by importance sampling (ordinary, per-decision, weighted), doubly robust, weighted doubly
 * robust, and by the model. counts and model are of the same log, which has an episode column. */
PESS_API pess_status pess_estimate_policy(const pess_dataset *data, const pess_counts *counts, const pess_model *model,
                                          const pess_policy *policy, const pess_estimator_options *options,
                                          pess_estimates *out, pess_error *error);

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
    size_t size;
    const char *uncertainty; /* one with one number per pair */
    double gamma, delta;
    int64_t max_successors;
    bool iid; /* declared: the samples of a pair are a fixed number of independent draws; else a trajectory's */
    int threads;

    /* Not in the table. */
    const double *alphas; /* [alpha_count]; NULL: 0, 0.25, 0.5, 0.75, 1 */
    int64_t alpha_count;
} pess_theorem_options;

/* The settings in pess_theorem_options, a row each. */
PESS_API const pess_setting_table *pess_theorem_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_theorem_options pess_theorem_options_defaults(void);
/* Theorems 2, 3, 4 and the density variant on one dataset, for every α, beside the truth in `mdp`. counts and model are
 * of the dataset, with the MDP's states and actions. rows has room for 4·alpha_count (20 where alphas is
 * NULL); *count are filled. */
PESS_API pess_status pess_theorems(const pess_mdp *mdp, const pess_counts *counts, const pess_model *model,
                                   const double *start, const pess_theorem_options *options, pess_theorem_row *rows,
                                   int64_t *count, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
