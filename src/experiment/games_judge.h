/* What judging the curves of the deep experiments needs, whatever the sentence. */
#ifndef PESS_EXPERIMENT_GAMES_JUDGE_H
#define PESS_EXPERIMENT_GAMES_JUDGE_H

#include "experiment/games.h"

/* The curves of one game. */
typedef struct pess__curves {
    const pess_experiment_point *points;
    size_t count;
    const char *game;
    const double *x;
    int x_count;
    const char *proximal; /* the curve that speaks for proximal; may be NULL */
} pess__curves;

/* The learner of a curve named "NAME" or "NAME-ALPHA", and its α; NULL for other curves ("behaviour", "NAME-argmax").
 */
const pess_learner_info *pess__curve_learner(const char *curve, double *alpha);
/* The curve that speaks for a learner: at its own α where that is there, else the first; NULL: none. */
const char *pess__curve_of(const pess_experiment_point *points, size_t count, const char *learner);
/* The mean score of a curve; NAN where there is no such point. */
double pess__curve_at(const pess__curves *c, const char *algorithm, double x);
/* Its mean over all x; NAN where a point is missing. */
double pess__curve_mean(const pess__curves *c, const char *algorithm);
/* A curve's mean over x and games, a game's scores divided by those of the curve `of` at the first x. */
double pess__curve_share(const pess__curves *games, int game_count, const char *algorithm, const char *of);
/* games_goals.c: the point of naive, imitation and proximal, sampled or by argmax, with the largest mean at x; NULL
 * where one of the three is missing. */
const pess_experiment_point *pess__best_simple(const pess__curves *c, double x);
void pess__not_judged(pess_experiment_claim *claim, const char *why);
/* Spearman's: Pearson's correlation of the ranks, equal values sharing theirs; NAN where one of them does not vary. */
double pess__rank_correlation(const double *a, const double *b, int count);

#endif
