/* Datasets of packed observations: building, files, and collecting them in games and MDPs. */
#include "core/rng.h"
#include "data/observations.h"
#include "scratch.h"

#include <math.h>
#include <zlib.h>

static pess_error error;

enum { BITS = 20, BYTES = 3, ACTIONS = 10 };
#define COLLECT_STREAMS ((uint64_t)1 << 32) /* of the environments that collect (src/deep/collect.c) */

static pess_observations *fresh(void) {
    pess_observations *data = NULL;
    assert_ok(pess_observations_create("test", "made=by hand\n", &(pess_observation_shape){.length = BITS}, ACTIONS,
                                       &data, &error),
              &error);
    return data;
}

static void observation(uint32_t value, uint8_t out[BYTES]) {
    for (int i = 0; i < BYTES; i++) out[i] = (uint8_t)(value >> (8 * i));
}

static void add(pess_observations *data, uint32_t state, int32_t action, double reward, uint32_t next, pess_end end) {
    uint8_t from[BYTES], to[BYTES];
    observation(state, from);
    observation(next, to);
    assert_ok(pess_observations_add(data, from, action, reward, to, end, &error), &error);
}

/* Every row and number, not only what the public functions show. */
static void assert_same_data(const pess_observations *a, const pess_observations *b) {
    assert_string_equal(a->game, b->game);
    assert_string_equal(a->notes, b->notes);
    assert_int_equal(a->shape.length, b->shape.length);
    assert_int_equal(a->actions, b->actions);
    assert_int_equal(a->states, b->states);
    assert_int_equal(a->transitions, b->transitions);
    assert_int_equal(a->pairs, b->pairs);
    assert_int_equal(a->stop_count, b->stop_count);
    const size_t count = (size_t)a->transitions, states = (size_t)a->states;
    assert_memory_equal(a->observations, b->observations, states * (size_t)a->bytes);
    assert_memory_equal(a->tried, b->tried, states * (size_t)a->tried_bytes);
    assert_memory_equal(a->state, b->state, count * sizeof *a->state);
    assert_memory_equal(a->next, b->next, count * sizeof *a->next);
    assert_memory_equal(a->reward, b->reward, count * sizeof *a->reward);
    assert_memory_equal(a->action, b->action, count);
    assert_memory_equal(a->end, b->end, count);
    for (int64_t i = 0; i < a->stop_count; i++) assert_int_equal(a->stopped[i], b->stopped[i]);
}

/* ---- building */

/* Random walks over few values against an array of what was added. hash_mask 0: every observation meets every other;
 * 3: four crowds; all ones: as in earnest. */
static void observations_are_kept_once(void **unused) {
    (void)unused;
    enum { COUNT = 4000, VALUES = 700 };
    static const uint64_t masks[] = {0, 3, UINT64_MAX};
    for (int m = 0; m < 3; m++) {
        pess_observations *data = fresh();
        data->hash_mask = masks[m];
        pess__rng rng = pess__rng_stream(1, "test transitions", 0);
        static uint32_t from[COUNT], to[COUNT];
        static int taken[COUNT];
        bool seen[VALUES] = {false}, pair[VALUES][ACTIONS] = {{false}};
        int64_t states = 0, pairs = 0;
        for (int i = 0; i < COUNT; i++) {
            from[i] = (uint32_t)pess__rng_below(&rng, VALUES), to[i] = (uint32_t)pess__rng_below(&rng, VALUES);
            taken[i] = (int)pess__rng_below(&rng, ACTIONS);
            add(data, from[i] * 977 % 1048576, taken[i], i, to[i] * 977 % 1048576, PESS_END_NONE);
            states += !seen[from[i]], seen[from[i]] = true;
            states += !seen[to[i]], seen[to[i]] = true;
            pairs += !pair[from[i]][taken[i]], pair[from[i]][taken[i]] = true;
        }
        pess_observations_info info;
        pess_observations_get_info(data, &info);
        assert_int_equal(info.states, states);
        assert_int_equal(info.pairs, pairs);
        assert_int_equal(info.transitions, COUNT);
        for (int i = 0; i < COUNT; i++) {
            uint8_t state[BYTES], next[BYTES];
            const uint8_t *state_found, *next_found;
            int32_t action;
            double reward;
            pess_end end;
            observation(from[i] * 977 % 1048576, state);
            observation(to[i] * 977 % 1048576, next);
            assert_true(pess_observations_get(data, i, &state_found, &action, &reward, &next_found, &end));
            assert_memory_equal(state, state_found, BYTES);
            assert_memory_equal(next, next_found, BYTES);
            assert_true(action == taken[i] && reward == i && end == PESS_END_NONE);
            assert_int_equal(pess__observations_find(data, state), data->state[i]);
        }
        for (uint32_t v = 0; v < VALUES; v++) {
            uint8_t state[BYTES];
            observation(v * 977 % 1048576, state);
            assert_true((pess__observations_find(data, state) >= 0) == seen[v]);
            observation(v * 977 % 1048576 ^ 1048575, state);
            const int64_t other = pess__observations_find(data, state);
            if (other >= 0) assert_memory_equal(data->observations + other * BYTES, state, BYTES);
        }
        assert_false(pess_observations_get(data, -1, NULL, NULL, NULL, NULL, NULL));
        assert_false(pess_observations_get(data, COUNT, NULL, NULL, NULL, NULL, NULL));
        assert_true(pess_observations_get(data, 0, NULL, NULL, NULL, NULL, NULL));
        pess_observations_destroy(data);
    }
}

