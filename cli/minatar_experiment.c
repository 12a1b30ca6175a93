/* pess experiment minatar-exploration and minatar-data: the paper's experiments with games and networks. */
#include "minatar_experiment.h"

#include "json.h"
#include "long_run.h"
#include "repeat.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- output */

static void print_claims(const pess_minatar *experiment) {
    size_t count = 0;
    const pess_minatar_claim *claims = pess_minatar_claims(experiment, &count);
    if (count > 0) (void)puts("\nWhat was expected, and what came out:");
    for (size_t i = 0; i < count; i++) {
        bool told = false;
        for (size_t j = 0; j < i; j++) told |= claims[j].claim == claims[i].claim;
        if (told) continue;
        (void)printf("\n  %s\n  %s\n", claims[i].claim, claims[i].rule);
        for (size_t j = i; j < count; j++) {
            if (claims[j].claim != claims[i].claim) continue;
            const char *verdict = !claims[j].judged ? "" : claims[j].holds ? "came out: " : "DID NOT COME OUT: ";
            (void)printf("    %-15s %s%s\n", claims[j].game, verdict, claims[j].found);
        }
    }
}

static void print_points(const pess_minatar *experiment) {
    size_t count = 0;
    const pess_minatar_point *points = pess_minatar_points(experiment, &count);
    for (size_t i = 0; i < count; i++) {
        const pess_minatar_point *p = &points[i];
        const bool new_game = i == 0 || strcmp(p->game, points[i - 1].game) != 0;
        if (new_game) (void)printf("\n%s: mean score of the trials at x\n", p->game);
        if (new_game || strcmp(p->algorithm, points[i - 1].algorithm) != 0) (void)printf("  %-24s", p->algorithm);
        (void)printf(" %g:%.3g", p->x, p->mean);
        if (i + 1 == count || strcmp(points[i + 1].algorithm, p->algorithm) != 0 ||
            strcmp(points[i + 1].game, p->game) != 0)
            (void)puts("");
    }
}

void minatar_print(const pess_minatar *experiment, const char *out) {
    (void)puts(pess_minatar_description(experiment));
    print_points(experiment);
    print_claims(experiment);
    (void)printf("\nThe page is %s/index.html\n", out);
}

