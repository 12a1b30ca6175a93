/* Counts against brute force; the same bytes from every format and at every thread count. */
#include "logs.h"

#include <math.h>

/* n(s,a), n(s,a,s') and the sums, straight from the definition. */
static void check_by_hand(const pess_dataset *d, const pess_counts *c) {
    const int64_t S = d->states, A = d->actions;
    int64_t *n = calloc((size_t)(S * A), 8), *ended = calloc((size_t)(S * A), 8),
            *next = calloc((size_t)(S * A * S), 8);
    double *sum = calloc((size_t)(S * A), 8), *square = calloc((size_t)(S * A), 8);
    bool *as_state = calloc((size_t)S, 1), *goes_on = calloc((size_t)S, 1), *final = calloc((size_t)S, 1);
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < d->rows; i++) {
        const int64_t z = d->state[i] * A + d->action[i];
        n[z]++;
        sum[z] += d->reward[i];
        square[z] += (d->reward[i] - c->reward_origin) * (d->reward[i] - c->reward_origin);
        as_state[d->state[i]] = true;
        if (d->end[i] == PESS_END_TERMINAL)
            ended[z]++, final[d->next_state[i]] = true;
        else
            next[z * S + d->next_state[i]]++, goes_on[d->next_state[i]] = true;
        lo = fmin(lo, d->reward[i]), hi = fmax(hi, d->reward[i]);
    }
    assert_true(c->reward_min == lo && c->reward_max == hi);
    assert_int_equal(c->transitions, d->rows);
    for (int64_t z = 0; z < S * A; z++) {
        assert_int_equal(c->n[z], n[z]);
        assert_int_equal(pess_counts_pair(c, z / A, z % A), n[z]);
        assert_int_equal(c->n_terminal[z], ended[z]);
        assert_true(fabs(c->reward_sum[z] - sum[z]) <= 1e-12 * (1 + (double)n[z]) * fmax(1, fmax(fabs(lo), fabs(hi))));
        assert_true(fabs(c->reward_square[z] - square[z]) <= 1e-12 * (1 + square[z]));
        assert_true(fabs(c->reward_offset[z] + (double)n[z] * c->reward_origin - c->reward_sum[z]) <=
                    1e-12 * (1 + (double)n[z]) * fmax(1, fmax(fabs(lo), fabs(hi))));
        if (n[z] > 0)
            assert_true(fabs(pess_counts_mean_reward(c, z / A, z % A) * (double)n[z] - c->reward_sum[z]) < 1e-9);
        int64_t k = c->row[z];
        for (int64_t t = 0; t < S; t++)
            if (next[z * S + t] > 0) {
                assert_true(k < c->row[z + 1]);
                assert_int_equal(c->next[k], t);
                assert_int_equal(c->n_next[k], next[z * S + t]);
                k++;
            }
        assert_int_equal(k, c->row[z + 1]);
    }
    for (int64_t s = 0; s < S; s++) assert_int_equal(c->terminal[s], final[s] && !as_state[s] && !goes_on[s]);
    free(n), free(ended), free(next), free(sum), free(square), free(as_state), free(goes_on), free(final);
}

static pess_counts *read_counts(const char *path, int threads) {
    pess_read_options options = pess_read_options_defaults();
    options.threads = threads;
    pess_counts *counts = NULL;
    pess_error error;
    if (pess_counts_read(path, &options, &counts, &error) != PESS_OK) fail_msg("%s", error.message);
    return counts;
}

static void counts_of_states_are_those_of_a_log_with_one_action(void **state) {
    (void)state;
    for (int kinds = 0; kinds < 32; kinds++) {
        pess_dataset *d = logs_random(3000, kinds % 3 == 0 ? 150 : 12, 5, kinds, (uint64_t)kinds);
        pess_counts *pairs = NULL, *states = NULL, *counted = NULL;
        assert_int_equal(pess_counts_create(d, 0, &pairs, NULL), PESS_OK);
        assert_int_equal(pess__counts_of_states(pairs, &states, NULL), PESS_OK);
        memset(d->action, 0, (size_t)d->rows * sizeof *d->action);
        d->actions = 1;
        check_by_hand(d, states);
        assert_int_equal(pess_counts_create(d, 0, &counted, NULL), PESS_OK);
        assert_int_equal(states->pairs_seen, counted->pairs_seen);
        assert_int_equal(states->has_starts, counted->has_starts);
        assert_memory_equal(states->n_state, counted->n_state, (size_t)d->states * sizeof *states->n_state);
        for (int64_t i = 0; i < counted->row[d->states]; i++)
            assert_true(fabs(states->next_offset[i] - counted->next_offset[i]) <=
                        1e-12 * (1 + counted->next_offset[i]));
        if (counted->has_starts)
            assert_memory_equal(states->starts, counted->starts, (size_t)d->states * sizeof *states->starts);
        pess_counts_destroy(pairs);
        pess_counts_destroy(states);
        pess_counts_destroy(counted);
        pess_dataset_destroy(d);
    }
}

