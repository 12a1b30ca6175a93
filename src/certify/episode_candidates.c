#include "certify/episode_candidates.h"

#include "certify/betting.h"
#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ recipes */

enum { RECIPES = 128, STRENGTHS = 4, BETS = 12, BEST = 3 };

/* The strengths that are tried; those of rewards are times the range of rewards. */
typedef struct strength_grid {
    const char *setting;
    double values[STRENGTHS];
} strength_grid;

static const strength_grid grids[] = {
    {"min-count", {3, 10, 30, 100}},
    {"budget", {0.1, 0.5, 2, 8}},
    {"absorbed-alpha", {0.1, 0.3, 1, 3}},
};

static const strength_grid *grid_of(const char *algorithm) {
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        if (pess_algorithm_reads(algorithm, NULL, grids[i].setting)) return &grids[i];
    return NULL;
}

/* Every algorithm with each of its strengths. */
static int list_algorithms(pess__recipe *out) {
    const pess_algorithm_info *info;
    int count = 0;
    for (size_t i = 0; (info = pess_algorithm_list(i)) != NULL; i++) {
        const strength_grid *grid = grid_of(info->name);
        for (int k = 0; k < (grid ? STRENGTHS : 1) && count < RECIPES; k++)
            out[count++] = (pess__recipe){info->name, grid ? grid->setting : NULL, grid ? grid->values[k] : NAN, 1};
    }
    return count;
}

