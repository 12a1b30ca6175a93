/* Space Invaders, sentence by sentence. */
#include "env/minatar/space_invaders.c"

#include "minatar_case.h"

static board at(int x, int y) { return (board)1 << (10 * y + x); }

static game_state quiet(void) { /* one alien far away, nothing due */
    return (game_state){.aliens = at(5, 0), .cannon = 5, .move_interval = 12, .move_timer = 12, .alien_shot_timer = 10};
}

static void a_game_starts_as_the_rules_say(void **unused) {
    (void)unused;
    game_state s;
    reset(&s);
    assert_true(lit(&s, 5, 9, CANNON) && lit_count(&s, CANNON) == 1 && lit_count(&s, ALIEN) == 24);
    for (int y = 0; y < 4; y++)
        for (int x = 2; x < 8; x++) assert_true(lit(&s, x, y, ALIEN) && lit(&s, x, y, ALIEN_LEFT));
    assert_int_equal(lit_count(&s, ALIEN_RIGHT) + lit_count(&s, FRIENDLY) + lit_count(&s, ENEMY), 0);
    assert_true(s.move_interval == 12 && s.move_timer == 12 && s.alien_shot_timer == 10 && s.own_shot_timer == 0);
}

static void the_cannon_moves_as_told(void **unused) {
    (void)unused;
    game_state s = quiet();
    (void)step(&s, PESS__LEFT);
    assert_true(lit(&s, 4, 9, CANNON));
    s.cannon = 0;
    (void)step(&s, PESS__LEFT);
    assert_true(lit(&s, 0, 9, CANNON));
    s.cannon = 9;
    (void)step(&s, PESS__RIGHT);
    assert_true(lit(&s, 9, 9, CANNON));
    (void)step(&s, PESS__UP);
    (void)step(&s, PESS__DOWN);
    assert_true(lit(&s, 9, 9, CANNON) && lit_count(&s, FRIENDLY) == 0);
}

static void firing_waits_for_its_interval(void **unused) {
    (void)unused;
    game_state s = quiet();
    (void)step(&s, PESS__FIRE); /* appears on row 9 and moves up in the same step */
    assert_true(lit(&s, 5, 8, FRIENDLY) && s.own_shot_timer == 4);
    (void)step(&s, PESS__FIRE); /* not ready */
    assert_true(lit(&s, 5, 7, FRIENDLY) && lit_count(&s, FRIENDLY) == 1 && s.own_shot_timer == 3);
    for (int i = 0; i < 3; i++) (void)step(&s, 0);
    assert_int_equal(s.own_shot_timer, 0);
    (void)step(&s, 0);
    assert_int_equal(s.own_shot_timer, 0); /* counts down only if above 0 */
    (void)step(&s, PESS__FIRE);
    assert_int_equal(lit_count(&s, FRIENDLY), 2);
}

static void bullets_fly_and_vanish(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.friendly = at(3, 0) | at(4, 5);
    s.enemy = at(1, 9) | at(2, 0) | at(5, 7);
    (void)step(&s, 0);
    assert_true(lit(&s, 4, 4, FRIENDLY) && lit_count(&s, FRIENDLY) == 1); /* row 0 vanishes, no wrap */
    assert_true(lit(&s, 2, 1, ENEMY) && lit(&s, 5, 8, ENEMY) && lit_count(&s, ENEMY) == 2);
    assert_false(terminal);
    (void)step(&s, 0); /* onto the cannon */
    assert_true(terminal && lit(&s, 5, 9, ENEMY));
    s = quiet();
    s.enemy = at(5, 8);
    (void)step(&s, PESS__RIGHT); /* the cannon has moved away first */
    assert_false(terminal);
}

static void an_alien_on_the_cannon_ends_the_game(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.aliens = at(5, 9) | at(0, 0);
    (void)step(&s, 0);
    assert_true(terminal);
    s = quiet(); /* comes by its move */
    s.aliens = at(6, 9) | at(5, 0);
    s.move_timer = 0;
    (void)step(&s, 0);
    assert_true(terminal && lit(&s, 5, 9, ALIEN));
}

static void aliens_move_at_their_speed(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.aliens = at(1, 2) | at(4, 3);
    s.move_timer = 0;
    (void)step(&s, 0);
    assert_true(lit(&s, 0, 2, ALIEN_LEFT) && lit(&s, 3, 3, ALIEN_LEFT) && lit_count(&s, ALIEN_RIGHT) == 0);
    assert_int_equal(s.move_timer, 1); /* min(2 aliens, 12), then counted down */
    s.move_timer = 0;
    (void)step(&s, 0); /* at the edge: down and round */
    assert_true(lit(&s, 0, 3, ALIEN_RIGHT) && lit(&s, 3, 4, ALIEN_RIGHT) && lit_count(&s, ALIEN_LEFT) == 0);
    assert_false(terminal);
    s.move_timer = 0;
    (void)step(&s, 0);
    assert_true(lit(&s, 1, 3, ALIEN) && lit(&s, 4, 4, ALIEN));
    s.aliens = at(9, 1);
    s.move_timer = 0;
    (void)step(&s, 0);
    assert_true(lit(&s, 9, 2, ALIEN_LEFT) && s.to_right == 0);
    s.aliens = block();
    s.move_timer = 0;
    (void)step(&s, 0);
    assert_int_equal(s.move_timer, 11); /* min(24, 12) - 1 */
}

