/* Where a policy rests on few samples: the pairs of the largest d(s)·π(a|s)/√n(s,a), d the discounted visitation. */
#include "core/memory.h"
#include "model/counts.h"
#include "model/model.h"
#include "model/spread.h"
#include "policy/policy.h"
#include "solve/horizon.h"
#include "solve/visits.h"

#include <math.h>
#include <stdlib.h>

/* A pair without samples weighs as if it had a hundredth of one. */
static double weight_of(const pess_thin_place *place) {
    return place->visits / sqrt(place->count > 0 ? (double)place->count : 0.01);
}

/* Keeps the list in order, the heaviest first. */
static void insert(pess_thin_place *list, int64_t room, int64_t *count, pess_thin_place place) {
    int64_t at = *count;
    while (at > 0 && weight_of(&list[at - 1]) < weight_of(&place)) at--;
    if (at >= room) return;
    if (*count < room) ++*count;
    for (int64_t i = *count - 1; i > at; i--) list[i] = list[i - 1];
    list[at] = place;
}

pess_status pess__pair_visits(const pess_model *model, const double *start, const pess_policy *policy,
                              const pess_solve_options *options, double *visits, pess_error *error) {
    if (options != NULL && options->horizon > 0)
        return pess__horizon_visits(model, start, policy, options->gamma, options->horizon, visits, error);
    double *states = NULL;
    PESS_TRY(pess__allocate(&states, model->states, sizeof *states, "visits", error));
    const pess_status status = pess_visitation(model, start, policy, options, states, error);
    for (int64_t z = 0; status == PESS_OK && z < model->states * model->actions; z++)
        visits[z] = states[z / model->actions] * policy->probability[z];
    free(states);
    return status;
}

pess_status pess_thin_places(const pess_counts *counts, const pess_model *model, const double *start,
                             const pess_policy *policy, const pess_solve_options *options, int64_t top,
                             pess_thin_place *out, int64_t *found, pess_error *error) {
    const int64_t pairs = counts->states * counts->actions;
    double *visits = NULL, total = 0;
    PESS_TRY(pess__allocate(&visits, pairs, sizeof *visits, "visits", error));
    const pess_status status = pess__pair_visits(model, start, policy, options, visits, error);
    if (status != PESS_OK) {
        free(visits);
        return status;
    }
    *found = 0;
    for (int64_t z = 0; z < pairs; z++) total += visits[z];
    total = pess__sum_of_all(model->spread, total);
    for (int64_t z = 0; total > 0 && z < pairs; z++) {
        const pess_thin_place place = {z / counts->actions, z % counts->actions, counts->n[z], visits[z] / total};
        if (place.visits > 0) insert(out, top, found, place);
    }
    free(visits);
    return model->spread != NULL ? model->spread->thinnest(counts, out, top, found, error) : PESS_OK;
}
