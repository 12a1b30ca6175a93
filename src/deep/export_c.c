/* A policy as one C file of its own: no library but fmaf and exp, no memory but the stack. Every output is the sum
 * that the kernels "avx2" form, bias + Σ_k x_k·w_k with one fused multiply-add per term, row by row of the window and
 * channel by channel: the same bits. */
#include "core/outfile.h"
#include "deep/export.h"

#include <stdio.h>

/* Numbers of an array in hexadecimal, which is exact. */
static void write_array(pess__outfile *file, const char *name, int64_t count, const float *values) {
    pess__outfile_print(file, "static const float %s[%lld] = {", name, (long long)count);
    for (int64_t i = 0; i < count; i++)
        pess__outfile_print(file, "%s%af,", i % 8 == 0 ? "\n    " : " ", (double)values[i]);
    pess__outfile_print(file, "\n};\n");
}

/* Weights [out][in][tap] of the file as [out][tap][in], the order of the loops. */
static void write_weights(pess__outfile *file, int layer, const pess__layer *l, const float *values) {
    const int64_t window = l->taps * l->inputs;
    pess__outfile_print(file, "static const float weight_%d[%lld] = {", layer, (long long)(l->outputs * window));
    for (int64_t i = 0; i < l->outputs * window; i++) {
        const int64_t output = i / window, tap = i % window / l->inputs, input = i % l->inputs;
        pess__outfile_print(file, "%s%af,", i % 8 == 0 ? "\n    " : " ",
                            (double)values[(output * l->inputs + input) * l->taps + tap]);
    }
    pess__outfile_print(file, "\n};\n");
}

/* Notes are lines of printable text; a comment must not end in them. */
static void write_notes(pess__outfile *file, const char *notes) {
    pess__outfile_print(file, " * ");
    for (const char *c = notes; *c != '\0'; c++) {
        if (*c == '\n')
            pess__outfile_print(file, "%s", c[1] != '\0' ? "\n * " : "");
        else if (!(c[0] == '/' && c > notes && c[-1] == '*'))
            pess__outfile_print(file, "%c", *c);
    }
    pess__outfile_print(file, "\n");
}

static void write_head(pess__outfile *file, const pess__exported *p) {
    const pess__net_spec *spec = &p->net->spec;
    static const char *const inputs[] = {"0 or 1", "0 to 255", "as they were logged; they are standardised here"};
    pess__outfile_print(file,
                        "/* A policy that Pessimist %s wrote.\n"
                        " *\n"
                        " *     int policy_act(const float *observation);\n"
                        " *     void policy_probabilities(const float *observation, float *probabilities);\n"
                        " *\n"
                        " * observation: %lld numbers [%d rows][%d cols][%d channels], %s.\n"
                        " * probabilities: %lld, one per action. policy_act: the most probable action, the first of "
                        "equals.\n"
                        " * Compile it with any C99 compiler; link with -lm. How it was trained:\n",
                        PESS_VERSION, (long long)p->net->inputs, (int)spec->rows, (int)spec->cols, (int)spec->channels,
                        inputs[spec->input], (long long)p->net->outputs);
    write_notes(file, p->notes);
    pess__outfile_print(file, " */\n#include <math.h>\n\n"
                              "int policy_act(const float *observation);\n"
                              "void policy_probabilities(const float *observation, float *probabilities);\n\n");
}

static void write_parameters(pess__outfile *file, const pess__exported *p) {
    const pess__net *net = p->net;
    const float *at = p->file;
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        char name[32];
        write_weights(file, i + 1, l, at);
        at += l->outputs * l->inputs * l->taps;
        (void)snprintf(name, sizeof name, "bias_%d", i + 1);
        write_array(file, name, l->outputs, at);
        at += l->outputs;
    }
    if (net->shift != NULL) write_array(file, "shift", net->inputs, net->shift);
    if (net->scale != NULL) write_array(file, "scale", net->inputs, net->scale);
}

static const char layer_code[] =
    "\n/* y = max(t, slope*t), t = bias + sum over the window, at every place. */\n"
    "static void layer(const float *x, int rows, int cols, int channels, int window_rows, int window_cols, int "
    "stride,\n"
    "                  int outputs, const float *weight, const float *bias, float slope, float *y) {\n"
    "    for (int top = 0; top + window_rows <= rows; top += stride)\n"
    "        for (int left = 0; left + window_cols <= cols; left += stride)\n"
    "            for (int o = 0; o < outputs; o++) {\n"
    "                const float *w = weight + (long)o * window_rows * window_cols * channels;\n"
    "                float t = bias[o];\n"
    "                for (int i = 0; i < window_rows; i++) {\n"
    "                    const float *row = x + ((long)(top + i) * cols + left) * channels;\n"
    "                    for (int k = 0; k < window_cols * channels; k++) t = fmaf(row[k], *w++, t);\n"
    "                }\n"
    "                *y++ = t > 0 ? t : slope * t;\n"
    "            }\n"
    "}\n\n";

