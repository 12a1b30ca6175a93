/* Pessimist: states made of measurements. A map turns a row of measurements (age, lactate, blood pressure) into a cell,
 * and cells are states. Maps are made of one part of the episodes and kept in files; the other part chooses and
 * certifies a policy. docs/cells.md tells what is computed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_CELLS_H
#define PESS_CELLS_H

#include "pess/data.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PESS_MAX_FEATURES 1024
#define PESS_MAX_CELLS 65536

/* ---- measurements */

/* Rows of measurements, each with a name, and what was decided there: a log before its states have numbers. */
typedef struct pess_measurements pess_measurements;

/* Column by column, as in pess_columns; `values` is row-major, NAN where a measurement is missing. Optional columns are
 * NULL. */
typedef struct pess_measurement_columns {
    int64_t rows, features;
    const char *const *names;  /* [features] */
    const double *values;      /* [rows*features] */
    const uint32_t *action;    /* optional */
    const double *reward;      /* optional */
    const uint8_t *end;        /* optional: pess_end */
    const int64_t *episode;    /* optional; equal within an episode, its name is the integer in decimal */
    const int64_t *step;       /* optional; position within the episode */
    const double *probability; /* optional; with which the action was taken */
} pess_measurement_columns;

typedef struct pess_measurements_options {
    size_t size;
    const char *features; /* names of columns, "age,lactate" */
    int last_row;         /* pess_last_row */
    int threads;
    pess_progress progress;
    /* How the text is read: columns, separator, decimal sign, encoding, reading. NULL: what is found by looking. */
    const pess_read_options *read;
} pess_measurements_options;

/* The settings in pess_measurements_options, a row each. */
PESS_API const pess_setting_table *pess_measurements_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_measurements_options pess_measurements_options_defaults(void);

/* A CSV file (plain or gzip; "-": standard input) with the named columns and, where it has them, episode, step, action,
 * reward, terminal, truncated and probability. Empty fields, NA, NaN and null are missing measurements. */
PESS_API pess_status pess_measurements_read(const char *path, const pess_measurements_options *options,
                                            pess_measurements **out, pess_error *error);
/* Copies the columns. */
PESS_API pess_status pess_measurements_create(const pess_measurement_columns *columns, pess_measurements **out,
                                              pess_error *error);
/* Frees it. */
PESS_API void pess_measurements_destroy(pess_measurements *measurements);
/* The columns, borrowed: they live as long as the measurements. */
PESS_API void pess_measurements_columns(const pess_measurements *measurements, pess_measurement_columns *out);
PESS_API int64_t pess_measurements_episodes(const pess_measurements *measurements); /* 0: no such column */
PESS_API const pess_names *pess_measurements_episode_names(const pess_measurements *measurements);
/* Names of the actions; NULL: integers. */
PESS_API const pess_names *pess_measurements_action_names(const pess_measurements *measurements);
/* How they were read; NULL: they are from arrays. */
PESS_API const pess_reading *pess_measurements_reading(const pess_measurements *measurements);

/* ---- datasets of observations made of them */

/* Measurements as floats that networks learn from, without cells. What follows a row is the next row of its episode, by
 * step where there is one; the last row of an episode that was cut off is left out, as nobody knows what came next. A
 * measurement that is missing is PESS_INPUT. */
PESS_API pess_status pess_measurements_observations(const pess_measurements *measurements,
                                                    const pess_observations_options *options, pess_observations **out,
                                                    pess_error *error);

/* How actions that were logged as vectors become a few that learners choose among. One of the two is set. */
typedef struct pess_actions_options {
    size_t size;
    /* Values per number: "5" or "5,3" between the least and the most that were logged, or as declared,
     * "-1:1:5,0:2:3"; NULL: no grid. */
    const char *grid;
    int64_t kmeans; /* centres of the logged actions; 0: none */
} pess_actions_options;

typedef struct pess_actions_fit {
    int64_t width, actions; /* numbers of a vector, and how many actions there are now */
    int64_t unlogged;       /* actions that no logged vector is nearest to */
    double lost;            /* share of the logged actions' variance, number by number, that is lost by the choice */
} pess_actions_fit;

