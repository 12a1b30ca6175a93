/* The plain network: direct convolutions over [channel][row][col] boards in double, parameters in the order of the
 * file. What the engine's layouts and kernels are checked against; shares nothing with them but the description. */
#ifndef PESS_TESTS_NN_REFERENCE_H
#define PESS_TESTS_NN_REFERENCE_H

#include "core/rng.h"
#include "nn/spec.h"

#include <stdlib.h>
#include <string.h>

static inline double *reference_layer(const pess__layer_spec *l, const double *in, int64_t channels, int64_t rows,
                                      int64_t cols, const double **parameters) {
    const bool dense = l->kind == PESS__LAYER_DENSE;
    const int64_t kr = dense ? rows : l->kernel, kc = dense ? cols : l->kernel, stride = dense ? 1 : l->stride;
    const int64_t out_rows = (rows - kr) / stride + 1, out_cols = (cols - kc) / stride + 1;
    const double *w = *parameters, *bias = w + l->outputs * channels * kr * kc;
    double *out = malloc((size_t)(l->outputs * out_rows * out_cols) * sizeof *out);
    for (int64_t o = 0; o < l->outputs; o++)
        for (int64_t y = 0; y < out_rows; y++)
            for (int64_t x = 0; x < out_cols; x++) {
                double sum = bias[o];
                for (int64_t c = 0; c < channels; c++)
                    for (int64_t i = 0; i < kr; i++)
                        for (int64_t j = 0; j < kc; j++)
                            sum += w[((o * channels + c) * kr + i) * kc + j] *
                                   in[(c * rows + y * stride + i) * cols + x * stride + j];
                out[(o * out_rows + y) * out_cols + x] = sum > 0 ? sum : (double)l->slope * sum;
            }
    *parameters = bias + l->outputs;
    return out;
}

/* Input i of an observation, as the network is to see it: 0 or 1, v/255, or (v − shift)·scale. */
static inline double reference_input(const pess__net_spec *spec, const void *observation, const float *shift,
                                     const float *scale, int64_t i) {
    const uint8_t *bytes = observation;
    if (spec->input == PESS_OBSERVATION_BITS) return bytes[i / 8] >> (i % 8) & 1;
    if (spec->input == PESS_OBSERVATION_BYTES) return bytes[i] / 255.0;
    const double v = (double)((const float *)observation)[i];
    return shift == NULL ? v : (v - (double)shift[i]) * (double)scale[i];
}

/* Outputs of one observation; shift and scale of floats, or NULL. */
static inline void reference_outputs(const pess__net_spec *spec, const double *parameters, const void *observation,
                                     const float *shift, const float *scale, double *out) {
    int64_t rows = spec->rows, cols = spec->cols, channels = spec->channels;
    double *board = malloc((size_t)(rows * cols * channels) * sizeof *board);
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < cols; x++)
            for (int64_t c = 0; c < channels; c++)
                board[(c * rows + y) * cols + x] =
                    reference_input(spec, observation, shift, scale, (y * cols + x) * channels + c);
    for (int i = 0; i < spec->layer_count; i++) {
        double *next = reference_layer(&spec->layers[i], board, channels, rows, cols, &parameters);
        free(board);
        board = next;
        pess__spec_board(&spec->layers[i], &rows, &cols);
        channels = spec->layers[i].outputs;
    }
    memcpy(out, board, (size_t)channels * sizeof *out);
    free(board);
}

static inline void reference_forward(const pess__net_spec *spec, const double *parameters, const uint8_t *bits,
                                     double *out) {
    reference_outputs(spec, parameters, bits, NULL, NULL, out);
}

/* A random description: convolutions that tile, overlap or leave edges, then dense layers; odd channel counts. */
static inline pess__net_spec random_spec(pess__rng *rng) {
    static const float slopes[] = {0, 0.01F, 0.3F, 1};
    pess__net_spec spec = {.rows = 3 + (int32_t)pess__rng_below(rng, 8),
                           .cols = 3 + (int32_t)pess__rng_below(rng, 8),
                           .channels = 1 + (int32_t)pess__rng_below(rng, 11)};
    int64_t rows = spec.rows, cols = spec.cols;
    const int convolutions = (int)pess__rng_below(rng, 4), dense = 1 + (int)pess__rng_below(rng, 2);
    for (int i = 0; i < convolutions + dense; i++) {
        pess__layer_spec l = {.kind = PESS__LAYER_DENSE, .outputs = 1 + (int32_t)pess__rng_below(rng, 40)};
        l.slope = slopes[pess__rng_below(rng, 4)];
        if (i < convolutions) {
            const int64_t most = rows < cols ? rows : cols;
            l.kind = PESS__LAYER_CONV;
            l.kernel = 1 + (int32_t)pess__rng_below(rng, (uint64_t)(most < 4 ? most : 4));
            l.stride = pess__rng_below(rng, 2) == 0 ? l.kernel : 1 + (int32_t)pess__rng_below(rng, 2);
        }
        if (i == convolutions + dense - 1) l.slope = 1;
        spec.layers[spec.layer_count++] = l;
        pess__spec_board(&l, &rows, &cols);
    }
    return spec;
}

static inline void random_bits(pess__rng *rng, const pess__net_spec *spec, int64_t count, uint8_t *bits) {
    const int64_t total = (int64_t)spec->rows * spec->cols * spec->channels, bytes = (total + 7) / 8;
    memset(bits, 0, (size_t)(count * bytes));
    for (int64_t i = 0; i < count; i++) {
        const uint64_t rarity = 1 + pess__rng_below(rng, 12);
        for (int64_t b = 0; b < total; b++)
            if (pess__rng_below(rng, rarity) == 0) bits[i * bytes + b / 8] |= (uint8_t)(1 << (b % 8));
    }
}

/* Observations of the spec's kind, side by side. */
static inline void random_observations(pess__rng *rng, const pess__net_spec *spec, int64_t count, void *out) {
    const int64_t total = count * spec->rows * spec->cols * spec->channels;
    if (spec->input == PESS_OBSERVATION_BITS) random_bits(rng, spec, count, out);
    if (spec->input == PESS_OBSERVATION_BYTES)
        for (int64_t i = 0; i < total; i++) ((uint8_t *)out)[i] = (uint8_t)pess__rng_below(rng, 256);
    if (spec->input == PESS_OBSERVATION_FLOATS)
        for (int64_t i = 0; i < total; i++) ((float *)out)[i] = (float)pess__rng_normal(rng);
}

#endif
