/* Weights that another program trained, from NumPy arrays: a state dict of PyTorch, saved by its names in its order.
 * Layer by layer there is NAME.weight, [out, in] or [out, in, row, col], and NAME.bias [out]; the network says what
 * shapes they must have. shift and scale, [inputs], and action_values, [actions, width], are those of an export. */
#include "core/memory.h"
#include "core/settings.h"
#include "data/npz_arrays.h"
#include "data/observations.h"
#include "deep/bundle.h"
#include "nn/netfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(name) PESS__FIELD(pess_import_options, name)

static const pess_setting rows_of_settings[] = {
    {.name = "network",
     .kind = PESS_SETTING_TEXT,
     FIELD(network),
     .argument = "NETWORK|LAYERS",
     .sentence = "a network by its name, or its layers without the outputs, such as 'conv 32 8/4, dense 512 leaky'",
     .where_unset = "dense layers with ReLU between them, as the arrays have them"},
    {.name = "input",
     .kind = PESS_SETTING_TEXT,
     FIELD(input),
     .standard = "floats",
     .argument = "floats|bytes|bits",
     .sentence = "what it sees; bytes are divided by 255"},
    {.name = "board",
     .kind = PESS_SETTING_TEXT,
     FIELD(board),
     .argument = "RxCxN",
     .sentence = "rows, columns and channels of what it sees, such as 84x84x4",
     .where_unset = "a row of numbers"},
    {.name = "acts",
     .kind = PESS_SETTING_TEXT,
     FIELD(acts),
     .standard = "argmax",
     .argument = "argmax|softmax",
     .sentence = "how to act by its outputs: the largest, or a draw from their softmax"},
};

static const pess_setting_table settings = PESS__SETTING_TABLE("import", pess_import_options, rows_of_settings);

PESS__SETTINGS_OF(import, settings)

enum { NAME_SIZE = 200 };

typedef struct importing {
    const char *path;
    pess__zip zip;
    char layers[PESS__MAX_LAYERS][NAME_SIZE]; /* names without ".weight" */
    int32_t layer_count;
    bool described; /* the network is; else the arrays say what it is */
    pess__net_spec spec;
    pess__net *net;
} importing;

/* ---- what there is */

static bool strip(const char *name, const char *ending, char *out) {
    const size_t length = strlen(name), tail = strlen(ending);
    if (length <= tail || length >= NAME_SIZE || strcmp(name + length - tail, ending) != 0) return false;
    memcpy(out, name, length - tail);
    out[length - tail] = '\0';
    return true;
}

/* A bias alone is that of a layer whose weights are missing: the others may well make a smaller network. */
static pess_status check_bias(const importing *in, const char *layer, pess_error *error) {
    char weights[NAME_SIZE + 8];
    (void)snprintf(weights, sizeof weights, "%s.weight", layer);
    if (pess__npz_find(&in->zip, weights) != NULL) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: array '%.100s' is missing; there is '%.100s.bias'", in->path, weights,
                      layer);
}

/* The layers in the order of the file, and nothing beside their weights and biases and what an export has. */
static pess_status find_layers(importing *in, pess_error *error) {
    for (int64_t i = 0; i < in->zip.count; i++) {
        char array[NAME_SIZE], layer[NAME_SIZE];
        if (!strip(in->zip.entries[i].name, ".npy", array))
            return pess__fail(error, PESS_INPUT, "%s: '%.100s' is no array", in->path, in->zip.entries[i].name);
        if (strcmp(array, "shift") == 0 || strcmp(array, "scale") == 0 || strcmp(array, "action_values") == 0) continue;
        if (strip(array, ".bias", layer)) {
            PESS_TRY(check_bias(in, layer, error));
            continue;
        }
        if (!strip(array, ".weight", layer))
            return pess__fail(
                error, PESS_INPUT,
                "%s: found an array '%.100s', expected NAME.weight and NAME.bias of the layers, shift and scale",
                in->path, array);
        if (in->layer_count == PESS__MAX_LAYERS)
            return pess__fail(error, PESS_INPUT, "%s: more than %d layers", in->path, PESS__MAX_LAYERS);
        (void)snprintf(in->layers[in->layer_count++], NAME_SIZE, "%s", layer);
    }
    if (in->layer_count == 0)
        return pess__fail(error, PESS_INPUT, "%s: found no array NAME.weight, expected one per layer", in->path);
    return PESS_OK;
}