static void name_recipe(const pess__recipe *r, char *text, size_t size) {
    char strength[64] = "", share[64] = "";
    if (r->algorithm == NULL) {
        (void)snprintf(text, size, "the given policy");
        return;
    }
    if (r->setting) (void)snprintf(strength, sizeof strength, ", %s %g", r->setting, r->strength);
    if (r->share < 1) (void)snprintf(share, sizeof share, ", %g of it mixed with the behaviour", r->share);
    (void)snprintf(text, size, "%s%s%s", r->algorithm, strength, share);
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

static pess_status solve(const pess__certification *job, const pess__fit *fit, const pess__recipe *recipe,
                         pess_policy **out, pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    const double range = fit->model->reward_hi - fit->model->reward_lo;
    options.algorithm = recipe->algorithm;
    options.gamma = pess__below_one(job->options->gamma);
    options.threads = 1;
    options.tolerance = fmax(1e-6 * (job->v_hi - job->v_lo), DBL_MIN);
    options.max_iterations = 1000; /* any policy will do */
    if (recipe->setting) {
        char text[40];
        const bool of_rewards = pess_setting_listed("alpha absorbed-alpha", recipe->setting);
        (void)snprintf(text, sizeof text, "%.17g", recipe->strength * (of_rewards ? range : 1));
        PESS_TRY(pess_setting_set(pess_solve_settings(), &options, recipe->setting, text, error));
    }
    pess_solution *solution = NULL;
    PESS_TRY(pess_solve(fit->counts, fit->model, fit->start, &options, &solution, error));
    const pess_policy *found = pess_solution_policy(solution);
    const pess_status status = pess_policy_create(found->states, found->actions, found->probability, out, error);
    pess_solution_destroy(solution);
    return status;
}

static pess_status make(const pess__certification *job, const pess__fit *fit, const pess__recipe *recipe,
                        pess_policy **out, pess_error *error) {
    const pess_policy *given = job->options->policy;
    if (recipe->algorithm == NULL)
        return pess_policy_create(given->states, given->actions, given->probability, out, error);
    PESS_TRY(solve(job, fit, recipe, out, error));
    mix(fit, recipe->share, *out);
    return PESS_OK;
}

/* q̂ − lo of the policy in the model of `fit`, between 0 and hi − lo, and 0 where the behaviour is not known. Any would
 * be valid. */
static pess_status face_values(const pess__certification *job, const pess__choosing *choosing, const pess__fit *fit,
                               const pess_policy *policy, double **out, pess_error *error) {
    const int64_t pairs = policy->states * policy->actions;
    const double gamma = pess__below_one(job->options->gamma), *b = choosing->log.by_state;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = gamma;
    options.threads = 1;
    pess_solution *solution = NULL;
    PESS_TRY(pess_evaluate(fit->counts, fit->model, fit->start, policy, &options, &solution, error));
    double *q = NULL;
    pess_status status = pess__allocate(&q, pairs, sizeof *q, "values of actions", error);
    if (status == PESS_OK)
        status = pess_q_values(fit->model, gamma, pess_solution_values(solution), q, error);
    pess_solution_destroy(solution);
    for (int64_t z = 0; status == PESS_OK && z < pairs; z++)
        q[z] = b != NULL && b[z] > 0 ? fmin(fmax(q[z] - job->v_lo, 0), job->v_hi - job->v_lo) : 0;
    if (status == PESS_OK)
        *out = q;
    else
        free(q);
    return status;
}

/* ------------------------------------------------------------------------------------------------ scores */

/* The bets that may be made: what they need is known. */
static int list_bets(const pess__episode_log *log, pess__bet *out) {
    static const double floors[] = {0.25, 1, 4}, paired_floors[] = {1, 2, 4};
    int count = 0;
    out[count++] = (pess__bet){PESS__BET_WHOLE, false, INFINITY, 0};
    out[count++] = (pess__bet){PESS__BET_WHOLE, true, INFINITY, 0};
    if (log->reward_least >= 0) out[count++] = (pess__bet){PESS__BET_PER_DECISION, false, INFINITY, 0};
    for (int i = 0; i < 3 && log->by_state; i++) {
        out[count++] = (pess__bet){PESS__BET_DOUBLY_ROBUST, false, INFINITY, floors[i]};
        out[count++] = (pess__bet){PESS__BET_DOUBLY_ROBUST, true, INFINITY, paired_floors[i]};
    }
    return count;
}

typedef struct score {
    pess_status status;
    pess_error error;
    double value, difference; /* bounds that are expected of V^π and of V^π − V^b */
    int value_bet, difference_bet;
} score;

typedef struct search {
    const pess__certification *job;
    const pess__choosing *choosing;
    const pess__choice_rule *rule;
    pess__recipe recipes[RECIPES];
    score scores[RECIPES];
    int count;
    pess__bet bets[BETS];
    int bet_count;
} search;

/* values [bets][episodes]: each fold's by the policy that was fitted to the others. */
static pess_status cross_fit(const search *s, const pess__recipe *recipe, double *weights, double *values,
                             pess_error *error) {
    const pess__choosing *c = s->choosing;
    pess_status status = PESS_OK;
    for (int f = 0; status == PESS_OK && f < PESS__FOLDS; f++) {
        int64_t from, to;
        pess_policy *policy = NULL;
        double *q = NULL;
        bool void_bet;
        pess__choosing_fold(c, f, &from, &to);
        status = make(s->job, &c->folds[f], recipe, &policy, error);
        if (status == PESS_OK) status = face_values(s->job, c, &c->folds[f], policy, &q, error);
        for (int i = 0; status == PESS_OK && i < s->bet_count; i++) {
            const pess__bet_policy on = {policy->probability, q};
            status = pess__bet_values(&c->log, &on, &s->bets[i], from, to, weights, values + i * c->episodes + from,
                                      &void_bet, error);
        }
        pess_policy_destroy(policy);
        free(q);
    }
    return status;
}

static double expected_bound(const search *s, const pess__bet *bet, const double *values) {
    const double delta = bet->paired ? s->rule->delta_difference : s->rule->delta_value;
    return pess__bet_offset(&s->choosing->log, bet) +
           pess__bet_predicted(values, s->choosing->episodes, delta, s->rule->ratio);
}

static void rate(const search *s, const double *values, score *to) {
    to->value = to->difference = -INFINITY;
    for (int i = 0; i < s->bet_count; i++) {
        const double bound = expected_bound(s, &s->bets[i], values + i * s->choosing->episodes);
        double *best = s->bets[i].paired ? &to->difference : &to->value;
        if (!(bound > *best)) continue;
        *best = bound;
        *(s->bets[i].paired ? &to->difference_bet : &to->value_bet) = i;
    }
}

static void score_one(search *s, int index) {
    score *to = &s->scores[index];
    double *room = NULL;
    const int64_t episodes = s->choosing->episodes;
    *to = (score){0};
    to->status = pess__allocate(&room, (s->bet_count + 1) * episodes, sizeof *room, "bets on episodes", &to->error);
    if (to->status == PESS_OK)
        to->status = cross_fit(s, &s->recipes[index], room, room + episodes, &to->error);
    if (to->status == PESS_OK) rate(s, room + episodes, to);
    free(room);
}

/* Scores the recipes from `first` on. */
static pess_status score_all(search *s, int first, pess_error *error) {
    const int count = s->count;
#pragma omp parallel for num_threads(s->job->threads) schedule(dynamic, 1)
    for (int i = first; i < count; i++) score_one(s, i);
    for (int i = first; i < count; i++)
        if (s->scores[i].status != PESS_OK) {
            if (error) *error = s->scores[i].error;
            return s->scores[i].status;
        }
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ the choice */

static double score_by(const score *s, bool difference) { return difference ? s->difference : s->value; }

/* The best recipes by either score, mixed with the behaviour. */
static void add_mixtures(search *s) {
    static const double shares[] = {0.75, 0.5, 0.25, 0.1};
    const int pure = s->count;
    bool taken[RECIPES] = {false};
    for (int round = 0; round < 2 * BEST; round++) {
        int best = -1;
        for (int i = 0; i < pure; i++)
            if (!taken[i] && (best < 0 || score_by(&s->scores[i], round % 2) > score_by(&s->scores[best], round % 2)))
                best = i;
        if (best < 0) return;
        taken[best] = true;
        for (size_t k = 0; k < sizeof shares / sizeof *shares && s->count < RECIPES; k++) {
            s->recipes[s->count] = s->recipes[best];
            s->recipes[s->count++].share = shares[k];
        }
    }
}

/* An improvement where one is expected to be certified, else the largest bound. */
static int best_of(const search *s) {
    int value = 0, difference = 0;
    for (int i = 1; i < s->count; i++) {
        if (s->scores[i].value > s->scores[value].value) value = i;
        if (s->scores[i].difference > s->scores[difference].difference) difference = i;
    }
    return s->scores[difference].difference > 0 ? difference : value;
}

/* The cap with which the bet is expected to give most. */
static void choose_cap(const search *s, pess__bet *bet, double *values) {
    const double range = s->job->v_hi - s->job->v_lo;
    double best = expected_bound(s, bet, values);
    for (double cap = 64; cap >= 2; cap /= 2) {
        for (int64_t k = 0; k < s->choosing->episodes; k++) values[k] = fmin(values[k], cap * range);
        const double bound = expected_bound(s, bet, values);
        if (!(bound > best)) continue;
        best = bound;
        bet->cap = cap * range;
    }
}

static pess_status choose_bets(const search *s, int index, pess__choice *out, pess_error *error) {
    double *room = NULL;
    const int64_t episodes = s->choosing->episodes;
    const score *found = &s->scores[index];
    PESS_TRY(pess__allocate(&room, (s->bet_count + 1) * episodes, sizeof *room, "bets on episodes", error));
    const pess_status status = cross_fit(s, &s->recipes[index], room, room + episodes, error);
    out->value = s->bets[found->value_bet];
    out->difference = s->bets[found->difference_bet];
    if (status == PESS_OK) {
        choose_cap(s, &out->value, room + (1 + found->value_bet) * episodes);
        choose_cap(s, &out->difference, room + (1 + found->difference_bet) * episodes);
    }
    free(room);
    return status;
}

static pess_status list_candidates(pess__certification *job, const search *s, pess_error *error) {
    for (int i = 0; i < s->count; i++) {
        char name[96];
        name_recipe(&s->recipes[i], name, sizeof name);
        PESS_TRY(pess__candidate_add_named(job->certificate, name, s->scores[i].value, error));
    }
    return PESS_OK;
}

static pess_status choose(pess__certification *job, search *s, pess__choice *out, pess_error *error) {
    if (job->options->policy)
        s->recipes[s->count++] = (pess__recipe){.share = 1};
    else
        s->count = list_algorithms(s->recipes);
    s->bet_count = list_bets(&s->choosing->log, s->bets);
    PESS_TRY(score_all(s, 0, error));
    if (!job->options->policy) {
        const int pure = s->count;
        add_mixtures(s);
        PESS_TRY(score_all(s, pure, error));
    }
    const int best = best_of(s);
    out->candidate = job->certificate->candidate_count + best;
    PESS_TRY(list_candidates(job, s, error));
    PESS_TRY(choose_bets(s, best, out, error));
    PESS_TRY(make(job, &s->choosing->all, &s->recipes[best], &out->policy, error));
    return face_values(job, s->choosing, &s->choosing->all, out->policy, &out->q, error);
}

pess_status pess__choose_episode_policy(pess__certification *job, const pess__choosing *choosing,
                                        const pess__choice_rule *rule, pess__choice *out, pess_error *error) {
    search *s = NULL;
    PESS_TRY(pess__allocate(&s, 1, sizeof *s, "the choice of a policy", error));
    s->job = job;
    s->choosing = choosing;
    s->rule = rule;
    const pess_status status = choose(job, s, out, error);
    free(s);
    return status;
}

void pess__choice_release(pess__choice *choice) {
    pess_policy_destroy(choice->policy);
    free(choice->q);
    *choice = (pess__choice){0};
}
