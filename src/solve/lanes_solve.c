/* The elimination in lanes itself, compiled twice. */
#include "solve/lanes.h"

#include <string.h>

/* A batch is WIDE registers of four doubles. */
typedef double vector __attribute__((vector_size(32)));
enum { WIDE = PESS__LANES / 4 };

#define EACH_REGISTER for (int w = 0; w < WIDE; w++)

/* Row i of I − C in the dense work row: zero on its pattern, one on the diagonal, minus the entries of C. */
static inline void load_row(const pess__lanes_plan *plan, int64_t i, const vector *coefficient, vector *work) {
    const vector zero = {0};
    for (int64_t e = plan->lower_row[i]; e < plan->lower_row[i + 1]; e++)
        EACH_REGISTER work[(int64_t)plan->lower[e] * WIDE + w] = zero;
    for (int64_t e = plan->upper_row[i]; e < plan->upper_row[i + 1]; e++)
        EACH_REGISTER work[(int64_t)plan->upper[e] * WIDE + w] = zero;
    EACH_REGISTER work[i * WIDE + w] = zero + 1.0;
    const vector *c = coefficient + (int64_t)plan->state[i] * PESS__NEIGHBOURS * WIDE;
    for (int64_t d = 0; d < PESS__NEIGHBOURS; d++) {
        vector *at = work + (int64_t)plan->position[i * PESS__NEIGHBOURS + d] * WIDE;
        EACH_REGISTER at[w] -= c[d * WIDE + w];
    }
}

/* Up-looking elimination: row i minus multiples of the rows above it. The forward substitution of both right-hand
 * sides goes along, so L is never stored. */
static inline void factor(const pess__lanes_plan *plan, pess__lanes *lanes, int64_t rows) {
    const vector *coefficient = (const vector *)lanes->coefficient, *right = (const vector *)lanes->right;
    vector *restrict work = (vector *)lanes->work, *restrict pivot = (vector *)lanes->pivot;
    vector *restrict upper = (vector *)lanes->upper, *restrict forward = (vector *)lanes->forward;
    for (int64_t i = 0; i < rows; i++) {
        load_row(plan, i, coefficient, work);
        vector first[WIDE], second[WIDE];
        EACH_REGISTER first[w] = right[2 * (int64_t)plan->state[i] * WIDE + w];
        EACH_REGISTER second[w] = right[(2 * (int64_t)plan->state[i] + 1) * WIDE + w];
        for (int64_t e = plan->lower_row[i]; e < plan->lower_row[i + 1]; e++) {
            const int64_t k = plan->lower[e], end = plan->upper_row[k + 1];
            vector multiple[WIDE];
            EACH_REGISTER multiple[w] = work[k * WIDE + w] * pivot[k * WIDE + w];
            for (int64_t f = plan->upper_row[k]; f < end; f++) {
                vector *at = work + (int64_t)plan->upper[f] * WIDE;
                EACH_REGISTER at[w] -= multiple[w] * upper[f * WIDE + w];
            }
            EACH_REGISTER first[w] -= multiple[w] * forward[2 * k * WIDE + w];
            EACH_REGISTER second[w] -= multiple[w] * forward[(2 * k + 1) * WIDE + w];
        }
        for (int64_t f = plan->upper_row[i]; f < plan->upper_row[i + 1]; f++)
            EACH_REGISTER upper[f * WIDE + w] = work[(int64_t)plan->upper[f] * WIDE + w];
        EACH_REGISTER pivot[i * WIDE + w] = 1.0 / work[i * WIDE + w];
        EACH_REGISTER forward[2 * i * WIDE + w] = first[w];
        EACH_REGISTER forward[(2 * i + 1) * WIDE + w] = second[w];
    }
}

/* x_i = (y_i − Σ_{j>i} U_ij x_j) / U_ii, from row `rows` − 1 down; x overwrites y. */
static inline void substitute(const pess__lanes_plan *plan, pess__lanes *lanes, int64_t rows) {
    const vector *pivot = (const vector *)lanes->pivot, *upper = (const vector *)lanes->upper;
    vector *restrict forward = (vector *)lanes->forward, *restrict solution = (vector *)lanes->solution;
    for (int64_t i = rows - 1; i >= 0; i--) {
        vector x[2 * WIDE];
        for (int h = 0; h < 2 * WIDE; h++) x[h] = forward[2 * i * WIDE + h];
        for (int64_t f = plan->upper_row[i]; f < plan->upper_row[i + 1]; f++) {
            const vector *later = forward + 2 * (int64_t)plan->upper[f] * WIDE;
            for (int h = 0; h < 2 * WIDE; h++) x[h] -= upper[f * WIDE + h % WIDE] * later[h];
        }
        for (int h = 0; h < 2 * WIDE; h++) {
            x[h] *= pivot[i * WIDE + h % WIDE];
            forward[2 * i * WIDE + h] = x[h];
            solution[2 * (int64_t)plan->state[i] * WIDE + h] = x[h];
        }
    }
}

void PESS__VARIANT(pess__lanes_solve)(const pess__lanes_plan *plan, pess__lanes *lanes) {
    factor(plan, lanes, plan->n);
    substitute(plan, lanes, plan->n);
}

void PESS__VARIANT(pess__lanes_null)(const pess__lanes_plan *plan, pess__lanes *lanes) {
    const int64_t n = plan->n, last = n - 1, size = PESS__LANES;
    double *solution = lanes->solution, *forward = lanes->forward;
    memset(lanes->right, 0, (size_t)(2 * n * size) * sizeof *lanes->right);
    /* the last pivot of a singular matrix is zero: its unknown is free and set to one */
    factor(plan, lanes, last);
    for (int64_t l = 0; l < size; l++) {
        forward[2 * last * size + l] = 1;
        forward[(2 * last + 1) * size + l] = 0;
        solution[2 * (int64_t)plan->state[last] * size + l] = 1;
    }
    substitute(plan, lanes, last);
    for (int64_t l = 0; l < size; l++) {
        double sum = 0;
        for (int64_t s = 0; s < n; s++) sum += solution[2 * s * size + l];
        for (int64_t s = 0; s < n; s++) solution[2 * s * size + l] /= sum;
    }
}
