/* Logs for tests: files in a folder of their own, random datasets, comparisons. */
#ifndef PESS_TESTS_LOGS_H
#define PESS_TESTS_LOGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rng.h"
#include "data/dataset.h"
#include "data/names.h"
#include "model/counts.h"
#include "pess.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char logs_folder[64];

/* Setup and teardown of a group: a fresh folder, removed with what is in it. */
static inline int logs_begin(void **state) {
    (void)state;
    strcpy(logs_folder, "/tmp/pess-test-XXXXXX");
    return mkdtemp(logs_folder) == NULL;
}

static inline int logs_end(void **state) {
    (void)state;
    char path[512];
    DIR *folder = opendir(logs_folder);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", logs_folder, entry->d_name);
        unlink(path);
    }
    if (folder != NULL) closedir(folder);
    return rmdir(logs_folder);
}

/* Path of a file in the folder; four may be in use at once. */
static inline const char *logs_path(const char *name) {
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", logs_folder, name);
    return path;
}

static inline const char *logs_file(const char *name, const void *bytes, size_t length) {
    const char *path = logs_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline char *logs_bytes(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

static inline pess_dataset *logs_read(const char *path, int threads) {
    pess_read_options options = pess_read_options_defaults();
    options.threads = threads;
    pess_error error = {0};
    pess_dataset *data = NULL;
    if (pess_dataset_read(path, &options, &data, &error) != PESS_OK) fail_msg("%s", error.message);
    return data;
}

static inline pess_dataset *logs_read_text(const char *text) {
    return logs_read(logs_file("text.csv", text, strlen(text)), 1);
}

static inline void logs_write(const pess_dataset *data, const char *path) {
    pess_error error = {0};
    if (pess_dataset_write(data, path, NULL, &error) != PESS_OK) fail_msg("%s", error.message);
}

/* Reading the file fails with this status and a message that holds both pieces, as dataset and as counts. */
static inline void logs_refused(const char *path, const pess_read_options *options, pess_status status,
                                const char *where, const char *what) {
    pess_error error = {0};
    pess_dataset *data = NULL;
    pess_counts *counts = NULL;
    for (int i = 0; i < 2; i++) {
        const pess_status got =
            i == 0 ? pess_dataset_read(path, options, &data, &error) : pess_counts_read(path, options, &counts, &error);
        if (got != status || error.status != status || strstr(error.message, where) == NULL ||
            strstr(error.message, what) == NULL)
            fail_msg("expected %s with '%s' and '%s', got %s: %s", pess_status_name(status), where, what,
                     pess_status_name(got), error.message);
        assert_null(data);
        assert_null(counts);
    }
}

static inline void same_names(const pess_names *a, const pess_names *b) {
    assert_int_equal(pess_names_given(a), pess_names_given(b));
    assert_int_equal(pess_names_count(a), pess_names_count(b));
    for (int64_t i = 0; i < pess_names_count(a); i++) assert_string_equal(pess_names_get(a, i), pess_names_get(b, i));
}

static inline void same_array(const void *a, const void *b, int64_t count, size_t size) {
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL && count > 0) assert_memory_equal(a, b, (size_t)count * size);
}

/* The same rows with the same ids and names. */
static inline void same_data(const pess_dataset *a, const pess_dataset *b) {
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->states, b->states);
    assert_int_equal(a->actions, b->actions);
    same_array(a->state, b->state, a->rows, 4);
    same_array(a->action, b->action, a->rows, 4);
    same_array(a->next_state, b->next_state, a->rows, 4);
    same_array(a->reward, b->reward, a->rows, 8);
    same_array(a->end, b->end, a->rows, 1);
    same_array(a->episode, b->episode, a->rows, 8);
    same_array(a->step, b->step, a->rows, 8);
    same_array(a->probability, b->probability, a->rows, 8);
    same_names(a->state_names, b->state_names);
    same_names(a->action_names, b->action_names);
    same_names(a->episode_names, b->episode_names);
}

