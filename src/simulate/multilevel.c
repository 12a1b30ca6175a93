/* Stationary laws of large sparse chains by multilevel aggregation (Horton & Leutenegger 1994): Gauss-Seidel takes out
 * the error that changes from node to node; groups of nodes, as nodes of a smaller chain, take out the rest. Everything
 * stays positive, and a period does no harm. */
#include "core/memory.h"
#include "simulate/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COARSEST = 300, MAX_LEVELS = 40, MAX_CYCLES = 1000, WINDOW = 12 };
static const double tolerance = 1e-12;
static const double smallest = 1e-290; /* keeps divisions by what has underflowed finite */

/* One chain, by incoming edges, without loops. */
typedef struct level {
    int64_t size;
    int64_t *in_row;  /* [size+1] */
    uint32_t *source; /* [edges] */
    double *p;        /* [edges] probability of source -> this node */
    double *out;      /* [size] probability of leaving the node */
    double *x;        /* [size] the law, up to scale */
    uint32_t *group;  /* [size] the node of the next level; NULL at the last one */
    int64_t *place;   /* [edges] the edge of the next level that this one is part of; -1: inside a group */
    double *before;   /* [size] x as it came from the level above */
} level;

typedef struct hierarchy {
    level levels[MAX_LEVELS];
    int count;
    double *dense; /* [COARSEST²] for the last level */
} hierarchy;

static void level_clear(level *l) {
    free(l->in_row);
    free(l->source);
    free(l->p);
    free(l->out);
    free(l->x);
    free(l->group);
    free(l->place);
    free(l->before);
    *l = (level){0};
}

static pess_status level_allocate(int64_t size, int64_t edges, level *l, pess_error *error) {
    static const char what[] = "a level of a Markov chain";
    l->size = size;
    pess_status status = pess__allocate(&l->in_row, size + 1, sizeof *l->in_row, what, error);
    if (status == PESS_OK) status = pess__allocate(&l->source, edges, sizeof *l->source, what, error);
    if (status == PESS_OK) status = pess__allocate(&l->p, edges, sizeof *l->p, what, error);
    if (status == PESS_OK) status = pess__allocate(&l->out, size, sizeof *l->out, what, error);
    if (status == PESS_OK) status = pess__allocate(&l->x, size, sizeof *l->x, what, error);
    if (status == PESS_OK) status = pess__allocate(&l->before, size, sizeof *l->before, what, error);
    if (status != PESS_OK) level_clear(l);
    return status;
}

/* The chain turned round: incoming edges, loops left out, the law uniform. */
static pess_status first_level(const pess__markov_chain *chain, level *l, pess_error *error) {
    PESS_TRY(level_allocate(chain->size, chain->row[chain->size], l, error));
    for (int64_t i = 0; i < chain->size; i++)
        for (int64_t k = chain->row[i]; k < chain->row[i + 1]; k++)
            if ((int64_t)chain->next[k] != i) l->in_row[chain->next[k] + 1]++;
    for (int64_t i = 0; i < chain->size; i++) l->in_row[i + 1] += l->in_row[i];
    for (int64_t i = 0; i < chain->size; i++)
        for (int64_t k = chain->row[i]; k < chain->row[i + 1]; k++) {
            const uint32_t to = chain->next[k];
            if ((int64_t)to == i) continue;
            const int64_t at = l->in_row[to]++; /* put right below */
            l->source[at] = (uint32_t)i;
            l->p[at] = chain->probability[k];
            l->out[i] += chain->probability[k];
        }
    for (int64_t i = chain->size; i > 0; i--) l->in_row[i] = l->in_row[i - 1];
    l->in_row[0] = 0;
    for (int64_t i = 0; i < chain->size; i++) l->x[i] = 1 / (double)chain->size;
    return PESS_OK;
}

/* Groups of two: each node with the free node that sends it most under the present law, what is left over with each
 * other. */
static uint32_t pair_up(const level *l, uint32_t *group) {
    const uint32_t free_node = UINT32_MAX;
    uint32_t groups = 0;
    for (int64_t j = 0; j < l->size; j++) group[j] = free_node;
    for (int64_t j = 0; j < l->size; j++) {
        if (group[j] != free_node) continue;
        int64_t best = -1;
        double most = -1;
        for (int64_t k = l->in_row[j]; k < l->in_row[j + 1]; k++) {
            const double flow = l->x[l->source[k]] * l->p[k];
            if (group[l->source[k]] != free_node || flow <= most) continue;
            best = k;
            most = flow;
        }
        if (best < 0) continue;
        group[j] = group[l->source[best]] = groups++;
    }
    bool half = false;
    for (int64_t j = 0; j < l->size; j++) {
        if (group[j] != free_node) continue;
        group[j] = half ? groups - 1 : groups++;
        half = !half;
    }
    return groups;
}

