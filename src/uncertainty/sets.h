/* Ambiguity sets: for every pair an interval of mean rewards and a set of next-state distributions that together hold
 * the true ones with probability at least 1−δ, for all pairs at once and therefore for all values and policies. Half of
 * δ is spent on the rewards, half on the transitions.
 *
 * Shared form. T are the k possible successors that the n samples of a pair show, P_D their frequencies; the end of the
 * episode is a successor of value 0. A distribution P is in the set when
 *   (i)  |P − P_D|₁ ≤ ball  and  P(outside T) ≤ unseen, and
 *   (ii) P = (1−β)·p + β·w with β ≤ unseen, p on T with |p − P_D|₁ ≤ seen_ball, w anywhere possible.
 * `l1` uses (i) without a limit on the unseen mass, `support` uses (ii), `good-turing` both. Any state may be among the
 * possible successors; where m of them (or the end) are all in T already, nothing else is. An `unseen` state is one
 * outside T, and the worst state is taken for it even when it lies in T, which makes (ii) no smaller than the
 * confidence set. The extreme of P·v over (i) and over (ii) is exact; for both together the tighter of the two is
 * returned, a valid bound for the intersection. As functions of v all of them are monotone and move by c when v does:
 * worst cases are γ-contractions. */
#ifndef PESS_UNCERTAINTY_SETS_H
#define PESS_UNCERTAINTY_SETS_H

#include "uncertainty/uncertainty.h"

/* The set of one pair. A pair with n = 0 has ball 2, unseen 1, seen_ball infinite: every distribution. */
typedef struct pess__set_pair {
    double reward_width; /* half of the interval around r_D, at most r_hi − r_lo */
    double ball;         /* radius of (i), at most 2; infinite: (i) does not apply */
    double unseen;       /* at most 1 */
    double seen_ball;    /* radius of (ii), at most 2; infinite: (ii) does not apply */
    bool state_open;     /* a state outside T may follow */
    bool end_open;       /* the end was not seen and may follow */
} pess__set_pair;

typedef struct pess__set {
    pess__u_problem problem;
    pess__set_pair *pairs; /* [S*A] */
    int64_t longest;       /* successors of the longest row */
} pess__set;

/* The sets of an uncertainty with is_set. `scale` in [0,1] multiplies every width, radius and mass: 1 is the full set,
 * 0 the empirical model. The problem's counts and model are borrowed for the life of the set. */
pess_status pess__set_build(const pess__u_problem *problem, const char *name, double scale, pess__set **out,
                            pess_error *error);
void pess__set_destroy(pess__set *set);

/* The lowest and highest value over the states that have actions, once per sweep. Ties: the smallest state. */
typedef struct pess__extremes {
    double lo, hi;
    int64_t lo_state, hi_state; /* -1: there is no such state */
} pess__extremes;

pess__extremes pess__value_extremes(const pess_model *model, const double *v);

/* Room for one row, per thread. After a call mass[i] is the extreme distribution's probability of the row's i-th
 * successor (model->row), mass[k] that of the end and mass[k+1] that of the state extremes->lo_state (hi_state), beside
 * what it has as a successor. */
typedef struct pess__set_scratch {
    double *value, *mass; /* [longest+2] */
    int32_t *heap;        /* [longest+2] */
} pess__set_scratch;

pess_status pess__set_scratch_create(const pess__set *set, int count, pess__set_scratch **out, pess_error *error);
void pess__set_scratch_destroy(pess__set_scratch *scratch);

/* min and max of P·v over the set of a pair that was seen; *centre (where not NULL) is P_D·v. */
double pess__set_worst(const pess__set *set, int64_t pair, const double *v, const pess__extremes *extremes,
                       pess__set_scratch *scratch, double *centre);
double pess__set_best(const pess__set *set, int64_t pair, const double *v, const pess__extremes *extremes,
                      pess__set_scratch *scratch, double *centre);
/* Whether a distribution is in the set: `next` [S] over states and the probability of the end. For tests and reports;
 * (ii) is judged with w outside T only. */
bool pess__set_contains(const pess__set *set, int64_t pair, const double *next, double end);
/* The largest total variation between P_D and a member: the part of W that the transitions can move. */
double pess__set_variation(const pess__set_pair *pair);

/* What a bound knows of a row; what it makes of it is the set_of() in the file of its name. */
typedef struct pess__set_facts {
    double n, seen, singletons; /* seen: k; singletons: successors with one sample. Both count the end */
    double possible;            /* m, the end included where episodes end */
    double log_pairs;           /* ln(S·A/δ_P), plus the price of adaptive counts */
} pess__set_facts;

typedef void pess__set_bound(const pess__set_facts *facts, pess__set_pair *pair);

/* B = ln C(m,k) + ln m: a union over every support of every size. */
double pess__set_log_supports(const pess__set_facts *facts);
/* √(2(log_term + k·ln 2)/n), 0 for k = 1: an L1 ball on k successors (Weissman et al. 2003). */
double pess__set_seen_radius(const pess__set_facts *facts, double log_term);

/* u(s,a;v) = reward half-width + γ(P_D·v − min P·v), or half-width + γ·variation·W for v = NULL; the compute() of
 * every set. */
pess_status pess__set_compute(const pess__u_problem *problem, const char *name, const double *v, double *u,
                              pess_error *error);

/* What all sets of models state about themselves. */
#define PESS__SET_INFO                                                                                                 \
    .holds = PESS_HOLDS_EVERYTHING, .holds_for = pess__holds_everything, .per_action = true,                           \
    .depends_on_values = true, .is_set = true, .settings = "delta iid max-successors"

#endif
