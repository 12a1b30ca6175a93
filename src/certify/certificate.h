/* The certificate in the making. */
#ifndef PESS_CERTIFY_CERTIFICATE_H
#define PESS_CERTIFY_CERTIFICATE_H

#include "certify/holdout.h"
#include "certify/robust.h"
#include "certify/split.h"
#include "core/assumptions.h"
#include "model/model.h"

#include <math.h>

struct pess_certificate {
    pess_certificate_info info;
    pess_policy *policy;
    pess__assumptions assumptions;
    pess_ledger_entry *ledger;
    pess_candidate *candidates;
    int64_t ledger_count, ledger_capacity, candidate_count, candidate_capacity;
    char **names; /* of candidates, where they were made for it */
    int64_t name_count, name_capacity;
    bool has_episodes; /* they were tested, and */
    pess_episode_report episodes;
};

/* Everything that pess_certify works on. */
typedef struct pess__certification {
    const pess_dataset *data; /* NULL: counts alone */
    pess_state_origin origin; /* of its states */
    const pess_certify_options *options;
    pess_certificate *certificate;
    const pess_counts *counts; /* of the whole log */
    pess_counts *own_counts;   /* the same, where they were counted here */
    pess_model *model;         /* of it; unseen pairs are worst */
    double v_lo, v_hi;
    pess__step_ranges steps; /* with a horizon, of the values at each step */
    int threads;
    const char *uncertainty;
    bool trajectories, start_estimated;
    double *start;                      /* [S] ρ, or its estimate from the whole log */
    double *start_first, *start_second; /* [S] the same of the parts */
    pess__split *split;                 /* NULL: no split is wanted, or the log is too small for one */
    int64_t episodes_second;
    bool compares;                   /* with the logging policy */
    struct pess__episodes *episodes; /* NULL: they are not tested */
    double difference;               /* certified of the policy that is returned, by pairs; −INFINITY: not */
    pess__sweeps sweeps;
    pess__monitor *monitor;
} pess__certification;

/* The counts do not say whether the log has episodes: then it may have some, which is the careful reading. */
static inline bool pess__episodes_unknown(const pess_counts *counts) {
    return counts->counted && !counts->has_episodes;
}

/* certify_check.c: PESS_ARGUMENT or PESS_INPUT. The log's faults also decide what is compared. */
pess_status pess__certify_check_options(const pess__certification *job, pess_error *error);
pess_status pess__certify_check_policy(const pess__certification *job, pess_error *error);
/* Sets v_lo and v_hi, and the ranges of steps: finite, and not contradicted by the log. */
pess_status pess__certify_check_range(pess__certification *job, pess_error *error);
pess_status pess__certify_check_log(pess__certification *job, pess_error *error);

/* What is found or estimated by algorithms for discounted values, and promised by nobody: a discount of 1 is taken as
 * one that thousands of steps do not notice. */
static inline double pess__below_one(double gamma) { return gamma < 1 ? gamma : 1 - 1e-7; }

/* Of the log that chooses a policy for the split: of episodes at most that, for they are cut at a power of two. */
static inline double pess__split_share(const pess__certification *job) {
    const double unset = job->counts->has_episodes && (job->trajectories || job->start_estimated) ? 0.25 : 0.2;
    return isnan(job->options->split) ? unset : job->options->split;
}

/* How many next states `pairs` pairs can have: as many as declared, or as there are at the next step; 0: all. */
static inline int64_t pess__most_successors(const pess__certification *job, int64_t pairs) {
    const int64_t declared = job->options->max_successors * pairs, there = job->steps.each;
    return there > 0 && (declared == 0 || declared > there) ? there : declared;
}

/* How δ is shared; zero where a test is not run. */
typedef struct pess__shares {
    double transitions, learned, rewards_low, rewards_high, start_sets;       /* sets, for all policies */
    double box, sets, floor, pooled, relative, start_test;                    /* the test of the policy */
    double log_box, log_sets, log_floor, log_pooled, log_relative, log_start; /* the test of the logging policy */
    double log_episodes;                                                      /* its whole episodes */
    double log_transitions, log_learned, log_rewards_low, log_rewards_high;   /* its sets, from the whole log */
    double episodes, episodes_difference; /* whole episodes: the policy, the comparison */
    double other_places;                  /* the tests, had the log been cut elsewhere */
} pess__shares;

