/* Counting a log that flows by. Each (s,a,s',terminal or not) belongs to one of a fixed number of parts, and each part
 * is summed by one thread in file order: the sums are the same bytes at any thread count. While S*A*S is small the sums
 * lie in one table that ids index directly; beyond that in one hash table per part. */
#ifndef PESS_MODEL_TALLY_H
#define PESS_MODEL_TALLY_H

#include "data/stream.h"

typedef struct pess__tally_entry {
    uint32_t state, action, next_state;
    uint8_t terminal, used;
    int64_t n;
    double reward, offset, square; /* Σ r, Σ (r − origin), Σ (r − origin)² */
} pess__tally_entry;

/* Open addressing; slots is a power of two. */
typedef struct pess__tally_part {
    pess__tally_entry *slot;
    int64_t slots, used;
    bool failed; /* out of memory */
} pess__tally_part;

/* The same without the key: a cell of the direct table. */
typedef struct pess__tally_cell {
    int64_t n;
    double reward, offset, square;
} pess__tally_cell;

enum { PESS__TALLY_PARTS = 16 };

/* First rows of episodes, by episode id. */
typedef struct pess__first_row {
    int64_t episode, step;
    uint32_t state;
    uint32_t used;
} pess__first_row;

typedef struct pess__tally {
    int threads;
    int64_t rows, terminals, cutoffs;
    double reward_min, reward_max; /* of no rows: +inf, -inf */
    double origin; /* the first row's reward: near the others, so that sums of squares keep their digits */
    bool direct;   /* sums are in `cell`; otherwise in `part` */
    int state_bits, action_bits;
    pess__tally_cell *cell; /* [2 << (2 * state_bits + action_bits)] */
    pess__tally_part part[PESS__TALLY_PARTS];
    uint16_t *place;                        /* [place_blocks * PESS__BLOCK_ROWS] rows of each block, ordered by part */
    int64_t (*from)[PESS__TALLY_PARTS + 1]; /* [place_blocks] where each part's rows begin */
    struct pess__tally_summary *summary;    /* [place_blocks] */
    int64_t place_blocks;

    pess__first_row *first; /* [first_slots] where there are episodes */
    int64_t first_slots, first_used;
    int64_t last_slot; /* of the last row's episode: most rows stay in it */
    int64_t *starts;   /* [starts_capacity] where there are none: states after an ended row */
    int64_t starts_capacity;
    bool previous_ended, any_end, any_row, starts_failed;
} pess__tally;

void pess__tally_begin(pess__tally *tally, int threads);
pess_status pess__tally_add(pess__tally *tally, const pess__block *blocks, int64_t count, pess_error *error);
/* All sums to the hash tables, where the result is collected from. */
pess_status pess__tally_finish(pess__tally *tally, pess_error *error);
void pess__tally_free(pess__tally *tally);

#endif
