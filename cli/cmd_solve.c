/* pess solve: a log goes in, a policy comes out, with its value, what the value rests on and where the log is thin. */
#include "json.h"
#include "model_args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { THIN_LIMIT = 5, SHOWN_STATES = 20 }; /* a policy over more states than that is not printed */

/* A pair that the policy uses and the log shows rarely; weight is d(s)·π(a|s)/√n, the share of the doubt. */
typedef struct thin_place {
    int64_t state, action, count;
    double visits, weight;
} thin_place;

typedef struct solve_report {
    const model_args *args;
    const loaded_log *log;
    pess_solution_info info;
    const pess_policy *policy;
    thin_place thin[THIN_LIMIT];
    int thin_count;
    const char *policy_path, *values_path;
} solve_report;

static void keep_thinnest(solve_report *report, thin_place place) {
    int at = report->thin_count;
    while (at > 0 && report->thin[at - 1].weight < place.weight) at--;
    if (at >= THIN_LIMIT) return;
    if (report->thin_count < THIN_LIMIT) report->thin_count++;
    for (int i = report->thin_count - 1; i > at; i--) report->thin[i] = report->thin[i - 1];
    report->thin[at] = place;
}

static pess_status find_thin_places(solve_report *report, const pess_solution *solution, pess_error *error) {
    const loaded_log *log = report->log;
    double *visits = calloc((size_t)log->info.states, sizeof *visits);
    if (visits == NULL) return PESS_OK; /* an extra of the report, not worth failing for */
    const pess_policy *policy = pess_solution_policy(solution);
    const pess_status status = pess_visitation(log->model, log->start, policy, &report->args->solve, visits, error);
    double total = 0;
    for (int64_t s = 0; s < log->info.states; s++) total += visits[s];
    for (int64_t s = 0; status == PESS_OK && total > 0 && s < log->info.states; s++) {
        const double *row = pess_policy_row(policy, s);
        for (int64_t a = 0; a < log->info.actions; a++) {
            const int64_t n = pess_counts_pair(log->counts, s, a);
            const double share = visits[s] * row[a] / total;
            if (share <= 0) continue;
            keep_thinnest(report, (thin_place){s, a, n, share, share / sqrt((double)n + (n == 0 ? 0.01 : 0))});
        }
    }
    free(visits);
    return status;
}

static const char *name_of(const pess_names *names, int64_t id, char *buffer, size_t size) {
    if (pess_names_given(names)) return pess_names_get(names, id);
    (void)snprintf(buffer, size, "%lld", (long long)id);
    return buffer;
}

