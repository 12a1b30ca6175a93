/* BiCGSTAB (van der Vorst 1992) with restarts, and GMRES(m) (Saad & Schultz 1986) where it breaks down. Convergence is
 * judged by the sup-norm of the true residual. */
#include "core/krylov.h"

#include "core/memory.h"
#include "core/quad.h"
#include "core/ranges.h"
#include "core/scattered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, PARALLEL_FROM = 131072, VECTORS = 6, RESTARTS = 6, GMRES_DEPTH = 24 };

pess_status pess__krylov_create(int64_t n, int threads, pess__krylov *out, pess_error *error) {
    memset(out, 0, sizeof *out);
    out->n = n;
    out->threads = n >= PARALLEL_FROM ? threads : 1;
    out->partials = (n + CHUNK - 1) / CHUNK;
    pess_status status = pess__allocate_scattered(&out->work, VECTORS * n, sizeof(double), "the Krylov vectors", error);
    if (status == PESS_OK)
        status = pess__allocate(&out->partial, 3 * out->partials, sizeof(double), "the Krylov sums", error);
    if (status != PESS_OK) pess__krylov_release(out);
    return status;
}

void pess__krylov_release(pess__krylov *krylov) {
    free(krylov->work);
    free(krylov->partial);
    free(krylov->room);
    krylov->work = krylov->partial = krylov->room = NULL;
}

/* Every vector loop runs over blocks of CHUNK elements; what a block yields is stored at its number and added in that
 * order afterwards: the same bits at any number of threads. */
typedef struct vectors {
    const pess__krylov *krylov;
    const double *a, *b, *c, *d; /* read */
    double *x, *y;               /* written */
    double alpha, beta;
} vectors;

static inline int64_t block_end(const pess__krylov *krylov, int64_t block) {
    return krylov->n - block * CHUNK < CHUNK ? krylov->n : (block + 1) * CHUNK;
}

static void over_blocks(vectors *v, pess__range *body) {
    pess__ranges(v->krylov->threads, v->krylov->partials, body, v);
}

static double add_partials(const double *partial, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += partial[i];
    return sum;
}

static double max_partials(const double *partial, int64_t count) {
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        if (!(partial[i] <= most)) most = partial[i]; /* NaN is kept */
    return most;
}

/* Σ x y and Σ x over a range, in one order of operations in every build (core/quad.h). */
static double dot_range(const double *x, const double *y, int64_t from, int64_t to) {
    pess__quad sums[2] = {{0}};
    int64_t i = from;
    for (; i + 8 <= to; i += 8) {
        sums[0] += pess__quad_load(x + i) * pess__quad_load(y + i);
        sums[1] += pess__quad_load(x + i + 4) * pess__quad_load(y + i + 4);
    }
    double sum = pess__quad_sum(sums[0] + sums[1]);
    for (; i < to; i++) sum += x[i] * y[i];
    return sum;
}

static double sum_range(const double *x, int64_t from, int64_t to) {
    pess__quad sums[2] = {{0}};
    int64_t i = from;
    for (; i + 8 <= to; i += 8) {
        sums[0] += pess__quad_load(x + i);
        sums[1] += pess__quad_load(x + i + 4);
    }
    double sum = pess__quad_sum(sums[0] + sums[1]);
    for (; i < to; i++) sum += x[i];
    return sum;
}

static void dot_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const vectors *v = context;
    for (int64_t block = from; block < to; block++)
        v->krylov->partial[block] = dot_range(v->a, v->b, block * CHUNK, block_end(v->krylov, block));
}

double pess__dot(const pess__krylov *krylov, const double *x, const double *y) {
    over_blocks(&(vectors){.krylov = krylov, .a = x, .b = y}, dot_blocks);
    return add_partials(krylov->partial, krylov->partials);
}

double pess__sum(int64_t n, const double *x) {
    double total = 0;
    for (int64_t from = 0; from < n; from += CHUNK) total += sum_range(x, from, n - from < CHUNK ? n : from + CHUNK);
    return total;
}

