/* Networks that read bytes and floats: on every path against the plain network, standardised, in files, however a batch
 * is cut; and networks described by a text. */
#include "nn/netfile.h"
#include "nn/trainer.h"
#include "nn_reference.h"
#include "scratch.h"

#include <math.h>

enum { SAMPLES = 200, ROUNDS = 40 };

static pess_error error;

/* A network with random parameters, its observations, and how floats are standardised. */
typedef struct problem {
    pess__net *net;
    double *exact;
    uint8_t *observations;
    float *shift, *scale; /* NULL unless it reads floats */
} problem;

static problem open_problem(pess__rng *rng, const pess__net_spec *spec, const char *path) {
    problem p = {0};
    const int64_t count = pess__spec_parameters(spec);
    assert_ok(pess__net_create(spec, path, &p.net, &error), &error);
    float *values = malloc((size_t)count * sizeof *values);
    p.exact = malloc((size_t)count * sizeof *p.exact);
    for (int64_t i = 0; i < count; i++) {
        values[i] = (float)(0.2 * pess__rng_normal(rng));
        p.exact[i] = (double)values[i];
    }
    pess__net_import(p.net, values);
    free(values);
    p.observations = malloc((size_t)(SAMPLES * p.net->bytes));
    random_observations(rng, spec, SAMPLES, p.observations);
    if (spec->input != PESS_OBSERVATION_FLOATS) return p;
    p.shift = malloc((size_t)p.net->inputs * sizeof *p.shift);
    p.scale = malloc((size_t)p.net->inputs * sizeof *p.scale);
    for (int64_t i = 0; i < p.net->inputs; i++) {
        p.shift[i] = (float)pess__rng_normal(rng);
        p.scale[i] = (float)(0.2 + pess__rng_uniform(rng));
    }
    pess__net_standardise(p.net, p.shift, p.scale);
    return p;
}

static void close_problem(problem *p) {
    pess__net_destroy(p->net);
    free(p->exact);
    free(p->observations);
    free(p->shift);
    free(p->scale);
}

static float *outputs_of(const problem *p, int64_t samples, int threads) {
    float *out = malloc((size_t)(samples * p->net->outputs) * sizeof *out);
    const pess__bits_rows rows = {p->observations, p->net->bytes, NULL};
    assert_ok(pess__net_apply(p->net, &rows, samples, threads, out, &error), &error);
    return out;
}

static pess__net_spec spec_of(pess__rng *rng, int round) {
    pess__net_spec spec = random_spec(rng);
    spec.input = round % 2 == 0 ? PESS_OBSERVATION_BYTES : PESS_OBSERVATION_FLOATS;
    return spec;
}

static void outputs_are_those_of_the_plain_network(void **unused) {
    (void)unused;
    pess__rng rng = pess__rng_stream(31, "test inputs", 0);
    size_t count;
    const pess__kernels *const *paths = pess__kernels_list(&count);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t k = 0; k < count; k++) {
            if (!paths[k]->supported()) continue;
            const pess__net_spec spec = spec_of(&rng, round);
            problem p = open_problem(&rng, &spec, paths[k]->name);
            float *got = outputs_of(&p, SAMPLES, 1);
            double *want = malloc((size_t)p.net->outputs * sizeof *want);
            for (int64_t i = 0; i < SAMPLES; i += 17) {
                reference_outputs(&spec, p.exact, p.observations + i * p.net->bytes, p.shift, p.scale, want);
                for (int64_t j = 0; j < p.net->outputs; j++)
                    assert_close((double)got[i * p.net->outputs + j], want[j], 5e-4 * (1 + fabs(want[j])));
            }
            free(want);
            free(got);
            close_problem(&p);
        }
}

