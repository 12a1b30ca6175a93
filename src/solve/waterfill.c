/* Water-filling. With n = 1/w and C = strength the conditions of optimality of  max_π q·π − C·√(Σ π²/n)  say that
 *   π(a) ∝ n(a)·max(q(a) − λ, 0)   with λ the root of   Σ_a n(a)·max(q(a) − λ, 0)² = C²,
 * and λ is the maximum itself. Written in depths below the best action, d(a) = max q − q(a) and t = max q − λ:
 *   φ(t) = Σ_{a: d(a) < t} n(a)(t − d(a))² = C².
 * φ is convex and increasing, so Newton's method started right of the root comes down to it and only ever drops
 * actions; as soon as the actions in play are the right ones, the root is that of one quadratic and is taken from
 * there. */
#include "solve/waterfill.h"

#include <math.h>
#include <stdbool.h>

typedef struct level {
    double weight, mean, spread; /* Σn, Σnd/Σn and Σn(d−mean)² over the actions with d < t */
    int64_t count;
} level;

static bool in_play(const double *q, const double *w, int64_t a) { return isfinite(q[a]) && isfinite(w[a]); }

static level level_at(const double *q, const double *w, int64_t actions, double top, double t) {
    level at = {0, 0, 0, 0};
    for (int64_t a = 0; a < actions; a++) {
        if (!in_play(q, w, a) || top - q[a] >= t) continue;
        const double n = 1 / w[a], away = top - q[a] - at.mean;
        at.weight += n;
        at.mean += away * n / at.weight;
        at.spread += n * away * (top - q[a] - at.mean);
        at.count++;
    }
    return at;
}

static int64_t count_below(const double *q, const double *w, int64_t actions, double top, double t) {
    int64_t count = 0;
    for (int64_t a = 0; a < actions; a++) count += in_play(q, w, a) && top - q[a] < t;
    return count;
}

/* The depth t of the root. */
static double find_level(const double *q, const double *w, int64_t actions, double top, double strength) {
    const double square = strength * strength;
    double t = INFINITY; /* any action alone would end here, which is right of the root */
    for (int64_t a = 0; a < actions; a++)
        if (in_play(q, w, a)) t = fmin(t, top - q[a] + strength * sqrt(w[a]));
    for (int step = 0; step < 200; step++) {
        const level at = level_at(q, w, actions, top, t);
        const double rest = (square - at.spread) / at.weight;
        if (rest >= 0) {
            const double root = at.mean + sqrt(rest);
            if (root >= t || count_below(q, w, actions, top, root) == at.count) return fmin(root, t);
        }
        const double away = t - at.mean;
        const double down = (at.weight * away * away + at.spread - square) / (2 * at.weight * away);
        if (!(t - down < t)) return t;
        t -= down;
    }
    return t;
}

double pess__waterfill(const double *q, const double *w, int64_t actions, double strength, double *pi) {
    double top = -INFINITY;
    for (int64_t a = 0; a < actions; a++) {
        pi[a] = 0;
        if (in_play(q, w, a) && q[a] > top) top = q[a];
    }
    if (!isfinite(top)) return -INFINITY;
    const double t = find_level(q, w, actions, top, strength);
    double sum = 0;
    for (int64_t a = 0; a < actions; a++) {
        if (!in_play(q, w, a) || top - q[a] >= t) continue;
        pi[a] = (t - (top - q[a])) / w[a];
        sum += pi[a];
    }
    for (int64_t a = 0; a < actions; a++) pi[a] /= sum;
    return top - t;
}
