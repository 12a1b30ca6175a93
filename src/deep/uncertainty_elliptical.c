/* elliptical: the width of an elliptical confidence set, u(s,a) = √(φᵀΛ_a⁻¹φ) (Jin, Yang & Wang 2021), with
 *
 *     φ(s) = x/|x|, x the bits of the observation,     Λ_a = I/cap² + Σ φ(s_i)φ(s_i)ᵀ over the transitions with action
 * a.
 *
 * A pair unlike any in the data has u = cap. One-hot states have no neighbours: u = 1/√(n(s,a) + 1/cap²) there, the
 * paper's 1/√n but for the cap. Where bits are shared, so are counts, and u shrinks as the data grow. Outside the data
 * a network stands for u, trained to it at the states of the data. */
#include "deep/neural_uncertainty.h"
#include "deep/regression.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BITS = 4096 };

/* What goes with one action: Λ, then its Cholesky factor, then the inverses of both, each in the place of the last. */
typedef struct ellipse {
    int64_t size;
    double *matrix; /* [size*size] on and below the diagonal */
    double *column; /* [size] */
    int32_t *set;   /* [size] the bits that are set in an observation */
} ellipse;

static int64_t list_bits(const pess_observations *data, int64_t state, int32_t *set) {
    const uint8_t *at = data->observations + state * data->bytes;
    int64_t count = 0;
    for (int64_t i = 0; i < data->shape.length; i++)
        if (at[i / 8] >> (i % 8) & 1) set[count++] = (int32_t)i;
    return count;
}

/* Λ += weight φφᵀ. */
static void add_state(const pess_observations *data, int64_t state, double weight, ellipse *e) {
    const int64_t bits = list_bits(data, state, e->set);
    for (int64_t i = 0; i < bits; i++)
        for (int64_t k = 0; k <= i; k++) e->matrix[e->set[i] * e->size + e->set[k]] += weight / (double)bits;
}

/* Λ = LLᵀ, L in its place. Λ is positive definite by the diagonal that it begins with. */
static void factor(ellipse *e) {
    const int64_t n = e->size;
    double *m = e->matrix;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k <= i; k++) {
            double sum = m[i * n + k];
            for (int64_t j = 0; j < k; j++) sum -= m[i * n + j] * m[k * n + j];
            m[i * n + k] = k < i ? sum / m[k * n + k] : sqrt(sum);
        }
}

/* L⁻¹ in the place of L, column by column from the last: what a column needs of L is still there. */
static void invert(ellipse *e) {
    const int64_t n = e->size;
    double *m = e->matrix;
    for (int64_t k = n - 1; k >= 0; k--) {
        const double own = 1 / m[k * n + k];
        for (int64_t i = k + 1; i < n; i++) e->column[i] = m[i * n + k];
        for (int64_t i = k + 1; i < n; i++) {
            double sum = 0;
            for (int64_t j = k + 1; j <= i; j++) sum += m[i * n + j] * e->column[j];
            m[i * n + k] = -sum * own;
        }
        m[k * n + k] = own;
    }
}

/* Λ⁻¹ = WᵀW, W = L⁻¹, on and below the diagonal. Row i reads W from row i on, so it may take the place of that. */
static void square(ellipse *e) {
    const int64_t n = e->size;
    double *m = e->matrix;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k <= i; k++) {
            double sum = 0;
            for (int64_t j = i; j < n; j++) sum += m[j * n + i] * m[j * n + k];
            m[i * n + k] = sum;
        }
}

/* φᵀΛ⁻¹φ over the bits that are set. */
static double width(const pess_observations *data, int64_t state, ellipse *e) {
    const int64_t bits = list_bits(data, state, e->set);
    double sum = 0;
    for (int64_t i = 0; i < bits; i++) {
        const double *row = e->matrix + e->set[i] * e->size;
        for (int64_t k = 0; k < i; k++) sum += 2 * row[e->set[k]];
        sum += row[e->set[i]];
    }
    return bits > 0 ? sqrt(fmax(sum, 0) / (double)bits) : INFINITY; /* nothing to go by */
}

static void fill(const pess__setup *s, const pess__tables *tables, ellipse *e, float *out) {
    const pess_observations *data = s->data;
    for (int64_t a = 0; a < data->actions; a++) {
        memset(e->matrix, 0, (size_t)(e->size * e->size) * sizeof *e->matrix);
        for (int64_t i = 0; i < e->size; i++) e->matrix[i * e->size + i] = 1 / (s->cap * s->cap);
        for (int64_t state = 0; state < data->states; state++) {
            const int32_t taken = tables->counts[state * data->actions + a];
            if (taken > 0) add_state(data, state, taken, e);
        }
        factor(e);
        invert(e);
        square(e);
        for (int64_t state = 0; state < data->states; state++)
            out[state * data->actions + a] = (float)fmin(width(data, state, e), s->cap);
    }
}

static pess_status widths(const pess__setup *s, const pess__tables *tables, float *out, pess_error *error) {
    static const char what[] = "the widths of an ellipse";
    ellipse e = {.size = s->data->shape.length};
    if (e.size > MOST_BITS || !isfinite(s->cap))
        return pess__fail(error, PESS_ARGUMENT,
                          "elliptical: found observations of %lld bits and a cap of %g, expected up to %d bits and a "
                          "finite cap",
                          (long long)e.size, s->cap, MOST_BITS);
    pess_status status = pess__allocate(&e.matrix, e.size * e.size, sizeof *e.matrix, what, error);
    if (status == PESS_OK) status = pess__allocate(&e.column, e.size, sizeof *e.column, what, error);
    if (status == PESS_OK) status = pess__allocate(&e.set, e.size, sizeof *e.set, what, error);
    if (status == PESS_OK) fill(s, tables, &e, out);
    free(e.matrix);
    free(e.column);
    free(e.set);
    return status;
}

static void from_widths(const pess__view *view, double *u) {
    for (int64_t a = 0; a < view->actions; a++) u[a] = (double)view->widths[a];
}

static void from_network(const pess__view *view, double *u) {
    for (int64_t a = 0; a < view->actions; a++) u[a] = (double)view->uncertainty[a];
}

static void label(const pess__view *view, pess__real *labels) {
    for (int64_t a = 0; a < view->actions; a++) labels[a] = (pess__real)view->widths[a];
}

const pess__neural_uncertainty pess__neural_uncertainty_elliptical = {
    .info = {.name = "elliptical",
             .summary = "how little the bits of the observation were seen together with the action",
             .formula = "sqrt(f' inv(L_a) f), f the bits of s over their length, L_a = I/cap^2 + sum of f f' over a",
             .outside = "a network that was trained to predict u at the states of the data",
             .cap = 5,
             .imitation = false},
    .learner =
        {.info = {.name = "ua-elliptical",
                  .summary = "values less alpha times the width of an ellipse over the bits of observations",
                  .values = true,
                  .knobs = &pess__ua_knobs,
                  .source =
                      "the rule of Buckman et al. 2021 with the widths of Jin et al. 2021; alpha and cap are ours",
                  .settings = PESS__READS_UA_NETWORK,
                  .uncertainty = "elliptical"},
         .decide = pess__decide_ua,
         .bits = true,
         .uncertainty = &pess__neural_uncertainty_elliptical},
    .widths = widths,
    .inside = from_widths,
    .outside = from_network,
    .train = pess__regress_labels,
    .label = label};
