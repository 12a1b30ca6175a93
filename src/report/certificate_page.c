/* The page of a certificate: recommendation, picture, what it rests on, thin places, δ, how to repeat it. One file, no
 * script, nothing loaded; light and dark; from phone to print. */
#include "core/settings.h"
#include "report/html.h"
#include "report/plain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char pess__certificate_css[]; /* certificate.css, put into the library by the build */

static void write_name(pess__outfile *out, const pess_names *names, int64_t id) {
    if (pess_names_given(names))
        pess__html_tag(out, "td", "", pess_names_get(names, id));
    else
        pess__outfile_print(out, "<td>%lld</td>", (long long)id);
}

/* Whole per cent, tenths below ten. */
static double percent(double share) { return 100 * share < 10 ? round(1000 * share) / 10 : round(100 * share); }

/* What the page is about, and with how many decimals its values are shown. */
typedef struct view {
    const pess_certificate_info *c;
    const pess_certificate_page *page;
    int decimals;
} view;

/* Values: at least, at most, about; P: other numbers. */
#define AT_LEAST(x) pess__plain(x, v->decimals, PESS__ROUND_DOWN, (char[PESS__PLAIN]){0})
#define AT_MOST(x) pess__plain(x, v->decimals, PESS__ROUND_UP, (char[PESS__PLAIN]){0})
#define ABOUT(x) pess__plain(x, v->decimals, PESS__ROUND_NEAR, (char[PESS__PLAIN]){0})
#define P(x) pess__plain(x, 3, PESS__ROUND_NEAR, (char[PESS__PLAIN]){0})

static const char *verdict_of(const pess_certificate_info *c) {
    return c->recommend_switch ? "switch" : c->vacuous ? "vacuous" : "keep";
}

static void write_head(pess__outfile *out, const pess_certificate_info *c, const pess_certificate_page *page) {
    const char *title = c->recommend_switch ? "Switch to the new policy"
                        : c->vacuous        ? "Keep the present policy: the log guarantees nothing"
                                            : "Keep the present policy";
    pess__html_head(out, title, pess__certificate_css);
    pess__outfile_print(out, "<header class=\"%s\">\n<p class=\"kicker\">Recommendation", verdict_of(c));
    if (page->date) {
        pess__outfile_print(out, " of ");
        pess__html_text(out, page->date);
    }
    pess__outfile_print(out, "</p>\n");
    pess__html_tag(out, "h1", "", title);
    pess__outfile_write(out, "\n", 1);
}

static void write_unit(pess__outfile *out, const view *v) {
    if (v->page->unit == NULL) return;
    pess__outfile_print(out, " (");
    pess__html_text(out, v->page->unit);
    pess__outfile_print(out, ")");
}

/* Where both were compared side by side, the difference says more than the two bounds. */
static bool is_paired(const pess_certificate_info *c) {
    return c->improvement_lower_bound > c->lower_bound - c->behaviour_upper_bound + 1e-12 * (c->value_hi - c->value_lo);
}

static void write_lead(pess__outfile *out, const view *v) {
    const pess_certificate_info *c = v->c;
    const char *sure = P(100 * (1 - c->delta));
    pess__outfile_print(out, "<p class=\"lead\">");
    if (c->recommend_switch) {
        pess__outfile_print(out,
                            "With %s&nbsp;%% certainty the new policy is better than the present one by at least "
                            "<strong>%s</strong>",
                            sure, AT_LEAST(c->improvement_lower_bound));
        write_unit(out, v);
        pess__outfile_print(out,
                            is_paired(c) ? ". It is worth at least <strong>%s</strong>."
                                         : ": it is worth at least <strong>%s</strong>, the present one at most %s.",
                            AT_LEAST(c->lower_bound), AT_MOST(c->behaviour_upper_bound));
    } else if (c->vacuous) {
        pess__outfile_print(out,
                            "The certificate is <strong>vacuous</strong>: with %s&nbsp;%% certainty a new policy is "
                            "worth at least %s",
                            sure, AT_LEAST(c->lower_bound));
        write_unit(out, v);
        pess__outfile_print(out,
                            ", next to nothing beside the %s that the log suggests. Every policy is worth at least %s.",
                            ABOUT(c->value_estimate), ABOUT(c->value_lo));
    } else {
        pess__outfile_print(out, "With %s&nbsp;%% certainty the new policy is worth at least <strong>%s</strong>", sure,
                            AT_LEAST(c->lower_bound));
        write_unit(out, v);
        pess__outfile_print(out, ", but the present one may be worth up to %s: an improvement is not certain.",
                            AT_MOST(c->behaviour_upper_bound));
        if (is_paired(c))
            pess__outfile_print(out, " Compared side by side, the new one is at most %s below the present one.",
                                AT_MOST(-c->improvement_lower_bound));
    }
    pess__outfile_print(out, "</p>\n");
}

