/* pess certify: what can be promised of a policy, what it rests on, and whether to switch to it. */
#include "certify_page.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_names[] = {"best", "robust", "split", NULL};

typedef struct certify_args {
    pess_certify_options options;
    int method;
    int64_t states, actions, threads;
    double reward_range[2];
    bool reward_given, as_json;
    const char *start, *policy_path, *output, *report;
} certify_args;

enum { CERTIFY_OPTION_COUNT = 18 };

static void certify_options(certify_args *a, option *rows) {
    pess_certify_options *o = &a->options;
    const option table[CERTIFY_OPTION_COUNT] = {
        {"method", 0, OPTION_CHOICE, &a->method, "best|robust|split",
         "robust: worst case over all worlds the log allows; split: a part of the log chooses the policy, the rest "
         "tests it; best, the default: both, and the better one",
         method_names},
        {"uncertainty", 'u', OPTION_TEXT, &o->uncertainty, "l1|support|good-turing",
         "set behind robust; default l1 where --max-successors is at most 8, else support"},
        {"policy", 0, OPTION_TEXT, &a->policy_path, "FILE", "certify this policy; default: find the best one"},
        {"fresh", 0, OPTION_FLAG, &o->policy_fresh, NULL,
         "declare that --policy was made without this log, so that a part of it may test the policy"},
        {"gamma", 0, OPTION_NUMBER, &o->gamma, "G", "discount in [0,1), default 0.99"},
        {"delta", 0, OPTION_NUMBER, &o->delta, "D", "probability that some bound is wrong, default 0.05"},
        {"split", 0, OPTION_NUMBER, &o->split, "F", "share of the log that chooses the policy, default 0.25"},
        {"max-successors", 0, OPTION_COUNT, &o->max_successors, "K",
         "declare how many next states a pair can have, default: all states"},
        {"iid", 0, OPTION_FLAG, &o->iid, NULL,
         "declare that the transitions are independent draws, although the log has episodes"},
        {"start", 0, OPTION_TEXT, &a->start, "uniform|log|FILE",
         "start distribution: default estimated from the log's episode starts where it has episodes, else uniform"},
        {"states", 0, OPTION_COUNT, &a->states, "N", "number of states, default: as many as the log shows"},
        {"actions", 0, OPTION_COUNT, &a->actions, "N", "number of actions, default: as many as the log shows"},
        {"reward-range", 0, OPTION_PAIR, a->reward_range, "LO,HI", "what rewards can be, default: as the log shows",
         .given = &a->reward_given},
        {"seed", 0, OPTION_SEED, &o->seed, "N", "of the random parts of a log without episodes, default 1"},
        {"threads", 0, OPTION_COUNT, &a->threads, "N", "default all; the result does not depend on it"},
        {"output", 'o', OPTION_TEXT, &a->output, "FILE", "write the policy: state,action,probability"},
        {"report", 0, OPTION_TEXT, &a->report, "DIR", "write DIR/index.html: one page for people"},
        {"json", 0, OPTION_FLAG, &a->as_json, NULL, "print the result as JSON"},
    };
    memcpy(rows, table, sizeof table);
}

static const usage certify_usage = {
    .command = "certify",
    .summary = "a policy with a guaranteed value, and whether to switch to it",
    .arguments = "LOG [--method best|robust|split] [options] [-o policy.csv] [--report DIR]",
    .description =
        "With probability at least 1 - delta all printed bounds hold at once, for the policy that is returned,\n"
        "although it was chosen from the same log. Exit code 1: the bound is vacuous, the log promises nothing.",
    .examples = "  pess certify visits.csv --reward-range 0,1 --report page\n"
                "  pess certify visits.csv --method robust -u l1 --max-successors 4 -o policy.csv --json\n"
                "  pess certify visits.csv --policy mine.csv --fresh --delta 0.01",
    .positional = (const char *const[]){"LOG", NULL},
};

