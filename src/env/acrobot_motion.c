/* Acrobot's equations (acrobot.c has them), eight at a time, so that the processor
 * has something to do while one result waits for another. The sines are our own: the C library's take one angle at a
 * time, 16 of them are four fifths of a step, and their last bits differ from library to library. */
#include "env/acrobot.h"

#include "core/quad.h"

#define PI 3.14159265358979323846
#define GRAVITY 9.8
#define SECONDS 0.2
#define CENTRE 0.5 /* of mass, of a link of length 1 and mass 1 */
#define INERTIA 1.0

/* π/2 in two parts of 33 bits, whose products with small whole numbers are exact, and the rest (Cody & Waite). */
#define HALF_PI_1 0x1.921fb544p+0
#define HALF_PI_2 0x1.0b4611a6p-34
#define HALF_PI_3 0x1.3198a2e037073p-69
#define TO_INTEGER 0x1.8p+52 /* added, it leaves the nearest integer in the last bits */

enum { QUADS = PESS__ACROBOT_LANES / 4 };

typedef struct sines {
    pess__quad sine, cosine;
} sines;

static inline pess__quad choose(pess__quad_bits which, pess__quad yes, pess__quad no) {
    return (pess__quad)(((pess__quad_bits)yes & which) | ((pess__quad_bits)no & ~which));
}

/* x = k π/2 + r with |r| ≤ π/4; Taylor's series of r, whose first missing terms are r¹⁷/17! < 5e-17 and r¹⁸/18!; then
 * a quarter turn for each k: sine and cosine change places where k is odd, and signs by its second bit. */
static inline sines sines_of(pess__quad x) {
    const pess__quad shifted = x * (2 / PI) + TO_INTEGER, k = shifted - TO_INTEGER;
    const pess__quad r = ((x - k * HALF_PI_1) - k * HALF_PI_2) - k * HALF_PI_3, z = r * r;
    pess__quad s = pess__quad_of(-1 / 1307674368000.0), c = pess__quad_of(1 / 20922789888000.0);
    s = s * z + 1 / 6227020800.0, c = c * z - 1 / 87178291200.0;
    s = s * z - 1 / 39916800.0, c = c * z + 1 / 479001600.0;
    s = s * z + 1 / 362880.0, c = c * z - 1 / 3628800.0;
    s = s * z - 1 / 5040.0, c = c * z + 1 / 40320.0;
    s = s * z + 1 / 120.0, c = c * z - 1 / 720.0;
    s = s * z - 1 / 6.0, c = c * z + 1 / 24.0;
    s = r + r * z * s, c = 1 - (0.5 * z - z * z * c);
    const pess__quad_bits turns = (pess__quad_bits)shifted, odd = -(turns & 1);
    const pess__quad_bits sine_sign = (turns & 2) << 62, cosine_sign = ((turns + 1) & 2) << 62;
    return (sines){.sine = (pess__quad)((pess__quad_bits)choose(odd, c, s) ^ sine_sign),
                   .cosine = (pess__quad)((pess__quad_bits)choose(odd, s, c) ^ cosine_sign)};
}

/* ds/dt under the torque; cos(x − π/2) is sin x, and sines of sums come from those of the parts. */
static inline void derivative(const pess__quad s[], pess__quad torque, pess__quad out[]) {
    const sines first = sines_of(s[PESS__ANGLE_1]), second = sines_of(s[PESS__ANGLE_2]);
    const pess__quad v1 = s[PESS__SPIN_1], v2 = s[PESS__SPIN_2], half_sine = CENTRE * second.sine;
    const pess__quad d1 = CENTRE * CENTRE + (1 + CENTRE * CENTRE + 2 * CENTRE * second.cosine) + 2 * INERTIA;
    const pess__quad d2 = CENTRE * CENTRE + CENTRE * second.cosine + INERTIA;
    const pess__quad both = first.sine * second.cosine + first.cosine * second.sine;
    const pess__quad phi2 = CENTRE * GRAVITY * both;
    const pess__quad phi1 = (CENTRE + 1) * GRAVITY * first.sine + phi2 - half_sine * v2 * (v2 + 2 * v1);
    const pess__quad inverse = 1 / d1, share = d2 * inverse;
    out[PESS__ANGLE_1] = v1;
    out[PESS__ANGLE_2] = v2;
    out[PESS__SPIN_2] = (torque + share * phi1 - half_sine * v1 * v1 - phi2) / (CENTRE * CENTRE + INERTIA - d2 * share);
    out[PESS__SPIN_1] = -(d2 * out[PESS__SPIN_2] + phi1) * inverse;
}

