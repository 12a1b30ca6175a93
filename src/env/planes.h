/* Packed bits to one float or byte per bit: clear all, then set the few that are on. */
#ifndef PESS_ENV_PLANES_H
#define PESS_ENV_PLANES_H

#include "env/env.h"

#include <string.h>

/* Bit index to channel-major index, for a board of PESS__CELLS cells. */
PESS__INLINE unsigned pess__plane_index(unsigned bit, unsigned channels, pess_layout layout) {
    return layout == PESS_LAYOUT_HWC ? bit : bit % channels * PESS__CELLS + bit / channels;
}

PESS__INLINE void pess__floats(const uint64_t words[PESS__WORDS], unsigned channels, pess_layout layout, float *out) {
    const unsigned bits = channels * PESS__CELLS;
    memset(out, 0, bits * sizeof *out);
    for (unsigned w = 0; w < (bits + 63) / 64; w++)
        for (uint64_t left = words[w]; left != 0; left &= left - 1)
            out[pess__plane_index(64 * w + (unsigned)__builtin_ctzll(left), channels, layout)] = 1;
}

PESS__INLINE void pess__bytes(const uint64_t words[PESS__WORDS], unsigned channels, pess_layout layout, uint8_t *out) {
    const unsigned bits = channels * PESS__CELLS;
    memset(out, 0, bits);
    for (unsigned w = 0; w < (bits + 63) / 64; w++)
        for (uint64_t left = words[w]; left != 0; left &= left - 1)
            out[pess__plane_index(64 * w + (unsigned)__builtin_ctzll(left), channels, layout)] = 1;
}

#endif
