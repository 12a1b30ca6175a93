/* The networks of a training. Those that are trained update by update stand in one list, with their optimisers: the
 * ones that give values first, then the learner's own. They are what a checkpoint holds. */
#ifndef PESS_DEEP_NETWORKS_H
#define PESS_DEEP_NETWORKS_H

#include "deep/acting.h"
#include "deep/tables.h"

typedef struct pess__networks {
    int64_t count;
    pess__net *nets[PESS__MAX_NETWORKS];
    pess__trainer *trainers[PESS__MAX_NETWORKS];
    pess__net *imitation;        /* NULL unless the learner needs it */
    uint32_t imitation_checksum; /* of its file; 0 without */
    pess__net *uncertainty;      /* of the learner's uncertainty, or NULL */
    double level;                /* that the outputs of those that give values begin around; 0 but in evaluation */
} pess__networks;

/* All but imitation and uncertainty; parameters of those that give values are set by pess__networks_renew. */
pess_status pess__networks_create(const pess__setup *setup, pess__networks *out, pess_error *error);
void pess__networks_destroy(pess__networks *networks);
/* New parameters for the networks that give values. */
void pess__networks_renew(const pess__setup *setup, pess__networks *networks);
/* Parameters and moments, all but the first network after the number of its steps; in the order of the list. */
void pess__networks_save(const pess__networks *networks, pess__sink *sink);
void pess__networks_restore(pess__networks *networks, pess__cursor *cursor);
/* PESS_NOT_CONVERGED where a parameter is not a number. */
pess_status pess__networks_check(const pess__setup *setup, const pess__networks *networks, pess_error *error);

/* The imitation network: the file that the options name, or trained in a directory of its own beneath this run's. */
pess_status pess__networks_open_imitation(const pess__setup *setup, pess__networks *networks, pess_error *error);

/* Networks that give values and then the learner's own, as the views of states are made from them. */
pess__view pess__networks_view(const pess__setup *setup, const pess__tables *tables, int64_t state, int64_t i,
                               const pess__chunk_outputs outputs);
/* The policy that these networks and tables make. */
pess__learned_policy pess__networks_policy(const pess__setup *setup, const pess__networks *networks,
                                           const pess__tables *tables);

/* own_networks.c: the turn of the learner's own networks, after the values of an update. */
pess_status pess__own_networks_train(const pess__setup *setup, pess__networks *networks, const pess__tables *tables,
                                     pess__network_sweep *sweep, pess_error *error);

#endif