/* Numbers between the layers, at most. */
static int64_t widest(const pess__net *net) {
    int64_t most = net->inputs;
    for (int i = 0; i < net->spec.layer_count; i++) {
        const int64_t values = net->layers[i].positions * net->layers[i].outputs;
        if (values > most) most = values;
    }
    return most;
}

static void write_outputs(pess__outfile *file, const pess__net *net) {
    static const char *const inputs[] = {"observation[i] > 0 ? 1.0f : 0.0f", "observation[i] * (float)(1 / 255.0)",
                                         "(observation[i] - shift[i]) * scale[i]"};
    pess__outfile_print(file, "enum { INPUTS = %lld, ACTIONS = %lld, WIDEST = %lld };\n\n", (long long)net->inputs,
                        (long long)net->outputs, (long long)widest(net));
    pess__outfile_print(file, "static void outputs(const float *observation, float *out) {\n"
                              "    float a[WIDEST], b[WIDEST];\n");
    pess__outfile_print(file, "    for (int i = 0; i < INPUTS; i++) a[i] = %s;\n", inputs[net->spec.input]);
    int64_t rows = net->spec.rows, cols = net->spec.cols;
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer_spec *l = &net->spec.layers[i];
        const bool dense = l->kind == PESS__LAYER_DENSE;
        pess__outfile_print(file, "    layer(%s, %lld, %lld, %lld, %lld, %lld, %d, %d, weight_%d, bias_%d, %af, %s);\n",
                            i % 2 == 0 ? "a" : "b", (long long)rows, (long long)cols, (long long)net->layers[i].inputs,
                            (long long)(dense ? rows : l->kernel), (long long)(dense ? cols : l->kernel),
                            dense ? 1 : (int)l->stride, (int)l->outputs, i + 1, i + 1, (double)l->slope,
                            i + 1 == net->spec.layer_count ? "out"
                            : i % 2 == 0                   ? "b"
                                                           : "a");
        pess__spec_board(l, &rows, &cols);
    }
    pess__outfile_print(file, "}\n\n");
}

static const char act_code[] = "int policy_act(const float *observation) {\n"
                               "    float p[ACTIONS];\n"
                               "    int best = 0;\n"
                               "    policy_probabilities(observation, p);\n"
                               "    for (int i = 1; i < ACTIONS; i++)\n"
                               "        if (p[i] > p[best]) best = i;\n"
                               "    return best;\n"
                               "}\n";

static const char softmax_code[] =
    "void policy_probabilities(const float *observation, float *probabilities) {\n"
    "    float q[ACTIONS];\n"
    "    double sum = 0;\n"
    "    outputs(observation, q);\n"
    "    double most = q[0];\n"
    "    for (int i = 1; i < ACTIONS; i++) most = q[i] > most ? q[i] : most;\n"
    "    for (int i = 0; i < ACTIONS; i++) sum += exp(q[i] - most);\n"
    "    for (int i = 0; i < ACTIONS; i++) probabilities[i] = (float)(exp(q[i] - most) / sum);\n"
    "}\n\n";

static const char argmax_code[] = "void policy_probabilities(const float *observation, float *probabilities) {\n"
                                  "    float q[ACTIONS];\n"
                                  "    int best = 0;\n"
                                  "    outputs(observation, q);\n"
                                  "    for (int i = 1; i < ACTIONS; i++)\n"
                                  "        if (q[i] > q[best]) best = i;\n"
                                  "    for (int i = 0; i < ACTIONS; i++) probabilities[i] = i == best ? 1.0f : 0.0f;\n"
                                  "}\n\n";

pess_status pess__export_c(const pess__exported *policy, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    write_head(file, policy);
    write_parameters(file, policy);
    pess__outfile_print(file, "%s", layer_code);
    write_outputs(file, policy->net);
    pess__outfile_print(file, "%s%s", policy->softmax ? softmax_code : argmax_code, act_code);
    return pess__outfile_commit(file, error);
}
