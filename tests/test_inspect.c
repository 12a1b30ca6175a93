/* What an inspection counts, checked by hand, and that each oddity is found, placed and named. */
#include "logs.h"

static pess_inspection *inspect(const pess_dataset *data) {
    pess_inspection *in = NULL;
    pess_error error;
    if (pess_dataset_inspect(data, &in, &error) != PESS_OK) fail_msg("%s", error.message);
    bool notes = false;
    for (size_t i = 0; i < in->finding_count; i++) { /* warnings first; whole sentences */
        notes |= in->findings[i].severity == PESS_SEVERITY_NOTE;
        assert_true(!notes || in->findings[i].severity == PESS_SEVERITY_NOTE);
        const size_t length = strlen(in->findings[i].text);
        assert_true(length > 20 && length < sizeof in->findings[i].text - 1);
        assert_int_equal(in->findings[i].text[length - 1], '.');
    }
    return in;
}

static pess_inspection *inspect_text(const char *text) {
    pess_dataset *data = logs_read_text(text);
    pess_inspection *in = inspect(data);
    pess_dataset_destroy(data);
    return in;
}

static const char *finding(const pess_inspection *in, const char *code) {
    for (size_t i = 0; i < in->finding_count; i++)
        if (strcmp(in->findings[i].code, code) == 0) return in->findings[i].text;
    return NULL;
}

static void expect(const pess_inspection *in, const char *code, const char *piece) {
    const char *text = finding(in, code);
    if (text == NULL) fail_msg("no finding %s", code);
    if (strstr(text, piece) == NULL) fail_msg("'%s' is not in: %s", piece, text);
}

/* The values of a finding, for programs that do not read sentences. */
static void expect_values(const pess_inspection *in, const char *code, int64_t count, int64_t row) {
    for (size_t i = 0; i < in->finding_count; i++) {
        if (strcmp(in->findings[i].code, code) != 0) continue;
        assert_int_equal(in->findings[i].count, count);
        assert_int_equal(in->findings[i].row, row);
        return;
    }
    fail_msg("no finding %s", code);
}

#define EPISODES "episode,step,state,action,reward,next_state,terminal,truncated\n"

/* A log without episodes: row(i) says which of many different rows is row i. */
static pess_inspection *inspect_rows(int n, int (*row)(int)) {
    char text[8192] = "state,action,reward,next_state\n";
    for (int i = 0; i < n; i++) {
        const size_t at = strlen(text);
        const int k = row(i);
        (void)snprintf(text + at, sizeof text - at, "%d,%d,%d,%d\n", k % 7, k % 3, k * k % 11, k % 5);
    }
    return inspect_text(text);
}

static int each_twice(int i) { return i / 2; }
static int all_again(int i) { return i % 40; }
static int every_few(int i) { return i % 8; }
static int all_but_one(int i) { return i == 79 ? 5 : i / 2; }

static void copies_of_rows_are_found(void **state) {
    (void)state;
    pess_inspection *in = inspect_rows(80, each_twice);
    expect(in, "copied-rows", "2 times, one after the other");
    expect_values(in, "copied-rows", 2, 2);
    pess_inspection_destroy(in);
    in = inspect_rows(120, all_again);
    expect(in, "copied-rows", "3 times, as the whole log is repeated");
    expect_values(in, "copied-rows", 3, 41);
    pess_inspection_destroy(in);
    int (*const harmless[])(int) = {every_few, all_but_one};
    for (size_t i = 0; i < 2; i++) {
        in = inspect_rows(80, harmless[i]);
        assert_null(finding(in, "copied-rows"));
        pess_inspection_destroy(in);
    }
}

