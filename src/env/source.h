/* The one place where every random number of an environment comes from: our generator, or, through a hook, numpy's or a
 * tape; and the hook may record them. Game code is compiled twice: `fast` (a constant) draws straight from our
 * generator, the other looks for a hook. */
#ifndef PESS_ENV_SOURCE_H
#define PESS_ENV_SOURCE_H

#include "core/rng.h"
#include "env/numpy_random.h"

#include "pess.h"

#define PESS__INLINE static inline __attribute__((always_inline))

typedef enum pess__tape_fault {
    PESS__TAPE_FINE,
    PESS__TAPE_SHORT, /* no draw left */
    PESS__TAPE_KIND,  /* an integer where a uniform was asked for, or the other way */
    PESS__TAPE_RANGE
} pess__tape_fault;

typedef struct pess__draw_hook {
    pess__numpy_random *numpy; /* NULL: our generator */
    const pess_draw *tape;     /* NULL: none */
    int64_t tape_length, tape_used;
    pess__tape_fault fault; /* the first one; the draw then gave the lowest value */
    pess_draw *record;      /* NULL: none */
    int64_t record_capacity, recorded;
    bool recording;
} pess__draw_hook;

typedef struct pess__source {
    pess__rng rng;
    pess__draw_hook *hook; /* NULL: none */
} pess__source;

double pess__source_uniform(pess__source *source);
int pess__source_integer(pess__source *source, int low, int high);

/* Uniform in [0,1). */
PESS__INLINE double pess__draw_uniform(pess__source *source, bool fast) {
    return fast ? pess__rng_uniform(&source->rng) : pess__source_uniform(source);
}

/* Uniform over low … high, without bias: Lemire's multiplication with rejection. */
PESS__INLINE int pess__draw_integer(pess__source *source, int low, int high, bool fast) {
    if (!fast) return pess__source_integer(source, low, high);
    const int count = high - low + 1;
    return low + (int)pess__rng_below(&source->rng, (uint64_t)count);
}

#endif
