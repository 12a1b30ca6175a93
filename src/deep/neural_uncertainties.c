/* The table of neural uncertainties, and what all kinds share: the penalty of every state of the data, made once before
 * training, and of the observations met outside them. */
#include "deep/neural_uncertainty.h"

#include "core/memory.h"

#include <math.h>
#include <string.h>

static const pess__neural_uncertainty *const uncertainties[] = {
    &pess__neural_uncertainty_counts,    &pess__neural_uncertainty_support_net,
    &pess__neural_uncertainty_imitation, &pess__neural_uncertainty_imitation_counts,
    &pess__neural_uncertainty_ensemble,  &pess__neural_uncertainty_propensity,
};

const pess__neural_uncertainty *pess__neural_uncertainty_at(size_t index) {
    return index < sizeof uncertainties / sizeof uncertainties[0] ? uncertainties[index] : NULL;
}

const pess__neural_uncertainty *pess__neural_uncertainty_find(const char *name) {
    for (size_t i = 0; i < sizeof uncertainties / sizeof uncertainties[0]; i++)
        if (strcmp(uncertainties[i]->info.name, name) == 0) return uncertainties[i];
    return NULL;
}

const pess_neural_uncertainty_info *pess_neural_uncertainty_list(size_t index) {
    const pess__neural_uncertainty *uncertainty = pess__neural_uncertainty_at(index);
    return uncertainty != NULL ? &uncertainty->info : NULL;
}

double pess__root_share(float p) { return 1 / sqrt(fmax((double)p, 1e-30)); }

double pess__root_count(double n, double none) { return n > 0 ? 1 / sqrt(n) : none; }

void pess__neural_uncertainty_finish(double cap, bool relative, int64_t actions, double *u) {
    double least = INFINITY;
    for (int64_t a = 0; a < actions; a++) {
        u[a] = fmin(fmax(u[a], 0), cap); /* a network may say anything */
        least = fmin(least, u[a]);
    }
    if (!relative) return;
    for (int64_t a = 0; a < actions; a++) u[a] -= least;
}

static void finish(const pess__fitted *f, double *u, float *penalty) {
    pess__neural_uncertainty_finish(f->cap, f->options.relative, f->data->actions, u);
    for (int64_t a = 0; a < f->data->actions; a++) penalty[a] = (float)u[a];
}

void pess__neural_uncertainty_outside(const pess__fitted *f, const float *prior, const pess__real *outputs,
                                      float *penalty) {
    double u[PESS__MAX_ACTIONS];
    f->learner->uncertainty->outside(f, prior, outputs, u);
    finish(f, u, penalty);
}

static bool acts_in(const pess__fitted *f, int64_t state) {
    const int64_t actions = f->data->actions;
    for (int64_t a = 0; a < actions; a++)
        if (f->counts[state * actions + a] > 0) return true;
    return false;
}

/* Penalties of states [first, first+count), with the outputs of the uncertainty's network, if it has one. */
static void fill(pess__fitted *f, int64_t first, int64_t count, int64_t outputs) {
    const pess__neural_uncertainty *uncertainty = f->learner->uncertainty;
    const int64_t actions = f->data->actions;
    for (int64_t i = 0; i < count; i++) {
        const int64_t state = first + i;
        float *penalty = f->penalty + state * actions;
        if (uncertainty->inside != NULL && acts_in(f, state)) {
            double u[PESS__MAX_ACTIONS];
            uncertainty->inside(f, state, u);
            finish(f, u, penalty);
        } else {
            pess__neural_uncertainty_outside(f, f->prior != NULL ? f->prior + state * actions : NULL,
                                             f->outputs + i * outputs, penalty);
        }
    }
}

static pess_status fill_all(pess__fitted *f, pess_error *error) {
    const pess_observations *data = f->data;
    for (int64_t first = 0; first < data->states; first += PESS__OUTPUT_CHUNK) {
        const int64_t left = data->states - first, count = left < PESS__OUTPUT_CHUNK ? left : PESS__OUTPUT_CHUNK;
        const pess__bits_rows rows = {data->observations + first * data->bytes, data->bytes, NULL};
        if (f->uncertainty_net != NULL)
            PESS_TRY(pess__net_apply(f->uncertainty_net, &rows, count, f->options.threads, f->outputs, error));
        fill(f, first, count, f->uncertainty_net != NULL ? f->uncertainty_net->outputs : 0);
    }
    return PESS_OK;
}

pess_status pess__neural_uncertainty_prepare(pess__fitted *f, pess_error *error) {
    const pess__neural_uncertainty *uncertainty = f->learner->uncertainty;
    PESS_TRY(pess__allocate(&f->penalty, f->data->states * f->data->actions, sizeof *f->penalty, "the uncertainties",
                            error));
    if (uncertainty->train != NULL) {
        PESS_TRY(pess__fitted_network(f, uncertainty->one_output ? 1 : f->data->actions, &f->uncertainty_net, error));
        PESS_TRY(uncertainty->train(f, f->uncertainty_net, error));
    }
    return fill_all(f, error);
}
