/* The box: every row tested on its own.
 *
 * With θ_z fixed by the first part, (B) and Markov's inequality give, for all rows and both signs at once,
 *   |Ȳ_z − μ_z| <= w_z = (L + ½κ(θ_z r_z)θ_z²·Σ(Y − ŷ)²)/(θ_z n_z),   L = ln(2·rows/δ_box),
 * where r_z is how far outcomes that were seen can be from ŷ: the range R_z of all that are possible only limits θ_z,
 * so the Bellman error e = T^π v₁ − v₁ of the fixed v₁ is known to within w. The error of v₁ itself, g = v^π − v₁,
 * solves g = e + γP^π g; its worst case over the ambiguity sets of the second part (δ_sets) is the fixed point of g(s)
 * = max( Σ_a π(a|s)·[ Ȳ_z − v₁(s) − w_z + γ·min_P P·g ],  V_lo − v₁(s) ), a monotone γ-contraction. The transitions'
 * width acts on g, which is small, instead of on v. */
#include "certify/holdout.h"
#include "certify/subset_sets.h"
#include "core/memory.h"
#include "core/raise.h"
#include "core/ranges.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POLE 0.7 /* θR stays below */

typedef struct box_problem {
    pess__holdout *test;
    pess_model *model;
    pess__subset_sets *sets;    /* by all that the second part shows */
    pess__subset_sets *learned; /* by the successors that the first part shows; both hold */
    int64_t longest;            /* row of either */
    pess__subset_slot *slots;   /* [longest+1] per thread, pess__apart */
    double *width;              /* [rows] w, infinite where there is no sample */
    double *old, *now;          /* [S] g */
} box_problem;

/* How far an outcome that the second part shows can be from ŷ. */
static double seen_reach(const pess__holdout *test, int64_t z) {
    const pess_counts *second = test->setup.second;
    const int64_t pair = test->pair[z];
    double most = second->n_terminal[pair] > 0 ? pess__holdout_reach(test, z, test->states, 0) : 0;
    for (int64_t i = second->row[pair]; i < second->row[pair + 1]; i++)
        most = fmax(most, pess__holdout_reach(test, z, second->next[i], 0));
    return most;
}

/* The best θ for the variance that the first part shows, away from the pole. */
static void row_widths(box_problem *box) {
    const pess__holdout *test = box->test;
    const double log_term = log(2 * (double)test->rows / test->setup.delta_box);
    double least, most;
    pess__holdout_extremes(test, test->value, test->value, &least, &most);
    for (int64_t z = 0; z < test->rows; z++) {
        const double range = pess__holdout_range(test, z, test->value, test->value, least, most);
        const double best = sqrt(2 * log_term / (test->expected[z] * test->variance[z]));
        const double theta = range > 0 ? fmin(best, POLE / range) : best;
        const double kappa = pess__kappa(theta * fmin(seen_reach(test, z), range));
        box->width[z] = test->n[z] > 0
                            ? (log_term + 0.5 * kappa * theta * theta * test->squares[z]) / (theta * test->n[z])
                            : INFINITY;
    }
}

/* One sweep for the lower (sign 1) or upper (−1) end of g; returns sup|now − old|. */
static double sweep(const box_problem *box, double sign) {
    const pess__holdout *test = box->test;
    const pess__holdout_setup *setup = &test->setup;
    const pess__extremes extremes = pess__value_extremes(box->model, box->old);
    _Atomic double change = 0;
#pragma omp parallel num_threads(setup->threads) if (test->rows > 2048)
    {
        pess__subset_slot *slots = box->slots + omp_get_thread_num() * pess__apart(box->longest + 1, sizeof *slots);
        double most = 0;
#pragma omp for schedule(static)
        for (int64_t s = 0; s < test->states; s++) {
            if (setup->terminal[s]) continue;
            const double limit = (sign > 0 ? setup->v_lo : setup->v_hi) - test->value[s];
            double sum = 0;
            for (int64_t z = test->first_row[s]; z < test->first_row[s + 1]; z++) {
                double q = limit;
                if (test->n[z] > 0) {
                    const double next =
                        pess__subset_better(box->sets, box->learned, sign, test->pair[z], box->old, &extremes, slots);
                    q = test->mean[z] - test->value[s] - sign * box->width[z] + setup->gamma * next;
                }
                sum += test->weight[z] * q;
            }
            box->now[s] = sign > 0 ? fmax(sum, limit) : fmin(sum, limit);
            most = fmax(most, fabs(box->now[s] - box->old[s]));
        }
        pess__raise(&change, most);
    }
    return change;
}

