#include "deep/setup.h"

#include "core/text.h"
#include "core/threads.h"
#include "deep/game_notes.h"
#include "deep/neural_uncertainty.h"

#include <stdio.h>
#include <string.h>

enum { IMITATION_PIECES = 10 };

/* ---- options */

#define FIELD(name) PESS__FIELD(pess_train_options, name)

static const pess_setting rows[] = {
    {.name = "algorithm",
     .letter = 'a',
     .kind = PESS_SETTING_TEXT,
     FIELD(algorithm),
     .standard = "naive",
     .argument = "NAME",
     .sentence = "learner: imitation, naive, proximal, ua, … (pess list learners)"},
    {.name = "uncertainty",
     .letter = 'u',
     .kind = PESS_SETTING_TEXT,
     FIELD(uncertainty),
     .argument = "NAME",
     .sentence = "of ua: counts, support-net, imitation, … (pess list neural-uncertainties)",
     .where_unset = "the learner's own; of ua counts"},
    {.name = "u-cap",
     .kind = PESS_SETTING_NUMBER,
     FIELD(u_cap),
     PESS__ABOVE(0),
     .argument = "X",
     .sentence = "largest uncertainty",
     .where_unset = "the uncertainty's own",
     .specific = true},
    {.name = "relative",
     .kind = PESS_SETTING_SWITCH,
     FIELD(relative),
     .standard = "on",
     .argument = "on|off",
     .sentence = "uncertainty counts from the smallest of its state: without that every action is penalised, and "
                 "ending an episode early looks good",
     .specific = true},
    {.name = "uncertainty-steps",
     .kind = PESS_SETTING_COUNT,
     FIELD(uncertainty_steps),
     PESS__FROM_TO(1, 1e9),
     .argument = "N",
     .sentence = "steps of the uncertainty's network, with a quarter of the batch each",
     .where_unset = "three fifths of those of the values",
     .specific = true},
    {.name = "gamma",
     .kind = PESS_SETTING_NUMBER,
     FIELD(gamma),
     .standard = "0.99",
     PESS__FROM_TO(0, 1),
     .argument = "G",
     .sentence = "discount"},
    {.name = "network",
     .kind = PESS_SETTING_TEXT,
     FIELD(network),
     .standard = "value",
     .argument = "value|dqn|dense",
     .sentence = "layers of the networks"},
    {.name = "kernels",
     .kind = PESS_SETTING_TEXT,
     FIELD(kernels),
     .argument = "avx2|portable",
     .sentence = "instructions to compute with",
     .where_unset = "the best there are"},
    {.name = "out",
     .letter = 'o',
     .kind = PESS_SETTING_TEXT,
     FIELD(out),
     .argument = "DIR",
     .sentence = "directory for log, checkpoints and policy"},
    {.name = "resume",
     .kind = PESS_SETTING_SWITCH,
     FIELD(resume),
     .standard = "off",
     .sentence = "go on from the newest checkpoint in the directory, or start"},
    {.name = "imitation",
     .kind = PESS_SETTING_TEXT,
     FIELD(imitation),
     .argument = "FILE",
     .sentence = "an imitation network that was trained on these data before",
     .where_unset = "one is trained first",
     .specific = true},
    PESS__SEED_SETTING(pess_train_options, "seed of everything random"),
    PESS__THREADS_SETTING(pess_train_options),
    {.name = "checkpoint-seconds",
     .kind = PESS_SETTING_NUMBER,
     FIELD(checkpoint_seconds),
     .standard = "10",
     PESS__AT_LEAST(0),
     .argument = "S",
     .unit = "seconds",
     .sentence = "least time between checkpoints, which are taken after updates"},
    {.name = "report-seconds",
     .kind = PESS_SETTING_NUMBER,
     FIELD(report_seconds),
     .standard = "0.1",
     PESS__AT_LEAST(0),
     .argument = "S",
     .unit = "seconds",
     .sentence = "least time between reports of progress"},
};

static const pess_setting_table table = PESS__SETTING_TABLE("train", pess_train_options, rows);

const pess_setting_table *pess_train_settings(void) { return &table; }

pess_train_options pess_train_options_defaults(void) {
    pess_train_options options;
    pess_setting_defaults(&table, &options);
    options.protocol = pess_protocol_defaults();
    return options;
}

