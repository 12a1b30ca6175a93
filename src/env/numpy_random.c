#include "env/numpy_random.h"

enum { SHIFT = 397 };

void pess__numpy_seed(pess__numpy_random *random, uint32_t seed) {
    uint32_t *w = random->word;
    w[0] = seed;
    for (uint32_t i = 1; i < PESS__MT_WORDS; i++) w[i] = 1812433253U * (w[i - 1] ^ (w[i - 1] >> 30)) + i;
    random->position = PESS__MT_WORDS;
}

static void refill(uint32_t *w) {
    for (uint32_t i = 0; i < PESS__MT_WORDS; i++) {
        const uint32_t joined =
            (w[i] & 0x80000000U) | (w[i + 1 < PESS__MT_WORDS ? i + 1 : i + 1 - PESS__MT_WORDS] & 0x7fffffffU);
        const uint32_t far = w[i + SHIFT < PESS__MT_WORDS ? i + SHIFT : i + SHIFT - PESS__MT_WORDS];
        w[i] = far ^ (joined >> 1) ^ ((joined & 1) != 0 ? 0x9908b0dfU : 0);
    }
}

static uint32_t next(pess__numpy_random *random) {
    if (random->position >= PESS__MT_WORDS) {
        refill(random->word);
        random->position = 0;
    }
    uint32_t y = random->word[random->position++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
}

double pess__numpy_uniform(pess__numpy_random *random) {
    const uint32_t high = next(random) >> 5, low = next(random) >> 6;
    return ((double)high * 67108864.0 + (double)low) / 9007199254740992.0;
}

uint32_t pess__numpy_integer(pess__numpy_random *random, uint32_t most) {
    if (most == 0) return 0;
    uint32_t mask = most; /* the smallest 2^k - 1 that covers `most` */
    for (uint32_t shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
    for (;;) {
        const uint32_t value = next(random) & mask;
        if (value <= most) return value;
    }
}
