/* metadata.json beside a file called main_data.hdf5: what the data are called, and the spaces of what is seen and done.
 */
#include "scratch.h"
#include "scratch_tree.h"

static pess_error error;

/* One transition of an observation of zeros to another. */
static pess_observations *one_of(const char *game, const pess_observation_shape *shape) {
    pess_observations *data = NULL;
    void *zeros = calloc((size_t)pess_observation_bytes(shape), 1);
    const int64_t action = 1;
    const double reward = 0.5;
    const uint8_t end = PESS_END_TERMINAL;
    const pess_observations_rows row = {
        .count = 1, .state = zeros, .next = zeros, .action = &action, .reward = &reward, .end = &end};
    assert_ok(pess_observations_create(game, "", shape, 2, &data, &error), &error);
    assert_ok(pess_observations_append(data, &row, &error), &error);
    free(zeros);
    return data;
}

static char root[200];

static char *metadata_of(const pess_observations *data, const char *folder) {
    char path[400], beside[400];
    (void)snprintf(path, sizeof path, "%s%s/main_data.hdf5", root, folder);
    (void)snprintf(beside, sizeof beside, "%s%s/metadata.json", root, folder);
    assert_ok(pess_observations_write(data, path, &error), &error);
    return scratch_read(beside);
}

static void says(const pess_observations *data, const char *folder, const char *text) {
    char *metadata = metadata_of(data, folder);
    if (strstr(metadata, text) == NULL) fail_msg("%s: no %s in %s", folder, text, metadata);
    free(metadata);
}

static void a_dataset_is_called_by_its_folder_or_its_game(void **state) {
    (void)state;
    const pess_observation_shape shape = pess_observation_floats(2);
    pess_observations *named = one_of("cartpole", &shape), *nameless = one_of("", &shape);
    says(named, "/door-v2/data", "\"dataset_id\": \"door-v2\"");
    says(named, "/door-v2", "\"dataset_id\": \"cartpole-v0\"");
    says(nameless, "/door-v2", "\"dataset_id\": \"observations-v0\"");
    says(named, "/door-v2/data", "\"total_steps\": 1");
    pess_observations_destroy(named);
    pess_observations_destroy(nameless);
}

static void spaces_are_those_of_the_observations(void **state) {
    (void)state;
    static const struct {
        int rows, cols, channels;
        const char *space;
    } pictures[] = {{2, 1, 2, "shape\\\": [2, 1, 2], \\\"low\\\": [[[0, 0]], [[0, 0]]]"},
                    {1, 2, 1, "shape\\\": [1, 2, 1], \\\"low\\\": [[[0], [0]]]"},
                    {1, 1, 2, "shape\\\": [2], \\\"low\\\": [0, 0]"}};
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        const pess_observation_shape shape =
            pess_observation_picture(pictures[i].rows, pictures[i].cols, pictures[i].channels);
        pess_observations *data = one_of("hand", &shape);
        says(data, "/door-v2", pictures[i].space);
        says(data, "/door-v2", "uint8");
        says(data, "/door-v2", "[255");
        pess_observations_destroy(data);
    }
    const pess_observation_shape bits = pess_observation_bits(3), floats = pess_observation_floats(1);
    pess_observations *seen[] = {one_of("hand", &bits), one_of("hand", &floats)};
    says(seen[0], "/door-v2", "\\\"low\\\": [0, 0, 0], \\\"high\\\": [1, 1, 1]");
    says(seen[1], "/door-v2", "\\\"low\\\": [-Infinity], \\\"high\\\": [Infinity]");
    says(seen[1], "/door-v2",
         "\\\"type\\\": \\\"Discrete\\\", \\\"dtype\\\": \\\"int64\\\", \\\"start\\\": 0, \\\"n\\\": 2");
    for (int i = 0; i < 2; i++) pess_observations_destroy(seen[i]);
}

static void names_without_room_are_refused(void **state) {
    (void)state;
    static char path[4200];
    const pess_observation_shape shape = pess_observation_floats(2);
    pess_observations *data = one_of("cartpole", &shape);
    (void)snprintf(path, sizeof path, "%s/", root);
    while (strlen(path) < 4090) strcat(path, "./");
    strcat(path, "main_data.hdf5");
    const pess_status status = pess_observations_write(data, path, &error);
    assert_true(status == PESS_ARGUMENT || status == PESS_IO);
    pess_observations_destroy(data);
}

static int begin(void **state) {
    (void)state;
    (void)snprintf(root, sizeof root, "%s", scratch_path(0, ".minari"));
    char path[300];
    static const char *const folders[] = {"", "/door-v2", "/door-v2/data"};
    for (int i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "%s%s", root, folders[i]);
        if (mkdir(path, 0777) != 0) return 1;
    }
    return 0;
}

static int end(void **state) {
    (void)state;
    remove_tree(root);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_dataset_is_called_by_its_folder_or_its_game),
                                       cmocka_unit_test(spaces_are_those_of_the_observations),
                                       cmocka_unit_test(names_without_room_are_refused)};
    return cmocka_run_group_tests(tests, begin, end);
}
