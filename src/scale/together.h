/* What the solvers for several ranks share: sweeps over the own states, and when to stop. */
#ifndef PESS_SCALE_TOGETHER_H
#define PESS_SCALE_TOGETHER_H

#include "scale/chain.h"
#include "scale/engine.h"
#include "solve/monitor.h"

/* r + γPv of a pair, v fresh; `mean` is that of all values. */
static inline double pess__pair_value(const pess__problem *problem, int64_t z, const double *v, double mean) {
    const pess_model *model = problem->model;
    double future = 0;
    for (int64_t k = model->row[z]; k < model->row[z + 1]; k++) future += model->probability[k] * v[model->next[k]];
    if (model->kind[z] == PESS_ROW_UNIFORM) future = mean;
    if (model->kind[z] == PESS_ROW_SINK) future = problem->v_lo;
    return model->reward[z] + problem->options->gamma * future;
}

/* The mean of all values, where some row needs it. */
double pess__mean_of_all(const pess__slab *slab, const double *v, bool needed);
bool pess__has_uniform_rows(const pess_model *model);

/* The same answer on every rank: false where one has been told to stop, or is late. */
bool pess__go_on_together(pess__monitor *monitor);

#endif
