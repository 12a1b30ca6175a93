/* Ten optimiser steps of both networks against PyTorch's (tests/tools/make_torch_golden.py), on every path. */
#include "nn/trainer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BATCH = 64, STEPS = 10, EVERY = 97, BYTES = 50, PROBES = 8 };

/* Uniform in [0,1): the hash of the Python script. */
static double mix(uint64_t stream, uint64_t index) {
    uint64_t x = (index + stream * 1000003) * 2654435761U % 4294967296U;
    x ^= x >> 15;
    x = x * 2246822519U % 4294967296U;
    x ^= x >> 13;
    x = x * 3266489917U % 4294967296U;
    x ^= x >> 16;
    return (double)x / 4294967296.0;
}

typedef struct golden {
    char network[16], optimiser[16], loss[16];
    double clip, losses[STEPS], outputs[PROBES * 6];
    int parameter_count;
    double parameters[2000];
} golden;

static bool read_numbers(FILE *file, double *out, int count) {
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%lf", &out[i]) != 1) return false;
    return true;
}

static bool read_golden(FILE *file, golden *g) {
    if (fscanf(file, " case %15s %15s %15s %lf losses", g->network, g->optimiser, g->loss, &g->clip) != 4) return false;
    assert_true(read_numbers(file, g->losses, STEPS));
    assert_int_equal(fscanf(file, " parameters %d", &g->parameter_count), 1);
    assert_true(g->parameter_count > 0 && g->parameter_count <= 2000);
    assert_true(read_numbers(file, g->parameters, g->parameter_count));
    assert_int_equal(fscanf(file, " outputs"), 0);
    assert_true(read_numbers(file, g->outputs, PROBES * 6));
    return true;
}

/* The hash, scaled as the script does: weights and biases of a layer within ±1/√fan-in. */
static float *initial(const pess__net *net) {
    const int64_t count = pess__spec_parameters(&net->spec);
    float *values = malloc((size_t)count * sizeof *values);
    int64_t at = 0;
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        const int64_t fan_in = l->taps * l->inputs, end = at + (fan_in + 1) * l->outputs;
        for (; at < end; at++) values[at] = (float)((2 * mix(1, (uint64_t)at) - 1) * (1 / sqrt((double)fan_in)));
    }
    assert_int_equal(at, count);
    return values;
}

static void check_case(const golden *g, const char *path) {
    static uint8_t bits[BATCH * BYTES];
    int32_t actions[BATCH];
    float targets[BATCH], weights[BATCH], outputs[PROBES * 6];
    memset(bits, 0, sizeof bits);
    for (unsigned i = 0; i < BATCH * 400; i++)
        if (mix(2, i) < 0.1) bits[i / 8] |= (uint8_t)(1U << i % 8);
    for (unsigned i = 0; i < BATCH; i++) {
        actions[i] = (int32_t)(mix(3, i) * 6);
        targets[i] = (float)((mix(4, i) - 0.5) * 16);
        weights[i] = (float)(2 * mix(5, i));
    }
    pess__net_spec spec;
    pess__net *net = NULL;
    pess__trainer *trainer = NULL;
    pess_error error;
    pess__optimiser optimiser = pess__optimiser_defaults();
    optimiser.clip = g->clip;
    if (strcmp(g->optimiser, "rmsprop") == 0)
        optimiser.kind = PESS__OPTIMISER_RMSPROP, optimiser.beta2 = 0.95, optimiser.epsilon = 0.01;
    pess__loss loss = {PESS__LOSS_CROSS_ENTROPY, 5};
    if (strcmp(g->loss, "huber") == 0) loss.kind = PESS__LOSS_HUBER;
    if (strcmp(g->loss, "squared") == 0) loss.kind = PESS__LOSS_SQUARED;
    assert_int_equal(pess__spec_named(g->network, 10, 10, 4, 6, &spec, &error), PESS_OK);
    assert_int_equal(pess__net_create(&spec, path, &net, &error), PESS_OK);
    assert_int_equal(pess__trainer_create(net, &optimiser, &trainer, &error), PESS_OK);
    float *values = initial(net);
    pess__net_import(net, values);
    const pess__bits_rows rows = {bits, BYTES, NULL};
    const pess__labels labels = {actions, targets, weights, NULL, NULL};
    for (int step = 0; step < STEPS; step++) {
        pess__step_info info;
        assert_int_equal(pess__trainer_step(trainer, &rows, &labels, BATCH, &loss, &info, &error), PESS_OK);
        assert_true(fabs(info.loss - g->losses[step]) < 1e-5 * (1 + fabs(g->losses[step])));
    }
    pess__net_export(net, values);
    for (int i = 0; i < g->parameter_count; i++) assert_true(fabs((double)values[i * EVERY] - g->parameters[i]) < 2e-5);
    assert_int_equal(pess__net_apply(net, &rows, PROBES, 1, outputs, &error), PESS_OK);
    for (int i = 0; i < PROBES * 6; i++)
        assert_true(fabs((double)outputs[i] - g->outputs[i]) < 2e-5 * (1 + fabs(g->outputs[i])));
    free(values);
    pess__trainer_destroy(trainer);
    pess__net_destroy(net);
}

static void ten_steps_are_pytorchs(void **state) {
    (void)state;
    static golden g;
    size_t count;
    const pess__kernels *const *paths = pess__kernels_list(&count);
    FILE *file = fopen(TEST_DATA "/torch_golden.txt", "r");
    assert_non_null(file);
    int cases = 0;
    for (; read_golden(file, &g); cases++)
        for (size_t p = 0; p < count; p++)
            if (paths[p]->supported()) check_case(&g, paths[p]->name);
    assert_int_equal(cases, 6);
    (void)fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ten_steps_are_pytorchs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
