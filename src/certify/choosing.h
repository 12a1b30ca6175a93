/* The episodes that choose the policy, and the folds in which they are cross-fitted: a policy that was fitted to an
 * episode is never scored on it. */
#ifndef PESS_CERTIFY_CHOOSING_H
#define PESS_CERTIFY_CHOOSING_H

#include "certify/certificate.h"
#include "certify/episode_bets.h"

enum { PESS__FOLDS = 3 };

/* What policies are fitted to. */
typedef struct pess__fit {
    pess_counts *counts;
    pess_model *model;
    pess_policy *behaviour; /* as known by state, or the shares of the actions; where a state was not seen all alike */
} pess__fit;

/* Rows of the log are looked at through `trajectories` alone, which has no others than those of the choosing part. */
typedef struct pess__choosing {
    pess__trajectories *trajectories;
    pess__returns *returns;
    double *by_state;
    double *start; /* [S] where the choosing episodes begin */
    pess__episode_log log;
    int64_t episodes;
    double length;                /* steps of an episode, on average */
    pess__fit all;                /* of all of them */
    pess__fit folds[PESS__FOLDS]; /* of all but those of the fold */
} pess__choosing;

/* The episodes whose rows all come before row `cut` of the log. probability [rows]: b; declared: it is that of
 * options->behaviour. */
pess_status pess__choosing_create(const pess__certification *job, const pess__trajectories *episodes,
                                  const double *probability, bool declared, int64_t cut, pess__choosing **out,
                                  pess_error *error);
void pess__choosing_destroy(pess__choosing *choosing); /* NULL is fine */
/* Episodes [from, to) of a fold. */
void pess__choosing_fold(const pess__choosing *choosing, int fold, int64_t *from, int64_t *to);
/* The first of them, where `scored` of all folds together are scored: [from, to), and where their numbers stand among
 * those of all folds. */
void pess__choosing_scored(const pess__choosing *choosing, int64_t scored, int fold, int64_t *from, int64_t *to,
                           int64_t *place);

#endif