static double two_digits(double x) {
    const double unit = x >= 100 ? pow(10, floor(log10(x)) - 1) : 1;
    return unit * round(x / unit);
}

/* What it would take, for whoever must wait. */
static void write_more_data(pess__outfile *out, const view *v) {
    const pess_certificate_info *c = v->c;
    if (c->recommend_switch) return;
    const double gain = c->value_estimate - c->behaviour_value_estimate;
    const char *unit = c->episodes > 0 ? "episodes" : "transitions";
    const double have = (double)(c->episodes > 0 ? c->episodes : c->transitions);
    if (isnan(c->data_needed)) {
        pess__outfile_print(out, gain > 0 ? "<p>The present policy could not be compared with the new one.</p>\n"
                                          : "<p>The log does not suggest that the new policy is better: more data of "
                                            "the same kind need not change the recommendation.</p>\n");
        return;
    }
    pess__outfile_print(
        out,
        "<p>The log suggests that the new policy is better by %s. If that is so, about <strong>%s</strong> more %s, "
        "beside the %s of the log, would make it certain. This is a guess%s.</p>\n",
        ABOUT(gain), P(two_digits((c->data_needed - 1) * have)), unit, P(have),
        c->vacuous ? ", and probably too low: bounds that say nothing yet cannot tell how fast they will improve"
                   : ": it assumes that bounds improve with the square root of the amount of data");
}

/* What the winning certificate can do without. */
static void write_not_needed(pess__outfile *out, const pess_certificate_info *c) {
    static const char *const words[][2] = {
        {"episodes",
         "The guarantee does not need the states to tell everything (no Markov states): what happens within "
         "an episode may also depend on things that the log does not show."},
        {"split", "The guarantee does not need to know how likely each action was when it was taken."},
        {"robust", "The guarantee does not need data that were kept apart for a test: it holds for every policy at "
                   "once."},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], c->method) == 0) pess__outfile_print(out, "<p>%s</p>\n", words[i][1]);
}

static void write_changes(pess__outfile *out, const pess_certificate_info *c) {
    pess__outfile_print(out,
                        "<p>The new policy would change <strong>%s&nbsp;%%</strong> of the decisions in the log; in "
                        "%lld of %lld states%s its usual action differs%s.</p>\n</header>\n",
                        P(percent(c->decisions_changed)), (long long)c->states_changed, (long long)c->states_compared,
                        c->horizon > 0 ? " at a step" : "",
                        c->states_changed == 0 && c->decisions_changed > 0
                            ? ": it takes the actions that are usual already, at other rates"
                            : "");
}

typedef struct scale {
    double from, to;
} scale;

/* What is known and estimated, with a margin, and no more of [V_lo, V_hi] than that. A bound that is far from all the
 * rest stays outside: its bar then reaches the edge. */
