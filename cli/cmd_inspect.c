/* pess inspect: what is in a log, what is odd about it, and what has to be declared. */
#include "command.h"
#include "counts.h"
#include "json.h"
#include "observations.h"

static void print_json(const pess_inspection *i) {
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
    json_close(&json);
    json_end(&json);
}

static void print_text(const char *path, const pess_inspection *i) {
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
    (void)printf("  coverage     %lld of %lld pairs seen, each %lld to %lld times, the median %lld times\n",
                 (long long)i->pairs_seen, (long long)i->pairs, (long long)i->count_least, (long long)i->count_most,
                 (long long)i->count_median);
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
    .arguments = "LOG [--return-range LO,HI] [--strict] [--json]",
    .description =
        "LOG may also be a dataset of observations: one that 'pess collect' made (.pessdata), or NumPy arrays\n"
        "by D4RL's names (.npz): observations, actions, rewards, terminals, timeouts.",
    .examples = "  pess inspect visits.csv\n  pess inspect visits.csv --return-range 0,1 --gamma 1\n  pess inspect "
                "visits.csv --strict && pess solve visits.csv -o policy.csv\n  pess inspect cartpole.npz",
    .positional = (const char *const[]){"LOG", NULL},
};

int cmd_inspect(int argc, char **argv) {
    pess_read_options read = pess_read_options_defaults();
    bool as_json = false, strict = false;
    pess_model_options model = pess_model_options_defaults();
    pess_solve_options solve = pess_solve_options_defaults();
    option_list list = {0};
    options_add_settings(&list, pess_read_settings(), &read, "format");
    options_add(&list, options_setting(pess_model_settings(), pess_setting_find(pess_model_settings(), "return-range"),
                                       &model));
    options_add(&list,
                options_setting(pess_solve_settings(), pess_setting_find(pess_solve_settings(), "gamma"), &solve));
    options_add(&list, (option){"strict", 0, OPTION_FLAG, &strict, NULL, "exit 1 where something odd was found"});
    options_add(&list, (option){"json", 0, OPTION_FLAG, &as_json, NULL, "print the result as JSON"});
    const char *path = NULL;
    const int code = options_parse(&inspect_usage, list.rows, list.count, argc, argv, &path, NULL);
    if (code >= 0) return code;
    const bool declared = options_given(&list, "return-range");
    if (options_given(&list, "gamma") && !declared)
        return report_usage("inspect", "--gamma does nothing without --return-range");
    if (pess_observations_file(path)) {
        if (declared) return report_usage("inspect", "--return-range: a dataset of observations has no states");
        if (read.states > 0 || (read.actions > 0 && pess_file_kind_of(path) == PESS_FILE_OBSERVATIONS))
            return report_usage("inspect", "--states, --actions: a dataset of observations has its own sizes");
        pess_observations_options numpy = pess_observations_options_defaults();
        numpy.actions = read.actions;
        return observations_inspect("inspect", path, &numpy, as_json, strict);
    }
    read.progress = terminal_progress();
    if (pess_counts_file(path, &read)) return counts_inspect(path, &read, as_json);

    pess_error error = {0};
    pess_dataset *data = NULL;
    pess_inspection *inspection = NULL;
    pess_status status = pess_dataset_read(path, &read, &data, &error);
    if (status == PESS_OK && declared)
        status = pess_dataset_check_returns(data, solve.gamma, model.return_range, &error);
    if (status == PESS_OK) status = pess_dataset_inspect(data, &inspection, &error);
    terminal_progress_end();
    pess_dataset_destroy(data);
    if (status != PESS_OK) return report_error("inspect", &error);
    bool odd = false;
    for (size_t k = 0; k < inspection->finding_count; k++)
        odd |= inspection->findings[k].severity == PESS_SEVERITY_WARNING;
    if (as_json)
        print_json(inspection);
    else
        print_text(path, inspection);
    if (declared && !as_json)
        (void)printf("No return contradicts the declared range from %g to %g at discount %g.\n", model.return_range[0],
                     model.return_range[1], solve.gamma);
    pess_inspection_destroy(inspection);
    return strict && odd ? EXIT_NEGATIVE : EXIT_FINE;
}
