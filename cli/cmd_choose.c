/* pess choose: which algorithm, and how much pessimism, for this log; scored on held-out episodes. */
#include "assumptions.h"
#include "choosing.h"
#include "repeat.h"

#include <math.h>
#include <string.h>

typedef struct choose_args {
    log_args log;
    pess_choose_options choose;
    const char *policy_path, *report;
    bool as_json;
} choose_args;

static void print_candidate(const pess_candidate_score *c, bool weights, bool chosen) {
    char name[100];
    candidate_text(c, name, sizeof name);
    (void)printf("%s %-30s ", chosen ? "*" : " ", name);
    if (c->left_out != NULL) {
        (void)printf("left out: %s\n", c->left_out);
        return;
    }
    (void)printf("%11.5g %9.2g %+11.5g %9.2g", c->score, c->error, c->gain, c->gain_error);
    if (weights && isnan(c->weighted))
        (void)printf(" %11s %9s %9.4g", "-", "-", c->effective);
    else if (weights)
        (void)printf(" %11.5g %9.2g %9.4g", c->weighted, c->weighted_error, c->effective);
    (void)putchar('\n');
}

static void print_table(const pess_choice *choice, const pess_choice_info *info) {
    const pess_candidate_score *c;
    bool weights = false;
    for (size_t i = 0; (c = pess_choice_candidate(choice, i)) != NULL; i++) weights |= !isnan(c->effective);
    (void)printf("  %-30s %11s %9s %11s %9s", "candidate", "score", "se", "gain", "se");
    if (weights) (void)printf(" %11s %9s %9s", "by weights", "se", "effective");
    (void)putchar('\n');
    for (size_t i = 0; (c = pess_choice_candidate(choice, i)) != NULL; i++)
        print_candidate(c, weights, (int64_t)i == info->chosen);
}

static void print_text(const char *path, const choose_args *args, const pess_choice *choice) {
    pess_choice_info info;
    pess_solution_info solution;
    pess_choice_get_info(choice, &info);
    pess_solution_get_info(pess_choice_solution(choice), &solution);
    (void)printf("Log        %s: %lld %s in %lld folds, discount %g", log_name(path), (long long)info.episodes,
                 info.rows ? "rows" : "episodes", (long long)info.folds, info.gamma);
    if (info.horizon > 0) (void)printf(", the first %lld step%s", COUNTED(info.horizon));
    (void)putchar('\n');
    if (!isnan(info.log_return))
        (void)printf("           its episodes that ended returned %.5g on average (standard error %.2g)\n",
                     info.log_return, info.log_return_error);
    (void)printf("Score      %s\n\n",
                 info.score == PESS_CHOOSE_MODEL
                     ? "value in the model of the held-out episodes; gain: over imitation, fold by fold"
                     : "held-out returns weighted by importance; gain: over imitation, fold by fold");
    print_table(choice, &info);
    (void)putchar('\n');
    print_choice(stdout, choice);
    (void)printf("Policy     from all data: %.6g at face value%s%s\n", solution.naive_value,
                 args->policy_path != NULL ? ", in " : " (-o policy.csv keeps it)",
                 args->policy_path != NULL ? args->policy_path : "");
    if (args->report != NULL) (void)printf("Page       %s/index.html\n", args->report);
    (void)fputs("Rests on\n", stdout);
    const pess_assumption *assumption;
    for (size_t i = 0; (assumption = pess_solution_assumption(pess_choice_solution(choice), i)) != NULL; i++)
        print_assumption(stdout, assumption);
}

