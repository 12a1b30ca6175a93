/* settings.txt: the plan of a directory as lines "key=value", so that runs made with other settings never stand beside
 * each other, and shards can be put together without the command that made them. */
#include "core/outfile.h"
#include "core/text.h"
#include "experiment/games.h"

#include <errno.h>
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
#define KEEP_DATA "keep-data"

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

static void put_protocol(text *out, const pess_protocol *protocol) {
    put(out, "protocol", protocol->name);
#define PUT_INTEGER(name) put_integer(out, #name, protocol->name);
    PROTOCOL_INTEGERS(PUT_INTEGER)
#define PUT_DOUBLE(name) put_double(out, #name, protocol->name);
    PROTOCOL_DOUBLES(PUT_DOUBLE)
    if (protocol->imitation_rate_last > 0) put_double(out, IMITATION_RATE_LAST, protocol->imitation_rate_last);
    put(out, "reset", protocol->reset ? "on" : "off");
}

static void put_policy(text *out, const char *game, uint32_t sum) {
    char key[64], number[16];
    (void)snprintf(key, sizeof key, "policy-%s", game);
    (void)snprintf(number, sizeof number, "%08x", (unsigned)sum);
    put(out, key, number);
}

void pess__games_settings(const pess_minatar *m, char *out, size_t size) {
    const pess_minatar_options *o = &m->options;
    text lines = {out, size, '\n'};
    *out = '\0';
    put(&lines, "version", PESS_VERSION);
    put(&lines, "experiment", m->info->name);
    put(&lines, "games", m->games_text);
    put(&lines, "x", m->x_text);
    put(&lines, "algorithms", m->algorithms_text);
    put_integer(&lines, "trials", o->trials);
    put_seed(&lines, o->seed);
    if (pess__games_is_data(m))
        put_double(&lines, "epsilon", o->epsilon);
    else
        put_integer(&lines, "transitions", o->transitions);
    put_protocol(&lines, &o->protocol);
    for (int i = 0; i < m->game_count; i++) put_policy(&lines, m->games[i]->name, m->policy_sum[i]);
}

void pess__games_signature(const pess_minatar *m, int64_t index, int curve, char *out, size_t size) {
    const pess__games_dataset *dataset = &m->datasets[index];
    const pess_env_info *game = m->games[dataset->game];
    text words = {out, size, ' '};
    *out = '\0';
    put(&words, "version", PESS_VERSION);
    put(&words, "game", game->name);
    put_double(&words, "epsilon", dataset->epsilon);
    put_integer(&words, "transitions", dataset->transitions);
    put_integer(&words, "trial", dataset->trial + 1);
    put_seed(&words, m->options.seed);
    put(&words, "algorithm", m->curves[curve].folder);
    put_policy(&words, game->name, m->policy_sum[dataset->game]);
    put_protocol(&words, &m->options.protocol);
}

pess_status pess__games_write_settings(const pess_minatar *m, pess_error *error) {
    char path[PESS__GAMES_PATH + 20], settings[PESS__GAMES_SETTINGS];
    pess__outfile *file = NULL;
    pess__games_settings(m, settings, sizeof settings);
    text lines = {settings, sizeof settings, '\n'};
    put(&lines, KEEP_DATA, m->options.keep_data || m->data_kept ? "on" : "off");
    (void)snprintf(path, sizeof path, "%s/settings.txt", m->out);
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_write(file, settings, strlen(settings));
    return pess__outfile_commit(file, error);
}

/* ---- reading */

pess_status pess__games_read_text(const char *path, char *out, size_t size, bool *found, pess_error *error) {
    FILE *file = fopen(path, "rb");
    *found = file != NULL;
    if (file == NULL && errno != ENOENT && errno != ENOTDIR)
        return pess__fail(error, PESS_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (file == NULL) return PESS_OK;
    const size_t got = fread(out, 1, size, file);
    const bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (failed) return pess__fail(error, PESS_IO, "%s: cannot be read", path);
    if (got == size || memchr(out, '\0', got) != NULL)
        return pess__fail(error, PESS_INPUT, "%s: is not a file of this experiment", path);
    out[got] = '\0';
    return PESS_OK;
}

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
    char reset[8], last[64];
#define GET_INTEGER(name) PESS_TRY(get_integer(where, settings, #name, &out->name, error));
    PROTOCOL_INTEGERS(GET_INTEGER)
#define GET_DOUBLE(name) PESS_TRY(get_double(where, settings, #name, &out->name, error));
    PROTOCOL_DOUBLES(GET_DOUBLE)
    out->imitation_rate_last = 0;
    if (get(settings, IMITATION_RATE_LAST, last, sizeof last))
        PESS_TRY(get_double(where, settings, IMITATION_RATE_LAST, &out->imitation_rate_last, error));
    PESS_TRY(get_text(where, settings, "reset", reset, sizeof reset, error));
    out->reset = strcmp(reset, "on") == 0;
    return PESS_OK;
}

