/* pess-mpi count: shards of a log as one file of counts. */
#include "command.h"
#include "counts.h"
#include "scale/scale.h"

enum { MOST = 1024 };

static const usage count_usage = {
    .command = "count",
    .summary = "logs and counted logs as one file of counts",
    .arguments = "LOG [...] --out FILE.pesscounts",
    .description =
        "Every process reads some of the files; then the counts of a range of states go to each. A LOG may be a "
        "pattern in quotes. The bytes are those that 'pess merge' writes, whatever the number of processes.",
    .examples = "  mpiexec -n 4 pess-mpi count 'shards/*.csv' --out all.pesscounts\n"
                "  mpiexec -n 2 pess-mpi count monday.pesscounts tuesday.csv --out week.pesscounts",
    .positional = (const char *const[]){"LOG", NULL},
    .more = MOST - 1};

int cmd_count(int argc, char **argv) {
    const char *logs[MOST], *out = NULL;
    int count = 0;
    pess_read_options read = pess_read_options_defaults();
    option_list list = {0};
    options_add(&list, (option){"out", 'o', OPTION_TEXT, &out, "FILE", "the file of counts to write"});
    options_add_settings(&list, pess_read_settings(), &read, NULL);
    const int code = options_parse(&count_usage, list.rows, list.count, argc, argv, logs, &count);
    if (code >= 0) return code;
    if (out == NULL || !is_counts_file(out)) return report_usage("count", "--out FILE.pesscounts is needed");
    pess_error error = {0};
    read.progress = terminal_progress();
    const pess_status status = pess_scale_count(logs, count, &read, out, &error);
    return status == PESS_OK ? EXIT_FINE : report_error("count", &error);
}
