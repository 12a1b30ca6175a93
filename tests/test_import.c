/* Weights of PyTorch (tests/tools/make_torch_arrays.py) give PyTorch's answers; arrays that are missing, left over or
 * of another shape are refused by name. */
#include "arrays_file.h"

#include "core/infile.h"

#include <math.h>

static pess_error error;

static const struct {
    const char *name, *network, *input, *board;
    int64_t channels;
} cases[] = {{"mlp", NULL, "floats", NULL, 1}, {"conv", "conv 5 3/2, conv 4 2/1, dense 7", "bytes", "7x9x2", 2}};
enum { ROWS = 20, OUTPUTS = 3 };

/* All numbers of an array; the caller frees them. */
static double *read_numbers(const char *path, const char *name, int64_t *count) {
    pess__infile *file = NULL;
    pess__zip zip = {0};
    pess__npz_array a;
    double *numbers = NULL;
    assert_ok(pess__infile_open(path, &file, &error), &error);
    assert_ok(pess__zip_open(file, &zip, &error), &error);
    const pess__zip_entry *entry = pess__npz_find(&zip, name);
    assert_non_null(entry);
    assert_ok(pess__npz_array_open(&zip, entry, name, &a, &error), &error);
    assert_ok(pess__npz_array_doubles(&a, name, &numbers, &error), &error);
    *count = a.count;
    pess__npz_array_close(&a);
    pess__zip_free(&zip);
    pess__infile_close(file);
    return numbers;
}

static pess_import_options options_of(size_t c) {
    pess_import_options o = pess_import_options_defaults();
    o.network = cases[c].network;
    o.input = cases[c].input;
    o.board = cases[c].board;
    return o;
}

static void answers_are_pytorchs(void **unused) {
    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char weights[300], answers[300];
        (void)snprintf(weights, sizeof weights, TEST_DATA "/torch/%s.npz", cases[c].name);
        (void)snprintf(answers, sizeof answers, TEST_DATA "/torch/%s-answers.npz", cases[c].name);
        const pess_import_options o = options_of(c);
        pess_policy *policy = NULL;
        assert_ok(pess_policy_import(weights, &o, &policy, &error), &error);
        int64_t seen, told;
        double *observations = read_numbers(answers, "observations", &seen);
        double *outputs = read_numbers(answers, "outputs", &told);
        assert_int_equal(told, ROWS * OUTPUTS);
        const int64_t length = seen / ROWS, cells = length / cases[c].channels;
        float got[ROWS * OUTPUTS], row[200] = {0};
        for (int64_t i = 0; i < ROWS; i++) {
            for (int64_t k = 0; k < length; k++) { /* planes of a picture become channels of its places */
                const double v = observations[i * length + k];
                const int64_t at = k % cells * cases[c].channels + k / cells;
                if (c == 0)
                    row[k] = (float)v;
                else
                    ((uint8_t *)row)[at] = (uint8_t)v;
            }
            assert_ok(pess_policy_outputs(policy, (const uint8_t *)row, sizeof row, 1, got + i * OUTPUTS, &error),
                      &error);
        }
        for (int i = 0; i < ROWS * OUTPUTS; i++) assert_close((double)got[i], outputs[i], 1e-5);
        free(observations);
        free(outputs);
        pess_policy_destroy(policy);
    }
}

static void refused(size_t c, const pess_import_options *o, pess_status status, const char *what) {
    char weights[300];
    pess_policy *policy = NULL;
    (void)snprintf(weights, sizeof weights, TEST_DATA "/torch/%s.npz", cases[c].name);
    assert_failure(pess_policy_import(weights, o, &policy, &error), status, &error, what, NULL);
    assert_null(policy);
}

static void what_does_not_fit_is_refused(void **unused) {
    (void)unused;
    pess_import_options o = options_of(0);
    o.network = "dense 8, dense 7";
    refused(0, &o, PESS_INPUT, "array '2.weight': found the shape [6, 8], expected [7, 8]");
    o.network = "dense 8";
    refused(0, &o, PESS_INPUT, "has the weights of 3 layers");
    o = options_of(0), o.input = "doubles";
    refused(0, &o, PESS_ARGUMENT, "floats, bytes or bits");
    o = options_of(0), o.acts = "dance";
    refused(0, &o, PESS_ARGUMENT, "argmax or softmax");
    o = options_of(0), o.board = "5x1";
    refused(0, &o, PESS_ARGUMENT, "84x84x4");
    o = options_of(1), o.network = NULL;
    refused(1, &o, PESS_ARGUMENT, "the network (layers with their strides) and the board are needed");
    o = options_of(1), o.board = "7x9x3";
    refused(1, &o, PESS_INPUT, "array 'features.0.weight': found the shape [5, 2, 3, 3], expected [5, 3, 3, 3]");
    o = options_of(1), o.board = "2x2x2";
    refused(1, &o, PESS_INPUT, "kernel 3");
    o = options_of(0);
    pess_policy *policy = NULL;
    assert_failure(pess_policy_import(TEST_DATA "/torch/mlp-answers.npz", &o, &policy, &error), PESS_INPUT, &error,
                   "array 'observations'", "NAME.weight", NULL);
}

