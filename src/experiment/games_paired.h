/* Two ways of acting on the same datasets, beside each other: scores as shares of the player's return, and an interval
 * for their mean difference. */
#ifndef PESS_EXPERIMENT_GAMES_PAIRED_H
#define PESS_EXPERIMENT_GAMES_PAIRED_H

#include "experiment/games.h"

/* A curve, as it acts or by argmax; at_one: the curve whose score takes its place at x = 1, or -1. */
typedef struct pess__games_method {
    int curve;
    bool argmax;
    int at_one;
} pess__games_method;

/* By the name of a point: "naive", "imitation-argmax", "trivial-rule"; false where there is no such curve. */
bool pess__games_method_named(const pess__games *m, const char *name, pess__games_method *out);
/* The score on a dataset, divided by the player's return; NAN where the run is not there. */
double pess__games_method_share(const pess__games *m, const pess__games_method *method, int64_t dataset);
/* What the player that collects gets at the smallest x, the mean over the trials; NAN: not known. */
double pess__player_return(const pess__games *m, int game);

typedef struct pess__paired {
    pess_interval mean;
    pess_interval iqm;       /* of all the differences: the mean of what remains without a quarter at either end */
    pess_interval ahead;     /* how often own is above weight·other, a tie half: the mean over games and x */
    int64_t strata, missing; /* games and x; those of them without a pair of runs */
    int64_t fewest;          /* pairs in any other of them: of a single one there is no interval */
} pess__paired;

/* The mean over games and x of the mean over trials of own − weight·other, with intervals of 95 per cent of a paired
 * stratified bootstrap: in every game at every x the trials are drawn anew with replacement, both ways of acting
 * together, 10,000 times. x NAN: all. Few trials make such intervals too narrow: three understate a variance by a
 * third.
 */
pess_status pess__compare_paired(const pess__games *m, const pess__games_method *own, const pess__games_method *other,
                                 double weight, double x, pess__paired *out, pess_error *error);

#endif