static void residual_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const vectors *v = context;
    for (int64_t block = from; block < to; block++) {
        double most = 0;
        for (int64_t i = block * CHUNK; i < block_end(v->krylov, block); i++) {
            v->x[i] = v->a[i] - v->x[i];
            const double size = fabs(v->x[i]);
            if (!(size <= most)) most = size;
        }
        v->krylov->partial[block] = most;
    }
}

/* r = b − A x; the sup-norm of r. */
static double true_residual(pess__krylov *krylov, const double *b, const double *x, double *r) {
    krylov->apply(krylov->context, x, r);
    over_blocks(&(vectors){.krylov = krylov, .a = b, .x = r}, residual_blocks);
    return max_partials(krylov->partial, krylov->partials);
}

static bool asked_to_stop(const pess__krylov *krylov) {
    return krylov->keep_going != NULL && !krylov->keep_going(krylov->user);
}

static void direction_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const vectors *u = context;
    double *p = u->x;
    const double *r = u->a, *v = u->b, beta = u->beta, omega = u->alpha;
    const int64_t end = to > from ? block_end(u->krylov, to - 1) : 0;
#pragma omp simd
    for (int64_t i = from * CHUNK; i < end; i++) p[i] = r[i] + beta * (p[i] - omega * v[i]);
}

/* p = r + β(p − ω v) */
static void update_direction(const pess__krylov *krylov, double *p, const double *r, const double *v, double beta,
                             double omega) {
    over_blocks(&(vectors){.krylov = krylov, .x = p, .a = r, .b = v, .beta = beta, .alpha = omega}, direction_blocks);
}

static void subtract_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const vectors *u = context;
    double *x = u->x;
    const double *y = u->a, alpha = u->alpha;
    const int64_t end = to > from ? block_end(u->krylov, to - 1) : 0;
#pragma omp simd
    for (int64_t i = from * CHUNK; i < end; i++) x[i] -= alpha * y[i];
}

/* x −= α y */
static void subtract(const pess__krylov *krylov, double *x, const double *y, double alpha) {
    over_blocks(&(vectors){.krylov = krylov, .x = x, .a = y, .alpha = alpha}, subtract_blocks);
}

static void two_dots_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const vectors *v = context;
    const double *t = v->a, *s = v->b;
    for (int64_t block = from; block < to; block++) {
        const int64_t begin = block * CHUNK, end = block_end(v->krylov, block);
        v->krylov->partial[block] = dot_range(t, s, begin, end);
        v->krylov->partial[v->krylov->partials + block] = dot_range(t, t, begin, end);
    }
}

/* t·s and t·t in one pass */
static void two_dots(const pess__krylov *krylov, const double *t, const double *s, double *ts, double *tt) {
    over_blocks(&(vectors){.krylov = krylov, .a = t, .b = s}, two_dots_blocks);
    *ts = add_partials(krylov->partial, krylov->partials);
    *tt = add_partials(krylov->partial + krylov->partials, krylov->partials);
}

static void step_blocks(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const vectors *v = context;
    double *x = v->x, *r = v->y;
    const double *p = v->a, *t = v->b, *shadow = v->c, *q = v->d, alpha = v->alpha, omega = v->beta;
    const pess__quad alphas = pess__quad_of(alpha), omegas = pess__quad_of(omega);
    for (int64_t block = from; block < to; block++) {
        pess__quad sums = {0}, sizes = {0};
        int64_t i = block * CHUNK;
        const int64_t end = block_end(v->krylov, block);
        for (; i + 4 <= end; i += 4) {
            const pess__quad rest = pess__quad_load(r + i) - omegas * pess__quad_load(t + i);
            const pess__quad step = alphas * pess__quad_load(p + i) + omegas * pess__quad_load(q + i);
            pess__quad_store(x + i, pess__quad_load(x + i) + step);
            pess__quad_store(r + i, rest);
            sums += pess__quad_load(shadow + i) * rest;
            sizes = pess__quad_larger(sizes, pess__quad_abs(rest));
        }
        double sum = pess__quad_sum(sums), most = pess__quad_most(sizes);
        for (; i < end; i++) {
            x[i] += alpha * p[i] + omega * q[i];
            r[i] -= omega * t[i];
            sum += shadow[i] * r[i];
            most = fabs(r[i]) > most ? fabs(r[i]) : most;
        }
        v->krylov->partial[block] = most;
        v->krylov->partial[v->krylov->partials + block] = sum;
    }
}

