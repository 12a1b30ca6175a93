/* Control problems: trajectories beside ones that are computed here from the published equations, limits, batches,
 * saved states; and environments of the caller's own. */
#include "data/observations.h"
#include "env/acrobot.h"
#include "env/env.h"
#include "scratch.h"

#include <math.h>

static pess_error error;

enum { STEPS = 400 };

static pess_env *open_env(const char *game, uint64_t seed) {
    pess_env_options options = pess_env_options_defaults();
    pess_env *env = NULL;
    options.game = game;
    options.seed = seed;
    assert_ok(pess_env_create(&options, &env, &error), &error);
    return env;
}

/* An independent computation: the state after a step, its reward, and whether that was the end. */
typedef struct reference {
    const char *game;
    int features, states;
    int64_t actions;
    double low, high; /* of the uniform start of the states that start at random */
    int random_states;
    double (*step)(double *s, int action, bool *terminal);
    void (*observe)(const double *s, float *out);
} reference;

/* CartPole from Newton's laws for cart and pole: two equations in (x'', θ''), solved by Cramer's rule.
 *   (M) x'' + m l cos θ θ'' = F + m l θ'² sin θ,     cos θ x'' + (4/3) l θ'' = g sin θ */
static double cartpole_step(double *s, int action, bool *terminal) {
    const double M = 1.1, ml = 0.1 * 0.5, c = cos(s[2]), f = (action == 1 ? 10 : -10) + ml * s[3] * s[3] * sin(s[2]);
    const double a = M, b = ml * c, d = c, e = 4.0 / 3 * 0.5, g = 9.8 * sin(s[2]), det = a * e - b * d;
    const double x = (f * e - b * g) / det, turn = (a * g - d * f) / det;
    const double next[] = {s[0] + 0.02 * s[1], s[1] + 0.02 * x, s[2] + 0.02 * s[3], s[3] + 0.02 * turn};
    memcpy(s, next, sizeof next);
    *terminal = s[0] < -2.4 || s[0] > 2.4 || fabs(s[2]) > acos(-1) / 15;
    return 1;
}

static void same_floats(const double *s, float *out) {
    for (int i = 0; i < 4; i++) out[i] = (float)s[i];
}

static double car_step(double *s, int action, bool *terminal) {
    const double pull = action == 0 ? -0.001 : action == 2 ? 0.001 : 0;
    s[1] += pull - cos(s[0] * 3) * 0.0025;
    s[1] = s[1] > 0.07 ? 0.07 : s[1] < -0.07 ? -0.07 : s[1];
    s[0] += s[1];
    if (s[0] > 0.6) s[0] = 0.6;
    if (s[0] <= -1.2) s[0] = -1.2, s[1] = s[1] < 0 ? 0 : s[1];
    *terminal = s[0] >= 0.5;
    return -1;
}

static void two_floats(const double *s, float *out) { out[0] = (float)s[0], out[1] = (float)s[1]; }

/* Acrobot by the equations of motion M(θ) θ'' = torques: a system of two equations, masses and lengths 1, centres at
 * half, inertia 1; angles from straight down. Fourth-order Runge-Kutta written out. */
static void acrobot_motion(const double *s, double torque, double *out) {
    const double c2 = cos(s[1]), s2 = sin(s[1]), h = 0.5;
    const double m11 = h * h + 1 + h * h + 2 * h * c2 + 2, m12 = h * h + h * c2 + 1, m22 = h * h + 1;
    const double g1 = (h + 1) * 9.8 * sin(s[0]) + h * 9.8 * sin(s[0] + s[1]), g2 = h * 9.8 * sin(s[0] + s[1]);
    const double t1 = h * s2 * (s[3] * s[3] + 2 * s[2] * s[3]) - g1, t2 = torque - h * s2 * s[2] * s[2] - g2;
    const double det = m11 * m22 - m12 * m12;
    out[0] = s[2], out[1] = s[3];
    out[2] = (t1 * m22 - m12 * t2) / det;
    out[3] = (m11 * t2 - m12 * t1) / det;
}

static void ahead(const double *s, const double *k, double h, double *out) {
    for (int i = 0; i < 4; i++) out[i] = s[i] + h * k[i];
}

