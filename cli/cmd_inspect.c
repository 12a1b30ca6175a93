/* pess inspect: what is in a log, what is odd about it, and what has to be declared. */
#include "counts.h"
#include "json.h"
#include "log_source.h"
#include "observations.h"
#include "reading.h"

static void print_json(const pess_inspection *i, const pess_reading *reading) {
    json_writer json = json_open("inspect");
    json_count(&json, "transitions", i->rows);
    json_count(&json, "states", i->states);
    json_count(&json, "actions", i->actions);
    json_count(&json, "states_seen", i->states_seen);
    json_count(&json, "actions_seen", i->actions_seen);
    json_count(&json, "next_only_states", i->next_only_states);
    json_count(&json, "terminal_states", i->terminal_states);
    json_count(&json, "episodes", i->episodes);
    json_count(&json, "terminals", i->terminals);
    json_count(&json, "cutoffs", i->cutoffs);
    json_count(&json, "open_ends", i->open_ends);
    json_count(&json, "gaps", i->gaps);
    json_count(&json, "step_gaps", i->step_gaps);
    json_count(&json, "late_starts", i->late_starts);
    json_count(&json, "duplicates", i->duplicates);
    json_number(&json, "reward_min", i->reward_min);
    json_number(&json, "reward_max", i->reward_max);
    json_number(&json, "reward_mean", i->reward_mean);
    json_count(&json, "pairs", i->pairs);
    json_count(&json, "pairs_seen", i->pairs_seen);
    json_count(&json, "count_least", i->count_least);
    json_count(&json, "count_median", i->count_median);
    json_count(&json, "count_most", i->count_most);
    json_array(&json, "findings");
    for (size_t k = 0; k < i->finding_count; k++) {
        json_object(&json, NULL);
        json_text(&json, "severity", i->findings[k].severity == PESS_SEVERITY_WARNING ? "warning" : "note");
        json_text(&json, "code", i->findings[k].code);
        json_count(&json, "count", i->findings[k].count);
        if (i->findings[k].row > 0) json_count(&json, "row", i->findings[k].row);
        json_text(&json, "text", i->findings[k].text);
        json_close(&json);
    }
    json_close(&json);
    reading_json(&json, reading);
    json_close(&json);
    json_end(&json);
}

static void print_text(const char *path, const pess_inspection *i, const pess_reading *reading) {
    (void)printf("%s\n", path);
    (void)printf("  transitions  %lld\n", (long long)i->rows);
    (void)printf("  states       %lld: actions were taken in %lld, %lld are terminal\n", (long long)i->states,
                 (long long)i->states_seen, (long long)i->terminal_states);
    (void)printf("  actions      %lld\n", (long long)i->actions);
    if (i->episodes > 0)
        (void)printf("  episodes     %lld\n", (long long)i->episodes);
    else
        (void)puts("  episodes     not marked");
    (void)printf("  ends         %lld terminal, %lld cut off\n", (long long)i->terminals, (long long)i->cutoffs);
    (void)printf("  rewards      %g to %g, mean %.6g\n", i->reward_min, i->reward_max, i->reward_mean);
    (void)printf("  coverage     %lld of %lld pairs seen; samples of each: %lld to %lld, median %lld\n",
                 (long long)i->pairs_seen, (long long)i->pairs, (long long)i->count_least, (long long)i->count_most,
                 (long long)i->count_median);
    reading_print(reading);
    int warnings = 0;
    for (size_t k = 0; k < i->finding_count; k++) warnings += i->findings[k].severity == PESS_SEVERITY_WARNING;
    if (warnings > 0) (void)puts("\nOdd");
    for (size_t k = 0; k < i->finding_count; k++)
        if (i->findings[k].severity == PESS_SEVERITY_WARNING) (void)printf("  - %s\n", i->findings[k].text);
    if ((size_t)warnings < i->finding_count) (void)puts("\nWorth knowing");
    for (size_t k = 0; k < i->finding_count; k++)
        if (i->findings[k].severity != PESS_SEVERITY_WARNING) (void)printf("  - %s\n", i->findings[k].text);
    if (warnings == 0) (void)puts("\nNothing odd was found.");
}

static const usage inspect_usage = {
    .command = "inspect",
    .summary = "what is in a log, what is odd about it, and what has to be declared",
    .arguments = "LOG [--column ROLE=NAME …] [-o reading.txt] [--return-range LO,HI] [--strict] [--json]",
    .description =
        "Tells which column plays which role, what was derived and what was ignored, and the options that "
        "make this explicit; -o writes them to a small file, which every command takes with --reading. LOG "
        "may also be a dataset of observations: one that 'pess collect' made (.pessdata), NumPy arrays "
        "with D4RL's names (.npz): observations, actions, rewards, terminals, timeouts; HDF5 of Minari, D4RL "
        "or d3rlpy; or a table whose columns --features are the observations.",
    .examples = "  pess inspect visits.csv\n"
                "  pess inspect visits.csv --column episode=patient --column state=ward,severity -o reading.txt\n"
                "  pess solve visits.csv --reading reading.txt -o policy.csv\n"
                "  pess inspect visits.csv --return-range 0,1 --gamma 1\n"
                "  pess inspect visits.csv --strict && pess solve visits.csv -o policy.csv\n"
                "  pess inspect cartpole.npz\n"
                "  pess inspect ward.csv --features age,lactate --last-row terminal",
    .positional = (const char *const[]){"LOG", NULL},
};

