/* What every environment promises: traces replay, saved states and clones go on alike, batches equal single
 * environments at any thread count, bits equal planes, what is wrong is refused. */
#include "env/numpy_random.h"
#include "env/trace.h"

#include "pess.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pess_error error;

static pess_env *make(const char *game, uint64_t seed, pess_generator generator) {
    pess_env_options options = pess_env_options_defaults();
    options.game = game;
    options.seed = seed;
    options.generator = generator;
    pess_env *env = NULL;
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_OK);
    return env;
}

/* One random step, with a reset where the episode has ended. */
static pess_env_step_result go(pess_env *env, pess_random *dice) {
    pess_env_step_result result;
    if (pess_env_ended(env) != PESS_END_NONE) assert_int_equal(pess_env_reset(env, &error), PESS_OK);
    assert_int_equal(pess_env_step(env, pess_random_below(dice, pess_env_actions(env)), &result, &error), PESS_OK);
    return result;
}

static void assert_same(const pess_env *a, const pess_env *b) {
    uint8_t left[PESS_ENV_MAX_BYTES] = {0}, right[PESS_ENV_MAX_BYTES] = {0};
    pess_env_observe_bits(a, left);
    pess_env_observe_bits(b, right);
    assert_memory_equal(left, right, sizeof left);
    assert_int_equal(pess_env_steps(a), pess_env_steps(b));
    assert_int_equal(pess_env_ended(a), pess_env_ended(b));
}

/* Both go on with the same actions. */
static void assert_same_future(pess_env *a, pess_env *b, int steps) {
    pess_random left = pess_random_create(99, "future", 0), right = left;
    for (int i = 0; i < steps; i++) {
        const pess_env_step_result x = go(a, &left), y = go(b, &right);
        assert_true(x.reward == y.reward && x.end == y.end && x.action == y.action);
        assert_same(a, b);
    }
}

/* ---- traces */

/* Of the games that have an original there are traces of it. */
static const char *const originals[] = {"asterix", "breakout", "freeway", "seaquest", "space_invaders"};
enum { ORIGINALS = sizeof originals / sizeof originals[0] };

/* Does random play end by itself within a few hundred steps? */
static bool ends_soon(const char *game) {
    bool known = false;
    for (size_t i = 0; i < ORIGINALS; i++) known |= strcmp(originals[i], game) == 0;
    return known && strcmp(game, "freeway") != 0;
}

static void traces_of_the_originals_replay(void **unused) {
    (void)unused;
    static const char *const kinds[] = {"random", "hold", "search", "expert"};
    for (size_t i = 0; i < ORIGINALS; i++)
        for (int k = 0; k < 4; k++) {
            char path[500];
            pess_trace_report report;
            (void)snprintf(path, sizeof path, "%s/minatar-traces/%s-%s.trace.gz", TEST_DATA, originals[i], kinds[k]);
            assert_int_equal(pess_trace_replay(path, &report, &error), PESS_OK);
            if (!report.conforms) fail_msg("%s:%lld: %s", path, (long long)report.line, report.text);
            assert_true(report.steps >= 1000 && report.resets >= 1 && report.draws >= report.steps);
        }
}

static void what_is_recorded_replays(void **unused) {
    (void)unused;
    const pess_env_info *info = NULL;
    for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++)
        for (int variant = 0; variant < 4; variant++) {
            char path[] = "/tmp/pess-trace-XXXXXX.gz";
            const int descriptor = mkstemps(path, 3);
            assert_true(descriptor >= 0);
            pess_env_options options = pess_env_options_defaults();
            options.game = info->name;
            options.seed = 5 + (uint64_t)variant;
            options.minimal_actions = variant == 1;
            options.generator = variant == 2 ? PESS_GENERATOR_NUMPY : PESS_GENERATOR_FAST;
            options.ramping = variant != 3;
            options.sticky = variant == 3 ? 0 : 0.3;
            assert_int_equal(pess_trace_record(&options, NULL, 500, path, &error), PESS_OK);
            pess_trace_report report;
            assert_int_equal(pess_trace_replay(path, &report, &error), PESS_OK);
            assert_true(report.conforms);
            assert_int_equal(report.steps, 500);
            (void)remove(path);
        }
}

/* ---- saved states, clones */

