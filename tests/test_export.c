/* Policies taken home: the C file is compiled and says the same, bit for bit unless the kernels are "portable"; the
 * arrays, put through the plain network, give the outputs of the network; rules that go by tables are refused. */
#include "data/npz_arrays.h"
#include "deep/export.h"
#include "deep/neural_uncertainty.h"
#include "nn/netfile.h"
#include "nn_reference.h"
#include "scratch.h"

#include <dlfcn.h>
#include <math.h>

enum { SAMPLES = 40 };

static pess_error error;

static const struct {
    pess_observation_shape shape;
    const char *network;
    bool softmax;
} cases[] = {
    {{PESS_OBSERVATION_FLOATS, 5, 0, 0, 0}, "dense 37, dense 20 leaky", false},
    {{PESS_OBSERVATION_FLOATS, 17, 0, 0, 0}, "mlp", true},
    {{PESS_OBSERVATION_BITS, 400, 10, 10, 4}, "value", false},
    {{PESS_OBSERVATION_BITS, 400, 10, 10, 4}, "dqn", true},
    {{PESS_OBSERVATION_BYTES, 12 * 9 * 3, 12, 9, 3}, "conv 5 4/3, conv 7 2/1, dense 11", true},
};
enum { CASES = sizeof cases / sizeof cases[0], OUTPUTS = 4 };

/* A policy of a random network, as its file is read. */
static pess_policy *make_policy(pess__rng *rng, size_t c, const char *path, pess__net_spec *spec) {
    pess__net *net = NULL;
    pess_net *wrapped = NULL;
    pess_policy *policy = NULL;
    pess__spec_input(&cases[c].shape, spec);
    assert_ok(pess__spec_layers(cases[c].network, OUTPUTS, spec, &error), &error);
    assert_ok(pess__net_create(spec, NULL, &net, &error), &error);
    pess__net_initialise(net, rng);
    for (int64_t i = 0; net->shift != NULL && i < net->inputs; i++) {
        net->shift[i] = (float)pess__rng_normal(rng);
        net->scale[i] = (float)(0.5 + pess__rng_uniform(rng));
    }
    assert_ok(pess__net_wrap(net, cases[c].softmax ? "acts=softmax\n*/x=1\n" : "acts=argmax\n", &wrapped, &error),
              &error);
    assert_ok(pess_net_write(wrapped, path, &error), &error);
    pess_net_destroy(wrapped);
    assert_ok(pess_policy_read(path, NULL, NULL, NULL, &policy, &error), &error);
    return policy;
}

/* The observation as numbers, the way the C file wants it. */
static void as_floats(const pess__net_spec *spec, const uint8_t *observation, float *out) {
    const int64_t count = (int64_t)spec->rows * spec->cols * spec->channels;
    for (int64_t i = 0; i < count; i++)
        out[i] = spec->input == PESS_OBSERVATION_BITS    ? (float)(observation[i / 8] >> (i % 8) & 1)
                 : spec->input == PESS_OBSERVATION_BYTES ? (float)observation[i]
                                                         : ((const float *)(const void *)observation)[i];
}

static void *compile(const char *source, const char *object) {
    char command[1200];
    (void)snprintf(command, sizeof command,
                   TEST_COMPILER " -std=c99 -Wall -Wextra -Werror -O2 -shared -fPIC '%s' -o '%s' -lm", source, object);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): the compiler of the build on our own file */
    void *library = dlopen(object, RTLD_NOW);
    if (library == NULL) fail_msg("%s", dlerror());
    return library;
}