/* The pattern of the chain of groups; place[k] tells where each edge goes. order [size] and seen [groups] are scratch.
 */
static int64_t group_edges(const level *l, const uint32_t *group, const uint32_t *order, int64_t *seen,
                           uint32_t *source, int64_t *in_row, int64_t *place) {
    int64_t edges = 0, begin = 0;
    uint32_t present = 0;
    in_row[0] = 0;
    for (int64_t at = 0; at < l->size; at++) {
        const uint32_t j = order[at];
        if (group[j] != present) {
            in_row[++present] = begin = edges;
        }
        for (int64_t k = l->in_row[j]; k < l->in_row[j + 1]; k++) {
            const uint32_t from = group[l->source[k]];
            if (from == present) {
                place[k] = -1;
                continue;
            }
            if (seen[from] <= begin) {
                source[edges] = from;
                seen[from] = ++edges;
            }
            place[k] = seen[from] - 1;
        }
    }
    in_row[present + 1] = edges;
    return edges;
}

/* order [size]: the nodes by group. */
static void sort_by_group(const level *l, const uint32_t *group, uint32_t groups, int64_t *begin, uint32_t *order) {
    memset(begin, 0, ((size_t)groups + 1) * sizeof *begin);
    for (int64_t j = 0; j < l->size; j++) begin[group[j] + 1]++;
    for (uint32_t g = 0; g < groups; g++) begin[g + 1] += begin[g];
    for (int64_t j = 0; j < l->size; j++) order[begin[group[j]]++] = (uint32_t)j;
}

/* The chain of groups under the present law: p_IJ = Σ_{i∈I} x_i Σ_{j∈J} p_ij / Σ_{i∈I} x_i. */
static void aggregate(const level *fine, level *coarse) {
    const int64_t edges = coarse->in_row[coarse->size];
    memset(coarse->x, 0, (size_t)coarse->size * sizeof *coarse->x);
    memset(coarse->out, 0, (size_t)coarse->size * sizeof *coarse->out);
    memset(coarse->p, 0, (size_t)edges * sizeof *coarse->p);
    for (int64_t j = 0; j < fine->size; j++) {
        coarse->x[fine->group[j]] += fine->x[j];
        for (int64_t k = fine->in_row[j]; k < fine->in_row[j + 1]; k++)
            if (fine->place[k] >= 0) coarse->p[fine->place[k]] += fine->x[fine->source[k]] * fine->p[k];
    }
    for (int64_t g = 0; g < coarse->size; g++) coarse->before[g] = coarse->x[g] = fmax(coarse->x[g], smallest);
    for (int64_t k = 0; k < edges; k++) {
        coarse->p[k] /= coarse->x[coarse->source[k]];
        coarse->out[coarse->source[k]] += coarse->p[k];
    }
}

/* Makes `coarse` from fine->group, and fine->place. */
static pess_status group_level(level *fine, uint32_t groups, level *coarse, pess_error *error) {
    const int64_t edges = fine->in_row[fine->size];
    uint32_t *order = NULL, *source = NULL;
    int64_t *seen = NULL;
    level made = {0};
    pess_status status = pess__allocate(&order, fine->size, sizeof *order, "a level of a Markov chain", error);
    if (status == PESS_OK) status = pess__allocate(&source, edges, sizeof *source, "a level of a Markov chain", error);
    if (status == PESS_OK)
        status = pess__allocate(&seen, (int64_t)groups + 1, sizeof *seen, "a level of a Markov chain", error);
    if (status == PESS_OK)
        status = pess__allocate(&fine->place, edges, sizeof *fine->place, "a level of a Markov chain", error);
    if (status == PESS_OK) {
        sort_by_group(fine, fine->group, groups, seen, order);
        memset(seen, 0, ((size_t)groups + 1) * sizeof *seen);
        int64_t *in_row = NULL;
        status = pess__allocate(&in_row, (int64_t)groups + 1, sizeof *in_row, "a level of a Markov chain", error);
        if (status == PESS_OK) {
            const int64_t kept = group_edges(fine, fine->group, order, seen, source, in_row, fine->place);
            status = level_allocate(groups, kept, &made, error);
            if (status == PESS_OK) {
                memcpy(made.in_row, in_row, ((size_t)groups + 1) * sizeof *in_row);
                memcpy(made.source, source, (size_t)kept * sizeof *source);
                aggregate(fine, &made);
                *coarse = made;
            }
        }
        free(in_row);
    }
    free(order);
    free(source);
    free(seen);
    return status;
}

