/* Logs that were counted elsewhere, and files of counts: the same as counting the rows, however they were cut. */
#include "logs.h"

#include "model/counts.h"

#include <math.h>

static pess_counts *read_counts(const char *path) {
    pess_counts *counts = NULL;
    pess_error error;
    if (pess_counts_read(path, NULL, &counts, &error) != PESS_OK) fail_msg("%s", error.message);
    return counts;
}

static void merge(const char *const *paths, size_t count, const char *target) {
    pess_error error;
    if (pess_counts_merge(paths, count, NULL, target, &error) != PESS_OK) fail_msg("%s", error.message);
}

static void same_files(const char *one, const char *other) {
    size_t size = 0, other_size = 0;
    char *bytes = logs_bytes(one, &size), *other_bytes = logs_bytes(other, &other_size);
    assert_int_equal(size, other_size);
    assert_memory_equal(bytes, other_bytes, size);
    free(bytes);
    free(other_bytes);
}

/* Every third row of a dataset, from row `first` on. */
static void write_shard(const pess_dataset *d, int first, const char *path) {
    pess_dataset *part = logs_read(path, 1);
    int64_t rows = 0;
    for (int64_t i = first; i < d->rows; i += 3, rows++) {
        part->state[rows] = d->state[i], part->action[rows] = d->action[i], part->next_state[rows] = d->next_state[i];
        part->reward[rows] = d->reward[i], part->end[rows] = d->end[i];
        part->episode[rows] = d->episode[i], part->step[rows] = d->step[i];
    }
    part->rows = rows;
    logs_write(part, path);
    pess_dataset_destroy(part);
}

/* Shards of interleaved rows, of logs and of files, in different orders: the bytes of counting all rows at once. */
static void test_shards_in_any_order_give_the_same_bytes(void **state) {
    (void)state;
    for (int names = 0; names < 2; names++) {
        const int kinds = LOGS_EPISODES | LOGS_STEPS | LOGS_ENDS | (names ? LOGS_NAMES : 0);
        pess_dataset *d = logs_random(5000, 30, 4, kinds, (uint64_t)names);
        char whole[512], shard[3][512], file[3][512], target[512];
        snprintf(whole, sizeof whole, "%s", logs_path("whole.csv"));
        snprintf(target, sizeof target, "%s", logs_path("merged.pesscounts"));
        logs_write(d, whole);
        for (int i = 0; i < 3; i++) {
            char name[32];
            snprintf(name, sizeof name, "shard%d.csv", i);
            snprintf(shard[i], sizeof shard[i], "%s", logs_path(name));
            logs_write(d, shard[i]);
            write_shard(d, i, shard[i]);
            snprintf(file[i], sizeof file[i], "%.480s.pesscounts", shard[i]);
            merge((const char *const[]){shard[i]}, 1, file[i]);
        }
        merge((const char *const[]){whole}, 1, logs_path("whole.pesscounts"));
        const char *const orders[][3] = {
            {shard[0], shard[1], shard[2]}, {file[2], file[0], file[1]}, {file[1], shard[2], file[0]}};
        for (size_t i = 0; i < 3; i++) {
            merge(orders[i], 3, target);
            same_files(logs_path("whole.pesscounts"), target);
        }
        merge((const char *const[]){target}, 1, logs_path("again.pesscounts"));
        same_files(target, logs_path("again.pesscounts"));
        pess_dataset_destroy(d);
    }
}

static void test_a_file_of_counts_reads_as_the_log_does(void **state) {
    (void)state;
    for (int kinds = 0; kinds < 16; kinds++) {
        if (kinds & LOGS_PROBABILITY) continue;
        pess_dataset *d = logs_random(3000, 25, 3, kinds, (uint64_t)kinds);
        logs_write(d, logs_path("log.pesslog"));
        merge((const char *const[]){logs_path("log.pesslog")}, 1, logs_path("log.pesscounts"));
        pess_counts *rows = read_counts(logs_path("log.pesslog")), *counts = read_counts(logs_path("log.pesscounts"));
        same_counts(rows, counts);
        pess_counts_destroy(rows);
        pess_counts_destroy(counts);
        pess_dataset_destroy(d);
    }
}

