/* A policy as an ONNX model (opset 13): observations [batch, numbers] as they are logged, in the order
 * [row][col][channel], go in as `observation`; standardisation and rule are inside. Out come `action` [batch], the most
 * probable one, and `probabilities` [batch, actions] where the rule draws, `values` where it takes the largest. */
#include "core/outfile.h"
#include "deep/export.h"
#include "deep/onnx_graph.h"

#include <math.h>

typedef pess__onnx_graph graph;
typedef pess__onnx_value value;

static value apply(graph *g, const char *operation, value a) {
    return pess__onnx_node(g, operation, PESS__ONNX_INPUTS(a), NULL, NULL);
}

static value apply_both(graph *g, const char *operation, value a, value b) {
    return pess__onnx_node(g, operation, PESS__ONNX_INPUTS(a, b), NULL, NULL);
}

static value with_number(graph *g, const char *operation, value a, double number) {
    return apply_both(g, operation, a, pess__onnx_number(g, number));
}

/* Over the actions of each observation, which keep their axis. */
static value reduce(graph *g, const char *operation, value a) {
    pess__proto attributes = {0};
    pess__onnx_int_list(&attributes, "axes", 1, &(int64_t){1});
    pess__onnx_int(&attributes, "keepdims", 1);
    return pess__onnx_node(g, operation, PESS__ONNX_INPUTS(a), &attributes, NULL);
}

static value choose(graph *g, value where, value yes, value no) {
    return pess__onnx_node(g, "Where", PESS__ONNX_INPUTS(where, yes, no), NULL, NULL);
}

/* ---- networks */

/* The observation as the first layer wants it: standardised, and [batch, channel, row, col] where there is a board. */
static value first_input(graph *g, const pess__net *net) {
    const pess__net_spec *s = &net->spec;
    value x = pess__onnx_named("observation");
    if (s->input == PESS_OBSERVATION_BYTES) x = with_number(g, "Mul", x, (double)(float)(1 / 255.0));
    if (net->shift != NULL) {
        const int64_t shape[] = {1, net->inputs};
        x = apply_both(g, "Sub", x, pess__onnx_floats(g, net->shift, 2, shape));
        x = apply_both(g, "Mul", x, pess__onnx_floats(g, net->scale, 2, shape));
    }
    if (s->rows * s->cols == 1 && s->layers[0].kind == PESS__LAYER_DENSE) return x;
    const int64_t board[] = {-1, s->rows, s->cols, s->channels};
    pess__proto attributes = {0};
    x = apply_both(g, "Reshape", x, pess__onnx_ints(g, board, 4));
    pess__onnx_int_list(&attributes, "perm", 4, (const int64_t[]){0, 3, 1, 2});
    return pess__onnx_node(g, "Transpose", PESS__ONNX_INPUTS(x), &attributes, NULL);
}

/* bias + Σ x·w of one layer; `at` are its weights and biases as a network file has them. */
static value layer_sum(graph *g, const pess__net *net, int i, value x, const float *at) {
    const pess__layer_spec *spec = &net->spec.layers[i];
    const pess__layer *l = &net->layers[i];
    const bool dense = spec->kind == PESS__LAYER_DENSE;
    const int64_t shape[] = {l->outputs, dense ? l->inputs * l->taps : l->inputs, spec->kernel, spec->kernel};
    const value w = pess__onnx_floats(g, at, dense ? 2 : 4, shape);
    const value b = pess__onnx_floats(g, at + l->outputs * l->inputs * l->taps, 1, shape);
    pess__proto attributes = {0};
    if (dense) {
        const bool board =
            i == 0 ? net->spec.rows * net->spec.cols > 1 : net->spec.layers[i - 1].kind == PESS__LAYER_CONV;
        if (board) x = apply(g, "Flatten", x);
        pess__onnx_int(&attributes, "transB", 1);
        return pess__onnx_node(g, "Gemm", PESS__ONNX_INPUTS(x, w, b), &attributes, NULL);
    }
    pess__onnx_int_list(&attributes, "kernel_shape", 2, shape + 2);
    pess__onnx_int_list(&attributes, "strides", 2, (const int64_t[]){spec->stride, spec->stride});
    return pess__onnx_node(g, "Conv", PESS__ONNX_INPUTS(x, w, b), &attributes, NULL);
}

