/* Seaquest, sentence by sentence; and the fast game against the plain one. */
#include "env/minatar/seaquest.c"

#include "plain_seaquest.h"

#include "minatar_case.h"

static game_state quiet(void) { /* mid-water, nothing due */
    game_state s;
    reset(&s);
    s.y = 4;
    s.surfaced = 0;
    s.aboard = 3;
    return s;
}

static void add_fish(game_state *s, int x, int y, bool right, int timer) { put_in(s, SHOAL, x, y, right, timer, 1); }
static void add_sub(game_state *s, int x, int y, bool right, int timer, int shot) {
    put_in(s, SUBS, x, y, right, timer, shot);
}
static void add_diver(game_state *s, int x, int y, bool right, int timer) { put_in(s, SAVED, x, y, right, timer, 1); }
static void add_bullet(game_state *s, int x, int y, bool right) { put_in(s, BULLETS, x, y, right, 0, 1); }
static void add_shot(game_state *s, int x, int y, bool right) { put_in(s, SHOTS, x, y, right, 0, 1); }

static void a_game_starts_as_the_rules_say(void **unused) {
    (void)unused;
    game_state s;
    reset(&s);
    assert_true(lit(&s, 5, 0, FRONT) && lit(&s, 6, 0, BACK)); /* faces left */
    assert_int_equal(lit_count(&s, OXYGEN), 10);
    for (int c = 0; c < GAME_CHANNELS; c++)
        assert_int_equal(lit_count(&s, c), c == FRONT || c == BACK ? 1 : c == OXYGEN ? 10 : 0);
    assert_true(s.oxygen == 200 && s.aboard == 0 && s.spawn_speed == 20 && s.spawn_timer == 20);
    assert_true(s.diver_timer == 30 && s.move_speed == 5 && s.ramp_index == 0 && s.shot_timer == 0 && s.surfaced == 1);
}

static void enemies_appear_as_the_rules_say(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.spawn_timer = 0;
    s.spawn_speed = 13;
    expect_draws(3, 0.49, 0.34, integer(8)); /* right, fish */
    (void)step(&s, 0);
    assert_true(lit(&s, 0, 8, FISH) && lit_count(&s, TRAIL) == 0 && s.spawn_timer == 12);
    assert_int_equal(s.lane_timer[base[SHOAL]], 4); /* move speed 5, counted down in the same step */
    s.spawn_timer = 0;
    expect_draws(3, 0.5, 0.33, integer(1)); /* left, sub */
    (void)step(&s, 0);
    assert_true(lit(&s, 9, 1, ENEMY_SUB) && s.lane_timer[base[SUBS]] == 4 && s.lane_shot[base[SUBS]] == 9);
    s.spawn_timer = 0; /* a fish on row 8 goes right: one that goes left is not added */
    expect_draws(3, 0.7, 0.9, integer(8));
    (void)step(&s, 0);
    assert_true(lit_count(&s, FISH) == 1 && s.spawn_timer == 12);
    s.spawn_timer = 0; /* a sub on row 1 goes left: neither is one that goes right */
    expect_draws(3, 0.2, 0.9, integer(1));
    (void)step(&s, 0);
    assert_int_equal(lit_count(&s, FISH) + lit_count(&s, ENEMY_SUB), 2);
    s.spawn_timer = 0; /* the same way is fine */
    expect_draws(3, 0.7, 0.9, integer(1));
    (void)step(&s, 0);
    assert_true(lit(&s, 9, 1, FISH));
}

static void divers_appear_as_the_rules_say(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.diver_timer = 0;
    expect_draws(2, 0.6, integer(3));
    (void)step(&s, 0);
    assert_true(lit(&s, 9, 3, DIVER) && s.diver_timer == 29 && s.lane_timer[base[SAVED]] == 4);
    s.diver_timer = 0;
    expect_draws(2, 0.4, integer(3)); /* divers pass each other */
    (void)step(&s, 0);
    assert_true(lit(&s, 0, 3, DIVER) && lit_count(&s, DIVER) == 2);
}

