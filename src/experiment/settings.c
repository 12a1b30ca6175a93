/* The settings of all experiments: one table; every row of experiment.c lists those that it reads. */
#include "core/settings.h"

#include "core/memory.h"
#include "experiment/experiment.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define FIELD(field) PESS__FIELD(pess_experiment_options, field)

static const pess_setting rows[] = {
    {.name = "experiment",
     .kind = PESS_SETTING_TEXT,
     FIELD(experiment),
     .argument = "EXPERIMENT",
     .sentence = "which experiment, by name"},
    {.name = "trials",
     .kind = PESS_SETTING_COUNT,
     FIELD(trials),
     PESS__FROM_TO(1, 1e8),
     .argument = "N",
     .sentence = "independent repetitions, each with data of its own",
     .where_unset = "the experiment's own"},
    {.name = "algorithms",
     .kind = PESS_SETTING_TEXT,
     FIELD(algorithms),
     .argument = "ALGORITHM|LEARNER,…",
     .sentence =
         "curves to draw. Without games each is an algorithm, or ALGORITHM:UNCERTAINTY, and the random and the optimal "
         "policy are always drawn; with games a learner, or LEARNER:ALPHA",
     .where_unset = "the experiment's own"},
    {.name = "seed",
     .kind = PESS_SETTING_SEED,
     FIELD(seed),
     .open = PESS_SETTING_BELOW_MOST, /* need not be set */
     .argument = "N",
     .sentence = "seed of all random numbers",
     .where_unset = "the experiment's own"},
    {.name = "threads",
     .letter = 'j',
     .kind = PESS_SETTING_INT,
     FIELD(threads),
     .standard = "0",
     PESS__FROM_TO(0, 4096),
     .argument = "N",
     .sentence =
         "number of runs at a time, one thread each, 0 for as many as there are cores; results do not depend on it"},
    {.name = "points",
     .kind = PESS_SETTING_COUNT,
     FIELD(points),
     PESS__FROM_TO(1, 100000),
     .argument = "N",
     .sentence = "points on the axis",
     .where_unset = "the experiment's own",
     .specific = true},
    {.name = "preset",
     .kind = PESS_SETTING_CHOICE,
     FIELD(preset),
     .standard = "code",
     .choices = "code|text",
     .sentence = "code: the settings that made the paper's figure; text: those that its words describe",
     .specific = true},
    {.name = "rows",
     .kind = PESS_SETTING_COUNT,
     FIELD(rows),
     .standard = "8",
     PESS__FROM_TO(1, 64),
     .argument = "H",
     .sentence = "rows of the grid",
     .specific = true},
    {.name = "cols",
     .kind = PESS_SETTING_COUNT,
     FIELD(cols),
     .standard = "8",
     PESS__FROM_TO(1, 64),
     .argument = "W",
     .sentence = "columns of the grid",
     .specific = true},
    {.name = "gamma",
     .kind = PESS_SETTING_NUMBER,
     FIELD(gamma),
     .least = 0,
     .most = 1,
     .open = PESS_SETTING_BELOW_MOST,
     .argument = "G",
     .sentence = "discount",
     .where_unset = "the experiment's own",
     .specific = true},
    {.name = "reward-beta",
     .kind = PESS_SETTING_PAIR,
     FIELD(reward_beta),
     PESS__BETWEEN(0, 1e6),
     .argument = "A,B",
     .sentence = "mean rewards are drawn from Beta(A,B)",
     .where_unset = "1,3 with preset code, 3,1 with preset text",
     .specific = true},
    {.name = "state-dist",
     .kind = PESS_SETTING_CHOICE,
     FIELD(state_dist),
     .choices = "start|stationary",
     .sentence = "where the states of the data come from",
     .where_unset = "stationary, but start for figure 1a and gridworld-alpha with preset code",
     .specific = true},
    {.name = "clip",
     .kind = PESS_SETTING_CHOICE,
     FIELD(clip),
     .choices = "off|on",
     .sentence = "clip UA's penalised rewards to [0,1]",
     .where_unset = "on with preset code, off with preset text",
     .specific = true},
    {.name = "absorbed-alpha",
     .kind = PESS_SETTING_NUMBER,
     FIELD(absorbed_alpha),
     .standard = "1",
     PESS__AT_LEAST(0),
     .argument = "X",
     .sentence = "α of UA and proximal in absorbed units",
     .specific = true},
    {.name = "games",
     .kind = PESS_SETTING_TEXT,
     FIELD(games),
     .standard = "asterix,breakout,freeway,space_invaders",
     .argument = "GAME,…",
     .sentence = "games to play",
     .specific = true},
    {.name = "epsilons",
     .kind = PESS_SETTING_TEXT,
     FIELD(epsilons),
     .argument = "A,B,…",
     .sentence = "the axis: ε of the data policies",
     .where_unset = "the experiment's own",
     .specific = true},
    {.name = "transitions",
     .kind = PESS_SETTING_COUNT,
     FIELD(transitions),
     PESS__FROM_TO(1, 1e9),
     .argument = "N",
     .sentence = "transitions of a dataset",
     .where_unset = "the protocol's",
     .specific = true},
    {.name = "sizes",
     .kind = PESS_SETTING_TEXT,
     FIELD(sizes),
     .standard = "10000,20000,50000,100000,200000,500000",
     .argument = "A,B,…",
     .sentence = "the axis: transitions of the datasets",
     .specific = true},
    {.name = "epsilon",
     .kind = PESS_SETTING_NUMBER,
     FIELD(epsilon),
     .standard = "1",
     PESS__FROM_TO(0, 1),
     .argument = "E",
     .sentence = "ε of the data policy",
     .specific = true},
    {.name = "controls",
     .kind = PESS_SETTING_CHOICE,
     FIELD(controls),
     .choices = "off|on",
     .sentence = "draw imitation, proximal and counts-alone beside an uncertainty-aware learner (ua-…)",
     .where_unset = "the experiment's own",
     .specific = true},
    {.name = "protocol",
     .kind = PESS_SETTING_TEXT,
     FIELD(protocol),
     .argument = "PROTOCOL",
     .sentence = "how long networks are trained, by name",
     .specific = true},
    {.name = "policies",
     .kind = PESS_SETTING_TEXT,
     FIELD(policies),
     .argument = "DIR",
     .sentence = "directory of the players that collect the data, GAME.pessnet",
     .where_unset = "the players that come with the program",
     .specific = true},
    {.name = "shard",
     .kind = PESS_SETTING_TEXT,
     FIELD(shard),
     .argument = "I/N",
     .sentence = "run every N-th dataset or block of trials only, beginning with the I-th; shards are merged "
                 "when all have run",
     .where_unset = "all of them",
     .specific = true},
    {.name = "train-seeds",
     .kind = PESS_SETTING_COUNT,
     FIELD(train_seeds),
     .standard = "1",
     PESS__FROM_TO(1, 100),
     .argument = "N",
     .sentence = "trainings on every dataset, with seeds of their own: how far results depend on those and not on data",
     .specific = true},
    {.name = "keep-data",
     .kind = PESS_SETTING_SWITCH,
     FIELD(keep_data),
     .standard = "off",
     .argument = "on|off",
     .sentence = "keep the datasets beside their runs; otherwise they are collected again from the seed when needed. "
                 "Those that an earlier run kept stay",
     .specific = true},
    {.name = "out",
     .letter = 'o',
     .kind = PESS_SETTING_TEXT,
     FIELD(out),
     .argument = "DIR",
     .sentence = "directory for the results, the figure and the page",
     .where_unset = "nothing is kept"},
    {.name = "resume",
     .kind = PESS_SETTING_SWITCH,
     FIELD(resume),
     .standard = "off",
     .sentence = "keep the finished runs in the directory and continue"},
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0], KIND_LIMIT = 32 };

