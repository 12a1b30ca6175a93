/* pess simulate: a log of a policy acting in a known process. */
#include "known_mdp.h"

static const usage simulate_usage = {
    .command = "simulate",
    .summary = "a log of a policy acting in a known process",
    .arguments = "MDP --policy policy.csv (--transitions N | --episodes N --horizon H) [options] -o log.csv",
    .description = "--transitions draws independent transitions: states from the start distribution or from the "
                   "stationary law of the policy. --episodes draws whole episodes, cut off after H steps.",
    .examples = "  pess simulate mdp.csv --policy optimal.csv --epsilon 0.5 --transitions 2000 -o log.csv\n"
                "  pess simulate mdp.csv --policy uniform --episodes 100 --horizon 50 --seed 3 -o log.csv.gz",
    .positional = (const char *const[]){"MDP", NULL},
};

typedef struct simulate_args {
    pess_simulate_options options;
    const char *policy_path, *start_path, *target, *path;
} simulate_args;

static int parse(int argc, char **argv, simulate_args *args) {
    option_list list = {0};
    options_add(&list, (option){"policy", 0, OPTION_TEXT, &args->policy_path, "FILE|uniform", "the policy that acts"});
    options_add_settings(&list, pess_simulate_settings(), &args->options, NULL);
    options_add(&list, (option){"start", 0, OPTION_TEXT, &args->start_path, "uniform|FILE",
                                "start distribution (default uniform)"});
    options_add(&list, (option){"out", 'o', OPTION_TEXT, &args->target, "FILE",
                                "where to write; the ending names the format, - is standard output"});
    const int code = options_parse(&simulate_usage, list.rows, list.count, argc, argv, &args->path, NULL);
    if (code >= 0) return code;
    const pess_simulate_options *options = &args->options;
    if (args->policy_path == NULL) return report_usage("simulate", "--policy is missing");
    if (args->target == NULL) return report_usage("simulate", "-o is missing");
    if ((options->transitions > 0) == (options->episodes > 0))
        return report_usage("simulate", "give either --transitions N or --episodes N --horizon H");
    if (options->episodes > 0 && options->horizon == 0) return report_usage("simulate", "--episodes needs --horizon");
    if (options->episodes > 0 && options_given(&list, "state-dist"))
        return report_usage("simulate", "--state-dist does nothing for --episodes");
    if (options->transitions > 0 && options->horizon > 0)
        return report_usage("simulate", "--horizon does nothing for --transitions");
    return -1;
}

int cmd_simulate(int argc, char **argv) {
    simulate_args args = {.options = pess_simulate_options_defaults()};
    int code = parse(argc, argv, &args);
    if (code >= 0) return code;
    args.options.progress = terminal_progress();

    pess_error error = {0};
    known_mdp known;
    pess_policy *policy = NULL;
    pess_dataset *data = NULL;
    pess_status status = known_mdp_read(args.path, args.start_path, &known, &error);
    if (status == PESS_OK) status = known_mdp_policy(&known, args.policy_path, &policy, &error);
    if (status == PESS_OK) status = pess_simulate(known.mdp, policy, known.start, &args.options, &data, &error);
    if (status == PESS_OK) status = pess_dataset_write(data, args.target, NULL, &error);
    code = status == PESS_OK ? EXIT_FINE : report_error("simulate", &error);
    pess_dataset_destroy(data);
    pess_policy_destroy(policy);
    known_mdp_free(&known);
    return code;
}
