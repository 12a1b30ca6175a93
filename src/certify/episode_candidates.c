#include "certify/episode_candidates.h"

#include "certify/betting.h"
#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ recipes */

enum { RECIPES = 128, STRENGTHS = 4, BETS = 12, BEST = 3 };

/* The strengths that are tried. */
typedef struct strength_grid {
    const char *setting;
    bool sets;       /* for algorithms with sets, whose radius is scaled */
    bool of_rewards; /* times the range of rewards */
    double values[STRENGTHS];
} strength_grid;

static const strength_grid grids[] = {
    {"min-count", false, false, {3, 10, 30, 100}},
    {"budget", false, false, {0.1, 0.5, 2, 8}},
    {"alpha", true, false, {0.003, 0.01, 0.03, 0.1}},
    {"absorbed-alpha", false, true, {0.1, 0.3, 1, 3}},
};

static const strength_grid *grid_of(const pess_algorithm_info *info) {
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        if (pess_setting_listed(info->settings, grids[i].setting) && (info->takes_sets_only || !grids[i].sets))
            return &grids[i];
    return NULL;
}

/* One algorithm optimises over all policies at once: seconds rather than milliseconds where states are many. It is
 * tried with one strength, and not at all beyond this number of states. */
enum { COSTLY_STATES = 128, COSTLY_STRENGTH = 2, COSTLY_ITERATIONS = 10 };
static bool is_costly(const char *algorithm) { return strcmp(algorithm, "density-proximal") == 0; }

