/* Actions that are vectors: numbered by a grid and by k-means, kept in files of all kinds and in policies; tables with
 * feature columns as datasets of observations. */
#include "deep_case.h"
#include "scratch.h"

static pess_error error;

enum { ROWS = 60, WIDTH = 2 };

/* Episodes of ten rows; the action lies near one of three points, a little apart from it. */
static const float points[3][WIDTH] = {{-1, 2}, {0.5F, 2}, {1, 8}};

static pess_observations *vectors(void) {
    float states[ROWS][2], nexts[ROWS][2], actions[ROWS][WIDTH];
    double rewards[ROWS];
    uint8_t ends[ROWS];
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 2; k++) states[i][k] = (float)(i + k), nexts[i][k] = (float)(i + 1 + k);
        for (int k = 0; k < WIDTH; k++) actions[i][k] = points[i % 3][k] + 0.01F * (float)(i % 5 - 2);
        rewards[i] = i % 3;
        ends[i] = i % 10 == 9 ? (i % 20 == 9 ? PESS_END_TERMINAL : PESS_END_CUTOFF) : PESS_END_NONE;
    }
    const pess_observation_shape shape = pess_observation_floats(2);
    const pess_observations_rows rows = {.count = ROWS,
                                         .state = states,
                                         .next = nexts,
                                         .reward = rewards,
                                         .end = ends,
                                         .vector = &actions[0][0],
                                         .width = WIDTH};
    pess_observations *data = NULL;
    assert_ok(pess_observations_create("hand", "", &shape, 1, &data, &error), &error);
    assert_ok(pess_observations_append(data, &rows, &error), &error);
    return data;
}

/* Every logged vector has the nearest of the actions, numbers counted in deviations, and `lost` is what that loses. */
static void assert_nearest(const pess_observations *before, const pess_observations *after, double lost) {
    double mean[WIDTH] = {0}, variance[WIDTH] = {0}, apart = 0, all = 0;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < WIDTH; k++) mean[k] += (double)before->vector[i * WIDTH + k] / ROWS;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < WIDTH; k++) variance[k] += pow((double)before->vector[i * WIDTH + k] - mean[k], 2) / ROWS;
    for (int i = 0; i < ROWS; i++) {
        double least = INFINITY, own = 0;
        for (int64_t a = 0; a < after->actions; a++) {
            double distance = 0;
            for (int k = 0; k < WIDTH; k++)
                distance += pow((double)before->vector[i * WIDTH + k] - (double)after->space.values[a * WIDTH + k], 2) /
                            variance[k];
            least = fmin(least, distance);
            if (a == after->action[i]) own = distance;
        }
        assert_close(own, least, 1e-5);
        apart += own;
        for (int k = 0; k < WIDTH; k++) all += pow((double)before->vector[i * WIDTH + k] - mean[k], 2) / variance[k];
    }
    assert_close(lost, apart / all, 1e-5);
}

static void actions_go_to_the_nearest_point_of_a_grid(void **unused) {
    (void)unused;
    pess_observations *before = vectors(), *data = vectors();
    pess_actions_fit fit;
    pess_actions_options o = pess_actions_options_defaults();
    o.grid = "-1:1:3,2:8:2";
    assert_ok(pess_observations_number_actions(data, &o, &fit, &error), &error);
    const float wanted[6][WIDTH] = {{-1, 2}, {-1, 8}, {0, 2}, {0, 8}, {1, 2}, {1, 8}};
    assert_int_equal(data->actions, 6);
    assert_memory_equal(data->space.values, wanted, sizeof wanted);
    assert_null(data->vector);
    assert_int_equal(data->pairs, ROWS);
    assert_int_equal(fit.unlogged, 2); /* 0.5 ± 0.02 is nearer to 0 or to 1, with 2 */
    assert_nearest(before, data, fit.lost);
    pess_observations_destroy(data);
    data = vectors();
    o.grid = "2"; /* between what was logged */
    assert_ok(pess_observations_number_actions(data, &o, &fit, &error), &error);
    assert_int_equal(data->actions, 4);
    assert_close((double)data->space.values[0], -1.02, 1e-6);
    assert_close((double)data->space.values[7], 8.02, 1e-6);
    assert_nearest(before, data, fit.lost);
    pess_observations_destroy(data);
    pess_observations_destroy(before);
}

