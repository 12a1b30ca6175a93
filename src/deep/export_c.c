/* A policy as one C file of its own: no library but that of mathematics, no memory but the stack. Every output is the
 * sum that the kernels "avx512" and "avx2" form, bias + Σ_k x_k·w_k with one fused multiply-add per term, row by row of
 * the window and channel by channel, and the rules are those of the learners, step by step: the same bits. */
#include "core/outfile.h"
#include "deep/export.h"

#include <math.h>
#include <stdio.h>

/* Numbers of an array in hexadecimal, which is exact. */
static void write_array(pess__outfile *file, const char *name, int64_t count, const float *values) {
    pess__outfile_print(file, "static const float %s[%lld] = {", name, (long long)count);
    for (int64_t i = 0; i < count; i++)
        pess__outfile_print(file, "%s%af,", i % 8 == 0 ? "\n    " : " ", (double)values[i]);
    pess__outfile_print(file, "\n};\n");
}

/* Weights [out][in][tap] of the file as [out][tap][in], the order of the loops. */
static void write_weights(pess__outfile *file, const char *name, const pess__layer *l, const float *values) {
    const int64_t window = l->taps * l->inputs, count = l->outputs * window;
    pess__outfile_print(file, "static const float %s[%lld] = {", name, (long long)count);
    for (int64_t i = 0; i < count; i++) {
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
    const pess__net *net = p->nets[0];
    const pess__net_spec *spec = &net->spec;
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
                        " * The rule is that of %s. Compile it as C99 (-std=c99; compilers that fuse multiplications "
                        "by themselves need\n"
                        " * -ffp-contract=off for the same bits) and link with -lm. How it was trained:\n",
                        PESS_VERSION, (long long)net->inputs, (int)spec->rows, (int)spec->cols, (int)spec->channels,
                        inputs[spec->input], (long long)p->actions, p->name);
    write_notes(file, p->notes);
    pess__outfile_print(file, " */\n#include <math.h>\n\n"
                              "int policy_act(const float *observation);\n"
                              "void policy_probabilities(const float *observation, float *probabilities);\n\n");
}

/* Arrays of network k (from 1): weight_k_layer, bias_k_layer, shift_k, scale_k. */
static void write_parameters(pess__outfile *file, const pess__net *net, int k, const float *at) {
    char name[48];
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        (void)snprintf(name, sizeof name, "weight_%d_%d", k, i + 1);
        write_weights(file, name, l, at);
        at += l->outputs * l->inputs * l->taps;
        (void)snprintf(name, sizeof name, "bias_%d_%d", k, i + 1);
        write_array(file, name, l->outputs, at);
        at += l->outputs;
    }
    (void)snprintf(name, sizeof name, "shift_%d", k);
    if (net->shift != NULL) write_array(file, name, net->inputs, net->shift);
    (void)snprintf(name, sizeof name, "scale_%d", k);
    if (net->scale != NULL) write_array(file, name, net->inputs, net->scale);
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

/* outputs_k(observation, out): what network k says. */
static void write_outputs(pess__outfile *file, const pess__net *net, int k) {
    pess__outfile_print(file, "static void outputs_%d(const float *observation, float *out) {\n", k);
    pess__outfile_print(file, "    float a[%lld], b[%lld];\n", (long long)widest(net), (long long)widest(net));
    pess__outfile_print(file, "    for (int i = 0; i < %lld; i++) a[i] = ", (long long)net->inputs);
    if (net->spec.input == PESS_OBSERVATION_BITS)
        pess__outfile_print(file, "observation[i] > 0 ? 1.0f : 0.0f;\n");
    else if (net->spec.input == PESS_OBSERVATION_BYTES)
        pess__outfile_print(file, "observation[i] * (float)(1 / 255.0);\n");
    else
        pess__outfile_print(file, "(observation[i] - shift_%d[i]) * scale_%d[i];\n", k, k);
    int64_t rows = net->spec.rows, cols = net->spec.cols;
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer_spec *l = &net->spec.layers[i];
        const bool dense = l->kind == PESS__LAYER_DENSE;
        pess__outfile_print(file,
                            "    layer(%s, %lld, %lld, %lld, %lld, %lld, %d, %d, weight_%d_%d, bias_%d_%d, %af, %s);\n",
                            i % 2 == 0 ? "a" : "b", (long long)rows, (long long)cols, (long long)net->layers[i].inputs,
                            (long long)(dense ? rows : l->kernel), (long long)(dense ? cols : l->kernel),
                            dense ? 1 : (int)l->stride, (int)l->outputs, k, i + 1, k, i + 1, (double)l->slope,
                            i + 1 == net->spec.layer_count ? "out"
                            : i % 2 == 0                   ? "b"
                                                           : "a");
        pess__spec_board(l, &rows, &cols);
    }
    pess__outfile_print(file, "}\n\n");
}

