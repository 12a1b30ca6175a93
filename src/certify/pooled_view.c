/* The chain of a policy in one part of the log, inverted, and the second moments of its rows. */
#include "certify/pooled.h"
#include "core/lu.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

pess_status pess__pooled_invert(const pess__holdout *test, const pess_counts *counts, const uint8_t *bad,
                                double *inverse, pess_error *error) {
    const int64_t states = test->states, stride = pess__lu_stride(states);
    double *matrix;
    PESS_TRY(pess__allocate(&matrix, states * stride, sizeof *matrix, "the chain of a policy", error));
    for (int64_t s = 0; s < states; s++) {
        matrix[s * stride + s] = 1;
        if (bad[s]) continue;
        for (int64_t z = test->first_row[s]; z < test->first_row[s + 1]; z++) {
            const int64_t pair = test->pair[z];
            const double share = test->setup.gamma * test->weight[z] / (double)counts->n[pair];
            for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++)
                matrix[s * stride + counts->next[i]] -= share * (double)counts->n_next[i];
        }
    }
    pess__lu_factor(matrix, states, stride, test->setup.threads);
    /* Row s of the inverse solves xᵀ(I − γP) = e_sᵀ. */
#pragma omp parallel for num_threads(test->setup.threads) schedule(static) if (states > 64)
    for (int64_t s = 0; s < states; s++) {
        double *row = inverse + s * states;
        memset(row, 0, (size_t)states * sizeof *row);
        row[s] = 1;
        pess__lu_solve_transposed(matrix, states, stride, row);
    }
    free(matrix);
    return PESS_OK;
}

/* Can the chain leave s at once, for the end, a state that is held or one that can leave? */
static bool leaves(const pess__holdout *test, const pess_counts *counts, const uint8_t *can, int64_t s) {
    for (int64_t z = test->first_row[s]; z < test->first_row[s + 1]; z++) {
        const int64_t pair = test->pair[z];
        if (counts->n_terminal[pair] > 0) return true;
        for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++)
            if (can[counts->next[i]]) return true;
    }
    return false;
}

pess_status pess__pooled_hold_endless(const pess__holdout *test, const pess_counts *counts, uint8_t *bad,
                                      pess_error *error) {
    if (test->setup.gamma < 1) return PESS_OK;
    uint8_t *can;
    PESS_TRY(pess__allocate(&can, test->states, sizeof *can, "a pooled test", error));
    memcpy(can, bad, (size_t)test->states);
    for (bool more = true; more;) {
        more = false;
        for (int64_t s = 0; s < test->states; s++)
            if (!can[s] && leaves(test, counts, can, s)) can[s] = more = true;
    }
    for (int64_t s = 0; s < test->states; s++) bad[s] = bad[s] || !can[s];
    free(can);
    return PESS_OK;
}

static void mark_bad(pess__pooled_view *view, int64_t least) {
    const pess__holdout *test = view->pooled->test;
    for (int64_t s = 0; s < test->states; s++) {
        view->bad[s] = test->setup.terminal[s];
        for (int64_t z = test->first_row[s]; z < test->first_row[s + 1]; z++)
            if (view->counts->n[test->pair[z]] < least) view->bad[s] = 1;
    }
}

static void values(pess__pooled_view *view, const double *held, double *constant, double *out) {
    const pess__holdout *test = view->pooled->test;
    const int64_t states = test->states;
    for (int64_t s = 0; s < states; s++) {
        constant[s] = view->bad[s] ? held[s] : 0;
        for (int64_t z = test->first_row[s]; z < test->first_row[s + 1] && !view->bad[s]; z++) {
            const int64_t pair = test->pair[z];
            constant[s] += test->weight[z] * (view->counts->reward_origin +
                                              view->counts->reward_offset[pair] / (double)view->counts->n[pair]);
        }
    }
    for (int64_t s = 0; s < states; s++) {
        out[s] = 0;
        for (int64_t t = 0; t < states; t++) out[s] += view->inverse[s * states + t] * constant[t];
    }
    out[states] = 0;
}

static void start_differences(pess__pooled_view *view) {
    const pess__holdout *test = view->pooled->test;
    for (int64_t k = 0; k < view->pooled->target_count; k++) {
        const int64_t s = view->pooled->targets[k].s, t = view->pooled->targets[k].t;
        const double *v = test->value;
        view->h[k] =
            fmax((test->high[s] - v[s]) - (test->low[t] - v[t]), (test->high[t] - v[t]) - (test->low[s] - v[s]));
    }
}