static void check_c(const pess_policy *policy, const pess__net_spec *spec, const uint8_t *observations, int64_t bytes,
                    void *library) {
    int (*act)(const float *);
    void (*probabilities)(const float *, float *);
    *(void **)&act = dlsym(library, "policy_act");
    *(void **)&probabilities = dlsym(library, "policy_probabilities");
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    const double tolerance = strcmp(info.kernels, "portable") != 0 ? 0 : 1e-4;
    float *numbers = malloc((size_t)spec->rows * (size_t)spec->cols * (size_t)spec->channels * sizeof *numbers);
    int64_t different = 0;
    for (int64_t i = 0; i < SAMPLES; i++) {
        double want[OUTPUTS];
        float got[OUTPUTS];
        const uint8_t *observation = observations + i * bytes;
        assert_ok(pess_policy_observation_probabilities(policy, observation, bytes, 1, want, &error), &error);
        as_floats(spec, observation, numbers);
        probabilities(numbers, got);
        for (int a = 0; a < OUTPUTS; a++) assert_close((double)got[a], want[a], tolerance);
        assert_int_equal(act(numbers), pess__policy_most_probable(want, OUTPUTS));
        different += i > 0 && memcmp(observation, observation - bytes, (size_t)bytes) != 0;
    }
    assert_true(different > SAMPLES / 2);
    free(numbers);
}

/* The arrays in the order of a network file, as doubles; shift and scale as floats. */
static double *read_arrays(const char *path, const pess__net_spec *spec, float *shift, float *scale) {
    pess__infile *file = NULL;
    pess__zip zip = {0};
    assert_ok(pess__infile_open(path, &file, &error), &error);
    assert_ok(pess__zip_open(file, &zip, &error), &error);
    double *parameters = malloc((size_t)pess__spec_parameters(spec) * sizeof *parameters), *at = parameters;
    const int arrays = 2 * spec->layer_count + (spec->input == PESS_OBSERVATION_FLOATS ? 2 : 0);
    for (int i = 0; i < arrays; i++) {
        const bool standard = i >= 2 * spec->layer_count;
        char name[32];
        pess__npz_array a;
        double *numbers = NULL;
        (void)snprintf(name, sizeof name, "layer%d.%s", i / 2 + 1, i % 2 == 0 ? "weight" : "bias");
        if (standard) (void)snprintf(name, sizeof name, "%s", i % 2 == 0 ? "shift" : "scale");
        const pess__zip_entry *entry = pess__npz_find(&zip, name);
        assert_non_null(entry);
        assert_ok(pess__npz_array_open(&zip, entry, name, &a, &error), &error);
        assert_ok(pess__npz_array_doubles(&a, name, &numbers, &error), &error);
        for (int64_t k = 0; standard && k < a.count; k++) (i % 2 == 0 ? shift : scale)[k] = (float)numbers[k];
        if (!standard) memcpy(at, numbers, (size_t)a.count * sizeof *at), at += a.count;
        free(numbers);
        pess__npz_array_close(&a);
    }
    assert_int_equal(at - parameters, pess__spec_parameters(spec));
    pess__zip_free(&zip);
    pess__infile_close(file);
    return parameters;
}

static void check_npz(const pess_policy *policy, const pess__net_spec *spec, const uint8_t *observations, int64_t bytes,
                      const char *path) {
    float shift[64], scale[64];
    double *parameters = read_arrays(path, spec, shift, scale);
    const bool floats = spec->input == PESS_OBSERVATION_FLOATS;
    for (int64_t i = 0; i < SAMPLES; i += 7) {
        double want[OUTPUTS];
        float got[OUTPUTS];
        reference_outputs(spec, parameters, observations + i * bytes, floats ? shift : NULL, scale, want);
        assert_ok(pess_policy_outputs(policy, observations + i * bytes, bytes, 1, got, &error), &error);
        for (int a = 0; a < OUTPUTS; a++) assert_close((double)got[a], want[a], 1e-4);
    }
    free(parameters);
}

