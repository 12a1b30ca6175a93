/* pess train: a policy from a fixed dataset of observations, with networks. */
#include "json.h"

#include "long_run.h"
#include "observations.h"
#include "protocol_arg.h"

#include <math.h>
#include <string.h>

enum { KNOB_LIMIT = 32 };

static const usage train_usage = {
    .command = "train",
    .summary = "a policy from a fixed dataset of observations, with networks",
    .arguments = "DATA -a LEARNER --out DIR [options]",
    .description =
        "DATA is what 'pess collect' wrote (.pessdata), NumPy arrays with D4RL's names (.npz): observations (bool, "
        "uint8 or floats), actions, rewards, terminals, timeouts and, if there are any, next_observations and "
        "probabilities; HDF5 of Minari, D4RL or d3rlpy; or a table (CSV, Parquet, …) whose columns --features are the "
        "observations. Floats are standardised by the data; actions that are vectors are numbered by --actions-grid or "
        "--actions-kmeans. Writes DIR/log.csv (a line per update: loss, mean target, "
        "mean q, return of the evaluations, predicted and obtained value), checkpoints, policy.pesspolicy (what acts), "
        "policy.pessnet (its network) and manifest.json. The score is the mean return over the last five updates of "
        "the protocol, never the best one "
        "seen. 'pess list learners' and 'pess list protocols' explain the choices.",
    .examples =
        "  pess collect breakout --policy policies/breakout.pessnet --epsilon 0.1 --transitions 500000 -o b.pessdata\n"
        "  pess train b.pessdata -a proximal --out b-proximal\n"
        "  pess train b.pessdata -a ua --uncertainty counts --absorbed-alpha 0.5 --out b-ua\n"
        "  pess train cartpole.npz -a cql --game cartpole --out cartpole-cql\n"
        "  pess train ward.csv --features age,lactate --last-row terminal -a iql --out ward-iql\n"
        "  pess train hopper.hdf5 --actions-kmeans 32 -a cql --out hopper-cql\n"
        "  pess train b.pessdata -a naive --updates 10 --steps 100 --out b-naive --resume",
    .positional = (const char *const[]){"DATA", NULL},
};

/* Without episodes to score, or with data of a game that is not known, nothing was played. */
static void print_score(const char *algorithm, const pess_train_result *r, bool come_again) {
    if (!isfinite(r->score)) {
        (void)printf("%s: score not played; ", algorithm);
        return;
    }
    (void)printf("%s: score %.2f", algorithm, r->score);
    if (fabs(r->control - r->score) > 0) (void)printf(" (acting by argmax %.2f)", r->control);
    (void)printf(", final update alone %.2f, best seen %.2f (not a result)\n", r->score_final, r->score_best);
    if (isfinite(r->predicted))
        (void)printf("predicted value %.2f, obtained %.2f (discounted); ", r->predicted, r->obtained);
    if (come_again) (void)printf("%.0f %% of steps outside the data; ", 100 * r->outside);
}

/* come_again: observations do, which floats hardly ever do. */
static void print_result(const pess_train_options *o, const pess_train_result *r, bool come_again) {
    if (r->resumed_from >= 0) (void)printf("resumed after update %lld\n", (long long)r->resumed_from);
    print_score(o->algorithm, r, come_again);
    (void)printf("%.1f s\n%s: log.csv, policy.pesspolicy, policy.pessnet, manifest.json\n", r->seconds, o->out);
}