static double acrobot_step(double *s, int action, bool *terminal) {
    const double pi = acos(-1);
    double k1[4], k2[4], k3[4], k4[4], at[4];
    acrobot_motion(s, action - 1, k1);
    ahead(s, k1, 0.1, at), acrobot_motion(at, action - 1, k2);
    ahead(s, k2, 0.1, at), acrobot_motion(at, action - 1, k3);
    ahead(s, k3, 0.2, at), acrobot_motion(at, action - 1, k4);
    for (int i = 0; i < 4; i++) s[i] += 0.2 / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    for (int i = 0; i < 2; i++) s[i] = remainder(s[i], 2 * pi);
    for (int i = 2; i < 4; i++) {
        const double most = (i == 2 ? 4 : 9) * pi;
        s[i] = s[i] > most ? most : s[i] < -most ? -most : s[i];
    }
    *terminal = cos(s[0]) + cos(s[0] + s[1]) < -1;
    return *terminal ? 0 : -1;
}

static void acrobot_observe(const double *s, float *out) {
    out[0] = (float)cos(s[0]), out[1] = (float)sin(s[0]), out[2] = (float)cos(s[1]), out[3] = (float)sin(s[1]);
    out[4] = (float)s[2], out[5] = (float)s[3];
}

static const reference references[] = {
    {"cartpole", 4, 4, 2, -0.05, 0.05, 4, cartpole_step, same_floats},
    {"mountain_car", 2, 2, 3, -0.6, -0.4, 1, car_step, two_floats},
    {"acrobot", 6, 4, 3, -0.1, 0.1, 4, acrobot_step, acrobot_observe},
};

/* Random actions, from the environment's own start: twenty steps, over which errors of rounding stay below that of a
 * float. */
static void check_trajectory(const reference *r, uint64_t seed) {
    pess_env *env = open_env(r->game, seed);
    pess_random random = pess_random_create(seed, "test control", 0);
    pess_draw draws[4];
    double s[4] = {0};
    float seen[6], want[6];
    for (int episode = 0; episode < 10; episode++) {
        pess_env_record_draws(env, draws, 4);
        assert_ok(pess_env_reset(env, &error), &error);
        assert_int_equal(pess_env_drawn(env), r->random_states);
        memset(s, 0, sizeof s);
        for (int i = 0; i < r->random_states; i++) s[i] = r->low + (r->high - r->low) * draws[i].value;
        for (int t = 0; t < 20; t++) {
            pess_env_step_result result;
            bool terminal = false;
            const int64_t action = pess_random_below(&random, r->actions);
            assert_ok(pess_env_step(env, action, &result, &error), &error);
            const double reward = r->step(s, (int)action, &terminal);
            pess_env_observe_floats(env, PESS_LAYOUT_HWC, seen);
            r->observe(s, want);
            assert_close(result.reward, reward, 0);
            assert_int_equal(result.end == PESS_END_TERMINAL, terminal);
            for (int i = 0; i < r->features; i++) assert_close((double)seen[i], (double)want[i], 1e-6);
            if (terminal) break;
        }
    }
    pess_env_destroy(env);
}

static void trajectories_are_those_of_the_equations(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
        for (uint64_t seed = 0; seed < 5; seed++) check_trajectory(&references[i], seed);
}

static void episodes_are_cut_off_at_the_limit(void **unused) {
    (void)unused;
    pess_env *env = open_env("mountain_car", 1);
    pess_env_step_result result = {.end = PESS_END_NONE};
    int steps = 0;
    for (; result.end == PESS_END_NONE; steps++) assert_ok(pess_env_step(env, 1, &result, &error), &error);
    assert_int_equal(steps, 200);
    assert_int_equal(result.end, PESS_END_CUTOFF);
    pess_env_destroy(env);
}

