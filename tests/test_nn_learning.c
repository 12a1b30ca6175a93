/* Learning that cannot succeed by luck, and what happens when it goes wrong. */
#include "nn/netfile.h"
#include "nn/trainer.h"

#include "nn_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

enum { COUNT = 60 };

typedef struct regression {
    pess__net *net;
    pess__trainer *trainer;
    uint8_t *bits;
    int32_t actions[COUNT];
    float targets[COUNT];
} regression;

static void open_school(regression *s, const char *network, pess__optimiser optimiser, uint64_t index) {
    pess__rng rng = pess__rng_stream(31, "test learning", index);
    pess__net_spec spec;
    pess_error error;
    assert_int_equal(pess__spec_named(network, 10, 10, 4, 6, &spec, &error), PESS_OK);
    assert_int_equal(pess__net_create(&spec, NULL, &s->net, &error), PESS_OK);
    assert_int_equal(pess__trainer_create(s->net, &optimiser, &s->trainer, &error), PESS_OK);
    pess__net_initialise(s->net, &rng);
    s->bits = malloc((size_t)(COUNT * s->net->bytes));
    random_bits(&rng, &spec, COUNT, s->bits);
    for (int i = 0; i < COUNT; i++) {
        s->bits[i * s->net->bytes] = (uint8_t)i; /* all different */
        s->actions[i] = (int32_t)pess__rng_below(&rng, 6);
        s->targets[i] = (float)pess__rng_normal(&rng);
    }
}

static void close_school(regression *s) {
    free(s->bits);
    pess__trainer_destroy(s->trainer);
    pess__net_destroy(s->net);
}

static double train(regression *s, pess__loss loss, int steps) {
    const pess__bits_rows rows = {s->bits, s->net->bytes, NULL};
    const pess__labels labels = {.actions = s->actions, .targets = s->targets};
    pess__step_info info = {0};
    pess_error error;
    for (int i = 0; i < steps; i++)
        assert_int_equal(pess__trainer_step(s->trainer, &rows, &labels, COUNT, &loss, &info, &error), PESS_OK);
    return info.loss;
}

/* Random targets on random boards: a loss of 1 is knowing nothing, and only having learnt each gives 1e-3. */
static void random_targets_are_fitted(void **state) {
    (void)state;
    static const char *const networks[] = {"value", "dqn"};
    for (int i = 0; i < 4; i++) {
        pess__optimiser optimiser = pess__optimiser_defaults();
        optimiser.rate = 1e-3;
        if (i >= 2) optimiser.kind = PESS__OPTIMISER_RMSPROP, optimiser.beta2 = 0.95, optimiser.epsilon = 1e-4;
        regression s;
        open_school(&s, networks[i % 2], optimiser, (uint64_t)i);
        const double before = train(&s, (pess__loss){PESS__LOSS_SQUARED, 0}, 1);
        const pess__loss loss = {i < 2 ? PESS__LOSS_SQUARED : PESS__LOSS_HUBER, 5};
        (void)train(&s, loss, 250);
        s.trainer->optimiser.rate = 1e-4; /* at a constant rate RMSProp hovers */
        const double after = train(&s, loss, 150);
        assert_true(before > 0.3 && after < 1e-3);
        close_school(&s);
    }
}

static void random_labels_are_learnt(void **state) {
    (void)state;
    pess__optimiser optimiser = pess__optimiser_defaults();
    optimiser.rate = 1e-3;
    regression s;
    open_school(&s, "value", optimiser, 9);
    (void)train(&s, (pess__loss){PESS__LOSS_CROSS_ENTROPY, 0}, 200);
    float q[COUNT * 6];
    pess_error error;
    assert_int_equal(pess__net_apply(s.net, &(pess__bits_rows){s.bits, s.net->bytes, NULL}, COUNT, 2, q, &error),
                     PESS_OK);
    for (int i = 0; i < COUNT; i++)
        for (int a = 0; a < 6; a++) assert_true(a == s.actions[i] || q[i * 6 + s.actions[i]] > q[i * 6 + a] + 1);
    close_school(&s);
}

/* The sums run in one order however the samples are cut, so 60 samples and the same with weight 0 appended agree. */
static void samples_without_weight_change_nothing(void **state) {
    (void)state;
    float weights[COUNT];
    for (int i = 0; i < COUNT; i++) weights[i] = i % 3 == 0 ? 0 : 1;
    regression s;
    open_school(&s, "value", pess__optimiser_defaults(), 5);
    const pess__labels labels = {.actions = s.actions, .targets = s.targets, .weights = weights};
    const pess__loss loss = {PESS__LOSS_SQUARED, 0};
    const size_t size = (size_t)s.net->size * sizeof(float);
    pess__step_info info;
    const pess__bits_rows rows = {s.bits, s.net->bytes, NULL};
    pess__trainer_gradient(s.trainer, &rows, &labels, COUNT, &loss, &info);
    float *first = malloc(size);
    memcpy(first, s.trainer->gradient, size);
    for (int i = 0; i < COUNT; i += 3) s.targets[i] = 1000, s.actions[i] = 5 - s.actions[i];
    pess__trainer_gradient(s.trainer, &rows, &labels, COUNT, &loss, &info);
    for (int64_t i = 0; i < s.net->size; i++)
        assert_true(first[i] <= s.trainer->gradient[i] && first[i] >= s.trainer->gradient[i]);
    free(first);
    close_school(&s);
}

