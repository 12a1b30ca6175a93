#include "known_mdp.h"

#include "command.h"

#include <stdlib.h>
#include <string.h>

static pess_status read_start(const char *start_path, known_mdp *known, pess_error *error) {
    const int64_t states = pess_mdp_states(known->mdp);
    known->start = calloc((size_t)states, sizeof *known->start);
    if (known->start == NULL) {
        no_memory_for("the start distribution", error);
        return PESS_MEMORY;
    }
    if (start_path == NULL || strcmp(start_path, "uniform") == 0)
        return pess_start_uniform(known->model, known->start, error);
    return pess_start_read(start_path, states, NULL, known->start, error);
}

pess_status known_mdp_read(const char *path, const char *start_path, known_mdp *out, pess_error *error) {
    *out = (known_mdp){0};
    pess_status status = pess_mdp_read(path, &out->mdp, error);
    if (status == PESS_OK) status = pess_mdp_model(out->mdp, 0, &out->model, error);
    if (status == PESS_OK) status = read_start(start_path, out, error);
    if (status != PESS_OK) known_mdp_free(out);
    return status;
}

void known_mdp_free(known_mdp *known) {
    pess_mdp_destroy(known->mdp);
    pess_model_destroy(known->model);
    free(known->start);
    *known = (known_mdp){0};
}

pess_status known_mdp_policy(const known_mdp *known, const char *policy_path, pess_policy **out, pess_error *error) {
    if (strcmp(policy_path, "uniform") == 0) return pess_policy_uniform(known->model, out, error);
    return pess_policy_read(policy_path, known->model, NULL, NULL, out, error);
}
