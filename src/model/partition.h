/* Counts of a log with any number of different (s,a,s'), while the log flows by. Records go to partitions by ranges of
 * states; a partition is compacted by sorting its records and adding up those of the same (s,a,s'), in memory that fits
 * a cache. Sums of rewards are exact, so that nothing depends on the order of rows, on threads or on when a partition
 * is compacted. */
#ifndef PESS_MODEL_PARTITION_H
#define PESS_MODEL_PARTITION_H

#include "core/pages.h"
#include "data/stream.h"
#include "model/combine.h"

/* What a record counts: transitions that go on, transitions that end, or (without a next state) Σ r² of a pair. */
typedef enum pess__record_kind { PESS__GOES_ON, PESS__ENDS, PESS__SQUARES } pess__record_kind;

/* state | action | kind (2 bits) | next state: in the order of keys, the records of a pair follow each other. With
 * states times actions at most PESS_MAX_PAIRS that is at most 62 bits. */
enum { PESS__PAIR_BITS = 32 };

typedef struct pess__key_bits {
    int state, action;
} pess__key_bits;

typedef struct pess__key_parts {
    uint32_t state, action, next_state;
    pess__record_kind kind;
} pess__key_parts;

static inline uint64_t pess__key_of(pess__key_bits bits, pess__key_parts of) {
    const uint64_t pair = (uint64_t)of.state << bits.action | of.action;
    return (pair << 2 | of.kind) << bits.state | of.next_state;
}

static inline pess__key_parts pess__key_parts_of(pess__key_bits bits, uint64_t key) {
    const uint64_t pair = key >> (bits.state + 2);
    return (pess__key_parts){.state = (uint32_t)(pair >> bits.action),
                             .action = (uint32_t)(pair & (((uint64_t)1 << bits.action) - 1)),
                             .next_state = (uint32_t)(key & (((uint64_t)1 << bits.state) - 1)),
                             .kind = (pess__record_kind)(key >> bits.state & 3)};
}

/* One transition. Its square is not recorded: it follows from the reward. */
typedef struct pess__row {
    uint64_t key;
    double reward;
} pess__row;

/* n transitions whose rewards sum to value + rest. A sum that needs more parts goes on in records with n = 0. */
typedef struct pess__sum_record {
    uint64_t key;
    int64_t n;
    double value, rest;
} pess__sum_record;

typedef struct pess__partition {
    pess__page_list rows, sums; /* after compaction ascending; what occurs once is a row, all else sums */
    int64_t successors;         /* after compaction: different (s,a,s') that go on */
} pess__partition;

enum { PESS__PARTITIONS = 1024 };

/* A block with its rows sorted by partition, without those that were added up beforehand: those of partition i are
 * begin + from[i] … begin + from[i+1]-1. */
typedef struct pess__block_split {
    int64_t begin;
    uint32_t from[PESS__PARTITIONS + 1];
} pess__block_split;

typedef struct pess__partitions {
    int threads;
    pess__key_bits bits;
    int shift; /* state s is in partition s >> shift */
    pess__page_pool pool;
    pess__partition partition[PESS__PARTITIONS];
    int64_t limit;            /* pages in use beyond which duplicates are looked for */
    pess__block_split *split; /* [split_capacity] the blocks that are being added */
    pess__row *row;           /* [row_capacity] their rows */
    int64_t split_capacity, row_capacity;
    pess__combiner *combiner; /* [threads] NULL: rows are not added up beforehand */
    bool combines;            /* as long as it helps */
    bool failed;              /* out of memory */
} pess__partitions;

void pess__partitions_begin(pess__partitions *partitions, int threads);
void pess__partitions_free(pess__partitions *partitions);
/* How many threads the records that are there are worth. */
int pess__partitions_threads(const pess__partitions *partitions);
/* Wider keys, for larger ids. */
void pess__partitions_widen(pess__partitions *partitions, pess__key_bits bits);
/* Adding the rows of some blocks, whose ids fit the keys, so that threads may share the work: room for them; each block
 * split; then each partition's share of all blocks appended; then a look at whether it is time to compact. */
pess_status pess__partitions_expect(pess__partitions *partitions, const pess__block *blocks, int64_t count,
                                    pess_error *error);
void pess__partitions_split(pess__partitions *partitions, const pess__block *block, int64_t b, int thread);
void pess__partitions_append(pess__partitions *partitions, int partition, int64_t count);
pess_status pess__partitions_check(pess__partitions *partitions, pess_error *error);
/* A sum of several transitions. */
void pess__partitions_add_sum(pess__partitions *partitions, const pess__sum_record *sum);
/* One transition by itself. */
void pess__partitions_add_row(pess__partitions *partitions, const pess__row *row);
pess_status pess__partitions_compact(pess__partitions *partitions, pess_error *error);

/* The records of a compacted partition in the order of keys: rows and sums together. */
typedef struct pess__record_cursor {
    pess__page_cursor rows, sums;
    const pess__row *row; /* the next ones; NULL: no more */
    const pess__sum_record *sum;
} pess__record_cursor;

static inline pess__record_cursor pess__first_record(const pess__partition *partition) {
    pess__record_cursor cursor = {.rows = {partition->rows.first, 0}, .sums = {partition->sums.first, 0}};
    cursor.row = pess__page_next(&cursor.rows, sizeof *cursor.row);
    cursor.sum = pess__page_next(&cursor.sums, sizeof *cursor.sum);
    return cursor;
}

/* *square is r² of a row, whose square is in no other record. */
static inline bool pess__next_record(pess__record_cursor *cursor, pess__sum_record *record, double *square) {
    if (cursor->row != NULL && (cursor->sum == NULL || cursor->row->key < cursor->sum->key)) {
        *record = (pess__sum_record){cursor->row->key, 1, cursor->row->reward, 0};
        *square = cursor->row->reward * cursor->row->reward;
        cursor->row = pess__page_next(&cursor->rows, sizeof *cursor->row);
        return true;
    }
    if (cursor->sum == NULL) return false;
    *record = *cursor->sum;
    *square = 0;
    cursor->sum = pess__page_next(&cursor->sums, sizeof *cursor->sum);
    return true;
}

#endif
