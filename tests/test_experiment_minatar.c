/* The deep experiments without networks: plans, settings, results on disk, the queue, and the rules of the claims. */
#include "scratch_tree.h"

#include "experiment/minatar.h"
#include "experiment/minatar_queue.h"
#include "report/minatar.h"
#include "report/style.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

static pess_minatar_options options(void) {
    pess_minatar_options o = pess_minatar_options_defaults();
    o.experiment = "minatar-exploration";
    o.protocol = *pess_protocol_find("smoke");
    o.out = "nowhere";
    o.jobs = 2;
    return o;
}

static pess_minatar *plan(const pess_minatar_options *o) {
    pess_minatar *m = NULL;
    pess_error error = {0};
    if (pess__minatar_plan(o, &m, &error) != PESS_OK) fail_msg("%s", error.message);
    return m;
}

/* ---- plans */

static void test_defaults(void **state) {
    (void)state;
    const pess_minatar_options o = options();
    pess_minatar *m = plan(&o);
    assert_int_equal(m->game_count, 4);
    assert_int_equal(m->x_count, 7);
    assert_int_equal(m->dataset_count, 84);
    assert_int_equal(m->curve_count, 4);
    static const char *const names[] = {"imitation", "naive", "proximal-0.25", "proximal-0.5"};
    for (int c = 0; c < 4; c++) assert_string_equal(m->curves[c].name, names[c]);
    assert_int_equal(m->options.transitions, 5000); /* the protocol's */
    assert_int_equal(m->datasets[0].trial, 0);
    assert_int_equal(m->datasets[28].trial, 1); /* a whole trial comes before the next */
    pess_minatar_destroy(m);
}

static void expect_names(const char *algorithms, int count, const char *const *names, const char *const *folders,
                         bool first_shown) {
    pess_minatar_options o = options();
    o.algorithms = algorithms;
    pess_minatar *m = plan(&o);
    assert_int_equal(m->curve_count, count);
    for (int c = 0; c < count; c++) {
        assert_string_equal(m->curves[c].name, names[c]);
        assert_string_equal(m->curves[c].folder, folders[c]);
        assert_int_equal(m->curves[c].shown, c > 0 || first_shown);
    }
    pess_minatar_destroy(m);
}

/* α is in a curve's name where it was given or where there are two; it is always in the folder, so that runs stay
 * where they are when a second α comes later. Imitation comes first, and comes along unseen where it is needed. */
static void test_curve_names(void **state) {
    (void)state;
    expect_names("naive,proximal,imitation", 3, (const char *const[]){"imitation", "naive", "proximal"},
                 (const char *const[]){"imitation", "naive", "proximal-0.25"}, true);
    expect_names("proximal:0.5", 2, (const char *const[]){"imitation", "proximal-0.5"},
                 (const char *const[]){"imitation", "proximal-0.5"}, false);
    expect_names("proximal,proximal:1", 3, (const char *const[]){"imitation", "proximal-0.25", "proximal-1"},
                 (const char *const[]){"imitation", "proximal-0.25", "proximal-1"}, false);
    expect_names("naive", 1, (const char *const[]){"naive"}, (const char *const[]){"naive"}, true);
}

static const pess__minatar_dataset *find_dataset(const pess_minatar *m, const char *game, double x, int trial) {
    for (int64_t d = 0; d < m->dataset_count; d++) {
        const pess__minatar_dataset *dataset = &m->datasets[d];
        if (strcmp(m->games[dataset->game]->name, game) == 0 && m->x[dataset->x] == x && dataset->trial == trial)
            return dataset;
    }
    fail_msg("no dataset %s %g %d", game, x, trial);
    return NULL;
}