/* The next level: pairs of pairs. The level of pairs in between is only looked at. */
static pess_status coarsen(level *fine, level *coarse, pess_error *error) {
    level pairs = {0};
    uint32_t *second = NULL;
    PESS_TRY(pess__allocate(&fine->group, fine->size, sizeof *fine->group, "a level of a Markov chain", error));
    PESS_TRY(group_level(fine, pair_up(fine, fine->group), &pairs, error));
    free(fine->place);
    fine->place = NULL;
    pess_status status = pess__allocate(&second, pairs.size, sizeof *second, "a level of a Markov chain", error);
    if (status == PESS_OK) {
        const uint32_t groups = pair_up(&pairs, second);
        for (int64_t j = 0; j < fine->size; j++) fine->group[j] = second[fine->group[j]];
        status = group_level(fine, groups, coarse, error);
    }
    free(second);
    level_clear(&pairs);
    return status;
}

/* The levels below the first, anew for its present law. */
static pess_status build(hierarchy *h, pess_error *error) {
    for (int i = 1; i < h->count; i++) level_clear(&h->levels[i]);
    level *top = &h->levels[0];
    free(top->group);
    free(top->place);
    top->group = NULL;
    top->place = NULL;
    for (h->count = 1; h->levels[h->count - 1].size > COARSEST && h->count < MAX_LEVELS; h->count++)
        PESS_TRY(coarsen(&h->levels[h->count - 1], &h->levels[h->count], error));
    return PESS_OK;
}

/* x_j = Σ_{i≠j} x_i p_ij / (1 - p_jj) */
static void smooth_node(level *l, int64_t j) {
    double sum = 0;
    for (int64_t k = l->in_row[j]; k < l->in_row[j + 1]; k++) sum += l->x[l->source[k]] * l->p[k];
    l->x[j] = fmax(sum / l->out[j], smallest);
}

static void smooth_forward(level *l) {
    for (int64_t j = 0; j < l->size; j++) smooth_node(l, j);
}

static void smooth_backward(level *l) {
    for (int64_t j = l->size - 1; j >= 0; j--) smooth_node(l, j);
}

static void solve_last(level *l, double *dense) {
    memset(dense, 0, (size_t)(l->size * l->size) * sizeof *dense);
    for (int64_t j = 0; j < l->size; j++)
        for (int64_t k = l->in_row[j]; k < l->in_row[j + 1]; k++) dense[l->source[k] * l->size + j] = l->p[k];
    pess__eliminate_dense(dense, l->size, l->x);
}

/* A W-cycle: the smaller chain is visited twice. */
static void cycle(hierarchy *h, int at) {
    level *l = &h->levels[at];
    if (at + 1 == h->count) {
        solve_last(l, h->dense);
        return;
    }
    level *coarse = &h->levels[at + 1];
    smooth_forward(l);
    smooth_backward(l);
    aggregate(l, coarse);
    cycle(h, at + 1);
    if (at + 2 < h->count) cycle(h, at + 1);
    for (int64_t j = 0; j < l->size; j++) l->x[j] *= coarse->x[l->group[j]] / coarse->before[l->group[j]];
    smooth_forward(l);
    smooth_backward(l);
}

/* ‖xP - x‖₁ with x scaled to sum one. */
static double residual(level *l) {
    double total = 0, sum = 0;
    for (int64_t j = 0; j < l->size; j++) total += l->x[j];
    for (int64_t j = 0; j < l->size; j++) {
        double in = 0;
        for (int64_t k = l->in_row[j]; k < l->in_row[j + 1]; k++) in += l->x[l->source[k]] * l->p[k];
        sum += fabs(in - l->x[j] * l->out[j]);
    }
    for (int64_t j = 0; j < l->size; j++) l->x[j] /= total;
    return sum / total;
}

/* Anderson's acceleration of the fixed point x = cycle(x) (Walker & Ni 2011), started anew every WINDOW steps. With
 * f = cycle(x) - x, the directions q are the orthonormalised differences of f, and d what cycle(x) did along them. */
typedef struct accelerator {
    int64_t size;
    int used;
    bool started;
    double *q, *d;             /* [WINDOW*size] */
    double *f, *last_f, *last; /* [size] last: the last cycle(x) */
} accelerator;

