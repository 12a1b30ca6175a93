#include "certify/betting.h"

#include <math.h>
#include <string.h>

/* Factors of one share that are multiplied before their product is split into mantissa and exponent: each is at least
 * 1 − 2^(−1/2) and, capped, at most 2^100, so that a product of eight is far from both ends of a double. */
enum { BLOCK = 8 };
static const double FACTOR_CAP = 0x1p100; /* a smaller capital is still a valid one */

typedef struct ledger {
    double product[PESS__BET_SHARES];
    double exponent[PESS__BET_SHARES]; /* in powers of two; whole numbers, so their sums are exact */
} ledger;

static void shares(double x[PESS__BET_SHARES]) {
    for (int j = 0; j < PESS__BET_SHARES; j++) x[j] = exp2(-0.5 * (j + 1));
}

/* product = mantissa in [1,2) after its exponent went to the other sum. The product is positive and normal. */
static void split(ledger *l) {
    for (int j = 0; j < PESS__BET_SHARES; j++) {
        uint64_t bits;
        memcpy(&bits, &l->product[j], sizeof bits);
        l->exponent[j] += (double)((int64_t)(bits >> 52) - 1023);
        bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
        memcpy(&l->product[j], &bits, sizeof bits);
    }
}

/* Π (1 − x_j + x_j·X_i/m) over the values, for every share. */
static void play(const double *values, int64_t count, double m, const double x[PESS__BET_SHARES], ledger *l) {
    const double inverse = 1 / m;
    for (int64_t i = 0; i < count; i += BLOCK) {
        const int64_t end = i + BLOCK < count ? i + BLOCK : count;
        for (int64_t k = i; k < end; k++) {
            const double gain = fmin(values[k] * inverse, FACTOR_CAP) - 1;
            for (int j = 0; j < PESS__BET_SHARES; j++) l->product[j] *= 1 + x[j] * gain;
        }
        split(l);
    }
}

/* The capital after `times` as many rounds of the same kind: 1 is the capital itself. */
static double log_capital(const double *values, int64_t count, double m, double times) {
    double x[PESS__BET_SHARES], capital[PESS__BET_SHARES], most = -INFINITY;
    ledger l = {{0}, {0}};
    shares(x);
    for (int j = 0; j < PESS__BET_SHARES; j++) l.product[j] = 1;
    play(values, count, m, x, &l);
    for (int j = 0; j < PESS__BET_SHARES; j++) {
        capital[j] = times * (log(l.product[j]) + l.exponent[j] * 0.69314718055994530942);
        most = fmax(most, capital[j]);
    }
    double sum = 0;
    for (int j = 0; j < PESS__BET_SHARES; j++) sum += exp(capital[j] - most);
    /* A factor is off by at most four roundings, of which the product takes one more; logarithms and their sum are
     * right to a few units in the last place. */
    const double slack = times * (6 * 0x1p-53 * (double)count) + 0x1p-48 * (64 + fabs(most));
    return most + log(sum / PESS__BET_SHARES) - slack;
}

double pess__bet_log_capital(const double *values, int64_t count, double m) { return log_capital(values, count, m, 1); }

/* L(δ) of `times` as many numbers, to within `tolerance` of itself from below. */
static double find_bound(const double *values, int64_t count, double delta, double times, double tolerance) {
    const double wanted = log(1 / delta) * (1 + 0x1p-50);
    double total = 0;
    for (int64_t i = 0; i < count; i++) total += values[i];
    /* Against the mean itself or more, every share loses (Jensen): the bound lies below. */
    double high = count > 0 ? total / (double)count : 0;
    if (!(high > 0) || !isfinite(high)) return 0;
    double low = high / 2;
    while (log_capital(values, count, low, times) < wanted) {
        high = low;
        low /= 4;
        if (low < 0x1p-900) return 0;
    }
    /* The capital falls in m, so the bound is where it falls below what is wanted; `low` always has enough. */
    while (high - low > tolerance * high) {
        const double middle = 0.5 * (low + high);
        if (log_capital(values, count, middle, times) >= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double pess__bet_predicted(const double *values, int64_t count, double delta, double times) {
    return find_bound(values, count, delta, times, 1e-4);
}

double pess__bet_lower(const double *values, int64_t count, double delta) {
    return find_bound(values, count, delta, 1, 1e-12);
}
