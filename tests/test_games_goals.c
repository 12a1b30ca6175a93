/* The rules by which curves are judged: the paper's claims, and what uncertainty-aware learning is held to. */
#include "games_case.h"

#include <math.h>

/* ---- claims */

enum { XS = 4 };
static const double xs[XS] = {0, 0.1, 0.5, 1};

/* Hand-made curves of one game: data policy, imitation, naive, proximal. */
static size_t judge(const char *game, const double curve[4][XS], pess_experiment_claim *claims) {
    static const char *const names[] = {"behaviour", "imitation", "naive", "proximal-0.25"};
    static pess_experiment_point points[4 * XS];
    size_t count = 0;
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < XS; i++)
            if (!isnan(curve[c][i]))
                points[count++] =
                    (pess_experiment_point){.game = game, .algorithm = names[c], .x = xs[i], .mean = curve[c][i]};
    return pess__games_judge(points, count, game, xs, XS, "proximal-0.25", claims);
}

static void claims_are_judged_by_their_rules(void **state) {
    (void)state;
    pess_experiment_claim claims[PESS__GAMES_CLAIMS];
    const double good[4][XS] = {{40, 30, 10, 1}, {38, 29, 9, 1}, {2, 5, 20, 15}, {39, 28, 19, 14}};
    assert_int_equal(judge("breakout", good, claims), 3);
    for (int i = 0; i < 3; i++) assert_true(claims[i].judged && claims[i].holds);
    assert_non_null(strstr(claims[0].found, "at ε = 1 naive 15, imitation 1; at ε = 0 naive 2, imitation 38"));
    assert_non_null(strstr(claims[1].found, "-1.00 over 4"));
    assert_non_null(strstr(claims[2].found, "at worst 0.97 times imitation (ε = 0.1)"));
    assert_non_null(strstr(claims[2].found, "+13 above it (ε = 1)"));
    assert_non_null(strstr(claims[2].found, "not below naive at 2 of 4"));
    /* Each rule at its edge: naive at half of imitation, ranks in disorder, proximal at 0.79 of imitation, no gain. */
    const double half[4][XS] = {{40, 30, 10, 1}, {38, 29, 9, 1}, {19, 5, 20, 15}, {39, 28, 19, 14}};
    (void)judge("breakout", half, claims);
    assert_false(claims[0].holds);
    const double low[4][XS] = {{40, 30, 10, 1}, {38, 29, 9, 1}, {18.9, 5, 20, 0.9}, {39, 28, 19, 14}};
    (void)judge("breakout", low, claims);
    assert_false(claims[0].holds);
    const double mixed[4][XS] = {{40, 30, 10, 1}, {29, 9, 38, 1}, {2, 5, 20, 15}, {39, 28, 40, 14}};
    (void)judge("breakout", mixed, claims); /* Spearman's of ranks 3 2 4 1: -0.4 */
    assert_false(claims[1].holds);
    assert_non_null(strstr(claims[1].found, "-0.40"));
    const double swapped[4][XS] = {{40, 30, 10, 1}, {29, 38, 9, 1}, {2, 5, 20, 15}, {39, 38, 40, 14}};
    (void)judge("breakout", swapped, claims); /* ranks 3 4 2 1: -0.8 */
    assert_true(claims[1].holds);
    const double below[4][XS] = {{40, 30, 10, 1}, {38, 29, 9, 1}, {2, 5, 20, 15}, {39, 22.9, 19, 14}};
    (void)judge("breakout", below, claims);
    assert_false(claims[2].holds);
    const double level[4][XS] = {{40, 30, 10, 1}, {38, 29, 9, 1}, {2, 5, 20, 15}, {39, 30, 9, 1}};
    (void)judge("breakout", level, claims);
    assert_false(claims[2].holds);
    /* Nothing is far below nothing. */
    const double zero[4][XS] = {{40, 30, 10, 0}, {38, 29, 9, 0}, {2, 5, 20, 0}, {39, 30, 10, 0}};
    (void)judge("breakout", zero, claims);
    assert_true(claims[0].holds && claims[2].holds);
}

