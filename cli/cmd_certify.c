/* pess certify: what can be promised of a policy, what it rests on, and whether to switch to it. */
#include "assumptions.h"
#include "json.h"
#include "log_args.h"
#include "repeat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct certify_args {
    pess_certify_options options;
    log_source source;
    bool as_json;
    log_policy policy;
    const char *start, *behaviour, *output, *report, *unit;
} certify_args;

enum { THIN_LIMIT = 8 };

/* A log as certify needs it, and what came of it. */
typedef struct certify_job {
    pess_dataset *data;
    loaded_log log;
    pess_policy *given, *behaviour;
    pess_certificate *certificate;
} certify_job;

static void certify_job_free(certify_job *job) {
    pess_certificate_destroy(job->certificate);
    pess_policy_destroy(job->given);
    pess_policy_destroy(job->behaviour);
    loaded_log_free(&job->log);
    pess_dataset_destroy(job->data);
}

static void certify_options(certify_args *a, option_list *list) {
    const option own[] = {
        {"behaviour", 0, OPTION_TEXT, &a->behaviour, "FILE|estimated",
         "the policy that made the log, for episodes: declared by a file, or estimated from the log, which proves "
         "nothing (default: the log's column probability)"},
        {"start", 0, OPTION_TEXT, &a->start, "uniform|log|FILE",
         "start distribution (default: estimated from the starts of the log's episodes if it has any, otherwise "
         "uniform)"},
        {"out", 'o', OPTION_TEXT, &a->output, "FILE", WRITE_POLICY},
        {"report", 0, OPTION_TEXT, &a->report, "DIR", "write a page for people: DIR/index.html"},
        {"unit", 0, OPTION_TEXT, &a->unit, "TEXT", "what the values on the page are: \"survival probability\""},
        {"json", 0, OPTION_FLAG, &a->as_json, NULL, "print the result as JSON"},
    };
    options_add_settings(list, pess_certify_settings(), &a->options, NULL);
    log_source_begin(&a->source, list, "format", PESS_PART_HELD_OUT);
    log_policy_options(list, &a->policy, "certify this policy (default: find the best one)");
    for (size_t i = 0; i < COUNT_OF(own); i++) options_add(list, own[i]);
}

static const usage certify_usage = {
    .command = "certify",
    .summary = "a policy with a guaranteed value, and whether to switch to it",
    .arguments = "LOG [--method best|robust|split|episodes] [options] [-o policy.csv] [--report DIR]",
    .description =
        "With probability at least 1 - delta all printed bounds hold at once for the policy that is returned, even "
        "though it was chosen from the same log. Exit code 0: switch to the policy, it is certainly better than the "
        "one that made the log. 7: keep the present policy, because an improvement is not certain. 1: vacuous, because "
        "the log guarantees next to nothing (less than a twentieth of the estimate).",
    .examples = "  pess certify visits.csv --reward-range 0,1 --report page\n"
                "  pess certify visits.csv --method robust -u l1 --max-successors 4 -o policy.csv --json\n"
                "  pess certify visits.csv --policy mine.csv --fresh --delta 0.01",
    .positional = (const char *const[]){"LOG", NULL},
};

static void json_lists(json_writer *json, const pess_certificate *certificate) {
    const pess_ledger_entry *entry;
    const pess_assumption *assumption;
    const pess_candidate *tried;
    json_object(json, "delta_ledger");
    for (size_t i = 0; (entry = pess_certificate_ledger(certificate, i)) != NULL; i++)
        json_number(json, entry->what, entry->delta);
    json_close(json);
    json_array(json, "assumptions");
    for (size_t i = 0; (assumption = pess_certificate_assumption(certificate, i)) != NULL; i++)
        json_text(json, NULL, assumption->text);
    json_close(json);
    json_array(json, "candidates");
    for (size_t i = 0; (tried = pess_certificate_candidate(certificate, i)) != NULL; i++) {
        json_object(json, NULL);
        json_text(json, "name", tried->name);
        json_number(json, "predicted_lower_bound", tried->predicted);
        json_number(json, "lower_bound", tried->lower);
        json_close(json);
    }
    json_close(json);
}

