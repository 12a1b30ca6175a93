/* What came of values that have been fitted: the paper's sentences game by game, and what `ua-propensity`, named
 * beforehand, is held to beside all others. Written down before a run of minatar-settled had ended. */
#include "core/text.h"
#include "experiment/games_judge.h"
#include "experiment/games_paired.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define JUDGED "ua-propensity"
static const char all_games[] = "all games";

static pess_experiment_claim begin(const char *about, const char *claim, const char *rule) {
    return (pess_experiment_claim){.about = about, .claim = claim, .rule = rule, .judged = true};
}

static pess__curves curves_of(const pess__games *m, int game) {
    const pess_experiment *e = m->experiment;
    const size_t count = (size_t)e->point_count;
    return (pess__curves){e->points, count,      m->games[game]->name,
                          m->x,      m->x_count, pess__curve_of(e->points, count, "proximal")};
}

/* ---- the paper's sentences */

/* a against factor times b, two curves at one end of the axis. */
typedef struct comparison {
    const char *claim, *rule;
    bool at_one;       /* at ε = 1; otherwise at ε = 0 */
    const char *a, *b; /* NULL: proximal with the paper's α */
    bool above;        /* a > factor·b; otherwise a < factor·b */
    double factor;
} comparison;

static const comparison paper[] = {
    {"On data without exploration naive is poor and imitation good.",
     "Holds if naive is below half of imitation at ε = 0.", false, "naive", "imitation", false, 0.5},
    {"On data without exploration proximal is as good as imitation.",
     "Holds if proximal (α = 0.25, sampled) is above 0.85 times imitation at ε = 0.", false, NULL, "imitation", true,
     0.85},
    {"On random data naive is above imitation.", "Holds if it is by the mean at ε = 1.", true, "naive", "imitation",
     true, 1},
    {"On random data proximal is above imitation.", "Holds if it is (α = 0.25, sampled) by the mean at ε = 1.", true,
     NULL, "imitation", true, 1},
};

static void judge_comparison(const pess__curves *c, const comparison *rule, pess_experiment_claim *claim) {
    const double x = rule->at_one ? 1 : 0;
    const char *names[2] = {rule->a != NULL ? rule->a : c->proximal, rule->b};
    const double a = pess__curve_at(c, names[0], x), b = pess__curve_at(c, names[1], x);
    if (isnan(a) || isnan(b)) {
        pess__not_judged(claim, "a curve is missing there");
        return;
    }
    claim->holds = rule->above ? a > rule->factor * b : a < rule->factor * b;
    (void)snprintf(claim->found, sizeof claim->found, "%s %.3g, %s %.3g", names[0], a, names[1], b);
}

static pess_status judge_paper(pess__games *m, pess_error *error) {
    for (int g = 0; g < m->game_count; g++) {
        const pess__curves c = curves_of(m, g);
        for (size_t i = 0; i < sizeof paper / sizeof paper[0]; i++) {
            pess_experiment_claim claim = begin(c.game, paper[i].claim, paper[i].rule);
            judge_comparison(&c, &paper[i], &claim);
            PESS_TRY(pess__games_add_claims(m, &claim, 1, error));
        }
    }
    return PESS_OK;
}

/* ---- point by point */

static const char best_rule[] =
    "Holds if its mean is at or above the best of naive, imitation and proximal, sampled or by argmax, at nine of ten "
    "points (game, ε), 18 of 20 (at four of a single game's five), and at none is it below by more than the larger of "
    "the two spreads over trials (largest less smallest).";
static const char far_rule[] =
    "Holds if at no point its mean is below that of the best of all other curves by more than a "
    "tenth of the player's return.";

typedef struct points {
    int count, at_or_above, beyond; /* beyond: below by more than the spread */
    double worst, worst_x;          /* as a share of the player's return */
    const char *worst_game, *worst_to;
} points;

static void look(const pess__games *m, int game, double x, const pess_experiment_point *best, bool by_mean, points *p) {
    const pess__curves c = curves_of(m, game);
    const pess_experiment_point *own = pess__games_point_at(c.points, c.count, c.game, JUDGED, x);
    if (own == NULL || best == NULL) return;
    const double apart = own->mean - best->mean, share = apart / pess__player_return(m, game);
    p->count++;
    p->at_or_above += apart >= 0;
    p->beyond += by_mean && -apart > fmax(own->max - own->min, best->max - best->min);
    if (share >= p->worst) return;
    *p = (points){p->count, p->at_or_above, p->beyond, share, x, c.game, best->algorithm};
}

/* The best of all curves but the judged one and the data policy. */
static const pess_experiment_point *best_other(const pess__curves *c, double x) {
    const pess_experiment_point *best = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const pess_experiment_point *p = &c->points[i];
        if (p->x != x || strcmp(p->game, c->game) != 0 || strcmp(p->algorithm, JUDGED) == 0 ||
            strcmp(p->algorithm, "behaviour") == 0)
            continue;
        if (best == NULL || p->mean > best->mean) best = p;
    }
    return best;
}

static points look_everywhere(const pess__games *m, bool simple) {
    points p = {.worst = INFINITY, .worst_game = "", .worst_to = ""};
    for (int g = 0; g < m->game_count; g++)
        for (int i = 0; i < m->x_count; i++) {
            const pess__curves c = curves_of(m, g);
            look(m, g, m->x[i], simple ? pess__best_simple(&c, m->x[i]) : best_other(&c, m->x[i]), simple, &p);
        }
    return p;
}

