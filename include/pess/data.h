/* Pessimist: logs. Names, columns, files, and what a look at a log finds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_DATA_H
#define PESS_DATA_H

#include "pess/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PESS_MAX_STATES ((int64_t)1 << 28)
#define PESS_MAX_ACTIONS ((int64_t)1 << 20)
#define PESS_MAX_PAIRS ((int64_t)1 << 31)

/* The names of states, actions or episodes. Ids run from 0. Where the input used integers there are no names and
 * a name is the id in decimal. */
typedef struct pess_names pess_names;

/* Copies the texts; id i is names[i]. Names are UTF-8, each once. */
PESS_API pess_status pess_names_create(const char *const *names, int64_t count, pess_names **out, pess_error *error);
/* Frees it. */
PESS_API void pess_names_destroy(pess_names *names);
PESS_API bool pess_names_given(const pess_names *names);                  /* false: ids are the names; NULL is fine */
PESS_API int64_t pess_names_count(const pess_names *names);               /* 0 where there are no names */
PESS_API const char *pess_names_get(const pess_names *names, int64_t id); /* NULL where there are no names */
PESS_API int64_t pess_names_find(const pess_names *names, const char *name); /* -1: not there */

/* How a transition ends. A terminal one has no future: value 0 follows, and nothing is uncertain about that. A
 * cut-off one (time limit) has a future that the log does not show; it is never counted as a zero. */
typedef enum pess_end { PESS_END_NONE = 0, PESS_END_TERMINAL = 1, PESS_END_CUTOFF = 2 } pess_end;

/* Where the states of a log come from: what certificates say about it depends on that. All zero: the log names them. */
typedef struct pess_state_origin {
    bool cells;              /* they are cells of measurements (pess_map_log) */
    int64_t cells_made_of;   /* episodes that made the cells; 0: not known */
    int64_t episodes_shared; /* episodes of this log that are among them */
} pess_state_origin;

/* A log, column by column, one entry per transition. Optional columns are NULL where the log has none. */
typedef struct pess_columns {
    int64_t rows;
    const uint32_t *state, *action, *next_state;
    const double *reward;
    const uint8_t *end;        /* pess_end; never NULL in what the library hands out */
    const int64_t *episode;    /* optional; any integers, equal within an episode */
    const int64_t *step;       /* optional; position within the episode */
    const double *probability; /* optional; the behaviour policy's probability of `action` */
    const pess_names *state_names, *action_names, *episode_names; /* optional */
    pess_state_origin origin;
} pess_columns;

typedef struct pess_dataset pess_dataset;

/* How the last row of an episode ends: as the columns terminal and truncated say, or as declared where they do not
 * say it. */
typedef enum pess_last_row { PESS_LAST_ROW_MARKED, PESS_LAST_ROW_TERMINAL, PESS_LAST_ROW_CUTOFF } pess_last_row;

/* How the text of a log is written. AUTO: found by looking at its first lines. */
typedef enum pess_separator {
    PESS_SEPARATOR_AUTO,
    PESS_SEPARATOR_COMMA,
    PESS_SEPARATOR_SEMICOLON,
    PESS_SEPARATOR_TAB,
    PESS_SEPARATOR_PIPE
} pess_separator;

typedef enum pess_decimal { PESS_DECIMAL_AUTO, PESS_DECIMAL_POINT, PESS_DECIMAL_COMMA } pess_decimal;

typedef enum pess_encoding { PESS_ENCODING_UTF8, PESS_ENCODING_LATIN1 } pess_encoding;

/* States and actions that are numbers with decimals: measurements, and no ids; or names, as doses are. */
typedef enum pess_decimal_ids { PESS_DECIMAL_IDS_REFUSE, PESS_DECIMAL_IDS_NAMES } pess_decimal_ids;

