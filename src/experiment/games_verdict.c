/* What came of values that have been fitted: the paper's sentences game by game, and what `ua-propensity`, named
 * beforehand, is held to beside all others. Written down before a run of minatar-settled had ended. Nothing is judged
 * before all trials of the plan are there; what there is so far is told. */
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

/* ---- what is not there yet */

static int64_t planned_trials(const pess__games *m) { return m->options->trials * m->options->train_seeds; }

/* Of naive, imitation, proximal and the judged one alone, or of every curve that is drawn? */
static bool counts(const pess__games_curve *curve, bool simple) {
    static const char *const names[] = {"naive", "imitation", "proximal", JUDGED};
    if (!simple) return curve->shown;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(curve->learner->name, names[i]) == 0) return true;
    return false;
}

/* How many trials of a game at x have these curves at least. */
static int64_t trials_at(const pess__games *m, int game, int x, bool simple) {
    int64_t least = planned_trials(m);
    for (int c = 0; c < m->curve_count; c++) {
        int64_t finished = 0;
        for (int64_t d = 0; d < m->dataset_count; d++)
            finished += m->datasets[d].game == game && m->datasets[d].x == x && pess__games_run_of(m, d, c)->finished;
        if (counts(&m->curves[c], simple) && finished < least) least = finished;
    }
    return least;
}

/* The claim waits; what has been found so far stands behind the reason. */
static void not_yet(pess_experiment_claim *claim, const char *why, const char *so_far) {
    claim->judged = false;
    (void)snprintf(claim->found, sizeof claim->found, "not yet: %s%s%s", why, so_far[0] != '\0' ? "; so far " : "",
                   so_far);
}

/* ---- the paper's sentences */

/* a against factor times b, two curves at one end of the axis. */
typedef struct comparison {
    const char *claim, *rule;
    bool at_one;                           /* at ε = 1; otherwise at ε = 0 */
    const char *a, *b;                     /* NULL: proximal with the paper's α */
    enum { BELOW, ABOVE, NOT_BELOW } side; /* of factor·b, where a is to be */
    double factor;
} comparison;

static const comparison paper[] = {
    {"On data without exploration naive is poor and imitation good.",
     "Holds if naive is below half of imitation at ε = 0.", false, "naive", "imitation", BELOW, 0.5},
    {"On data without exploration proximal is as good as imitation.",
     "Holds if proximal (α = 0.25, sampled) is above 0.85 times imitation at ε = 0.", false, NULL, "imitation", ABOVE,
     0.85},
    {"On random data naive is above imitation.", "Holds if it is by the mean at ε = 1.", true, "naive", "imitation",
     ABOVE, 1},
    {"On random data proximal is above imitation.", "Holds if it is (α = 0.25, sampled) by the mean at ε = 1.", true,
     NULL, "imitation", ABOVE, 1},
};

/* "naive 1.34 (1.2 to 1.5)": the mean of the trials, the smallest and the largest. */
static void tell_point(const pess_experiment_point *p, char *out, size_t size) {
    int used = snprintf(out, size, "%s %.3g", p->algorithm, p->mean);
    if (p->trials > 1 && used > 0 && (size_t)used < size)
        (void)snprintf(out + used, size - (size_t)used, " (%.3g to %.3g)", p->min, p->max);
}

static void judge_comparison(const pess__games *m, const pess__curves *c, const comparison *rule,
                             pess_experiment_claim *claim) {
    const double x = rule->at_one ? 1 : 0;
    const char *names[2] = {rule->a != NULL ? rule->a : c->proximal, rule->b};
    const pess_experiment_point *points[2];
    char found[2][120], both[250], why[60];
    for (int i = 0; i < 2; i++) {
        points[i] = names[i] != NULL ? pess__games_point_at(c->points, c->count, c->game, names[i], x) : NULL;
        if (points[i] == NULL) {
            not_yet(claim, "a curve is missing there", "");
            return;
        }
        tell_point(points[i], found[i], sizeof found[i]);
    }
    const double a = points[0]->mean, b = rule->factor * points[1]->mean;
    const int64_t planned = planned_trials(m),
                  fewest = points[0]->trials < points[1]->trials ? points[0]->trials : points[1]->trials;
    (void)snprintf(both, sizeof both, "%s, %s", found[0], found[1]);
    (void)snprintf(claim->found, sizeof claim->found, "%s", both);
    claim->holds = rule->side == ABOVE ? a > b : rule->side == BELOW ? a < b : a >= b;
    if (fewest == planned) return;
    (void)snprintf(why, sizeof why, "%lld of %lld trials", (long long)fewest, (long long)planned);
    not_yet(claim, why, both);
}

