#include "experiment/torus.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

pess_status pess__torus_create(int64_t rows, int64_t cols, double slip, pess__torus *out, pess_error *error) {
    uint32_t *neighbour = NULL;
    PESS_TRY(pess__allocate(&neighbour, rows * cols * TORUS_ACTIONS, sizeof *neighbour, "the gridworld", error));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            uint32_t *at = neighbour + (i * cols + j) * TORUS_ACTIONS;
            at[0] = (uint32_t)((i + rows - 1) % rows * cols + j);
            at[1] = (uint32_t)(i * cols + (j + 1) % cols);
            at[2] = (uint32_t)((i + 1) % rows * cols + j);
            at[3] = (uint32_t)(i * cols + (j + cols - 1) % cols);
        }
    *out = (pess__torus){rows, cols, rows * cols, slip, neighbour};
    return PESS_OK;
}

void pess__torus_destroy(pess__torus *torus) {
    free(torus->neighbour);
    torus->neighbour = NULL;
}

static double move_probability(const pess__torus *torus, int64_t direction, int64_t action) {
    return torus->slip / TORUS_ACTIONS + (direction == action ? 1 - torus->slip : 0);
}

void pess__torus_draw(const pess__torus *torus, double a, double b, pess__rng *rng, pess__torus_model *out) {
    const int64_t pairs = torus->states * TORUS_ACTIONS;
    for (int64_t z = 0; z < pairs; z++) {
        out->reward[z] = pess__rng_beta(rng, a, b);
        out->unseen[z] = 0;
    }
    for (int64_t i = 0; i < pairs * TORUS_ACTIONS; i++)
        out->probability[i] = move_probability(torus, i / TORUS_ACTIONS % TORUS_ACTIONS, i % TORUS_ACTIONS);
}

/* ---- drawing a dataset */

void pess__torus_sample(const pess__torus *torus, const pess__torus_model *truth, const double *cumulative, int64_t n,
                        pess__rng *rng, pess__torus_counts *out) {
    const int64_t pairs = torus->states * TORUS_ACTIONS;
    pess__rng_multinomial(rng, n, pairs, cumulative, out->pair);
    const double slip = torus->slip * (TORUS_ACTIONS - 1) / TORUS_ACTIONS;
    for (int64_t z = 0; z < pairs; z++) {
        int64_t *move = out->move + z * TORUS_ACTIONS, action = z % TORUS_ACTIONS;
        memset(move, 0, TORUS_ACTIONS * sizeof *move);
        out->success[z] = pess__rng_binomial(rng, out->pair[z], truth->reward[z]);
        /* the moves that miss the intended direction, then one of the other three for each */
        int64_t left = pess__rng_binomial(rng, out->pair[z], slip);
        move[action] = out->pair[z] - left;
        for (int64_t d = 1; d < TORUS_ACTIONS && left > 0; d++) {
            const int64_t count = pess__rng_binomial(rng, left, 1.0 / (double)(TORUS_ACTIONS - d));
            move[(action + d) % TORUS_ACTIONS] = count;
            left -= count;
        }
    }
}

/* ---- the empirical model */

static void estimate_pair(const pess__torus_counts *counts, int64_t z, pess__rng *unseen, pess__torus_model *out,
                          double *root) {
    const int64_t state = z / TORUS_ACTIONS, action = z % TORUS_ACTIONS, n = counts->pair[z];
    double *probability = out->probability + state * TORUS_ACTIONS * TORUS_ACTIONS + action;
    const double inverse = n > 0 ? 1 / (double)n : 0;
    for (int64_t d = 0; d < TORUS_ACTIONS; d++)
        probability[d * TORUS_ACTIONS] = (double)counts->move[z * TORUS_ACTIONS + d] * inverse;
    out->unseen[z] = n > 0 ? 0 : 1;
    out->reward[z] = n > 0 ? (double)counts->success[z] / (double)n : pess__rng_uniform(unseen);
    root[z] = n > 0 ? 1 / sqrt((double)n) : INFINITY;
}

void pess__torus_estimate(const pess__torus *torus, const pess__torus_counts *counts, pess__rng *unseen,
                          pess__torus_model *out, double *imitation, double *root) {
    for (int64_t s = 0; s < torus->states; s++) {
        int64_t total = 0;
        for (int64_t a = 0; a < TORUS_ACTIONS; a++) {
            const int64_t z = s * TORUS_ACTIONS + a;
            estimate_pair(counts, z, unseen, out, root);
            total += counts->pair[z];
        }
        for (int64_t a = 0; a < TORUS_ACTIONS; a++) {
            const int64_t z = s * TORUS_ACTIONS + a;
            imitation[z] = total > 0 ? (double)counts->pair[z] / (double)total : 1.0 / TORUS_ACTIONS;
        }
    }
}
