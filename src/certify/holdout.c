/* What the first part of a log fixes for the test on the second, and what the second part shows. */
#include "certify/holdout.h"

#include "certify/floor.h"
#include "certify/pooled.h"
#include "core/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAP 0.75 /* a cap's distance, in what noise does to one Bellman update */

static pess_status list_rows(pess__holdout *test, pess_error *error) {
    const pess__holdout_setup *setup = &test->setup;
    const int64_t states = test->states, actions = setup->first->actions;
    PESS_TRY(pess__allocate(&test->first_row, states + 1, sizeof *test->first_row, "the rows of a policy", error));
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        for (int64_t s = 0; s < states; s++) {
            test->first_row[s] = at;
            if (setup->terminal[s]) continue;
            const double *pi = setup->policy->probability + s * actions;
            double sum = 0;
            for (int64_t a = 0; a < actions; a++) sum += pi[a];
            for (int64_t a = 0; a < actions; a++) {
                const double weight = pi[a] / sum;
                if (weight == 0) continue;
                if (pass == 1) {
                    test->pair[at] = s * actions + a;
                    test->state[at] = s;
                    test->weight[at] = weight;
                }
                at++;
            }
        }
        test->rows = test->first_row[states] = at;
        if (pass == 1) break;
        PESS_TRY(pess__allocate(&test->pair, at, sizeof *test->pair, "the rows of a policy", error));
        PESS_TRY(pess__allocate(&test->state, at, sizeof *test->state, "the rows of a policy", error));
        PESS_TRY(pess__allocate(&test->weight, at, sizeof *test->weight, "the rows of a policy", error));
    }
    return PESS_OK;
}

/* v(s) = Σ π·(r_D + γP_D v) over the rows that were seen, by Gauss–Seidel; a state with a row that was not is held at
 * the mean. Any v is valid; a good one is tight. */
static void estimate_values(pess__holdout *test) {
    const pess__holdout_setup *setup = &test->setup;
    const pess_counts *counts = setup->first;
    double rewards = 0;
    for (int64_t z = 0; z < test->rows; z++) rewards += counts->reward_sum[test->pair[z]];
    double visits = 0;
    for (int64_t z = 0; z < test->rows; z++) visits += (double)counts->n[test->pair[z]];
    const bool for_ever = !setup->ends && setup->gamma < 1;
    const double typical = for_ever ? (visits > 0 ? rewards / visits : setup->reward_lo) / (1 - setup->gamma)
                                    : 0.5 * (setup->v_lo + setup->v_hi);
    const double held = fmin(fmax(typical, setup->v_lo), setup->v_hi);
    for (int64_t s = 0; s < test->states; s++) test->value[s] = setup->terminal[s] ? 0 : held;
    const double stop = 1e-11 * (setup->v_hi - setup->v_lo);
    for (int64_t sweep = 0; sweep < 20000; sweep++) {
        double change = 0;
        for (int64_t z = 0; z < test->rows;) {
            const int64_t s = test->state[z];
            double sum = 0;
            bool seen = true;
            for (; z < test->rows && test->state[z] == s; z++) {
                const int64_t pair = test->pair[z];
                double next = counts->reward_sum[pair];
                if (counts->n[pair] == 0) seen = false;
                for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++)
                    next += setup->gamma * (double)counts->n_next[i] * test->value[counts->next[i]];
                if (seen) sum += test->weight[z] * next / (double)counts->n[pair];
            }
            if (!seen) continue;
            sum = fmin(fmax(sum, setup->v_lo), setup->v_hi);
            change = fmax(change, fabs(sum - test->value[s]));
            test->value[s] = sum;
        }
        if (change <= stop) break;
    }
}

/* Σ(Y − c)² of a pair from its counts. With o = r − origin and d = origin + γv(s') − c, which is a number of the size
 * of Y's range: Σo² + Σ over successors of 2d·Σo + n·d². */