/* From the least (greatest) that g can be, upwards (downwards): every iterate is a bound of its own, so that nothing is
 * lost but tightness where the sweeps end early. */
static void solve_side(box_problem *box, double sign, double *out) {
    pess__holdout *test = box->test;
    const pess__holdout_setup *setup = &test->setup;
    const double width = setup->v_hi - setup->v_lo, tolerance = 1e-7 * pess__slowest(setup->gamma) * width;
    double change = INFINITY;
    int64_t sweeps = 0;
    for (int64_t s = 0; s < test->states; s++)
        box->old[s] = box->now[s] = setup->terminal[s] ? 0 : (sign > 0 ? setup->v_lo : setup->v_hi) - test->value[s];
    for (; sweeps < 100000 && change > tolerance; sweeps++) {
        change = sweep(box, sign);
        double *swap = box->old;
        box->old = box->now;
        box->now = swap;
    }
    const double rest = pess__rounding_of_sweeps(setup->v_lo, setup->v_hi, setup->gamma, sweeps);
    pess__sweeps_note(&test->sweeps, change, change > tolerance);
    for (int64_t s = 0; s < test->states; s++) {
        const double v = test->value[s] + box->old[s] - sign * rest;
        out[s] = setup->terminal[s] ? 0 : fmin(fmax(v, setup->v_lo), setup->v_hi);
    }
    out[test->states] = 0;
}

static pess_status prepare(box_problem *box, pess_error *error) {
    const pess__holdout *test = box->test;
    const pess__holdout_setup *setup = &test->setup;
    const pess_model_options options = {.size = sizeof(pess_model_options),
                                        .unseen = PESS_UNSEEN_WORST,
                                        .reward_range = {setup->reward_lo, setup->reward_hi},
                                        .return_range = {NAN, NAN}};
    PESS_TRY(pess_model_estimate(setup->second, &options, &box->model, error));
    memcpy(box->model->terminal, setup->terminal, (size_t)test->states);
    box->model->has_terminals = setup->ends;
    pess__u_problem problem = {.counts = setup->second,
                               .model = box->model,
                               .gamma = setup->gamma,
                               .delta = 0.2 * setup->delta_sets,
                               .v_lo = setup->v_lo,
                               .v_hi = setup->v_hi,
                               .trajectories = setup->trajectories,
                               .max_successors = setup->max_successors,
                               .threads = setup->threads};
    PESS_TRY(pess__subset_create(&problem, "support", &box->sets, error));
    problem.delta = setup->delta_sets - problem.delta;
    PESS_TRY(pess__subset_learn(&problem, setup->first, &box->learned, error));
    box->longest = box->sets->longest > box->learned->longest ? box->sets->longest : box->learned->longest;
    PESS_TRY(pess__allocate(&box->slots, setup->threads * pess__apart(box->longest + 1, sizeof *box->slots),
                            sizeof *box->slots, "room for next states", error));
    PESS_TRY(pess__allocate(&box->width, test->rows, sizeof(double), "widths", error));
    PESS_TRY(pess__allocate(&box->old, test->states, sizeof(double), "values", error));
    return pess__allocate(&box->now, test->states, sizeof(double), "values", error);
}

pess_status pess__holdout_box(pess__holdout *test, pess_error *error) {
    box_problem box = {.test = test};
    const pess_status status = prepare(&box, error);
    if (status == PESS_OK) {
        row_widths(&box);
        solve_side(&box, 1, test->low);
        solve_side(&box, -1, test->high);
    }
    free(box.width);
    free(box.old);
    free(box.now);
    pess__subset_destroy(box.sets);
    pess__subset_destroy(box.learned);
    free(box.slots);
    pess_model_destroy(box.model);
    return status;
}
