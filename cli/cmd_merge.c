/* pess merge: shards of an experiment, or counts of logs, put together. */
#include "counts.h"
#include "experiment_output.h"
#include "long_run.h"
#include "repeat.h"

static int merge_counts(const char *const *paths, int count, pess_read_options *read, const char *target) {
    pess_error error = {0};
    read->progress = terminal_progress();
    const pess_status status = pess_counts_merge(paths, (size_t)count, read, target, &error);
    return status == PESS_OK ? EXIT_FINE : report_error("merge", &error);
}

enum { MOST = 1024 };

static const usage merge_usage = {
    .command = "merge",
    .summary = "put together the shards of an experiment, or the counts of logs",
    .arguments = "DIR [...] --out DIR [--partial]\n       pess merge LOG [...] --out FILE.pesscounts",
    .description =
        "The shards must have been made with the same settings. Results and networks of games are copied, and "
        "results.csv, the figure, the page and manifest.json are written as by an experiment in one piece; "
        "results.csv has the same bytes. With --partial it also shows how far a run in progress is.\n\nWith --out "
        "FILE.pesscounts, logs and files of counts are counted together: the same bytes as counting all rows at "
        "once, in whatever order they are given ('pess help counts').",
    .examples = "  pess merge part-1 part-2 part-3 part-4 --out games\n"
                "  pess merge games --out games-so-far --partial\n"
                "  pess merge monday.pesscounts tuesday.pesscounts --out week.pesscounts",
    .positional = (const char *const[]){"DIR", NULL},
    .more = MOST - 1};

int cmd_merge(int argc, char **argv) {
    const char *directories[MOST], *out = NULL;
    bool partial = false, json = false;
    int count = 0;
    pess_read_options read = pess_read_options_defaults();
    option_list list = {0};
    options_add(&list, (option){"out", 'o', OPTION_TEXT, &out, "DIR",
                                "new directory for all the runs and the files about them"});
    options_add(&list, (option){"partial", 0, OPTION_FLAG, &partial, NULL,
                                "merge the runs that are there, even if others are missing"});
    options_add(&list, (option){"json", 0, OPTION_FLAG, &json, NULL, "print the result as JSON"});
    options_add_settings(&list, pess_read_settings(), &read, "states actions format");
    const int code = options_parse(&merge_usage, list.rows, list.count, argc, argv, directories, &count);
    if (code >= 0) return code;
    if (out == NULL) return report_usage("merge", "--out DIR is needed");
    if (is_counts_file(out)) {
        if (partial || json) return report_usage("merge", "--partial and --json do nothing for counts");
        return merge_counts(directories, count, &read, out);
    }
    for (size_t i = 0; i < pess_read_settings()->count; i++)
        if (options_given(&list, pess_read_settings()->rows[i].name))
            return report_usage("merge", "--%s is for logs, and does nothing for experiments",
                                pess_read_settings()->rows[i].name);
    pess_error error = {0};
    pess_experiment *experiment = NULL;
    char command_line[4000];
    repeat_command(argc, argv, command_line, sizeof command_line);
    pess_status status = pess_experiment_merge(directories, (size_t)count, out, partial, &experiment, &error);
    if (status == PESS_OK) status = pess_experiment_write(experiment, command_line, &error);
    if (status == PESS_OK) note_missing_figures("merge");
    if (status == PESS_OK && json) experiment_write_json("merge", experiment);
    if (status == PESS_OK && !json) {
        experiment_print(experiment);
        (void)printf("\nThe page is %s/index.html\n", out);
    }
    pess_experiment_destroy(experiment);
    return status == PESS_OK ? EXIT_FINE : report_option_error("merge", list.rows, list.count, &error);
}