static const pess_setting_table table = PESS__SETTING_TABLE("experiment", pess_experiment_options, rows);

PESS__SETTINGS_OF(experiment, table)

/* ---- of one experiment */

bool pess__experiment_reads(const pess_experiment_info *info, const pess_setting *setting) {
    return !setting->specific || pess_setting_listed(info->settings, setting->name);
}

/* Of settings that are not set in the table above, so that some experiment can have a default of its own. */
static const pess__experiment_default usual_defaults[] = {
    {"seed", "1"}, {"epsilons", "0,0.05,0.1,0.2,0.33,0.66,1"}, {"controls", "on"}, {NULL, NULL}};

static const char *default_among(const pess__experiment_default *defaults, const char *name) {
    for (; defaults != NULL && defaults->name != NULL; defaults++)
        if (strcmp(defaults->name, name) == 0) return defaults->value;
    return NULL;
}

static const char *own_default(const pess__experiment_kind *kind, const pess_setting *setting) {
    if (setting->standard != NULL) return setting->standard;
    const char *own = default_among(kind->defaults, setting->name);
    return own != NULL ? own : default_among(usual_defaults, setting->name);
}

typedef struct own_table {
    pess_setting rows[ROW_COUNT];
    pess_setting_table table;
} own_table;

static own_table own_tables[KIND_LIMIT];
static once_flag own_once = ONCE_FLAG_INIT;

