/* The engine of experiments with games: datasets (game, x, trial), an imitation network and a training per curve on
 * each. Planning, results on disk, running, summing up and judging are a file each. A row of the table brings a
 * pess__games_axis. A finished run leaves result.json in out/runs/GAME/x-X/trial-T/ALGORITHM and is not run again. */
#ifndef PESS_EXPERIMENT_GAMES_H
#define PESS_EXPERIMENT_GAMES_H

#include "experiment/executor.h"
#include "experiment/experiment.h"

enum {
    PESS__GAMES_SETTINGS_SIZE = 4096,
    PESS__GAMES_LIST = 1000, /* bytes of a list among the settings */
    PESS__GAMES_LIMIT = 8,
    PESS__GAMES_CURVES = 32,
    PESS__GAMES_XS = 64,
    PESS__GAMES_ROWS = 2 * PESS__GAMES_CURVES + 2 /* of results.csv, per game and x */
};
#define PESS__GAMES_TRIVIAL "trivial-rule"

typedef struct pess__games pess__games;

/* An algorithm with its α. */
typedef struct pess__games_curve {
    const pess_learner_info *learner;
    double alpha;    /* NAN where the algorithm has none */
    char name[40];   /* in results: "naive", "proximal" or "proximal-0.25" */
    char folder[40]; /* of its runs: with α wherever there is one, so that later curves leave it in place */
    bool shown;      /* false: an imitation network that others need and nobody asked for */
} pess__games_curve;

typedef struct pess__games_dataset {
    int game, x, trial; /* positions in the plan's lists; trial from 0 */
    int again;          /* which of the trainings on these data, from 0 */
    double epsilon;
    int64_t transitions;
    uint64_t data_seed, play_seed, imitation_seed, train_seed;
} pess__games_dataset;

typedef struct pess__games_run {
    bool finished;
    pess_train_result result;
    double behaviour;   /* return of the policy that collected the data, on episodes of its own */
    double data_return; /* of the whole episodes in the dataset; NAN where there are none */
} pess__games_run;

/* What x is. */
typedef struct pess__games_axis {
    const char *values; /* the setting that lists x, "epsilons" … */
    const char *fixed;  /* … and the one that holds what is the same everywhere, "transitions" */
    const char *symbol; /* of x in a sentence: "ε" */
    double least, most;
    bool whole;         /* x are whole numbers */
    bool largest_first; /* x costs time: the largest is run first, so that the longest trainings do not come last */
    bool trivial;       /* draw imitation by argmax, but naive at x = 1, as a control */
    double first;       /* the x that is run before the others; 0: none is */
    /* ε and size of the dataset at x. */
    void (*place)(const pess_experiment_options *options, double x, pess__games_dataset *dataset);
    /* How data are collected, in words that go on "acts ε-greedily and collects". */
    void (*describe)(const pess_experiment_options *options, char *out, size_t size);
    pess_status (*judge)(pess__games *games, pess_error *error);
} pess__games_axis;

struct pess__games {
    pess_experiment *experiment;
    pess_experiment_options *options; /* the experiment's */
    const pess__games_axis *axis;
    pess_protocol protocol;
    pess__shard shard;
    bool data_kept; /* files of data in `out` may have been kept on purpose by an earlier run */
    int game_count, x_count, curve_count;
    const pess_env_info *games[PESS__GAMES_LIMIT];
    uint32_t policy_sum[PESS__GAMES_LIMIT]; /* checksums of the players' files */
    pess_policy *policy[PESS__GAMES_LIMIT];
    double x[PESS__GAMES_XS];                     /* ascending */
    pess__games_curve curves[PESS__GAMES_CURVES]; /* an imitation network that is needed comes first */
    int64_t dataset_count;
    pess__games_dataset *datasets; /* in the order in which they are run */
    pess__games_run *runs;         /* [dataset_count*curve_count] */
    double step_seconds;           /* of a sample in training, measured; 0: not yet */
    double act_seconds;            /* of an observation acted upon */
    char (*curve_names)[48]; /* that the points speak of: "behaviour", every shown curve, "NAME-argmax", controls */
};

/* A point's further values, in the order of PESS__GAMES_COLUMNS. Beside the algorithms there are curves "behaviour",
 * the policy that collected the data, and "NAME-argmax" for algorithms that act by sampling. */
enum {
    PESS__FINAL,     /* of the final update alone */
    PESS__BEST,      /* of the best evaluations seen: not a result */
    PESS__CONTROL,   /* acting by argmax */
    PESS__PREDICTED, /* in the first states of the evaluation episodes */
    PESS__OBTAINED,  /* there, discounted */
    PESS__OUTSIDE,   /* share of steps in states that are not in the data */
    PESS__SPREAD,    /* largest minus smallest of the scored updates */
    PESS__BEHAVIOUR
};
#define PESS__GAMES_COLUMNS "final_mean best_mean control_mean predicted obtained outside spread behaviour_mean"
/* What the rows have in common. */
#define PESS__GAMES_SETTINGS "games controls train-seeds protocol policies shard keep-data"
#define PESS__GAMES_INFO .y_label = "return", .band = PESS_BAND_RANGE, .columns = PESS__GAMES_COLUMNS
#define PESS__GAMES_ROW                                                                                                \
    .results = PESS__GAMES_COLUMNS, .tables = pess__games_tables, .averages = true,                                    \
    .explanation = pess__games_explanation, .engine = &pess__engine_games
extern const pess__experiment_default pess__games_defaults[];
extern const pess__experiment_table pess__games_tables[];
extern const char pess__games_explanation[];

static inline pess__games *pess__games_of(const pess_experiment *experiment) { return experiment->plan; }

