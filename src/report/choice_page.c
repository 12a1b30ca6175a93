/* What is written about a choice: a figure with a curve over the strength for each family, a page and a table. */
#include "choose/choose.h"
#include "report/html.h"
#include "report/plain.h"
#include "report/staging.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the figure */

/* Half of a 95 % interval in standard errors. */
static const double HALF_WIDTH = 1.96;

static const pess_candidate_score *find_candidate(const pess_choice *choice, const char *algorithm) {
    for (int64_t c = 0; c < choice->count; c++)
        if (strcmp(choice->scores[c].algorithm, algorithm) == 0 && choice->scores[c].left_out == NULL)
            return &choice->scores[c];
    return NULL;
}

/* A family without a strength is a level line from x to y. */
static pess_status add_level(const pess_choice *choice, const char *algorithm, double from, double to,
                             pess__panel *panel, pess_error *error) {
    const pess_candidate_score *level = find_candidate(choice, algorithm);
    if (level == NULL) return PESS_OK;
    PESS_TRY(pess__panel_add_band(panel, algorithm, from, level->gain, NAN, NAN, error));
    return pess__panel_add_band(panel, algorithm, to, level->gain, NAN, NAN, error);
}

static const char *title_of(const char *setting) {
    if (strcmp(setting, "absorbed-alpha") == 0) return "absorbed α";
    if (strcmp(setting, "alpha") == 0) return "α";
    return strcmp(setting, "min-count") == 0 ? "min-count" : setting;
}

/* Candidates [from, to) are of one family with a strength. */
static pess_status add_family(const pess_choice *choice, int64_t from, int64_t to, pess__figure *figure,
                              pess_error *error) {
    const pess_candidate_score *scores = choice->scores;
    const int64_t chosen = choice->info.chosen;
    pess__panel *panel = NULL;
    PESS_TRY(pess__figure_add_panel(figure, &panel, error));
    panel->log_x = true;
    const bool here = chosen >= from && chosen < to;
    (void)snprintf(panel->title, sizeof panel->title, "%s%s", scores[from].algorithm, here ? " (chosen)" : "");
    (void)snprintf(panel->x_label, sizeof panel->x_label, "%s", title_of(scores[from].setting));
    (void)snprintf(panel->y_label, sizeof panel->y_label, "gain over the logging policy");
    for (int64_t c = from; c < to; c++)
        if (scores[c].left_out == NULL)
            PESS_TRY(pess__panel_add_point(panel, scores[c].algorithm, scores[c].strength, scores[c].gain,
                                           HALF_WIDTH * scores[c].gain_error, error));
    PESS_TRY(add_level(choice, "imitation", scores[from].strength, scores[to - 1].strength, panel, error));
    PESS_TRY(add_level(choice, "naive", scores[from].strength, scores[to - 1].strength, panel, error));
    if (!here) return PESS_OK; /* a post from the logging policy up to the one chosen */
    PESS_TRY(pess__panel_add_band(panel, "chosen", scores[chosen].strength, 0, NAN, NAN, error));
    return pess__panel_add_band(panel, "chosen", scores[chosen].strength, scores[chosen].gain, NAN, NAN, error);
}

static pess_status make_figure(const pess_choice *choice, pess__figure *figure, pess_error *error) {
    (void)snprintf(figure->title, sizeof figure->title, "How much pessimism for this log");
    (void)snprintf(figure->note, sizeof figure->note,
                   "Each policy is made from all folds of the %s but one and scored on that one, in turn; means and 95 "
                   "%% intervals over %lld folds.",
                   choice->info.rows ? "rows" : "episodes", (long long)choice->info.folds);
    for (int64_t from = 0, to = 0; from < choice->count; from = to) {
        while (to < choice->count && strcmp(choice->scores[from].algorithm, choice->scores[to].algorithm) == 0) to++;
        if (choice->scores[from].setting != NULL) PESS_TRY(add_family(choice, from, to, figure, error));
    }
    figure->columns = figure->panel_count < 3 ? figure->panel_count : 3;
    return PESS_OK;
}

/* ---- the page */

static const char css[] = "td.number,th.number{text-align:right}table{border-collapse:collapse}"
                          "td,th{padding:.2em .8em;text-align:left}tr.chosen td{font-weight:bold}\n";

/* As many decimals as two digits of the error have; where there is no error, three or four of the number. */
static const char *shown(double number, double error, char text[PESS__PLAIN]) {
    const double size = error > 0 ? error : fabs(number) / 100;
    const double decimals = size > 0 && isfinite(size) ? fmin(fmax(1 - floor(log10(size)), 0), 12) : 0;
    return pess__plain(number, (int)decimals, PESS__ROUND_NEAR, text);
}
#define SHOWN(number, error) shown(number, error, (char[PESS__PLAIN]){0})

