/* A log in the making, one row after the other. */
#ifndef PESS_TESTS_ROWS_H
#define PESS_TESTS_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pess.h"

enum { ROWS_ROOM = 40000 };
enum { ROWS_EPISODES = 1, ROWS_STEPS = 2, ROWS_PROBABILITIES = 4 }; /* columns that the dataset has */

typedef struct log_rows {
    int64_t count;
    uint32_t state[ROWS_ROOM], action[ROWS_ROOM], next[ROWS_ROOM];
    double reward[ROWS_ROOM], probability[ROWS_ROOM];
    uint8_t end[ROWS_ROOM];
    int64_t episode[ROWS_ROOM], step[ROWS_ROOM];
} log_rows;

static log_rows made; /* of the test that runs */

typedef struct log_row {
    uint32_t state, action;
    double reward;
    uint32_t next;
    pess_end end;
    int64_t episode, step;
    double probability;
} log_row;

static inline void rows_put(log_row row) {
    assert_true(made.count < ROWS_ROOM);
    made.state[made.count] = row.state;
    made.action[made.count] = row.action;
    made.reward[made.count] = row.reward;
    made.next[made.count] = row.next;
    made.end[made.count] = (uint8_t)row.end;
    made.episode[made.count] = row.episode;
    made.probability[made.count] = row.probability;
    made.step[made.count++] = row.step;
}

/* The rows so far. */
static inline pess_dataset *rows_dataset(int64_t states, int64_t actions, int columns) {
    const pess_columns view = {.rows = made.count,
                               .state = made.state,
                               .action = made.action,
                               .next_state = made.next,
                               .reward = made.reward,
                               .end = made.end,
                               .episode = columns & ROWS_EPISODES ? made.episode : NULL,
                               .step = columns & ROWS_STEPS ? made.step : NULL,
                               .probability = columns & ROWS_PROBABILITIES ? made.probability : NULL};
    pess_dataset *data = NULL;
    pess_error error;
    if (pess_dataset_create(&view, states, actions, &data, &error) != PESS_OK) fail_msg("%s", error.message);
    return data;
}

#endif