/* A dataset's seeds are its own: they differ from all others' and do not depend on what else is planned. */
static void test_seeds(void **state) {
    (void)state;
    pess_minatar_options o = options();
    pess_minatar *all = plan(&o);
    for (int64_t d = 0; d < all->dataset_count; d++)
        for (int64_t other = 0; other < d; other++) {
            assert_true(all->datasets[d].data_seed != all->datasets[other].data_seed);
            assert_true(all->datasets[d].imitation_seed != all->datasets[other].imitation_seed);
            assert_true(all->datasets[d].train_seed != all->datasets[other].train_seed);
        }
    o.games = "freeway";
    o.epsilons = "1,0.20";
    o.trials = 2;
    pess_minatar *few = plan(&o);
    const pess__minatar_dataset *a = find_dataset(all, "freeway", 0.2, 1), *b = find_dataset(few, "freeway", 0.2, 1);
    assert_true(a->data_seed == b->data_seed && a->train_seed == b->train_seed);
    o.seed = 2;
    pess_minatar *others = plan(&o);
    assert_true(find_dataset(others, "freeway", 0.2, 1)->data_seed != a->data_seed);
    pess_minatar_destroy(all);
    pess_minatar_destroy(few);
    pess_minatar_destroy(others);
}

static void test_sizes(void **state) {
    (void)state;
    pess_minatar_options o = options();
    o.experiment = "minatar-data";
    o.sizes = "1e3,500,20000";
    o.games = "breakout";
    o.epsilon = 0.25;
    pess_minatar *m = plan(&o);
    assert_string_equal(m->x_text, "500,1000,20000");
    assert_int_equal(m->datasets[0].transitions, 20000); /* the longest first */
    assert_true(m->datasets[0].epsilon == 0.25);
    assert_true(m->info->log_x);
    pess_minatar_destroy(m);
}

/* Shards are disjoint and together the whole. */
static void test_shards(void **state) {
    (void)state;
    pess_minatar_options o = options();
    int times[84] = {0};
    o.shards = 5;
    for (o.shard = 1; o.shard <= 5; o.shard++) {
        pess_minatar *m = plan(&o);
        for (int64_t d = 0; d < m->dataset_count; d++) times[d] += pess__minatar_mine(m, d);
        pess_minatar_destroy(m);
    }
    for (int d = 0; d < 84; d++) assert_int_equal(times[d], 1);
}

static void expect_refused(const pess_minatar_options *o, const char *says) {
    pess_minatar *m = NULL;
    pess_error error = {0};
    assert_int_equal(pess__minatar_plan(o, &m, &error), PESS_ARGUMENT);
    assert_null(m);
    if (strstr(error.message, says) == NULL) fail_msg("'%s' lacks '%s'", error.message, says);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *games, *epsilons, *algorithms, *says;
    } cases[] = {{"pong", "0", "naive", "found 'pong'"},
                 {"breakout,", "0", "naive", "found ''"},
                 {"breakout", "-0.1", "naive", "found '-0.1'"},
                 {"breakout", "nan", "naive", "found 'nan'"},
                 {"breakout", "half", "naive", "found 'half'"},
                 {"breakout", "", "naive", "no epsilons"},
                 {"breakout", "0,0.0", "naive", "twice"},
                 {"breakout", "0", "nobody:1", "found 'nobody'"},
                 {"breakout", "0", "proximal:", "found 'proximal:'"},
                 {"breakout", "0", "imitation:1", "has no α"},
                 {"breakout", "0", "naive,naive", "twice"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pess_minatar_options o = options();
        o.games = cases[i].games;
        o.epsilons = cases[i].epsilons;
        o.algorithms = cases[i].algorithms;
        expect_refused(&o, cases[i].says);
    }
    pess_minatar_options o = options();
    o.experiment = "minatar-nothing";
    expect_refused(&o, "minatar-nothing");
    o = options();
    o.trials = 0;
    expect_refused(&o, "trials");
    o = options();
    o.shard = 3;
    o.shards = 2;
    expect_refused(&o, "3/2");
}

/* ---- settings and results on disk */

