/* pess solve: a log goes in, a policy comes out, with its value, what the value rests on and where the log is thin. */
#include "assumptions.h"
#include "choosing.h"
#include "structure.h"

#include <math.h>
#include <string.h>

enum {
    THIN_LIMIT = 5,
    THIN_STATES = 100000, /* where they are looked for unasked: it costs as much as the value of a policy */
    SHOWN_STATES = 20     /* a policy over more states than that is not printed */
};

enum { THIN_AUTO, THIN_ON, THIN_OFF };
static const char *const thin_choices[] = {"auto", "on", "off", NULL};

typedef struct solve_report {
    loaded_log log;
    pess_solution *own;            /* NULL where the algorithm was chosen here */
    const pess_solution *solution; /* its own, or the choice's */
    pess_choice *choice;           /* of -a auto; NULL */
    pess_solution_info info;
    double delta;
    int64_t horizon; /* 0: none */
    pess_thin_place thin[THIN_LIMIT];
    int64_t thin_count; /* -1: not looked for */
    int look_for_thin;  /* THIN_AUTO … */
    const char *policy_path, *values_path;
} solve_report;

static void json_thin_places(json_writer *json, const solve_report *r) {
    if (r->thin_count < 0) {
        json_text(json, "thin", NULL);
        return;
    }
    json_array(json, "thin");
    for (int64_t i = 0; i < r->thin_count; i++) {
        char s[NAME_SIZE], a[NAME_SIZE];
        json_object(json, NULL);
        json_text(json, "state", name_of(r->log.state_names, r->thin[i].state, s));
        json_text(json, "action", name_of(r->log.action_names, r->thin[i].action, a));
        json_count(json, "count", r->thin[i].count);
        json_number(json, "visit_share", r->thin[i].visits);
        json_close(json);
    }
    json_close(json);
}

static void print_json(const solve_report *r) {
    json_writer json = json_open("solve");
    json_text(&json, "algorithm", r->info.algorithm);
    json_text(&json, "uncertainty", r->info.uncertainty);
    json_text(&json, "holds_for", r->info.holds_for);
    json_number(&json, "gamma", r->info.gamma);
    json_horizon(&json, r->horizon);
    json_number(&json, "delta", r->delta);
    json_number(&json, "alpha", r->info.alpha);
    json_bool(&json, "absorbed", r->info.absorbed);
    json_number(&json, "min_count", r->info.min_count);
    json_count(&json, "states", r->log.info.states);
    json_count(&json, "actions", r->log.info.actions);
    json_count(&json, "transitions", r->log.info.transitions);
    json_count(&json, "pairs_seen", r->log.info.pairs_seen);
    json_number(&json, "value", r->info.value);
    json_number(&json, "naive_value", r->info.naive_value);
    json_text(&json, "outcome", pess_outcome_name(r->info.outcome));
    json_count(&json, "iterations", r->info.iterations);
    json_number(&json, "residual", r->info.residual);
    json_number(&json, "seconds", r->info.seconds);
    json_text(&json, "method", r->info.method);
    json_text(&json, "evaluation", r->info.evaluation);
    json_structure(&json, &r->info);
    json_array(&json, "assumptions");
    const pess_assumption *assumption;
    for (size_t i = 0; (assumption = pess_solution_assumption(r->solution, i)) != NULL; i++)
        json_text(&json, NULL, assumption->text);
    json_close(&json);
    json_thin_places(&json, r);
    if (r->choice != NULL) json_choice(&json, "choice", r->choice);
    json_close(&json);
    json_end(&json);
}

static void print_policy(FILE *out, const solve_report *r) {
    (void)fputs("Policy     (-o policy.csv keeps it)\n", out);
    for (int64_t state = 0; state < r->log.info.states; state++) {
        if (pess_model_is_terminal_state(r->log.model, state)) continue;
        char s[NAME_SIZE], a[NAME_SIZE];
        (void)fprintf(out, "  - %s:", name_of(r->log.state_names, state, s));
        const double *row = pess_policy_row(pess_solution_policy(r->solution), state);
        for (int64_t action = 0; action < r->log.info.actions; action++) {
            if (row[action] <= 0) continue;
            (void)fprintf(out, " %s", name_of(r->log.action_names, action, a));
            if (row[action] < 1) (void)fprintf(out, " %.3g", row[action]);
        }
        (void)fputc('\n', out);
    }
}

/* The algorithm, its value and how it ended. */
static void print_result(FILE *out, const pess_solution_info *info) {
    (void)fprintf(out, "Algorithm  %s: %s\n", info->algorithm, pess_algorithm_find(info->algorithm)->summary);
    if (!isnan(info->alpha))
        (void)fprintf(out, "           %s %g%s%s\n", info->absorbed ? "absorbed alpha" : "alpha", info->alpha,
                      info->uncertainty != NULL ? ", uncertainty " : "",
                      info->uncertainty != NULL ? info->uncertainty : "");
    if (!isnan(info->min_count)) (void)fprintf(out, "           min-count %.4g\n", info->min_count);
    (void)fprintf(out, "Value      %.6g  the algorithm's own value of its policy\n", info->value);
    (void)fprintf(out, "           %.6g  the same policy at face value\n", info->naive_value);
    (void)fprintf(out, "Holds for  %s\n", info->holds_for);
    char outcome[100];
    outcome_text(info, outcome, sizeof outcome);
    (void)fprintf(out, "Outcome    %s (%s, %s), residual %.2g, %.3g s\n", outcome, info->method, info->evaluation,
                  info->residual, info->seconds);
    print_structure(out, "           ", info);
}

