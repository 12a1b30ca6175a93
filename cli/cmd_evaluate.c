/* pess evaluate: the value of a given policy under each algorithm, with its uncertainty. */
#include "assumptions.h"
#include "estimators.h"
#include "json.h"
#include "log_args.h"

#include <math.h>
#include <string.h>

enum { ROW_LIMIT = 64 };

typedef struct evaluate_args {
    log_args log;
    const char *algorithm, *uncertainty; /* NULL: all algorithms, all uncertainties that fit */
    log_policy policy;
    const char *behaviour;
    bool as_json, estimators;
} evaluate_args;

typedef struct evaluation {
    pess_solution *solutions[ROW_LIMIT];
    pess_solution_info rows[ROW_LIMIT];
    int count;
    int left_out;        /* that have no value at this discount or horizon */
    int without_squares; /* that need the variances of rewards, which are not in the counts */
} evaluation;

static void evaluation_free(evaluation *result) {
    for (int i = 0; i < result->count; i++) pess_solution_destroy(result->solutions[i]);
}

/* Calls `each` for the algorithms that are asked for with each uncertainty that is asked for and fits; stops where it
 * returns false. */
static void visit(const evaluate_args *args, void *context,
                  bool (*each)(void *context, const pess_algorithm_info *algorithm, const char *uncertainty)) {
    const pess_algorithm_info *algorithm;
    const pess_uncertainty_info *bound;
    for (size_t i = 0; (algorithm = pess_algorithm_list(i)) != NULL; i++) {
        if (args->algorithm != NULL && strcmp(args->algorithm, algorithm->name) != 0) continue;
        if (algorithm->default_uncertainty == NULL) {
            if (args->uncertainty != NULL && args->algorithm == NULL) continue;
            if (!each(context, algorithm, NULL)) return;
            continue;
        }
        for (size_t k = 0; (bound = pess_uncertainty_list(k)) != NULL; k++) {
            if (algorithm->takes_sets_only && !bound->is_set) continue;
            if (args->uncertainty != NULL && strcmp(args->uncertainty, bound->name) != 0) continue;
            if (!each(context, algorithm, bound->name)) return;
        }
    }
}

typedef struct evaluation_job {
    const evaluate_args *args;
    const loaded_log *log;
    const pess_policy *policy;
    evaluation *result;
    pess_status status;
    pess_error *error;
} evaluation_job;

/* At γ = 1, with a horizon or where processes share the states some bounds and algorithms do not exist, such as those
 * that need a finite range of values; they are left out unless asked for. */
static bool evaluate_one(void *context, const pess_algorithm_info *algorithm, const char *uncertainty) {
    evaluation_job *job = context;
    evaluation *result = job->result;
    if (result->count >= ROW_LIMIT) return false;
    pess_solve_options options = job->args->log.solve;
    options.algorithm = algorithm->name;
    options.uncertainty = uncertainty;
    pess_solution *solution = NULL;
    job->status =
        pess_evaluate(job->log->counts, job->log->model, job->log->start, job->policy, &options, &solution, job->error);
    const bool by_name = job->args->uncertainty != NULL || job->args->algorithm != NULL;
    const bool some = options.gamma >= 1 || options.horizon > 0 || asked.together;
    const bool unknown = job->status == PESS_INPUT && !job->log->info.has_squares;
    if (((job->status == PESS_ARGUMENT && some) || unknown) && !by_name) {
        job->status = PESS_OK;
        *(unknown ? &result->without_squares : &result->left_out) += 1;
        return true;
    }
    if (job->status != PESS_OK) return false;
    result->solutions[result->count] = solution;
    pess_solution_get_info(solution, &result->rows[result->count++]);
    return true;
}

/* Each assumption once, whichever solution makes it. */
static const pess_assumption *assumption_at(const evaluation *result, int row, size_t index, bool *repeated) {
    const pess_assumption *found = pess_solution_assumption(result->solutions[row], index), *other;
    *repeated = false;
    for (int i = 0; found != NULL && i < row; i++)
        for (size_t k = 0; (other = pess_solution_assumption(result->solutions[i], k)) != NULL; k++)
            *repeated |= strcmp(other->text, found->text) == 0;
    return found;
}

static void list_assumptions(const evaluation *result, json_writer *json) {
    const pess_assumption *assumption;
    for (int row = 0; row < result->count; row++) {
        bool repeated;
        for (size_t i = 0; (assumption = assumption_at(result, row, i, &repeated)) != NULL; i++) {
            if (repeated) continue;
            if (json != NULL)
                json_text(json, NULL, assumption->text);
            else
                print_assumption(stdout, assumption);
        }
    }
}

