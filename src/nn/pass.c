/* Forward and backward through the layers. */
#include "nn/network.h"

#include "core/memory.h"
#include "core/threads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, APPLY_CHUNK = 96, COLUMNS_IN_CACHE = 1 << 16 /* numbers */, AHEAD = 8 /* observations */ };

static int64_t lines(int64_t reals) { return (reals + LINE - 1) / LINE * LINE; }

/* Hands out the parts of one block; with base NULL it only adds up. */
typedef struct carver {
    pess__real *base;
    int64_t used;
} carver;

static pess__real *carve(carver *c, int64_t reals) {
    pess__real *part = c->base != NULL ? c->base + c->used : NULL;
    c->used += lines(reals);
    return part;
}

/* Samples whose windows are gathered together: few enough for the columns to stay in the cache until they are used. */
static int64_t block_of(const pess__layer *l, int64_t capacity) {
    const int64_t columns = l->positions * l->k;
    const int64_t block = COLUMNS_IN_CACHE / columns;
    return block < 1 ? 1 : block < capacity ? block : capacity;
}

/* Whether the windows of layer i overlap or lie apart, so that they are gathered. */
static bool gathers(const pess__net *net, int i) {
    if (i > 0) return net->layers[i].gather != NULL;
    return net->spec.input != PESS_OBSERVATION_BITS && net->runs.length < net->inputs;
}

/* Whether the delta of layer i takes the place of its activations: the layer above has read them when it writes the
 * delta, number by number, and half of the cache is saved. */
static bool replaces(const pess__net *net, int i) { return i + 1 < net->spec.layer_count && !gathers(net, i + 1); }

/* Numbers from one observation of pass->input to the next. */
static int64_t input_width(const pess__net *net) { return gathers(net, 0) ? net->inputs : net->layers[0].k; }

static void carve_pass(const pess__net *net, bool training, pess__pass *pass, carver *c) {
    int64_t columns = 0;
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        const int64_t values = pass->capacity * l->positions * l->n;
        pass->activation[i] = carve(c, values);
        if (training) pass->delta[i] = replaces(net, i) ? pass->activation[i] : carve(c, values);
        if (training && i > 0) pass->transposed[i] = carve(c, l->k * l->n);
        const int64_t block = gathers(net, i) ? block_of(l, pass->capacity) * l->positions * l->k : 0;
        if (block > columns) columns = block;
    }
    if (columns > 0) pass->columns = carve(c, columns);
    if (columns > 0 && training) pass->column_delta = carve(c, columns);
    if (net->spec.input != PESS_OBSERVATION_BITS) {
        pass->input = carve(c, pass->capacity * input_width(net));
        return;
    }
    const int64_t bits =
        (pass->capacity * net->bits.stride + (int64_t)sizeof(pess__real) - 1) / (int64_t)sizeof(pess__real);
    pass->bits = (uint8_t *)carve(c, bits);
}

pess_status pess__pass_create(const pess__net *net, int64_t capacity, bool training, pess__pass **out,
                              pess_error *error) {
    pess__pass *pass;
    PESS_TRY(pess__allocate(&pass, 1, sizeof *pass, "a pass through a network", error));
    pass->capacity = capacity;
    carver c = {NULL, 0};
    carve_pass(net, training, pass, &c);
    const pess_status status =
        pess__allocate(&pass->memory, c.used + LINE, sizeof(pess__real), "the activations of a network", error);
    if (status != PESS_OK) {
        free(pass);
        return status;
    }
    const uintptr_t address = (uintptr_t)pass->memory, start = (address + LINE - 1) / LINE * LINE;
    c = (carver){(pess__real *)(void *)((char *)pass->memory + (start - address)), 0};
    carve_pass(net, training, pass, &c);
    *out = pass;
    return PESS_OK;
}

void pess__pass_destroy(pess__pass *pass) {
    if (pass == NULL) return;
    free(pass->memory);
    free(pass);
}

/* Windows that overlap, side by side: columns[sample][slot][tap][in_n]. */
static void gather(const pess__layer *l, const pess__real *input, int64_t samples, pess__real *columns) {
    const int64_t windows = l->positions * l->taps;
    for (int64_t sample = 0; sample < samples; sample++, input += l->in_positions * l->in_n)
        for (int64_t i = 0; i < windows; i++, columns += l->in_n)
            memcpy(columns, input + l->gather[i] * l->in_n, (size_t)l->in_n * sizeof *columns);
}

