#include "certify/betting_rounds.h"

#include "core/ranges.h"

#include <math.h>

/* Many numbers are played in this many parts, whatever the number of threads, and the capitals multiplied in order: the
 * bytes do not depend on the threads. */
enum { PARTS = 32, MANY = 1 << 15 };

typedef struct rounds {
    const double *values;
    int64_t count;
    double m;
    double shares[PESS__BET_SHARES];
    pess__bet_capital *capital; /* [parts] */
    int parts;
} rounds;

static void play_parts(void *context, int64_t first, int64_t last, int thread) {
    (void)thread;
    const rounds *r = context;
    for (int64_t p = first; p < last; p++) {
        const int64_t from = r->count * p / r->parts, to = r->count * (p + 1) / r->parts;
        PESS__CHOOSE(pess__bet_rounds)(r->values + from, to - from, r->m, r->shares, &r->capital[p]);
    }
}

/* ln of the capital of each share after all rounds. */
static void log_capitals(const double *values, int64_t count, double m, int threads, double out[PESS__BET_SHARES]) {
    pess__bet_capital capital[PARTS];
    rounds r = {values, count, m, {0}, capital, count >= MANY ? PARTS : 1};
    for (int j = 0; j < PESS__BET_SHARES; j++) r.shares[j] = exp2(-0.5 * (j + 1));
    pess__ranges(count >= MANY ? threads : 1, r.parts, play_parts, &r);
    for (int p = 1; p < r.parts; p++) PESS__CHOOSE(pess__bet_join)(capital, &capital[p]);
    for (int j = 0; j < PESS__BET_SHARES; j++)
        out[j] = log(capital->product[j]) + (double)capital->exponent[j] * 0.69314718055994530942;
}

/* The capital after `times` as many rounds of the same kind: 1 is the capital itself. */
static double log_capital(const pess__bet_numbers *numbers, double m, double times) {
    double capital[PESS__BET_SHARES], most = -INFINITY, sum = 0;
    log_capitals(numbers->values, numbers->count, m, numbers->threads, capital);
    for (int j = 0; j < PESS__BET_SHARES; j++) most = fmax(most, capital[j] *= times);
    for (int j = 0; j < PESS__BET_SHARES; j++) sum += exp(capital[j] - most);
    /* A factor is off by at most four roundings, of which the product takes one more; logarithms and their sum are
     * right to a few units in the last place. */
    const double slack = times * (6 * 0x1p-53 * (double)(numbers->count + PARTS)) + 0x1p-48 * (64 + fabs(most));
    return most + log(sum / PESS__BET_SHARES) - slack;
}

double pess__bet_log_capital(const double *values, int64_t count, double m) {
    return log_capital(&(pess__bet_numbers){values, count, 1}, m, 1);
}

/* ------------------------------------------------------------------------------------------------ the bound */

/* The search for the mean against which the capital is what is wanted. */
typedef struct search {
    const pess__bet_numbers *numbers;
    double times, wanted;
} search;

/* How far the capital is from what is wanted; it falls in m. Near the mean of the numbers the logarithm is a parabola,
 * n(mean − m)²/2σ² less the price of not knowing σ: its root is nearly a straight line, which the search likes. */
static double excess(const search *s, double m) {
    const double price = 1 + log(PESS__BET_SHARES);
    return sqrt(fmax(log_capital(s->numbers, m, s->times) + price, 0)) - sqrt(s->wanted + price);
}

typedef struct point {
    double m, excess;
} point;

/* Where to look next, as a share of the way from `last` to `other`: by the parabola through three points where it can
 * be trusted, else in the middle (Chandrupatla 1997). */
static double next_share(const point *last, const point *other, const point *before) {
    const double place = (last->m - other->m) / (before->m - other->m),
                 height = (last->excess - other->excess) / (before->excess - other->excess);
    if (!(height * height < place && (1 - height) * (1 - height) < 1 - place)) return 0.5;
    return last->excess / (other->excess - last->excess) * before->excess / (other->excess - before->excess) +
           (before->m - last->m) / (other->m - last->m) * last->excess / (before->excess - last->excess) *
               other->excess / (before->excess - other->excess);
}

/* `low` has enough, `high` has not: the largest mean with enough that is found, to within `tolerance` of itself. */
static double narrow(const search *s, point low, point high, double tolerance) {
    point last = high, other = low;
    double share = last.excess / (last.excess - other.excess);
    for (;;) {
        const double least = 0.4 * tolerance * high.m / fabs(other.m - last.m);
        if (least > 0.4) return low.m;
        point here = {.m = last.m + fmin(fmax(share, least), 1 - least) * (other.m - last.m)};
        here.excess = excess(s, here.m);
        *(here.excess >= 0 ? &low : &high) = here;
        const point before = (here.excess >= 0) == (last.excess >= 0) ? last : other;
        if ((here.excess >= 0) != (last.excess >= 0)) other = last;
        last = here;
        share = next_share(&last, &other, &before);
    }
}

/* L(δ) of `times` as many numbers, to within `tolerance` of itself from below. */
static double find_bound(const pess__bet_numbers *numbers, double delta, double times, double tolerance) {
    const int64_t count = numbers->count;
    const search s = {numbers, times, log(1 / delta) * (1 + 0x1p-50)};
    double total = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) total += numbers->values[i];
    const double mean = count > 0 ? total / (double)count : 0;
    if (!(mean > 0) || !isfinite(mean)) return 0;
    for (int64_t i = 0; i < count; i++) {
        const double away = numbers->values[i] / mean - 1;
        squares += away * away;
    }
    /* Against the mean itself or more, every share loses (Jensen): the bound lies below, by about what a normal mean
     * with that variance would need. */
    const double width = sqrt(2 * squares * (s.wanted + 2) / times) / (double)count;
    point high = {mean, -sqrt(s.wanted)}, low = {mean * (width < 0.5 ? 1 - width : 0.5), 0};
    while ((low.excess = excess(&s, low.m)) < 0) {
        const double down = fmax(2 * (mean - low.m), 1e-6 * mean);
        high = low;
        low.m = down < 0.5 * mean ? mean - down : 0.25 * low.m;
        if (low.m < 0x1p-900) return 0;
    }
    return narrow(&s, low, high, tolerance);
}

double pess__bet_predicted(const double *values, int64_t count, double delta, double times) {
    return find_bound(&(pess__bet_numbers){values, count, 1}, delta, times, 1e-4);
}

double pess__bet_lower_of(const pess__bet_numbers *numbers, double delta) {
    return find_bound(numbers, delta, 1, 1e-12);
}

double pess__bet_lower(const double *values, int64_t count, double delta) {
    return pess__bet_lower_of(&(pess__bet_numbers){values, count, 1}, delta);
}