static void a_saved_or_cloned_game_goes_on_the_same(void **unused) {
    (void)unused;
    const pess_env_info *info = NULL;
    for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++)
        for (int generator = 0; generator < 2; generator++) {
            pess_random dice = pess_random_create(i, "dice", 0);
            pess_env *env = make(info->name, i, (pess_generator)generator);
            pess_env *other = make(info->name, 1000, (pess_generator)generator);
            const int64_t size = pess_env_save_size(env);
            uint8_t *bytes = malloc((size_t)size), *again = malloc((size_t)size);
            assert_true(bytes != NULL && again != NULL);
            for (int round = 0; round < 12; round++) {
                for (int64_t k = pess_random_below(&dice, 90); k >= 0; k--) (void)go(env, &dice);
                pess_env *copy = NULL;
                assert_int_equal(pess_env_clone(env, &copy, &error), PESS_OK);
                assert_int_equal(pess_env_save(env, bytes, size, &error), PESS_OK);
                assert_int_equal(pess_env_restore(other, bytes, size, &error), PESS_OK);
                assert_int_equal(pess_env_save(other, again, size, &error), PESS_OK);
                assert_memory_equal(bytes, again, (size_t)size);
                assert_same_future(env, copy, 40);
                pess_env_destroy(copy);
                assert_int_equal(pess_env_clone(other, &copy, &error), PESS_OK);
                assert_same_future(other, copy, 40); /* and so env, copy and other all agree: */
                assert_same(env, other);
                pess_env_destroy(copy);
            }
            free(bytes);
            free(again);
            pess_env_destroy(env);
            pess_env_destroy(other);
        }
}

static void test_damaged_bytes_are_refused(void **unused) {
    (void)unused;
    const pess_env_info *info = NULL;
    for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++) {
        pess_random dice = pess_random_create(i, "dice", 1);
        pess_env *env = make(info->name, i, PESS_GENERATOR_FAST), *before = NULL;
        const int64_t size = pess_env_save_size(env);
        uint8_t *bytes = malloc((size_t)size);
        for (int k = 0; k < 30; k++) (void)go(env, &dice);
        assert_int_equal(pess_env_save(env, bytes, size, &error), PESS_OK);
        assert_int_equal(pess_env_save(env, bytes, size - 1, &error), PESS_ARGUMENT);
        assert_int_equal(pess_env_clone(env, &before, &error), PESS_OK);
        for (int64_t k = 0; k < size; k++) {
            bytes[k] ^= (uint8_t)(1 << (k % 8));
            assert_int_equal(pess_env_restore(env, bytes, size, &error), PESS_INPUT);
            bytes[k] ^= (uint8_t)(1 << (k % 8));
        }
        for (int64_t k = 0; k < size; k += 7) assert_int_equal(pess_env_restore(env, bytes, k, &error), PESS_INPUT);
        assert_same_future(env, before, 20); /* nothing has changed */
        pess_env *other = make(i == 0 ? "breakout" : "asterix", 0, PESS_GENERATOR_FAST);
        assert_int_equal(pess_env_restore(other, bytes, size, &error), PESS_INPUT);
        pess_env_destroy(other);
        other = make(info->name, 0, PESS_GENERATOR_NUMPY);
        assert_int_equal(pess_env_restore(other, bytes, size, &error), PESS_INPUT);
        pess_env_destroy(other);
        pess_env_destroy(before);
        pess_env_destroy(env);
        free(bytes);
    }
}

/* ---- batches */

enum { ENVS = 37, CALLS = 150 };

typedef struct outputs {
    double rewards[ENVS];
    uint8_t ends[ENVS], bits[ENVS * PESS_ENV_MAX_BYTES], planes[ENVS * 1000];
    float floats[ENVS * 1000];
    int64_t states[ENVS];
} outputs;

static pess_batch_out all_of(outputs *o, pess_layout layout) {
    return (pess_batch_out){.rewards = o->rewards,
                            .ends = o->ends,
                            .bits = o->bits,
                            .floats = o->floats,
                            .bytes = o->planes,
                            .states = o->states,
                            .layout = layout};
}

