/* Pessimist: the paper's experiments and figures (section 6). Experimental: names may change between minor versions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_EXPERIMENTS_H
#define PESS_EXPERIMENTS_H

#include "pess/networks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The paper's text and the code that made its figures differ in some settings; a preset chooses all of them at once,
 * and each is an option of its own. */
typedef enum pess_preset {
    PESS_PRESET_CODE, /* what made the figures: Beta(1,3) rewards, clipped penalised rewards, data from ρ in figure 1a
                       */
    PESS_PRESET_TEXT  /* the paper's words: Beta(3,1) rewards, no clipping, data from the stationary law */
} pess_preset;

typedef struct pess_experiment_info {
    const char *name, *summary, *title;
    const char *x_label, *y_label;
    const char *findings; /* heading of pess_experiment_predictions */
    bool log_x;
    int64_t default_trials, default_points;
} pess_experiment_info;

PESS_API const pess_experiment_info *pess_experiment_list(size_t *count);
PESS_API const pess_experiment_info *pess_experiment_find(const char *name);

/* A setting of 0 trials or points, NAN, or -1 is the experiment's and the preset's own. */
typedef struct pess_experiment_options {
    const char *experiment; /* a name of pess_experiment_list */
    int64_t trials, points; /* bandit has one point; it does not read rows to absorbed_alpha, but for gamma */
    uint64_t seed;          /* default 1 */
    pess_preset preset;
    int64_t rows, cols; /* of the gridworld; default 8×8 */
    double gamma;
    double beta_a, beta_b; /* mean rewards are drawn from Beta(a,b) */
    int state_dist;        /* pess_state_dist, or -1 */
    int clip;              /* 1: clip UA's penalised reward to [0,1]; 0: do not; or -1 */
    double absorbed_alpha; /* default 1; not read by gridworld-alpha */
    /* "a,b,…": families, each "name" or "name:uncertainty", e.g. "ua,robust:l1,ua:hoeffding-s". NULL: the paper's four,
     * imitation, naive, ua, proximal. The random and the optimal policy are always there. */
    const char *algorithms;
    int threads;
    const char *checkpoint; /* file that keeps finished trials while the experiment runs; NULL: none */
    bool resume;            /* go on with the trials that it holds */
    pess_progress progress;
} pess_experiment_options;

PESS_API pess_experiment_options pess_experiment_options_defaults(void);

/* One point of one curve. Every trial gives all algorithms the same MDP and the same dataset, so differences are
 * paired: `regret` is the mean of (optimal − this one) over trials. */
typedef struct pess_experiment_point {
    const char *algorithm;
    double x;
    int64_t trials;
    double mean, ci95; /* half-width of the 95 % interval of the mean */
    double regret, regret_ci95;
    double epsilon;      /* of the policy that collected the data; NAN where there is none */
    int64_t transitions; /* in the dataset */
    double alpha_theory; /* gridworld-alpha: x in the theory's units; NAN elsewhere */
} pess_experiment_point;

/* What the paper predicts, and what came out. */
typedef struct pess_prediction {
    const char *algorithm, *claim;
    bool judged; /* false: a finding, not a prediction; `holds` then says nothing */
    bool holds;
    char found[240];
    const char *reason; /* why it does not hold under this preset, where it is known; else NULL */
} pess_prediction;

typedef struct pess_experiment pess_experiment;

PESS_API pess_status pess_experiment_run(const pess_experiment_options *options, pess_experiment **out,
                                         pess_error *error);
PESS_API void pess_experiment_destroy(pess_experiment *experiment);
/* The settings, resolved: what was 0, NAN or -1 is now what was used. */
PESS_API void pess_experiment_get_options(const pess_experiment *experiment, pess_experiment_options *out);
PESS_API double pess_experiment_seconds(const pess_experiment *experiment);
PESS_API const char *pess_experiment_description(const pess_experiment *experiment); /* what was run, in words */
PESS_API const pess_experiment_point *pess_experiment_points(const pess_experiment *experiment, size_t *count);
PESS_API const pess_prediction *pess_experiment_predictions(const pess_experiment *experiment, size_t *count);

/* Makes `directory` ready for results: creates it, or checks that it is empty, holds earlier results (which will be
 * replaced) or, with resume, an interrupted run. Writes the name of its checkpoint file to `checkpoint`. */
PESS_API pess_status pess_experiment_directory(const char *directory, bool resume, char *checkpoint, size_t size,
                                               pess_error *error);
/* results.csv, paired.csv, trials.csv.gz, figure.svg, figure.png, figure.pdf, index.html and manifest.json, all of them
 * or none; removes the checkpoint. `command` is the command line that repeats the experiment, for the page. */
PESS_API pess_status pess_experiment_write(const pess_experiment *experiment, const char *directory,
                                           const char *command, pess_error *error);
/* Draws results (directories, or files results.csv), a panel each, into an .svg, .png or .pdf; and learning curves
 * (files with columns frame and return: the log.csv of a training run; with a column game, a panel per game).
 * `algorithms`, "a,b,…", names the curves that are drawn, in this order; NULL: all. */
PESS_API pess_status pess_figure_write(const char *const *results, size_t count, const char *algorithms,
                                       const char *path, pess_error *error);

/* ---- experiments with games */

