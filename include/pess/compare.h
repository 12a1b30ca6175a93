/* Pessimist: runs of several learners compared, as researchers do (docs/scoring.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_COMPARE_H
#define PESS_COMPARE_H

#include "pess/experiments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scores of runs on several tasks (a game, or a game at a value of the experiment's axis), after Agarwal et al. 2021
 * (rliable): interquartile means, probabilities of improvement and performance profiles, with intervals from resamples
 * of the runs within each task. */

/* What is done to scores before they are put together over tasks. */
typedef enum pess_compare_scale {
    PESS_SCALE_RANGE, /* per game: the smallest score of all runs is 0, the largest 1 */
    PESS_SCALE_NONE   /* nothing: all tasks are on one scale */
} pess_compare_scale;

typedef struct pess_compare_options {
    size_t size;
    const char *algorithms; /* "a,b,…": which of those there are, in this order; NULL: all */
    pess_compare_scale scale;
    int64_t resamples;
    double delta; /* error probability of the intervals */
    uint64_t seed;
    int threads; /* 0: all there are. The result does not depend on it */
} pess_compare_options;

/* The settings in pess_compare_options, a row each. */
PESS_API const pess_setting_table *pess_compare_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_compare_options pess_compare_options_defaults(void);

typedef struct pess_interval {
    double value, lo, hi; /* lo and hi: percentiles of the resamples */
} pess_interval;

typedef struct pess_compared {
    const char *name; /* of the algorithm; with its directory where several directories have it */
    int64_t runs;
    pess_interval iqm;    /* mean of the middle half of all runs on all tasks */
    pess_interval mean;   /* of all runs on all tasks */
    pess_interval median; /* of the tasks' means */
} pess_compared;

/* How one algorithm did on one task, in the units of the task. */
typedef struct pess_compared_task {
    const char *game;
    double x; /* of the experiment's axis; NAN: there is none */
    const char *algorithm;
    int64_t runs;
    double mean;
    pess_interval iqm;
} pess_compared_task;

/* P(X > Y): a run of one beats a run of the other on the same task, ties half; mean over the tasks. */
typedef struct pess_improvement {
    const char *better, *than; /* X and Y */
    pess_interval probability;
} pess_improvement;

enum { PESS_PROFILE_POINTS = 51 };

typedef struct pess_comparison pess_comparison;

typedef struct pess_comparison_info {
    int64_t algorithms, tasks, left_out; /* left_out: tasks that not all of them have */
    int64_t resamples;
    double delta;
    pess_compare_scale scale;
    double tau[PESS_PROFILE_POINTS]; /* where profiles are given */
    char warning[256];
} pess_comparison_info;

/* Directories of experiments with games (runs.csv) or of trainings (manifest.json; those that differ in seed and data
 * alone are runs of one algorithm). PESS_INPUT where one is neither, or no task is common to all algorithms. */
PESS_API pess_status pess_compare_directories(const char *const *directories, size_t count,
                                              const pess_compare_options *options, pess_comparison **out,
                                              pess_error *error);
/* Frees it. */
PESS_API void pess_comparison_destroy(pess_comparison *comparison);
/* How many algorithms and tasks there are, and how they were compared. */
PESS_API void pess_comparison_get_info(const pess_comparison *comparison, pess_comparison_info *out);
/* By position from 0; NULL past the last. */
PESS_API const pess_compared *pess_comparison_algorithm(const pess_comparison *comparison, size_t index);
/* One algorithm on one task. */
PESS_API const pess_compared_task *pess_comparison_task(const pess_comparison *comparison, size_t index);
/* The probability that one algorithm does better than another. */
PESS_API const pess_improvement *pess_comparison_improvement(const pess_comparison *comparison, size_t index);
/* The share of runs with a score above tau, [PESS_PROFILE_POINTS], of the algorithm at that position; NULL. */
PESS_API const pess_interval *pess_comparison_profile(const pess_comparison *comparison, size_t index);

/* index.html, figure.svg, figure.png, algorithms.csv, tasks.csv, improvements.csv and profiles.csv into the directory,
 * together; `command` may be NULL. */
PESS_API pess_status pess_comparison_write(const pess_comparison *comparison, const char *command,
                                           const char *directory, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
