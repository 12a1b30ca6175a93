/* A graph of ONNX, node by node: the few messages of onnx.proto that a network needs, through core/protobuf.h. */
#ifndef PESS_DEEP_ONNX_GRAPH_H
#define PESS_DEEP_ONNX_GRAPH_H

#include "core/protobuf.h"

/* A result of a node, an input or a constant, by its name. */
typedef struct pess__onnx_value {
    char name[32];
} pess__onnx_value;

typedef struct pess__onnx_graph {
    pess__proto message; /* GraphProto */
    int64_t values;      /* named so far */
} pess__onnx_graph;

enum { PESS__ONNX_FLOAT = 1, PESS__ONNX_INT64 = 7, PESS__ONNX_BOOL = 9 };

pess__onnx_value pess__onnx_named(const char *name);
/* Constants. */
pess__onnx_value pess__onnx_floats(pess__onnx_graph *g, const float *values, int dimensions, const int64_t *shape);
pess__onnx_value pess__onnx_ints(pess__onnx_graph *g, const int64_t *values, int64_t count);
pess__onnx_value pess__onnx_number(pess__onnx_graph *g, double value);
/* Attributes of the node to come. */
void pess__onnx_int(pess__proto *attributes, const char *name, int64_t value);
void pess__onnx_float(pess__proto *attributes, const char *name, float value);
void pess__onnx_int_list(pess__proto *attributes, const char *name, int64_t count, const int64_t *values);
/* A node: operation, up to three inputs (an empty name ends them), attributes (NULL: none; emptied), and the name of
 * its result (NULL: a new one). */
pess__onnx_value pess__onnx_node(pess__onnx_graph *g, const char *operation, const pess__onnx_value inputs[3],
                                 pess__proto *attributes, const char *result);
#define PESS__ONNX_INPUTS(...) ((const pess__onnx_value[3]){__VA_ARGS__})
/* What goes in and comes out: [batch] or [batch, width] of such numbers. */
void pess__onnx_input(pess__onnx_graph *g, const char *name, int64_t width);
void pess__onnx_output(pess__onnx_graph *g, const char *name, int type, int64_t width);
/* The model of the graph, which is emptied. */
pess__proto pess__onnx_model(pess__onnx_graph *g, const char *name, const char *notes);

#endif
