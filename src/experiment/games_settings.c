/* settings.txt: the plan of a directory as lines "key=value", so that runs made with other settings never stand beside
 * each other, and shards can be put together without the command that made them. */
#include "core/outfile.h"
#include "core/text.h"
#include "experiment/games.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of a protocol, in one order for writing and reading. */
#define PROTOCOL_INTEGERS(X)                                                                                           \
    X(updates)                                                                                                         \
    X(steps)                                                                                                           \
    X(batch)                                                                                                           \
    X(imitation_steps)                                                                                                 \
    X(imitation_batch)                                                                                                 \
    X(eval_every)                                                                                                      \
    X(eval_episodes)                                                                                                   \
    X(score_episodes)                                                                                                  \
    X(control_episodes)
#define PROTOCOL_DOUBLES(X)                                                                                            \
    X(rate)                                                                                                            \
    X(rate_last)                                                                                                       \
    X(imitation_rate)

#define IMITATION_RATE_LAST "imitation_rate_last" /* not there: 0 */
#define SETTLE "settle"                           /* not there: off */
#define TRAIN_SEED "train-seed"                   /* of a run; not there: 1 */
#define TRAIN_SEEDS "train-seeds"                 /* not there: 1 */
#define KEEP_DATA "keep-data"
#define SCHEMA "schema" /* of settings.txt; not there: 1 */
#define SCHEMA_NUMBER 1

/* ---- writing */

typedef struct text {
    char *to;
    size_t size;
    char end; /* of a setting: '\n' or ' ' */
} text;

static void put(text *out, const char *key, const char *value) {
    const size_t used = strlen(out->to);
    (void)snprintf(out->to + used, out->size - used, "%s=%s%c", key, value, out->end);
}

static void put_integer(text *out, const char *key, int64_t value) {
    char number[32];
    (void)snprintf(number, sizeof number, "%lld", (long long)value);
    put(out, key, number);
}

static void put_seed(text *out, uint64_t value) {
    char number[32];
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    put(out, "seed", number);
}

static void put_double(text *out, const char *key, double value) {
    char number[PESS__NUMBER_SIZE];
    (void)pess__format_double(value, number);
    put(out, key, number);
}

static void put_protocol(text *out, const pess_protocol *protocol, const char *name) {
    put(out, "protocol", name);
#define PUT_INTEGER(name) put_integer(out, #name, protocol->name);
    PROTOCOL_INTEGERS(PUT_INTEGER)
#define PUT_DOUBLE(name) put_double(out, #name, protocol->name);
    PROTOCOL_DOUBLES(PUT_DOUBLE)
    if (protocol->imitation_rate_last > 0) put_double(out, IMITATION_RATE_LAST, protocol->imitation_rate_last);
    put(out, "reset", protocol->reset ? "on" : "off");
    if (protocol->settle) put(out, SETTLE, "on");
}

static void put_policy(text *out, const char *game, uint32_t sum) {
    char key[64], number[16];
    (void)snprintf(key, sizeof key, "policy-%s", game);
    (void)snprintf(number, sizeof number, "%08x", (unsigned)sum);
    put(out, key, number);
}

/* A setting of the table. */
static void put_setting(text *out, const char *key, const pess__games *m, const char *name) {
    char value[PESS__GAMES_LIST];
    pess_setting_get(pess_experiment_settings(), m->options, name, value, sizeof value);
    put(out, key, value);
}

void pess__games_settings(const pess__games *m, char *out, size_t size) {
    static const char *const lists[] = {"algorithms", "trials", "seed"};
    text lines = {out, size, '\n'};
    *out = '\0';
    put(&lines, "version", pess_version());
    put(&lines, "experiment", m->experiment->kind->info.name);
    put_setting(&lines, "games", m, "games");
    put_setting(&lines, "x", m, m->axis->values);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) put_setting(&lines, lists[i], m, lists[i]);
    if (m->options->train_seeds > 1) put_integer(&lines, TRAIN_SEEDS, m->options->train_seeds);
    put_setting(&lines, m->axis->fixed, m, m->axis->fixed);
    put_protocol(&lines, &m->protocol, m->options->protocol);
    for (int i = 0; i < m->game_count; i++) put_policy(&lines, m->games[i]->name, m->policy_sum[i]);
}

