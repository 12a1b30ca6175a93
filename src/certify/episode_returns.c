#include "certify/episode_returns.h"

#include "certify/robust.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

typedef struct moment {
    int64_t episode, step, row;
} moment;

static int compare_moments(const void *left, const void *right) {
    const moment *a = left, *b = right;
    if (a->episode != b->episode) return a->episode < b->episode ? -1 : 1;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* The mean of k numbers in [0,1]: half of δ for Chernoff's bound, half for the empirical Bernstein bound (Maurer &
 * Pontil 2009, theorem 4), which is the tighter one where they differ little. */
static double mean_upper(double total, double squares, double k, double delta) {
    const double mean = total / k, chernoff = pess__kl_upper(mean, k, log(2 / delta));
    if (k < 2) return chernoff;
    const double variance = fmax((squares - k * mean * mean) / (k - 1), 0), log_term = log(4 / delta);
    return fmin(chernoff, mean + sqrt(2 * variance * log_term / k) + 7 * log_term / (3 * (k - 1)));
}

pess_status pess__returns_upper(const pess_dataset *data, double gamma, double v_lo, double v_hi, double delta,
                                double *upper, pess_error *error) {
    *upper = v_hi;
    if (!data->episode || data->rows == 0 || !(v_hi > v_lo)) return PESS_OK;
    moment *order;
    PESS_TRY(pess__allocate(&order, data->rows, sizeof *order, "the order of episodes", error));
    for (int64_t i = 0; i < data->rows; i++) order[i] = (moment){data->episode[i], data->step ? data->step[i] : i, i};
    qsort(order, (size_t)data->rows, sizeof *order, compare_moments);
    double total = 0, squares = 0, discount = 1, sum = 0;
    int64_t episodes = 0;
    for (int64_t i = 0; i < data->rows; i++) {
        sum += discount * data->reward[order[i].row];
        discount *= gamma;
        if (i + 1 < data->rows && order[i + 1].episode == order[i].episode) continue;
        if (data->end[order[i].row] != PESS_END_TERMINAL) sum += discount * v_hi;
        const double scaled = fmin(fmax((sum - v_lo) / (v_hi - v_lo), 0), 1);
        total += scaled;
        squares += scaled * scaled;
        episodes++;
        sum = 0;
        discount = 1;
    }
    free(order);
    *upper = v_lo + (v_hi - v_lo) * mean_upper(total, squares, (double)episodes, delta);
    return PESS_OK;
}
