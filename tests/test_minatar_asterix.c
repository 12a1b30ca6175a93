/* Asterix, sentence by sentence. */
#include "env/minatar/asterix.c"

#include "minatar_case.h"

static game_state quiet(void) { /* nothing is due */
    game_state s;
    reset(&s);
    return s;
}

static void put(game_state *s, int slot, int column, bool right, bool gold) {
    const uint32_t bit = 1U << slot;
    s->present |= bit;
    s->right = right ? s->right | bit : s->right & ~bit;
    s->gold = gold ? s->gold | bit : s->gold & ~bit;
    s->column[slot] = column;
}

static void a_game_starts_as_the_rules_say(void **unused) {
    (void)unused;
    const game_state s = quiet();
    assert_true(lit(&s, 5, 5, PLAYER));
    assert_int_equal(lit_count(&s, PLAYER) + lit_count(&s, ENEMY) + lit_count(&s, TRAIL) + lit_count(&s, GOLD), 1);
    assert_true(s.spawn_speed == 10 && s.spawn_timer == 10 && s.move_speed == 5 && s.move_timer == 5);
    assert_true(s.ramp_timer == 100 && s.ramp_index == 0);
}

static void entities_appear_as_the_rules_say(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.spawn_timer = 0;
    s.spawn_speed = 7;
    put(&s, 0, 3, true, false);
    put(&s, 2, 3, true, false);
    expect_draws(3, 0.49, 0.34, integer(1)); /* free: 1, 3, 4, …; index 1 is slot 3 */
    (void)step(&s, 0);
    assert_true(lit(&s, 0, 4, ENEMY) && !lit(&s, 1, 4, TRAIL));
    assert_int_equal(s.spawn_timer, 6); /* set to 7, then counted down */
    s.spawn_timer = 0;
    expect_draws(3, 0.5, 0.33, integer(0));
    (void)step(&s, 0);
    assert_true(lit(&s, 9, 2, GOLD) && !lit(&s, 8, 2, TRAIL));
    s.present = 0xff; /* no free slot: no third draw */
    s.spawn_timer = 0;
    for (int k = 0; k < 8; k++) s.column[k] = 2;
    expect_draws(2, 0.1, 0.1);
    (void)step(&s, 0);
    assert_int_equal(s.spawn_timer, 6);
    assert_int_equal(lit_count(&s, ENEMY) + lit_count(&s, GOLD), 8);
}

static void test_player_moves_within_rows_1_to_8(void **unused) {
    (void)unused;
    static const struct {
        int action, x, y, to_x, to_y;
    } cases[] = {{1, 5, 5, 4, 5}, {1, 0, 5, 0, 5}, {3, 9, 5, 9, 5}, {3, 5, 5, 6, 5}, {2, 5, 5, 5, 4},
                 {2, 5, 1, 5, 1}, {4, 5, 5, 5, 6}, {4, 5, 8, 5, 8}, {0, 5, 5, 5, 5}, {5, 5, 5, 5, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        game_state s = quiet();
        s.x = cases[i].x;
        s.y = cases[i].y;
        (void)step(&s, cases[i].action);
        assert_true(lit(&s, cases[i].to_x, cases[i].to_y, PLAYER));
    }
}

static void gold_pays_and_enemies_end(void **unused) {
    (void)unused;
    game_state s = quiet();
    put(&s, 4, 4, true, true); /* gold on row 5 */
    assert_int_equal(step(&s, PESS__LEFT), 1);
    assert_true(!terminal && lit_count(&s, GOLD) == 0);
    s = quiet();
    put(&s, 4, 4, true, false); /* an enemy kills and stays in its slot */
    assert_int_equal(step(&s, PESS__LEFT), 0);
    assert_true(terminal && lit(&s, 4, 5, ENEMY));
    s = quiet();
    put(&s, 3, 5, true, true); /* same column, other row */
    assert_int_equal(step(&s, 0), 0);
}

static void entities_move_at_their_speed(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.move_timer = 0;
    s.move_speed = 3;
    put(&s, 0, 9, true, true);  /* leaves to the right */
    put(&s, 1, 0, false, true); /* leaves to the left */
    put(&s, 2, 4, true, true);
    put(&s, 3, 4, false, false);
    put(&s, 4, 4, true, true); /* lands on the player: collected */
    assert_int_equal(step(&s, 0), 1);
    assert_int_equal(s.move_timer, 2);
    assert_true(lit(&s, 5, 3, GOLD) && lit(&s, 4, 3, TRAIL) && lit(&s, 3, 4, ENEMY) && lit(&s, 4, 4, TRAIL));
    assert_int_equal(lit_count(&s, GOLD) + lit_count(&s, ENEMY), 2);
    s = quiet();
    s.move_timer = 0;
    put(&s, 4, 6, false, false);
    (void)step(&s, 0);
    assert_true(terminal && lit(&s, 5, 5, ENEMY) && lit(&s, 5, 5, PLAYER));
    s = quiet(); /* not due: they stay, and both timers count down */
    s.move_timer = 1;
    put(&s, 2, 4, true, true);
    (void)step(&s, 0);
    assert_true(lit(&s, 4, 3, GOLD) && s.move_timer == 0 && s.spawn_timer == 9);
    s = quiet(); /* an enemy met before its move kills, then moves on */
    s.move_timer = 0;
    put(&s, 4, 5, true, false);
    (void)step(&s, 0);
    assert_true(terminal && lit(&s, 6, 5, ENEMY));
}

static void the_game_grows_harder(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.ramp_timer = 0;
    (void)step(&s, 0); /* at 0 it still counts down */
    assert_true(s.ramp_timer == -1 && s.spawn_speed == 10);
    (void)step(&s, 0); /* index 0 is even: spawning only */
    assert_true(s.ramp_timer == 100 && s.spawn_speed == 9 && s.move_speed == 5 && s.ramp_index == 1);
    s.ramp_timer = -1;
    (void)step(&s, 0);
    assert_true(s.spawn_speed == 8 && s.move_speed == 4 && s.ramp_index == 2);
    s.spawn_speed = 1; /* spawning is at its end: moving goes on */
    s.ramp_index = 3;
    s.ramp_timer = -1;
    (void)step(&s, 0);
    assert_true(s.spawn_speed == 1 && s.move_speed == 3 && s.ramp_index == 4);
    s.move_speed = 1;
    s.ramp_timer = 50;
    (void)step(&s, 0); /* both at the end: nothing counts any more */
    assert_int_equal(s.ramp_timer, 50);
    s = quiet();
    s.ramp_timer = -1;
    ramping = false;
    (void)step(&s, 0);
    ramping = true;
    assert_true(s.ramp_timer == -1 && s.spawn_speed == 10);
}

static void the_fast_draws_play_the_same_game(void **unused) {
    (void)unused;
    check_fast_door(20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_game_starts_as_the_rules_say),       cmocka_unit_test(entities_appear_as_the_rules_say),
        cmocka_unit_test(test_player_moves_within_rows_1_to_8), cmocka_unit_test(gold_pays_and_enemies_end),
        cmocka_unit_test(entities_move_at_their_speed),         cmocka_unit_test(the_game_grows_harder),
        cmocka_unit_test(the_fast_draws_play_the_same_game)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