/* Environments of a batch are those that step alone; the last observation of an episode is kept. */
static void batches_are_many_of_one(void **unused) {
    (void)unused;
    enum { COUNT = 11 }; /* acrobot steps eight at a time: a full lot and a part */
    static const char *const games[] = {"cartpole", "acrobot", "mountain_car", "pixel_grid"};
    for (size_t g = 0; g < 4; g++) {
        pess_env_options options = pess_env_options_defaults();
        options.game = games[g];
        options.seed = 9;
        options.step_limit = 40;
        pess_batch *batch = NULL;
        pess_env *alone[COUNT];
        assert_ok(pess_batch_create(&options, COUNT, 2, &batch, &error), &error);
        for (int i = 0; i < COUNT; i++) {
            options.stream = (uint64_t)i;
            assert_ok(pess_env_create(&options, &alone[i], &error), &error);
        }
        const int64_t bytes = pess_batch_bytes(batch);
        uint8_t *all = malloc((size_t)(COUNT * bytes)), *one = malloc((size_t)bytes), *last = malloc((size_t)bytes);
        uint8_t ends[COUNT];
        double rewards[COUNT];
        const pess_batch_out out = {.rewards = rewards, .ends = ends, .bits = all};
        for (int t = 0; t < STEPS; t++) {
            int32_t actions[COUNT];
            for (int i = 0; i < COUNT; i++) actions[i] = (int32_t)((t * 7 + i * 3 + t / 5) % pess_batch_actions(batch));
            assert_ok(pess_batch_step(batch, actions, &out, &error), &error);
            for (int i = 0; i < COUNT; i++) {
                pess_env_step_result result;
                assert_ok(pess_env_step(alone[i], actions[i], &result, &error), &error);
                assert_close(result.reward, rewards[i], 0);
                assert_int_equal(result.end, ends[i]);
                pess_env_observe_bits(alone[i], one);
                if (result.end != PESS_END_NONE) {
                    assert_true(pess_batch_final_bits(batch, i, last));
                    assert_memory_equal(last, one, (size_t)bytes);
                    assert_ok(pess_env_reset(alone[i], &error), &error);
                    pess_env_observe_bits(alone[i], one);
                }
                assert_memory_equal(all + i * bytes, one, (size_t)bytes);
            }
        }
        for (int i = 0; i < COUNT; i++) pess_env_destroy(alone[i]);
        pess_batch_destroy(batch);
        free(all);
        free(one);
        free(last);
    }
}

/* Beside the C library's, and the same bits from both variants. */
static void sines_are_those_of_the_library(void **unused) {
    (void)unused;
    pess_random random = pess_random_create(3, "test sines", 0);
    for (int round = 0; round < 20000; round++) {
        double angle[2], sine[2], cosine[2], plain_sine[2], plain_cosine[2];
        for (int i = 0; i < 2; i++)
            angle[i] = round < 9 ? (round - i) * acos(0) : 40 * pess_random_uniform(&random) - 20;
        PESS__CHOOSE(pess__sines)(angle, sine, cosine);
        pess__sines_portable(angle, plain_sine, plain_cosine);
        assert_memory_equal(sine, plain_sine, sizeof sine);
        assert_memory_equal(cosine, plain_cosine, sizeof cosine);
        for (int i = 0; i < 2; i++) {
            assert_close(sine[i], sin(angle[i]), 4e-16);
            assert_close(cosine[i], cos(angle[i]), 4e-16);
        }
    }
}

static void states_are_saved_and_restored(void **unused) {
    (void)unused;
    pess_env *env = open_env("acrobot", 4), *other = open_env("acrobot", 5);
    pess_env_step_result result, again;
    for (int t = 0; t < 30; t++) assert_ok(pess_env_step(env, t % 3, &result, &error), &error);
    const int64_t size = pess_env_save_size(env);
    uint8_t *bytes = malloc((size_t)size);
    assert_ok(pess_env_save(env, bytes, size, &error), &error);
    assert_ok(pess_env_restore(other, bytes, size, &error), &error);
    float a[6], b[6];
    for (int t = 0; t < 30; t++) {
        assert_ok(pess_env_step(env, t % 2, &result, &error), &error);
        assert_ok(pess_env_step(other, t % 2, &again, &error), &error);
        pess_env_observe_floats(env, PESS_LAYOUT_HWC, a);
        pess_env_observe_floats(other, PESS_LAYOUT_HWC, b);
        assert_memory_equal(a, b, sizeof a);
    }
    free(bytes);
    pess_env_destroy(env);
    pess_env_destroy(other);
}

/* ---- an environment of the caller's own: count up to ten; action 1 counts, action 0 may fall back to zero */