typedef struct pess_read_options {
    size_t size;
    int64_t states, actions; /* declared sizes; 0: as the log shows */
    const char *format;      /* a name of pess_format_list; NULL: told by the file's first bytes */
    int threads;             /* 0: all there are */
    pess_progress progress;
    const char *table; /* of a database that has several; NULL: the only one */
    const char *sql;   /* a query to read instead: of an SQLite database its own tables; else by DuckDB, which knows the
                          file as `log` and reads any other that the query names */
    /* Which column plays which role, "role=name" in a line each: "episode=patient\nreward=outcome". Several columns are
     * one state, action or episode: "state=ward,severity". "step=": none does. Roles that are not declared go to
     * columns of their name or of one that everybody uses for it (done, obs, next_obs, in any case). */
    const char *column;
    /* What becomes of rows in which a value is missing (nothing, NA, NaN, null): "refuse", "drop" or the value that
     * stands in for it, for all roles or some: "drop,reward=0". NULL: refuse. */
    const char *missing;
    int last_row;        /* pess_last_row */
    int separator;       /* pess_separator */
    int decimal;         /* pess_decimal */
    int encoding;        /* pess_encoding */
    int decimal_ids;     /* pess_decimal_ids */
    const char *reading; /* a file that pess_reading_write wrote: what is not set above is as it says */
} pess_read_options;

/* Stands for a path where the query alone says what to read. */
#define PESS_NO_FILE ":memory:"

/* The settings in pess_read_options, a row each. */
PESS_API const pess_setting_table *pess_read_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_read_options pess_read_options_defaults(void);

/* Files of transitions. Formats are told apart by their first bytes when reading and by the file name when writing
 * (.csv, .csv.gz, .npz, .pesslog). path "-" reads standard input; addresses ("https://…") and patterns
 * ("log-*.parquet") are read by DuckDB. Writing is whole or not at all. */
PESS_API pess_status pess_dataset_read(const char *path, const pess_read_options *options, pess_dataset **out,
                                       pess_error *error);
/* Writes a log; `format` is a name of pess_format_list, or NULL: by the ending of the path. */
PESS_API pess_status pess_dataset_write(const pess_dataset *data, const char *path, const char *format,
                                        pess_error *error);
/* The same from a piece of memory that holds a file; `name` begins the messages. */
PESS_API pess_status pess_dataset_read_memory(const char *name, const void *bytes, size_t length,
                                              const pess_read_options *options, pess_dataset **out, pess_error *error);
/* Copies the columns. states and actions may be 0: as many as there are names, or else the largest id plus one. */
PESS_API pess_status pess_dataset_create(const pess_columns *columns, int64_t states, int64_t actions,
                                         pess_dataset **out, pess_error *error);
/* The same without a copy: the columns are borrowed for the life of the dataset and may not change in it. Names are
 * copied, and taken as found in the log: they declare no number of states or actions. */
PESS_API pess_status pess_dataset_borrow(const pess_columns *columns, int64_t states, int64_t actions,
                                         pess_dataset **out, pess_error *error);
/* Frees it. */
PESS_API void pess_dataset_destroy(pess_dataset *data);
/* The columns, borrowed: they live as long as the data. */
PESS_API void pess_dataset_columns(const pess_dataset *data, pess_columns *out);
/* How many states there are: declared, named, or the largest id plus one. */
PESS_API int64_t pess_dataset_states(const pess_dataset *data);
/* The same of actions. */
PESS_API int64_t pess_dataset_actions(const pess_dataset *data);
/* Names of the states; NULL: integers. They live as long as the data. */
PESS_API const pess_names *pess_dataset_state_names(const pess_dataset *data);
/* The same of actions. */
PESS_API const pess_names *pess_dataset_action_names(const pess_dataset *data);
/* The same of episodes. */
PESS_API const pess_names *pess_dataset_episode_names(const pess_dataset *data);

/* How a log was read: which column plays which role, what was derived, what was left out. It lives as long as the data.
 * NULL where the data were not read from columns with names. */
typedef struct pess_reading pess_reading;

/* The reading of a log; NULL: as above. */
PESS_API const pess_reading *pess_dataset_reading(const pess_dataset *data);

typedef enum pess_column_use {
    PESS_COLUMN_IGNORED,
    PESS_COLUMN_DECLARED,
    PESS_COLUMN_CALLED_SO, /* it is called as the role is */
    PESS_COLUMN_ALIAS,     /* ... in other letters, or as everybody calls it */
    PESS_COLUMN_MEASURED   /* a measurement, of which states are made */
} pess_column_use;

typedef struct pess_reading_column {
    const char *name;
    pess_column_use use;
    const char *role; /* of an ignored column: the one that it may play; NULL: none */
} pess_reading_column;

/* What the numbers of the role step are. */
typedef enum pess_step_unit { PESS_STEP_INTEGERS, PESS_STEP_MILLIONTHS, PESS_STEP_MICROSECONDS } pess_step_unit;

