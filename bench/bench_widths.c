/* How far below the mean of n numbers a lower bound of level 95 % lies: by betting (src/certify/betting.c), by the
 * empirical Bernstein bound (Maurer & Pontil 2009, theorem 4, one side) and by Hoeffding's inequality. The last two
 * know the largest number there is, betting does not. Means over 40 samples. One JSON line per kind, size and peer:
 * ours is the width by betting, peer that of the other bound; docs/theory.md has them as a table. */
#include "certify/betting.h"
#include "core/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DRAWS = 40, MOST = 100000 };
static const double DELTA = 0.05;

static double coin(pess__rng *rng) { return pess__rng_uniform(rng) < 0.5; }
static double rare(pess__rng *rng) { return pess__rng_uniform(rng) < 0.02; }
/* As the weights of episodes are: 20 with probability 0.04, 1 with 0.2, else 0. */
static double weight(pess__rng *rng) {
    const double u = pess__rng_uniform(rng);
    return u < 0.04 ? 20 : u < 0.24;
}

typedef struct kind {
    const char *name;
    double (*draw)(pess__rng *);
    double most; /* the largest number there is */
} kind;

static const kind kinds[] = {{"coin", coin, 1}, {"rare", rare, 1}, {"weight", weight, 20}};

static double mean_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i];
    return sum / (double)n;
}

/* √(2·Var·ln(2/δ)/n) + 7·most·ln(2/δ)/(3(n−1)). */
static double bernstein_width(const double *x, int64_t n, double most) {
    const double mean = mean_of(x, n), log_term = log(2 / DELTA);
    double squares = 0;
    for (int64_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(2 * squares / (double)(n - 1) * log_term / (double)n) + 7 * most * log_term / (3 * (double)(n - 1));
}

static double hoeffding_width(int64_t n, double most) { return most * sqrt(log(1 / DELTA) / (2 * (double)n)); }

static void print_pair(const char *what, int64_t n, const char *peer, double ours, double theirs) {
    printf("{\"name\": \"width_%s_%lld_%s\", \"ours\": %.6g, \"peer\": %.6g, \"ratio\": %.3f, \"unit\": \"width\"}\n",
           what, (long long)n, peer, ours, theirs, theirs / ours);
}

int main(void) {
    static double x[MOST];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int64_t n = 100; n <= MOST; n *= 10) {
            double betting = 0, bernstein = 0;
            for (int draw = 0; draw < DRAWS; draw++) {
                pess__rng rng = pess__rng_stream((uint64_t)draw, kinds[k].name, (uint64_t)n);
                for (int64_t i = 0; i < n; i++) x[i] = kinds[k].draw(&rng);
                const double mean = mean_of(x, n);
                betting += (mean - pess__bet_lower(x, n, DELTA)) / DRAWS;
                bernstein += bernstein_width(x, n, kinds[k].most) / DRAWS;
            }
            print_pair(kinds[k].name, n, "bernstein", betting, bernstein);
            print_pair(kinds[k].name, n, "hoeffding", betting, hoeffding_width(n, kinds[k].most));
        }
    return 0;
}