/* More than eight actions take a second byte of the bits that say which were taken where. */
static void what_was_taken_where_is_kept_for_many_actions(void **unused) {
    (void)unused;
    pess_observations *data = vectors();
    pess_actions_fit fit;
    pess_actions_options o = pess_actions_options_defaults();
    o.grid = "4";
    assert_ok(pess_observations_number_actions(data, &o, &fit, &error), &error);
    assert_int_equal(data->actions, 16);
    assert_int_equal(data->tried_bytes, 2);
    for (int64_t s = 0; s < data->states; s++)
        for (int64_t a = 0; a < data->actions; a++) {
            bool taken = false;
            for (int64_t i = 0; i < data->transitions; i++) taken |= data->state[i] == s && data->action[i] == a;
            assert_int_equal(data->tried[s * data->tried_bytes + a / 8] >> (a % 8) & 1, taken);
        }
    pess_observations_destroy(data);
}

static void actions_go_to_the_nearest_of_k_centres(void **unused) {
    (void)unused;
    pess_observations *before = vectors(), *data = vectors();
    pess_actions_fit fit;
    pess_actions_options o = pess_actions_options_defaults();
    o.kmeans = 3;
    assert_ok(pess_observations_number_actions(data, &o, &fit, &error), &error);
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < WIDTH; k++)
            assert_close((double)data->space.values[data->action[i] * WIDTH + k], (double)points[i % 3][k], 1e-6);
    assert_nearest(before, data, fit.lost);
    assert_non_null(strstr(data->notes, "actions_kmeans=3\n"));
    pess_observations_destroy(data);
    pess_observations_destroy(before);
}

/* Vectors that were chosen before, from elsewhere: no logged one is nearest to the last of them. */
static void actions_go_to_the_nearest_of_given_vectors(void **unused) {
    (void)unused;
    static const float given[4][WIDTH] = {{1, 7}, {-0.9F, 2.5F}, {0.4F, 1.5F}, {90, 90}};
    static const uint8_t wanted[3] = {1, 2, 0}; /* of the points, in their order */
    pess_observations *before = vectors(), *data = vectors();
    pess_actions_fit fit;
    const float endless[WIDTH] = {0, INFINITY};
    assert_int_equal(pess_observations_number_actions_as(data, &given[0][0], 8, 1, &fit, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "found actions of 1 numbers, expected 2"));
    assert_int_equal(pess_observations_number_actions_as(data, &given[0][0], 0, WIDTH, &fit, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "found 0 actions, expected 1 to 256"));
    assert_int_equal(pess_observations_number_actions_as(data, endless, 1, WIDTH, &fit, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "found inf for action 0"));
    assert_ok(pess_observations_number_actions_as(data, &given[0][0], 4, WIDTH, &fit, &error), &error);
    for (int i = 0; i < ROWS; i++) assert_int_equal(data->action[i], wanted[i % 3]);
    assert_memory_equal(data->space.values, given, sizeof given);
    assert_nearest(before, data, fit.lost);
    assert_int_equal(fit.unlogged, 1);
    assert_non_null(strstr(data->notes, "actions_given=1\n"));
    assert_int_equal(pess_observations_number_actions_as(data, &given[0][0], 4, WIDTH, &fit, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "numbers already"));
    pess_observations_destroy(data);
    pess_observations_destroy(before);
}

static void refused(const char *grid, int64_t kmeans, const char *words) {
    pess_observations *data = vectors();
    pess_actions_options o = pess_actions_options_defaults();
    o.grid = grid, o.kmeans = kmeans;
    /* without options: neither a grid nor k-means is chosen */
    assert_int_equal(pess_observations_number_actions(data, NULL, NULL, &error), PESS_ARGUMENT);
    assert_int_equal(pess_observations_number_actions(data, &o, NULL, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, words));
    assert_non_null(data->vector);
    pess_observations_destroy(data);
}

