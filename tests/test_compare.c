/* Comparisons of runs: the formulas by hand, intervals against their exact law, directories. */
#include "compare/compare.h"
#include "core/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, PESS_OK)

static void is_close(const char *what, double found, double wanted) {
    if (!(fabs(found - wanted) <= 1e-12 * (1 + fabs(wanted)))) fail_msg("%s: %.17g is not %.17g", what, found, wanted);
}

/* ---- formulas */

static void a_quarter_is_cut_off_at_either_end(void **state) {
    (void)state;
    double eight[] = {8, 1, 7, 2, 6, 3, 5, 100}, seven[] = {7, 1, 6, 2, 5, 3, 4}, three[] = {3, 1, 2}, one[] = {5};
    is_close("of 8", pess__interquartile_mean(eight, 8), (3.0 + 5 + 6 + 7) / 4);
    is_close("of 7", pess__interquartile_mean(seven, 7), (2.0 + 3 + 4 + 5 + 6) / 5); /* ⌊7/4⌋ = 1 */
    is_close("of 3", pess__interquartile_mean(three, 3), 2);
    is_close("of 1", pess__interquartile_mean(one, 1), 5);
}

static void quantiles_lie_between_the_values(void **state) {
    (void)state;
    const double sorted[] = {1, 2, 4, 8};
    is_close("0", pess__sorted_quantile(sorted, 4, 0), 1);
    is_close("0.5", pess__sorted_quantile(sorted, 4, 0.5), 3);
    is_close("0.9", pess__sorted_quantile(sorted, 4, 0.9), 4 + 0.7 * 4);
    is_close("1", pess__sorted_quantile(sorted, 4, 1), 8);
}

static double first_x[] = {1, 3}, second_x[] = {5, 5, 9}, first_y[] = {2, 3}, second_y[] = {5, 0, 5};
static const pess__score_cell x[] = {{first_x, 2}, {second_x, 3}}, y[] = {{first_y, 2}, {second_y, 3}};

static void improvement_and_profile_are_those_of_the_definition(void **state) {
    (void)state;
    double room[8];
    /* Task 0: 1 beats none, 3 beats 2 and ties with 3: 1.5 of 4. Task 1: 5 ties twice and wins once, twice; 9 wins 3.
     */
    is_close("improvement", pess__cells_improvement(x, y, 2), (1.5 / 4 + (2 + 2 + 3) / 9.0) / 2);
    is_close("the other way", pess__cells_improvement(y, x, 2), 1 - (1.5 / 4 + 7 / 9.0) / 2);
    is_close("above 3", pess__cells_above(x, 2, 3), (0 + 1.0) / 2);
    is_close("above 2.5", pess__cells_above(x, 2, 2.5), (0.5 + 1.0) / 2);
    is_close("mean", pess__cells_mean(x, 2), 23.0 / 5);
    is_close("median", pess__cells_median(x, 2, room), (2 + 19.0 / 3) / 2);
    is_close("iqm", pess__cells_iqm(x, 2, room), (3.0 + 5 + 5) / 3);
}

/* ---- comparisons */

static pess_comparison *begin(void) {
    pess_comparison *c = NULL;
    pess_error error;
    OK(pess__comparison_open(&c, &error));
    return c;
}

static void add(pess_comparison *c, const char *algorithm, const char *game, double at, double score) {
    pess_error error;
    OK(pess__comparison_add(c, algorithm, game, at, score, &error));
}

static void scores_are_scaled_game_by_game(void **state) {
    (void)state;
    pess_comparison *c = begin();
    pess_error error;
    const struct {
        const char *game;
        double x, a, b;
    } runs[] = {{"g", 0, 10, 30}, {"g", 1, 20, 20}, {"h", 0, -1, 1}};
    for (int i = 0; i < 3; i++) {
        add(c, "a", runs[i].game, runs[i].x, runs[i].a);
        add(c, "b", runs[i].game, runs[i].x, runs[i].b);
    }
    add(c, "a", "only a", 0, 1000); /* not compared, and not in any scale */
    OK(pess__comparison_finish(c, NULL, &error));
    assert_int_equal(c->info.tasks, 3);
    assert_int_equal(c->info.left_out, 1);
    is_close("mean of a", c->compared[0].mean.value, (0 + 0.5 + 0) / 3);
    is_close("mean of b", c->compared[1].mean.value, (1 + 0.5 + 1) / 3);
    is_close("raw", c->by_task[0].iqm.value, 10);
    is_close("raw", c->by_task[5].mean, 1);
    is_close("improvement", c->improvement[0].probability.value, 0.5 / 3);
    assert_non_null(strstr(c->info.warning, "6 of 6"));
    pess_comparison_destroy(c);
}