/* The batch against single environments, step by step, with the final observations of ended episodes. */
static void check_batch(const pess_env_options *options, int threads) {
    static outputs o;
    pess_batch *batch = NULL;
    pess_env *single[ENVS];
    assert_int_equal(pess_batch_create(options, ENVS, threads, &batch, &error), PESS_OK);
    for (int i = 0; i < ENVS; i++) {
        pess_env_options one = *options;
        one.stream += (uint64_t)i;
        assert_int_equal(pess_env_create(&one, &single[i], &error), PESS_OK);
    }
    const int64_t bytes = pess_batch_bytes(batch), bits = pess_batch_bits(batch);
    pess_random dice = pess_random_create(1, "batch", 0);
    uint8_t last[PESS_ENV_MAX_BYTES], seen[PESS_ENV_MAX_BYTES], planes[1000];
    float floats[1000];
    int64_t endings = 0;
    for (int call = 0; call < CALLS; call++) {
        int32_t actions[ENVS];
        for (int i = 0; i < ENVS; i++) actions[i] = (int32_t)pess_random_below(&dice, pess_batch_actions(batch));
        const pess_layout layout = call % 2 == 0 ? PESS_LAYOUT_HWC : PESS_LAYOUT_CHW;
        pess_batch_out out = all_of(&o, layout);
        if (call % 3 == 0) out.floats = NULL, out.bytes = NULL; /* bits alone go another way */
        assert_int_equal(pess_batch_step(batch, actions, &out, &error), PESS_OK);
        for (int i = 0; i < ENVS; i++) {
            pess_env_step_result result;
            assert_int_equal(pess_env_step(single[i], actions[i], &result, &error), PESS_OK);
            assert_true(result.reward == o.rewards[i] && result.end == (pess_end)o.ends[i] && o.states[i] == -1);
            if (result.end != PESS_END_NONE) {
                pess_env_observe_bits(single[i], last);
                assert_true(pess_batch_final_bits(batch, i, seen));
                assert_memory_equal(last, seen, (size_t)bytes);
                assert_int_equal(pess_env_reset(single[i], &error), PESS_OK);
                endings++;
            }
            pess_env_observe_bits(single[i], last);
            assert_memory_equal(last, o.bits + i * bytes, (size_t)bytes);
            if (out.floats == NULL) continue;
            pess_env_observe_floats(single[i], layout, floats);
            pess_env_observe_bytes(single[i], layout, planes);
            assert_memory_equal(floats, o.floats + i * bits, (size_t)bits * sizeof *floats);
            assert_memory_equal(planes, o.planes + i * bits, (size_t)bits);
        }
    }
    assert_true(endings > 0);
    for (int i = 0; i < ENVS; i++) pess_env_destroy(single[i]);
    pess_batch_destroy(batch);
}

static void a_batch_is_many_single_games(void **unused) {
    (void)unused;
    const pess_env_info *info = NULL;
    for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++)
        for (int threads = 1; threads <= 3; threads++) {
            pess_env_options options = pess_env_options_defaults();
            options.game = info->name;
            options.seed = 11;
            options.stream = 5;
            options.step_limit = threads == 2 ? 17 : ends_soon(info->name) ? 0 : 100;
            options.minimal_actions = threads == 3;
            options.generator = threads == 3 ? PESS_GENERATOR_NUMPY : PESS_GENERATOR_FAST;
            check_batch(&options, threads);
        }
}