/* x += α p + ω q, r −= ω t; returns sup|r| and sets next = r̂·r */
static double full_step(const pess__krylov *krylov, double *x, double *r, vectors read, double *next) {
    read.krylov = krylov;
    read.x = x;
    read.y = r;
    over_blocks(&read, step_blocks);
    *next = add_partials(krylov->partial + krylov->partials, krylov->partials);
    return max_partials(krylov->partial, krylov->partials);
}

/* M⁻¹x, in `room` where there is a preconditioner. */
static const double *preconditioned(const pess__krylov *krylov, const double *x, double *room) {
    if (krylov->precondition == NULL) return x;
    krylov->precondition(krylov->context, x, room);
    return room;
}

/* One run of BiCGSTAB, preconditioned from the right, from the residual in r; ends at the tolerance, on breakdown or at
 * the limit. x is updated. */
static void bicgstab(pess__krylov *krylov, double *x, double start, double tolerance, int64_t limit,
                     pess__krylov_result *result) {
    const int64_t n = krylov->n;
    double *r = krylov->work, *shadow = r + n, *p = r + 2 * n, *v = r + 3 * n, *t = r + 4 * n;
    memcpy(shadow, r, (size_t)n * sizeof *r);
    memset(p, 0, (size_t)(2 * n) * sizeof *p);
    double rho = pess__dot(krylov, r, r), rho_old = 1, alpha = 1, omega = 1, size = start;
    const double norm = rho;
    bool first = true;
    while (size > tolerance && result->iterations < limit) {
        if (!(fabs(rho) > 1e-30 * norm) || omega == 0.0 || !(size < 1e8 * start)) return;
        if (asked_to_stop(krylov)) {
            result->stopped = true;
            return;
        }
        result->iterations++;
        if (first)
            memcpy(p, r, (size_t)n * sizeof *p);
        else
            update_direction(krylov, p, r, v, rho / rho_old * (alpha / omega), omega);
        first = false;
        const double *step = preconditioned(krylov, p, krylov->room);
        krylov->apply(krylov->context, step, v);
        const double shadow_v = pess__dot(krylov, shadow, v);
        if (shadow_v == 0.0 || !isfinite(shadow_v)) return;
        alpha = rho / shadow_v;
        subtract(krylov, r, v, alpha); /* s, kept in r */
        const double *rest = preconditioned(krylov, r, krylov->room + n);
        krylov->apply(krylov->context, rest, t);
        double ts, tt;
        two_dots(krylov, t, r, &ts, &tt);
        omega = tt > 0 ? ts / tt : 0.0;
        rho_old = rho;
        size = full_step(krylov, x, r,
                         (vectors){.a = step, .b = t, .c = shadow, .d = rest, .alpha = alpha, .beta = omega}, &rho);
    }
}