static void print_json(const pess_train_options *o, const pess_train_result *r) {
    json_writer json = json_open("train");
    json_text(&json, "algorithm", o->algorithm);
    json_text(&json, "protocol", o->protocol.name);
    json_number(&json, "score", r->score);
    json_number(&json, "score_final", r->score_final);
    json_number(&json, "score_best", r->score_best);
    json_number(&json, "score_spread", r->score_spread);
    json_number(&json, "argmax_score", r->control);
    json_number(&json, "predicted", r->predicted);
    json_number(&json, "obtained", r->obtained);
    json_number(&json, "outside", r->outside);
    json_number(&json, "loss", r->loss);
    json_number(&json, "mean_target", r->mean_target);
    json_count(&json, "updates", r->updates);
    json_count(&json, "resumed_from", r->resumed_from);
    json_number(&json, "seconds", r->seconds);
    if (r->warning[0] != '\0') json_text(&json, "warning", r->warning);
    json_close(&json);
    json_end(&json);
}

/* ---- options: the settings of a training, the numbers of its protocol and the knobs of all learners */

typedef struct arguments {
    pess_train_options options;
    data_source source;
    pess_read_options read; /* of a table */
    protocol_arg protocol;
    const char *knobs[KNOB_LIMIT]; /* of the table of knobs below, as they were given */
    char knob_text[512], knob_help[KNOB_LIMIT][600];
    bool json;
    option_list list;
    bool knob_given[KNOB_LIMIT];
} arguments;

/* The knobs of all learners, each name once; returns how many there are. */
static size_t all_knobs(const pess_setting *rows[KNOB_LIMIT]) {
    const pess_learner_info *learner;
    size_t count = 0;
    for (size_t i = 0; (learner = pess_learner_list(i)) != NULL; i++)
        for (size_t k = 0; learner->knobs != NULL && k < learner->knobs->count; k++) {
            size_t at = 0;
            while (at < count && strcmp(rows[at]->name, learner->knobs->rows[k].name) != 0) at++;
            if (at == count && count < KNOB_LIMIT) rows[count++] = &learner->knobs->rows[k];
        }
    return count;
}

/* "weight of the penalty (default: proximal 1, bcq 0.3)", where all learners with that knob say the same. */
static void describe_knob(const pess_setting *knob, char *text, size_t size) {
    const pess_learner_info *learner;
    const char *const name = knob->name, *sentence = knob->sentence, *separator = "default: ";
    for (size_t i = 0; (learner = pess_learner_list(i)) != NULL; i++) {
        const pess_setting *row = learner->knobs != NULL ? pess_setting_find(learner->knobs, name) : NULL;
        if (row != NULL && strcmp(row->sentence, sentence) != 0)
            sentence = "strength of several learners, each in its own sense: 'pess list learners'";
    }
    (void)snprintf(text, size, "%s (", sentence);
    for (size_t i = 0; (learner = pess_learner_list(i)) != NULL; i++) {
        const pess_setting *row = learner->knobs != NULL ? pess_setting_find(learner->knobs, name) : NULL;
        const size_t used = strlen(text);
        if (row == NULL || row->standard == NULL) continue;
        (void)snprintf(text + used, size - used, "%s%s %s", separator, learner->name, row->standard);
        separator = ", ";
    }
    (void)snprintf(text + strlen(text), size - strlen(text), ")");
}

/* An option of that many learners: each states its own meaning, default and range. */
static void add_knobs(arguments *a) {
    const pess_setting *rows[KNOB_LIMIT];
    const size_t count = all_knobs(rows);
    for (size_t i = 0; i < count; i++) {
        describe_knob(rows[i], a->knob_help[i], sizeof a->knob_help[i]);
        options_add(&a->list, (option){.name = rows[i]->name,
                                       .kind = OPTION_TEXT,
                                       .target = &a->knobs[i],
                                       .argument = rows[i]->argument,
                                       .help = a->knob_help[i],
                                       .given = &a->knob_given[i]});
    }
}

static void add_options(arguments *a) {
    options_add_settings(&a->list, pess_train_settings(), &a->options, "checkpoint-seconds report-seconds");
    add_knobs(a);
    data_source_begin(&a->source, &a->list, &a->read, "");
    options_add_settings(&a->list, pess_read_settings(), &a->read, "states actions format threads missing");
    protocol_add_options(&a->protocol, &a->list);
    options_add(&a->list, (option){"json", 0, OPTION_FLAG, &a->json, NULL, "print the result as JSON"});
}