/* The mlp's file with its arrays renamed, from and to names of `length`, in both places that a zip file has for each.
 */
static const char *renamed_arrays(const char *const (*names)[2], size_t count, size_t length) {
    enum { SIZE = 1990 };
    size_t renamed = 0;
    char *bytes = scratch_read(TEST_DATA "/torch/mlp.npz");
    for (size_t i = 0; i + length < SIZE; i++)
        for (size_t k = 0; k < count; k++)
            if (memcmp(bytes + i, names[k][0], length) == 0) {
                memcpy(bytes + i, names[k][1], length), renamed++;
                break;
            }
    assert_int_equal(renamed, 2 * count);
    const char *path = scratch_path(0, ".npz");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, SIZE, file), SIZE);
    assert_int_equal(fclose(file), 0);
    free(bytes);
    return path;
}

/* Without its last weights, an mlp of three layers would be one of two, with its hidden units as actions: weights are
 * missing, and a bias is alone. */
static void a_layer_without_weights_is_refused(void **unused) {
    (void)unused;
    static const char *const names[] = {"0.weight", "2.weight", "4.weight"};
    const pess_import_options o = options_of(0);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const char *const names_of[][2] = {{names[k], "abc.bias"}};
        const char *path = renamed_arrays(names_of, 1, sizeof "abc.bias" - 1);
        pess_policy *policy = NULL;
        assert_failure(pess_policy_import(path, &o, &policy, &error), PESS_INPUT, &error, "'abc.weight' is missing",
                       "'abc.bias'", NULL);
        assert_null(policy);
        scratch_remove(path);
    }
}

/* Shapes that disagree: either of the two arrays may be the wrong one, and the message names both. */
static void shapes_that_disagree_are_both_named(void **unused) {
    (void)unused;
    const pess_import_options o = options_of(0);
    const char *const swapped[][2] = {{"0.bias", "2.bias"}, {"2.bias", "0.bias"}};
    const char *path = renamed_arrays(swapped, 2, sizeof "0.bias" - 1);
    pess_policy *policy = NULL;
    assert_failure(pess_policy_import(path, &o, &policy, &error), PESS_INPUT, &error,
                   "array '0.bias': found the shape [6], expected [8] by that of '0.weight'", NULL);
    assert_null(policy);
    scratch_remove(path);
}

static const array weight = {"a.weight", 2, {3, 2}, 0.5, NULL}, bias = {"a.bias", 1, {3}, 0.25, NULL};