static void bad_choices_are_refused(void **unused) {
    (void)unused;
    static const char *const bad[] = {"", "0", "x", "1:2", "2:1:3", "3,", "3,3,3", "nan:1:3", "257"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) refused(bad[i], 0, "actions-grid: found '");
    refused("100", 0, "more than 256 points");
    refused(NULL, 0, "found neither");
    refused("3", 3, "found both");
    refused(NULL, 61, "only 15 different actions");
}

static void assert_same(const pess_observations *a, const pess_observations *b) {
    assert_int_equal(a->transitions, b->transitions);
    assert_int_equal(a->space.width, b->space.width);
    assert_int_equal(a->actions, b->actions);
    assert_memory_equal(a->action, b->action, (size_t)a->transitions);
    assert_int_equal(a->vector != NULL, b->vector != NULL);
    const size_t bytes = (size_t)a->space.width * sizeof(float);
    if (a->vector != NULL) assert_memory_equal(a->vector, b->vector, (size_t)a->transitions * bytes);
    if (a->space.values != NULL) assert_memory_equal(a->space.values, b->space.values, (size_t)a->actions * bytes);
    for (int64_t i = 0; i < a->transitions; i++) {
        assert_int_equal(a->end[i], b->end[i]);
        assert_memory_equal(a->observations + a->next[i] * a->bytes, b->observations + b->next[i] * b->bytes,
                            (size_t)a->bytes);
    }
}

static void files_keep_them(void **unused) {
    (void)unused;
    pess_observations *raw = vectors(), *data = vectors(), *again = NULL;
    pess_actions_options o = pess_actions_options_defaults();
    o.kmeans = 3;
    assert_ok(pess_observations_number_actions(data, &o, NULL, &error), &error);
    assert_ok(pess_observations_write(raw, in_root("raw.npz"), &error), &error);
    assert_ok(pess_observations_read(in_root("raw.npz"), &again, &error), &error);
    assert_same(raw, again);
    pess_observations_destroy(again);
    static const char *const names[] = {"numbered.npz", "numbered.pessdata"};
    for (int i = 0; i < 2; i++) {
        assert_ok(pess_observations_write(data, in_root(names[i]), &error), &error);
        assert_ok(pess_observations_read(in_root(names[i]), &again, &error), &error);
        assert_same(data, again);
        pess_observations_destroy(again);
    }
    assert_int_equal(pess_observations_write(raw, in_root("raw.pessdata"), &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "no place for actions that are vectors"));
    assert_int_not_equal(access(in_root("raw.pessdata"), F_OK), 0);
    pess_observations_destroy(raw);
    pess_observations_destroy(data);
}

/* One transition at a time, far past the room that was made first. */
static void they_are_kept_however_many_come(void **unused) {
    (void)unused;
    enum { MANY = 1000 };
    const pess_observation_shape shape = pess_observation_floats(1);
    pess_observations *data = NULL;
    assert_ok(pess_observations_create("hand", "", &shape, 1, &data, &error), &error);
    for (int i = 0; i < MANY; i++) {
        const float state = (float)i, next = (float)(i + 1), action[] = {state, -state};
        const double reward = i;
        const uint8_t end = PESS_END_NONE;
        const pess_observations_rows row = {.count = 1,
                                            .state = &state,
                                            .next = &next,
                                            .reward = &reward,
                                            .end = &end,
                                            .vector = action,
                                            .width = WIDTH};
        assert_ok(pess_observations_append(data, &row, &error), &error);
    }
    for (int i = 0; i < MANY; i++) {
        assert_true(data->vector[i * WIDTH] == (float)i && data->vector[i * WIDTH + 1] == (float)-i);
        assert_true(data->reward[i] == (float)i);
    }
    pess_observations_destroy(data);
}

