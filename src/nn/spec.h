/* What a network is, in words: the input board and a list of layers. */
#ifndef PESS_NN_SPEC_H
#define PESS_NN_SPEC_H

#include "core/status.h"

enum {
    PESS__MAX_LAYERS = 16,
    PESS__MAX_INPUTS = 1 << 18,
    PESS__MAX_OUTPUTS = 1 << 14, /* of a layer */
    PESS__MAX_PARAMETERS = 1 << 26
};

typedef enum pess__layer_kind { PESS__LAYER_CONV, PESS__LAYER_DENSE } pess__layer_kind;

typedef struct pess__layer_spec {
    pess__layer_kind kind;
    int32_t kernel, stride; /* of a convolution, square, no padding; 0 for a dense layer */
    int32_t outputs;        /* channels or units */
    float slope;            /* activation max(y, slope*y): 1 none, 0 ReLU, 0.01 leaky ReLU */
} pess__layer_spec;

typedef struct pess__net_spec {
    pess_observation_kind input;
    int32_t rows, cols, channels; /* input (y*cols + x)*channels + c, as observations have them */
    int32_t layer_count;
    pess__layer_spec layers[PESS__MAX_LAYERS];
} pess__net_spec;

/* The input of a network for such observations; one without a board is a single place with many channels. */
void pess__spec_input(const pess_observation_shape *shape, pess__net_spec *out);
/* The layers of a network, after its input is set. By a name of pess_network_list, or layer by layer up to the
 * outputs: "conv 32 8/4, conv 64 4/2, dense 512", each with ReLU, or "leaky" at its end. */
pess_status pess__spec_layers(const char *network, int32_t outputs, pess__net_spec *spec, pess_error *error);
/* The same for bits on a board. */
pess_status pess__spec_named(const char *network, int32_t rows, int32_t cols, int32_t channels, int32_t outputs,
                             pess__net_spec *out, pess_error *error);
/* The network for such observations where none is named. */
const char *pess__spec_standard(const pess_observation_shape *shape);
/* Everything within the limits and every kernel inside its board. `file` begins the messages. */
pess_status pess__spec_check(const pess__net_spec *spec, const char *file, pess_error *error);
/* Weights and biases, as they stand in a file. The spec must have passed the check. */
int64_t pess__spec_parameters(const pess__net_spec *spec);
/* Board after a layer. A dense layer is a convolution whose kernel is the whole board. */
void pess__spec_board(const pess__layer_spec *layer, int64_t *rows, int64_t *cols);
bool pess__spec_equal(const pess__net_spec *a, const pess__net_spec *b);

#endif
