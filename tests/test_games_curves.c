/* From the runs of a experiment with games to its points, tables, figures and page. */
#include "games_case.h"

#include "report/report.h"
#include "report/style.h"

#include <math.h>

static pess__games *two_points(void) {
    pess_experiment_options o = options();
    o.games = "breakout";
    o.epsilons = "0,1";
    o.trials = 3;
    o.algorithms = "naive,proximal";
    return plan(&o);
}

static void curves_are_means_of_their_trials(void **state) {
    (void)state;
    pess__games *m = two_points();
    for (int64_t d = 0; d < m->dataset_count; d++)
        for (int c = 0; c < m->curve_count; c++) {
            if (m->datasets[d].trial == 2 && m->datasets[d].x == 1 && c == 1) continue; /* one run is missing */
            *pess__games_run_of(m, d, c) =
                (pess__games_run){.finished = true,
                                  .result = {.score = 10 * c + m->datasets[d].trial, .control = 0.1, .predicted = NAN},
                                  .behaviour = 5};
        }
    assert_int_equal(pess__games_summarise(m, NULL), PESS_OK);
    size_t count = 0;
    const pess_experiment_point *points = pess_experiment_points(m->experiment, &count);
    assert_int_equal(count, 8); /* behaviour, naive, proximal, proximal-argmax at two x; imitation was not asked for */
    const pess_experiment_point *naive = pess__games_point_at(points, count, "breakout", "naive", 0);
    assert_true(naive->trials == 3 && naive->mean == 11 && naive->min == 10 && naive->max == 12);
    assert_true(isnan(naive->values[PESS__PREDICTED]) && naive->values[PESS__BEHAVIOUR] == 5);
    naive = pess__games_point_at(points, count, "breakout", "naive", 1);
    assert_true(naive->trials == 2 && naive->mean == 10.5 && naive->max == 11);
    const pess_experiment_point *control = pess__games_point_at(points, count, "breakout", "proximal-argmax", 0);
    assert_true(control->mean == 0.1 && control->min == 0.1 && control->max == 0.1 &&
                isnan(control->values[PESS__FINAL]));
    assert_true(pess__games_point_at(points, count, "breakout", "behaviour", 1)->trials == 3);
    assert_null(pess__games_point_at(points, count, "breakout", "imitation", 0));
    assert_null(pess__games_point_at(points, count, "breakout", "naive-argmax", 0)); /* it does not sample */
    destroy(m);
}

static const pess__curve *curve_of(const pess__figure *figure, const char *name) {
    for (int64_t c = 0; c < figure->panels[0].curve_count; c++)
        if (strcmp(figure->panels[0].curves[c].algorithm, name) == 0) return &figure->panels[0].curves[c];
    fail_msg("no curve %s", name);
    return NULL;
}

static void expect_text(pess_status (*write)(const pess_experiment *, const char *, pess_error *), const pess__games *m,
                        const char *const *texts) {
    const char *path = scratch_path(2, ".text");
    assert_int_equal(write(m->experiment, path, NULL), PESS_OK);
    char *found = scratch_read(path);
    for (; *texts != NULL; texts++)
        if (strstr(found, *texts) == NULL) fail_msg("'%s' is missing", *texts);
    free(found);
    scratch_remove(path);
}

static pess_status write_page(const pess_experiment *e, const char *path, pess_error *error) {
    return pess__report_page(e, "pess experiment", path, error);
}

