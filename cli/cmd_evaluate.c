/* pess evaluate: the value of a given policy under each algorithm, with its uncertainty. */
#include "json.h"
#include "model_args.h"

#include <math.h>
#include <string.h>

enum { ROW_LIMIT = 64 };

typedef struct evaluation_row {
    pess_solution_info info;
    double alpha;
    bool absorbed, takes_alpha;
} evaluation_row;

typedef struct evaluation {
    evaluation_row rows[ROW_LIMIT];
    int count;
} evaluation;

/* One algorithm, one uncertainty. */
static pess_status evaluate_one(model_args *args, const loaded_log *log, const pess_policy *policy,
                                const pess_algorithm_info *algorithm, const char *uncertainty, evaluation *result,
                                pess_error *error) {
    if (result->count >= ROW_LIMIT) return PESS_OK;
    args->solve.algorithm = algorithm->name;
    args->solve.uncertainty = uncertainty;
    model_args_settle_alpha(args);
    const pess_uncertainty_info *bound = uncertainty != NULL ? pess_uncertainty_find(uncertainty) : NULL;
    if (args->solve.absorbed && bound != NULL && bound->absorbed == NULL) args->solve.absorbed = false;
    pess_solution *solution = NULL;
    const pess_status status =
        pess_evaluate(log->counts, log->model, log->start, policy, &args->solve, &solution, error);
    if (status != PESS_OK) return status;
    evaluation_row *row = &result->rows[result->count++];
    pess_solution_get_info(solution, &row->info);
    row->alpha = args->solve.alpha;
    row->absorbed = args->solve.absorbed;
    row->takes_alpha = algorithm->takes_alpha;
    pess_solution_destroy(solution);
    return PESS_OK;
}

/* Every uncertainty that fits the algorithm, or the one that was named. At γ = 1 bounds that need a finite value range
 * do not exist; they are left out unless asked for. */
static pess_status evaluate_algorithm(model_args *args, const loaded_log *log, const pess_policy *policy,
                                      const pess_algorithm_info *algorithm, evaluation *result, pess_error *error) {
    if (!algorithm->takes_uncertainty) return evaluate_one(args, log, policy, algorithm, NULL, result, error);
    const pess_uncertainty_info *bound;
    for (size_t i = 0; (bound = pess_uncertainty_list(i)) != NULL; i++) {
        if (algorithm->takes_sets_only && !bound->is_set) continue;
        if (args->uncertainty_given && strcmp(args->uncertainty, bound->name) != 0) continue;
        const pess_status status = evaluate_one(args, log, policy, algorithm, bound->name, result, error);
        if (status == PESS_ARGUMENT && args->solve.gamma >= 1 && !args->uncertainty_given) continue;
        if (status != PESS_OK) return status;
    }
    return PESS_OK;
}

