/* pess-mpi: the commands of pess that many processes can share. */
#include "program.h"
#include "scale/scale.h"

/* name, summary, function */
#define COMMAND_LIST(X)                                                                                                \
    X(solve, "a pessimistic policy from a log, or from shards of one", cmd_solve)                                      \
    X(evaluate, "the value of a given policy under each algorithm", cmd_evaluate)                                      \
    X(certify, "a policy with a guaranteed value, and whether to switch to it", cmd_certify)                           \
    X(count, "logs and counted logs as one file of counts", cmd_count)                                                 \
    X(experiment, "the paper's experiments, a shard for every process", cmd_experiments)                               \
    X(help, "this overview, or the help of one command", cmd_help)

#define COMMAND_DECLARE(name, summary, run) int run(int argc, char **argv);
COMMAND_LIST(COMMAND_DECLARE)

static const command commands[] = {
#define COMMAND_ROW(name, summary, run) {#name, summary, run},
    COMMAND_LIST(COMMAND_ROW)};

static void print_overview(FILE *stream) {
    (void)fprintf(stream,
                  "Pessimist %s on many machines: commands of 'pess' whose states are shared among MPI processes\n\n"
                  "Usage: mpiexec -n N pess-mpi COMMAND [arguments] [PETSc's options]\n\nCommands:\n",
                  pess_version());
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        (void)fprintf(stream, "  %-12s %s\n", commands[i].name, commands[i].summary);
    (void)fputs(
        "\nOptions, files and output are those of 'pess'. A log may be a pattern in quotes that names several\n"
        "files. Beside the options of each command:\n"
        "  --checkpoint FILE          keep the values there while solving, and go on from them if they are there\n"
        "  --checkpoint-every SECONDS how often (default 600)\n"
        "  --reorder auto|on|off      neighbouring states on the same process: where it pays (default), or as told\n"
        "  -ksp_type, -pc_type, …     PETSc's own, for the linear systems (default bcgs, blocks by ilu)\n"
        "\nStart here:\n"
        "  mpiexec -n 4 pess-mpi solve 'shards/*.csv' -o policy.csv\n"
        "  mpiexec -n 4 pess-mpi count 'shards/*.csv' --out all.pesscounts\n"
        "\nExit codes: " EXIT_CODES "\n",
        stream);
}

int cmd_help(int argc, char **argv) {
    const command *found = argc < 2 ? NULL : find_command(commands, COUNT_OF(commands), argv[1]);
    if (found == NULL && argc >= 2) return unknown_command("", commands, COUNT_OF(commands), argv[1]);
    if (found == NULL || found->run == cmd_help) {
        print_overview(stdout);
        return EXIT_FINE;
    }
    char help[] = "--help", *arguments[] = {argv[1], help, NULL};
    return found->run(2, arguments);
}

static void print_version(void) { (void)printf("pess-mpi %s\n", pess_build()); }

static const program frame = {commands, COUNT_OF(commands), print_overview, print_version};

int main(int argc, char **argv) {
    pess_error error = {0};
    program_name = "pess-mpi";
    asked.together = true;
    if (pess_scale_begin(&argc, argv, &error) != PESS_OK)
        return pess_scale_end(report_error(argc > 1 ? argv[1] : "", &error), true);
    const int code = run_program(argc, argv, &frame);
    /* results that all processes have found together */
    const bool fine = code == EXIT_FINE || code == EXIT_NEGATIVE || code == EXIT_NOT_CONVERGED || code == EXIT_KEEP;
    return pess_scale_end(code, !fine);
}