/* The paper's deep experiments. x is the ε of the policy that collected the data ("minatar-exploration") or the number
 * of transitions ("minatar-data"). Every (game, x, trial) is a dataset with seeds of its own: data, imitation network
 * and training; every algorithm is trained on it. A finished training leaves result.json in
 * out/runs/GAME/x-X/trial-T/ALGORITHM and is not run again; an interrupted one goes on from its checkpoint. */
PESS_API const pess_experiment_info *pess_minatar_list(size_t index); /* by position from 0; NULL past the last */
PESS_API const pess_experiment_info *pess_minatar_find(const char *name);

typedef struct pess_minatar_options {
    const char *experiment; /* a name of pess_minatar_list */
    const char *games;      /* "a,b,…". Default asterix,breakout,freeway,space_invaders */
    const char *algorithms; /* "a,b,…", each NAME or NAME:ALPHA. Default imitation,naive,proximal:0.25,proximal:0.5 */
    bool controls;          /* uncertainty-aware learners bring imitation, proximal and counts-alone. Default true */
    const char *epsilons;   /* x of minatar-exploration. Default 0,0.05,0.1,0.2,0.33,0.66,1 */
    const char *sizes;      /* x of minatar-data. Default 10000,20000,50000,100000,200000,500000 */
    double epsilon;         /* of minatar-data. Default 1 */
    int64_t transitions;    /* of minatar-exploration; 0: the protocol's */
    int64_t trials;         /* Default 3 */
    pess_protocol protocol; /* a copy, to be changed at will; default "quick" */
    const char *policies;   /* directory of the players that collect, GAME.pessnet */
    const char *out;        /* directory */
    bool resume;            /* `out` holds runs already: go on with them */
    bool keep_data;         /* datasets stay beside their runs. Default false: they are collected again from the seed;
                               those that an earlier run in `out` has kept stay */
    uint64_t seed;
    int64_t shard, shards; /* this part, from 1, of so many: every shards-th dataset. Default 1 of 1 */
    int64_t jobs;          /* trainings at once, a thread each; 0: as many as there are cores */
    /* A line about every finished run, with the seconds that the others will take, about; and about what data do not
     * support, with NAN. NULL: none. */
    void (*notice)(void *user, const char *line, double seconds_left);
    void *notice_user;
    pess_progress progress;
} pess_minatar_options;

PESS_API pess_minatar_options pess_minatar_options_defaults(void);

typedef struct pess_minatar pess_minatar;

/* Checks the options and the players, reads the results that are there. Nothing is written. */
PESS_API pess_status pess_minatar_create(const pess_minatar_options *options, pess_minatar **out, pess_error *error);
PESS_API void pess_minatar_destroy(pess_minatar *experiment);

typedef struct pess_minatar_cost {
    int64_t datasets, runs, finished; /* of this shard */
    int64_t jobs;
    double samples; /* that the runs still have to learn from, repetitions counted */
    double seconds; /* that they take with `jobs` at once on this machine, about */
    bool measured;  /* by a few training steps; false: by the runs that are finished */
} pess_minatar_cost;

PESS_API pess_status pess_minatar_estimate(pess_minatar *experiment, pess_minatar_cost *out, pess_error *error);
/* Runs what is not finished. PESS_INTERRUPTED where progress asked to stop; the same options with resume go on. */
PESS_API pess_status pess_minatar_run(pess_minatar *experiment, pess_error *error);

/* A point of a curve: means over trials; min and max of the same scores. Beside the algorithms there are curves
 * "behaviour", the policy that collected the data, and "NAME-argmax" for algorithms that act by sampling. NAN: does not
 * apply. */
typedef struct pess_minatar_point {
    const char *game, *algorithm;
    double x;
    int64_t trials;        /* that are finished */
    double mean, min, max; /* of pess_train_result.score */
    double final_mean;     /* of the final update alone */
    double best_mean;      /* of the best evaluations seen: not a result */
    double control_mean;   /* acting by argmax */
    double predicted, obtained, outside, spread;
    double behaviour_mean;
} pess_minatar_point;

/* What is expected of a game ("all games": of all), the rule by which it is judged, and what came out. */
typedef struct pess_minatar_claim {
    const char *game, *claim, *rule;
    bool judged; /* false: a curve or a point that the rule needs is not there */
    bool holds;
    char found[400];
} pess_minatar_claim;

PESS_API const pess_minatar_point *pess_minatar_points(const pess_minatar *experiment, size_t *count);
PESS_API const pess_minatar_claim *pess_minatar_claims(const pess_minatar *experiment, size_t *count);
PESS_API const char *pess_minatar_description(const pess_minatar *experiment); /* what was run, in words */
/* results.csv, runs.csv, figure.svg, figure.png, figure.pdf, index.html and manifest.json in the experiment's
 * directory, all of them or none. `command` is the command line that repeats it, for the page. */
PESS_API pess_status pess_minatar_write(const pess_minatar *experiment, const char *command, pess_error *error);
/* Puts the runs of several directories (shards) together in the directory `out`, which must be new or empty, and hands
 * out the whole experiment, to be written. PESS_INPUT where settings differ or, unless `partial`, runs are missing. */
PESS_API pess_status pess_minatar_merge(const char *const *directories, size_t count, const char *out, bool partial,
                                        pess_minatar **experiment, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