static void a_batch_is_saved_whole_and_refuses_bad_input(void **unused) {
    (void)unused;
    static outputs a, b;
    pess_env_options options = pess_env_options_defaults();
    options.game = "seaquest";
    pess_batch *left = NULL, *right = NULL;
    assert_int_equal(pess_batch_create(&options, ENVS, 1, &left, &error), PESS_OK);
    options.seed = 77;
    assert_int_equal(pess_batch_create(&options, ENVS, 2, &right, &error), PESS_OK);
    pess_random dice = pess_random_create(1, "batch", 0);
    int32_t actions[ENVS];
    uint8_t seen[PESS_ENV_MAX_BYTES];
    assert_false(pess_batch_final_bits(left, 0, seen));
    const pess_batch_out out_a = all_of(&a, PESS_LAYOUT_HWC), out_b = all_of(&b, PESS_LAYOUT_HWC);
    for (int call = 0; call < 200; call++) {
        for (int i = 0; i < ENVS; i++) actions[i] = (int32_t)pess_random_below(&dice, 6);
        assert_int_equal(pess_batch_step(left, actions, &out_a, &error), PESS_OK);
    }
    /* One illegal action: nothing moves. */
    pess_batch_observe(left, &out_a);
    actions[5] = 6;
    assert_int_equal(pess_batch_step(left, actions, &out_b, &error), PESS_ARGUMENT);
    actions[5] = -1;
    assert_int_equal(pess_batch_step(left, actions, &out_b, &error), PESS_ARGUMENT);
    pess_batch_observe(left, &out_b);
    assert_memory_equal(a.bits, b.bits, sizeof a.bits);
    const int64_t size = pess_batch_save_size(left);
    uint8_t *bytes = malloc((size_t)size);
    assert_int_equal(pess_batch_save(left, bytes, size, &error), PESS_OK);
    bytes[size / 2] ^= 4;
    assert_int_equal(pess_batch_restore(right, bytes, size, &error), PESS_INPUT);
    bytes[size / 2] ^= 4;
    assert_int_equal(pess_batch_restore(right, bytes, size, &error), PESS_OK);
    for (int call = 0; call < 200; call++) {
        for (int i = 0; i < ENVS; i++) actions[i] = (int32_t)pess_random_below(&dice, 6);
        assert_int_equal(pess_batch_step(left, actions, &out_a, &error), PESS_OK);
        assert_int_equal(pess_batch_step(right, actions, &out_b, &error), PESS_OK);
        assert_memory_equal(&a, &b, sizeof a);
    }
    free(bytes);
    pess_batch_destroy(left);
    pess_batch_destroy(right);
    assert_int_equal(pess_batch_create(&options, 0, 1, &left, &error), PESS_ARGUMENT);
}

/* ---- observations */

static void bits_are_those_of_the_planes(void **unused) {
    (void)unused;
    const pess_env_info *info = NULL;
    for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++) {
        pess_random dice = pess_random_create(i, "planes", 0);
        pess_env *env = make(info->name, 3, PESS_GENERATOR_FAST);
        uint8_t bits[PESS_ENV_MAX_BYTES], planes[1000], kept[1000];
        float floats[1000];
        assert_int_equal(pess_env_bits(env), 100 * info->channels);
        assert_int_equal(pess_env_bytes(env), (100 * info->channels + 7) / 8);
        for (int k = 0; k < 300; k++) {
            (void)go(env, &dice);
            pess_env_observe_bits(env, bits);
            for (int layout = 0; layout < 2; layout++) {
                pess_env_observe_floats(env, (pess_layout)layout, floats);
                pess_env_observe_bytes(env, (pess_layout)layout, planes);
                pess_bits_to_bytes(bits, 100, info->channels, (pess_layout)layout, kept);
                for (int bit = 0; bit < 100 * info->channels; bit++) {
                    const int c = bit % info->channels, cell = bit / info->channels;
                    const int at = layout == PESS_LAYOUT_HWC ? bit : c * 100 + cell;
                    const int on = (bits[bit / 8] >> (bit % 8)) & 1;
                    assert_true(floats[at] == (float)on && planes[at] == on && kept[at] == on);
                }
                float unpacked[1000];
                pess_bits_to_floats(bits, 100, info->channels, (pess_layout)layout, unpacked);
                assert_memory_equal(unpacked, floats, (size_t)info->channels * 100 * sizeof *floats);
            }
        }
        pess_env_destroy(env);
    }
}

/* ---- the wrapper: sticky actions, ends, refusals */

static void sticky_actions_repeat_the_last_one(void **unused) {
    (void)unused;
    pess_env_options options = pess_env_options_defaults();
    options.game = "breakout";
    pess_env *env = NULL;
    pess_env_step_result result;
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_OK);
    const pess_draw below = {false, 0.0999}, at = {false, 0.1}, side = {true, 0};
    pess_env_set_tape(env, &below, 1); /* the previous action starts at 0 */
    assert_int_equal(pess_env_step(env, 3, &result, &error), PESS_OK);
    assert_int_equal(result.action, 0);
    pess_env_set_tape(env, &at, 1);
    assert_int_equal(pess_env_step(env, 3, &result, &error), PESS_OK);
    assert_int_equal(result.action, 3);
    pess_env_set_tape(env, &below, 1); /* the action really taken is the previous one */
    assert_int_equal(pess_env_step(env, 1, &result, &error), PESS_OK);
    assert_int_equal(result.action, 3);
    pess_env_set_tape(env, &side, 1); /* a reset does not clear it */
    assert_int_equal(pess_env_reset(env, &error), PESS_OK);
    pess_env_set_tape(env, &below, 1);
    assert_int_equal(pess_env_step(env, 1, &result, &error), PESS_OK);
    assert_int_equal(result.action, 3);
    pess_env_destroy(env);
    options.sticky = 0; /* drawn also then, and never below */
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_OK);
    const pess_draw zero = {false, 0};
    pess_env_set_tape(env, &zero, 1);
    assert_int_equal(pess_env_step(env, 3, &result, &error), PESS_OK);
    assert_true(result.action == 3 && pess_env_tape_used(env) == 1);
    pess_env_destroy(env);
}

