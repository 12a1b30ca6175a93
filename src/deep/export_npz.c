/* NumPy arrays with PyTorch's names and shapes: layer1.weight [out, in] or [out, in, row, col], layer1.bias, …; shift
 * and scale of floats, (v − shift)·scale being what the first layer sees; action_values [actions, width] where actions
 * stand for vectors. */
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

pess_status pess__export_npz(const pess__exported *policy, const char *path, pess_error *error) {
    const pess__net *net = policy->nets[0];
    const float *at = policy->file[0];
    writer *w = NULL;
    if (pess__exported_count(policy) > 1)
        return pess__fail(
            error, PESS_ARGUMENT,
            "the rule of '%s' needs %lld networks, and arrays say nothing of rules; .c and .onnx have both",
            policy->name, (long long)pess__exported_count(policy));
    PESS_TRY(pess__allocate(&w, 1, sizeof *w, "the arrays of a network", error));
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        const int64_t kernel = net->spec.layers[i].kernel;
        const bool dense = net->spec.layers[i].kind == PESS__LAYER_DENSE;
        const int64_t shape[] = {l->outputs, dense ? l->inputs * l->taps : l->inputs, kernel, kernel};
        char name[32];
        (void)snprintf(name, sizeof name, "layer%d.weight", i + 1);
        add(w, name, at, dense ? 2 : 4, shape);
        at += l->outputs * l->inputs * l->taps;
        (void)snprintf(name, sizeof name, "layer%d.bias", i + 1);
        add(w, name, at, 1, shape);
        at += l->outputs;
    }
    if (net->shift != NULL) add(w, "shift", net->shift, 1, &net->inputs);
    if (net->scale != NULL) add(w, "scale", net->scale, 1, &net->inputs);
    if (policy->space != NULL && policy->space->values != NULL)
        add(w, "action_values", policy->space->values, 2, (const int64_t[]){net->outputs, policy->space->width});
    const pess_status status = pess__npz_write_arrays(path, w->columns, w->count, ".pessnet", error);
    free(w);
    return status;
}