static inline void same_counts(const pess_counts *a, const pess_counts *b) {
    pess_counts_info x, y;
    memset(&x, 0, sizeof x);
    memset(&y, 0, sizeof y);
    pess_counts_get_info(a, &x);
    pess_counts_get_info(b, &y);
    assert_int_equal(x.states, y.states);
    assert_int_equal(x.actions, y.actions);
    assert_int_equal(x.states_declared, y.states_declared);
    assert_int_equal(x.actions_declared, y.actions_declared);
    assert_int_equal(x.transitions, y.transitions);
    assert_int_equal(x.terminals, y.terminals);
    assert_int_equal(x.cutoffs, y.cutoffs);
    assert_int_equal(x.episodes, y.episodes);
    assert_int_equal(x.pairs_seen, y.pairs_seen);
    assert_int_equal(x.successors, y.successors);
    assert_memory_equal(&x.reward_min, &y.reward_min, sizeof(double));
    assert_memory_equal(&x.reward_max, &y.reward_max, sizeof(double));
    assert_int_equal(x.has_episodes, y.has_episodes);
    assert_int_equal(x.has_starts, y.has_starts);
    const int64_t pairs = a->states * a->actions;
    same_array(a->n, b->n, pairs, 8);
    same_array(a->n_state, b->n_state, a->states, 8);
    same_array(a->n_terminal, b->n_terminal, pairs, 8);
    same_array(a->reward_sum, b->reward_sum, pairs, 8);
    same_array(a->reward_offset, b->reward_offset, pairs, 8);
    same_array(a->reward_square, b->reward_square, pairs, 8);
    same_array(a->row, b->row, pairs + 1, 8);
    same_array(a->next, b->next, x.successors, 4);
    same_array(a->n_next, b->n_next, x.successors, 8);
    same_array(a->next_offset, b->next_offset, x.successors, 8);
    same_array(a->starts, b->starts, a->states, 8);
    same_array(a->terminal, b->terminal, a->states, 1);
    same_names(a->state_names, b->state_names);
    same_names(a->action_names, b->action_names);
}

enum { LOGS_EPISODES = 1, LOGS_STEPS = 2, LOGS_PROBABILITY = 4, LOGS_ENDS = 8, LOGS_NAMES = 16 };

/* A name that needs quoting now and then. */
static inline pess_names *logs_names(const char *stem, int64_t count) {
    static const char *const tails[] = {"", " b", ",c", "\"q\"", "\nnew line", " ", "\xC3\xA9"};
    pess_names *names = NULL;
    assert_int_equal(pess__names_create(&names, NULL), PESS_OK);
    for (int64_t i = 0; i < count; i++) {
        char text[64];
        int64_t id = 0;
        const int length = snprintf(text, sizeof text, "%s%lld%s", stem, (long long)i, tails[i % 7]);
        assert_int_equal(pess__names_add(names, text, (size_t)length, &id, NULL), PESS_OK);
    }
    return names;
}

/* Rows with the largest ids first, so that sizes are the same when they are found in the file; named ids appear in
 * ascending order (all of them in the first rows). */
static inline pess_dataset *logs_random(int64_t rows, int64_t states, int64_t actions, int kinds, uint64_t seed) {
    pess__rng rng = pess__rng_stream(seed, "test-log", 0);
    pess_columns c = {.rows = rows};
    uint32_t *state = calloc((size_t)rows, 4), *action = calloc((size_t)rows, 4), *next = calloc((size_t)rows, 4);
    double *reward = calloc((size_t)rows, 8), *probability = calloc((size_t)rows, 8);
    uint8_t *end = calloc((size_t)rows, 1);
    int64_t *episode = calloc((size_t)rows, 8), *step = calloc((size_t)rows, 8);
    const bool names = (kinds & LOGS_NAMES) != 0;
    for (int64_t i = 0, e = 0, t = 0; i < rows; i++, t++) {
        const int64_t largest = names ? i : 0;
        state[i] = (uint32_t)(i < states && names ? largest : (int64_t)pess__rng_below(&rng, (uint64_t)states));
        next[i] = (uint32_t)(i < states && names ? largest : (int64_t)pess__rng_below(&rng, (uint64_t)states));
        action[i] = (uint32_t)(i < actions && names ? i : (int64_t)pess__rng_below(&rng, (uint64_t)actions));
        if (i == 0 && !names) state[i] = (uint32_t)states - 1, action[i] = (uint32_t)actions - 1;
        reward[i] = pess__rng_normal(&rng) * (pess__rng_below(&rng, 3) == 0 ? 1e-7 : 10);
        if (pess__rng_below(&rng, 4) == 0) reward[i] = (double)pess__rng_below(&rng, 3);
        probability[i] = pess__rng_uniform(&rng);
        episode[i] = names ? e : 1000 - 3 * e;
        step[i] = t - 2;
        if ((kinds & LOGS_ENDS) != 0 && pess__rng_below(&rng, 10) == 0)
            end[i] = (uint8_t)(1 + pess__rng_below(&rng, 2)), e++, t = -1;
    }
    c.state = state, c.action = action, c.next_state = next, c.reward = reward;
    if ((kinds & LOGS_ENDS) != 0) c.end = end;
    if ((kinds & LOGS_EPISODES) != 0) c.episode = episode;
    if ((kinds & LOGS_STEPS) != 0) c.step = step;
    if ((kinds & LOGS_PROBABILITY) != 0) c.probability = probability;
    pess_dataset *data = NULL;
    pess_error error = {0};
    if (pess_dataset_create(&c, 0, 0, &data, &error) != PESS_OK) fail_msg("%s", error.message);
    if (names) {
        data->state_names = logs_names("s", states);
        data->action_names = logs_names("a", actions);
        if (data->episode != NULL) data->episode_names = logs_names("e", data->episode[rows - 1] + 1);
    }
    free(state), free(action), free(next), free(reward), free(probability), free(end), free(episode), free(step);
    return data;
}

#endif
