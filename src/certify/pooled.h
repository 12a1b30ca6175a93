/* The pooled test: all rows of a policy in one weighted sum (docs/theory.md, "The pooled test").
 *
 * Let g = v^π − v₁ and let x_z = Ȳ_z − μ_z be the error of row z's mean of Y = r + γv^π(s'), for the true v^π: it is
 * fixed, if unknown. For the empirical chain P̂ of the second part, v̂ its values, and any vector q,
 *   q·v^π = q·v̂ − Σ_z D_z x_z,      D = q(I − γP̂)⁻¹ times π,                                                      (1)
 * exactly. A prior over directions, θ_z ~ N(θ⁰_z, τ_z²) cut off where |θ|R >= 1, fixed by the first part, turns (B)
 * into one inequality for all directions λD_z/n_z at once (Donsker & Varadhan; Catoni): with probability 1−δ,
 *   λ·Σ D_z x_z <= ln(1/δ) + Σ_z [ ½κ_z(θ_z² + τ_z²)V_z + (θ_z − θ⁰_z)²/(2τ_z²) + ζ ],   θ_z = λD_z/n_z,         (2)
 * with V_z = Σ(Y − ŷ)², κ_z = κ(x) at x = (|θ_z| + βτ_z)r_z and ζ = −ln P(|N(0,1)| <= β). r_z is how far outcomes that
 * were seen can be from ŷ; R_z, how far any can be, only limits θ. D may depend on the second part, so (1) needs no
 * union over states: the errors of different rows cancel as they would in a mean.
 *
 * V_z, r_z and R_z contain g: with ŷ = ŷ¹ + γg(reference), √V_z <= √Σ(Y¹ − ŷ¹)² + γ√Σ_s' n(z,s')h(s')², where h bounds
 * |g(s') − g(reference)|. Such differences are targets q of (1) themselves. They start from the box and are brought
 * down by (2) again and again: on one and the same event, so nothing more is paid.
 *
 * Where ρ is estimated, the K starts of the second part are one more row: Y = v^π(s₀) with mean ρ·v^π, coordinate
 * number `rows`, D = 1. q·v^π − ρ·v^π for q = the mean of the starts is its x. */
#ifndef PESS_CERTIFY_POOLED_H
#define PESS_CERTIFY_POOLED_H

#include "certify/holdout.h"

/* A posterior reaches βτ to either side of its centre, which costs ζ = −ln P(|N(0,1)| <= β) = 4.653664…e-4, rounded up.
 */
#define PESS__POSTERIOR_REACH 3.5
#define PESS__POSTERIOR_PRICE 4.6537e-4

enum { PESS__POOLED_PRIORS = 3 };

/* A difference g(s) − g(t) that the test must know; S stands for the end. */
typedef struct pess__pooled_target {
    int64_t s, t;
} pess__pooled_target;

typedef struct pess__pooled {
    pess__holdout *test;
    bool dense;           /* inverses are at hand, and so are differences; else there are no targets */
    double *first_visits; /* [S] from ρ in the first part */
    int64_t target_count;
    pess__pooled_target *targets;
    int64_t *target_of;      /* [successors of first] of the successor against its row's reference, or -1 */
    int64_t *target_end;     /* [rows] the same for the end */
    int64_t start_reference; /* the most frequent start of the first part */
    int64_t *target_start;   /* [S] of a start of the first part against it, or -1 */
    double start_centre, starts_expected;
    double *first_inverse; /* [(S+1)*S] of the first part; row S is zero. NULL: not dense */
    int prior_count;
    double *prior_v[PESS__POOLED_PRIORS], *prior_r[PESS__POOLED_PRIORS]; /* [rows+1] what each prior is tuned to */
    double *prior_scale[PESS__POOLED_PRIORS];                            /* [targets] λ⁰ */
} pess__pooled;

/* What the test sees of a part: the chain of the rows with at least `least` samples. */
typedef struct pess__pooled_view {
    const pess__pooled *pooled;
    const pess_counts *counts;
    const int64_t *starts; /* [S], or NULL: ρ is declared */
    double starts_scale;   /* each of them counts so often */
    double starts_count;
    uint8_t *bad;                   /* [S] a state with a row that is not in the chain: held at its box */
    double *inverse;                /* [(S+1)*S] (I − γP̂)⁻¹; row S is zero. NULL: not dense */
    double *low_value, *high_value; /* [S+1] v̂ with the bad states held at low, high */
    double *excess;                 /* [S] by how much the mean of r + γcap(s') is beyond the cap, or 0 */
    double *v, *range, *seen;       /* [rows+1] V, R, and r: how far an outcome that was seen can be from ŷ */
    double *h;                      /* [targets] */
} pess__pooled_view;

pess_status pess__pooled_create(pess__holdout *test, pess__pooled **out, pess_error *error);
void pess__pooled_destroy(pess__pooled *pooled);
/* Runs on the first part's own prediction (the test must hold its second part and box) and keeps the priors. */
pess_status pess__pooled_tune(pess__pooled *pooled, const pess_counts *imagined, pess_error *error);
/* The test itself: sets the test's pooled_lower and pooled_upper. */
pess_status pess__pooled_apply(pess__pooled *pooled, pess_error *error);

/* pooled_view.c */
/* `imagined`: the counts are the first part's prediction, and so are the starts. */
pess_status pess__pooled_view_create(const pess__pooled *pooled, const pess_counts *counts, bool imagined,
                                     int64_t least, pess__pooled_view **out, pess_error *error);
void pess__pooled_view_destroy(pess__pooled_view *view);
void pess__pooled_view_refresh(pess__pooled_view *view); /* V and R from h and the box */

/* pooled_chain.c */
/* Without discount a chain that never ends has no values: marks the states from which it cannot. */
pess_status pess__pooled_hold_endless(const pess__holdout *test, const pess_counts *counts, uint8_t *bad,
                                      pess_error *error);
/* rows of (I − γP)⁻¹ for the chain in counts without the bad states. */
pess_status pess__pooled_invert(const pess__holdout *test, const pess_counts *counts, const uint8_t *bad,
                                double *inverse, pess_error *error);
/* v̂ [S+1] with the bad states held at `held`; `constant` [S] is scratch. */
void pess__pooled_values(const pess__pooled_view *view, const double *held, double *constant, double *out);
/* start·(I − γP)⁻¹ [S], by the inverse, or for NULL by sweeps. */
pess_status pess__pooled_visits(const pess__holdout *test, const pess_counts *counts, const uint8_t *bad,
                                const double *inverse, const double *start, double *visits, pess_error *error);

#endif