static void fill_tables(void) {
    const pess__experiment_kind *kind;
    for (size_t k = 0; k < KIND_LIMIT && (kind = pess__experiment_row(k)) != NULL; k++) {
        own_table *own = &own_tables[k];
        own->table = table;
        own->table.rows = own->rows;
        own->table.count = 0;
        for (size_t i = 0; i < ROW_COUNT; i++) {
            if (!pess__experiment_reads(&kind->info, &rows[i])) continue;
            pess_setting *row = &own->rows[own->table.count++];
            *row = rows[i];
            row->standard = own_default(kind, &rows[i]);
            if (rows[i].standard == NULL && row->standard != NULL) row->where_unset = NULL;
        }
    }
}

const pess_setting_table *pess_experiment_settings_of(const char *experiment) {
    call_once(&own_once, fill_tables);
    const pess__experiment_kind *kind;
    for (size_t k = 0; k < KIND_LIMIT && (kind = pess__experiment_row(k)) != NULL; k++)
        if (experiment != NULL && strcmp(kind->info.name, experiment) == 0) return &own_tables[k].table;
    return NULL;
}

/* ---- resolving */

static pess_status check_read(const pess_experiment_info *info, const pess_experiment_options *options,
                              pess_error *error) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (!pess__experiment_reads(info, &rows[i]) && !pess_setting_is_default(&table, options, rows[i].name))
            return pess__fail(error, PESS_ARGUMENT, "%s: does nothing for %s", rows[i].name, info->name);
    return PESS_OK;
}

static pess_status own_texts(pess_experiment *e, pess_error *error) {
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].kind != PESS_SETTING_TEXT) continue;
        const char *text = *(const char **)((char *)&e->options + rows[i].offset);
        if (text != NULL) PESS_TRY(pess__experiment_set_text(e, rows[i].name, text, error));
    }
    return PESS_OK;
}

pess_status pess__experiment_set_text(pess_experiment *e, const char *setting, const char *text, pess_error *error) {
    const pess_setting *row = pess_setting_find(&table, setting);
    char *copy = NULL;
    PESS_TRY(pess__allocate(&copy, (int64_t)strlen(text) + 1, 1, "a setting", error));
    memcpy(copy, text, strlen(text) + 1);
    free(e->texts[row - rows]);
    e->texts[row - rows] = copy;
    *(const char **)((char *)&e->options + row->offset) = copy;
    return PESS_OK;
}

pess_status pess__experiment_resolve(pess_experiment *e, const pess_experiment_options *options, pess_error *error) {
    PESS_TRY(pess__settle(&table, options, &e->options, error));
    PESS_TRY(check_read(&e->kind->info, &e->options, error));
    PESS_TRY(pess__allocate(&e->texts, ROW_COUNT, sizeof *e->texts, "the settings", error));
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const char *value = own_default(e->kind, &rows[i]);
        if (value != NULL && pess__experiment_reads(&e->kind->info, &rows[i]) &&
            pess_setting_is_default(&table, &e->options, rows[i].name))
            PESS_TRY(pess_setting_set(&table, &e->options, rows[i].name, value, error));
    }
    return own_texts(e, error);
}

void pess__experiment_release_texts(pess_experiment *e) {
    for (size_t i = 0; e->texts != NULL && i < ROW_COUNT; i++) free(e->texts[i]);
    free(e->texts);
}
