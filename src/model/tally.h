/* Counting a log that flows by. While S*A*S is small the counts are in tables that ids index directly, one for each
 * thread; beyond that, records go to partitions. Sums are exact, so the result is the same bytes at any thread count.
 */
#ifndef PESS_MODEL_TALLY_H
#define PESS_MODEL_TALLY_H

#include "model/partition.h"

#include <pthread.h>

/* n and Σ r = sum + rest of one (s,a,s'), ended or not. */
typedef struct pess__tally_cell {
    int64_t n;
    double sum, rest;
} pess__tally_cell;

/* Σ r² of a pair. */
typedef struct pess__tally_square {
    double sum, rest;
} pess__tally_square;

typedef struct pess__tally_table {
    pess__tally_cell *cell;     /* [2 << (2 * state bits + action bits)] */
    pess__tally_square *square; /* [1 << (state bits + action bits)] */
} pess__tally_table;

/* First rows of episodes, by episode id. */
typedef struct pess__first_row {
    int64_t episode, step;
    uint32_t state;
    uint32_t used;
    int64_t last, rows; /* the largest step, and how many rows have one; rows 0: not known */
} pess__first_row;

typedef struct pess__tally {
    int threads;
    int64_t rows, terminals, cutoffs;
    double reward_min, reward_max; /* of no rows: +inf, -inf */
    bool too_many;                 /* more than PESS__MAX_TRANSITIONS */
    bool no_squares, no_range;     /* Σ r², and the range of rewards, are not known: of counted logs without them */
    bool direct;                   /* counts are in tables; otherwise in partitions */
    int tables;
    pess__tally_table *table; /* [tables] */
    pess__partitions partitions;
    pthread_mutex_t hand_over;           /* from a thread's table to the partitions */
    struct pess__tally_summary *summary; /* [summary_capacity] of the blocks that are being added */
    int64_t summary_capacity;

    pess__first_row *first; /* [first_slots] where there are episodes */
    int64_t first_slots, first_used;
    int64_t last_slot; /* of the last row's episode: most rows stay in it */
    int64_t *starts;   /* [starts_capacity] where there are none: states after an ended row */
    int64_t starts_capacity;
    bool previous_ended, any_end, any_row, starts_failed;
} pess__tally;

void pess__tally_begin(pess__tally *tally, int threads);
/* Passes over blocks with more states times actions than PESS_MAX_PAIRS: whoever reads a log refuses it at its end,
 * unless it starts again because the numbers turn out to be names. */
pess_status pess__tally_add(pess__tally *tally, const pess__block *blocks, int64_t count, pess_error *error);
/* What a counted log says beside its records. */
pess_status pess__tally_add_counted(pess__tally *tally, const pess__counted *counted, int64_t states,
                                    pess_error *error);
/* Everything that a stream delivers. */
pess_status pess__tally_read(pess__tally *tally, pess__stream *stream, pess_error *error);

/* New numbers of states, actions and episodes; NULL: they keep theirs. */
typedef struct pess__renumbering {
    int64_t *to[PESS__NUMBERINGS];
} pess__renumbering;

/* Moves the counts of one tally to another, under new numbers below the given sizes. Empties `from` of its records. */
pess_status pess__tally_absorb(pess__tally *to, pess__tally *from, const pess__renumbering *renumbering, int64_t states,
                               int64_t actions, pess_error *error);
/* All counts to the partitions, compacted, where the result is collected from. */
pess_status pess__tally_finish(pess__tally *tally, pess_error *error);
/* Rows that must repeat a step of their episode: more of them than steps from its first to its last. */
int64_t pess__tally_repeated(const pess__tally *tally);
/* tally_starts.c; false: not enough memory, which the last one notes in starts_failed. */
bool pess__note_episode(pess__tally *tally, int64_t episode, int64_t step, uint32_t state);
bool pess__note_starts(pess__tally *tally, uint32_t state, int64_t count);
void pess__find_starts(pess__tally *tally, const pess__block *block);
void pess__tally_free(pess__tally *tally);

#endif