static void freeway_is_judged_by_its_own_rule(void **state) {
    (void)state;
    pess_experiment_claim claims[PESS__GAMES_CLAIMS];
    const double paper[4][XS] = {{60, 50, 20, 0}, {58, 48, 19, 0}, {0, 55, 50, 0}, {58, 49, 21, 1}};
    assert_int_equal(judge("freeway", paper, claims), 4);
    assert_true(claims[3].judged && claims[3].holds); /* gain 1; naive 55 of 60 */
    const double gains[4][XS] = {{60, 50, 20, 0}, {58, 48, 19, 0}, {0, 55, 50, 0}, {58, 55, 40, 10}};
    (void)judge("freeway", gains, claims); /* gain 9.5 */
    assert_false(claims[3].holds);
    const double weak[4][XS] = {{60, 50, 20, 0}, {58, 48, 19, 0}, {58, 53, 50, 58}, {58, 49, 21, 1}};
    (void)judge("freeway", weak, claims); /* good only at the ends */
    assert_false(claims[3].holds);
}

/* A rule whose points are not there is not judged, whatever the others say. */
static void what_lacks_runs_is_not_judged(void **state) {
    (void)state;
    pess_experiment_claim claims[PESS__GAMES_CLAIMS];
    const double holes[4][XS] = {{40, 30, 10, 1}, {38, 29, NAN, NAN}, {2, 5, 20, 15}, {39, 28, NAN, 14}};
    assert_int_equal(judge("freeway", holes, claims), 4);
    for (int i = 0; i < 4; i++) {
        assert_false(claims[i].judged);
        assert_non_null(strstr(claims[i].found, "not judged"));
    }
    const double nobody[4][XS] = {{40, 30, 10, 1}, {38, 29, 9, 1}, {NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}};
    (void)judge("breakout", nobody, claims);
    assert_true(!claims[0].judged && claims[1].judged && !claims[2].judged);
}

/* ---- what uncertainty-aware learning is held to */

enum { GOAL_XS = 7, GOAL_CURVES = 9 };
static const double goal_xs[GOAL_XS] = {0, 0.05, 0.1, 0.2, 0.33, 0.66, 1};
static const char *const goal_names[GOAL_CURVES] = {"behaviour",    "imitation", "imitation-argmax",
                                                    "naive",        "proximal",  "proximal-0.5-argmax",
                                                    "ua-imitation", "bcq",       "cql"};

static double crr_exp = NAN; /* level of that curve; NAN: not there */

/* Two games with the same curves: level[c] at every x, trials from `low` below to as much above; ua is `drop` lower at
 * the first `drops` x. */
static size_t judge_goals(const double level[GOAL_CURVES], double low, int drops, double drop, bool data,
                          pess_experiment_claim *claims) {
    static pess_experiment_point points[2 * GOAL_XS * (GOAL_CURVES + 2)];
    const pess_env_info *games[] = {pess_env_find("breakout"), pess_env_find("freeway")};
    size_t count = 0;
    for (int g = 0; g < 2; g++)
        for (int c = 0; c <= GOAL_CURVES + 1; c++)
            for (int i = 0; i < GOAL_XS; i++) {
                const int from = c < GOAL_CURVES ? c : GOAL_CURVES - 1; /* crr as cql */
                const double mean = c > GOAL_CURVES ? crr_exp : level[from] - (c == 6 && i < drops ? drop : 0);
                if (isnan(mean)) continue;
                points[count++] = (pess_experiment_point){.game = games[g]->name,
                                                          .algorithm = c < GOAL_CURVES    ? goal_names[c]
                                                                       : c == GOAL_CURVES ? "crr"
                                                                                          : "crr-exp",
                                                          .x = goal_xs[i],
                                                          .mean = mean,
                                                          .min = mean - low,
                                                          .max = mean + low};
            }
    return data ? pess__games_judge_data_goals(points, count, games, 2, goal_xs, GOAL_XS, claims)
                : pess__games_judge_exploration_goals(points, count, games, 2, goal_xs, GOAL_XS, claims);
}