static void exported_policies_say_the_same(void **unused) {
    (void)unused;
    pess__rng rng = pess__rng_stream(5, "test export", 0);
    const char *source = scratch_path(1, ".c"), *arrays = scratch_path(3, ".npz");
    for (size_t c = 0; c < CASES; c++) {
        char object[256];
        const char *path = scratch_path(0, ".pessnet");
        pess__net_spec spec;
        pess_policy *policy = make_policy(&rng, c, path, &spec);
        (void)snprintf(object, sizeof object, "%s.%zu.so", source, c); /* dlopen knows files by their names */
        const int64_t bytes = pess_observation_bytes(&cases[c].shape);
        uint8_t *observations = malloc((size_t)(SAMPLES * bytes));
        random_observations(&rng, &spec, SAMPLES, observations);
        assert_ok(pess_policy_export(policy, source, &error), &error);
        assert_ok(pess_policy_export(policy, arrays, &error), &error);
        void *library = compile(source, object);
        check_c(policy, &spec, observations, bytes, library);
        check_npz(policy, &spec, observations, bytes, arrays);
        assert_int_equal(dlclose(library), 0);
        free(observations);
        pess_policy_destroy(policy);
        scratch_remove(object);
        scratch_remove(path);
    }
    scratch_remove(source);
    scratch_remove(arrays);
}

/* ---- rules over several networks */

static const struct {
    const char *learner, *knob, *number; /* NULL: as they are by themselves */
} rules[] = {
    {"proximal", NULL, NULL},      {"bcq", NULL, NULL},
    {"brac", NULL, NULL},          {"rem", NULL, NULL},
    {"ua-imitation", NULL, NULL},  {"ua-ensemble", NULL, NULL},
    {"iql", NULL, NULL},           {"cql", NULL, NULL},
    {"ua-propensity", NULL, NULL}, {"ua-support-net", NULL, NULL},
    {"sac-n", NULL, NULL},         {"sac-n", "temperature", "0"},
    {"edac", NULL, NULL},          {"awr", NULL, NULL},
    {"brac", PESS__ALPHA, "0"},
};

static pess__net *random_net(pess__rng *rng, const pess_observation_shape *shape, int64_t outputs) {
    pess__net_spec spec;
    pess__net *net = NULL;
    pess__spec_input(shape, &spec);
    assert_ok(pess__spec_layers("dense 24, dense 19", (int32_t)outputs, &spec, &error), &error);
    assert_ok(pess__net_create(&spec, NULL, &net, &error), &error);
    pess__net_initialise(net, rng);
    for (int64_t i = 0; i < pess__spec_parameters(&spec); i++) net->parameters[i] *= 2; /* far from a tie */
    return net;
}

/* A policy of that learner with random networks, which it owns. */
static pess_policy *random_policy(pess__rng *rng, const char *name, const pess_observation_shape *shape, void *knobs) {
    const pess__learner *learner = pess__learner_find(name);
    pess__learned_policy learned = {.learner = learner, .knobs = knobs, .actions = OUTPUTS, .cap = 4, .relative = true};
    pess_policy *policy = NULL;
    if (learner->info.knobs != NULL) pess_setting_defaults(learner->info.knobs, knobs);
    for (int64_t k = 0; k < pess__learner_networks(learner, knobs); k++)
        learned.values[k] = random_net(rng, shape, OUTPUTS * pess__learner_heads(learner, knobs));
    for (int64_t k = 0; k < learner->own_count; k++)
        learned.own[k] = random_net(rng, shape, learner->own[k].one_output ? 1 : OUTPUTS);
    if (learner->info.imitation) learned.imitation = random_net(rng, shape, OUTPUTS);
    const pess__neural_uncertainty *uncertainty = learner->uncertainty;
    if (uncertainty != NULL && uncertainty->train != NULL)
        learned.uncertainty = random_net(rng, shape, uncertainty->one_output ? 1 : OUTPUTS);
    assert_ok(pess__bundle_borrow(&learned, "a=1\n", &policy, &error), &error);
    pess__bundle *b = (pess__bundle *)(void *)policy;
    for (int64_t place = 0; place < PESS__BUNDLE_NETWORKS; place++) {
        const pess__net *net = *pess__bundle_place(&learned, place);
        if (net != NULL) b->nets[b->net_count++] = (pess__net *)net;
    }
    return policy;
}

