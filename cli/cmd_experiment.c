/* pess experiment: the paper's experiments, from one command to a page with the figure. Those with games have options
 * of their own (minatar_experiment.c); the tabular ones are here. */
#include "command.h"
#include "json.h"
#include "long_run.h"
#include "minatar_experiment.h"
#include "repeat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- output */

static void print_predictions(const pess_experiment *experiment) {
    size_t count = 0;
    const pess_prediction *rows = pess_experiment_predictions(experiment, &count);
    if (count == 0) return;
    pess_experiment_options o;
    pess_experiment_get_options(experiment, &o);
    (void)printf("\n%s:\n", pess_experiment_find(o.experiment)->findings);
    for (size_t i = 0; i < count; i++) {
        const char *verdict = !rows[i].judged ? "" : rows[i].holds ? "yes" : "NO";
        (void)printf("  %-3s %s: %s\n      found: %s\n", verdict, rows[i].algorithm, rows[i].claim, rows[i].found);
        if (rows[i].judged && !rows[i].holds && rows[i].reason != NULL)
            (void)printf("      because %s\n", rows[i].reason);
    }
}

/* The mean over the axis of every curve: the shape is in the figure. */
static void print_summary(const pess_experiment *experiment) {
    size_t count = 0;
    const pess_experiment_point *points = pess_experiment_points(experiment, &count);
    (void)printf("\n  %-24s %14s %14s %14s\n", "algorithm", "first point", "last point", "below optimal");
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        double below = points[i].regret;
        while (end < count && strcmp(points[end].algorithm, points[i].algorithm) == 0 &&
               points[end].epsilon >= points[end - 1].epsilon && points[end].x > points[end - 1].x)
            below += points[end++].regret;
        if (isnan(points[i].epsilon)) end = i + 1;
        const pess_experiment_point *last = &points[end - 1];
        (void)printf("  %-24s %7.4g ± %-5.2g %7.4g ± %-5.2g %10.4g\n", points[i].algorithm, points[i].mean,
                     points[i].ci95, last->mean, last->ci95, below / (double)(end - i));
        i = end;
    }
    pess_experiment_options o;
    pess_experiment_get_options(experiment, &o);
    (void)printf("  (%s ± 95 %% half-width; the last column is the paired difference, averaged over the axis)\n",
                 pess_experiment_find(o.experiment)->y_label);
}