static void counts_are_those_of_brute_force(void **state) {
    (void)state;
    static const char *const names[] = {"log.csv", "log.npz", "log.pesslog", "log.csv.gz"};
    for (int kinds = 0; kinds < 32; kinds++) {
        const int64_t rows = kinds % 11 == 0 ? 100000 : 2000; /* many blocks now and then */
        pess_dataset *d = logs_random(rows, kinds % 3 == 0 ? 150 : 12, 5, kinds, (uint64_t)kinds);
        pess_counts *c = NULL;
        assert_int_equal(pess_counts_create(d, 0, &c, NULL), PESS_OK);
        check_by_hand(d, c);
        assert_int_equal(c->has_starts, (kinds & (LOGS_ENDS | LOGS_EPISODES)) != 0);
        for (size_t i = 0; i < (rows > 10000 ? 3 : 4); i++) {
            logs_write(d, logs_path(names[i]));
            for (int threads = kinds % 4 == 3 ? 1 : 2; threads <= (kinds % 4 == 3 ? 4 : 2); threads *= 2) {
                pess_counts *other = read_counts(logs_path(names[i]), threads);
                same_counts(c, other);
                pess_counts_destroy(other);
            }
        }
        pess_counts_destroy(c);
        pess_dataset_destroy(d);
    }
}

static pess_counts *count_text(const char *text) {
    pess_counts *c = read_counts(logs_file("text.csv", text, strlen(text)), 1), *same = NULL;
    pess_dataset *d = logs_read_text(text);
    assert_int_equal(pess_counts_create(d, 0, &same, NULL), PESS_OK);
    same_counts(c, same);
    pess_counts_destroy(same);
    pess_dataset_destroy(d);
    return c;
}

static void starts_are_those_of_the_episodes(void **state) {
    (void)state;
    /* smallest step, wherever it is in the file */
    pess_counts *c = count_text("episode,step,state,action,reward,next_state\n"
                                "1,2,2,0,0,0\n2,1,1,0,0,0\n1,0,0,0,0,0\n2,0,3,0,0,0\n1,1,1,0,0,0\n");
    assert_true(c->has_starts && c->has_episodes);
    assert_int_equal(c->episodes, 2);
    assert_true(c->starts[0] == 1 && c->starts[1] == 0 && c->starts[2] == 0 && c->starts[3] == 1);
    pess_counts_destroy(c);
    /* no steps: first in the file */
    c = count_text("episode,state,action,reward,next_state\n1,2,0,0,0\n2,1,0,0,0\n1,0,0,0,0\n");
    assert_true(c->starts[0] == 0 && c->starts[1] == 1 && c->starts[2] == 1);
    pess_counts_destroy(c);
    /* no episodes: after each end */
    c = count_text("state,action,reward,next_state,terminal,truncated\n"
                   "0,0,0,1,0,0\n1,0,0,2,1,0\n1,0,0,0,0,1\n2,0,0,0,0,0\n0,0,0,0,0,0\n");
    assert_true(c->has_starts && !c->has_episodes && c->episodes == 0);
    assert_true(c->starts[0] == 1 && c->starts[1] == 1 && c->starts[2] == 1);
    assert_true(c->terminals == 1 && c->cutoffs == 1);
    pess_counts_destroy(c);
    /* nothing to tell them by */
    c = count_text("state,action,reward,next_state,terminal\n0,0,0,1,0\n1,0,0,2,0\n");
    assert_false(c->has_starts);
    assert_null(c->starts);
    pess_counts_destroy(c);
}

static void terminal_states_are_only_led_to(void **state) {
    (void)state;
    pess_counts *c = count_text("state,action,reward,next_state,terminal,truncated\n"
                                "0,0,1,1,1,0\n"              /* 1: only ever the end */
                                "0,0,1,2,1,0\n0,0,1,2,0,1\n" /* 2: an end and, cut off, not an end */
                                "0,0,1,0,1,0\n");            /* 0: acted in */
    assert_true(c->terminal[0] == 0 && c->terminal[1] == 1 && c->terminal[2] == 0);
    assert_int_equal(c->n[0], 4);
    assert_int_equal(c->n_terminal[0], 3);
    assert_int_equal(c->row[1], 1); /* one successor: the cut-off one */
    assert_int_equal(c->next[0], 2);
    pess_counts_destroy(c);
}

/* More different (s,a,s') than any first guess, and ids at the edge of what is possible. */
static void many_states_are_counted_as_few_are(void **state) {
    (void)state;
    FILE *file = fopen(logs_path("wide.csv"), "w");
    fprintf(file, "state,action,reward,next_state\n");
    for (int i = 0; i < 100000; i++) fprintf(file, "%d,0,0.1,%d\n", i, (i * 7 + 1) % 100000);
    fclose(file);
    pess_counts *one = read_counts(logs_path("wide.csv"), 1), *two = read_counts(logs_path("wide.csv"), 2);
    same_counts(one, two);
    assert_int_equal(one->row[100000], 100000);
    for (int i = 0; i < 100000; i++) assert_true(one->n[i] == 1 && one->next[i] == (uint32_t)((i * 7 + 1) % 100000));
    pess_counts_destroy(one);
    pess_counts_destroy(two);
}

