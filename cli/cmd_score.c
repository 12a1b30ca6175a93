/* pess score: what policies are worth by data that others logged, and which one to take. */
#include "json.h"

#include "long_run.h"
#include "observations.h"
#include "protocol_arg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLICY_LIMIT = 256, PATH_SIZE = 4096 };

static const usage score_usage = {
    .command = "score",
    .summary = "what policies are worth by data that others logged, and which one to take",
    .arguments = "POLICY [POLICY …] DATA [options]",
    .description =
        "POLICY is what 'pess train' wrote (.pesspolicy, .pessnet, or the directory of the run), or a table over the "
        "states of one-hot observations; DATA is as for 'pess train'. Nothing is played. Values are discounted returns "
        "from the first states of the episodes: by fitted Q evaluation (several networks, each on a resample of the "
        "episodes), by importance sampling, per decision and weighted, with diagnostics of the weights, and by the "
        "policy's own estimate. Several policies are ranked by one criterion, with how much better another may be. "
        "Scores are evidence, not proof: docs/scoring.md says where they were wrong.",
    .examples = "  pess score cartpole-cql cartpole.npz\n"
                "  pess score run-*/policy.pesspolicy data.pessdata --criterion fqe-lower\n"
                "  pess score a/policy.pesspolicy b/policy.pesspolicy data.npz --weights logged --json",
    .positional = (const char *const[]){"POLICY", "DATA", NULL},
    .more = POLICY_LIMIT,
};

typedef struct arguments {
    pess_score_options options;
    data_source source;
    pess_read_options read; /* of a table */
    protocol_arg protocol;
    bool json;
    option_list list;
    const char *words[POLICY_LIMIT + 2];
    int count; /* policies, and the data last */
} arguments;

/* ---- text */

/* One row of the table of columns below. */
typedef struct column {
    const char *title, *key; /* as text, and as JSON */
    size_t offset;           /* in pess_score */
    int digits, width;       /* digits 0: JSON alone */
    bool decimals;           /* the digits are decimals, otherwise those that count */
} column;

#define COLUMN(field) NAMED(#field, field)
#define NAMED(key, field) key, offsetof(pess_score, field)
static const column columns[] = {
    {"fqe", COLUMN(fqe), 4, 8, false},
    {"spread", COLUMN(fqe_spread), 2, 8, false},
    {"lower", COLUMN(fqe_lower), 4, 8, false},
    {"upper", COLUMN(fqe_upper), 4, 8, false},
    {NULL, COLUMN(fqe_moved), 0, 0, false},
    {"per-dec.", COLUMN(per_decision), 4, 9, false},
    {"se", NAMED("per_decision_se", per_decision_error), 2, 8, false},
    {"weighted", COLUMN(weighted), 4, 9, false},
    {"se", NAMED("weighted_se", weighted_error), 2, 8, false},
    {"effect.", NAMED("effective_episodes", effective), 3, 8, false},
    {"mean w", COLUMN(mean_weight), 2, 8, false},
    {NULL, NAMED("mean_weight_se", mean_weight_error), 0, 0, false},
    {"max w", COLUMN(largest_weight), 2, 8, false},
    {NULL, NAMED("zero_weight_share", zero_share), 0, 0, false},
    {"predicted", COLUMN(predicted), 4, 9, false},
    {"td error", COLUMN(td_error), 3, 8, false},
    {"unlogged", COLUMN(unlogged), 2, 8, true},
};
#undef COLUMN

static double value_at(const pess_score *score, const column *c) {
    return *(const double *)((const char *)score + c->offset);
}

static void print_cell(double value, const column *c) {
    char text[32] = "-";
    if (!isnan(value)) (void)snprintf(text, sizeof text, c->decimals ? "%.*f" : "%.*g", c->digits, value);
    (void)printf(" %*s", c->width, text);
}

static int name_width(const pess_scores *scores) {
    const pess_score *score;
    int width = 6;
    for (size_t i = 0; (score = pess_scores_policy(scores, i)) != NULL; i++)
        if ((int)strlen(score->name) > width) width = (int)strlen(score->name);
    return width < 60 ? width : 60;
}

static void print_table(const pess_scores *scores, const pess_scores_info *info) {
    const int width = name_width(scores);
    const pess_score *score;
    (void)printf("%4s %-*s", "", width, "policy");
    for (size_t c = 0; c < COUNT_OF(columns); c++)
        if (columns[c].digits > 0) (void)printf(" %*s", columns[c].width, columns[c].title);
    (void)putchar('\n');
    for (int64_t rank = 1; rank <= info->policies + 1; rank++)
        for (size_t i = 0; (score = pess_scores_policy(scores, i)) != NULL; i++) {
            if (score->rank != (rank <= info->policies ? rank : 0)) continue;
            if (score->rank > 0)
                (void)printf("%3lld. %-*s", (long long)score->rank, width, score->name);
            else
                (void)printf("%4s %-*s", "-", width, score->name);
            for (size_t c = 0; c < COUNT_OF(columns); c++)
                if (columns[c].digits > 0) print_cell(value_at(score, &columns[c]), &columns[c]);
            (void)putchar('\n');
        }
}

