/* Freeway, sentence by sentence; and the cars moved together against cars moved one by one. */
#include "env/minatar/freeway.c"

#include "minatar_case.h"

static void set_car(game_state *s, int car, unsigned column, unsigned timer, unsigned speed, bool left) {
    const uint64_t clear = ~((uint64_t)0xff << (8 * car));
    s->column = (s->column & clear) | (uint64_t)column << (8 * car);
    s->timer = (s->timer & clear) | (uint64_t)timer << (8 * car);
    s->speed = (s->speed & clear) | (uint64_t)speed << (8 * car);
    s->left = (s->left & clear) | (uint64_t)left << (8 * car);
}

static game_state quiet(void) { /* cars on column 0, none due, the chicken may move */
    game_state s = {.chicken = 9, .clock = 2500};
    for (int car = 0; car < 8; car++) set_car(&s, car, 0, 3, 3, false);
    return s;
}

static void draws_of_cars(void) {
    expect_draws(16, integer(1), integer(2), integer(3), integer(4), integer(5), integer(1), integer(2), integer(3),
                 0.5, 0.49, 0.9, 0.1, 0.7, 0.2, 0.8, 0.3);
}

static void a_game_starts_as_the_rules_say(void **unused) {
    (void)unused;
    game_state s;
    draws_of_cars();
    reset(&s);
    assert_true(lit(&s, 4, 9, CHICKEN) && s.move_timer == 3 && s.clock == 2500);
    static const int speeds[] = {1, 2, 3, 4, 5, 1, 2, 3};
    for (int car = 0; car < 8; car++) {
        assert_true(lit(&s, 0, car + 1, CAR));
        const int behind = car % 2 == 0 ? 9 : 1; /* even ones go right: their trail wraps round */
        assert_true(lit(&s, behind, car + 1, SPEED_1 + speeds[car] - 1));
        assert_int_equal((s.timer >> (8 * car)) & 0xff, speeds[car]);
    }
    int trails = 0;
    for (int c = SPEED_1; c < GAME_CHANNELS; c++) trails += lit_count(&s, c);
    assert_int_equal(trails, 8);
}

static void the_chicken_moves_as_told(void **unused) {
    (void)unused;
    game_state s = quiet();
    (void)step(&s, PESS__UP);
    assert_true(lit(&s, 4, 8, CHICKEN) && s.move_timer == 2); /* set to 3, then counted down */
    (void)step(&s, PESS__UP);                                 /* too early */
    assert_true(lit(&s, 4, 8, CHICKEN) && s.move_timer == 1);
    s.move_timer = 0;
    (void)step(&s, PESS__DOWN);
    assert_true(lit(&s, 4, 9, CHICKEN) && s.move_timer == 2);
    s.move_timer = 0;
    (void)step(&s, PESS__DOWN); /* kept on the board, and the timer starts all the same */
    assert_true(lit(&s, 4, 9, CHICKEN) && s.move_timer == 2);
    static const int others[] = {PESS__NOTHING, PESS__LEFT, PESS__RIGHT, PESS__FIRE};
    for (int i = 0; i < 4; i++) {
        s = quiet();
        s.chicken = 5;
        (void)step(&s, others[i]);
        assert_true(lit(&s, 4, 5, CHICKEN) && s.move_timer == 0);
    }
}

static void arriving_pays(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.chicken = 1;
    set_car(&s, 3, 7, 2, 3, false);
    draws_of_cars();
    assert_int_equal(step(&s, PESS__UP), 1);
    assert_true(lit(&s, 4, 9, CHICKEN) && lit(&s, 7, 4, CAR)); /* columns are kept */
    assert_true(lit(&s, 8, 4, SPEED_1 + 3));                   /* new speed 4, to the left */
    assert_int_equal((s.timer >> 24) & 0xff, 3);               /* 4, counted down in the same step */
}

static void cars_send_the_chicken_back(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.chicken = 5;
    set_car(&s, 4, 4, 3, 3, false); /* already there */
    (void)step(&s, 0);
    assert_true(lit(&s, 4, 9, CHICKEN));
    s = quiet();
    s.chicken = 5;
    set_car(&s, 4, 3, 0, 3, false); /* moves onto it */
    assert_int_equal(step(&s, 0), 0);
    assert_true(lit(&s, 4, 9, CHICKEN) && lit(&s, 4, 5, CAR) && !terminal);
    s = quiet();
    s.chicken = 5;
    set_car(&s, 4, 4, 0, 3, false); /* there, and moving off: hit before its move */
    (void)step(&s, 0);
    assert_true(lit(&s, 4, 9, CHICKEN) && lit(&s, 5, 5, CAR));
    s = quiet();
    s.chicken = 6; /* moves up onto a car */
    set_car(&s, 4, 4, 3, 3, false);
    (void)step(&s, PESS__UP);
    assert_true(lit(&s, 4, 9, CHICKEN));
    s = quiet();
    s.chicken = 5;
    set_car(&s, 5, 4, 3, 3, false); /* another row */
    (void)step(&s, 0);
    assert_true(lit(&s, 4, 5, CHICKEN));
}

/* One car at a time, as the rules have it. */
static void each_car_moves_at_its_speed(void **unused) {
    (void)unused;
    for (unsigned column = 0; column < 10; column++)
        for (unsigned speed = 1; speed <= 5; speed++)
            for (unsigned timer = 0; timer <= speed; timer++)
                for (int left = 0; left < 2; left++)
                    for (int car = 0; car < 8; car++) {
                        game_state s = quiet();
                        set_car(&s, car, column, timer, speed, left != 0);
                        (void)step(&s, 0);
                        const unsigned moved = timer > 0 ? column : left ? (column + 9) % 10 : (column + 1) % 10;
                        const unsigned behind = left ? (moved + 1) % 10 : (moved + 9) % 10;
                        assert_true(lit(&s, (int)moved, car + 1, CAR));
                        assert_true(lit(&s, (int)behind, car + 1, SPEED_1 + (int)speed - 1));
                        assert_int_equal((s.timer >> (8 * car)) & 0xff, timer > 0 ? timer - 1 : speed);
                        assert_int_equal(lit_count(&s, CAR), 8);
                    }
}

static void time_ends_the_game(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.clock = 1;
    (void)step(&s, 0);
    assert_true(!terminal && s.clock == 0);
    (void)step(&s, 0);
    assert_true(terminal);
    draws_of_cars();
    reset(&s);
    int steps = 0;
    do {
        (void)step(&s, 0);
        steps++;
    } while (!terminal);
    assert_int_equal(steps, 2501);
}

static void the_fast_draws_play_the_same_game(void **unused) {
    (void)unused;
    check_fast_door(20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_game_starts_as_the_rules_say),
                                       cmocka_unit_test(the_chicken_moves_as_told),
                                       cmocka_unit_test(arriving_pays),
                                       cmocka_unit_test(cars_send_the_chicken_back),
                                       cmocka_unit_test(each_car_moves_at_its_speed),
                                       cmocka_unit_test(time_ends_the_game),
                                       cmocka_unit_test(the_fast_draws_play_the_same_game)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