static void a_clean_log_has_no_oddities(void **state) {
    (void)state;
    pess_inspection *in = inspect_text(EPISODES "1,0,0,0,0,1,0,0\n1,1,1,1,1,2,1,0\n"
                                                "2,0,0,1,0,1,0,0\n2,1,1,0,0,0,0,1\n3,0,1,0,0.5,2,1,0\n");
    assert_int_equal(in->rows, 5);
    assert_true(in->states == 3 && in->actions == 2 && in->states_seen == 2 && in->actions_seen == 2);
    assert_true(in->next_only_states == 0 && in->terminal_states == 1);
    assert_true(in->episodes == 3 && in->terminals == 2 && in->cutoffs == 1 && in->open_ends == 0);
    assert_true(in->gaps == 0 && in->duplicates == 0);
    assert_true(in->reward_min == 0 && in->reward_max == 1);
    assert_true(in->reward_mean > 0.3 - 1e-12 && in->reward_mean < 0.3 + 1e-12);
    assert_true(in->pairs == 4 && in->pairs_seen == 4);
    assert_true(in->count_least == 1 && in->count_median == 1 && in->count_most == 2);
    for (size_t i = 0; i < in->finding_count; i++) assert_int_equal(in->findings[i].severity, PESS_SEVERITY_NOTE);
    expect(in, "reward-range", "between 0 and 1");
    expect(in, "cut-offs", "transitions: 1");
    expect(in, "sizes-from-log", "3 states, 2 actions");
    pess_inspection_destroy(in);
}

static void test_order_does_not_matter(void **state) {
    (void)state;
    pess_inspection *in = inspect_text(EPISODES "2,1,1,0,0,0,0,1\n1,1,1,1,1,2,1,0\n3,0,1,0,0.5,2,1,0\n"
                                                "1,0,0,0,0,1,0,0\n2,0,0,1,0,1,0,0\n");
    assert_true(in->gaps == 0 && in->open_ends == 0 && in->episodes == 3 && in->duplicates == 0);
    assert_null(finding(in, "terminal-continues"));
    pess_inspection_destroy(in);
}

static void oddities_are_found_and_placed(void **state) {
    (void)state;
    pess_inspection *in = inspect_text(EPISODES "1,0,0,0,0,1,0,0\n1,1,2,0,0,0,0,0\n1,2,0,0,0,0,0,0\n");
    assert_true(in->gaps == 1 && in->open_ends == 1);
    expect(in, "episode-gap", "row 1 leads to state 1, row 2 begins in 2");
    expect(in, "open-ends", "flag: 1 of 1");
    expect_values(in, "episode-gap", 1, 2);
    expect_values(in, "open-ends", 1, 3);
    expect_values(in, "next-only-states", 1, 1);
    expect_values(in, "no-terminals", 1, 0);
    expect(in, "next-only-states", "first: 1, reached in row 1");
    expect(in, "constant-reward", "Every reward is 0");
    expect(in, "no-terminals", "gamma");
    pess_inspection_destroy(in);

    in = inspect_text(EPISODES "a,0,0,0,0,0,1,0\na,1,0,0,1,0,1,0\nb,0,0,0,0,0,0,0\nb,0,0,0,0,0,1,0\n");
    expect(in, "terminal-continues", "row 2 in episode 'a'");
    assert_int_equal(in->duplicates, 1);
    expect(in, "duplicate-step", "row 4, episode 'b', step 0");
    pess_inspection_destroy(in);

    in = inspect_text(EPISODES "1,0,0,0,0,1,0,1\n1,1,2,0,0,0,0,0\n1,2,0,0,1,1,1,0\n"); /* cut off, then set back */
    assert_int_equal(in->gaps, 0);
    expect(in, "cutoff-continues", "the first is row 2 in episode 1");
    pess_inspection_destroy(in);

    in = inspect_text("state,action,reward,next_state\n0,0,0,1\n1,0,1,0\n0,0,0,1\n");
    assert_int_equal(in->duplicates, 1); /* whole rows */
    assert_int_equal(in->gaps, 0);
    expect(in, "no-episodes", "start distribution");
    expect(in, "coverage", "2 of the 2 state-action pairs of the states in which actions were taken (100 %).");
    for (size_t i = 0; i < in->finding_count; i++) assert_null(strstr(in->findings[i].text, "What is not seen"));
    pess_inspection_destroy(in);

    in = inspect_text(
        "state,action,reward,next_state,terminal\n0,0,0,1,0\n0,0,1,2,0\n1,0,0,0,1\n2,0,0,1,0\n0,0,0,2,0\n");
    expect(in, "unlinked-rows", "episode and step");
    pess_inspection_destroy(in);
}