static double squares_about(const pess_counts *counts, int64_t pair, const double *v, double gamma, double c) {
    const double origin = counts->reward_origin - c;
    double offsets = counts->reward_offset[pair], sum = counts->reward_square[pair];
    for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++) {
        const double shift = origin + gamma * v[counts->next[i]];
        sum += 2 * shift * counts->next_offset[i] + (double)counts->n_next[i] * shift * shift;
        offsets -= counts->next_offset[i];
    }
    sum += 2 * origin * offsets + (double)counts->n_terminal[pair] * origin * origin;
    return fmax(sum, 0);
}

double pess__mean_outcome(const pess_counts *counts, int64_t pair, const double *v, double gamma) {
    double sum = counts->reward_offset[pair];
    for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++)
        sum += gamma * (double)counts->n_next[i] * v[counts->next[i]];
    return counts->reward_origin + sum / (double)counts->n[pair];
}

static void look_at_row(pess__holdout *test, int64_t z) {
    const pess__holdout_setup *setup = &test->setup;
    const pess_counts *counts = setup->first;
    const int64_t pair = test->pair[z], seen = counts->row[pair + 1] - counts->row[pair];
    const double n = (double)counts->n[pair], spread = setup->reward_hi - setup->reward_lo;
    test->expected[z] = fmax(n, 0.5) * setup->ratio;
    test->centre[z] = n > 0 ? pess__mean_outcome(counts, pair, test->value, setup->gamma) : test->value[test->state[z]];
    const double floor = 0.25 * spread * spread + 1e-12 * (setup->v_hi - setup->v_lo) * (setup->v_hi - setup->v_lo);
    test->variance[z] = (squares_about(counts, pair, test->value, setup->gamma, test->centre[z]) + floor) / fmax(n, 1);
    test->closed[z] =
        setup->max_successors > 0 && seen >= setup->max_successors && (!setup->ends || counts->n_terminal[pair] > 0);
    int64_t most = counts->n_terminal[pair];
    test->reference[z] = most > 0 ? test->states : test->state[z];
    for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++)
        if (counts->n_next[i] > most) most = counts->n_next[i], test->reference[z] = counts->next[i];
}

double pess__steps_left(const pess__holdout_setup *setup, int64_t s) {
    if (setup->steps == NULL) return 1 / (1 - setup->gamma);
    const int64_t step = s / setup->steps->each;
    const double left = (double)(setup->steps->horizon - step);
    return setup->gamma < 1 && left > 0 ? -expm1(left * log(setup->gamma)) / (1 - setup->gamma) : left;
}

/* cap = v₁ ± c. Where T^π cap > cap, the cap costs; the second part shows by how much, from a noise of about σ on:
 * hence c = CAP·σ·Σγ^j, by which T^π cap − cap falls by CAP·σ. Any c is valid. */
static void place_cap(pess__holdout *test) {
    const pess__holdout_setup *setup = &test->setup;
    double sum = 0, weights = 0;
    for (int64_t z = 0; z < test->rows; z++) {
        if (setup->first->n[test->pair[z]] == 0) continue;
        sum += test->weight[z] * test->variance[z] * (setup->ratio + 1);
        weights += test->weight[z] * test->expected[z];
    }
    const double sigma = weights > 0 ? sqrt(sum / weights) : INFINITY;
    for (int64_t s = 0; s < test->states; s++) {
        const double c = setup->side * CAP * sigma * pess__steps_left(setup, s);
        test->cap[s] = setup->terminal[s] ? 0
                       : setup->side == 0 ? NAN
                                          : fmin(fmax(test->value[s] + c, setup->v_lo), setup->v_hi);
    }
}

pess_status pess__holdout_first(pess__holdout *test, pess_error *error) {
    const char *what = "a test of a policy";
    PESS_TRY(list_rows(test, error));
    PESS_TRY(pess__allocate(&test->value, test->states + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&test->low, test->states + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&test->high, test->states + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&test->cap, test->states + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&test->pool_low, test->states + 1, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&test->pool_high, test->states + 1, sizeof(double), what, error));
    double **tables[] = {&test->centre, &test->expected, &test->variance, &test->n, &test->mean, &test->squares};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        PESS_TRY(pess__allocate(tables[i], test->rows, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&test->stake, test->rows, sizeof *test->stake, what, error));
    PESS_TRY(pess__allocate(&test->closed, test->rows, sizeof *test->closed, what, error));
    PESS_TRY(pess__allocate(&test->reference, test->rows, sizeof *test->reference, what, error));
    estimate_values(test);
    for (int64_t z = 0; z < test->rows; z++) look_at_row(test, z);
    place_cap(test);
    return PESS_OK;
}