/* The settings in pess_actions_options, a row each. */
PESS_API const pess_setting_table *pess_actions_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_actions_options pess_actions_options_defaults(void);
/* Numbers the vectors of the data by the nearest of the chosen ones, each number counted in deviations of the log; the
 * data keep what they stand for (pess_observations_actions), and so do policies learnt from them. PESS_ARGUMENT where
 * the data have no vectors, or nothing is set. fit may be NULL. */
PESS_API pess_status pess_observations_number_actions(pess_observations *data, const pess_actions_options *options,
                                                      pess_actions_fit *fit, pess_error *error);
/* The same by vectors that are chosen already, values [actions*width]: those of a policy (pess_policy_info), so that
 * other data than it learnt from judge it. */
PESS_API pess_status pess_observations_number_actions_as(pess_observations *data, const float *values, int64_t actions,
                                                         int64_t width, pess_actions_fit *fit, pess_error *error);

/* ---- maps */

typedef struct pess_map pess_map;

typedef enum pess_cells_method { PESS_CELLS_KMEANS, PESS_CELLS_BINS, PESS_CELLS_TREE } pess_cells_method;

typedef struct pess_cells_method_info {
    const char *name, *summary;
    const char *settings; /* names of the settings that it reads beyond the common ones */
} pess_cells_method_info;

PESS_API const pess_cells_method_info *pess_cells_method_list(size_t index); /* by position; NULL past the last */

typedef struct pess_cells_options {
    size_t size;
    pess_cells_method method;
    int64_t cells;
    double share;        /* of the episodes that make the cells */
    const char *missing; /* "median", or a rule per column: "age=refuse,lactate=flag,sex=0" */
    double clip;
    int64_t restarts, max_iterations;
    double tolerance;
    uint64_t seed;       /* of the start of k-means */
    uint64_t split_seed; /* of the choice of episodes */
    int threads;
    pess_progress progress;
} pess_cells_options;

/* The settings in pess_cells_options, a row each. */
PESS_API const pess_setting_table *pess_cells_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_cells_options pess_cells_options_defaults(void);

/* Makes the cells of the episodes that pess_map_made_of names; the others are not looked at. `source` is kept as the
 * name of the log; NULL is fine. */
PESS_API pess_status pess_map_make(const pess_measurements *measurements, const char *source,
                                   const pess_cells_options *options, pess_map **out, pess_error *error);
/* Frees it. */
PESS_API void pess_map_destroy(pess_map *map);
/* Files .pessmap (docs/formats.md). */
PESS_API pess_status pess_map_read(const char *path, pess_map **out, pess_error *error);
/* Writes a map, whole or not at all. */
PESS_API pess_status pess_map_write(const pess_map *map, const char *path, pess_error *error);

typedef struct pess_map_info {
    const char *method;
    int64_t features, cells;
    int64_t rows, episodes; /* that made the cells; episodes 0: the log had none */
    double share, clip;
    uint64_t seed, split_seed;
    double inertia;     /* mean squared distance of the rows to the centres of their cells */
    int64_t iterations; /* of k-means over all rows; 0 for other methods */
    bool converged;
    const char *source;  /* "" where none was given */
    const char *version; /* of the library that made it */
} pess_map_info;

/* How the map was made. Texts live as long as the map. */
PESS_API void pess_map_get_info(const pess_map *map, pess_map_info *out);

/* What a missing measurement counts as. */
typedef enum pess_missing {
    PESS_MISSING_REFUSE, /* an error */
    PESS_MISSING_MEDIAN, /* the median of the rows that made the cells */
    PESS_MISSING_VALUE,  /* a value that was given */
    PESS_MISSING_FLAG    /* the median, and the fact that it is missing is a measurement of its own */
} pess_missing;

typedef struct pess_map_column {
    const char *name;
    pess_missing missing;
    double fill;          /* what a missing one counts as; NAN where it is refused */
    double middle, scale; /* standardised: (x - middle) / scale */
    double low, high;     /* of the rows that made the cells */
    int64_t missing_rows; /* among them */
} pess_map_column;

