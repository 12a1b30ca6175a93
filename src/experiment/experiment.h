/* Experiments: one file per experiment, one row in the table of experiment.c. A row says along which axis the curves
 * run, what a run computes, and what is judged. How runs are planned, kept and summed up is an engine's: trials.h for
 * thousands of trials of milliseconds, games.h for trainings of minutes. Both hand their runs to an executor. */
#ifndef PESS_EXPERIMENT_EXPERIMENT_H
#define PESS_EXPERIMENT_EXPERIMENT_H

#include "core/dirlock.h"
#include "core/status.h"

/* The default of a setting that every experiment has another one for. */
typedef struct pess__experiment_default {
    const char *name, *value;
} pess__experiment_default;

/* A table of the page: rows are x, columns are algorithms, and a cell holds these values of the point. */
typedef struct pess__experiment_table {
    const char *title, *note; /* note may be NULL */
    const char *columns;      /* words, written "a / b"; "mean" comes with its band, "a%" is a share */
    const char *ci95;         /* the column that holds the half-width of the first one; NULL: none */
    const char *y_label;      /* the columns are drawn as well, with this label; NULL: not */
    bool folded;              /* opened by a click */
} pess__experiment_table;

typedef struct pess__engine pess__engine;

typedef struct pess__experiment_kind {
    pess_experiment_info info;
    const pess__experiment_default *defaults; /* ends with a row without a name */
    const char *results;                      /* words: the columns that results.csv has beside mean and band */
    bool panel_per_dataset;                   /* a panel for every (epsilon, transitions) of the columns */
    const pess__experiment_table *tables;     /* ends with a row without a title */
    bool averages;                            /* a table of means over the axis, game by game */
    const char *share_of;                     /* … and as shares of this curve at the first x; NULL: not */
    const char *explanation;                  /* a paragraph of the page on what the curves are */
    const pess__engine *engine;
    const struct pess__trial_kind *trial; /* of engine trials */
    const struct pess__games_axis *games; /* of engine games */
} pess__experiment_kind;

/* What some runs of a curve warn of. */
typedef struct pess__experiment_warning {
    const char *game, *algorithm, *text;
    int64_t runs;
} pess__experiment_warning;

struct pess_experiment {
    const pess__experiment_kind *kind;
    pess_experiment_options options; /* resolved; its texts are owned by `texts` */
    char **texts;                    /* [rows of the settings] */
    char description[1600];
    char note[400]; /* the settings as a line: "1000 trials · preset code · seed 1" */
    double seconds; /* of the last run */
    int64_t point_count, point_room, claim_count, claim_room, warning_count, warning_room;
    pess_experiment_point *points; /* curve after curve, panel after panel */
    pess_experiment_claim *claims;
    pess__experiment_warning *warnings;
    void *plan; /* the engine's */
    pess__directory_lock lock;
    bool merged; /* of shards, and not written yet */
};

struct pess__engine {
    const char *files; /* words: what it writes beside the files of every experiment */
    const char *kept;  /* words: where it keeps finished runs; the first is there where any are */
    /* Checks and resolves the options, makes the plan with the description. */
    pess_status (*plan)(pess_experiment *experiment, pess_error *error);
    /* Reads what running needs beside the plan; NULL: nothing. */
    pess_status (*open)(pess_experiment *experiment, pess_error *error);
    /* Reads the finished runs of the directory `out`, which holds some. */
    pess_status (*read)(pess_experiment *experiment, pess_error *error);
    pess_status (*estimate)(pess_experiment *experiment, pess_experiment_cost *out, pess_error *error);
    /* Runs what is not finished, makes points and claims. */
    pess_status (*run)(pess_experiment *experiment, pess_error *error);
    /* Settings beside those of the table, as lines "key=value", for the manifest. NULL: none. */
    void (*facts)(const pess_experiment *experiment, char *out, size_t size);
    /* Finished runs, and the seconds that they took together; NAN: not known. */
    int64_t (*finished)(const pess_experiment *experiment, double *seconds);
    void (*written)(
        const pess_experiment *experiment); /* the files are there: what served until then can go; or NULL */
    /* The runs of several directories in the new directory `out`; points and claims from them. */
    pess_status (*merge)(const char *const *directories, size_t count, const char *out, bool partial,
                         pess_experiment **experiment, pess_error *error);
    void (*destroy)(pess_experiment *experiment);
};

extern const pess__engine pess__engine_trials, pess__engine_games;

/* ---- for engines and rows */

const pess__experiment_kind *pess__experiment_row(size_t index); /* NULL past the last */
/* e->options from the caller's: checked, filled up with the row's defaults, texts copied. */
pess_status pess__experiment_resolve(pess_experiment *experiment, const pess_experiment_options *options,
                                     pess_error *error);
void pess__experiment_release_texts(pess_experiment *experiment);
/* An experiment with these options, resolved by the row's defaults and planned; the directory is not looked at. */
pess_status pess__experiment_plan(const pess_experiment_options *options, pess_experiment **out, pess_error *error);
/* Replaces a text among the options by a copy. */
pess_status pess__experiment_set_text(pess_experiment *experiment, const char *setting, const char *text,
                                      pess_error *error);
/* The next point, with values that do not apply; NULL: no memory. */
pess_experiment_point *pess__experiment_add_point(pess_experiment *experiment, pess_error *error);
/* The next claim, to be judged; NULL: no memory. */
pess_experiment_claim *pess__experiment_add_claim(pess_experiment *experiment, const char *about, const char *claim,
                                                  const char *rule, pess_error *error);
pess_status pess__experiment_add_warning(pess_experiment *experiment, const pess__experiment_warning *warning,
                                         pess_error *error);
/* Place of a name among the row's columns; -1: none. */
int pess__experiment_column(const pess__experiment_kind *kind, const char *name);
/* Is this setting read by the experiment? */
bool pess__experiment_reads(const pess_experiment_info *info, const pess_setting *setting);

/* ---- directories (directory.c) */

enum { PESS__EXPERIMENT_PATH = 4200 };

/* `out` is new, empty or of an experiment with this engine. *used: it holds finished runs. */
pess_status pess__experiment_check_directory(const char *directory, const pess__engine *engine, bool *used,
                                             pess_error *error);
pess_status pess__experiment_make_directories(const char *path, pess_error *error);
/* Removes what a merge that failed has put there. */
void pess__experiment_undo_merge(const char *directory, const pess__engine *engine);
/* The words of a list, one by one: the next one is copied to `word`; NULL at the end. */
const char *pess__next_word(const char *list, char *word, size_t size);

/* ---- the rows */
/* One file each: pess__experiment_<name>. */
/* clang-format off */
#define PESS__EXPERIMENTS(X)                                                                                           \
    X(bandit) X(gridworld_exploration) X(gridworld_data) X(gridworld_alpha) X(minatar_exploration) X(minatar_data) \
    X(minatar_settled)
/* clang-format on */
#define PESS__DECLARE(name) extern const pess__experiment_kind pess__experiment_##name;
PESS__EXPERIMENTS(PESS__DECLARE)
#undef PESS__DECLARE

#endif