static void criterion_name(const pess_score_options *options, char *out, size_t size) {
    pess_setting_get(pess_score_settings(), options, "criterion", out, size);
}

/* Fitted Q evaluation thinks too well of policies that leave the data: of two, the one that leaves them more may be
 * first for that alone. The twentieth is a rule of thumb. */
static void print_leaving(const pess_scores *scores, const pess_scores_info *info, pess_score_criterion criterion) {
    const pess_score *chosen = pess_scores_policy(scores, (size_t)info->chosen), *least = chosen, *score;
    if (criterion != PESS_SCORE_FQE && criterion != PESS_SCORE_FQE_LOWER) return;
    for (size_t i = 0; (score = pess_scores_policy(scores, i)) != NULL; i++)
        if (score->unlogged < least->unlogged) least = score;
    if (!(chosen->unlogged > least->unlogged + 0.05)) return;
    (void)printf(
        "It gives actions that were never logged a probability of %.2f, %s only %.2f: that may be why it is first\n"
        "(docs/scoring.md; --criterion unlogged).\n",
        chosen->unlogged, least->name, least->unlogged);
}

static void print_choice(const pess_scores *scores, const pess_scores_info *info, const char *criterion) {
    if (info->chosen < 0) {
        (void)printf("\nNothing can be said by %s.\n", criterion);
        return;
    }
    (void)printf("\nBest by %s: %s", criterion, pess_scores_policy(scores, (size_t)info->chosen)->name);
    if (info->runner_up >= 0 && !isnan(info->margin)) {
        (void)printf(", %.3g above %s", info->margin, pess_scores_policy(scores, (size_t)info->runner_up)->name);
        if (!isnan(info->margin_error)) (void)printf(" (standard error %.2g)", info->margin_error);
    }
    (void)fputs(".\n", stdout);
    if (info->shortfall > 0)
        (void)printf("Another one may be better by up to about %.3g (one-sided, %.3g each; what all networks get wrong "
                     "together is not in it).\n",
                     info->shortfall, info->delta / 2);
    else if (!isnan(info->shortfall))
        (void)fputs("By the spread of the networks or the errors of the weights, no other one seems better.\n", stdout);
}

static void print_text(const char *path, const pess_score_options *options, const pess_scores *scores) {
    pess_scores_info info;
    char criterion[32];
    pess_scores_get_info(scores, &info);
    criterion_name(options, criterion, sizeof criterion);
    (void)printf("Data       %s: %lld transition%s, %lld whole episode%s, discount %g\n", path,
                 COUNTED(info.transitions), COUNTED(info.episodes), info.gamma);
    if (!isnan(info.log_return)) {
        (void)printf("           their discounted return was %.4g on average", info.log_return);
        if (!isnan(info.log_return_error)) (void)printf(" (standard error %.2g)", info.log_return_error);
        (void)putchar('\n');
    }
    (void)printf("Evaluation %lld network%s, %lld update%s of %lld step%s of %lld; interval %g %%; weights: %s\n\n",
                 COUNTED(info.networks), COUNTED(info.updates), COUNTED(info.steps), (long long)info.batch,
                 100 * (1 - info.delta), info.weights);
    print_table(scores, &info);
    if (info.policies > 1) print_choice(scores, &info, criterion);
    if (info.policies > 1 && info.chosen >= 0) print_leaving(scores, &info, options->criterion);
    (void)printf("%sScores are evidence, not proof. %.1f s\n", info.policies > 1 ? "" : "\n", info.seconds);
}

/* ---- JSON */

static void put_score(json_writer *json, const pess_score *score, const pess_scores_info *info) {
    json_object(json, NULL);
    json_text(json, "policy", score->name);
    json_number(json, "value", score->value);
    json_count(json, "rank", score->rank);
    for (size_t c = 0; c < COUNT_OF(columns); c++) json_number(json, columns[c].key, value_at(score, &columns[c]));
    json_array(json, "fqe_networks");
    for (int64_t k = 0; k < info->networks; k++) json_number(json, NULL, score->fqe_networks[k]);
    json_close(json);
    json_close(json);
}