static void test_settings(void **state) {
    (void)state;
    pess_minatar_options o = options();
    char here[PESS__MINATAR_SETTINGS], there[PESS__MINATAR_SETTINGS], directory[200];
    (void)snprintf(directory, sizeof directory, "%s", scratch_path(0, "dir"));
    assert_int_equal(mkdir(directory, 0777), 0);
    o.out = directory;
    o.seed = UINT64_MAX;
    o.epsilons = "0.1,1";
    pess_minatar *m = plan(&o), *back = NULL, *other = NULL;
    m->policy_sum[1] = 0xdeadbeef;
    assert_int_equal(pess__minatar_write_settings(m, NULL), PESS_OK);
    assert_int_equal(pess__minatar_read_plan(directory, &back, NULL), PESS_OK);
    pess__minatar_settings(m, here, sizeof here);
    pess__minatar_settings(back, there, sizeof there);
    assert_string_equal(here, there);
    for (int64_t d = 0; d < m->dataset_count; d++) assert_true(m->datasets[d].data_seed == back->datasets[d].data_seed);
    /* Fewer games and other curves may go on beside these runs, shards may not differ in them; another rate may never.
     */
    o.games = "breakout";
    o.algorithms = "naive";
    other = plan(&o);
    other->policy_sum[0] = 0xdeadbeef;
    pess__minatar_settings(other, there, sizeof there);
    pess_error error = {0};
    assert_int_equal(pess__minatar_same_settings("A", there, here, false, &error), PESS_OK);
    assert_int_equal(pess__minatar_same_settings("A", here, there, false, &error), PESS_OK);
    assert_int_equal(pess__minatar_same_settings("A", there, here, true, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "A: made with games=breakout; the first one has games=asterix,"));
    other->options.protocol.rate = 0.125;
    pess__minatar_settings(other, there, sizeof there);
    assert_int_equal(pess__minatar_same_settings("A", there, here, false, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "rate=0.125"));
    other->options.protocol.rate = m->options.protocol.rate;
    other->policy_sum[0] = 1;
    pess__minatar_settings(other, there, sizeof there);
    assert_int_equal(pess__minatar_same_settings("A", there, here, false, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "policy-breakout"));
    pess_minatar_destroy(m);
    pess_minatar_destroy(back);
    pess_minatar_destroy(other);
    remove_tree(directory);
}

/* A result all of whose numbers differ: `base` tells runs apart, `apart` the trials, which have it as their mean. */
static pess_train_result made_up(double base, double apart) {
    return (pess_train_result){.score = 20 + base + apart,
                               .score_final = 30 + base + 2 * apart,
                               .score_best = 40 + base + 3 * apart,
                               .score_spread = 4 + base + apart,
                               .control = 50 + base + apart,
                               .predicted = 1.5 + base + 0.5 * apart,
                               .obtained = 0.25 + base + 0.125 * apart,
                               .outside = 0.25 + base / 4 + 0.0625 * apart,
                               .mean_target = 70 + base,
                               .loss = 80 + base,
                               .seconds = 12,
                               .updates = 6,
                               .resumed_from = -1};
}

