/* A known decision process: transitions (next state, probability, reward) per pair s*A + a, in the order they were
 * given.
 */
#ifndef PESS_MODEL_MDP_H
#define PESS_MODEL_MDP_H

#include "core/infile.h"
#include "data/table.h"

struct pess_mdp {
    int64_t states, actions;
    int64_t *row;   /* [S*A+1] transitions of pair z are row[z] … row[z+1]-1; none: the state has no such action */
    uint32_t *next; /* [transitions] */
    double *probability; /* [transitions] sums to one per pair, within 1e-9 */
    double *reward;      /* [transitions] */
    uint8_t *terminal;   /* [S] 1: no actions */
};

/* Room for `transitions`; rows empty, no state terminal. */
pess_status pess__mdp_allocate(int64_t states, int64_t actions, int64_t transitions, pess_mdp **out, pess_error *error);

/* Outcomes in any order become an MDP. Runs of equal (state, action) are kept as runs, so that input that is already
 * in order is never moved. All zero to begin with. */
typedef struct pess__mdp_builder {
    struct pess__mdp_run {
        uint32_t state, action;
        int64_t begin; /* index of its first transition */
    } * runs;
    int64_t run_count, run_room;
    uint32_t *next;
    double *probability, *reward;
    int64_t count, next_room, probability_room, reward_room;
    bool unsorted; /* some run is not behind the one before it */
} pess__mdp_builder;

/* The values are checked by the caller. */
pess_status pess__mdp_builder_add(pess__mdp_builder *builder, uint32_t state, uint32_t action, uint32_t next,
                                  double probability, double reward, pess_error *error);
/* Checks that the rows sum to one; rows that are off by more than 1e-9, but within
 * pess__sum_tolerance, are scaled. `source` begins the
 * messages ("mdp.csv"), or is NULL. The builder is empty afterwards, also on failure. */
pess_status pess__mdp_builder_finish(pess__mdp_builder *builder, int64_t states, int64_t actions, const char *source,
                                     pess_mdp **out, pess_error *error);
void pess__mdp_builder_clear(pess__mdp_builder *builder);

/* Of arrays that are filled in: marks terminal states, and checks and scales sums as the builder does. */
pess_status pess__mdp_settle(pess_mdp *mdp, const char *source, pess_error *error);

/* A .pessmdp (mdp_binary.c). */
pess_status pess__mdp_read_binary(pess__infile *file, pess_mdp **out, pess_error *error);
pess_status pess__mdp_write_binary(const pess_mdp *mdp, const char *path, pess_error *error);

/* The CSV table of an MDP; `name` begins the messages. */
pess_status pess__mdp_read_table(pess__table *table, const char *name, pess_mdp **out, pess_error *error);

#endif
