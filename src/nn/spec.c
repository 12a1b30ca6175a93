#include "nn/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAKY 0.01F

#define PAPERS_LAYERS "conv 32 4/2 leaky, conv 64 2/2 leaky, conv 64 2/1 leaky, dense 128 leaky, dense 128 leaky"

static const pess_network_info named[] = {
    {"mlp", "two layers of 256, for floats", "dense 256, dense 256"},
    {"conv", "the network of the paper's deep experiments, for boards", PAPERS_LAYERS},
    {"value", "another name of conv", PAPERS_LAYERS},
    {"nature", "that of Mnih et al. (2015), for large pictures", "conv 32 8/4, conv 64 4/2, conv 64 3/1, dense 512"},
    {"dqn", "the smaller one of MinAtar's players", "conv 16 3/1, dense 128"},
    {"dense", "one layer of 64, for tabular states", "dense 64"},
};
enum { NAMED = sizeof named / sizeof named[0], NATURE_SIDE = 36 /* the smallest board that "nature" fits on */ };

const pess_network_info *pess_network_list(size_t index) { return index < NAMED ? &named[index] : NULL; }

void pess__spec_input(const pess_observation_shape *shape, pess__net_spec *out) {
    const bool board = shape->channels > 0;
    *out = (pess__net_spec){.input = shape->kind,
                            .rows = board ? shape->rows : 1,
                            .cols = board ? shape->cols : 1,
                            .channels = board ? shape->channels : (int32_t)shape->length};
}

const char *pess__spec_standard(const pess_observation_shape *shape) {
    if (shape->kind == PESS_OBSERVATION_BYTES && shape->rows >= NATURE_SIDE && shape->cols >= NATURE_SIDE)
        return "nature";
    return shape->kind == PESS_OBSERVATION_FLOATS || shape->rows < 10 || shape->cols < 10 ? "mlp" : "value";
}

/* One layer of a text, "conv 32 8/4" or "dense 512 leaky", up to a comma or the end. */
static bool read_layer(const char *text, size_t length, pess__layer_spec *out) {
    char part[64];
    int kernel = 0, stride = 1, outputs = 0, used = 0;
    if (length >= sizeof part) return false;
    memcpy(part, text, length);
    part[length] = '\0';
    const char *rest = part + strspn(part, " ");
    *out = (pess__layer_spec){.kind = PESS__LAYER_DENSE};
    if (sscanf(rest, "conv %d %d/%d%n", &outputs, &kernel, &stride, &used) == 3)
        *out = (pess__layer_spec){.kind = PESS__LAYER_CONV, .kernel = kernel, .stride = stride};
    else if (used = 0, sscanf(rest, "dense %d%n", &outputs, &used) != 1)
        return false;
    out->outputs = outputs;
    rest += used;
    rest += strspn(rest, " ");
    if (strncmp(rest, "leaky", 5) == 0) {
        out->slope = LEAKY;
        rest += 5;
    }
    return used > 0 && rest[strspn(rest, " ")] == '\0';
}

/* The layers of a text, as many as there is room for at most, without the outputs. */
static bool read_text(const char *text, pess__net_spec *spec) {
    spec->layer_count = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (!read_layer(at, length, &spec->layers[spec->layer_count])) return false;
        spec->layer_count++;
        at += length;
        if (*at == '\0') return true;
    }
}

static pess_status fail_network(const char *network, pess_error *error) {
    char list[128] = "";
    for (size_t i = 0; i < NAMED; i++) {
        const size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s'%s'", i > 0 ? ", " : "", named[i].name);
    }
    return pess__fail(error, PESS_ARGUMENT,
                      "no network '%.80s'; there are %s, or layers such as 'conv 32 8/4, dense 512 leaky'", network,
                      list);
}

pess_status pess__spec_layers(const char *network, int32_t outputs, pess__net_spec *spec, pess_error *error) {
    const char *layers = network;
    for (size_t i = 0; i < NAMED; i++)
        if (strcmp(named[i].name, network) == 0) layers = named[i].layers;
    int64_t count = 1;
    for (const char *c = layers; *c != '\0'; c++) count += *c == ',';
    if (count > PESS__MAX_LAYERS - 1)
        return pess__fail(error, PESS_ARGUMENT, "%.80s …: %lld layers; at most %d are possible before the outputs",
                          network, (long long)count, PESS__MAX_LAYERS - 1);
    if (!read_text(layers, spec)) return fail_network(network, error);
    spec->layers[spec->layer_count++] = (pess__layer_spec){PESS__LAYER_DENSE, 0, 0, outputs, 1};
    return pess__spec_check(spec, network, error);
}

pess_status pess__spec_named(const char *network, int32_t rows, int32_t cols, int32_t channels, int32_t outputs,
                             pess__net_spec *out, pess_error *error) {
    pess__net_spec spec = {.rows = rows, .cols = cols, .channels = channels};
    PESS_TRY(pess__spec_layers(network, outputs, &spec, error));
    *out = spec;
    return PESS_OK;
}