void pess__games_signature(const pess__games *m, int64_t index, int curve, char *out, size_t size) {
    const pess__games_dataset *dataset = &m->datasets[index];
    const pess_env_info *game = m->games[dataset->game];
    text words = {out, size, ' '};
    *out = '\0';
    put(&words, "version", pess_version());
    put(&words, "game", game->name);
    put_double(&words, "epsilon", dataset->epsilon);
    put_integer(&words, "transitions", dataset->transitions);
    put_integer(&words, "trial", dataset->trial + 1);
    if (dataset->again > 0) put_integer(&words, TRAIN_SEED, dataset->again + 1);
    put_seed(&words, m->options->seed);
    put(&words, "algorithm", m->curves[curve].folder);
    put_policy(&words, game->name, m->policy_sum[dataset->game]);
    put_protocol(&words, &m->protocol, m->options->protocol);
}

pess_status pess__games_write_settings(const pess__games *m, pess_error *error) {
    char path[PESS__EXPERIMENT_PATH + 20], settings[PESS__GAMES_SETTINGS_SIZE];
    pess__outfile *file = NULL;
    pess__games_settings(m, settings, sizeof settings);
    text lines = {settings, sizeof settings, '\n'};
    put_integer(&lines, SCHEMA, SCHEMA_NUMBER);
    put(&lines, KEEP_DATA, m->options->keep_data || m->data_kept ? "on" : "off");
    (void)snprintf(path, sizeof path, "%s/settings.txt", m->options->out);
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_write(file, settings, strlen(settings));
    return pess__outfile_commit(file, error);
}

/* ---- reading */

/* False where it is not there, or does not fit. */
static bool get(const char *settings, const char *key, char *out, size_t size) {
    size_t length;
    const char *value = pess__note_find(settings, key, strlen(key), &length);
    if (value == NULL || length >= size) return false;
    memcpy(out, value, length);
    out[length] = '\0';
    return true;
}

bool pess__games_data_kept(const char *settings) {
    char value[8];
    return !(get(settings, KEEP_DATA, value, sizeof value) && strcmp(value, "off") == 0);
}

static pess_status get_integer(const char *where, const char *settings, const char *key, int64_t *out,
                               pess_error *error) {
    char value[64];
    if (!get(settings, key, value, sizeof value) || !pess__parse_int64(value, value + strlen(value), out))
        return pess__fail(error, PESS_INPUT, "%s: has no whole number '%s'", where, key);
    return PESS_OK;
}

static pess_status get_double(const char *where, const char *settings, const char *key, double *out,
                              pess_error *error) {
    char value[64];
    if (!get(settings, key, value, sizeof value) || !pess__parse_double(value, value + strlen(value), out))
        return pess__fail(error, PESS_INPUT, "%s: has no number '%s'", where, key);
    return PESS_OK;
}

static pess_status get_text(const char *where, const char *settings, const char *key, char *out, size_t size,
                            pess_error *error) {
    if (!get(settings, key, out, size)) return pess__fail(error, PESS_INPUT, "%s: has no '%s'", where, key);
    return PESS_OK;
}

