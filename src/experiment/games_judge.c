#include "experiment/games_judge.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names of learners have dashes too: the α begins behind the one before which a learner ends. */
const pess_learner_info *pess__curve_learner(const char *curve, double *alpha) {
    const pess_learner_info *learner = pess_learner_find(curve);
    if (learner != NULL) *alpha = pess_learner_alpha(learner);
    for (const char *dash = curve; learner == NULL && (dash = strchr(dash, '-')) != NULL; dash++) {
        char name[40];
        if ((size_t)(dash - curve) >= sizeof name) break;
        (void)snprintf(name, sizeof name, "%.*s", (int)(dash - curve), curve);
        if (pess__parse_double(dash + 1, dash + strlen(dash), alpha)) learner = pess_learner_find(name);
    }
    return learner;
}

const char *pess__curve_of(const pess_experiment_point *points, size_t count, const char *learner) {
    const char *first = NULL;
    for (size_t i = 0; i < count; i++) {
        double alpha = NAN;
        const pess_learner_info *found = pess__curve_learner(points[i].algorithm, &alpha);
        if (found == NULL || strcmp(found->name, learner) != 0) continue;
        const double standard = pess_learner_alpha(found);
        if (isnan(standard) || alpha == standard) return points[i].algorithm;
        if (first == NULL) first = points[i].algorithm;
    }
    return first;
}

double pess__curve_at(const pess__curves *c, const char *algorithm, double x) {
    if (algorithm == NULL) return NAN;
    const pess_experiment_point *point = pess__games_point_at(c->points, c->count, c->game, algorithm, x);
    return point != NULL ? point->mean : NAN;
}

double pess__curve_mean(const pess__curves *c, const char *algorithm) {
    double sum = 0;
    for (int i = 0; i < c->x_count; i++) sum += pess__curve_at(c, algorithm, c->x[i]);
    return sum / c->x_count;
}

double pess__curve_share(const pess__curves *games, int game_count, const char *algorithm, const char *of) {
    double sum = 0;
    for (int g = 0; g < game_count; g++)
        sum += pess__curve_mean(&games[g], algorithm) / pess__curve_at(&games[g], of, games[g].x[0]);
    return sum / game_count;
}

void pess__not_judged(pess_experiment_claim *claim, const char *why) {
    claim->judged = false;
    (void)snprintf(claim->found, sizeof claim->found, "not judged: %s", why);
}

/* The rank of values[i], from 1; equal values share the mean of their ranks. */
static double rank(const double *values, int count, int i) {
    double below = 0, equal = 0;
    for (int j = 0; j < count; j++) {
        below += values[j] < values[i];
        equal += values[j] == values[i];
    }
    return below + (equal + 1) / 2;
}

double pess__rank_correlation(const double *a, const double *b, int count) {
    const double mean = (count + 1) / 2.0;
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < count; i++) {
        const double x = rank(a, count, i) - mean, y = rank(b, count, i) - mean;
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}