void minatar_write_json(const pess_minatar *experiment, const char *out) {
    size_t count = 0;
    json_writer json = json_open("experiment");
    json_text(&json, "description", pess_minatar_description(experiment));
    json_text(&json, "out", out);
    const pess_minatar_point *points = pess_minatar_points(experiment, &count);
    json_array(&json, "results");
    for (size_t i = 0; i < count; i++) {
        json_object(&json, NULL);
        json_text(&json, "game", points[i].game);
        json_text(&json, "algorithm", points[i].algorithm);
        json_number(&json, "x", points[i].x);
        json_count(&json, "trials", points[i].trials);
        json_number(&json, "mean", points[i].mean);
        json_number(&json, "min", points[i].min);
        json_number(&json, "max", points[i].max);
        json_number(&json, "final_mean", points[i].final_mean);
        json_number(&json, "best_mean_not_a_result", points[i].best_mean);
        json_number(&json, "control_mean", points[i].control_mean);
        json_number(&json, "predicted", points[i].predicted);
        json_number(&json, "obtained", points[i].obtained);
        json_number(&json, "outside", points[i].outside);
        json_number(&json, "spread", points[i].spread);
        json_number(&json, "behaviour_mean", points[i].behaviour_mean);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    const pess_minatar_claim *claims = pess_minatar_claims(experiment, &count);
    json_array(&json, "claims");
    for (size_t i = 0; i < count; i++) {
        json_object(&json, NULL);
        json_text(&json, "game", claims[i].game);
        json_text(&json, "claim", claims[i].claim);
        json_text(&json, "rule", claims[i].rule);
        json_text(&json, "verdict",
                  !claims[i].judged ? "not judged"
                  : claims[i].holds ? "came out"
                                    : "did not come out");
        json_text(&json, "found", claims[i].found);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    json_end(&json);
}

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

static void print_cost(const pess_minatar_cost *cost, const char *protocol) {
    char time[40];
    duration_text(cost->seconds, time, sizeof time);
    (void)fprintf(stderr,
                  "%lld datasets, %lld runs, %lld of them finished. Protocol %s: %.3g samples to learn from, about %s "
                  "with %lld at once (by %s)\n",
                  (long long)cost->datasets, (long long)cost->runs, (long long)cost->finished, protocol, cost->samples,
                  time, (long long)cost->jobs,
                  cost->measured ? "training steps timed on this machine; episodes are a guess" : "the finished runs");
}

/* ---- the players that come with the program: beside it when installed, in the source tree when built there */

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

/* ---- the command */

typedef struct arguments {
    pess_minatar_options options;
    const char *protocol, *shard;
    int keep_data, controls;
    bool dry_run, json, trials_given, jobs_given;
    bool epsilons_given, sizes_given, epsilon_given, transitions_given;
} arguments;

/* Along one axis the experiment has many values of one kind and one of the other. */
static int refuse_foreign(const char *name, const arguments *a) {
    const struct {
        bool given;
        const char *option, *experiment, *instead;
    } owned[] = {{a->epsilons_given, "epsilons", "minatar-exploration", "--epsilon E (one)"},
                 {a->transitions_given, "transitions", "minatar-exploration", "--sizes a,b,…"},
                 {a->sizes_given, "sizes", "minatar-data", "--transitions N (one)"},
                 {a->epsilon_given, "epsilon", "minatar-data", "--epsilons a,b,…"}};
    for (size_t i = 0; i < COUNT_OF(owned); i++)
        if (owned[i].given && strcmp(owned[i].experiment, a->options.experiment) != 0)
            return report_usage(name, "--%s belongs to %s; with %s use %s", owned[i].option, owned[i].experiment,
                                a->options.experiment, owned[i].instead);
    return -1;
}

static int check(const char *name, arguments *a, char *policies, size_t size) {
    pess_minatar_options *o = &a->options;
    const pess_protocol *protocol = pess_protocol_find(a->protocol);
    const int foreign = refuse_foreign(name, a);
    if (foreign >= 0) return foreign;
    if (o->out == NULL) return report_usage(name, "--out DIR is needed");
    if (protocol == NULL) {
        char known[200] = "";
        const pess_protocol *row;
        for (size_t i = 0; (row = pess_protocol_list(i)) != NULL; i++) {
            const size_t used = strlen(known);
            (void)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", row->name);
        }
        return report_usage(name, "--protocol: found '%s', expected one of %s", a->protocol, known);
    }
    o->protocol = *protocol;
    if (a->trials_given && o->trials == 0) return report_usage(name, "--trials: found 0, expected 1 or more");
    if (a->jobs_given && o->jobs == 0) return report_usage(name, "--jobs: found 0, expected 1 or more");
    if (a->transitions_given && o->transitions == 0)
        return report_usage(name, "--transitions: found 0, expected 1 or more");
    if (a->shard != NULL) {
        char *stop = NULL;
        errno = 0;
        o->shard = strtoll(a->shard, &stop, 10);
        if (stop == a->shard || *stop != '/' || stop[1] == '\0')
            return report_usage(name, "--shard: found '%s', expected I/N, e.g. 1/4", a->shard);
        o->shards = strtoll(stop + 1, &stop, 10);
        if (*stop != '\0' || errno != 0 || o->shard < 1 || o->shard > o->shards)
            return report_usage(name, "--shard: found '%s', expected I/N with 1 <= I <= N", a->shard);
    }
    if (o->policies == NULL && find_policies(policies, size)) o->policies = policies;
    o->keep_data = a->keep_data == 0;
    o->controls = a->controls == 0;
    return -1;
}

static int run(const char *name, const arguments *a, const char *command_line) {
    pess_error error = {0};
    pess_minatar *experiment = NULL;
    pess_minatar_cost cost;
    pess_status status = pess_minatar_create(&a->options, &experiment, &error);
    if (status == PESS_OK) status = pess_minatar_estimate(experiment, &cost, &error);
    if (status == PESS_OK) print_cost(&cost, a->protocol);
    if (status == PESS_OK && a->dry_run) {
        (void)puts(pess_minatar_description(experiment));
        pess_minatar_destroy(experiment);
        return EXIT_FINE;
    }
    if (status == PESS_OK) status = pess_minatar_run(experiment, &error);
    terminal_progress_end();
    if (status == PESS_OK) status = pess_minatar_write(experiment, command_line, &error);
    if (status == PESS_OK) {
        if (a->json)
            minatar_write_json(experiment, a->options.out);
        else
            minatar_print(experiment, a->options.out);
    }
    pess_minatar_destroy(experiment);
    return status == PESS_OK ? EXIT_FINE : report_error(name, &error);
}

static const char description[] =
    "  minatar-exploration  return against the ε of the player that collected the data\n"
    "  minatar-data         return against the size of the dataset\n\n"
    "Every game, x and trial is a dataset with seeds of its own: data, imitation network, training. Each run has\n"
    "a directory DIR/runs/GAME/x-X/trial-T/ALGORITHM. Ctrl-C keeps all that is done, and --resume goes on from\n"
    "there, also after a crash, to the same results.csv. Finished runs are not run again: more trials, games or\n"
    "algorithms can be added with --resume. Algorithms: pess list learners; protocols: pess list protocols.\n"
    "--shard I/N takes every N-th dataset; pess merge puts the shards together (docs/slurm-array.sh).";

int experiment_minatar(int argc, char **argv) {
    static const char *const switches[] = {"on", "off", NULL}, *const positional[] = {"EXPERIMENT", NULL};
    arguments a = {.options = pess_minatar_options_defaults(), .protocol = "quick", .keep_data = 1};
    pess_minatar_options *o = &a.options;
    const option options[] = {
        {"games", 0, OPTION_TEXT, &o->games, "a,b,…", "games (asterix,breakout,freeway,space_invaders)", NULL, NULL},
        {"epsilons", 0, OPTION_TEXT, &o->epsilons, "a,b,…",
         "minatar-exploration: ε of the data policies (0,0.05,0.1,0.2,0.33,0.66,1)", NULL, &a.epsilons_given},
        {"sizes", 0, OPTION_TEXT, &o->sizes, "a,b,…",
         "minatar-data: transitions of the datasets (10000,20000,50000,100000,200000,500000)", NULL, &a.sizes_given},
        {"epsilon", 0, OPTION_NUMBER, &o->epsilon, "E", "minatar-data: ε of the data policy (1)", NULL,
         &a.epsilon_given},
        {"transitions", 0, OPTION_COUNT, &o->transitions, "N",
         "minatar-exploration: transitions of a dataset (the protocol's; 500000 for quick)", NULL,
         &a.transitions_given},
        {"algorithms", 0, OPTION_TEXT, &o->algorithms, "a,b,…",
         "curves, each NAME or NAME:ALPHA (imitation,naive,proximal:0.25,proximal:0.5)", NULL, NULL},
        {"controls", 0, OPTION_CHOICE, &a.controls, "on|off",
         "with an uncertainty-aware learner (ua-…) draw imitation, proximal and counts-alone too (on)", switches, NULL},
        {"trials", 0, OPTION_COUNT, &o->trials, "N", "datasets at each game and x (3)", NULL, &a.trials_given},
        {"protocol", 0, OPTION_TEXT, &a.protocol, "NAME", "how long to train, by name (quick)", NULL, NULL},
        {"seed", 0, OPTION_SEED, &o->seed, "SEED", "of everything random (1)", NULL, NULL},
        {"policies", 0, OPTION_TEXT, &o->policies, "DIR",
         "the players that collect, GAME.pessnet (those that come with the program)", NULL, NULL},
        {"jobs", 'j', OPTION_COUNT, &o->jobs, "N",
         "trainings at once, a core each; the results do not depend on it (all cores)", NULL, &a.jobs_given},
        {"shard", 0, OPTION_TEXT, &a.shard, "I/N", "only every N-th dataset, beginning with the I-th", NULL, NULL},
        {"keep-data", 0, OPTION_CHOICE, &a.keep_data, "on|off",
         "leave the datasets beside their runs; off: they can be collected again from the seed, and those that an "
         "earlier run has kept stay (off)",
         switches, NULL},
        {"out", 'o', OPTION_TEXT, &o->out, "DIR",
         "directory for the runs and for results.csv, runs.csv, figure.svg/.png/.pdf, index.html and manifest.json",
         NULL, NULL},
        {"resume", 0, OPTION_FLAG, &o->resume, NULL, "go on with the runs in DIR", NULL, NULL},
        {"dry-run", 0, OPTION_FLAG, &a.dry_run, NULL, "say what would be run and how long it takes here, and stop",
         NULL, NULL},
        {"json", 0, OPTION_FLAG, &a.json, NULL, "results as JSON on standard output", NULL, NULL}};
    const usage use = {.command = "experiment",
                       .summary = "the paper's experiments with games and networks",
                       .arguments = "minatar-exploration|minatar-data --out DIR [options]",
                       .description = description,
                       .examples = "  pess experiment minatar-exploration --out games\n"
                                   "  pess experiment minatar-exploration --protocol paper --out paper --dry-run\n"
                                   "  pess experiment minatar-data --games breakout --epsilon 0.1 --out sizes\n"
                                   "  pess experiment minatar-exploration --algorithms ua-imitation,bcq --out ua\n"
                                   "  pess experiment minatar-exploration --shard 1/4 --out part-1 --resume\n"
                                   "  pess merge part-1 part-2 part-3 part-4 --out games",
                       .positional = positional};
    const char *name = NULL;
    char policies[PATH_MAX], command_line[4000];
    int code = options_parse(&use, options, COUNT_OF(options), argc, argv, &name, NULL);
    if (code >= 0) return code;
    o->experiment = name;
    o->notice = print_line;
    code = check("experiment", &a, policies, sizeof policies);
    if (code >= 0) return code;
    repeat_command(argc, argv, command_line, sizeof command_line);
    o->progress = interruptible_progress();
    return run("experiment", &a, command_line);
}
