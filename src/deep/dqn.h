/* The state of a DQN training: everything that the next step depends on, and what is kept for the log. */
#ifndef PESS_DEEP_DQN_H
#define PESS_DEEP_DQN_H

#include "core/rng.h"
#include "deep/generations.h"
#include "deep/replay.h"
#include "nn/trainer.h"

enum { PESS__SNAPSHOTS = 5 };

/* Parameters at a moment, with the score that kept them. */
typedef struct pess__snapshot {
    double score;
    int64_t frame; /* -1: empty */
    float *parameters;
} pess__snapshot;

typedef struct pess__dqn {
    pess_dqn_options options;
    char settings[PESS__SETTINGS_SIZE]; /* lines "key=value" of all that decides the result */
    int64_t bytes, actions;
    pess__net *online, *target;
    pess__net *average; /* running mean of the online network: what is evaluated and kept */
    pess__trainer *trainer;
    pess__pass *pass; /* forward, of a chunk of samples */
    pess_batch *batch;
    pess__replay replay;
    pess__rng act, sample;
    int64_t frames, updates, evaluations, generation;
    /* One entry per environment. */
    uint8_t *bits, *next_bits;
    double *rewards, *running; /* running: return of the episode so far */
    uint8_t *ends;
    int32_t *choice;
    /* One entry per sample of a minibatch. */
    int64_t *index, *last;       /* entries of the replay memory: first and last of n steps */
    double *returns, *discounts; /* over those steps */
    int32_t *best, *taken;
    float *targets;
    /* Since the last line of the log. */
    double loss_sum, output_sum, return_sum;
    int64_t loss_count, return_count;
    pess__logtext log;
    pess__snapshot snapshots[PESS__SNAPSHOTS];
    double seconds_before, begun, network_seconds;
    pess__directory_lock lock;
} pess__dqn;

/* dqn_settings.c: the options as they hold, and the lines of all that decides the result, so that a checkpoint of
 * another run is never taken for this one's. */
pess_status pess__dqn_settle(const pess_dqn_options *options, pess_dqn_options *out, pess_error *error);
void pess__dqn_describe(pess__dqn *dqn);

/* dqn_checkpoint.c */
/* The directory of the results, before anything is trained: see pess__generations_open. */
pess_status pess__dqn_open_directory(pess__dqn *dqn, pess_error *error);
/* Writes the next generation beside the other one; on failure both earlier ones are as they were. */
pess_status pess__dqn_save(pess__dqn *dqn, pess_error *error);
/* Restores the newest good checkpoint of the directory. *found false: there is none at all. */
pess_status pess__dqn_restore(pess__dqn *dqn, bool *found, pess_error *error);

#endif