static void print_json(const solve_report *r) {
    const pess_solve_options *options = &r->args->solve;
    const pess_algorithm_info *algorithm = pess_algorithm_find(r->info.algorithm);
    json_writer json = json_begin(stdout, false);
    json_object(&json, NULL);
    json_text(&json, "algorithm", r->info.algorithm);
    json_text(&json, "uncertainty", r->info.uncertainty);
    json_text(&json, "holds_for", r->info.holds_for);
    json_number(&json, "gamma", options->gamma);
    json_number(&json, "delta", options->delta);
    json_number(&json, "alpha", algorithm->takes_alpha ? options->alpha : NAN);
    json_bool(&json, "absorbed", algorithm->takes_alpha && options->absorbed);
    json_count(&json, "states", r->log->info.states);
    json_count(&json, "actions", r->log->info.actions);
    json_count(&json, "transitions", r->log->info.transitions);
    json_count(&json, "pairs_seen", r->log->info.pairs_seen);
    json_number(&json, "value", r->info.value);
    json_number(&json, "naive_value", r->info.naive_value);
    json_text(&json, "outcome", pess_outcome_name(r->info.outcome));
    json_count(&json, "iterations", r->info.iterations);
    json_number(&json, "residual", r->info.residual);
    json_number(&json, "seconds", r->info.seconds);
    json_text(&json, "method", r->info.method);
    json_text(&json, "evaluation", r->info.evaluation);
    json_array(&json, "assumptions");
    for (int i = 0; i < r->log->assumption_count; i++) json_text(&json, NULL, r->log->assumptions[i]);
    json_close(&json, ']');
    json_array(&json, "thin");
    for (int i = 0; i < r->thin_count; i++) {
        char s[24], a[24];
        json_object(&json, NULL);
        json_text(&json, "state", name_of(pess_counts_state_names(r->log->counts), r->thin[i].state, s, sizeof s));
        json_text(&json, "action", name_of(pess_counts_action_names(r->log->counts), r->thin[i].action, a, sizeof a));
        json_count(&json, "count", r->thin[i].count);
        json_number(&json, "visit_share", r->thin[i].visits);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    json_end(&json);
}

static void print_policy(FILE *out, const solve_report *r) {
    (void)fputs("Policy     (-o policy.csv keeps it)\n", out);
    for (int64_t state = 0; state < r->log->info.states; state++) {
        if (pess_model_is_terminal_state(r->log->model, state)) continue;
        char s[24], a[24];
        (void)fprintf(out, "  - %s:", name_of(pess_counts_state_names(r->log->counts), state, s, sizeof s));
        const double *row = pess_policy_row(r->policy, state);
        for (int64_t action = 0; action < r->log->info.actions; action++) {
            if (row[action] <= 0) continue;
            (void)fprintf(out, " %s", name_of(pess_counts_action_names(r->log->counts), action, a, sizeof a));
            if (row[action] < 1) (void)fprintf(out, " %.3g", row[action]);
        }
        (void)fputc('\n', out);
    }
}

static void print_text(FILE *out, const char *path, const solve_report *r) {
    const pess_solve_options *options = &r->args->solve;
    const pess_algorithm_info *algorithm = pess_algorithm_find(r->info.algorithm);
    (void)fprintf(out, "Log        %s: %lld transitions, %lld states, %lld actions, %lld pairs seen\n", path,
                  (long long)r->log->info.transitions, (long long)r->log->info.states, (long long)r->log->info.actions,
                  (long long)r->log->info.pairs_seen);
    (void)fprintf(out, "Algorithm  %s: %s\n", r->info.algorithm, algorithm->summary);
    if (algorithm->takes_alpha)
        (void)fprintf(out, "           %s %g%s%s\n", options->absorbed ? "absorbed alpha" : "alpha", options->alpha,
                      r->info.uncertainty != NULL ? ", uncertainty " : "",
                      r->info.uncertainty != NULL ? r->info.uncertainty : "");
    (void)fprintf(out, "Value      %.6g  the algorithm's own value of its policy\n", r->info.value);
    (void)fprintf(out, "           %.6g  the same policy at face value\n", r->info.naive_value);
    (void)fprintf(out, "Holds for  %s\n", r->info.holds_for);
    (void)fprintf(out, "Outcome    %s after %lld iterations (%s, %s), residual %.2g, %.3g s\n",
                  pess_outcome_name(r->info.outcome), (long long)r->info.iterations, r->info.method, r->info.evaluation,
                  r->info.residual, r->info.seconds);
    (void)fputs("Rests on\n", out);
    for (int i = 0; i < r->log->assumption_count; i++) (void)fprintf(out, "  - %s\n", r->log->assumptions[i]);
    if (r->thin_count > 0) (void)fputs("Thin places (the policy goes there, the log says little)\n", out);
    for (int i = 0; i < r->thin_count; i++) {
        char s[24], a[24];
        (void)fprintf(out, "  - state %s, action %s: %lld samples, %.2g %% of the policy's discounted steps\n",
                      name_of(pess_counts_state_names(r->log->counts), r->thin[i].state, s, sizeof s),
                      name_of(pess_counts_action_names(r->log->counts), r->thin[i].action, a, sizeof a),
                      (long long)r->thin[i].count, 100 * r->thin[i].visits);
    }
    if (r->policy_path != NULL)
        (void)fprintf(out, "Policy     %s\n", r->policy_path);
    else if (r->log->info.states <= SHOWN_STATES)
        print_policy(out, r);
    else
        (void)fputs("Policy     not kept: add -o policy.csv\n", out);
    if (r->values_path != NULL) (void)fprintf(out, "Values     %s\n", r->values_path);
}

static pess_status write_results(const solve_report *r, const pess_solution *solution, pess_error *error) {
    const pess_names *states = pess_counts_state_names(r->log->counts);
    const pess_names *actions = pess_counts_action_names(r->log->counts);
    pess_status status = PESS_OK;
    if (r->policy_path != NULL)
        status = pess_policy_write(pess_solution_policy(solution), r->policy_path, states, actions, error);
    if (status == PESS_OK && r->values_path != NULL)
        status = pess_values_write(r->values_path, r->log->info.states, states, pess_solution_values(solution), error);
    return status;
}

static const usage solve_usage = {
    .command = "solve",
    .summary = "a pessimistic policy from a log",
    .arguments = "LOG [-a ALGORITHM] [-u UNCERTAINTY] [options] [-o policy.csv]",
    .description = "LOG is a CSV (plain or gzip) with the columns state, action, reward, next_state and optionally "
                   "terminal,\ntruncated, episode, step, probability; or an NPZ with arrays of these names; or a "
                   ".pesslog; - is standard input.\nExit code 6 says that the solver stopped before it converged.",
    .examples = "  pess solve visits.csv -o policy.csv\n"
                "  pess solve visits.csv -a proximal --absorbed-alpha 0.5 --json\n"
                "  pess solve visits.csv -a robust -u support --reward-range 0,1 --gamma 0.95 -o policy.csv",
    .positional = (const char *const[]){"LOG", NULL},
};

int cmd_solve(int argc, char **argv) {
    model_args args = model_args_defaults();
    solve_report report = {.args = &args};
    bool as_json = false;
    option rows[MODEL_OPTION_COUNT + 3];
    model_args_options(&args, rows);
    const option own[] = {
        {"output", 'o', OPTION_TEXT, &report.policy_path, "FILE", "write the policy: state,action,probability"},
        {"values", 0, OPTION_TEXT, &report.values_path, "FILE", "write the values: state,value"},
        {"json", 0, OPTION_FLAG, &as_json, NULL, "print the result as JSON"},
    };
    memcpy(rows + MODEL_OPTION_COUNT, own, sizeof own);
    const char *path = NULL;
    int code = options_parse(&solve_usage, rows, COUNT_OF(rows), argc, argv, &path, NULL);
    if (code < 0) code = model_args_settle(&args, "solve");
    if (code >= 0) return code;

    pess_error error = {0};
    loaded_log log;
    if (loaded_log_read(path, &args, &log, &error) != PESS_OK) return report_error("solve", &error);
    report.log = &log;
    args.solve.trajectories = log.info.has_episodes && !args.iid;
    pess_solution *solution = NULL;
    pess_status status = pess_solve(log.counts, log.model, log.start, &args.solve, &solution, &error);
    terminal_progress_end();
    if (status == PESS_OK) {
        pess_solution_get_info(solution, &report.info);
        report.policy = pess_solution_policy(solution);
        status = find_thin_places(&report, solution, &error);
    }
    if (status == PESS_OK) status = write_results(&report, solution, &error);
    if (status == PESS_OK) {
        const bool to_stdout = report.policy_path != NULL && strcmp(report.policy_path, "-") == 0;
        if (as_json)
            print_json(&report);
        else
            print_text(to_stdout ? stderr : stdout, path, &report);
        code = report.info.outcome == PESS_OUTCOME_CONVERGED ? EXIT_FINE : EXIT_NOT_CONVERGED;
    } else {
        code = report_error("solve", &error);
    }
    pess_solution_destroy(solution);
    loaded_log_free(&log);
    return code;
}
