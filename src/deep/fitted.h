/* The state of a training on a fixed dataset. */
#ifndef PESS_DEEP_FITTED_H
#define PESS_DEEP_FITTED_H

#include "deep/generations.h"
#include "deep/learner.h"
#include "deep/transitions.h"
#include "nn/trainer.h"

enum {
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
    const pess_transitions *data;
    int64_t updates, steps, batch; /* of this algorithm under the protocol */
    pess__net *net, *frozen;       /* frozen: where the targets come from */
    pess__net *imitation;          /* NULL unless the learner needs it */
    pess__trainer *trainer;
    /* One entry per state of the data. */
    float *prior;    /* [states*actions] π̂; NULL without imitation */
    float *value;    /* what targets bootstrap from */
    int32_t *place;  /* where the state is in the list being made, or -1 */
    int64_t *wanted; /* list of states */
    int64_t wanted_count;
    float *outputs; /* of a network, for a chunk of states */
    /* One entry per sample of a minibatch: its different states, and the labels of each. */
    int64_t *unique, *first, *rows;
    int32_t *taken;
    pess__real *targets;
    int64_t check_count;
    int64_t *check; /* [check_count] transitions */
    /* How it goes. */
    int64_t update, generation;
    double loss, mean_target, mean_q, best;
    pess__scored scored[PESS_SCORED_UPDATES];
    pess__logtext log;
    double seconds_before, begun, saved, reported;
} pess__fitted;

/* A minibatch of transitions into unique, first, taken and targets: equal states are computed once, with the labels of
 * all their transitions. Returns how many different states there are. */
int64_t pess__fitted_draw(pess__fitted *fitted, pess__rng *rng);

/* targets.c: the value of every state that the coming update needs. */
pess_status pess__fitted_targets(pess__fitted *fitted, pess_error *error);
double pess__fitted_target(const pess__fitted *fitted, int64_t row);
/* Row `i` of update `update` is a draw of its stream, so that it can be drawn again. */
pess__rng pess__fitted_rows(const pess__fitted *fitted);
/* Outputs of a network for all states, turned into π̂. */
pess_status pess__fitted_priors(pess__fitted *fitted, pess_error *error);
/* Loss, mean target and mean q on the check transitions. */
pess_status pess__fitted_check(pess__fitted *fitted, pess_error *error);

/* fitted_play.c: evaluation by whole episodes. */
pess_status pess__fitted_evaluate(const pess__fitted *fitted, int64_t episodes, int64_t control_episodes,
                                  pess__scored *out, pess_error *error);

/* fitted_files.c: checkpoints, policy and manifest. */
pess_status pess__fitted_save(pess__fitted *fitted, pess_error *error);
pess_status pess__fitted_restore(pess__fitted *fitted, bool *found, pess_error *error);
bool pess__fitted_has_checkpoint(const pess__fitted *fitted);
pess_status pess__fitted_write(pess__fitted *fitted, const pess_train_result *result, pess_error *error);

#endif