static const char rows_text[] = "state,action,reward,next_state,terminal\n"
                                "hall,left,0.5,stairs,0\nhall,left,2,stairs,0\nhall,left,-1,hall,0\n"
                                "stairs,up,1,roof,1\nstairs,up,3,roof,1\nstairs,up,1,hall,0\nhall,left,0.5,stairs,0\n";

/* As a database would write it, with one key in two rows. */
static const char counted_text[] =
    "next_state,state,action,terminal,reward_sum,count,reward_square_sum,reward_min,reward_max\n"
    "stairs,hall,left,0,2.5,2,4.25,0.5,2\nhall,hall,left,0,-1,1,1,-1,-1\n"
    "roof,stairs,up,true,4,2,10,1,3\nhall,stairs,up,false,1,1,1,1,1\nstairs,hall,left,0,0.5,1,0.25,0.5,0.5\n";

static void test_a_counted_log_reads_as_its_rows(void **state) {
    (void)state;
    pess_counts *rows = read_counts(logs_file("rows.csv", rows_text, strlen(rows_text)));
    pess_counts *counts = read_counts(logs_file("counted.csv", counted_text, strlen(counted_text)));
    assert_true(rows->has_starts && !counts->has_starts); /* ends tell where episodes start; counts do not */
    /* names are numbered as they appear: state before next_state in either file, so hall, stairs, roof */
    rows->has_starts = false;
    free(rows->starts);
    rows->starts = NULL;
    same_counts(rows, counts);
    pess_counts_destroy(rows);
    pess_counts_destroy(counts);
}

static void refused(const char *text, const char *where, const char *what) {
    pess_counts *counts = NULL;
    pess_error error;
    assert_int_equal(pess_counts_read(logs_file("bad.csv", text, strlen(text)), NULL, &counts, &error), PESS_INPUT);
    if (strstr(error.message, where) == NULL || strstr(error.message, what) == NULL)
        fail_msg("expected '%s' and '%s', got: %s", where, what, error.message);
}

static void test_bad_counts_are_refused(void **state) {
    (void)state;
#define HEAD "state,action,next_state,count,reward_sum"
    refused(HEAD "\n0,0,1,3,1\n0,0,1,-3,1\n", "bad.csv:3:7: column 'count'", "found '-3', expected a whole number");
    refused(HEAD "\n0,0,1,2.5,1\n", "bad.csv:2:7", "found '2.5', expected a whole number");
    refused(HEAD "\n0,0,1,0,1\n", "bad.csv:2:7", "found '0', expected a whole number");
    refused(HEAD "\n0,0,1,9007199254740993,1\n", "bad.csv:2:7", "from 1 to 2^53");
    refused(HEAD "\n0,0,1,3,inf\n", "column 'reward_sum'", "expected a finite decimal number");
    refused(HEAD ",reward_min,reward_max\n0,0,1,3,1,0,1\n0,0,1,3,5,0,1\n", "bad.csv:3:1",
            "with the sum 5, which cannot be");
    refused(HEAD ",reward_min,reward_max\n0,0,1,3,1,1,0\n", "bad.csv:2:1", "which cannot be");
    refused(HEAD ",reward_square_sum\n0,0,1,3,5,1\n", "bad.csv:2:1", "expected 8.33333333 or more");
    refused(HEAD ",reward_square_sum\n0,0,1,3,5,-9\n", "column 'reward_square_sum'", "0 or more");
    refused("state,action,next_state,count\n0,0,1,3\n", "no column 'reward'", "expected columns named state");
    pess_dataset *data = NULL;
    pess_error error;
    const char *path = logs_file("counted.csv", counted_text, strlen(counted_text));
    assert_int_equal(pess_dataset_read(path, NULL, &data, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "a counted log, expected one row for each transition"));
    char many[2000] = HEAD "\n";
    for (int i = 0; i < 3; i++) strcat(many, "0,0,1,9007199254740992,1\n");
    pess_counts *counts = NULL;
    assert_int_equal(pess_counts_read(logs_file("many.csv", many, strlen(many)), NULL, &counts, &error), PESS_LIMIT);
}

