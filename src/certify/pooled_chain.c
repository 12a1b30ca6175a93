/* The chain of a policy in one part of the log: its values and its visits. Up to PESS__POOLED_STATES states by the
 * inverse of I − γP̂, all rows of which the differences of values need; beyond by sweeps, of which none but the values
 * and the visits from ρ are needed. Sweeps end when what is missing is a hundredth of the slack for rounding that the
 * test takes off anyway, 1e-10 of the range of values. */
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

/* v = c + γP̂v over the states that are not held, by Gauss–Seidel. */
static void sweep_values(const pess__pooled_view *view, const double *constant, double *out) {
    const pess__holdout *test = view->pooled->test;
    const pess_counts *counts = view->counts;
    const double gamma = test->setup.gamma, width = test->setup.v_hi - test->setup.v_lo;
    for (int64_t s = 0; s < test->states; s++) out[s] = view->bad[s] ? constant[s] : 0;
    for (double change = INFINITY; change > 1e-12 * (1 - gamma) * width;) {
        change = 0;
        for (int64_t s = 0; s < test->states; s++) {
            double sum = constant[s];
            for (int64_t z = test->first_row[s]; z < test->first_row[s + 1] && !view->bad[s]; z++) {
                const int64_t pair = test->pair[z];
                const double share = gamma * test->weight[z] / (double)counts->n[pair];
                for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++)
                    sum += share * (double)counts->n_next[i] * out[counts->next[i]];
            }
            change = fmax(change, fabs(sum - out[s]));
            out[s] = sum;
        }
    }
}

void pess__pooled_values(const pess__pooled_view *view, const double *held, double *constant, double *out) {
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
    out[states] = 0;
    if (!view->inverse) {
        sweep_values(view, constant, out);
        return;
    }
    for (int64_t s = 0; s < states; s++) {
        out[s] = 0;
        for (int64_t t = 0; t < states; t++) out[s] += view->inverse[s * states + t] * constant[t];
    }
}

/* d = q + γdP̂ in powers of γP̂: what is still under way after k steps is at most γᵏ. */
static void sweep_visits(const pess__holdout *test, const pess_counts *counts, const uint8_t *bad, const double *start,
                         double *moving, double *arrived, double *visits) {
    double left = INFINITY;
    memcpy(moving, start, (size_t)test->states * sizeof *moving);
    memset(visits, 0, (size_t)test->states * sizeof *visits);
    while (left > 1e-13 * (1 - test->setup.gamma)) {
        left = 0;
        memset(arrived, 0, (size_t)test->states * sizeof *arrived);
        for (int64_t s = 0; s < test->states; s++) {
            visits[s] += moving[s];
            for (int64_t z = test->first_row[s]; z < test->first_row[s + 1] && !bad[s] && moving[s] > 0; z++) {
                const int64_t pair = test->pair[z];
                const double share = test->setup.gamma * test->weight[z] * moving[s] / (double)counts->n[pair];
                for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++)
                    arrived[counts->next[i]] += share * (double)counts->n_next[i];
            }
        }
        memcpy(moving, arrived, (size_t)test->states * sizeof *moving);
        for (int64_t s = 0; s < test->states; s++) left += moving[s];
    }
}

pess_status pess__pooled_visits(const pess__holdout *test, const pess_counts *counts, const uint8_t *bad,
                                const double *inverse, const double *start, double *visits, pess_error *error) {
    const int64_t states = test->states;
    if (!inverse) {
        double *room;
        PESS_TRY(pess__allocate(&room, 2 * states, sizeof *room, "visits", error));
        sweep_visits(test, counts, bad, start, room, room + states, visits);
        free(room);
        return PESS_OK;
    }
    for (int64_t t = 0; t < states; t++) {
        visits[t] = 0;
        for (int64_t s = 0; s < states; s++) visits[t] += start[s] * inverse[s * states + t];
    }
    return PESS_OK;
}