static void json_episodes(json_writer *json, const pess_episode_report *e) {
    if (e == NULL) return;
    json_object(json, "episodes");
    json_text(json, "behaviour", e->behaviour);
    json_count(json, "choosing", e->choosing);
    json_count(json, "tested", e->tested);
    json_number(json, "lower_bound", e->lower_bound);
    json_text(json, "bet", e->bet);
    json_number(json, "cap", e->cap);
    json_number(json, "floor", e->floor);
    json_number(json, "difference_lower_bound", e->difference_lower_bound);
    json_text(json, "difference_bet", e->difference_bet);
    json_number(json, "difference_cap", e->difference_cap);
    json_number(json, "difference_floor", e->difference_floor);
    json_number(json, "effective_episodes", e->effective);
    json_number(json, "largest_weight", e->largest_weight);
    json_number(json, "zero_weight_share", e->zero_share);
    json_number(json, "mean_weight", e->mean_weight);
    json_number(json, "mean_weight_lo", e->mean_weight_lo);
    json_number(json, "mean_weight_hi", e->mean_weight_hi);
    json_bool(json, "probabilities_doubtful", e->doubtful);
    json_close(json);
}

static void print_json(const pess_certificate *certificate, const pess_certificate_info *c, const log_policy *policy) {
    json_writer json = json_open("certify");
    json_number(&json, "lower_bound", c->lower_bound);
    json_number(&json, "value_estimate", c->value_estimate);
    json_number(&json, "suboptimality_upper_bound", c->suboptimality_upper_bound);
    json_number(&json, "behaviour_value_estimate", c->behaviour_value_estimate);
    json_number(&json, "behaviour_upper_bound", c->behaviour_upper_bound);
    json_number(&json, "improvement_lower_bound", c->improvement_lower_bound);
    json_text(&json, "recommendation", c->recommend_switch ? "switch" : "keep");
    json_bool(&json, "vacuous", c->vacuous);
    json_number(&json, "certified_share", c->certified_share);
    json_count(&json, "states_changed", c->states_changed);
    json_count(&json, "states_compared", c->states_compared);
    json_number(&json, "decisions_changed", c->decisions_changed);
    json_number(&json, "data_needed", c->data_needed);
    json_count(&json, "unknown_states", policy->fit.filled);
    json_text(&json, "method", c->method);
    json_text(&json, "uncertainty", c->uncertainty);
    json_text(&json, "test", c->test);
    json_bool(&json, "may_end", c->may_end);
    json_number(&json, "gamma", c->gamma);
    json_horizon(&json, c->horizon);
    json_number(&json, "delta", c->delta);
    json_episodes(&json, pess_certificate_episodes(certificate));
    json_lists(&json, certificate);
    json_number(&json, "optimal_upper_bound", c->optimal_upper_bound);
    json_number(&json, "value_lo", c->value_lo);
    json_number(&json, "value_hi", c->value_hi);
    json_count(&json, "transitions", c->transitions);
    json_count(&json, "first_part", c->first_part);
    json_count(&json, "second_part", c->second_part);
    json_number(&json, "split", c->split);
    json_text(&json, "outcome", pess_outcome_name(c->outcome));
    json_number(&json, "residual", c->residual);
    json_close(&json);
    json_end(&json);
}

static void print_lists(FILE *out, const pess_certificate *certificate) {
    const pess_ledger_entry *entry;
    const pess_assumption *assumption;
    const pess_candidate *tried;
    (void)fputs("Tried\n", out);
    for (size_t i = 0; (tried = pess_certificate_candidate(certificate, i)) != NULL; i++) {
        (void)fprintf(out, "  - %-24s", tried->name);
        if (!isnan(tried->predicted)) (void)fprintf(out, " predicted %.4g", tried->predicted);
        if (!isnan(tried->lower)) (void)fprintf(out, " certified %.4g", tried->lower);
        (void)fputc('\n', out);
    }
    (void)fputs("Delta\n", out);
    for (size_t i = 0; (entry = pess_certificate_ledger(certificate, i)) != NULL; i++)
        (void)fprintf(out, "  - %-44s %.3g\n", entry->what, entry->delta);
    (void)fputs("Rests on\n", out);
    for (size_t i = 0; (assumption = pess_certificate_assumption(certificate, i)) != NULL; i++)
        print_assumption(out, assumption);
}

