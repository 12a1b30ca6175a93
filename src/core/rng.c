#include "core/rng.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

pess__rng pess__rng_stream(uint64_t seed, const char *purpose, uint64_t index) {
    uint64_t hash = 0xcbf29ce484222325U; /* FNV-1a of the purpose */
    for (const char *c = purpose; *c != '\0'; c++) hash = (hash ^ (uint8_t)*c) * 0x100000001b3U;
    uint64_t state = seed;
    state = splitmix(&state) ^ hash;
    state = splitmix(&state) ^ index;
    pess__rng rng;
    for (int i = 0; i < 4; i++) rng.state[i] = splitmix(&state);
    return rng;
}

uint64_t pess__rng_below(pess__rng *rng, uint64_t n) {
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)pess__rng_next(rng) * n;
    if ((uint64_t)product < n) {
        const uint64_t threshold = (0 - n) % n;
        while ((uint64_t)product < threshold) product = (wide)pess__rng_next(rng) * n;
    }
    return (uint64_t)(product >> 64);
}

double pess__rng_normal(pess__rng *rng) {
    double x, y, square; /* Marsaglia's polar method; the second value is not kept, so a stream has no hidden state */
    do {
        x = 2 * pess__rng_uniform(rng) - 1;
        y = 2 * pess__rng_uniform(rng) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    return x * sqrt(-2 * log(square) / square);
}

double pess__rng_exponential(pess__rng *rng) { return -log1p(-pess__rng_uniform(rng)); }

double pess__rng_gamma(pess__rng *rng, double shape) {
    if (shape < 1) { /* Gamma(a) = Gamma(a+1) · U^(1/a) */
        const double u = 1 - pess__rng_uniform(rng);
        return pess__rng_gamma(rng, shape + 1) * pow(u, 1 / shape);
    }
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = pess__rng_normal(rng), t = 1 + c * x;
        if (t <= 0) continue;
        const double v = t * t * t, u = 1 - pess__rng_uniform(rng);
        if (log(u) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
    }
}

double pess__rng_beta(pess__rng *rng, double a, double b) {
    const double x = pess__rng_gamma(rng, a), y = pess__rng_gamma(rng, b);
    return x + y > 0 ? x / (x + y) : 0.5;
}
