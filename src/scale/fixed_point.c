/* The frozen system of solve/fixed_point.c over the states of all ranks, and its checkpoints. */
#include "scale/checkpoint.h"
#include "scale/together.h"

#include <string.h>

static pess_status create(const pess__problem *problem, const pess_model *frozen, pess__monitor *monitor, void **out,
                          pess_error *error) {
    (void)monitor;
    pess__chain *chain = NULL;
    const pess_status status = pess__chain_create(frozen, problem->options->gamma, problem->v_lo, &chain, error);
    *out = chain;
    return status;
}

static void destroy(void *system) { pess__chain_destroy(system); }

static pess_status fill(void *system, const double *choice, pess_error *error) {
    return pess__chain_fill(system, NULL, choice, NULL, error);
}

static double apply(void *system, const double *v, double *out) { return pess__chain_apply(system, v, out); }

static pess_status solve(void *system, double tolerance, double *v, pess_error *error) {
    return pess__chain_solve(system, tolerance, v, error);
}

static const char *name(const void *system) {
    static char last[sizeof((pess__chain *)NULL)->name];
    memcpy(last, ((const pess__chain *)system)->name, sizeof last);
    return last;
}

static bool go_on(void *monitor) { return pess__go_on_together(monitor); }

static pess_status take(const pess_model *model, double *v, pess_error *error) {
    return pess__checkpoint_take(pess__slab_of(model), v, error);
}

static pess_status keep(const pess_model *model, const double *v, pess_error *error) {
    return pess__checkpoint_keep(pess__slab_of(model), v, error);
}

const pess__frozen_kind pess__scale_frozen = {.create = create,
                                              .destroy = destroy,
                                              .fill = fill,
                                              .apply = apply,
                                              .solve = solve,
                                              .name = name,
                                              .go_on = go_on,
                                              .take = take,
                                              .keep = keep,
                                              .done = pess__checkpoint_done};