static pess_status judge_paper(pess__games *m, pess_error *error) {
    for (int g = 0; g < m->game_count; g++) {
        const pess__curves c = curves_of(m, g);
        for (size_t i = 0; i < sizeof paper / sizeof paper[0]; i++) {
            pess_experiment_claim claim = begin(c.game, paper[i].claim, paper[i].rule);
            judge_comparison(m, &c, &paper[i], &claim);
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
    int whole, count, at_or_above, beyond; /* whole: with all trials; beyond: below by more than the spread */
    double worst, worst_x;                 /* as a share of the player's return */
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
    if (!(share < p->worst)) return; /* the player's return may not be known yet */
    *p = (points){p->whole, p->count, p->at_or_above, p->beyond, share, x, c.game, best->algorithm};
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
            const int64_t trials = trials_at(m, g, i, simple);
            p.whole += trials == planned_trials(m);
            if (trials > 0)
                look(m, g, m->x[i], simple ? pess__best_simple(&c, m->x[i]) : best_other(&c, m->x[i]), simple, &p);
        }
    return p;
}

static void tell_points(const points *p, bool counted, char *out, size_t size) {
    char worst[200] = "the player's return is not known";
    if (isfinite(p->worst))
        (void)snprintf(worst, sizeof worst, "at worst %+.3f of the player's return (%s, ε = %g, %s)", p->worst,
                       p->worst_game, p->worst_x, p->worst_to);
    if (counted)
        (void)snprintf(out, size, "at or above at %d of %d points, below by more than the spread at %d; %s",
                       p->at_or_above, p->count, p->beyond, worst);
    else
        (void)snprintf(out, size, "%s", worst);
}

static void wait_for_points(const pess__games *m, const points *p, pess_experiment_claim *claim) {
    char why[100], so_far[sizeof claim->found];
    (void)snprintf(so_far, sizeof so_far, "%s", p->count > 0 ? claim->found : "");
    (void)snprintf(why, sizeof why, "%d of %d points have their %lld trials", p->whole, m->game_count * m->x_count,
                   (long long)planned_trials(m));
    not_yet(claim, why, so_far);
}

static pess_status judge_points(pess__games *m, pess_error *error) {
    const points simple = look_everywhere(m, true), others = look_everywhere(m, false);
    const int all = m->game_count * m->x_count, misses = all / 10 > 0 ? all / 10 : 1;
    pess_experiment_claim claims[2] = {
        begin(all_games, JUDGED " is at or above the best of naive, imitation and proximal, however they act.",
              best_rule),
        begin(all_games, JUDGED " is nowhere far below any other curve.", far_rule)};
    claims[0].holds = simple.count - simple.at_or_above <= misses && simple.beyond == 0;
    claims[1].holds = others.worst >= -0.1;
    tell_points(&simple, true, claims[0].found, sizeof claims[0].found);
    tell_points(&others, false, claims[1].found, sizeof claims[1].found);
    if (simple.whole < all) wait_for_points(m, &simple, &claims[0]);
    if (others.whole < all) wait_for_points(m, &others, &claims[1]);
    return pess__games_add_claims(m, claims, 2, error);
}

/* ---- paired comparisons */

static const char paired_rule[] = "Holds if the lower end of the 95 % interval (paired stratified bootstrap over the "
                                  "trials of every game and ε) of the "
                                  "mean difference, in shares of the player's return, is above 0.";
static const char factor_rule[] =
    "Holds if the mean share of the player's return over games, at ε = 0.66, is more than 1.3 "
    "times that of imitation by argmax.";

/* An interval stands where all trials are there, and more than one. */
static void paired_found(const pess__games *m, const pess__paired *p, const char *what, pess_experiment_claim *claim) {
    char so_far[200] = "", why[100];
    if (p->fewest > 0) (void)snprintf(so_far, sizeof so_far, "%s%+.4f", what, p->mean.value);
    int used = snprintf(why, sizeof why, "runs at %lld of %lld points", (long long)(p->strata - p->missing),
                        (long long)p->strata);
    if (p->fewest < planned_trials(m))
        (void)snprintf(why + used, sizeof why - (size_t)used, ", at some only %lld of %lld trials",
                       (long long)p->fewest, (long long)planned_trials(m));
    (void)snprintf(claim->found, sizeof claim->found, "%s%+.4f [%.4f, %.4f]", what, p->mean.value, p->mean.lo,
                   p->mean.hi);
    if (p->strata == 0 || p->missing > 0 || p->fewest < planned_trials(m))
        not_yet(claim, p->strata > 0 ? why : "a curve is missing", so_far);
}

/* Beside the mean, which decides, what else is asked of three trials. */
static void add_steadier(const pess__paired *p, pess_experiment_claim *claim) {
    const size_t used = strlen(claim->found);
    (void)snprintf(claim->found + used, sizeof claim->found - used,
                   "; interquartile mean %+.4f [%.4f, %.4f]; ahead in %.2f of the pairs [%.2f, %.2f]", p->iqm.value,
                   p->iqm.lo, p->iqm.hi, p->ahead.value, p->ahead.lo, p->ahead.hi);
}

static pess_status judge_against(pess__games *m, const pess__games_method *own, const char *name, pess_error *error) {
    pess__games_method other;
    pess__paired p;
    if (!pess__games_method_named(m, name, &other)) return PESS_OK;
    pess_experiment_claim claim = begin(name, JUDGED " is above this curve on average.", paired_rule);
    PESS_TRY(pess__compare_paired(m, own, &other, 1, NAN, &p, error));
    claim.holds = p.mean.lo > 0;
    paired_found(m, &p, "", &claim);
    if (claim.judged) add_steadier(&p, &claim);
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
    claim.holds = p.mean.value > 0;
    paired_found(m, &p, "own share less 1.3 times that of imitation by argmax: ", &claim);
    return pess__games_add_claims(m, &claim, 1, error);
}

static pess_status judge_freeway(pess__games *m, pess_error *error) {
    static const comparison rule = {NULL, NULL, true, JUDGED, "naive", NOT_BELOW, 1};
    for (int g = 0; g < m->game_count; g++) {
        const pess__curves c = curves_of(m, g);
        if (strcmp(c.game, "freeway") != 0) continue;
        pess_experiment_claim claim =
            begin(c.game, JUDGED " is not below naive on random data.", "Holds if it is not by the mean at ε = 1.");
        judge_comparison(m, &c, &rule, &claim);
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