static void count_reset(void *user, void *state, pess_random *random) {
    (void)user, (void)random;
    memset(state, 0, sizeof(int));
}

static double count_step(void *user, void *state, int64_t action, pess_random *random, bool *terminal) {
    int count;
    memcpy(&count, state, sizeof count);
    if (action == 1)
        count++;
    else if (pess_random_uniform(random) < 0.5)
        count = 0;
    memcpy(state, &count, sizeof count);
    *terminal = count == 10;
    return *terminal ? *(double *)user : 0;
}

static void count_observe(void *user, const void *state, void *observation) {
    (void)user;
    int count;
    memcpy(&count, state, sizeof count);
    *(float *)observation = (float)count;
}

static pess_env_callbacks counting(double *prize) {
    return (pess_env_callbacks){.size = sizeof(pess_env_callbacks),
                                .shape = pess_observation_floats(1),
                                .actions = 2,
                                .state_size = sizeof(int),
                                .user = prize,
                                .reset = count_reset,
                                .step = count_step,
                                .observe = count_observe};
}

static void own_environments_are_collected_and_played(void **unused) {
    (void)unused;
    double prize = 3;
    const pess_env_callbacks own = counting(&prize);
    pess_collect_options collect = pess_collect_options_defaults();
    pess_observations *data = NULL;
    collect.own = &own;
    collect.game = "counting";
    collect.transitions = 4000;
    assert_ok(pess_collect(&collect, &data, &error), &error);
    pess_observations_info info;
    pess_observations_get_info(data, &info);
    assert_string_equal(info.game, "counting");
    assert_int_equal(info.shape.kind, PESS_OBSERVATION_FLOATS);
    assert_int_equal(info.states, 11);
    pess_observations_destroy(data);
    pess_play_options play = pess_play_options_defaults();
    pess_play_result result;
    play.own = &own;
    play.episodes = 100;
    assert_ok(pess_play(NULL, &play, &result, &error), &error);
    assert_close(result.mean_return, prize, 1e-12); /* in 10,000 steps ten is reached: chance fails once in e^40 */
    assert_true(result.mean_length > 20);
}

static void own_environments_that_cannot_be_are_refused(void **unused) {
    (void)unused;
    double prize = 1;
    pess_env *env = NULL;
    const struct {
        pess_env_callbacks own;
        const char *word;
    } cases[] = {
        {counting(&prize), NULL},
        {{.size = 8}, "found the size 8"},
    };
    assert_ok(pess_env_create_own(&cases[0].own, NULL, &env, &error), &error);
    pess_env_destroy(env);
    assert_failure(pess_env_create_own(&cases[1].own, NULL, &env, &error), PESS_ARGUMENT, &error, cases[1].word, NULL);
    pess_env_callbacks bad = counting(&prize);
    bad.step = NULL;
    assert_failure(pess_env_create_own(&bad, NULL, &env, &error), PESS_ARGUMENT, &error, "reset, step and observe",
                   NULL);
    bad = counting(&prize);
    bad.actions = 300;
    assert_failure(pess_env_create_own(&bad, NULL, &env, &error), PESS_ARGUMENT, &error, "300 actions", NULL);
    bad = counting(&prize);
    bad.state_size = 5000;
    assert_failure(pess_env_create_own(&bad, NULL, &env, &error), PESS_ARGUMENT, &error, "5000 bytes", NULL);
    bad = counting(&prize);
    bad.shape.length = 0;
    assert_failure(pess_env_create_own(&bad, NULL, &env, &error), PESS_LIMIT, &error, "0 floats", NULL);
}

/* ---- saved states */

enum { KEPT = 48 }; /* bytes of an instance before the game's own state: generator, steps, end */

static void seal(uint8_t *bytes, int64_t size) {
    const pess__stored what = {.body = size - (int64_t)pess__stored_offset() - (int64_t)sizeof(uint32_t)};
    pess__stored_seal(&what, bytes);
}

/* With a checksum that fits, so that the values themselves are looked at: numbers that are none, and, where a problem
 * has bounds, numbers beyond them. The environment stays as it was. */