static void test_results(void **state) {
    (void)state;
    pess_minatar_options o = options();
    char directory[200], path[PESS__MINATAR_PATH];
    (void)snprintf(directory, sizeof directory, "%s", scratch_path(1, "dir"));
    o.out = directory;
    pess_minatar *m = plan(&o), *back = plan(&o);
    pess__minatar_run *run = pess__minatar_run_of(m, 5, 2);
    *run = (pess__minatar_run){.result = {.score = 1.0 / 3,
                                          .score_final = 2e-300,
                                          .control = -4,
                                          .predicted = NAN,
                                          .seconds = 12.5,
                                          .updates = 40,
                                          .resumed_from = -1},
                               .behaviour = 7,
                               .data_return = NAN};
    pess__minatar_run_path(m, directory, 5, 2, "", path);
    assert_int_equal(pess__minatar_make_directories(path, NULL), PESS_OK);
    assert_int_equal(pess__minatar_write_result(m, 5, 2, NULL), PESS_OK);
    assert_int_equal(pess__minatar_read_result(back, directory, 5, 2, NULL), PESS_OK);
    assert_int_equal(pess__minatar_read_result(back, directory, 5, 1, NULL), PESS_OK); /* not there: no error */
    const pess__minatar_run *read = pess__minatar_run_of(back, 5, 2);
    assert_true(read->finished && !pess__minatar_run_of(back, 5, 1)->finished);
    assert_true(read->result.score == 1.0 / 3 && read->result.score_final == 2e-300 && read->result.control == -4);
    assert_true(isnan(read->result.predicted) && isnan(read->data_return) && read->behaviour == 7);
    assert_true(read->result.updates == 40 && read->result.resumed_from == -1 && read->result.seconds == 12.5);
    /* Every number goes to its own member. */
    const pess_train_result all = made_up(7, 1);
    *run = (pess__minatar_run){.result = all, .behaviour = 61, .data_return = 62};
    assert_int_equal(pess__minatar_write_result(m, 5, 2, NULL), PESS_OK);
    assert_int_equal(pess__minatar_read_result(back, directory, 5, 2, NULL), PESS_OK);
    assert_true(read->result.score == all.score && read->result.score_final == all.score_final);
    assert_true(read->result.score_best == all.score_best && read->result.score_spread == all.score_spread);
    assert_true(read->result.control == all.control && read->result.predicted == all.predicted);
    assert_true(read->result.obtained == all.obtained && read->result.outside == all.outside);
    assert_true(read->result.mean_target == all.mean_target && read->result.loss == all.loss);
    assert_true(read->behaviour == 61 && read->data_return == 62);
    /* Made with another setting: refused by its name. */
    pess_error error = {0};
    back->options.protocol.batch = 7;
    assert_int_equal(pess__minatar_read_result(back, directory, 5, 2, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "made with batch=64; this run has batch=7"));
    pess_minatar_destroy(m);
    pess_minatar_destroy(back);
    remove_tree(directory);
}

/* ---- the queue */

enum { DATASETS = 9, CURVES = 4 };

/* Workers take turns at random; every task is done once, never before its dataset is prepared, never with more than
 * jobs+1 datasets in memory, and nobody waits while something could be done. */
static void run_queue(int jobs, uint64_t seed, const bool *todo, bool with_data) {
    double cost[DATASETS * CURVES];
    int done[DATASETS * CURVES] = {0}, prepared[DATASETS] = {0};
    for (int i = 0; i < DATASETS * CURVES; i++) cost[i] = i % CURVES == 1 ? 1 : 2;
    pess__minatar_queue *queue = NULL;
    assert_int_equal(pess__minatar_queue_create(DATASETS, CURVES, with_data, jobs, todo, cost, &queue, NULL), PESS_OK);
    pess_random random = pess_random_create(seed, "queue", 0);
    pess__minatar_task busy[8];
    int busy_count = 0, loaded = 0;
    while (queue->tasks > 0) {
        pess__minatar_task task;
        while (busy_count < jobs && pess__minatar_queue_take(queue, &task)) {
            busy[busy_count++] = task;
            if (task.curve < 0) {
                assert_int_equal(prepared[task.dataset], 0);
                loaded++;
            } else {
                assert_int_equal(prepared[task.dataset], 2);
                assert_true(todo[task.dataset * CURVES + task.curve] && !(with_data && task.curve == 0));
                done[task.dataset * CURVES + task.curve]++;
            }
            assert_true(loaded <= jobs + 1);
        }
        assert_true(busy_count > 0);
        const int64_t which = pess_random_below(&random, busy_count);
        task = busy[which];
        busy[which] = busy[--busy_count];
        if (task.curve < 0) prepared[task.dataset] = 2;
        if (pess__minatar_queue_finish(queue, &task)) loaded--;
    }
    assert_int_equal(loaded, 0);
    assert_int_equal(busy_count, 0);
    for (int i = 0; i < DATASETS * CURVES; i++) assert_int_equal(done[i], todo[i] && !(with_data && i % CURVES == 0));
    for (int d = 0; d < DATASETS; d++) {
        bool any = false;
        for (int c = 0; c < CURVES; c++) any |= todo[d * CURVES + c];
        assert_int_equal(prepared[d], any ? 2 : 0);
    }
    pess__minatar_queue_destroy(queue);
}

