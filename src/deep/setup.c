#include "deep/setup.h"

#include "core/text.h"
#include "core/threads.h"
#include "deep/game_notes.h"
#include "deep/neural_uncertainty.h"
#include "deep/settling.h"
#include "deep/standard.h"

#include <stdio.h>
#include <string.h>

enum { IMITATION_PIECES = 10 };

static int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Imitation is looked at ten times; where it settles, after every pass over the data, which is a fiftieth of the steps
 * at most. */
static void plan_imitation(pess__setup *s) {
    const pess_protocol *p = &s->options.protocol;
    const int64_t most = divided_up(p->imitation_steps, PESS__STRETCHES),
                  pass = divided_up(s->data->transitions, p->imitation_batch);
    s->steps = !p->settle ? divided_up(p->imitation_steps, IMITATION_PIECES) : pass < most ? pass : most;
    s->updates = p->settle ? divided_up(p->imitation_steps, s->steps) : IMITATION_PIECES;
    s->batch = p->imitation_batch;
}

/* What is trained, and how long: values over the updates of the protocol, imitation in pieces, or nothing. */
static void plan(pess__setup *s) {
    const pess_protocol *p = &s->options.protocol;
    s->updates = s->learner->untrained ? 1 : p->updates;
    s->steps = s->learner->untrained ? 0 : p->steps;
    s->batch = p->batch;
    if (!s->learner->info.values && !s->learner->untrained) plan_imitation(s);
}

/* FNV-1a over the columns, 8 bytes at a time. */
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

uint64_t pess__setup_fingerprint(const pess_observations *data) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    hash = fold(hash, data->observations, data->states * data->bytes);
    hash = fold(hash, data->state, data->transitions * (int64_t)sizeof *data->state);
    hash = fold(hash, data->next, data->transitions * (int64_t)sizeof *data->next);
    hash = fold(hash, data->reward, data->transitions * (int64_t)sizeof *data->reward);
    hash = fold(hash, data->action, data->transitions);
    return fold(hash, data->end, data->transitions);
}

/* Files of bits keep their length alone: the game has the board. */
static pess_observation_shape shape_of(const pess__setup *s) {
    pess_observation_shape shape = s->data->shape;
    const pess_env_info *game = s->options.mdp == NULL ? pess_env_find(s->data->game) : NULL;
    if (shape.kind == PESS_OBSERVATION_BITS && game != NULL &&
        (int64_t)game->rows * game->cols * game->channels == shape.length)
        shape.rows = game->rows, shape.cols = game->cols, shape.channels = game->channels;
    return shape;
}

pess_status pess__setup_plan(pess__setup *s, pess_error *error) {
    s->data = s->options.data;
    PESS_TRY(pess__observations_check_numbered(s->data, error));
    const pess_observation_shape shape = shape_of(s);
    if (s->learner->bits && shape.kind != PESS_OBSERVATION_BITS)
        return pess__fail(error, PESS_ARGUMENT, "%s learns from observations of bits; these are %s",
                          s->learner->info.name, pess_observation_kind_name(shape.kind));
    if (s->options.network == NULL) s->options.network = pess__spec_standard(&shape);
    plan(s);
    return PESS_OK;
}

pess_status pess__setup_open(const pess_train_options *options, pess__position *position, pess__setup *out,
                             pess_error *error) {
    *out = (pess__setup){.position = position};
    PESS_TRY(pess__train_settle(options, &out->options, error));
    PESS_TRY(pess__learner_of(&out->options, &out->learner, error));
    PESS_TRY(pess__train_check_use(out, error));
    PESS_TRY(pess__train_read_knobs(&out->learner->info, out->options.knobs, out->knobs, error));
    if (out->learner->uncertainty != NULL)
        out->cap = isnan(out->options.u_cap) ? out->learner->uncertainty->info.cap : out->options.u_cap;
    PESS_TRY(pess__setup_plan(out, error));
    out->fingerprint = pess__setup_fingerprint(out->data);
    return PESS_OK;
}

double pess__setup_alpha(const pess__setup *s) {
    const pess_setting *row =
        s->learner->info.knobs != NULL ? pess_setting_find(s->learner->info.knobs, PESS__ALPHA) : NULL;
    double alpha = NAN;
    if (row != NULL) memcpy(&alpha, s->knobs + row->offset, sizeof alpha);
    return alpha;
}