static void tapes_with_faults_are_refused(void **unused) {
    (void)unused;
    pess_env *env = make("breakout", 0, PESS_GENERATOR_FAST);
    const pess_draw wrong[] = {{true, 0}, {false, 1}, {false, -0.5}, {false, NAN}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pess_env_set_tape(env, &wrong[i], 1);
        assert_int_equal(pess_env_step(env, 0, NULL, &error), PESS_INPUT);
    }
    const pess_draw sides[] = {{true, 2}, {true, 0.5}, {false, 0.5}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        pess_env_set_tape(env, &sides[i], 1);
        assert_int_equal(pess_env_reset(env, &error), PESS_INPUT);
    }
    pess_env_set_tape(env, sides, 0);
    assert_int_equal(pess_env_step(env, 0, NULL, &error), PESS_INPUT);
    uint8_t bytes[4096];
    assert_int_equal(pess_env_save(env, bytes, sizeof bytes, &error), PESS_ARGUMENT);
    pess_env_set_tape(env, NULL, 0);
    assert_int_equal(pess_env_reset(env, &error), PESS_OK);
    assert_int_equal(pess_env_step(env, 0, NULL, &error), PESS_OK);
    pess_env_destroy(env);
}

static void games_end_as_told_and_refuse_bad_input(void **unused) {
    (void)unused;
    pess_env_options options = pess_env_options_defaults();
    pess_env *env = NULL;
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_ARGUMENT);
    options.game = "pong";
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "breakout"));
    options.game = "freeway";
    options.sticky = 1.5;
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_ARGUMENT);
    options.sticky = NAN;
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_ARGUMENT);
    options.sticky = 0.1;
    options.generator = PESS_GENERATOR_NUMPY;
    options.seed = (uint64_t)1 << 32;
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_ARGUMENT);
    options.seed = 0;
    options.step_limit = 10;
    options.minimal_actions = true;
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_OK);
    assert_int_equal(pess_env_actions(env), 3);
    pess_env_step_result result;
    assert_int_equal(pess_env_step(env, 3, &result, &error), PESS_ARGUMENT);
    assert_int_equal(pess_env_step(env, -1, &result, &error), PESS_ARGUMENT);
    for (int i = 1; i <= 10; i++) { /* a step limit is a cut-off, never a terminal */
        assert_int_equal(pess_env_step(env, i % 3, &result, &error), PESS_OK);
        assert_int_equal(result.end, i < 10 ? PESS_END_NONE : PESS_END_CUTOFF);
    }
    assert_int_equal(pess_env_step(env, 0, &result, &error), PESS_ARGUMENT);
    assert_int_equal(pess_env_reset(env, &error), PESS_OK);
    assert_int_equal(pess_env_steps(env), 0);
    assert_int_equal(pess_env_step(env, 0, &result, &error), PESS_OK);
    pess_env_destroy(env);
    options.step_limit = 2501; /* Freeway's clock is a terminal, also where both come at once */
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_OK);
    do assert_int_equal(pess_env_step(env, 0, &result, &error), PESS_OK);
    while (result.end == PESS_END_NONE);
    assert_true(result.end == PESS_END_TERMINAL && pess_env_steps(env) == 2501);
    pess_env_destroy(env);
    pess_env_destroy(NULL);
    pess_batch_destroy(NULL);
}

/* ---- generators */

