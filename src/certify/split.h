/* The parts of a log: one that chooses a policy, one that tests it. */
#ifndef PESS_CERTIFY_SPLIT_H
#define PESS_CERTIFY_SPLIT_H

#include "model/counts.h"

typedef struct pess__split {
    bool by_episodes; /* the first episodes against the later ones; else rows at random */
    int64_t first_rows, second_rows;
    pess_counts *first, *second;               /* counts of the pairs */
    pess_counts *first_states, *second_states; /* the same with one action: what the logging policy did */
    pess_counts *whole_states;                 /* of both parts */
} pess__split;

/* share: of the rows that go to the first part. By episodes: an episode belongs to the first part when its first row is
 * among the first share·rows of the log, so that the second part comes later and may depend on it. Else row i (from 0)
 * goes to the first part when mix(seed + (i+1)·0x9E3779B97F4A7C15) < share·2⁶⁴, mix being SplitMix64's finisher. */
pess_status pess__split_create(const pess_dataset *data, double share, bool by_episodes, uint64_t seed,
                               pess__split **out, pess_error *error);
void pess__split_destroy(pess__split *split);

#endif
