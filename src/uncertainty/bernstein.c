/* Empirical Bernstein bound (Maurer & Pontil 2009, theorem 4) on the mean of n samples of x = r + γv(s') in a range of
 * width W, and a union over all pairs:
 *   u = min(√(2·Var·L/n) + 7·W·L/(3(n−1)), W),   L = ln(3·S·A/δ),   Var the sample variance of x (n−1 below).
 * Three events have a share of δ each: the mean from above, from below, and the standard deviation.
 * The counts keep sums of r and r² relative to the least reward, which changes no variance and lets nothing large
 * cancel, and per next state the number of samples and the sum of their rewards, so
 *   Σ(x−x̄)² = Σ(r−r̄)² + 2γ·Σ_j (v_j−v̄)(R_j − n_j·r̄) + γ²·Σ_j n_j(v_j−v̄)²,
 * with j over the next states and the end of the episode (value 0). */
#include "uncertainty/uncertainty.h"

#include <math.h>

static double sample_variance(const pess__u_problem *problem, const double *v, int64_t pair) {
    const pess_counts *counts = problem->counts;
    const int64_t begin = counts->row[pair], end = counts->row[pair + 1];
    const double n = (double)counts->n[pair], reward_mean = counts->reward_offset[pair] / n;
    double value_mean = 0, reward_left = counts->reward_offset[pair];
    for (int64_t i = begin; i < end; i++) {
        value_mean += (double)counts->n_next[i] / n * v[counts->next[i]];
        reward_left -= counts->next_offset[i];
    }
    const double n_end = (double)counts->n_terminal[pair];
    double covariance = n_end > 0 ? -value_mean * (reward_left - n_end * reward_mean) : 0;
    double values = n_end * value_mean * value_mean;
    for (int64_t i = begin; i < end; i++) {
        const double n_next = (double)counts->n_next[i], away = v[counts->next[i]] - value_mean;
        covariance += away * (counts->next_offset[i] - n_next * reward_mean);
        values += n_next * away * away;
    }
    const double rewards = fmax(counts->reward_square[pair] - n * reward_mean * reward_mean, 0);
    const double gamma = problem->gamma;
    return fmax(rewards + 2 * gamma * covariance + gamma * gamma * values, 0) / (n - 1);
}

static double bernstein(const pess__u_problem *problem, const double *v, int64_t pair) {
    const double n = (double)problem->counts->n[pair], width = problem->v_hi - problem->v_lo;
    if (n < 2) return width;
    const double log_term = log(3) + pess__u_log_pairs(problem, problem->delta, problem->counts->n[pair]);
    /* Without values: the largest variance that a range of width W allows. */
    const double variance = v ? sample_variance(problem, v, pair) : width * width / 4 * n / (n - 1);
    return sqrt(2 * variance * log_term / n) + 7 * width * log_term / (3 * (n - 1));
}

static pess_status compute(const pess__u_problem *problem, const double *v, double *u, pess_error *error) {
    PESS_TRY(pess__u_check_range(problem, error));
    if (problem->counts != NULL && v != NULL) PESS_TRY(pess__counts_need_squares(problem->counts, error));
    return pess__u_fill(problem, v, bernstein, u, error);
}

const pess__uncertainty pess__uncertainty_bernstein = {
    .info = {.name = "bernstein",
             .summary = "empirical Bernstein bound on r + γv(s')",
             .formula = "min(√(2·Var·L/n) + 7·W·L/(3(n−1)), W), L = ln(3·S·A/δ)",
             .holds = PESS_HOLDS_FIXED_V,
             .holds_for = pess__holds_fixed_v,
             .per_action = true,
             .depends_on_values = true,
             .settings = "delta iid"},
    .compute = compute};
