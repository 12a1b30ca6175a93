#include "certify/row_bets.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static const double stakes[PESS__STAKES] = {0.95, 0.75, 0.5, 0.3, 0.15, 0.07, 0.03, 0.01};
#define PREFERRED 0.6 /* of the weights, for a stake that is preferred */

typedef struct capital {
    double log[PESS__STAKES], slope[PESS__STAKES]; /* of each stake, and its derivative in ln e */
} capital;

/* n outcomes of X, at odds for the mean 1/scale. */
static void play(capital *c, double n, double x, double scale) {
    if (!(n > 0)) return;
    for (int j = 0; j < PESS__STAKES; j++) {
        const double won = stakes[j] * x * scale, factor = 1 - stakes[j] + won;
        c->log[j] += n * log(factor);
        c->slope[j] -= n * won / factor;
    }
}

/* n samples of a successor that have paid `paid` on average: as if each had paid the least or the most, for the
 * logarithm is concave. */
static void play_samples(const pess__row_bets *b, capital *c, double n, double paid, double next, double scale) {
    const double width = b->paid_hi - b->paid_lo;
    const double share = width > 0 ? fmin(fmax((paid - b->paid_lo) / width, 0), 1) : 0;
    play(c, n * (1 - share), b->paid_lo + next, scale);
    play(c, n * share, b->paid_hi + next, scale);
}

static capital play_row(const pess__row_bets *b, const pess__row_bet *row) {
    const pess_counts *counts = b->counts;
    const int64_t pair = row->pair;
    const double scale = exp(-row->log_mean), base = b->sign * counts->reward_origin - b->reward_lo;
    double offsets = counts->reward_offset[pair];
    capital c;
    for (int j = 0; j < PESS__STAKES; j++) c.log[j] = row->log_weight[j], c.slope[j] = 0;
    for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++) {
        const double n = (double)counts->n_next[i], next = b->gamma * (b->value[counts->next[i]] - b->least);
        offsets -= counts->next_offset[i];
        play_samples(b, &c, n, base + b->sign * counts->next_offset[i] / n, next, scale);
    }
    const double n = (double)counts->n_terminal[pair];
    if (n > 0) play_samples(b, &c, n, base + b->sign * offsets / n, -b->gamma * b->least, scale);
    return c;
}

/* ln of all that is won, and its derivative. */
static double total(const capital *c, double *slope) {
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < PESS__STAKES; j++) most = fmax(most, c->log[j]);
    *slope = 0;
    for (int j = 0; j < PESS__STAKES; j++) {
        const double weight = exp(c->log[j] - most);
        sum += weight;
        *slope += weight * c->slope[j];
    }
    *slope /= sum;
    return most + log(sum);
}

/* A step of Newton's method in ln e. The logarithm of what is won is convex in it, so that a step from where the bound
 * is valid leads to where it is. False: it is not valid here. */
static bool improve(const pess__row_bets *b, pess__row_bet *row) {
    const capital c = play_row(b, row);
    double slope;
    const double won = total(&c, &slope);
    if (won < row->log_term) return false;
    if (slope < 0) row->log_mean += (row->log_term - won) / slope;
    return true;
}

/* From so small a mean on that a single outcome above a millionth of the range wins enough. */
static bool begin(const pess__row_bets *b, pess__row_bet *row) {
    row->log_mean = log(b->range) - 2 * row->log_term - 20;
    bool valid = improve(b, row);
    for (int i = 0; i < 3 && valid; i++) valid = improve(b, row) || i > 0;
    if (!valid) row->log_mean = NAN;
    return valid;
}

double pess__row_bet_mean(const pess__row_bets *b, pess__row_bet *row) {
    if (b->counts->n[row->pair] == 0) return 0;
    if (isnan(row->log_mean) && !begin(b, row)) return 0;
    (void)improve(b, row);
    return exp(row->log_mean);
}

int pess__row_bet_best(const pess__row_bets *b, pess__row_bet *row) {
    int best = 0;
    for (int i = 0; i < 10; i++) (void)pess__row_bet_mean(b, row);
    if (isnan(row->log_mean)) return best;
    const capital c = play_row(b, row);
    for (int j = 1; j < PESS__STAKES; j++)
        if (c.log[j] > c.log[best]) best = j;
    return best;
}

/* What rounding does to the sum of the logarithms is far below what is added to ln(1/δ). */
void pess__row_bet_begin(pess__row_bet *row, int64_t pair, double delta, int preferred) {
    row->pair = pair;
    row->log_term = log(1 / delta) + 1e-9;
    row->log_mean = NAN;
    const double rest = preferred < PESS__STAKES ? 1 - PREFERRED : 1;
    for (int j = 0; j < PESS__STAKES; j++)
        row->log_weight[j] = log(rest / PESS__STAKES + (j == preferred ? PREFERRED : 0));
}

pess_status pess__row_bets_create(const pess_counts *counts, double sign, const double *reward_range, double gamma,
                                  double range, int64_t rows, pess__row_bets *out, pess_error *error) {
    *out = (pess__row_bets){.counts = counts, .sign = sign, .gamma = gamma, .range = range};
    out->reward_lo = sign > 0 ? reward_range[0] : -reward_range[1];
    out->paid_lo = fmax((sign > 0 ? counts->reward_min : -counts->reward_max) - out->reward_lo, 0);
    out->paid_hi = fmax((sign > 0 ? counts->reward_max : -counts->reward_min) - out->reward_lo, 0);
    PESS_TRY(pess__allocate(&out->rows, rows, sizeof *out->rows, "bets on rows", error));
    return pess__allocate(&out->value, counts->states, sizeof *out->value, "bets on rows", error);
}

void pess__row_bets_release(pess__row_bets *bets) {
    free(bets->rows);
    free(bets->value);
}
