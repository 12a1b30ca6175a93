#include "solve/packed.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

enum { NARROW = 4, WIDE = 8 };

static int64_t longest_row(const pess_model *model) {
    int64_t longest = 0;
    for (int64_t z = 0; z < model->states * model->actions; z++) {
        const int64_t length = model->row[z + 1] - model->row[z];
        longest = length > longest ? length : longest;
    }
    return longest;
}

bool pess__packed_fits(const pess__engine *engine) { return longest_row(engine->model) <= WIDE; }

void pess__packed_release(pess__packed *packed) {
    free(packed->constant);
    free(packed->uniform);
    free(packed->weight);
    free(packed->next);
}

static void pack(const pess__engine *engine, pess__packed *packed) {
    const pess_model *model = engine->model;
    for (int64_t z = 0; z < model->states * model->actions; z++) {
        const double *bonus = engine->local->bonus;
        packed->constant[z] = model->reward[z] + (bonus != NULL ? bonus[z] : 0.0);
        if (model->kind[z] == PESS__ROW_NONE) packed->constant[z] = -INFINITY;
        if (model->kind[z] == PESS__ROW_SINK) packed->constant[z] += engine->gamma * engine->problem->v_lo;
        if (model->kind[z] == PESS__ROW_UNIFORM) packed->uniform[z] = engine->gamma;
        if (model->kind[z] != PESS__ROW_SPARSE) continue;
        for (int64_t k = model->row[z], at = z * packed->width; k < model->row[z + 1]; k++, at++) {
            packed->weight[at] = engine->gamma * model->probability[k];
            packed->next[at] = model->next[k];
        }
    }
}

pess_status pess__packed_create(const pess__engine *engine, pess__packed *out, pess_error *error) {
    const int64_t pairs = engine->states * engine->actions;
    *out = (pess__packed){.states = engine->states,
                          .actions = engine->actions,
                          .width = longest_row(engine->model) <= NARROW ? NARROW : WIDE,
                          .any_uniform = engine->any_uniform,
                          .terminal = engine->model->terminal};
    static const char what[] = "the packed model";
    pess_status status = pess__allocate(&out->constant, pairs, sizeof(double), what, error);
    if (status == PESS_OK) status = pess__allocate(&out->uniform, pairs, sizeof(double), what, error);
    if (status == PESS_OK) status = pess__allocate(&out->weight, pairs * out->width, sizeof(double), what, error);
    if (status == PESS_OK) status = pess__allocate(&out->next, pairs * out->width, sizeof(uint32_t), what, error);
    if (status == PESS_OK)
        pack(engine, out);
    else
        pess__packed_release(out);
    return status;
}

static double mean_of(const pess__packed *packed, const double *v) {
    return packed->any_uniform ? pess__sum(packed->states, v) / (double)packed->states : 0.0;
}

static inline double q_of(const pess__packed *p, int64_t z, int64_t width, const double *v, double mean) {
    const double *w = p->weight + z * width;
    const uint32_t *next = p->next + z * width;
    double even = p->constant[z] + p->uniform[z] * mean, odd = 0;
    for (int64_t k = 0; k < width; k += 2) {
        even += w[k] * v[next[k]];
        odd += w[k + 1] * v[next[k + 1]];
    }
    return even + odd;
}

/* Written out for both widths: the inner loop has a constant length. */
static inline void improve(const pess__packed *packed, int64_t width, double *v, int32_t *choice) {
    const double mean = mean_of(packed, v);
    for (int64_t s = 0; s < packed->states; s++) {
        if (packed->terminal[s]) continue;
        const int64_t first = s * packed->actions;
        double best = q_of(packed, first, width, v, mean);
        int32_t chosen = 0;
        for (int64_t a = 1; a < packed->actions; a++) {
            const double q = q_of(packed, first + a, width, v, mean);
            chosen = q > best ? (int32_t)a : chosen;
            best = q > best ? q : best;
        }
        choice[s] = chosen;
        v[s] = best;
    }
}

static inline double gain(const pess__packed *packed, int64_t width, const double *v, const int32_t *choice) {
    const double mean = mean_of(packed, v);
    double most = 0;
    for (int64_t s = 0; s < packed->states; s++) {
        if (packed->terminal[s]) continue;
        const int64_t first = s * packed->actions;
        double best = -INFINITY;
        for (int64_t a = 0; a < packed->actions; a++) {
            const double q = q_of(packed, first + a, width, v, mean);
            best = q > best ? q : best;
        }
        const double more = best - q_of(packed, first + choice[s], width, v, mean);
        most = more > most ? more : most;
    }
    return most;
}

void pess__packed_improve(const pess__packed *packed, double *v, int32_t *choice) {
    if (packed->width == NARROW)
        improve(packed, NARROW, v, choice);
    else
        improve(packed, WIDE, v, choice);
}

double pess__packed_gain(const pess__packed *packed, const double *v, const int32_t *choice) {
    return packed->width == NARROW ? gain(packed, NARROW, v, choice) : gain(packed, WIDE, v, choice);
}