static value activation(graph *g, float slope, value x) {
    pess__proto attributes = {0};
    if (slope >= 1) return x;
    if (slope <= 0) return apply(g, "Relu", x);
    pess__onnx_float(&attributes, "alpha", slope);
    return pess__onnx_node(g, "LeakyRelu", PESS__ONNX_INPUTS(x), &attributes, NULL);
}

static value network(graph *g, const pess__net *net, const float *at) {
    value x = first_input(g, net);
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        x = activation(g, net->spec.layers[i].slope, layer_sum(g, net, i, x, at));
        at += (l->inputs * l->taps + 1) * l->outputs;
    }
    if (net->spec.layers[net->spec.layer_count - 1].kind == PESS__LAYER_CONV) x = apply(g, "Flatten", x);
    return x;
}

/* ---- rules: the field names of export.h */

static value softmax(graph *g, value x, const char *result) {
    pess__proto attributes = {0};
    pess__onnx_int(&attributes, "axis", 1);
    return pess__onnx_node(g, "Softmax", PESS__ONNX_INPUTS(x), &attributes, result);
}

/* The index of the largest, the first of equals. */
static value largest(graph *g, value x, const char *result) {
    pess__proto attributes = {0};
    pess__onnx_int(&attributes, "axis", 1);
    pess__onnx_int(&attributes, "keepdims", 0);
    return pess__onnx_node(g, "ArgMax", PESS__ONNX_INPUTS(x), &attributes, result);
}

static value mean_of_heads(graph *g, const pess__exported *p, value q) {
    if (p->heads == 1) return q;
    pess__proto attributes = {0};
    const int64_t shape[] = {-1, p->heads, p->actions};
    q = apply_both(g, "Reshape", q, pess__onnx_ints(g, shape, 3));
    pess__onnx_int_list(&attributes, "axes", 1, &(int64_t){1});
    pess__onnx_int(&attributes, "keepdims", 0);
    return pess__onnx_node(g, "ReduceMean", PESS__ONNX_INPUTS(q), &attributes, NULL);
}

static value less_doubt(graph *g, const pess__exported *p, value q, value u) {
    if (isfinite(p->cap)) u = with_number(g, "Min", u, p->cap);
    if (p->relative) u = apply_both(g, "Sub", u, reduce(g, "ReduceMin", u));
    return apply_both(g, "Sub", q, with_number(g, "Mul", u, p->alpha));
}

static value ensemble(graph *g, const pess__exported *p, const value *q) {
    value mean = q[0], squares = {0};
    for (int64_t k = 1; k < p->networks; k++) mean = apply_both(g, "Add", mean, q[k]);
    mean = with_number(g, "Mul", mean, 1 / (double)p->networks);
    for (int64_t k = 0; k < p->networks; k++) {
        const value d = apply_both(g, "Sub", q[k], mean), square = apply_both(g, "Mul", d, d);
        squares = k == 0 ? square : apply_both(g, "Add", squares, square);
    }
    return less_doubt(g, p, mean, apply(g, "Sqrt", with_number(g, "Mul", squares, 1 / (double)p->networks)));
}

static value least(graph *g, const pess__exported *p, const value *q) {
    value least = q[0];
    for (int64_t k = 1; k < p->networks; k++) least = apply_both(g, "Min", least, q[k]);
    return least;
}

static value likely_alone(graph *g, const pess__exported *p, value q, value prior) {
    const value most = reduce(g, "ReduceMax", prior);
    const value above = apply_both(g, "Greater", prior, with_number(g, "Mul", most, p->alpha));
    const value allowed = apply_both(g, "Or", above, apply_both(g, "GreaterOrEqual", prior, most));
    return choose(g, allowed, q, pess__onnx_number(g, -3e38));
}