static void print_json(const model_args *args, const loaded_log *log, const evaluation *result) {
    json_writer json = json_begin(stdout, false);
    json_object(&json, NULL);
    json_number(&json, "naive_value", result->count > 0 ? result->rows[0].info.naive_value : NAN);
    json_number(&json, "gamma", args->solve.gamma);
    json_number(&json, "delta", args->solve.delta);
    json_count(&json, "states", log->info.states);
    json_count(&json, "actions", log->info.actions);
    json_count(&json, "transitions", log->info.transitions);
    json_array(&json, "algorithms");
    for (int i = 0; i < result->count; i++) {
        const evaluation_row *row = &result->rows[i];
        json_object(&json, NULL);
        json_text(&json, "algorithm", row->info.algorithm);
        json_text(&json, "uncertainty", row->info.uncertainty);
        json_text(&json, "holds_for", row->info.holds_for);
        json_number(&json, "alpha", row->takes_alpha ? row->alpha : NAN);
        json_bool(&json, "absorbed", row->takes_alpha && row->absorbed);
        json_number(&json, "value", row->info.value);
        json_text(&json, "outcome", pess_outcome_name(row->info.outcome));
        json_count(&json, "iterations", row->info.iterations);
        json_number(&json, "residual", row->info.residual);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_array(&json, "assumptions");
    for (int i = 0; i < log->assumption_count; i++) json_text(&json, NULL, log->assumptions[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    json_end(&json);
}

static void print_text(const loaded_log *log, const evaluation *result) {
    if (result->count > 0)
        (void)printf("At face value the policy is worth %.6g.\n\n", result->rows[0].info.naive_value);
    (void)printf("%-18s %-12s %-16s %12s   %s\n", "algorithm", "uncertainty", "alpha", "value", "holds for");
    for (int i = 0; i < result->count; i++) {
        const evaluation_row *row = &result->rows[i];
        char alpha[40] = "";
        if (row->takes_alpha) (void)snprintf(alpha, sizeof alpha, "%g%s", row->alpha, row->absorbed ? " absorbed" : "");
        (void)printf("%-18s %-12s %-16s %12.6g   %s%s\n", row->info.algorithm,
                     row->info.uncertainty != NULL ? row->info.uncertainty : "", alpha, row->info.value,
                     row->info.holds_for, row->info.outcome == PESS_OUTCOME_CONVERGED ? "" : " (not converged)");
    }
    (void)fputs("\nRests on\n", stdout);
    for (int i = 0; i < log->assumption_count; i++) (void)printf("  - %s\n", log->assumptions[i]);
}

static pess_status evaluate_all(model_args *args, const loaded_log *log, const char *policy_path, evaluation *result,
                                pess_error *error) {
    pess_policy *policy = NULL;
    pess_status status = pess_policy_read(policy_path, log->model, pess_counts_state_names(log->counts),
                                          pess_counts_action_names(log->counts), &policy, error);
    const pess_algorithm_info *algorithm;
    for (size_t i = 0; status == PESS_OK && (algorithm = pess_algorithm_list(i)) != NULL; i++) {
        if (args->algorithm_given && strcmp(args->algorithm, algorithm->name) != 0) continue;
        if (args->uncertainty_given && !algorithm->takes_uncertainty && !args->algorithm_given) continue;
        status = evaluate_algorithm(args, log, policy, algorithm, result, error);
    }
    pess_policy_destroy(policy);
    return status;
}

static const usage evaluate_usage = {
    .command = "evaluate",
    .summary = "the value of a given policy under each algorithm, with its uncertainty",
    .arguments = "LOG --policy policy.csv [options]",
    .description = "With -a only that algorithm, with -u only that uncertainty; otherwise all that fit.",
    .examples = "  pess evaluate visits.csv --policy policy.csv\n"
                "  pess evaluate visits.csv --policy policy.csv -a robust --reward-range 0,1 --json",
    .positional = (const char *const[]){"LOG", NULL},
};

int cmd_evaluate(int argc, char **argv) {
    model_args args = model_args_defaults();
    const char *policy_path = NULL;
    bool as_json = false;
    option rows[MODEL_OPTION_COUNT + 2];
    model_args_options(&args, rows);
    const option own[] = {
        {"policy", 0, OPTION_TEXT, &policy_path, "FILE", "the policy: state,action,probability"},
        {"json", 0, OPTION_FLAG, &as_json, NULL, "print the result as JSON"},
    };
    memcpy(rows + MODEL_OPTION_COUNT, own, sizeof own);
    const char *path = NULL;
    int code = options_parse(&evaluate_usage, rows, COUNT_OF(rows), argc, argv, &path, NULL);
    if (code < 0) code = model_args_settle(&args, "evaluate");
    if (code >= 0) return code;
    if (policy_path == NULL) return report_usage("evaluate", "--policy is missing");
    if (args.algorithm_given && pess_algorithm_find(args.algorithm) == NULL)
        return report_usage("evaluate", "no algorithm '%s'; 'pess list algorithms' names them", args.algorithm);
    if (args.uncertainty_given && pess_uncertainty_find(args.uncertainty) == NULL)
        return report_usage("evaluate", "no uncertainty '%s'; 'pess list uncertainties' names them", args.uncertainty);

    pess_error error = {0};
    loaded_log log;
    if (loaded_log_read(path, &args, &log, &error) != PESS_OK) return report_error("evaluate", &error);
    args.solve.trajectories = log.info.has_episodes && !args.iid;
    evaluation result = {.count = 0};
    const pess_status status = evaluate_all(&args, &log, policy_path, &result, &error);
    terminal_progress_end();
    code = EXIT_FINE;
    if (status != PESS_OK) {
        code = report_error("evaluate", &error);
    } else if (result.count == 0) {
        code =
            report_usage("evaluate", "uncertainty '%s' does not fit algorithm '%s'", args.uncertainty, args.algorithm);
    } else {
        if (as_json)
            print_json(&args, &log, &result);
        else
            print_text(&log, &result);
        for (int i = 0; i < result.count; i++)
            if (result.rows[i].info.outcome != PESS_OUTCOME_CONVERGED) code = EXIT_NOT_CONVERGED;
    }
    loaded_log_free(&log);
    return code;
}