static void print_thin_places(FILE *out, const solve_report *r) {
    if (r->thin_count < 0 && r->look_for_thin == THIN_AUTO)
        (void)fputs("Thinnest data: not looked for among so many states (--thin on does)\n", out);
    if (r->thin_count > 0)
        (void)fputs("Thinnest data (where the policy goes most often for the few samples there are)\n", out);
    for (int64_t i = 0; i < r->thin_count; i++) {
        char s[NAME_SIZE], a[NAME_SIZE];
        (void)fprintf(out, "  - state %s, action %s: %lld sample%s, %.2g %% of the policy's discounted steps\n",
                      name_of(r->log.state_names, r->thin[i].state, s),
                      name_of(r->log.action_names, r->thin[i].action, a), (long long)r->thin[i].count,
                      r->thin[i].count == 1 ? "" : "s", 100 * r->thin[i].visits);
    }
}

static void print_text(FILE *out, const char *path, const solve_report *r) {
    (void)fprintf(out, "Log        %s: %lld transition%s, %lld state%s, %lld action%s, %lld pair%s seen\n",
                  log_name(path), COUNTED(r->log.info.transitions), COUNTED(r->log.info.states),
                  COUNTED(r->log.info.actions), COUNTED(r->log.info.pairs_seen));
    if (r->choice != NULL) print_choice(out, r->choice);
    print_result(out, &r->info);
    (void)fputs("Rests on\n", out);
    const pess_assumption *assumption;
    for (size_t i = 0; (assumption = pess_solution_assumption(r->solution, i)) != NULL; i++)
        print_assumption(out, assumption);
    print_thin_places(out, r);
    if (r->policy_path != NULL)
        (void)fprintf(out, "Policy     %s\n", r->policy_path);
    else if (r->log.info.states <= SHOWN_STATES && r->horizon == 0 && !asked.together)
        print_policy(out, r);
    else
        (void)fputs("Policy     not kept: add -o policy.csv\n", out);
    if (r->values_path != NULL) (void)fprintf(out, "Values     %s\n", r->values_path);
}

static pess_status write_results(const solve_report *r, pess_error *error) {
    const loaded_log *log = &r->log;
    pess_status status = PESS_OK;
    if (r->policy_path != NULL)
        status = pess_policy_write(pess_solution_policy(r->solution), r->policy_path, log->state_names,
                                   log->action_names, error);
    if (status == PESS_OK && r->values_path != NULL)
        status = pess_values_write(r->values_path, log->info.states, log->state_names,
                                   pess_solution_values(r->solution), error);
    return status;
}

static pess_status solve(const char *path, log_args *args, solve_report *r, pess_error *error) {
    pess_status status = loaded_log_read(path, "solve", args, &r->log, error);
    if (status == PESS_OK) pess_problem_keep_for(r->log.problem, &args->solve);
    if (status == PESS_OK) status = pess_solve(r->log.counts, r->log.model, r->log.start, &args->solve, &r->own, error);
    r->solution = r->own;
    return status;
}

static pess_status choose(const char *path, log_args *args, solve_report *r, pess_error *error) {
    pess_choose_options options = pess_choose_options_defaults();
    options.seed = args->model.seed;
    options.threads = args->solve.threads;
    const pess_status status = choose_from_log(path, "solve", args, &options, &r->choice, error);
    if (status != PESS_OK) return status;
    loaded_log_borrow(pess_choice_problem(r->choice), &r->log);
    r->solution = pess_choice_solution(r->choice);
    args->solve = pess_choice_solve_options(r->choice);
    return PESS_OK;
}

static pess_status look_for_thin_places(const log_args *args, solve_report *r, pess_error *error) {
    const bool few = r->log.info.states <= THIN_STATES;
    r->thin_count = -1;
    if (r->look_for_thin == THIN_OFF || (r->look_for_thin == THIN_AUTO && !few)) return PESS_OK;
    return pess_thin_places(r->log.counts, r->log.model, r->log.start, pess_solution_policy(r->solution), &args->solve,
                            THIN_LIMIT, r->thin, &r->thin_count, error);
}

static bool is_auto(const log_args *args) { return strcmp(args->solve.algorithm, "auto") == 0; }

/* Solves, looks for thin places and writes what was asked for. */
static pess_status run(const char *path, log_args *args, solve_report *r, pess_error *error) {
    pess_status status = is_auto(args) ? choose(path, args, r, error) : solve(path, args, r, error);
    terminal_progress_end();
    if (status != PESS_OK) return status;
    pess_solution_get_info(r->solution, &r->info);
    r->delta = args->solve.delta;
    r->horizon = args->solve.horizon;
    status = look_for_thin_places(args, r, error);
    return status == PESS_OK ? write_results(r, error) : status;
}

