/* Pessimist: the paper's experiments and figures (section 6). Experimental: names may change between minor versions.
 *
 * An experiment is a row: the axis along which its curves run, what a run computes, and the claims that its curves are
 * judged by. Tabular ones make thousands of trials of milliseconds; those with games train networks for minutes on each
 * of many datasets. Both are created, run, written and resumed by the same few functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_EXPERIMENTS_H
#define PESS_EXPERIMENTS_H

#include "pess/networks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- which there are */

/* What the curves run along. */
typedef struct pess_experiment_axis {
    const char *name;  /* "epsilon" */
    const char *label; /* "ε of the data policy" */
    bool log_scale;
} pess_experiment_axis;

/* What the band around a curve shows. */
typedef enum pess_band {
    PESS_BAND_CI95, /* a 95 % interval of the mean */
    PESS_BAND_RANGE /* from the smallest to the largest trial */
} pess_band;

typedef struct pess_experiment_info {
    const char *name, *summary, *title;
    pess_experiment_axis x;
    const char *y_label;
    pess_band band;
    const char *columns;  /* words: the names of a point's further values, "below_optimal epsilon" */
    const char *settings; /* words: the settings that it reads beside those that every experiment reads */
    const char *findings; /* heading of its claims */
} pess_experiment_info;

PESS_API const pess_experiment_info *pess_experiment_list(size_t index); /* by position from 0; NULL past the last */
PESS_API const pess_experiment_info *pess_experiment_find(const char *name); /* NULL: there is none */

/* ---- settings */

/* The paper's text and the code that made its figures differ in some settings; a preset chooses all of them at once,
 * and each is a setting of its own. */
typedef enum pess_preset {
    PESS_PRESET_CODE, /* what made the figures: Beta(1,3) rewards, clipped penalised rewards, data from ρ in figure 1a
                       */
    PESS_PRESET_TEXT  /* the paper's words: Beta(3,1) rewards, no clipping, data from the stationary law */
} pess_preset;

typedef struct pess_experiment_options {
    size_t size;
    const char *experiment; /* a name of pess_experiment_list */
    int64_t trials;
    const char *algorithms;
    uint64_t seed;
    int threads;
    const char *out; /* directory; NULL: nothing is kept */
    bool resume;
    /* bandit and gridworlds */
    int64_t points;
    pess_preset preset;
    int64_t rows, cols;
    double gamma;
    double reward_beta[2];
    int state_dist; /* pess_state_dist, or -1 */
    int clip;       /* 1: on, 0: off, or -1 */
    double absorbed_alpha;
    /* games */
    const char *games, *epsilons, *sizes;
    double epsilon;
    int64_t transitions;
    int controls;         /* 1: on, 0: off, or -1 */
    int64_t train_seeds;  /* trainings on each dataset */
    const char *protocol; /* a name of pess_protocol_list */
    const char *policies; /* directory of the players that collect, GAME.pessnet */
    const char *shard;    /* "2/8" */
    bool keep_data;
    /* A line about every finished run, with the seconds that the others will take, about; and about what data do not
     * support, with NAN. NULL: none. */
    void (*notice)(void *user, const char *line, double seconds_left);
    void *notice_user;
    pess_progress progress;
} pess_experiment_options;

/* The settings in pess_experiment_options, a row each. */
PESS_API const pess_setting_table *pess_experiment_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_experiment_options pess_experiment_options_defaults(void);
/* The rows that one experiment reads, with its own defaults; NULL: there is no such experiment. */
PESS_API const pess_setting_table *pess_experiment_settings_of(const char *experiment);

/* ---- running */

typedef struct pess_experiment pess_experiment;

/* Checks the options and reads what the directory `out` holds already. Nothing is run or written. */
PESS_API pess_status pess_experiment_create(const pess_experiment_options *options, pess_experiment **out,
                                            pess_error *error);
/* Frees it. */
PESS_API void pess_experiment_destroy(pess_experiment *experiment);

