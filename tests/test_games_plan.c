/* Plans of the deep experiments: which learner a word means, who is judged, what a run costs, what a directory
 * remembers. */
#include "scratch_tree.h"

#include "deep/learner.h"
#include "experiment/games_judge.h"
#include "experiment/queue.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pess_experiment_options options(const char *algorithms) {
    pess_experiment_options o = pess_experiment_options_defaults();
    o.experiment = "minatar-exploration";
    o.protocol = "smoke";
    o.games = "breakout";
    o.algorithms = algorithms;
    o.controls = 0;
    o.out = "nowhere";
    o.threads = 2;
    return o;
}

static pess__games *plan(const char *algorithms) {
    const pess_experiment_options o = options(algorithms);
    pess_experiment *e = NULL;
    pess_error error = {0};
    if (pess__experiment_plan(&o, &e, &error) != PESS_OK) fail_msg("%s", error.message);
    return pess__games_of(e);
}

static void destroy(pess__games *m) { pess_experiment_destroy(m->experiment); }

static void expect_refused(const char *algorithms, const char *says) {
    const pess_experiment_options o = options(algorithms);
    pess_experiment *e = NULL;
    pess_error error = {0};
    assert_int_equal(pess__experiment_plan(&o, &e, &error), PESS_ARGUMENT);
    if (strstr(error.message, says) == NULL) fail_msg("'%s' lacks '%s'", error.message, says);
}

static void set_out(pess__games *m, const char *directory) {
    assert_int_equal(pess__experiment_set_text(m->experiment, "out", directory, NULL), PESS_OK);
}

/* ---- words */

/* A learner has one name, whatever word finds it: a curve, a folder. */
static void aliases_name_the_same_learner(void **state) {
    (void)state;
    pess__games *m = plan("ua");
    assert_string_equal(m->curves[0].name, "ua-counts");
    assert_string_equal(m->curves[0].folder, "ua-counts-0.5");
    assert_string_equal(m->options->algorithms, "ua");
    destroy(m);
    expect_refused("ua,ua-counts", "ua-counts-0.5 is named twice");
    expect_refused("ua-counts,ua:0.5", "ua-counts-0.5 is named twice");
}

/* What training would refuse is refused before anything is collected. */
static void strengths_beyond_their_range_are_refused(void **state) {
    (void)state;
    expect_refused("naive,bcq:2", "found 'bcq:2', expected an α from 0 to 1");
    expect_refused("proximal:1e31", "found 'proximal:1e31', expected an α from 0 to 1e+30");
    destroy(plan("bcq:1"));
    destroy(plan("proximal:2"));
}

/* ---- defaults */

/* What is given counts, also where it is the default of other experiments; what is not given is the experiment's own.
 */
static void given_settings_are_taken(void **state) {
    (void)state;
    pess_experiment_options o = options("ua-counts");
    pess_experiment *e = NULL;
    o.experiment = "minatar-settled", o.controls = -1;
    assert_int_equal(pess__experiment_plan(&o, &e, NULL), PESS_OK);
    assert_true(e->options.seed == 23 && pess__games_of(e)->x_count == 5);
    assert_string_equal(e->options.algorithms, "ua-counts");
    pess_experiment_destroy(e);
    o.seed = 1, o.controls = 1, o.epsilons = "0,0.05,0.1,0.2,0.33,0.66,1";
    assert_int_equal(pess__experiment_plan(&o, &e, NULL), PESS_OK);
    assert_true(e->options.seed == 1 && pess__games_of(e)->x_count == 7);
    assert_string_equal(e->options.algorithms, "ua-counts,imitation,proximal,counts-alone");
    pess_experiment_destroy(e);
}

/* ---- datasets */

/* Trainings on the same data have the seed of the data in common and no other. ε = 0.66 comes first where that is
 * asked for. */
static void trainings_share_their_data(void **state) {
    (void)state;
    pess_experiment_options o = options("naive");
    pess_experiment *e = NULL;
    pess_error error = {0};
    o.experiment = "minatar-settled", o.trials = 2, o.train_seeds = 3;
    assert_int_equal(pess__experiment_plan(&o, &e, &error), PESS_OK);
    const pess__games *m = pess__games_of(e);
    assert_int_equal(m->dataset_count, 2 * 3 * m->x_count);
    assert_non_null(strstr(e->description, "6 trainings at each of 5 points of the axis, 3 on each dataset"));
    static const double order[] = {0.66, 0, 0.1, 0.33, 1};
    for (int i = 0; i < m->x_count; i++) assert_true(m->x[m->datasets[i].x] == order[i]);
    for (int64_t a = 0; a < m->dataset_count; a++)
        for (int64_t b = 0; b < a; b++) {
            const pess__games_dataset *p = &m->datasets[a], *q = &m->datasets[b];
            char one[PESS__EXPERIMENT_PATH], two[PESS__EXPERIMENT_PATH];
            pess__games_dataset_path(m, "out", a, "", one);
            pess__games_dataset_path(m, "out", b, "", two);
            assert_int_equal(p->data_seed == q->data_seed, p->x == q->x && p->trial == q->trial);
            assert_true(p->train_seed != q->train_seed && p->imitation_seed != q->imitation_seed);
            assert_string_not_equal(one, two);
        }
    pess_experiment_destroy(e);
}

