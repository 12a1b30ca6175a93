/* Breakout, sentence by sentence. */
#include "env/minatar/breakout.c"

#include "minatar_case.h"

static void a_game_starts_as_the_rules_say(void **unused) {
    (void)unused;
    game_state s;
    for (int side = 0; side < 2; side++) {
        expect_draws(1, integer(side));
        reset(&s);
        const int x = side == 0 ? 0 : 9;
        assert_true(lit(&s, x, 3, BALL) && lit(&s, x, 3, TRAIL) && lit(&s, 4, 9, PADDLE));
        assert_int_equal(s.direction, side == 0 ? 2 : 3);
        assert_int_equal(lit_count(&s, BRICK), 30);
        for (int i = 0; i < 30; i++) assert_true(lit(&s, i % 10, 1 + i / 10, BRICK));
        assert_false(lit(&s, 0, 0, BRICK) || lit(&s, 0, 4, BRICK));
        assert_int_equal(s.strike, 0);
    }
}

static game_state at(int x, int y, int direction) {
    return (game_state){.paddle = 4, .x = x, .y = y, .last_x = x, .last_y = y, .direction = direction};
}

static void test_paddle_stays_on_the_board(void **unused) {
    (void)unused;
    game_state s = at(5, 5, UP_LEFT);
    s.paddle = 0;
    (void)step(&s, PESS__LEFT);
    assert_int_equal(s.paddle, 0);
    (void)step(&s, PESS__RIGHT);
    assert_int_equal(s.paddle, 1);
    s.paddle = 9;
    (void)step(&s, PESS__RIGHT);
    assert_int_equal(s.paddle, 9);
    static const int others[] = {PESS__NOTHING, PESS__UP, PESS__DOWN, PESS__FIRE};
    for (int i = 0; i < 4; i++) {
        game_state t = at(5, 5, UP_LEFT);
        (void)step(&t, others[i]);
        assert_int_equal(t.paddle, 4);
    }
}

static void the_ball_flies_straight_and_bounces_off_walls(void **unused) {
    (void)unused;
    static const int dx[] = {-1, 1, 1, -1}, dy[] = {-1, -1, 1, 1};
    for (int d = 0; d < 4; d++) {
        game_state s = at(5, 6, d);
        assert_int_equal(step(&s, 0), 0);
        assert_int_equal(s.x, 5 + dx[d]);
        assert_int_equal(s.y, 6 + dy[d]);
        assert_true(lit(&s, 5, 6, TRAIL) && lit(&s, 5 + dx[d], 6 + dy[d], BALL));
        assert_int_equal(s.direction, d);
    }
    static const int mirrored[] = {1, 0, 3, 2};
    for (int d = 0; d < 4; d++) { /* the side walls: clamped, mirrored, and the row goes on */
        const int x = d == 0 || d == 3 ? 0 : 9;
        game_state s = at(x, 6, d);
        (void)step(&s, 0);
        assert_int_equal(s.x, x);
        assert_int_equal(s.y, 6 + dy[d]);
        assert_int_equal(s.direction, mirrored[d]);
    }
    game_state s = at(5, 0, UP_LEFT); /* the ceiling */
    (void)step(&s, 0);
    assert_true(s.x == 4 && s.y == 0 && s.direction == DOWN_LEFT && !terminal);
    s = at(0, 0, UP_LEFT); /* a corner: both */
    (void)step(&s, 0);
    assert_true(s.x == 0 && s.y == 0 && s.direction == DOWN_RIGHT);
}

static void bricks_pay_and_vanish(void **unused) {
    (void)unused;
    game_state s = at(5, 4, UP_LEFT);
    s.bricks = ALL_BRICKS;
    assert_int_equal(step(&s, 0), 1);
    assert_false(lit(&s, 4, 3, BRICK));
    assert_true(s.x == 4 && s.y == 4 && s.direction == DOWN_LEFT && s.strike == 1);
    s = at(5, 4, UP_LEFT); /* strike on: it flies in, the brick stays, no reward */
    s.bricks = ALL_BRICKS;
    s.strike = 1;
    assert_int_equal(step(&s, 0), 0);
    assert_true(s.x == 4 && s.y == 3 && s.direction == UP_LEFT && s.strike == 1 && lit(&s, 4, 3, BRICK));
    s = at(5, 6, UP_LEFT); /* not struck this step: strike goes off */
    s.bricks = ALL_BRICKS;
    s.strike = 1;
    (void)step(&s, 0);
    assert_int_equal(s.strike, 0);
    s = at(9, 4, UP_RIGHT); /* at the wall the brick is at the clamped column */
    s.bricks = ALL_BRICKS;
    assert_int_equal(step(&s, 0), 1);
    assert_true(!lit(&s, 9, 3, BRICK) && s.x == 9 && s.y == 4 && s.direction == DOWN_LEFT);
}

static void a_missed_ball_ends_the_game(void **unused) {
    (void)unused;
    game_state s = at(4, 8, DOWN_LEFT); /* the old column is the paddle's */
    s.bricks = 1;
    (void)step(&s, 0);
    assert_true(s.x == 3 && s.y == 8 && s.direction == UP_LEFT && !terminal);
    s = at(5, 8, DOWN_LEFT); /* the new column is */
    s.bricks = 1;
    (void)step(&s, 0);
    assert_true(s.x == 4 && s.y == 8 && s.direction == UP_RIGHT && !terminal);
    s = at(5, 8, DOWN_LEFT); /* after this step's move of the paddle */
    s.bricks = 1;
    (void)step(&s, PESS__RIGHT);
    assert_true(s.x == 4 && s.y == 8 && s.direction == UP_LEFT && !terminal);
    s = at(8, 8, DOWN_LEFT); /* neither */
    s.bricks = 1;
    assert_int_equal(step(&s, 0), 0);
    assert_true(terminal && s.x == 7 && s.y == 9 && lit_count(&s, BRICK) == 1);
}

static void an_empty_wall_is_filled_again(void **unused) {
    (void)unused;
    for (int lost = 0; lost < 2; lost++) { /* also when the ball is then lost */
        game_state s = at(lost ? 8 : 4, 8, DOWN_LEFT);
        (void)step(&s, 0);
        assert_int_equal(terminal, lost);
        assert_int_equal(lit_count(&s, BRICK), 30);
    }
    game_state s = at(5, 6, DOWN_LEFT); /* not before row 9 */
    (void)step(&s, 0);
    assert_int_equal(lit_count(&s, BRICK), 0);
}

static void the_fast_draws_play_the_same_game(void **unused) {
    (void)unused;
    check_fast_door(20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_game_starts_as_the_rules_say),
                                       cmocka_unit_test(test_paddle_stays_on_the_board),
                                       cmocka_unit_test(the_ball_flies_straight_and_bounces_off_walls),
                                       cmocka_unit_test(bricks_pay_and_vanish),
                                       cmocka_unit_test(a_missed_ball_ends_the_game),
                                       cmocka_unit_test(an_empty_wall_is_filled_again),
                                       cmocka_unit_test(the_fast_draws_play_the_same_game)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
