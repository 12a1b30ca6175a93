/* Whole episodes: their order, returns and importance weights. Means are exact: every course of a small process is an
 * episode, weighted by its probability. */
#include "logs.h"
#include "rows.h"

#include "certify/importance.h"

#include <math.h>

enum { COURSES = 2 * 2 * 2, LENGTH = 2 };

/* A hidden variable decides what pays and how the behaviour acts; the states shown say nothing of it. */
static const double hidden_share[2] = {0.3, 0.7};
static const double behaviour[2][2][2] = {{{0.9, 0.1}, {0.25, 0.75}}, {{0.2, 0.8}, {0.5, 0.5}}}; /* hidden, step, a */
static const double payment[2][2][2] = {{{1, 0}, {0.5, 2}}, {{0, 0.25}, {1.5, 1}}};              /* hidden, a0, a1 */
static const double policy[2][2] = {{0.4, 0.6}, {0.75, 0.25}};                                   /* step, a */
static const double gamma_ = 0.9;

typedef struct courses {
    pess_dataset *data;
    double chance[COURSES];
    double value_policy, value_behaviour;
} courses;

/* Each course is an episode; `cut` of them end in a cut-off after the first step. */
static courses every_course(bool cut) {
    courses c = {0};
    made.count = 0;
    for (int i = 0; i < COURSES; i++) {
        const int h = i & 1, a[2] = {i >> 1 & 1, i >> 2 & 1};
        const double paid = payment[h][a[0]][a[1]];
        c.chance[i] = hidden_share[h] * behaviour[h][0][a[0]] * behaviour[h][1][a[1]];
        c.value_behaviour += c.chance[i] * gamma_ * paid;
        c.value_policy += hidden_share[h] * policy[0][a[0]] * policy[1][a[1]] * gamma_ * paid;
        for (int t = 0; t < LENGTH; t++) {
            const bool stop = cut && t == 0 && h == 0;
            rows_put((log_row){.state = (uint32_t)t,
                               .action = (uint32_t)a[t],
                               .reward = t == 1 ? paid : 0,
                               .next = (uint32_t)t + 1,
                               .end = stop     ? PESS_END_CUTOFF
                                      : t == 1 ? PESS_END_TERMINAL
                                               : PESS_END_NONE,
                               .episode = 100 - i,
                               .probability = behaviour[h][t][a[t]]});
            if (stop) break;
        }
    }
    c.data = rows_dataset(3, 2, ROWS_EPISODES | ROWS_PROBABILITIES);
    return c;
}

typedef struct weighed {
    pess__trajectories *trajectories;
    pess__returns *returns;
    double weight[COURSES], decision[COURSES];
} weighed;

static weighed weigh(const courses *c, double lo, double hi) {
    weighed w = {0};
    assert_int_equal(pess__trajectories_create(c->data, &w.trajectories, NULL), PESS_OK);
    assert_int_equal(w.trajectories->count, COURSES);
    assert_int_equal(pess__returns_create(c->data, w.trajectories, gamma_, lo, hi, &w.returns, NULL), PESS_OK);
    const double table[3 * 2] = {policy[0][0], policy[0][1], policy[1][0], policy[1][1], 0, 0};
    pess__importance_weights(c->data, w.trajectories, c->data->probability, table, gamma_, lo, 0, COURSES, 2, w.weight,
                             w.decision);
    return w;
}

static void weighed_free(weighed *w, courses *c) {
    pess__returns_destroy(w->returns);
    pess__trajectories_destroy(w->trajectories);
    pess_dataset_destroy(c->data);
}

static double mean_of(const courses *c, const double *values) {
    double sum = 0;
    for (int i = 0; i < COURSES; i++) sum += c->chance[i] * values[i];
    return sum;
}

static void means_are_the_values_although_a_variable_is_hidden(void **state) {
    (void)state;
    const double lo = -0.5, hi = 2;
    courses c = every_course(false);
    weighed w = weigh(&c, lo, hi);
    double values[COURSES];
    pess__importance_values(w.returns, w.weight, 0, COURSES, INFINITY, values);
    assert_true(fabs(mean_of(&c, values) - (c.value_policy - lo)) < 1e-12);
    pess__importance_values(w.returns, w.weight, 0, COURSES, 1.0, values);
    assert_true(mean_of(&c, values) < c.value_policy - lo);
    pess__importance_differences(w.returns, w.weight, 0, COURSES, values);
    assert_true(fabs(mean_of(&c, values) - (c.value_policy - c.value_behaviour + hi - lo)) < 1e-12);
    for (int i = 0; i < COURSES; i++) assert_true(values[i] >= 0);
    assert_true(fabs(mean_of(&c, w.decision) - (c.value_policy - lo)) < 1e-12);
    assert_true(fabs(mean_of(&c, w.weight) - 1) < 1e-12);
    weighed_free(&w, &c);
}