/* The behaviour, and every algorithm with each of its strengths. */
static int list_algorithms(int64_t states, pess__recipe *out) {
    const pess_algorithm_info *info;
    int count = 0;
    out[count++] = (pess__recipe){"imitation", NULL, NAN, false, 0};
    for (size_t i = 0; (info = pess_algorithm_list(i)) != NULL; i++) {
        const strength_grid *grid = grid_of(info);
        const bool costly = is_costly(info->name);
        if (costly && states > COSTLY_STATES) continue;
        for (int k = 0; k < (grid ? STRENGTHS : 1) && count < RECIPES; k++) {
            if (costly && k != COSTLY_STRENGTH) continue;
            out[count++] = grid ? (pess__recipe){info->name, grid->setting, grid->values[k], grid->of_rewards, 1}
                                : (pess__recipe){info->name, NULL, NAN, false, 1};
        }
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
    if (r->share > 0)
        (void)snprintf(text, size, "%s%s%s", r->algorithm, strength, share);
    else
        (void)snprintf(text, size, "the behaviour itself");
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

static pess_status copy_policy(const pess_policy *from, pess_policy **out, pess_error *error) {
    PESS_TRY(pess__policy_allocate(from->states, from->actions, out, error));
    for (int64_t z = 0; z < from->states * from->actions; z++) (*out)->probability[z] = fmin(from->probability[z], 1);
    return PESS_OK;
}

/* Any policy will do, and any q̂: a discount close to 1 is taken as one that an episode of usual length hardly notices.
 */
static double quick_discount(const pess__certification *job) {
    const double length = (double)job->counts->transitions / (double)job->counts->episodes;
    return fmin(job->options->gamma, 1 - 0.02 / length);
}

static pess_status solve(const pess__certification *job, const pess__fit *fit, const pess__recipe *recipe,
                         pess_policy **out, pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    const double range = fit->model->reward_hi - fit->model->reward_lo;
    options.algorithm = recipe->algorithm;
    options.gamma = quick_discount(job);
    options.threads = 1;
    options.tolerance = fmax(1e-5 * (job->v_hi - job->v_lo), DBL_MIN);
    options.max_iterations = is_costly(recipe->algorithm) ? COSTLY_ITERATIONS : 1000; /* any policy will do */
    if (recipe->setting) {
        char text[40];
        (void)snprintf(text, sizeof text, "%.17g", recipe->strength * (recipe->of_rewards ? range : 1));
        PESS_TRY(pess_setting_set(pess_solve_settings(), &options, recipe->setting, text, error));
    }
    pess_solution *solution = NULL;
    PESS_TRY(pess_solve(fit->counts, fit->model, fit->start, &options, &solution, error));
    const pess_status status = copy_policy(pess_solution_policy(solution), out, error);
    pess_solution_destroy(solution);
    return status;
}

static pess_status make(const pess__certification *job, const pess__fit *fit, const pess__recipe *recipe,
                        pess_policy **out, pess_error *error) {
    if (recipe->algorithm == NULL) return copy_policy(job->options->policy, out, error);
    PESS_TRY(solve(job, fit, recipe, out, error));
    mix(fit, recipe->share, *out);
    return PESS_OK;
}

/* The policy without actions at states that are ends in this part of the log. */
static pess_status without_ends(const pess__fit *fit, const pess_policy *policy, pess_policy **out, pess_error *error) {
    PESS_TRY(copy_policy(policy, out, error));
    for (int64_t s = 0; s < policy->states; s++)
        for (int64_t a = 0; a < policy->actions && fit->model->terminal[s]; a++)
            (*out)->probability[s * policy->actions + a] = 0;
    return PESS_OK;
}

/* q̂ − lo of the policy in the model of `fit`, between 0 and hi − lo, and 0 where the behaviour is not known. Any would
 * be valid. */
static pess_status face_values(const pess__certification *job, const pess__choosing *choosing, const pess__fit *fit,
                               const pess_policy *policy, double **out, pess_error *error) {
    const int64_t pairs = policy->states * policy->actions;
    const double gamma = quick_discount(job), *b = choosing->log.by_state;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = gamma;
    options.threads = 1;
    pess_solution *solution = NULL;
    pess_policy *there = NULL;
    double *q = NULL;
    pess_status status = pess__allocate(&q, pairs, sizeof *q, "values of actions", error);
    if (status == PESS_OK) status = without_ends(fit, policy, &there, error);
    if (status == PESS_OK)
        status = pess_evaluate(fit->counts, fit->model, fit->start, there, &options, &solution, error);
    if (status == PESS_OK) status = pess_q_values(fit->model, gamma, pess_solution_values(solution), q, error);
    pess_solution_destroy(solution);
    pess_policy_destroy(there);
    for (int64_t z = 0; status == PESS_OK && z < pairs; z++)
        q[z] = b != NULL && b[z] > 0 ? fmin(fmax(q[z] - job->v_lo, 0), job->v_hi - job->v_lo) : 0;
    if (status == PESS_OK)
        *out = q;
    else
        free(q);
    return status;
}

/* ------------------------------------------------------------------------------------------------ scores */

/* Scores are the bounds that the choosing episodes give themselves. Bounds that more episodes are expected to give
 * would favour candidates whose weights happen to be tame on few episodes: among sixty there are some. */
typedef struct score {
    pess_status status;
    pess_error error;
    double value, difference; /* bounds of V^π and of V^π − V^b */
    double expected;          /* what the tested episodes are expected to give of V^π − V^b */
    int value_bet, difference_bet;
} score;

typedef struct search {
    const pess__certification *job;
    const pess__choosing *choosing;
    const pess__choice_rule *rule;
    pess__recipe recipes[RECIPES];
    score scores[RECIPES];
    int count;
    pess__bet bets[BETS]; /* those that are quick first */
    int bet_count;        /* that are tried now */
    int quick, all;
} search;

/* The bets that may be made: what they need is known. */
static void list_bets(search *s) {
    static const double floors[] = {4, 16, 64};
    const pess__episode_log *log = &s->choosing->log;
    int count = 0;
    s->bets[count++] = (pess__bet){PESS__BET_WHOLE, false, INFINITY, 0};
    s->bets[count++] = (pess__bet){PESS__BET_WHOLE, true, INFINITY, 0};
    if (log->reward_least >= 0) s->bets[count++] = (pess__bet){PESS__BET_PER_DECISION, false, INFINITY, 0};
    s->quick = count;
    for (int i = 0; i < 3 && log->by_state; i++) {
        s->bets[count++] = (pess__bet){PESS__BET_DOUBLY_ROBUST, false, INFINITY, floors[i]};
        s->bets[count++] = (pess__bet){PESS__BET_DOUBLY_ROBUST, true, INFINITY, floors[i]};
    }
    s->all = count;
}

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

/* What a bet on `times` as many episodes gives. */
static double bound_of(const search *s, const pess__bet *bet, const double *values, double times) {
    const double delta = bet->paired ? s->rule->delta_difference : s->rule->delta_value;
    return pess__bet_offset(&s->choosing->log, bet) + pess__bet_predicted(values, s->choosing->episodes, delta, times);
}

static void rate(const search *s, const double *values, score *to) {
    const int64_t episodes = s->choosing->episodes;
    to->value = to->difference = -INFINITY;
    for (int i = 0; i < s->bet_count; i++) {
        const double bound = bound_of(s, &s->bets[i], values + i * episodes, 1);
        double *best = s->bets[i].paired ? &to->difference : &to->value;
        if (!(bound > *best)) continue;
        *best = bound;
        *(s->bets[i].paired ? &to->difference_bet : &to->value_bet) = i;
    }
    to->expected = bound_of(s, &s->bets[to->difference_bet], values + to->difference_bet * episodes, s->rule->ratio);
}

static void score_one(search *s, int index) {
    score *to = &s->scores[index];
    double *room = NULL;
    const int64_t episodes = s->choosing->episodes;
    *to = (score){0};
    to->status = pess__allocate(&room, (s->bet_count + 1) * episodes, sizeof *room, "bets on episodes", &to->error);
    if (to->status == PESS_OK) to->status = cross_fit(s, &s->recipes[index], room, room + episodes, &to->error);
    if (to->status == PESS_OK) rate(s, room + episodes, to);
    free(room);
}

/* Scores the recipes that are listed. */
static pess_status score_all(search *s, const int *list, int count, pess_error *error) {
#pragma omp parallel for num_threads(s->job->threads) schedule(dynamic, 1)
    for (int i = 0; i < count; i++) score_one(s, list[i]);
    for (int i = 0; i < count; i++) {
        const score *found = &s->scores[list[i]];
        if (found->status == PESS_OK) continue;
        if (error) *error = found->error;
        return found->status;
    }
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ the choice */

static double score_by(const score *s, bool difference) { return difference ? s->difference : s->value; }

/* The best recipes by either score, and mixtures of them with the behaviour: to be scored with all bets. Returns how
 * many are listed. */
static int list_best(search *s, int *list) {
    static const double shares[] = {0.75, 0.5, 0.25, 0.1};
    const int pure = s->count;
    bool taken[RECIPES] = {false};
    int count = 0;
    for (int round = 0; round < 2 * BEST; round++) {
        int best = -1;
        for (int i = 0; i < pure; i++)
            if (!taken[i] && (best < 0 || score_by(&s->scores[i], round % 2) > score_by(&s->scores[best], round % 2)))
                best = i;
        if (best < 0) break;
        taken[best] = true;
        list[count++] = best;
        for (size_t k = 0; s->recipes[best].share > 0 && k < sizeof shares / sizeof *shares && s->count < RECIPES;
             k++) {
            list[count++] = s->count;
            s->recipes[s->count] = s->recipes[best];
            s->recipes[s->count++].share = shares[k];
        }
    }
    return count;
}

/* An improvement where one is expected to be certified, else the largest bound. */
static int best_of(const search *s) {
    int value = 0, difference = 0;
    for (int i = 1; i < s->count; i++) {
        if (s->scores[i].value > s->scores[value].value) value = i;
        if (s->scores[i].difference > s->scores[difference].difference) difference = i;
    }
    return s->scores[difference].expected > 0 ? difference : value;
}

/* The cap with which the bet is expected to give most. */
static void choose_cap(const search *s, pess__bet *bet, double *values) {
    const double range = s->job->v_hi - s->job->v_lo;
    double best = bound_of(s, bet, values, 1);
    for (int cap = 64; cap >= 2; cap /= 2) {
        for (int64_t k = 0; k < s->choosing->episodes; k++) values[k] = fmin(values[k], cap * range);
        const double bound = bound_of(s, bet, values, 1);
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
        s->count = list_algorithms(job->counts->states, s->recipes);
    int list[RECIPES], best_count = 1;
    list_bets(s);
    for (int i = 0; i < s->count; i++) list[i] = i;
    if (!job->options->policy) {
        s->bet_count = s->quick;
        PESS_TRY(score_all(s, list, s->count, error));
        best_count = list_best(s, list);
    }
    s->bet_count = s->all;
    PESS_TRY(score_all(s, list, best_count, error));
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
