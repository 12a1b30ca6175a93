/* What a network is in words: texts, limits of each number, equality, and the network for given observations. */
#include "scratch.h"

#include "nn/spec.h"

static pess__net_spec good(void) {
    pess__net_spec spec;
    pess_error error;
    assert_ok(pess__spec_named("conv 8 3/1, dense 16 leaky", 10, 10, 4, 6, &spec, &error), &error);
    return spec;
}

static void texts_are_layers(void **state) {
    (void)state;
    const pess__net_spec spec = good();
    assert_int_equal(spec.layer_count, 3);
    assert_true(spec.layers[0].kind == PESS__LAYER_CONV && spec.layers[0].outputs == 8);
    assert_true(spec.layers[0].kernel == 3 && spec.layers[0].stride == 1 && !(spec.layers[0].slope > 0));
    assert_true(spec.layers[1].kind == PESS__LAYER_DENSE && spec.layers[1].outputs == 16 && spec.layers[1].slope > 0);
    assert_int_equal(spec.layers[2].outputs, 6);
    assert_int_equal(pess__spec_parameters(&spec), (9 * 4 + 1) * 8 + (64 * 8 + 1) * 16 + (16 + 1) * 6);
}

static void other_texts_are_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        "big",

        "dense x",
        "dense 8 much",
        "conv 8",
        "conv 8 3",
        "conv 8 3/",
        "conv 8 3/1 leaky more",
        "dense 8,",
        ",dense 8",
        "dense 8                                                                leaky", /* longer than a layer is */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pess__net_spec spec;
        pess_error error;
        assert_failure(pess__spec_named(wrong[i], 10, 10, 4, 6, &spec, &error), PESS_ARGUMENT, &error, "no network",
                       NULL);
    }
}

static void layers_are_so_many_at_most(void **state) {
    (void)state;
    static const char sixteen[] = "dense 1,dense 1,dense 1,dense 1,dense 1,dense 1,dense 1,dense 1,"
                                  "dense 1,dense 1,dense 1,dense 1,dense 1,dense 1,dense 1,dense 1";
    pess__net_spec spec;
    pess_error error;
    assert_failure(pess__spec_named(sixteen, 10, 10, 4, 6, &spec, &error), PESS_ARGUMENT, &error,
                   "16 layers; at most 15 are possible before the outputs", NULL);
    assert_ok(pess__spec_named(strchr(sixteen, ',') + 1, 10, 10, 4, 6, &spec, &error), &error);
    assert_int_equal(spec.layer_count, 16);
}

static void refused(pess__net_spec spec, const char *sentence) {
    pess_error error;
    const pess_status status = pess__spec_check(&spec, "net", &error);
    assert_failure(status, status == PESS_LIMIT ? PESS_LIMIT : PESS_INPUT, &error, sentence, NULL);
}

#define REFUSED(change, sentence)                                                                                      \
    do {                                                                                                               \
        pess__net_spec spec = good();                                                                                  \
        change;                                                                                                        \
        refused(spec, sentence);                                                                                       \
    } while (0)

static void every_number_has_its_limits(void **state) {
    (void)state;
    REFUSED(spec.input = (pess_observation_kind)3, "input of kind 3");
    REFUSED(spec.rows = 0, "an input of 0");
    REFUSED(spec.cols = -1, "an input of 10 × -1");
    REFUSED(spec.channels = 0, "numbers are possible");
    REFUSED(spec.rows = PESS__MAX_INPUTS + 1, "numbers are possible");
    REFUSED(spec.cols = PESS__MAX_INPUTS + 1, "numbers are possible");
    REFUSED(spec.channels = PESS__MAX_INPUTS + 1, "numbers are possible");
    REFUSED(spec.rows = spec.cols = 1 << 10, "numbers are possible");
    REFUSED(spec.channels = PESS__MAX_INPUTS / 100 + 1, "numbers are possible");
    REFUSED(spec.layer_count = 0, "0 layers");
    REFUSED(spec.layer_count = PESS__MAX_LAYERS + 1, "17 layers");
    REFUSED(spec.layers[1].kind = (pess__layer_kind)2, "layer 2 has kind 2");
    REFUSED(spec.layers[0].outputs = 0, "layer 1 has 0 outputs");
    REFUSED(spec.layers[2].outputs = PESS__MAX_OUTPUTS + 1, "layer 3 has 16385 outputs");
    REFUSED(spec.layers[1].slope = -0.5f, "slope -0.5");
    REFUSED(spec.layers[1].slope = 1.5f, "slope 1.5");
    REFUSED(spec.layers[0].kernel = 0, "kernel 0");
    REFUSED(spec.layers[0].stride = 0, "stride 0");
    REFUSED(spec.layers[0].kernel = 11, "kernel 11");
    REFUSED((spec.layers[0].kernel = 5, spec.cols = 4), "on a board of 10 × 4");
    REFUSED(spec.layer_count = 1, "leaves a board of 8 × 8");
    REFUSED(spec.layers[1].outputs = spec.layers[2].outputs = PESS__MAX_OUTPUTS, "more than");
    REFUSED((spec.rows = spec.cols = 256, spec.channels = 1, spec.layers[0].outputs = 2048), "more than");
}

static void what_differs_is_not_equal(void **state) {
    (void)state;
    const pess__net_spec spec = good();
    pess__net_spec others[11];
    for (int i = 0; i < 11; i++) others[i] = spec;
    assert_true(pess__spec_equal(&spec, &others[0]));
    others[0].input = PESS_OBSERVATION_FLOATS;
    others[1].rows = 11;
    others[2].cols = 11;
    others[3].channels = 5;
    others[4].layer_count = 2;
    others[5].layers[1].kind = PESS__LAYER_CONV;
    others[6].layers[0].kernel = 2;
    others[7].layers[0].stride = 2;
    others[8].layers[2].outputs = 7;
    others[9].layers[1].slope = 0;
    others[10].layers[1].slope = 1;
    for (int i = 0; i < 11; i++) assert_false(pess__spec_equal(&spec, &others[i]));
}

static void observations_have_a_standard_network(void **state) {
    (void)state;
    static const struct {
        pess_observation_shape shape;
        const char *network;
    } cases[] = {
        {{.kind = PESS_OBSERVATION_BYTES, .rows = 36, .cols = 36}, "nature"},
        {{.kind = PESS_OBSERVATION_BYTES, .rows = 35, .cols = 36}, "value"},
        {{.kind = PESS_OBSERVATION_BYTES, .rows = 36, .cols = 35}, "value"},
        {{.kind = PESS_OBSERVATION_BITS, .rows = 40, .cols = 40}, "value"},
        {{.kind = PESS_OBSERVATION_BITS, .rows = 10, .cols = 10}, "value"},
        {{.kind = PESS_OBSERVATION_BITS, .rows = 9, .cols = 10}, "mlp"},
        {{.kind = PESS_OBSERVATION_BITS, .rows = 10, .cols = 9}, "mlp"},
        {{.kind = PESS_OBSERVATION_FLOATS, .rows = 84, .cols = 84}, "mlp"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(pess__spec_standard(&cases[i].shape), cases[i].network);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_layers),           cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(layers_are_so_many_at_most), cmocka_unit_test(every_number_has_its_limits),
        cmocka_unit_test(what_differs_is_not_equal),  cmocka_unit_test(observations_have_a_standard_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