/* ---- rules: decide(q, prior, policy) as the learners have it */

static const char softmax_code[] = "static void softmax(const float *q, float *p) {\n"
                                   "    double sum = 0, most = q[0];\n"
                                   "    for (int i = 1; i < ACTIONS; i++) most = q[i] > most ? q[i] : most;\n"
                                   "    for (int i = 0; i < ACTIONS; i++) sum += exp(q[i] - most);\n"
                                   "    for (int i = 0; i < ACTIONS; i++) p[i] = (float)(exp(q[i] - most) / sum);\n"
                                   "}\n\n";

static const char choose_code[] = "/* All on the largest, the first of equals. */\n"
                                  "static void choose(const double *worth, double *policy) {\n"
                                  "    int best = 0;\n"
                                  "    for (int i = 1; i < ACTIONS; i++)\n"
                                  "        if (worth[i] > worth[best]) best = i;\n"
                                  "    for (int i = 0; i < ACTIONS; i++) policy[i] = i == best;\n"
                                  "}\n\n";

static const char finish_code[] = "/* u within [0, CAP]; from the smallest, if it is so. */\n"
                                  "static void finish(double *u) {\n"
                                  "    double least = INFINITY;\n"
                                  "    for (int i = 0; i < ACTIONS; i++) {\n"
                                  "        u[i] = fmin(fmax(u[i], 0), CAP);\n"
                                  "        least = fmin(least, u[i]);\n"
                                  "    }\n"
                                  "    for (int i = 0; RELATIVE && i < ACTIONS; i++) u[i] -= least;\n"
                                  "}\n\n";

#define WORTH_LESS_DOUBT                                                                                               \
    "    for (int i = 0; i < ACTIONS; i++) worth[i] = q[i] - ALPHA * (float)u[i];\n"                                   \
    "    choose(worth, policy);\n"                                                                                     \
    "}\n\n"
#define LEAST                                                                                                          \
    "    double least[ACTIONS];\n"                                                                                     \
    "    (void)prior;\n"                                                                                               \
    "    for (int i = 0; i < ACTIONS; i++) {\n"                                                                        \
    "        least[i] = q[i];\n"                                                                                       \
    "        for (int k = 1; k < NETWORKS; k++) least[i] = fmin(least[i], q[k * ACTIONS + i]);\n"                      \
    "    }\n"
#define DECIDE "static void decide(const float *q, const float *prior, double *policy) {\n"

