/* Datasets of bytes and floats: built, refused, written and read again; NumPy's files by D4RL's names (tests/data/d4rl,
 * written by NumPy), and those that are refused. */
#include "data/observations.h"
#include "scratch.h"

#include <math.h>

static pess_error error;

static pess_observations *floats_by_hand(bool probabilities) {
    const float states[4][3] = {{0.5F, -1, 3}, {1.5F, -1, 3}, {2.5F, -1, 4}, {0.5F, -1, 3}};
    const float nexts[4][3] = {{1.5F, -1, 3}, {2.5F, -1, 4}, {9, -1, 9}, {1.5F, -1, 3}};
    const int64_t actions[] = {0, 1, 0, 0};
    const double rewards[] = {1, 2, 3, 1}, probability[] = {0.5, 0.25, 1, 0.5};
    const uint8_t ends[] = {PESS_END_NONE, PESS_END_NONE, PESS_END_TERMINAL, PESS_END_CUTOFF};
    const pess_observation_shape shape = pess_observation_floats(3);
    const pess_observations_rows rows = {4, states, nexts, actions, rewards, ends, probabilities ? probability : NULL};
    pess_observations *data = NULL;
    assert_ok(pess_observations_create("hand", "", &shape, 3, &data, &error), &error);
    assert_ok(pess_observations_append(data, &rows, &error), &error);
    return data;
}

static void assert_same(const pess_observations *a, const pess_observations *b) {
    assert_int_equal(a->shape.kind, b->shape.kind);
    assert_int_equal(a->shape.length, b->shape.length);
    assert_int_equal(a->shape.rows, b->shape.rows);
    assert_int_equal(a->shape.channels, b->shape.channels);
    assert_int_equal(a->actions, b->actions);
    assert_int_equal(a->transitions, b->transitions);
    assert_int_equal(a->probability != NULL, b->probability != NULL);
    const size_t bytes = (size_t)a->bytes;
    for (int64_t i = 0; i < a->transitions; i++) {
        assert_memory_equal(a->observations + a->state[i] * a->bytes, b->observations + b->state[i] * b->bytes, bytes);
        assert_memory_equal(a->observations + a->next[i] * a->bytes, b->observations + b->next[i] * b->bytes, bytes);
        assert_int_equal(a->action[i], b->action[i]);
        assert_int_equal(a->end[i], b->end[i]);
        assert_memory_equal(&a->reward[i], &b->reward[i], sizeof a->reward[i]);
        if (a->probability != NULL) assert_memory_equal(&a->probability[i], &b->probability[i], sizeof(float));
    }
}

static void floats_are_kept_once_and_looked_at(void **unused) {
    (void)unused;
    pess_observations *data = floats_by_hand(false);
    pess_observations_inspection *in = NULL;
    assert_int_equal(data->states, 4);
    assert_int_equal(data->bytes, 12);
    assert_ok(pess_observations_inspect(data, &in, &error), &error);
    assert_int_equal(in->duplicates, 0); /* the last one ends otherwise than the first */
    assert_int_equal(in->unlogged_actions, 1);
    assert_int_equal(in->constant_features, 1);
    assert_close(in->feature[0].least, 0.5, 0);
    assert_close(in->feature[0].most, 2.5, 0);
    assert_close(in->feature[0].mean, 1.25, 1e-12);
    assert_close(in->feature[0].deviation, sqrt((0.5625 + 0.0625 + 1.5625 + 0.5625) / 4), 1e-12);
    assert_close(in->return_least, 1, 0);
    assert_close(in->return_most, 6, 0);
    assert_close(in->return_median, 3.5, 0);
    assert_int_equal(in->length_most, 3);
    pess_observations_inspection_destroy(in);
    pess_observations_destroy(data);
}

