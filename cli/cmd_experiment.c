/* pess experiment: the paper's experiments, from one command to a page with the figure. */
#include "command.h"
#include "experiment_output.h"
#include "long_run.h"
#include "repeat.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options: those of the experiment that is named; the others are known too, to say what they do nothing for */

static void add_options(option_list *list, const char *name, pess_experiment_options *options) {
    const pess_setting_table *own = pess_experiment_settings_of(name), *all = pess_experiment_settings();
    for (size_t i = 0; i < all->count; i++) {
        const pess_setting *s = own != NULL ? pess_setting_find(own, all->rows[i].name) : NULL;
        if (strcmp(all->rows[i].name, "experiment") == 0) continue;
        option row = options_setting(s != NULL ? own : all, s != NULL ? s : &all->rows[i], options);
        row.hidden = own != NULL ? s == NULL : all->rows[i].specific;
        options_add(list, row);
    }
}

/* An option that the experiment does not read is a mistake, not to be passed over. */
static int refuse_foreign(const option_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++) {
        if (!list->rows[i].hidden || !*list->rows[i].given) continue;
        char readers[300] = "";
        const pess_experiment_info *info;
        for (size_t k = 0; (info = pess_experiment_list(k)) != NULL; k++) {
            const size_t used = strlen(readers);
            if (pess_setting_listed(info->settings, list->rows[i].name))
                (void)snprintf(readers + used, sizeof readers - used, "%s%s", used > 0 ? ", " : "", info->name);
        }
        return report_usage("experiment", "--%s does nothing for %s; it is read by %s", list->rows[i].name, name,
                            readers);
    }
    return -1;
}

/* The players that come with the program: beside it when installed, in the source tree when built there. */
static bool find_policies(char *out, size_t size) {
    static const char *const places[] = {"/../share/pessimist/policies", "/../policies"};
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash != NULL) *slash = '\0';
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        if ((size_t)snprintf(out, size, "%s%s", program, places[i]) >= size) continue;
        if (access(out, R_OK | X_OK) == 0) return true;
    }
    return false;
}

/* ---- what is told on the way */

static void print_line(void *user, const char *line, double seconds_left) {
    char left[40];
    (void)user;
    terminal_progress_end();
    duration_text(seconds_left, left, sizeof left);
    if (isnan(seconds_left))
        (void)fprintf(stderr, "%s\n", line);
    else
        (void)fprintf(stderr, "%s; %s left\n", line, left);
}

static void print_cost(const pess_experiment_cost *cost) {
    char time[40], samples[60] = "";
    duration_text(cost->seconds, time, sizeof time);
    if (cost->samples > 0) (void)snprintf(samples, sizeof samples, "%.3g samples to learn from, ", cost->samples);
    (void)fprintf(
        stderr, "%lld dataset%s, %lld run%s, %lld of them finished: %sabout %s with %lld at once (estimated from %s)\n",
        COUNTED(cost->datasets), COUNTED(cost->runs), (long long)cost->finished, samples, time,
        (long long)cost->threads,
        !cost->measured     ? "the finished runs"
        : cost->samples > 0 ? "training steps timed on this machine; the time of episodes is a guess"
                            : "a first block of trials");
}

static int report_failure(const option_list *list, const pess_experiment_options *options, const pess_error *error) {
    const int code = report_option_error("experiment", list->rows, list->count, error);
    if (error->status == PESS_INTERRUPTED && options->out != NULL)
        (void)fputs("The same command with --resume continues from there.\n", stderr);
    if (error->status == PESS_NOT_CONVERGED && options->out != NULL)
        (void)fprintf(stderr, "pess merge %s --out DIR --partial makes a page of the finished runs.\n", options->out);
    return code;
}

/* ---- the command */

typedef struct arguments {
    pess_experiment_options options;
    bool dry_run, json;
} arguments;

static pess_status run(pess_experiment *experiment, const arguments *a, const char *command_line, pess_error *error) {
    const pess_status status = pess_experiment_run(experiment, error);
    terminal_progress_end();
    if (status != PESS_OK || a->options.out == NULL) return status;
    const pess_status written = pess_experiment_write(experiment, command_line, error);
    if (written == PESS_OK) note_missing_figures("experiment");
    return written;
}

static void print_results(const pess_experiment *experiment, const arguments *a) {
    if (a->json) {
        experiment_write_json("experiment", experiment);
        return;
    }
    experiment_print(experiment);
    (void)printf("\n%.2f s.", pess_experiment_seconds(experiment));
    (void)(a->options.out != NULL ? printf(" The page is %s/index.html\n", a->options.out)
                                  : printf(" With --out DIR the figure and the page are kept.\n"));
}

