/* The parts of a log: one that chooses a policy, one that tests it.
 *
 * By episodes: all that is chosen or tuned must be fixed before the first outcome that tests it, also where the length
 * of the log was chosen by looking at it. A share of the length is not: it moves with whatever came last. So the first
 * part ends at one of 16 places that do not depend on the log, 2³ … 2¹⁸ rows, and each place has its own share of δ.
 * A place that was declared before looking has all of it.
 * Else rows go to the parts at random: row i (from 0) to the first when mix(seed + (i+1)·0x9E3779B97F4A7C15) <
 * share·2⁶⁴, mix being SplitMix64's finisher. */
#ifndef PESS_CERTIFY_SPLIT_H
#define PESS_CERTIFY_SPLIT_H

#include "model/counts.h"

enum { PESS__SPLIT_LEAST = 3, PESS__SPLIT_PLACES = 16 };

typedef struct pess__split_rule {
    double share;       /* of the rows that go to the first part; by episodes it is at most that */
    int64_t first_part; /* rows that were declared for it; 0: none */
    bool by_episodes;   /* the first episodes against the later ones */
    uint64_t seed;
} pess__split_rule;

typedef struct pess__split {
    bool by_episodes, declared;
    int places;   /* of the cut, among which δ is shared */
    double ratio; /* size of the second part over that of the first, as far as it is known beforehand */
    int64_t first_rows, second_rows;
    pess_counts *first, *second;               /* counts of the pairs */
    pess_counts *first_states, *second_states; /* the same with one action: what the logging policy did */
    pess_counts *whole_states;                 /* of all rows */
} pess__split;

/* whole: counts of all rows. */
pess_status pess__split_create(const pess_dataset *data, const pess_counts *whole, const pess__split_rule *rule,
                               pess__split **out, pess_error *error);
void pess__split_destroy(pess__split *split);
/* The largest place that is at most share·rows, or the smallest one. */
int64_t pess__split_place(int64_t rows, double share);

#endif