/* One of its features, by position from 0. */
PESS_API void pess_map_get_column(const pess_map *map, int64_t feature, pess_map_column *out);
/* The names of the columns, "age,lactate": what pess_measurements_read needs to read a file for this map. */
PESS_API const char *pess_map_features(const pess_map *map);
/* Is the episode of this name in the part that made the cells? It is where
 * mix(split seed + FNV-1a(name)) < share * 2^64, mix being SplitMix64's finisher. */
PESS_API bool pess_map_made_of(const pess_map *map, const char *episode);
/* What a cell is, in words, cut to size - 1 characters: "age <= 61.5 and lactate > 2.1". */
PESS_API void pess_map_describe(const pess_map *map, int64_t cell, char *text, size_t size);

/* Rows of the cell among those that made the cells. */
PESS_API int64_t pess_map_cell_rows(const pess_map *map, int64_t cell);

/* A node of a tree; the root is number 0. A leaf has a cell, any other node asks: is the feature below the threshold,
 * or (missing) is it there? */
typedef struct pess_map_node {
    int64_t feature;
    bool missing;
    double threshold;
    int64_t below, otherwise; /* nodes */
    int64_t cell;             /* -1: not a leaf */
} pess_map_node;

PESS_API bool pess_map_get_node(const pess_map *map, int64_t index, pess_map_node *out); /* false: no such node */

/* Where a row of measurements lies. */
typedef struct pess_place {
    int64_t cell;
    int64_t rows;    /* of the cell, among those that made the cells */
    double distance; /* to the cell's centre, in standardised units */
    double outside;  /* distance / the largest one of those rows: above 1, farther out than anything seen there */
} pess_place;

/* One row [features], in the order of pess_map_features; takes no memory. */
PESS_API pess_status pess_map_place(const pess_map *map, const double *row, pess_place *out, pess_error *error);
/* All rows, with threads. `cells` [rows]; `places` [rows] or NULL. The names of the features must be the map's. */
PESS_API pess_status pess_map_apply(const pess_map *map, const pess_measurements *measurements, int threads,
                                    uint32_t *cells, pess_place *places, pess_error *error);

typedef enum pess_part { PESS_PART_ALL, PESS_PART_MAKING, PESS_PART_HELD_OUT } pess_part;

/* The log with cells as states. The next state of a row is the cell of the next row of its episode (by step, else by
 * order). The last row of an episode leads nowhere: where it is terminal, its next state is its own cell and nothing
 * follows; else it is left out and the row before it is cut off. */
PESS_API pess_status pess_map_log(const pess_map *map, const pess_measurements *measurements, pess_part part,
                                  int threads, pess_dataset **out, pess_error *error);

/* ---- are the cells good states? */

/* A test of the Markov property on the episodes that did not make the cells: is what follows a row (the next cell or
 * the end, the reward), given its cell and action, told better by one who also knows the cell before? */
typedef struct pess_markov_options {
    size_t size;
    double error_probability; /* with which cells that are Markov are flagged, at most */
    int64_t reward_levels;
} pess_markov_options;

/* The settings in pess_markov_options, a row each. */
PESS_API const pess_setting_table *pess_markov_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_markov_options pess_markov_options_defaults(void);

typedef struct pess_markov_side {
    double bits_one;     /* per held-out row, of a forecaster who knows the cell and the action */
    double bits_two;     /* of one who also knows the cell before */
    double log_evidence; /* ln E; if the cells are Markov, E has mean at most 1 */
} pess_markov_side;

typedef struct pess_markov {
    int64_t rows, episodes; /* held out */
    pess_markov_side next, reward;
    double log_evidence; /* ln of the mean of both E */
    double error_probability;
    bool flagged; /* E >= 1/error_probability: the cells are not Markov */
} pess_markov;

/* Both parts as pess_map_log makes them: the rows of an episode one after the other. */
PESS_API pess_status pess_markov_test(const pess_dataset *making, const pess_dataset *held_out,
                                      const pess_markov_options *options, pess_markov *out, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
