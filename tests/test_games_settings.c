/* The experiments with games without networks: plans, settings and results on disk. */
#include "games_case.h"

#include "experiment/executor.h"

#include <math.h>
#include <sys/stat.h>

/* ---- plans */

static void defaults_are_those_of_the_table(void **state) {
    (void)state;
    const pess_experiment_options o = options();
    pess__games *m = plan(&o);
    assert_int_equal(m->game_count, 4);
    assert_int_equal(m->x_count, 7);
    assert_int_equal(m->dataset_count, 84);
    assert_int_equal(m->curve_count, 4);
    static const char *const names[] = {"imitation", "naive", "proximal-0.25", "proximal-0.5"};
    for (int c = 0; c < 4; c++) assert_string_equal(m->curves[c].name, names[c]);
    assert_int_equal(m->options->transitions, 5000); /* the protocol's */
    assert_int_equal(m->datasets[0].trial, 0);
    assert_int_equal(m->datasets[28].trial, 1); /* a whole trial comes before the next */
    destroy(m);
}

static void expect_names(const char *algorithms, int count, const char *const *names, const char *const *folders,
                         bool first_shown) {
    pess_experiment_options o = options();
    o.algorithms = algorithms;
    pess__games *m = plan(&o);
    assert_int_equal(m->curve_count, count);
    for (int c = 0; c < count; c++) {
        assert_string_equal(m->curves[c].name, names[c]);
        assert_string_equal(m->curves[c].folder, folders[c]);
        assert_int_equal(m->curves[c].shown, c > 0 || first_shown);
    }
    destroy(m);
}

/* α is in a curve's name where it was given or where there are two; it is always in the folder, so that runs stay
 * where they are when a second α comes later. Imitation comes first, and comes along unseen where it is needed. */
static void curves_are_named_by_learner_and_strength(void **state) {
    (void)state;
    expect_names("naive,proximal,imitation", 3, (const char *const[]){"imitation", "naive", "proximal"},
                 (const char *const[]){"imitation", "naive", "proximal-0.25"}, true);
    expect_names("proximal:0.5", 2, (const char *const[]){"imitation", "proximal-0.5"},
                 (const char *const[]){"imitation", "proximal-0.5"}, false);
    expect_names("proximal,proximal:1", 3, (const char *const[]){"imitation", "proximal-0.25", "proximal-1"},
                 (const char *const[]){"imitation", "proximal-0.25", "proximal-1"}, false);
    expect_names("naive", 1, (const char *const[]){"naive"}, (const char *const[]){"naive"}, true);
}

static const pess__games_dataset *find_dataset(const pess__games *m, const char *game, double x, int trial) {
    for (int64_t d = 0; d < m->dataset_count; d++) {
        const pess__games_dataset *dataset = &m->datasets[d];
        if (strcmp(m->games[dataset->game]->name, game) == 0 && m->x[dataset->x] == x && dataset->trial == trial)
            return dataset;
    }
    fail_msg("no dataset %s %g %d", game, x, trial);
    return NULL;
}

/* A dataset's seeds are its own: they differ from all others' and do not depend on what else is planned. */
static void seeds_of_datasets_differ(void **state) {
    (void)state;
    pess_experiment_options o = options();
    pess__games *all = plan(&o);
    for (int64_t d = 0; d < all->dataset_count; d++)
        for (int64_t other = 0; other < d; other++) {
            assert_true(all->datasets[d].data_seed != all->datasets[other].data_seed);
            assert_true(all->datasets[d].imitation_seed != all->datasets[other].imitation_seed);
            assert_true(all->datasets[d].train_seed != all->datasets[other].train_seed);
        }
    o.games = "freeway";
    o.epsilons = "1,0.20";
    o.trials = 2;
    pess__games *few = plan(&o);
    const pess__games_dataset *a = find_dataset(all, "freeway", 0.2, 1), *b = find_dataset(few, "freeway", 0.2, 1);
    assert_true(a->data_seed == b->data_seed && a->train_seed == b->train_seed);
    o.seed = 2;
    pess__games *others = plan(&o);
    assert_true(find_dataset(others, "freeway", 0.2, 1)->data_seed != a->data_seed);
    destroy(all);
    destroy(few);
    destroy(others);
}

static void sizes_are_read_as_a_list(void **state) {
    (void)state;
    pess_experiment_options o = options();
    o.experiment = "minatar-data";
    o.sizes = "1e3,500,20000";
    o.games = "breakout";
    o.epsilon = 0.25;
    pess__games *m = plan(&o);
    assert_string_equal(m->options->sizes, "500,1000,20000");
    assert_int_equal(m->datasets[0].transitions, 20000); /* the longest first */
    assert_true(m->datasets[0].epsilon == 0.25);
    assert_true(m->experiment->kind->info.x.log_scale);
    destroy(m);
}

