/* Whole episodes of somebody who acts. */
#ifndef PESS_DEEP_PLAY_H
#define PESS_DEEP_PLAY_H

#include "core/rng.h"
#include "nn/network.h"

enum { PESS__PLAY_GROUP = 48 }; /* episodes that step together */

/* What is done in a state, and what is thought of it. */
typedef struct pess__choice {
    int32_t action;
    bool outside; /* the state is not in the data that the player learnt from */
    double value; /* what the player expects from here; NAN where it expects nothing */
} pess__choice;

typedef struct pess__player {
    const void *self;
    int64_t bytes, actions; /* of the observations read and of the choice; 0: any */
    /* A worker's own room, for up to PESS__PLAY_GROUP observations at a time. */
    pess_status (*open)(const void *self, void **room, pess_error *error);
    void (*close)(void *room);
    /* Choices for `count` observations; the one of row index[i] draws from rng[index[i]]. `actions` there are. */
    void (*choose)(const void *self, void *room, const pess__bits_rows *rows, int64_t count, int64_t actions,
                   pess__rng *rng, pess__choice *out);
} pess__player;

/* Means over episodes. */
typedef struct pess__play_thoughts {
    double predicted; /* value of the first state; NAN */
    double obtained;  /* return, discounted by gamma */
    double outside;   /* share of steps in states outside the data */
} pess__play_thoughts;

/* mdp NULL: the game of the options. options->epsilon is the player's affair. thoughts may be NULL. */
pess_status pess__play_with(const pess__player *player, const pess_mdp *mdp, const pess_play_options *options,
                            double gamma, pess_play_result *out, pess__play_thoughts *thoughts, pess_error *error);
/* A network's argmax or, with options->sample, a draw from its softmax, but for options->epsilon; net NULL: uniformly
 * random. */
pess_status pess__play(const pess__net *net, const pess_mdp *mdp, const pess_play_options *options,
                       pess_play_result *out, pess_error *error);

/* The action with the largest value; the smallest of equals. */
static inline int32_t pess__greedy(const pess__real *q, int64_t actions) {
    int32_t best = 0;
    for (int32_t a = 1; a < actions; a++)
        if (q[a] > q[best]) best = a;
    return best;
}

/* P(a) ∝ exp(outputs[a]): the action at which a uniform number in [0,1) falls. */
int32_t pess__draw_softmax(const pess__real *outputs, int64_t actions, double uniform);

#endif