static void states_that_cannot_be_are_not_restored(void **unused) {
    (void)unused;
    enum { COUNT = 3 };
    static const struct {
        const char *game;
        bool bounded;
    } all[] = {{"cartpole", false}, {"acrobot", true}, {"mountain_car", true}};
    static const double wrong[] = {(double)NAN, INFINITY, -INFINITY, 1e9, -1e9};
    for (size_t g = 0; g < sizeof all / sizeof *all; g++) {
        pess_env_options options = pess_env_options_defaults();
        options.game = all[g].game, options.seed = 3;
        const pess__game *game = pess__game_find(all[g].game);
        const size_t one = pess__instance_size(game, false);
        pess_batch *batch = NULL;
        const int32_t actions[COUNT] = {0, 1, 0};
        assert_ok(pess_batch_create(&options, COUNT, 1, &batch, &error), &error);
        for (int t = 0; t < 4; t++) assert_ok(pess_batch_step(batch, actions, &(pess_batch_out){0}, &error), &error);
        const int64_t size = pess_batch_save_size(batch);
        uint8_t *good = malloc((size_t)size), *bytes = malloc((size_t)size), *after = malloc((size_t)size);
        assert_ok(pess_batch_save(batch, good, size, &error), &error);
        for (size_t at = 0; at < game->state_size; at += sizeof(double))
            for (size_t w = 0; w < (all[g].bounded ? 5 : 3); w++) {
                memcpy(bytes, good, (size_t)size);
                memcpy(bytes + pess__stored_offset() + one + KEPT + at, &wrong[w], sizeof(double));
                seal(bytes, size);
                assert_failure(pess_batch_restore(batch, bytes, size, &error), PESS_INPUT, &error,
                               "saved batch: environment 1 is in no possible state", all[g].game, NULL);
            }
        memcpy(bytes, good, (size_t)size);
        bytes[size - (int64_t)sizeof(uint32_t) - 1] = 2; /* whether the last environment ended an episode */
        seal(bytes, size);
        assert_failure(pess_batch_restore(batch, bytes, size, &error), PESS_INPUT, &error,
                       "the last observations are damaged", NULL);
        assert_ok(pess_batch_save(batch, after, size, &error), &error);
        assert_memory_equal(after, good, (size_t)size);
        /* the good one goes on as it would have */
        assert_ok(pess_batch_step(batch, actions, &(pess_batch_out){0}, &error), &error);
        assert_ok(pess_batch_save(batch, after, size, &error), &error);
        assert_ok(pess_batch_restore(batch, good, size, &error), &error);
        assert_ok(pess_batch_step(batch, actions, &(pess_batch_out){0}, &error), &error);
        assert_ok(pess_batch_save(batch, bytes, size, &error), &error);
        assert_memory_equal(after, bytes, (size_t)size);
        free(after);
        free(bytes);
        free(good);
        pess_batch_destroy(batch);
    }
}

/* The car that meets the left wall stands still there. */
static void the_wall_stops_the_car(void **unused) {
    (void)unused;
    static const double near[] = {-1.19, -0.05};
    pess_env *env = open_env("mountain_car", 1);
    pess_env_step_result result;
    uint8_t bytes[400];
    float v[2];
    const int64_t size = pess_env_save_size(env);
    assert_true(size <= (int64_t)sizeof bytes);
    assert_ok(pess_env_save(env, bytes, size, &error), &error);
    memcpy(bytes + pess__stored_offset() + KEPT, near, sizeof near);
    seal(bytes, size);
    assert_ok(pess_env_restore(env, bytes, size, &error), &error);
    assert_ok(pess_env_step(env, 0, &result, &error), &error);
    pess_env_observe_floats(env, PESS_LAYOUT_HWC, v);
    assert_true(v[0] == -1.2F && v[1] == 0);
    assert_true(result.reward == -1 && result.end == PESS_END_NONE);
    pess_env_destroy(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trajectories_are_those_of_the_equations),
        cmocka_unit_test(episodes_are_cut_off_at_the_limit),
        cmocka_unit_test(batches_are_many_of_one),
        cmocka_unit_test(sines_are_those_of_the_library),
        cmocka_unit_test(states_are_saved_and_restored),
        cmocka_unit_test(states_that_cannot_be_are_not_restored),
        cmocka_unit_test(the_wall_stops_the_car),
        cmocka_unit_test(own_environments_are_collected_and_played),
        cmocka_unit_test(own_environments_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
