/* One step of learning: loss, gradient, clipping, optimiser. All memory is taken when a trainer is made. */
#ifndef PESS_NN_TRAINER_H
#define PESS_NN_TRAINER_H

#include "nn/network.h"

typedef enum pess__loss_kind {
    PESS__LOSS_SQUARED,      /* d² with d = q(action) − target */
    PESS__LOSS_HUBER,        /* d²/2 up to |d| = parameter, then parameter·(|d| − parameter/2) */
    PESS__LOSS_DISTANCE,     /* distance(d, parameter) */
    PESS__LOSS_CROSS_ENTROPY /* log Σ exp q − q(action) */
} pess__loss_kind;

typedef struct pess__loss {
    pess__loss_kind kind;
    double parameter; /* of Huber's loss and of the distance */
    /* The loss of d and its derivative, for a loss that is none of the others. */
    double (*distance)(double d, double parameter, double *slope);
    double conservative; /* this × (log Σ exp q − q(action)) is added to a distance; 0: nothing */
    double diversity;    /* this × (q − mean q)/|q − mean q| · others is added for every label; 0: nothing */
    /* More than one: the outputs are heads × actions, and q(action) is Σ_k mixture[k]·q_k(action). */
    int64_t heads;
    const double *mixture; /* [heads] */
} pess__loss;

/* What sample i is to be: entry index[i] of each column (i where index is NULL). Where equal observations of a
 * minibatch are computed once, sample i has the entries first[i] … first[i+1]-1 instead: the gradient is the same sum.
 */
typedef struct pess__labels {
    const int32_t *actions;
    const pess__real *targets; /* not read by cross-entropy */
    const pess__real *weights; /* NULL: 1 */
    const int64_t *index;
    const int64_t *first;     /* [samples+1] or NULL; then index is not read */
    const pess__real *others; /* [samples*outputs] directions to turn away from; read where the loss has diversity */
} pess__labels;

enum { PESS__MOST_DIRECTIONS = 64 }; /* outputs of a network with diversity */
#define PESS__LEAST_LENGTH 1e-3      /* of q − mean q that has a direction */

typedef struct pess__loss_sums {
    double loss, output; /* Σ weight·loss and Σ q(action), over labels */
} pess__loss_sums;

/* g/|g| of g = q − mean q to direction [outputs], zeros where all outputs are equal; returns |g|. */
double pess__direction(const pess__real *q, int64_t outputs, double *direction);

/* Samples [first, first+samples) of the labels: adds to the sums and writes delta = scale·∂loss/∂q. q and delta have
 * rows of `stride`, of which `outputs` count; the rest of delta becomes 0. */
void pess__loss_gradient(const pess__loss *loss, const pess__labels *labels, int64_t first, int64_t samples,
                         int64_t outputs, int64_t stride, double scale, const pess__real *q, pess__real *delta,
                         pess__loss_sums *sums);

typedef enum pess__optimiser_kind { PESS__OPTIMISER_ADAM, PESS__OPTIMISER_RMSPROP } pess__optimiser_kind;

typedef struct pess__optimiser {
    pess__optimiser_kind kind;
    double rate;         /* step size; may be changed between steps */
    double beta1, beta2; /* Adam; RMSProp (centred) has decay in beta2 */
    double epsilon;
    double clip; /* largest Euclidean norm of the gradient; 0: any */
} pess__optimiser;

pess__optimiser pess__optimiser_defaults(void); /* Adam, 3e-4, 0.9, 0.999, 1e-8 */

typedef struct pess__trainer {
    pess__net *net; /* not owned */
    pess__optimiser optimiser;
    int64_t steps;
    pess__real *gradient, *first, *second; /* [net->size] */
    pess__pass *pass;
    void *memory;
} pess__trainer;

typedef struct pess__step_info {
    double loss, mean_output; /* mean over the labels of the batch */
    double norm;              /* of the gradient before clipping; 0 where nothing is clipped */
} pess__step_info;

pess_status pess__trainer_create(pess__net *net, const pess__optimiser *optimiser, pess__trainer **out,
                                 pess_error *error);
void pess__trainer_destroy(pess__trainer *trainer);
void pess__trainer_reset(pess__trainer *trainer); /* forgets moments and steps */
/* The gradient of (1/labels) Σ weight·loss into trainer->gradient, without a step. */
void pess__trainer_gradient(pess__trainer *trainer, const pess__bits_rows *rows, const pess__labels *labels,
                            int64_t count, const pess__loss *loss, pess__step_info *info);
/* The optimiser's step along trainer->gradient. */
void pess__trainer_move(pess__trainer *trainer, pess__step_info *info);
/* Both. PESS_NOT_CONVERGED, naming the step, where the loss is not finite; then nothing has moved. */
pess_status pess__trainer_step(pess__trainer *trainer, const pess__bits_rows *rows, const pess__labels *labels,
                               int64_t count, const pess__loss *loss, pess__step_info *info, pess_error *error);

#endif
