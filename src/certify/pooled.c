#include "certify/pooled.h"
#include "core/threads.h"

#include "core/memory.h"
#include "core/raise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BETA PESS__POSTERIOR_REACH
#define ZETA PESS__POSTERIOR_PRICE
#define DRIFT 16.0      /* how far a direction of the second part may be from that of the first, in its own noise */
#define MAIN_SHARE 0.85 /* of δ_pooled, for the prior tuned to the prediction; the rest for a wider one */
#define POLE 0.95       /* |θ|R stays below */
#define WIDEST 0.4      /* βτR of a prior stays below */

/* ------------------------------------------------------------------------------------------------ the inequality (2)
 */

typedef struct direction {
    int64_t count;  /* coordinates: the rows, and the starts where they matter */
    double *d;      /* [rows] D_z/n_z, 0 for a row that is not in the chain */
    double *centre; /* [rows] θ⁰ */
    double *tau2;   /* [rows] τ² */
    double *reach;  /* [rows] βτ */
} direction;

/* Samples of a coordinate in the part that is tested, in the first part, and as expected. */
static double samples(const pess__pooled_view *view, int64_t z) {
    const pess__holdout *test = view->pooled->test;
    return z < test->rows ? (double)view->counts->n[test->pair[z]] : view->starts_count;
}

static double samples_expected(const pess__pooled *pooled, int64_t z) {
    return z < pooled->test->rows ? pooled->test->expected[z] : pooled->starts_expected;
}

static double samples_first(const pess__pooled *pooled, int64_t z) {
    const pess__holdout *test = pooled->test;
    return z < test->rows ? (double)test->setup.first->n[test->pair[z]] : pooled->starts_expected / test->setup.ratio;
}

/* D/n of the target q = e_s − e_t in an inverse, or of `visits` [S] where s < 0. n: the counts, or for NULL what is
 * expected. */
static void weigh(const pess__holdout *test, const double *inverse, const pess_counts *counts, const uint8_t *bad,
                  const double *visits, pess__pooled_target target, double *d) {
    const int64_t states = test->states;
    const double *plus = target.s >= 0 ? inverse + target.s * states : visits;
    const double *minus = target.s >= 0 ? inverse + target.t * states : NULL;
    for (int64_t z = 0; z < test->rows; z++) {
        const int64_t s = test->state[z];
        const double n = counts ? (double)counts->n[test->pair[z]] : test->expected[z];
        d[z] = n > 0 && !(bad && bad[s]) ? test->weight[z] * (plus[s] - (minus ? minus[s] : 0)) / n : 0;
    }
}

/* λ⁰: the best for rows of squares v and ranges r, were the direction known; `d` is the first part's. */
static double prior_scale(int64_t count, const double *d, const double *v, const double *r, double log_term) {
    double sum = 0, cap = INFINITY;
    for (int64_t z = 0; z < count; z++) {
        sum += d[z] * d[z] * v[z];
        if (d[z] != 0 && r[z] > 0) cap = fmin(cap, 0.5 / (r[z] * fabs(d[z])));
    }
    if (!(sum > 0)) return isfinite(cap) ? cap : 0;
    return fmin(sqrt(2 * log_term / sum), cap);
}

/* θ⁰ = λ⁰d and τ: the drift of d between the parts, and a floor for rows that the first part hardly saw. */
static void set_prior(const pess__pooled *pooled, double scale, const double *v, const double *r, direction *to) {
    for (int64_t z = 0; z < to->count; z++) {
        const double n = fmax(samples_first(pooled, z), 1), widest = WIDEST / (BETA * r[z]);
        const double centre = scale * to->centre[z];
        const double drift = centre * centre * DRIFT * (1 / n + 1 / samples_expected(pooled, z));
        to->centre[z] = centre;
        to->tau2[z] = fmin(drift + 1 / ((double)pooled->test->rows * v[z]), widest * widest);
        to->reach[z] = BETA * sqrt(to->tau2[z]);
    }
}