static pess_status open_array(const importing *in, const char *name, pess__npz_array *out, pess_error *error) {
    const pess__zip_entry *entry = pess__npz_find(&in->zip, name);
    if (entry == NULL) return pess__fail(error, PESS_INPUT, "%s: array '%.100s' is missing", in->path, name);
    return pess__npz_array_open(&in->zip, entry, name, out, error);
}

static void write_shape(int dimensions, const int64_t *shape, char *out, size_t size) {
    size_t used = (size_t)snprintf(out, size, "[");
    for (int i = 0; i < dimensions && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%lld", i > 0 ? ", " : "", (long long)shape[i]);
    if (used < size) (void)snprintf(out + used, size - used, "]");
}

/* Appends the numbers of an array that must have this shape, because of the array `by` (NULL: of the network). Either
 * of the two may be the wrong one, so a message names both. */
static pess_status read_array(const importing *in, const char *name, int dimensions, const int64_t *shape,
                              const char *by, float *to, pess_error *error) {
    pess__npz_array a = {0};
    double *numbers = NULL;
    PESS_TRY(open_array(in, name, &a, error));
    bool fits = a.header.dimensions == dimensions;
    for (int i = 0; fits && i < dimensions; i++) fits = a.header.shape[i] == shape[i];
    pess_status status = PESS_OK;
    if (!fits) {
        char found[128], wanted[128];
        write_shape(a.header.dimensions, a.header.shape, found, sizeof found);
        write_shape(dimensions, shape, wanted, sizeof wanted);
        status = pess__fail(error, PESS_INPUT, "%s: array '%.100s': found the shape %s, expected %s%s%.100s%s",
                            in->path, name, found, wanted, by != NULL ? " by that of '" : "", by != NULL ? by : "",
                            by != NULL ? "'" : "");
    }
    if (status == PESS_OK) status = pess__npz_array_doubles(&a, name, &numbers, error);
    for (int64_t i = 0; status == PESS_OK && i < a.count; i++) {
        to[i] = (float)numbers[i];
        if (!isfinite(to[i]))
            status = pess__fail(error, PESS_INPUT, "%s: array '%.100s': number %lld is %g; finite ones are expected",
                                in->path, name, (long long)i, numbers[i]);
    }
    free(numbers);
    pess__npz_array_close(&a);
    return status;
}

/* ---- what it is to be */

static pess_status weight_shape(const importing *in, int32_t layer, int *dimensions, int64_t shape[4],
                                pess_error *error) {
    char name[NAME_SIZE + 8];
    pess__npz_array a = {0};
    (void)snprintf(name, sizeof name, "%s.weight", in->layers[layer]);
    PESS_TRY(open_array(in, name, &a, error));
    *dimensions = a.header.dimensions;
    for (int i = 0; i < *dimensions && i < 4; i++) shape[i] = a.header.shape[i];
    pess__npz_array_close(&a);
    const bool dense = *dimensions == 2, conv = *dimensions == 4;
    if ((dense || conv) && shape[0] > 0 && shape[0] <= PESS__MAX_OUTPUTS && shape[1] > 0 &&
        shape[1] <= PESS__MAX_INPUTS)
        return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s: array '%.100s': expected [out, in] of a dense layer or [out, in, row, col] of a convolution",
                      in->path, name);
}

static pess_status read_board(const char *text, pess__net_spec *spec, pess_error *error) {
    int used = 0;
    if (sscanf(text, "%dx%dx%d%n", &spec->rows, &spec->cols, &spec->channels, &used) == 3 && text[used] == '\0')
        return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "board: found '%.40s', expected rows, columns and channels such as 84x84x4",
                      text);
}

