/* What is compiled twice gives the same bytes: the variants for every processor and those for newer ones. */
#include "core/cpu.h"

#include "pess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ENVS = 16, STEPS = 2000 };

/* Saved bytes of a batch after random play, which hold its states, its generators and its last observations. */
static uint8_t *played(const char *game, bool portable, int64_t *size, double *rewards) {
    pess_error error;
    pess__cpu_portable_only(portable);
    pess_env_options options = pess_env_options_defaults();
    options.game = game;
    options.seed = 5;
    pess_batch *batch = NULL;
    assert_int_equal(pess_batch_create(&options, ENVS, 1, &batch, &error), PESS_OK);
    pess__cpu_portable_only(false);
    pess_random dice = pess_random_create(7, "actions", 0);
    const pess_batch_out out = {.rewards = rewards};
    int32_t actions[ENVS];
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < ENVS; i++) actions[i] = (int32_t)pess_random_below(&dice, pess_batch_actions(batch));
        assert_int_equal(pess_batch_step(batch, actions, &out, &error), PESS_OK);
    }
    *size = pess_batch_save_size(batch);
    uint8_t *bytes = calloc((size_t)*size, 1);
    assert_non_null(bytes);
    assert_int_equal(pess_batch_save(batch, bytes, *size, &error), PESS_OK);
    pess_batch_destroy(batch);
    return bytes;
}

static void games_play_the_same_on_every_processor(void **state) {
    (void)state;
    const pess_env_info *game = NULL;
    for (size_t g = 0; (game = pess_env_list(g)) != NULL; g++) {
        int64_t size = 0, other_size = 0;
        double rewards[ENVS], other_rewards[ENVS];
        uint8_t *bytes = played(game->name, false, &size, rewards);
        uint8_t *other = played(game->name, true, &other_size, other_rewards);
        assert_int_equal(size, other_size);
        assert_memory_equal(bytes, other, (size_t)size);
        assert_memory_equal(rewards, other_rewards, sizeof rewards);
        free(bytes);
        free(other);
    }
}

static void the_portable_variant_can_be_asked_for(void **state) {
    (void)state;
    pess__cpu_portable_only(true);
    assert_false(pess__cpu_wide());
    pess__cpu_portable_only(false);
#if defined(__x86_64__)
    assert_true(pess__cpu_wide() == (bool)__builtin_cpu_supports("avx2"));
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(games_play_the_same_on_every_processor),
        cmocka_unit_test(the_portable_variant_can_be_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