/* certify_prepare.c: everything in the certification but bounds, from its log and options. */
pess_status pess__certify_prepare(pess__certification *job, pess_error *error);

/* How many starts there are may depend on what was seen: δ/(K(K+1)) for each number K. */
static inline double pess__log_starts(double starts, double delta) { return log(starts * (starts + 1) / delta); }

/* certify_sets.c */
typedef struct pess__set_bounds {
    pess__robust *robust;
    double lower, upper; /* of the policy; of the best policy */
    pess_policy *policy; /* the robust one, or NULL where one was given */
    pess__sweeps sweeps;
} pess__set_bounds;

/* Sets from counts of state-action pairs or, for the logging policy, of states alone. */
pess_status pess__certify_robust(const pess__certification *job, const pess_counts *counts, const pess_model *model,
                                 const pess_counts *first, const pess_counts *second, pess__robust_delta delta,
                                 pess__robust **out, pess_error *error);
pess_status pess__bound_by_sets(const pess__certification *job, const pess__shares *shares, pess__set_bounds *out,
                                pess_error *error);
void pess__set_bounds_release(pess__set_bounds *sets);
/* How far the true start distribution may be from its estimate; 0 where it was declared. */
double pess__start_radius(const pess__certification *job, double delta);

/* certify_tests.c */
/* The test of a policy, or of the logging policy, that the shares of δ allow; the caller sets the policy. */
pess__holdout_setup pess__test_setup(const pess__certification *job, bool logging, const pess__shares *shares);
/* The lower bound and the test that found it. */
pess_status pess__test_policy(pess__certification *job, const pess__shares *shares, const pess__robust *robust,
                              const pess_policy *policy, double *lower, const char **test, pess_error *error);
/* The logging policy took n(s) samples at s, whatever the action: one row per state, of a process with one action. Its
 * sets, from such counts of the whole log and its parts. */
pess_status pess__logging_sets(const pess__certification *job, const pess__shares *shares, const pess_counts *whole,
                               const pess_counts *first, const pess_counts *second, pess_model **model,
                               pess__robust **out, pess_error *error);
/* Sets the logging policy's upper bound in the certificate. */
pess_status pess__test_logging(pess__certification *job, const pess__shares *shares, pess_error *error);

/* counts_alone.c: certificates without rows. */
/* Refuses what needs rows, and counts of which it is known that nothing can rest on them. */
pess_status pess__counts_alone_check(const pess__certification *job, pess_error *error);
pess_status pess__counts_alone_assume(const pess__certification *job, pess_error *error);
/* Sets the logging policy's upper bound in the certificate: by sets, as nothing is left to test it. */
pess_status pess__counts_alone_logging(pess__certification *job, const pess__shares *shares, pess_error *error);

/* conclusion.c: fills the certificate's info from its bounds, estimates and policy. */
void pess__conclude(pess__certification *job, double optimal_upper);

/* ledger.c */
/* Is the process small enough for the pooled test? */
bool pess__pools(const pess__certification *job);
pess__shares pess__shares_of(const pess__certification *job);
pess_status pess__ledger_write(const pess__certification *job, const pess__shares *shares, pess_error *error);

/* certify_assumptions.c */
pess_status pess__certify_assumptions(const pess__certification *job, pess_error *error);

/* candidates.c */
pess_status pess__candidate_add(pess_certificate *certificate, pess_candidate candidate, pess_error *error);
/* One whose name is copied, not tested yet. */
pess_status pess__candidate_add_named(pess_certificate *certificate, const char *name, double predicted,
                                      pess_error *error);
/* The policy that the first part chooses; what was tried goes to the list of candidates, where *row is its place. */
pess_status pess__choose_policy(pess__certification *job, const pess__holdout_setup *setup, pess_policy **out,
                                int64_t *row, pess_error *error);

#endif
