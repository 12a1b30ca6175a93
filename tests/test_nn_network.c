/* The engine on every path against the plain network, over random shapes; cuts and threads change no byte. */
#include "nn/trainer.h"

#include "nn_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SAMPLES = 23, ROUNDS = 60 };

typedef struct fixture {
    pess__net_spec spec;
    int64_t parameters, bytes, outputs;
    float *values;
    double *exact;
    uint8_t *bits;
} fixture;

static fixture make(pess__rng *rng, const pess__net_spec *spec, int64_t samples) {
    fixture f = {.spec = *spec, .parameters = pess__spec_parameters(spec)};
    f.bytes = ((int64_t)spec->rows * spec->cols * spec->channels + 7) / 8;
    f.outputs = spec->layers[spec->layer_count - 1].outputs;
    f.values = malloc((size_t)f.parameters * sizeof *f.values);
    f.exact = malloc((size_t)f.parameters * sizeof *f.exact);
    f.bits = malloc((size_t)(samples * f.bytes));
    for (int64_t i = 0; i < f.parameters; i++) {
        f.values[i] = (float)(0.2 * pess__rng_normal(rng));
        f.exact[i] = (double)f.values[i];
    }
    random_bits(rng, spec, samples, f.bits);
    return f;
}

static void unmake(fixture *f) {
    free(f->values);
    free(f->exact);
    free(f->bits);
}

static pess__net *open_net(const fixture *f, const char *path) {
    pess__net *net = NULL;
    pess_error error;
    assert_int_equal(pess__net_create(&f->spec, path, &net, &error), PESS_OK);
    pess__net_import(net, f->values);
    return net;
}

static void outputs_are_those_of_the_plain_network(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(11, "test network", 0);
    size_t count;
    const pess__kernels *const *paths = pess__kernels_list(&count);
    for (int round = 0; round < ROUNDS; round++) {
        const pess__net_spec spec = random_spec(&rng);
        fixture f = make(&rng, &spec, SAMPLES);
        double *want = malloc((size_t)f.outputs * sizeof *want);
        float *got = malloc((size_t)(SAMPLES * f.outputs) * sizeof *got);
        for (size_t p = 0; p < count; p++) {
            if (!paths[p]->supported()) continue;
            pess__net *net = open_net(&f, paths[p]->name);
            pess_error error;
            assert_int_equal(pess__net_apply(net, &(pess__bits_rows){f.bits, f.bytes, NULL}, SAMPLES, 1, got, &error),
                             PESS_OK);
            for (int64_t i = 0; i < SAMPLES; i++) {
                reference_forward(&spec, f.exact, f.bits + i * f.bytes, want);
                for (int64_t j = 0; j < f.outputs; j++)
                    assert_true(fabs((double)got[i * f.outputs + j] - want[j]) < 2e-4 * (1 + fabs(want[j])));
            }
            pess__net_destroy(net);
        }
        free(want);
        free(got);
        unmake(&f);
    }
}

static void import_and_export_are_inverse(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(12, "test network", 0);
    for (int round = 0; round < ROUNDS; round++) {
        const pess__net_spec spec = random_spec(&rng);
        fixture f = make(&rng, &spec, 1);
        pess__net *net = open_net(&f, NULL);
        float *back = malloc((size_t)f.parameters * sizeof *back);
        pess__net_export(net, back);
        assert_memory_equal(back, f.values, (size_t)f.parameters * sizeof *back);
        free(back);
        pess__net_destroy(net);
        unmake(&f);
    }
}

/* Gradient of a batch, in the order of the file. */
static void gradient_of(const fixture *f, const char *path, const pess__labels *labels, const pess__loss *loss,
                        float *out) {
    pess__net *net = open_net(f, path);
    pess__trainer *trainer = NULL;
    pess_error error;
    const pess__optimiser optimiser = pess__optimiser_defaults();
    assert_int_equal(pess__trainer_create(net, &optimiser, &trainer, &error), PESS_OK);
    pess__step_info info;
    pess__trainer_gradient(trainer, &(pess__bits_rows){f->bits, f->bytes, NULL}, labels, 3 * SAMPLES, loss, &info);
    pess__net_unpad(net, trainer->gradient, out);
    pess__trainer_destroy(trainer);
    pess__net_destroy(net);
}

