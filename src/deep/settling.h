/* When a training has learnt what its data can teach, by signs that need no play: what episodes tell that it has not
 * learnt from. Protocols that settle (docs/deep.md) stop by these rules, others after fixed numbers of steps. */
#ifndef PESS_DEEP_SETTLING_H
#define PESS_DEEP_SETTLING_H

#include "data/observations.h"
#include "nn/trainer.h"

/* ---- which transitions are learnt from */

/* Every tenth episode is held out, the tenth first. Episodes longer than a twentieth of the data are cut into stretches
 * of that length, so that a log of few episodes has something to hold out. Imagined transitions are never held out. */
typedef struct pess__parts {
    int64_t *learnt, *held; /* transitions, ascending */
    int64_t learnt_count, held_count;
} pess__parts;

pess_status pess__parts_create(const pess_observations *data, pess__parts *out, pess_error *error);
void pess__parts_destroy(pess__parts *parts);

/* ---- likelihood: a step size that falls when the held-out loss no longer does */

enum {
    PESS__PATIENCE = 2,   /* stretches without improvement before the step size falls */
    PESS__RATE_FALL = 4,  /* by which it is divided … */
    PESS__RATE_FALLS = 3, /* … so many times; then it is over */
    PESS__STRETCHES = 50  /* at least, of the steps there are */
};
#define PESS__IMPROVEMENT 1e-3 /* relative; less is none */

typedef struct pess__plateau {
    double best;   /* the smallest loss; INFINITY before the first stretch */
    double mark;   /* the last that was an improvement … */
    int64_t since; /* … and the stretches since then */
    int64_t falls; /* of the step size so far */
} pess__plateau;

typedef enum pess__verdict {
    PESS__GO_ON,
    PESS__FALL, /* on from the best, at a smaller step size */
    PESS__OVER  /* the best is the result */
} pess__verdict;

pess__plateau pess__plateau_begin(void);
/* *best: this loss is the smallest so far, and what has it is worth keeping. */
pess__verdict pess__plateau_next(pess__plateau *plateau, double loss, bool *best);

/* ---- values: their mean on held-out transitions over the updates */

enum { PESS__WINDOW = 20, PESS__STILL = 5, PESS__PASSES = 4 };
#define PESS__VALUES_APART 0.05
#define PESS__FIT_IMPROVEMENT 0.01

typedef struct pess__stillness {
    double means[PESS__WINDOW]; /* of the last updates; that of update k at k % PESS__WINDOW */
    int64_t count;              /* updates so far */
    int64_t still;              /* of them in a row, at the end, that were still */
} pess__stillness;

/* Adds the mean value after an update. Have values arrived? */
bool pess__stillness_next(pess__stillness *stillness, double mean, double gamma);
/* Is another pass over an update's sample worth while, after one that brought the held-out error of the fit from
 * `before` to `after`? */
bool pess__fit_improves(double before, double after, int64_t passes);

/* ---- of a training */

typedef struct pess__settling {
    pess__parts parts;
    pess__plateau plateau;
    pess__stillness stillness;
    int64_t steps;    /* gradient steps so far */
    pess__real *best; /* [parameters] of imitation; NULL for values */
} pess__settling;

#endif
