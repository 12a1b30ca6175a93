/* The torus: where moves lead, what they pay, and odd sizes. */
#include "scratch.h"

#include "model/mdp.h"
#include "model/model.h"

#include <math.h>

static pess_mdp *make(const pess_gridworld_options *options, pess_model **model) {
    pess_mdp *mdp = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_gridworld(options, &mdp, &error), &error);
    assert_ok(pess_mdp_model(mdp, 0, model, &error), &error);
    return mdp;
}

/* 3 × 4 cells:  0  1  2  3
 *               4  5  6  7
 *               8  9 10 11    neighbours up, right, down, left, read off this drawing. */
static const int neighbours[12][4] = {{8, 1, 4, 3},  {9, 2, 5, 0},  {10, 3, 6, 1}, {11, 0, 7, 2},
                                      {0, 5, 8, 7},  {1, 6, 9, 4},  {2, 7, 10, 5}, {3, 4, 11, 6},
                                      {4, 9, 0, 11}, {5, 10, 1, 8}, {6, 11, 2, 9}, {7, 8, 3, 10}};

static void moves_go_where_the_drawing_says(void **state) {
    (void)state;
    pess_gridworld_options options = pess_gridworld_options_defaults();
    options.rows = 3;
    options.cols = 4;
    pess_model *model = NULL;
    pess_mdp *mdp = make(&options, &model);
    assert_int_equal(pess_mdp_states(mdp), 12);
    assert_int_equal(pess_mdp_actions(mdp), 4);
    assert_int_equal(pess_mdp_transitions(mdp), 12 * 4 * 4 * 2);
    for (int s = 0; s < 12; s++)
        for (int a = 0; a < 4; a++) {
            double expected[12] = {0};
            for (int d = 0; d < 4; d++) expected[neighbours[s][d]] = d == a ? 0.85 : 0.05;
            for (int to = 0; to < 12; to++) assert_close(pess_model_probability(model, s, a, to), expected[to], 1e-15);
        }
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
}

static void rows_sum_to_one(void **state) {
    (void)state;
    const int64_t sizes[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 5}, {5, 1}, {2, 7}, {8, 8}};
    const double slips[] = {0, 0.2, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int j = 0; j < 3; j++) {
            pess_gridworld_options options = pess_gridworld_options_defaults();
            options.rows = sizes[i][0];
            options.cols = sizes[i][1];
            options.slip = slips[j];
            pess_model *model = NULL;
            pess_mdp *mdp = make(&options, &model);
            for (int64_t pair = 0; pair < 4 * mdp->states; pair++) {
                double sum = 0;
                for (int64_t k = model->row[pair]; k < model->row[pair + 1]; k++) {
                    sum += model->probability[k];
                    assert_true(model->probability[k] > 0);
                }
                assert_close(sum, 1, 1e-14);
                for (int64_t k = mdp->row[pair]; k < mdp->row[pair + 1]; k++) {
                    assert_true(mdp->probability[k] > 0 && mdp->probability[k] <= 1);
                    assert_true(mdp->reward[k] == 0 || mdp->reward[k] == 1);
                }
            }
            pess_model_destroy(model);
            pess_mdp_destroy(mdp);
        }
}

/* One row of five cells: up and down stay; 1 × 2: left and right both lead to the other cell. */
static void narrow_grids_merge(void **state) {
    (void)state;
    pess_gridworld_options options = pess_gridworld_options_defaults();
    options.rows = 1;
    options.cols = 5;
    pess_model *model = NULL;
    pess_mdp *mdp = make(&options, &model);
    assert_close(pess_model_probability(model, 2, 0, 2), 0.85 + 0.05, 1e-15);
    assert_close(pess_model_probability(model, 2, 0, 3), 0.05, 1e-15);
    assert_close(pess_model_probability(model, 2, 1, 3), 0.85, 1e-15);
    assert_close(pess_model_probability(model, 2, 1, 2), 0.1, 1e-15);
    assert_close(pess_model_probability(model, 4, 1, 0), 0.85, 1e-15);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
    options.cols = 2;
    mdp = make(&options, &model);
    assert_close(pess_model_probability(model, 0, 3, 1), 0.9, 1e-15);
    assert_close(pess_model_probability(model, 0, 0, 0), 0.9, 1e-15);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
}

/* Means are Beta(1,3): mean 1/4, variance 3/80. */
static void rewards_follow_the_law(void **state) {
    (void)state;
    pess_gridworld_options options = pess_gridworld_options_defaults();
    options.rows = options.cols = 100;
    pess_model *random = NULL, *fixed = NULL;
    pess_mdp *mdp = make(&options, &random);
    options.rewards = PESS_REWARD_MEAN;
    pess_mdp *plain = make(&options, &fixed);
    const int64_t pairs = 4 * mdp->states;
    assert_int_equal(pess_mdp_transitions(plain) * 2, pess_mdp_transitions(mdp));
    double sum = 0, square = 0;
    for (int64_t pair = 0; pair < pairs; pair++) {
        const double r = random->reward[pair];
        assert_close(r, fixed->reward[pair], 1e-14); /* the same draws, paid differently */
        sum += r;
        square += r * r;
    }
    const double count = (double)pairs;
    assert_close(sum / count, 0.25, 4.9 * sqrt(3.0 / 80 / count));   /* a false alarm in 10^6 */
    assert_close(square / count, 0.1, 4.9 * sqrt(1.0 / 35 / count)); /* E r⁴ = 1/35 bounds the variance of r² */
    pess_model_destroy(random);
    pess_model_destroy(fixed);
    pess_mdp_destroy(mdp);
    pess_mdp_destroy(plain);
}

static void seeds_draw_other_rewards(void **state) {
    (void)state;
    pess_gridworld_options options = pess_gridworld_options_defaults();
    pess_model *a = NULL, *b = NULL, *c = NULL;
    pess_mdp *first = make(&options, &a), *same = make(NULL, &b);
    options.seed = 7;
    pess_mdp *other = make(&options, &c);
    assert_memory_equal(a->reward, b->reward, 256 * sizeof(double));
    assert_memory_not_equal(a->reward, c->reward, 256 * sizeof(double));
    pess_model_destroy(a);
    pess_model_destroy(b);
    pess_model_destroy(c);
    pess_mdp_destroy(first);
    pess_mdp_destroy(same);
    pess_mdp_destroy(other);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    const pess_gridworld_options good = pess_gridworld_options_defaults();
    pess_gridworld_options bad[8] = {good, good, good, good, good, good, good, good};
    bad[0].rows = 0;
    bad[1].cols = -3;
    bad[2].slip = 1.1;
    bad[3].slip = NAN;
    bad[4].reward_beta[0] = 0;
    bad[5].reward_beta[1] = -1;
    bad[6].reward_beta[1] = INFINITY;
    bad[7].rows = bad[7].cols = INT64_MAX / 2;
    for (int i = 0; i < 8; i++) {
        pess_mdp *mdp = NULL;
        pess_error error = {0};
        assert_failure(pess_mdp_gridworld(&bad[i], &mdp, &error), i < 7 ? PESS_ARGUMENT : PESS_LIMIT, &error, NULL);
        assert_null(mdp);
        assert_true(strlen(error.message) > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_go_where_the_drawing_says),
        cmocka_unit_test(rows_sum_to_one),
        cmocka_unit_test(narrow_grids_merge),
        cmocka_unit_test(rewards_follow_the_law),
        cmocka_unit_test(seeds_draw_other_rewards),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