/* ---- who is judged */

/* Every curve of a game at two x, its level by its place in the list. */
static size_t judge(const char *const *names, int count, pess_experiment_claim *claims) {
    static pess_experiment_point points[40];
    static const double x[] = {0, 1};
    const pess_env_info *games[] = {pess_env_find("breakout")};
    size_t used = 0;
    for (int c = 0; c < count; c++)
        for (int i = 0; i < 2; i++)
            points[used++] = (pess_experiment_point){
                .game = "breakout", .algorithm = names[c], .x = x[i], .mean = 10 + c, .min = 10 + c, .max = 10 + c};
    return pess__games_judge_exploration_goals(points, used, games, 1, x, 2, claims);
}

static void claims_speak_of_learners_whatever_their_curves_are_called(void **state) {
    (void)state;
    pess_experiment_claim claims[PESS__GAMES_GOALS * 2];
    /* ua-imitation with the α that was declared, under the name that it has when the α is given */
    const char *const given[] = {"behaviour",       "naive", "imitation",     "proximal", "ua-counts", "ua-imitation-2",
                                 "ua-imitation-1",  "crr",   "crr-exp-1e-05", "bcq-0.5",  "bcq-0.3",   "cql-1",
                                 "ua-imitation-0.5"};
    assert_int_equal(judge(given, 13, claims), 4);
    assert_non_null(strstr(claims[0].found, "ua-imitation-0.5 within noise"));
    assert_non_null(strstr(claims[2].found, "ua-imitation-0.5 22, proximal 13"));
    assert_true(claims[3].judged && claims[3].holds);
    assert_non_null(strstr(claims[3].found, ", bcq-0.3 2.000, cql-1 2.100, crr 1.700, crr-exp-1e-05 1.800"));
    /* at another α the first of the kind speaks, and says who it is */
    const char *const other[] = {"behaviour", "naive", "imitation", "proximal", "ua-imitation-2", "ua-counts"};
    assert_int_equal(judge(other, 6, claims), 4);
    assert_non_null(strstr(claims[0].found, "ua-imitation-2 within noise"));
    /* controls and peers are nobody's uncertainty-aware learner */
    const char *const none[] = {"behaviour", "naive", "counts-alone", "model-ensemble", "imitation-argmax"};
    assert_int_equal(judge(none, 5, claims), 0);
}

static void curves_know_their_learner(void **state) {
    (void)state;
    double alpha = 0;
    assert_string_equal(pess__curve_learner("ua-imitation-counts", &alpha)->name, "ua-imitation-counts");
    assert_true(alpha == 0.5);
    assert_string_equal(pess__curve_learner("ua-imitation-counts-1e-05", &alpha)->name, "ua-imitation-counts");
    assert_true(alpha == 1e-5);
    assert_string_equal(pess__curve_learner("naive", &alpha)->name, "naive");
    assert_true(isnan(alpha));
    assert_null(pess__curve_learner("behaviour", &alpha));
    assert_null(pess__curve_learner("proximal-0.5-argmax", &alpha));
    assert_null(pess__curve_learner("", &alpha));
}

/* ---- what a run costs */