static void policies_keep_them(void **unused) {
    (void)unused;
    pess_observations *data = vectors();
    pess_policy *policy = NULL;
    pess_policy_info info;
    pess_train_result result;
    pess_train_options t = pess_train_options_defaults();
    assert_ok(pess_protocol_find("smoke", &t.protocol, &error), &error);
    t.data = data, t.algorithm = "naive", t.out = in_root("run"), t.threads = 1;
    assert_int_equal(pess_train_run(&t, &result, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "vectors of 2 numbers"));
    pess_actions_options o = pess_actions_options_defaults();
    o.kmeans = 3;
    assert_ok(pess_observations_number_actions(data, &o, NULL, &error), &error);
    assert_ok(pess_train_run(&t, &result, &error), &error);
    char path[400];
    (void)snprintf(path, sizeof path, "%s/policy.pesspolicy", in_root("run"));
    assert_ok(pess_policy_read(path, NULL, NULL, NULL, &policy, &error), &error);
    pess_policy_get_info(policy, &info);
    assert_int_equal(info.action_width, WIDTH);
    assert_memory_equal(info.action_values, data->space.values, (size_t)(3 * WIDTH) * sizeof(float));
    assert_int_equal(pess_policy_check_game(policy, "p", pess_env_find("cartpole"), false, &error), PESS_INPUT);
    pess_policy_destroy(policy);
    pess_observations_destroy(data);
}

/* Two episodes whose rows stand mixed up, in the order of their first steps; one was cut off: its last row is left out.
 */
static void a_table_becomes_observations_episode_by_episode(void **unused) {
    (void)unused;
    const char *path = scratch_write(0, "ep,t,x,y,act,r,done,timeout,pscore\n"
                                        "a,1,3,30,right,2,0,0,0.5\n"
                                        "b,0,5,50,left,4,0,0,0.25\n"
                                        "a,0,1,10,left,1,0,0,0.5\n"
                                        "a,2,2,20,left,3,1,0,1\n"
                                        "b,1,6,60,right,5,0,1,1\n");
    pess_measurements *m = NULL;
    pess_observations *data = NULL;
    pess_measurements_options o = pess_measurements_options_defaults();
    o.features = "y,x";
    assert_ok(pess_measurements_read(path, &o, &m, &error), &error);
    assert_ok(pess_measurements_observations(m, NULL, &data, &error), &error);
    const float rewards[] = {4, 1, 2, 3}, probabilities[] = {0.25F, 0.5F, 0.5F, 1}, first[] = {10, 1}, last[] = {60, 6};
    const uint8_t ends[] = {PESS_END_CUTOFF, PESS_END_NONE, PESS_END_NONE, PESS_END_TERMINAL};
    assert_int_equal(data->transitions, 4);
    assert_memory_equal(data->reward, rewards, sizeof rewards);
    assert_memory_equal(data->probability, probabilities, sizeof probabilities);
    assert_memory_equal(data->end, ends, sizeof ends);
    assert_memory_equal(data->observations + data->state[1] * data->bytes, first, sizeof first);
    assert_memory_equal(data->observations + data->next[0] * data->bytes, last, sizeof last);
    assert_string_equal(pess_names_get(data->space.names, data->action[2]), "right");
    assert_non_null(strstr(data->notes, "features=y,x\n"));
    pess_observations_destroy(data);
    pess_measurements_destroy(m);
    scratch_remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actions_go_to_the_nearest_point_of_a_grid),
        cmocka_unit_test(what_was_taken_where_is_kept_for_many_actions),
        cmocka_unit_test(actions_go_to_the_nearest_of_k_centres),
        cmocka_unit_test(actions_go_to_the_nearest_of_given_vectors),
        cmocka_unit_test(bad_choices_are_refused),
        cmocka_unit_test(files_keep_them),
        cmocka_unit_test(they_are_kept_however_many_come),
        cmocka_unit_test(policies_keep_them),
        cmocka_unit_test(a_table_becomes_observations_episode_by_episode),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