/* Weights and a bias of two numbers in and three out, and one more array or other weights. */
static void arrays_that_are_no_network_are_refused(void **unused) {
    (void)unused;
    static const struct {
        array arrays[4];
        int count;
        const char *input, *sentence;
    } files[] = {
        {{{"shift", 1, {2}, 0, NULL}}, 1, "floats", "found no array NAME.weight, expected one per layer"},
        {{{"a.weight", 2, {3, 2}, 0, NULL}}, 1, "floats", "array 'a.bias' is missing"},
        {{{"a.weight", 2, {3, 2}, NAN, NULL}, {"a.bias", 1, {3}, 0, NULL}}, 2, "floats", "number 0 is nan"},
        {{{"a.weight", 2, {3, 2}, 1e300, NULL}, {"a.bias", 1, {3}, 0, NULL}}, 2, "floats", "number 0 is 1e+300"},
        {{{"a.weight", 2, {3, 2}, 0, "<U2"}, {"a.bias", 1, {3}, 0, NULL}}, 2, "floats", "found text, expected numbers"},
        {{{"a.weight", 1, {6}, 0, NULL}, {"a.bias", 1, {3}, 0, NULL}}, 2, "floats", "expected [out, in]"},
        {{{"a.weight", 3, {3, 2, 1}, 0, NULL}, {"a.bias", 1, {3}, 0, NULL}}, 2, "floats", "expected [out, in]"},
        {{{"a.weight", 5, {3, 2, 1, 1, 1}, 0, NULL}, {"a.bias", 1, {3}, 0, NULL}}, 2, "floats", "expected [out, in]"},
        {{{"a.weight", 2, {0, 2}, 0, NULL}, {"a.bias", 1, {3}, 0, NULL}}, 2, "floats", "expected [out, in]"},
        {{{"a.weight", 2, {3, 2}, 0, NULL}, {"a.bias", 1, {3}, 0, NULL}, {"shift", 1, {2}, 0, NULL}},
         3,
         "floats",
         "array 'scale' is missing"},
        {{{"a.weight", 2, {3, 2}, 0, NULL}, {"a.bias", 1, {3}, 0, NULL}, {"scale", 1, {2}, 1, NULL}},
         3,
         "bits",
         "array 'scale': only floats are standardised"},
        {{{"a.weight", 2, {3, 2}, 0, NULL}, {"a.bias", 1, {3}, 0, NULL}, {"shift", 1, {2}, 1, NULL}},
         3,
         "bytes",
         "array 'shift': only floats are standardised"},
        {{{"a.weight", 2, {3, 2}, 0, NULL}, {"a.bias", 1, {3}, 0, NULL}, {"action_values", 1, {3}, 0, NULL}},
         3,
         "floats",
         "array 'action_values': expected [3, width], a vector for each action"},
        {{{"a.weight", 2, {3, 2}, 0, NULL}, {"a.bias", 1, {3}, 0, NULL}, {"action_values", 2, {2, 2}, 0, NULL}},
         3,
         "floats",
         "array 'action_values': found the shape [2, 2], expected [3, 2]"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        pess_import_options o = pess_import_options_defaults();
        pess_policy *policy = NULL;
        const char *path = arrays_file(files[i].arrays, files[i].count);
        o.input = files[i].input;
        assert_failure(pess_policy_import(path, &o, &policy, &error), PESS_INPUT, &error, files[i].sentence, NULL);
        assert_null(policy);
        scratch_remove(path);
    }
}

/* (x - shift) * scale enters the weights, and the actions stand for vectors. */
static void what_an_export_has_is_taken(void **unused) {
    (void)unused;
    const array arrays[] = {
        weight, bias, {"shift", 1, {2}, 1, NULL}, {"scale", 1, {2}, 4, NULL}, {"action_values", 2, {3, 2}, -2, NULL}};
    const char *path = arrays_file(arrays, 5);
    pess_import_options o = pess_import_options_defaults();
    pess_policy *policy = NULL;
    o.acts = "softmax";
    assert_ok(pess_policy_import(path, &o, &policy, &error), &error);
    const float x[] = {2, 4};
    float got[3] = {0};
    assert_ok(pess_policy_outputs(policy, (const uint8_t *)x, sizeof x, 1, got, &error), &error);
    for (int a = 0; a < 3; a++) assert_close((double)got[a], 0.25 + 0.5 * 4 * (1 + 3), 1e-5);
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    assert_int_equal(info.action_width, 2);
    for (int i = 0; i < 6; i++) assert_true(info.action_values[i] == -2);
    pess_policy_destroy(policy);
    scratch_remove(path);
}

static void networks_without_end_are_refused(void **unused) {
    (void)unused;
    static char names[70][12];
    static array arrays[70];
    pess_import_options o = pess_import_options_defaults();
    pess_policy *policy = NULL;
    for (int i = 0; i < 70; i++) {
        (void)snprintf(names[i], sizeof names[i], "%d.weight", i);
        arrays[i] = (array){names[i], 2, {2, 2}, 0, NULL};
    }
    const char *path = arrays_file(arrays, 70);
    assert_failure(pess_policy_import(path, &o, &policy, &error), PESS_INPUT, &error, "more than", "layers", NULL);
    scratch_remove(path);
    assert_failure(pess_policy_import(TEST_DATA "/torch_golden.txt", &o, &policy, &error), PESS_INPUT, &error, ".npz",
                   NULL);
    assert_failure(pess_policy_import("/nowhere.npz", &o, &policy, &error), PESS_IO, &error, "/nowhere.npz", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_pytorchs),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_layer_without_weights_is_refused),
        cmocka_unit_test(shapes_that_disagree_are_both_named),
        cmocka_unit_test(arrays_that_are_no_network_are_refused),
        cmocka_unit_test(what_an_export_has_is_taken),
        cmocka_unit_test(networks_without_end_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