/* Shards are disjoint and together the whole. */
static void shards_share_the_runs(void **state) {
    (void)state;
    pess_experiment_options o = options();
    int times[84] = {0};
    static const char *const shards[] = {"1/5", "2/5", "3/5", "4/5", "5/5"};
    for (int i = 0; i < 5; i++) {
        o.shard = shards[i];
        pess__games *m = plan(&o);
        for (int64_t d = 0; d < m->dataset_count; d++) times[d] += pess__shard_has(m->shard, d);
        destroy(m);
    }
    for (int d = 0; d < 84; d++) assert_int_equal(times[d], 1);
}

static void expect_refused(const pess_experiment_options *o, const char *says) {
    pess_experiment *e = NULL;
    pess_error error = {0};
    assert_int_equal(pess__experiment_plan(o, &e, &error), PESS_ARGUMENT);
    assert_null(e);
    if (strstr(error.message, says) == NULL) fail_msg("'%s' lacks '%s'", error.message, says);
}

static void bad_settings_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *games, *epsilons, *algorithms, *says;
    } cases[] = {{"pong", "0", "naive", "found 'pong'"},
                 {"breakout,", "0", "naive", "found ''"},
                 {"breakout", "-0.1", "naive", "found '-0.1'"},
                 {"breakout", "nan", "naive", "found 'nan'"},
                 {"breakout", "half", "naive", "found 'half'"},
                 {"breakout", "", "naive", "epsilons: found nothing"},
                 {"breakout", "0,0.0", "naive", "twice"},
                 {"breakout", "0", "nobody:1", "found 'nobody'"},
                 {"breakout", "0", "proximal:", "found 'proximal:'"},
                 {"breakout", "0", "imitation:1", "has no α"},
                 {"breakout", "0", "naive,naive", "twice"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pess_experiment_options o = options();
        o.games = cases[i].games;
        o.epsilons = cases[i].epsilons;
        o.algorithms = cases[i].algorithms;
        expect_refused(&o, cases[i].says);
    }
    pess_experiment_options o = options();
    o.experiment = "minatar-nothing";
    expect_refused(&o, "minatar-nothing");
    o = options();
    o.trials = -1;
    expect_refused(&o, "trials");
    o = options();
    o.trials = 1001;
    expect_refused(&o, "expected 1 to 1000");
    o = options();
    o.points = 3;
    expect_refused(&o, "points: does nothing for minatar-exploration");
    o = options();
    o.sizes = "5";
    expect_refused(&o, "sizes: does nothing for minatar-exploration");
    o = options();
    o.shard = "3/2";
    expect_refused(&o, "3/2");
}

/* ---- settings and results on disk */

static pess__games *read_plan(const char *directory) {
    pess_experiment *e = NULL;
    pess_error error = {0};
    if (pess__games_read_plan(directory, &e, &error) != PESS_OK) fail_msg("%s", error.message);
    return pess__games_of(e);
}

static void settings_go_to_a_file_and_back(void **state) {
    (void)state;
    pess_experiment_options o = options();
    char here[PESS__GAMES_SETTINGS_SIZE], there[PESS__GAMES_SETTINGS_SIZE], directory[200];
    (void)snprintf(directory, sizeof directory, "%s", scratch_path(0, "dir"));
    assert_int_equal(mkdir(directory, 0777), 0);
    o.out = directory;
    o.seed = UINT64_MAX;
    o.epsilons = "0.1,1";
    pess__games *m = plan(&o);
    m->policy_sum[1] = 0xdeadbeef;
    assert_int_equal(pess__games_write_settings(m, NULL), PESS_OK);
    pess__games *back = read_plan(directory);
    pess__games_settings(m, here, sizeof here);
    pess__games_settings(back, there, sizeof there);
    assert_string_equal(here, there);
    for (int64_t d = 0; d < m->dataset_count; d++) assert_true(m->datasets[d].data_seed == back->datasets[d].data_seed);
    /* A last step size of imitation other than 0 has a line of its own, which is missed in either file. */
    m->protocol.imitation_rate_last = 0.0001220703125;
    assert_int_equal(pess__games_write_settings(m, NULL), PESS_OK);
    destroy(back);
    back = read_plan(directory);
    assert_true(back->protocol.imitation_rate_last == 0.0001220703125);
    pess__games_settings(back, there, sizeof there);
    pess_error error = {0};
    assert_int_equal(pess__games_same_settings("A", there, here, false, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "A: made with imitation_rate_last=0.0001220703125; this run has no "));
    assert_int_equal(pess__games_same_settings("A", here, there, false, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "A: made without imitation_rate_last; this run has "));
    /* Fewer games and other curves may go on beside these runs, shards may not differ in them; another rate may never.
     */
    o.games = "breakout";
    o.algorithms = "naive";
    pess__games *other = plan(&o);
    other->policy_sum[0] = 0xdeadbeef;
    pess__games_settings(other, there, sizeof there);
    assert_int_equal(pess__games_same_settings("A", there, here, false, &error), PESS_OK);
    assert_int_equal(pess__games_same_settings("A", here, there, false, &error), PESS_OK);
    assert_int_equal(pess__games_same_settings("A", there, here, true, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "A: made with games=breakout; the first one has games=asterix,"));
    other->protocol.rate = 0.125;
    pess__games_settings(other, there, sizeof there);
    assert_int_equal(pess__games_same_settings("A", there, here, false, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "rate=0.125"));
    other->protocol.rate = m->protocol.rate;
    other->policy_sum[0] = 1;
    pess__games_settings(other, there, sizeof there);
    assert_int_equal(pess__games_same_settings("A", there, here, false, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "policy-breakout"));
    destroy(m);
    destroy(back);
    destroy(other);
    remove_tree(directory);
}

