/* pess mdp: known decision processes: make one, solve one, evaluate a policy in one exactly. */
#include "command.h"
#include "json.h"
#include "known_mdp.h"
#include "structure.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- making one */

enum { OPTIONS_SIZE = 1024, MOST_PARTS = 64 };

typedef struct mdp_output {
    const char *path, *start_path;
} mdp_output;

static int write_mdp(const char *name, const mdp_output *output, pess_mdp *mdp, pess_status status, pess_error *error) {
    if (status == PESS_OK) status = pess_mdp_write(mdp, output->path, 0, error);
    if (status == PESS_OK && output->start_path != NULL) {
        const int64_t states = pess_mdp_states(mdp);
        double *start = calloc((size_t)states, sizeof *start);
        pess_model *model = NULL;
        if (start == NULL) no_memory_for("the start distribution", error);
        status = start != NULL ? pess_mdp_model(mdp, 0, &model, error) : PESS_MEMORY;
        if (status == PESS_OK) status = pess_start_uniform(model, start, error);
        if (status == PESS_OK) status = pess_start_write(output->start_path, states, NULL, start, error);
        pess_model_destroy(model);
        free(start);
    }
    pess_mdp_destroy(mdp);
    return status == PESS_OK ? EXIT_FINE : report_error(name, error);
}

/* "mdp NAME" for any built-in process: its settings, and where it goes. */
static int make(int argc, char **argv) {
    const pess_mdp_info *info = pess_mdp_find(argv[0]);
    const pess_setting *first = &info->settings->rows[0];
    char name[80], examples[300];
    (void)snprintf(name, sizeof name, "mdp %s", info->name);
    (void)snprintf(examples, sizeof examples, "  pess %s -o mdp.csv --start-out rho.csv\n  pess %s --%s %s -o mdp.csv",
                   name, name, first->name, first->standard);
    const usage use = {.command = name,
                       .summary = info->summary,
                       .arguments = "[options] -o mdp.csv",
                       .description = info->description,
                       .examples = examples};
    mdp_output output = {0};
    max_align_t options[OPTIONS_SIZE / sizeof(max_align_t)];
    if (info->settings->size > sizeof options) return report_usage(name, "its options are too large");
    pess_setting_defaults(info->settings, options);
    option_list list = {0};
    options_add_settings(&list, info->settings, options, NULL);
    options_add(&list,
                (option){"out", 'o', OPTION_TEXT, &output.path, "FILE",
                         "where to write: idstatefrom,idaction,idstateto,probability,reward; a name that ends in "
                         ".pessmdp makes a binary file"});
    options_add(&list, (option){"start-out", 0, OPTION_TEXT, &output.start_path, "FILE",
                                "write the uniform start distribution too"});
    const int code = options_parse(&use, list.rows, list.count, argc, argv, NULL, NULL);
    if (code >= 0) return code;
    if (output.path == NULL) return report_usage(name, "-o is missing");
    pess_error error = {0};
    pess_mdp *mdp = NULL;
    const pess_status status = pess_mdp_make(info->name, options, &mdp, &error);
    return write_mdp(name, &output, mdp, status, &error);
}

/* ---- solving and evaluating one */

typedef struct known_args {
    const char *path, *start_path, *policy_path, *values_path;
    pess_solve_options options;
    bool as_json;
} known_args;

static void print_result(const usage *use, const pess_solution_info *info, const known_mdp *known,
                         const known_args *args) {
    if (!args->as_json) {
        char outcome[100];
        outcome_text(info, outcome, sizeof outcome);
        (void)printf("value %.10g, %s (%s, %s), residual %.2g, %.3g s\n", info->value, outcome, info->method,
                     info->evaluation, info->residual, info->seconds);
        print_structure(stdout, "", info);
        return;
    }
    json_writer json = json_open(use->command);
    json_number(&json, "value", info->value);
    json_number(&json, "gamma", args->options.gamma);
    json_count(&json, "states", pess_mdp_states(known->mdp));
    json_count(&json, "actions", pess_mdp_actions(known->mdp));
    json_text(&json, "outcome", pess_outcome_name(info->outcome));
    json_count(&json, "iterations", info->iterations);
    json_number(&json, "residual", info->residual);
    json_number(&json, "seconds", info->seconds);
    json_text(&json, "method", info->method);
    json_text(&json, "evaluation", info->evaluation);
    json_structure(&json, info);
    json_close(&json);
    json_end(&json);
}

/* The settings of the solver that are read where a process is known. */
static void add_solver(option_list *list, pess_solve_options *options, bool solves) {
    const pess_setting_table *table = pess_solve_settings();
    char except[400] = "algorithm";
    for (size_t i = 0; i < table->count; i++) {
        const size_t used = strlen(except);
        const char *name = table->rows[i].name;
        if (!(solves ? pess_algorithm_reads : pess_evaluation_reads)(options->algorithm, NULL, name))
            (void)snprintf(except + used, sizeof except - used, " %s", name);
    }
    options_add_settings(list, table, options, except);
}

