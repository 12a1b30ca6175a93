#include "deep/learner.h"

#include <math.h>
#include <string.h>

static const pess__learner *const learners[] = {
    &pess__learner_imitation,
    &pess__learner_naive,
    &pess__learner_proximal,
};

const pess__learner *pess__learner_find(const char *name) {
    for (size_t i = 0; i < sizeof learners / sizeof learners[0]; i++)
        if (strcmp(learners[i]->info.name, name) == 0) return learners[i];
    return NULL;
}

const pess_learner_info *pess_learner_list(size_t index) {
    return index < sizeof learners / sizeof learners[0] ? &learners[index]->info : NULL;
}

const pess_learner_info *pess_learner_find(const char *name) {
    const pess__learner *learner = pess__learner_find(name);
    return learner != NULL ? &learner->info : NULL;
}

void pess__softmax(const pess__real *outputs, int64_t actions, float *probabilities) {
    double most = (double)outputs[0], sum = 0;
    for (int64_t a = 1; a < actions; a++) most = fmax(most, (double)outputs[a]);
    for (int64_t a = 0; a < actions; a++) sum += exp((double)outputs[a] - most);
    for (int64_t a = 0; a < actions; a++) probabilities[a] = (float)(exp((double)outputs[a] - most) / sum);
}
