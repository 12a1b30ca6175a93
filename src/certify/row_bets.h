/* Bets on the rows of a process: lower bounds of what follows a pair (s,a), for values that are fixed, if unknown
 * (docs/theory.md, "Rows as bets").
 *
 * Let w be fixed, m at most its least value (and 0 where an episode can end), and r >= r_lo. Then
 *   X = r − r_lo + γ(w(s') − m) >= 0,     E[r + γw(s')] = r_lo + γm + E[X],
 * and a bet bounds E[X] from below, however large X can be (betting.h): with stakes x_j of weights ω_j, both fixed,
 *   L = sup { e : Σ_j ω_j Π_i (1 − x_j + x_j·X_i/e) >= 1/δ }.
 * It holds at any time of an adaptive collection. w is not known; but L rises with X, so that values below w give a
 * valid bound as well. All values and rewards are times `sign`: −1 is for upper bounds. */
#ifndef PESS_CERTIFY_ROW_BETS_H
#define PESS_CERTIFY_ROW_BETS_H

#include "core/status.h"
#include "model/counts.h"

enum { PESS__STAKES = 8 };

typedef struct pess__row_bet {
    int64_t pair;
    double log_term;                 /* ln(1/δ) of the row */
    double log_mean;                 /* ln of the bound of E[X] so far; NAN: none yet */
    double log_weight[PESS__STAKES]; /* ln ω_j */
} pess__row_bet;

typedef struct pess__row_bets {
    const pess_counts *counts;
    double sign, gamma, range; /* range: about the size of the largest X */
    double reward_lo, least;   /* r_lo and m, times the sign */
    double paid_lo, paid_hi;   /* what was paid above reward_lo, at least and at most */
    pess__row_bet *rows;
    double *value; /* [S] values that are not above w, times the sign; they may rise */
} pess__row_bets;

/* rows and value are allocated; least and each row's pair and log_term are the caller's to set. */
pess_status pess__row_bets_create(const pess_counts *counts, double sign, const double *reward_range, double gamma,
                                  double range, int64_t rows, pess__row_bets *out, pess_error *error);
void pess__row_bets_release(pess__row_bets *bets);
/* From scratch, with weights that prefer one stake; PESS__STAKES: none. */
void pess__row_bet_begin(pess__row_bet *row, int64_t pair, double delta, int preferred);
/* A lower bound of E[X] of the row, nearer to L with every call. */
double pess__row_bet_mean(const pess__row_bets *bets, pess__row_bet *row);
/* The stake that has won most. */
int pess__row_bet_best(const pess__row_bets *bets, pess__row_bet *row);

#endif