typedef struct pess_reading_info {
    int64_t columns;
    char separator; /* 0: the log is no text */
    bool decimal_comma, latin1;
    bool next_state_derived;   /* from the next row of the episode */
    pess_step_unit step;       /* millionths: of numbers with decimals; microseconds since 1970: of times */
    bool decimal_ids;          /* some ids are written with decimals that are zero, 1.0 */
    bool number_names;         /* some ids are integers that are no ids, -1: all became names */
    int64_t rows;              /* of the log, before rows are left out */
    int64_t missing_rows;      /* left out, as a value is missing */
    int64_t missing_values;    /* that others stand in for */
    int64_t ends_without_next; /* terminal rows without a next state: they lead to their own */
    int64_t last_rows;         /* left out: the state to which they lead is in no row */
    int64_t declared_ends;     /* last rows that end as declared */
} pess_reading_info;

/* What was found, derived and left out. */
PESS_API void pess_reading_get_info(const pess_reading *reading, pess_reading_info *out);
/* What one column of the file was used as, by position from 0. */
PESS_API void pess_reading_get_column(const pess_reading *reading, int64_t column, pess_reading_column *out);
/* The options that make the reading explicit: with them nothing is found by looking. Their texts live as long as the
 * reading. */
PESS_API pess_read_options pess_reading_options(const pess_reading *reading);
/* The same as a small file, for pess_read_options.reading. */
PESS_API pess_status pess_reading_write(const pess_reading *reading, const char *path, pess_error *error);

typedef struct pess_format_info {
    const char *name, *extensions, *summary;
    bool reads, writes;
} pess_format_info;

PESS_API const pess_format_info *pess_format_list(size_t index);     /* by position; NULL past the last */
PESS_API const pess_format_info *pess_format_find(const char *name); /* NULL: no such one */

/* What a look at a log finds: codes with values, and the sentence that says it; most serious first. */
typedef enum pess_severity { PESS_SEVERITY_NOTE = 0, PESS_SEVERITY_WARNING = 1 } pess_severity;

typedef struct pess_finding {
    pess_severity severity;
    const char *code; /* a short fixed word, e.g. "episode-gap" */
    int64_t count; /* of the rows, states, pairs, actions or episodes that it is about; 1 where it is the whole log */
    int64_t row;   /* of the first example, counted from 1; 0: none */
    char text[400];
} pess_finding;

typedef struct pess_inspection {
    int64_t rows, states, actions;         /* as declared, or as found */
    int64_t states_seen, actions_seen;     /* that occur as `state` / `action` */
    int64_t next_only_states;              /* occur as next_state only, after a transition that continues */
    int64_t terminal_states;               /* occur only as the next state of terminal transitions */
    int64_t episodes;                      /* 0: no episode column */
    int64_t terminals, cutoffs, open_ends; /* open_ends: episodes whose last row is neither */
    int64_t gaps;                          /* rows of an episode that do not continue the one before: another state, or
                                              a step with another number */
    int64_t step_gaps;                     /* of these: the state fits, the number of the step does not */
    int64_t late_starts;                   /* episodes that begin with a later step than the others */
    int64_t duplicates;                    /* rows that repeat an (episode, step), or a whole row where there is none */
    double reward_min, reward_max, reward_mean;
    int64_t pairs, pairs_seen;         /* pairs: state-action pairs of the states seen as `state` */
    int64_t count_least, count_median; /* over the pairs seen */
    int64_t count_most;
    size_t finding_count;
    pess_finding *findings;
} pess_inspection;

/* Is the log compatible with the declaration that the discounted return from any state on lies in range[0] … range[1]?
 * PESS_INPUT names an episode whose return does not; after a cut-off anything in the range may follow. */
PESS_API pess_status pess_dataset_check_returns(const pess_dataset *data, double gamma, const double range[2],
                                                pess_error *error);
/* Looks at the log for what is odd about it, finding by finding. */
PESS_API pess_status pess_dataset_inspect(const pess_dataset *data, pess_inspection **out, pess_error *error);
/* Frees it. */
PESS_API void pess_inspection_destroy(pess_inspection *inspection);

/* ---- datasets of observations */

