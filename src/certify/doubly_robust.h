/* Doubly robust numbers of episodes: weighted returns with control variates that never let them fall below a floor
 * (docs/theory.md, "Episodes").
 *
 * Returns are counted from lo: G' in [0, H], H = hi − lo. w_t is the weight of the steps up to t, ρ = π(a|s)/b(a|s).
 * At each step, before the action is seen, any numbers z(a) >= 0 may be chosen, for
 *
 *   C = Σ_t [ Σ_a b(a|s_t)·k(a)·z(a) − k(a_t)·z(a_t) ],      k(a) = w_{t−1}·ρ(a), paired: w_{t−1}·ρ(a) − 1,
 *
 * has the mean 0, step by step, whatever is hidden. So w_T·G' + C has the mean of w_T·G', at most V^π − lo; paired,
 * (w_T − 1)·G' + C has one of at most V^π − V^b. With z(a) near what the episode will have returned if a is taken,
 * (Σ_{j<t} γ^j·r'_j) + γ^t·q̂(s_t,a), C takes away most of what varies. Where a z that large could lead below −floor, a
 * smaller one is taken: so the number + floor is never negative and the betting bound applies. Nothing is lost of the
 * mean, whatever the floor; the larger it is, the less varies, and the less may be staked.
 *
 * b(a|s) must be known before the action is: a policy that looks at the state alone. */
#ifndef PESS_CERTIFY_DOUBLY_ROBUST_H
#define PESS_CERTIFY_DOUBLY_ROBUST_H

#include "data/dataset.h"

typedef struct pess__doubly_robust_setup {
    int64_t states, actions;
    const double *policy;    /* [S*A] */
    const double *behaviour; /* [S*A]; 0: not known, then z is 0 */
    const double *q;         /* [S*A] q̂ in [0, range]: any */
    double gamma, lo, range; /* range: H */
    double floor;            /* paired: at least `range` */
    bool paired;
} pess__doubly_robust_setup;

/* The setup, and for each state what z is made of. */
typedef struct pess__doubly_robust pess__doubly_robust;

pess_status pess__doubly_robust_create(const pess__doubly_robust_setup *setup, pess__doubly_robust **out,
                                       pess_error *error);
void pess__doubly_robust_destroy(pess__doubly_robust *dr); /* NULL is fine */

typedef struct pess__episode {
    const pess_dataset *data;
    const double *probability; /* [rows of the log] b of the logged actions */
    const int64_t *rows;       /* of the episode, in order */
    int64_t count;
    double least, most; /* of its return: what a cut-off hides is between them */
} pess__episode;

/* The number of the episode, plus the floor: at least 0. NAN where a logged probability is not that of `behaviour`: it
 * is no such policy. */
double pess__doubly_robust_sum(const pess__doubly_robust *dr, const pess__episode *episode);

#endif