/* The texts that the options point to. */
typedef struct texts {
    char version[40], experiment[40], games[PESS__GAMES_LIST], x[PESS__GAMES_LIST], algorithms[PESS__GAMES_LIST];
    char protocol[40], seed[40];
} texts;

static pess_status get_options(const char *where, const char *settings, texts *t, pess_minatar_options *o,
                               pess_error *error) {
    PESS_TRY(get_text(where, settings, "version", t->version, sizeof t->version, error));
    if (strcmp(t->version, PESS_VERSION) != 0)
        return pess__fail(error, PESS_INPUT, "%s: made by version %s; this is %s", where, t->version, PESS_VERSION);
    PESS_TRY(get_text(where, settings, "experiment", t->experiment, sizeof t->experiment, error));
    PESS_TRY(get_text(where, settings, "games", t->games, sizeof t->games, error));
    PESS_TRY(get_text(where, settings, "x", t->x, sizeof t->x, error));
    PESS_TRY(get_text(where, settings, "algorithms", t->algorithms, sizeof t->algorithms, error));
    PESS_TRY(get_text(where, settings, "protocol", t->protocol, sizeof t->protocol, error));
    PESS_TRY(get_text(where, settings, "seed", t->seed, sizeof t->seed, error));
    PESS_TRY(get_integer(where, settings, "trials", &o->trials, error));
    PESS_TRY(get_protocol(where, settings, &o->protocol, error));
    o->experiment = t->experiment;
    o->games = t->games;
    o->epsilons = o->sizes = t->x;
    o->algorithms = t->algorithms;
    o->protocol.name = o->protocol.summary = t->protocol;
    o->seed = strtoull(t->seed, NULL, 10);
    if (strcmp(t->experiment, "minatar-data") == 0) return get_double(where, settings, "epsilon", &o->epsilon, error);
    return get_integer(where, settings, "transitions", &o->transitions, error);
}

pess_status pess__games_read_plan(const char *directory, pess_minatar **out, pess_error *error) {
    char path[PESS__GAMES_PATH + 20], settings[PESS__GAMES_SETTINGS];
    bool found = false;
    if (strlen(directory) > PESS__GAMES_PATH - 200)
        return pess__fail(error, PESS_ARGUMENT, "%.80s…: the name is too long", directory);
    (void)snprintf(path, sizeof path, "%s/settings.txt", directory);
    PESS_TRY(pess__games_read_text(path, settings, sizeof settings, &found, error));
    if (!found)
        return pess__fail(error, PESS_INPUT, "%s: holds no experiment with games (there is no settings.txt)",
                          directory);
    texts t;
    pess_minatar_options options = pess_minatar_options_defaults();
    PESS_TRY(get_options(path, settings, &t, &options, error));
    options.out = directory;
    options.controls = false; /* the list has them */
    pess_minatar *m = NULL;
    PESS_TRY(pess__games_plan(&options, &m, error));
    for (int i = 0; i < m->game_count; i++) {
        char key[64], value[16] = "";
        (void)snprintf(key, sizeof key, "policy-%s", m->games[i]->name);
        (void)get(settings, key, value, sizeof value);
        m->policy_sum[i] = (uint32_t)strtoul(value, NULL, 16);
    }
    *out = m;
    return PESS_OK;
}

/* ---- comparing */

/* Which runs there are, not what a run is. */
static bool is_plan_key(const char *key) {
    static const char *const keys[] = {"games", "x", "algorithms", "trials"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
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
    for (int side = 0; side < 2; side++)
        for (const char *line = side == 0 ? there : here; *line != '\0';) {
            line = take_key(line, key);
            if ((!whole_plan && is_plan_key(key)) || strcmp(key, KEEP_DATA) == 0) continue;
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
