/* The public face of the random streams. */
#include "core/rng.h"

#include "pess.h"

#include <string.h>

_Static_assert(sizeof(pess_random) == sizeof(pess__rng), "the public generator is the internal one");

pess_random pess_random_create(uint64_t seed, const char *purpose, uint64_t index) {
    const pess__rng rng = pess__rng_stream(seed, purpose, index);
    pess_random random;
    memcpy(random.state, rng.state, sizeof random.state);
    return random;
}

static uint64_t below(pess_random *random, uint64_t n) {
    pess__rng rng;
    memcpy(rng.state, random->state, sizeof rng.state);
    const uint64_t value = pess__rng_below(&rng, n);
    memcpy(random->state, rng.state, sizeof rng.state);
    return value;
}

double pess_random_uniform(pess_random *random) { return (double)below(random, (uint64_t)1 << 53) * 0x1p-53; }

int64_t pess_random_below(pess_random *random, int64_t n) { return n > 0 ? (int64_t)below(random, (uint64_t)n) : 0; }
