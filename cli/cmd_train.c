/* pess train: a policy from a fixed dataset of a game, with networks. */
#include "json.h"

#include "long_run.h"

#include <math.h>
#include <string.h>

static const usage train_usage = {
    .command = "train",
    .summary = "a policy from a fixed dataset of a game, with networks",
    .arguments = "DATA -a ALGORITHM --out DIR [options]",
    .description =
        "DATA is what pess collect wrote. Writes DIR/log.csv (a line per update: loss, mean target, mean q,\n"
        "return of the evaluations, predicted and obtained value), checkpoints, policy.pessnet and\n"
        "manifest.json. The score is the mean return over the last five updates of the protocol, never the\n"
        "best one seen. Algorithms: pess list learners; protocols: pess list protocols.",
    .examples =
        "  pess collect breakout --policy policies/breakout.pessnet --epsilon 0.1 --transitions 500000 -o b.pessdata\n"
        "  pess train b.pessdata -a proximal --out b-proximal\n"
        "  pess train b.pessdata -a ua --uncertainty counts --absorbed-alpha 0.5 --out b-ua\n"
        "  pess train b.pessdata -a naive --updates 10 --steps 100 --out b-naive --resume",
    .positional = (const char *const[]){"DATA", NULL},
};

/* Without episodes to score, or with data of a game that is not known, nothing was played. */
static void print_score(const char *algorithm, const pess_train_result *r) {
    if (!isfinite(r->score)) {
        (void)printf("%s: score not played; ", algorithm);
        return;
    }
    (void)printf("%s: score %.2f", algorithm, r->score);
    if (fabs(r->control - r->score) > 0) (void)printf(" (acting by argmax %.2f)", r->control);
    (void)printf(", final update alone %.2f, best seen %.2f (not a result)\n", r->score_final, r->score_best);
    if (isfinite(r->predicted))
        (void)printf("predicted value %.2f, obtained %.2f (discounted); ", r->predicted, r->obtained);
    (void)printf("%.0f %% of steps outside the data; ", 100 * r->outside);
}

static void print_result(const pess_train_options *o, const pess_train_result *r) {
    if (r->resumed_from >= 0) (void)printf("resumed after update %lld\n", (long long)r->resumed_from);
    print_score(o->algorithm, r);
    (void)printf("%.1f s\n%s: log.csv, policy.pessnet, manifest.json\n", r->seconds, o->out);
}

static void print_json(const pess_train_options *o, const pess_train_result *r) {
    json_writer json = json_open("train");
    json_text(&json, "algorithm", o->algorithm);
    json_text(&json, "protocol", o->protocol.name);
    json_number(&json, "score", r->score);
    json_number(&json, "score_final_update_alone", r->score_final);
    json_number(&json, "score_best_seen_not_a_result", r->score_best);
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
    json_close(&json, '}');
    json_end(&json);
}

/* Options that were given replace the protocol's numbers. */
typedef struct wishes {
    const char *protocol, *reset, *relative;
    int64_t updates, steps, batch, eval_every, imitation_steps, score_episodes;
    double rate;
} wishes;

/* "on" or "off"; NULL: as it is. */
static int read_switch(const char *name, const char *word, bool *out) {
    if (word == NULL) return EXIT_FINE;
    if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
        return report_usage("train", "--%s is \"%s\"; on or off is possible", name, word);
    *out = strcmp(word, "on") == 0;
    return EXIT_FINE;
}

static int apply(const wishes *w, pess_protocol *out) {
    const pess_protocol *named = pess_protocol_find(w->protocol);
    if (named == NULL) return report_usage("train", "no protocol \"%s\"; see pess list protocols", w->protocol);
    *out = *named;
    if (w->updates >= 0) out->updates = w->updates;
    if (w->steps >= 0) out->steps = w->steps;
    if (w->batch >= 0) out->batch = w->batch;
    if (w->eval_every >= 0) out->eval_every = w->eval_every;
    if (w->imitation_steps >= 0) out->imitation_steps = w->imitation_steps;
    if (w->score_episodes >= 0) out->score_episodes = w->score_episodes;
    if (!isnan(w->rate)) {
        const bool constant = !(named->rate_last < named->rate);
        out->rate = w->rate;
        if (constant) out->rate_last = w->rate;
    }
    return read_switch("reset", w->reset, &out->reset);
}

/* An option that the learner never reads is a mistake: the result would be the same without it. */
static int check_use(const pess_train_options *o, const wishes *w) {
    const pess_learner_info *l = NULL;
    pess_error error;
    if (pess_train_learner(o, &l, &error) != PESS_OK) return report_error("train", &error);
    const bool imitates = !l->values && l->uncertainty == NULL;
    const struct {
        const char *name;
        bool given, read;
    } rows[] = {
        {"imitation", o->imitation != NULL, l->imitation},
        {"imitation-steps", w->imitation_steps >= 0, imitates || l->imitation},
        {"imitation-steps with --imitation", w->imitation_steps >= 0 && o->imitation != NULL, false},
        {"relative", w->relative != NULL, l->uncertainty != NULL},
        {"reset", w->reset != NULL, l->values},
        {"rate", !isnan(w->rate), l->values},
        {"updates", w->updates >= 0, !imitates},
        {"steps", w->steps >= 0, !imitates},
        {"batch", w->batch >= 0, !imitates},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].given && !rows[i].read)
            return report_usage("train", "--%s does nothing for %s", rows[i].name, l->name);
    return EXIT_FINE;
}