static void print_json(const evaluate_args *args, const loaded_log *log, const evaluation *result) {
    json_writer json = json_open("evaluate");
    json_number(&json, "naive_value", result->count > 0 ? result->rows[0].naive_value : NAN);
    json_number(&json, "gamma", args->log.solve.gamma);
    json_horizon(&json, args->log.solve.horizon);
    json_number(&json, "delta", args->log.solve.delta);
    json_count(&json, "states", log->info.states);
    json_count(&json, "actions", log->info.actions);
    json_count(&json, "transitions", log->info.transitions);
    json_count(&json, "unknown_states", args->policy.fit.filled);
    json_array(&json, "algorithms");
    for (int i = 0; i < result->count; i++) {
        const pess_solution_info *row = &result->rows[i];
        json_object(&json, NULL);
        json_text(&json, "algorithm", row->algorithm);
        json_text(&json, "uncertainty", row->uncertainty);
        json_text(&json, "holds_for", row->holds_for);
        json_number(&json, "alpha", row->alpha);
        json_bool(&json, "absorbed", row->absorbed);
        json_number(&json, "value", row->value);
        json_text(&json, "outcome", pess_outcome_name(row->outcome));
        json_count(&json, "iterations", row->iterations);
        json_number(&json, "residual", row->residual);
        json_close(&json);
    }
    json_close(&json);
    json_array(&json, "assumptions");
    list_assumptions(result, &json);
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

static void print_text(const evaluate_args *args, const evaluation *result) {
    (void)printf("At face value the policy is worth %.6g.\n\n", result->rows[0].naive_value);
    (void)printf("%-18s %-12s %-16s %12s   %s\n", "algorithm", "uncertainty", "alpha", "value", "holds for");
    for (int i = 0; i < result->count; i++) {
        const pess_solution_info *row = &result->rows[i];
        char alpha[40] = "";
        if (!isnan(row->alpha))
            (void)snprintf(alpha, sizeof alpha, "%g%s", row->alpha, row->absorbed ? " absorbed" : "");
        (void)printf("%-18s %-12s %-16s %12.6g   %s%s\n", row->algorithm,
                     row->uncertainty != NULL ? row->uncertainty : "", alpha, row->value, row->holds_for,
                     row->outcome == PESS_OUTCOME_CONVERGED ? "" : " (not converged)");
    }
    if (result->left_out > 0)
        (void)printf("Left out: %d that have no value %s; name one with -a and -u to see why.\n", result->left_out,
                     asked.together ? "where processes share the states" : "at this discount or horizon");
    if (result->without_squares > 0)
        (void)printf("Left out: %d that need the variances of rewards; the counts have no column reward_square_sum "
                     "('pess help counts').\n",
                     result->without_squares);
    (void)fputs("\nRests on\n", stdout);
    list_assumptions(result, NULL);
    log_policy_print(stdout, &args->policy);
}

static pess_status evaluate_all(evaluate_args *args, const loaded_log *log, evaluation *result, pess_error *error) {
    pess_policy *policy = NULL;
    const pess_status status = log_policy_read(&args->policy, log, args->log.solve.horizon, &policy, error);
    if (status != PESS_OK) return status;
    evaluation_job job = {args, log, policy, result, PESS_OK, error};
    visit(args, &job, evaluate_one);
    pess_policy_destroy(policy);
    return job.status;
}

static int estimate(evaluate_args *args, const char *path, const loaded_log *log) {
    pess_error error = {0};
    pess_policy *policy = NULL;
    if (log_policy_read(&args->policy, log, 0, &policy, &error) != PESS_OK) return report_error("evaluate", &error);
    const int code = print_estimators(path, &args->log, log, policy, args->behaviour, args->as_json);
    pess_policy_destroy(policy);
    return code;
}

static const usage evaluate_usage = {
    .command = "evaluate",
    .summary = "the value of a given policy under each algorithm, with its uncertainty",
    .arguments = "LOG --policy policy.csv [options]",
    .description =
        "With -a only that algorithm is used, with -u only that uncertainty; otherwise all that fit. --estimators "
        "prints importance sampling, doubly robust estimates and the model beside each other: evidence, not proof.",
    .examples = "  pess evaluate visits.csv --policy policy.csv\n"
                "  pess evaluate visits.csv --policy policy.csv -a robust --reward-range 0,1 --json\n"
                "  pess evaluate visits.csv --policy policy.csv --estimators",
    .positional = (const char *const[]){"LOG", NULL},
};

typedef struct reader {
    const char *setting;
    bool found;
} reader;

static bool reads_it(void *context, const pess_algorithm_info *algorithm, const char *uncertainty) {
    reader *r = context;
    r->found |= pess_evaluation_reads(algorithm->name, uncertainty, r->setting);
    return !r->found;
}

static bool evaluation_reads(const void *context, const char *setting) {
    const evaluate_args *args = context;
    if (args->estimators) return strcmp(setting, "delta") == 0;
    if (strcmp(setting, "uncertainty") == 0)
        return args->algorithm == NULL || pess_algorithm_reads(args->algorithm, NULL, setting);
    reader r = {setting, false};
    visit(args, &r, reads_it);
    return r.found;
}

static int parse(int argc, char **argv, evaluate_args *args, const char **path) {
    option_list *list = &args->log.options;
    log_args_begin(&args->log, "algorithm uncertainty method budget");
    log_policy_options(list, &args->policy, "the policy: state,action,probability");
    options_add(list,
                (option){"algorithm", 'a', OPTION_TEXT, &args->algorithm, "ALGORITHM", "algorithm (default: all)"});
    options_add(list, (option){"uncertainty", 'u', OPTION_TEXT, &args->uncertainty, "UNCERTAINTY",
                               "uncertainty function (default: all that fit)"});
    options_add(list, (option){"estimators", 0, OPTION_FLAG, &args->estimators, NULL,
                               "estimate the value by importance sampling, doubly robust sums and the model instead"});
    options_add(list, (option){"behaviour", 0, OPTION_TEXT, &args->behaviour, "FILE|estimated",
                               "with --estimators: the policy that made the log (default: its column probability)"});
    options_add(list, (option){"json", 0, OPTION_FLAG, &args->as_json, NULL, "print the result as JSON"});
    const int code = options_parse(&evaluate_usage, list->rows, list->count, argc, argv, path, NULL);
    if (code >= 0) return code;
    if (args->policy.path == NULL) return report_usage("evaluate", "--policy is missing");
    if (args->behaviour != NULL && !args->estimators)
        return report_usage("evaluate", "--behaviour does nothing without --estimators");
    if (args->estimators && asked.together)
        return report_usage("evaluate", "--estimators needs whole episodes, which processes that share the states do "
                                        "not have: use 'pess evaluate'");
    if (args->estimators && options_given(list, "horizon"))
        return report_usage("evaluate", "--horizon does nothing for --estimators: episodes are taken whole");
    if (args->estimators && args->algorithm != NULL)
        return report_usage("evaluate", "--algorithm does nothing for --estimators");
    if (args->algorithm != NULL && pess_algorithm_find(args->algorithm) == NULL)
        return report_usage("evaluate", "no algorithm '%s'; 'pess list algorithms' lists the algorithms",
                            args->algorithm);
    if (args->uncertainty != NULL && pess_uncertainty_find(args->uncertainty) == NULL)
        return report_usage("evaluate", "no uncertainty '%s'; 'pess list uncertainties' lists the uncertainties",
                            args->uncertainty);
    const char *const whom = args->estimators          ? "--estimators"
                             : args->algorithm != NULL ? args->algorithm
                                                       : "these algorithms";
    return log_args_check(&args->log, "evaluate", whom, evaluation_reads, args);
}

int cmd_evaluate(int argc, char **argv) {
    evaluate_args args = {0};
    const char *path = NULL;
    int code = parse(argc, argv, &args, &path);
    if (code >= 0) return code;

    pess_error error = {0};
    loaded_log log;
    if (loaded_log_read(path, "evaluate", &args.log, &log, &error) != PESS_OK) return report_error("evaluate", &error);
    if (args.estimators) {
        code = estimate(&args, path, &log);
        loaded_log_free(&log);
        return code;
    }
    evaluation result = {.count = 0};
    const pess_status status = evaluate_all(&args, &log, &result, &error);
    terminal_progress_end();
    code = EXIT_FINE;
    if (status != PESS_OK || (result.count == 0 && result.left_out > 0)) {
        code = report_error("evaluate", &error); /* or what the last of those left out said */
    } else if (result.count == 0) {
        code =
            report_usage("evaluate", "uncertainty '%s' does not fit algorithm '%s'", args.uncertainty, args.algorithm);
    } else {
        if (args.as_json)
            print_json(&args, &log, &result);
        else
            print_text(&args, &result);
        for (int i = 0; i < result.count; i++)
            if (result.rows[i].outcome != PESS_OUTCOME_CONVERGED) code = EXIT_NOT_CONVERGED;
    }
    evaluation_free(&result);
    loaded_log_free(&log);
    return code;
}