static pess_status get_protocol(const char *where, const char *settings, pess_protocol *out, pess_error *error) {
    char reset[8], last[64], settle[8];
    *out = pess_protocol_defaults();
#define GET_INTEGER(name) PESS_TRY(get_integer(where, settings, #name, &out->name, error));
    PROTOCOL_INTEGERS(GET_INTEGER)
#define GET_DOUBLE(name) PESS_TRY(get_double(where, settings, #name, &out->name, error));
    PROTOCOL_DOUBLES(GET_DOUBLE)
    out->imitation_rate_last = 0;
    if (get(settings, IMITATION_RATE_LAST, last, sizeof last))
        PESS_TRY(get_double(where, settings, IMITATION_RATE_LAST, &out->imitation_rate_last, error));
    PESS_TRY(get_text(where, settings, "reset", reset, sizeof reset, error));
    out->reset = strcmp(reset, "on") == 0;
    out->settle = get(settings, SETTLE, settle, sizeof settle) && strcmp(settle, "on") == 0;
    return PESS_OK;
}

static pess_status check_schema(const char *where, const char *settings, pess_error *error) {
    int64_t schema = SCHEMA_NUMBER;
    char value[64];
    if (get(settings, SCHEMA, value, sizeof value)) PESS_TRY(get_integer(where, settings, SCHEMA, &schema, error));
    if (schema == SCHEMA_NUMBER) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: found schema %lld, expected %d: a newer version of the program wrote it",
                      where, (long long)schema, SCHEMA_NUMBER);
}

/* The texts that the options point to, until they are copied. */
typedef struct texts {
    char experiment[40], games[PESS__GAMES_LIST], x[PESS__GAMES_LIST], algorithms[PESS__GAMES_LIST];
    char protocol[40], seed[40], fixed[64];
} texts;

static pess_status get_texts(const char *where, const char *settings, texts *t, pess_error *error) {
    PESS_TRY(get_text(where, settings, "experiment", t->experiment, sizeof t->experiment, error));
    PESS_TRY(get_text(where, settings, "games", t->games, sizeof t->games, error));
    PESS_TRY(get_text(where, settings, "x", t->x, sizeof t->x, error));
    PESS_TRY(get_text(where, settings, "algorithms", t->algorithms, sizeof t->algorithms, error));
    PESS_TRY(get_text(where, settings, "protocol", t->protocol, sizeof t->protocol, error));
    return get_text(where, settings, "seed", t->seed, sizeof t->seed, error);
}

static const pess__games_axis *axis_of(const char *experiment) {
    const pess__experiment_kind *kind;
    for (size_t i = 0; (kind = pess__experiment_row(i)) != NULL; i++)
        if (strcmp(kind->info.name, experiment) == 0) return kind->games;
    return NULL;
}

static pess_status get_options(const char *where, const char *settings, texts *t, pess_experiment_options *o,
                               pess_error *error) {
    const pess_setting_table *table = pess_experiment_settings();
    PESS_TRY(check_schema(where, settings, error));
    PESS_TRY(get_texts(where, settings, t, error));
    const pess__games_axis *axis = axis_of(t->experiment);
    if (axis == NULL)
        return pess__fail(error, PESS_INPUT, "%s: there is no experiment '%s' with games", where, t->experiment);
    PESS_TRY(get_text(where, settings, axis->fixed, t->fixed, sizeof t->fixed, error));
    PESS_TRY(get_integer(where, settings, "trials", &o->trials, error));
    char again[64];
    if (get(settings, TRAIN_SEEDS, again, sizeof again))
        PESS_TRY(get_integer(where, settings, TRAIN_SEEDS, &o->train_seeds, error));
    o->experiment = t->experiment;
    o->games = t->games;
    o->algorithms = t->algorithms;
    pess_protocol known; /* its numbers are in the file */
    if (pess_protocol_find(t->protocol, &known, NULL) == PESS_OK) o->protocol = t->protocol;
    PESS_TRY(pess_setting_set(table, o, "seed", t->seed, error));
    PESS_TRY(pess_setting_set(table, o, axis->values, t->x, error));
    return pess_setting_set(table, o, axis->fixed, t->fixed, error);
}

