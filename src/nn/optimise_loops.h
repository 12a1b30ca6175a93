/* The optimisers' element loops. Included by each kernel file, so that each compiles them for its instruction set; the
 * arithmetic has no fused or reordered operation, hence the same bytes everywhere. */
#ifndef PESS_NN_OPTIMISE_LOOPS_H
#define PESS_NN_OPTIMISE_LOOPS_H

#include "nn/kernels.h"

#include <float.h>
#include <math.h>

#ifdef PESS__NN_DOUBLE
#define PESS__SQRT sqrt
#define PESS__ABS fabs
#define PESS__LEAST DBL_MIN
#else
#define PESS__SQRT sqrtf
#define PESS__ABS fabsf
#define PESS__LEAST FLT_MIN
#endif

/* 0 for numbers below the normal ones. The moments of a weight that no sample reaches any more (a dead unit) decay to
 * the smallest number there is and stay, and processors need a hundred times longer for such numbers: a training slows
 * down with every unit that dies. What is left out moves no weight: it is below 1e-37, ε is 1e-8. */
static inline __attribute__((always_inline)) pess__real pess__settled(pess__real x) {
    return PESS__ABS(x) < PESS__LEAST ? 0 : x;
}

/* Adam (Kingma & Ba 2015, algorithm 1, with the corrections folded into rate and root):
 * m ← β1 m + (1−β1) g,  v ← β2 v + (1−β2) g²,  θ ← θ − rate · m / (root·√v + ε). */
static inline __attribute__((always_inline)) void pess__adam_loop(const pess__adam *s, int64_t count,
                                                                  const pess__real *restrict g,
                                                                  pess__real *restrict parameters,
                                                                  pess__real *restrict m, pess__real *restrict v) {
    const pess__adam a = *s;
    for (int64_t i = 0; i < count; i++) {
        const pess__real gradient = g[i] * a.scale;
        m[i] = pess__settled(a.beta1 * m[i] + a.rest1 * gradient);
        v[i] = pess__settled(a.beta2 * v[i] + a.rest2 * (gradient * gradient));
        parameters[i] -= a.rate * m[i] / (PESS__SQRT(v[i]) * a.root + a.epsilon);
    }
}

/* Centred RMSProp (Graves 2013, equations 38–41, without momentum; ε outside the root as in PyTorch):
 * v ← ρ v + (1−ρ) g²,  m ← ρ m + (1−ρ) g,  θ ← θ − rate · g / (√(v − m²) + ε). */
static inline __attribute__((always_inline)) void pess__rmsprop_loop(const pess__rmsprop *s, int64_t count,
                                                                     const pess__real *restrict g,
                                                                     pess__real *restrict parameters,
                                                                     pess__real *restrict m, pess__real *restrict v) {
    const pess__rmsprop a = *s;
    for (int64_t i = 0; i < count; i++) {
        const pess__real gradient = g[i] * a.scale;
        v[i] = pess__settled(a.decay * v[i] + a.rest * (gradient * gradient));
        m[i] = pess__settled(a.decay * m[i] + a.rest * gradient);
        const pess__real spread = v[i] - m[i] * m[i];
        parameters[i] -= a.rate * gradient / (PESS__SQRT(spread > 0 ? spread : 0) + a.epsilon);
    }
}

#endif