int cmd_train(int argc, char **argv) {
    pess_train_options o = pess_train_options_defaults();
    wishes w = {"quick", NULL, NULL, -1, -1, -1, -1, -1, -1, NAN};
    int64_t threads = 0;
    bool json = false;
    o.algorithm = NULL;
    const option options[] = {
        {"algorithm", 'a', OPTION_TEXT, &o.algorithm, "NAME", "imitation, naive, proximal, ua, … (pess list learners)"},
        {"out", 'o', OPTION_TEXT, &o.out, "DIR", "where log, checkpoints and policy go"},
        {"resume", 0, OPTION_FLAG, &o.resume, NULL, "go on from the newest checkpoint in DIR, or start"},
        {"protocol", 0, OPTION_TEXT, &w.protocol, "smoke|quick|standard|paper", "numbers to train with (quick)"},
        {"absorbed-alpha", 0, OPTION_NUMBER, &o.alpha, "X", "weight of the penalty (the algorithm's own)"},
        {"uncertainty", 'u', OPTION_TEXT, &o.uncertainty, "NAME",
         "of ua: counts, support-net, imitation, … (pess list neural-uncertainties)"},
        {"u-cap", 0, OPTION_NUMBER, &o.u_cap, "X", "largest uncertainty (the uncertainty's own)"},
        {"relative", 0, OPTION_TEXT, &w.relative, "on|off", "uncertainty counts from the state's smallest (on)"},
        {"uncertainty-steps", 0, OPTION_COUNT, &o.uncertainty_steps, "N",
         "steps of the uncertainty's network (three fifths of those of the values)"},
        {"reset", 0, OPTION_TEXT, &w.reset, "on|off", "a new network at each update (the protocol's)"},
        {"updates", 0, OPTION_COUNT, &w.updates, "N", "Bellman updates (the protocol's)"},
        {"steps", 0, OPTION_COUNT, &w.steps, "N", "gradient steps of an update (the protocol's)"},
        {"batch", 0, OPTION_COUNT, &w.batch, "N", "transitions of a step (the protocol's)"},
        {"rate", 0, OPTION_NUMBER, &w.rate, "R", "Adam's step size at the start of an update (the protocol's)"},
        {"imitation-steps", 0, OPTION_COUNT, &w.imitation_steps, "N", "steps of imitation (the protocol's)"},
        {"eval-every", 0, OPTION_COUNT, &w.eval_every, "N", "updates between evaluations; 0: the last five only"},
        {"score-episodes", 0, OPTION_COUNT, &w.score_episodes, "N", "episodes of each scored update"},
        {"imitation", 0, OPTION_TEXT, &o.imitation, "FILE", "an imitation network of these data, trained before"},
        {"gamma", 0, OPTION_NUMBER, &o.gamma, "G", "discount (0.99)"},
        {"network", 0, OPTION_TEXT, &o.network, "value|dqn|dense", "layers of the networks (value)"},
        {"kernels", 0, OPTION_TEXT, &o.kernels, "avx2|portable", "instructions to compute with (the best there are)"},
        {"seed", 0, OPTION_SEED, &o.seed, "N", "of everything random (0)"},
        {"threads", 0, OPTION_COUNT, &threads, "N", "of targets and evaluations; the result does not depend on it"},
        {"json", 0, OPTION_FLAG, &json, NULL, "the result as JSON"},
    };
    const char *values[1];
    const int code = options_parse(&train_usage, options, COUNT_OF(options), argc, argv, values, NULL);
    if (code >= 0) return code;
    if (o.algorithm == NULL) return report_usage("train", "-a ALGORITHM is needed");
    if (o.out == NULL) return report_usage("train", "--out DIR is needed");
    if (threads > 4096) return report_usage("train", "--threads %lld is too many", (long long)threads);
    int wished = check_use(&o, &w);
    if (wished == EXIT_FINE) wished = apply(&w, &o.protocol);
    if (wished == EXIT_FINE) wished = read_switch("relative", w.relative, &o.relative);
    if (wished != EXIT_FINE) return wished;
    pess_observations *data = NULL;
    pess_train_result result;
    pess_error error;
    pess_status status = pess_observations_read(values[0], &data, &error);
    if (status != PESS_OK) return report_error("train", &error);
    o.data = data;
    o.data_name = values[0];
    o.threads = (int)threads;
    o.progress = interruptible_progress();
    status = pess_train_run(&o, &result, &error);
    terminal_progress_end();
    pess_observations_destroy(data);
    if (status != PESS_OK) return report_error("train", &error);
    if (result.warning[0] != '\0') (void)fprintf(stderr, "pess train: warning: %s\n", result.warning);
    if (json)
        print_json(&o, &result);
    else
        print_result(&o, &result);
    return EXIT_FINE;
}