/* What the settings say beside the options: the protocol's numbers, the players' checksums. */
static pess_status get_facts(const char *where, const char *settings, const texts *t, pess__games *m,
                             pess_error *error) {
    PESS_TRY(get_protocol(where, settings, &m->protocol, error));
    PESS_TRY(pess__experiment_set_text(m->experiment, "protocol", t->protocol, error));
    for (int i = 0; i < m->game_count; i++) {
        char key[64], value[16] = "";
        (void)snprintf(key, sizeof key, "policy-%s", m->games[i]->name);
        (void)get(settings, key, value, sizeof value);
        m->policy_sum[i] = (uint32_t)strtoul(value, NULL, 16);
    }
    pess__games_describe(m);
    return PESS_OK;
}

pess_status pess__games_read_plan(const char *directory, pess_experiment **out, pess_error *error) {
    char path[PESS__EXPERIMENT_PATH + 20], settings[PESS__GAMES_SETTINGS_SIZE];
    bool found = false;
    if (strlen(directory) > PESS__EXPERIMENT_PATH - 200)
        return pess__fail(error, PESS_ARGUMENT, "%.80s…: the name is too long", directory);
    (void)snprintf(path, sizeof path, "%s/settings.txt", directory);
    PESS_TRY(pess__games_read_text(path, settings, sizeof settings, &found, error));
    if (!found)
        return pess__fail(error, PESS_INPUT, "%s: holds no runs of an experiment with games (there is no settings.txt)",
                          directory);
    texts t;
    pess_experiment_options options = pess_experiment_options_defaults();
    PESS_TRY(get_options(path, settings, &t, &options, error));
    options.out = directory;
    options.controls = 0; /* the list has them */
    pess_experiment *e = NULL;
    PESS_TRY(pess__experiment_plan(&options, &e, error));
    const pess_status status = get_facts(path, settings, &t, e->plan, error);
    if (status == PESS_OK)
        *out = e;
    else
        pess_experiment_destroy(e);
    return status;
}

/* ---- comparing */

/* Which runs there are, not what a run is. */
static bool is_plan_key(const char *key) {
    static const char *const keys[] = {"games", "x", "algorithms", "trials", TRAIN_SEEDS};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

/* Who wrote it, and what became of the data: nothing that must agree. */
static bool is_provenance(const char *key) {
    return strcmp(key, "version") == 0 || strcmp(key, SCHEMA) == 0 || strcmp(key, KEEP_DATA) == 0;
}

/* The key of a line, and on to the next one. */
static const char *take_key(const char *line, char key[64]) {
    const size_t length = strcspn(line, "=\n");
    key[0] = '\0';
    if (length < 64) {
        memcpy(key, line, length);
        key[length] = '\0';
    }
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

pess_status pess__games_same_settings(const char *where, const char *there, const char *here, bool whole_plan,
                                      pess_error *error) {
    const pess_status status = whole_plan ? PESS_INPUT : PESS_ARGUMENT;
    const char *who = whole_plan ? "the first one" : "this run";
    char key[64], value[PESS__GAMES_LIST], own[PESS__GAMES_LIST];
    PESS_TRY(check_schema(where, there, error));
    for (int side = 0; side < 2; side++)
        for (const char *line = side == 0 ? there : here; *line != '\0';) {
            line = take_key(line, key);
            if (is_provenance(key) || (!whole_plan && is_plan_key(key))) continue;
            const bool said = get(there, key, value, sizeof value), known = get(here, key, own, sizeof own);
            if (said && known && strcmp(value, own) == 0) continue;
            if (said && known)
                return pess__fail(error, status, "%s: made with %s=%s; %s has %s=%s", where, key, value, who, key, own);
            if (!whole_plan && pess__begins_with(key, "policy-")) continue; /* of a game that one of them leaves out */
            return said ? pess__fail(error, status, "%s: made with %s=%s; %s has no %s", where, key, value, who, key)
                        : pess__fail(error, status, "%s: made without %s; %s has %s=%s", where, key, who, key, own);
        }
    return PESS_OK;
}