static pess_status judge_points(pess__games *m, pess_error *error) {
    const points simple = look_everywhere(m, true), others = look_everywhere(m, false);
    const int all = m->game_count * m->x_count, misses = all / 10 > 0 ? all / 10 : 1;
    pess_experiment_claim claims[2] = {
        begin(all_games, JUDGED " is at or above the best of naive, imitation and proximal, however they act.",
              best_rule),
        begin(all_games, JUDGED " is nowhere far below any other curve.", far_rule)};
    claims[0].holds = simple.count - simple.at_or_above <= misses && simple.beyond == 0;
    (void)snprintf(
        claims[0].found, sizeof claims[0].found,
        "at or above at %d of %d points, below by more than the spread at %d; at worst %+.3f of the player's "
        "return (%s, ε = %g, %s)",
        simple.at_or_above, simple.count, simple.beyond, simple.worst, simple.worst_game, simple.worst_x,
        simple.worst_to);
    claims[1].holds = others.worst >= -0.1;
    (void)snprintf(claims[1].found, sizeof claims[1].found, "at worst %+.3f of the player's return (%s, ε = %g, %s)",
                   others.worst, others.worst_game, others.worst_x, others.worst_to);
    if (simple.count < all)
        pess__not_judged(&claims[0], "naive, imitation, proximal or " JUDGED " is missing at a point");
    if (others.count < all) pess__not_judged(&claims[1], "a point is missing");
    return pess__games_add_claims(m, claims, 2, error);
}

/* ---- paired comparisons */

static const char paired_rule[] = "Holds if the lower end of the 95 % interval (paired stratified bootstrap over the "
                                  "trials of every game and ε) of the "
                                  "mean difference, in shares of the player's return, is above 0.";
static const char factor_rule[] =
    "Holds if the mean share of the player's return over games, at ε = 0.66, is more than 1.3 "
    "times that of imitation by argmax.";

static void paired_found(const pess__paired *p, const char *what, pess_experiment_claim *claim) {
    if (p->missing > 0 || p->strata == 0) {
        pess__not_judged(claim, "runs are missing at some points");
        return;
    }
    (void)snprintf(claim->found, sizeof claim->found, "%s%+.4f [%.4f, %.4f]", what, p->mean, p->low, p->high);
}

static pess_status judge_against(pess__games *m, const pess__games_method *own, const char *name, pess_error *error) {
    pess__games_method other;
    pess__paired p;
    if (!pess__games_method_named(m, name, &other)) return PESS_OK;
    pess_experiment_claim claim = begin(name, JUDGED " is above this curve on average.", paired_rule);
    PESS_TRY(pess__compare_paired(m, own, &other, 1, NAN, &p, error));
    claim.holds = p.low > 0;
    paired_found(&p, "", &claim);
    if (claim.judged && p.fewest < 2) pess__not_judged(&claim, "a single trial at some point has no interval");
    return pess__games_add_claims(m, &claim, 1, error);
}

/* Every curve of the points but itself and the data policy, once. */
static pess_status judge_all(pess__games *m, const pess__games_method *own, pess_error *error) {
    const pess_experiment *e = m->experiment;
    for (int64_t i = 0; i < e->point_count; i++) {
        const char *name = e->points[i].algorithm;
        bool known = strcmp(name, JUDGED) == 0 || strcmp(name, "behaviour") == 0;
        for (int64_t k = 0; k < i && !known; k++) known = strcmp(e->points[k].algorithm, name) == 0;
        if (!known) PESS_TRY(judge_against(m, own, name, error));
    }
    return PESS_OK;
}

/* own > 1.3 other is own − 1.3 other > 0. */
static pess_status judge_factor(pess__games *m, const pess__games_method *own, pess_error *error) {
    pess__games_method other;
    pess__paired p = {.strata = 0};
    pess_experiment_claim claim =
        begin(all_games, JUDGED " is more than 1.3 times as good as imitation by argmax at ε = 0.66.", factor_rule);
    if (pess__games_method_named(m, "imitation-argmax", &other))
        PESS_TRY(pess__compare_paired(m, own, &other, 1.3, 0.66, &p, error));
    claim.holds = p.mean > 0;
    paired_found(&p, "own share less 1.3 times that of imitation by argmax: ", &claim);
    return pess__games_add_claims(m, &claim, 1, error);
}

static pess_status judge_freeway(pess__games *m, pess_error *error) {
    static const comparison rule = {NULL, NULL, true, JUDGED, "naive", true, 1};
    for (int g = 0; g < m->game_count; g++) {
        const pess__curves c = curves_of(m, g);
        if (strcmp(c.game, "freeway") != 0) continue;
        pess_experiment_claim claim =
            begin(c.game, JUDGED " is not below naive on random data.", "Holds if it is not by the mean at ε = 1.");
        judge_comparison(&c, &rule, &claim);
        claim.holds |= claim.judged && pess__curve_at(&c, JUDGED, 1) >= pess__curve_at(&c, "naive", 1);
        PESS_TRY(pess__games_add_claims(m, &claim, 1, error));
    }
    return PESS_OK;
}

pess_status pess__games_verdict(pess__games *m, pess_error *error) {
    pess__games_method own;
    PESS_TRY(judge_paper(m, error));
    if (!pess__games_method_named(m, JUDGED, &own)) return PESS_OK;
    PESS_TRY(judge_points(m, error));
    PESS_TRY(judge_factor(m, &own, error));
    PESS_TRY(judge_freeway(m, error));
    return judge_all(m, &own, error);
}
