#include "deep/export.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* The formats, by the ending of the file's name: adding one is one file and one row. */
static const struct {
    const char *ending;
    pess_status (*write)(const pess__exported *policy, const char *path, pess_error *error);
} formats[] = {{".c", pess__export_c}, {".npz", pess__export_npz}, {".onnx", pess__export_onnx}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* Learners whose rule is one of its own, the further network that it reads, and its weight; `free`: the rule where that
 * is 0. What the network of an uncertainty says must be what it says of the states of the data too. */
typedef enum further { NONE, IMITATION, UNCERTAINTY } further;
static const struct {
    const char *learner;
    pess__export_rule rule, free;
    further reads;
    double (*weight)(const void *knobs);
} own_rules[] = {
    {"rem", PESS__EXPORT_ARGMAX, PESS__EXPORT_ARGMAX, NONE, NULL},
    {"proximal", PESS__EXPORT_PROXIMAL, PESS__EXPORT_ARGMAX, IMITATION, pess__alpha},
    {"bcq", PESS__EXPORT_BCQ, PESS__EXPORT_BCQ, IMITATION, pess__alpha},
    {"brac", PESS__EXPORT_BRAC, PESS__EXPORT_ARGMAX, IMITATION, pess__alpha},
    {"ua-imitation", PESS__EXPORT_UA, PESS__EXPORT_UA, IMITATION, pess__alpha},
    {"ua-propensity", PESS__EXPORT_UA, PESS__EXPORT_UA, UNCERTAINTY, pess__alpha},
    {"ua-support-net", PESS__EXPORT_UA_NETWORK, PESS__EXPORT_UA_NETWORK, UNCERTAINTY, pess__alpha},
    {"ua-ensemble", PESS__EXPORT_ENSEMBLE, PESS__EXPORT_ENSEMBLE, NONE, pess__alpha},
    {"sac-n", PESS__EXPORT_SOFT_LEAST, PESS__EXPORT_LEAST, NONE, pess__sac_temperature},
    {"edac", PESS__EXPORT_SOFT_LEAST, PESS__EXPORT_LEAST, NONE, pess__sac_temperature},
};

static bool own_rule(const pess__learned_policy *l, pess__exported *out) {
    for (size_t i = 0; i < sizeof own_rules / sizeof own_rules[0]; i++) {
        if (strcmp(own_rules[i].learner, l->learner->info.name) != 0) continue;
        out->alpha = own_rules[i].weight != NULL ? own_rules[i].weight(l->knobs) : 0;
        out->rule = out->alpha > 0 ? own_rules[i].rule : own_rules[i].free;
        out->further = own_rules[i].reads != NONE && out->rule != PESS__EXPORT_ARGMAX;
        if (out->further) out->nets[out->networks] = own_rules[i].reads == IMITATION ? l->imitation : l->uncertainty;
        return true;
    }
    return false;
}

/* A rule of outputs alone: not of tables over the states of the data. An actor decides by itself, and so does a network
 * of imitation; naive and its kin take the largest value. */
static bool find_rule(const pess__bundle *b, pess__exported *out) {
    const pess__learned_policy *l = &b->learned;
    const pess__learner *learner = l->learner;
    *out = (pess__exported){.rule = PESS__EXPORT_SOFTMAX, .networks = 1, .heads = 1, .actions = l->actions};
    for (int64_t k = 0; k < learner->own_count; k++)
        if (learner->own[k].policy) {
            out->nets[0] = l->own[k];
            return true;
        }
    if (b->partial) return false;
    out->nets[0] = l->values[0];
    if (!learner->info.values && !learner->untrained) return true;
    out->networks = pess__learner_networks(learner, l->knobs);
    out->heads = pess__learner_heads(learner, l->knobs);
    out->cap = l->cap;
    out->relative = l->relative;
    for (int64_t k = 0; k < out->networks; k++) out->nets[k] = l->values[k];
    if (own_rule(l, out)) return true;
    out->rule = PESS__EXPORT_ARGMAX;
    return learner->decide == pess__decide_greedy && out->networks == 1 && out->heads == 1 &&
           learner->uncertainty == NULL;
}

static bool ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

static pess_status write_format(pess__exported *out, size_t format, const char *path, pess_error *error) {
    pess_status status = PESS_OK;
    for (int64_t k = 0; k < pess__exported_count(out) && status == PESS_OK; k++) {
        status = pess__allocate(&out->file[k], pess__spec_parameters(&out->nets[k]->spec), sizeof **out->file,
                                "parameters", error);
        if (status == PESS_OK) pess__net_export(out->nets[k], out->file[k]);
    }
    if (status == PESS_OK) status = formats[format].write(out, path, error);
    for (int64_t k = 0; k < PESS__EXPORT_NETWORKS; k++) free(out->file[k]);
    return status;
}

pess_status pess_policy_export(const pess_policy *policy, const char *path, pess_error *error) {
    const pess__bundle *b = (const pess__bundle *)(const void *)policy;
    pess__exported out;
    if (policy->states > 0) return pess__fail(error, PESS_ARGUMENT, "the policy is a table: it has no networks");
    if (!find_rule(b, &out))
        return pess__fail(error, PESS_ARGUMENT,
                          b->partial ? "the rule of '%s' needs more than this network; the .pesspolicy file of the "
                                       "same training has all of it"
                                     : "the rule of '%s' reads tables over the states of its data; policies that act "
                                       "by the outputs of networks alone can be exported",
                          b->rule);
    size_t format = 0;
    while (format < FORMATS && !ends_with(path, formats[format].ending)) format++;
    if (format == FORMATS)
        return pess__fail(error, PESS_ARGUMENT, "%s: a name that ends in .c, .onnx or .npz is expected", path);
    out.name = b->rule;
    out.notes = b->notes;
    out.space = b->learned.space;
    return write_format(&out, format, path, error);
}
