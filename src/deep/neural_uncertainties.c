/* The table of neural uncertainties, and what all kinds share: the penalty of every state of the data, made once before
 * training, and of the observations met outside them. */
#include "deep/neural_uncertainty.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS(word) &pess__neural_uncertainty_##word,
static const pess__neural_uncertainty *const uncertainties[] = {PESS__NEURAL_UNCERTAINTIES(ADDRESS)};
#undef ADDRESS

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

void pess__penalty_finish(double cap, bool relative, int64_t actions, double *u) {
    double least = INFINITY;
    for (int64_t a = 0; a < actions; a++) {
        u[a] = fmin(fmax(u[a], 0), cap); /* a network may say anything */
        least = fmin(least, u[a]);
    }
    if (!relative) return;
    for (int64_t a = 0; a < actions; a++) u[a] -= least;
}

static void finish(const pess__view *view, double *u, float *penalty) {
    pess__penalty_finish(view->cap, view->relative, view->actions, u);
    for (int64_t a = 0; a < view->actions; a++) penalty[a] = (float)u[a];
}

void pess__penalty_outside(const pess__neural_uncertainty *uncertainty, const pess__view *view, float *penalty) {
    double u[PESS__MAX_ACTIONS];
    uncertainty->outside(view, u);
    finish(view, u, penalty);
}

/* ---- the penalties of all states of the data */

/* Of states [first, first+count), with the outputs of the uncertainty's network, if it has one. */
static void fill(const pess__setup *s, pess__tables *tables, int64_t first, int64_t count, const pess__net *net,
                 const pess__real *outputs) {
    const pess__neural_uncertainty *uncertainty = s->learner->uncertainty;
    for (int64_t i = 0; i < count; i++) {
        const int64_t state = first + i;
        float *penalty = tables->penalty + state * s->data->actions;
        pess__view view = pess__tables_view(s, tables, state);
        if (uncertainty->inside != NULL && pess__tables_acted(s, tables, state)) {
            double u[PESS__MAX_ACTIONS];
            uncertainty->inside(&view, u);
            finish(&view, u, penalty);
        } else {
            if (net != NULL) view.uncertainty = outputs + i * net->outputs;
            pess__penalty_outside(uncertainty, &view, penalty);
        }
    }
}

static pess_status fill_all(const pess__setup *s, pess__tables *tables, const pess__net *net, pess_error *error) {
    const pess_observations *data = s->data;
    pess__real *outputs = NULL;
    if (net != NULL)
        PESS_TRY(
            pess__allocate(&outputs, PESS__OUTPUT_CHUNK * net->outputs, sizeof *outputs, "the uncertainties", error));
    pess_status status = PESS_OK;
    for (int64_t first = 0; first < data->states && status == PESS_OK; first += PESS__OUTPUT_CHUNK) {
        const int64_t left = data->states - first, count = left < PESS__OUTPUT_CHUNK ? left : PESS__OUTPUT_CHUNK;
        const pess__bits_rows rows = {data->observations + first * data->bytes, data->bytes, NULL};
        if (net != NULL) status = pess__net_apply(net, &rows, count, s->options.threads, outputs, error);
        if (status == PESS_OK) fill(s, tables, first, count, net, outputs);
    }
    free(outputs);
    return status;
}

pess_status pess__penalties_create(const pess__setup *s, pess__tables *tables, pess__net **net, char *warning,
                                   pess_error *error) {
    const pess__neural_uncertainty *uncertainty = s->learner->uncertainty;
    const pess__uncertainty_training training = {s, tables, warning};
    if (uncertainty->widths != NULL) {
        PESS_TRY(pess__allocate(&tables->widths, s->data->states * s->data->actions, sizeof *tables->widths,
                                "the uncertainties", error));
        PESS_TRY(uncertainty->widths(s, tables, tables->widths, error));
    }
    if (uncertainty->train != NULL) {
        PESS_TRY(pess__setup_network(s, uncertainty->one_output ? 1 : s->data->actions, net, error));
        PESS_TRY(uncertainty->train(&training, *net, error));
    }
    PESS_TRY(pess__allocate(&tables->penalty, s->data->states * s->data->actions, sizeof *tables->penalty,
                            "the uncertainties", error));
    return fill_all(s, tables, *net, error);
}
