/* pess-mpi experiment: every process runs a shard of the experiment; the first one then merges them. The commands are
 * those of pess. */
#include "command.h"
#include "scale/scale.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cmd_experiment(int argc, char **argv);
int cmd_merge(int argc, char **argv);

enum { MOST = 256, TEXT = 1200 };

/* Where --out stands among the arguments; 0: nowhere. */
static int find_out(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--out") == 0 || strcmp(argv[i], "-o") == 0) return i;
    return 0;
}

static bool has(int argc, char **argv, const char *wanted) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], wanted) == 0) return true;
    return false;
}

/* The report of the first process's shard would be one of a part; it goes nowhere. */
static int run_quietly(int argc, char **argv) {
    (void)fflush(stdout);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (nowhere >= 0 && before >= 0) (void)dup2(nowhere, STDOUT_FILENO);
    const int code = cmd_experiment(argc, argv);
    (void)fflush(stdout);
    if (nowhere >= 0 && before >= 0) (void)dup2(before, STDOUT_FILENO);
    if (nowhere >= 0) (void)close(nowhere);
    if (before >= 0) (void)close(before);
    return code;
}

static int run_shard(int argc, char **argv, int at) {
    char directory[TEXT], shard[40], which[] = "--shard", *arguments[MOST];
    int count = 0;
    (void)snprintf(directory, sizeof directory, "%s.part-%d", argv[at + 1], pess_scale_rank() + 1);
    (void)snprintf(shard, sizeof shard, "%d/%d", pess_scale_rank() + 1, pess_scale_size());
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--json") != 0) arguments[count++] = i == at + 1 ? directory : argv[i];
    arguments[count++] = which;
    arguments[count++] = shard;
    arguments[count] = NULL;
    return run_quietly(count, arguments);
}

static int merge_shards(int argc, char **argv, const char *out) {
    char merge[] = "merge", where[] = "--out", json[] = "--json", *target = strdup(out), *arguments[MOST];
    char(*part)[TEXT] = calloc((size_t)pess_scale_size(), sizeof *part);
    int count = 0, code = EXIT_LIMIT;
    arguments[count++] = merge;
    for (int r = 0; part != NULL && r < pess_scale_size(); r++) {
        (void)snprintf(part[r], sizeof part[r], "%s.part-%d", out, r + 1);
        arguments[count++] = part[r];
    }
    arguments[count++] = where;
    arguments[count++] = target;
    if (has(argc, argv, "--json")) arguments[count++] = json;
    arguments[count] = NULL;
    if (part != NULL && target != NULL) code = cmd_merge(count, arguments);
    free(part);
    free(target);
    return code;
}

int cmd_experiments(int argc, char **argv) {
    if (has(argc, argv, "--help") || has(argc, argv, "-h")) return cmd_experiment(argc, argv);
    const int at = find_out(argc, argv);
    if (at == 0) return report_usage("experiment", "--out DIR is needed: the processes put their parts beside it");
    if (has(argc, argv, "--shard")) return report_usage("experiment", "--shard: every process is a shard already");
    if (argc + pess_scale_size() > MOST - 8) return report_usage("experiment", "at most %d processes", MOST / 2);
    const int code = run_shard(argc, argv, at);
    if (code != EXIT_FINE) return code;
    pess_scale_wait();
    return pess_scale_rank() == 0 ? merge_shards(argc, argv, argv[at + 1]) : EXIT_FINE;
}