static void numbers_are_those_of_numpy(void **unused) {
    (void)unused;
    pess__numpy_random random;
    pess__numpy_seed(&random, 5489); /* the reference implementation's and C++'s default: its 10000th output */
    uint32_t last = 0;
    for (int i = 0; i < 10000; i++) last = pess__numpy_integer(&random, UINT32_MAX);
    assert_int_equal(last, 4123659995U);
    pess__numpy_seed(&random, 42); /* numpy.random.RandomState(42).rand(3) */
    assert_true(pess__numpy_uniform(&random) == 0.3745401188473625);
    assert_true(pess__numpy_uniform(&random) == 0.9507143064099162);
    assert_true(pess__numpy_uniform(&random) == 0.7319939418114051);
    pess__numpy_seed(&random, 0); /* RandomState(0).randint(0, 10, 10) */
    static const uint32_t expected[] = {5, 0, 3, 3, 7, 9, 3, 5, 2, 4};
    for (int i = 0; i < 10; i++) assert_int_equal(pess__numpy_integer(&random, 9), expected[i]);
    const uint32_t position = random.position;
    assert_int_equal(pess__numpy_integer(&random, 0), 0);
    assert_int_equal(random.position, position);
}

/* Plays the actions of a trace from the seed alone; true where every draw, reward, end and state is the trace's. */
static bool follows_seed(const char *path, uint64_t seed) {
    pess__trace_reader *reader = NULL;
    pess__trace_header header;
    pess__trace_record record;
    pess_draw drawn[64];
    assert_int_equal(pess__trace_open(path, &reader, &header, &error), PESS_OK);
    pess_env_options options = pess_env_options_defaults();
    options.game = header.game->info.name;
    options.sticky = header.sticky;
    options.ramping = header.ramping;
    options.generator = PESS_GENERATOR_NUMPY;
    options.seed = seed;
    pess_env *env = NULL;
    assert_int_equal(pess_env_create(&options, &env, &error), PESS_OK);
    bool more = true, same = true, created = true; /* creating it was the first reset */
    for (;;) {
        assert_int_equal(pess__trace_next(reader, &record, &more, &error), PESS_OK);
        if (!more || !same) break;
        pess_env_step_result result = {.end = PESS_END_NONE};
        pess_env_record_draws(env, drawn, 64);
        if (!record.is_reset)
            assert_int_equal(pess_env_step(env, record.action, &result, &error), PESS_OK);
        else if (!created)
            assert_int_equal(pess_env_reset(env, &error), PESS_OK);
        uint8_t state[PESS_ENV_MAX_BYTES];
        pess_env_observe_bits(env, state);
        same = memcmp(state, record.state, (size_t)pess_env_bytes(env)) == 0;
        if (!record.is_reset)
            same =
                same && result.reward == (double)record.reward && (result.end == PESS_END_TERMINAL) == record.terminal;
        same = same && (created || pess_env_drawn(env) == record.draw_count);
        for (int64_t i = 0; same && !created && i < record.draw_count; i++)
            same = drawn[i].integer == record.draws[i].integer && drawn[i].value == record.draws[i].value;
        created = false;
    }
    pess_env_destroy(env);
    pess__trace_close(reader);
    return same;
}

/* The given traces come from numpy's generator with these seeds, so the seed alone gives all of them again. */
static void a_seed_gives_the_draws_of_the_original(void **unused) {
    (void)unused;
    static const struct {
        const char *kind;
        uint64_t seed;
    } runs[] = {{"random", 101}, {"search", 102}, {"hold", 103}, {"expert", 109}};
    for (size_t i = 0; i < ORIGINALS; i++)
        for (size_t k = 0; k < sizeof runs / sizeof runs[0]; k++) {
            char path[500];
            (void)snprintf(path, sizeof path, "%s/minatar-traces/%s-%s.trace.gz", TEST_DATA, originals[i],
                           runs[k].kind);
            assert_true(follows_seed(path, runs[k].seed));
            if (k == 0 && strcmp(originals[i], "freeway") == 0) assert_false(follows_seed(path, runs[k].seed + 1));
        }
}

/* The draws of the fast generator are uniform: the sides of Breakout and the rows of Seaquest's fish. Each count of N
 * fair draws stays within 5.5 standard deviations but for a chance below 1e-7; 10 of them: below 1e-6. */