static pess_status set_input(importing *in, const pess_import_options *o, int64_t width, pess_error *error) {
    pess_observation_kind kind = PESS_OBSERVATION_BITS;
    while (kind <= PESS_OBSERVATION_FLOATS && strcmp(pess_observation_kind_name(kind), o->input) != 0) kind++;
    if (kind > PESS_OBSERVATION_FLOATS)
        return pess__fail(error, PESS_ARGUMENT, "input: found '%.40s', expected floats, bytes or bits", o->input);
    in->spec = (pess__net_spec){.input = kind, .rows = 1, .cols = 1, .channels = (int32_t)width};
    return o->board != NULL ? read_board(o->board, &in->spec, error) : PESS_OK;
}

/* The network that is named, or dense layers as wide as the arrays are. */
static pess_status set_spec(importing *in, const pess_import_options *o, pess_error *error) {
    int dimensions;
    int64_t shape[4];
    PESS_TRY(weight_shape(in, 0, &dimensions, shape, error));
    if (dimensions == 4 && (o->board == NULL || o->network == NULL))
        return pess__fail(error, PESS_ARGUMENT,
                          "%s: has convolutions: the network (layers with their strides) and the board are needed",
                          in->path);
    PESS_TRY(set_input(in, o, shape[1], error));
    for (int32_t i = 0; i < in->layer_count; i++) {
        PESS_TRY(weight_shape(in, i, &dimensions, shape, error));
        in->spec.layers[i] =
            (pess__layer_spec){PESS__LAYER_DENSE, 0, 0, (int32_t)shape[0], i + 1 < in->layer_count ? 0.0F : 1.0F};
    }
    in->described = o->network != NULL;
    if (in->described) return pess__spec_layers(o->network, (int32_t)shape[0], &in->spec, error);
    in->spec.layer_count = in->layer_count;
    return pess__spec_check(&in->spec, in->path, error);
}

/* ---- the network */

static pess_status read_layers(importing *in, pess_error *error) {
    float *values = NULL;
    PESS_TRY(pess__allocate(&values, pess__spec_parameters(&in->spec), sizeof *values, "parameters", error));
    pess_status status = PESS_OK;
    float *at = values;
    for (int i = 0; i < in->spec.layer_count && status == PESS_OK; i++) {
        const pess__layer *l = &in->net->layers[i];
        const pess__layer_spec *spec = &in->spec.layers[i];
        const bool dense = spec->kind == PESS__LAYER_DENSE;
        const int64_t shape[] = {l->outputs, dense ? l->inputs * l->taps : l->inputs, spec->kernel, spec->kernel};
        char weight[NAME_SIZE + 8], bias[NAME_SIZE + 8], below[NAME_SIZE + 8];
        (void)snprintf(weight, sizeof weight, "%s.weight", in->layers[i]);
        (void)snprintf(bias, sizeof bias, "%s.bias", in->layers[i]);
        (void)snprintf(below, sizeof below, "%s.weight", in->layers[i > 0 ? i - 1 : 0]);
        status = read_array(in, weight, dense ? 2 : 4, shape, i > 0 && !in->described ? below : NULL, at, error);
        at += l->outputs * l->inputs * l->taps;
        if (status == PESS_OK) status = read_array(in, bias, 1, shape, weight, at, error);
        at += l->outputs;
    }
    if (status == PESS_OK) pess__net_import(in->net, values);
    free(values);
    return status;
}

static pess_status read_network(importing *in, pess_error *error) {
    if (in->spec.layer_count != in->layer_count)
        return pess__fail(error, PESS_INPUT, "%s: has the weights of %d layers; the network has %d with its outputs",
                          in->path, (int)in->layer_count, (int)in->spec.layer_count);
    PESS_TRY(pess__net_create(&in->spec, NULL, &in->net, error));
    PESS_TRY(read_layers(in, error));
    const bool shift = pess__npz_find(&in->zip, "shift") != NULL, scale = pess__npz_find(&in->zip, "scale") != NULL;
    if (!shift && !scale) return PESS_OK;
    if (in->spec.input != PESS_OBSERVATION_FLOATS)
        return pess__fail(error, PESS_INPUT, "%s: array '%s': only floats are standardised", in->path,
                          shift ? "shift" : "scale");
    char first[NAME_SIZE + 8];
    (void)snprintf(first, sizeof first, "%s.weight", in->layers[0]);
    PESS_TRY(read_array(in, "shift", 1, &in->net->inputs, first, in->net->shift, error));
    return read_array(in, "scale", 1, &in->net->inputs, first, in->net->scale, error);
}

