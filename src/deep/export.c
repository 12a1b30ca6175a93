#include "deep/export.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* The formats, by the ending of the file's name: adding one is one file and one row. */
static const struct {
    const char *ending;
    pess_status (*write)(const pess__exported *policy, const char *path, pess_error *error);
} formats[] = {{".c", pess__export_c}, {".npz", pess__export_npz}};

/* One network is enough where the rule is the argmax of one network's values, the softmax of imitation, or an actor
 * whose softmax is the policy. */
static bool find_network(const pess__bundle *b, pess__exported *out) {
    const pess__learned_policy *l = &b->learned;
    const pess__learner *learner = l->learner;
    for (int64_t k = 0; k < learner->own_count; k++)
        if (learner->own[k].policy) {
            *out = (pess__exported){.net = l->own[k], .softmax = true};
            return true;
        }
    const bool imitates = !learner->info.values && !learner->untrained;
    const bool greedy = learner->decide == pess__decide_greedy && pess__learner_networks(learner) == 1 &&
                        pess__learner_heads(learner) == 1 && learner->uncertainty == NULL;
    *out = (pess__exported){.net = l->values[0], .softmax = imitates};
    return !b->partial && (imitates || greedy);
}

static bool ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

pess_status pess_policy_export(const pess_policy *policy, const char *path, pess_error *error) {
    const pess__bundle *b = (const pess__bundle *)(const void *)policy;
    pess__exported out;
    if (policy->states > 0) return pess__fail(error, PESS_ARGUMENT, "the policy is a table: it has no networks");
    if (!find_network(b, &out))
        return pess__fail(
            error, PESS_ARGUMENT,
            "the rule of '%s' needs more than one network; policies that act by the argmax or the softmax "
            "of one can be exported",
            b->rule);
    size_t format = 0;
    while (format < sizeof formats / sizeof formats[0] && !ends_with(path, formats[format].ending)) format++;
    if (format == sizeof formats / sizeof formats[0])
        return pess__fail(error, PESS_ARGUMENT, "%s: a name that ends in .c or .npz is expected", path);
    float *values = NULL;
    PESS_TRY(pess__allocate(&values, pess__spec_parameters(&out.net->spec), sizeof *values, "parameters", error));
    pess__net_export(out.net, values);
    out.file = values;
    out.rule = b->rule;
    out.notes = b->notes;
    const pess_status status = formats[format].write(&out, path, error);
    free(values);
    return status;
}
