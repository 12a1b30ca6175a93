/* Shards of a log counted in parallel: each rank reads some files; then every record goes to the rank whose range its
 * state is in. Numbers and names are those of all shards together. */
#ifndef PESS_SCALE_COUNTING_H
#define PESS_SCALE_COUNTING_H

#include "data/pesscounts.h"
#include "model/tally.h"
#include "scale/dictionary.h"
#include "scale/order.h"
#include "scale/slab.h"

typedef struct pess__share {
    /* of the whole log, the same on every rank */
    int64_t states, actions, transitions, terminals, cutoffs, episodes, repeated;
    double reward_min, reward_max;
    bool states_declared, actions_declared, has_episode, any_end, no_squares, no_range;
    bool named[PESS__NUMBERINGS];
    pess__dictionary names[PESS__NUMBERINGS];
    int64_t *begin;     /* [size+1] the first state of every rank */
    pess__order *order; /* NULL: states are in the order of their numbers; otherwise records go by places */

    /* of this rank's range of states */
    pess__pesscounts_record *record; /* under the numbers of all, in no order */
    int64_t records;
    int64_t *starts; /* without episodes: how many begin in each state, by number */

    /* of a range of episodes: all episodes of the ranks one behind the other are in ascending order */
    pess__pesscounts_start *start;
    int64_t start_count;
} pess__share;

/* Each path is a file, or a pattern with * and ? that names several. Names are numbered in ascending order; with
 * `as_they_come` those of a single file are numbered as it has them, as where one process reads it to solve. */
pess_status pess__count_together(const char *const *paths, int64_t count, bool as_they_come,
                                 const pess_read_options *options, pess__share *out, pess_error *error);
void pess__share_free(pess__share *share);

/* Ranges of states for every rank, by the records that there are, which go there. */
pess_status pess__share_out(pess__share *share, pess_error *error);
/* Places for the states of this rank and for those elsewhere that its records lead to. */
pess_status pess__share_slab(const pess__share *share, pess__slab **out, pess_error *error);

/* The records of this rank in a tally of `states` states: state and next state as `place` numbers them. */
pess_status pess__share_tally(const pess__share *share, int64_t states, void *context,
                              int64_t (*place)(void *context, int64_t state), pess__tally *out, pess_error *error);

/* One file of counts of all, with the bytes that pess_counts_merge writes. */
pess_status pess__share_write(pess__share *share, const char *path, pess_error *error);

#endif
