#include "deep/neural_uncertainty.h"

#include "core/text.h"

#include <string.h>

#define ADDRESS(word) &pess__learner_##word,
static const pess__learner *const learners[] = {PESS__LEARNERS(ADDRESS)};
#undef ADDRESS
enum { OWN_ROWS = sizeof learners / sizeof learners[0] };

/* The rows above, then one "ua-" for every uncertainty. */
static const pess__learner *learner_at(size_t index) {
    if (index < OWN_ROWS) return learners[index];
    const pess__neural_uncertainty *uncertainty = pess__neural_uncertainty_at(index - OWN_ROWS);
    return uncertainty != NULL ? &uncertainty->learner : NULL;
}

const pess__learner *pess__learner_find(const char *name) {
    if (name == NULL) return NULL;
    if (strcmp(name, "ua") == 0) return &pess__neural_uncertainty_at(0)->learner;
    const pess__learner *learner;
    for (size_t i = 0; (learner = learner_at(i)) != NULL; i++)
        if (strcmp(learner->info.name, name) == 0) return learner;
    return NULL;
}

const pess_learner_info *pess_learner_list(size_t index) {
    const pess__learner *learner = learner_at(index);
    return learner != NULL ? &learner->info : NULL;
}

const pess_learner_info *pess_learner_find(const char *name) {
    const pess__learner *learner = pess__learner_find(name);
    return learner != NULL ? &learner->info : NULL;
}

/* Each part about as measured (docs/neural-uncertainty.md): an ensemble of 4 at 3.9 to 4.4 times naive, an
 * uncertainty's network at 1.14 to 1.27, rem with 50 heads at 1.4 to 1.7, crr with its actor at 2.2 to 2.7; the model
 * ensemble, which is not there, at 3.2. */
double pess__learner_cost(const pess__learner *learner) {
    double cost = learner->untrained ? 0 : learner->networks > 1 ? 1.1 * (double)learner->networks : 1;
    if (learner->uncertainty != NULL && learner->uncertainty->train != NULL) cost += 0.2;
    if (learner->heads > 1) cost += 0.014 * (double)learner->heads;
    cost += 1.2 * (double)learner->own_count;
    if (learner->prepare != NULL) cost += 2.2;
    return cost;
}

void pess__softmax(const pess__real *outputs, int64_t actions, float *probabilities) {
    double most = (double)outputs[0], sum = 0;
    for (int64_t a = 1; a < actions; a++) most = fmax(most, (double)outputs[a]);
    for (int64_t a = 0; a < actions; a++) sum += exp((double)outputs[a] - most);
    for (int64_t a = 0; a < actions; a++) probabilities[a] = (float)(exp((double)outputs[a] - most) / sum);
}

double pess_learner_alpha(const pess_learner_info *info) {
    double alpha = NAN;
    const pess_setting *row = info->knobs != NULL ? pess_setting_find(info->knobs, PESS__ALPHA) : NULL;
    if (row != NULL) (void)pess__parse_double(row->standard, row->standard + strlen(row->standard), &alpha);
    return alpha;
}

static void list_names(char *names, size_t size, const char *(*name_at)(size_t index)) {
    const char *name;
    for (size_t i = 0; (name = name_at(i)) != NULL; i++) {
        if (i > 0) strncat(names, ", ", size - strlen(names) - 1);
        strncat(names, name, size - strlen(names) - 1);
    }
}

static const char *learner_name(size_t index) {
    const pess__learner *learner = learner_at(index);
    return learner != NULL ? learner->info.name : NULL;
}

static const char *uncertainty_name(size_t index) {
    const pess__neural_uncertainty *uncertainty = pess__neural_uncertainty_at(index);
    return uncertainty != NULL ? uncertainty->info.name : NULL;
}

pess_status pess__learner_of(const pess_train_options *options, const pess__learner **out, pess_error *error) {
    const char *wanted = options->uncertainty;
    char names[512] = "";
    const pess__learner *learner = pess__learner_find(options->algorithm);
    if (learner == NULL) {
        list_names(names, sizeof names, learner_name);
        return pess__fail(error, PESS_ARGUMENT, "no learner '%s'; there are %s",
                          options->algorithm != NULL ? options->algorithm : "(none)", names);
    }
    if (wanted != NULL && strcmp(options->algorithm, "ua") == 0) {
        const pess__neural_uncertainty *uncertainty = pess__neural_uncertainty_find(wanted);
        if (uncertainty == NULL) {
            list_names(names, sizeof names, uncertainty_name);
            return pess__fail(error, PESS_ARGUMENT, "no uncertainty '%s'; there are %s", wanted, names);
        }
        learner = &uncertainty->learner;
    } else if (wanted != NULL &&
               (learner->uncertainty == NULL || strcmp(learner->uncertainty->info.name, wanted) != 0)) {
        return pess__fail(error, PESS_ARGUMENT, "%s has %s uncertainty; '%s' goes with ua", learner->info.name,
                          learner->uncertainty != NULL ? learner->uncertainty->info.name : "no", wanted);
    }
    *out = learner;
    return PESS_OK;
}

pess_status pess_train_learner(const pess_train_options *options, const pess_learner_info **out, pess_error *error) {
    const pess__learner *learner = NULL;
    pess_train_options settled;
    PESS_TRY(pess__settle(pess_train_settings(), options, &settled, error));
    PESS_TRY(pess__learner_of(&settled, &learner, error));
    *out = &learner->info;
    return PESS_OK;
}