static void aliens_that_land_end_the_game(void **unused) {
    (void)unused;
    game_state s = quiet(); /* an alien on row 9 as the block goes down: terminal, and rows turn round */
    s.aliens = at(0, 4) | at(8, 9);
    s.move_timer = 0;
    (void)step(&s, 0);
    assert_true(terminal && lit(&s, 0, 5, ALIEN) && lit(&s, 8, 0, ALIEN));
    s = quiet(); /* on row 9 without going down: no end */
    s.aliens = at(1, 4) | at(8, 9);
    s.move_timer = 0;
    (void)step(&s, 0);
    assert_true(!terminal && lit(&s, 7, 9, ALIEN));
}

/* The nearest column by brute force. */
static int nearest(board aliens, int cannon) {
    int best = -1;
    for (int x = 9; x >= 0; x--) {
        const int distance = x > cannon ? x - cannon : cannon - x;
        const int so_far = best < 0 ? 100 : best > cannon ? best - cannon : cannon - best;
        if (any(aliens & column_of(x)) && distance <= so_far) best = x;
    }
    return best;
}

static void aliens_shoot_as_the_rules_say(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.aliens = at(3, 1) | at(3, 4) | at(7, 2);
    s.alien_shot_timer = 0;
    (void)step(&s, 0); /* 3 and 7 are as near to 5: the smaller; its lowest alien */
    assert_true(lit(&s, 3, 4, ENEMY) && lit_count(&s, ENEMY) == 1 && s.alien_shot_timer == 9);
    for (unsigned columns = 1; columns < 1024; columns++) {
        s = quiet();
        s.aliens = 0;
        for (int x = 0; x < 10; x++)
            if (((columns >> x) & 1) != 0) s.aliens |= at(x, x % 8) | at(x, (3 * x) % 7);
        s.cannon = (int)(columns % 10);
        s.alien_shot_timer = 0;
        const int x = nearest(s.aliens, s.cannon);
        int lowest = 9;
        while (!any(s.aliens & at(x, lowest))) lowest--;
        (void)step(&s, 0);
        assert_true(lit(&s, x, lowest, ENEMY) && lit_count(&s, ENEMY) == 1);
    }
}

static void hit_aliens_pay(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.aliens = at(2, 2) | at(6, 1) | at(8, 0);
    s.friendly = at(2, 3) | at(6, 2);
    assert_int_equal(step(&s, 0), 2);
    assert_true(lit(&s, 8, 0, ALIEN) && lit_count(&s, ALIEN) == 1 && lit_count(&s, FRIENDLY) == 0);
    assert_true(s.move_timer == 11 && s.alien_shot_timer == 9);
}

static void a_new_block_of_aliens_follows(void **unused) {
    (void)unused;
    for (int ramps = 0; ramps < 2; ramps++)
        for (int interval = 6; interval <= 7; interval++) {
            game_state s = quiet();
            s.friendly = at(5, 1) | at(1, 8);
            s.enemy = at(0, 3);
            s.to_right = 1;
            s.move_interval = interval;
            s.move_timer = 5;
            ramping = ramps != 0;
            assert_int_equal(step(&s, 0), 1);
            ramping = true;
            assert_int_equal(lit_count(&s, ALIEN_RIGHT), 24); /* the direction stays */
            assert_true(lit(&s, 2, 0, ALIEN) && lit(&s, 7, 3, ALIEN));
            assert_int_equal(s.move_interval, interval == 7 && ramps ? 6 : interval);
            assert_int_equal(s.ramp_index, interval == 7 && ramps ? 1 : 0);
            assert_true(s.move_timer == 4 && s.alien_shot_timer == 9); /* timers go on */
            assert_true(lit(&s, 1, 7, FRIENDLY) && lit(&s, 0, 4, ENEMY));
        }
}

static void test_many_bullets_are_drawn(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.friendly = at(0, 0) | at(9, 9) | at(4, 6) | at(5, 6) | at(3, 3);
    s.enemy = at(1, 1) | at(2, 2) | at(9, 8);
    assert_true(lit(&s, 0, 0, FRIENDLY) && lit(&s, 9, 9, FRIENDLY) && lit(&s, 4, 6, FRIENDLY) &&
                lit(&s, 5, 6, FRIENDLY) && lit(&s, 3, 3, FRIENDLY) && lit_count(&s, FRIENDLY) == 5);
    assert_true(lit(&s, 1, 1, ENEMY) && lit(&s, 2, 2, ENEMY) && lit(&s, 9, 8, ENEMY) && lit_count(&s, ENEMY) == 3);
}

static void the_fast_draws_play_the_same_game(void **unused) {
    (void)unused;
    check_fast_door(20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_game_starts_as_the_rules_say),
                                       cmocka_unit_test(the_cannon_moves_as_told),
                                       cmocka_unit_test(firing_waits_for_its_interval),
                                       cmocka_unit_test(bullets_fly_and_vanish),
                                       cmocka_unit_test(an_alien_on_the_cannon_ends_the_game),
                                       cmocka_unit_test(aliens_move_at_their_speed),
                                       cmocka_unit_test(aliens_that_land_end_the_game),
                                       cmocka_unit_test(aliens_shoot_as_the_rules_say),
                                       cmocka_unit_test(hit_aliens_pay),
                                       cmocka_unit_test(a_new_block_of_aliens_follows),
                                       cmocka_unit_test(test_many_bullets_are_drawn),
                                       cmocka_unit_test(the_fast_draws_play_the_same_game)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
