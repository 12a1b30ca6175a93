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
        if (i == 0 && net->spec.input != PESS_OBSERVATION_BITS) l->k = padded(l->k);
        l->used = l->in_n == l->inputs || l->taps == 1 ? l->taps * l->inputs : l->k;
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
    net->inputs = (int64_t)net->spec.rows * net->spec.cols * net->spec.channels;
    net->bytes = pess_observation_bytes(&(pess_observation_shape){.kind = net->spec.input, .length = net->inputs});
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

/* Calls for every window of the first layer and every bit in it: in slot order, so that the links of a bit ascend. With
 * links NULL it counts into first[bit + 1]; otherwise it fills, moving next[bit] on. */
static void visit_links(const pess__net *net, int32_t *first, int32_t *next, pess__link *links) {
    const pess__layer *l = &net->layers[0];
    const window w = layer_window(&net->spec, 0);
    for (int64_t s = 0; s < l->positions; s++)
        for (int64_t t = 0; t < l->taps; t++)
            for (int64_t c = 0; c < l->inputs; c++) {
                const int64_t bit = input_position(&w, l, l->order[s], t) * l->inputs + c;
                if (links == NULL)
                    first[bit + 1]++;
                else
                    links[next[bit]++] = (pess__link){(uint32_t)(s * l->n), (uint32_t)((t * l->inputs + c) * l->n)};
            }
}

static pess_status create_bits_plan(pess__net *net, pess_error *error) {
    const pess__layer *l = &net->layers[0];
    const int64_t words = (net->bytes + 7) / 8, bits = 64 * words, links = l->positions * l->k;
    if (links > INT32_MAX || l->positions * l->n > INT32_MAX)
        return pess__fail(error, PESS_LIMIT, "the first layer has %lld places for input bits", (long long)links);
    /* Links first, then the two tables of positions in them. */
    PESS_TRY(pess__allocate(&net->links, links + bits + 1, sizeof(pess__link), "the windows of a network", error));
    pess__link *link = net->links;
    int32_t *first = (int32_t *)(void *)(link + links), *next = first + bits + 1;
    visit_links(net, first, NULL, NULL);
    for (int64_t b = 0; b < bits; b++) {
        first[b + 1] += first[b];
        next[b] = first[b];
    }
    visit_links(net, first, next, link);
    net->bits = (pess__bits_plan){l->positions, words, (words * 8 + LINE - 1) / LINE * LINE, first, link};
    return PESS_OK;
}

/* A row of a window is one run of neighbouring places; a window of whole rows is a single one. */
static pess_status create_runs_plan(pess__net *net, pess_error *error) {
    const pess__layer *l = &net->layers[0];
    const window w = layer_window(&net->spec, 0);
    const bool whole = w.cols == w.in_cols;
    pess__runs_plan *plan = &net->runs;
    plan->runs = whole ? 1 : w.rows;
    plan->length = (whole ? w.rows : 1) * w.cols * l->inputs;
    PESS_TRY(pess__allocate(&net->links, l->positions * plan->runs, sizeof *plan->from, "a network's windows", error));
    plan->from = net->links;
    for (int64_t s = 0; s < l->positions; s++)
        for (int64_t r = 0; r < plan->runs; r++)
            plan->from[s * plan->runs + r] =
                (int32_t)(input_position(&w, l, l->order[s], r * w.cols) * (int32_t)l->inputs);
    if (net->spec.input != PESS_OBSERVATION_FLOATS) return PESS_OK;
    PESS_TRY(pess__allocate(&net->standard, 2 * net->inputs, sizeof *net->shift, "a network's input", error));
    net->shift = net->standard;
    net->scale = net->shift + net->inputs;
    for (int64_t i = 0; i < net->inputs; i++) net->scale[i] = 1;
    return PESS_OK;
}

void pess__net_standardise(pess__net *net, const float *shift, const float *scale) {
    memcpy(net->shift, shift, (size_t)net->inputs * sizeof *shift);
    memcpy(net->scale, scale, (size_t)net->inputs * sizeof *scale);
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
                          pess__kernels_wanted(kernels));
    pess__net *net;
    PESS_TRY(pess__allocate(&net, 1, sizeof *net, "a network", error));
    net->spec = *spec;
    net->kernels = path;
    set_sizes(net);
    pess_status status = allocate_reals(net->size, &net->memory, &net->parameters, "a network's parameters", error);
    if (status == PESS_OK) status = create_orders(net, error);
    if (status == PESS_OK)
        status = spec->input == PESS_OBSERVATION_BITS ? create_bits_plan(net, error) : create_runs_plan(net, error);
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
    free(net->links);
    free(net->standard);
    free(net);
}

/* Where weight (out, tap, in) of a layer lies in the padded vector. */
static int64_t weight_at(const pess__net *net, int layer, int64_t output, int64_t tap, int64_t input) {
    const pess__layer *l = &net->layers[layer];
    const int64_t k = tap * l->in_n + input;
    if (layer == 0 && net->spec.input == PESS_OBSERVATION_BITS) return l->weights + k * l->n + output;
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