static pess_status settle(const pess_train_options *options, pess_train_options *out, pess_error *error) {
    PESS_TRY(pess__settle(&table, options, out, error));
    PESS_TRY(
        pess__settle(pess_protocol_settings(), options != NULL ? &options->protocol : NULL, &out->protocol, error));
    if (out->data == NULL || out->data->transitions < 1) return pess__fail(error, PESS_ARGUMENT, "there are no data");
    if (out->data->actions > PESS__MAX_ACTIONS)
        return pess__fail(error, PESS_ARGUMENT, "the data have %lld actions; up to %d are possible",
                          (long long)out->data->actions, PESS__MAX_ACTIONS);
    if (out->out == NULL || out->out[0] == '\0' || strlen(out->out) > PESS__PATH_SIZE - 128)
        return pess__fail(error, PESS_ARGUMENT, "no directory for the results, or a name too long");
    return PESS_OK;
}

/* A setting that is set, though it has no default, and that the learner never reads is a mistake: the result would be
 * the same without it. */
static pess_status check_use(const pess__setup *s, pess_error *error) {
    for (size_t i = 0; i < table.count; i++) {
        const pess_setting *row = &table.rows[i];
        if (row->specific && row->standard == NULL && !pess_setting_is_default(&table, &s->options, row->name) &&
            !pess_setting_listed(s->learner->info.settings, row->name))
            return pess__fail(error, PESS_ARGUMENT, "%s: does nothing for %s", row->name, s->learner->info.name);
    }
    return PESS_OK;
}

/* One "name=value" of the knobs. */
static pess_status read_knob(const pess__setup *s, char *word, void *knobs, pess_error *error) {
    const pess_learner_info *info = &s->learner->info;
    char *value = strchr(word, '=');
    if (value == NULL) return pess__fail(error, PESS_ARGUMENT, "knobs: found '%.100s', expected name=value", word);
    *value++ = '\0';
    const pess_setting *row = info->knobs != NULL ? pess_setting_find(info->knobs, word) : NULL;
    pess_error why;
    if (row == NULL) return pess__fail(error, PESS_ARGUMENT, "%.100s: does nothing for %s", word, info->name);
    if (pess_setting_set(info->knobs, knobs, word, value, &why) == PESS_OK) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "%s; for %s it is the %s", why.message, info->name, row->sentence);
}

/* The defaults of the learner's own table, and what the options say instead. */
static pess_status read_knobs(pess__setup *s, pess_error *error) {
    char words[1024];
    const char *text = s->options.knobs != NULL ? s->options.knobs : "";
    if (strlen(text) >= sizeof words)
        return pess__fail(error, PESS_ARGUMENT, "knobs: %zu characters; up to %zu are possible", strlen(text),
                          sizeof words - 1);
    (void)snprintf(words, sizeof words, "%s", text);
    if (s->learner->info.knobs != NULL) pess_setting_defaults(s->learner->info.knobs, s->knobs);
    for (char *rest = NULL, *word = strtok_r(words, " ,\n", &rest); word != NULL; word = strtok_r(NULL, " ,\n", &rest))
        PESS_TRY(read_knob(s, word, s->knobs, error));
    return PESS_OK;
}

/* What is trained, and how long: values over the updates of the protocol, imitation in pieces, or nothing. */
static void plan(pess__setup *s) {
    const pess_protocol *p = &s->options.protocol;
    const bool values = s->learner->info.values;
    s->updates = s->learner->untrained ? 1 : values ? p->updates : IMITATION_PIECES;
    s->steps = s->learner->untrained ? 0
               : values              ? p->steps
                                     : (p->imitation_steps + IMITATION_PIECES - 1) / IMITATION_PIECES;
    s->batch = values || s->learner->untrained ? p->batch : p->imitation_batch;
}

/* FNV-1a over the columns, 8 bytes at a time: tells other data from these. */
static uint64_t fold(uint64_t hash, const void *bytes, int64_t size) {
    const uint8_t *at = bytes;
    for (; size > 0; size -= 8, at += 8) {
        uint64_t word = 0;
        memcpy(&word, at, size < 8 ? (size_t)size : 8);
        hash = (hash ^ word) * UINT64_C(0x100000001B3);
        hash ^= hash >> 32;
    }
    return hash;
}

static uint64_t fingerprint(const pess_observations *data) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    hash = fold(hash, data->observations, data->states * data->bytes);
    hash = fold(hash, data->state, data->transitions * (int64_t)sizeof *data->state);
    hash = fold(hash, data->next, data->transitions * (int64_t)sizeof *data->next);
    hash = fold(hash, data->reward, data->transitions * (int64_t)sizeof *data->reward);
    hash = fold(hash, data->action, data->transitions);
    return fold(hash, data->end, data->transitions);
}

