#include "certify/episode_recipes.h"

#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ the list */

/* A costly family is tried with one strength, and not at all beyond this number of states. */
enum { COSTLY_STATES = 128, COSTLY_STRENGTH = 2, COSTLY_ITERATIONS = 10 };

static int add_family(const pess__family *family, int64_t states, pess__recipe *out) {
    int count = 0;
    if (family->costly && states > COSTLY_STATES) return 0;
    /* Every second strength: what is tested need not be the very best. */
    for (int k = 0; k < pess__family_strengths(family); k += 2)
        if (!family->costly || k == COSTLY_STRENGTH)
            out[count++] = (pess__recipe){.kind = PESS__RECIPE_ALGORITHM, .family = family, .strength = k, .share = 1};
    return count;
}

int pess__recipe_list(const pess__certification *job, pess__recipe *out) {
    static const double divergences[] = {0.03, 0.1, 0.3, 1, 3, 10}, shrinkages[] = {8, 64, 512};
    const pess__family *family;
    int count = 0;
    out[count++] = (pess__recipe){.kind = PESS__RECIPE_BEHAVIOUR};
    for (size_t i = 0; i < sizeof divergences / sizeof *divergences; i++)
        for (size_t k = 0; k < sizeof shrinkages / sizeof *shrinkages; k++)
            out[count++] = (pess__recipe){
                .kind = PESS__RECIPE_TILT, .divergence = divergences[i], .shrinkage = shrinkages[k], .share = 1};
    for (size_t i = 0; (family = pess__family_list(i)) != NULL; i++)
        count += add_family(family, job->counts->states, out + count);
    return count;
}

void pess__recipe_name(const pess__recipe *r, char *text, size_t size) {
    char of[64] = "", share[64] = "";
    if (r->kind == PESS__RECIPE_GIVEN) {
        (void)snprintf(text, size, "the given policy");
    } else if (r->kind == PESS__RECIPE_BEHAVIOUR) {
        (void)snprintf(text, size, "the behaviour itself");
    } else {
        if (r->kind == PESS__RECIPE_TILT)
            (void)snprintf(of, sizeof of, "the behaviour, tilted by %g, shrunk by %g", r->divergence, r->shrinkage);
        else if (r->family->setting)
            (void)snprintf(of, sizeof of, "%s, %s %g", r->family->algorithm, r->family->setting,
                           r->family->grid[r->strength]);
        else
            (void)snprintf(of, sizeof of, "%s", r->family->algorithm);
        if (r->share < 1) (void)snprintf(share, sizeof share, ", %g of it mixed with the behaviour", r->share);
        (void)snprintf(text, size, "%s%s", of, share);
    }
}

/* ------------------------------------------------------------------------------------------------ values */

static pess_status copy_policy(const pess_policy *from, pess_policy **out, pess_error *error) {
    PESS_TRY(pess__policy_allocate(from->states, from->actions, out, error));
    for (int64_t z = 0; z < from->states * from->actions; z++) (*out)->probability[z] = fmin(from->probability[z], 1);
    return PESS_OK;
}

/* Any policy will do, and any q̂: a discount close to 1 is taken as one that an episode of usual length hardly notices.
 */
static double quick_discount(const pess__certification *job, const pess__choosing *choosing) {
    return fmin(job->options->gamma, 1 - 0.02 / choosing->length);
}

/* Takes actions that this part of the log never shows, of which the model knows nothing, off a row of the policy; where
 * it shows none, the row stays. */
static void keep_seen(const int64_t *n, int64_t actions, double *row) {
    double sum = 0;
    for (int64_t a = 0; a < actions; a++) sum += n[a] > 0 ? row[a] : 0;
    for (int64_t a = 0; a < actions && sum > 0; a++) row[a] = n[a] > 0 ? row[a] / sum : 0;
}

/* The policy without actions at states that are ends in this part of the log; `seen`: and without actions that are
 * never seen. */