/* Two runs, 0 and 1, on one task: a resample's mean is 0, 1/2 or 1 with probabilities 1/4, 1/2, 1/4. */
static void intervals_are_percentiles_of_resamples_within_tasks(void **state) {
    (void)state;
    pess_error error;
    for (int tasks = 1; tasks <= 2; tasks++) {
        pess_comparison *c = begin();
        for (int m = 0; m < tasks; m++)
            for (int run = 0; run < 2; run++) {
                add(c, "a", "g", m, run);
                add(c, "b", "g", m, run);
            }
        pess_compare_options o = pess_compare_options_defaults();
        o.resamples = 20000;
        o.delta = tasks == 1 ? 0.48 : 0.1; /* tails of .24 < 1/4; of .05 < 1/16 < 5/16 */
        OK(pess__comparison_finish(c, &o, &error));
        is_close("lo", c->compared[0].mean.lo, 0);
        is_close("hi", c->compared[0].mean.hi, 1);
        /* equal runs, drawn independently: either may be ahead */
        assert_true(c->improvement[0].probability.lo < 0.5 && c->improvement[0].probability.hi > 0.5);
        pess_comparison_destroy(c);
        c = begin();
        for (int m = 0; m < tasks; m++)
            for (int run = 0; run < 2; run++) {
                add(c, "a", "g", m, run);
                add(c, "b", "g", m, run);
            }
        o.delta = tasks == 1 ? 0.52 : 0.14; /* .26 > 1/4; .07 > 1/16: P(mean 0) of two strata. One stratum of four runs
                                               would have 1/256 there and a quarter at the .07 quantile too */
        OK(pess__comparison_finish(c, &o, &error));
        is_close("lo", c->compared[0].mean.lo, tasks == 1 ? 0.5 : 0.25);
        is_close("hi", c->compared[0].mean.hi, tasks == 1 ? 0.5 : 0.75);
        pess_comparison_destroy(c);
    }
}

static pess_comparison *random_runs(int threads) {
    pess_comparison *c = begin();
    pess_error error;
    pess__rng rng = pess__rng_stream(1, "runs", 0);
    const char *names[] = {"a", "b", "c"};
    for (int a = 0; a < 3; a++)
        for (int m = 0; m < 4; m++)
            for (int run = 0; run < 5; run++) add(c, names[a], m < 2 ? "g" : "h", m, pess__rng_uniform(&rng) + a * 0.1);
    pess_compare_options o = pess_compare_options_defaults();
    o.threads = threads, o.resamples = 300;
    OK(pess__comparison_finish(c, &o, &error));
    return c;
}

static void threads_do_not_matter(void **state) {
    (void)state;
    pess_comparison *one = random_runs(1), *three = random_runs(3);
    for (int a = 0; a < 3; a++) {
        assert_memory_equal(&one->compared[a].iqm, &three->compared[a].iqm, 3 * sizeof(pess_interval));
        assert_true(one->compared[a].iqm.lo < one->compared[a].iqm.value);
        assert_true(one->compared[a].iqm.value < one->compared[a].iqm.hi);
    }
    assert_memory_equal(one->profile, three->profile, 3 * PESS_PROFILE_POINTS * sizeof *one->profile);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(&one->improvement[i].probability, &three->improvement[i].probability,
                            sizeof(pess_interval));
    pess_comparison_destroy(one);
    pess_comparison_destroy(three);
}

/* What an algorithm draws does not depend on who else is compared. */
static void another_algorithm_changes_nobodys_interval(void **state) {
    (void)state;
    pess_error error;
    pess_comparison *all = random_runs(1), *two = begin();
    for (int64_t i = 0; i < all->run_count; i++) {
        const pess__compare_run *run = &all->runs[i];
        if (run->algorithm < 2)
            add(two, all->names[run->algorithm], all->tasks[run->task].game, all->tasks[run->task].x, run->score);
    }
    pess_compare_options o = pess_compare_options_defaults();
    o.resamples = 300;
    OK(pess__comparison_finish(two, &o, &error));
    for (int m = 0; m < 4; m++) { /* in the task's own units, which no scale touches */
        is_close("lo", two->by_task[m * 2].iqm.lo, all->by_task[m * 3].iqm.lo);
        is_close("hi", two->by_task[m * 2].iqm.hi, all->by_task[m * 3].iqm.hi);
    }
    pess_comparison_destroy(all);
    pess_comparison_destroy(two);
}

static void what_is_no_comparison_is_refused(void **state) {
    (void)state;
    pess_error error = {0};
    pess_comparison *c = begin();
    add(c, "a", "g", 0, 1);
    assert_int_equal(pess__comparison_finish(c, NULL, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "one algorithm (a)"));
    pess_comparison_destroy(c);
    c = begin();
    add(c, "a", "g", 0, 1);
    add(c, "b", "h", 0, 1);
    assert_int_equal(pess__comparison_finish(c, NULL, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "there is no game and point at which"));
    pess_comparison_destroy(c);
    c = begin();
    add(c, "a", "g", 0, 1);
    pess_compare_options o = pess_compare_options_defaults();
    o.algorithms = "a,z";
    assert_int_equal(pess__comparison_finish(c, &o, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "'z'"));
    pess_comparison_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quarter_is_cut_off_at_either_end),
        cmocka_unit_test(quantiles_lie_between_the_values),
        cmocka_unit_test(improvement_and_profile_are_those_of_the_definition),
        cmocka_unit_test(scores_are_scaled_game_by_game),
        cmocka_unit_test(intervals_are_percentiles_of_resamples_within_tasks),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(another_algorithm_changes_nobodys_interval),
        cmocka_unit_test(what_is_no_comparison_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