/* What is not in the counts is asked for, not made up. */
static void what_counts_do_not_tell_is_asked_for(void **state) {
    (void)state;
    const char text[] = HEAD "\n0,0,1,3,2\n1,0,0,2,1\n";
    pess_counts *counts = read_counts(logs_file("bare.csv", text, strlen(text)));
    pess_model *model = NULL;
    pess_error error;
    assert_int_equal(pess_model_estimate(counts, NULL, &model, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "do not tell the range of rewards"));
    pess_model_options options = pess_model_options_defaults();
    options.reward_range[0] = 0;
    options.reward_range[1] = 0.6;
    assert_int_equal(pess_model_estimate(counts, &options, &model, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "the mean reward of state 0, action 0 is 0.66"));
    options.reward_range[1] = 1;
    assert_int_equal(pess_model_estimate(counts, &options, &model, &error), PESS_OK);
    assert_true(pess_model_reward(model, 0, 0) == 2.0 / 3);
    pess_model_destroy(model);
    assert_int_equal(pess__counts_need_squares(counts, &error), PESS_INPUT);
    pess_counts_destroy(counts);
}

static void shards_that_contradict_each_other_are_refused(void **state) {
    (void)state;
    const char numbers[] = "state,action,reward,next_state\n0,0,1,1\n",
               named[] = "state,action,reward,next_state\na,0,1,b\n",
               episodes[] = "episode,state,action,reward,next_state\n7,0,0,1,1\n";
    const char *const paths[] = {logs_file("numbers.csv", numbers, strlen(numbers)),
                                 logs_file("named.csv", named, strlen(named)),
                                 logs_file("episodes.csv", episodes, strlen(episodes))};
    char target[512];
    snprintf(target, sizeof target, "%s", logs_path("x.pesscounts"));
    pess_error error;
    assert_int_equal(pess_counts_merge(paths, 2, NULL, target, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "numbers.csv has numbers for states and"));
    const char *const others[] = {paths[0], paths[2]};
    assert_int_equal(pess_counts_merge(others, 2, NULL, target, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "episodes"));
    assert_int_equal(access(target, F_OK), -1); /* nothing was written */
}

/* Every byte changed, and every length: refused, never more. */
static void test_damaged_files_are_refused(void **state) {
    (void)state;
    pess_dataset *d = logs_random(40, 5, 2, LOGS_EPISODES | LOGS_NAMES, 3);
    logs_write(d, logs_path("small.csv"));
    merge((const char *const[]){logs_path("small.csv")}, 1, logs_path("small.pesscounts"));
    size_t size = 0;
    char *bytes = logs_bytes(logs_path("small.pesscounts"), &size);
    pess_counts *counts = NULL;
    pess_error error;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 1;
        assert_int_not_equal(pess_counts_read(logs_file("bad.pesscounts", bytes, size), NULL, &counts, &error),
                             PESS_OK);
        if (i == 8) assert_non_null(strstr(error.message, "found version 0 of the format, expected 1"));
        bytes[i] ^= 1;
        if (i < 8) continue;
        assert_int_equal(pess_counts_read(logs_file("bad.pesscounts", bytes, i), NULL, &counts, &error), PESS_INPUT);
    }
    free(bytes);
    pess_dataset_destroy(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shards_in_any_order_give_the_same_bytes),
                                       cmocka_unit_test(test_a_file_of_counts_reads_as_the_log_does),
                                       cmocka_unit_test(test_a_counted_log_reads_as_its_rows),
                                       cmocka_unit_test(test_bad_counts_are_refused),
                                       cmocka_unit_test(what_counts_do_not_tell_is_asked_for),
                                       cmocka_unit_test(shards_that_contradict_each_other_are_refused),
                                       cmocka_unit_test(test_damaged_files_are_refused)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
