/* The page of a certificate: recommendation, picture, what it rests on, thin places, δ, how to repeat it. One file, no
 * script, nothing loaded; light and dark; from phone to print. */
#include "report/html.h"

#include <math.h>
#include <stdio.h>

extern const char pess__certificate_css[]; /* certificate.css, put into the library by the build */

static void write_name(pess__outfile *out, const pess_names *names, int64_t id) {
    if (pess_names_given(names))
        pess__html_tag(out, "td", "", pess_names_get(names, id));
    else
        pess__outfile_print(out, "<td>%lld</td>", (long long)id);
}

static void write_head(pess__outfile *out, const pess_certificate_info *c) {
    const char *title = c->vacuous            ? "The log promises nothing"
                        : c->recommend_switch ? "Switch to the new policy"
                                              : "Keep the present policy";
    pess__html_head(out, title, pess__certificate_css);
    pess__outfile_print(out, "<header class=\"%s\">\n<p class=\"kicker\">Recommendation</p>\n",
                        c->vacuous            ? "vacuous"
                        : c->recommend_switch ? "switch"
                                              : "keep");
    pess__html_tag(out, "h1", "", title);
    pess__outfile_write(out, "\n", 1);
}

static void write_lead(pess__outfile *out, const pess_certificate_info *c) {
    const double sure = 100 * (1 - c->delta);
    if (c->vacuous)
        pess__outfile_print(out,
                            "<p class=\"lead\">The certificate is <strong>vacuous</strong>: from this log nothing can "
                            "be promised of a new policy beyond %.5g, which every policy has.</p>\n",
                            c->value_lo);
    else if (c->recommend_switch)
        pess__outfile_print(out,
                            "<p class=\"lead\">With %.4g&nbsp;%% certainty the new policy is worth at least "
                            "<strong>%.5g</strong> and the present one at most %.5g: better by at least "
                            "<strong>%.4g</strong>.</p>\n",
                            sure, c->lower_bound, c->behaviour_upper_bound, c->improvement_lower_bound);
    else
        pess__outfile_print(
            out,
            "<p class=\"lead\">The new policy is worth at least <strong>%.5g</strong> with %.4g&nbsp;%% "
            "certainty, but the present one may be worth up to %.5g: an improvement is not "
            "certain.</p>\n",
            c->lower_bound, sure, c->behaviour_upper_bound);
    pess__outfile_print(out, "</header>\n");
}

typedef struct scale {
    double from, to;
} scale;

static double place(const scale *s, double x) {
    return 100 * fmin(fmax((x - s->from) / (s->to > s->from ? s->to - s->from : 1), 0), 1);
}

static void bar(pess__outfile *out, const scale *s, const char *kind, const char *what, const char *words, double low,
                double high, double estimate) {
    pess__outfile_print(out, "<div class=\"of\"><span>%s</span><span>%s</span></div>\n<div class=\"track %s\">", what,
                        words, kind);
    pess__outfile_print(out, "<i style=\"left:%.2f%%;width:%.2f%%\"></i>", place(s, low),
                        place(s, high) - place(s, low));
    if (!isnan(estimate)) pess__outfile_print(out, "<b style=\"left:%.2f%%\"></b>", place(s, estimate));
    pess__outfile_print(out, "</div>\n");
}

static void write_picture(pess__outfile *out, const pess_certificate_info *c) {
    const scale s = {c->value_lo, c->value_hi};
    char words[120];
    pess__outfile_print(out,
                        "<h2>What is known</h2>\n<p class=\"note\">Value: the discounted sum of rewards from the start "
                        "(discount %g). Each bar is the range in which the true value lies with %.4g&nbsp;%% "
                        "certainty; the thin line is the estimate at face value.</p>\n<div class=\"scale\">\n",
                        c->gamma, 100 * (1 - c->delta));
    (void)snprintf(words, sizeof words, "at most %.4g", c->behaviour_upper_bound);
    bar(out, &s, "logging", "The policy that made the log", words, c->value_lo, c->behaviour_upper_bound,
        c->behaviour_value_estimate);
    (void)snprintf(words, sizeof words, "at least %.4g", c->lower_bound);
    bar(out, &s, "new", "The new policy", words, c->lower_bound, c->optimal_upper_bound, c->value_estimate);
    (void)snprintf(words, sizeof words, "between %.4g and %.4g", c->lower_bound, c->optimal_upper_bound);
    bar(out, &s, "best", "The best possible policy", words, c->lower_bound, c->optimal_upper_bound, NAN);
    pess__outfile_print(
        out,
        "<div class=\"ends\"><span>%.4g: the least any policy has</span><span>%.4g</span></div>\n</div>\n"
        "<p>The new policy is at most %.4g below the best possible one.</p>\n",
        c->value_lo, c->value_hi, c->suboptimality_upper_bound);
}