static void print_json(const char *path, const pess_score_options *options, const pess_scores *scores) {
    pess_scores_info info;
    char criterion[32];
    const pess_score *score;
    pess_scores_get_info(scores, &info);
    criterion_name(options, criterion, sizeof criterion);
    json_writer json = json_open("score");
    json_text(&json, "data", path);
    json_count(&json, "transitions", info.transitions);
    json_count(&json, "episodes", info.episodes);
    json_count(&json, "starts", info.starts);
    json_number(&json, "gamma", info.gamma);
    json_number(&json, "log_return", info.log_return);
    json_number(&json, "log_return_se", info.log_return_error);
    json_text(&json, "weights", info.weights);
    json_count(&json, "networks", info.networks);
    json_count(&json, "updates", info.updates);
    json_count(&json, "steps", info.steps);
    json_count(&json, "batch", info.batch);
    json_number(&json, "delta", info.delta);
    json_text(&json, "criterion", criterion);
    json_array(&json, "policies");
    for (size_t i = 0; (score = pess_scores_policy(scores, i)) != NULL; i++) put_score(&json, score, &info);
    json_close(&json);
    json_text(&json, "chosen", info.chosen >= 0 ? pess_scores_policy(scores, (size_t)info.chosen)->name : NULL);
    json_number(&json, "margin", info.margin);
    json_number(&json, "margin_se", info.margin_error);
    json_number(&json, "shortfall", info.shortfall);
    json_number(&json, "seconds", info.seconds);
    if (info.warning[0] != '\0') json_text(&json, "warning", info.warning);
    if (info.unsettled[0] != '\0') json_text(&json, "unsettled", info.unsettled);
    json_close(&json);
    json_end(&json);
}

/* ---- the command */

/* Vectors that nobody numbered become the choices of the first policy. */
static pess_status number_as(const pess_policy *policy, const char *name, pess_observations *data, pess_error *error) {
    pess_action_space space;
    pess_policy_info info;
    pess_actions_fit fit;
    pess_observations_actions(data, &space);
    pess_policy_get_info(policy, &info);
    if (space.logged == NULL || info.action_values == NULL) return PESS_OK;
    if (info.action_width != space.width) {
        *error = (pess_error){.status = PESS_INPUT};
        (void)snprintf(error->message, sizeof error->message,
                       "%.200s: its actions are vectors of length %lld; those of the data have length %lld", name,
                       (long long)info.action_width, (long long)space.width);
        return PESS_INPUT;
    }
    const pess_status status =
        pess_observations_number_actions_as(data, info.action_values, info.actions, info.action_width, &fit, error);
    if (status == PESS_OK)
        (void)fprintf(stderr,
                      "pess score: actions became the %lld choices of %s, which lose %.2g %% of their variance\n",
                      (long long)fit.actions, name, 100 * fit.lost);
    return status;
}

static pess_status score(arguments *a, pess_observations *data, pess_scores **out, pess_error *error) {
    pess_policy *policies[POLICY_LIMIT + 1] = {NULL};
    pess_status status = PESS_OK;
    const int count = a->count - 1;
    for (int i = 0; status == PESS_OK && i < count; i++)
        status = pess_policy_read(a->words[i], NULL, NULL, NULL, &policies[i], error);
    if (status == PESS_OK) status = number_as(policies[0], a->words[0], data, error);
    if (status == PESS_OK)
        status =
            pess_score_policies((const pess_policy *const *)policies, a->words, count, data, &a->options, out, error);
    for (int i = 0; i < count; i++) pess_policy_destroy(policies[i]);
    return status;
}

int cmd_score(int argc, char **argv) {
    arguments a = {.options = pess_score_options_defaults(), .read = pess_read_options_defaults()};
    a.protocol.except =
        "updates steps reset price-share eval-every eval-episodes score-episodes control-episodes transitions";
    options_add_settings(&a.list, pess_score_settings(), &a.options, NULL);
    data_source_begin(&a.source, &a.list, &a.read, "");
    options_add_settings(&a.list, pess_read_settings(), &a.read, "states actions format threads missing");
    protocol_add_options(&a.protocol, &a.list);
    options_add(&a.list, (option){"json", 0, OPTION_FLAG, &a.json, NULL, "print the result as JSON"});
    int code = options_parse(&score_usage, a.list.rows, a.list.count, argc, argv, a.words, &a.count);
    if (code < 0) code = protocol_check(&a.protocol, "score");
    if (code >= 0) return code;
    const char *path = a.words[a.count - 1];
    pess_observations *data = NULL;
    pess_scores *scores = NULL;
    pess_error error = {0};
    code = data_source_read("score", path, &a.source, &data);
    if (code >= 0) return code;
    const double gamma = isnan(a.options.gamma) ? pess_train_options_defaults().gamma : a.options.gamma;
    code = protocol_settle(&a.protocol, &a.list, "score", data, gamma, &a.options.protocol);
    a.options.data_name = path;
    a.options.progress = interruptible_progress();
    if (code == EXIT_FINE && score(&a, data, &scores, &error) != PESS_OK)
        code = report_option_error("score", a.list.rows, a.list.count, &error);
    terminal_progress_end();
    if (code == EXIT_FINE) {
        pess_scores_info info;
        pess_scores_get_info(scores, &info);
        if (info.warning[0] != '\0') (void)fprintf(stderr, "pess score: warning: %s\n", info.warning);
        if (info.unsettled[0] != '\0') (void)fprintf(stderr, "pess score: warning: %s\n", info.unsettled);
        if (a.json)
            print_json(path, &a.options, scores);
        else
            print_text(path, &a.options, scores);
    }
    pess_scores_destroy(scores);
    pess_observations_destroy(data);
    return code;
}