static void print_json(const pess_choice *choice) {
    pess_choice_info info;
    pess_solution_info solution;
    pess_choice_get_info(choice, &info);
    pess_solution_get_info(pess_choice_solution(choice), &solution);
    json_writer json = json_open("choose");
    json_number(&json, "gamma", info.gamma);
    json_horizon(&json, info.horizon);
    json_choice(&json, NULL, choice);
    json_number(&json, "value", solution.value);
    json_number(&json, "naive_value", solution.naive_value);
    json_text(&json, "outcome", pess_outcome_name(solution.outcome));
    json_number(&json, "seconds", info.seconds);
    json_array(&json, "assumptions");
    const pess_assumption *assumption;
    for (size_t i = 0; (assumption = pess_solution_assumption(pess_choice_solution(choice), i)) != NULL; i++)
        json_text(&json, NULL, assumption->text);
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

static pess_status write_results(const char *path, const choose_args *args, const char *repeat,
                                 const pess_choice *choice, pess_error *error) {
    const pess_counts *counts = pess_problem_counts(pess_choice_problem(choice));
    pess_status status = PESS_OK;
    if (args->report != NULL) status = pess_choice_write_report(choice, log_name(path), repeat, args->report, error);
    if (status == PESS_OK && args->report != NULL) note_missing_figures("choose");
    if (status == PESS_OK && args->policy_path != NULL)
        status = pess_policy_write(pess_solution_policy(pess_choice_solution(choice)), args->policy_path,
                                   pess_counts_state_names(counts), pess_counts_action_names(counts), error);
    return status;
}

static const usage choose_usage = {
    .command = "choose",
    .summary = "which algorithm, and how much pessimism, for this log",
    .arguments = "LOG [--families ALGORITHM,…] [--folds K] [options] [-o policy.csv] [--report DIR]",
    .description =
        "The episodes are divided into folds. Every algorithm, at every strength of its grid, is fitted to all folds "
        "but one and scored on that one, in turn: by the model of the held-out episodes and, where the log has the "
        "column probability, by importance weights. The one with the best mean score is fitted to all the data. 'pess "
        "solve -a auto' does the same. Scores are evidence, not proof; 'pess certify' gives proof.",
    .examples = "  pess choose visits.csv --return-range 0,1 --gamma 1 -o policy.csv\n"
                "  pess choose visits.csv --families naive,ua,spibb,robust --folds 10 --report choice\n"
                "  pess choose visits.csv --score weights --json",
    .positional = (const char *const[]){"LOG", NULL},
};

static void add_options(choose_args *args) {
    option_list *list = &args->log.options;
    *args = (choose_args){.choose = pess_choose_options_defaults()};
    log_args_begin(&args->log,
                   "algorithm uncertainty alpha absorbed-alpha clip min-count budget local-policies max-successors");
    options_add_settings(list, pess_choose_settings(), &args->choose, NULL);
    options_add(list, (option){"out", 'o', OPTION_TEXT, &args->policy_path, "FILE", WRITE_POLICY});
    options_add(list, (option){"report", 0, OPTION_TEXT, &args->report, "DIR",
                               "write a page with the curve of each family, the figure and the table"});
    options_add(list, (option){"json", 0, OPTION_FLAG, &args->as_json, NULL, "print the result as JSON"});
}

/* Is the name one of "naive,ua"? */
static bool is_listed(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

static bool families_read(const void *context, const char *setting) {
    const choose_args *args = context;
    const pess_algorithm_info *algorithm;
    for (size_t i = 0; (algorithm = pess_algorithm_list(i)) != NULL; i++)
        if (is_listed(args->choose.families, algorithm->name) && pess_algorithm_reads(algorithm->name, NULL, setting))
            return true;
    return false;
}

int cmd_choose(int argc, char **argv) {
    choose_args args;
    const char *path = NULL;
    char repeat[4000];
    add_options(&args);
    int code = options_parse(&choose_usage, args.log.options.rows, args.log.options.count, argc, argv, &path, NULL);
    if (code < 0) code = log_args_check(&args.log, "choose", "these families", families_read, &args);
    if (code >= 0) return code;
    repeat_command(argc, argv, repeat, sizeof repeat);

    pess_error error = {0};
    pess_choice *choice = NULL;
    pess_status status = choose_from_log(path, "choose", &args.log, &args.choose, &choice, &error);
    if (status == PESS_OK) status = write_results(path, &args, repeat, choice, &error);
    if (status != PESS_OK) {
        code = report_option_error("choose", args.log.options.rows, args.log.options.count, &error);
    } else {
        pess_solution_info info;
        pess_solution_get_info(pess_choice_solution(choice), &info);
        if (args.as_json)
            print_json(choice);
        else
            print_text(path, &args, choice);
        code = info.outcome == PESS_OUTCOME_CONVERGED ? EXIT_FINE : EXIT_NOT_CONVERGED;
    }
    pess_choice_destroy(choice);
    return code;
}