static pess_status fill(pess__pooled_view *view, int64_t least, pess_error *error) {
    const pess__holdout *test = view->pooled->test;
    const int64_t states = test->states;
    const char *what = "a pooled test";
    PESS_TRY(pess__allocate(&view->bad, states, sizeof *view->bad, what, error));
    PESS_TRY(pess__allocate(&view->inverse, (states + 1) * states, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->low_value, states + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->high_value, states + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->v, test->rows + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->range, test->rows + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->h, view->pooled->target_count, sizeof(double), what, error));
    double *constant;
    PESS_TRY(pess__allocate(&constant, states, sizeof *constant, what, error));
    mark_bad(view, least);
    pess_status status = pess__pooled_hold_endless(test, view->counts, view->bad, error);
    if (status == PESS_OK) status = pess__pooled_invert(test, view->counts, view->bad, view->inverse, error);
    if (status == PESS_OK) {
        values(view, test->low, constant, view->low_value);
        values(view, test->high, constant, view->high_value);
        start_differences(view);
    }
    free(constant);
    return status;
}

pess_status pess__pooled_view_create(const pess__pooled *pooled, const pess_counts *counts, bool imagined,
                                     int64_t least, pess__pooled_view **out, pess_error *error) {
    pess__pooled_view *view;
    PESS_TRY(pess__allocate(&view, 1, sizeof *view, "a pooled test", error));
    view->pooled = pooled;
    view->counts = counts;
    if (pooled->test->setup.start_estimated) {
        view->starts = imagined ? pooled->test->setup.first->starts : counts->starts;
        view->starts_scale = imagined ? pooled->test->setup.ratio : 1;
        for (int64_t s = 0; s < pooled->test->states; s++)
            view->starts_count += view->starts_scale * (double)view->starts[s];
    }
    const pess_status status = fill(view, least, error);
    if (status == PESS_OK)
        *out = view;
    else
        pess__pooled_view_destroy(view);
    return status;
}

void pess__pooled_view_destroy(pess__pooled_view *view) {
    if (!view) return;
    free(view->bad);
    free(view->inverse);
    free(view->low_value);
    free(view->high_value);
    free(view->v);
    free(view->range);
    free(view->h);
    free(view);
}

/* |g(s') − g(reference)| from the box alone. */
static double from_box(const pess__holdout *test, int64_t s, int64_t reference) {
    const double *v = test->value;
    return fmax((test->high[s] - v[s]) - (test->low[reference] - v[reference]),
                (test->high[reference] - v[reference]) - (test->low[s] - v[s]));
}

/* Σ_s' n(z,s')·h(s')²; both lists of successors are in ascending order. */
static double moved_squares(const pess__pooled_view *view, int64_t z) {
    const pess__pooled *pooled = view->pooled;
    const pess__holdout *test = pooled->test;
    const pess_counts *first = test->setup.first, *counts = view->counts;
    const int64_t pair = test->pair[z], reference = test->reference[z];
    int64_t at = first->row[pair];
    double sum = 0;
    for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++) {
        const int64_t s = counts->next[i];
        if (s == reference) continue;
        while (at < first->row[pair + 1] && first->next[at] < s) at++;
        double h = from_box(test, s, reference);
        if (at < first->row[pair + 1] && first->next[at] == s) h = fmin(h, view->h[pooled->target_of[at]]);
        sum += (double)counts->n_next[i] * h * h;
    }
    if (counts->n_terminal[pair] > 0 && reference != test->states) {
        double h = from_box(test, test->states, reference);
        if (pooled->target_end[z] >= 0) h = fmin(h, view->h[pooled->target_end[z]]);
        sum += (double)counts->n_terminal[pair] * h * h;
    }
    return sum;
}

/* The row of the starts: Y = v^π(s₀), no reward and no discount. */
static void refresh_starts(pess__pooled_view *view, double least, double most) {
    const pess__pooled *pooled = view->pooled;
    const pess__holdout *test = pooled->test;
    const int64_t reference = pooled->start_reference, at = test->rows;
    const double centre = pooled->start_centre, *v = test->value;
    double squares = 0, moved = 0;
    for (int64_t s = 0; s < test->states; s++) {
        const double n = view->starts_scale * (double)view->starts[s];
        if (n == 0) continue;
        squares += n * (v[s] - centre) * (v[s] - centre);
        if (s == reference) continue;
        double h = from_box(test, s, reference);
        if (pooled->target_start[s] >= 0) h = fmin(h, view->h[pooled->target_start[s]]);
        moved += n * h * h;
    }
    const double root = sqrt(squares) + sqrt(moved);
    view->v[at] = root * root;
    view->range[at] = fmax(most - centre - (test->low[reference] - v[reference]),
                           centre + (test->high[reference] - v[reference]) - least);
}

void pess__pooled_view_refresh(pess__pooled_view *view) {
    const pess__holdout *test = view->pooled->test;
    double least, most;
    pess__holdout_extremes(test, test->low, test->high, &least, &most);
    for (int64_t z = 0; z < test->rows; z++) {
        const double root = sqrt(test->squares[z]) + test->setup.gamma * sqrt(moved_squares(view, z));
        view->v[z] = root * root;
        view->range[z] = pess__holdout_range(test, z, test->low, test->high, least, most);
    }
    if (view->starts) refresh_starts(view, least, most);
}
