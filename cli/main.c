/* pess: finds the subcommand and runs it. */
#include "counts.h"
#include "describe.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* name, summary: one row per cmd_<name>.c */
#define COMMAND_LIST(X)                                                                                                \
    X(inspect, "what is in a log, what is odd about it, what has to be declared")                                      \
    X(solve, "a pessimistic policy from a log")                                                                        \
    X(choose, "which algorithm, and how much pessimism, for this log")                                                 \
    X(evaluate, "the value of a given policy under each algorithm")                                                    \
    X(certify, "a policy with a guaranteed value, and whether to switch to it")                                        \
    X(act, "a policy applied to new rows: what to do, and where to keep present practice")                             \
    X(gaps, "where one more sample helps most")                                                                        \
    X(theorems, "every bound of the paper on a log of a known process, beside the truth")                              \
    X(discretize, "states from measurements: a map from rows to cells")                                                \
    X(convert, "a log in another format")                                                                              \
    X(mdp, "known processes: make one, solve it, evaluate a policy in it")                                             \
    X(simulate, "a log of a policy acting in a known process")                                                         \
    X(env, "games and control problems: list them, evaluate a policy, record and replay traces, measure speed")        \
    X(play, "play a game in the terminal, watch a policy, or record it as a GIF or PNG")                               \
    X(dqn, "a near-optimal player for a game, by deep Q-learning")                                                     \
    X(train, "a policy from a fixed dataset of observations, with networks")                                           \
    X(score, "what policies are worth by data that others logged, and which one to take")                              \
    X(collect, "a dataset of a game: transitions of a player that explores")                                           \
    X(net, "networks and their policies: look into a file, export it for other programs, import weights")              \
    X(list, "what there is: algorithms, uncertainties, formats, learners, networks, experiments and more")             \
    X(experiment, "the paper's experiments, with a figure and a page")                                                 \
    X(compare, "runs of several algorithms: interquartile means, probabilities of improvement, profiles")              \
    X(merge, "put together the shards of an experiment, or the counts of logs")                                        \
    X(plot, "draw results of experiments and learning curves")                                                         \
    X(help, "this overview, or the help of one command")

#define COMMAND_DECLARE(name, summary) int cmd_##name(int argc, char **argv);
COMMAND_LIST(COMMAND_DECLARE)

static const command commands[] = {
#define COMMAND_ROW(name, summary) {#name, summary, cmd_##name},
    COMMAND_LIST(COMMAND_ROW)};

/* Threads that wait for others sleep rather than spin: on a machine that others use too, spinning took half the
 * processor time. The runtime of OpenMP reads its environment before main begins, so the program starts itself again,
 * unless the caller has chosen. */
static void wait_asleep(char **argv) {
    if (getenv("OMP_WAIT_POLICY") != NULL || setenv("OMP_WAIT_POLICY", "passive", 0) != 0) return;
    char path[4096]; /* by its own name, which is what ps shows */
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = '\0';
    (void)execv(path, argv); /* where that is not possible, they spin */
}

static void print_overview(FILE *stream) {
    (void)fprintf(stream, "Pessimist %s: fixed-dataset policy optimization\n\n", pess_version());
    (void)fputs("A log of decisions goes in; a policy comes out that is good in the worst world the log allows.\n\n"
                "Usage: pess COMMAND [arguments]\n\nCommands:\n",
                stream);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        (void)fprintf(stream, "  %-12s %s\n", commands[i].name, commands[i].summary);
    (void)fputs("\nStart here:\n"
                "  pess inspect visits.csv                    what is in a log, and what is odd about it\n"
                "  pess solve visits.csv -o policy.csv        a pessimistic policy from it\n"
                "  pess help solve                            all options of one command, with examples\n"
                "\nExit codes: " EXIT_CODES "\n",
                stream);
}

int cmd_help(int argc, char **argv) {
    /* how the build makes man pages and completions */
    if (argc == 3 && strcmp(argv[1], "--man") == 0) return describe_man(argv[2], commands, COUNT_OF(commands));
    if (argc == 3 && strcmp(argv[1], "--completion") == 0)
        return describe_completion(argv[2], commands, COUNT_OF(commands));
    if (argc == 2 && strcmp(argv[1], "counts") == 0) return help_counts();
    const command *found = argc < 2 ? NULL : find_command(commands, COUNT_OF(commands), argv[1]);
    if (found == NULL && argc >= 2 && argv[1][0] != '-')
        return unknown_command("", commands, COUNT_OF(commands), argv[1]);
    if (found == NULL || found->run == cmd_help) {
        const usage use = {
            .command = "help", .summary = "the overview, or the help of a command", .arguments = "[COMMAND]"};
        if (!visit_help(&use, NULL, 0)) print_overview(stdout);
        return EXIT_FINE;
    }
    /* "pess help mdp gridworld" asks the command itself: pess mdp gridworld --help */
    char *arguments[8] = {argv[1]};
    int count = 1;
    for (int i = 2; i < argc && count < 6; i++) arguments[count++] = argv[i];
    char help[] = "--help";
    arguments[count++] = help;
    return found->run(count, arguments);
}

static void print_version(void) { (void)printf("pess %s\nnetworks compute with %s\n", pess_build(), pess_kernels()); }

static const program frame = {commands, COUNT_OF(commands), print_overview, print_version};

int main(int argc, char **argv) {
    wait_asleep(argv);
    return run_program(argc, argv, &frame);
}