/* s ← s + h/6 (k1 + 2 k2 + 2 k3 + k4); the quads stage by stage, so that one is computed while the other waits. */
static inline void integrate(pess__quad s[QUADS][PESS__ACROBOT_STATES], const pess__quad torque[QUADS]) {
    static const double ahead[] = {0, SECONDS / 2, SECONDS / 2, SECONDS}, weight[] = {1, 2, 2, 1};
    pess__quad k[QUADS][PESS__ACROBOT_STATES] = {{{0}}}, sum[QUADS][PESS__ACROBOT_STATES] = {{{0}}};
    for (int stage = 0; stage < 4; stage++)
        for (int q = 0; q < QUADS; q++) {
            pess__quad at[PESS__ACROBOT_STATES];
            for (int i = 0; i < PESS__ACROBOT_STATES; i++) at[i] = s[q][i] + ahead[stage] * k[q][i];
            derivative(at, torque[q], k[q]);
            for (int i = 0; i < PESS__ACROBOT_STATES; i++) sum[q][i] += weight[stage] * k[q][i];
        }
    for (int q = 0; q < QUADS; q++)
        for (int i = 0; i < PESS__ACROBOT_STATES; i++) s[q][i] += SECONDS / 6 * sum[q][i];
}

static inline pess__quad within(pess__quad x, double most) {
    const pess__quad above_least = choose(x < -most, pess__quad_of(-most), x);
    return choose(above_least > most, pess__quad_of(most), above_least);
}

/* The same angle between −π and π. */
static inline pess__quad wrapped(pess__quad angle) {
    const pess__quad turns = (angle * (0.5 / PI) + TO_INTEGER) - TO_INTEGER;
    return within(angle - turns * (2 * PI), PI);
}

/* Angles and velocities within their limits; −cos θ1 − cos(θ1 + θ2), the height of the tip. */
static inline pess__quad limit(pess__quad s[PESS__ACROBOT_STATES]) {
    s[PESS__ANGLE_1] = wrapped(s[PESS__ANGLE_1]);
    s[PESS__ANGLE_2] = wrapped(s[PESS__ANGLE_2]);
    s[PESS__SPIN_1] = within(s[PESS__SPIN_1], 4 * PI);
    s[PESS__SPIN_2] = within(s[PESS__SPIN_2], 9 * PI);
    const sines first = sines_of(s[PESS__ANGLE_1]), second = sines_of(s[PESS__ANGLE_2]);
    return -first.cosine - (first.cosine * second.cosine - first.sine * second.sine);
}

void PESS__VARIANT(pess__acrobot_move)(double s[PESS__ACROBOT_STATES][PESS__ACROBOT_LANES],
                                       const double torque[PESS__ACROBOT_LANES], bool above[PESS__ACROBOT_LANES]) {
    pess__quad quad[QUADS][PESS__ACROBOT_STATES], torques[QUADS];
    for (int q = 0; q < QUADS; q++) {
        torques[q] = pess__quad_load(torque + 4 * q);
        for (int i = 0; i < PESS__ACROBOT_STATES; i++) quad[q][i] = pess__quad_load(s[i] + 4 * q);
    }
    integrate(quad, torques);
    for (int q = 0; q < QUADS; q++) {
        const pess__quad height = limit(quad[q]);
        for (int i = 0; i < PESS__ACROBOT_STATES; i++) pess__quad_store(s[i] + 4 * q, quad[q][i]);
        for (int lane = 0; lane < 4; lane++) above[4 * q + lane] = height[lane] > 1;
    }
}

void PESS__VARIANT(pess__sines)(const double angle[2], double sine[2], double cosine[2]) {
    const pess__quad x = {angle[0], angle[1]};
    const sines of = sines_of(x);
    memcpy(sine, &of.sine, 2 * sizeof *sine);
    memcpy(cosine, &of.cosine, 2 * sizeof *cosine);
}
