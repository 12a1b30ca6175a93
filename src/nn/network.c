#include "nn/network.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

static int64_t padded(int64_t n) { return (n + PESS__PANEL - 1) / PESS__PANEL * PESS__PANEL; }

/* Kernel and stride of a layer on its input board; a dense layer has one window, the whole board. */
typedef struct window {
    int64_t rows, cols, stride, in_rows, in_cols;
} window;

static window layer_window(const pess__net_spec *spec, int layer) {
    int64_t rows = spec->rows, cols = spec->cols;
    for (int i = 0; i < layer; i++) pess__spec_board(&spec->layers[i], &rows, &cols);
    const pess__layer_spec *l = &spec->layers[layer];
    window w = {l->kernel, l->kernel, l->stride, rows, cols};
    if (l->kind == PESS__LAYER_DENSE) w = (window){rows, cols, 1, rows, cols};
    return w;
}

/* Input position of tap t of the window at output position p. */
static int32_t input_position(const window *w, const pess__layer *l, int64_t p, int64_t t) {
    const int64_t y = p / l->cols * w->stride + t / w->cols, x = p % l->cols * w->stride + t % w->cols;
    return (int32_t)(y * w->in_cols + x);
}

static bool tiles(const window *w, const pess__layer *l) {
    return l->positions * l->taps == w->in_rows * w->in_cols &&
           (l->positions == 1 || (w->rows == w->stride && w->cols == w->stride));
}

static void set_sizes(pess__net *net) {
    int64_t rows = net->spec.rows, cols = net->spec.cols, offset = 0;
    for (int i = 0; i < net->spec.layer_count; i++) {
        const window w = layer_window(&net->spec, i);
        pess__layer *l = &net->layers[i];
        pess__spec_board(&net->spec.layers[i], &rows, &cols);
        l->rows = rows, l->cols = cols, l->positions = rows * cols;
        l->taps = w.rows * w.cols;
        l->inputs = i == 0 ? net->spec.channels : net->spec.layers[i - 1].outputs;
        l->outputs = net->spec.layers[i].outputs;
        l->in_positions = w.in_rows * w.in_cols;
        l->in_n = i == 0 ? l->inputs : padded(l->inputs);
        l->k = l->taps * l->in_n;
        l->n = padded(l->outputs);
        l->slope = (pess__real)net->spec.layers[i].slope;
        l->weights = offset;
        l->bias = offset + padded(l->k * l->n);
        offset = l->bias + l->n;
    }
    const pess__layer *last = &net->layers[net->spec.layer_count - 1];
    net->outputs = last->outputs;
    net->padded_outputs = last->n;
    net->size = offset;
    net->bytes = ((int64_t)net->spec.rows * net->spec.cols * net->spec.channels + 7) / 8;
}

/* Slots, from the last layer (one position) to the first: a layer that tiles its input decides the order there. */
static void set_orders(pess__net *net) {
    for (int i = net->spec.layer_count - 1; i >= 0; i--) {
        pess__layer *l = &net->layers[i];
        const pess__layer *next = i + 1 < net->spec.layer_count ? &net->layers[i + 1] : NULL;
        const window w = next != NULL ? layer_window(&net->spec, i + 1) : (window){0};
        if (next == NULL || next->gather != NULL)
            for (int64_t p = 0; p < l->positions; p++) l->order[p] = (int32_t)p;
        else
            for (int64_t s = 0; s < next->positions; s++)
                for (int64_t t = 0; t < next->taps; t++)
                    l->order[s * next->taps + t] = input_position(&w, next, next->order[s], t);
        if (l->gather == NULL) continue;
        const window own = layer_window(&net->spec, i);
        for (int64_t s = 0; s < l->positions; s++) /* the input of a gathering layer is in plain order */
            for (int64_t t = 0; t < l->taps; t++) l->gather[s * l->taps + t] = input_position(&own, l, l->order[s], t);
    }
}

static pess_status create_orders(pess__net *net, pess_error *error) {
    int64_t total = 0;
    for (int i = 0; i < net->spec.layer_count; i++)
        total += net->layers[i].positions * (1 + (i > 0 ? net->layers[i].taps : 0));
    PESS_TRY(pess__allocate(&net->tables, total, sizeof(int32_t), "the order of a network's positions", error));
    int32_t *next = net->tables;
    for (int i = 0; i < net->spec.layer_count; i++) {
        pess__layer *l = &net->layers[i];
        const window w = layer_window(&net->spec, i);
        l->order = next, next += l->positions;
        if (i == 0 || tiles(&w, l)) continue;
        l->gather = next, next += l->positions * l->taps;
    }
    set_orders(net);
    return PESS_OK;
}

/* A row of a window is one stretch of bits, cut into runs that a 64-bit load covers at any shift; runs are put
 * together in words of up to 64 bits. With runs NULL it only counts. */
static int64_t plan_window(const pess__net *net, const window *w, int64_t position, pess__run *runs) {
    enum { MOST = 56 };
    const pess__layer *l = &net->layers[0];
    const int64_t y = position / l->cols * w->stride, x = position % l->cols * w->stride, c = net->spec.channels;
    int64_t count = 0, fill = 0, row = 0, word_row = 0;
    for (int64_t dy = 0; dy < w->rows; dy++) {
        int64_t bit = ((y + dy) * w->in_cols + x) * c;
        for (int64_t left = w->cols * c; left > 0;) {
            const int64_t length = left < MOST ? left : MOST;
            if (fill + length > 64) {
                if (runs != NULL) runs[count - 1].last = 1;
                fill = 0, word_row = row;
            }
            if (runs != NULL)
                runs[count] = (pess__run){.byte = (uint32_t)(bit / 8),
                                          .row = (uint32_t)word_row,
                                          .shift = (uint8_t)(bit % 8),
                                          .length = (uint8_t)length,
                                          .fill = (uint8_t)fill};
            count++, fill += length, row += length, bit += length, left -= length;
        }
    }
    if (runs != NULL) runs[count - 1].last = 1;
    return count;
}

