/* What the paper's section on games says, and the rules by which its sentences are judged. Every rule is in words here
 * and computed from the curves (means over trials) alone; it was fixed before the curves were seen. */
#include "experiment/games_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char naive_claim[] =
    "Naive is good on exploratory data and poor on data of a nearly deterministic policy.";
static const char naive_rule[] =
    "Holds if naive is not below imitation at ε = 1, and below half of imitation at ε = 0.";

static const char imitation_claim[] = "Imitation is better the closer the data policy is to optimal.";
static const char imitation_rule[] =
    "Holds if Spearman's rank correlation between ε and imitation's score is -0.8 or less.";

static const char proximal_claim[] =
    "Proximal has the best of both: it is never far below imitation and gains where the data explore.";
static const char proximal_rule[] =
    "Holds if proximal is at least 0.8 times imitation at every ε, and above imitation at some ε of 0.33 or more. "
    "How it compares with naive is reported, not judged.";

static const char freeway_claim[] =
    "Freeway is the exception: proximal hardly gains over imitation there, although naive is near-optimal at "
    "intermediate ε.";
static const char freeway_rule[] =
    "Holds if proximal's gain over imitation, averaged over ε, is at most a tenth of the data policy's return at "
    "the "
    "smallest ε, and naive reaches 0.9 times that return at some ε strictly between 0 and 1.";

static void judge_naive(const pess__curves *c, pess_experiment_claim *claim) {
    const double naive_1 = pess__curve_at(c, "naive", 1), imitation_1 = pess__curve_at(c, "imitation", 1);
    const double naive_0 = pess__curve_at(c, "naive", 0), imitation_0 = pess__curve_at(c, "imitation", 0);
    if (isnan(naive_1 + imitation_1 + naive_0 + imitation_0)) {
        pess__not_judged(claim, "it needs naive and imitation at ε = 0 and ε = 1");
        return;
    }
    claim->holds = naive_1 >= imitation_1 && naive_0 < imitation_0 / 2;
    (void)snprintf(claim->found, sizeof claim->found,
                   "at ε = 1 naive %.3g, imitation %.3g; at ε = 0 naive %.3g, imitation %.3g", naive_1, imitation_1,
                   naive_0, imitation_0);
}

static void judge_imitation(const pess__curves *c, pess_experiment_claim *claim) {
    double x[PESS__GAMES_XS], score[PESS__GAMES_XS];
    int count = 0;
    for (int i = 0; i < c->x_count; i++) {
        const double found = pess__curve_at(c, "imitation", c->x[i]);
        if (isnan(found)) continue;
        x[count] = c->x[i];
        score[count++] = found;
    }
    if (count < 3) {
        pess__not_judged(claim, "it needs imitation at three ε or more");
        return;
    }
    const double correlation = pess__rank_correlation(x, score, count);
    claim->holds = correlation <= -0.8;
    (void)snprintf(claim->found, sizeof claim->found,
                   "rank correlation %.2f over %d ε; imitation %.3g at ε = %g and %.3g at ε = %g", correlation, count,
                   score[0], x[0], score[count - 1], x[count - 1]);
}

/* proximal against imitation at every ε. */
typedef struct comparison {
    int count, not_below_naive, naive_count;
    double worst, worst_x; /* smallest proximal / imitation */
    double gain, gain_x;   /* largest proximal − imitation at ε of 0.33 or more; NAN: no such ε */
    double mean_gain;      /* over all ε */
} comparison;

static comparison compare(const pess__curves *c) {
    comparison r = {.worst = INFINITY, .gain = NAN};
    double sum = 0;
    for (int i = 0; i < c->x_count; i++) {
        const double x = c->x[i], proximal = pess__curve_at(c, c->proximal, x),
                     imitation = pess__curve_at(c, "imitation", x);
        const double naive = pess__curve_at(c, "naive", x);
        if (isnan(proximal + imitation)) continue;
        r.count++;
        sum += proximal - imitation;
        r.naive_count += !isnan(naive);
        r.not_below_naive += proximal >= naive;
        const double share =
            imitation > 0 ? proximal / imitation : INFINITY; /* with nothing to compare with, not below it */
        if (share < r.worst) {
            r.worst = share;
            r.worst_x = x;
        }
        if (x < 0.33 || !(isnan(r.gain) || proximal - imitation > r.gain)) continue;
        r.gain = proximal - imitation;
        r.gain_x = x;
    }
    r.mean_gain = r.count > 0 ? sum / r.count : NAN;
    return r;
}

static void judge_proximal(const pess__curves *c, pess_experiment_claim *claim) {
    const comparison r = compare(c);
    if (r.count < c->x_count || isnan(r.gain)) {
        pess__not_judged(claim, "it needs proximal and imitation at every ε, some of them 0.33 or more");
        return;
    }
    claim->holds = r.worst >= 0.8 && r.gain > 0;
    (void)snprintf(claim->found, sizeof claim->found,
                   "at worst %.2f times imitation (ε = %g); at best %+.3g above it (ε = %g); not below naive at %d of "
                   "%d ε",
                   r.worst, r.worst_x, r.gain, r.gain_x, r.not_below_naive, r.naive_count);
}

static void judge_freeway(const pess__curves *c, pess_experiment_claim *claim) {
    const comparison r = compare(c);
    const double behaviour = pess__curve_at(c, "behaviour", c->x[0]);
    double naive = NAN, naive_x = NAN;
    for (int i = 0; i < c->x_count; i++) {
        const double found = pess__curve_at(c, "naive", c->x[i]);
        if (!(c->x[i] > 0 && c->x[i] < 1) || isnan(found) || found <= naive) continue;
        naive = found;
        naive_x = c->x[i];
    }
    if (r.count < c->x_count || isnan(naive + behaviour)) {
        pess__not_judged(claim, "it needs proximal, imitation and naive at every ε, some of them between 0 and 1");
        return;
    }
    claim->holds = r.mean_gain <= behaviour / 10 && naive >= 0.9 * behaviour;
    (void)snprintf(claim->found, sizeof claim->found,
                   "mean gain %+.3g; naive at best %.3g (ε = %g); data policy %.3g at ε = %g", r.mean_gain, naive,
                   naive_x, behaviour, c->x[0]);
}

size_t pess__games_judge(const pess_experiment_point *points, size_t count, const char *game, const double *x,
                         int x_count, const char *proximal, pess_experiment_claim out[PESS__GAMES_CLAIMS]) {
    static const struct {
        const char *claim, *rule, *game; /* game NULL: of all */
        void (*judge)(const pess__curves *, pess_experiment_claim *);
    } rules[PESS__GAMES_CLAIMS] = {{naive_claim, naive_rule, NULL, judge_naive},
                                   {imitation_claim, imitation_rule, NULL, judge_imitation},
                                   {proximal_claim, proximal_rule, NULL, judge_proximal},
                                   {freeway_claim, freeway_rule, "freeway", judge_freeway}};
    const pess__curves c = {points, count, game, x, x_count, proximal};
    size_t written = 0;
    for (int i = 0; i < PESS__GAMES_CLAIMS; i++) {
        if (rules[i].game != NULL && strcmp(rules[i].game, game) != 0) continue;
        out[written] =
            (pess_experiment_claim){.about = game, .claim = rules[i].claim, .rule = rules[i].rule, .judged = true};
        rules[i].judge(&c, &out[written]);
        written++;
    }
    return written;
}