static void print_episodes(FILE *out, const pess_episode_report *e) {
    if (e == NULL) return;
    (void)fprintf(out,
                  "Episodes      %lld chose the policy, %lld tested it (bets: %s, comparison %s; %s probabilities)\n",
                  (long long)e->choosing, (long long)e->tested, e->bet, e->difference_bet, e->behaviour);
    (void)fprintf(out, "              value at least %.6g; minus that of the logging policy at least %.6g\n",
                  e->lower_bound, e->difference_lower_bound);
    (void)fprintf(
        out, "Weights       effective episodes %.1f, largest %.4g, zero in %.3g %%, mean %.4g (%.4g to %.4g)\n",
        e->effective, e->largest_weight, 100 * e->zero_share, e->mean_weight, e->mean_weight_lo, e->mean_weight_hi);
    if (e->doubtful)
        (void)fprintf(out, "Warning       the mean weight should be 1: %s\n",
                      e->mean_weight > 1 ? "the probabilities of the logged actions are too small"
                                         : "the probabilities of the logged actions are too large, or the policy does "
                                           "what the logging policy never does (which makes the bound smaller, not "
                                           "wrong)");
}

/* Two digits, no exponent. */
static void print_data_needed(FILE *out, double times) {
    const double unit = times >= 100 ? pow(10, floor(log10(times)) - 1) : times >= 10 ? 1 : 0.1;
    if (times >= 1e6)
        (void)fputs(
            "              more than a million times as many data would be needed for the estimated improvement\n",
            out);
    else
        (void)fprintf(out,
                      "              about %.10g times as many data would make the estimated improvement certain\n",
                      unit * round(times / unit));
}

static void print_text(FILE *out, const pess_certificate *certificate, const pess_certificate_info *c,
                       const certify_args *args) {
    if (c->vacuous)
        (void)fprintf(out, "Certificate   vacuous: the log guarantees %.6g, next to nothing; every policy has %.6g\n",
                      c->lower_bound, c->value_lo);
    else
        (void)fprintf(out, "Certificate   the policy's value is at least %.6g, with probability %g\n", c->lower_bound,
                      1 - c->delta);
    (void)fprintf(out, "              %.6g at face value, of which %.3g %% is certified; at most %.6g below the best\n",
                  c->value_estimate, 100 * c->certified_share, c->suboptimality_upper_bound);
    (void)fprintf(out, "Logging       %.6g at face value, at most %.6g\n", c->behaviour_value_estimate,
                  c->behaviour_upper_bound);
    if (c->recommend_switch)
        (void)fprintf(out, "Recommended   switch: the new policy is better by at least %.6g\n",
                      c->improvement_lower_bound);
    else
        (void)fputs("Recommended   keep the present policy: an improvement is not certain\n", out);
    if (!isnan(c->data_needed)) print_data_needed(out, c->data_needed);
    (void)fprintf(out, "Changes       %.3g %% of the logged decisions; the usual action of %lld of %lld states%s\n",
                  100 * c->decisions_changed, (long long)c->states_changed, (long long)c->states_compared,
                  c->horizon > 0 ? " at a step" : "");
    (void)fprintf(out, "Method        %s (%s)%s%s, discount %g, delta %g", c->method, c->test,
                  c->uncertainty ? ", sets " : "", c->uncertainty ? c->uncertainty : "", c->gamma, c->delta);
    if (c->horizon > 0) (void)fprintf(out, ", the first %lld step%s", COUNTED(c->horizon));
    (void)fputc('\n', out);
    print_episodes(out, pess_certificate_episodes(certificate));
    if (c->outcome != PESS_OUTCOME_CONVERGED)
        (void)fprintf(out,
                      "Outcome       stopped early: the bounds hold, but more sweeps would make them tighter (residual "
                      "%.2g)\n",
                      c->residual);
    print_lists(out, certificate);
    log_policy_print(out, &args->policy);
    (void)fprintf(out, "Policy        %s\n", args->output ? args->output : "not kept: add -o policy.csv");
    if (args->report) (void)fprintf(out, "Page          %s/index.html\n", args->report);
}