static void the_submarine_does_as_told(void **unused) {
    (void)unused;
    game_state s = quiet();
    (void)step(&s, PESS__RIGHT);
    assert_true(lit(&s, 6, 4, FRONT) && lit(&s, 5, 4, BACK));
    (void)step(&s, PESS__UP);
    assert_true(lit(&s, 6, 3, FRONT) && lit(&s, 5, 3, BACK)); /* keeps facing */
    (void)step(&s, PESS__FIRE);
    assert_true(lit(&s, 7, 3, FRIENDLY) && s.shot_timer == 4); /* moves in the step in which it is fired */
    (void)step(&s, PESS__FIRE);
    assert_true(lit(&s, 8, 3, FRIENDLY) && lit_count(&s, FRIENDLY) == 1);
    s = quiet();
    s.x = 0;
    (void)step(&s, PESS__LEFT);
    assert_true(lit(&s, 0, 4, FRONT) && lit(&s, 1, 4, BACK));
    s.x = 9;
    s.facing = 1;
    (void)step(&s, PESS__RIGHT);
    assert_true(lit(&s, 9, 4, FRONT) && lit(&s, 8, 4, BACK));
    s.y = 8;
    (void)step(&s, PESS__DOWN);
    assert_true(lit(&s, 9, 8, FRONT));
    reset(&s);
    (void)step(&s, PESS__UP);
    assert_true(lit(&s, 5, 0, FRONT) && !terminal && s.oxygen == 200);
}

static void bullets_hit_what_is_before_them(void **unused) {
    (void)unused;
    game_state s = quiet();
    add_bullet(&s, 2, 7, false);
    add_fish(&s, 1, 7, true, 3);
    add_sub(&s, 1, 7, true, 3, 5); /* the fish is first */
    assert_int_equal(step(&s, 0), 1);
    assert_true(lit_count(&s, FISH) == 0 && lit_count(&s, ENEMY_SUB) == 1 && lit_count(&s, FRIENDLY) == 0);
    s = quiet();
    add_bullet(&s, 0, 7, false); /* off the board */
    (void)step(&s, 0);
    assert_int_equal(lit_count(&s, FRIENDLY), 0);
    s = quiet();
    add_bullet(&s, 2, 7, true);
    add_sub(&s, 3, 7, true, 3, 5);
    assert_int_equal(step(&s, 0), 1);
    assert_int_equal(lit_count(&s, ENEMY_SUB) + lit_count(&s, FRIENDLY), 0);
    s = quiet(); /* two on one cell: the first of the list goes */
    add_bullet(&s, 2, 7, true);
    add_fish(&s, 3, 7, true, 4);
    add_fish(&s, 3, 7, true, 2);
    assert_int_equal(step(&s, 0), 1);
    assert_int_equal(s.count[SHOAL], 1);
    assert_int_equal(s.lane_timer[base[SHOAL]], 1);
}

static void divers_are_picked_up(void **unused) {
    (void)unused;
    game_state s = quiet();
    add_diver(&s, 5, 4, true, 3); /* on the sub */
    (void)step(&s, 0);
    assert_true(s.aboard == 4 && lit_count(&s, DIVER) == 0 && lit_count(&s, DIVERS) == 4);
    s = quiet();
    add_diver(&s, 4, 4, true, 0); /* moves onto it */
    (void)step(&s, 0);
    assert_int_equal(s.aboard, 4);
    s = quiet();
    s.aboard = 6;
    add_diver(&s, 5, 4, true, 0); /* full: it swims on */
    (void)step(&s, 0);
    assert_true(s.aboard == 6 && lit(&s, 6, 4, DIVER) && lit(&s, 5, 4, TRAIL) && s.lane_timer[base[SAVED]] == 5);
    add_diver(&s, 5, 4, true, 2); /* or waits */
    (void)step(&s, 0);
    assert_true(lit(&s, 5, 4, DIVER) && s.lane_timer[base[SAVED] + 1] == 1);
    s = quiet();
    add_diver(&s, 9, 2, true, 0);
    add_diver(&s, 0, 3, false, 0);
    (void)step(&s, 0);
    assert_int_equal(lit_count(&s, DIVER), 0);
    s = quiet(); /* backwards: with one place left the later one gets it */
    s.aboard = 5;
    add_diver(&s, 5, 4, true, 3);
    add_diver(&s, 5, 4, false, 2);
    (void)step(&s, 0);
    assert_true(s.aboard == 6 && s.count[SAVED] == 1 && s.lane_dx[base[SAVED]] == 1);
}