static void paths_agree_on_gradients(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(13, "test network", 0);
    size_t count;
    const pess__kernels *const *paths = pess__kernels_list(&count);
    for (int round = 0; round < ROUNDS; round++) {
        const pess__net_spec spec = random_spec(&rng);
        fixture f = make(&rng, &spec, 3 * SAMPLES);
        int32_t actions[3 * SAMPLES];
        float targets[3 * SAMPLES];
        for (int i = 0; i < 3 * SAMPLES; i++) {
            actions[i] = (int32_t)pess__rng_below(&rng, (uint64_t)f.outputs);
            targets[i] = (float)pess__rng_normal(&rng);
        }
        const pess__labels labels = {.actions = actions, .targets = targets};
        const pess__loss loss = {.kind = PESS__LOSS_HUBER, .parameter = 1};
        float *plain = malloc((size_t)f.parameters * sizeof *plain);
        float *fast = malloc((size_t)f.parameters * sizeof *fast);
        gradient_of(&f, "portable", &labels, &loss, plain);
        double size = 0;
        for (int64_t i = 0; i < f.parameters; i++) size = fmax(size, fabs((double)plain[i]));
        for (size_t p = 0; p < count; p++) {
            if (!paths[p]->supported()) continue;
            gradient_of(&f, paths[p]->name, &labels, &loss, fast);
            for (int64_t i = 0; i < f.parameters; i++)
                assert_true(fabs((double)fast[i] - (double)plain[i]) <= 1e-4 * size);
        }
        free(plain);
        free(fast);
        unmake(&f);
    }
}

/* The outputs cut into heads, whose weights 1, 2, 3, … sum to 1. Returns how many. */
static int64_t cut_into_heads(int64_t outputs, double *mixture) {
    const int64_t heads = outputs % 4 == 0 ? 4 : outputs % 2 == 0 ? 2 : outputs;
    for (int64_t k = 0; k < heads; k++) mixture[k] = 2 * (double)(k + 1) / (double)(heads * (heads + 1));
    return heads;
}