/* Long runs say beforehand what they will take; a dry run says no more. */
static int execute(const option_list *list, const arguments *a, const char *command_line) {
    pess_error error = {0};
    pess_experiment *experiment = NULL;
    pess_experiment_cost cost;
    pess_status status = pess_experiment_create(&a->options, &experiment, &error);
    const bool long_run = pess_setting_listed(pess_experiment_find(a->options.experiment)->settings, "protocol");
    if (status == PESS_OK && (long_run || a->dry_run)) {
        status = pess_experiment_estimate(experiment, &cost, &error);
        if (status == PESS_OK && (a->dry_run || !asked.quiet)) print_cost(&cost);
    }
    if (status == PESS_OK && a->dry_run)
        (void)puts(pess_experiment_description(experiment));
    else if (status == PESS_OK)
        status = run(experiment, a, command_line, &error);
    if (status == PESS_OK && !a->dry_run) print_results(experiment, a);
    pess_experiment_destroy(experiment);
    return status == PESS_OK ? EXIT_FINE : report_failure(list, &a->options, &error);
}

/* A line per experiment, and what they have in common. */
static void write_description(char *out, size_t size) {
    const pess_experiment_info *info;
    *out = '\0';
    for (size_t i = 0; (info = pess_experiment_list(i)) != NULL; i++) {
        const size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "  %-22s %s\n", info->name, info->summary);
    }
    const size_t used = strlen(out);
    (void)snprintf(
        out + used, size - used, "%s",
        "\n'pess experiment EXPERIMENT --help' shows the options of one of them. Those with games take hours and keep "
        "every "
        "run in DIR/runs/GAME/x-X/trial-T/ALGORITHM; the others take seconds. Ctrl-C keeps what is finished, and "
        "--resume continues from there, even after a crash, to the same results; with games, more trials, games or "
        "algorithms can be added that way. Every trial gives all algorithms the same data.");
}

static const char examples[] = "  pess experiment gridworld-exploration --out figure-1a\n"
                               "  pess experiment gridworld-data --preset text --trials 200 --out text\n"
                               "  pess experiment gridworld-data --algorithms ua,robust,spibb --trials 20 --points 8\n"
                               "  pess experiment minatar-exploration --protocol paper --out paper --dry-run\n"
                               "  pess experiment minatar-exploration --algorithms ua-imitation,bcq --out ua\n"
                               "  pess experiment minatar-exploration --shard 1/4 --out part-1 --resume\n"
                               "  pess merge part-1 part-2 part-3 part-4 --out games\n"
                               "  pess plot figure-1a figure-1b -o figure-1.pdf";

static int no_experiment(const char *name) {
    char known[300] = "";
    const pess_experiment_info *info;
    for (size_t i = 0; (info = pess_experiment_list(i)) != NULL; i++) {
        const size_t used = strlen(known);
        (void)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", info->name);
    }
    return report_usage("experiment", "found the experiment '%s', expected one of %s", name, known);
}

int cmd_experiment(int argc, char **argv) {
    static const char *const positional[] = {"EXPERIMENT", NULL};
    arguments a = {.options = pess_experiment_options_defaults()};
    option_list all = {.count = 0}, list = {.count = 0};
    add_options(&all, NULL, &a.options);
    const char *name = options_first_word(&all, argc, argv);
    const pess_experiment_info *info = pess_experiment_find(name);
    add_options(&list, name, &a.options);
    options_add(&list, (option){"dry-run", 0, OPTION_FLAG, &a.dry_run, NULL,
                                "print what would be run and how long it would take here, and stop"});
    options_add(&list, (option){"json", 0, OPTION_FLAG, &a.json, NULL, "print the result as JSON"});
    char arguments_line[80], description[2000];
    write_description(description, sizeof description);
    (void)snprintf(arguments_line, sizeof arguments_line, "%s [options]", info != NULL ? info->name : "EXPERIMENT");
    const usage use = {.command = "experiment",
                       .summary = info != NULL ? info->summary : "the paper's experiments, with a figure and a page",
                       .arguments = arguments_line,
                       .description = info != NULL ? NULL : description,
                       .examples = info != NULL ? NULL : examples,
                       .positional = positional};
    char policies[PATH_MAX], command_line[4000];
    int code = options_parse(&use, list.rows, list.count, argc, argv, &name, NULL);
    if (code >= 0) return code;
    if (pess_experiment_find(name) == NULL) return no_experiment(name);
    code = refuse_foreign(&list, name);
    if (code >= 0) return code;
    a.options.experiment = name;
    a.options.notice = asked.quiet ? NULL : print_line;
    const bool plays = pess_setting_listed(pess_experiment_find(name)->settings, "policies");
    if (plays && a.options.policies == NULL && find_policies(policies, sizeof policies)) a.options.policies = policies;
    repeat_command(argc, argv, command_line, sizeof command_line);
    a.options.progress = interruptible_progress();
    return execute(&list, &a, command_line);
}