/* The vectors that its actions stand for. */
static pess_status read_vectors(const importing *in, pess__bundle *b, pess_error *error) {
    static const char name[] = "action_values";
    const int64_t actions = b->learned.actions;
    pess__npz_array a = {0};
    if (pess__npz_find(&in->zip, name) == NULL) return PESS_OK;
    PESS_TRY(open_array(in, name, &a, error));
    const int64_t width = a.header.dimensions == 2 ? a.header.shape[1] : 0;
    pess__npz_array_close(&a);
    if (width < 1 || width > PESS__DATA_MAX_LENGTH)
        return pess__fail(error, PESS_INPUT, "%s: array '%s': expected [%lld, width], a vector for each action",
                          in->path, name, (long long)actions);
    PESS_TRY(pess__allocate(&b->space.values, actions * width, sizeof *b->space.values, "actions", error));
    b->space.width = width;
    b->learned.space = &b->space;
    return read_array(in, name, 2, (const int64_t[]){actions, width}, NULL, b->space.values, error);
}

static pess_status import(importing *in, const pess_import_options *o, pess_policy **out, pess_error *error) {
    char notes[PESS__NOTES_SIZE];
    pess_net *wrapped = NULL;
    if (strcmp(o->acts, "argmax") != 0 && strcmp(o->acts, "softmax") != 0)
        return pess__fail(error, PESS_ARGUMENT, "acts: found '%.40s', expected argmax or softmax", o->acts);
    PESS_TRY(find_layers(in, error));
    PESS_TRY(set_spec(in, o, error));
    PESS_TRY(read_network(in, error));
    (void)snprintf(notes, sizeof notes, "acts=%s\nimported=%.1000s\nversion=%s\n", o->acts, in->path, PESS_VERSION);
    pess__net *taken = in->net;
    in->net = NULL;
    PESS_TRY(pess__net_wrap(taken, notes, &wrapped, error));
    pess_policy *policy = NULL;
    pess_status status = pess__bundle_of_network(in->path, wrapped, &policy, error);
    pess_net_destroy(wrapped);
    if (status == PESS_OK) status = read_vectors(in, (pess__bundle *)(void *)policy, error);
    if (status == PESS_OK)
        *out = policy;
    else
        pess_policy_destroy(policy);
    return status;
}

/* An ONNX model, say, is no damaged archive. */
static pess_status check_archive(pess__infile *file, pess_error *error) {
    char head[2];
    size_t got = 0;
    PESS_TRY(pess__infile_head(file, head, sizeof head, &got, error));
    if (got == sizeof head && memcmp(head, "PK", sizeof head) == 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "%s: found no NumPy arrays (.npz), expected those of a network, as numpy.savez "
                      "writes them",
                      pess__infile_name(file));
}

pess_status pess__policy_import_file(pess__infile *file, const pess_import_options *options, pess_policy **out,
                                     pess_error *error) {
    pess_import_options o;
    PESS_TRY(pess__settle(&settings, options, &o, error));
    importing *in = NULL;
    PESS_TRY(pess__allocate(&in, 1, sizeof *in, "the weights of a network", error));
    in->path = pess__infile_name(file);
    pess_status status = check_archive(file, error);
    if (status == PESS_OK) status = pess__zip_open(file, &in->zip, error);
    if (status == PESS_OK) status = import(in, &o, out, error);
    pess__net_destroy(in->net);
    pess__zip_free(&in->zip);
    free(in);
    return status;
}

pess_status pess_policy_import(const char *path, const pess_import_options *options, pess_policy **out,
                               pess_error *error) {
    pess__infile *file = NULL;
    PESS_TRY(pess__infile_open(path, &file, error));
    const pess_status status = pess__policy_import_file(file, options, out, error);
    pess__infile_close(file);
    return status;
}