static void enemies_move_at_their_speed(void **unused) {
    (void)unused;
    for (int fish = 0; fish < 2; fish++) {
        const int channel = fish ? FISH : ENEMY_SUB, list = fish ? SHOAL : SUBS, shot = fish ? 1 : 5;
        game_state s = quiet(); /* on the sub: terminal, and it goes on */
        put_in(&s, list, 5, 4, true, 0, shot);
        (void)step(&s, 0);
        assert_true(terminal && lit(&s, 6, 4, channel) && lit(&s, 5, 4, TRAIL));
        s = quiet(); /* moves onto it */
        s.move_speed = 3;
        put_in(&s, list, 4, 4, true, 0, shot);
        (void)step(&s, 0);
        assert_true(terminal && lit(&s, 5, 4, channel) && s.lane_timer[base[list]] == 3);
        s = quiet(); /* waits */
        put_in(&s, list, 4, 4, true, 2, shot);
        (void)step(&s, 0);
        assert_true(!terminal && lit(&s, 4, 4, channel) && s.lane_timer[base[list]] == 1);
        s = quiet(); /* leaves */
        put_in(&s, list, 9, 2, true, 0, shot);
        put_in(&s, list, 0, 3, false, 0, shot);
        (void)step(&s, 0);
        assert_int_equal(lit_count(&s, channel), 0);
        s = quiet(); /* swims into a bullet */
        add_bullet(&s, 8, 7, false);
        put_in(&s, list, 6, 7, true, 0, shot);
        assert_int_equal(step(&s, 0), 1);
        assert_int_equal(lit_count(&s, channel) + lit_count(&s, FRIENDLY), 0);
        s = quiet(); /* only when it moves */
        add_bullet(&s, 7, 7, true);
        put_in(&s, list, 7, 7, true, 1, shot);
        assert_int_equal(step(&s, 0), 0);
        s = quiet(); /* on the sub it meets no bullet */
        add_bullet(&s, 6, 4, false);
        put_in(&s, list, 4, 4, true, 0, shot);
        assert_int_equal(step(&s, 0), 0);
        assert_true(terminal && lit_count(&s, channel) == 1 && lit_count(&s, FRIENDLY) == 1);
    }
}

static void enemy_submarines_shoot(void **unused) {
    (void)unused;
    game_state s = quiet();
    add_sub(&s, 2, 7, true, 3, 0);
    (void)step(&s, 0); /* the bullet appears at its cell and flies on in the same step */
    assert_true(lit(&s, 3, 7, ENEMY) && s.lane_shot[base[SUBS]] == 10);
    (void)step(&s, 0);
    assert_true(lit(&s, 4, 7, ENEMY) && s.lane_shot[base[SUBS]] == 9);
    s = quiet(); /* removed by a bullet just now, it shoots all the same */
    add_bullet(&s, 8, 7, false);
    add_sub(&s, 6, 7, true, 0, 0);
    assert_int_equal(step(&s, 0), 1);
    assert_true(lit_count(&s, ENEMY_SUB) == 0 && lit(&s, 8, 7, ENEMY));
    s = quiet(); /* off the board: nothing to see of it */
    add_sub(&s, 9, 7, true, 0, 0);
    (void)step(&s, 0);
    assert_int_equal(lit_count(&s, ENEMY) + lit_count(&s, ENEMY_SUB), 0);
    s = quiet(); /* shot before its turn (rule 4), it does not shoot */
    add_bullet(&s, 5, 7, true);
    add_sub(&s, 6, 7, true, 0, 0);
    assert_int_equal(step(&s, 0), 1);
    assert_int_equal(lit_count(&s, ENEMY), 0);
}