/* ---- games_plan.c, games_algorithms.c */
/* Everything but the players: lists, curves, datasets, seeds. */
pess_status pess__games_plan(pess_experiment *experiment, pess_error *error);
void pess__games_destroy(pess_experiment *experiment);
pess_status pess__games_plan_curves(pess__games *m, pess_error *error);
/* The imitation network is always the first curve, where there is one, and made together with the data. */
bool pess__games_is_imitation(const pess__games *m, int curve);
/* Is the curve's learner given that network? Under protocols that settle also one that could do without. */
bool pess__games_imitates(const pess__games *m, const pess_learner_info *learner);
/* What is done with how many trials, in words; once there are points, with as many as those have. */
void pess__games_describe(pess__games *m);
/* Words between commas. */
typedef struct pess__list {
    char text[PESS__GAMES_LIST];
    char *rest;
} pess__list;
pess_status pess__list_begin(pess__list *words, const char *what, const char *text, pess_error *error);
char *pess__list_next(pess__list *words); /* NULL behind the last one; two commas in a row give an empty word */
void pess__list_append(char *text, size_t size, const char *word);

static inline pess__games_run *pess__games_run_of(const pess__games *m, int64_t dataset, int curve) {
    return &m->runs[dataset * m->curve_count + curve];
}

/* ---- games_settings.c: what must agree, as lines "key=value" */
/* Of the whole experiment; and of one run, in one line. */
void pess__games_settings(const pess__games *m, char *out, size_t size);
void pess__games_signature(const pess__games *m, int64_t dataset, int curve, char *out, size_t size);
/* Written with them, but nothing that must agree: the version, and keep-data, on where some run in the directory has
 * kept its data. */
pess_status pess__games_write_settings(const pess__games *m, pess_error *error);
/* What settings.txt says of that: true also where it says nothing, as those of older directories do. */
bool pess__games_data_kept(const char *settings);
pess_status pess__games_merge(const char *const *directories, size_t count, const char *out, bool partial,
                              pess_experiment **experiment, pess_error *error);
/* The plan of a directory, by its settings. */
pess_status pess__games_read_plan(const char *directory, pess_experiment **out, pess_error *error);
/* An error that names the first setting that differs, where runs of one cannot stand beside runs of the other. With
 * whole_plan (shards of one experiment) the lists of games, x, algorithms and trials must be the same too. */
pess_status pess__games_same_settings(const char *where, const char *there, const char *here, bool whole_plan,
                                      pess_error *error);

/* ---- games_files.c */
void pess__games_dataset_path(const pess__games *m, const char *root, int64_t dataset, const char *name,
                              char out[PESS__EXPERIMENT_PATH]);
void pess__games_run_path(const pess__games *m, const char *root, int64_t dataset, int curve, const char *name,
                          char out[PESS__EXPERIMENT_PATH]);
pess_status pess__games_read_text(const char *path, char *out, size_t size, bool *found, pess_error *error);

/* ---- games_result.c */
pess_status pess__games_write_result(const pess__games *m, int64_t dataset, int curve, pess_error *error);
/* Reads the run's result.json below `root`; not there: finished stays false. */
pess_status pess__games_read_result(pess__games *m, const char *root, int64_t dataset, int curve, pess_error *error);
/* What the finished runs of a curve in a game warn of, and how many of them do; NULL: none. */
const char *pess__games_warning(const pess__games *m, int game, int curve, int64_t *runs);

/* ---- games_cost.c: seconds of one core, about */
pess_status pess__games_measure(pess__games *m, pess_error *error);
double pess__games_run_seconds(const pess__games *m, int64_t dataset, int curve);
double pess__games_prepare_seconds(const pess__games *m, int64_t dataset); /* without the imitation network */
pess_status pess__games_estimate(pess_experiment *experiment, pess_experiment_cost *out, pess_error *error);

/* ---- games_run.c */
pess_status pess__games_execute(pess_experiment *experiment, pess_error *error);

/* ---- games_curves.c: points, claims and warnings from the finished runs */
pess_status pess__games_summarise(pess__games *m, pess_error *error);
pess_status pess__games_add_claims(pess__games *m, const pess_experiment_claim *claims, size_t count,
                                   pess_error *error);
int pess__games_curve_named(const pess__games *m, const char *name); /* -1: there is none */
/* The curve of `algorithm` in `game` at x; NULL where there is no such point. */
const pess_experiment_point *pess__games_point_at(const pess_experiment_point *points, size_t count, const char *game,
                                                  const char *algorithm, double x);

/* ---- games_verdict.c: the rules of minatar-settled, on the points and the runs */
pess_status pess__games_verdict(pess__games *m, pess_error *error);

/* ---- games_claims.c, games_goals.c */
enum { PESS__GAMES_CLAIMS = 4 }; /* per game, at most */
/* Judges what the paper says of a game's curves over ε; `proximal` names the curve that speaks for proximal. Returns
 * how many claims it wrote. */
size_t pess__games_judge(const pess_experiment_point *points, size_t count, const char *game, const double *x,
                         int x_count, const char *proximal, pess_experiment_claim out[PESS__GAMES_CLAIMS]);
enum { PESS__GAMES_GOALS = 2 }; /* per game, at most; and as many for all games together */
/* Judge what uncertainty-aware learning is held to, where a curve of it is there, along ε and along the number of
 * transitions. Return how many claims they wrote, at most PESS__GAMES_GOALS*(game_count + 1). */
size_t pess__games_judge_exploration_goals(const pess_experiment_point *points, size_t count,
                                           const pess_env_info *const *games, int game_count, const double *x,
                                           int x_count, pess_experiment_claim *out);
size_t pess__games_judge_data_goals(const pess_experiment_point *points, size_t count,
                                    const pess_env_info *const *games, int game_count, const double *x, int x_count,
                                    pess_experiment_claim *out);

#endif
