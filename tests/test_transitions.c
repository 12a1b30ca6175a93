/* Datasets of packed observations: building, files, and collecting them in games and MDPs. */
#include "core/rng.h"
#include "deep/transitions.h"
#include "scratch.h"

#include <math.h>
#include <zlib.h>

static pess_error error;

enum { BITS = 20, BYTES = 3, ACTIONS = 10 };
#define COLLECT_STREAMS ((uint64_t)1 << 32) /* of the environments that collect (src/deep/collect.c) */

static pess_transitions *fresh(void) {
    pess_transitions *data = NULL;
    assert_ok(pess__transitions_create("test", "made=by hand\n", BITS, ACTIONS, &data, &error), &error);
    return data;
}

static void observation(uint32_t value, uint8_t out[BYTES]) {
    for (int i = 0; i < BYTES; i++) out[i] = (uint8_t)(value >> (8 * i));
}

static void add(pess_transitions *data, uint32_t state, int32_t action, double reward, uint32_t next, pess_end end) {
    uint8_t from[BYTES], to[BYTES];
    observation(state, from);
    observation(next, to);
    assert_ok(pess__transitions_add(data, from, action, reward, to, end, &error), &error);
}

/* Every row and number, not only what the public functions show. */
static void assert_same_data(const pess_transitions *a, const pess_transitions *b) {
    assert_string_equal(a->game, b->game);
    assert_string_equal(a->notes, b->notes);
    assert_int_equal(a->bits, b->bits);
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
        pess_transitions *data = fresh();
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
        pess_transitions_info info;
        pess_transitions_get_info(data, &info);
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
            assert_true(pess_transitions_get(data, i, &state_found, &action, &reward, &next_found, &end));
            assert_memory_equal(state, state_found, BYTES);
            assert_memory_equal(next, next_found, BYTES);
            assert_true(action == taken[i] && reward == i && end == PESS_END_NONE);
            assert_int_equal(pess__transitions_find(data, state), data->state[i]);
        }
        for (uint32_t v = 0; v < VALUES; v++) {
            uint8_t state[BYTES];
            observation(v * 977 % 1048576, state);
            assert_true((pess__transitions_find(data, state) >= 0) == seen[v]);
            observation(v * 977 % 1048576 ^ 1048575, state);
            const int64_t other = pess__transitions_find(data, state);
            if (other >= 0) assert_memory_equal(data->observations + other * BYTES, state, BYTES);
        }
        assert_false(pess_transitions_get(data, -1, NULL, NULL, NULL, NULL, NULL));
        assert_false(pess_transitions_get(data, COUNT, NULL, NULL, NULL, NULL, NULL));
        assert_true(pess_transitions_get(data, 0, NULL, NULL, NULL, NULL, NULL));
        pess_transitions_destroy(data);
    }
}