pess_status pess__setup_open(const pess_train_options *options, pess__position *position, pess__setup *out,
                             pess_error *error) {
    *out = (pess__setup){.position = position};
    PESS_TRY(settle(options, &out->options, error));
    PESS_TRY(pess__learner_of(&out->options, &out->learner, error));
    PESS_TRY(check_use(out, error));
    PESS_TRY(read_knobs(out, error));
    if (out->learner->uncertainty != NULL)
        out->cap = isnan(out->options.u_cap) ? out->learner->uncertainty->info.cap : out->options.u_cap;
    out->data = out->options.data;
    out->fingerprint = fingerprint(out->data);
    plan(out);
    return PESS_OK;
}

double pess__setup_alpha(const pess__setup *s) {
    const pess_setting *row =
        s->learner->info.knobs != NULL ? pess_setting_find(s->learner->info.knobs, PESS__ALPHA) : NULL;
    double alpha = NAN;
    if (row != NULL) memcpy(&alpha, s->knobs + row->offset, sizeof alpha);
    return alpha;
}

pess_status pess__setup_environment(pess__setup *s, pess_error *error) {
    const pess_observations *data = s->options.data;
    PESS_TRY(pess__game_check_data(data, s->options.data_name != NULL ? s->options.data_name : "data", error));
    s->env = pess_env_options_defaults();
    s->env.game = data->game;
    if (s->options.mdp != NULL || pess_env_find(data->game) == NULL) return PESS_OK;
    return pess__game_notes_read(data->notes, &s->env, error);
}

/* ---- settings as text */

typedef struct text {
    char *at; /* [PESS__SETTINGS_SIZE] */
    size_t used;
} text;

static void add(text *t, const char *key, const char *value) {
    t->used += (size_t)snprintf(t->at + t->used, PESS__SETTINGS_SIZE - t->used, "%s=%s\n", key, value);
}

static void add_number(text *t, const char *key, double value) {
    char number[PESS__NUMBER_SIZE];
    (void)pess__format_double(value, number);
    add(t, key, number);
}

static void add_count(text *t, const char *key, int64_t value) {
    char number[32];
    (void)snprintf(number, sizeof number, "%lld", (long long)value);
    add(t, key, number);
}

/* Values of the protocol under one key, with commas between them. */
static void add_protocol(text *t, const pess__setup *s, const char *key, const char *names) {
    char values[256] = "";
    while (*names != '\0') {
        char name[40], value[40];
        const size_t length = strcspn(names, " "), used = strlen(values);
        (void)snprintf(name, sizeof name, "%.*s", (int)length, names);
        pess_setting_get(pess_protocol_settings(), &s->options.protocol, name, value, sizeof value);
        (void)snprintf(values + used, sizeof values - used, "%s%s", used > 0 ? "," : "", value);
        names += length + (names[length] == ' ');
    }
    add(t, key, values);
}

/* alpha has had a place and a key of its own from the first; other knobs stand by their names. */
static void add_knobs(text *t, const pess__setup *s) {
    const pess_setting_table *knobs = s->learner->info.knobs;
    for (size_t i = 0; knobs != NULL && i < knobs->count; i++) {
        char key[64], value[64];
        if (strcmp(knobs->rows[i].name, PESS__ALPHA) == 0) continue;
        (void)snprintf(key, sizeof key, "%s", knobs->rows[i].name);
        for (char *c = key; *c != '\0'; c++) *c = *c == '-' ? '_' : *c;
        pess_setting_get(knobs, s->knobs, knobs->rows[i].name, value, sizeof value);
        add(t, key, value);
    }
}

static void add_schedule(text *t, const pess__setup *s, uint32_t imitation) {
    char checksum[16];
    (void)snprintf(checksum, sizeof checksum, "%08x", imitation);
    if (s->learner->untrained) {
        add_protocol(t, s, "steps", "updates steps");
        add_protocol(t, s, "batch", "batch");
    } else if (s->learner->info.values) {
        add_number(t, "alpha", pess__setup_alpha(s));
        add_protocol(t, s, "updates", "updates");
        add_protocol(t, s, "steps", "steps");
        add_protocol(t, s, "batch", "batch");
        add_protocol(t, s, "rate", "rate rate-last");
        add_protocol(t, s, "reset", "reset");
        add(t, "imitation", checksum);
    } else {
        add_protocol(t, s, "steps", "imitation-steps");
        add_protocol(t, s, "batch", "imitation-batch");
        add_protocol(t, s, "rate", "imitation-rate imitation-rate-last");
    }
}

