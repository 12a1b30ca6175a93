/* A log as it flows from a file: portions of blocks of rows, in the order of the file, never the whole of it. Every
 * format delivers this; datasets and counts are built from it. */
#ifndef PESS_DATA_STREAM_H
#define PESS_DATA_STREAM_H

#include "core/infile.h"

typedef enum pess__role {
    PESS__ROLE_IGNORED,
    PESS__ROLE_STATE,
    PESS__ROLE_ACTION,
    PESS__ROLE_REWARD,
    PESS__ROLE_NEXT_STATE,
    PESS__ROLE_TERMINAL,
    PESS__ROLE_TRUNCATED,
    PESS__ROLE_EPISODE,
    PESS__ROLE_STEP,
    PESS__ROLE_PROBABILITY,
    PESS__LOG_ROLES,
    /* Columns of counted logs, which stand for several transitions in a row. */
    PESS__ROLE_COUNT = PESS__LOG_ROLES,
    PESS__ROLE_REWARD_SUM,
    PESS__ROLE_REWARD_SQUARE_SUM,
    PESS__ROLE_REWARD_MIN,
    PESS__ROLE_REWARD_MAX,
    PESS__ROLES
} pess__role;

/* Columns that share one numbering: states (state and next_state), actions, episodes. */
enum { PESS__STATES, PESS__ACTIONS, PESS__EPISODES, PESS__NUMBERINGS };

extern const char *const pess__role_name[PESS__ROLES]; /* as the columns are called in files */

/* A piece of the log, column by column; at most PESS__BLOCK_ROWS rows, so that a row's place fits 16 bits. */
enum { PESS__BLOCK_ROWS = 1 << 16 };

typedef struct pess__block {
    int64_t rows;
    uint32_t *state, *action, *next_state; /* [capacity] */
    double *reward;
    uint8_t *end;
    int64_t *episode, *step; /* NULL: no such column */
    double *probability;     /* NULL: no such column */
    int64_t *count;          /* NULL: a row is one transition. Otherwise so many, and `reward` is the sum of theirs */
    double *rest;            /* with count, or NULL: what is to be added to that sum */
    double *square;          /* with count, or NULL: Σ r² of the row */
    double *low, *high;      /* with count, or NULL: the smallest and the largest reward of the row */
    uint32_t max_state, max_action;
} pess__block;

pess_status pess__block_create(pess__block *block, int64_t capacity, bool episode, bool step, bool probability,
                               pess_error *error);
/* The columns of counted logs, beside those. */
pess_status pess__block_add_counts(pess__block *block, int64_t capacity, bool square, bool range, pess_error *error);
void pess__block_free(pess__block *block);

typedef struct pess__portion {
    pess__block *blocks;
    int64_t count;  /* 0: the log is over */
    bool restarted; /* forget all earlier portions: the log starts again (a column turned out to hold names) */
} pess__portion;

/* What a counted log says beside its records. */
typedef struct pess__counted {
    bool squares;                  /* Σ r² is known */
    bool range;                    /* reward_min and reward_max are known */
    double reward_min, reward_max; /* of all transitions, where records have no range of their own */
    int64_t cutoffs;               /* where records do not tell */
    bool starts_known;             /* without episodes: `starts` tells where they began */
    int64_t *starts;               /* [states] or NULL */
    int64_t episodes;
    int64_t *episode, *step; /* [episodes] id, and the first step */
    uint32_t *first_state;   /* [episodes] */
} pess__counted;

/* More transitions than this cannot have been counted; doubles hold every number up to it. */
#define PESS__MAX_TRANSITIONS ((int64_t)1 << 53)

/* The end of a record that holds Σ r² of its pair, in `reward`, and no transitions. */
enum { PESS__END_SQUARES = PESS_END_CUTOFF + 1 };

/* Rows that were dropped where next states come from the rows that follow; only next_rows.c sees them. GAP_STATE: the
 * state is known, so that the row before leads there. */
enum { PESS__END_GAP = PESS__END_SQUARES + 1, PESS__END_GAP_STATE };

typedef struct pess__stream {
    const struct pess__format *format;
    pess__infile *file;
    pess_read_options options;
    int threads;
    bool has_episode, has_step, has_probability;
    int64_t states, actions; /* declared, or the largest id so far plus one; final when the log is over */
    bool states_declared, actions_declared;
    pess_names *state_names, *action_names, *episode_names; /* NULL: integers. Take one by setting it to NULL */
    pess_names *occurring;  /* NULL, or the ids that occur, of states that are numbered as they appear (sparse.h) */
    pess__counted *counted; /* NULL: rows are transitions */
    pess_reading *reading;  /* take it by setting it to NULL */
    struct pess__all_rows *all_rows; /* NULL, or where next states and ends come from other rows */
    int64_t rows;
    int64_t total_rows; /* 0: not known before the end */
    void *reader;       /* what the format keeps */
    double reported;    /* time of the last progress report */
} pess__stream;

/* The setting of pess_read_options and pess_measurements_options. */
#define PESS__LAST_ROW_CHOICES "marked|terminal|cutoff"
#define PESS__LAST_ROW_SENTENCE                                                                                        \
    "how an episode ends after its last row: as the columns terminal and truncated say (marked), for good "            \
    "(terminal), or it goes on outside the log (cutoff)"

/* The options as they will be used: defaults for NULL, every value in its range. */
pess_status pess__read_settle(const pess_read_options *options, pess_read_options *settled, pess_error *error);
/* Opens path in the format that options name or its first bytes tell. */
pess_status pess__stream_open(const char *path, const pess_read_options *options, pess__stream **out,
                              pess_error *error);
/* The same on bytes in memory. */
pess_status pess__stream_open_memory(const char *name, const void *bytes, size_t length,
                                     const pess_read_options *options, pess__stream **out, pess_error *error);
/* The blocks stay valid until the next call. A log without a transition is PESS_INPUT. */
pess_status pess__stream_next(pess__stream *stream, pess__portion *portion, pess_error *error);
void pess__stream_close(pess__stream *stream); /* NULL is fine */

#endif