static void write_assumptions(pess__outfile *out, const pess_certificate *certificate) {
    pess__outfile_print(out, "<h2>What this rests on</h2>\n<ul>\n");
    const pess_assumption *a;
    for (size_t i = 0; (a = pess_certificate_assumption(certificate, i)) != NULL; i++) {
        pess__html_tag(out, "li", "", a->text);
        pess__outfile_write(out, "\n", 1);
    }
    pess__outfile_print(out, "</ul>\n");
}

static void write_gaps(pess__outfile *out, const pess_certificate_page *page) {
    if (page->gap_count == 0) return;
    pess__outfile_print(out, "<h2>Thin places</h2>\n<p>The new policy goes there, and more data there would raise the "
                             "guarantee most.</p>\n<div class=\"scroll\"><table>\n<tr><th>state</th>"
                             "<th>action</th><th>samples</th><th>share of the uncertainty</th></tr>\n");
    for (int64_t i = 0; i < page->gap_count; i++) {
        const pess_gap *g = &page->gaps[i];
        pess__outfile_print(out, "<tr>");
        write_name(out, page->state_names, g->state);
        write_name(out, page->action_names, g->action);
        pess__outfile_print(out, "<td>%lld</td><td>%.2f&nbsp;%%</td></tr>\n", (long long)g->count, 100 * g->share);
    }
    pess__outfile_print(out, "</table></div>\n");
}

static void write_ledger(pess__outfile *out, const pess_certificate *certificate, double delta) {
    pess__outfile_print(out,
                        "<h2>How the error probability of %.3g&nbsp;%% is shared</h2>\n<p>Each bound may fail with a "
                        "small probability. The probability that any of them fails is at most %g.</p>\n"
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
    pess__outfile_print(out, "<tr><th>together</th><th>%.3g</th></tr>\n</table></div>\n", sum);
}

static void write_candidates(pess__outfile *out, const pess_certificate *certificate) {
    pess__outfile_print(out, "<h2>What was tried</h2>\n<div class=\"scroll\"><table>\n<tr><th>policy</th>"
                             "<th>predicted</th><th>certified</th></tr>\n");
    const pess_candidate *tried;
    for (size_t i = 0; (tried = pess_certificate_candidate(certificate, i)) != NULL; i++) {
        pess__outfile_print(out, "<tr>");
        pess__html_tag(out, "td", "", tried->name);
        pess__outfile_print(out, isnan(tried->predicted) ? "<td>–</td>" : "<td>%.4g</td>", tried->predicted);
        pess__outfile_print(out, isnan(tried->lower) ? "<td>–</td></tr>\n" : "<td>%.4g</td></tr>\n", tried->lower);
    }
    pess__outfile_print(out, "</table></div>\n<p class=\"note\">The prediction comes from the part of the log that "
                             "chooses the policy; only what is certified has a share in the table above.</p>\n");
}

static void write_repeat(pess__outfile *out, const pess_certificate_info *c, const pess_certificate_page *page) {
    pess__outfile_print(out, "<h2>To repeat it</h2>\n");
    pess__html_tag(out, "pre", "", page->command ? page->command : "pess certify");
    pess__outfile_print(out, "\n<p class=\"note\">Log ");
    pess__html_text(out, page->log ? page->log : "");
    pess__outfile_print(
        out,
        ": %lld transitions, of which %lld chose the policy and %lld tested it. Method %s (%s), sets %s. "
        "Largest residual %.2g, already subtracted. Pessimist %s.</p>\n</body>\n</html>\n",
        (long long)c->transitions, (long long)c->first_part, (long long)c->second_part, c->method, c->test,
        c->uncertainty, c->residual, pess_build());
}

pess_status pess_certificate_write_page(const pess_certificate *certificate, const pess_certificate_page *page,
                                        const char *path, pess_error *error) {
    const pess_certificate_page empty = {0};
    pess_certificate_info info;
    pess__outfile *out = NULL;
    PESS_TRY(pess__outfile_open(path, &out, error));
    pess_certificate_get_info(certificate, &info);
    if (!page) page = &empty;
    write_head(out, &info);
    write_lead(out, &info);
    write_picture(out, &info);
    write_assumptions(out, certificate);
    write_gaps(out, page);
    write_ledger(out, certificate, info.delta);
    write_candidates(out, certificate);
    write_repeat(out, &info, page);
    return pess__outfile_commit(out, error);
}