double pess__rounding_error(double v_lo, double v_hi) { return 64 * DBL_EPSILON * fmax(fabs(v_lo), fabs(v_hi)); }

double pess__slowest(double gamma) { return fmax(1 - gamma, 1e-4); }

double pess__rounding_of_sweeps(double v_lo, double v_hi, double gamma, int64_t sweeps) {
    const double times = fmin((double)sweeps, 1 / (1 - gamma));
    return fmax(1e-12 * (v_hi - v_lo), times * pess__rounding_error(v_lo, v_hi));
}

/* What the rounding of r² and of values can take off a sum of n squares. */
static double lost_squares(const pess__holdout_setup *setup, double n) {
    const double reward = fmax(fabs(setup->reward_lo), fabs(setup->reward_hi));
    return n * (DBL_EPSILON * reward * reward +
                2 * pess__rounding_error(setup->v_lo, setup->v_hi) * (setup->v_hi - setup->v_lo));
}

void pess__holdout_second(pess__holdout *test, const pess_counts *second) {
    for (int64_t z = 0; z < test->rows; z++) {
        const int64_t pair = test->pair[z];
        const double gamma = test->setup.gamma;
        test->n[z] = (double)second->n[pair];
        test->mean[z] = second->n[pair] > 0 ? pess__mean_outcome(second, pair, test->value, gamma) : 0;
        test->squares[z] =
            squares_about(second, pair, test->value, gamma, test->centre[z]) + lost_squares(&test->setup, test->n[z]);
    }
}

void pess__holdout_extremes(const pess__holdout *test, const double *low, const double *high, double *least,
                            double *most) {
    *least = test->setup.ends ? 0 : INFINITY;
    *most = test->setup.ends ? 0 : -INFINITY;
    for (int64_t s = 0; s < test->states; s++) {
        *least = fmin(*least, low[s]);
        *most = fmax(*most, high[s]);
    }
}

double pess__holdout_range(const pess__holdout *test, int64_t row, const double *low, const double *high, double least,
                           double most) {
    const pess__holdout_setup *setup = &test->setup;
    const pess_counts *counts = setup->first;
    const int64_t pair = test->pair[row], reference = test->reference[row];
    if (test->closed[row]) {
        least = setup->ends ? 0 : INFINITY;
        most = setup->ends ? 0 : -INFINITY;
        for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++) {
            least = fmin(least, low[counts->next[i]]);
            most = fmax(most, high[counts->next[i]]);
        }
    }
    /* ŷ moves with the unknown error g = v^π − v₁ of the reference state, which is in its own box. */
    const double down = low[reference] - test->value[reference], up = high[reference] - test->value[reference];
    const double gamma = setup->gamma, centre = test->centre[row];
    return fmax(setup->reward_hi + gamma * most - centre - gamma * down,
                centre + gamma * up - setup->reward_lo - gamma * least);
}

double pess__holdout_reach(const pess__holdout *test, int64_t row, int64_t s, double h) {
    const double next = test->setup.gamma * test->value[s] - test->centre[row];
    return fmax(fabs(test->setup.reward_hi + next), fabs(test->setup.reward_lo + next)) + test->setup.gamma * h;
}

double pess__kappa(double x) { return 1 + 2 * x / (3 * (1 - x)); }

void pess__holdout_destroy(pess__holdout *test) {
    if (!test) return;
    free(test->pair);
    free(test->state);
    free(test->first_row);
    free(test->weight);
    free(test->value);
    free(test->centre);
    free(test->expected);
    free(test->variance);
    free(test->closed);
    free(test->stake);
    free(test->reference);
    free(test->n);
    free(test->mean);
    free(test->squares);
    free(test->low);
    free(test->high);
    free(test->cap);
    free(test->pool_low);
    free(test->pool_high);
    free(test);
}