/* The way back: every input position sums over the windows it was in; then the derivative of its activation. */
static void scatter(const pess__layer *l, const pess__real *columns, int64_t samples, const pess__real *activation,
                    pess__real slope, pess__real *delta) {
    const int64_t windows = l->positions * l->taps, size = l->in_positions * l->in_n;
    memset(delta, 0, (size_t)(samples * size) * sizeof *delta);
    for (int64_t sample = 0; sample < samples; sample++) {
        pess__real *own = delta + sample * size;
        for (int64_t i = 0; i < windows; i++, columns += l->in_n) {
            pess__real *to = own + l->gather[i] * l->in_n;
            for (int64_t j = 0; j < l->in_n; j++) to[j] += columns[j];
        }
    }
    for (int64_t i = 0; i < samples * size; i++)
        if (!(activation[i] > 0)) delta[i] *= slope;
}

/* ---- the first layer on bytes and floats */

/* An observation as the network computes with it: v/255 of bytes, (v − shift)·scale of floats. */
static void standardise(const pess__net *net, const uint8_t *observation, pess__real *restrict out) {
    if (net->spec.input == PESS_OBSERVATION_BYTES) {
        for (int64_t i = 0; i < net->inputs; i++) out[i] = (pess__real)observation[i] * (pess__real)(1 / 255.0);
        return;
    }
    const float *v = (const float *)(const void *)observation, *shift = net->shift, *scale = net->scale;
    for (int64_t i = 0; i < net->inputs; i++) out[i] = ((pess__real)v[i] - shift[i]) * scale[i];
}

/* The windows of observations side by side, [sample][position][k]; what is beyond a window is 0. */
static void gather_runs(const pess__net *net, const pess__real *plain, int64_t samples, pess__real *columns) {
    const pess__layer *l = &net->layers[0];
    const pess__runs_plan *plan = &net->runs;
    const int64_t used = plan->runs * plan->length;
    for (int64_t sample = 0; sample < samples; sample++, plain += net->inputs) {
        const int32_t *from = plan->from;
        for (int64_t s = 0; s < l->positions; s++, columns += l->k) {
            for (int64_t r = 0; r < plan->runs; r++)
                memcpy(columns + r * plan->length, plain + *from++, (size_t)plan->length * sizeof *columns);
            memset(columns + used, 0, (size_t)(l->k - used) * sizeof *columns);
        }
    }
}

/* Observation i of the rows. Drawn rows lie anywhere in the data, so the one that is wanted a little later is asked for
 * already. */
static const uint8_t *observation(const pess__bits_rows *rows, int64_t i, int64_t end) {
    if (rows->index == NULL) return rows->bits + i * rows->stride;
    if (i + AHEAD < end) {
        const uint8_t *later = rows->bits + rows->index[i + AHEAD] * rows->stride;
        __builtin_prefetch(later);
        __builtin_prefetch(later + rows->stride - 1);
    }
    return rows->bits + rows->index[i] * rows->stride;
}

static void first_inputs(const pess__net *net, pess__pass *pass, const pess__bits_rows *rows, int64_t first,
                         int64_t samples) {
    const int64_t width = input_width(net), end = first + samples;
    for (int64_t i = 0; i < samples; i++) standardise(net, observation(rows, first + i, end), pass->input + i * width);
}

static void first_bits(const pess__net *net, pess__pass *pass, const pess__bits_rows *rows, int64_t first,
                       int64_t samples) {
    const pess__layer *l = &net->layers[0];
    for (int64_t i = 0; i < samples; i++)
        memcpy(pass->bits + i * net->bits.stride, observation(rows, first + i, first + samples), (size_t)net->bytes);
    net->kernels->bits_forward(&net->bits, pass->bits, samples, net->parameters + l->weights, net->parameters + l->bias,
                               l->n, l->slope, pass->activation[0]);
}

/* ---- layers whose input is rows of numbers */

/* The rows that layer i multiplies, of samples [first, first+samples) of the pass: as they lie, or gathered. */
static const pess__real *rows_of(const pess__net *net, const pess__pass *pass, int i, int64_t first, int64_t samples) {
    const pess__layer *l = &net->layers[i];
    const int64_t width = i == 0 ? input_width(net) : l->in_positions * l->in_n;
    const pess__real *input = (i == 0 ? pass->input : pass->activation[i - 1]) + first * width;
    if (!gathers(net, i)) return input;
    if (i == 0)
        gather_runs(net, input, samples, pass->columns);
    else
        gather(l, input, samples, pass->columns);
    return pass->columns;
}