static scale scale_of(const pess_certificate_info *c) {
    const double estimates[] = {c->value_estimate, c->behaviour_value_estimate};
    const double bounds[] = {c->lower_bound, c->behaviour_upper_bound};
    scale s = {fmin(estimates[0], estimates[1]), fmax(estimates[0], estimates[1])};
    const double near = fmax(3 * (s.to - s.from), 0.15 * (c->value_hi - c->value_lo));
    for (int i = 0; i < 2; i++) {
        if (bounds[i] < s.from - near || bounds[i] > s.to + near) continue;
        s.from = fmin(s.from, bounds[i]);
        s.to = fmax(s.to, bounds[i]);
    }
    const double margin = fmax(0.12 * (s.to - s.from), 0.01 * (c->value_hi - c->value_lo));
    return (scale){fmax(s.from - margin, c->value_lo), fmin(s.to + margin, c->value_hi)};
}

static double place(const scale *s, double x) {
    return 100 * fmin(fmax((x - s->from) / (s->to > s->from ? s->to - s->from : 1), 0), 1);
}

/* A bar that goes on beyond the picture fades, and says how far where that is a bound. */
static void bar(pess__outfile *out, const scale *s, const char *kind, const char *what, const char *words, double low,
                double high, double estimate) {
    const bool left = low<s->from, right = high> s->to;
    pess__outfile_print(out, "<div class=\"of\"><span>%s</span><span>%s</span></div>\n<div class=\"track %s\">", what,
                        words, kind);
    pess__outfile_print(out, "<i class=\"%s%s\" style=\"left:%.2f%%;width:%.2f%%\"></i>", left ? "left " : "",
                        right ? "right" : "", place(s, low), place(s, high) - place(s, low));
    pess__outfile_print(out, "<b style=\"left:%.2f%%\"></b></div>\n", place(s, estimate));
}

static void write_scale_note(pess__outfile *out, const view *v) {
    const pess_certificate_info *c = v->c;
    pess__outfile_print(out, "<h2>What is known</h2>\n<p class=\"note\">Value: ");
    pess__html_text(out, v->page->unit ? v->page->unit : "the sum of rewards");
    if (c->horizon > 0)
        pess__outfile_print(out, " over the first %lld step%s of an episode", (long long)c->horizon,
                            c->horizon == 1 ? "" : "s");
    else
        pess__outfile_print(out, c->gamma < 1 ? " from the start of an episode" : ", over a whole episode");
    if (c->gamma < 1) pess__outfile_print(out, ", later steps counting less (%g per step)", c->gamma);
    pess__outfile_print(
        out,
        ". Each bar is the range in which the true value lies with %s&nbsp;%% certainty; where it fades "
        "it goes on beyond the picture. The thin line is what the log suggests, without a "
        "promise.</p>\n",
        P(100 * (1 - c->delta)));
}

static void write_picture(pess__outfile *out, const view *v) {
    const pess_certificate_info *c = v->c;
    const scale s = scale_of(c);
    char words[240];
    write_scale_note(out, v);
    pess__outfile_print(out, "<div class=\"scale\">\n");
    (void)snprintf(words, sizeof words, "about %s, at most %s", ABOUT(c->behaviour_value_estimate),
                   AT_MOST(c->behaviour_upper_bound));
    bar(out, &s, "logging", "The present policy", words, c->value_lo, c->behaviour_upper_bound,
        c->behaviour_value_estimate);
    (void)snprintf(words, sizeof words, "about %s, at least %s", ABOUT(c->value_estimate), AT_LEAST(c->lower_bound));
    bar(out, &s, "new", "The new policy", words, c->lower_bound, c->optimal_upper_bound, c->value_estimate);
    pess__outfile_print(out,
                        "<div class=\"ends\"><span>%s</span><span>%s</span></div>\n</div>\n<p>Of what the log "
                        "suggests for the new policy, %s&nbsp;%% is certain.",
                        ABOUT(s.from), ABOUT(s.to), P(percent(c->certified_share)));
    if (c->optimal_upper_bound < c->value_hi)
        pess__outfile_print(out, " No policy is worth more than %s, so the new one is at most %s below the best.",
                            AT_MOST(c->optimal_upper_bound), AT_MOST(c->suboptimality_upper_bound));
    pess__outfile_print(out, "</p>\n");
}