static const char *const decide_code[] = {
    [PESS__EXPORT_SOFTMAX] = DECIDE "    float p[ACTIONS];\n"
                                    "    (void)prior;\n"
                                    "    softmax(q, p);\n"
                                    "    for (int i = 0; i < ACTIONS; i++) policy[i] = p[i];\n"
                                    "}\n\n",
    [PESS__EXPORT_ARGMAX] = DECIDE "    double worth[ACTIONS];\n"
                                   "    (void)prior;\n"
                                   "    for (int i = 0; i < ACTIONS; i++) {\n"
                                   "        worth[i] = HEADS > 1 ? 0 : q[i];\n"
                                   "        for (int k = 0; HEADS > 1 && k < HEADS; k++)\n"
                                   "            worth[i] += 1 / (double)HEADS * q[k * ACTIONS + i];\n"
                                   "    }\n"
                                   "    choose(worth, policy);\n"
                                   "}\n\n",
    [PESS__EXPORT_PROXIMAL] = DECIDE "    int best = 0;\n"
                                     "    double moved = 0;\n"
                                     "    for (int i = 1; i < ACTIONS; i++)\n"
                                     "        if (q[i] > q[best]) best = i;\n"
                                     "    for (int i = 0; i < ACTIONS; i++) {\n"
                                     "        const int keeps = i == best || (double)q[i] > (double)q[best] - ALPHA;\n"
                                     "        policy[i] = keeps ? prior[i] : 0;\n"
                                     "        if (!keeps) moved += prior[i];\n"
                                     "    }\n"
                                     "    policy[best] += moved;\n"
                                     "}\n\n",
    [PESS__EXPORT_BCQ] = DECIDE "    double worth[ACTIONS], likeliest = 0;\n"
                                "    for (int i = 0; i < ACTIONS; i++) likeliest = fmax(likeliest, prior[i]);\n"
                                "    for (int i = 0; i < ACTIONS; i++)\n"
                                "        worth[i] = prior[i] > ALPHA * likeliest || prior[i] >= likeliest ? q[i] : "
                                "-INFINITY;\n"
                                "    choose(worth, policy);\n"
                                "}\n\n",
    [PESS__EXPORT_BRAC] = DECIDE "    double most = -INFINITY, sum = 0;\n"
                                 "    for (int i = 0; i < ACTIONS; i++) most = fmax(most, q[i]);\n"
                                 "    for (int i = 0; i < ACTIONS; i++)\n"
                                 "        sum += policy[i] = fmax(prior[i], 1e-30) * exp((q[i] - most) / ALPHA);\n"
                                 "    for (int i = 0; i < ACTIONS; i++) policy[i] /= sum;\n"
                                 "}\n\n",
    [PESS__EXPORT_UA] = DECIDE "    double u[ACTIONS], worth[ACTIONS];\n"
                               "    for (int i = 0; i < ACTIONS; i++) u[i] = 1 / sqrt(fmax(prior[i], 1e-30));\n"
                               "    finish(u);\n" WORTH_LESS_DOUBT,
    [PESS__EXPORT_UA_NETWORK] = DECIDE "    double u[ACTIONS], worth[ACTIONS];\n"
                                       "    for (int i = 0; i < ACTIONS; i++) u[i] = prior[i];\n"
                                       "    finish(u);\n" WORTH_LESS_DOUBT,
    [PESS__EXPORT_ENSEMBLE] = DECIDE "    double mean[ACTIONS], u[ACTIONS], worth[ACTIONS];\n"
                                     "    (void)prior;\n"
                                     "    for (int i = 0; i < ACTIONS; i++) {\n"
                                     "        double squares = 0;\n"
                                     "        mean[i] = 0;\n"
                                     "        for (int k = 0; k < NETWORKS; k++) mean[i] += q[k * ACTIONS + i] / "
                                     "(double)NETWORKS;\n"
                                     "        for (int k = 0; k < NETWORKS; k++) {\n"
                                     "            const double d = q[k * ACTIONS + i] - mean[i];\n"
                                     "            squares += d * d;\n"
                                     "        }\n"
                                     "        u[i] = sqrt(squares / NETWORKS);\n"
                                     "    }\n"
                                     "    finish(u);\n"
                                     "    for (int i = 0; i < ACTIONS; i++) worth[i] = mean[i] - ALPHA * u[i];\n"
                                     "    choose(worth, policy);\n"
                                     "}\n\n",
    [PESS__EXPORT_LEAST] = DECIDE LEAST "    choose(least, policy);\n"
                                        "}\n\n",
    [PESS__EXPORT_SOFT_LEAST] = DECIDE LEAST "    double most = -INFINITY, sum = 0;\n"
                                             "    for (int i = 0; i < ACTIONS; i++) most = fmax(most, least[i]);\n"
                                             "    for (int i = 0; i < ACTIONS; i++)\n"
                                             "        sum += policy[i] = exp((least[i] - most) / ALPHA);\n"
                                             "    for (int i = 0; i < ACTIONS; i++) policy[i] /= sum;\n"
                                             "}\n\n",
};

