/* pess gaps: where one more sample would tell most about a policy. */
#include "json.h"
#include "log_args.h"

#include <stdlib.h>
#include <string.h>

static const usage gaps_usage = {
    .command = "gaps",
    .summary = "where one more sample helps most",
    .arguments = "LOG [--policy policy.csv] [--top N] [options]",
    .description =
        "The uncertainty of a policy's value is the sum over state-action pairs of (discounted visits) x (uncertainty "
        "of the pair). Pairs are listed by how much one more sample there would take off that sum.",
    .examples = "  pess gaps visits.csv --top 20\n"
                "  pess gaps visits.csv --policy mine.csv -u bernstein --json",
    .positional = (const char *const[]){"LOG", NULL},
};

static void print_json(const loaded_log *log, const pess_gap *gaps, int64_t count, double uncertainty) {
    json_writer json = json_open("gaps");
    json_number(&json, "value_uncertainty", uncertainty);
    json_array(&json, "gaps");
    for (int64_t i = 0; i < count; i++) {
        char s[NAME_SIZE], a[NAME_SIZE];
        json_object(&json, NULL);
        json_text(&json, "state", name_of(log->state_names, gaps[i].state, s));
        json_text(&json, "action", name_of(log->action_names, gaps[i].action, a));
        json_count(&json, "count", gaps[i].count);
        json_number(&json, "visits", gaps[i].visits);
        json_number(&json, "uncertainty", gaps[i].uncertainty);
        json_number(&json, "share", gaps[i].share);
        json_number(&json, "gain", gaps[i].gain);
        json_close(&json);
    }
    json_close(&json);
    json_array(&json, "assumptions");
    const pess_assumption *assumption;
    for (size_t i = 0; (assumption = pess_problem_assumption(log->problem, i)) != NULL; i++)
        json_text(&json, NULL, assumption->text);
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

static void print_text(const loaded_log *log, const pess_gap *gaps, int64_t count, double uncertainty) {
    (void)printf("Uncertainty of the policy's value: %.4g (the sum over all pairs)\n", uncertainty);
    (void)printf("%-16s %-16s %9s %10s %12s %8s %12s\n", "state", "action", "samples", "visits", "uncertainty", "share",
                 "next sample");
    for (int64_t i = 0; i < count; i++) {
        char s[NAME_SIZE], a[NAME_SIZE];
        (void)printf("%-16s %-16s %9lld %10.4g %12.4g %7.2f%% %12.4g\n", name_of(log->state_names, gaps[i].state, s),
                     name_of(log->action_names, gaps[i].action, a), (long long)gaps[i].count, gaps[i].visits,
                     gaps[i].uncertainty, 100 * gaps[i].share, -gaps[i].gain);
    }
}

/* The policy that is asked about: given, or of a solution. */
typedef struct asked_policy {
    pess_policy *given;
    pess_solution *solution;
    const pess_policy *policy;
} asked_policy;

static void asked_policy_free(asked_policy *p) {
    pess_policy_destroy(p->given);
    pess_solution_destroy(p->solution);
}

static pess_status policy_of(const log_args *args, const loaded_log *log, log_policy *given, asked_policy *out,
                             pess_error *error) {
    if (given->path != NULL) {
        const pess_status status = log_policy_read(given, log, args->solve.horizon, &out->given, error);
        out->policy = out->given;
        return status;
    }
    pess_solve_options options = args->solve;
    const pess_algorithm_info *algorithm = pess_algorithm_find(options.algorithm);
    if (algorithm != NULL && (algorithm->default_uncertainty == NULL || algorithm->takes_sets_only))
        options.uncertainty = NULL; /* it is that of the gaps alone */
    const pess_status status = pess_solve(log->counts, log->model, log->start, &options, &out->solution, error);
    if (status == PESS_OK) out->policy = pess_solution_policy(out->solution);
    return status;
}

typedef struct gaps_args {
    log_args log;
    log_policy policy;
    int64_t top;
    bool as_json;
} gaps_args;

/* Either the uncertainty of the gaps or the algorithm that makes the policy. */
static bool gaps_read(const void *context, const char *setting) {
    const gaps_args *args = context;
    const pess_solve_options *solve = &args->log.solve;
    const pess_uncertainty_info *bound =
        pess_uncertainty_find(solve->uncertainty != NULL ? solve->uncertainty : "hoeffding");
    if (bound == NULL || strcmp(setting, "uncertainty") == 0 || pess_setting_listed(bound->settings, setting))
        return true;
    if (args->policy.path != NULL) return false;
    return pess_algorithm_find(solve->algorithm) == NULL ||
           pess_algorithm_reads(solve->algorithm, solve->uncertainty, setting);
}

static int parse(int argc, char **argv, gaps_args *args, const char **path) {
    option_list *list = &args->log.options;
    log_args_begin(&args->log, "uncertainty");
    options_add(list, (option){"uncertainty", 'u', OPTION_TEXT, &args->log.solve.uncertainty, "UNCERTAINTY",
                               "uncertainty function, one number per pair (default hoeffding)"});
    log_policy_options(list, &args->policy, "the policy to ask about (default: that of the algorithm)");
    options_add(list, (option){"top", 0, OPTION_COUNT, &args->top, "N", "how many pairs to list (default 10)"});
    options_add(list, (option){"json", 0, OPTION_FLAG, &args->as_json, NULL, "print the result as JSON"});
    const int code = options_parse(&gaps_usage, list->rows, list->count, argc, argv, path, NULL);
    if (code >= 0) return code;
    if (args->top < 1 || args->top > 1000000)
        return report_usage("gaps", "--top: found %lld, expected 1 to 1000000", (long long)args->top);
    if (log_policy_check(list, &args->policy, "gaps") >= 0) return EXIT_USAGE;
    if (args->policy.path != NULL && options_given(list, "algorithm"))
        return report_usage("gaps", "--algorithm does nothing for a policy that is given");
    return log_args_check(&args->log, "gaps", args->policy.path != NULL ? "a policy that is given" : "this algorithm",
                          gaps_read, args);
}

int cmd_gaps(int argc, char **argv) {
    gaps_args args = {.top = 10};
    const char *path = NULL;
    int code = parse(argc, argv, &args, &path);
    if (code >= 0) return code;

    pess_error error = {0};
    loaded_log log;
    if (loaded_log_read(path, "gaps", &args.log, &log, &error) != PESS_OK) return report_error("gaps", &error);
    asked_policy policy = {0};
    pess_gap *gaps = calloc((size_t)args.top, sizeof *gaps);
    int64_t count = 0;
    double uncertainty = 0;
    pess_status status = PESS_OK;
    if (gaps == NULL) {
        no_memory_for("the list", &error);
        status = PESS_MEMORY;
    }
    if (status == PESS_OK) status = policy_of(&args.log, &log, &args.policy, &policy, &error);
    if (status == PESS_OK)
        status = pess_gaps(log.counts, log.model, log.start, policy.policy, &args.log.solve, args.top, gaps, &count,
                           &uncertainty, &error);
    terminal_progress_end();
    if (status != PESS_OK)
        code = report_error("gaps", &error);
    else if (args.as_json)
        print_json(&log, gaps, count, uncertainty);
    else
        print_text(&log, gaps, count, uncertainty);
    if (status == PESS_OK && !args.as_json) log_policy_print(stdout, &args.policy);
    asked_policy_free(&policy);
    free(gaps);
    loaded_log_free(&log);
    return status == PESS_OK ? EXIT_FINE : code;
}