static pess_status in_the_model(const pess__fit *fit, const pess_policy *policy, bool seen, pess_policy **out,
                                pess_error *error) {
    const int64_t actions = policy->actions;
    PESS_TRY(copy_policy(policy, out, error));
    for (int64_t s = 0; s < policy->states; s++) {
        double *row = (*out)->probability + s * actions;
        for (int64_t a = 0; a < actions && fit->model->terminal[s]; a++) row[a] = 0;
        if (seen) keep_seen(fit->counts->n + s * actions, actions, row);
    }
    return PESS_OK;
}

/* q [S*A] of the policy in the model of `fit`. */
static pess_status model_values(const pess__certification *job, const pess__choosing *choosing, const pess__fit *fit,
                                const pess_policy *policy, double *q, pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = quick_discount(job, choosing);
    options.threads = 1;
    pess_solution *solution = NULL;
    pess_policy *there = NULL;
    pess_status status = in_the_model(fit, policy, job->options->behaviour != NULL, &there, error);
    if (status == PESS_OK)
        status = pess_evaluate(fit->counts, fit->model, choosing->start, there, &options, &solution, error);
    if (status == PESS_OK) status = pess_q_values(fit->model, options.gamma, pess_solution_values(solution), q, error);
    pess_solution_destroy(solution);
    pess_policy_destroy(there);
    return status;
}

pess_status pess__recipe_values(const pess__certification *job, const pess__choosing *choosing, const pess__fit *fit,
                                const pess_policy *policy, double **out, pess_error *error) {
    const int64_t pairs = policy->states * policy->actions;
    const double *b = choosing->log.by_state;
    double *q = NULL;
    PESS_TRY(pess__allocate(&q, pairs, sizeof *q, "values of actions", error));
    const pess_status status = model_values(job, choosing, fit, policy, q, error);
    for (int64_t z = 0; status == PESS_OK && z < pairs; z++)
        q[z] = b != NULL && b[z] > 0 ? fmin(fmax(q[z] - job->v_lo, 0), job->v_hi - job->v_lo) : 0;
    if (status == PESS_OK)
        *out = q;
    else
        free(q);
    return status;
}

/* ------------------------------------------------------------------------------------------------ tilts */

/* advantage [S*A] <- (q − Σ_a b·q)·n/(n + shrinkage), and 0 where the behaviour does not act or n = 0; the sum is over
 * actions with n > 0. The shrinkage is how many times more the outcome of a sample varies than what actions are really
 * worth. Returns the mean over the steps of the log of Σ_a b·advantage². */
static double shrunk_advantages(const pess__fit *fit, const double *q, double shrinkage, double *advantage) {
    const pess_counts *counts = fit->counts;
    double sum = 0;
    for (int64_t s = 0; s < counts->states; s++) {
        const int64_t first = s * counts->actions, end = first + counts->actions;
        const double *b = fit->behaviour->probability;
        double value = 0, square = 0, unseen = 0;
        for (int64_t z = first; z < end; z++) {
            if (counts->n[z] > 0)
                value += b[z] > 0 ? b[z] * q[z] : 0;
            else
                unseen += b[z];
        }
        if (unseen > 0 && unseen < 1) value /= 1 - unseen;
        for (int64_t z = first; z < end; z++) {
            const double n = (double)counts->n[z];
            advantage[z] = b[z] > 0 && n > 0 ? (q[z] - value) * n / (n + shrinkage) : 0;
            square += b[z] * advantage[z] * advantage[z];
        }
        sum += (double)counts->n_state[s] * square;
    }
    return sum / (double)counts->transitions;
}

/* π(a|s) ∝ b(a|s)·exp(η·advantage). */
static void tilt(const pess_policy *behaviour, const double *advantage, double eta, pess_policy *policy) {
    static const double MOST = 4; /* of the exponent */
    for (int64_t s = 0; s < policy->states; s++) {
        const int64_t first = s * policy->actions, end = first + policy->actions;
        double sum = 0;
        for (int64_t z = first; z < end; z++)
            sum += policy->probability[z] =
                behaviour->probability[z] * exp(fmin(fmax(eta * advantage[z], -MOST), MOST));
        for (int64_t z = first; z < end && sum > 0; z++) policy->probability[z] /= sum;
    }
}

