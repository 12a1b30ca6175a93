/* Long random play, meant for the sanitizers: PESS_LONG_STEPS steps of every game (a few thousand where it is not set).
 * Batches of two threads in fast stretches; in between every environment is saved, checked and restored. */
#include "pess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ENVS = 64 };

static void play(const char *game, int64_t steps) {
    static double rewards[ENVS];
    static uint8_t ends[ENVS];
    static int32_t actions[ENVS];
    pess_error error;
    pess_env_options options = pess_env_options_defaults();
    options.game = game;
    options.seed = 2024;
    pess_batch *batch = NULL;
    assert_int_equal(pess_batch_create(&options, ENVS, 2, &batch, &error), PESS_OK);
    uint8_t *bits = malloc((size_t)(ENVS * pess_batch_bytes(batch))); /* exactly as large as promised */
    const int64_t size = pess_batch_save_size(batch);
    uint8_t *saved = malloc((size_t)size);
    assert_true(bits != NULL && saved != NULL);
    const pess_batch_out out = {.rewards = rewards, .ends = ends, .bits = bits};
    pess_random dice = pess_random_create(1, "long", 0);
    double total = 0;
    int64_t endings = 0;
    for (int64_t call = 0; call * ENVS < steps; call++) {
        /* Actions that are held reach further than ones that flicker. */
        for (int i = 0; i < ENVS; i++)
            if (i % 2 == 0 || pess_random_below(&dice, 6) == 0) actions[i] = (int32_t)pess_random_below(&dice, 6);
        assert_int_equal(pess_batch_step(batch, actions, &out, &error), PESS_OK);
        for (int i = 0; i < ENVS; i++) {
            assert_true(rewards[i] >= 0 && rewards[i] <= 10);
            total += rewards[i];
            endings += ends[i] != PESS_END_NONE;
        }
        if (call % 97 != 0) continue;
        assert_int_equal(pess_batch_save(batch, saved, size, &error), PESS_OK);
        assert_int_equal(pess_batch_restore(batch, saved, size, &error), PESS_OK);
    }
    assert_true(total > 0 || steps < 1000000);
    assert_true(endings > 0 || steps < 1000000);
    free(bits);
    free(saved);
    pess_batch_destroy(batch);
}

static void long_play_stays_in_possible_states(void **unused) {
    (void)unused;
    const char *wanted = getenv("PESS_LONG_STEPS");
    const int64_t steps = wanted != NULL ? strtoll(wanted, NULL, 10) : 60000;
    const pess_env_info *info = NULL;
    for (size_t i = 0; (info = pess_env_list(i)) != NULL; i++) play(info->name, steps);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_play_stays_in_possible_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