static void results_go_to_a_file_and_back(void **state) {
    (void)state;
    pess_experiment_options o = options();
    char directory[200], path[PESS__EXPERIMENT_PATH];
    (void)snprintf(directory, sizeof directory, "%s", scratch_path(1, "dir"));
    o.out = directory;
    pess__games *m = plan(&o), *back = plan(&o);
    pess__games_run *run = pess__games_run_of(m, 5, 2);
    *run = (pess__games_run){.result = {.score = 1.0 / 3,
                                        .score_final = 2e-300,
                                        .control = -4,
                                        .predicted = NAN,
                                        .seconds = 12.5,
                                        .updates = 40,
                                        .resumed_from = -1},
                             .behaviour = 7,
                             .data_return = NAN};
    pess__games_run_path(m, directory, 5, 2, "", path);
    assert_int_equal(pess__experiment_make_directories(path, NULL), PESS_OK);
    assert_int_equal(pess__games_write_result(m, 5, 2, NULL), PESS_OK);
    assert_int_equal(pess__games_read_result(back, directory, 5, 2, NULL), PESS_OK);
    assert_int_equal(pess__games_read_result(back, directory, 5, 1, NULL), PESS_OK); /* not there: no error */
    const pess__games_run *read = pess__games_run_of(back, 5, 2);
    assert_true(read->finished && !pess__games_run_of(back, 5, 1)->finished);
    assert_true(read->result.score == 1.0 / 3 && read->result.score_final == 2e-300 && read->result.control == -4);
    assert_true(isnan(read->result.predicted) && isnan(read->data_return) && read->behaviour == 7);
    assert_true(read->result.updates == 40 && read->result.resumed_from == -1 && read->result.seconds == 12.5);
    /* Every number goes to its own member. */
    const pess_train_result all = made_up(7, 1);
    *run = (pess__games_run){.result = all, .behaviour = 61, .data_return = 62};
    assert_int_equal(pess__games_write_result(m, 5, 2, NULL), PESS_OK);
    assert_int_equal(pess__games_read_result(back, directory, 5, 2, NULL), PESS_OK);
    assert_true(read->result.score == all.score && read->result.score_final == all.score_final);
    assert_true(read->result.score_best == all.score_best && read->result.score_spread == all.score_spread);
    assert_true(read->result.control == all.control && read->result.predicted == all.predicted);
    assert_true(read->result.obtained == all.obtained && read->result.outside == all.outside);
    assert_true(read->result.mean_target == all.mean_target && read->result.loss == all.loss);
    assert_true(read->behaviour == 61 && read->data_return == 62);
    /* Made with another setting: refused by its name. */
    pess_error error = {0};
    back->protocol.batch = 7;
    assert_int_equal(pess__games_read_result(back, directory, 5, 2, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "made with batch=64; this run has batch=7"));
    destroy(m);
    destroy(back);
    remove_tree(directory);
}

/* ---- files with something missing */

