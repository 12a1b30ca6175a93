#include "solve/adversary.h"

#include <math.h>

pess_status pess__adversary_create(const pess__problem *problem, double scale, pess__adversary *out,
                                   pess_error *error) {
    const pess__u_problem u_problem = pess__u_problem_of(problem);
    pess__adversary adversary = {.problem = problem};
    PESS_TRY(pess__set_build(&u_problem, problem->uncertainty->info.name, scale, &adversary.set, error));
    const pess_status status = pess__set_scratch_create(adversary.set, problem->threads, &adversary.scratch, error);
    if (status != PESS_OK) {
        pess__set_destroy(adversary.set);
        return status;
    }
    *out = adversary;
    return PESS_OK;
}

void pess__adversary_destroy(pess__adversary *adversary) {
    pess__set_scratch_destroy(adversary->scratch);
    pess__set_destroy(adversary->set);
}

pess_status pess__adversary_prepare(void *context, const double *v, pess_error *error) {
    (void)error;
    pess__adversary *adversary = context;
    adversary->extremes = pess__value_extremes(adversary->problem->model, v);
    return PESS_OK;
}

double pess__adversary_worst(const pess__adversary *adversary, int thread, int64_t pair, const double *v, double weight,
                             double *centre, pess_model *frozen) {
    pess__set_scratch *scratch = &adversary->scratch[thread];
    const double worst = pess__set_worst(adversary->set, pair, v, &adversary->extremes, scratch, centre);
    if (!frozen) return worst;
    const pess_model *model = adversary->problem->model;
    const int64_t from = model->row[pair], length = model->row[pair + 1] - from, to = frozen->row[pair];
    for (int64_t i = 0; i < length; i++)
        frozen->probability[to + i] = (1 - weight) * model->probability[from + i] + weight * scratch->mass[i];
    frozen->next[to + length] = (uint32_t)(adversary->extremes.lo_state < 0 ? 0 : adversary->extremes.lo_state);
    frozen->probability[to + length] = weight * scratch->mass[length + 1];
    frozen->end_mass[pair] = (1 - weight) * model->end_mass[pair] + weight * scratch->mass[length];
    return worst;
}