static void apply_knobs(arguments *a) {
    const pess_setting *rows[KNOB_LIMIT];
    const size_t count = all_knobs(rows);
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(a->knob_text);
        if (a->knob_given[i])
            (void)snprintf(a->knob_text + used, sizeof a->knob_text - used, "%s=%s ", rows[i]->name, a->knobs[i]);
    }
    a->options.knobs = a->knob_text;
}

/* An option that the learner never reads is a mistake: the result would be the same without it. */
static int check_use(const arguments *a) {
    const pess_setting_table *tables[] = {pess_train_settings(), pess_protocol_settings()};
    const pess_learner_info *learner = NULL;
    pess_error error;
    if (pess_train_learner(&a->options, &learner, &error) != PESS_OK) return report_error("train", &error);
    for (size_t t = 0; t < COUNT_OF(tables); t++)
        for (size_t i = 0; i < tables[t]->count; i++) {
            const pess_setting *row = &tables[t]->rows[i];
            if (row->specific && options_given(&a->list, row->name) &&
                !pess_setting_listed(learner->settings, row->name))
                return report_usage("train", "--%s does nothing for %s", row->name, learner->name);
        }
    if (a->options.imitation != NULL && options_given(&a->list, "imitation-steps"))
        return report_usage("train", "--imitation-steps with --imitation does nothing for %s", learner->name);
    return EXIT_FINE;
}

static int read_arguments(arguments *a, int argc, char **argv, const char **data) {
    a->options = pess_train_options_defaults();
    a->options.algorithm = NULL;
    a->read = pess_read_options_defaults();
    add_options(a);
    int code = options_parse(&train_usage, a->list.rows, a->list.count, argc, argv, data, NULL);
    if (code >= 0) return code;
    if (a->options.algorithm == NULL) return report_usage("train", "-a LEARNER is needed");
    if (a->options.out == NULL) return report_usage("train", "--out DIR is needed");
    apply_knobs(a);
    code = protocol_check(&a->protocol, "train");
    if (code >= 0) return code;
    code = check_use(a);
    return code == EXIT_FINE ? -1 : code;
}

/* A name that was meant to be one of ours. */
static void note_game(const arguments *a) {
    const char *game = a->source.reading.game;
    if (game != NULL && pess_env_find(game) == NULL)
        (void)fprintf(stderr,
                      "pess train: note: there is no environment '%s' here ('pess env list'): nothing is played.\n",
                      game);
}

int cmd_train(int argc, char **argv) {
    arguments a = {.protocol.except = "transitions"};
    const char *path = NULL;
    int code = read_arguments(&a, argc, argv, &path);
    if (code >= 0) return code;
    pess_observations *data = NULL;
    pess_train_result result;
    pess_error error;
    code = data_source_read("train", path, &a.source, &data);
    if (code >= 0) return code;
    code = protocol_settle(&a.protocol, &a.list, "train", data, a.options.gamma, &a.options.protocol);
    if (code != EXIT_FINE) {
        pess_observations_destroy(data);
        return code;
    }
    observations_warn("train", data);
    note_game(&a);
    pess_observations_info info;
    pess_observations_get_info(data, &info);
    const bool come_again = info.shape.kind != PESS_OBSERVATION_FLOATS;
    a.options.data = data;
    a.options.data_name = path;
    a.options.progress = interruptible_progress();
    const pess_status status = pess_train_run(&a.options, &result, &error);
    terminal_progress_end();
    pess_observations_destroy(data);
    if (status != PESS_OK) return report_run_error("train", &a.list, &error);
    if (result.warning[0] != '\0') (void)fprintf(stderr, "pess train: warning: %s\n", result.warning);
    if (a.json)
        print_json(&a.options, &result);
    else
        print_result(&a.options, &result, come_again);
    return EXIT_FINE;
}