/* ṽ is in the box of v^π on the side that is asked about as long as that leaves it below the cap: every sweep that led
 * to the box then did. */
static void cut_at_cap(pess__holdout *test) {
    const int side = test->setup.side;
    test->above_cap = false;
    for (int64_t s = 0; s <= test->states; s++) {
        const double cap = test->cap[s];
        const bool open = side == 0 || s == test->states;
        test->pool_low[s] = open || side > 0 ? test->low[s] : fmax(test->low[s], cap);
        test->pool_high[s] = open || side < 0 ? test->high[s] : fmin(test->high[s], cap);
        test->above_cap = test->above_cap || test->pool_low[s] > test->pool_high[s];
    }
}

static pess_status look(pess__holdout *test, const pess_counts *second, bool imagined, pess_error *error) {
    const pess__holdout_setup *setup = &test->setup;
    test->setup.second = second;
    pess__holdout_second(test, second);
    PESS_TRY(pess__holdout_box(test, error));
    for (int64_t s = 0; s < test->states && setup->outer_low && !imagined; s++) {
        test->low[s] = fmax(test->low[s], setup->outer_low[s]);
        test->high[s] = fmax(fmin(test->high[s], setup->outer_high[s]), test->low[s]);
    }
    PESS_TRY(pess__holdout_floor(test, imagined, error));
    test->lower = test->upper = 0;
    for (int64_t s = 0; s < test->states; s++) {
        test->lower += test->setup.start[s] * test->low[s];
        test->upper += test->setup.start[s] * test->high[s];
    }
    cut_at_cap(test);
    return PESS_OK;
}

/* The pooled test is tuned on what the first part predicts, then run on what the second part shows. */
static pess_status run_pooled(pess__holdout *test, const pess_counts *second, pess_error *error) {
    pess_counts *imagined = NULL;
    pess__pooled *pooled = NULL;
    PESS_TRY(pess__counts_scale(test->setup.first, test->setup.ratio, &imagined, error));
    pess_status status = look(test, imagined, true, error);
    if (status == PESS_OK) status = pess__pooled_create(test, &pooled, error);
    if (status == PESS_OK) status = pess__pooled_tune(pooled, imagined, error);
    if (status == PESS_OK) status = look(test, second, false, error);
    if (status == PESS_OK) status = pess__pooled_apply(pooled, error);
    pess__pooled_destroy(pooled);
    pess_counts_destroy(imagined);
    return status;
}

pess_status pess__holdout_run(const pess__holdout_setup *setup, pess__holdout **out, pess_error *error) {
    pess__holdout *test;
    PESS_TRY(pess__allocate(&test, 1, sizeof *test, "a test of a policy", error));
    test->setup = *setup;
    test->pooled_lower = -INFINITY;
    test->pooled_upper = INFINITY;
    test->states = setup->first->states;
    pess_status status = pess__holdout_first(test, error);
    if (status == PESS_OK)
        status = setup->pooled ? run_pooled(test, setup->second, error) : look(test, setup->second, false, error);
    if (status == PESS_OK)
        *out = test;
    else
        pess__holdout_destroy(test);
    return status;
}

pess_status pess__holdout_predict(const pess__holdout_setup *setup, double *lower, pess_error *error) {
    pess_counts *imagined = NULL;
    PESS_TRY(pess__counts_scale(setup->first, setup->ratio, &imagined, error));
    pess__holdout_setup dry = *setup;
    dry.second = imagined;
    dry.dry = true;
    dry.outer_low = dry.outer_high = NULL;
    dry.start = setup->start_first;
    pess__holdout *test = NULL;
    const pess_status status = pess__holdout_run(&dry, &test, error);
    if (status == PESS_OK) *lower = fmax(test->lower, test->pooled_lower);
    pess__holdout_destroy(test);
    pess_counts_destroy(imagined);
    return status;
}