/* Equal observations computed once, with all their labels, give the gradient of the plain minibatch. */
static void merged_samples_change_no_gradient(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(15, "test network", 0);
    double mixture[40]; /* as many as there may be outputs */
    pess__loss losses[] = {{.kind = PESS__LOSS_HUBER, .parameter = 1},
                           {.kind = PESS__LOSS_SQUARED},
                           {.kind = PESS__LOSS_CROSS_ENTROPY},
                           {.kind = PESS__LOSS_HUBER, .parameter = 1, .conservative = 2},
                           {.kind = PESS__LOSS_HUBER, .parameter = 1, .mixture = mixture}};
    enum { LOSSES = sizeof losses / sizeof losses[0] };
    for (int round = 0; round < ROUNDS; round++) {
        const pess__net_spec spec = random_spec(&rng);
        fixture f = make(&rng, &spec, 3 * SAMPLES);
        int32_t actions[3 * SAMPLES], in_head[3 * SAMPLES];
        float targets[3 * SAMPLES], weights[3 * SAMPLES];
        int64_t first[3 * SAMPLES + 1];
        losses[LOSSES - 1].heads = cut_into_heads(f.outputs, mixture);
        /* Samples 3i, 3i+1, 3i+2 become equal; merged, sample i has their three labels. */
        for (int i = 0; i < 3 * SAMPLES; i++) {
            actions[i] = (int32_t)pess__rng_below(&rng, (uint64_t)f.outputs);
            in_head[i] = actions[i] % (int32_t)(f.outputs / losses[LOSSES - 1].heads);
            targets[i] = (float)pess__rng_normal(&rng);
            weights[i] = (float)pess__rng_uniform(&rng);
            first[i] = 3 * (int64_t)i;
            memcpy(f.bits + i * f.bytes, f.bits + (int64_t)(i / 3 * 3) * f.bytes, (size_t)f.bytes);
        }
        float *plain = malloc((size_t)f.parameters * sizeof *plain);
        float *merged = malloc((size_t)f.parameters * sizeof *merged);
        for (int l = 0; l < LOSSES; l++) {
            pess__labels labels = {
                .actions = l == LOSSES - 1 ? in_head : actions, .targets = targets, .weights = weights};
            pess__net *net = open_net(&f, NULL);
            pess__trainer *trainer = NULL;
            pess_error error;
            const pess__optimiser optimiser = pess__optimiser_defaults();
            assert_int_equal(pess__trainer_create(net, &optimiser, &trainer, &error), PESS_OK);
            pess__step_info one, other;
            pess__trainer_gradient(trainer, &(pess__bits_rows){f.bits, f.bytes, NULL}, &labels, 3 * SAMPLES, &losses[l],
                                   &one);
            pess__net_unpad(net, trainer->gradient, plain);
            labels.first = first;
            pess__trainer_gradient(trainer, &(pess__bits_rows){f.bits, 3 * f.bytes, NULL}, &labels, SAMPLES, &losses[l],
                                   &other);
            pess__net_unpad(net, trainer->gradient, merged);
            double size = 0;
            for (int64_t i = 0; i < f.parameters; i++) size = fmax(size, fabs((double)plain[i]));
            assert_true(size > 0);
            for (int64_t i = 0; i < f.parameters; i++)
                assert_true(fabs((double)merged[i] - (double)plain[i]) <= 1e-5 * size);
            assert_true(fabs(one.loss - other.loss) <= 1e-9 * fabs(one.loss));
            pess__trainer_destroy(trainer);
            pess__net_destroy(net);
        }
        free(plain);
        free(merged);
        unmake(&f);
    }
}

static void a_row_does_not_depend_on_its_neighbours(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(14, "test network", 0);
    enum { MANY = 700 };
    size_t count;
    const pess__kernels *const *paths = pess__kernels_list(&count);
    static const char *const names[] = {"value", "dqn"};
    for (size_t n = 0; n < 2; n++)
        for (size_t p = 0; p < count; p++) {
            if (!paths[p]->supported()) continue;
            pess__net_spec spec;
            pess_error error;
            assert_int_equal(pess__spec_named(names[n], 10, 10, 4, 6, &spec, &error), PESS_OK);
            fixture f = make(&rng, &spec, MANY);
            pess__net *net = open_net(&f, paths[p]->name);
            const pess__bits_rows rows = {f.bits, f.bytes, NULL};
            float *one = malloc(MANY * 6 * sizeof *one), *three = malloc(MANY * 6 * sizeof *three), single[6];
            assert_int_equal(pess__net_apply(net, &rows, MANY, 1, one, &error), PESS_OK);
            assert_int_equal(pess__net_apply(net, &rows, MANY, 3, three, &error), PESS_OK);
            assert_memory_equal(one, three, MANY * 6 * sizeof *one);
            for (int64_t i = 0; i < MANY; i += 17) {
                const pess__bits_rows alone = {f.bits, f.bytes, &i};
                assert_int_equal(pess__net_apply(net, &alone, 1, 1, single, &error), PESS_OK);
                assert_memory_equal(single, one + i * 6, sizeof single);
            }
            free(one);
            free(three);
            pess__net_destroy(net);
            unmake(&f);
        }
}

