/* pess gaps: where one more sample would tell most about a policy. */
#include "json.h"
#include "model_args.h"

#include <stdlib.h>
#include <string.h>

static const usage gaps_usage = {
    .command = "gaps",
    .summary = "where one more sample helps most",
    .arguments = "LOG [--policy policy.csv] [--top N] [options]",
    .description = "The uncertainty of a policy's value is the sum over state-action pairs of (discounted visits) x\n"
                   "(uncertainty of the pair). The pairs are listed by what one more sample there would take off it.\n"
                   "Without --policy: the policy of the algorithm (-a). Default uncertainty: hoeffding.",
    .examples = "  pess gaps visits.csv --top 20\n"
                "  pess gaps visits.csv --policy mine.csv -u bernstein --json",
    .positional = (const char *const[]){"LOG", NULL},
};

static const char *name_of(const pess_names *names, int64_t id, char *buffer, size_t size) {
    if (pess_names_given(names)) return pess_names_get(names, id);
    (void)snprintf(buffer, size, "%lld", (long long)id);
    return buffer;
}

static void print_json(const loaded_log *log, const pess_gap *gaps, int64_t count, double whole) {
    json_writer json = json_begin(stdout, false);
    json_object(&json, NULL);
    json_number(&json, "value_uncertainty", whole);
    json_array(&json, "gaps");
    for (int64_t i = 0; i < count; i++) {
        char s[24], a[24];
        json_object(&json, NULL);
        json_text(&json, "state", name_of(pess_counts_state_names(log->counts), gaps[i].state, s, sizeof s));
        json_text(&json, "action", name_of(pess_counts_action_names(log->counts), gaps[i].action, a, sizeof a));
        json_count(&json, "count", gaps[i].count);
        json_number(&json, "visits", gaps[i].visits);
        json_number(&json, "uncertainty", gaps[i].uncertainty);
        json_number(&json, "share", gaps[i].share);
        json_number(&json, "gain", gaps[i].gain);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_array(&json, "assumptions");
    for (int i = 0; i < log->assumption_count; i++) json_text(&json, NULL, log->assumptions[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    json_end(&json);
}

static void print_text(const loaded_log *log, const pess_gap *gaps, int64_t count, double whole) {
    (void)printf("Uncertainty of the policy's value: %.4g (the sum over all pairs)\n", whole);
    (void)printf("%-16s %-16s %9s %10s %12s %8s %12s\n", "state", "action", "samples", "visits", "uncertainty", "share",
                 "next sample");
    for (int64_t i = 0; i < count; i++) {
        char s[24], a[24];
        (void)printf("%-16s %-16s %9lld %10.4g %12.4g %7.2f%% %12.4g\n",
                     name_of(pess_counts_state_names(log->counts), gaps[i].state, s, sizeof s),
                     name_of(pess_counts_action_names(log->counts), gaps[i].action, a, sizeof a),
                     (long long)gaps[i].count, gaps[i].visits, gaps[i].uncertainty, 100 * gaps[i].share, -gaps[i].gain);
    }
}

static pess_status policy_of(const model_args *args, const loaded_log *log, const char *path, pess_policy **out,
                             pess_error *error) {
    if (path)
        return pess_policy_read(path, log->model, pess_counts_state_names(log->counts),
                                pess_counts_action_names(log->counts), out, error);
    pess_solution *solution = NULL;
    pess_solve_options options = args->solve;
    const pess_algorithm_info *algorithm = pess_algorithm_find(options.algorithm);
    if (algorithm != NULL && !algorithm->takes_uncertainty) options.uncertainty = NULL;
    pess_status status = pess_solve(log->counts, log->model, log->start, &options, &solution, error);
    if (status == PESS_OK) {
        const pess_policy *found = pess_solution_policy(solution);
        status = pess_policy_create(pess_policy_states(found), pess_policy_actions(found), pess_policy_row(found, 0),
                                    out, error);
    }
    pess_solution_destroy(solution);
    return status;
}

int cmd_gaps(int argc, char **argv) {
    model_args args = model_args_defaults();
    bool as_json = false;
    int64_t top = 10;
    const char *policy_path = NULL;
    option rows[MODEL_OPTION_COUNT + 3];
    model_args_options(&args, rows);
    const option own[] = {
        {"policy", 0, OPTION_TEXT, &policy_path, "FILE", "the policy to ask about; default that of the algorithm"},
        {"top", 0, OPTION_COUNT, &top, "N", "how many pairs to list, default 10"},
        {"json", 0, OPTION_FLAG, &as_json, NULL, "print the result as JSON"},
    };
    memcpy(rows + MODEL_OPTION_COUNT, own, sizeof own);
    const char *path = NULL;
    int code = options_parse(&gaps_usage, rows, COUNT_OF(rows), argc, argv, &path, NULL);
    if (code < 0) code = model_args_settle(&args, "gaps");
    if (code < 0 && (top < 1 || top > 1000000)) code = report_usage("gaps", "--top: from 1 to 1000000");
    if (code >= 0) return code;

    pess_error error = {0};
    loaded_log log;
    if (loaded_log_read(path, &args, &log, &error) != PESS_OK) return report_error("gaps", &error);
    args.solve.trajectories = log.info.has_episodes && !args.iid;
    pess_policy *policy = NULL;
    pess_gap *gaps = calloc((size_t)top, sizeof *gaps);
    int64_t count = 0;
    double whole = 0;
    pess_status status = PESS_OK;
    if (gaps == NULL) {
        error = (pess_error){.status = PESS_MEMORY, .message = "not enough memory for the list"};
        status = PESS_MEMORY;
    }
    if (status == PESS_OK) status = policy_of(&args, &log, policy_path, &policy, &error);
    if (status == PESS_OK)
        status = pess_gaps(log.counts, log.model, log.start, policy, &args.solve, top, gaps, &count, &whole, &error);
    terminal_progress_end();
    if (status == PESS_OK) {
        if (as_json)
            print_json(&log, gaps, count, whole);
        else
            print_text(&log, gaps, count, whole);
        code = EXIT_FINE;
    } else {
        code = report_error("gaps", &error);
    }
    pess_policy_destroy(policy);
    free(gaps);
    loaded_log_free(&log);
    return code;
}