/* What an observation is made of. */
typedef enum pess_observation_kind {
    PESS_OBSERVATION_BITS,  /* packed, the least significant bit of each byte first, padded with zero bits */
    PESS_OBSERVATION_BYTES, /* unsigned ones, as of pictures; networks see them divided by 255 */
    PESS_OBSERVATION_FLOATS /* finite ones; networks see them standardised by the data */
} pess_observation_kind;

typedef struct pess_observation_shape {
    pess_observation_kind kind;
    int64_t length;           /* of an observation, in what it is made of */
    int rows, cols, channels; /* of a board or picture, rows*cols*channels = length, in the order
                                 [rows][cols][channels]; all 0 where it is none, or not known (files of bits keep the
                                 length alone) */
} pess_observation_shape;

/* Observations of so many bits. */
PESS_API pess_observation_shape pess_observation_bits(int64_t length);
/* Observations of so many floats. */
PESS_API pess_observation_shape pess_observation_floats(int64_t length);
PESS_API pess_observation_shape pess_observation_picture(int rows, int cols, int channels); /* of bytes */
PESS_API const char *pess_observation_kind_name(pess_observation_kind kind);  /* "bits", "bytes", "floats" */
PESS_API int64_t pess_observation_bytes(const pess_observation_shape *shape); /* of memory, for one observation */

/* What actions are beside their numbers. Actions that were logged as vectors (torques, doses) are numbered by
 * pess_observations_number_actions (pess/cells.h) before anybody learns from them. */
typedef struct pess_action_space {
    int64_t width;       /* numbers of an action's vector; 0: there is none */
    const float *values; /* [actions*width] the vector that each action stands for; NULL: not numbered yet, or none */
    const float *logged; /* [transitions*width] vectors as logged, until they are numbered; then NULL */
    const pess_names *names; /* of the actions; NULL: they have none */
} pess_action_space;

/* Observations, each different one kept once under a number, and transitions between them: those of an episode follow
 * each other, and the last of them has an end. The last observation of every episode is kept, and whether it was
 * terminal or a cut-off. */
typedef struct pess_observations pess_observations;

typedef struct pess_observations_info {
    const char *game;  /* "mdp" for one-hot states of an MDP; any name where the data are of something else */
    const char *notes; /* lines "key=value": how it was collected */
    pess_observation_shape shape;
    int64_t bytes; /* of an observation */
    int64_t actions;
    int64_t transitions, states, pairs; /* states: different observations; pairs: different (state, action) */
    int64_t episodes;                   /* that are whole: begun and ended in the log */
    int64_t terminals, cutoffs;         /* transitions that end so; where collecting stopped counts as a cut-off */
    double mean_return, ci95;           /* of the whole episodes; NAN where there are none, ci95 also for one */
    double gamma_return;                /* their mean return discounted by 0.99 */
} pess_observations_info;

/* Building. An empty dataset; notes may be NULL. */
PESS_API pess_status pess_observations_create(const char *game, const char *notes, const pess_observation_shape *shape,
                                              int64_t actions, pess_observations **out, pess_error *error);
/* One more transition between the observations `state` and `next`, [bytes] each. Transitions that are refused change
 * nothing. */
PESS_API pess_status pess_observations_add(pess_observations *data, const void *state, int64_t action, double reward,
                                           const void *next, pess_end end, pess_error *error);
/* Many, from arrays with one entry per transition: all of them, or none where one of them is refused. */
typedef struct pess_observations_rows {
    int64_t count;
    const void *state, *next; /* [count*bytes] */
    const int64_t *action;
    const double *reward;
    const uint8_t *end;        /* pess_end */
    const double *probability; /* with which the logging policy took the action, in (0, 1]; NULL: not known. Of all
                                  transitions of a dataset or of none */
    const float *vector;       /* [count*width] actions that are vectors, in place of `action`, which is not read; NULL:
                                  none. Of all transitions of a dataset or of none */
    int64_t width;             /* numbers of such a vector */
} pess_observations_rows;

/* Adds transitions at the end; equal observations are kept once. Nothing is added where one is refused. */
PESS_API pess_status pess_observations_append(pess_observations *data, const pess_observations_rows *rows,
                                              pess_error *error);
/* The log stops here: where the last transition has no end it becomes a cut-off, and its episode is not a whole one. */
PESS_API pess_status pess_observations_stop(pess_observations *data, pess_error *error);