/* Cut-offs make every number smaller, never larger. Here all courses of one hidden kind are cut off after a step. */
static void what_is_not_seen_counts_with_the_least(void **state) {
    (void)state;
    const double lo = 0, hi = 2;
    courses whole = every_course(false), cut = every_course(true);
    weighed w = weigh(&cut, lo, hi);
    double values[COURSES];
    /* Both courses that share the first step stand for one cut-off episode: their chances add up. */
    pess__importance_values(w.returns, w.weight, 0, COURSES, INFINITY, values);
    assert_true(mean_of(&cut, values) < whole.value_policy - lo);
    pess__importance_differences(w.returns, w.weight, 0, COURSES, values);
    assert_true(mean_of(&cut, values) < whole.value_policy - whole.value_behaviour + hi - lo);
    for (int i = 0; i < COURSES; i++) assert_true(values[i] >= 0);
    pess_dataset_destroy(whole.data);
    weighed_free(&w, &cut);
}

static void episodes_come_in_the_order_of_their_first_rows(void **state) {
    (void)state;
    /* Episode 7 begins first in the file, although 3 is the smaller name; steps are out of order. */
    const uint32_t s[6] = {0, 1, 2, 0, 1, 2}, a[6] = {0};
    const double reward[6] = {1, 2, 4, 8, 16, 32};
    const uint8_t end[6] = {0, 0, PESS_END_TERMINAL, 0, PESS_END_CUTOFF, 0};
    const int64_t episode[6] = {7, 3, 7, 3, 3, 7}, step[6] = {0, 1, 2, 0, 2, 1};
    const pess_columns columns = {.rows = 6,
                                  .state = s,
                                  .action = a,
                                  .next_state = s,
                                  .reward = reward,
                                  .end = end,
                                  .episode = episode,
                                  .step = step};
    pess_dataset *data = NULL;
    pess__trajectories *t = NULL;
    pess__returns *r = NULL;
    assert_int_equal(pess_dataset_create(&columns, 0, 0, &data, NULL), PESS_OK);
    assert_int_equal(pess__trajectories_create(data, &t, NULL), PESS_OK);
    const int64_t rows[6] = {0, 5, 2, 3, 1, 4};
    assert_int_equal(t->count, 2);
    assert_int_equal(t->begin[1], 3);
    for (int i = 0; i < 6; i++) assert_int_equal(t->row[i], rows[i]);
    assert_int_equal(pess__returns_create(data, t, 0.5, 0, 100, &r, NULL), PESS_OK);
    assert_true(r->least[0] == 1 + 16 + 1 && r->most[0] == 18);
    assert_true(r->least[1] == 8 + 1 + 4 && r->most[1] == 13 + 0.125 * 100);
    pess__returns_destroy(r);
    pess_error error;
    assert_int_equal(pess__returns_create(data, t, 0.5, 0, 17, &r, &error), PESS_INPUT);
    assert_string_equal(error.message,
                        "the return of episode '7' is 18, outside the declared range of returns from 0 to 17");
    pess__trajectories_destroy(t);
    pess_dataset_destroy(data);
}

static void summaries_say_how_much_the_weights_are_worth(void **state) {
    (void)state;
    const double weight[5] = {0, 0, 2, 2, 4};
    const pess__weight_summary s = pess__importance_summary(weight, 5);
    assert_true(s.mean == 8.0 / 5 && s.largest == 4 && s.zero_share == 0.4);
    assert_true(fabs(s.effective - 64.0 / 24) < 1e-12);
    assert_true(fabs(s.error - sqrt((2 * 1.6 * 1.6 + 2 * 0.16 + 2.4 * 2.4) / 4 / 5)) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_the_values_although_a_variable_is_hidden),
        cmocka_unit_test(what_is_not_seen_counts_with_the_least),
        cmocka_unit_test(episodes_come_in_the_order_of_their_first_rows),
        cmocka_unit_test(summaries_say_how_much_the_weights_are_worth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