static pess_status accelerator_create(int64_t size, accelerator *a, pess_error *error) {
    static const char what[] = "the acceleration of a Markov chain";
    a->size = size;
    PESS_TRY(pess__allocate(&a->q, WINDOW * size, sizeof *a->q, what, error));
    PESS_TRY(pess__allocate(&a->d, WINDOW * size, sizeof *a->d, what, error));
    PESS_TRY(pess__allocate(&a->f, size, sizeof *a->f, what, error));
    PESS_TRY(pess__allocate(&a->last_f, size, sizeof *a->last_f, what, error));
    return pess__allocate(&a->last, size, sizeof *a->last, what, error);
}

static void accelerator_clear(accelerator *a) {
    free(a->q);
    free(a->d);
    free(a->f);
    free(a->last_f);
    free(a->last);
}

static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void subtract(double *from, double factor, const double *what, int64_t n) {
    for (int64_t i = 0; i < n; i++) from[i] -= factor * what[i];
}

/* Adds the direction from the last step to this one, unless it lies among those that are there. */
static void add_direction(accelerator *a, const double *g) {
    const int64_t n = a->size;
    double *q = a->q + a->used * n, *d = a->d + a->used * n;
    for (int64_t i = 0; i < n; i++) {
        q[i] = a->f[i] - a->last_f[i];
        d[i] = g[i] - a->last[i];
    }
    const double before = sqrt(dot(q, q, n));
    for (int k = 0; k < a->used; k++) {
        const double along = dot(q, a->q + k * n, n);
        subtract(q, along, a->q + k * n, n);
        subtract(d, along, a->d + k * n, n);
    }
    const double length = sqrt(dot(q, q, n));
    if (!(length > 1e-10 * before)) return;
    for (int64_t i = 0; i < n; i++) {
        q[i] /= length;
        d[i] /= length;
    }
    a->used++;
}

/* x was the law before the cycle and g is the one behind it; g becomes the next one to start from. */
static void accelerate(accelerator *a, const double *x, double *g) {
    const int64_t n = a->size;
    for (int64_t i = 0; i < n; i++) a->f[i] = g[i] - x[i];
    if (a->used == WINDOW) a->used = 0;
    if (a->started) add_direction(a, g);
    a->started = true;
    memcpy(a->last_f, a->f, (size_t)n * sizeof *a->f);
    memcpy(a->last, g, (size_t)n * sizeof *g);
    for (int k = 0; k < a->used; k++) subtract(g, dot(a->f, a->q + k * n, n), a->d + k * n, n);
    for (int64_t i = 0; i < n; i++) g[i] = fmax(g[i], 0.1 * a->last[i]); /* a law is positive */
}

/* Cycles, with new groups whenever their number has doubled: by then the law is known better. */
static pess_status iterate(hierarchy *h, accelerator *a, double *x, pess_error *error) {
    level *top = &h->levels[0];
    double error_left = residual(top);
    for (int cycles = 0, renew = 0; error_left > tolerance && cycles < MAX_CYCLES; cycles++) {
        if (cycles >= renew) {
            PESS_TRY(build(h, error));
            renew = 2 * cycles + 1;
            a->used = 0;
            a->started = false;
        }
        memcpy(x, top->x, (size_t)top->size * sizeof *x);
        cycle(h, 0);
        error_left = residual(top);
        if (error_left > tolerance) accelerate(a, x, top->x);
    }
    memcpy(x, top->x, (size_t)top->size * sizeof *x);
    if (error_left <= tolerance) return PESS_OK;
    return pess__fail(error, PESS_NOT_CONVERGED,
                      "the stationary law of %lld states did not converge: residual %.3g after %d cycles, expected %g",
                      (long long)top->size, error_left, MAX_CYCLES, tolerance);
}

pess_status pess__markov_chain_multilevel(const pess__markov_chain *chain, double *x, pess_error *error) {
    hierarchy h = {0};
    accelerator a = {0};
    pess_status status =
        pess__allocate(&h.dense, (int64_t)COARSEST * COARSEST, sizeof *h.dense, "a dense Markov chain", error);
    if (status == PESS_OK) status = first_level(chain, &h.levels[0], error);
    if (status == PESS_OK) status = accelerator_create(chain->size, &a, error);
    if (status == PESS_OK) status = iterate(&h, &a, x, error);
    accelerator_clear(&a);
    for (int i = 0; i < MAX_LEVELS; i++) level_clear(&h.levels[i]);
    free(h.dense);
    return status;
}
