#include "certify/episode_candidates.h"

#include "certify/betting.h"
#include "certify/episode_recipes.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

/* FEW: episodes on which all candidates are scored, at most; FINALISTS by each score go on to all of them. */
enum { BETS = 16, BEST = 2, FEW = 1 << 14, FINALISTS = 2 };

/* ------------------------------------------------------------------------------------------------ scores */

/* Scores are the bounds that the choosing episodes give themselves. Bounds that more episodes are expected to give
 * would favour candidates whose weights happen to be tame on few episodes: among sixty there are some. */
typedef struct score {
    pess_status status;
    pess_error error;
    double value, difference; /* bounds of V^π and of V^π − V^b */
    double careful;           /* of V^π − V^b, where the choosing episodes were no more than those scored */
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
    int64_t scored; /* episodes */
    double times;   /* choosing episodes over scored ones */
    bool final;     /* each candidate with the bets that were best for it, and the next floors: more episodes, higher */
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

/* Is the bet tried now, of a candidate that has this score so far? */
static bool is_tried(const search *s, const score *so_far, int bet) {
    if (!s->final) return bet < s->bet_count;
    const int value = so_far->value_bet, difference = so_far->difference_bet; /* the next floor is two places on */
    return bet == value || bet == difference || (value >= s->quick && bet == value + 2) ||
           (difference >= s->quick && bet == difference + 2);
}

/* values [bets][scored] of those that are tried: each fold's by the policy that was fitted to the others. weights
 * [scored]. */
static pess_status cross_fit(const search *s, const pess__recipe *recipe, const score *so_far, double *weights,
                             double *values, pess_error *error) {
    const pess__choosing *c = s->choosing;
    pess_status status = PESS_OK;
    for (int f = 0; status == PESS_OK && f < PESS__FOLDS; f++) {
        int64_t from, to, place;
        pess_policy *policy = NULL;
        double *q = NULL;
        bool void_bet;
        pess__choosing_scored(c, s->scored, f, &from, &to, &place);
        status = pess__recipe_make(s->job, c, &c->folds[f], recipe, &policy, error);
        if (status == PESS_OK && s->bet_count > s->quick)
            status = pess__recipe_values(s->job, c, &c->folds[f], policy, &q, error);
        const pess__bet_policy on = {status == PESS_OK ? policy->probability : NULL, q};
        if (status == PESS_OK) pess__bet_weights(&c->log, &on, from, to, weights);
        for (int i = 0; status == PESS_OK && i < s->bet_count; i++)
            if (is_tried(s, so_far, i))
                status = pess__bet_values(&c->log, &on, &s->bets[i], from, to, weights, values + i * s->scored + place,
                                          &void_bet, error);
        pess_policy_destroy(policy);
        free(q);
    }
    return status;
}

/* What a bet on `times` as many episodes as choose gives. */
static double bound_of(const search *s, const pess__bet *bet, const double *values, double times) {
    const double delta = bet->paired ? s->rule->delta_difference : s->rule->delta_value;
    return pess__bet_offset(&s->choosing->log, bet) + pess__bet_predicted(values, s->scored, delta, times * s->times);
}

static score rate(const search *s, const score *so_far, const double *values) {
    score found = {.value = -INFINITY, .difference = -INFINITY};
    for (int i = 0; i < s->bet_count; i++) {
        if (!is_tried(s, so_far, i)) continue;
        const double bound = bound_of(s, &s->bets[i], values + i * s->scored, 1);
        double *best = s->bets[i].paired ? &found.difference : &found.value;
        if (!(bound > *best)) continue;
        *best = bound;
        *(s->bets[i].paired ? &found.difference_bet : &found.value_bet) = i;
    }
    const pess__bet *bet = &s->bets[found.difference_bet];
    const double *paired = values + found.difference_bet * s->scored;
    found.expected = bound_of(s, bet, paired, s->rule->ratio);
    found.careful = s->times > 1 ? bound_of(s, bet, paired, 1 / s->times) : found.difference;
    return found;
}

static void score_one(search *s, int index) {
    const score so_far = s->scores[index];
    score *to = &s->scores[index];
    double *room = NULL;
    to->status = pess__allocate(&room, (s->bet_count + 1) * s->scored, sizeof *room, "bets on episodes", &to->error);
    if (to->status == PESS_OK)
        to->status = cross_fit(s, &s->recipes[index], &so_far, room, room + s->scored, &to->error);
    if (to->status == PESS_OK) *to = rate(s, &so_far, room + s->scored);
    free(room);
}

/* Scores the recipes that are listed. */
static pess_status score_all(search *s, const int *list, int count, pess_error *error) {
    PESS_TRY(pess__goes_on(s->job->monitor, error));
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

typedef enum kind { VALUE, DIFFERENCE, CAREFUL, KINDS } kind;

static double score_by(const score *s, kind by) {
    return by == VALUE ? s->value : by == DIFFERENCE ? s->difference : s->careful;
}

/* The best recipe of those not taken yet, −1: none; `algorithms`: of these alone. */
static int best_left(const search *s, const bool *taken, bool algorithms, kind by) {
    int best = -1;
    for (int i = 0; i < s->count; i++) {
        if (taken[i] || (algorithms && s->recipes[i].kind != PESS__RECIPE_ALGORITHM)) continue;
        if (best < 0 || score_by(&s->scores[i], by) > score_by(&s->scores[best], by)) best = i;
    }
    return best;
}

/* What is scored with all bets: the best recipes by either score, all tilts, which gain most from doubly robust bets,
 * and mixtures of the best algorithms with the behaviour. Returns how many are listed. */
static int list_best(search *s, int *list) {
    static const double shares[] = {0.5, 0.25, 0.1};
    bool taken[PESS__RECIPES] = {false};
    int count = 0, algorithms[2];
    for (int k = 0; k < 2; k++) algorithms[k] = best_left(s, taken, true, (kind)k);
    for (int i = 0; i < s->count; i++)
        if ((taken[i] = s->recipes[i].kind == PESS__RECIPE_TILT)) list[count++] = i;
    for (int round = 0; round < 2 * BEST; round++) {
        const int best = best_left(s, taken, false, (kind)(round % 2));
        if (best < 0) break;
        taken[best] = true;
        list[count++] = best;
    }
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof shares / sizeof *shares && s->count < PESS__RECIPES; i++) {
            if (k == 1 && algorithms[1] == algorithms[0]) break;
            list[count++] = s->count;
            s->recipes[s->count] = s->recipes[algorithms[k]];
            s->recipes[s->count++].share = shares[i];
        }
    return count;
}

/* Scored on few episodes, heavy weights may look tame: those that are best then, and those that would be best if there
 * were no more, are scored on all. */
static int list_finalists(const search *s, int *list) {
    bool taken[PESS__RECIPES] = {false};
    int count = 0;
    for (int round = 0; round < KINDS * FINALISTS; round++) {
        const int best = best_left(s, taken, false, (kind)(round % KINDS));
        if (best < 0) break;
        taken[best] = true;
        list[count++] = best;
    }
    return count;
}

/* Of those listed an improvement where one is expected to be certified, else the largest bound. */
static int best_of(const search *s, const int *list, int count) {
    int value = list[0], difference = list[0];
    for (int k = 1; k < count; k++) {
        if (s->scores[list[k]].value > s->scores[value].value) value = list[k];
        if (s->scores[list[k]].difference > s->scores[difference].difference) difference = list[k];
    }
    return s->scores[difference].expected > 0 ? difference : value;
}

/* The cap with which the bet is expected to give most. */
static void choose_cap(const search *s, pess__bet *bet, double *values) {
    const double range = s->job->v_hi - s->job->v_lo;
    double best = bound_of(s, bet, values, 1);
    for (int cap = 64; cap >= 2; cap /= 2) {
        for (int64_t k = 0; k < s->scored; k++) values[k] = fmin(values[k], cap * range);
        const double bound = bound_of(s, bet, values, 1);
        if (!(bound > best)) continue;
        best = bound;
        bet->cap = cap * range;
    }
}

static pess_status choose_bets(search *s, int index, pess__chosen_policy *out, pess_error *error) {
    double *room = NULL;
    const score *found = &s->scores[index];
    s->final = true;
    PESS_TRY(pess__allocate(&room, (s->bet_count + 1) * s->scored, sizeof *room, "bets on episodes", error));
    const pess_status status = cross_fit(s, &s->recipes[index], found, room, room + s->scored, error);
    out->value = s->bets[found->value_bet];
    out->difference = s->bets[found->difference_bet];
    if (status == PESS_OK) {
        choose_cap(s, &out->value, room + (1 + found->value_bet) * s->scored);
        choose_cap(s, &out->difference, room + (1 + found->difference_bet) * s->scored);
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

static void score_on(search *s, int64_t episodes) {
    s->scored = episodes < s->choosing->episodes ? episodes : s->choosing->episodes;
    s->times = (double)s->choosing->episodes / (double)s->scored;
}

/* Leaves in list [*count] those that were scored last, which one is chosen of. */
static pess_status score_in_rounds(search *s, int *list, int *count, pess_error *error) {
    list_bets(s);
    score_on(s, FEW);
    for (int i = 0; i < s->count; i++) list[i] = i;
    *count = s->count;
    if (s->count > 1) {
        s->bet_count = s->quick;
        PESS_TRY(score_all(s, list, *count, error));
        *count = list_best(s, list);
    }
    s->bet_count = s->all;
    PESS_TRY(score_all(s, list, *count, error));
    if (s->scored == s->choosing->episodes) return PESS_OK;
    *count = list_finalists(s, list);
    score_on(s, s->choosing->episodes);
    s->final = true;
    return score_all(s, list, *count, error);
}

static pess_status choose(pess__certification *job, search *s, pess__chosen_policy *out, pess_error *error) {
    int list[PESS__RECIPES], count = 0;
    if (job->options->policy)
        s->recipes[s->count++] = (pess__recipe){.kind = PESS__RECIPE_GIVEN};
    else
        s->count = pess__recipe_list(job, s->recipes);
    PESS_TRY(score_in_rounds(s, list, &count, error));
    const int best = best_of(s, list, count);
    out->candidate = job->certificate->candidate_count + best;
    PESS_TRY(list_candidates(job, s, error));
    PESS_TRY(choose_bets(s, best, out, error));
    const pess__fit *all = &s->choosing->all;
    PESS_TRY(pess__recipe_make(job, s->choosing, all, &s->recipes[best], &out->policy, error));
    return pess__recipe_values(job, s->choosing, all, out->policy, &out->q, error);
}

pess_status pess__choose_episode_policy(pess__certification *job, const pess__choosing *choosing,
                                        const pess__choice_rule *rule, pess__chosen_policy *out, pess_error *error) {
    search *s = NULL;
    PESS_TRY(pess__allocate(&s, 1, sizeof *s, "the choice of a policy", error));
    s->job = job;
    s->choosing = choosing;
    s->rule = rule;
    const pess_status status = choose(job, s, out, error);
    free(s);
    return status;
}

void pess__chosen_policy_release(pess__chosen_policy *choice) {
    pess_policy_destroy(choice->policy);
    free(choice->q);
    *choice = (pess__chosen_policy){0};
}