static value proximal(graph *g, const pess__exported *p, value q, value prior) {
    const value none = pess__onnx_number(g, 0), depth = pess__onnx_ints(g, &p->actions, 1);
    const value ends = pess__onnx_floats(g, (const float[]){0, 1}, 1, &(int64_t){2});
    const value best = pess__onnx_node(g, "OneHot", PESS__ONNX_INPUTS(largest(g, q, NULL), depth, ends), NULL, NULL);
    const value near = apply_both(g, "Greater", q, with_number(g, "Sub", reduce(g, "ReduceMax", q), p->alpha));
    const value keeps = apply_both(g, "Or", near, with_number(g, "Greater", best, 0.5));
    const value kept = choose(g, keeps, prior, none);
    const value moved = apply_both(g, "Sub", prior, kept);
    pess__proto attributes = {0};
    pess__onnx_int(&attributes, "keepdims", 1);
    const value sum = pess__onnx_node(g, "ReduceSum", PESS__ONNX_INPUTS(moved, pess__onnx_ints(g, &(int64_t){1}, 1)),
                                      &attributes, NULL);
    return apply_both(g, "Add", kept, apply_both(g, "Mul", best, sum));
}

static value brac(graph *g, const pess__exported *p, value q, value prior) {
    const value logs = apply(g, "Log", with_number(g, "Max", prior, 1e-30));
    return apply_both(g, "Add", logs, with_number(g, "Mul", q, 1 / p->alpha));
}

static void write_rule(graph *g, const pess__exported *p, const value *q, value prior) {
    value out = q[0];
    switch (p->rule) {
        case PESS__EXPORT_SOFTMAX: break;
        case PESS__EXPORT_ARGMAX: out = mean_of_heads(g, p, q[0]); break;
        case PESS__EXPORT_PROXIMAL: out = proximal(g, p, q[0], prior); break;
        case PESS__EXPORT_BCQ: out = likely_alone(g, p, q[0], prior); break;
        case PESS__EXPORT_BRAC: out = brac(g, p, q[0], prior); break;
        case PESS__EXPORT_UA:
            prior = apply(g, "Reciprocal", apply(g, "Sqrt", with_number(g, "Max", prior, 1e-30)));
            out = less_doubt(g, p, q[0], prior);
            break;
        case PESS__EXPORT_UA_NETWORK: out = less_doubt(g, p, q[0], with_number(g, "Max", prior, 0)); break;
        case PESS__EXPORT_LEAST: out = least(g, p, q); break;
        case PESS__EXPORT_SOFT_LEAST: out = with_number(g, "Mul", least(g, p, q), 1 / p->alpha); break;
        case PESS__EXPORT_ENSEMBLE: out = ensemble(g, p, q); break;
    }
    const bool draws = pess__exported_draws(p);
    if (draws && p->rule != PESS__EXPORT_PROXIMAL)
        out = softmax(g, out, "probabilities");
    else
        out = pess__onnx_node(g, "Identity", PESS__ONNX_INPUTS(out), NULL, draws ? "probabilities" : "values");
    (void)largest(g, out, "action");
    pess__onnx_output(g, out.name, PESS__ONNX_FLOAT, p->actions);
    pess__onnx_output(g, "action", PESS__ONNX_INT64, 0);
}

pess_status pess__export_onnx(const pess__exported *policy, const char *path, pess_error *error) {
    graph g = {0};
    value q[PESS__MAX_VALUE_NETWORKS], prior = {0};
    pess__onnx_input(&g, "observation", policy->nets[0]->inputs);
    for (int64_t k = 0; k < policy->networks; k++) q[k] = network(&g, policy->nets[k], policy->file[k]);
    if (policy->further) prior = network(&g, policy->nets[policy->networks], policy->file[policy->networks]);
    if (pess__exported_prior(policy)) prior = softmax(&g, prior, NULL);
    write_rule(&g, policy, q, prior);
    pess__proto model = pess__onnx_model(&g, policy->name, policy->notes);
    pess__outfile *file = NULL;
    pess_status status = pess__proto_check(&model, "an ONNX model", error);
    if (status == PESS_OK) status = pess__outfile_open(path, &file, error);
    if (status == PESS_OK) {
        pess__outfile_write(file, model.bytes, model.used);
        status = pess__outfile_commit(file, error);
    }
    pess__proto_free(&model);
    return status;
}
