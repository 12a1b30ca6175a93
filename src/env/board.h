/* Bits of a packed observation: cell (x,y), channel c of C is bit (y*10 + x)*C + c. */
#ifndef PESS_ENV_BOARD_H
#define PESS_ENV_BOARD_H

#include "env/env.h"

#include <string.h>

#ifdef __BMI2__
#include <immintrin.h>
#endif

/* Boards of 256 games pass by in turn and nothing can be foreseen about them: what depends on the state is computed
 * without branches where that is possible. */

/* -1, 0 or 1. */
PESS__INLINE int pess__action_dx(int action) { return (action == PESS__RIGHT) - (action == PESS__LEFT); }
PESS__INLINE int pess__action_dy(int action) { return (action == PESS__DOWN) - (action == PESS__UP); }

/* One step within low … high; at the edge it stays. */
PESS__INLINE int pess__step_within(int at, int change, int low, int high) {
    const int there = at + change;
    return at + (change & -((there >= low) & (there <= high)));
}

PESS__INLINE void pess__set_bit(pess__word *words, unsigned index) { words[index >> 6] |= (uint64_t)1 << (index & 63); }

/* Sets the bit where `on` is 1, nothing where it is 0. */
PESS__INLINE void pess__set_bit_if(pess__word *words, unsigned index, bool on) {
    words[index >> 6] |= (uint64_t)on << (index & 63);
}

/* The ten bits of a row, spread so that cell x lands on bit x*stride. */
PESS__INLINE uint64_t pess__spread_row(uint64_t row, unsigned stride) {
    uint64_t mask = 0;
    for (unsigned x = 0; x < 10; x++) mask |= (uint64_t)1 << (x * stride);
#ifdef __BMI2__
    return _pdep_u64(row, mask);
#else
    uint64_t spread = 0;
    for (unsigned x = 0; x < 10; x++) spread |= ((row >> x) & 1) << (x * stride);
    return spread & mask;
#endif
}

/* Ors up to 64 bits into the words, from bit `index` on. */
PESS__INLINE void pess__or_bits(pess__word *words, unsigned index, uint64_t bits) {
    const unsigned word = index >> 6, shift = index & 63;
    words[word] |= bits << shift;
    if (shift != 0) words[word + 1] |= bits >> (64 - shift);
}

#endif
