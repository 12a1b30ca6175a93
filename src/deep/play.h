/* Whole episodes of a network's policy. */
#ifndef PESS_DEEP_PLAY_H
#define PESS_DEEP_PLAY_H

#include "nn/network.h"

/* net NULL: uniformly random. mdp NULL: the game of the options. */
pess_status pess__play(const pess__net *net, const pess_mdp *mdp, const pess_play_options *options,
                       pess_play_result *out, pess_error *error);

/* The action with the largest value; the smallest of equals. */
static inline int32_t pess__greedy(const pess__real *q, int64_t actions) {
    int32_t best = 0;
    for (int32_t a = 1; a < actions; a++)
        if (q[a] > q[best]) best = a;
    return best;
}

#endif
