/* Ambiguity sets by subsets: the L1 ball of Weissman et al. (2003) is a union bound over all subsets A of the possible
 * successors, each with Chernoff's inequality n·kl(P_D(A), P(A)) <= log_term, which they then weaken by Pinsker's. Kept
 * as it is, it is a smaller set for the same δ: a subset of probability near 0 or 1 is known far better than 1/√n.
 *   l1       all subsets of the m possible successors: log_term = ln(S·A/δ) + m·ln 2
 *   support  for the k successors that were seen, a union over every support of size k of m:
 *            price = ln C(m,k) + ln m + ln(2·S·A/δ); unseen mass <= price/n, and the subsets of the seen ones, given
 *            that they are the support, with log_term = price + k·ln 2
 *   learned  for the k successors that an earlier part of the log shows, a set that is fixed as seen from the later
 *            part: subsets of those alone, log_term = ln(S·A/δ) + k·ln 2, n and P_D of the later part
 * Lower bound of P·v, with the k successors in descending order of v and A_i the first i of them:
 *   P·v >= Σ_i (v_i − v_{i+1})·low(P_D(A_i)),     low(p) the smallest q with kl(p,q) <= log_term/n.
 * All others, where there can be any, stand at the lowest value that is possible: after the last, so that no A_i has
 * them. */
#ifndef PESS_CERTIFY_SUBSET_SETS_H
#define PESS_CERTIFY_SUBSET_SETS_H

#include "uncertainty/sets.h"

typedef struct pess__subset_pair {
    double level;     /* log_term/n of the subsets */
    double unseen;    /* support: bound of the unseen mass; l1: NAN */
    double whole;     /* l1 and learned: the same of the whole row, a single subset */
    double gone;      /* l1 and learned: 1 − low(P_D(A_k)), by way of it */
    int32_t entries;  /* successors in the row, the end included */
    bool open_states; /* a state outside the row may follow */
    bool open_end;    /* the end is not in the row and may follow */
} pess__subset_pair;

/* A successor in the order of the last sweep. While that order stands, its weight in the worst case stands too: P·v is
 * then a plain weighted sum, and only the order has to be looked at. Pairs are independent, so threads may share it as
 * long as no two work on the same pair. */
typedef struct pess__subset_entry {
    double mass, weight;
    uint32_t next; /* PESS__SUBSET_END: the end */
} pess__subset_entry;

#define PESS__SUBSET_END UINT32_MAX

typedef struct pess__subset_sets {
    const pess_counts *counts;
    const pess_counts *supports; /* whose rows the successors are: the same counts, or learned ones */
    pess_counts *own_supports;   /* the learned ones */
    const pess_model *model;
    pess__subset_pair *pairs;    /* [S*A] */
    pess__subset_entry *entries; /* those of pair z begin at row[z] + z */
    int64_t longest;
} pess__subset_sets;

typedef struct pess__subset_slot {
    double value, mass;
    uint32_t next;
} pess__subset_slot;

bool pess__subset_knows(const char *uncertainty); /* l1 and support */
/* problem->delta is all for the transitions. */
pess_status pess__subset_create(const pess__u_problem *problem, const char *uncertainty, pess__subset_sets **out,
                                pess_error *error);
/* The set `learned`: successors come from `earlier`, problem->counts is the later part. δ is shared evenly between
 * states, and within a state as the earlier part shares its samples between actions. */
pess_status pess__subset_learn(const pess__u_problem *problem, const pess_counts *earlier, pess__subset_sets **out,
                               pess_error *error);
/* learned_supports.c: rows of successors, numbers of samples and whether the end was among them; `declared`: how many
 * successors are possible, 0: any number. */
pess_status pess__supports_learn(const pess_counts *earlier, int64_t declared, pess_counts **out, pess_error *error);
void pess__subset_destroy(pess__subset_sets *sets);
/* min (sign 1) or max (−1) of P·v over the set of a pair that was seen; scratch has room for longest+1 slots. */
double pess__subset_extreme(const pess__subset_sets *sets, double sign, int64_t pair, const double *v,
                            const pess__extremes *extremes, pess__subset_slot *scratch);
/* The better bound of two sets that both hold; `learned` may be NULL or not have seen the pair. */
double pess__subset_better(const pess__subset_sets *sets, const pess__subset_sets *learned, double sign, int64_t pair,
                           const double *v, const pess__extremes *extremes, pess__subset_slot *scratch);
/* A q that is at most the smallest with kl(p,q) <= level, in closed form: kl(p,q) >= (p−q)²/(2·max t(1−t)) over [q,p].
 */
double pess__coin_low(double p, double level);

#endif
