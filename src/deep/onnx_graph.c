#include "deep/onnx_graph.h"

#include "pess.h"

#include <stdio.h>
#include <string.h>

/* Fields of the messages, as onnx.proto numbers them. */
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OPERATION = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_FLOAT = 2, ATTRIBUTE_INT = 3, ATTRIBUTE_INTS = 8, ATTRIBUTE_TYPE = 20 };
enum { TYPE_FLOAT = 1, TYPE_INT = 2, TYPE_INTS = 7 };
enum { TENSOR_DIMENSION = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_BYTES = 9 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_CONSTANT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, TYPE_TENSOR = 1, TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2, SHAPE_DIMENSION = 1 };
enum { DIMENSION_VALUE = 1, DIMENSION_NAME = 2 };
enum { MODEL_IR = 1, MODEL_PRODUCER = 2, MODEL_PRODUCER_VERSION = 3, MODEL_TEXT = 6, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { OPSET_VERSION = 2, IR = 7, OPSET = 13 };

pess__onnx_value pess__onnx_named(const char *name) {
    pess__onnx_value value;
    (void)snprintf(value.name, sizeof value.name, "%s", name);
    return value;
}

static pess__onnx_value new_value(pess__onnx_graph *g, const char *prefix) {
    pess__onnx_value value;
    (void)snprintf(value.name, sizeof value.name, "%s%lld", prefix, (long long)++g->values);
    return value;
}

static pess__onnx_value constant(pess__onnx_graph *g, int type, int dimensions, const int64_t *shape, const void *bytes,
                                 size_t element) {
    pess__proto tensor = {0};
    size_t length = element;
    const pess__onnx_value value = new_value(g, "c");
    for (int i = 0; i < dimensions; i++) {
        pess__proto_count(&tensor, TENSOR_DIMENSION, (uint64_t)shape[i]);
        length *= (size_t)shape[i];
    }
    pess__proto_count(&tensor, TENSOR_TYPE, (uint64_t)type);
    pess__proto_text(&tensor, TENSOR_NAME, value.name);
    pess__proto_bytes(&tensor, TENSOR_BYTES, bytes, length);
    pess__proto_message(&g->message, GRAPH_CONSTANT, &tensor);
    return value;
}

pess__onnx_value pess__onnx_floats(pess__onnx_graph *g, const float *values, int dimensions, const int64_t *shape) {
    return constant(g, PESS__ONNX_FLOAT, dimensions, shape, values, sizeof *values);
}

pess__onnx_value pess__onnx_ints(pess__onnx_graph *g, const int64_t *values, int64_t count) {
    return constant(g, PESS__ONNX_INT64, 1, &count, values, sizeof *values);
}

pess__onnx_value pess__onnx_number(pess__onnx_graph *g, double value) {
    return pess__onnx_floats(g, &(float){(float)value}, 1, &(int64_t){1});
}

/* ---- nodes */

static void put_attribute(pess__proto *attributes, const char *name, int type, pess__proto *attribute) {
    pess__proto_text(attribute, ATTRIBUTE_NAME, name);
    pess__proto_count(attribute, ATTRIBUTE_TYPE, (uint64_t)type);
    pess__proto_message(attributes, NODE_ATTRIBUTE, attribute);
}

void pess__onnx_int(pess__proto *attributes, const char *name, int64_t value) {
    pess__proto attribute = {0};
    pess__proto_count(&attribute, ATTRIBUTE_INT, (uint64_t)value);
    put_attribute(attributes, name, TYPE_INT, &attribute);
}

void pess__onnx_float(pess__proto *attributes, const char *name, float value) {
    pess__proto attribute = {0};
    pess__proto_float(&attribute, ATTRIBUTE_FLOAT, value);
    put_attribute(attributes, name, TYPE_FLOAT, &attribute);
}

void pess__onnx_int_list(pess__proto *attributes, const char *name, int64_t count, const int64_t *values) {
    pess__proto attribute = {0};
    for (int64_t i = 0; i < count; i++) pess__proto_count(&attribute, ATTRIBUTE_INTS, (uint64_t)values[i]);
    put_attribute(attributes, name, TYPE_INTS, &attribute);
}

pess__onnx_value pess__onnx_node(pess__onnx_graph *g, const char *operation, const pess__onnx_value inputs[3],
                                 pess__proto *attributes, const char *result) {
    const pess__onnx_value out = result != NULL ? pess__onnx_named(result) : new_value(g, "v");
    pess__proto node = {0};
    for (int i = 0; i < 3 && inputs[i].name[0] != '\0'; i++) pess__proto_text(&node, NODE_INPUT, inputs[i].name);
    pess__proto_text(&node, NODE_OUTPUT, out.name);
    pess__proto_text(&node, NODE_NAME, out.name);
    pess__proto_text(&node, NODE_OPERATION, operation);
    if (attributes != NULL) pess__proto_join(&node, attributes);
    pess__proto_message(&g->message, GRAPH_NODE, &node);
    return out;
}

/* ---- the whole */

static void put_value(pess__onnx_graph *g, uint32_t field, const char *name, int type, int64_t width) {
    pess__proto value = {0}, kind = {0}, tensor = {0}, shape = {0}, batch = {0}, second = {0};
    pess__proto_text(&batch, DIMENSION_NAME, "batch");
    pess__proto_message(&shape, SHAPE_DIMENSION, &batch);
    if (width > 0) {
        pess__proto_count(&second, DIMENSION_VALUE, (uint64_t)width);
        pess__proto_message(&shape, SHAPE_DIMENSION, &second);
    }
    pess__proto_count(&tensor, TENSOR_ELEMENT, (uint64_t)type);
    pess__proto_message(&tensor, TENSOR_SHAPE, &shape);
    pess__proto_message(&kind, TYPE_TENSOR, &tensor);
    pess__proto_text(&value, VALUE_NAME, name);
    pess__proto_message(&value, VALUE_TYPE, &kind);
    pess__proto_message(&g->message, field, &value);
}

void pess__onnx_input(pess__onnx_graph *g, const char *name, int64_t width) {
    put_value(g, GRAPH_INPUT, name, PESS__ONNX_FLOAT, width);
}

void pess__onnx_output(pess__onnx_graph *g, const char *name, int type, int64_t width) {
    put_value(g, GRAPH_OUTPUT, name, type, width);
}

pess__proto pess__onnx_model(pess__onnx_graph *g, const char *name, const char *notes) {
    pess__proto model = {0}, opset = {0};
    pess__proto_text(&g->message, GRAPH_NAME, name);
    pess__proto_count(&opset, OPSET_VERSION, OPSET);
    pess__proto_count(&model, MODEL_IR, IR);
    pess__proto_text(&model, MODEL_PRODUCER, "Pessimist");
    pess__proto_text(&model, MODEL_PRODUCER_VERSION, PESS_VERSION);
    pess__proto_text(&model, MODEL_TEXT, notes);
    pess__proto_message(&model, MODEL_GRAPH, &g->message);
    pess__proto_message(&model, MODEL_OPSET, &opset);
    return model;
}