static pess_status create_bits_plan(pess__net *net, pess_error *error) {
    const pess__layer *l = &net->layers[0];
    const window w = layer_window(&net->spec, 0);
    const int64_t each = plan_window(net, &w, 0, NULL);
    /* The table of first runs goes in front of the runs. */
    const int64_t front =
        ((l->positions + 1) * (int64_t)sizeof(int32_t) + (int64_t)sizeof(pess__run) - 1) / (int64_t)sizeof(pess__run);
    PESS_TRY(
        pess__allocate(&net->runs, front + each * l->positions, sizeof(pess__run), "the windows of a network", error));
    int32_t *first = (int32_t *)(void *)net->runs;
    pess__run *runs = net->runs + front;
    for (int64_t s = 0; s < l->positions; s++) {
        first[s] = (int32_t)(s * each);
        (void)plan_window(net, &w, l->order[s], runs + s * each);
    }
    first[l->positions] = (int32_t)(l->positions * each);
    net->bits = (pess__bits_plan){l->positions, first, runs, (net->bytes + 8 + LINE - 1) / LINE * LINE};
    return PESS_OK;
}

/* `count` numbers on a cache line; *memory is what to free. */
static pess_status allocate_reals(int64_t count, void **memory, pess__real **out, const char *what, pess_error *error) {
    PESS_TRY(pess__allocate(memory, count + LINE, sizeof(pess__real), what, error));
    const uintptr_t address = (uintptr_t)*memory, start = (address + LINE - 1) / LINE * LINE;
    *out = (pess__real *)(void *)((char *)*memory + (start - address));
    return PESS_OK;
}

pess_status pess__net_create(const pess__net_spec *spec, const char *kernels, pess__net **out, pess_error *error) {
    PESS_TRY(pess__spec_check(spec, "the network", error));
    const pess__kernels *path = pess__kernels_find(kernels);
    if (path == NULL)
        return pess__fail(error, PESS_ARGUMENT, "no kernels '%s' on this machine; 'portable' works everywhere",
                          kernels);
    pess__net *net;
    PESS_TRY(pess__allocate(&net, 1, sizeof *net, "a network", error));
    net->spec = *spec;
    net->kernels = path;
    set_sizes(net);
    pess_status status = allocate_reals(net->size, &net->memory, &net->parameters, "a network's parameters", error);
    if (status == PESS_OK) status = create_orders(net, error);
    if (status == PESS_OK) status = create_bits_plan(net, error);
    if (status != PESS_OK)
        pess__net_destroy(net);
    else
        *out = net;
    return status;
}

void pess__net_destroy(pess__net *net) {
    if (net == NULL) return;
    free(net->memory);
    free(net->tables);
    free(net->runs);
    free(net);
}

/* Where weight (out, tap, in) of a layer lies in the padded vector. */
static int64_t weight_at(const pess__net *net, int layer, int64_t output, int64_t tap, int64_t input) {
    const pess__layer *l = &net->layers[layer];
    const int64_t k = tap * l->in_n + input;
    if (layer == 0) return l->weights + k * l->n + output;
    return l->weights + (output / PESS__PANEL * l->k + k) * PESS__PANEL + output % PESS__PANEL;
}

/* Calls place(user, padded index) for each parameter in the order of the file. */
typedef void visitor(void *user, const pess__layer *layer, int64_t at);

static void visit(const pess__net *net, visitor *place, void *user) {
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        for (int64_t output = 0; output < l->outputs; output++)
            for (int64_t input = 0; input < l->inputs; input++)
                for (int64_t tap = 0; tap < l->taps; tap++) place(user, l, weight_at(net, i, output, tap, input));
        for (int64_t output = 0; output < l->outputs; output++) place(user, l, l->bias + output);
    }
}

typedef struct copying {
    const pess__real *from;
    pess__real *to;
    int64_t next;
} copying;

static void copy_out(void *user, const pess__layer *layer, int64_t at) {
    (void)layer;
    copying *c = user;
    c->to[c->next++] = c->from[at];
}

static void copy_in(void *user, const pess__layer *layer, int64_t at) {
    (void)layer;
    copying *c = user;
    c->to[at] = c->from[c->next++];
}

void pess__net_unpad(const pess__net *net, const pess__real *from, pess__real *values) {
    visit(net, copy_out, &(copying){from, values, 0});
}

void pess__net_pad(const pess__net *net, const pess__real *values, pess__real *to) {
    visit(net, copy_in, &(copying){values, to, 0});
}

void pess__net_import(pess__net *net, const pess__real *values) { pess__net_pad(net, values, net->parameters); }
void pess__net_export(const pess__net *net, pess__real *values) { pess__net_unpad(net, net->parameters, values); }

typedef struct drawing {
    pess__net *net;
    pess__rng *rng;
} drawing;

static void draw(void *user, const pess__layer *layer, int64_t at) {
    const drawing *d = user;
    const double bound = 1 / sqrt((double)(layer->taps * layer->inputs));
    d->net->parameters[at] = (pess__real)((2 * pess__rng_uniform(d->rng) - 1) * bound);
}

void pess__net_initialise(pess__net *net, pess__rng *rng) { visit(net, draw, &(drawing){net, rng}); }