/* One cycle of GMRES(m) from the residual in basis[0]; x is updated. basis [(m+1)*n]. */
static void gmres_cycle(pess__krylov *krylov, double *x, double *basis, double tolerance, pess__krylov_result *result) {
    const int64_t n = krylov->n;
    double h[GMRES_DEPTH + 1][GMRES_DEPTH] = {{0}}, cosine[GMRES_DEPTH], sine[GMRES_DEPTH], g[GMRES_DEPTH + 1] = {0};
    g[0] = sqrt(pess__dot(krylov, basis, basis));
    if (g[0] == 0.0) return;
    for (int64_t i = 0; i < n; i++) basis[i] /= g[0];
    int depth = 0;
    while (depth < GMRES_DEPTH && fabs(g[depth]) > tolerance) {
        double *w = basis + (depth + 1) * n;
        krylov->apply(krylov->context, preconditioned(krylov, basis + depth * n, krylov->room), w);
        result->iterations++;
        for (int i = 0; i <= depth; i++) { /* modified Gram–Schmidt */
            h[i][depth] = pess__dot(krylov, w, basis + i * n);
            subtract(krylov, w, basis + i * n, h[i][depth]);
        }
        const double norm = sqrt(pess__dot(krylov, w, w));
        for (int i = 0; i < depth; i++) {
            const double upper = h[i][depth], lower = h[i + 1][depth];
            h[i][depth] = cosine[i] * upper + sine[i] * lower;
            h[i + 1][depth] = cosine[i] * lower - sine[i] * upper;
        }
        const double radius = hypot(h[depth][depth], norm);
        if (radius == 0.0) break;
        cosine[depth] = h[depth][depth] / radius;
        sine[depth] = norm / radius;
        h[depth][depth] = radius;
        g[depth + 1] = -sine[depth] * g[depth];
        g[depth] *= cosine[depth];
        depth++;
        if (norm <= 1e-300) break;
        for (int64_t i = 0; i < n; i++) w[i] /= norm;
    }
    for (int i = depth - 1; i >= 0; i--) {
        for (int j = i + 1; j < depth; j++) g[i] -= h[i][j] * g[j];
        g[i] /= h[i][i];
    }
    if (krylov->precondition == NULL) {
        for (int i = 0; i < depth; i++) subtract(krylov, x, basis + i * n, -g[i]);
        return;
    }
    double *sum = krylov->room + n;
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int i = 0; i < depth; i++) subtract(krylov, sum, basis + i * n, -g[i]);
    subtract(krylov, x, preconditioned(krylov, sum, krylov->room), -1);
}

/* GMRES(m) cycles while each gains at least a hundredth. */
static pess_status gmres(pess__krylov *krylov, const double *b, double *x, double tolerance, int64_t limit,
                         pess__krylov_result *result, pess_error *error) {
    double *basis = NULL;
    PESS_TRY(pess__allocate(&basis, (GMRES_DEPTH + 1) * krylov->n, sizeof(double), "the GMRES basis", error));
    double *best = krylov->work;
    double before = INFINITY;
    result->residual = true_residual(krylov, b, x, basis);
    while (result->residual > tolerance && result->residual < 0.99 * before && result->iterations < limit) {
        if (asked_to_stop(krylov)) {
            result->stopped = true;
            break;
        }
        before = result->residual;
        memcpy(best, x, (size_t)krylov->n * sizeof *x);
        gmres_cycle(krylov, x, basis, tolerance, result);
        result->residual = true_residual(krylov, b, x, basis);
        if (!(result->residual <= before)) { /* no gain: the better one stays */
            memcpy(x, best, (size_t)krylov->n * sizeof *x);
            result->residual = before;
            break;
        }
    }
    free(basis);
    return PESS_OK;
}

pess_status pess__krylov_solve(pess__krylov *krylov, const double *b, double *x, double tolerance,
                               int64_t max_iterations, pess__krylov_result *result, pess_error *error) {
    const size_t bytes = (size_t)krylov->n * sizeof *x;
    if (krylov->precondition != NULL && krylov->room == NULL)
        PESS_TRY(
            pess__allocate_scattered(&krylov->room, 2 * krylov->n, sizeof *x, "the preconditioned vectors", error));
    double *r = krylov->work, *best = krylov->work + 5 * krylov->n;
    *result = (pess__krylov_result){.residual = true_residual(krylov, b, x, r)};
    for (int run = 0; run < RESTARTS && result->residual > tolerance && result->iterations < max_iterations; run++) {
        const double before = result->residual;
        memcpy(best, x, bytes);
        bicgstab(krylov, x, before, tolerance, max_iterations, result);
        result->residual = true_residual(krylov, b, x, r);
        if (!(result->residual <= before)) {
            memcpy(x, best, bytes);
            result->residual = before;
            break;
        }
        if (result->stopped || result->residual > 0.5 * before) break;
    }
    if (result->residual > tolerance && !result->stopped && result->iterations < max_iterations)
        PESS_TRY(gmres(krylov, b, x, tolerance, max_iterations, result, error));
    result->converged = result->residual <= tolerance;
    return PESS_OK;
}