static void what_is_not_finite_is_named(void **unused) {
    (void)unused;
    pess_observations *data = floats_by_hand(true);
    float good[3] = {1, 2, 3}, bad[3] = {1, NAN, 3};
    assert_failure(pess_observations_add(data, good, 0, 0, bad, PESS_END_NONE, &error), PESS_ARGUMENT, &error,
                   "of all transitions or of none", NULL);
    pess_observations_destroy(data);
    data = floats_by_hand(false);
    assert_failure(pess_observations_add(data, bad, 0, 0, good, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "transition 4, feature 1", "nan", NULL);
    bad[1] = INFINITY;
    assert_failure(pess_observations_add(data, good, 0, 0, bad, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "transition 4, next observation, feature 1", "inf", NULL);
    assert_int_equal(data->transitions, 4);
    assert_int_equal(data->states, 4);
    const double zero[1] = {0};
    const int64_t action[1] = {0};
    const uint8_t end[1] = {0};
    pess_observations *fresh = NULL;
    const pess_observation_shape shape = pess_observation_floats(3);
    assert_ok(pess_observations_create("", "", &shape, 3, &fresh, &error), &error);
    const pess_observations_rows rows = {1, good, good, action, zero, end, zero};
    assert_failure(pess_observations_append(fresh, &rows, &error), PESS_INPUT, &error, "probability 0", NULL);
    pess_observations_destroy(fresh);
    pess_observations_destroy(data);
}

static void files_give_the_same_data(void **unused) {
    (void)unused;
    for (int k = 0; k < 4; k++) {
        const char *path = scratch_path(k, k % 2 == 0 ? ".pessdata" : ".npz");
        pess_observations *data = floats_by_hand(k < 2), *read = NULL;
        assert_ok(pess_observations_write(data, path, &error), &error);
        assert_true(pess_observations_file(path));
        assert_ok(pess_observations_read(path, &read, &error), &error);
        assert_string_equal(read->game, "hand");
        assert_same(data, read);
        pess_observations_destroy(read);
        pess_observations_destroy(data);
        scratch_remove(path);
    }
}

/* A picture of 2 × 3 with two channels: NumPy has it channel by channel, the data place by place. */
static void pictures_turn_from_channels_first(void **unused) {
    (void)unused;
    pess_observations *data = NULL, *again = NULL;
    const char *path = scratch_path(0, ".npz");
    assert_ok(pess_observations_read(TEST_DATA "/d4rl/pictures.npz", &data, &error), &error);
    assert_int_equal(data->shape.kind, PESS_OBSERVATION_BYTES);
    assert_int_equal(data->shape.rows, 2);
    assert_int_equal(data->shape.cols, 3);
    assert_int_equal(data->shape.channels, 2);
    const uint8_t *first = data->observations; /* arange(24).reshape(2, 2, 2, 3) */
    const uint8_t want[] = {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11};
    assert_memory_equal(first, want, sizeof want);
    assert_ok(pess_observations_write(data, path, &error), &error);
    assert_ok(pess_observations_read(path, &again, &error), &error);
    assert_same(data, again);
    pess_observations_destroy(again);
    pess_observations_destroy(data);
    scratch_remove(path);
}

/* The same numbers in another order within the file: Fortran's, which pandas writes, or channels behind pixels. */
static void orders_of_arrays_do_not_matter(void **unused) {
    (void)unused;
    static const char *const files[][2] = {
        {"plain", "fortran"}, {"pictures_first", "pictures_last"}, {"pictures_first", "pictures_fortran"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        pess_observations *data[2];
        for (int k = 0; k < 2; k++) {
            char path[512];
            (void)snprintf(path, sizeof path, TEST_DATA "/d4rl/%s.npz", files[i][k]);
            assert_ok(pess_observations_read(path, &data[k], &error), &error);
        }
        assert_same(data[0], data[1]);
        for (int k = 0; k < 2; k++) pess_observations_destroy(data[k]);
    }
}

/* Sixteen channels of 2 × 2, which a reader of pictures alone would take for their rows, come back as they were. */
static void what_was_written_is_read_with_channels_first(void **unused) {
    (void)unused;
    const pess_observation_shape shape = pess_observation_picture(2, 2, 16);
    const char *path = scratch_path(0, ".npz");
    uint8_t seen[64];
    pess_observations *data = NULL, *again = NULL;
    for (int i = 0; i < 64; i++) seen[i] = (uint8_t)i;
    assert_ok(pess_observations_create("", "", &shape, 1, &data, &error), &error);
    assert_ok(pess_observations_add(data, seen, 0, 1, seen, PESS_END_TERMINAL, &error), &error);
    assert_ok(pess_observations_write(data, path, &error), &error);
    assert_ok(pess_observations_read(path, &again, &error), &error);
    assert_same(data, again);
    pess_observations_destroy(again);
    pess_observations_destroy(data);
    scratch_remove(path);
}

/* Seven rows of NumPy's: 0 1 2(terminal) 3 4(timeout) 5 6. Without next observations rows 4 and 6 are left out. */
static void d4rl_arrays_are_read_without_next_observations(void **unused) {
    (void)unused;
    pess_observations *data = NULL;
    assert_ok(pess_observations_read(TEST_DATA "/d4rl/plain.npz", &data, &error), &error);
    static const uint8_t ends[] = {PESS_END_NONE, PESS_END_NONE, PESS_END_TERMINAL, PESS_END_CUTOFF, PESS_END_CUTOFF};
    static const float first[] = {0, 1, 2, 3, 5}, next[] = {1, 2, 2, 4, 6};
    assert_int_equal(data->transitions, 5);
    assert_int_equal(data->actions, 3);
    assert_int_equal(data->stop_count, 1); /* row 5 ends because the log does */
    for (int64_t i = 0; i < 5; i++) {
        assert_int_equal(data->end[i], ends[i]);
        assert_close((double)((float *)(void *)data->observations)[2 * data->state[i]], (double)first[i], 0);
        assert_close((double)((float *)(void *)data->observations)[2 * data->next[i]], (double)next[i], 0);
    }
    assert_non_null(strstr(data->notes, "left_out_rows=2"));
    pess_observations_destroy(data);
    pess_observations_options options = pess_observations_options_defaults();
    options.actions = 5;
    options.game = "cart";
    assert_ok(pess_observations_import(TEST_DATA "/d4rl/plain.npz", &options, &data, &error), &error);
    assert_int_equal(data->actions, 5);
    assert_string_equal(data->game, "cart");
    pess_observations_destroy(data);
    options.actions = 2;
    assert_failure(pess_observations_import(TEST_DATA "/d4rl/plain.npz", &options, &data, &error), PESS_INPUT, &error,
                   "actions", "row 2", "found 2", "0 to 1", NULL);
}

static void d4rl_arrays_are_read_with_everything(void **unused) {
    (void)unused;
    pess_observations *data = NULL;
    assert_ok(pess_observations_read(TEST_DATA "/d4rl/everything.npz", &data, &error), &error);
    assert_int_equal(data->transitions, 7);
    assert_int_equal(data->shape.kind, PESS_OBSERVATION_BITS);
    assert_int_equal(data->shape.length, 9);
    assert_non_null(data->probability);
    assert_close((double)data->probability[3], 0.5, 0);
    assert_int_equal(data->end[6], PESS_END_CUTOFF);
    pess_observations_destroy(data);
}

/* What an inspection says of the numbers of vectors, against the numbers themselves. */
static void assert_range_of_vectors(const pess_observations *data) {
    pess_observations_inspection *in = NULL;
    const int64_t width = data->space.width;
    assert_ok(pess_observations_inspect(data, &in, &error), &error);
    assert_int_equal(in->vector_count, width);
    for (int64_t k = 0; k < width; k++) {
        double least = INFINITY, most = -INFINITY, sum = 0;
        for (int64_t i = 0; i < data->transitions; i++) {
            const double v = (double)data->vector[i * width + k];
            least = fmin(least, v), most = fmax(most, v), sum += v;
        }
        assert_close(in->vector[k].least, least, 0);
        assert_close(in->vector[k].most, most, 0);
        assert_close(in->vector[k].mean, sum / (double)data->transitions, 1e-12);
    }
    pess_observations_inspection_destroy(in);
}

static void actions_may_be_vectors(void **unused) {
    (void)unused;
    static const struct {
        const char *path;
        int64_t width;
    } files[] = {{TEST_DATA "/d4rl/fraction.npz", 1}, {TEST_DATA "/d4rl/continuous.npz", 2}};
    for (int i = 0; i < 2; i++) {
        pess_observations *data = NULL;
        pess_observations_options options = pess_observations_options_defaults();
        assert_ok(pess_observations_read(files[i].path, &data, &error), &error);
        assert_int_equal(data->space.width, files[i].width);
        assert_non_null(data->vector);
        assert_range_of_vectors(data);
        pess_observations_destroy(data);
        options.actions = 2; /* declared: then they are numbers from 0 */
        assert_failure(pess_observations_import(files[i].path, &options, &data, &error),
                       files[i].width == 1 ? PESS_INPUT : PESS_ARGUMENT, &error, "actions", NULL);
    }
}

static void files_that_cannot_be_are_refused(void **unused) {
    (void)unused;
    static const struct {
        const char *file, *word, *other;
    } bad[] = {
        {"no_ends", "terminals", "where episodes end"},
        {"no_actions", "actions", "found none"},
        {"nan", "row 3, feature 1", "nan"},
        {"short", "rewards", "found 6 numbers, expected 7"},
        {"text", "observations", "found text"},
        {"other_next", "next_observations", "of 1 floats, expected"},
        {"probability", "probabilities", "row 2: found 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char path[512];
        pess_observations *data = NULL;
        (void)snprintf(path, sizeof path, TEST_DATA "/d4rl/%s.npz", bad[i].file);
        assert_failure(pess_observations_read(path, &data, &error), PESS_INPUT, &error, bad[i].word, bad[i].other, path,
                       NULL);
        assert_null(data);
    }
}

/* Rows of one float that is always 0. */
static pess_observations *rows_of_nothing(int64_t count) {
    const pess_observation_shape shape = pess_observation_floats(1);
    float *zeros = test_calloc((size_t)count, sizeof *zeros);
    int64_t *actions = test_calloc((size_t)count, sizeof *actions);
    double *rewards = test_calloc((size_t)count, sizeof *rewards);
    uint8_t *ends = test_calloc((size_t)count, 1);
    pess_observations *data = NULL;
    ends[count - 1] = PESS_END_TERMINAL;
    assert_ok(pess_observations_create("", "", &shape, 1, &data, &error), &error);
    const pess_observations_rows rows = {count, zeros, zeros, actions, rewards, ends, NULL};
    assert_ok(pess_observations_append(data, &rows, &error), &error);
    test_free(zeros), test_free(actions), test_free(rewards), test_free(ends);
    return data;
}

/* "fit" goes by the data; what the list of protocols says of it are its smallest and largest numbers. */
static void a_protocol_that_fits_the_data_stays_in_its_ranges(void **unused) {
    (void)unused;
    long long said[6];
    const pess_protocol_info *info = pess_protocol_list(0);
    for (size_t i = 0; strcmp(info->name, "fit") != 0; i++) info = pess_protocol_list(i);
    assert_int_equal(sscanf(info->ranges, "%lld to %lld updates x %lld to %lld steps, imitation %lld to %lld steps",
                            &said[0], &said[1], &said[2], &said[3], &said[4], &said[5]),
                     6);
    for (int large = 0; large < 2; large++) {
        pess_observations *data = rows_of_nothing(large ? 600000 : 600);
        pess_protocol fit;
        pess_protocol_fit(data, large ? 0.9999 : 0.1, &fit);
        assert_int_equal(fit.updates, said[large]);
        assert_int_equal(fit.steps, said[2 + large]);
        assert_int_equal(fit.imitation_steps, said[4 + large]);
        pess_observations_destroy(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_protocol_that_fits_the_data_stays_in_its_ranges),
        cmocka_unit_test(actions_may_be_vectors),
        cmocka_unit_test(floats_are_kept_once_and_looked_at),
        cmocka_unit_test(what_is_not_finite_is_named),
        cmocka_unit_test(files_give_the_same_data),
        cmocka_unit_test(pictures_turn_from_channels_first),
        cmocka_unit_test(orders_of_arrays_do_not_matter),
        cmocka_unit_test(what_was_written_is_read_with_channels_first),
        cmocka_unit_test(d4rl_arrays_are_read_without_next_observations),
        cmocka_unit_test(d4rl_arrays_are_read_with_everything),
        cmocka_unit_test(files_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
