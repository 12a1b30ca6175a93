/* For tests of a game's rules: the game's own source is included, so that positions can be set by hand. */
#ifndef TESTS_MINATAR_CASE_H
#define TESTS_MINATAR_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static pess__draw_hook hook;
static pess__source source = {.hook = &hook};

/* The draws that come next; a game that draws anything else, more or fewer fails the test. */
static pess_draw tape[64];
static int tape_length;

static inline void expect_draws(int count, ...) {
    va_list values; /* integers as 100 + value, uniforms as themselves */
    va_start(values, count);
    for (int i = 0; i < count; i++) {
        const double value = va_arg(values, double);
        tape[i] = (pess_draw){.integer = value >= 100, .value = value >= 100 ? value - 100 : value};
    }
    va_end(values);
    tape_length = count;
}

static inline double integer(int value) { return 100.0 + value; }

static inline void begin_draws(void) {
    hook = (pess__draw_hook){.tape = tape, .tape_length = tape_length};
    source.hook = &hook;
}

static inline void end_draws(void) {
    assert_int_equal(hook.fault, PESS__TAPE_FINE);
    assert_int_equal(hook.tape_used, tape_length);
    tape_length = 0;
}

static inline void reset(game_state *s) {
    memset(s, 0xff, sizeof *s); /* nothing of what was there may stay */
    begin_draws();
    game_reset(s, &source, false);
    end_draws();
}

static bool terminal; /* of the last step */
static bool ramping = true;

static inline int step(game_state *s, int action) {
    terminal = false;
    begin_draws();
    const int reward = game_step(s, &source, action, ramping, false, &terminal);
    end_draws();
    assert_true(game_valid(s));
    return reward;
}

static inline bool lit(const game_state *s, int x, int y, int channel) {
    uint64_t words[PESS__WORDS];
    game_draw(s, words);
    const unsigned bit = (unsigned)((y * 10 + x) * GAME_CHANNELS + channel);
    return ((words[bit / 64] >> (bit % 64)) & 1) != 0;
}

/* How many cells of the channel are on. */
static inline int lit_count(const game_state *s, int channel) {
    int count = 0;
    for (int cell = 0; cell < 100; cell++) count += lit(s, cell % 10, cell / 10, channel);
    return count;
}

/* The same game without a hook: same generator, same results. */
static inline void check_fast_door(int steps) {
    game_state a, b;
    pess__source left = {.rng = pess__rng_stream(7, "test", 0)}, right = left;
    pess__rng actions = pess__rng_stream(8, "test", 0);
    game_reset(&a, &left, false);
    game_reset(&b, &right, true);
    for (int i = 0; i < steps; i++) {
        bool end_a = false, end_b = false;
        const int action = (int)pess__rng_below(&actions, 6);
        const int reward = game_step(&a, &left, action, true, false, &end_a);
        assert_int_equal(reward, game_step(&b, &right, action, true, true, &end_b));
        assert_int_equal(end_a, end_b);
        if (end_a) {
            game_reset(&a, &left, false);
            game_reset(&b, &right, true);
        }
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(game_valid(&a));
    }
}

#endif