static void test_queue(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        bool todo[DATASETS * CURVES];
        pess_random random = pess_random_create(seed, "todo", 0);
        for (int i = 0; i < DATASETS * CURVES; i++) todo[i] = seed % 3 == 0 || pess_random_uniform(&random) < 0.5;
        run_queue(1 + (int)(seed % 5), seed, todo, seed % 2 == 0);
    }
}

/* With two jobs: both prepare, the trainings of the first dataset come first and the longest of them at once, and the
 * third dataset is prepared before the trainings run out. */
static void test_queue_order(void **state) {
    (void)state;
    bool todo[3 * CURVES];
    double cost[3 * CURVES];
    for (int i = 0; i < 3 * CURVES; i++) {
        todo[i] = true;
        cost[i] = i % CURVES; /* curve 3 is the longest */
    }
    pess__minatar_queue *queue = NULL;
    pess__minatar_task task[2];
    assert_int_equal(pess__minatar_queue_create(3, CURVES, true, 2, todo, cost, &queue, NULL), PESS_OK);
    assert_true(pess__minatar_queue_take(queue, &task[0]) && task[0].dataset == 0 && task[0].curve == -1);
    assert_true(pess__minatar_queue_take(queue, &task[1]) && task[1].dataset == 1 && task[1].curve == -1);
    assert_false(pess__minatar_queue_finish(queue, &task[0]));
    static const int expected[][2] = {{0, 3}, {0, 2}, {2, -1}, {0, 1}}; /* the last one before, and one is still left */
    for (int i = 0; i < 4; i++) {
        pess__minatar_task next;
        assert_true(pess__minatar_queue_take(queue, &next));
        assert_int_equal(next.dataset, expected[i][0]);
        assert_int_equal(next.curve, expected[i][1]);
    }
    pess__minatar_queue_destroy(queue);
}

/* ---- claims */

enum { XS = 4 };
static const double xs[XS] = {0, 0.1, 0.5, 1};

/* Hand-made curves of one game: data policy, imitation, naive, proximal. */
static size_t judge(const char *game, const double curve[4][XS], pess_minatar_claim *claims) {
    static const char *const names[] = {"behaviour", "imitation", "naive", "proximal-0.25"};
    static pess_minatar_point points[4 * XS];
    size_t count = 0;
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < XS; i++)
            if (!isnan(curve[c][i]))
                points[count++] =
                    (pess_minatar_point){.game = game, .algorithm = names[c], .x = xs[i], .mean = curve[c][i]};
    return pess__minatar_judge(points, count, game, xs, XS, "proximal-0.25", claims);
}