static int64_t block_at(const pess__net *net, const pess__pass *pass, int i) {
    return gathers(net, i) ? block_of(&net->layers[i], pass->capacity) : pass->capacity;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void layer_forward(const pess__net *net, pess__pass *pass, int i) {
    const pess__layer *l = &net->layers[i];
    const int64_t block = block_at(net, pass, i);
    for (int64_t first = 0; first < pass->samples; first += block) {
        const int64_t samples = least(block, pass->samples - first);
        net->kernels->forward(rows_of(net, pass, i, first, samples), samples * l->positions, l->k, l->used,
                              net->parameters + l->weights, net->parameters + l->bias, l->n, l->slope,
                              pass->activation[i] + first * l->positions * l->n);
    }
}

/* From delta[i] to the gradient of the layer and, but for the first, to delta[i-1]. */
static void layer_backward(const pess__net *net, pess__pass *pass, int i, bool add, pess__real *gradient) {
    const pess__kernels *kernels = net->kernels;
    const pess__layer *l = &net->layers[i];
    const int64_t block = block_at(net, pass, i), below = l->in_positions * l->in_n;
    for (int64_t first = 0; first < pass->samples; first += block) {
        const int64_t samples = least(block, pass->samples - first), m = samples * l->positions;
        const pess__real *delta = pass->delta[i] + first * l->positions * l->n;
        kernels->weight_gradient(rows_of(net, pass, i, first, samples), delta, m, l->k, l->used, l->n, add || first > 0,
                                 gradient + l->weights, gradient + l->bias);
        if (i == 0) continue;
        const pess__real *input = pass->activation[i - 1] + first * below, slope = net->layers[i - 1].slope;
        pess__real *out = pass->delta[i - 1] + first * below;
        if (l->gather == NULL) {
            kernels->input_gradient(delta, m, l->n, l->outputs, pass->transposed[i], l->k, input, slope, out);
        } else {
            kernels->input_gradient(delta, m, l->n, l->outputs, pass->transposed[i], l->k, NULL, 1, pass->column_delta);
            scatter(l, pass->column_delta, samples, input, slope, out);
        }
    }
}

/* ---- the pass */

void pess__pass_forward(const pess__net *net, pess__pass *pass, const pess__bits_rows *rows, int64_t first,
                        int64_t samples) {
    const bool bits = net->spec.input == PESS_OBSERVATION_BITS;
    assert(samples <= pass->capacity);
    pass->samples = samples;
    if (bits)
        first_bits(net, pass, rows, first, samples);
    else
        first_inputs(net, pass, rows, first, samples);
    for (int i = bits ? 1 : 0; i < net->spec.layer_count; i++) layer_forward(net, pass, i);
}

void pess__pass_transpose(const pess__net *net, pess__pass *pass) {
    for (int i = 1; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        net->kernels->transpose(net->parameters + l->weights, l->k, l->n, pass->transposed[i]);
    }
}

void pess__pass_backward(const pess__net *net, pess__pass *pass, bool add, pess__real *gradient) {
    const bool bits = net->spec.input == PESS_OBSERVATION_BITS;
    for (int i = net->spec.layer_count - 1; i >= (bits ? 1 : 0); i--) layer_backward(net, pass, i, add, gradient);
    if (!bits) return;
    const pess__layer *l = &net->layers[0];
    if (!add) memset(gradient + l->weights, 0, (size_t)(l->bias + l->n - l->weights) * sizeof *gradient);
    net->kernels->bits_gradient(&net->bits, pass->bits, pass->samples, pass->delta[0], l->n, gradient + l->weights);
    net->kernels->bias_gradient(pass->delta[0], pass->samples * l->positions, l->n, gradient + l->bias);
}

static void apply_chunks(const pess__net *net, pess__pass *pass, const pess__bits_rows *rows, int64_t begin,
                         int64_t end, pess__real *out) {
    for (int64_t first = begin; first < end; first += APPLY_CHUNK) {
        const int64_t samples = end - first < APPLY_CHUNK ? end - first : APPLY_CHUNK;
        pess__pass_forward(net, pass, rows, first, samples);
        const pess__real *from = pass->activation[net->spec.layer_count - 1];
        for (int64_t i = 0; i < samples; i++)
            memcpy(out + (first + i) * net->outputs, from + i * net->padded_outputs,
                   (size_t)net->outputs * sizeof *out);
    }
}

pess_status pess__net_apply(const pess__net *net, const pess__bits_rows *rows, int64_t count, int threads,
                            pess__real *out, pess_error *error) {
    const int64_t chunks = (count + APPLY_CHUNK - 1) / APPLY_CHUNK;
    int workers = pess__threads(threads);
    if (workers > chunks) workers = chunks > 0 ? (int)chunks : 1;
    pess__pass **passes;
    PESS_TRY(pess__allocate(&passes, workers, sizeof(void *), "the passes through a network", error));
    pess_status status = PESS_OK;
    for (int w = 0; w < workers && status == PESS_OK; w++)
        status = pess__pass_create(net, APPLY_CHUNK, false, &passes[w], error);
    if (status == PESS_OK) {
#pragma omp parallel for num_threads(workers) schedule(static)
        for (int w = 0; w < workers; w++) {
            const int64_t begin = chunks * w / workers * APPLY_CHUNK, end = chunks * (w + 1) / workers * APPLY_CHUNK;
            apply_chunks(net, passes[w], rows, begin, end < count ? end : count, out);
        }
    }
    for (int w = 0; w < workers; w++) pess__pass_destroy(passes[w]);
    free(passes);
    return status;
}
