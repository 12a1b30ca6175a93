/* The state of a training on a fixed dataset. */
#ifndef PESS_DEEP_FITTED_H
#define PESS_DEEP_FITTED_H

#include "data/observations.h"
#include "deep/generations.h"
#include "deep/learner.h"
#include "nn/trainer.h"

enum {
    PESS__MAX_FURTHER = 3,    /* networks beside the first that are trained along with it */
    PESS__CHECK_ROWS = 5000,  /* fixed transitions on which loss and means are measured */
    PESS__OUTPUT_CHUNK = 8192 /* states whose outputs are held at a time */
};
_Static_assert((int)PESS__CHECK_ROWS <= (int)PESS__OUTPUT_CHUNK, "the check goes through in one chunk");

/* An evaluation, as it goes into the log. */
typedef struct pess__scored {
    double mean_return, ci95, control, predicted, obtained, outside;
} pess__scored;

typedef struct pess__fitted {
    pess_train_options options;
    const pess__learner *learner;
    double alpha;
    char settings[PESS__SETTINGS_SIZE]; /* lines "key=value" of all that decides the result */
    const pess_observations *data;      /* options.data, or `imagined` */
    uint64_t fingerprint;               /* of options.data */
    pess_env_options env;               /* where policies are played: the game as the data had it */
    pess_observations *imagined;        /* data with transitions of a model; NULL without one */
    int64_t updates, steps, batch;      /* of this algorithm under the protocol */
    pess__net *net, *frozen;            /* frozen: where the targets come from */
    pess__net *imitation;               /* NULL unless the learner needs it */
    pess__trainer *trainer;
    /* Further networks that are trained along and belong to the checkpoints: those of an ensemble, or an actor. */
    int further_count;
    pess__net *further[PESS__MAX_FURTHER];
    pess__trainer *further_trainer[PESS__MAX_FURTHER];
    pess__net *actor;           /* one of the further, or NULL */
    pess__net *uncertainty_net; /* the uncertainty's network, or NULL */
    double cap;                 /* of u */
    char warning[256];
    /* One entry per state of the data. */
    float *prior;    /* [states*actions] π̂; NULL without imitation */
    float *value;    /* [mixtures*states] what targets bootstrap from */
    float *penalty;  /* [states*actions] u; NULL without an uncertainty */
    int32_t *counts; /* [states*actions] n(s,a); NULL for imitation */
    float *acting;   /* [states*actions] of the actor, where it was asked for; NULL without one */
    int32_t *place;  /* where the state is in the list being made, or -1 */
    int64_t *wanted; /* list of states */
    int64_t wanted_count;
    float *outputs;  /* [networks][chunk][heads*actions] for a chunk of states */
    double *mixture; /* [mixtures*heads] weights of the heads in this update; NULL with one head */
    int64_t mixing;  /* the mixture of this step */
    /* One entry per sample of a minibatch: its different states, and the labels of each. */
    int64_t *unique, *first, *rows;
    int32_t *taken;
    pess__real *targets;
    int64_t check_count;
    int64_t *check; /* [check_count] transitions */
    /* How it goes. */
    int64_t update, generation;
    double loss, mean_target, mean_q, best;
    double unlogged, gap, values_apart, penalty_apart; /* see pess__fitted_check */
    pess__scored scored[PESS_SCORED_UPDATES];
    pess__logtext log;
    double seconds_before, begun, saved, reported;
} pess__fitted;

/* A minibatch of transitions into unique, first, taken and targets: equal states are computed once, with the labels of
 * all their transitions. Returns how many different states there are. */
int64_t pess__fitted_draw(pess__fitted *fitted, int64_t network, pess__rng *rng);

/* counts.c: n(s,a) over identical observations (equal ones have one number in the data), with a warning where next to
 * no state comes back and the learner goes by counts. */
pess_status pess__fitted_count(pess__fitted *fitted, pess_error *error);

/* targets.c: the value of every state that the coming update needs. */
pess_status pess__fitted_targets(pess__fitted *fitted, pess_error *error);
double pess__fitted_target(const pess__fitted *fitted, int64_t row);
/* The rows of an update are draws of its stream, so that they can be drawn again; each network has its own. */
pess__rng pess__fitted_rows(const pess__fitted *fitted, int64_t network);
int64_t pess__fitted_row(const pess__fitted *fitted, int64_t network, pess__rng *rng);
/* What is known of a state of the data, but for the values. */
pess__view pess__fitted_view(const pess__fitted *fitted, int64_t state);
/* Outputs of a network for all states, turned into π̂. */
pess_status pess__fitted_priors(pess__fitted *fitted, pess_error *error);
/* On the check transitions: loss, mean target, mean q; and in their states the policy's mass on actions that were never
 * logged there, by how much the best value of those is above the best of the logged ones (in states that have both),
 * and how far the actions' values and, where there is a table, their penalties αu lie apart (largest less smallest). */
pess_status pess__fitted_check(pess__fitted *fitted, pess_error *error);

/* learners.c: the learner that the options name. */
pess_status pess__fitted_find_learner(const pess_train_options *options, const pess__learner **out, pess_error *error);

/* A network like the first, with that many outputs. */
pess_status pess__fitted_network(const pess__fitted *fitted, int64_t outputs, pess__net **out, pess_error *error);
/* Takes over the network, also on failure, and gives it a trainer. */
pess_status pess__fitted_add_network(pess__fitted *fitted, pess__net *net, pess_error *error);
/* Network i of those that give values, and its trainer. */
pess__net *pess__fitted_net(const pess__fitted *fitted, int64_t i);
/* Reports progress; PESS_INTERRUPTED where the caller wants to stop. */
pess_status pess__fitted_report(pess__fitted *fitted, const char *what, int64_t done, int64_t total, pess_error *error);
/* Networks that give values, heads of each, and mixtures of the heads per update. */
static inline int64_t pess__fitted_networks(const pess__fitted *f) {
    return f->learner->networks > 1 ? f->learner->networks : 1;
}
static inline int64_t pess__fitted_heads(const pess__fitted *f) {
    return f->learner->heads > 1 ? f->learner->heads : 1;
}
static inline int64_t pess__fitted_mixtures(const pess__fitted *f) {
    return f->learner->mixtures > 1 ? f->learner->mixtures : 1;
}

/* PESS_INTERRUPTED, with what is kept. */
pess_status pess__fitted_interrupted(const pess__fitted *fitted, pess_error *error);

/* fitted_play.c: evaluation by whole episodes, in the environment that the notes of the data tell of. */
pess_status pess__fitted_environment(pess__fitted *fitted, pess_error *error);
pess_status pess__fitted_evaluate(const pess__fitted *fitted, int64_t episodes, int64_t control_episodes,
                                  pess__scored *out, pess_error *error);

/* fitted_files.c: checkpoints, policy and manifest. */
/* The directory of the results, before anything is trained: see pess__generations_open. */
pess_status pess__fitted_open_directory(const pess__fitted *fitted, pess_error *error);
/* PESS_ARGUMENT where the checkpoints there are were made with other settings. */
pess_status pess__fitted_check_settings(const pess__fitted *fitted, pess_error *error);
pess_status pess__fitted_save(pess__fitted *fitted, pess_error *error);
pess_status pess__fitted_restore(pess__fitted *fitted, bool *found, pess_error *error);
pess_status pess__fitted_write(pess__fitted *fitted, const pess_train_result *result, pess_error *error);

#endif