static void test_claims(void **state) {
    (void)state;
    pess_minatar_claim claims[PESS__MINATAR_CLAIMS];
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

static void test_freeway(void **state) {
    (void)state;
    pess_minatar_claim claims[PESS__MINATAR_CLAIMS];
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
static void test_unjudged(void **state) {
    (void)state;
    pess_minatar_claim claims[PESS__MINATAR_CLAIMS];
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
                          pess_minatar_claim *claims) {
    static pess_minatar_point points[2 * GOAL_XS * (GOAL_CURVES + 2)];
    const pess_env_info *games[] = {pess_env_find("breakout"), pess_env_find("freeway")};
    size_t count = 0;
    for (int g = 0; g < 2; g++)
        for (int c = 0; c <= GOAL_CURVES + 1; c++)
            for (int i = 0; i < GOAL_XS; i++) {
                const int from = c < GOAL_CURVES ? c : GOAL_CURVES - 1; /* crr as cql */
                const double mean = c > GOAL_CURVES ? crr_exp : level[from] - (c == 6 && i < drops ? drop : 0);
                if (isnan(mean)) continue;
                points[count++] = (pess_minatar_point){.game = games[g]->name,
                                                       .algorithm = c < GOAL_CURVES    ? goal_names[c]
                                                                    : c == GOAL_CURVES ? "crr"
                                                                                       : "crr-exp",
                                                       .x = goal_xs[i],
                                                       .mean = mean,
                                                       .min = mean - low,
                                                       .max = mean + low};
            }
    return pess__minatar_judge_ua(points, count, games, 2, goal_xs, GOAL_XS, data, claims);
}

static void test_goals(void **state) {
    (void)state;
    pess_minatar_claim claims[PESS__MINATAR_GOALS * 3];
    const double level[GOAL_CURVES] = {40, 20, 30, 10, 25, 28, 31, 29, 5};
    assert_int_equal(judge_goals(level, 0.5, 0, 0, false, claims), 6);
    for (int i = 0; i < 6; i++) assert_true(claims[i].judged && claims[i].holds);
    assert_string_equal(claims[2].game, "all games");
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

static void test_goals_data(void **state) {
    (void)state;
    pess_minatar_claim claims[PESS__MINATAR_GOALS * 3];
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

/* ---- curves from runs */

static pess_minatar *two_points(void) {
    pess_minatar_options o = options();
    o.games = "breakout";
    o.epsilons = "0,1";
    o.trials = 3;
    o.algorithms = "naive,proximal";
    return plan(&o);
}

static void test_summary(void **state) {
    (void)state;
    pess_minatar *m = two_points();
    for (int64_t d = 0; d < m->dataset_count; d++)
        for (int c = 0; c < m->curve_count; c++) {
            if (m->datasets[d].trial == 2 && m->datasets[d].x == 1 && c == 1) continue; /* one run is missing */
            *pess__minatar_run_of(m, d, c) = (pess__minatar_run){
                .finished = true,
                .result = {.score = 10 * c + m->datasets[d].trial, .control = 0.1, .predicted = NAN},
                .behaviour = 5};
        }
    assert_int_equal(pess__minatar_summarise(m, NULL), PESS_OK);
    size_t count = 0;
    const pess_minatar_point *points = pess_minatar_points(m, &count);
    assert_int_equal(count, 8); /* behaviour, naive, proximal, proximal-argmax at two x; imitation was not asked for */
    const pess_minatar_point *naive = pess__minatar_point_at(points, count, "breakout", "naive", 0);
    assert_true(naive->trials == 3 && naive->mean == 11 && naive->min == 10 && naive->max == 12);
    assert_true(isnan(naive->predicted) && naive->behaviour_mean == 5);
    naive = pess__minatar_point_at(points, count, "breakout", "naive", 1);
    assert_true(naive->trials == 2 && naive->mean == 10.5 && naive->max == 11);
    const pess_minatar_point *control = pess__minatar_point_at(points, count, "breakout", "proximal-argmax", 0);
    assert_true(control->mean == 0.1 && control->min == 0.1 && control->max == 0.1 && isnan(control->final_mean));
    assert_true(pess__minatar_point_at(points, count, "breakout", "behaviour", 1)->trials == 3);
    assert_null(pess__minatar_point_at(points, count, "breakout", "imitation", 0));
    assert_null(pess__minatar_point_at(points, count, "breakout", "naive-argmax", 0)); /* it does not sample */
    pess_minatar_destroy(m);
}

static const pess__curve *curve_of(const pess__figure *figure, const char *name) {
    for (int64_t c = 0; c < figure->panels[0].curve_count; c++)
        if (strcmp(figure->panels[0].curves[c].algorithm, name) == 0) return &figure->panels[0].curves[c];
    fail_msg("no curve %s", name);
    return NULL;
}

static void expect_text(pess_status (*write)(const pess_minatar *, const char *, pess_error *), const pess_minatar *m,
                        const char *const *texts) {
    const char *path = scratch_path(2, ".text");
    assert_int_equal(write(m, path, NULL), PESS_OK);
    char *found = scratch_read(path);
    for (; *texts != NULL; texts++)
        if (strstr(found, *texts) == NULL) fail_msg("'%s' is missing", *texts);
    free(found);
    scratch_remove(path);
}

static pess_status write_page(const pess_minatar *m, const char *path, pess_error *error) {
    return pess__minatar_page(m, "pess experiment", path, error);
}

/* From results to points, page and tables: every number arrives in its own place. */
static void test_numbers(void **state) {
    (void)state;
    pess_minatar *m = two_points();
    for (int64_t d = 0; d < m->dataset_count; d++)
        for (int c = 0; c < m->curve_count; c++) /* naive has 0 and 1, proximal 2 and 3 */
            *pess__minatar_run_of(m, d, c) =
                (pess__minatar_run){.finished = true,
                                    .result = made_up(2 * c - 2 + m->datasets[d].x, m->datasets[d].trial - 1),
                                    .behaviour = 60 + m->datasets[d].x,
                                    .data_return = 90};
    assert_int_equal(pess__minatar_summarise(m, NULL), PESS_OK);
    size_t count = 0;
    const pess_minatar_point *points = pess_minatar_points(m, &count);
    const pess_minatar_point *p = pess__minatar_point_at(points, count, "breakout", "proximal", 1);
    assert_true(p->trials == 3 && p->mean == 23 && p->min == 22 && p->max == 24 && p->behaviour_mean == 61);
    assert_true(p->final_mean == 33 && p->best_mean == 43 && p->control_mean == 53);
    assert_true(p->predicted == 4.5 && p->obtained == 3.25 && p->outside == 1 && p->spread == 7);
    p = pess__minatar_point_at(points, count, "breakout", "proximal-argmax", 1);
    assert_true(p->mean == 53 && p->min == 52 && p->max == 54 && p->control_mean == 53);
    assert_true(isnan(p->predicted) && isnan(p->obtained) && isnan(p->outside) && isnan(p->spread));
    pess__figure figure = {0};
    assert_int_equal(pess__minatar_overestimation(m, &figure, NULL), PESS_OK);
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
    expect_text(pess__minatar_results, m,
                (const char *const[]){"breakout,naive,0,3,20,19,21,30,40,50,1.5,0.25,0.25,4,60\n",
                                      "breakout,proximal,1,3,23,22,24,33,43,53,4.5,3.25,1,7,61\n",
                                      "breakout,proximal-argmax,1,3,53,52,54,,,53,,,,,61\n", NULL});
    expect_text(pess__minatar_runs, m,
                (const char *const[]){"breakout,naive,0,1,19,28,37,3,49,1,0.125,0.1875,70,80,60,90,6,12\n",
                                      "breakout,proximal,1,3,24,35,46,8,54,5,3.375,1.0625,73,83,61,90,6,12\n", NULL});
    pess_minatar_destroy(m);
}

/* ---- looks */

static void test_styles(void **state) {
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
    assert_string_equal(pess__style_of("somebody").label, "somebody");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_curve_names), cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_sizes),       cmocka_unit_test(test_shards),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_settings),    cmocka_unit_test(test_results),     cmocka_unit_test(test_queue),
        cmocka_unit_test(test_queue_order), cmocka_unit_test(test_claims),      cmocka_unit_test(test_freeway),
        cmocka_unit_test(test_unjudged),    cmocka_unit_test(test_goals),       cmocka_unit_test(test_goals_data),
        cmocka_unit_test(test_summary),     cmocka_unit_test(test_numbers),     cmocka_unit_test(test_styles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