static void rules_say_the_same(void **unused) {
    (void)unused;
    enum { MANY = 400 };
    pess__rng rng = pess__rng_stream(7, "test export", 0);
    const pess_observation_shape shape = {PESS_OBSERVATION_FLOATS, 6, 0, 0, 0};
    const char *source = scratch_path(1, ".c");
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        _Alignas(max_align_t) unsigned char knobs[PESS__KNOBS_SIZE];
        char object[256];
        float observation[6], got[OUTPUTS];
        int64_t taken[OUTPUTS] = {0}, different = 0;
        pess_policy *policy = random_policy(&rng, rules[r].learner, &shape, knobs);
        if (rules[r].knob != NULL)
            assert_ok(pess_setting_set(pess__learner_find(rules[r].learner)->info.knobs, knobs, rules[r].knob,
                                       rules[r].number, &error),
                      &error);
        pess_policy_info info;
        pess_policy_get_info(policy, &info);
        const double tolerance = strcmp(info.kernels, "portable") != 0 ? 0 : 1e-4;
        (void)snprintf(object, sizeof object, "%s.rule-%zu.so", source, r);
        assert_ok(pess_policy_export(policy, source, &error), &error);
        void *library = compile(source, object);
        void (*probabilities)(const float *, float *);
        *(void **)&probabilities = dlsym(library, "policy_probabilities");
        for (int i = 0; i < MANY; i++) {
            double want[OUTPUTS];
            for (int k = 0; k < 6; k++) observation[k] = (float)pess__rng_normal(&rng);
            assert_ok(pess_policy_observation_probabilities(policy, (const uint8_t *)observation, sizeof observation, 1,
                                                            want, &error),
                      &error);
            probabilities(observation, got);
            for (int a = 0; a < OUTPUTS; a++) assert_close((double)got[a], (double)(float)want[a], tolerance);
            taken[pess__policy_most_probable(want, OUTPUTS)]++;
        }
        for (int a = 0; a < OUTPUTS; a++) different += taken[a] > 0;
        assert_true(different > 1); /* the comparison meant something */
        assert_int_equal(dlclose(library), 0);
        scratch_remove(object);
        scratch_remove(source);
        pess_policy_destroy(policy);
    }
}

static void arrays_of_several_networks_are_refused(void **unused) {
    (void)unused;
    pess__rng rng = pess__rng_stream(8, "test export", 0);
    _Alignas(max_align_t) unsigned char knobs[PESS__KNOBS_SIZE];
    const pess_observation_shape shape = {PESS_OBSERVATION_FLOATS, 6, 0, 0, 0};
    pess_policy *policy = random_policy(&rng, "bcq", &shape, knobs);
    assert_failure(pess_policy_export(policy, scratch_path(3, ".npz"), &error), PESS_ARGUMENT, &error,
                   "needs 2 networks", NULL);
    pess_policy_destroy(policy);
}

/* Arrays have no heads: those of rem are there as their mean, in one layer, and with the vectors of its actions. */
static void heads_become_their_mean(void **unused) {
    (void)unused;
    pess__rng rng = pess__rng_stream(10, "test export", 0);
    _Alignas(max_align_t) unsigned char knobs[PESS__KNOBS_SIZE];
    const pess_observation_shape shape = {PESS_OBSERVATION_FLOATS, 6, 0, 0, 0};
    const char *arrays = scratch_path(3, ".npz");
    pess_policy *policy = random_policy(&rng, "rem", &shape, knobs), *back = NULL;
    float doses[2 * OUTPUTS];
    for (int k = 0; k < 2 * OUTPUTS; k++) doses[k] = (float)k / 3;
    pess__bundle *b = (pess__bundle *)(void *)policy;
    const pess__action_space space = {.width = 2, .values = doses};
    assert_ok(pess__action_space_copy(&space, OUTPUTS, &b->space, &error), &error);
    b->learned.space = &b->space;
    assert_ok(pess_policy_export(policy, arrays, &error), &error);
    assert_ok(pess_policy_import(arrays, NULL, &back, &error), &error);
    pess_policy_info info;
    pess_policy_get_info(back, &info);
    assert_int_equal(info.actions, OUTPUTS);
    assert_int_equal(info.action_width, 2);
    assert_memory_equal(info.action_values, doses, sizeof doses);
    for (int i = 0; i < 100; i++) {
        float observation[6], want[OUTPUTS], got[OUTPUTS];
        for (int k = 0; k < 6; k++) observation[k] = (float)pess__rng_normal(&rng);
        const uint8_t *bytes = (const uint8_t *)observation;
        assert_ok(pess_policy_outputs(policy, bytes, sizeof observation, 1, want, &error), &error);
        assert_ok(pess_policy_outputs(back, bytes, sizeof observation, 1, got, &error), &error);
        for (int a = 0; a < OUTPUTS; a++) assert_close((double)got[a], (double)want[a], 1e-4);
    }
    pess_policy_destroy(back);
    pess_policy_destroy(policy);
    scratch_remove(arrays);
}

