/* A tabular MDP made ready for sampling. The tables never change, so clones and batches share them. */
#ifndef PESS_ENV_TABLES_H
#define PESS_ENV_TABLES_H

#include "env/env.h"

typedef struct pess__mdp_tables pess__mdp_tables;

/* Copies the MDP and fills the rules, tables included (one user). start NULL: uniform over states with actions. */
pess_status pess__mdp_tables_create(const pess_mdp *mdp, const double *start, const pess_env_options *options,
                                    pess__rules *out, pess_error *error);
void pess__mdp_tables_share(pess__mdp_tables *tables);   /* one user more; NULL is fine */
void pess__mdp_tables_release(pess__mdp_tables *tables); /* one less; NULL is fine */

int64_t pess__mdp_tables_state(const void *state); /* of an instance of pess__game_mdp */

#endif