/* The bound (2) divided by λ, at nearly the best λ. Infinite where no λ is allowed. */
static double noise(const pess__pooled_view *view, const direction *along, double log_term) {
    double top = INFINITY;
    for (int64_t z = 0; z < along->count; z++) {
        if (samples(view, z) == 0) continue;
        const double room = POLE / view->range[z] - along->reach[z];
        if (!(room > 0)) return INFINITY;
        if (along->d[z] != 0) top = fmin(top, room / fabs(along->d[z]));
    }
    if (!isfinite(top)) return 0;
    double best = INFINITY, scale = 0;
    for (int pass = 0; pass < 4; pass++) {
        double slope = 0, constant = log_term, total = log_term;
        for (int64_t z = 0; z < along->count; z++) {
            if (samples(view, z) == 0) continue;
            const double tau2 = along->tau2[z], d = along->d[z], c = along->centre[z], theta = scale * d;
            const double k = pess__kappa((fabs(theta) + along->reach[z]) * view->seen[z]), v = view->v[z];
            slope += (0.5 * k * v + 0.5 / tau2) * d * d;
            constant += ZETA + 0.5 * k * tau2 * v + 0.5 * c * c / tau2;
            total += ZETA + 0.5 * k * (theta * theta + tau2) * v + 0.5 * (theta - c) * (theta - c) / tau2;
        }
        if (scale > 0) best = fmin(best, total / scale);
        scale = fmin(sqrt(constant / slope), top);
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------ targets */

static int compare_targets(const void *left, const void *right) {
    const pess__pooled_target *a = left, *b = right;
    if (a->s != b->s) return a->s < b->s ? -1 : 1;
    return (a->t > b->t) - (a->t < b->t);
}

static int64_t find_target(const pess__pooled *pooled, pess__pooled_target wanted) {
    int64_t low = 0, high = pooled->target_count;
    if (!pooled->dense) return -1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (compare_targets(&pooled->targets[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Every seen successor against the reference of its row, each difference once. */
static pess_status list_targets(pess__pooled *pooled, pess_error *error) {
    const pess__holdout *test = pooled->test;
    const pess_counts *first = test->setup.first;
    int64_t room = test->rows + test->states;
    for (int64_t z = 0; z < test->rows; z++) room += first->row[test->pair[z] + 1] - first->row[test->pair[z]];
    PESS_TRY(pess__allocate(&pooled->targets, room, sizeof *pooled->targets, "targets", error));
    int64_t count = 0;
    for (int64_t z = 0; z < test->rows && pooled->dense; z++) {
        const int64_t pair = test->pair[z], reference = test->reference[z];
        for (int64_t i = first->row[pair]; i < first->row[pair + 1]; i++)
            if (first->next[i] != reference)
                pooled->targets[count++] = (pess__pooled_target){(int64_t)first->next[i], reference};
        if (first->n_terminal[pair] > 0 && reference != test->states)
            pooled->targets[count++] = (pess__pooled_target){test->states, reference};
    }
    for (int64_t s = 0; s < test->states && test->setup.start_estimated && pooled->dense; s++)
        if (first->starts[s] > 0 && s != pooled->start_reference)
            pooled->targets[count++] = (pess__pooled_target){s, pooled->start_reference};
    qsort(pooled->targets, (size_t)count, sizeof *pooled->targets, compare_targets);
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || compare_targets(&pooled->targets[k], &pooled->targets[pooled->target_count - 1]) != 0)
            pooled->targets[pooled->target_count++] = pooled->targets[k];
    return PESS_OK;
}

static pess_status index_targets(pess__pooled *pooled, pess_error *error) {
    const pess__holdout *test = pooled->test;
    const pess_counts *first = test->setup.first;
    const int64_t successors = first->row[first->states * first->actions];
    PESS_TRY(pess__allocate(&pooled->target_of, successors, sizeof *pooled->target_of, "targets", error));
    PESS_TRY(pess__allocate(&pooled->target_end, test->rows, sizeof *pooled->target_end, "targets", error));
    for (int64_t z = 0; z < test->rows; z++) {
        const int64_t pair = test->pair[z], reference = test->reference[z];
        for (int64_t i = first->row[pair]; i < first->row[pair + 1]; i++)
            pooled->target_of[i] = first->next[i] == reference
                                       ? -1
                                       : find_target(pooled, (pess__pooled_target){(int64_t)first->next[i], reference});
        pooled->target_end[z] = first->n_terminal[pair] > 0 && reference != test->states
                                    ? find_target(pooled, (pess__pooled_target){test->states, reference})
                                    : -1;
    }
    PESS_TRY(pess__allocate(&pooled->target_start, test->states, sizeof *pooled->target_start, "targets", error));
    for (int64_t s = 0; s < test->states; s++)
        pooled->target_start[s] = test->setup.start_estimated && first->starts[s] > 0 && s != pooled->start_reference
                                      ? find_target(pooled, (pess__pooled_target){s, pooled->start_reference})
                                      : -1;
    return PESS_OK;
}

/* What the first part says of the starts. */
static void look_at_starts(pess__pooled *pooled) {
    const pess__holdout *test = pooled->test;
    const int64_t *starts = test->setup.first->starts;
    if (!test->setup.start_estimated) return;
    for (int64_t s = 0; s < test->states; s++) {
        if (starts[s] > starts[pooled->start_reference]) pooled->start_reference = s;
        pooled->starts_expected += test->setup.ratio * (double)starts[s];
        pooled->start_centre += test->setup.start_first[s] * test->value[s];
    }
}

static pess_status build(pess__pooled *pooled, pess_error *error) {
    const pess__holdout *test = pooled->test;
    const int64_t states = test->states;
    pooled->dense = states <= PESS__POOLED_STATES;
    look_at_starts(pooled);
    PESS_TRY(list_targets(pooled, error));
    PESS_TRY(index_targets(pooled, error));
    PESS_TRY(pess__allocate(&pooled->first_visits, states, sizeof(double), "a pooled test", error));
    if (pooled->dense)
        PESS_TRY(pess__allocate(&pooled->first_inverse, (states + 1) * states, sizeof(double), "a pooled test", error));
    for (int i = 0; i < PESS__POOLED_PRIORS; i++) {
        PESS_TRY(pess__allocate(&pooled->prior_v[i], test->rows + 1, sizeof(double), "a prior", error));
        PESS_TRY(pess__allocate(&pooled->prior_r[i], test->rows + 1, sizeof(double), "a prior", error));
        PESS_TRY(pess__allocate(&pooled->prior_scale[i], pooled->target_count, sizeof(double), "a prior", error));
    }
    uint8_t *bad;
    PESS_TRY(pess__allocate(&bad, states, sizeof *bad, "a pooled test", error));
    for (int64_t z = 0; z < test->rows; z++)
        if (test->setup.first->n[test->pair[z]] == 0) bad[test->state[z]] = 1;
    for (int64_t s = 0; s < states; s++)
        if (test->setup.terminal[s]) bad[s] = 1;
    pess_status status = pess__pooled_hold_endless(test, test->setup.first, bad, error);
    if (status == PESS_OK && pooled->dense)
        status = pess__pooled_invert(test, test->setup.first, bad, pooled->first_inverse, error);
    if (status == PESS_OK)
        status = pess__pooled_visits(test, test->setup.first, bad, pooled->first_inverse, test->setup.start_first,
                                     pooled->first_visits, error);
    free(bad);
    return status;
}

pess_status pess__pooled_create(pess__holdout *test, pess__pooled **out, pess_error *error) {
    pess__pooled *pooled;
    PESS_TRY(pess__allocate(&pooled, 1, sizeof *pooled, "a pooled test", error));
    pooled->test = test;
    const pess_status status = build(pooled, error);
    if (status == PESS_OK)
        *out = pooled;
    else
        pess__pooled_destroy(pooled);
    return status;
}

void pess__pooled_destroy(pess__pooled *pooled) {
    if (!pooled) return;
    free(pooled->targets);
    free(pooled->target_of);
    free(pooled->target_end);
    free(pooled->target_start);
    free(pooled->first_inverse);
    free(pooled->first_visits);
    for (int i = 0; i < PESS__POOLED_PRIORS; i++) {
        free(pooled->prior_v[i]);
        free(pooled->prior_r[i]);
        free(pooled->prior_scale[i]);
    }
    free(pooled);
}

/* ------------------------------------------------------------------------------------------------ differences */

typedef struct work {
    direction *along; /* one per thread */
    double *next_h;   /* [targets] */
    int threads;
} work;

static void work_release(work *w) {
    for (int i = 0; w->along && i < w->threads; i++) {
        free(w->along[i].d);
        free(w->along[i].centre);
        free(w->along[i].tau2);
        free(w->along[i].reach);
    }
    free(w->along);
    free(w->next_h);
}

static pess_status work_create(const pess__pooled *pooled, work *w, pess_error *error) {
    const int64_t rows = pooled->test->rows + 1;
    w->threads = pooled->test->setup.threads;
    PESS_TRY(pess__allocate(&w->along, w->threads, sizeof *w->along, "a pooled test", error));
    PESS_TRY(pess__allocate(&w->next_h, pooled->target_count, sizeof(double), "a pooled test", error));
    for (int i = 0; i < w->threads; i++) {
        PESS_TRY(pess__allocate(&w->along[i].d, rows, sizeof(double), "a pooled test", error));
        PESS_TRY(pess__allocate(&w->along[i].centre, rows, sizeof(double), "a pooled test", error));
        PESS_TRY(pess__allocate(&w->along[i].tau2, rows, sizeof(double), "a pooled test", error));
        PESS_TRY(pess__allocate(&w->along[i].reach, rows, sizeof(double), "a pooled test", error));
    }
    return PESS_OK;
}

/* ln of the number of events behind the differences over their δ: targets, both signs, priors. */
static double relative_log(const pess__pooled *pooled) {
    const double events = 2.0 * PESS__POOLED_PRIORS * (double)(pooled->target_count > 0 ? pooled->target_count : 1);
    return log(events / pooled->test->setup.delta_relative);
}

/* A new bound of |g(s) − g(t)| from (1) and (2), the best of the priors from `from` on. */
static double bring_down(const pess__pooled_view *view, int from, int64_t k, direction *along) {
    const pess__pooled *pooled = view->pooled;
    const pess__holdout *test = pooled->test;
    const pess__pooled_target target = pooled->targets[k];
    const int64_t states = test->states;
    const double *plus = view->inverse + target.s * states, *minus = view->inverse + target.t * states;
    double held = 0, best = INFINITY;
    for (int64_t s = 0; s < states; s++)
        held += fabs(plus[s] - minus[s]) * (view->bad[s] ? test->pool_high[s] - test->pool_low[s] : view->excess[s]);
    along->count = test->rows;
    weigh(test, view->inverse, view->counts, view->bad, NULL, target, along->d);
    for (int i = from; i < pooled->prior_count; i++) {
        weigh(test, pooled->first_inverse, NULL, NULL, NULL, target, along->centre);
        set_prior(pooled, pooled->prior_scale[i][k], pooled->prior_v[i], pooled->prior_r[i], along);
        best = fmin(best, noise(view, along, relative_log(pooled)));
    }
    const double shift =
        (view->low_value[target.s] - test->value[target.s]) - (view->low_value[target.t] - test->value[target.t]);
    return fabs(shift) + held + best;
}

/* One round over all differences; returns the largest relative gain. */
static double round_of_differences(pess__pooled_view *view, int from, work *w) {
    const int64_t count = view->pooled->target_count;
    _Atomic double gain = 0;
#pragma omp parallel num_threads(w->threads) if (count * view->pooled->test->rows > 50000)
    {
        direction *along = &w->along[omp_get_thread_num()];
        double most = 0;
#pragma omp for schedule(static)
        for (int64_t k = 0; k < count; k++) {
            w->next_h[k] = fmin(view->h[k], bring_down(view, from, k, along));
            if (view->h[k] > 0) most = fmax(most, 1 - w->next_h[k] / view->h[k]);
        }
        pess__raise(&gain, most);
    }
    if (count > 0) memcpy(view->h, w->next_h, (size_t)count * sizeof *view->h);
    pess__pooled_view_refresh(view);
    return gain;
}

/* A prior tuned to the V and R that the view has now. */
static void keep_prior(pess__pooled *pooled, const pess__pooled_view *view, work *w) {
    const pess__holdout *test = pooled->test;
    const int i = pooled->prior_count++;
    const double scale = (test->setup.v_hi - test->setup.v_lo) * 1e-6;
    for (int64_t z = 0; z < test->rows; z++) {
        pooled->prior_v[i][z] = fmax(view->v[z], test->expected[z] * test->variance[z]) + scale * scale;
        pooled->prior_r[i][z] = view->range[z] + scale;
    }
    pooled->prior_v[i][test->rows] = view->v[test->rows] + scale * scale;
    pooled->prior_r[i][test->rows] = view->range[test->rows] + scale;
    for (int64_t k = 0; k < pooled->target_count; k++) {
        weigh(test, pooled->first_inverse, NULL, NULL, NULL, pooled->targets[k], w->along[0].d);
        pooled->prior_scale[i][k] =
            prior_scale(test->rows, w->along[0].d, pooled->prior_v[i], pooled->prior_r[i], relative_log(pooled));
    }
}

pess_status pess__pooled_tune(pess__pooled *pooled, const pess_counts *imagined, pess_error *error) {
    pess__pooled_view *view = NULL;
    work w = {0};
    pess_status status = pess__pooled_view_create(pooled, imagined, true, 1, &view, error);
    if (status == PESS_OK) status = work_create(pooled, &w, error);
    if (status == PESS_OK) {
        pess__pooled_view_refresh(view);
        for (double gain = 1; pooled->prior_count < PESS__POOLED_PRIORS && gain > 0.02 && status == PESS_OK;) {
            status = pess__goes_on(pooled->test->setup.monitor, error);
            keep_prior(pooled, view, &w);
            gain = round_of_differences(view, pooled->prior_count - 1, &w);
        }
    }
    work_release(&w);
    pess__pooled_view_destroy(view);
    return status;
}

/* ------------------------------------------------------------------------------------------------ the bound */

/* ρ·v^π: the visits from ρ as direction, two priors. */
static double main_noise(const pess__pooled_view *view, direction *along, const double *visits) {
    const pess__pooled *pooled = view->pooled;
    const pess__holdout *test = pooled->test;
    const pess__pooled_target start = {-1, -1};
    double best = INFINITY;
    along->count = test->rows + (view->starts ? 1 : 0);
    for (int wide = 0; wide < 2; wide++) {
        const double share = wide ? 1 - MAIN_SHARE : MAIN_SHARE, factor = wide ? 4 : 1;
        const double log_term = log(1 / (share * test->setup.delta_pooled));
        double *v = pooled->prior_v[pooled->prior_count - 1], *r = pooled->prior_r[pooled->prior_count - 1];
        for (int64_t z = 0; z < along->count; z++) v[z] *= factor, r[z] *= factor;
        weigh(test, NULL, NULL, NULL, pooled->first_visits, start, along->centre);
        if (view->starts) along->centre[test->rows] = 1 / pooled->starts_expected;
        set_prior(pooled, prior_scale(along->count, along->centre, v, r, log_term), v, r, along);
        for (int64_t z = 0; z < along->count; z++) v[z] /= factor, r[z] /= factor;
        weigh(test, NULL, view->counts, view->bad, visits, start, along->d);
        if (view->starts) along->d[test->rows] = 1 / view->starts_count;
        best = fmin(best, noise(view, along, log_term));
    }
    return best;
}

/* The most discounted steps that the chain takes from anywhere: by that a rounding error in a row can grow. */
static double longest_stay(const pess__pooled_view *view) {
    const int64_t states = view->pooled->test->states;
    double most = 0;
    if (!view->inverse) return pess__steps_left(&view->pooled->test->setup, 0);
    for (int64_t s = 0; s < states; s++) {
        double sum = 0;
        for (int64_t t = 0; t < states; t++) sum += fabs(view->inverse[s * states + t]);
        most = fmax(most, sum);
    }
    return most;
}

/* The test with the rows of fewer than `least` samples held at their box: a choice that costs nothing, for (2) holds
 * for all directions and the box always. */
static pess_status apply_at(pess__pooled *pooled, int64_t least, double *visits, pess_error *error) {
    pess__holdout *test = pooled->test;
    const pess__holdout_setup *setup = &test->setup;
    pess__pooled_view *view = NULL;
    work w = {0};
    pess_status status = pess__pooled_view_create(pooled, setup->second, setup->dry, least, &view, error);
    if (status == PESS_OK) status = work_create(pooled, &w, error);
    if (status == PESS_OK)
        status = pess__pooled_visits(test, setup->second, view->bad, view->inverse, setup->start, visits, error);
    if (status == PESS_OK) {
        pess__pooled_view_refresh(view);
        for (int i = 0; i < 15 && status == PESS_OK; i++) {
            status = pess__goes_on(setup->monitor, error);
            if (round_of_differences(view, 0, &w) < 0.03) break;
        }
        double low = 0, high = 0;
        for (int64_t s = 0; s < test->states; s++) {
            low += setup->start[s] * view->low_value[s] - visits[s] * view->excess[s];
            high += setup->start[s] * view->high_value[s] + visits[s] * view->excess[s];
        }
        const double width = main_noise(view, &w.along[0], visits) +
                             fmax(1e-10 * (setup->v_hi - setup->v_lo),
                                  pess__rounding_error(setup->v_lo, setup->v_hi) * longest_stay(view));
        if (setup->side >= 0) test->pooled_lower = fmax(test->pooled_lower, low - width);
        if (setup->side <= 0) test->pooled_upper = fmin(test->pooled_upper, high + width);
    }
    work_release(&w);
    pess__pooled_view_destroy(view);
    return status;
}

pess_status pess__pooled_apply(pess__pooled *pooled, pess_error *error) {
    static const int64_t thresholds[] = {4, 1, 16, 64, 256};
    const size_t count = pooled->test->setup.dry ? 1 : sizeof thresholds / sizeof *thresholds;
    double *visits;
    PESS_TRY(pess__allocate(&visits, pooled->test->states, sizeof *visits, "visits", error));
    pess_status status = PESS_OK;
    for (size_t i = 0; i < count && status == PESS_OK && !pooled->test->above_cap; i++)
        status = apply_at(pooled, thresholds[i], visits, error);
    free(visits);
    return status;
}