static void write_text(const char *path, const char *before, size_t length, const char *after) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(before, 1, length, file), length);
    assert_true(fputs(after, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Files of earlier versions lack some lines, and a game that is left out its player's sum. */
static bool may_be_missing(const char *key, size_t length) {
    static const char *const keys[] = {"version", "schema", "keep-data", "imitation_rate_last", "settle"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0) return true;
    return length > 7 && memcmp(key, "policy-", 7) == 0;
}

static void every_line_of_the_settings_is_missed(void **state) {
    (void)state;
    pess_experiment_options o = options();
    char directory[200], path[240], key[64];
    pess_error error = {0};
    (void)snprintf(directory, sizeof directory, "%s", scratch_path(2, "dir"));
    assert_int_equal(mkdir(directory, 0777), 0);
    (void)snprintf(path, sizeof path, "%s/settings.txt", directory);
    o.out = directory;
    pess__games *m = plan(&o);
    assert_ok(pess__games_write_settings(m, &error), &error);
    char *text = scratch_read(path);
    int missed = 0;
    for (char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        const size_t length = strcspn(line, "=");
        pess_experiment *e = NULL;
        write_text(path, text, (size_t)(line - text), line + strcspn(line, "\n") + 1);
        const pess_status status = pess__games_read_plan(directory, &e, &error);
        if (may_be_missing(line, length)) {
            assert_ok(status, &error);
            pess_experiment_destroy(e);
            continue;
        }
        (void)snprintf(key, sizeof key, "'%.*s'", (int)length, line);
        assert_failure(status, PESS_INPUT, &error, path, key, NULL);
        assert_null(e);
        missed++;
    }
    assert_true(missed > 20);
    pess_experiment *e = NULL;
    char *schema = strstr(text, "schema=");
    schema[strlen("schema=")] = '9';
    write_text(path, text, strlen(text), "");
    assert_failure(pess__games_read_plan(directory, &e, &error), PESS_INPUT, &error, "found schema 9",
                   "a newer version of the program wrote it", NULL);
    free(text);
    static const char other[] = "experiment=bandit\ngames=breakout\nx=0\nalgorithms=naive\nprotocol=smoke\nseed=1\n";
    write_text(path, other, strlen(other), "");
    assert_failure(pess__games_read_plan(directory, &e, &error), PESS_INPUT, &error,
                   "there is no experiment 'bandit' with games", NULL);
    assert_failure(pess__games_read_plan(scratch_path(3, "nowhere"), &e, &error), PESS_INPUT, &error,
                   "there is no settings.txt", NULL);
    char longest[PESS__EXPERIMENT_PATH];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_failure(pess__games_read_plan(longest, &e, &error), PESS_ARGUMENT, &error, "the name is too long", NULL);
    destroy(m);
    remove_tree(directory);
}

static void every_member_of_a_result_is_missed(void **state) {
    (void)state;
    pess_experiment_options o = options();
    char directory[200], path[PESS__EXPERIMENT_PATH], key[64];
    pess_error error = {0};
    (void)snprintf(directory, sizeof directory, "%s", scratch_path(2, "dir"));
    o.out = directory;
    pess__games *m = plan(&o);
    *pess__games_run_of(m, 0, 0) = (pess__games_run){.result = made_up(7, 1), .behaviour = 61, .data_return = 62};
    pess__games_run_path(m, directory, 0, 0, "", path);
    assert_ok(pess__experiment_make_directories(path, &error), &error);
    assert_ok(pess__games_write_result(m, 0, 0, &error), &error);
    pess__games_run_path(m, directory, 0, 0, "result.json", path);
    char *text = scratch_read(path);
    int missed = 0;
    for (char *line = strchr(text, '\n') + 1; strchr(line, ':') != NULL; line += strcspn(line, "\n") + 1) {
        const char *name = strchr(line, '"') + 1;
        const size_t length = strcspn(name, "\"");
        (void)snprintf(key, sizeof key, "%.*s", (int)length, name);
        const char *next = line + strcspn(line, "\n") + 1;
        if (strchr(next, ':') == NULL) break; /* the last one, which has no comma */
        write_text(path, text, (size_t)(line - text), next);
        const pess_status status = pess__games_read_result(m, directory, 0, 0, &error);
        if (strcmp(key, "schema") == 0) {
            assert_ok(status, &error);
            continue;
        }
        assert_failure(status, PESS_INPUT, &error, path, key, NULL);
        missed++;
    }
    assert_true(missed > 10);
    char *schema = strstr(text, "\"schema\": ") + strlen("\"schema\": ");
    const char kept = *schema;
    *schema = '9';
    write_text(path, text, strlen(text), "");
    assert_failure(pess__games_read_result(m, directory, 0, 0, &error), PESS_INPUT, &error, "found schema 9", NULL);
    *schema = kept;
    write_text(path, text, strlen(text) / 2, "");
    assert_failure(pess__games_read_result(m, directory, 0, 0, &error), PESS_INPUT, &error,
                   "remove it to have the run made again", NULL);
    free(text);
    destroy(m);
    remove_tree(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(curves_are_named_by_learner_and_strength),
        cmocka_unit_test(seeds_of_datasets_differ),
        cmocka_unit_test(sizes_are_read_as_a_list),
        cmocka_unit_test(shards_share_the_runs),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(settings_go_to_a_file_and_back),
        cmocka_unit_test(results_go_to_a_file_and_back),
        cmocka_unit_test(every_line_of_the_settings_is_missed),
        cmocka_unit_test(every_member_of_a_result_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
