/* The holdout test: a policy that was fixed by the first part of a log is tested on the second part. What follows holds
 * for any way of collecting the second part, also an adaptive one, as long as each of its outcomes (r,s') of a pair is
 * a fresh draw from the process given everything before it: all bounds are exponential supermartingales in the order of
 * time.
 *
 * Rows are the pairs (s,a) with π(a|s) > 0. With v fixed by the first part, Y = r + γv(s') of a row has mean μ. For any
 * ŷ fixed beforehand and |θ|R < 1 with |Y − ŷ| <= R, somebody who bets on Y − ŷ has the factor 1 + θ(Y − ŷ) > 0, and
 *   E exp(ln(1 + θ(Y − ŷ)) − θ(μ − ŷ)) <= 1.                                                                      (B)
 * ln(1+ξ) >= ξ − κ(x)ξ²/2 for ξ >= −x, where x need only be that of the outcomes that came: so the range of those that
 * did not come limits the bet, but does not make it dearer (Waudby-Smith & Ramdas 2024).
 * Two tests are built on it; docs/theory.md has the proofs.
 *   box     every row on its own, a union over the rows: v_lo(s) <= v^π(s) <= v_hi(s) for all s          (box.c)
 *   pooled  all rows in one sum, weighted as the policy visits them: the error averages out              (pooled.c)
 */
#ifndef PESS_CERTIFY_HOLDOUT_H
#define PESS_CERTIFY_HOLDOUT_H

#include "core/status.h"
#include "model/counts.h"
#include "model/model.h"
#include "policy/policy.h"
#include "solve/monitor.h"

/* PESS_INTERRUPTED once the caller asked to stop; asked about ten times a second, by the thread that was called. */
static inline pess_status pess__goes_on(pess__monitor *monitor, pess_error *error) {
    if (monitor == NULL || pess__monitor_check(monitor)) return PESS_OK;
    return pess__fail(error, PESS_INTERRUPTED, "interrupted while certifying");
}

/* How the sweeps to a fixed point ended. Whatever is missing to it is already subtracted, or added. */
typedef struct pess__sweeps {
    double residual; /* the last change */
    bool capped;     /* it was above the tolerance when the number of sweeps ran out */
} pess__sweeps;

/* The worse of several. */
static inline void pess__sweeps_note(pess__sweeps *to, double change, bool capped) {
    to->residual = change > to->residual ? change : to->residual;
    to->capped = to->capped || capped;
}

/* With a horizon: state s of step t is t·each + s, and from there on values lie in [lo[t], hi[t]]. */
typedef struct pess__step_ranges {
    int64_t each, horizon;
    double *lo, *hi; /* [horizon+1] */
} pess__step_ranges;

typedef struct pess__holdout_setup {
    const pess_counts *first, *second; /* parts of one log, of the same states and actions */
    const pess_policy *policy;         /* rows of states that are not terminal sum to one */
    const double *start;               /* [S] ρ, or its estimate from the second part */
    const double *start_first;         /* [S] ρ, or its estimate from the first part */
    const uint8_t *terminal;           /* [S] 1: no actions, value 0 */
    double ratio;                      /* planned size of the second part over that of the first */
    double gamma, reward_lo, reward_hi, v_lo, v_hi;
    bool
        start_estimated; /* start is the mean of the episode starts of the second part, start_first that of the first */
    bool ends;           /* episodes can end: 0 is then a possible successor's value */
    bool trajectories;   /* the counts of the second part are adaptive */
    const pess__step_ranges *steps;       /* NULL: there is no horizon */
    int64_t max_successors;               /* 0: any state may follow */
    const double *outer_low, *outer_high; /* [S] bounds of v^π that hold anyway, or NULL: the box is cut by them */
    double delta_box, delta_sets, delta_floor, delta_pooled, delta_relative; /* delta_floor 0: there is none */
    bool pooled;                                                             /* also the pooled test */
    int side; /* of it: 1 the lower bound alone, −1 the upper one alone, 0 both; one alone is tighter */
    bool dry; /* only a prediction: fewer ways are tried */
    int threads;
    pess__monitor *monitor; /* NULL: nobody asks to stop */
} pess__holdout_setup;