/* Of all policies whose weights vary as much, a tilt gains most: to first order in η it gains η·Σ b·A² a step, and an
 * episode's weight has the variance η²·Σ b·A² for each of its steps (Cauchy & Schwarz). η is chosen for that to be
 * `divergence`. The values are those of the tilted policy itself after some rounds. */
static pess_status make_tilt(const pess__certification *job, const pess__choosing *choosing, const pess__fit *fit,
                             const pess__recipe *recipe, pess_policy **out, pess_error *error) {
    enum { ROUNDS = 3 };
    double *q = NULL, *advantage = NULL;
    const int64_t pairs = fit->counts->states * fit->counts->actions;
    PESS_TRY(copy_policy(fit->behaviour, out, error));
    pess_status status = pess__allocate(&q, pairs, sizeof *q, "values of actions", error);
    if (status == PESS_OK) status = pess__allocate(&advantage, pairs, sizeof *advantage, "values of actions", error);
    for (int round = 0; status == PESS_OK && round < ROUNDS; round++) {
        status = model_values(job, choosing, fit, *out, q, error);
        if (status != PESS_OK) break;
        const double square = shrunk_advantages(fit, q, recipe->shrinkage, advantage);
        if (square > 0) tilt(fit->behaviour, advantage, sqrt(recipe->divergence / (choosing->length * square)), *out);
    }
    free(q);
    free(advantage);
    return status;
}

/* ------------------------------------------------------------------------------------------------ policies */

/* (1 − share)·behaviour + share·policy; the behaviour alone where the state was not seen. */
static void mix(const pess__fit *fit, double share, pess_policy *policy) {
    for (int64_t s = 0; s < policy->states; s++) {
        const double own = fit->counts->n_state[s] > 0 ? share : 0;
        const double *b = fit->behaviour->probability + s * policy->actions;
        double *row = policy->probability + s * policy->actions;
        bool none = true;
        for (int64_t a = 0; a < policy->actions; a++) none &= b[a] == 0;
        for (int64_t a = 0; a < policy->actions; a++)
            row[a] = none ? 1 / (double)policy->actions : (1 - own) * b[a] + own * row[a];
    }
}

static pess_status solve(const pess__certification *job, const pess__choosing *choosing, const pess__fit *fit,
                         const pess__recipe *recipe, pess_policy **out, pess_error *error) {
    const double unit = fit->model->reward_hi - fit->model->reward_lo;
    const pess__family_member candidate = pess__family_member_of(recipe->family, recipe->strength, unit);
    pess_solve_options base = pess_solve_options_defaults();
    base.gamma = quick_discount(job, choosing);
    base.threads = 1;
    base.tolerance = fmax(1e-5 * (job->v_hi - job->v_lo), DBL_MIN);
    base.max_iterations = recipe->family->costly ? COSTLY_ITERATIONS : 1000;
    const pess_solve_options options = pess__family_member_options(&candidate, &base);
    pess_solution *solution = NULL;
    PESS_TRY(pess_solve(fit->counts, fit->model, choosing->start, &options, &solution, error));
    const pess_status status = copy_policy(pess_solution_policy(solution), out, error);
    pess_solution_destroy(solution);
    return status;
}

pess_status pess__recipe_make(const pess__certification *job, const pess__choosing *choosing, const pess__fit *fit,
                              const pess__recipe *recipe, pess_policy **out, pess_error *error) {
    switch (recipe->kind) {
        case PESS__RECIPE_GIVEN: return copy_policy(job->options->policy, out, error);
        case PESS__RECIPE_BEHAVIOUR: PESS_TRY(copy_policy(fit->behaviour, out, error)); break;
        case PESS__RECIPE_TILT: PESS_TRY(make_tilt(job, choosing, fit, recipe, out, error)); break;
        case PESS__RECIPE_ALGORITHM: PESS_TRY(solve(job, choosing, fit, recipe, out, error)); break;
    }
    mix(fit, recipe->share, *out);
    return PESS_OK;
}