static void nan_stops_before_it_spreads(void **state) {
    (void)state;
    regression s;
    open_school(&s, "dqn", pess__optimiser_defaults(), 7);
    (void)train(&s, (pess__loss){PESS__LOSS_HUBER, 1}, 3);
    const size_t size = (size_t)s.net->size * sizeof(float);
    float *before = malloc(size);
    memcpy(before, s.net->parameters, size);
    s.targets[17] = NAN;
    const pess__bits_rows rows = {s.bits, s.net->bytes, NULL};
    const pess__labels labels = {.actions = s.actions, .targets = s.targets};
    const pess__loss losses[] = {{PESS__LOSS_HUBER, 1}, {PESS__LOSS_SQUARED, 0}};
    for (int i = 0; i < 2; i++) {
        pess__step_info info;
        pess_error error;
        assert_int_equal(pess__trainer_step(s.trainer, &rows, &labels, COUNT, &losses[i], &info, &error),
                         PESS_NOT_CONVERGED);
        assert_non_null(strstr(error.message, "step 4"));
        assert_memory_equal(before, s.net->parameters, size);
    }
    free(before);
    close_school(&s);
}

/* ---- files */

static char path[] = "/tmp/pess_net_test_XXXXXX";

static uint8_t *written(size_t *size) {
    pess__net_spec spec;
    pess_error error;
    pess__net *net = NULL;
    pess_net *wrapped = NULL;
    pess__rng rng = pess__rng_stream(1, "test file", 0);
    assert_int_equal(pess__spec_named("value", 10, 10, 4, 6, &spec, &error), PESS_OK);
    assert_int_equal(pess__net_create(&spec, NULL, &net, &error), PESS_OK);
    pess__net_initialise(net, &rng);
    assert_int_equal(pess__net_wrap(net, "game=breakout\nseed=7\n", &wrapped, &error), PESS_OK);
    assert_int_equal(pess_net_write(wrapped, path, &error), PESS_OK);
    pess_net_destroy(wrapped);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

static void a_file_brings_the_network_back(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = written(&size);
    assert_int_equal(size, 8 + 20 + 6 * 20 + 4 + 21 + 52390 * 4 + 4);
    pess_net *net = NULL, *copy = NULL;
    pess_error error;
    assert_int_equal(pess_net_read(path, "portable", &net, &error), PESS_OK);
    assert_int_equal(pess__net_read_memory("copy", bytes, size, &copy, &error), PESS_OK);
    char value[8];
    assert_true(pess_net_note(net, "seed", value, sizeof value));
    assert_string_equal(value, "7");
    assert_false(pess_net_note(net, "see", value, sizeof value));
    pess_net_info info;
    pess_net_get_info(net, &info);
    assert_int_equal(info.parameters, 52390);
    assert_string_equal(info.kernels, "portable");
    assert_memory_equal(net->net->parameters, copy->net->parameters, (size_t)net->net->size * sizeof(float));
    float first = 0; /* the first weight of the file is that of unit 0, channel 0, row 0, column 0 */
    memcpy(&first, bytes + 8 + 20 + 6 * 20 + 4 + 21, sizeof first);
    assert_true(net->net->parameters[0] >= first && net->net->parameters[0] <= first);
    pess_net_destroy(net);
    pess_net_destroy(copy);
    free(bytes);
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = written(&size);
    pess_net *net = NULL;
    pess_error error;
    for (size_t cut = 0; cut < size; cut += cut < 300 ? 1 : 9973) {
        assert_int_equal(pess__net_read_memory("cut", bytes, cut, &net, &error), PESS_INPUT);
        assert_non_null(strstr(error.message, "cut: "));
    }
    for (size_t at = 0; at < size; at += at < 300 ? 1 : 7919) {
        bytes[at] ^= 0x10;
        assert_int_equal(pess__net_read_memory("flip", bytes, size, &net, &error), PESS_INPUT);
        bytes[at] ^= 0x10;
    }
    assert_int_equal(pess__net_read_memory("foreign", "PK\3\4 something else altogether", 30, &net, &error),
                     PESS_INPUT);
    assert_non_null(strstr(error.message, "not a network file"));
    assert_int_equal(pess_net_read("/nonexistent/net", NULL, &net, &error), PESS_IO);
    free(bytes);
}

static void a_policy_for_another_game_is_refused(void **state) {
    (void)state;
    size_t size;
    free(written(&size));
    pess_net *net = NULL;
    pess_policy *policy = NULL;
    pess_error error;
    assert_int_equal(pess_policy_read(path, NULL, NULL, NULL, &policy, &error), PESS_OK);
    assert_int_equal(pess_policy_check_game(policy, "x", pess_env_find("breakout"), false, &error), PESS_OK);
    assert_int_equal(pess_policy_check_game(policy, "x", pess_env_find("asterix"), false, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "breakout"));
    pess_policy_destroy(policy);
    assert_int_equal(pess_net_read(path, NULL, &net, &error), PESS_OK);
    net->notes[0] = '\0'; /* without the note the board still tells */
    assert_int_equal(pess_net_write(net, path, &error), PESS_OK);
    assert_int_equal(pess_policy_read(path, NULL, NULL, NULL, &policy, &error), PESS_OK);
    assert_int_equal(pess_policy_check_game(policy, "x", pess_env_find("seaquest"), false, &error), PESS_INPUT);
    pess_policy_destroy(policy);
    pess_net_destroy(net);
    (void)unlink(path);
}

int main(void) {
    const int descriptor = mkstemp(path);
    if (descriptor < 0) return 1;
    (void)close(descriptor);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_targets_are_fitted),
        cmocka_unit_test(random_labels_are_learnt),
        cmocka_unit_test(samples_without_weight_change_nothing),
        cmocka_unit_test(nan_stops_before_it_spreads),
        cmocka_unit_test(a_file_brings_the_network_back),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(a_policy_for_another_game_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
