/* Rows of the same (s,a,s') added up before they are recorded, in a table that fits a cache: for logs with many more
 * rows than different (s,a,s'). One for each thread. Sums stay exact, so it does not show in the result which rows were
 * added up here. */
#ifndef PESS_MODEL_COMBINE_H
#define PESS_MODEL_COMBINE_H

#include "core/exact.h"
#include "core/status.h"

enum {
    PESS__COMBINE_BITS = 15,
    PESS__COMBINE_SLOTS = 1 << PESS__COMBINE_BITS,
    PESS__COMBINE_MOST = 3 * PESS__COMBINE_SLOTS / 4, /* slots in use */
    PESS__COMBINE_PROBES = 8
};

typedef struct pess__combined {
    uint64_t key;
    int64_t n; /* 0: free */
    double sum, rest, square, square_rest;
} pess__combined;

typedef struct pess__combiner {
    pess__combined *slot; /* [PESS__COMBINE_SLOTS] NULL: none */
    int64_t used;
    uint16_t *left;     /* [PESS__BLOCK_ROWS] places of the rows of a block that were not added up */
    int64_t asked, met; /* rows, and those that were */
} pess__combiner;

/* Whether the row is added up here. */
static inline bool pess__combine(pess__combiner *c, uint64_t key, double reward) {
    uint64_t at = key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - PESS__COMBINE_BITS);
    for (int i = 0; i < PESS__COMBINE_PROBES; i++, at = (at + 1) & (PESS__COMBINE_SLOTS - 1)) {
        pess__combined *slot = &c->slot[at];
        if (slot->n == 0) {
            if (c->used == PESS__COMBINE_MOST) return false;
            c->used++;
            *slot = (pess__combined){key, 1, reward, 0, reward * reward, 0};
            return true;
        }
        if (slot->key != key) continue;
        double sum = slot->sum, rest = slot->rest;
        if (!pess__add_to_pair(&sum, &rest, reward) ||
            !pess__add_to_pair(&slot->square, &slot->square_rest, reward * reward))
            return false;
        slot->sum = sum;
        slot->rest = rest;
        slot->n++;
        return true;
    }
    return false;
}

#endif