static const usage solve_usage = {
    .command = "solve",
    .summary = "a pessimistic policy from a log",
    .arguments = "LOG [-a ALGORITHM] [-u UNCERTAINTY] [options] [-o policy.csv]",
    .description =
        "LOG is a CSV file (plain, gzip or zstd) with the columns state, action, reward, next_state and optionally "
        "terminal, truncated, episode, step, probability, or a log in another format ('pess list formats'); - is "
        "standard input. 'pess list algorithms' and 'pess list uncertainties' explain the choices and which options "
        "each of them reads; an option that the chosen ones do not read is refused. -a auto chooses algorithm and "
        "strength on held-out episodes, as 'pess choose' does. Exit code 6 says that the solver stopped before it "
        "converged.",
    .examples = "  pess solve visits.csv -o policy.csv\n"
                "  pess solve visits.csv -a auto --return-range 0,1 --gamma 1 -o policy.csv\n"
                "  pess solve visits.csv -a proximal --absorbed-alpha 0.5 --json\n"
                "  pess solve visits.csv -a robust -u support --reward-range 0,1 --gamma 0.95 -o policy.csv",
    .positional = (const char *const[]){"LOG", NULL},
};

/* How it is solved: read by whatever auto chooses, and not where a horizon is walked back step by step. */
static bool is_iteration(const char *setting) {
    return strcmp(setting, "method") == 0 || strcmp(setting, "max-iterations") == 0;
}

static bool solver_reads(const void *context, const char *setting) {
    const pess_solve_options *solve = context;
    if (pess_algorithm_find(solve->algorithm) == NULL) return true;
    return pess_algorithm_reads(solve->algorithm, solve->uncertainty, setting) &&
           !(solve->horizon > 0 && is_iteration(setting));
}

static bool choice_reads(const void *context, const char *setting) {
    (void)context;
    return is_iteration(setting);
}

static int check(const log_args *args) {
    const pess_solve_options *solve = &args->solve;
    if (is_auto(args) && asked.together)
        return report_usage("solve", "auto needs whole episodes, which processes that share the states do not have: "
                                     "use 'pess choose', or name an algorithm");
    if (is_auto(args)) return log_args_check(args, "solve", "auto, which chooses it", choice_reads, NULL);
    const pess_algorithm_info *algorithm = pess_algorithm_find(solve->algorithm);
    char whom[200];
    (void)snprintf(whom, sizeof whom, "%s", solve->algorithm);
    if (algorithm != NULL && algorithm->default_uncertainty != NULL)
        (void)snprintf(whom, sizeof whom, "%s with the uncertainty %s", solve->algorithm,
                       solve->uncertainty != NULL ? solve->uncertainty : algorithm->default_uncertainty);
    if (solve->horizon > 0)
        (void)snprintf(whom + strlen(whom), sizeof whom - strlen(whom), ", solved back from a horizon");
    return log_args_check(args, "solve", whom, solver_reads, solve);
}

int cmd_solve(int argc, char **argv) {
    log_args args;
    solve_report report = {0};
    bool as_json = false;
    log_args_begin(&args, NULL);
    options_widen(&args.options, "algorithm", "ALGORITHM|auto", "algorithm; auto: chosen on held-out episodes");
    options_add(&args.options, (option){"out", 'o', OPTION_TEXT, &report.policy_path, "FILE", WRITE_POLICY});
    options_add(&args.options,
                (option){"values", 0, OPTION_TEXT, &report.values_path, "FILE", "write the values: state,value"});
    options_add(&args.options,
                (option){"thin", 0, OPTION_CHOICE, &report.look_for_thin, "auto|on|off",
                         "list the thinnest data; auto: up to 100000 states, as it costs as much as evaluating a "
                         "policy (default auto)",
                         thin_choices});
    options_add(&args.options, (option){"json", 0, OPTION_FLAG, &as_json, NULL, "print the result as JSON"});
    const char *path = NULL;
    int code = options_parse(&solve_usage, args.options.rows, args.options.count, argc, argv, &path, NULL);
    if (code < 0) code = check(&args);
    if (code >= 0) return code;

    pess_error error = {0};
    if (run(path, &args, &report, &error) == PESS_OK) {
        const bool to_stdout = report.policy_path != NULL && strcmp(report.policy_path, "-") == 0;
        if (as_json)
            print_json(&report);
        else
            print_text(to_stdout ? stderr : stdout, path, &report);
        code = report.info.outcome == PESS_OUTCOME_CONVERGED ? EXIT_FINE : EXIT_NOT_CONVERGED;
    } else {
        code = report_error("solve", &error);
    }
    pess_solution_destroy(report.own);
    if (report.choice == NULL) loaded_log_free(&report.log);
    pess_choice_destroy(report.choice);
    return code;
}