void pess__spec_board(const pess__layer_spec *layer, int64_t *rows, int64_t *cols) {
    if (layer->kind == PESS__LAYER_DENSE) {
        *rows = *cols = 1;
    } else {
        *rows = (*rows - layer->kernel) / layer->stride + 1;
        *cols = (*cols - layer->kernel) / layer->stride + 1;
    }
}

static int64_t layer_parameters(const pess__layer_spec *layer, int64_t rows, int64_t cols, int64_t channels) {
    const int64_t taps = layer->kind == PESS__LAYER_DENSE ? rows * cols : (int64_t)layer->kernel * layer->kernel;
    return (taps * channels + 1) * layer->outputs;
}

static pess_status check_layer(const pess__layer_spec *layer, int i, int64_t rows, int64_t cols, const char *file,
                               pess_error *error) {
    if (layer->kind != PESS__LAYER_CONV && layer->kind != PESS__LAYER_DENSE)
        return pess__fail(error, PESS_INPUT, "%s: layer %d has kind %d; 0 (conv) and 1 (dense) are known", file, i + 1,
                          (int)layer->kind);
    if (layer->outputs < 1 || layer->outputs > PESS__MAX_OUTPUTS)
        return pess__fail(error, PESS_INPUT, "%s: layer %d has %d outputs; 1 to %d are possible", file, i + 1,
                          (int)layer->outputs, (int)PESS__MAX_OUTPUTS);
    if (!(layer->slope >= 0 && layer->slope <= 1))
        return pess__fail(error, PESS_INPUT, "%s: layer %d has activation slope %g; 0 to 1 is possible", file, i + 1,
                          (double)layer->slope);
    if (layer->kind == PESS__LAYER_DENSE) return PESS_OK;
    if (layer->kernel < 1 || layer->stride < 1 || layer->kernel > rows || layer->kernel > cols)
        return pess__fail(error, PESS_INPUT, "%s: layer %d has kernel %d and stride %d on a board of %d × %d", file,
                          i + 1, (int)layer->kernel, (int)layer->stride, (int)rows, (int)cols);
    return PESS_OK;
}

pess_status pess__spec_check(const pess__net_spec *spec, const char *file, pess_error *error) {
    const int64_t most = PESS__MAX_INPUTS;
    if ((unsigned)spec->input > PESS_OBSERVATION_FLOATS)
        return pess__fail(error, PESS_INPUT, "%s: input of kind %d; 0 (bits), 1 (bytes) and 2 (floats) are known", file,
                          (int)spec->input);
    if (spec->rows < 1 || spec->cols < 1 || spec->channels < 1 || spec->rows > most || spec->cols > most ||
        spec->channels > most || (int64_t)spec->rows * spec->cols > most ||
        (int64_t)spec->rows * spec->cols * spec->channels > most)
        return pess__fail(error, PESS_INPUT, "%s: an input of %d × %d × %d; 1 to %d numbers are possible", file,
                          (int)spec->rows, (int)spec->cols, (int)spec->channels, (int)most);
    if (spec->layer_count < 1 || spec->layer_count > PESS__MAX_LAYERS)
        return pess__fail(error, PESS_INPUT, "%s: %d layers; 1 to %d are possible", file, (int)spec->layer_count,
                          (int)PESS__MAX_LAYERS);
    int64_t rows = spec->rows, cols = spec->cols, channels = spec->channels, total = 0;
    for (int i = 0; i < spec->layer_count; i++) {
        const pess__layer_spec *layer = &spec->layers[i];
        PESS_TRY(check_layer(layer, i, rows, cols, file, error));
        total += layer_parameters(layer, rows, cols, channels);
        pess__spec_board(layer, &rows, &cols);
        channels = layer->outputs;
        if (total > PESS__MAX_PARAMETERS || rows * cols * channels > PESS__MAX_PARAMETERS)
            return pess__fail(error, PESS_LIMIT, "%s: more than %d parameters or values up to layer %d", file,
                              (int)PESS__MAX_PARAMETERS, i + 1);
    }
    if (rows * cols != 1)
        return pess__fail(error, PESS_INPUT, "%s: the last layer leaves a board of %d × %d; it must leave one place",
                          file, (int)rows, (int)cols);
    return PESS_OK;
}

int64_t pess__spec_parameters(const pess__net_spec *spec) {
    int64_t rows = spec->rows, cols = spec->cols, channels = spec->channels, total = 0;
    for (int i = 0; i < spec->layer_count; i++) {
        total += layer_parameters(&spec->layers[i], rows, cols, channels);
        pess__spec_board(&spec->layers[i], &rows, &cols);
        channels = spec->layers[i].outputs;
    }
    return total;
}

bool pess__spec_equal(const pess__net_spec *a, const pess__net_spec *b) {
    if (a->input != b->input || a->rows != b->rows || a->cols != b->cols || a->channels != b->channels ||
        a->layer_count != b->layer_count)
        return false;
    for (int i = 0; i < a->layer_count; i++) {
        const pess__layer_spec *p = &a->layers[i], *q = &b->layers[i];
        if (p->kind != q->kind || p->kernel != q->kernel || p->stride != q->stride || p->outputs != q->outputs ||
            p->slope < q->slope || p->slope > q->slope)
            return false;
    }
    return true;
}
