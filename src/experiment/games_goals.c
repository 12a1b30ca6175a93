/* What uncertainty-aware learning is held to beside the other methods, and the rules by which that is judged. Every
 * rule is in words here and computed from the curves alone; it was fixed before an uncertainty-aware curve was seen.
 * One peer, CRR with exponential weights, was added later, and its rule says so. */
#include "core/text.h"
#include "experiment/games_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char best_claim[] =
    "Uncertainty-aware learning is at or above the best of naive, proximal and imitation, sampled or by argmax.";
static const char best_rule[] =
    "At one ε this holds, within noise, unless every trial of the uncertainty-aware learner lies below every trial of "
    "the method with the best mean (with three trials each, equally good methods do that one time in 20; picking the "
    "best of several after the fact makes it more frequent). Holds if that is so at six sevenths of the ε, 24 of 28.";

static const char proximal_claim[] = "Uncertainty-aware learning is above proximal.";
static const char proximal_rule[] =
    "Holds if its score averaged over ε is above that of every proximal curve, each acting in its own way.";

static const char peers_claim[] = "Uncertainty-aware learning is above BCQ, CQL and CRR.";
static const char peers_rule[] =
    "Holds if its score averaged over ε and games is above that of each, including CRR with exponential weights where "
    "it was run (it was added after the first scores of the binary one); a game's scores are divided by the data "
    "policy's return at the smallest ε.";

static const char data_claim[] =
    "On exploratory data uncertainty-aware learning keeps improving with more data, where proximal stays behind.";
static const char data_rule[] =
    "Holds if the rank correlation between the number of transitions and its score is 0.5 or more, and at the "
    "largest number it is above every proximal curve, each acting in its own way.";

static const char all_games[] = "all games";

/* ---- which curve is which */

static bool is_argmax(const char *name) { return pess__ends_with(name, "-argmax"); }

static bool is_simple(const char *name) {
    return strcmp(name, "naive") == 0 || pess__begins_with(name, "imitation") || pess__begins_with(name, "proximal");
}

/* The learner that was declared beforehand, with the α that was; else the first of its kind; NULL: none. */
static const char *uncertain_curve(const pess_experiment_point *points, size_t count) {
    const char *first = NULL;
    for (size_t i = 0; i < count; i++) {
        double alpha = NAN;
        const pess_learner_info *learner = pess__curve_learner(points[i].algorithm, &alpha);
        if (learner == NULL || !learner->values || learner->uncertainty == NULL) continue;
        if (strcmp(learner->name, "ua-imitation") == 0 && alpha == pess_learner_alpha(learner))
            return points[i].algorithm;
        if (first == NULL) first = points[i].algorithm;
    }
    return first;
}

/* ---- the sentences */

/* At so many x. */
typedef struct tally {
    int points, within, above;
} tally;

const pess_experiment_point *pess__best_simple(const pess__curves *c, double x) {
    const pess_experiment_point *best = NULL;
    bool naive = false, imitation = false, proximal = false;
    for (size_t i = 0; i < c->count; i++) {
        const pess_experiment_point *p = &c->points[i];
        if (p->x != x || strcmp(p->game, c->game) != 0 || !is_simple(p->algorithm)) continue;
        naive |= pess__begins_with(p->algorithm, "naive");
        imitation |= pess__begins_with(p->algorithm, "imitation");
        proximal |= pess__begins_with(p->algorithm, "proximal");
        if (best == NULL || p->mean > best->mean) best = p;
    }
    return naive && imitation && proximal ? best : NULL;
}

static tally judge_best(const pess__curves *c, const char *ua, pess_experiment_claim *claim) {
    tally t = {0};
    double worst = INFINITY, worst_x = NAN;
    const char *worst_to = "";
    for (int i = 0; i < c->x_count; i++) {
        const pess_experiment_point *own = pess__games_point_at(c->points, c->count, c->game, ua, c->x[i]);
        const pess_experiment_point *best = pess__best_simple(c, c->x[i]);
        if (own == NULL || best == NULL) continue;
        t.points++;
        t.within += own->max >= best->min;
        t.above += own->mean >= best->mean;
        if (own->mean - best->mean >= worst) continue;
        worst = own->mean - best->mean;
        worst_x = c->x[i];
        worst_to = best->algorithm;
    }
    if (t.points < c->x_count) {
        pess__not_judged(claim, "it needs naive, imitation, proximal and an uncertainty-aware curve at every ε");
        return t;
    }
    claim->holds = 7 * t.within >= 6 * t.points;
    (void)snprintf(claim->found, sizeof claim->found,
                   "%s within noise at %d of %d ε, by the mean alone at %d; at worst %+.3g against %s (ε = %g)", ua,
                   t.within, t.points, t.above, worst, worst_to, worst_x);
    return t;
}

/* The proximal curve with the largest mean over all x; NULL: none is whole. */
static const char *best_proximal(const pess__curves *c, double *mean) {
    const char *best = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const char *name = c->points[i].algorithm;
        const double found = pess__begins_with(name, "proximal") && !is_argmax(name) ? pess__curve_mean(c, name) : NAN;
        if (isnan(found) || (best != NULL && found <= *mean)) continue;
        best = name;
        *mean = found;
    }
    return best;
}

static void judge_proximal(const pess__curves *c, const char *ua, pess_experiment_claim *claim) {
    double proximal = NAN;
    const char *name = best_proximal(c, &proximal);
    const double own = pess__curve_mean(c, ua);
    if (name == NULL || isnan(own)) {
        pess__not_judged(claim, "it needs proximal and an uncertainty-aware curve at every ε");
        return;
    }
    claim->holds = own > proximal;
    (void)snprintf(claim->found, sizeof claim->found, "averaged over ε: %s %.3g, %s %.3g", ua, own, name, proximal);
}