static void empty_and_bad_columns_are_refused(void **state) {
    (void)state;
    pess_columns columns = {0};
    pess_dataset *d = NULL;
    pess_counts *c = NULL;
    pess_counts_info info;
    assert_int_equal(pess_dataset_create(&columns, 3, 2, &d, NULL), PESS_OK);
    assert_int_equal(pess_counts_create(d, 0, &c, NULL), PESS_OK);
    pess_counts_get_info(c, &info);
    assert_true(info.states == 3 && info.actions == 2 && info.transitions == 0 && info.reward_min == 0);
    pess_counts_destroy(c);
    pess_dataset_destroy(d);
    d = NULL;
    uint32_t ids[2] = {0, 3};
    double rewards[2] = {0, NAN}, probabilities[2] = {0, 2};
    uint8_t ends[2] = {0, 7};
    columns = (pess_columns){.rows = 2, .state = ids, .action = ids, .next_state = ids, .reward = rewards};
    pess_error error;
    assert_int_equal(pess_dataset_create(&columns, 0, 0, &d, &error), PESS_INPUT);
    rewards[1] = 1;
    assert_int_equal(pess_dataset_create(&columns, 3, 0, &d, &error), PESS_INPUT);
    assert_int_equal(pess_dataset_create(&columns, 0, 3, &d, &error), PESS_INPUT);
    columns.end = ends;
    assert_int_equal(pess_dataset_create(&columns, 0, 0, &d, &error), PESS_INPUT);
    columns.end = NULL;
    columns.probability = probabilities;
    assert_int_equal(pess_dataset_create(&columns, 0, 0, &d, &error), PESS_INPUT);
    columns.state = NULL;
    assert_int_equal(pess_dataset_create(&columns, 0, 0, &d, &error), PESS_ARGUMENT);
    assert_null(d);
    pess_counts_destroy(NULL);
    pess_dataset_destroy(NULL);
}

/* Imagined counts: as many times the log, each count rounded by itself, with the same means per pair. */
static void scaled_counts_keep_their_means(void **state) {
    (void)state;
    const double ratio = 2.4;
    pess_dataset *d = logs_random(3000, 8, 3, LOGS_ENDS, 3);
    pess_counts *c = NULL, *scaled = NULL;
    assert_int_equal(pess_counts_create(d, 1, &c, NULL), PESS_OK);
    assert_int_equal(pess__counts_scale(c, ratio, &scaled, NULL), PESS_OK);
    int64_t transitions = 0, seen = 0, terminals = 0;
    for (int64_t z = 0; z < c->states * c->actions; z++) {
        assert_int_equal(scaled->n_terminal[z], llround(ratio * (double)c->n_terminal[z]));
        int64_t n = scaled->n_terminal[z];
        for (int64_t k = c->row[z]; k < c->row[z + 1]; k++) {
            assert_int_equal(scaled->next[k], c->next[k]);
            assert_int_equal(scaled->n_next[k], llround(ratio * (double)c->n_next[k]));
            n += scaled->n_next[k];
        }
        assert_int_equal(scaled->n[z], n);
        transitions += n;
        terminals += scaled->n_terminal[z];
        seen += n > 0;
        const double share = c->n[z] > 0 ? (double)n / (double)c->n[z] : 0;
        assert_true(fabs(scaled->reward_sum[z] - share * c->reward_sum[z]) < 1e-9);
        assert_true(fabs(scaled->reward_offset[z] - share * c->reward_offset[z]) < 1e-9);
        assert_true(fabs(scaled->reward_square[z] - share * c->reward_square[z]) < 1e-9);
        for (int64_t k = c->row[z]; k < c->row[z + 1]; k++)
            assert_true(fabs(scaled->next_offset[k] - share * c->next_offset[k]) < 1e-9);
    }
    assert_int_equal(scaled->transitions, transitions);
    assert_int_equal(scaled->terminals, terminals);
    assert_int_equal(scaled->pairs_seen, seen);
    pess_counts_destroy(scaled);
    pess_counts_destroy(c);
    pess_dataset_destroy(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_those_of_brute_force),
                                       cmocka_unit_test(counts_of_states_are_those_of_a_log_with_one_action),
                                       cmocka_unit_test(starts_are_those_of_the_episodes),
                                       cmocka_unit_test(terminal_states_are_only_led_to),
                                       cmocka_unit_test(many_states_are_counted_as_few_are),
                                       cmocka_unit_test(scaled_counts_keep_their_means),
                                       cmocka_unit_test(empty_and_bad_columns_are_refused)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