static void enemy_bullets_end_the_game(void **unused) {
    (void)unused;
    game_state s = quiet();
    add_shot(&s, 5, 4, true); /* on the sub, and flies on */
    (void)step(&s, 0);
    assert_true(terminal && lit(&s, 6, 4, ENEMY));
    s = quiet();
    add_shot(&s, 4, 4, true);
    (void)step(&s, 0);
    assert_true(terminal && lit(&s, 5, 4, ENEMY));
    s = quiet();
    add_shot(&s, 9, 4, true);
    add_shot(&s, 0, 4, false);
    (void)step(&s, 0);
    assert_true(!terminal && lit_count(&s, ENEMY) == 0);
    s = quiet(); /* the back of the sub is not hit */
    add_shot(&s, 7, 4, false);
    (void)step(&s, 0);
    assert_true(!terminal && lit(&s, 6, 4, ENEMY) && lit(&s, 6, 4, BACK));
}

static void timers_run_down_and_oxygen_runs_out(void **unused) {
    (void)unused;
    game_state s = quiet();
    s.shot_timer = 1;
    (void)step(&s, 0);
    assert_true(s.spawn_timer == 19 && s.diver_timer == 29 && s.shot_timer == 0 && s.oxygen == 199);
    (void)step(&s, 0);
    assert_int_equal(s.shot_timer, 0);
    s = quiet();
    s.oxygen = 1;
    (void)step(&s, 0); /* checked before the breath: 1 is enough */
    assert_true(!terminal && s.oxygen == 0);
    (void)step(&s, 0);
    assert_true(terminal && s.oxygen == -1 && lit_count(&s, OXYGEN) == 0);
    s = quiet();
    s.oxygen = 20;
    assert_int_equal(lit_count(&s, OXYGEN), 1);
    s.oxygen = 19;
    assert_int_equal(lit_count(&s, OXYGEN), 0);
    s.oxygen = 199;
    assert_true(lit_count(&s, OXYGEN) == 9 && lit(&s, 0, 9, OXYGEN) && lit(&s, 8, 9, OXYGEN));
}

static game_state below_surface(int aboard, int oxygen) {
    game_state s = quiet();
    s.y = 1;
    s.aboard = aboard;
    s.oxygen = (int16_t)oxygen;
    return s;
}

static void surfacing_costs_a_diver_or_the_game(void **unused) {
    (void)unused;
    game_state s = below_surface(0, 100);
    (void)step(&s, PESS__UP);
    assert_true(terminal && s.oxygen == 100); /* nobody aboard */
    s = below_surface(2, 100);
    assert_int_equal(step(&s, PESS__UP), 0);
    assert_true(!terminal && s.aboard == 1 && s.oxygen == 200 && s.surfaced == 1);
    (void)step(&s, 0); /* staying up costs nothing */
    assert_true(s.aboard == 1 && s.oxygen == 200);
    s = below_surface(6, 119);
    assert_int_equal(step(&s, PESS__UP), 5); /* floor(119*10/200) */
    assert_true(s.aboard == -1 && s.oxygen == 200 && lit_count(&s, DIVERS) == 0);
    s.y = 1;
    s.surfaced = 0;
    (void)step(&s, PESS__UP); /* minus one is not exactly 0 */
    assert_true(!terminal && s.aboard == -2);
    s = below_surface(6, 0); /* too late by rule 9, though the gauge shows 200 */
    assert_int_equal(step(&s, PESS__UP), 0);
    assert_true(terminal && s.oxygen == 200 && lit_count(&s, OXYGEN) == 10 && s.aboard == -1);
    s = below_surface(6, 100);
    assert_true(lit_count(&s, DIVERS) == 6 && lit(&s, 3, 9, DIVERS) && lit(&s, 8, 9, DIVERS));
}

