/* pess act: a policy applied to new rows. */
#include "log_source.h"
#include "policy_arg.h"

static const usage act_usage = {
    .command = "act",
    .summary = "a policy applied to new rows: what to do, and where to keep present practice",
    .arguments = "ROWS --policy policy.csv [--map map.pessmap] [--log LOG] [options]",
    .description =
        "ROWS is a CSV file ('-' is standard input, answered as it comes), JSON lines, a database or Parquet, with the "
        "columns of the map or, without a map, a column state. The answer has a header and a line per row: the cell or "
        "state, the action and its probability; with --log, how often the log was in that state and took that action "
        "there; with --map, how far the row lies from the centre of its cell (above 1: farther than any row that made "
        "the cell); and the advice: to follow the policy, or to keep present practice, with the reason: outside, "
        "no-policy (the policy has no action there), few-counts (the log took the action too rarely) or missing (a "
        "measurement is missing and the map has no rule for that). With a policy of networks ROWS is a CSV file or "
        "NumPy arrays with 'observations' (.npz). A policy that was trained with --features finds these columns by "
        "their names; otherwise the columns are the numbers of an observation, in order. For floats the answer says "
        "how "
        "many standard deviations of the data the farthest feature lies from its mean: beyond --outside-limit (10 "
        "there) the advice is to keep present practice.",
    .examples = "  pess act tomorrow.csv --policy policy.csv --map icu.pessmap --log icu.csv\n"
                "  tail -f rows.csv | pess act - --policy policy.csv --map icu.pessmap --json\n"
                "  pess act observations.npz --policy cartpole-cql/policy.pesspolicy --probabilities",
    .positional = (const char *const[]){"ROWS", NULL},
};

typedef struct arguments {
    pess_act_options act;
    log_source source; /* of the log and of the rows */
    const char *policy, *log, *output;
} arguments;

static pess_status act(const char *rows, arguments *args, pess_error *error) {
    pess_map *map = NULL;
    pess_counts *counts = NULL;
    pess_decider *decider = NULL;
    pess_status status = args->source.map != NULL ? pess_map_read(args->source.map, &map, error) : PESS_OK;
    if (status == PESS_OK && args->log != NULL)
        status = log_source_counts(&args->source, args->log, "act", &counts, error);
    if (status == PESS_OK) status = pess_decider_read(args->policy, map, counts, &args->act, &decider, error);
    if (status == PESS_OK) status = pess_act_rows(decider, rows, args->output, NULL, error);
    pess_decider_destroy(decider);
    pess_counts_destroy(counts);
    pess_map_destroy(map);
    return status;
}

/* A policy of networks sees the rows themselves. */
static int act_networks(const char *rows, const arguments *args, const option_list *list) {
    static const char *const of_tables[] = {"map", "log", "least-count"};
    pess_act_options act = args->act;
    pess_policy *policy = NULL;
    pess_error error = {0};
    for (size_t i = 0; i < COUNT_OF(of_tables); i++)
        if (options_given(list, of_tables[i]))
            return report_usage("act", "--%s does nothing for a policy of networks", of_tables[i]);
    if (!options_given(list, "outside-limit")) act.outside_limit = 10;
    pess_status status = pess_policy_read(args->policy, NULL, NULL, NULL, &policy, &error);
    if (status == PESS_OK) status = pess_act_observations(policy, rows, args->output, &act, NULL, &error);
    terminal_progress_end();
    pess_policy_destroy(policy);
    return status == PESS_OK ? EXIT_FINE : report_error("act", &error);
}

int cmd_act(int argc, char **argv) {
    arguments args = {.act = pess_act_options_defaults(), .output = "-"};
    args.act.progress = terminal_progress();
    option_list list = {.count = 0};
    options_add(&list, (option){"policy", 'p', OPTION_TEXT, &args.policy, "FILE",
                                "the policy, as 'pess solve' or 'pess train' writes it"});
    options_add(&list, (option){"log", 0, OPTION_TEXT, &args.log, "LOG",
                                "the log that the policy was made from, to tell how often the action was taken there"});
    log_source_begin(&args.source, &list, "states actions format threads", PESS_PART_ALL);
    options_add_settings(&list, pess_act_settings(), &args.act, NULL);
    options_add(&list,
                (option){"out", 'o', OPTION_TEXT, &args.output, "FILE", "where to write (default: standard output)"});
    const char *rows = NULL;
    int code = options_parse(&act_usage, list.rows, list.count, argc, argv, &rows, NULL);
    if (code < 0) code = log_source_check(&args.source, &list, "act");
    if (code >= 0) return code;
    if (args.policy == NULL) return report_usage("act", "--policy is missing");
    const pess_file_kind kind = pess_file_kind_of(args.policy);
    if (policy_is_run(args.policy) || kind == PESS_FILE_POLICY || kind == PESS_FILE_NETWORK)
        return act_networks(rows, &args, &list);
    if (args.source.map == NULL && options_given(&list, "outside-limit"))
        return report_usage("act", "--outside-limit does nothing without --map");
    if (args.log == NULL && options_given(&list, "least-count"))
        return report_usage("act", "--least-count does nothing without --log");
    if (args.log == NULL && options_given(&list, "last-row"))
        return report_usage("act", "--last-row does nothing without --log");
    if (args.log == NULL && options_given(&list, "part"))
        return report_usage("act", "--part does nothing without --log");
    args.source.read.threads = args.act.threads;
    args.act.read = &args.source.read;
    pess_error error = {0};
    const pess_status status = act(rows, &args, &error);
    terminal_progress_end();
    return status == PESS_OK ? EXIT_FINE : report_error("act", &error);
}