/* How far the weights of whole episodes can be trusted. */
static void write_episodes(pess__outfile *out, const pess_episode_report *e) {
    if (e == NULL) return;
    pess__outfile_print(out,
                        "<h2>How much the episodes say</h2>\n<p>%s earlier episodes chose a policy, %s later ones "
                        "tested it. Each counts as often as that policy would have let it happen: together they say as "
                        "much about it as <strong>%s</strong> episodes of its own would.</p>\n<div "
                        "class=\"scroll\"><table>\n",
                        P((double)e->choosing), P((double)e->tested), P(two_digits(e->effective)));
    pess__outfile_print(out, "<tr><td>effective number of episodes</td><td>%s</td></tr>\n", P(round(e->effective)));
    pess__outfile_print(out, "<tr><td>most that one episode counts</td><td>%s</td></tr>\n", P(e->largest_weight));
    pess__outfile_print(out, "<tr><td>episodes that do not count at all</td><td>%s&nbsp;%%</td></tr>\n",
                        P(percent(e->zero_share)));
    pess__outfile_print(out,
                        "<tr><td>mean count, expected near 1 (99&nbsp;%% interval)</td><td>%s (%s to "
                        "%s)</td></tr>\n</table></div>\n",
                        P(e->mean_weight), P(e->mean_weight_lo), P(e->mean_weight_hi));
    if (e->doubtful)
        pess__outfile_print(out, "<p class=\"warning\">The mean count should be 1, and is not: %s.</p>\n",
                            e->mean_weight > 1
                                ? "actions were more likely than the log says, and the guarantee may be wrong"
                                : "actions were less likely than the log says, or the new policy does what was never "
                                  "done so far, which makes the guarantee smaller, not wrong");
}

static void write_assumptions(pess__outfile *out, const pess_certificate *certificate) {
    pess__outfile_print(out, "<h2>What this rests on</h2>\n<ul>\n");
    const pess_assumption *a;
    for (size_t i = 0; (a = pess_certificate_assumption(certificate, i)) != NULL; i++) {
        char text[PESS__PLAIN_SENTENCE];
        pess__html_tag(out, "li", "", pess__plain_assumption(a, text));
        pess__outfile_write(out, "\n", 1);
    }
    pess__outfile_print(out, "</ul>\n");
}

static int larger_share_first(const void *left, const void *right) {
    const pess_gap *a = *(const pess_gap *const *)left, *b = *(const pess_gap *const *)right;
    return a->share != b->share ? (a->share < b->share) - (a->share > b->share) : (a > b) - (a < b);
}

enum { THIN_PLACES = 20 };

static void write_gaps(pess__outfile *out, const pess_certificate_page *page) {
    const pess_gap *order[THIN_PLACES];
    const int64_t count = page->gap_count < THIN_PLACES ? page->gap_count : THIN_PLACES;
    if (count == 0) return;
    for (int64_t i = 0; i < count; i++) order[i] = &page->gaps[i];
    qsort(order, (size_t)count, sizeof *order, larger_share_first);
    pess__outfile_print(out, "<h2>Thin places</h2>\n<p>The new policy goes there, and more data there would raise the "
                             "guarantee most.</p>\n<div class=\"scroll\"><table>\n<tr><th>state</th>"
                             "<th>action</th><th>samples</th><th>share of the uncertainty</th></tr>\n");
    for (int64_t i = 0; i < count; i++) {
        const pess_gap *g = order[i];
        pess__outfile_print(out, "<tr>");
        write_name(out, page->state_names, g->state);
        write_name(out, page->action_names, g->action);
        pess__outfile_print(out, "<td>%lld</td><td>%.2f&nbsp;%%</td></tr>\n", (long long)g->count, 100 * g->share);
    }
    pess__outfile_print(out, "</table></div>\n");
}