/* Where states do not show it, the numbers of the steps do; numbers of another kind show nothing. */
static void missing_steps_are_found_by_their_numbers(void **state) {
    (void)state;
    pess_inspection *in = inspect_text(EPISODES "1,0,0,0,0,0,0,0\n1,1,0,0,0,0,0,0\n1,2,0,0,0,0,0,0\n1,4,0,0,1,0,1,0\n");
    assert_true(in->gaps == 1 && in->step_gaps == 1);
    expect(in, "episode-gap", "row 3 is step 2, row 4 step 4");
    pess_inspection_destroy(in);

    in = inspect_text(EPISODES "1,10,0,0,0,0,0,0\n1,25,0,0,0,0,0,0\n1,26,0,0,0,0,0,0\n1,60,0,0,1,0,1,0\n");
    assert_true(in->gaps == 0 && in->step_gaps == 0);
    pess_inspection_destroy(in);
}

static void missing_beginnings_are_found(void **state) {
    (void)state;
    pess_inspection *in = inspect_text(EPISODES "1,0,0,0,0,0,0,0\n1,1,0,0,0,0,1,0\n2,1,0,0,0,0,0,0\n2,2,0,0,1,0,1,0\n");
    assert_true(in->gaps == 0 && in->late_starts == 1);
    expect(in, "late-starts", "1 of 2; first: episode 2, row 3, with step 1 instead of 0");
    pess_inspection_destroy(in);

    char text[400] = EPISODES; /* one counter for all episodes */
    for (int row = 0; row < 10; row++)
        (void)sprintf(text + strlen(text), "%d,%d,0,0,%d,0,%d,0\n", row / 2, row, row & 1, row & 1);
    in = inspect_text(text);
    assert_int_equal(in->late_starts, 0);
    pess_inspection_destroy(in);
}

static void probabilities_are_compared_with_the_log(void **state) {
    (void)state;
    char text[20000] = "state,action,reward,next_state,probability\n";
    for (int odd = 0; odd < 2; odd++) {
        size_t at = strlen("state,action,reward,next_state,probability\n");
        for (int i = 0; i < 200; i++)
            at += (size_t)sprintf(text + at, "0,%d,1,0,%s\n", i % 4 == 0, i % 4 == 0 ? (odd ? "0.9" : "0.2") : "0.8");
        pess_inspection *in = inspect_text(text);
        assert_int_equal(finding(in, "probability-mismatch") != NULL, odd);
        if (odd) expect(in, "probability-mismatch", "1 of 2 pairs; worst: state 0, action 1, logged 0.9, but 0.25");
        pess_inspection_destroy(in);
    }
}

/* Counts over pairs against a plain table. */
static void coverage_is_counted(void **state) {
    (void)state;
    pess_dataset *d = logs_random(3000, 30, 40, 0, 5);
    int64_t n[30][40] = {{0}}, seen = 0, least = 3000, most = 0, below = 0, states = 0;
    for (int64_t i = 0; i < d->rows; i++) n[d->state[i]][d->action[i]]++;
    pess_inspection *in = inspect(d);
    for (int s = 0; s < 30; s++) {
        bool any = false;
        for (int a = 0; a < 40; a++) {
            if (n[s][a] == 0) continue;
            any = true;
            seen++;
            least = n[s][a] < least ? n[s][a] : least;
            most = n[s][a] > most ? n[s][a] : most;
            below += n[s][a] <= in->count_median;
        }
        states += any;
    }
    assert_true(in->pairs_seen == seen && in->count_least == least && in->count_most == most);
    assert_true(in->pairs == states * 40 && 2 * below >= seen);
    pess_inspection_destroy(in);
    pess_dataset_destroy(d);
}

static void an_empty_log_has_nothing_in_it(void **state) {
    (void)state;
    const pess_columns none = {0};
    pess_dataset *d = NULL;
    assert_int_equal(pess_dataset_create(&none, 2, 2, &d, NULL), PESS_OK);
    pess_inspection *in = inspect(d);
    assert_true(in->rows == 0 && in->pairs_seen == 0);
    pess_inspection_destroy(in);
    pess_inspection_destroy(NULL);
    pess_dataset_destroy(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_of_rows_are_found),
                                       cmocka_unit_test(a_clean_log_has_no_oddities),
                                       cmocka_unit_test(test_order_does_not_matter),
                                       cmocka_unit_test(oddities_are_found_and_placed),
                                       cmocka_unit_test(missing_steps_are_found_by_their_numbers),
                                       cmocka_unit_test(missing_beginnings_are_found),
                                       cmocka_unit_test(probabilities_are_compared_with_the_log),
                                       cmocka_unit_test(coverage_is_counted),
                                       cmocka_unit_test(an_empty_log_has_nothing_in_it)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
