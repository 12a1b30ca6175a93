/* What the pooled test sees of one part of the log: the chain of the policy and the second moments of its rows. */
#include "certify/pooled.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void mark_bad(pess__pooled_view *view, int64_t least) {
    const pess__holdout *test = view->pooled->test;
    for (int64_t s = 0; s < test->states; s++) {
        view->bad[s] = test->setup.terminal[s];
        for (int64_t z = test->first_row[s]; z < test->first_row[s + 1]; z++)
            if (view->counts->n[test->pair[z]] < least) view->bad[s] = 1;
    }
}

static void start_differences(pess__pooled_view *view) {
    const pess__holdout *test = view->pooled->test;
    for (int64_t k = 0; k < view->pooled->target_count; k++) {
        const int64_t s = view->pooled->targets[k].s, t = view->pooled->targets[k].t;
        const double *v = test->value;
        view->h[k] = fmax((test->pool_high[s] - v[s]) - (test->pool_low[t] - v[t]),
                          (test->pool_high[t] - v[t]) - (test->pool_low[s] - v[s]));
    }
}

/* max(0, T̂^π cap − cap), from below for the upper bound. */
static void find_excess(pess__pooled_view *view) {
    const pess__holdout *test = view->pooled->test;
    const int side = test->setup.side;
    for (int64_t s = 0; s < test->states; s++) {
        double next = 0;
        for (int64_t z = test->first_row[s]; z < test->first_row[s + 1] && !view->bad[s] && side != 0; z++)
            next += test->weight[z] * pess__mean_outcome(view->counts, test->pair[z], test->cap, test->setup.gamma);
        view->excess[s] = view->bad[s] || side == 0 ? 0 : fmax(side * (next - test->cap[s]), 0);
    }
}

static pess_status fill(pess__pooled_view *view, int64_t least, pess_error *error) {
    const pess__holdout *test = view->pooled->test;
    const int64_t states = test->states;
    const char *what = "a pooled test";
    PESS_TRY(pess__allocate(&view->bad, states, sizeof *view->bad, what, error));
    if (view->pooled->dense)
        PESS_TRY(pess__allocate(&view->inverse, (states + 1) * states, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->low_value, states + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->high_value, states + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->excess, states, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->v, test->rows + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->range, test->rows + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->seen, test->rows + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&view->h, view->pooled->target_count, sizeof(double), what, error));
    double *constant;
    PESS_TRY(pess__allocate(&constant, states, sizeof *constant, what, error));
    mark_bad(view, least);
    pess_status status = pess__pooled_hold_endless(test, view->counts, view->bad, error);
    if (status == PESS_OK && view->inverse)
        status = pess__pooled_invert(test, view->counts, view->bad, view->inverse, error);
    if (status == PESS_OK) {
        pess__pooled_values(view, test->pool_low, constant, view->low_value);
        pess__pooled_values(view, test->pool_high, constant, view->high_value);
        start_differences(view);
        find_excess(view);
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
    free(view->excess);
    free(view->v);
    free(view->range);
    free(view->seen);
    free(view->h);
    free(view);
}

/* |g(s') − g(reference)| from the box alone. */
static double from_box(const pess__holdout *test, int64_t s, int64_t reference) {
    const double *v = test->value;
    return fmax((test->pool_high[s] - v[s]) - (test->pool_low[reference] - v[reference]),
                (test->pool_high[reference] - v[reference]) - (test->pool_low[s] - v[s]));
}

/* Σ_s' n(z,s')·h(s')², and to *seen how far an outcome that was seen can be from ŷ. Both lists of successors are in
 * ascending order. */
static double moved_squares(const pess__pooled_view *view, int64_t z, double *seen) {
    const pess__pooled *pooled = view->pooled;
    const pess__holdout *test = pooled->test;
    const pess_counts *first = test->setup.first, *counts = view->counts;
    const int64_t pair = test->pair[z], reference = test->reference[z];
    int64_t at = first->row[pair];
    double sum = 0;
    *seen = 0;
    for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++) {
        const int64_t s = counts->next[i];
        double h = s == reference ? 0 : from_box(test, s, reference);
        while (at < first->row[pair + 1] && first->next[at] < s) at++;
        const int64_t target = at < first->row[pair + 1] && first->next[at] == s ? pooled->target_of[at] : -1;
        if (target >= 0) h = fmin(h, view->h[target]);
        sum += (double)counts->n_next[i] * h * h;
        *seen = fmax(*seen, pess__holdout_reach(test, z, s, h));
    }
    if (counts->n_terminal[pair] > 0) {
        double h = reference == test->states ? 0 : from_box(test, test->states, reference);
        if (pooled->target_end[z] >= 0) h = fmin(h, view->h[pooled->target_end[z]]);
        sum += (double)counts->n_terminal[pair] * h * h;
        *seen = fmax(*seen, pess__holdout_reach(test, z, test->states, h));
    }
    return sum;
}

/* The row of the starts: Y = v^π(s₀), no reward and no discount. */
static void refresh_starts(pess__pooled_view *view, double least, double most) {
    const pess__pooled *pooled = view->pooled;
    const pess__holdout *test = pooled->test;
    const int64_t reference = pooled->start_reference, at = test->rows;
    const double centre = pooled->start_centre, *v = test->value;
    double squares = 0, moved = 0, seen = 0;
    for (int64_t s = 0; s < test->states; s++) {
        const double n = view->starts_scale * (double)view->starts[s];
        if (n == 0) continue;
        squares += n * (v[s] - centre) * (v[s] - centre);
        double h = s == reference ? 0 : from_box(test, s, reference);
        if (pooled->target_start[s] >= 0) h = fmin(h, view->h[pooled->target_start[s]]);
        moved += n * h * h;
        seen = fmax(seen, fabs(v[s] - centre) + h);
    }
    const double root = sqrt(squares) + sqrt(moved);
    view->v[at] = root * root;
    view->range[at] = fmax(most - centre - (test->pool_low[reference] - v[reference]),
                           centre + (test->pool_high[reference] - v[reference]) - least);
    view->seen[at] = fmin(seen, view->range[at]);
}

void pess__pooled_view_refresh(pess__pooled_view *view) {
    const pess__holdout *test = view->pooled->test;
    double least, most;
    pess__holdout_extremes(test, test->pool_low, test->pool_high, &least, &most);
    for (int64_t z = 0; z < test->rows; z++) {
        double seen;
        const double root = sqrt(test->squares[z]) + test->setup.gamma * sqrt(moved_squares(view, z, &seen));
        view->v[z] = root * root;
        view->range[z] = pess__holdout_range(test, z, test->pool_low, test->pool_high, least, most);
        view->seen[z] = fmin(seen, view->range[z]);
    }
    if (view->starts) refresh_starts(view, least, most);
}