static void write_name(pess__outfile *out, const pess_candidate_score *s) {
    pess__html_text(out, s->algorithm);
    if (s->setting != NULL) pess__outfile_print(out, ", %s %s", title_of(s->setting), SHOWN(s->strength, 0));
}

static void write_runner_up(pess__outfile *out, const pess_choice *choice) {
    const pess_choice_info *info = &choice->info;
    if (info->runner_up < 0) return;
    pess__outfile_print(out, "The best of another family, ");
    write_name(out, &choice->scores[info->runner_up]);
    if (info->margin == 0 && info->margin_error == 0)
        pess__outfile_print(out, ", has the same score on every fold. ");
    else
        pess__outfile_print(out, ", is %s (standard error %s) behind. ", SHOWN(info->margin, info->margin_error),
                            SHOWN(info->margin_error, info->margin_error));
}

static void write_verdict(pess__outfile *out, const pess_choice *choice) {
    const pess_choice_info *info = &choice->info;
    const pess_candidate_score *chosen = &choice->scores[info->chosen];
    pess__outfile_print(out, "<h2>The choice</h2>\n<p><strong>");
    write_name(out, chosen);
    pess__outfile_print(out, "</strong>: %s on held-out %s (standard error %s)", SHOWN(chosen->score, chosen->error),
                        info->rows ? "rows" : "episodes", SHOWN(chosen->error, chosen->error));
    if (strcmp(chosen->algorithm, "imitation") == 0)
        pess__outfile_print(out, "; nothing does better than what was done so far.</p>\n<p>");
    else
        pess__outfile_print(out, ", %s%s (%s) compared with the logging policy.</p>\n<p>", chosen->gain > 0 ? "+" : "",
                            SHOWN(chosen->gain, chosen->gain_error), SHOWN(chosen->gain_error, chosen->gain_error));
    write_runner_up(out, choice);
    pess__outfile_print(
        out,
        "When the folds are resampled, this family comes first in %.0f of 100 cases. Scores are evidence for a choice, "
        "not a guarantee: the best of many candidates is also among the luckiest.</p>\n",
        100 * info->sure);
}

static void write_number(pess__outfile *out, double number, double error) {
    pess__outfile_print(out, "<td class=\"number\">%s</td>", isnan(number) ? "" : SHOWN(number, error));
}

static void write_estimate(pess__outfile *out, double number, double error) {
    write_number(out, number, error);
    write_number(out, error, error);
}

static void write_candidate(pess__outfile *out, const pess_choice *choice, int64_t c, bool weights) {
    const pess_candidate_score *s = &choice->scores[c];
    pess__outfile_print(out, c == choice->info.chosen ? "<tr class=\"chosen\"><td>" : "<tr><td>");
    write_name(out, s);
    pess__outfile_print(out, "</td>");
    if (s->left_out != NULL) {
        pess__outfile_print(out, "<td colspan=\"%d\">left out: ", weights ? 7 : 4);
        pess__html_text(out, s->left_out);
        pess__outfile_print(out, "</td></tr>\n");
        return;
    }
    write_estimate(out, s->score, s->error);
    write_estimate(out, s->gain, s->gain_error);
    if (weights) {
        write_estimate(out, s->weighted, s->weighted_error);
        write_number(out, s->effective, 1);
    }
    pess__outfile_print(out, "</tr>\n");
}

static bool has_weights(const pess_choice *choice) {
    for (int64_t c = 0; c < choice->count; c++)
        if (!isnan(choice->scores[c].effective)) return true;
    return false;
}

static void write_table(pess__outfile *out, const pess_choice *choice) {
    const bool weights = has_weights(choice);
    pess__outfile_print(out, "<h2>All candidates</h2>\n<table><tr><th>candidate</th><th class=\"number\">score</th>"
                             "<th class=\"number\">standard error</th><th class=\"number\">gain</th>"
                             "<th class=\"number\">standard error</th>");
    if (weights)
        pess__outfile_print(out, "<th class=\"number\">by weights</th><th class=\"number\">standard error</th>"
                                 "<th class=\"number\">effective episodes</th>");
    pess__outfile_print(out, "</tr>\n");
    for (int64_t c = 0; c < choice->count; c++) write_candidate(out, choice, c, weights);
    pess__outfile_print(out,
                        "</table>\n<p class=\"note\">Score: %s. Gain: the score less that of the logging policy, "
                        "fold by fold.%s</p>\n",
                        choice->info.score == PESS_CHOOSE_MODEL
                            ? "the value of the policy in the model of the held-out fold, where an action that the "
                              "fold lacks counts as what the log did in that state on average"
                            : "held-out returns weighted by importance, weights summing to one",
                        weights ? " By weights: held-out returns weighted by importance; with few effective episodes "
                                  "they say little."
                                : "");
}

