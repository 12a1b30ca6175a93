/* Which policy to test: several algorithms run on the first part of the log, and the first part itself predicts what
 * the test on the second will certify. Nothing is paid for the choice, for the second part has no say in it. */
#include "certify/certificate.h"

#include "certify/robust.h"
#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
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
    bool sets;    /* the robust policy of the sets that the first part predicts */
    const pess_own_uncertainty *own;
} candidate_recipe;

/* From the most pessimistic on. The predictions flatter whoever relies on what was hardly tried, for they imagine that
 * the second part shows no other successors than the first: a bolder policy must be predicted to be clearly better. */
static const candidate_recipe recipes[] = {
    {.name = "robust in the sets of the first part", .sets = true},
    {.name = "ua, absorbed alpha 10", .algorithm = "ua", .alpha = 10},
    {.name = "ua, absorbed alpha 3", .algorithm = "ua", .alpha = 3},
    {.name = "ua, absorbed alpha 1", .algorithm = "ua", .alpha = 1},
    {.name = "ua, absorbed alpha 0.3", .algorithm = "ua", .alpha = 0.3},
    {.name = "naive", .algorithm = "naive"},
};
static const double CLEARLY = 1.05;

/* A state that the first part shows only after an end has no row yet: there the policy takes every action alike. */
static void complete(pess_policy *policy) {
    for (int64_t s = 0; s < policy->states; s++) {
        double sum = 0, *row = policy->probability + s * policy->actions;
        for (int64_t a = 0; a < policy->actions; a++) sum += row[a];
        for (int64_t a = 0; a < policy->actions && sum == 0; a++) row[a] = 1 / (double)policy->actions;
    }
}

/* The sets that the second part would give if it were the first, scaled up. */
static pess_status predicted_sets(const pess__holdout_setup *setup, const pess_counts *imagined, pess_model **model,
                                  pess__robust **out, pess_error *error) {
    const pess_model_options range = {.size = sizeof(pess_model_options),
                                      .unseen = PESS_UNSEEN_WORST,
                                      .reward_range = {setup->reward_lo, setup->reward_hi},
                                      .return_range = {NAN, NAN}};
    const double share = setup->delta_box + setup->delta_sets;
    PESS_TRY(pess_model_estimate(imagined, &range, model, error));
    memcpy((*model)->terminal, setup->terminal, (size_t)imagined->states);
    (*model)->has_terminals = setup->ends;
    const pess__u_problem problem = {.counts = imagined,
                                     .model = *model,
                                     .gamma = setup->gamma,
                                     .delta = share,
                                     .v_lo = setup->v_lo,
                                     .v_hi = setup->v_hi,
                                     .trajectories = setup->trajectories,
                                     .max_successors = setup->max_successors,
                                     .threads = setup->threads};
    const pess__robust_delta delta = {share, share, share, share};
    PESS_TRY(pess__robust_create(&problem, "support", setup->first, imagined, delta, out, error));
    (*out)->steps = setup->steps;
    return PESS_OK;
}

/* The policy of the best worst case in them. */
static pess_status robust_policy(const pess__holdout_setup *setup, pess_policy **out, pess_error *error) {
    const int64_t states = setup->first->states;
    pess_counts *imagined = NULL;
    pess_model *model = NULL;
    pess__robust *robust = NULL;
    double *v = NULL;
    int32_t *found = NULL;
    pess__sweeps sweeps = {0};
    pess_status status = pess__counts_scale(setup->first, setup->ratio, &imagined, error);
    if (status == PESS_OK) status = predicted_sets(setup, imagined, &model, &robust, error);
    if (status == PESS_OK) status = pess__allocate(&v, states, sizeof *v, "values", error);
    if (status == PESS_OK) status = pess__allocate(&found, states, sizeof *found, "actions", error);
    if (status == PESS_OK) status = pess__robust_value(robust, 1, NULL, v, found, &sweeps, error);
    for (int64_t s = 0; status == PESS_OK && s < states; s++)
        if (setup->first->n_state[s] == 0) found[s] = -1;
    if (status == PESS_OK) status = pess__policy_of_actions(model, found, out, error);
    if (status == PESS_OK) complete(*out);
    free(v);
    free(found);
    pess__robust_destroy(robust);
    pess_model_destroy(model);
    pess_counts_destroy(imagined);
    return status;
}

static pess_status make(const pess__certification *job, const pess_model *model, const candidate_recipe *recipe,
                        pess_policy **out, pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = recipe->algorithm;
    options.gamma = pess__below_one(job->options->gamma);
    options.own_uncertainty = recipe->own;
    if (recipe->own == NULL) options.absorbed_alpha = recipe->alpha * (model->reward_hi - model->reward_lo);
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

/* What is known while candidates are tried. */
typedef struct contest {
    pess_policy *best;
    double score; /* predicted, of the best */
    int64_t row;  /* its place among the certificate's candidates */
} contest;

/* Makes the policy of a recipe and keeps it where its prediction is clearly better than the best so far. */
static pess_status try_recipe(pess__certification *job, const pess_model *model, const pess__holdout_setup *setup,
                              const candidate_recipe *recipe, contest *so_far, pess_error *error) {
    pess_policy *policy = NULL;
    PESS_TRY(pess__goes_on(job->monitor, error));
    PESS_TRY(recipe->sets ? robust_policy(setup, &policy, error) : make(job, model, recipe, &policy, error));
    pess__holdout_setup dry = *setup;
    dry.policy = policy;
    dry.pooled = setup->pooled && setup->first->states <= PREDICT_STATES;
    double score = 0;
    const pess_status status = pess__holdout_predict(&dry, &score, error);
    if (status == PESS_OK && score - job->v_lo > CLEARLY * (so_far->score - job->v_lo)) {
        pess_policy_destroy(so_far->best);
        *so_far = (contest){policy, score, job->certificate->candidate_count};
    } else {
        pess_policy_destroy(policy);
    }
    if (status != PESS_OK) return status;
    return pess__candidate_add(job->certificate, (pess_candidate){recipe->name, score, NAN}, error);
}

static pess_status try_all(pess__certification *job, const pess_model *model, const pess__holdout_setup *setup,
                           contest *so_far, pess_error *error) {
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        PESS_TRY(try_recipe(job, model, setup, &recipes[i], so_far, error));
    const pess_own_uncertainty *own = job->options->own_uncertainty;
    if (own == NULL) return PESS_OK;
    const candidate_recipe callers = {.name = own->name, .algorithm = "ua", .own = own};
    return try_recipe(job, model, setup, &callers, so_far, error);
}

pess_status pess__choose_policy(pess__certification *job, const pess__holdout_setup *setup, pess_policy **out,
                                int64_t *row, pess_error *error) {
    const pess_model_options options = {.size = sizeof(pess_model_options),
                                        .unseen = PESS_UNSEEN_WORST,
                                        .reward_range = {setup->reward_lo, setup->reward_hi},
                                        .return_range = {setup->v_lo, setup->v_hi}};
    pess_model *model = NULL;
    contest so_far = {.score = -INFINITY};
    PESS_TRY(pess_model_estimate(job->split->first, &options, &model, error));
    const pess_status status = try_all(job, model, setup, &so_far, error);
    pess_model_destroy(model);
    if (status == PESS_OK) {
        *out = so_far.best;
        *row = so_far.row;
    } else {
        pess_policy_destroy(so_far.best);
    }
    return status;
}
