/* The page of a certificate: recommendation, picture, what it rests on, thin places, δ, how to repeat it. One file, no
 * script, nothing loaded; light and dark; from phone to print. */
#include "certify/certificate.h"

#include "core/outfile.h"

#include <math.h>
#include <stdio.h>

static const char style[] =
    ":root{--ink:#1c2430;--soft:#5b6675;--paper:#fdfdfb;--card:#fff;--line:#d9dee5;--good:#0b6e4f;--hold:#8a5a00;"
    "--none:#8c2f2f;--bar:#9db7d5;--new:#0b6e4f;--best:#b9bfc8}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8ebf0;--soft:#a3adba;--paper:#14181e;--card:#1c222b;"
    "--line:#343c48;--good:#57c79a;--hold:#e0b052;--none:#ef8f8f;--bar:#4a6a8f;--new:#57c79a;--best:#59626f}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);"
    "font:17px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif}"
    "main{max-width:46rem;margin:0 auto;padding:1.5rem 1rem 4rem}h1{font-size:1.9rem;line-height:1.2;margin:.2rem 0 "
    ".6rem}"
    "h2{font-size:1.15rem;margin:2.2rem 0 .6rem;border-top:1px solid var(--line);padding-top:1.2rem}"
    "p{margin:.5rem "
    "0}.kicker{color:var(--soft);font-size:.85rem;letter-spacing:.04em;text-transform:uppercase;margin:0}"
    ".switch h1{color:var(--good)}.keep h1{color:var(--hold)}.vacuous h1{color:var(--none)}"
    ".lead{font-size:1.15rem}.scale{margin:1.2rem 0}.scale .name{display:flex;justify-content:space-between;gap:1rem;"
    "font-size:.95rem;margin:.9rem 0 .25rem}.scale .name span:last-child{color:var(--soft);text-align:right}"
    ".track{position:relative;height:1.35rem;background:var(--card);border:1px solid var(--line);border-radius:.3rem}"
    ".track i{position:absolute;top:0;bottom:0;border-radius:.2rem}.track b{position:absolute;top:-.2rem;bottom:-.2rem;"
    "width:3px;margin-left:-1.5px;background:var(--ink);border-radius:2px}.logging i{background:var(--bar)}"
    ".new i{background:var(--new)}.best i{background:repeating-linear-gradient(45deg,var(--best) 0 6px,transparent 6px "
    "11px)}"
    ".axis{display:flex;justify-content:space-between;color:var(--soft);font-size:.85rem;margin-top:.35rem}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:."
    "95rem}"
    "td,th{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right}"
    "td:first-child,th:first-child{text-align:left;padding-left:0}th{font-weight:600;color:var(--soft)}"
    "li{margin:.35rem 0}ul{padding-left:1.2rem}pre{background:var(--card);border:1px solid var(--line);"
    "border-radius:.3rem;padding:.7rem .8rem;overflow-x:auto;font-size:.85rem}.soft{color:var(--soft)}"
    "@media "
    "print{:root{--ink:#000;--soft:#444;--paper:#fff;--card:#fff;--line:#bbb;--good:#000;--hold:#000;--none:#000;"
    "--bar:#9db7d5;--new:#0b6e4f;--best:#b9bfc8}body{font-size:10.5pt}main{max-width:none;padding:0}"
    "h2{break-after:avoid}.track,.track i,.track b{-webkit-print-color-adjust:exact;print-color-adjust:exact}"
    "table,.scale{break-inside:avoid}pre{white-space:pre-wrap}}";

static void text(pess__outfile *out, const char *words) {
    for (; *words; words++) {
        switch (*words) {
            case '&': pess__outfile_print(out, "&amp;"); break;
            case '<': pess__outfile_print(out, "&lt;"); break;
            case '>': pess__outfile_print(out, "&gt;"); break;
            case '"': pess__outfile_print(out, "&quot;"); break;
            default: pess__outfile_write(out, words, 1);
        }
    }
}

static void name(pess__outfile *out, const pess_names *names, int64_t id) {
    if (pess_names_given(names))
        text(out, pess_names_get(names, id));
    else
        pess__outfile_print(out, "%lld", (long long)id);
}

static void write_head(pess__outfile *out, const pess_certificate_info *c) {
    const char *title = c->vacuous            ? "The log promises nothing"
                        : c->recommend_switch ? "Switch to the new policy"
                                              : "Keep the present policy";
    pess__outfile_print(out,
                        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>",
                        title);
    pess__outfile_write(out, style, sizeof style - 1);
    pess__outfile_print(out,
                        "</style>\n</head>\n<body>\n<main>\n<header class=\"%s\">\n<p class=\"kicker\">Recommendation"
                        "</p>\n<h1>%s</h1>\n",
                        c->vacuous            ? "vacuous"
                        : c->recommend_switch ? "switch"
                                              : "keep",
                        title);
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
    pess__outfile_print(out, "<div class=\"name\"><span>%s</span><span>%s</span></div>\n<div class=\"track %s\">", what,
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
                        "<h2>What is known</h2>\n<p class=\"soft\">Value: the discounted sum of rewards from the start "
                        "(discount %g). Bars are where the truth can be, the thin line is the estimate at face "
                        "value.</p>\n<div class=\"scale\">\n",
                        c->gamma);
    (void)snprintf(words, sizeof words, "at most %.4g", c->behaviour_upper_bound);
    bar(out, &s, "logging", "The policy that made the log", words, c->value_lo, c->behaviour_upper_bound,
        c->behaviour_value_estimate);
    (void)snprintf(words, sizeof words, "at least %.4g", c->lower_bound);
    bar(out, &s, "new", "The new policy", words, c->lower_bound, c->optimal_upper_bound, c->value_estimate);
    (void)snprintf(words, sizeof words, "between %.4g and %.4g", c->lower_bound, c->optimal_upper_bound);
    bar(out, &s, "best", "The best possible policy", words, c->lower_bound, c->optimal_upper_bound, NAN);
    pess__outfile_print(
        out,
        "<div class=\"axis\"><span>%.4g: the least any policy has</span><span>%.4g</span></div>\n</div>\n"
        "<p>The new policy is at most %.4g below the best possible one.</p>\n",
        c->value_lo, c->value_hi, c->suboptimality_upper_bound);
}