static void cuts_and_threads_change_no_byte(void **unused) {
    (void)unused;
    pess__rng rng = pess__rng_stream(32, "test inputs", 0);
    for (int round = 0; round < 10; round++) {
        const pess__net_spec spec = spec_of(&rng, round);
        problem p = open_problem(&rng, &spec, NULL);
        float *all = outputs_of(&p, SAMPLES, 1), *some = outputs_of(&p, 13, 1), *threads = outputs_of(&p, SAMPLES, 3);
        assert_memory_equal(all, some, 13 * (size_t)p.net->outputs * sizeof *all);
        assert_memory_equal(all, threads, SAMPLES * (size_t)p.net->outputs * sizeof *all);
        free(all);
        free(some);
        free(threads);
        close_problem(&p);
    }
}

static void files_keep_input_and_standard(void **unused) {
    (void)unused;
    pess__rng rng = pess__rng_stream(33, "test inputs", 0);
    for (int round = 0; round < 2; round++) {
        const char *path = scratch_path(round, ".pessnet");
        const pess__net_spec spec = spec_of(&rng, round);
        problem p = open_problem(&rng, &spec, NULL);
        float *before = outputs_of(&p, SAMPLES, 1);
        pess_net *net = NULL, *read = NULL;
        assert_ok(pess__net_wrap(p.net, "a=b\n", &net, &error), &error);
        assert_ok(pess_net_write(net, path, &error), &error);
        assert_ok(pess_net_read(path, NULL, &read, &error), &error);
        pess_net_info info;
        pess_net_get_info(read, &info);
        assert_int_equal(info.input, spec.input);
        float *after = malloc((size_t)(SAMPLES * info.outputs) * sizeof *after);
        assert_ok(pess_net_apply(read, p.observations, info.bytes, SAMPLES, 1, after, &error), &error);
        assert_memory_equal(before, after, SAMPLES * (size_t)info.outputs * sizeof *after);
        free(before);
        free(after);
        pess_net_destroy(read);
        p.net = NULL;
        pess_net_destroy(net);
        close_problem(&p);
        scratch_remove(path);
    }
}

static void networks_are_made_by_name_and_by_text(void **unused) {
    (void)unused;
    const pess_observation_shape picture = pess_observation_picture(84, 84, 4), floats = pess_observation_floats(17);
    pess__net_spec spec, same;
    pess__spec_input(&picture, &spec);
    assert_string_equal(pess__spec_standard(&picture), "nature");
    assert_string_equal(pess__spec_standard(&floats), "mlp");
    assert_ok(pess__spec_layers("nature", 6, &spec, &error), &error);
    assert_int_equal(pess__spec_parameters(&spec), 1687206); /* Mnih et al. 2015 with six actions */
    pess__spec_input(&picture, &same);
    assert_ok(pess__spec_layers("conv 32 8/4, conv 64 4/2,conv 64 3/1, dense 512", 6, &same, &error), &error);
    assert_true(pess__spec_equal(&spec, &same));
    pess__spec_input(&floats, &spec);
    assert_ok(pess__spec_layers("mlp", 4, &spec, &error), &error);
    assert_int_equal(pess__spec_parameters(&spec), 17 * 256 + 256 + 256 * 256 + 256 + 256 * 4 + 4);
    assert_ok(pess__spec_layers("dense 8 leaky", 4, &same, &error), &error);
    assert_close((double)same.layers[0].slope, 0.01, 1e-9);
    static const char *const bad[] = {
        "",          "big",         "Dense",       "dense 8,",       "conv 32 8",
        "dense 8 x", "dense 8 8/4", "conv 8 99/1", "dense 0",        "dense 8 leaky leaky",
        "dense -3",  "conv 8 0/1",  "conv 8 3/0",  "dense 8 dense 8"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pess__spec_input(&picture, &spec);
        if (pess__spec_layers(bad[i], 4, &spec, &error) == PESS_OK) fail_msg("'%s' was taken for a network", bad[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_those_of_the_plain_network),
        cmocka_unit_test(cuts_and_threads_change_no_byte),
        cmocka_unit_test(files_keep_input_and_standard),
        cmocka_unit_test(networks_are_made_by_name_and_by_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
