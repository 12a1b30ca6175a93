#include "deep/acting.h"

#include "core/memory.h"
#include "deep/neural_uncertainty.h"
#include "policy/policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- from outputs to probabilities */

double pess__learned_decide(const pess__learned_policy *p, const pess__outputs *outputs, int64_t state,
                            double *probabilities) {
    static const int32_t no_counts[PESS__MAX_ACTIONS] = {0};
    const pess__learner *learner = p->learner;
    const int64_t networks = pess__learner_networks(learner, p->knobs);
    pess__real values[PESS__MAX_VALUE_NETWORKS * PESS__MAX_ACTIONS];
    float prior[PESS__MAX_ACTIONS], penalty[PESS__MAX_ACTIONS];
    pess__view view = {.actions = p->actions,
                       .knobs = p->knobs,
                       .q = outputs->values[0],
                       .heads = networks > 1 ? networks : pess__learner_heads(learner, p->knobs),
                       .head_stride = p->actions,
                       .prior = prior,
                       .counts = state >= 0 && p->counts != NULL ? p->counts + state * p->actions : no_counts,
                       .uncertainty = outputs->uncertainty,
                       .cap = p->cap,
                       .relative = p->relative};
    memcpy(view.own, outputs->own, sizeof view.own);
    if (networks > 1) {
        for (int64_t k = 0; k < networks; k++)
            memcpy(values + k * p->actions, outputs->values[k], (size_t)p->actions * sizeof *values);
        view.q = values;
    }
    if (outputs->imitation != NULL)
        pess__softmax(outputs->imitation, p->actions, prior);
    else if (!learner->info.values)
        pess__softmax(view.q, p->actions, prior);
    if (state >= 0 && p->penalty != NULL) {
        view.penalty = p->penalty + state * p->actions;
    } else if (learner->uncertainty != NULL && learner->uncertainty->outside != NULL) {
        pess__penalty_outside(learner->uncertainty, &view, penalty);
        view.penalty = penalty;
    }
    const double value = learner->decide(&view, probabilities);
    assert(pess__policy_row_holds(probabilities, p->actions));
    return value;
}

/* ---- from observations to outputs */

/* A network of the policy, where a pass through it is, and where its outputs for an observation go. */
typedef struct part {
    const pess__net *net;
    pess__pass *pass;
    size_t offset; /* in pess__outputs */
} part;

enum { MAX_PARTS = PESS__MAX_NETWORKS + 1, UNCERTAINTY = MAX_PARTS };

struct pess__learned_passes {
    part parts[MAX_PARTS + 1]; /* the last is the uncertainty's */
};

static pess_status open_parts(const pess__learned_policy *p, int64_t capacity, part *parts, pess_error *error) {
    int64_t count = 0;
    for (int64_t k = 0; k < pess__learner_networks(p->learner, p->knobs); k++)
        parts[count++] = (part){p->values[k], NULL, offsetof(pess__outputs, values) + (size_t)k * sizeof(void *)};
    for (int64_t k = 0; k < p->learner->own_count; k++)
        parts[count++] = (part){p->own[k], NULL, offsetof(pess__outputs, own) + (size_t)k * sizeof(void *)};
    parts[count] = (part){p->imitation, NULL, offsetof(pess__outputs, imitation)};
    parts[UNCERTAINTY] = (part){p->uncertainty, NULL, offsetof(pess__outputs, uncertainty)};
    for (int64_t k = 0; k <= UNCERTAINTY; k++)
        if (parts[k].net != NULL) PESS_TRY(pess__pass_create(parts[k].net, capacity, false, &parts[k].pass, error));
    return PESS_OK;
}

pess_status pess__learned_passes_create(const pess__learned_policy *p, int64_t capacity, pess__learned_passes **out,
                                        pess_error *error) {
    pess__learned_passes *passes = NULL;
    PESS_TRY(pess__allocate(&passes, 1, sizeof *passes, "acting by a policy", error));
    const pess_status status = open_parts(p, capacity, passes->parts, error);
    if (status == PESS_OK)
        *out = passes;
    else
        pess__learned_passes_destroy(passes);
    return status;
}

void pess__learned_passes_destroy(pess__learned_passes *passes) {
    if (passes == NULL) return;
    for (int k = 0; k <= UNCERTAINTY; k++) pess__pass_destroy(passes->parts[k].pass);
    free(passes);
}

/* Row i of the outputs of every network. */
static pess__outputs outputs_of(const part *parts, int64_t i) {
    pess__outputs out = {.imitation = NULL};
    for (int k = 0; k <= UNCERTAINTY; k++) {
        const pess__net *net = parts[k].net;
        if (net == NULL) continue;
        const pess__real *row = parts[k].pass->activation[net->spec.layer_count - 1] + i * net->padded_outputs;
        memcpy((char *)&out + parts[k].offset, &row, sizeof row);
    }
    return out;
}

void pess__learned_apply(const pess__learned_policy *p, pess__learned_passes *passes, const pess__bits_rows *rows,
                         int64_t count, double *probabilities, double *values, int64_t *states) {
    const part *parts = passes->parts, *uncertainty = &parts[UNCERTAINTY];
    bool asked = false; /* the uncertainty's network is asked only where an observation is outside the data */
    for (int k = 0; k < MAX_PARTS; k++)
        if (parts[k].net != NULL) pess__pass_forward(parts[k].net, parts[k].pass, rows, 0, count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = rows->index != NULL ? rows->index[i] : i;
        const int64_t state = p->data != NULL ? pess__observations_find(p->data, rows->bits + row * rows->stride) : -1;
        if ((state < 0 || p->penalty == NULL) && uncertainty->net != NULL && !asked) {
            pess__pass_forward(uncertainty->net, uncertainty->pass, rows, 0, count);
            asked = true;
        }
        const pess__outputs outputs = outputs_of(parts, i);
        states[i] = state;
        values[i] = pess__learned_decide(p, &outputs, state, probabilities + i * p->actions);
    }
}
