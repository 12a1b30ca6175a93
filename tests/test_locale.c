/* In a host program with decimal commas the library writes what it writes in any other, and reads the same. */
#include "german.h"

#include "core/json.h"
#include "core/text.h"
#include "data/dataset.h"

#include <math.h>
#include <zlib.h>

static char root[] = "/tmp/pess-locale-XXXXXX";

static const char *path_in(const char *language, const char *name) {
    static char path[300];
    (void)snprintf(path, sizeof path, "%s/%s/%s", root, language, name);
    return path;
}

static void write_experiment(const char *language) {
    char out[300];
    (void)snprintf(out, sizeof out, "%s", path_in(language, "experiment"));
    pess_experiment_options o = pess_experiment_options_defaults();
    o.experiment = "gridworld-alpha", o.trials = 6, o.points = 3, o.rows = o.cols = 3, o.out = out, o.threads = 1;
    pess_experiment *e = NULL;
    pess_error error = {0};
    assert_ok(pess_experiment_create(&o, &e, &error), &error);
    assert_ok(pess_experiment_run(e, &error), &error);
    assert_ok(pess_experiment_write(e, "pess experiment", &error), &error);
    pess_experiment_destroy(e);
}

static void write_certificate(const char *language) {
    enum { ROWS = 60 };
    static uint32_t s[ROWS], a[ROWS], next[ROWS];
    static double reward[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        s[i] = i % 3, a[i] = i / 3 % 2, next[i] = (i + a[i]) % 3, reward[i] = i % 4 / 4.0;
    const pess_columns columns = {.rows = ROWS, .state = s, .action = a, .next_state = next, .reward = reward};
    static const double start[3] = {1, 0, 0};
    pess_certify_options o = pess_certify_options_defaults();
    o.gamma = 0.9, o.start = start, o.reward_range[0] = 0, o.reward_range[1] = 1;
    pess_dataset *data = NULL;
    pess_certificate *certificate = NULL;
    pess_error error = {0};
    assert_ok(pess_dataset_create(&columns, 3, 2, &data, &error), &error);
    assert_ok(pess_certify(data, &o, &certificate, &error), &error);
    assert_ok(pess_certificate_write_page(certificate, NULL, path_in(language, "page.html"), &error), &error);
    pess_certificate_destroy(certificate);
    pess_dataset_destroy(data);
}

static void write_training(const char *language) {
    char out[300];
    (void)snprintf(out, sizeof out, "%s", path_in(language, "dqn"));
    pess_dqn_options o = pess_dqn_options_defaults();
    o.game = "breakout", o.out = out, o.network = "dense", o.frames = 400, o.envs = 4, o.replay = 200, o.batch = 8;
    o.train_every = 16, o.warmup = 100, o.evaluate_every = 200, o.evaluate_episodes = 2, o.final_episodes = 3;
    o.checkpoint_every = 200, o.threads = 1;
    pess_dqn_result result;
    pess_error error = {0};
    assert_ok(pess_dqn_run(&o, &result, &error), &error);
}

static void write_all(const char *language) {
    assert_int_equal(mkdir(path_in(language, ""), 0700), 0);
    write_experiment(language);
    write_certificate(language);
    write_training(language);
}

/* Decompressed where it is .gz. */
static char *read_whole(const char *language, const char *name) {
    gzFile file = gzopen(path_in(language, name), "rb");
    char *text = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_non_null(text);
    assert_true(gzread(file, text, (1 << 20) - 1) > 0);
    assert_int_equal(gzclose(file), Z_OK);
    return text;
}

static void files_are_the_same(void **state) {
    (void)state;
    static const char *const names[] = {"experiment/results.csv", "experiment/paired.csv", "experiment/trials.csv.gz",
                                        "experiment/figure.svg",  "experiment/index.html", "page.html"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (access(path_in("plain", names[i]), F_OK) != 0 && strstr(names[i], "figure") != NULL)
            continue; /* no cairo */
        char *plain = read_whole("plain", names[i]), *german = read_whole("german", names[i]);
        if (strstr(names[i], "index.html") == NULL) assert_string_equal(plain, german);
        free(plain);
        free(german);
    }
}

/* The log has a column of seconds, so the bytes differ; the number of columns does not. */
static void logs_have_their_columns(void **state) {
    (void)state;
    char *text = read_whole("german", "dqn/log.csv");
    size_t commas = 0, expected = 0;
    for (const char *c = text; *c != '\0'; c++) {
        commas += *c == ',';
        if (*c != '\n') continue;
        if (expected == 0) expected = commas;
        assert_int_equal(commas, expected);
        commas = 0;
    }
    free(text);
}

static void manifests_are_json_and_notes_have_points(void **state) {
    (void)state;
    pess__json *json = NULL;
    pess_error error = {0};
    assert_ok(pess__json_read(path_in("german", "experiment/manifest.json"), &json, &error), &error);
    pess__json_destroy(json);
    pess_net *plain = NULL, *german = NULL;
    assert_ok(pess_net_read(path_in("plain", "dqn/policy.pessnet"), NULL, &plain, &error), &error);
    assert_ok(pess_net_read(path_in("german", "dqn/policy.pessnet"), NULL, &german, &error), &error);
    pess_net_info one, other;
    pess_net_get_info(plain, &one);
    pess_net_get_info(german, &other);
    assert_string_equal(one.notes, other.notes);
    pess_net_destroy(plain);
    pess_net_destroy(german);
}

static void messages_have_points(void **state) {
    (void)state;
    pess_solve_options o = pess_solve_options_defaults();
    pess_error error = {0};
    assert_int_equal(pess_setting_set(pess_solve_settings(), &o, "gamma", "1.5", &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "1.5"));
    assert_int_equal(pess_setting_set(pess_solve_settings(), &o, "gamma", "0.25", &error), PESS_OK);
    assert_true(o.gamma == 0.25);
    double value = 0;
    char text[PESS__NUMBER_SIZE];
    const size_t length = pess__format_double(1.25e-300, text);
    assert_string_equal(text, "1.25e-300");
    assert_true(pess__parse_double(text, text + length, &value) && value == 1.25e-300);
}

/* The I of ACTION, too, is that of action. */
static void columns_are_found_in_other_letters(void **state) {
    (void)state;
    const char *path = path_in("german", "letters.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("WHERE,ACTION_ID,next_state,reward\n0,1,0,1\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    pess_read_options options = pess_read_options_defaults();
    options.column = "state=where\naction=action_id";
    pess_dataset *data = NULL;
    pess_error error = {0};
    assert_ok(pess_dataset_read(path, &options, &data, &error), &error);
    assert_int_equal(data->action[0], 1);
    pess_dataset_destroy(data);
}

int main(void) {
    if (mkdtemp(root) == NULL) return 1;
    write_all("plain");
    speak_german(root);
    write_all("german");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_the_same),
        cmocka_unit_test(logs_have_their_columns),
        cmocka_unit_test(manifests_are_json_and_notes_have_points),
        cmocka_unit_test(messages_have_points),
        cmocka_unit_test(columns_are_found_in_other_letters),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_tree(root);
    return failed;
}