/* Up to so many states the pooled test knows differences of values; up to so many it is run at all, with a discount
 * below 1 or a horizon there. */
#define PESS__POOLED_STATES 700
#define PESS__POOLED_MOST 200000

/* State S is the end of the episode: value 0. */
typedef struct pess__holdout {
    pess__holdout_setup setup;
    int64_t states, rows;
    int64_t *pair, *state; /* [rows] */
    int64_t *first_row;    /* [S+1] the rows of state s are first_row[s] … first_row[s+1]-1 */
    double *weight;        /* [rows] π(a|s) */

    /* Fixed by the first part. */
    double *value;      /* [S+1] v₁: its estimate of v^π */
    double *centre;     /* [rows] ŷ */
    double *expected;   /* [rows] samples that the second part should have */
    double *variance;   /* [rows] of Y per sample */
    uint8_t *closed;    /* [rows] 1: every possible successor was seen */
    uint8_t *stake;     /* [rows] of the floor's bet on the row: an index into its stakes */
    int64_t *reference; /* [rows] the most frequent successor, S: the end */

    /* From the second part. */
    double *n;          /* [rows] */
    double *mean;       /* [rows] of Y with v₁ */
    double *squares;    /* [rows] Σ(Y − ŷ)² */
    double *low, *high; /* [S+1] the box around v^π; both 0 at the end */

    /* The pooled test of one side is about ṽ = min(T^π ṽ, cap) <= v^π (of the other, max and >=): bounded on the side
     * that is not asked about. */
    double *cap;                  /* [S+1] fixed by the first part */
    double *pool_low, *pool_high; /* [S+1] the box around ṽ */
    bool above_cap;               /* the box does not leave ṽ room: no pooled bound */

    double lower, upper;               /* bounds of start·v^π by the box */
    double pooled_lower, pooled_upper; /* bounds of ρ·v^π by the pooled test; infinite where it was not run */
    pess__sweeps sweeps;               /* of the box */
} pess__holdout;

/* Runs the tests. The test borrows what the setup points to. */
pess_status pess__holdout_run(const pess__holdout_setup *setup, pess__holdout **out, pess_error *error);
/* The same on a second part that is imagined: the first one times the ratio; setup->second is not looked at. What it
 * predicts depends on the first part alone, so it may choose the policy. */
pess_status pess__holdout_predict(const pess__holdout_setup *setup, double *lower, pess_error *error);
void pess__holdout_destroy(pess__holdout *test);

/* What rounding can do to a value between v_lo and v_hi, generously, and what it can add up to over many sweeps. */
double pess__rounding_error(double v_lo, double v_hi);
double pess__rounding_of_sweeps(double v_lo, double v_hi, double gamma, int64_t sweeps);
/* 1 − γ, with a floor: sweeps that move less than a part of it end. */
double pess__slowest(double gamma);
/* Σ_j γ^j over the steps that are left at a state. */
double pess__steps_left(const pess__holdout_setup *setup, int64_t s);

/* Steps of pess__holdout_run. */
pess_status pess__holdout_first(pess__holdout *test, pess_error *error);   /* what the first part fixes */
void pess__holdout_second(pess__holdout *test, const pess_counts *second); /* n, mean, squares */
pess_status pess__holdout_box(pess__holdout *test, pess_error *error);

/* The mean of r + γv(s') over the samples of a pair. */
double pess__mean_outcome(const pess_counts *counts, int64_t pair, const double *v, double gamma);
/* |Y − ŷ| can be at most this, for values between low and high [S+1] (v₁ twice: for v₁ itself), whose extremes over all
 * states, and the end where there is one, are `least` and `most`. */
double pess__holdout_range(const pess__holdout *test, int64_t row, const double *low, const double *high, double least,
                           double most);
/* How far an outcome of a row that leads to s can be from ŷ, where g moves it by at most h. */
double pess__holdout_reach(const pess__holdout *test, int64_t row, int64_t s, double h);
/* κ(x) = 1 + 2x/(3(1−x)): ln(1+ξ) >= ξ − κ(x)ξ²/2 for all ξ >= −x. */
double pess__kappa(double x);
void pess__holdout_extremes(const pess__holdout *test, const double *low, const double *high, double *least,
                            double *most);

#endif