/* From results to points, page and tables: every number arrives in its own place. */
static void every_number_arrives_in_its_place(void **state) {
    (void)state;
    pess__games *m = two_points();
    for (int64_t d = 0; d < m->dataset_count; d++)
        for (int c = 0; c < m->curve_count; c++) /* naive has 0 and 1, proximal 2 and 3 */
            *pess__games_run_of(m, d, c) =
                (pess__games_run){.finished = true,
                                  .result = made_up(2 * c - 2 + m->datasets[d].x, m->datasets[d].trial - 1),
                                  .behaviour = 60 + m->datasets[d].x,
                                  .data_return = 90};
    assert_int_equal(pess__games_summarise(m, NULL), PESS_OK);
    size_t count = 0;
    const pess_experiment_point *points = pess_experiment_points(m->experiment, &count);
    const pess_experiment_point *p = pess__games_point_at(points, count, "breakout", "proximal", 1);
    assert_true(p->trials == 3 && p->mean == 23 && p->min == 22 && p->max == 24 && p->values[PESS__BEHAVIOUR] == 61);
    assert_true(p->values[PESS__FINAL] == 33 && p->values[PESS__BEST] == 43 && p->values[PESS__CONTROL] == 53);
    assert_true(p->values[PESS__PREDICTED] == 4.5 && p->values[PESS__OBTAINED] == 3.25 &&
                p->values[PESS__OUTSIDE] == 1 && p->values[PESS__SPREAD] == 7);
    p = pess__games_point_at(points, count, "breakout", "proximal-argmax", 1);
    assert_true(p->mean == 53 && p->min == 52 && p->max == 54 && p->values[PESS__CONTROL] == 53);
    assert_true(isnan(p->values[PESS__PREDICTED]) && isnan(p->values[PESS__OBTAINED]) &&
                isnan(p->values[PESS__OUTSIDE]) && isnan(p->values[PESS__SPREAD]));
    pess__figure figure = {0};
    assert_int_equal(pess__report_second_figure(m->experiment, &pess__games_tables[0], &figure, NULL), PESS_OK);
    assert_int_equal(figure.panels[0].curve_count, 4);
    assert_true(curve_of(&figure, "naive-predicted")->mean[1] == 2.5 &&
                curve_of(&figure, "proximal-obtained")->mean[0] == 2.25);
    pess__figure_release(&figure);
    expect_text(write_page, m,
                (const char *const[]){"<tr><td>0</td><td>1.50 / 0.25</td><td>3.50 / 2.25</td></tr>\n"
                                      "<tr><td>1</td><td>2.50 / 1.25</td><td>4.50 / 3.25</td></tr>",
                                      "<tr><td>0</td><td>30.0 / 40.0 / 4.00 / 25 %</td>"
                                      "<td>32.0 / 42.0 / 6.00 / 75 %</td></tr>\n"
                                      "<tr><td>1</td><td>31.0 / 41.0 / 5.00 / 50 %</td>"
                                      "<td>33.0 / 43.0 / 7.00 / 100 %</td></tr>",
                                      NULL});
    expect_text(pess__report_results, m,
                (const char *const[]){"breakout,naive,0,3,20,19,21,30,40,50,1.5,0.25,0.25,4,60\n",
                                      "breakout,proximal,1,3,23,22,24,33,43,53,4.5,3.25,1,7,61\n",
                                      "breakout,proximal-argmax,1,3,53,52,54,,,53,,,,,61\n", NULL});
    expect_text(pess__report_runs, m,
                (const char *const[]){"breakout,naive,0,1,19,28,37,3,49,1,0.125,0.1875,70,80,60,90,6,12\n",
                                      "breakout,proximal,1,3,24,35,46,8,54,5,3.375,1.0625,73,83,61,90,6,12\n", NULL});
    destroy(m);
}

/* ---- looks */

static void learners_can_be_told_apart(void **state) {
    (void)state;
    const pess__style imitation = pess__style_of("imitation"), argmax = pess__style_of("imitation-argmax");
    assert_true(argmax.colour == imitation.colour && argmax.thin && !imitation.thin);
    assert_string_equal(argmax.label, "Imitation, argmax");
    assert_string_equal(pess__style_of("proximal-0.5").label, "Proximal α = 0.5");
    const pess__style other = pess__style_of("proximal-0.125-argmax");
    assert_string_equal(other.label, "Proximal α = 0.125, argmax");
    assert_true(other.colour == pess__style_of("proximal").colour);
    assert_true(pess__style_of("behaviour").thin);
    assert_string_equal(pess__style_of("soft-spibb").label, "Soft-SPIBB");
    assert_string_equal(pess__style_of("unheard-of").label, "unheard-of");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_means_of_their_trials),
        cmocka_unit_test(every_number_arrives_in_its_place),
        cmocka_unit_test(learners_can_be_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
