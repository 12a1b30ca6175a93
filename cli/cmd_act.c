/* pess act: a policy applied to new rows. */
#include "command.h"

static const usage act_usage = {
    .command = "act",
    .summary = "a policy applied to new rows: what to do, and where to keep present practice",
    .arguments = "ROWS --policy policy.csv [--map map.pessmap] [--log LOG] [options]",
    .description =
        "ROWS is a CSV file ('-': standard input, answered as it comes), JSON lines, a database or Parquet, with the\n"
        "columns of the map, or with a column state where there is no map. The answer has a header and a line per row: the cell or state, the action and "
        "its\n"
        "probability; with --log how often the log was in that state and took that action there; with --map how far "
        "the\n"
        "row lies outside anything that made its cell (above 1: farther than all of it); and the advice: to follow "
        "the\n"
        "policy, or to keep present practice, with the reason: outside, no-policy (the policy has no action there),\n"
        "few-counts (the log took the action too rarely) or missing (a measurement without a rule for that).",
    .examples = "  pess act tomorrow.csv --policy policy.csv --map icu.pessmap --log icu.csv\n"
                "  tail -f rows.csv | pess act - --policy policy.csv --map icu.pessmap --json",
    .positional = (const char *const[]){"ROWS", NULL},
};

typedef struct arguments {
    pess_act_options act;
    pess_measurements_options read;
    const char *policy, *map, *log, *output;
} arguments;

/* The counts of the log: of its cells where there is a map. */
static pess_status count_log(const arguments *args, const pess_map *map, pess_counts **out, pess_error *error) {
    if (args->log == NULL) return PESS_OK;
    if (map == NULL) {
        pess_read_options read = pess_read_options_defaults();
        read.threads = args->act.threads;
        return pess_counts_read(args->log, &read, out, error);
    }
    pess_measurements_options options = args->read;
    pess_measurements *measurements = NULL;
    pess_dataset *data = NULL;
    options.features = pess_map_features(map);
    pess_status status = pess_measurements_read(args->log, &options, &measurements, error);
    if (status == PESS_OK) status = pess_map_log(map, measurements, PESS_PART_ALL, options.threads, &data, error);
    if (status == PESS_OK) status = pess_counts_create(data, options.threads, out, error);
    pess_measurements_destroy(measurements);
    pess_dataset_destroy(data);
    return status;
}

static pess_status act(const char *rows, const arguments *args, pess_error *error) {
    pess_map *map = NULL;
    pess_counts *counts = NULL;
    pess_decider *decider = NULL;
    pess_status status = args->map != NULL ? pess_map_read(args->map, &map, error) : PESS_OK;
    if (status == PESS_OK) status = count_log(args, map, &counts, error);
    if (status == PESS_OK) status = pess_decider_read(args->policy, map, counts, &args->act, &decider, error);
    if (status == PESS_OK) status = pess_act_rows(decider, rows, args->output, NULL, error);
    pess_decider_destroy(decider);
    pess_counts_destroy(counts);
    pess_map_destroy(map);
    return status;
}

int cmd_act(int argc, char **argv) {
    arguments args = {.act = pess_act_options_defaults(), .read = pess_measurements_options_defaults(), .output = "-"};
    args.act.progress = args.read.progress = terminal_progress();
    option_list list = {.count = 0};
    options_add(&list,
                (option){"policy", 'p', OPTION_TEXT, &args.policy, "FILE", "the policy, as 'pess solve' writes it"});
    options_add(&list, (option){"map", 0, OPTION_TEXT, &args.map, "FILE",
                                "rows are measurements: the map that makes cells of them"});
    options_add(&list, (option){"log", 0, OPTION_TEXT, &args.log, "LOG",
                                "the log that the policy was made from, to say how often it did the same"});
    options_add_settings(&list, pess_measurements_settings(), &args.read, "features threads");
    options_add_settings(&list, pess_act_settings(), &args.act, NULL);
    options_add(&list,
                (option){"out", 'o', OPTION_TEXT, &args.output, "FILE", "where to write (default: standard output)"});
    const char *rows = NULL;
    const int code = options_parse(&act_usage, list.rows, list.count, argc, argv, &rows, NULL);
    if (code >= 0) return code;
    if (args.policy == NULL) return report_usage("act", "--policy is missing");
    if (args.map == NULL && options_given(&list, "outside-limit"))
        return report_usage("act", "--outside-limit does nothing without --map");
    if (args.log == NULL && options_given(&list, "least-count"))
        return report_usage("act", "--least-count does nothing without --log");
    if ((args.map == NULL || args.log == NULL) && options_given(&list, "last-row"))
        return report_usage("act", "--last-row does nothing without --map and --log");
    args.read.threads = args.act.threads;
    pess_error error = {0};
    const pess_status status = act(rows, &args, &error);
    terminal_progress_end();
    return status == PESS_OK ? EXIT_FINE : report_error("act", &error);
}