/* Options of both; the first row is what differs. Returns -1 to go on. */
static int parse_known(const usage *use, const char *policy_option, char letter, const char *policy_help, int argc,
                       char **argv, known_args *args) {
    *args = (known_args){.options = pess_solve_options_defaults()};
    args->options.algorithm = "naive";
    args->options.progress = terminal_progress();
    option_list list = {0};
    options_add(&list, (option){policy_option, letter, OPTION_TEXT, &args->policy_path, "FILE", policy_help});
    add_solver(&list, &args->options, strcmp(policy_option, "out") == 0);
    options_add(&list, (option){"start", 0, OPTION_TEXT, &args->start_path, "uniform|FILE",
                                "start distribution (default uniform)"});
    options_add(&list, (option){"values", 0, OPTION_TEXT, &args->values_path, "FILE", "write the values: state,value"});
    options_add(&list, (option){"json", 0, OPTION_FLAG, &args->as_json, NULL, "print the result as JSON"});
    return options_parse(use, list.rows, list.count, argc, argv, &args->path, NULL);
}

/* Writes what was asked for and prints the result; destroys both objects. */
static int finish_known(const usage *use, const known_args *args, known_mdp *known, pess_solution *solution,
                        pess_status status, pess_error *error) {
    if (status == PESS_OK && args->values_path != NULL)
        status = pess_values_write(args->values_path, pess_mdp_states(known->mdp), NULL, pess_solution_values(solution),
                                   error);
    int code = 0;
    if (status == PESS_OK) {
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        print_result(use, &info, known, args);
        code = info.outcome == PESS_OUTCOME_CONVERGED ? EXIT_FINE : EXIT_NOT_CONVERGED;
    } else {
        code = report_error(use->command, error);
    }
    pess_solution_destroy(solution);
    known_mdp_free(known);
    return code;
}

static const char *const mdp_argument[] = {"MDP", NULL};

static int solve_known(int argc, char **argv) {
    static const usage use = {
        .command = "mdp solve",
        .summary = "an optimal policy of a known process",
        .arguments = "MDP [options] -o policy.csv",
        .examples = "  pess mdp solve mdp.csv --gamma 0.99 -o optimal.csv",
        .positional = mdp_argument,
    };
    known_args args;
    const int code = parse_known(&use, "out", 'o', WRITE_POLICY, argc, argv, &args);
    if (code >= 0) return code;
    pess_error error = {0};
    known_mdp known;
    pess_solution *solution = NULL;
    pess_status status = known_mdp_read(args.path, args.start_path, &known, &error);
    if (status == PESS_OK) status = pess_solve(NULL, known.model, known.start, &args.options, &solution, &error);
    if (status == PESS_OK && args.policy_path != NULL)
        status = pess_policy_write(pess_solution_policy(solution), args.policy_path, NULL, NULL, &error);
    return finish_known(&use, &args, &known, solution, status, &error);
}

static int evaluate_known(int argc, char **argv) {
    static const usage use = {
        .command = "mdp evaluate",
        .summary = "the exact value of a policy in a known process",
        .arguments = "MDP --policy policy.csv [options]",
        .examples = "  pess mdp evaluate mdp.csv --policy policy.csv --start rho.csv --json",
        .positional = mdp_argument,
    };
    known_args args;
    const int code = parse_known(&use, "policy", 0, "the policy to evaluate: a file, or uniform", argc, argv, &args);
    if (code >= 0) return code;
    if (args.policy_path == NULL) return report_usage(use.command, "--policy is missing");
    pess_error error = {0};
    known_mdp known;
    pess_policy *policy = NULL;
    pess_solution *solution = NULL;
    pess_status status = known_mdp_read(args.path, args.start_path, &known, &error);
    if (status == PESS_OK) status = known_mdp_policy(&known, args.policy_path, &policy, &error);
    if (status == PESS_OK)
        status = pess_evaluate(NULL, known.model, known.start, policy, &args.options, &solution, &error);
    pess_policy_destroy(policy);
    return finish_known(&use, &args, &known, solution, status, &error);
}

/* ---- all of them */

int cmd_mdp(int argc, char **argv) {
    command parts[MOST_PARTS];
    size_t count = 0;
    const pess_mdp_info *info;
    for (size_t i = 0; (info = pess_mdp_list(i)) != NULL && count < MOST_PARTS - 2; i++)
        parts[count++] = (command){info->name, info->summary, make};
    parts[count++] = (command){"solve", "an optimal policy of a known process", solve_known};
    parts[count++] = (command){"evaluate", "the exact value of a policy in a known process", evaluate_known};
    return run_part("mdp", parts, count, argc, argv);
}