static void print_json(const certify_page *page) {
    const pess_certificate_info *c = page->info;
    json_writer json = json_begin(stdout, false);
    json_object(&json, NULL);
    json_number(&json, "lower_bound", c->lower_bound);
    json_number(&json, "value_estimate", c->value_estimate);
    json_number(&json, "suboptimality_upper_bound", c->suboptimality_upper_bound);
    json_number(&json, "behaviour_value_estimate", c->behaviour_value_estimate);
    json_number(&json, "behaviour_upper_bound", c->behaviour_upper_bound);
    json_number(&json, "improvement_lower_bound", c->improvement_lower_bound);
    json_text(&json, "recommendation", c->recommend_switch ? "switch" : "keep");
    json_bool(&json, "vacuous", c->vacuous);
    json_text(&json, "method", c->method);
    json_text(&json, "uncertainty", c->uncertainty);
    json_text(&json, "test", c->test);
    json_number(&json, "gamma", c->gamma);
    json_number(&json, "delta", c->delta);
    json_object(&json, "delta_ledger");
    for (int i = 0; i < c->ledger_count; i++) json_number(&json, c->ledger[i].what, c->ledger[i].delta);
    json_close(&json, '}');
    json_array(&json, "assumptions");
    for (int i = 0; i < c->assumption_count; i++) json_text(&json, NULL, c->assumptions[i]);
    json_close(&json, ']');
    json_array(&json, "candidates");
    for (int i = 0; i < c->candidate_count; i++) {
        json_object(&json, NULL);
        json_text(&json, "name", c->candidates[i].name);
        json_number(&json, "predicted_lower_bound", c->candidates[i].predicted);
        json_number(&json, "lower_bound", c->candidates[i].lower);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_number(&json, "optimal_upper_bound", c->optimal_upper_bound);
    json_number(&json, "value_lo", c->value_lo);
    json_number(&json, "value_hi", c->value_hi);
    json_count(&json, "transitions", c->transitions);
    json_count(&json, "first_part", c->first_part);
    json_count(&json, "second_part", c->second_part);
    json_number(&json, "split", c->split);
    json_text(&json, "outcome", pess_outcome_name(c->outcome));
    json_number(&json, "residual", c->residual);
    json_close(&json, '}');
    json_end(&json);
}

static void print_text(FILE *out, const certify_page *page, const char *policy_path) {
    const pess_certificate_info *c = page->info;
    if (c->vacuous)
        (void)fprintf(out, "Certificate   vacuous: the log promises nothing beyond %.6g, what every policy has\n",
                      c->value_lo);
    else
        (void)fprintf(out, "Certificate   the policy's value is at least %.6g, with probability %g\n", c->lower_bound,
                      1 - c->delta);
    (void)fprintf(out, "              %.6g at face value; at most %.6g below the best possible\n", c->value_estimate,
                  c->suboptimality_upper_bound);
    (void)fprintf(out, "Logging       %.6g at face value, at most %.6g\n", c->behaviour_value_estimate,
                  c->behaviour_upper_bound);
    if (c->recommend_switch)
        (void)fprintf(out, "Recommended   switch: the new policy is better by at least %.6g\n",
                      c->improvement_lower_bound);
    else
        (void)fputs("Recommended   keep the present policy: an improvement is not certain\n", out);
    (void)fprintf(out, "Method        %s (%s), sets %s, discount %g, delta %g\n", c->method, c->test, c->uncertainty,
                  c->gamma, c->delta);
    (void)fputs("Tried\n", out);
    for (int i = 0; i < c->candidate_count; i++) {
        const pess_candidate *t = &c->candidates[i];
        (void)fprintf(out, "  - %-24s", t->name);
        if (!isnan(t->predicted)) (void)fprintf(out, " predicted %.4g", t->predicted);
        if (!isnan(t->lower)) (void)fprintf(out, " certified %.4g", t->lower);
        (void)fputc('\n', out);
    }
    (void)fputs("Delta\n", out);
    for (int i = 0; i < c->ledger_count; i++)
        (void)fprintf(out, "  - %-44s %.3g\n", c->ledger[i].what, c->ledger[i].delta);
    (void)fputs("Rests on\n", out);
    for (int i = 0; i < c->assumption_count; i++) (void)fprintf(out, "  - %s\n", c->assumptions[i]);
    (void)fprintf(out, "Policy        %s\n", policy_path ? policy_path : "not kept: add -o policy.csv");
    if (page->directory) (void)fprintf(out, "Page          %s/index.html\n", page->directory);
}

static pess_status load(const char *path, certify_args *args, certify_page *page, pess_policy **policy, double **start,
                        pess_error *error) {
    pess_read_options read = pess_read_options_defaults();
    read.states = args->states;
    read.actions = args->actions;
    read.threads = (int)args->threads;
    read.progress = terminal_progress();
    pess_status status = pess_dataset_read(path, &read, &page->data, error);
    if (status == PESS_OK) status = pess_counts_create(page->data, &page->counts, error);
    if (status != PESS_OK) return status;
    pess_model_options model = pess_model_options_defaults();
    model.unseen = PESS_UNSEEN_WORST;
    model.reward_lo = args->options.reward_lo;
    model.reward_hi = args->options.reward_hi;
    status = pess_model_estimate(page->counts, &model, &page->model, error);
    if (status == PESS_OK && args->policy_path)
        status = pess_policy_read(args->policy_path, page->model, pess_counts_state_names(page->counts),
                                  pess_counts_action_names(page->counts), policy, error);
    args->options.policy = *policy;
    pess_counts_info info;
    pess_counts_get_info(page->counts, &info);
    const bool from_log = args->start ? strcmp(args->start, "log") == 0 : info.has_episodes;
    if (status != PESS_OK || from_log) return status;
    *start = calloc((size_t)info.states, sizeof **start);
    if (*start == NULL) {
        *error = (pess_error){.status = PESS_MEMORY, .message = "not enough memory for the start distribution"};
        return PESS_MEMORY;
    }
    args->options.start = *start;
    if (!args->start || strcmp(args->start, "uniform") == 0) return pess_start_uniform(page->model, *start, error);
    return pess_start_read(args->start, info.states, pess_counts_state_names(page->counts), *start, error);
}

static int settle(certify_args *args) {
    if (args->threads > 4096) return report_usage("certify", "--threads: at most 4096");
    if (args->states > PESS_MAX_STATES || args->actions > PESS_MAX_ACTIONS)
        return report_usage("certify", "--states can be at most %lld and --actions at most %lld",
                            (long long)PESS_MAX_STATES, (long long)PESS_MAX_ACTIONS);
    if (args->reward_given && !(args->reward_range[0] <= args->reward_range[1]))
        return report_usage("certify", "--reward-range: the lower end %g is above the upper end %g",
                            args->reward_range[0], args->reward_range[1]);
    if (args->options.policy_fresh && !args->policy_path)
        return report_usage("certify", "--fresh speaks of a policy: give one with --policy");
    if (args->reward_given) {
        args->options.reward_lo = args->reward_range[0];
        args->options.reward_hi = args->reward_range[1];
    }
    args->options.method = (pess_certify_method)args->method;
    args->options.threads = (int)args->threads;
    args->options.progress = terminal_progress();
    return -1;
}

int cmd_certify(int argc, char **argv) {
    certify_args args = {.options = pess_certify_options_defaults()};
    option rows[CERTIFY_OPTION_COUNT];
    certify_options(&args, rows);
    const char *path = NULL;
    int code = options_parse(&certify_usage, rows, COUNT_OF(rows), argc, argv, &path, NULL);
    if (code < 0) code = settle(&args);
    if (code >= 0) return code;

    pess_error error = {0};
    certify_page page = {.log = path, .directory = args.report, .argc = argc, .argv = argv};
    pess_policy *policy = NULL;
    double *start = NULL;
    pess_certificate *certificate = NULL;
    pess_status status = load(path, &args, &page, &policy, &start, &error);
    if (status == PESS_OK) status = pess_certify(page.data, &args.options, &certificate, &error);
    terminal_progress_end();
    if (status == PESS_OK) {
        page.info = pess_certificate_get_info(certificate);
        page.policy = pess_certificate_policy(certificate);
        page.start = start;
        if (args.output)
            status = pess_policy_write(page.policy, args.output, pess_counts_state_names(page.counts),
                                       pess_counts_action_names(page.counts), &error);
    }
    if (status == PESS_OK && args.report) status = certify_page_write(&page, &error);
    if (status == PESS_OK) {
        if (args.as_json)
            print_json(&page);
        else
            print_text(args.output && strcmp(args.output, "-") == 0 ? stderr : stdout, &page, args.output);
        code = page.info->vacuous ? EXIT_NEGATIVE : EXIT_FINE;
    } else {
        code = report_error("certify", &error);
    }
    pess_certificate_destroy(certificate);
    pess_policy_destroy(policy);
    free(start);
    certify_page_free(&page);
    return code;
}