static void write_gaps(pess__outfile *out, const pess_certificate_page *page) {
    if (page->gap_count == 0) return;
    pess__outfile_print(out,
                        "<h2>Thin places</h2>\n<p>The new policy goes there and the log says little. More data here "
                        "would raise the guarantee most.</p>\n<div class=\"wide\"><table>\n<tr><th>state</th>"
                        "<th>action</th><th>samples</th><th>share of the doubt</th></tr>\n");
    for (int64_t i = 0; i < page->gap_count; i++) {
        const pess_gap *g = &page->gaps[i];
        pess__outfile_print(out, "<tr><td>");
        name(out, page->state_names, g->state);
        pess__outfile_print(out, "</td><td>");
        name(out, page->action_names, g->action);
        pess__outfile_print(out, "</td><td>%lld</td><td>%.2f&nbsp;%%</td></tr>\n", (long long)g->count, 100 * g->share);
    }
    pess__outfile_print(out, "</table></div>\n");
}

static void write_ledger(pess__outfile *out, const pess_certificate_info *c) {
    pess__outfile_print(
        out,
        "<h2>Where the %.3g&nbsp;%% of doubt goes</h2>\n<p>Each bound may fail with a small probability. "
        "Together they may fail with probability %g.</p>\n<div class=\"wide\"><table>\n<tr><th>for</th>"
        "<th>probability</th></tr>\n",
        100 * c->delta, c->delta);
    double sum = 0;
    for (int i = 0; i < c->ledger_count; i++) {
        pess__outfile_print(out, "<tr><td>");
        text(out, c->ledger[i].what);
        pess__outfile_print(out, "</td><td>%.3g</td></tr>\n", c->ledger[i].delta);
        sum += c->ledger[i].delta;
    }
    pess__outfile_print(out, "<tr><th>together</th><th>%.3g</th></tr>\n</table></div>\n", sum);
}

static void write_tried(pess__outfile *out, const pess_certificate_info *c) {
    pess__outfile_print(out, "<h2>What was tried</h2>\n<div class=\"wide\"><table>\n<tr><th>policy</th>"
                             "<th>predicted</th><th>certified</th></tr>\n");
    for (int i = 0; i < c->candidate_count; i++) {
        pess__outfile_print(out, "<tr><td>");
        text(out, c->candidates[i].name);
        pess__outfile_print(out, isnan(c->candidates[i].predicted) ? "</td><td>–</td>" : "</td><td>%.4g</td>",
                            c->candidates[i].predicted);
        pess__outfile_print(out, isnan(c->candidates[i].lower) ? "<td>–</td></tr>\n" : "<td>%.4g</td></tr>\n",
                            c->candidates[i].lower);
    }
    pess__outfile_print(out,
                        "</table></div>\n<p class=\"soft\">The prediction comes from the part of the log that chooses "
                        "and costs nothing; only what is certified is paid for in the table above.</p>\n");
}

static void write_rest(pess__outfile *out, const pess_certificate_info *c, const pess_certificate_page *page) {
    pess__outfile_print(out, "<h2>What this rests on</h2>\n<ul>\n");
    for (int i = 0; i < c->assumption_count; i++) {
        pess__outfile_print(out, "<li>");
        text(out, c->assumptions[i]);
        pess__outfile_print(out, "</li>\n");
    }
    pess__outfile_print(out, "</ul>\n");
    write_gaps(out, page);
    write_ledger(out, c);
    write_tried(out, c);
    pess__outfile_print(out, "<h2>To repeat it</h2>\n<pre>");
    text(out, page->command ? page->command : "pess certify");
    pess__outfile_print(out, "</pre>\n<p class=\"soft\">Log ");
    text(out, page->log ? page->log : "");
    pess__outfile_print(
        out,
        ": %lld transitions, of which %lld chose the policy and %lld tested it. Method %s (%s), sets %s. "
        "Largest residual %.2g, already taken off. Pessimist %s.</p>\n</main>\n</body>\n</html>\n",
        (long long)c->transitions, (long long)c->first_part, (long long)c->second_part, c->method, c->test,
        c->uncertainty, c->residual, PESS_VERSION);
}

pess_status pess_certificate_write_page(const pess_certificate *certificate, const pess_certificate_page *page,
                                        const char *path, pess_error *error) {
    pess__outfile *out = NULL;
    PESS_TRY(pess__outfile_open(path, &out, error));
    const pess_certificate_info *c = &certificate->info;
    write_head(out, c);
    write_lead(out, c);
    write_picture(out, c);
    write_rest(out, c, page);
    return pess__outfile_commit(out, error);
}
