/* Which policy to test: several algorithms run on the first part of the log, and the first part itself predicts what
 * the test on the second will certify. Nothing is paid for the choice, for the second part has no say in it. */
#include "certify/certificate.h"

#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

pess_status pess__candidate_add(pess_certificate *certificate, pess_candidate candidate, pess_error *error) {
    PESS_TRY(pess__grow(&certificate->candidates, &certificate->candidate_capacity, certificate->candidate_count + 1,
                        sizeof candidate, "the candidates", error));
    certificate->candidates[certificate->candidate_count++] = candidate;
    return PESS_OK;
}

pess_status pess__candidate_add_named(pess_certificate *certificate, const char *name, double predicted,
                                      pess_error *error) {
    const size_t size = strlen(name) + 1;
    char *copy = NULL;
    PESS_TRY(pess__grow(&certificate->names, &certificate->name_capacity, certificate->name_count + 1, sizeof copy,
                        "the candidates", error));
    PESS_TRY(pess__allocate(&copy, (int64_t)size, 1, "the candidates", error));
    memcpy(copy, name, size);
    certificate->names[certificate->name_count++] = copy;
    return pess__candidate_add(certificate, (pess_candidate){copy, predicted, NAN}, error);
}

typedef struct candidate_recipe {
    const char *name, *algorithm;
    double alpha; /* absorbed; times the range of rewards */
} candidate_recipe;

static const candidate_recipe recipes[] = {
    {"ua, absorbed alpha 1", "ua", 1},
    {"ua, absorbed alpha 3", "ua", 3},
    {"ua, absorbed alpha 0.3", "ua", 0.3},
    {"naive", "naive", 0},
};

/* A state that the first part shows only after an end has no row yet: there the policy takes every action alike. */
static void complete(pess_policy *policy) {
    for (int64_t s = 0; s < policy->states; s++) {
        double sum = 0, *row = policy->probability + s * policy->actions;
        for (int64_t a = 0; a < policy->actions; a++) sum += row[a];
        for (int64_t a = 0; a < policy->actions && sum == 0; a++) row[a] = 1 / (double)policy->actions;
    }
}

static pess_status make(const pess__certification *job, const pess_model *model, const candidate_recipe *recipe,
                        pess_policy **out, pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = recipe->algorithm;
    options.gamma = pess__below_one(job->options->gamma);
    options.absorbed_alpha = recipe->alpha * (model->reward_hi - model->reward_lo);
    options.threads = job->threads;
    options.progress = job->options->progress;
    options.tolerance = fmax(1e-8 * (job->v_hi - job->v_lo), DBL_MIN);
    options.max_iterations = 20000; /* any policy will do */
    pess_solution *solution = NULL;
    PESS_TRY(pess_solve(job->split->first, model, job->start_first, &options, &solution, error));
    const pess_policy *found = pess_solution_policy(solution);
    const pess_status status = pess_policy_create(found->states, found->actions, found->probability, out, error);
    if (status == PESS_OK) complete(*out);
    pess_solution_destroy(solution);
    return status;
}

/* At many states the prediction leaves out the pooled test, which is the costly part of it. */
enum { PREDICT_STATES = 150 };

static pess_status try_all(pess__certification *job, const pess_model *model, const pess__holdout_setup *setup,
                           pess_policy **best, pess_error *error) {
    double best_score = -INFINITY;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        pess_policy *policy = NULL;
        PESS_TRY(make(job, model, &recipes[i], &policy, error));
        pess__holdout_setup dry = *setup;
        dry.policy = policy;
        dry.pooled = setup->pooled && setup->first->states <= PREDICT_STATES;
        double score = 0;
        const pess_status status = pess__holdout_predict(&dry, &score, error);
        if (status != PESS_OK) {
            pess_policy_destroy(policy);
            return status;
        }
        if (score > best_score) {
            best_score = score;
            pess_policy_destroy(*best);
            *best = policy;
        } else {
            pess_policy_destroy(policy);
        }
        PESS_TRY(pess__candidate_add(job->certificate, (pess_candidate){recipes[i].name, score, NAN}, error));
    }
    return PESS_OK;
}

pess_status pess__choose_policy(pess__certification *job, const pess__holdout_setup *setup, pess_policy **out,
                                pess_error *error) {
    const pess_model_options options = {.size = sizeof(pess_model_options),
                                        .unseen = PESS_UNSEEN_WORST,
                                        .reward_range = {setup->reward_lo, setup->reward_hi},
                                        .return_range = {setup->v_lo, setup->v_hi}};
    pess_model *model = NULL;
    pess_policy *best = NULL;
    PESS_TRY(pess_model_estimate(job->split->first, &options, &model, error));
    const pess_status status = try_all(job, model, setup, &best, error);
    pess_model_destroy(model);
    if (status == PESS_OK)
        *out = best;
    else
        pess_policy_destroy(best);
    return status;
}
