/* The deep experiments: datasets (game, x, trial), an imitation network and a training per curve on each. Planning,
 * results on disk, the queue, running and judging are a file each. */
#ifndef PESS_EXPERIMENT_GAMES_H
#define PESS_EXPERIMENT_GAMES_H

#include "core/status.h"

enum {
    PESS__GAMES_PATH = 4200,
    PESS__GAMES_SETTINGS = 4096,
    PESS__GAMES_LIST = 1000, /* bytes of a list on the command line */
    PESS__GAMES_LIMIT = 8,
    PESS__GAMES_CURVES = 24,
    PESS__GAMES_XS = 64
};

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

struct pess_minatar {
    pess_minatar_options options; /* its strings are owned by the arrays below */
    const pess_experiment_info *info;
    char games_text[PESS__GAMES_LIST], algorithms_text[PESS__GAMES_LIST], x_text[PESS__GAMES_LIST];
    char policies[PESS__GAMES_PATH], out[PESS__GAMES_PATH], protocol_name[40];
    char description[1600];
    bool data_kept; /* files of data in `out` may have been kept on purpose by an earlier run */
    int game_count, x_count, curve_count;
    const pess_env_info *games[PESS__GAMES_LIMIT];
    uint32_t policy_sum[PESS__GAMES_LIMIT]; /* checksums of the players' files */
    pess_net *policy[PESS__GAMES_LIMIT];
    bool policy_samples[PESS__GAMES_LIMIT];       /* acts by sampling */
    double x[PESS__GAMES_XS];                     /* ascending */
    pess__games_curve curves[PESS__GAMES_CURVES]; /* an imitation network that is needed comes first */
    int64_t dataset_count;
    pess__games_dataset *datasets; /* in the order in which they are run */
    pess__games_run *runs;         /* [dataset_count*curve_count] */
    double step_seconds;           /* of a sample in training, measured; 0: not yet */
    double act_seconds;            /* of an observation acted upon */
    double seconds;                /* since it was begun or resumed */
    size_t point_count, claim_count;
    pess_minatar_point *points;
    char (*curve_names)[48]; /* that the points speak of: "behaviour", every shown curve, "NAME-argmax" */
    pess_minatar_claim *claims;
};

/* ---- games_plan.c */
bool pess__games_is_data(const pess_minatar *m); /* x is the number of transitions */
/* The imitation network is always the first curve, where there is one, and made together with the data. */
bool pess__games_is_imitation(const pess_minatar *m, int curve);
/* Everything but the players: lists, curves, datasets, seeds. */
pess_status pess__games_plan(const pess_minatar_options *options, pess_minatar **out, pess_error *error);
/* "3 trials" as planned; once there are points, how many those have: "1 to 3 trials". */
void pess__games_trials(const pess_minatar *m, char *out, size_t size);
/* What is done with how many trials, in words. */
void pess__games_describe(pess_minatar *m);
static inline bool pess__games_mine(const pess_minatar *m, int64_t dataset) {
    return dataset % m->options.shards == m->options.shard - 1;
}
static inline pess__games_run *pess__games_run_of(const pess_minatar *m, int64_t dataset, int curve) {
    return &m->runs[dataset * m->curve_count + curve];
}

/* ---- games_settings.c: what must agree, as lines "key=value" */
/* Of the whole experiment; and of one run, in one line. */
void pess__games_settings(const pess_minatar *m, char *out, size_t size);
void pess__games_signature(const pess_minatar *m, int64_t dataset, int curve, char *out, size_t size);
/* Written with them, but nothing that must agree: keep-data, on where some run in the directory has kept its data. */
pess_status pess__games_write_settings(const pess_minatar *m, pess_error *error);
/* What settings.txt says of that: true also where it says nothing, as those of older directories do. */
bool pess__games_data_kept(const char *settings);
/* The plan of a directory, by its settings. */
pess_status pess__games_read_plan(const char *directory, pess_minatar **out, pess_error *error);
/* An error that names the first setting that differs, where runs of one cannot stand beside runs of the other. With
 * whole_plan (shards of one experiment) the lists of games, x, algorithms and trials must be the same too. */
pess_status pess__games_same_settings(const char *where, const char *there, const char *here, bool whole_plan,
                                      pess_error *error);
pess_status pess__games_read_text(const char *path, char *out, size_t size, bool *found, pess_error *error);

/* ---- games_files.c */
void pess__games_dataset_path(const pess_minatar *m, const char *root, int64_t dataset, const char *name,
                              char out[PESS__GAMES_PATH]);
void pess__games_run_path(const pess_minatar *m, const char *root, int64_t dataset, int curve, const char *name,
                          char out[PESS__GAMES_PATH]);
pess_status pess__games_make_directories(const char *path, pess_error *error);
/* `directory` is new, empty or of such an experiment. *used: it holds runs. */
pess_status pess__games_check_directory(const char *directory, bool *used, pess_error *error);

/* ---- games_result.c */
pess_status pess__games_write_result(const pess_minatar *m, int64_t dataset, int curve, pess_error *error);
/* Reads the run's result.json below `root`; not there: finished stays false. */
pess_status pess__games_read_result(pess_minatar *m, const char *root, int64_t dataset, int curve, pess_error *error);

/* What the finished runs of a curve in a game warn of, and how many of them do; NULL: none. */
const char *pess__games_warning(const pess_minatar *m, int game, int curve, int64_t *runs);

/* ---- games_cost.c: seconds of one core, about */
pess_status pess__games_measure(pess_minatar *m, pess_error *error);
double pess__games_run_seconds(const pess_minatar *m, int64_t dataset, int curve);
double pess__games_prepare_seconds(const pess_minatar *m, int64_t dataset); /* without the imitation network */

/* ---- games_curves.c, games_claims.c, games_goals.c */
pess_status pess__games_summarise(pess_minatar *m, pess_error *error);
/* The curve of `algorithm` in `game` at x; NULL where there is no such point. */
const pess_minatar_point *pess__games_point_at(const pess_minatar_point *points, size_t count, const char *game,
                                               const char *algorithm, double x);
enum { PESS__GAMES_CLAIMS = 4 }; /* per game, at most */
/* Judges a game's curves; `proximal` names the curve that speaks for proximal. Returns how many claims it wrote. */
size_t pess__games_judge(const pess_minatar_point *points, size_t count, const char *game, const double *x, int x_count,
                         const char *proximal, pess_minatar_claim out[PESS__GAMES_CLAIMS]);
enum { PESS__GAMES_GOALS = 2 }; /* per game, at most; and as many for all games together */
/* Judges what uncertainty-aware learning is held to, where a curve of it is there; `data`: x is the number of
 * transitions. Returns how many rows it wrote, at most PESS__GAMES_GOALS*(game_count + 1). */
size_t pess__games_judge_ua(const pess_minatar_point *points, size_t count, const pess_env_info *const *games,
                            int game_count, const double *x, int x_count, bool data, pess_minatar_claim *out);

#endif
