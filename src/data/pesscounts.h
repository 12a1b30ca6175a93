/* Files of counts (.pesscounts): little-endian, a header, names, where episodes began, records in the order of (state,
 * action, kind, next state), and a CRC-32. docs/formats.md has the layout byte for byte. Read as a counted log; written
 * by the model stage, which counts. */
#ifndef PESS_DATA_PESSCOUNTS_H
#define PESS_DATA_PESSCOUNTS_H

#include "data/stream.h"

enum { PESS__PESSCOUNTS_VERSION = 1 };

extern const uint8_t pess__pesscounts_magic[8];

enum {
    PESS__COUNTS_STATES_DECLARED = 1,
    PESS__COUNTS_ACTIONS_DECLARED = 2,
    PESS__COUNTS_NAMED = 4, /* shifted by the numbering: 4 states, 8 actions, 16 episodes */
    PESS__COUNTS_EPISODES = 32,
    PESS__COUNTS_STARTS = 64,
    PESS__COUNTS_SQUARES = 128,
    PESS__COUNTS_RANGE = 256,
    PESS__COUNTS_FLAGS = 512 /* above all of them */
};

typedef struct pess__pesscounts_header {
    uint8_t magic[8];
    uint32_t version, flags;
    int64_t states, actions, transitions, cutoffs;
    double reward_min, reward_max; /* 0 unless PESS__COUNTS_RANGE */
    int64_t records, episodes;
    int64_t name_bytes[PESS__NUMBERINGS];
    int64_t size; /* of the whole file */
    uint8_t zero[12];
    uint32_t crc; /* of the header, with this taken as zero */
} pess__pesscounts_header;

typedef struct pess__pesscounts_start {
    int64_t episode, step;
    uint32_t state, zero;
} pess__pesscounts_start;

/* kind: 0 goes on, 1 terminal, 2 Σ r² of the pair. A sum that two doubles do not hold goes on in records of the same
 * key with n = 0. */
typedef struct pess__pesscounts_record {
    uint32_t state, action, next_state, kind;
    int64_t n;
    double value, rest;
} pess__pesscounts_record;

_Static_assert(sizeof(pess__pesscounts_header) == 128 && sizeof(pess__pesscounts_start) == 24 &&
                   sizeof(pess__pesscounts_record) == 40,
               "structs lie in the file as they lie in memory");

#endif