static void test_draws_are_uniform(void **unused) {
    (void)unused;
    enum { N = 20000 };
    pess_env *env = make("breakout", 1, PESS_GENERATOR_FAST);
    int left = 0;
    for (int i = 0; i < N; i++) {
        uint8_t bits[PESS_ENV_MAX_BYTES];
        assert_int_equal(pess_env_reset(env, &error), PESS_OK);
        pess_env_observe_bits(env, bits);
        left += (bits[(3 * 10 * 4 + 1) / 8] >> ((3 * 10 * 4 + 1) % 8)) & 1; /* ball at column 0, row 3 */
    }
    assert_true(fabs(left - N / 2.0) < 5.5 * sqrt(N / 4.0));
    pess_env_destroy(env);
    env = make("freeway", 1, PESS_GENERATOR_FAST);
    int speeds[6] = {0};
    pess_draw draws[32];
    for (int i = 0; i < N / 8; i++) {
        pess_env_record_draws(env, draws, 32);
        assert_int_equal(pess_env_reset(env, &error), PESS_OK);
        assert_int_equal(pess_env_drawn(env), 16);
        for (int k = 0; k < 8; k++) speeds[(int)draws[k].value]++;
    }
    for (int speed = 1; speed <= 5; speed++) assert_true(fabs(speeds[speed] - N / 5.0) < 5.5 * sqrt(N * 0.2 * 0.8));
    pess_env_destroy(env);
}

/* ---- MDPs */

static void an_mdp_is_an_environment(void **unused) {
    (void)unused;
    /* From 0: action 0 pays 1 and ends in 2 with probability 1/4, otherwise stays; action 1 goes to 1. 1 has action 0
     * only, which goes back. 2 is terminal. */
    const pess_mdp_transition transitions[] = {
        {0, 0, 2, 0.25, 1}, {0, 0, 0, 0.75, 0.5}, {0, 1, 1, 1, 0}, {1, 0, 0, 1, 2}};
    pess_mdp *mdp = NULL;
    assert_int_equal(pess_mdp_create(3, 2, transitions, 4, &mdp, &error), PESS_OK);
    pess_env_options options = pess_env_options_defaults();
    const double start[] = {1, 0, 0};
    pess_env *env = NULL, *copy = NULL;
    pess_env_step_result result;
    assert_int_equal(pess_env_create_mdp(mdp, start, &options, &env, &error), PESS_OK);
    assert_true(pess_env_actions(env) == 2 && pess_env_bits(env) == 3 && pess_env_bytes(env) == 1);
    assert_null(pess_env_get_info(env));
    assert_int_equal(pess_env_state(env), 0);
    assert_int_equal(pess_env_step(env, 1, &result, &error), PESS_OK);
    assert_true(result.reward == 0 && pess_env_state(env) == 1);
    assert_int_equal(pess_env_step(env, 1, &result, &error), PESS_ARGUMENT); /* 1 has no action 1 */
    uint8_t bits = 0, saved[1000];
    float floats[3];
    pess_env_observe_bits(env, &bits);
    pess_env_observe_floats(env, PESS_LAYOUT_CHW, floats);
    assert_true(bits == 2 && floats[0] == 0 && floats[1] == 1 && floats[2] == 0);
    const pess_draw low = {false, 0.2499}, high = {false, 0.25};
    assert_int_equal(pess_env_step(env, 0, &result, &error), PESS_OK);
    assert_int_equal(pess_env_save(env, saved, sizeof saved, &error), PESS_OK);
    pess_env_set_tape(env, &high, 1);
    assert_int_equal(pess_env_step(env, 0, &result, &error), PESS_OK);
    assert_true(result.reward == 0.5 && result.end == PESS_END_NONE && pess_env_state(env) == 0);
    pess_env_set_tape(env, &low, 1);
    assert_int_equal(pess_env_step(env, 0, &result, &error), PESS_OK);
    assert_true(result.reward == 1 && result.end == PESS_END_TERMINAL && pess_env_state(env) == 2);
    pess_env_set_tape(env, NULL, 0);
    assert_int_equal(pess_env_clone(env, &copy, &error), PESS_OK);
    pess_env_destroy(env);
    pess_mdp_destroy(mdp); /* the tables were copied, and the clone keeps them */
    assert_int_equal(pess_env_restore(copy, saved, pess_env_save_size(copy), &error), PESS_OK);
    assert_true(pess_env_state(copy) == 0 && pess_env_steps(copy) == 2);
    pess_env_destroy(copy);
}