typedef struct pess_experiment_cost {
    int64_t datasets, runs, finished; /* of this shard */
    int64_t threads;
    double samples; /* that networks still have to learn from, repetitions counted; 0 without networks */
    double seconds; /* that it takes on this machine, about */
    bool measured;  /* by a first few steps or trials; false: by the runs that are finished */
} pess_experiment_cost;

/* What is left to run, and about how long it takes here. */
PESS_API pess_status pess_experiment_estimate(pess_experiment *experiment, pess_experiment_cost *out,
                                              pess_error *error);
/* Runs what is not finished; finished runs are kept in `out` one by one. PESS_INTERRUPTED where progress asked to stop:
 * the same options with resume go on from there to the same results. */
PESS_API pess_status pess_experiment_run(pess_experiment *experiment, pess_error *error);

/* ---- what came out */

enum { PESS_EXPERIMENT_VALUES = 8 };

/* A point of a curve: means over trials. Every trial gives all algorithms the same data, so that differences between
 * them are paired. */
typedef struct pess_experiment_point {
    const char *game; /* NULL: without games */
    const char *algorithm;
    double x;
    int64_t trials; /* that are finished */
    double mean;
    double ci95;                           /* half-width of the 95 % interval of the mean; NAN: not known */
    double min, max;                       /* of the trials */
    double values[PESS_EXPERIMENT_VALUES]; /* in the order of info.columns; NAN: does not apply */
} pess_experiment_point;

/* What is expected, the rule by which it is judged, and what came out. */
typedef struct pess_experiment_claim {
    const char *about; /* an algorithm, a game, "all games" or "data" */
    const char *claim;
    const char *rule; /* NULL: the claim is its own rule */
    bool judged;      /* false: a finding, or a point that the rule needs is not there; `holds` then says nothing */
    bool holds;
    char found[400];
    const char *reason; /* why it does not hold with these settings, where that is known; else NULL */
} pess_experiment_claim;

/* The row of pess_experiment_list that was run. */
PESS_API const pess_experiment_info *pess_experiment_get_info(const pess_experiment *experiment);
/* The settings as they are used: what was not set has its value now. */
PESS_API void pess_experiment_get_options(const pess_experiment *experiment, pess_experiment_options *out);
PESS_API const char *pess_experiment_description(const pess_experiment *experiment); /* what was run, in words */
PESS_API double pess_experiment_seconds(const pess_experiment *experiment);
/* All points of all curves, [count]; borrowed. */
PESS_API const pess_experiment_point *pess_experiment_points(const pess_experiment *experiment, size_t *count);
/* The point's value of this name, one of info.columns; NAN where there is none. */
PESS_API double pess_experiment_value(const pess_experiment *experiment, const pess_experiment_point *point,
                                      const char *column);
/* All claims, [count]; borrowed. */
PESS_API const pess_experiment_claim *pess_experiment_claims(const pess_experiment *experiment, size_t *count);

/* results.csv, figure.svg, figure.png, figure.pdf, index.html, manifest.json and a table of all trials or runs, in the
 * experiment's directory, all of them or none. `command` is the command line that repeats it, for the page. */
PESS_API pess_status pess_experiment_write(const pess_experiment *experiment, const char *command, pess_error *error);
/* Puts the runs of several directories (shards) together in the directory `out`, which must be new or empty, and hands
 * out the whole experiment, to be written. PESS_INPUT where settings differ or, unless `partial`, runs are missing. */
PESS_API pess_status pess_experiment_merge(const char *const *directories, size_t count, const char *out, bool partial,
                                           pess_experiment **experiment, pess_error *error);

/* ---- figures */

/* Draws results (directories, or files results.csv), a panel each, into an .svg, .png or .pdf; and learning curves
 * (files with columns frame and return: the log.csv of a training run; with a column game, a panel per game).
 * `algorithms`, "a,b,…", names the curves that are drawn, in this order; NULL: all. */
PESS_API pess_status pess_figure_write(const char *const *results, size_t count, const char *algorithms,
                                       const char *path, pess_error *error);
/* Can figures be drawn here? PESS_IO says why not (no cairo, no font); then experiments, comparisons and choices are
 * written without theirs. */
PESS_API pess_status pess_figure_possible(pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