static void judge_peers(const pess__curves *games, int game_count, const char *ua, pess_experiment_claim *claim) {
    static const struct {
        const char *name;
        bool needed;
    } peers[] = {{"bcq", true}, {"cql", true}, {"crr", true}, {"crr-exp", false}};
    const double own = pess__curve_share(games, game_count, ua, "behaviour");
    char found[sizeof claim->found];
    (void)snprintf(found, sizeof found, "of the data policy's return at ε = %g: %s %.3f", games[0].x[0], ua, own);
    claim->holds = true;
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        const char *name = pess__curve_of(games[0].points, games[0].count, peers[i].name);
        const double share = pess__curve_share(games, game_count, name, "behaviour");
        if (!isfinite(own + share) && peers[i].needed) {
            pess__not_judged(claim, "it needs bcq, cql, crr and an uncertainty-aware curve at every ε");
            return;
        }
        if (!isfinite(share)) continue;
        claim->holds &= own > share;
        const size_t used = strlen(found);
        (void)snprintf(found + used, sizeof found - used, ", %s %.3f", name, share);
    }
    memcpy(claim->found, found, sizeof found);
}

static void judge_data(const pess__curves *c, const char *ua, pess_experiment_claim *claim) {
    double score[PESS__GAMES_XS], proximal = NAN;
    const double most = c->x[c->x_count - 1];
    bool whole = c->x_count >= 3;
    const char *name = NULL;
    for (int i = 0; i < c->x_count; i++) {
        score[i] = pess__curve_at(c, ua, c->x[i]);
        whole &= !isnan(score[i]);
    }
    for (size_t i = 0; i < c->count; i++) {
        const pess_experiment_point *p = &c->points[i];
        if (p->x != most || strcmp(p->game, c->game) != 0 || !pess__begins_with(p->algorithm, "proximal")) continue;
        if (is_argmax(p->algorithm) || p->mean <= proximal) continue;
        proximal = p->mean;
        name = p->algorithm;
    }
    if (!whole || name == NULL) {
        pess__not_judged(claim, "it needs proximal and an uncertainty-aware curve at three sizes or more");
        return;
    }
    const double correlation = pess__rank_correlation(c->x, score, c->x_count), own = score[c->x_count - 1];
    claim->holds = correlation >= 0.5 && own > proximal;
    (void)snprintf(claim->found, sizeof claim->found,
                   "rank correlation %.2f, from %.3g at %g transitions to %.3g at %g; %s %.3g there", correlation,
                   score[0], c->x[0], own, most, name, proximal);
}

static pess_experiment_claim begin(const char *game, const char *claim, const char *rule) {
    return (pess_experiment_claim){.about = game, .claim = claim, .rule = rule, .judged = true};
}

/* A row per game, and one for all of them. */
static size_t judge_best_everywhere(const pess__curves *games, int game_count, const char *ua,
                                    pess_experiment_claim *out) {
    pess_experiment_claim *all = &out[game_count];
    tally sum = {0};
    int wanted = 0;
    for (int g = 0; g < game_count; g++) {
        wanted += games[g].x_count;
        out[g] = begin(games[g].game, best_claim, best_rule);
        const tally t = judge_best(&games[g], ua, &out[g]);
        sum = (tally){sum.points + t.points, sum.within + t.within, sum.above + t.above};
    }
    *all = begin(all_games, best_claim, best_rule);
    all->holds = 7 * sum.within >= 6 * sum.points;
    (void)snprintf(all->found, sizeof all->found, "%s within noise at %d of %d points, by the mean alone at %d", ua,
                   sum.within, sum.points, sum.above);
    if (sum.points < wanted) pess__not_judged(all, "some games are not judged");
    return (size_t)game_count + 1;
}

static void split_games(const pess_experiment_point *points, size_t count, const pess_env_info *const *games,
                        int game_count, const double *x, int x_count, pess__curves *out) {
    for (int g = 0; g < game_count; g++)
        out[g] = (pess__curves){.points = points, .count = count, .game = games[g]->name, .x = x, .x_count = x_count};
}

size_t pess__games_judge_exploration_goals(const pess_experiment_point *points, size_t count,
                                           const pess_env_info *const *games, int game_count, const double *x,
                                           int x_count, pess_experiment_claim *out) {
    const char *ua = uncertain_curve(points, count);
    pess__curves curves[PESS__GAMES_LIMIT];
    if (ua == NULL) return 0;
    split_games(points, count, games, game_count, x, x_count, curves);
    size_t written = judge_best_everywhere(curves, game_count, ua, out);
    for (int g = 0; g < game_count; g++, written++) {
        out[written] = begin(games[g]->name, proximal_claim, proximal_rule);
        judge_proximal(&curves[g], ua, &out[written]);
    }
    out[written] = begin(all_games, peers_claim, peers_rule);
    judge_peers(curves, game_count, ua, &out[written++]);
    return written;
}

size_t pess__games_judge_data_goals(const pess_experiment_point *points, size_t count,
                                    const pess_env_info *const *games, int game_count, const double *x, int x_count,
                                    pess_experiment_claim *out) {
    const char *ua = uncertain_curve(points, count);
    pess__curves curves[PESS__GAMES_LIMIT];
    if (ua == NULL) return 0;
    split_games(points, count, games, game_count, x, x_count, curves);
    for (int g = 0; g < game_count; g++) {
        out[g] = begin(games[g]->name, data_claim, data_rule);
        judge_data(&curves[g], ua, &out[g]);
    }
    return (size_t)game_count;
}