static void a_batch_of_mdps_is_many_single_ones(void **unused) {
    (void)unused;
    enum { STATES = 30 };
    pess_garnet_options garnet = pess_garnet_options_defaults();
    garnet.states = STATES;
    garnet.actions = 3;
    garnet.branching = 4;
    garnet.terminals = 2;
    pess_mdp *mdp = NULL;
    assert_int_equal(pess_mdp_garnet(&garnet, &mdp, &error), PESS_OK);
    pess_env_options options = pess_env_options_defaults();
    options.step_limit = 50;
    pess_batch *batch = NULL;
    pess_env *single[ENVS];
    assert_int_equal(pess_batch_create_mdp(mdp, NULL, &options, ENVS, 2, &batch, &error), PESS_OK);
    for (int i = 0; i < ENVS; i++) {
        options.stream = (uint64_t)i;
        assert_int_equal(pess_env_create_mdp(mdp, NULL, &options, &single[i], &error), PESS_OK);
    }
    pess_random dice = pess_random_create(1, "batch", 0);
    int endings = 0;
    for (int call = 0; call < CALLS; call++) {
        int32_t actions[ENVS];
        double rewards[ENVS];
        uint8_t ends[ENVS], bits[ENVS * 4], seen[4], mine[4], bytes[ENVS * STATES];
        float floats[ENVS * STATES];
        int64_t states[ENVS];
        memset(bytes, 0xFF, sizeof bytes);
        memset(floats, 0xFF, sizeof floats);
        for (int i = 0; i < ENVS; i++) actions[i] = (int32_t)pess_random_below(&dice, 3);
        const pess_batch_out out = {
            .rewards = rewards, .ends = ends, .bits = bits, .floats = floats, .bytes = bytes, .states = states};
        assert_int_equal(pess_batch_step(batch, actions, &out, &error), PESS_OK);
        for (int i = 0; i < ENVS; i++) {
            pess_env_step_result result;
            assert_int_equal(pess_env_step(single[i], actions[i], &result, &error), PESS_OK);
            assert_true(result.reward == rewards[i] && result.end == (pess_end)ends[i]);
            if (result.end != PESS_END_NONE) {
                assert_int_equal(pess_batch_final_state(batch, i), pess_env_state(single[i]));
                assert_true(pess_batch_final_bits(batch, i, seen));
                pess_env_observe_bits(single[i], mine);
                assert_memory_equal(seen, mine, sizeof seen);
                assert_int_equal(pess_env_reset(single[i], &error), PESS_OK);
                endings++;
            }
            pess_env_observe_bits(single[i], mine);
            assert_memory_equal(bits + (size_t)4 * (size_t)i, mine, sizeof mine);
            assert_int_equal(states[i], pess_env_state(single[i]));
            for (int s = 0; s < STATES; s++) {
                assert_int_equal(bytes[i * STATES + s], s == states[i]);
                assert_true(floats[i * STATES + s] == (float)(s == states[i]));
            }
        }
    }
    assert_true(endings > 10);
    for (int i = 0; i < ENVS; i++) pess_env_destroy(single[i]);
    pess_batch_destroy(batch);
    const double wrong[] = {0.5};
    pess_bandit_options bandit = pess_bandit_options_defaults();
    pess_mdp_destroy(mdp);
    assert_int_equal(pess_mdp_bandit(&bandit, &mdp, &error), PESS_OK);
    assert_int_equal(pess_batch_create_mdp(mdp, wrong, &options, 3, 1, &batch, &error), PESS_ARGUMENT);
    pess_mdp_destroy(mdp);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(traces_of_the_originals_replay),
                                       cmocka_unit_test(what_is_recorded_replays),
                                       cmocka_unit_test(a_saved_or_cloned_game_goes_on_the_same),
                                       cmocka_unit_test(test_damaged_bytes_are_refused),
                                       cmocka_unit_test(a_batch_is_many_single_games),
                                       cmocka_unit_test(a_batch_is_saved_whole_and_refuses_bad_input),
                                       cmocka_unit_test(bits_are_those_of_the_planes),
                                       cmocka_unit_test(sticky_actions_repeat_the_last_one),
                                       cmocka_unit_test(tapes_with_faults_are_refused),
                                       cmocka_unit_test(games_end_as_told_and_refuse_bad_input),
                                       cmocka_unit_test(numbers_are_those_of_numpy),
                                       cmocka_unit_test(a_seed_gives_the_draws_of_the_original),
                                       cmocka_unit_test(test_draws_are_uniform),
                                       cmocka_unit_test(an_mdp_is_an_environment),
                                       cmocka_unit_test(a_batch_of_mdps_is_many_single_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