/* Tables for the states of the log, or, with a horizon, one for each of its steps. */
static pess_status read_policies(certify_args *args, certify_job *job, pess_error *error) {
    const int64_t horizon = args->options.horizon;
    if (args->policy.path) {
        const pess_status status = log_policy_read(&args->policy, &job->log, horizon, &job->given, error);
        if (status != PESS_OK) return status;
    }
    if (!args->behaviour || args->options.behaviour_estimated) return PESS_OK;
    log_policy declared = {.path = args->behaviour, .unknown = PESS_UNKNOWN_REFUSE};
    return log_policy_read(&declared, &job->log, horizon, &job->behaviour, error);
}

/* Its rows, or the counts of a counted log; processes that share the states have counts. */
static pess_status load_log(const char *path, certify_args *args, const pess_model_options *model, certify_job *job,
                            pess_error *error) {
    pess_counts *counts = NULL;
    if (asked.together) return loaded_log_together(path, &args->source, model, args->start, &job->log, error);
    const pess_status status = log_source_read(&args->source, path, "certify", &job->data, &counts, error);
    if (status != PESS_OK) return status;
    return counts != NULL
               ? loaded_log_of_counts(counts, model, args->start, &job->log, error)
               : loaded_log_create(job->data, args->source.read.threads, model, args->start, &job->log, error);
}

static pess_status load(const char *path, certify_args *args, certify_job *job, pess_error *error) {
    pess_certify_options *options = &args->options;
    pess_model_options model = pess_model_options_defaults();
    model.unseen = PESS_UNSEEN_WORST;
    memcpy(model.reward_range, options->reward_range, sizeof model.reward_range);
    memcpy(model.return_range, options->return_range, sizeof model.return_range);
    options->behaviour_estimated = args->behaviour && strcmp(args->behaviour, "estimated") == 0;
    pess_status status = load_log(path, args, &model, job, error);
    if (status == PESS_OK) status = read_policies(args, job, error);
    if (status != PESS_OK) return status;
    options->behaviour = job->behaviour;
    options->policy = job->given;
    options->counts = job->log.counts;
    options->start = pess_problem_start_from_log(job->log.problem) ? NULL : job->log.start;
    return PESS_OK;
}

static pess_status find_thin_places(const certify_args *args, const certify_job *job, pess_gap *gaps, int64_t *count,
                                    pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    options.gamma = fmin(args->options.gamma, 1 - 1e-7); /* where to look needs no more */
    options.horizon = args->options.horizon;
    options.delta = args->options.delta;
    options.uncertainty = "hoeffding";
    options.max_successors = args->options.max_successors;
    return pess_gaps(job->log.counts, job->log.model, job->log.start, pess_certificate_policy(job->certificate),
                     &options, THIN_LIMIT, gaps, count, NULL, error);
}

/* SOURCE_DATE_EPOCH (reproducible-builds.org) makes pages that can be compared byte by byte. */
static const char *today(char *text, size_t size) {
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    const time_t now = fixed ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
    struct tm utc;
    return gmtime_r(&now, &utc) && strftime(text, size, "%Y-%m-%d", &utc) > 0 ? text : NULL;
}

static pess_status write_page(const certify_args *args, const certify_job *job, const char *log, int argc, char **argv,
                              pess_error *error) {
    char line[2000], path[4096], date[16];
    pess_gap gaps[THIN_LIMIT];
    pess_certificate_page page = {.size = sizeof page,
                                  .log = log_name(log),
                                  .command = line,
                                  .state_names = job->log.state_names,
                                  .action_names = job->log.action_names,
                                  .gaps = gaps,
                                  .unit = args->unit,
                                  .date = today(date, sizeof date)};
    repeat_command(argc, argv, line, sizeof line);
    const pess_status status = find_thin_places(args, job, gaps, &page.gap_count, error);
    if (status != PESS_OK) return status;
    if ((mkdir(args->report, 0777) != 0 && errno != EEXIST) ||
        snprintf(path, sizeof path, "%s/index.html", args->report) >= (int)sizeof path) {
        error->status = PESS_IO;
        (void)snprintf(error->message, sizeof error->message, "the directory %.500s cannot be created: %s",
                       args->report, strerror(errno));
        return PESS_IO;
    }
    return pess_certificate_write_page(job->certificate, &page, path, error);
}