static void write_ledger(pess__outfile *out, const pess_certificate *certificate, double delta) {
    pess__outfile_print(
        out,
        "<details><summary>How the error probability of %.3g&nbsp;%% is shared</summary>\n<p>Each bound "
        "may fail with a small probability. The probability that any of them fails is at most %g.</p>\n"
        "<div class=\"scroll\"><table>\n<tr><th>for</th><th>probability</th></tr>\n",
        100 * delta, delta);
    double sum = 0;
    const pess_ledger_entry *entry;
    for (size_t i = 0; (entry = pess_certificate_ledger(certificate, i)) != NULL; i++) {
        pess__outfile_print(out, "<tr>");
        pess__html_tag(out, "td", "", entry->what);
        pess__outfile_print(out, "<td>%.3g</td></tr>\n", entry->delta);
        sum += entry->delta;
    }
    pess__outfile_print(out, "<tr><th>together</th><th>%.3g</th></tr>\n</table></div>\n</details>\n", sum);
}

static void write_candidates(pess__outfile *out, const pess_certificate *certificate) {
    pess__outfile_print(out,
                        "<details><summary>What was tried</summary>\n<div class=\"scroll\"><table>\n<tr><th>policy</th>"
                        "<th>predicted</th><th>certified</th></tr>\n");
    const pess_candidate *tried;
    for (size_t i = 0; (tried = pess_certificate_candidate(certificate, i)) != NULL; i++) {
        pess__outfile_print(out, "<tr>");
        pess__html_tag(out, "td", "", tried->name);
        pess__outfile_print(out, isnan(tried->predicted) ? "<td>–</td>" : "<td>%.4g</td>", tried->predicted);
        pess__outfile_print(out, isnan(tried->lower) ? "<td>–</td></tr>\n" : "<td>%.4g</td></tr>\n", tried->lower);
    }
    pess__outfile_print(
        out, "</table></div>\n<p class=\"note\">The prediction comes from the part of the log that "
             "chooses the policy; only what is certified has a share of the error probability.</p>\n</details>\n");
}

static void write_repeat(pess__outfile *out, const pess_certificate_info *c, const pess_certificate_page *page) {
    pess__outfile_print(out, "<h2>To repeat it</h2>\n");
    pess__html_tag(out, "pre", "", page->command ? page->command : "pess certify");
    pess__outfile_print(out, "\n<p class=\"note\">Log ");
    pess__html_text(out, page->log ? page->log : "");
    pess__outfile_print(out, ": %lld transitions", (long long)c->transitions);
    if (c->second_part > 0)
        pess__outfile_print(out, ", of which %lld chose the policy and %lld tested it", (long long)c->first_part,
                            (long long)c->second_part);
    pess__outfile_print(out,
                        ". Method %s (%s)%s%s. Largest residual %.2g, already subtracted. Pessimist "
                        "%s.</p>\n</body>\n</html>\n",
                        c->method, c->test, c->uncertainty ? ", sets " : "", c->uncertainty ? c->uncertainty : "",
                        c->residual, pess_build());
}

pess_status pess_certificate_write_page(const pess_certificate *certificate, const pess_certificate_page *page,
                                        const char *path, pess_error *error) {
    const pess_certificate_page empty = {.size = sizeof empty};
    pess_certificate_info info;
    pess__outfile *out = NULL;
    if (!page) page = &empty;
    PESS_TRY(pess__check_struct("the page", page, sizeof *page, error));
    PESS_TRY(pess__outfile_open(path, &out, error));
    pess_certificate_get_info(certificate, &info);
    const double shown =
        info.recommend_switch ? info.improvement_lower_bound : info.value_estimate - info.behaviour_value_estimate;
    const view v = {&info, page, pess__plain_decimals(info.value_hi - info.value_lo, shown)};
    write_head(out, &info, page);
    write_lead(out, &v);
    write_more_data(out, &v);
    write_not_needed(out, &info);
    write_changes(out, &info);
    write_picture(out, &v);
    write_episodes(out, pess_certificate_episodes(certificate));
    write_assumptions(out, certificate);
    write_gaps(out, page);
    write_ledger(out, certificate, info.delta);
    write_candidates(out, certificate);
    write_repeat(out, &info, page);
    return pess__outfile_commit(out, error);
}