static void what_cannot_be_is_refused(void **unused) {
    (void)unused;
    pess_transitions *data = fresh();
    uint8_t good[BYTES] = {1, 2, 3}, padded[BYTES] = {1, 2, 0x13};
    assert_int_equal(pess__transitions_find(data, good), -1);
    assert_failure(pess__transitions_add(data, good, ACTIONS, 0, good, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "action 10", "0 to 9", NULL);
    assert_failure(pess__transitions_add(data, good, -1, 0, good, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "action -1", NULL);
    assert_failure(pess__transitions_add(data, good, 0, NAN, good, PESS_END_NONE, &error), PESS_INPUT, &error, "reward",
                   NULL);
    assert_failure(pess__transitions_add(data, good, 0, 1e300, good, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "1e+300", NULL);
    assert_failure(pess__transitions_add(data, good, 0, 0, good, (pess_end)3, &error), PESS_INPUT, &error, "end 3",
                   NULL);
    assert_failure(pess__transitions_add(data, good, 0, 0, padded, PESS_END_NONE, &error), PESS_INPUT, &error,
                   "20 bits", NULL);
    assert_int_equal(data->transitions, 0);
    assert_int_equal(pess_transitions_write(data, scratch_path(0, ".pessdata"), &error), PESS_ARGUMENT);
    pess_transitions_destroy(data);
    pess_transitions_destroy(NULL);
    assert_int_equal(pess__transitions_create("test", NULL, 0, 2, &data, &error), PESS_LIMIT);
    assert_int_equal(pess__transitions_create("test", NULL, 1 << 20, 2, &data, &error), PESS_LIMIT);
    assert_int_equal(pess__transitions_create("test", NULL, 8, 257, &data, &error), PESS_LIMIT);
    assert_int_equal(pess__transitions_create("a name that is longer than thirty-one", NULL, 8, 2, &data, &error),
                     PESS_LIMIT);
}

/* Three whole episodes with returns 3, 1.5 and -1 (the second cut off by a time limit), one that was being played when
 * collecting stopped in the middle of the log, and one that the log leaves open. */
static pess_transitions *episodes_by_hand(void) {
    pess_transitions *data = fresh();
    add(data, 1, 0, 1, 2, PESS_END_NONE);
    add(data, 2, 1, 2, 3, PESS_END_TERMINAL);
    add(data, 1, 0, 100, 5, PESS_END_NONE);
    add(data, 5, 9, 100, 6, PESS_END_NONE);
    assert_ok(pess__transitions_stop(data, 3, &error), &error);
    add(data, 7, 8, 1.5, 8, PESS_END_CUTOFF);
    add(data, 1, 0, 0, 1, PESS_END_NONE);
    add(data, 1, 1, 0, 1, PESS_END_NONE);
    add(data, 1, 1, -1, 3, PESS_END_TERMINAL);
    add(data, 1, 1, 50, 2, PESS_END_NONE);
    return data;
}

static void assert_info_by_hand(const pess_transitions *data) {
    pess_transitions_info info;
    pess_transitions_get_info(data, &info);
    assert_string_equal(info.game, "test");
    assert_string_equal(info.notes, "made=by hand\n");
    assert_true(info.bits == BITS && info.bytes == BYTES && info.actions == ACTIONS);
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
    pess_transitions *data = episodes_by_hand();
    assert_info_by_hand(data);
    pess_transitions_destroy(data);
    pess_transitions_info info;
    data = fresh();
    pess_transitions_get_info(data, &info);
    assert_true(info.transitions == 0 && info.episodes == 0 && isnan(info.mean_return) && isnan(info.gamma_return));
    add(data, 1, 0, 2, 1, PESS_END_NONE);
    pess_transitions_get_info(data, &info);
    assert_true(info.episodes == 0 && isnan(info.mean_return) && isnan(info.ci95));
    add(data, 1, 0, 2, 1, PESS_END_TERMINAL);
    pess_transitions_get_info(data, &info);
    assert_true(info.episodes == 1 && info.mean_return == 4 && isnan(info.ci95));
    pess_transitions_destroy(data);
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

static uint8_t *written(const pess_transitions *data, size_t *size) {
    const char *path = scratch_path(0, ".pessdata");
    assert_ok(pess_transitions_write(data, path, &error), &error);
    uint8_t *bytes = file_bytes(path, size);
    scratch_remove(path);
    return bytes;
}

static void a_file_brings_everything_back(void **unused) {
    (void)unused;
    const char *path = scratch_path(0, ".pessdata");
    pess_transitions *data = episodes_by_hand(), *back = NULL;
    assert_ok(pess_transitions_write(data, path, &error), &error);
    assert_ok(pess_transitions_read(path, &back, &error), &error);
    assert_same_data(data, back);
    assert_info_by_hand(back);
    add(back, 2, 3, 1, 99, PESS_END_TERMINAL); /* and it can grow on */
    assert_int_equal(back->states, 8);
    pess_transitions_destroy(back);
    pess_transitions_destroy(data);
    scratch_remove(path);
    assert_int_equal(pess_transitions_read(path, &back, &error), PESS_IO);
}

/* ---- collecting */

static pess_collect_options settings(const char *game, int64_t transitions, int64_t envs) {
    pess_collect_options o = pess_collect_options_defaults();
    o.env.game = game, o.transitions = transitions, o.envs = envs, o.seed = 11;
    return o;
}

static pess_transitions *collected(const pess_collect_options *o) {
    pess_transitions *data = NULL;
    assert_ok(pess_collect(o, &data, &error), &error);
    return data;
}

/* The actions in the data, played in single environments: the same observations, rewards and ends come out, the last
 * observation of each episode included, and building from them one by one gives the same numbers. */
static void assert_replays(const pess_transitions *data, const pess_collect_options *o) {
    uint8_t before[PESS_ENV_MAX_BYTES], after[PESS_ENV_MAX_BYTES];
    pess_transitions *built = NULL;
    assert_ok(pess__transitions_create(data->game, data->notes, data->bits, data->actions, &built, &error), &error);
    int64_t at = 0;
    for (int64_t e = 0; e < o->envs && at < data->transitions; e++) {
        pess_env_options env = o->env;
        env.seed = o->seed, env.stream = COLLECT_STREAMS + (uint64_t)e;
        if (env.step_limit == 0) env.step_limit = 10000;
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
            assert_ok(pess__transitions_add(built, before, data->action[at], result.reward, after, result.end, &error),
                      &error);
            if (result.end == PESS_END_NONE && k == count - 1)
                assert_ok(pess__transitions_stop(built, at, &error), &error);
            if (result.end != PESS_END_NONE) assert_ok(pess_env_reset(one, &error), &error);
        }
        pess_env_destroy(one);
    }
    assert_same_data(data, built);
    pess_transitions_destroy(built);
}

static void what_is_collected_replays(void **unused) {
    (void)unused;
    static const char *const games[] = {"breakout", "seaquest", "freeway"};
    for (int g = 0; g < 3; g++)
        for (int64_t envs = 1; envs <= 40; envs += 13) {
            pess_collect_options o = settings(games[g], 3001, envs);
            if (envs == 14) o.env.step_limit = 17, o.env.sticky = 0.3;
            pess_transitions *data = collected(&o);
            assert_replays(data, &o);
            pess_transitions_destroy(data);
        }
}

static void same_seed_same_bytes(void **unused) {
    (void)unused;
    pess_collect_options o = settings("breakout", 2000, 7);
    size_t sizes[3];
    uint8_t *bytes[3];
    for (int i = 0; i < 3; i++) {
        if (i == 2) o.seed++;
        pess_transitions *data = collected(&o);
        bytes[i] = written(data, &sizes[i]);
        pess_transitions_destroy(data);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    assert_true(sizes[0] != sizes[2] || memcmp(bytes[0], bytes[2], sizes[0]) != 0);
    for (int i = 0; i < 3; i++) free(bytes[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(observations_are_kept_once), cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(episodes_are_summed),        cmocka_unit_test(a_file_brings_everything_back),
        cmocka_unit_test(what_is_collected_replays),  cmocka_unit_test(same_seed_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
