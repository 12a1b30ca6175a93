/* A training on a fixed dataset, in its parts: what is fixed, what is known of the states, the networks, the present
 * update and how it goes. Learners and uncertainties see none of this but through views. */
#ifndef PESS_DEEP_TRAINING_H
#define PESS_DEEP_TRAINING_H

#include "deep/networks.h"
#include "deep/settling.h"
#include "deep/tensorboard.h"

enum { PESS__CHECK_ROWS = 5000 }; /* fixed transitions on which loss and means are measured */
_Static_assert((int)PESS__CHECK_ROWS <= (int)PESS__OUTPUT_CHUNK, "the check goes through in one chunk");

/* ---- the values that the targets of an update bootstrap from */

typedef struct pess__values {
    float *value;       /* [mixtures*states] */
    double *mixture;    /* [mixtures*heads] weights of the heads in this update; NULL with one head */
    int64_t mixing;     /* the mixture of this step */
    const float *first; /* [states] what the first targets bootstrap from, borrowed; NULL: nothing, rewards alone */
} pess__values;

/* ---- a minibatch: its different states, and the labels of each */

typedef struct pess__minibatch {
    int64_t *unique, *first, *rows;
    int32_t *taken;
    pess__real *targets;
    pess__real *others; /* [batch*actions] what the other networks of an ensemble say; NULL: nobody asks */
} pess__minibatch;

/* ---- how it goes */

/* An evaluation, as it goes into the log. */
typedef struct pess__scored {
    double mean_return, ci95, control, predicted, obtained, outside;
} pess__scored;

typedef struct pess__training_scores {
    int64_t *check; /* [check_count] transitions */
    int64_t check_count;
    double loss, mean_target, mean_q, best;
    double unlogged, gap, values_apart, penalty_apart; /* see pess__training_check */
    double price, below; /* means of y − q(s,a) and max q(s,·) − q(s,a): see price.c */
    pess__scored scored[PESS_SCORED_UPDATES];
    pess__logtext log;
    double seconds_before, begun;
} pess__training_scores;

typedef struct pess__training {
    pess__setup setup;
    pess__position position;
    char settings[PESS__SETTINGS_SIZE]; /* lines "key=value" of all that decides the result */
    char warning[PESS__WARNING_SIZE];
    pess_observations *replaced; /* data that the learner put in the place of the data; NULL: none */
    pess__networks networks;
    pess__tables tables;
    pess__network_sweep sweep;
    pess__values values;
    pess__minibatch minibatch;
    pess__training_scores scores;
    pess__settling settling; /* where the protocol settles; otherwise its steps alone */
    double price_weight;     /* what the regulariser's weight is multiplied with: see price.c */
    int64_t generation;      /* of the checkpoints */
    double saved;            /* when the last was written */
    pess__directory_lock lock;
    pess__tensorboard *board; /* NULL: none was asked for */
    int64_t shown_from;       /* the steps that this run began with */
} pess__training;

/* minibatch.c */
/* others: numbers per state that pess__minibatch_others writes; 0: it is not called. */
pess_status pess__minibatch_create(int64_t batch, int64_t others, pess__minibatch *out, pess_error *error);
void pess__minibatch_destroy(pess__minibatch *minibatch);
/* Transitions of a minibatch: equal states are computed once, with the labels of all their transitions. Returns how
 * many different states there are. */
int64_t pess__minibatch_draw(pess__training *training, int64_t network, pess__rng *rng);
/* The mean direction of the other networks' values (pess__direction) in the first `samples` of its states. */
void pess__minibatch_others(pess__training *training, int64_t network, int64_t samples);

/* targets.c: the value of every state that the coming update needs. */
pess_status pess__targets_create(const pess__setup *setup, pess__values *out, pess_error *error);
void pess__targets_destroy(pess__values *values);
pess_status pess__targets_compute(pess__training *training, pess_error *error);
double pess__target(const pess__setup *setup, const pess__values *values, int64_t row);

/* check.c, on fixed transitions: loss, mean target, mean q; and in their states the policy's mass on actions that were
 * never logged there, by how much the best value of those is above the best of the logged ones (in states that have
 * both), and how far the actions' values and, where there is a table, their penalties αu lie apart (largest less
 * smallest). */
/* The transitions: all, or some of those that are held out. */
pess_status pess__check_create(const pess__setup *setup, const pess__parts *parts, pess__training_scores *out,
                               pess_error *error);
pess_status pess__training_check(pess__training *training, pess_error *error);
/* How far one of the networks that give values is from the targets there: the mean of Huber's loss. */
pess_status pess__training_fit_error(pess__training *training, int64_t network, double *out, pess_error *error);

/* price.c: the weight of the regulariser, after a check. */
void pess__training_adapt_price(pess__training *training);

/* evaluate.c: whole episodes. */
pess_status pess__training_evaluate(pess__training *training, int64_t episodes, int64_t control_episodes,
                                    pess__scored *out, pess_error *error);

/* fitted.c: the learning alone, in memory: neither files nor episodes nor checks. The setup is there
 * (pess__setup_plan), and so are the tables that the learner reads beside its networks. */
pess_status pess__training_fit_begin(pess__training *training, pess_error *error);
/* … until that many updates are done. */
pess_status pess__training_fit_to(pess__training *training, int64_t updates, pess_error *error);
void pess__training_release(pess__training *training);

/* training_files.c: checkpoints, networks and manifest. */
/* The directory of the results, before anything is trained: see pess__generations_open. */
pess_status pess__training_open_directory(pess__training *training, pess_error *error);
/* PESS_ARGUMENT where the checkpoints there are were made with other settings. */
pess_status pess__training_check_settings(const pess__training *training, pess_error *error);
pess_status pess__training_save(pess__training *training, pess_error *error);
pess_status pess__training_restore(pess__training *training, bool *found, pess_error *error);
pess_status pess__training_write(pess__training *training, const pess_train_result *result, pess_error *error);

#endif
