/* A known process as the commands load it: the MDP, its model and a start distribution. */
#ifndef PESS_CLI_KNOWN_MDP_H
#define PESS_CLI_KNOWN_MDP_H

#include "command.h"

typedef struct known_mdp {
    pess_mdp *mdp;
    pess_model *model;
    double *start; /* [S] */
} known_mdp;

/* start_path: NULL or "uniform", or a file with the columns state,probability. */
pess_status known_mdp_read(const char *path, const char *start_path, known_mdp *out, pess_error *error);
void known_mdp_free(known_mdp *known);
/* policy_path: "uniform" or a file. */
pess_status known_mdp_policy(const known_mdp *known, const char *policy_path, pess_policy **out, pess_error *error);

#endif