/* Lines that only some games and learners have. */
static void add_further(text *t, const pess__setup *s) {
    const pess__learner *learner = s->learner;
    char game[PESS__GAME_NOTES_SIZE];
    pess__game_notes(&s->env, false, game);
    t->used += (size_t)snprintf(t->at + t->used, PESS__SETTINGS_SIZE - t->used, "%s", game);
    if (pess__learner_networks(learner) * pess__learner_heads(learner) > 1) {
        add_count(t, "networks", pess__learner_networks(learner));
        add_count(t, "heads", pess__learner_heads(learner));
        add_count(t, "mixtures", pess__learner_mixtures(learner));
    }
    add_knobs(t, s);
    if (learner->uncertainty == NULL) return;
    add(t, "uncertainty", learner->info.uncertainty);
    add_number(t, "cap", s->cap);
    add(t, "relative", s->options.relative ? "on" : "off");
    add_protocol(t, s, "uncertainty_rate", "imitation-rate");
    if (s->options.uncertainty_steps > 0) add_count(t, "uncertainty_steps", s->options.uncertainty_steps);
}

void pess__setup_describe(const pess__setup *s, const char *kernels, uint32_t imitation,
                          char out[PESS__SETTINGS_SIZE]) {
    char number[32];
    text t = {out, 0};
    add(&t, "game", s->data->game);
    add(&t, "method", s->learner->info.name);
    (void)snprintf(number, sizeof number, "%016llx", (unsigned long long)s->fingerprint);
    add(&t, "data", number);
    add(&t, "network", s->options.network);
    add(&t, "kernels", kernels);
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)s->options.seed);
    add(&t, "seed", number);
    add_number(&t, "gamma", s->options.gamma);
    add_protocol(&t, s, "score", "eval-every eval-episodes score-episodes control-episodes");
    add_schedule(&t, s, imitation);
    add_further(&t, s);
}

/* ---- networks, reports, rows */

pess_status pess__setup_network(const pess__setup *s, int64_t outputs, pess__net **out, pess_error *error) {
    const pess_env_info *game = s->options.mdp == NULL ? pess_env_find(s->data->game) : NULL;
    const int32_t rows_of = game != NULL ? game->rows : 1, cols = game != NULL ? game->cols : 1,
                  channels = game != NULL ? game->channels : (int32_t)s->data->bits;
    pess__net_spec spec;
    PESS_TRY(pess__spec_named(s->options.network, rows_of, cols, channels, (int32_t)outputs, &spec, error));
    PESS_TRY(pess__net_create(&spec, s->options.kernels, out, error));
    if ((*out)->bytes != s->data->bytes)
        return pess__fail(error, PESS_INPUT, "the data have observations of %lld bytes; %s has %lld",
                          (long long)s->data->bytes, s->data->game, (long long)(*out)->bytes);
    return PESS_OK;
}

pess_status pess__setup_interrupted(const pess__setup *s, pess_error *error) {
    return pess__fail(
        error, PESS_INTERRUPTED,
        "interrupted after %lld of %lld updates of %s; resuming it goes on from the last checkpoint in %s",
        (long long)s->position->update, (long long)s->updates, s->learner->info.name, s->options.out);
}

pess_status pess__setup_report(const pess__setup *s, const char *what, int64_t done, int64_t total, pess_error *error) {
    const pess_progress *p = &s->options.progress;
    const double now = pess__clock();
    if (p->report == NULL || now - s->position->reported < s->options.report_seconds) return PESS_OK;
    s->position->reported = now;
    if (p->report(p->user, what, (double)done, (double)total, "steps")) return PESS_OK;
    return pess__setup_interrupted(s, error);
}

pess__rng pess__rows_stream(const pess__setup *s, int64_t network) {
    return pess__rng_stream(s->options.seed, "rows", (uint64_t)s->position->update + ((uint64_t)network << 32));
}

/* Uniform over the transitions; where there are several networks, over the network's own resample of them with
 * replacement (Efron 1979), entry j of which is a function of seed, network and j. */
int64_t pess__rows_next(const pess__setup *s, int64_t network, pess__rng *rng) {
    const uint64_t transitions = (uint64_t)s->data->transitions;
    const uint64_t entry = pess__rng_below(rng, transitions);
    if (pess__learner_networks(s->learner) == 1) return (int64_t)entry;
    pess__rng own = pess__rng_stream(s->options.seed, "resample", entry + ((uint64_t)network << 32));
    return (int64_t)pess__rng_below(&own, transitions);
}