static void write_json(const pess_experiment *experiment, const char *directory) {
    pess_experiment_options o;
    pess_experiment_get_options(experiment, &o);
    json_writer json = json_open("experiment");
    json_text(&json, "experiment", o.experiment);
    json_text(&json, "preset", o.preset == PESS_PRESET_CODE ? "code" : "text");
    json_count(&json, "trials", o.trials);
    json_seed(&json, "seed", o.seed);
    json_text(&json, "algorithms", o.algorithms);
    json_text(&json, "description", pess_experiment_description(experiment));
    json_text(&json, "out", directory);
    json_number(&json, "seconds", pess_experiment_seconds(experiment));
    size_t count = 0;
    const pess_experiment_point *points = pess_experiment_points(experiment, &count);
    json_array(&json, "results");
    for (size_t i = 0; i < count; i++) {
        json_object(&json, NULL);
        json_text(&json, "algorithm", points[i].algorithm);
        json_number(&json, "x", points[i].x);
        json_count(&json, "trials", points[i].trials);
        json_number(&json, "mean", points[i].mean);
        json_number(&json, "ci95", points[i].ci95);
        json_number(&json, "below_optimal", points[i].regret);
        json_number(&json, "below_optimal_ci95", points[i].regret_ci95);
        json_number(&json, "epsilon", points[i].epsilon);
        json_count(&json, "transitions", points[i].transitions);
        json_number(&json, "alpha_theory", points[i].alpha_theory);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    const pess_prediction *rows = pess_experiment_predictions(experiment, &count);
    json_array(&json, "predictions");
    for (size_t i = 0; i < count; i++) {
        json_object(&json, NULL);
        json_text(&json, "algorithm", rows[i].algorithm);
        json_text(&json, "claim", rows[i].claim);
        if (rows[i].judged)
            json_bool(&json, "holds", rows[i].holds);
        else
            json_text(&json, "holds", NULL);
        json_text(&json, "found", rows[i].found);
        json_text(&json, "reason", rows[i].reason);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    json_end(&json);
}

/* ---- the command */

typedef struct arguments {
    pess_experiment_options options;
    const char *out;
    bool json, trials_given, points_given, rows_given, cols_given, beta_given, gamma_given, alpha_given;
    int preset, state_dist, clip;
    int64_t threads;
    double beta[2], gamma;
} arguments;

/* An option that the experiment has no use for is a mistake, not to be passed over. */
static int refuse_foreign(const arguments *a) {
    const struct {
        const char *option;
        bool given;
    } of_grids[] = {{"points", a->points_given},
                    {"rows", a->rows_given},
                    {"cols", a->cols_given},
                    {"reward-beta", a->beta_given},
                    {"state-dist", a->state_dist >= 0},
                    {"clip", a->clip >= 0},
                    {"absorbed-alpha", a->alpha_given}};
    if (a->alpha_given && strcmp(a->options.experiment, "gridworld-alpha") == 0)
        return report_usage("experiment", "--absorbed-alpha belongs to gridworld-exploration and gridworld-data; in "
                                          "gridworld-alpha α is the axis: use --points for how many there are");
    if (strcmp(a->options.experiment, "bandit") != 0) return -1;
    for (size_t i = 0; i < COUNT_OF(of_grids); i++)
        if (of_grids[i].given)
            return report_usage("experiment",
                                "--%s belongs to the experiments with grids (gridworld-…); bandit has one point and no "
                                "grid: use --trials, --seed, --gamma and --algorithms",
                                of_grids[i].option);
    return -1;
}

static int check(arguments *a) {
    pess_experiment_options *o = &a->options;
    const int foreign = refuse_foreign(a);
    if (foreign >= 0) return foreign;
    if (a->trials_given && o->trials == 0) return report_usage("experiment", "--trials: found 0, expected 1 or more");
    if (a->points_given && o->points == 0) return report_usage("experiment", "--points: found 0, expected 1 or more");
    if (a->threads > 4096) return report_usage("experiment", "--threads: expected at most 4096");
    if (o->resume && a->out == NULL) return report_usage("experiment", "--resume needs --out, where the trials are");
    o->threads = (int)a->threads;
    o->preset = a->preset == 0 ? PESS_PRESET_CODE : PESS_PRESET_TEXT;
    if (a->state_dist >= 0) o->state_dist = a->state_dist == 0 ? PESS_STATE_DIST_START : PESS_STATE_DIST_STATIONARY;
    if (a->clip >= 0) o->clip = a->clip == 0 ? 1 : 0;
    if (a->gamma_given) o->gamma = a->gamma;
    if (a->beta_given) {
        o->beta_a = a->beta[0];
        o->beta_b = a->beta[1];
    }
    return -1;
}

static int run(const arguments *a, const char *command_line) {
    pess_error error = {0};
    char checkpoint[4300];
    pess_experiment_options options = a->options;
    options.progress = interruptible_progress();
    const bool existed = a->out != NULL && access(a->out, F_OK) == 0;
    if (a->out != NULL) {
        if (pess_experiment_directory(a->out, options.resume, checkpoint, sizeof checkpoint, &error) != PESS_OK)
            return report_error("experiment", &error);
        options.checkpoint = checkpoint;
    }
    pess_experiment *experiment = NULL;
    if (pess_experiment_run(&options, &experiment, &error) != PESS_OK) {
        if (a->out != NULL && !existed) (void)rmdir(a->out); /* which fails where trials are kept in it */
        return report_error("experiment", &error);
    }
    terminal_progress_end();
    if (a->out != NULL && pess_experiment_write(experiment, a->out, command_line, &error) != PESS_OK) {
        pess_experiment_destroy(experiment);
        return report_error("experiment", &error);
    }
    if (a->json) {
        write_json(experiment, a->out);
    } else {
        (void)puts(pess_experiment_description(experiment));
        print_summary(experiment);
        print_predictions(experiment);
        (void)printf("\n%.2f s.", pess_experiment_seconds(experiment));
        (void)(a->out != NULL ? printf(" The page is %s/index.html\n", a->out)
                              : printf(" With --out DIR the figure and the page are kept.\n"));
    }
    pess_experiment_destroy(experiment);
    return EXIT_FINE;
}

/* Is the experiment one with games? The name usually comes first, else it is a word that is no option's value. */
static bool asks_for_games(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (pess_minatar_find(argv[i]) != NULL &&
            (i == 1 || (strcmp(argv[i - 1], "--out") != 0 && strcmp(argv[i - 1], "-o") != 0)))
            return true;
    return false;
}

int cmd_experiment(int argc, char **argv) {
    if (asks_for_games(argc, argv)) return experiment_minatar(argc, argv);
    static const char *const presets[] = {"code", "text", NULL}, *const dists[] = {"start", "stationary", NULL},
                             *const switches[] = {"on", "off", NULL}, *const positional[] = {"EXPERIMENT", NULL};
    arguments a = {.options = pess_experiment_options_defaults(), .state_dist = -1, .clip = -1};
    pess_experiment_options *o = &a.options;
    const option options[] = {
        {"trials", 0, OPTION_COUNT, &o->trials, "N",
         "independent repetitions (1000; bandit 100000; gridworld-alpha 300)", NULL, &a.trials_given},
        {"seed", 0, OPTION_SEED, &o->seed, "SEED", "of everything random (1)", NULL, NULL},
        {"preset", 0, OPTION_CHOICE, &a.preset, "code|text",
         "code: the settings that made the paper's figure; text: those its words describe (code)", presets, NULL},
        {"threads", 0, OPTION_COUNT, &a.threads, "N", "threads to use; the results do not depend on it (all there are)",
         NULL, NULL},
        {"points", 0, OPTION_COUNT, &o->points, "N", "points on the axis (25; gridworld-alpha 19)", NULL,
         &a.points_given},
        {"rows", 0, OPTION_COUNT, &o->rows, "H", "rows of the grid (8)", NULL, &a.rows_given},
        {"cols", 0, OPTION_COUNT, &o->cols, "W", "columns of the grid (8)", NULL, &a.cols_given},
        {"gamma", 0, OPTION_NUMBER, &a.gamma, "G", "discount (0.99; bandit 0)", NULL, &a.gamma_given},
        {"reward-beta", 0, OPTION_PAIR, a.beta, "A,B", "mean rewards are drawn from Beta(A,B) (code 1,3; text 3,1)",
         NULL, &a.beta_given},
        {"state-dist", 0, OPTION_CHOICE, &a.state_dist, "start|stationary",
         "where the states of the data come from (text stationary; code: start for figure 1a, stationary for 1b)",
         dists, NULL},
        {"clip", 0, OPTION_CHOICE, &a.clip, "on|off", "clip UA's penalised rewards to [0,1] (code on, text off)",
         switches, NULL},
        {"absorbed-alpha", 0, OPTION_NUMBER, &o->absorbed_alpha, "X",
         "α of UA and proximal in absorbed units (1); not of gridworld-alpha, where it is the axis", NULL,
         &a.alpha_given},
        {"algorithms", 0, OPTION_TEXT, &o->algorithms, "a,b,…",
         "families to compare, each NAME or NAME:UNCERTAINTY, e.g. ua,robust,ua:hoeffding-s,spibb (imitation, naive, "
         "ua, proximal). The random and the optimal policy are always there",
         NULL, NULL},
        {"out", 'o', OPTION_TEXT, &a.out, "DIR",
         "directory for results.csv, paired.csv, trials.csv.gz, figure.svg/.png/.pdf, index.html and manifest.json",
         NULL, NULL},
        {"resume", 0, OPTION_FLAG, &o->resume, NULL, "go on with the trials of an interrupted run in DIR", NULL, NULL},
        {"json", 0, OPTION_FLAG, &a.json, NULL, "results as JSON on standard output", NULL, NULL}};
    const usage use = {
        .command = "experiment",
        .summary = "the paper's experiments, with a figure and a page",
        .arguments = "bandit|gridworld-exploration|gridworld-data|gridworld-alpha [options]\n"
                     "       pess experiment minatar-exploration|minatar-data --out DIR [options]",
        .description = "  bandit                 1000 arms, one well known and 999 pulled once: who is fooled\n"
                       "  gridworld-exploration  figure 1a: return against the randomness of the collecting policy\n"
                       "  gridworld-data         figure 1b: return against the size of the dataset\n"
                       "  gridworld-alpha        return of UA and proximal along α, at several ε and sizes\n"
                       "  minatar-exploration    games and networks: return against the randomness of the data policy\n"
                       "  minatar-data           games and networks: return against the size of the dataset\n\n"
                       "The last two take hours and have options of their own: pess experiment minatar-data --help.\n"
                       "Those below are of the tabular ones; bandit takes none of --points, --rows, --cols,\n"
                       "--reward-beta, --state-dist, --clip and --absorbed-alpha. Every trial gives all algorithms\n"
                       "the same world and dataset; returns are exact. Ctrl-C keeps the finished trials, and --resume\n"
                       "goes on from them to the same bytes as an uninterrupted run.",
        .examples = "  pess experiment gridworld-exploration --out figure-1a\n"
                    "  pess experiment gridworld-data --preset text --trials 200 --out text\n"
                    "  pess experiment gridworld-data --algorithms ua,robust,spibb --trials 20 --points 8\n"
                    "  pess plot figure-1a figure-1b -o figure-1.pdf",
        .positional = positional};
    const char *name = NULL;
    int code = options_parse(&use, options, COUNT_OF(options), argc, argv, &name, NULL);
    if (code >= 0) return code;
    if (pess_experiment_find(name) == NULL)
        return report_usage("experiment",
                            "no experiment '%s'; there are bandit, gridworld-exploration, gridworld-data, "
                            "gridworld-alpha, minatar-exploration and minatar-data",
                            name);
    o->experiment = name;
    code = check(&a);
    if (code >= 0) return code;
    char command_line[4000];
    repeat_command(argc, argv, command_line, sizeof command_line);
    return run(&a, command_line);
}
