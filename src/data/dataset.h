/* A log in memory, column by column. */
#ifndef PESS_DATA_DATASET_H
#define PESS_DATA_DATASET_H

#include "data/stream.h"

struct pess_dataset {
    int64_t rows, states, actions;
    bool states_declared, actions_declared;
    uint32_t *state, *action, *next_state;                  /* [rows] */
    double *reward;                                         /* [rows] */
    uint8_t *end;                                           /* [rows] pess_end */
    int64_t *episode, *step;                                /* [rows] or NULL */
    double *probability;                                    /* [rows] or NULL */
    pess_names *state_names, *action_names, *episode_names; /* NULL: integers */
    pess_reading *reading;                                  /* NULL: columns without names */
    pess_state_origin origin;
    bool borrowed; /* the columns, but for own_end, belong to somebody else, and nobody changes them */
    uint8_t *own_end;
};

/* The whole of a stream as a dataset; takes over the stream. */
pess_status pess__dataset_collect(pess__stream *stream, pess_dataset **out, pess_error *error);

/* Adds the rows of a portion; *capacity, 0 at first, is of all columns. */
pess_status pess__dataset_append(pess_dataset *data, const pess__stream *stream, const pess__portion *portion,
                                 int64_t *capacity, pess_error *error);

/* The rows that are listed, in that order and any number of times, as a log without names of its own. `episode` has
 * their episodes; NULL: those that they have. */
pess_status pess__dataset_take(const pess_dataset *data, const int64_t *row, int64_t count, const int64_t *episode,
                               pess_dataset **out, pess_error *error);

/* Checks columns from memory, and settles the sizes: declared ones, or as many as are named, or the largest id plus
 * one.
 */
pess_status pess__columns_check(const pess_columns *columns, int64_t *states, int64_t *actions, pess_error *error);

#endif
