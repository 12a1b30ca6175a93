/* A network in the form in which it is computed, and the memory that a pass through it needs.
 *
 * Every layer is a convolution: a dense one has a kernel as large as its board. The positions of a layer's output are
 * stored in the order in which the next layer's windows want them ("slots"): where those windows tile the board
 * (kernel = stride, or one window), the next convolution is a plain matrix product of contiguous rows. Only
 * overlapping windows are gathered.
 *
 * The first layer of bits sums rows of weights over the set ones. That of bytes and floats is a product like the
 * others: its windows are gathered in runs of neighbouring places, after bytes are divided by 255 and floats
 * standardised, x = (v − shift)·scale. */
#ifndef PESS_NN_NETWORK_H
#define PESS_NN_NETWORK_H

#include "core/rng.h"
#include "nn/kernels.h"
#include "nn/spec.h"

typedef struct pess__layer {
    int64_t rows, cols, positions; /* of the output board */
    int64_t taps, inputs, outputs; /* positions of a window; channels of input and output */
    int64_t k, n;                  /* padded: taps × input channels, output channels */
    int64_t used;                  /* of k; what is beyond is 0 */
    int64_t in_positions, in_n;    /* positions and padded channels of the input board */
    int64_t weights, bias;         /* offsets into the parameters */
    int32_t *order;                /* [positions] the position that slot s holds */
    int32_t *gather;               /* [positions*taps] slots of the input; NULL: windows are contiguous */
    pess__real slope;
} pess__layer;

/* The windows of the first layer on bytes or floats, slot by slot. */
typedef struct pess__runs_plan {
    int64_t runs, length; /* of a window; numbers of a run */
    int32_t *from;        /* [positions*runs] places in the observation */
} pess__runs_plan;

typedef struct pess__net {
    pess__net_spec spec;
    const pess__kernels *kernels;
    int64_t inputs, bytes; /* numbers and bytes of an observation */
    int64_t outputs, padded_outputs;
    int64_t size;           /* parameters with padding */
    pess__real *parameters; /* [size], on a cache line */
    pess__bits_plan bits;   /* of the first layer */
    pess__runs_plan runs;   /* of the first layer, where it is not of bits */
    float *shift, *scale;   /* [inputs] of floats */
    pess__layer layers[PESS__MAX_LAYERS];
    void *memory, *tables, *links, *standard; /* what the above point into */
} pess__net;

/* kernels: a path by name, NULL for the best. Parameters are zero. */
pess_status pess__net_create(const pess__net_spec *spec, const char *kernels, pess__net **out, pess_error *error);
void pess__net_destroy(pess__net *net);
/* How floats are standardised, [inputs] each; without it they are as they are. */
void pess__net_standardise(pess__net *net, const float *shift, const float *scale);
/* PyTorch's default: weights and biases uniform in ±1/√(inputs of a unit). Draws in the order of the file. */
void pess__net_initialise(pess__net *net, pess__rng *rng);
/* Parameters in PyTorch's order, layer by layer: weights [out][in][row][col], then biases; pess__spec_parameters many.
 * A dense layer after a convolution sees the board as [channel][row][col]. */
void pess__net_import(pess__net *net, const pess__real *values);
void pess__net_export(const pess__net *net, pess__real *values);
/* Any padded vector of the net's size (gradients, moments) in the order of the file, and back. */
void pess__net_unpad(const pess__net *net, const pess__real *padded, pess__real *values);
void pess__net_pad(const pess__net *net, const pess__real *values, pess__real *padded);

/* Observations: row index[i] (i where index is NULL) of an array of them as data hold them, `stride` bytes apart. */
typedef struct pess__bits_rows {
    const uint8_t *bits; /* or bytes, or floats */
    int64_t stride;
    const int64_t *index;
} pess__bits_rows;

/* Memory for passes of up to `capacity` samples at once; `training` adds what the way back needs. */
typedef struct pess__pass {
    int64_t capacity, samples;
    uint8_t *bits; /* [capacity][bits.stride] */
    pess__real
        *input; /* [capacity] observations of bytes or floats, standardised; padded where a window is all of one */
    pess__real *activation[PESS__MAX_LAYERS]; /* [capacity*positions][n] */
    pess__real *delta[PESS__MAX_LAYERS];      /* the same, and often in their place; training only */
    pess__real *transposed[PESS__MAX_LAYERS]; /* weights, for the way back; NULL for the first */
    pess__real *columns, *column_delta;       /* gathered windows of a few samples */
    void *memory;
} pess__pass;

pess_status pess__pass_create(const pess__net *net, int64_t capacity, bool training, pess__pass **out,
                              pess_error *error);
void pess__pass_destroy(pess__pass *pass);
/* Samples [first, first+samples) of the rows; samples <= capacity. Outputs are then in activation[last], rows of
 * padded_outputs. */
void pess__pass_forward(const pess__net *net, pess__pass *pass, const pess__bits_rows *rows, int64_t first,
                        int64_t samples);
/* Weights have changed: renew their transposed copies. */
void pess__pass_transpose(const pess__net *net, pess__pass *pass);
/* From delta[last] = ∂loss/∂outputs to gradient [size], which with `add` is added to. Activations are used up. */
void pess__pass_backward(const pess__net *net, pess__pass *pass, bool add, pess__real *gradient);

/* Outputs [count*outputs] of any number of observations, on `threads` threads; the result does not depend on them. */
pess_status pess__net_apply(const pess__net *net, const pess__bits_rows *rows, int64_t count, int threads,
                            pess__real *out, pess_error *error);

#endif
