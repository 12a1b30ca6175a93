#include "core/lbfgs.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 12, BISECTIONS = 40 };

typedef struct climb {
    const pess__lbfgs *search;
    int64_t n, count; /* pairs of the memory in use: count, the newest at (next-1) mod MEMORY */
    int next;
    double *room; /* everything below in one piece */
    double *gradient, *trial, *trial_gradient, *direction;
    double *steps, *changes;                 /* [MEMORY*n] */
    double curvature[MEMORY], alpha[MEMORY]; /* 1/(sᵀy) */
} climb;

static double dot(const double *x, const double *y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void add(double *x, double factor, const double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++) x[i] += factor * y[i];
}

/* direction = H·gradient by the two-loop recursion; changes are of −gradient, so that sᵀy > 0 when climbing. */
static void find_direction(climb *c) {
    const int64_t n = c->n;
    memcpy(c->direction, c->gradient, (size_t)n * sizeof(double));
    for (int64_t k = 0; k < c->count; k++) {
        const int at = (int)((c->next - 1 - k + 2 * MEMORY) % MEMORY);
        c->alpha[at] = c->curvature[at] * dot(c->steps + at * n, c->direction, n);
        add(c->direction, -c->alpha[at], c->changes + at * n, n);
    }
    if (c->count > 0) {
        const int at = (c->next - 1 + MEMORY) % MEMORY;
        const double scale = 1 / (c->curvature[at] * dot(c->changes + at * n, c->changes + at * n, n));
        for (int64_t i = 0; i < n; i++) c->direction[i] *= scale;
    }
    for (int64_t k = c->count - 1; k >= 0; k--) {
        const int at = (int)((c->next - 1 - k + 2 * MEMORY) % MEMORY);
        const double beta = c->curvature[at] * dot(c->changes + at * n, c->direction, n);
        add(c->direction, c->alpha[at] - beta, c->steps + at * n, n);
    }
}

/* A step along the direction with f(trial) ≥ f + c₁·t·slope and slope(trial) ≤ c₂·slope; *t = 0 where there is none. */
static pess_status line_search(climb *c, const double *x, double f, double slope, double *t, double *trial_f,
                               pess_error *error) {
    double lo = 0, hi = INFINITY, step = *t;
    for (int i = 0; i < BISECTIONS; i++) {
        memcpy(c->trial, x, (size_t)c->n * sizeof(double));
        add(c->trial, step, c->direction, c->n);
        PESS_TRY(c->search->evaluate(c->search->context, c->trial, trial_f, c->trial_gradient, error));
        if (!(*trial_f >= f + 1e-4 * step * slope))
            hi = step;
        else if (dot(c->trial_gradient, c->direction, c->n) > 0.9 * slope)
            lo = step;
        else
            break;
        step = isfinite(hi) ? 0.5 * (lo + hi) : 2 * step;
        if (i + 1 == BISECTIONS && !(*trial_f > f)) step = 0;
    }
    *t = step;
    return PESS_OK;
}

static void remember(climb *c, const double *x) {
    const int64_t n = c->n;
    double *s = c->steps + c->next * n, *y = c->changes + c->next * n;
    for (int64_t i = 0; i < n; i++) {
        s[i] = c->trial[i] - x[i];
        y[i] = c->gradient[i] - c->trial_gradient[i];
    }
    const double product = dot(s, y, n);
    if (!(product > 1e-300)) return;
    c->curvature[c->next] = 1 / product;
    c->next = (c->next + 1) % MEMORY;
    if (c->count < MEMORY) c->count++;
}

static pess_status run(climb *c, double *x, double *f, int64_t *steps, pess_error *error) {
    const pess__lbfgs *search = c->search;
    PESS_TRY(search->evaluate(search->context, x, f, c->gradient, error));
    int small = 0;
    for (*steps = 0; *steps < search->max_steps && small < 3; ++*steps) {
        find_direction(c);
        double slope = dot(c->gradient, c->direction, c->n), trial_f = 0;
        double t = c->count > 0 ? 1 : 1 / (1 + sqrt(dot(c->gradient, c->gradient, c->n)));
        if (!(slope > 0) || !isfinite(slope)) return PESS_OK;
        PESS_TRY(line_search(c, x, *f, slope, &t, &trial_f, error));
        if (t == 0 || !(trial_f > *f)) {
            if (c->count == 0) return PESS_OK;
            c->count = 0; /* once more from the gradient alone */
            continue;
        }
        remember(c, x);
        small = trial_f - *f < search->tolerance * (1 + fabs(*f)) ? small + 1 : 0;
        memcpy(x, c->trial, (size_t)c->n * sizeof(double));
        memcpy(c->gradient, c->trial_gradient, (size_t)c->n * sizeof(double));
        *f = trial_f;
    }
    return PESS_OK;
}

pess_status pess__lbfgs_maximise(const pess__lbfgs *search, double *x, double *f, int64_t *steps, pess_error *error) {
    const int64_t n = search->n;
    climb c = {.search = search, .n = n};
    PESS_TRY(pess__allocate(&c.room, n, (4 + 2 * MEMORY) * sizeof(double), "the history of the optimiser", error));
    c.gradient = c.room;
    c.trial = c.gradient + n;
    c.trial_gradient = c.trial + n;
    c.direction = c.trial_gradient + n;
    c.steps = c.direction + n;
    c.changes = c.steps + MEMORY * n;
    const pess_status status = run(&c, x, f, steps, error);
    free(c.room);
    return status;
}