/* ---- arrays come back */

static void what_was_exported_is_imported(void **unused) {
    (void)unused;
    pess__rng rng = pess__rng_stream(9, "test export", 0);
    static const char *const boards[CASES] = {NULL, NULL, "10x10x4", "10x10x4", "12x9x3"};
    for (size_t c = 0; c < CASES; c++) {
        const char *path = scratch_path(0, ".pessnet"), *arrays = scratch_path(3, ".npz");
        pess__net_spec spec;
        pess_policy *policy = make_policy(&rng, c, path, &spec), *back = NULL;
        assert_ok(pess_policy_export(policy, arrays, &error), &error);
        pess_import_options options = pess_import_options_defaults();
        options.network = cases[c].network;
        options.board = boards[c];
        options.input = pess_observation_kind_name(spec.input);
        options.acts = cases[c].softmax ? "softmax" : "argmax";
        assert_ok(pess_policy_import(arrays, &options, &back, &error), &error);
        const pess__net *a = ((pess__bundle *)(void *)policy)->nets[0], *b = ((pess__bundle *)(void *)back)->nets[0];
        assert_true(pess__spec_equal(&a->spec, &b->spec));
        assert_memory_equal(a->parameters, b->parameters, (size_t)a->size * sizeof *a->parameters);
        if (a->shift != NULL) assert_memory_equal(a->shift, b->shift, (size_t)a->inputs * sizeof *a->shift);
        if (a->scale != NULL) assert_memory_equal(a->scale, b->scale, (size_t)a->inputs * sizeof *a->scale);
        pess_policy_destroy(back);
        back = NULL;
        options.network = "dense 3";
        assert_int_not_equal(pess_policy_import(arrays, &options, &back, &error), PESS_OK);
        assert_null(back);
        pess_policy_destroy(policy);
        scratch_remove(path);
        scratch_remove(arrays);
    }
}

static void what_cannot_be_exported_is_refused(void **unused) {
    (void)unused;
    pess__rng rng = pess__rng_stream(6, "test export", 0);
    const char *path = scratch_path(0, ".pessnet");
    pess__net_spec spec;
    pess_policy *policy = make_policy(&rng, 0, path, &spec);
    assert_failure(pess_policy_export(policy, "policy.onyx", &error), PESS_ARGUMENT, &error, ".c, .onnx or .npz", NULL);
    ((pess__bundle *)(void *)policy)->learned.learner = &pess__learner_spibb_dqn;
    assert_failure(pess_policy_export(policy, "policy.c", &error), PESS_ARGUMENT, &error,
                   "tables over the states of its data", NULL);
    pess_policy_destroy(policy);
    scratch_remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exported_policies_say_the_same),         cmocka_unit_test(rules_say_the_same),
        cmocka_unit_test(arrays_of_several_networks_are_refused), cmocka_unit_test(what_was_exported_is_imported),
        cmocka_unit_test(what_cannot_be_exported_is_refused),     cmocka_unit_test(heads_become_their_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
