#include "certify/episode_candidates.h"

#include "certify/betting.h"
#include "certify/episode_recipes.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

enum { BETS = 16, BEST = 3 };

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
    pess__recipe recipes[PESS__RECIPES];
    score scores[PESS__RECIPES];
    int count;
    pess__bet bets[BETS]; /* those that are quick first */
    int bet_count;        /* that are tried now */
    int quick, all;
    double times; /* choosing episodes over scored ones */
} search;

/* The bets that may be made: what they need is known. */
static void list_bets(search *s) {
    static const double floors[] = {0.5, 2, 8, 32};
    const pess__episode_log *log = &s->choosing->log;
    int count = 0;
    s->bets[count++] = (pess__bet){PESS__BET_WHOLE, false, INFINITY, 0};
    s->bets[count++] = (pess__bet){PESS__BET_WHOLE, true, INFINITY, 0};
    if (log->reward_least >= 0) s->bets[count++] = (pess__bet){PESS__BET_PER_DECISION, false, INFINITY, 0};
    s->quick = count;
    for (int i = 0; i < 4 && log->by_state; i++) {
        s->bets[count++] = (pess__bet){PESS__BET_DOUBLY_ROBUST, false, INFINITY, floors[i]};
        s->bets[count++] = (pess__bet){PESS__BET_DOUBLY_ROBUST, true, INFINITY, 1 + floors[i]};
    }
    s->all = count;
}

/* values [bets][scored]: each fold's by the policy that was fitted to the others. weights [scored]. */
static pess_status cross_fit(const search *s, const pess__recipe *recipe, double *weights, double *values,
                             pess_error *error) {
    const pess__choosing *c = s->choosing;
    pess_status status = PESS_OK;
    for (int f = 0; status == PESS_OK && f < PESS__FOLDS; f++) {
        int64_t from, to, place;
        pess_policy *policy = NULL;
        double *q = NULL;
        bool void_bet;
        pess__choosing_scored(c, f, &from, &to, &place);
        status = pess__recipe_make(s->job, c, &c->folds[f], recipe, &policy, error);
        if (status == PESS_OK && s->bet_count > s->quick)
            status = pess__recipe_values(s->job, c, &c->folds[f], policy, &q, error);
        const pess__bet_policy on = {status == PESS_OK ? policy->probability : NULL, q};
        if (status == PESS_OK) pess__bet_weights(&c->log, &on, from, to, weights);
        for (int i = 0; status == PESS_OK && i < s->bet_count; i++) {
            status = pess__bet_values(&c->log, &on, &s->bets[i], from, to, weights, values + i * c->scored + place,
                                      &void_bet, error);
        }
        pess_policy_destroy(policy);
        free(q);
    }
    return status;
}

/* What a bet on `times` as many episodes as choose gives. */
static double bound_of(const search *s, const pess__bet *bet, const double *values, double times) {
    const double delta = bet->paired ? s->rule->delta_difference : s->rule->delta_value;
    return pess__bet_offset(&s->choosing->log, bet) +
           pess__bet_predicted(values, s->choosing->scored, delta, times * s->times);
}

static void rate(const search *s, const double *values, score *to) {
    const int64_t episodes = s->choosing->scored;
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
    const int64_t episodes = s->choosing->scored;
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
    bool taken[PESS__RECIPES] = {false};
    int count = 0;
    for (int round = 0; round < 2 * BEST; round++) {
        int best = -1;
        for (int i = 0; i < pure; i++)
            if (!taken[i] && (best < 0 || score_by(&s->scores[i], round % 2) > score_by(&s->scores[best], round % 2)))
                best = i;
        if (best < 0) break;
        taken[best] = true;
        list[count++] = best;
        for (size_t k = 0; s->recipes[best].kind == PESS__RECIPE_ALGORITHM && k < sizeof shares / sizeof *shares &&
                           s->count < PESS__RECIPES;
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
        for (int64_t k = 0; k < s->choosing->scored; k++) values[k] = fmin(values[k], cap * range);
        const double bound = bound_of(s, bet, values, 1);
        if (!(bound > best)) continue;
        best = bound;
        bet->cap = cap * range;
    }
}

static pess_status choose_bets(const search *s, int index, pess__choice *out, pess_error *error) {
    double *room = NULL;
    const int64_t episodes = s->choosing->scored;
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
        char name[128];
        pess__recipe_name(&s->recipes[i], name, sizeof name);
        PESS_TRY(pess__candidate_add_named(job->certificate, name, s->scores[i].value, error));
    }
    return PESS_OK;
}

static pess_status choose(pess__certification *job, search *s, pess__choice *out, pess_error *error) {
    if (job->options->policy)
        s->recipes[s->count++] = (pess__recipe){.kind = PESS__RECIPE_GIVEN};
    else
        s->count = pess__recipe_list(job, s->recipes);
    int list[PESS__RECIPES], best_count = 1;
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
    const pess__fit *all = &s->choosing->all;
    PESS_TRY(pess__recipe_make(job, s->choosing, all, &s->recipes[best], &out->policy, error));
    return pess__recipe_values(job, s->choosing, all, out->policy, &out->q, error);
}

pess_status pess__choose_episode_policy(pess__certification *job, const pess__choosing *choosing,
                                        const pess__choice_rule *rule, pess__choice *out, pess_error *error) {
    search *s = NULL;
    PESS_TRY(pess__allocate(&s, 1, sizeof *s, "the choice of a policy", error));
    s->job = job;
    s->choosing = choosing;
    s->rule = rule;
    s->times = (double)choosing->episodes / (double)choosing->scored;
    const pess_status status = choose(job, s, out, error);
    free(s);
    return status;
}

void pess__choice_release(pess__choice *choice) {
    pess_policy_destroy(choice->policy);
    free(choice->q);
    *choice = (pess__choice){0};
}
