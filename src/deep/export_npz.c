/* NumPy arrays with PyTorch's names and shapes: layer1.weight [out, in] or [out, in, row, col], layer1.bias, …; shift
 * and scale of floats, (v − shift)·scale being what the first layer sees; action_values [actions, width] where actions
 * stand for vectors. Several heads become one: the last layer has the means of their weights. */
#include "core/memory.h"
#include "data/npz_arrays.h"
#include "deep/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 2 * PESS__MAX_LAYERS + 3 };

typedef struct block {
    char name[32];
    const float *from;
    int64_t width; /* numbers of a row */
} block;

static void render(const void *user, int64_t first, int64_t rows, uint8_t *out) {
    const block *b = user;
    memcpy(out, b->from + first * b->width, (size_t)(rows * b->width) * sizeof(float));
}

typedef struct writer {
    block blocks[MOST];
    pess__npz_column columns[MOST];
    int count;
} writer;

static void add(writer *w, const char *name, const float *from, int dimensions, const int64_t *shape) {
    block *b = &w->blocks[w->count];
    pess__npz_column *c = &w->columns[w->count++];
    (void)snprintf(b->name, sizeof b->name, "%s", name);
    b->from = from;
    b->width = 1;
    for (int i = 1; i < dimensions; i++) b->width *= shape[i];
    *c = (pess__npz_column){.name = b->name, .type = "<f4", .dimensions = dimensions, .render = render, .user = b};
    memcpy(c->shape, shape, (size_t)dimensions * sizeof *shape);
    c->width = b->width * (int64_t)sizeof(float);
}

/* Rows of the heads, [heads][actions][width], to their means. */
static void mean_of_heads(const pess__exported *policy, const float *rows, int64_t width, float *to) {
    const int64_t size = policy->actions * width;
    for (int64_t i = 0; i < size; i++) {
        double sum = 0;
        for (int64_t k = 0; k < policy->heads; k++) sum += (double)rows[k * size + i];
        to[i] = (float)(sum / (double)policy->heads);
    }
}

/* A layer whose parameters begin at `at`; `mean`, if any, has room for the one that its heads become. */
static void add_layer(writer *w, const pess__exported *policy, int i, const float *at, float *mean) {
    const pess__layer *l = &policy->nets[0]->layers[i];
    const pess__layer_spec *spec = &policy->nets[0]->spec.layers[i];
    const bool dense = spec->kind == PESS__LAYER_DENSE;
    const int64_t width = l->inputs * l->taps, outputs = mean != NULL ? policy->actions : l->outputs;
    const int64_t shape[] = {outputs, dense ? width : l->inputs, spec->kernel, spec->kernel};
    const float *bias = at + l->outputs * width;
    char name[32];
    if (mean != NULL) {
        mean_of_heads(policy, at, width, mean);
        mean_of_heads(policy, bias, 1, mean + outputs * width);
        at = mean;
        bias = mean + outputs * width;
    }
    (void)snprintf(name, sizeof name, "layer%d.weight", i + 1);
    add(w, name, at, dense ? 2 : 4, shape);
    (void)snprintf(name, sizeof name, "layer%d.bias", i + 1);
    add(w, name, bias, 1, shape);
}

pess_status pess__export_npz(const pess__exported *policy, const char *path, pess_error *error) {
    const pess__net *net = policy->nets[0];
    const float *at = policy->file[0];
    float *mean = NULL;
    writer *w = NULL;
    if (pess__exported_count(policy) > 1)
        return pess__fail(
            error, PESS_ARGUMENT,
            "the rule of '%s' needs %lld networks, and arrays say nothing of rules; .c and .onnx have both",
            policy->name, (long long)pess__exported_count(policy));
    const pess__layer *last = &net->layers[net->spec.layer_count - 1];
    PESS_TRY(pess__allocate(&w, 1, sizeof *w, "the arrays of a network", error));
    pess_status status = PESS_OK;
    if (policy->heads > 1)
        status = pess__allocate(&mean, policy->actions * (last->inputs * last->taps + 1), sizeof *mean,
                                "the mean of several heads", error);
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        add_layer(w, policy, i, at, l == last ? mean : NULL);
        at += l->outputs * (l->inputs * l->taps + 1);
    }
    if (net->shift != NULL) add(w, "shift", net->shift, 1, &net->inputs);
    if (net->scale != NULL) add(w, "scale", net->scale, 1, &net->inputs);
    if (policy->space != NULL && policy->space->values != NULL)
        add(w, "action_values", policy->space->values, 2, (const int64_t[]){policy->actions, policy->space->width});
    if (status == PESS_OK) status = pess__npz_write_arrays(path, w->columns, w->count, ".pessnet", error);
    free(mean);
    free(w);
    return status;
}