static void what_cannot_be_is_refused(void **unused) {
    (void)unused;
    pess_observations *data = fresh();
    uint8_t good[BYTES] = {1, 2, 3}, padded[BYTES] = {1, 2, 0x13};
    assert_int_equal(pess__observations_find(data, good), -1);
    assert_failure(pess_observations_add(data, good, ACTIONS, 0, good, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "action 10", "0 to 9", NULL);
    assert_failure(pess_observations_add(data, good, -1, 0, good, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "action -1", NULL);
    assert_failure(pess_observations_add(data, good, 0, NAN, good, PESS_END_NONE, &error), PESS_INPUT, &error, "reward",
                   NULL);
    assert_failure(pess_observations_add(data, good, 0, 1e300, good, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "1e+300", NULL);
    assert_failure(pess_observations_add(data, good, 0, 0, good, (pess_end)3, &error), PESS_INPUT, &error, "end 3",
                   NULL);
    assert_failure(pess_observations_add(data, good, 0, 0, padded, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "20 bits", NULL);
    assert_int_equal(data->transitions, 0);
    assert_int_equal(pess_observations_write(data, scratch_path(0, ".pessdata"), &error), PESS_ARGUMENT);
    pess_observations_destroy(data);
    pess_observations_destroy(NULL);
    assert_int_equal(pess_observations_create("test", NULL, &(pess_observation_shape){.length = 0}, 2, &data, &error),
                     PESS_LIMIT);
    assert_int_equal(
        pess_observations_create("test", NULL, &(pess_observation_shape){.length = 1 << 20}, 2, &data, &error),
        PESS_LIMIT);
    assert_int_equal(pess_observations_create("test", NULL, &(pess_observation_shape){.length = 8}, 257, &data, &error),
                     PESS_LIMIT);
    assert_int_equal(pess_observations_create("a name that is longer than thirty-one", NULL,
                                              &(pess_observation_shape){.length = 8}, 2, &data, &error),
                     PESS_LIMIT);
}

/* Three whole episodes with returns 3, 1.5 and -1 (the second cut off by a time limit), one that was being played when
 * collecting stopped in the middle of the log, and one that the log leaves open. */
static pess_observations *episodes_by_hand(void) {
    pess_observations *data = fresh();
    add(data, 1, 0, 1, 2, PESS_END_NONE);
    add(data, 2, 1, 2, 3, PESS_END_TERMINAL);
    add(data, 1, 0, 100, 5, PESS_END_NONE);
    add(data, 5, 9, 100, 6, PESS_END_NONE);
    assert_ok(pess__observations_stop(data, 3, &error), &error);
    add(data, 7, 8, 1.5, 8, PESS_END_CUTOFF);
    add(data, 1, 0, 0, 1, PESS_END_NONE);
    add(data, 1, 1, 0, 1, PESS_END_NONE);
    add(data, 1, 1, -1, 3, PESS_END_TERMINAL);
    add(data, 1, 1, 50, 2, PESS_END_NONE);
    return data;
}

static void assert_info_by_hand(const pess_observations *data) {
    pess_observations_info info;
    pess_observations_get_info(data, &info);
    assert_string_equal(info.game, "test");
    assert_string_equal(info.notes, "made=by hand\n");
    assert_true(info.shape.length == BITS && info.bytes == BYTES && info.actions == ACTIONS);
    assert_int_equal(info.transitions, 9);
    assert_int_equal(info.states, 7); /* 1 2 3 5 6 7 8 */
    assert_int_equal(info.pairs, 5);  /* (1,0) (2,1) (5,9) (7,8) (1,1) */
    assert_int_equal(info.episodes, 3);
    assert_int_equal(info.terminals, 2);
    assert_int_equal(info.cutoffs, 2);
    const double mean = 3.5 / 3;
    const double spread = pow(3 - mean, 2) + pow(1.5 - mean, 2) + pow(-1 - mean, 2);
    assert_close(info.mean_return, mean, 1e-12);
    assert_close(info.ci95, 1.959963984540054 * sqrt(spread / 2 / 3), 1e-12);
    assert_close(info.gamma_return, (1 + 0.99 * 2 + 1.5 - 0.99 * 0.99) / 3, 1e-12);
}

static void episodes_are_summed(void **unused) {
    (void)unused;
    pess_observations *data = episodes_by_hand();
    assert_info_by_hand(data);
    pess_observations_destroy(data);
    pess_observations_info info;
    data = fresh();
    pess_observations_get_info(data, &info);
    assert_true(info.transitions == 0 && info.episodes == 0 && isnan(info.mean_return) && isnan(info.gamma_return));
    add(data, 1, 0, 2, 1, PESS_END_NONE);
    pess_observations_get_info(data, &info);
    assert_true(info.episodes == 0 && isnan(info.mean_return) && isnan(info.ci95));
    add(data, 1, 0, 2, 1, PESS_END_TERMINAL);
    pess_observations_get_info(data, &info);
    assert_true(info.episodes == 1 && info.mean_return == 4 && isnan(info.ci95));
    pess_observations_destroy(data);
}

/* ---- files */

static uint8_t *file_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

static uint8_t *written(const pess_observations *data, size_t *size) {
    const char *path = scratch_path(0, ".pessdata");
    assert_ok(pess_observations_write(data, path, &error), &error);
    uint8_t *bytes = file_bytes(path, size);
    scratch_remove(path);
    return bytes;
}

static void a_file_brings_everything_back(void **unused) {
    (void)unused;
    const char *path = scratch_path(0, ".pessdata");
    pess_observations *data = episodes_by_hand(), *back = NULL;
    assert_ok(pess_observations_write(data, path, &error), &error);
    assert_ok(pess_observations_read(path, &back, &error), &error);
    assert_same_data(data, back);
    assert_info_by_hand(back);
    add(back, 2, 3, 1, 99, PESS_END_TERMINAL); /* and it can grow on */
    assert_int_equal(back->states, 8);
    pess_observations_destroy(back);
    pess_observations_destroy(data);
    scratch_remove(path);
    assert_int_equal(pess_observations_read(path, &back, &error), PESS_IO);
}

/* Any byte changed, any end missing: a message, never data. */
static void damage_is_refused(void **unused) {
    (void)unused;
    size_t size;
    pess_observations *data = episodes_by_hand(), *back = NULL;
    uint8_t *bytes = written(data, &size);
    pess_observations_destroy(data);
    for (size_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1U << bit);
            assert_failure(pess__observations_read_memory("f.pessdata", bytes, size, &back, &error), PESS_INPUT, &error,
                           "f.pessdata: ", i < 8 ? "not a dataset" : "damaged", NULL);
            bytes[i] ^= (uint8_t)(1U << bit);
        }
        uint8_t *cut = malloc(i > 0 ? i : 1); /* of its own, so that a sanitizer sees its end */
        assert_non_null(cut);
        memcpy(cut, bytes, i);
        assert_failure(pess__observations_read_memory("f.pessdata", cut, i, &back, &error), PESS_INPUT, &error,
                       "f.pessdata: ",
                       i < 8    ? "not a dataset"
                       : i < 12 ? "truncated"
                                : "damaged",
                       NULL);
        free(cut);
    }
    assert_null(back);
    assert_ok(pess__observations_read_memory("f.pessdata", bytes, size, &back, &error), &error);
    assert_info_by_hand(back);
    pess_observations_destroy(back);
    free(bytes);
}

/* Writes bytes at an offset, puts the checksum right and reads: what lies behind it is checked as well. */
static void assert_refused(const uint8_t *good, size_t size, size_t at, const void *change, size_t length,
                           const char *word, const char *other) {
    pess_observations *back = NULL;
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    memcpy(bytes, good, size);
    memcpy(bytes + at, change, length);
    const uint32_t crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size - 4);
    memcpy(bytes + size - 4, &crc, sizeof crc);
    assert_failure(pess__observations_read_memory("f.pessdata", bytes, size, &back, &error), PESS_INPUT, &error,
                   "f.pessdata: ", word, other, NULL);
    free(bytes);
}

static void numbers_that_cannot_be_are_refused(void **unused) {
    (void)unused;
    size_t size;
    pess_observations *data = episodes_by_hand();
    uint8_t *good = written(data, &size);
    pess_observations_destroy(data);
    const size_t game = 28, notes = game + 4 + 4, observations = notes + 4 + 13, state = observations + 7 * BYTES;
    const size_t next = state + 9 * 4, reward = next + 9 * 4, action = reward + 9 * 4, end = action + 9;
    assert_int_equal(size, end + 9 + 4);
    const struct {
        size_t at;
        uint32_t value;
        const char *word, *other;
    } numbers[] = {
        {8, 3, "version 3", "versions 1 and 2"},
        {12, 0, "length", "found 0, expected 1 to"},
        {12, 1U << 31, "length", "2147483648"},
        {12, 28, "bytes after the header", "7 observations"},
        {16, 0, "actions", "found 0"},
        {16, 257, "actions", "257"},
        {16, 9, "action 9", "0 to 8"},
        {20, 0, "states", "found 0"},
        {20, 8, "bytes after the header", "8 observations"},
        {20, UINT32_MAX, "states", "4294967295"},
        {24, 0, "transitions", "found 0"},
        {24, INT32_MAX, "bytes after the header", "2147483647 transitions"},
        {game, 1000, "too long", "name"},
        {game + 4, 0x01626364, "game", "byte 01"},
        {notes, 1U << 30, "too long", "notes"},
        {notes + 4, 0x64001b64, "notes", "notes"},
        {state, 7, "transition 0", "state 7"},
        {state + 4, UINT32_MAX, "transition 1", "state -1"},
        {next + 8 * 4, 7, "transition 8", "to 7; 0 to 6"},
        {reward + 4 * 4, 0x7f800000, "transition 4", "reward inf"},
        {reward, 0x7fc00000, "transition 0", "nan"},
        {action, 0x000a0000, "transition 2", "action 10"},
        {end + 5, 0x04000000, "transition 8", "end 4"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_refused(good, size, numbers[i].at, &numbers[i].value, 4, numbers[i].word, numbers[i].other);
    assert_refused(good, size, observations + BYTES, good + observations, BYTES, "observation 1 is the same",
                   "observation 0");
    assert_refused(good, size, observations + 2 * BYTES + 2, "\x10", 1, "observation 2", "20 bits");
    free(good);
}

/* ---- from and to arrays */

static void rows_are_appended_as_one_by_one(void **unused) {
    (void)unused;
    pess_observations *wanted = fresh(), *data = fresh();
    uint8_t state[4 * BYTES], next[4 * BYTES];
    int64_t action[] = {0, 3, 9, 3};
    const double reward[] = {1, -2, 0.5, 0};
    uint8_t end[] = {PESS_END_NONE, PESS_END_TERMINAL, PESS_END_CUTOFF, PESS_END_NONE};
    for (uint32_t i = 0; i < 4; i++) {
        observation(5 + i % 2, state + i * BYTES);
        observation(6 + i, next + i * BYTES);
        add(wanted, 5 + i % 2, (int32_t)action[i], reward[i], 6 + i, (pess_end)end[i]);
    }
    const pess_observations_rows rows = {4, state, next, action, reward, end};
    assert_ok(pess_observations_append(data, &rows, &error), &error);
    assert_same_data(data, wanted);
    /* One row that is refused refuses them all. */
    action[3] = ACTIONS;
    assert_failure(pess_observations_append(data, &rows, &error), PESS_INPUT, &error, "transition 7: action 10", NULL);
    action[3] = 3, end[2] = 7;
    assert_failure(pess_observations_append(data, &rows, &error), PESS_INPUT, &error, "transition 6: end 7", NULL);
    end[2] = 2, next[4 * BYTES - 1] = 0x80;
    assert_failure(pess_observations_append(data, &rows, &error), PESS_INPUT, &error, "bits beyond them", NULL);
    assert_same_data(data, wanted);
    /* The last episode is open; stopping cuts it off, once. */
    for (int i = 0; i < 2; i++) assert_ok(pess_observations_stop(data, &error), &error);
    assert_ok(pess__observations_stop(wanted, 3, &error), &error);
    assert_same_data(data, wanted);
    pess_observations_destroy(wanted);
    pess_observations_destroy(data);
}

static void a_view_shows_all_of_it(void **unused) {
    (void)unused;
    pess_observations *data = episodes_by_hand();
    pess_observations_view view;
    pess_observations_get_view(data, &view);
    assert_int_equal(view.transitions, 9);
    assert_int_equal(view.states, 7);
    for (int64_t i = 0; i < view.transitions; i++) {
        const uint8_t *state, *next;
        int32_t action;
        double reward;
        pess_end end;
        assert_true(pess_observations_get(data, i, &state, &action, &reward, &next, &end));
        assert_memory_equal(view.observations + view.state[i] * view.bytes, state, BYTES);
        assert_memory_equal(view.observations + view.next_state[i] * view.bytes, next, BYTES);
        assert_int_equal(view.action[i], action);
        assert_int_equal(view.end[i], end);
        assert_true(fabs((double)view.reward[i] - reward) < 1e-15);
    }
    pess_observations_destroy(data);
}

static void a_board_has_the_bits_of_an_observation(void **unused) {
    (void)unused;
    pess_observations *data = NULL;
    const pess_observation_shape good = {.length = 24, .rows = 2, .cols = 3, .channels = 4};
    assert_ok(pess_observations_create(NULL, NULL, &good, 2, &data, &error), &error);
    pess_observations_info info;
    pess_observations_get_info(data, &info);
    assert_memory_equal(&info.shape, &good, sizeof good);
    assert_int_equal(info.bytes, 3);
    pess_observations_destroy(data);
    static const pess_observation_shape bad[] = {
        {.length = 24, .rows = 2, .cols = 3}, {.length = 25, .rows = 2, .cols = 3, .channels = 4}, {.kind = 3}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(pess_observations_create(NULL, NULL, &bad[i], 2, &data, &error), PESS_ARGUMENT);
}

static void files_are_told_apart(void **unused) {
    (void)unused;
    const char *path = scratch_path(0, ".pessdata"), *bare = scratch_path(1, "");
    pess_observations *data = episodes_by_hand();
    assert_ok(pess_observations_write(data, path, &error), &error);
    assert_int_equal(rename(path, bare), 0);
    assert_int_equal(pess_file_kind_of(bare), PESS_FILE_OBSERVATIONS); /* by its bytes */
    assert_int_equal(pess_file_kind_of(path), PESS_FILE_OBSERVATIONS); /* by its name: it is not there */
    assert_int_equal(pess_file_kind_of("x.csv"), PESS_FILE_OTHER);
    assert_int_equal(pess_file_kind_of("-"), PESS_FILE_OTHER);
    assert_int_equal(pess_file_kind_of(NULL), PESS_FILE_OTHER);
    assert_int_equal(pess_file_kind_of("x.pessnet"), PESS_FILE_NETWORK);
    pess_dataset *log = NULL;
    assert_failure(pess_dataset_read(bare, NULL, &log, &error), PESS_INPUT, &error,
                   "found a dataset of observations, expected a log of states", NULL);
    (void)remove(bare);
    pess_observations_destroy(data);
}

/* ---- collecting */

static pess_collect_options settings(const char *game, int64_t transitions, int64_t envs) {
    pess_collect_options o = pess_collect_options_defaults();
    o.game = game, o.transitions = transitions, o.envs = envs, o.seed = 11;
    return o;
}

static pess_observations *collected(const pess_collect_options *o) {
    pess_observations *data = NULL;
    assert_ok(pess_collect(o, &data, &error), &error);
    return data;
}

/* The actions in the data, played in single environments: the same observations, rewards and ends come out, the last
 * observation of each episode included, and building from them one by one gives the same numbers. */
static void assert_replays(const pess_observations *data, const pess_collect_options *o) {
    uint8_t before[PESS_ENV_MAX_BYTES], after[PESS_ENV_MAX_BYTES];
    pess_observations *built = NULL;
    assert_ok(pess_observations_create(data->game, data->notes, &(pess_observation_shape){.length = data->shape.length},
                                       data->actions, &built, &error),
              &error);
    int64_t at = 0;
    for (int64_t e = 0; e < o->envs && at < data->transitions; e++) {
        pess_env_options env = pess_env_options_defaults();
        env.game = o->game, env.sticky = o->sticky, env.step_limit = o->step_limit;
        env.seed = o->seed, env.stream = COLLECT_STREAMS + (uint64_t)e;
        pess_env *one = NULL;
        if (o->mdp != NULL)
            assert_ok(pess_env_create_mdp(o->mdp, NULL, &env, &one, &error), &error);
        else
            assert_ok(pess_env_create(&env, &one, &error), &error);
        const int64_t count = o->transitions / o->envs + (e < o->transitions % o->envs);
        for (int64_t k = 0; k < count; k++, at++) {
            pess_env_step_result result;
            pess_env_observe_bits(one, before);
            assert_ok(pess_env_step(one, data->action[at], &result, &error), &error);
            pess_env_observe_bits(one, after);
            assert_ok(pess_observations_add(built, before, data->action[at], result.reward, after, result.end, &error),
                      &error);
            if (result.end == PESS_END_NONE && k == count - 1)
                assert_ok(pess__observations_stop(built, at, &error), &error);
            if (result.end != PESS_END_NONE) assert_ok(pess_env_reset(one, &error), &error);
        }
        pess_env_destroy(one);
    }
    assert_same_data(data, built);
    pess_observations_destroy(built);
}

static void what_is_collected_replays(void **unused) {
    (void)unused;
    static const char *const games[] = {"breakout", "seaquest", "freeway"};
    for (int g = 0; g < 3; g++)
        for (int64_t envs = 1; envs <= 40; envs += 13) {
            pess_collect_options o = settings(games[g], 3001, envs);
            if (envs == 14) o.step_limit = 17, o.sticky = 0.3;
            pess_observations *data = collected(&o);
            assert_replays(data, &o);
            pess_observations_destroy(data);
        }
}

static void same_seed_same_bytes(void **unused) {
    (void)unused;
    pess_collect_options o = settings("breakout", 2000, 7);
    size_t sizes[3];
    uint8_t *bytes[3];
    for (int i = 0; i < 3; i++) {
        if (i == 2) o.seed++;
        pess_observations *data = collected(&o);
        bytes[i] = written(data, &sizes[i]);
        pess_observations_destroy(data);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    assert_true(sizes[0] != sizes[2] || memcmp(bytes[0], bytes[2], sizes[0]) != 0);
    for (int i = 0; i < 3; i++) free(bytes[i]);
}

/* Left (0) pays 1 and ends; right (1) leads on along the chain, and pays 5 at its end. */
static pess_mdp *chain(void) {
    enum { CHAIN = 6 };
    pess_mdp_transition transitions[2 * CHAIN];
    for (int64_t s = 0; s < CHAIN; s++) {
        transitions[2 * s] = (pess_mdp_transition){s, 0, CHAIN, 1, 1};
        transitions[2 * s + 1] = (pess_mdp_transition){s, 1, s + 1, 1, s == CHAIN - 1 ? 5 : 0};
    }
    pess_mdp *mdp = NULL;
    assert_ok(pess_mdp_create(CHAIN + 1, 2, transitions, 2 * CHAIN, &mdp, &error), &error);
    return mdp;
}

static void an_mdp_is_collected(void **unused) {
    (void)unused;
    pess_mdp *mdp = chain();
    pess_collect_options o = settings(NULL, 60000, 9);
    o.mdp = mdp;
    pess_observations *data = collected(&o);
    assert_replays(data, &o);
    pess_observations_info info;
    pess_observations_get_info(data, &info);
    assert_string_equal(info.game, "mdp");
    assert_true(info.shape.length == 7 && info.actions == 2 && info.states == 7 && info.pairs == 12);
    /* From state s the far end is reached with probability 2^-(6-s), else 1: the mean is 1 + 4·(63/64)/6. The deviation
     * of a return is below 1.5; an episode has less than two steps on average, so there are over 30,000 of them, and
     * five standard errors leave a false alarm below 1e-6. */
    assert_true(info.episodes > 30000 && info.terminals == info.episodes && info.cutoffs <= 9);
    assert_close(info.mean_return, 1 + 4.0 * 63 / 64 / 6, 5 * 1.5 / sqrt((double)info.episodes));
    pess_observations_destroy(data);
    o.step_limit = 2; /* cut-offs are kept as such, and end whole episodes */
    data = collected(&o);
    assert_replays(data, &o);
    pess_observations_get_info(data, &info);
    assert_true(info.cutoffs > 1000 && info.terminals + info.cutoffs - data->stop_count == info.episodes);
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

static pess_policy *player(const char *game) {
    char path[500];
    (void)snprintf(path, sizeof path, "%s/../../policies/%s.pessnet", TEST_DATA, game);
    pess_policy *policy = NULL;
    assert_ok(pess_policy_read(path, NULL, NULL, NULL, &policy, &error), &error);
    return policy;
}

/* What the network says is done, but for ε; with ε = 1 it is not asked. */
static void a_network_acts(void **unused) {
    (void)unused;
    pess_policy *policy = player("breakout");
    pess_collect_options o = settings("breakout", 12000, 5);
    o.policy = policy;
    for (int k = 0; k < 2; k++) {
        o.epsilon = k == 0 ? 0 : 0.3;
        pess_observations *data = collected(&o);
        assert_replays(data, &o);
        int64_t greedy = 0;
        for (int64_t i = 0; i < data->transitions; i++) {
            const uint8_t *state;
            int32_t action;
            float q[PESS_ENV_ACTIONS];
            int best = 0;
            assert_true(pess_observations_get(data, i, &state, &action, NULL, NULL, NULL));
            assert_ok(pess_policy_outputs(policy, state, data->bytes, 1, q, &error), &error);
            for (int a = 1; a < PESS_ENV_ACTIONS; a++)
                if (q[a] > q[best]) best = a;
            greedy += action == best;
        }
        /* Share 1 - ε·5/6 of greedy actions, deviation below 0.0043 (binomial); five of it for 1e-6. */
        if (k == 0) assert_int_equal(greedy, data->transitions);
        if (k == 1) assert_close((double)greedy / (double)data->transitions, 1 - 0.3 * 5 / 6, 5 * 0.0043);
        pess_observations_destroy(data);
    }
    o.epsilon = 1;
    pess_observations *without = NULL, *with = collected(&o);
    o.policy = NULL, o.epsilon = 0;
    without = collected(&o);
    assert_non_null(strstr(with->notes, "\nepsilon=1\n"));
    assert_non_null(strstr(without->notes, "\npolicy=random\nepsilon=1\n"));
    memcpy(with->notes, without->notes, sizeof with->notes);
    assert_same_data(with, without);
    pess_observations_destroy(with);
    pess_observations_destroy(without);
    pess_policy_destroy(policy);
}

/* The same transitions with and without; every probability is ε/A + (1 − ε)π(a|s), and a file of arrays keeps it and
 * where collecting stopped. */
static void assert_probabilities(pess_collect_options o) {
    pess_observations *without = collected(&o), *read = NULL;
    o.probabilities = true;
    pess_observations *with = collected(&o);
    assert_null(without->probability);
    assert_same_data(with, without);
    assert_true(with->stop_count > 0);
    int64_t likely = 0;
    for (int64_t i = 0; i < with->transitions; i++) {
        double pi[PESS_ENV_ACTIONS] = {0};
        const uint8_t *state = with->observations + with->state[i] * with->bytes;
        if (o.mdp != NULL && o.policy != NULL)
            pi[0] = 0.25, pi[1] = 0.75;
        else if (o.policy != NULL)
            assert_ok(pess_policy_observation_probabilities(o.policy, state, with->bytes, 1, pi, &error), &error);
        const double epsilon = o.policy != NULL ? o.epsilon : 1;
        const double want = epsilon / (double)with->actions + (1 - epsilon) * pi[with->action[i]];
        assert_close((double)with->probability[i], want, 1e-6);
        likely += want > 0.5;
    }
    assert_true(o.policy == NULL || (likely > 0 && likely < with->transitions));
    const char *path = scratch_path(0, ".npz");
    assert_ok(pess_observations_write(with, path, &error), &error);
    assert_ok(pess_observations_read(path, &read, &error), &error);
    memcpy(read->notes, with->notes, sizeof read->notes); /* arrays have no notes */
    assert_ok(pess__observations_order(read, &error), &error);
    assert_same_data(with, read);
    assert_memory_equal(with->probability, read->probability, (size_t)with->transitions * sizeof *with->probability);
    scratch_remove(path);
    pess_observations_destroy(read);
    pess_observations_destroy(with);
    pess_observations_destroy(without);
}

static void probabilities_are_kept(void **unused) {
    (void)unused;
    pess_collect_options o = settings("breakout", 3000, 7);
    pess_policy *greedy = player("breakout"), *drawing = NULL;
    pess_mdp *mdp = chain();
    double table[2 * 7];
    for (int i = 0; i < 7; i++) table[2 * i] = 0.25, table[2 * i + 1] = 0.75;
    assert_ok(pess_policy_create(7, 2, table, &drawing, &error), &error);
    assert_probabilities(o);
    o.policy = greedy, o.epsilon = 0.3;
    assert_probabilities(o);
    o = settings(NULL, 3000, 7);
    o.mdp = mdp, o.policy = drawing, o.epsilon = 0.2;
    assert_probabilities(o);
    pess_policy_destroy(greedy);
    pess_policy_destroy(drawing);
    pess_mdp_destroy(mdp);
}

static bool stop_soon(void *user, const char *what, double done, double total, const char *unit) {
    (void)user, (void)what, (void)unit;
    return !(done > 0 && done < total);
}

static void settings_out_of_range_are_refused(void **unused) {
    (void)unused;
    pess_observations *data = NULL;
    pess_collect_options o = settings("breakout", 10, 4), bad = o;
    bad.transitions = 0;
    assert_failure(pess_collect(&bad, &data, &error), PESS_ARGUMENT, &error,
                   "transitions: found '0', expected a whole number from 1 to", NULL);
    bad = o, bad.envs = 0;
    assert_failure(pess_collect(&bad, &data, &error), PESS_ARGUMENT, &error, "envs: found '0'", NULL);
    bad = o, bad.epsilon = NAN;
    assert_failure(pess_collect(&bad, &data, &error), PESS_ARGUMENT, &error, "epsilon", NULL);
    bad = o, bad.game = "pong";
    assert_failure(pess_collect(&bad, &data, &error), PESS_ARGUMENT, &error, "pong", NULL);
    bad = o, bad.game = NULL;
    assert_failure(pess_collect(&bad, &data, &error), PESS_ARGUMENT, &error, "no game", NULL);
    pess_policy *policy = player("breakout");
    pess_mdp *mdp = chain();
    bad = o, bad.policy = policy, bad.game = "asterix";
    assert_failure(pess_collect(&bad, &data, &error), PESS_INPUT, &error, "breakout", "asterix", NULL);
    bad = o, bad.policy = policy, bad.mdp = mdp;
    assert_failure(pess_collect(&bad, &data, &error), PESS_INPUT, &error, "reads 50 bytes", NULL);
    bad = o, bad.transitions = 20000000, bad.progress.report = stop_soon; /* asked after 0.1 s, long before the end */
    assert_failure(pess_collect(&bad, &data, &error), PESS_INTERRUPTED, &error, "interrupted after", NULL);
    assert_null(data);
    pess_mdp_destroy(mdp);
    pess_policy_destroy(policy);
    o.transitions = 3; /* fewer than environments */
    data = collected(&o);
    assert_int_equal(data->transitions, 3);
    assert_int_equal(data->stop_count, 3);
    pess_observations_destroy(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(observations_are_kept_once),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(episodes_are_summed),
        cmocka_unit_test(a_file_brings_everything_back),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(numbers_that_cannot_be_are_refused),
        cmocka_unit_test(rows_are_appended_as_one_by_one),
        cmocka_unit_test(a_view_shows_all_of_it),
        cmocka_unit_test(a_board_has_the_bits_of_an_observation),
        cmocka_unit_test(files_are_told_apart),
        cmocka_unit_test(what_is_collected_replays),
        cmocka_unit_test(same_seed_same_bytes),
        cmocka_unit_test(an_mdp_is_collected),
        cmocka_unit_test(probabilities_are_kept),
        cmocka_unit_test(a_network_acts),
        cmocka_unit_test(settings_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