static void write_policy(pess__outfile *out, const pess_choice *choice) {
    pess_solution_info info;
    pess_solution_get_info(choice->solution, &info);
    pess__outfile_print(out,
                        "<h2>The policy from all data</h2>\n<p>At face value it is worth %s; the algorithm's own value "
                        "is %s. Discount %g.</p>\n",
                        SHOWN(info.naive_value, 0), SHOWN(info.value, 0), choice->info.gamma);
    const double mean = choice->info.log_return, error = choice->info.log_return_error;
    if (!isnan(mean))
        pess__outfile_print(out,
                            "<p>The episodes of the log that ended returned %s on average (standard error %s).</p>\n",
                            SHOWN(mean, error), SHOWN(error, error));
}

static void write_page(pess__outfile *out, const pess_choice *choice, const pess__figure *figure, const char *log,
                       const char *command) {
    pess__html_head(out, figure->title, css);
    pess__outfile_print(out, "<header><div>");
    pess__html_tag(out, "h1", "", figure->title);
    if (log != NULL) pess__html_tag(out, "p", "class=\"note\"", log);
    pess__html_tag(out, "p", "class=\"note\"", figure->note);
    pess__outfile_print(out, "</div><button id=\"theme\" type=\"button\">Light / dark</button></header>\n");
    write_verdict(out, choice);
    pess__html_plots(out, 0);
    pess__outfile_print(out, "<noscript><p><img src=\"figure.svg\" alt=\"the figure\"></p></noscript>\n");
    write_policy(out, choice);
    write_table(out, choice);
    if (command != NULL) {
        pess__outfile_print(out, "<h2>How to repeat it</h2>\n");
        pess__html_tag(out, "pre", "", command);
    }
    pess__outfile_print(out, "<p class=\"note\">Pessimist %s</p>\n", pess_version());
    pess__html_end(out, figure, NULL);
}

/* ---- the table as a file */

static pess_status write_csv(const pess_choice *choice, const char *path, pess_error *error) {
    pess__outfile *out = NULL;
    PESS_TRY(pess__outfile_open(path, &out, error));
    pess__outfile_print(out, "algorithm,setting,strength,score,score_se,gain,gain_se,weighted,weighted_se,effective,"
                             "chosen,left_out\n");
    for (int64_t c = 0; c < choice->count; c++) {
        const pess_candidate_score *s = &choice->scores[c];
        const double numbers[] = {s->strength,   s->score,    s->error,          s->gain,
                                  s->gain_error, s->weighted, s->weighted_error, s->effective};
        pess__outfile_print(out, "%s,%s", s->algorithm, s->setting != NULL ? s->setting : "");
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            pess__outfile_write(out, ",", 1);
            if (!isnan(numbers[i])) pess__outfile_double(out, numbers[i]);
        }
        pess__outfile_print(out, ",%d,", c == choice->info.chosen);
        if (s->left_out != NULL) pess__outfile_field(out, s->left_out);
        pess__outfile_write(out, "\n", 1);
    }
    return pess__outfile_commit(out, error);
}

/* ---- all of it */

/* The page comes last: where it is, all the others are. */
enum { TABLE, SVG, PNG, PAGE, FILES };
static const char *const names[FILES] = {"candidates.csv", "figure.svg", "figure.png", "index.html"};

static pess_status write_file(const pess_choice *choice, const pess__figure *figure, int which, const char *log,
                              const char *command, const char *path, pess_error *error) {
    if (which == TABLE) return write_csv(choice, path, error);
    if (which != PAGE) return pess__figure_save(figure, path, which == SVG ? "svg" : "png", error);
    pess__outfile *out = NULL;
    PESS_TRY(pess__outfile_open(path, &out, error));
    write_page(out, choice, figure, log, command);
    return pess__outfile_commit(out, error);
}

pess_status pess_choice_write_report(const pess_choice *choice, const char *log, const char *command,
                                     const char *directory, pess_error *error) {
    const char *wanted[FILES];
    int which[FILES], count = 0;
    for (int i = 0; i < FILES; i++) {
        if ((i == SVG || i == PNG) && pess_figure_possible(NULL) != PESS_OK) continue;
        which[count] = i;
        wanted[count++] = names[i];
    }
    pess__staging staging;
    pess__figure figure = {0};
    PESS_TRY(pess__staging_open(&staging, directory, wanted, count, error));
    pess_status status = make_figure(choice, &figure, error);
    for (int i = 0; i < count && status == PESS_OK; i++) {
        char path[PESS__STAGING_PATH];
        pess__staging_file(&staging, i, path);
        status = write_file(choice, &figure, which[i], log, command, path, error);
    }
    if (status == PESS_OK) status = pess__staging_publish(&staging, error);
    pess__figure_release(&figure);
    pess__staging_close(&staging);
    return status;
}