/* Options that need the rows of the log, of which processes that share the states keep counts. */
static const char *refused_together(const certify_args *args) {
    if (args->options.method == PESS_CERTIFY_SPLIT) return "--method split";
    if (args->options.method == PESS_CERTIFY_EPISODES) return "--method episodes";
    if (args->options.horizon > 0) return "--horizon";
    if (args->options.fresh) return "--fresh";
    if (args->behaviour != NULL) return "--behaviour";
    return args->report != NULL ? "--report" : NULL;
}

/* Whole episodes are weighed without sets, and nothing else looks at the policy that made the log. */
static int check_use(const certify_args *args, const option_list *list) {
    const bool episodes = args->options.method == PESS_CERTIFY_EPISODES;
    const char *const idle = episodes ? "uncertainty seed iid max-successors" : "behaviour";
    if (args->options.method == PESS_CERTIFY_BEST) return -1;
    for (size_t i = 0; i < list->count; i++)
        if (list->given[i] && pess_setting_listed(idle, list->rows[i].name))
            return report_usage("certify", "--%s does nothing for the method %s", list->rows[i].name,
                                episodes                                     ? "episodes"
                                : args->options.method == PESS_CERTIFY_SPLIT ? "split"
                                                                             : "robust");
    return -1;
}

static int settle(certify_args *args, const option_list *list) {
    int code = log_source_check(&args->source, list, "certify");
    if (code < 0) code = log_policy_check(list, &args->policy, "certify");
    if (code < 0) code = check_use(args, list);
    if (code >= 0) return code;
    if (args->options.fresh && !args->policy.path)
        return report_usage("certify", "--fresh is about a given policy: name it with --policy");
    const bool tested = args->options.fresh || args->options.method == PESS_CERTIFY_SPLIT ||
                        args->options.method == PESS_CERTIFY_EPISODES;
    if (tested && args->policy.unknown == PESS_UNKNOWN_BEHAVIOUR)
        return report_usage("certify", "--unknown behaviour makes a part of the policy from this log, so that the log "
                                       "cannot test it: --unknown uniform does not");
    if (asked.together && refused_together(args) != NULL)
        return report_usage("certify",
                            "%s needs the rows of the log in one process: use 'pess certify' (processes that share the "
                            "states have counts, and --method robust)",
                            refused_together(args));
    args->options.progress = terminal_progress();
    return -1;
}

static int print_certificate(const certify_args *args, const pess_certificate *certificate) {
    pess_certificate_info info;
    pess_certificate_get_info(certificate, &info);
    const bool to_stdout = args->output && strcmp(args->output, "-") == 0;
    if (args->as_json)
        print_json(certificate, &info, &args->policy);
    else
        print_text(to_stdout ? stderr : stdout, certificate, &info, args);
    return info.recommend_switch ? EXIT_FINE : info.vacuous ? EXIT_NEGATIVE : EXIT_KEEP;
}

int cmd_certify(int argc, char **argv) {
    certify_args args = {.options = pess_certify_options_defaults()};
    option_list list = {0};
    certify_options(&args, &list);
    const char *path = NULL;
    int code = options_parse(&certify_usage, list.rows, list.count, argc, argv, &path, NULL);
    if (code < 0) code = settle(&args, &list);
    if (code >= 0) return code;

    pess_error error = {0};
    certify_job job = {0};
    pess_status status = load(path, &args, &job, &error);
    if (status == PESS_OK) status = pess_certify(job.data, &args.options, &job.certificate, &error);
    terminal_progress_end();
    if (status == PESS_OK && args.output)
        status = pess_policy_write(pess_certificate_policy(job.certificate), args.output, job.log.state_names,
                                   job.log.action_names, &error);
    if (status == PESS_OK && args.report) status = write_page(&args, &job, path, argc, argv, &error);
    code = status == PESS_OK ? print_certificate(&args, job.certificate) : report_error("certify", &error);
    certify_job_free(&job);
    return code;
}