/* As measured, by docs/neural-uncertainty.md. */
static void costs_are_as_measured(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double measured;
    } rows[] = {{"naive", 1},           {"proximal", 1.03},
                {"bcq", 1.04},          {"cql", 1.05},
                {"ua-counts", 1.16},    {"ua-support-net", 1.25},
                {"rem", 1.7},           {"crr", 2.2},
                {"ua-imitation", 1.01}, {"ua-imitation-counts", 1.25},
                {"crr-exp", 2.2},       {"ua-ensemble", 4.4},
                {"model-ensemble", 3.2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_close(pess__learner_cost(pess__learner_find(rows[i].name)) / rows[i].measured, 1, 0.06);
    assert_true(pess__learner_cost(pess__learner_find("counts-alone")) < 0.3);
}

/* The estimate knows it, and so the longest training of a dataset comes first. */
static void estimates_know_the_cost_of_a_learner(void **state) {
    (void)state;
    pess__games *m = plan("naive,counts-alone,crr,ua-ensemble");
    m->step_seconds = 1e-4;
    m->act_seconds = 0;
    double cost[4];
    for (int c = 0; c < 4; c++) cost[c] = pess__games_run_seconds(m, 0, c);
    assert_close(cost[1] / cost[0], 0.2, 1e-9);
    assert_close(cost[2] / cost[0], 2.2, 1e-9);
    assert_close(cost[3] / cost[0], 4.4, 1e-9);
    m->step_seconds = 0;
    m->act_seconds = 1e-6; /* episodes: four networks and the game, or one and the game; the control has fewer looks */
    const double naive = pess__games_run_seconds(m, 0, 0), ensemble = pess__games_run_seconds(m, 0, 3);
    assert_true(ensemble > 2.4 * naive && ensemble < 4.5 * naive);
    assert_true(pess__games_run_seconds(m, 0, 1) <= naive);
    const bool todo[] = {true, true, true, true};
    static const int expected[] = {3, 2, 0, 1};
    pess__queue *queue = NULL;
    pess__task task;
    const pess__work work = {.group_count = 1, .run_count = 4, .threads = 1, .todo = todo, .cost = cost};
    assert_int_equal(pess__queue_create(&work, &queue, NULL), PESS_OK);
    assert_true(pess__queue_take(queue, &task) && task.run < 0);
    (void)pess__queue_finish(queue, &task);
    for (int i = 0; i < 4; i++) {
        assert_true(pess__queue_take(queue, &task));
        assert_int_equal(task.run, expected[i]);
        (void)pess__queue_finish(queue, &task);
    }
    pess__queue_destroy(queue);
    destroy(m);
}

/* ---- what a directory remembers */

static void read_settings(const pess__games *m, char *out, size_t size) {
    char path[PESS__EXPERIMENT_PATH + 20];
    bool found = false;
    (void)snprintf(path, sizeof path, "%s/settings.txt", m->options->out);
    assert_int_equal(pess__games_read_text(path, out, size, &found, NULL), PESS_OK);
    assert_true(found);
}

/* Whether data were kept is written down, is not compared, and is not known of directories without it. */
static void whether_data_were_kept_is_written_down(void **state) {
    (void)state;
    char there[PESS__GAMES_SETTINGS_SIZE], here[PESS__GAMES_SETTINGS_SIZE];
    const char *directory = scratch_path(0, "dir");
    pess__games *m = plan("naive");
    set_out(m, directory);
    assert_int_equal(mkdir(directory, 0777), 0);
    pess__games_settings(m, here, sizeof here);
    assert_null(strstr(here, "keep-data"));
    assert_true(pess__games_data_kept(here)); /* as written by earlier versions */
    for (int kept = 0; kept < 4; kept++) {
        m->options->keep_data = kept % 2 == 1;
        m->data_kept = kept / 2 == 1;
        assert_int_equal(pess__games_write_settings(m, NULL), PESS_OK);
        read_settings(m, there, sizeof there);
        assert_int_equal(pess__games_data_kept(there), kept > 0);
        assert_int_equal(pess__games_same_settings("A", there, here, false, NULL), PESS_OK);
        assert_int_equal(pess__games_same_settings("A", there, here, true, NULL), PESS_OK);
    }
    remove_tree(directory);
    destroy(m);
}

/* A warning goes to result.json and back; runs without one, and files of earlier versions, have none. */
static void a_warning_goes_to_the_result_and_back(void **state) {
    (void)state;
    char path[PESS__EXPERIMENT_PATH], text[PESS__GAMES_SETTINGS_SIZE];
    pess__games *m = plan("naive,ua-counts"), *back = plan("naive,ua-counts");
    set_out(m, scratch_path(1, "dir"));
    int64_t runs = -1;
    for (int64_t d = 0; d < 3; d++)
        for (int c = 0; c < 2; c++) {
            pess__games_run *run = pess__games_run_of(m, d, c);
            if (c == 1 && d > 0)
                (void)snprintf(run->result.warning, sizeof run->result.warning, "no state: %d", (int)d);
            pess__games_run_path(m, m->options->out, d, c, "", path);
            assert_int_equal(pess__experiment_make_directories(path, NULL), PESS_OK);
            assert_int_equal(pess__games_write_result(m, d, c, NULL), PESS_OK);
            assert_int_equal(pess__games_read_result(back, m->options->out, d, c, NULL), PESS_OK);
            bool found = false;
            pess__games_run_path(m, m->options->out, d, c, "result.json", path);
            assert_int_equal(pess__games_read_text(path, text, sizeof text, &found, NULL), PESS_OK);
            assert_int_equal(strstr(text, "warning") != NULL, c == 1 && d > 0);
        }
    assert_null(pess__games_warning(back, 0, 0, &runs));
    assert_int_equal(runs, 0);
    assert_string_equal(pess__games_warning(back, 0, 1, &runs), "no state: 1");
    assert_int_equal(runs, 2);
    assert_null(pess__games_warning(m, 0, 1, &runs)); /* none of those is finished */
    remove_tree(m->options->out);
    destroy(m);
    destroy(back);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aliases_name_the_same_learner),
        cmocka_unit_test(given_settings_are_taken),
        cmocka_unit_test(trainings_share_their_data),
        cmocka_unit_test(strengths_beyond_their_range_are_refused),
        cmocka_unit_test(claims_speak_of_learners_whatever_their_curves_are_called),
        cmocka_unit_test(curves_know_their_learner),
        cmocka_unit_test(costs_are_as_measured),
        cmocka_unit_test(estimates_know_the_cost_of_a_learner),
        cmocka_unit_test(whether_data_were_kept_is_written_down),
        cmocka_unit_test(a_warning_goes_to_the_result_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