static void the_networks_have_the_sizes_of_the_paper(void **state) {
    (void)state;
    pess__net_spec spec;
    pess_error error;
    assert_int_equal(pess__spec_named("value", 10, 10, 4, 6, &spec, &error), PESS_OK);
    assert_int_equal(pess__spec_parameters(&spec), 52390);
    assert_int_equal(pess__spec_named("dqn", 10, 10, 4, 6, &spec, &error), PESS_OK);
    assert_int_equal(pess__spec_parameters(&spec), (3 * 3 * 4 + 1) * 16 + (1024 + 1) * 128 + (128 + 1) * 6);
    assert_int_equal(pess__spec_named("big", 10, 10, 4, 6, &spec, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "'value'"));
}

static void initial_parameters_have_pytorchs_law(void **state) {
    (void)state;
    pess__net_spec spec;
    pess_error error;
    pess__net *net = NULL;
    assert_int_equal(pess__spec_named("value", 10, 10, 4, 6, &spec, &error), PESS_OK);
    assert_int_equal(pess__net_create(&spec, NULL, &net, &error), PESS_OK);
    pess__rng rng = pess__rng_stream(15, "test network", 0);
    pess__net_initialise(net, &rng);
    float *values = malloc((size_t)pess__spec_parameters(&spec) * sizeof *values);
    pess__net_export(net, values);
    /* Third layer: 64 units of 256 inputs; uniform on ±1/16 has standard deviation 1/(16√3). With 16448 draws its
     * square is within 6 % but for a probability below 1e-6. */
    const float *w = values + 2080 + 8256;
    double sum = 0, most = 0;
    for (int i = 0; i < 16448; i++) {
        sum += (double)w[i] * (double)w[i];
        most = fmax(most, fabs((double)w[i]));
    }
    assert_true(most <= 0.0625 && most > 0.0624);
    assert_true(fabs(sum / 16448 * 768 - 1) < 0.06);
    free(values);
    pess__net_destroy(net);
}

static void bad_descriptions_are_refused(void **state) {
    (void)state;
    pess_error error;
    pess__net *net = NULL;
    pess__net_spec good, spec;
    assert_int_equal(pess__spec_named("value", 10, 10, 4, 6, &good, &error), PESS_OK);
    spec = good, spec.layers[0].kernel = 11;
    assert_int_equal(pess__net_create(&spec, NULL, &net, &error), PESS_INPUT);
    spec = good, spec.layers[2].stride = 0;
    assert_int_equal(pess__net_create(&spec, NULL, &net, &error), PESS_INPUT);
    spec = good, spec.layers[1].outputs = 0;
    assert_int_equal(pess__net_create(&spec, NULL, &net, &error), PESS_INPUT);
    spec = good, spec.layers[1].slope = NAN;
    assert_int_equal(pess__net_create(&spec, NULL, &net, &error), PESS_INPUT);
    spec = good, spec.layer_count = 1;
    assert_int_equal(pess__net_create(&spec, NULL, &net, &error), PESS_INPUT);
    spec = good, spec.rows = spec.cols = spec.channels = 65536;
    assert_int_equal(pess__net_create(&spec, NULL, &net, &error), PESS_INPUT);
    for (int i = 3; i < 6; i++) good.layers[i].outputs = 16384;
    assert_int_equal(pess__net_create(&good, NULL, &net, &error), PESS_LIMIT);
    assert_int_equal(pess__spec_named("dqn", 10, 10, 4, 6, &good, &error), PESS_OK);
    assert_int_equal(pess__net_create(&good, "abacus", &net, &error), PESS_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_those_of_the_plain_network),
        cmocka_unit_test(import_and_export_are_inverse),
        cmocka_unit_test(paths_agree_on_gradients),
        cmocka_unit_test(merged_samples_change_no_gradient),
        cmocka_unit_test(a_row_does_not_depend_on_its_neighbours),
        cmocka_unit_test(the_networks_have_the_sizes_of_the_paper),
        cmocka_unit_test(initial_parameters_have_pytorchs_law),
        cmocka_unit_test(bad_descriptions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