static void write_rule(pess__outfile *file, const pess__exported *p) {
    const bool chooses = !pess__exported_draws(p), penalises = pess__exported_penalises(p);
    const bool weighs = p->rule == PESS__EXPORT_PROXIMAL || p->rule == PESS__EXPORT_BCQ ||
                        p->rule == PESS__EXPORT_BRAC || p->rule == PESS__EXPORT_SOFT_LEAST;
    if (weighs || penalises) pess__outfile_print(file, "static const double ALPHA = %a;\n", p->alpha);
    if (penalises) pess__outfile_print(file, isfinite(p->cap) ? "#define CAP %a\n" : "#define CAP INFINITY\n", p->cap);
    if (penalises) pess__outfile_print(file, "enum { RELATIVE = %d };\n", p->relative);
    pess__outfile_print(file, "\n%s%s%s%s",
                        pess__exported_prior(p) || p->rule == PESS__EXPORT_SOFTMAX ? softmax_code : "",
                        chooses ? choose_code : "", penalises ? finish_code : "", decide_code[p->rule]);
}

static const char act_code[] = "int policy_act(const float *observation) {\n"
                               "    float p[ACTIONS];\n"
                               "    int best = 0;\n"
                               "    policy_probabilities(observation, p);\n"
                               "    for (int i = 1; i < ACTIONS; i++)\n"
                               "        if (p[i] > p[best]) best = i;\n"
                               "    return best;\n"
                               "}\n";

/* Where actions stand for vectors, the one of policy_act. */
static void write_vectors(pess__outfile *file, const pess__exported *p) {
    if (p->space == NULL || p->space->values == NULL) return;
    const int64_t width = p->space->width;
    pess__outfile_print(file, "\n/* The %lld numbers that the action of policy_act stands for. */\n", (long long)width);
    write_array(file, "action_values", p->actions * width, p->space->values);
    pess__outfile_print(file,
                        "\nvoid policy_action(const float *observation, float *action);\n\n"
                        "void policy_action(const float *observation, float *action) {\n"
                        "    const float *values = action_values + %lld * policy_act(observation);\n"
                        "    for (int i = 0; i < %lld; i++) action[i] = values[i];\n"
                        "}\n",
                        (long long)width, (long long)width);
}

static void write_probabilities(pess__outfile *file, const pess__exported *p) {
    pess__outfile_print(file, "void policy_probabilities(const float *observation, float *probabilities) {\n"
                              "    float q[NETWORKS * HEADS * ACTIONS], prior[ACTIONS] = {0};\n"
                              "    double policy[ACTIONS];\n");
    for (int k = 0; k < (int)p->networks; k++)
        pess__outfile_print(file, "    outputs_%d(observation, q + %d * HEADS * ACTIONS);\n", k + 1, k);
    if (p->further)
        pess__outfile_print(file, "    outputs_%d(observation, prior);\n%s", (int)p->networks + 1,
                            pess__exported_prior(p) ? "    softmax(prior, prior);\n" : "");
    pess__outfile_print(file, "    decide(q, prior, policy);\n"
                              "    for (int i = 0; i < ACTIONS; i++) probabilities[i] = (float)policy[i];\n"
                              "}\n\n");
}

pess_status pess__export_c(const pess__exported *policy, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    write_head(file, policy);
    for (int k = 0; k < (int)pess__exported_count(policy); k++)
        write_parameters(file, policy->nets[k], k + 1, policy->file[k]);
    pess__outfile_print(file, "\nenum { NETWORKS = %lld, HEADS = %lld, ACTIONS = %lld };\n",
                        (long long)policy->networks, (long long)policy->heads, (long long)policy->actions);
    pess__outfile_print(file, "%s", layer_code);
    for (int k = 0; k < (int)pess__exported_count(policy); k++) write_outputs(file, policy->nets[k], k + 1);
    write_rule(file, policy);
    write_probabilities(file, policy);
    pess__outfile_print(file, "%s", act_code);
    write_vectors(file, policy);
    return pess__outfile_commit(file, error);
}