static bool is_odd(const pess_inspection *inspection) {
    bool odd = false;
    for (size_t k = 0; k < inspection->finding_count; k++)
        odd |= inspection->findings[k].severity == PESS_SEVERITY_WARNING;
    return odd;
}

typedef struct inspect_args {
    log_source source;
    data_source data; /* where LOG is a dataset of observations */
    pess_model_options model;
    pess_solve_options solve;
    bool as_json, strict, declared; /* declared: a range of returns is */
    const char *output;
} inspect_args;

static void inspect_options(inspect_args *args, option_list *list) {
    const pess_setting_table *model = pess_model_settings(), *solve = pess_solve_settings();
    log_source_begin(&args->source, list, "format", PESS_PART_ALL);
    data_source_begin(&args->data, list, &args->source.read, "actions");
    options_add(list, options_setting(model, pess_setting_find(model, "return-range"), &args->model));
    options_add(list, options_setting(solve, pess_setting_find(solve, "gamma"), &args->solve));
    options_add(list, (option){"out", 'o', OPTION_TEXT, &args->output, "FILE",
                               "write down how the log was read, for --reading"});
    options_add(list, (option){"strict", 0, OPTION_FLAG, &args->strict, NULL, "exit with 1 if anything odd was found"});
    options_add(list, (option){"json", 0, OPTION_FLAG, &args->as_json, NULL, "print the result as JSON"});
}

/* Writes the reading, where it is asked for, and shows what was found. */
static pess_status show(const char *path, const pess_dataset *data, const inspect_args *args, bool *odd,
                        pess_error *error) {
    const pess_reading *reading = pess_dataset_reading(data);
    pess_inspection *inspection = NULL;
    pess_status status = PESS_OK;
    if (args->declared) status = pess_dataset_check_returns(data, args->solve.gamma, args->model.return_range, error);
    if (status == PESS_OK) status = pess_dataset_inspect(data, &inspection, error);
    if (status == PESS_OK && args->output != NULL) status = pess_reading_write(reading, args->output, error);
    terminal_progress_end();
    if (status == PESS_OK) *odd = is_odd(inspection);
    if (status == PESS_OK && args->as_json) print_json(inspection, reading);
    if (status == PESS_OK && !args->as_json) print_text(log_name(path), inspection, reading);
    if (status == PESS_OK && args->declared && !args->as_json)
        (void)printf("No return contradicts the declared range from %g to %g at discount %g.\n",
                     args->model.return_range[0], args->model.return_range[1], args->solve.gamma);
    pess_inspection_destroy(inspection);
    return status;
}

static int inspect_observations(const char *path, const inspect_args *args) {
    const pess_read_options *read = &args->source.read;
    if (args->declared) return report_usage("inspect", "--return-range: a dataset of observations has no states");
    if (read->states > 0 || (read->actions > 0 && pess_file_kind_of(path) == PESS_FILE_OBSERVATIONS))
        return report_usage("inspect", "--states, --actions: a dataset of observations has its own sizes");
    data_source source = args->data;
    source.reading.actions = read->actions;
    return observations_inspect("inspect", path, &source, args->as_json, args->strict);
}

int cmd_inspect(int argc, char **argv) {
    inspect_args args = {.model = pess_model_options_defaults(), .solve = pess_solve_options_defaults()};
    option_list list = {0};
    static const char *const of_data[] = {"game", "actions-grid", "actions-kmeans"};
    const char *path = NULL;
    bool odd = false;
    inspect_options(&args, &list);
    int code = options_parse(&inspect_usage, list.rows, list.count, argc, argv, &path, NULL);
    if (code < 0) code = log_source_check(&args.source, &list, "inspect");
    if (code >= 0) return code;
    args.declared = options_given(&list, "return-range");
    if (options_given(&list, "gamma") && !args.declared)
        return report_usage("inspect", "--gamma does nothing without --return-range");
    if (args.source.map == NULL && data_source_is(&args.data, path)) return inspect_observations(path, &args);
    for (size_t i = 0; i < COUNT_OF(of_data); i++)
        if (options_given(&list, of_data[i]))
            return report_usage("inspect", "--%s does nothing for a log; it is for datasets of observations",
                                of_data[i]);
    args.source.read.progress = terminal_progress();
    pess_error error = {0};
    pess_dataset *data = NULL;
    pess_counts *counts = NULL;
    pess_status status = log_source_read(&args.source, path, NULL, &data, &counts, &error);
    if (status == PESS_OK && counts != NULL) {
        code = args.declared ? report_usage("inspect",
                                            "--return-range: counts have no episodes against which it could be checked")
                             : counts_inspect(log_name(path), counts, args.as_json);
        pess_counts_destroy(counts);
        return code;
    }
    if (status == PESS_OK && args.output != NULL && pess_dataset_reading(data) == NULL) {
        pess_dataset_destroy(data);
        return report_usage("inspect",
                            "-o writes down which columns a log was read from; this one has no named columns");
    }
    if (status == PESS_OK) status = show(path, data, &args, &odd, &error);
    pess_dataset_destroy(data);
    if (status != PESS_OK) return report_option_error("inspect", list.rows, list.count, &error);
    return args.strict && odd ? EXIT_NEGATIVE : EXIT_FINE;
}
