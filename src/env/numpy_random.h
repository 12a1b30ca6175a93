/* numpy's legacy RandomState, so that a seed gives the sequence that Python programs get from it: MT19937 (Matsumoto &
 * Nishimura 1998) seeded by init_genrand; uniforms of 53 bits from two outputs; integers by masking and rejection. */
#ifndef PESS_ENV_NUMPY_RANDOM_H
#define PESS_ENV_NUMPY_RANDOM_H

#include <stdint.h>

enum { PESS__MT_WORDS = 624 };

typedef struct pess__numpy_random {
    uint32_t word[PESS__MT_WORDS];
    uint32_t position; /* next word to hand out; PESS__MT_WORDS: all are used */
} pess__numpy_random;

void pess__numpy_seed(pess__numpy_random *random, uint32_t seed);
double pess__numpy_uniform(pess__numpy_random *random);
/* 0 … most; most 0 draws nothing. */
uint32_t pess__numpy_integer(pess__numpy_random *random, uint32_t most);

#endif