static void goals_are_judged_by_their_rules(void **state) {
    (void)state;
    pess_experiment_claim claims[PESS__GAMES_GOALS * 3];
    const double level[GOAL_CURVES] = {40, 20, 30, 10, 25, 28, 31, 29, 5};
    assert_int_equal(judge_goals(level, 0.5, 0, 0, false, claims), 6);
    for (int i = 0; i < 6; i++) assert_true(claims[i].judged && claims[i].holds);
    assert_string_equal(claims[2].about, "all games");
    assert_non_null(strstr(claims[2].found, "within noise at 14 of 14 points, by the mean alone at 14"));
    assert_non_null(strstr(claims[3].found, "ua-imitation 31, proximal 25"));
    assert_non_null(strstr(claims[5].found, "ua-imitation 0.775, bcq 0.725, cql 0.125, crr 0.125"));
    /* Within noise: the largest trial reaches the best one's smallest. Six sevenths: one x of seven may fail. */
    (void)judge_goals(level, 0.5, 7, 1.9, false, claims);
    assert_true(claims[0].holds && claims[2].holds);
    assert_non_null(strstr(claims[0].found, "within noise at 7 of 7 ε, by the mean alone at 0; at worst -0.9 against "
                                            "imitation-argmax (ε = 0)"));
    (void)judge_goals(level, 0.5, 1, 2.1, false, claims);
    assert_true(claims[0].holds && claims[2].holds);
    assert_non_null(strstr(claims[2].found, "within noise at 12 of 14"));
    (void)judge_goals(level, 0.5, 2, 2.1, false, claims);
    assert_false(claims[0].holds || claims[2].holds);
    /* Level with proximal, or with a peer, is not above. */
    const double even[GOAL_CURVES] = {40, 20, 30, 10, 31, 28, 31, 31, 5};
    (void)judge_goals(even, 0.5, 0, 0, false, claims);
    assert_true(claims[0].holds && !claims[3].holds && !claims[4].holds && !claims[5].holds);
    crr_exp = 31.5;
    (void)judge_goals(level, 0.5, 0, 0, false, claims);
    assert_false(claims[5].holds);
    assert_non_null(strstr(claims[5].found, "crr 0.125, crr-exp 0.787"));
    crr_exp = NAN;
    /* A curve that is not there: its sentences are not judged, the others are. */
    const double no_peer[GOAL_CURVES] = {40, 20, 30, 10, 25, 28, 31, 29, NAN};
    (void)judge_goals(no_peer, 0.5, 0, 0, false, claims);
    assert_true(claims[0].judged && claims[3].judged && !claims[5].judged);
    const double no_naive[GOAL_CURVES] = {40, 20, 30, NAN, 25, 28, 31, 29, 5};
    (void)judge_goals(no_naive, 0.5, 0, 0, false, claims);
    assert_true(!claims[0].judged && !claims[2].judged && claims[3].judged);
    const double nobody[GOAL_CURVES] = {40, 20, 30, 10, 25, 28, NAN, 29, 5};
    assert_int_equal(judge_goals(nobody, 0.5, 0, 0, false, claims), 0);
}

static void goals_of_data_are_judged_by_their_rules(void **state) {
    (void)state;
    pess_experiment_claim claims[PESS__GAMES_GOALS * 3];
    const double level[GOAL_CURVES] = {40, 20, 30, 10, 25, 28, 31, 29, 5};
    assert_int_equal(judge_goals(level, 0.5, 4, 8, true, claims), 2); /* grows: ranks 2.5 2.5 2.5 2.5 6 6 6 */
    assert_true(claims[0].judged && claims[0].holds);
    assert_non_null(strstr(claims[0].found, "rank correlation 0.87, from 23 at 0 transitions to 31 at 1; proximal 25"));
    (void)judge_goals(level, 0.5, 0, 0, true, claims); /* level: no correlation */
    assert_false(claims[0].holds);
    const double behind[GOAL_CURVES] = {40, 20, 30, 10, 31, 28, 31, 29, 5};
    (void)judge_goals(behind, 0.5, 4, 8, true, claims);
    assert_false(claims[0].holds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_judged_by_their_rules),        cmocka_unit_test(freeway_is_judged_by_its_own_rule),
        cmocka_unit_test(what_lacks_runs_is_not_judged),           cmocka_unit_test(goals_are_judged_by_their_rules),
        cmocka_unit_test(goals_of_data_are_judged_by_their_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