/* How files of other programs are read: NumPy arrays (.npz) by the names of D4RL (docs/formats.md), HDF5 of Minari,
 * D4RL and d3rlpy (docs/sources.md). */
typedef struct pess_observations_options {
    size_t size;
    int64_t actions;  /* how many there are; 0: one more than the largest that was logged */
    const char *game; /* what the data are of: a name of pess_env_list, where their policies can be played, or any */
} pess_observations_options;

/* The settings in pess_observations_options, a row each. */
PESS_API const pess_setting_table *pess_observations_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_observations_options pess_observations_options_defaults(void);
/* Files: .pessdata, .npz and HDF5, told by their first bytes; truncated, damaged or foreign ones are PESS_INPUT.
 * .pessdata reads no options. */
PESS_API pess_status pess_observations_read(const char *path, pess_observations **out, pess_error *error);
/* The same with options, for files of other programs. */
PESS_API pess_status pess_observations_import(const char *path, const pess_observations_options *options,
                                              pess_observations **out, pess_error *error);
/* As .pessdata or, by the ending of the path, as .npz or as HDF5 in the layout of Minari (.hdf5, .h5); beside a file
 * called main_data.hdf5 its metadata.json is written too. */
PESS_API pess_status pess_observations_write(const pess_observations *data, const char *path, pess_error *error);
/* Frees it. */
PESS_API void pess_observations_destroy(pess_observations *data);

/* Looking. All there is, as arrays of the data's own; they hold until the data are changed or destroyed. */
typedef struct pess_observations_view {
    int64_t transitions, states, bytes;
    const uint8_t *observations;       /* [states*bytes] */
    const int32_t *state, *next_state; /* [transitions] numbers of observations */
    const uint8_t *action, *end;       /* [transitions] end: pess_end */
    const float *reward;               /* [transitions] */
    const float *probability;          /* [transitions] of the logging policy; NULL: not known */
} pess_observations_view;

/* What its actions are; arrays and names hold like those of the view. */
PESS_API void pess_observations_actions(const pess_observations *data, pess_action_space *out);
/* The arrays. */
PESS_API void pess_observations_get_view(const pess_observations *data, pess_observations_view *out);
/* Sizes, shape, notes and what the episodes returned. */
PESS_API void pess_observations_get_info(const pess_observations *data, pess_observations_info *out);
/* The value of a note, cut to size - 1 characters; false where there is no such key. */
PESS_API bool pess_observations_note(const pess_observations *data, const char *key, char *value, size_t size);
/* Is the file a dataset of observations: .pessdata, .npz with an array 'observations', HDF5 whose observations are not
 * single whole numbers? */
PESS_API bool pess_observations_file(const char *path);

/* What a researcher looks at first, beside pess_observations_info. Returns and lengths are those of whole episodes. */
typedef struct pess_feature_summary {
    double least, most, mean, deviation; /* over the transitions */
} pess_feature_summary;

typedef struct pess_observations_inspection {
    double return_least, return_median, return_most; /* NAN without whole episodes, like the lengths 0 */
    int64_t length_least, length_median, length_most;
    double reward_least, reward_most, reward_mean;
    int64_t duplicates;            /* transitions that repeat an earlier one in all they say */
    int64_t unlogged_actions;      /* of those there are */
    int64_t constant_features;     /* with one value in all of the transitions */
    int64_t action_count;          /* as many as the data have */
    int64_t *actions;              /* [action_count] how often each was taken */
    int64_t feature_count;         /* 0 for bits */
    pess_feature_summary *feature; /* [feature_count] */
    int64_t vector_count;          /* numbers of an action that was logged as a vector, until they are numbered */
    pess_feature_summary *vector;  /* [vector_count] */
} pess_observations_inspection;

/* Summaries of returns, lengths, rewards, actions and features. */
PESS_API pess_status pess_observations_inspect(const pess_observations *data, pess_observations_inspection **out,
                                               pess_error *error);
/* Frees it. */
PESS_API void pess_observations_inspection_destroy(pess_observations_inspection *inspection);

/* Transition i; any may be NULL. state, next: [bytes] observations, which live as long as the data. */
PESS_API bool pess_observations_get(const pess_observations *data, int64_t i, const uint8_t **state, int32_t *action,
                                    double *reward, const uint8_t **next, pess_end *end);

#ifdef __cplusplus
}
#endif
#endif