bool pess__setup_prices(const pess__setup *s) {
    return s->options.protocol.price_share < 1 && pess_setting_listed(s->learner->info.settings, "price-share");
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
    char values[256];
    pess__setting_values(pess_protocol_settings(), &s->options.protocol, names, values, sizeof values);
    add(t, key, values);
}

/* alpha and the number of heads have had places of their own from the first; other knobs stand by their names. */
static void add_knobs(text *t, const pess__setup *s) {
    const pess_setting_table *knobs = s->learner->info.knobs;
    for (size_t i = 0; knobs != NULL && i < knobs->count; i++) {
        char key[64], value[64];
        if (strcmp(knobs->rows[i].name, PESS__ALPHA) == 0 || strcmp(knobs->rows[i].name, PESS__HEADS) == 0) continue;
        pess__setting_key(knobs->rows[i].name, key, sizeof key);
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
        if (pess__setup_prices(s)) add_protocol(t, s, "price_share", "price-share");
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
    if (pess__learner_networks(learner, s->knobs) * pess__learner_heads(learner, s->knobs) > 1) {
        add_count(t, "networks", pess__learner_networks(learner, s->knobs));
        add_count(t, "heads", pess__learner_heads(learner, s->knobs));
        add_count(t, "mixtures", pess__learner_mixtures(learner));
    }
    add_knobs(t, s);
    char features[PESS__SETTINGS_SIZE / 2];
    if (pess__note(s->options.data->notes, "features", features, sizeof features) &&
        t->used + strlen(features) < PESS__SETTINGS_SIZE * 3 / 4)
        add(t, "features", features);
    if (learner->uncertainty == NULL) return;
    add(t, "uncertainty", learner->info.uncertainty);
    add_number(t, "cap", s->cap);
    add(t, "relative", s->options.relative ? "on" : "off");
    add_protocol(t, s, "uncertainty_rate", "imitation-rate");
    if (s->options.uncertainty_steps > 0) add_count(t, "uncertainty_steps", s->options.uncertainty_steps);
}

void pess__setup_describe(const pess__setup *s, const char *sums, uint32_t imitation, char out[PESS__SETTINGS_SIZE]) {
    char number[32];
    text t = {out, 0};
    add(&t, "game", s->data->game);
    add(&t, "method", s->learner->info.name);
    (void)snprintf(number, sizeof number, "%016llx", (unsigned long long)s->fingerprint);
    add(&t, "data", number);
    add(&t, "network", s->options.network);
    add(&t, "kernels", sums);
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)s->options.seed);
    add(&t, "seed", number);
    add_number(&t, "gamma", s->options.gamma);
    add_protocol(&t, s, "score", "eval-every eval-episodes score-episodes control-episodes");
    if (s->options.protocol.settle) add(&t, "settle", "on");
    add_schedule(&t, s, imitation);
    add_further(&t, s);
}

/* ---- networks, reports, rows */

pess_status pess__setup_network(const pess__setup *s, int64_t outputs, pess__net **out, pess_error *error) {
    const pess_observation_shape shape = shape_of(s);
    pess__net_spec spec;
    pess__spec_input(&shape, &spec);
    PESS_TRY(pess__spec_layers(s->options.network, (int32_t)outputs, &spec, error));
    PESS_TRY(pess__net_create(&spec, s->options.kernels, out, error));
    return pess__standardise_by(s->data, *out, error);
}

pess_status pess__setup_interrupted(const pess__setup *s, pess_error *error) {
    if (s->options.out == NULL)
        return pess__fail(error, PESS_INTERRUPTED, "interrupted during %s", s->learner->info.name);
    return pess__fail(error, PESS_INTERRUPTED,
                      "interrupted after %lld of %lld updates of %s; resuming continues from the last checkpoint in %s",
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

/* Uniform over the transitions; where there are several networks with data of their own, over the network's own
 * resample of them with replacement (Efron 1979), entry j of which is a function of seed, network and j. */
int64_t pess__rows_next(const pess__setup *s, int64_t network, pess__rng *rng) {
    const uint64_t rows = (uint64_t)(s->rows != NULL ? s->row_count : s->data->transitions);
    uint64_t entry = pess__rng_below(rng, rows);
    if (pess__learner_networks(s->learner, s->knobs) > 1 && !s->learner->same_data) {
        pess__rng own = pess__rng_stream(s->options.seed, "resample", entry + ((uint64_t)network << 32));
        entry = pess__rng_below(&own, rows);
    }
    return s->rows != NULL ? s->rows[entry] : (int64_t)entry;
}
