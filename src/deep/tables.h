/* What is known of every state of the data before values are learnt: counts, the imitation network's probabilities and
 * the penalties; and going through many states with the outputs of networks for them. */
#ifndef PESS_DEEP_TABLES_H
#define PESS_DEEP_TABLES_H

#include "deep/setup.h"

enum {
    PESS__OUTPUT_CHUNK = 8192, /* states whose outputs are held at a time */
    PESS__WARNING_SIZE = 256
};

typedef struct pess__tables {
    float *prior;    /* [states*actions] π̂; NULL without imitation */
    float *penalty;  /* [states*actions] u; NULL without an uncertainty */
    int32_t *counts; /* [states*actions] n(s,a); NULL for imitation */
    float *widths;   /* [states*actions] by the uncertainty's `widths`; NULL unless it has them */
} pess__tables;

void pess__tables_destroy(pess__tables *tables);
/* n(s,a) over identical observations (equal ones have one number in the data), with a warning where next to no state
 * comes back and the learner goes by counts. */
pess_status pess__tables_count(const pess__setup *setup, pess__tables *tables, char *warning, pess_error *error);
/* Outputs of the imitation network for all states, turned into π̂. */
pess_status pess__tables_priors(const pess__setup *setup, const pess__net *imitation, pess__tables *tables,
                                pess_error *error);

/* What the tables hold of a state of the data; the outputs of networks are the caller's to add. */
pess__view pess__tables_view(const pess__setup *setup, const pess__tables *tables, int64_t state);
/* Did the data act in this state? */
bool pess__tables_acted(const pess__setup *setup, const pess__tables *tables, int64_t state);

/* Outputs of up to PESS__MAX_NETWORKS networks for a list of states, a chunk at a time. */
typedef struct pess__network_sweep {
    int64_t *states; /* [count] */
    int64_t count;
    int32_t *place;      /* [states of the data] where a state is in a list being made, or -1 */
    pess__real *outputs; /* of a chunk, network after network */
} pess__network_sweep;

/* Room for lists of all states of the data, or `least`; for `outputs` numbers per state. */
pess_status pess__network_sweep_create(const pess__setup *setup, int64_t least, int64_t outputs,
                                       pess__network_sweep *out, pess_error *error);
void pess__network_sweep_destroy(pess__network_sweep *sweep);
/* Adds a state that is not in the list yet. */
void pess__network_sweep_add(pess__network_sweep *sweep, int64_t state);
/* The list is made: the places are free for the next one. */
void pess__network_sweep_close(pess__network_sweep *sweep);

/* Where network k has its outputs for the first state of a chunk. */
typedef const pess__real *pess__chunk_outputs[PESS__MAX_NETWORKS];
typedef void pess__chunk_use(void *user, const int64_t *states, int64_t count, const pess__chunk_outputs outputs);

pess_status pess__network_sweep_run(const pess__setup *setup, pess__network_sweep *sweep, const pess__net *const *nets,
                                    int64_t net_count, pess__chunk_use *use, void *user, pess_error *error);

#endif