static void the_game_grows_harder(void **unused) {
    (void)unused;
    game_state s = below_surface(2, 100);
    (void)step(&s, PESS__UP); /* index 0: spawning only */
    assert_true(s.spawn_speed == 19 && s.move_speed == 5 && s.ramp_index == 1);
    s.y = 1;
    s.surfaced = 0;
    s.aboard = 2;
    (void)step(&s, PESS__UP);
    assert_true(s.spawn_speed == 18 && s.move_speed == 4 && s.ramp_index == 2);
    s = below_surface(2, 100); /* each has its end */
    s.spawn_speed = 1;
    s.ramp_index = 1;
    (void)step(&s, PESS__UP);
    assert_true(s.spawn_speed == 1 && s.move_speed == 4 && s.ramp_index == 2);
    s = below_surface(2, 100);
    s.move_speed = 2;
    s.ramp_index = 1;
    (void)step(&s, PESS__UP);
    assert_true(s.spawn_speed == 19 && s.move_speed == 2 && s.ramp_index == 2);
    s = below_surface(2, 100);
    s.spawn_speed = 1;
    s.move_speed = 2;
    s.ramp_index = 7;
    (void)step(&s, PESS__UP);
    assert_int_equal(s.ramp_index, 7);
    s = below_surface(2, 100);
    ramping = false;
    (void)step(&s, PESS__UP);
    ramping = true;
    assert_true(s.spawn_speed == 20 && s.ramp_index == 0);
}

/* Both games from the same seed; now and then the difficulty, the crew and the air of both are changed alike, so that
 * full boards and every way of surfacing come up. */
static void the_fast_game_is_the_plain_one(void **unused) {
    (void)unused;
    static game_state fast;
    static plain_state plain;
    pess__source left = {.rng = pess__rng_stream(3, "test", 0)}, right = left;
    pess__rng dice = pess__rng_stream(4, "test", 0);
    game_reset(&fast, &left, true);
    plain_reset(&plain, &right, true);
    int most = 0, action = 0;
    for (int i = 0; i < 300000; i++) {
        if (pess__rng_below(&dice, 3) == 0) action = (int)pess__rng_below(&dice, 6);
        if (i % 500 == 0) {
            plain.spawn_speed = 1 + (int)pess__rng_below(&dice, i % 1000 == 0 ? 2 : 20);
            plain.move_speed = 2 + (int)pess__rng_below(&dice, 4);
            plain.aboard = (int)pess__rng_below(&dice, 8) - 1;
            plain.oxygen = 1 + (int)pess__rng_below(&dice, 200);
            fast.spawn_speed = (int16_t)plain.spawn_speed;
            fast.move_speed = (int16_t)plain.move_speed;
            fast.aboard = plain.aboard;
            fast.oxygen = (int16_t)plain.oxygen;
        }
        bool fast_ends = false, plain_ends = false;
        const int reward = game_step(&fast, &left, action, i % 3 != 0, true, &fast_ends);
        assert_int_equal(reward, plain_step(&plain, &right, action, i % 3 != 0, true, &plain_ends));
        assert_int_equal(fast_ends, plain_ends);
        uint64_t fast_words[PESS__WORDS], plain_words[PESS__WORDS];
        game_draw(&fast, fast_words);
        plain_draw(&plain, plain_words);
        assert_memory_equal(fast_words, plain_words, sizeof fast_words);
        assert_true(game_valid(&fast));
        if (fast.count[SHOAL] > most) most = fast.count[SHOAL];
        if (fast_ends && pess__rng_below(&dice, 20) == 0) { /* mostly the play goes on, so that boards fill up */
            game_reset(&fast, &left, true);
            plain_reset(&plain, &right, true);
        } else if (fast_ends) {
            fast.oxygen = 200;
            plain.oxygen = 200;
        }
    }
    assert_true(most > near[SHOAL]); /* long lists were among them */
}

static void the_fast_draws_play_the_same_game(void **unused) {
    (void)unused;
    check_fast_door(20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_game_starts_as_the_rules_say),      cmocka_unit_test(enemies_appear_as_the_rules_say),
        cmocka_unit_test(divers_appear_as_the_rules_say),      cmocka_unit_test(the_submarine_does_as_told),
        cmocka_unit_test(bullets_hit_what_is_before_them),     cmocka_unit_test(divers_are_picked_up),
        cmocka_unit_test(enemies_move_at_their_speed),         cmocka_unit_test(enemy_submarines_shoot),
        cmocka_unit_test(enemy_bullets_end_the_game),          cmocka_unit_test(timers_run_down_and_oxygen_runs_out),
        cmocka_unit_test(surfacing_costs_a_diver_or_the_game), cmocka_unit_test(the_game_grows_harder),
        cmocka_unit_test(the_fast_game_is_the_plain_one),      cmocka_unit_test(the_fast_draws_play_the_same_game)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
