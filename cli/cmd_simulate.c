/* pess simulate: a log of a policy acting in a known process. */
#include "known_mdp.h"

static const usage simulate_usage = {
    .command = "simulate",
    .summary = "a log of a policy acting in a known process",
    .arguments = "MDP --policy policy.csv (--transitions N | --episodes N --horizon H) [options] -o log.csv",
    .description = "--transitions draws independent transitions: states from the start distribution or from the "
                   "stationary law of\nthe policy. --episodes draws whole episodes, cut off after H steps.",
    .examples = "  pess simulate mdp.csv --policy optimal.csv --epsilon 0.5 --transitions 2000 -o log.csv\n"
                "  pess simulate mdp.csv --policy uniform --episodes 100 --horizon 50 --seed 3 -o log.csv.gz",
    .positional = (const char *const[]){"MDP", NULL},
};

int cmd_simulate(int argc, char **argv) {
    static const char *const dist_names[] = {"start", "stationary", NULL};
    pess_simulate_options options = pess_simulate_options_defaults();
    options.transitions = options.episodes = options.horizon = 0;
    const char *policy_path = NULL, *start_path = NULL, *target = NULL, *path = NULL;
    int dist = PESS_STATE_DIST_START;
    const option rows[] = {
        {"policy", 0, OPTION_TEXT, &policy_path, "FILE|uniform", "the policy that acts"},
        {"transitions", 0, OPTION_COUNT, &options.transitions, "N", "so many independent transitions"},
        {"state-dist", 0, OPTION_CHOICE, &dist, "start|stationary",
         "where their states come from, default the start distribution", dist_names},
        {"episodes", 0, OPTION_COUNT, &options.episodes, "N", "or so many episodes"},
        {"horizon", 0, OPTION_COUNT, &options.horizon, "H", "cut episodes off after H steps"},
        {"epsilon", 0, OPTION_NUMBER, &options.epsilon, "E",
         "with this probability the action is uniformly random, default 0"},
        {"start", 0, OPTION_TEXT, &start_path, "uniform|FILE", "start distribution, default uniform"},
        {"seed", 0, OPTION_SEED, &options.seed, "N", "default 1"},
        {"output", 'o', OPTION_TEXT, &target, "FILE", "where to write: .csv, .csv.gz, .npz or .pesslog; - for stdout"},
    };
    int code = options_parse(&simulate_usage, rows, COUNT_OF(rows), argc, argv, &path, NULL);
    if (code >= 0) return code;
    if (policy_path == NULL) return report_usage("simulate", "--policy is missing");
    if (target == NULL) return report_usage("simulate", "-o is missing");
    if ((options.transitions > 0) == (options.episodes > 0))
        return report_usage("simulate", "give either --transitions N or --episodes N --horizon H");
    if (options.episodes > 0 && options.horizon == 0) return report_usage("simulate", "--episodes needs --horizon");
    options.state_dist = (pess_state_dist)dist;
    options.progress = terminal_progress();

    pess_error error = {0};
    known_mdp known;
    pess_policy *policy = NULL;
    pess_dataset *data = NULL;
    pess_status status = known_mdp_read(path, start_path, &known, &error);
    if (status == PESS_OK) status = known_mdp_policy(&known, policy_path, &policy, &error);
    if (status == PESS_OK) status = pess_simulate(known.mdp, policy, known.start, &options, &data, &error);
    if (status == PESS_OK) status = pess_dataset_write(data, target, NULL, &error);
    code = status == PESS_OK ? EXIT_FINE : report_error("simulate", &error);
    pess_dataset_destroy(data);
    pess_policy_destroy(policy);
    known_mdp_free(&known);
    return code;
}
