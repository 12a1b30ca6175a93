/* The floor: the box of the side that is asked about, from bets on the rows of the policy.
 *
 * Let ṽ = max(f, min(T^π ṽ, cap)), the floor f = min(F, cap) and the cap fixed by the first part, so that ṽ is fixed,
 * too, if unknown, and nowhere below m = the least of f. With L_z the bound of E[X] in row z, from l = f <= ṽ on,
 *   l(s) ← min( r_lo + γm + Σ_a π(a|s)·L_z(l),  cap(s) )
 * stays below ṽ. Where it is not below f at any state, none is held up by the floor: then ṽ = min(T^π ṽ, cap), which
 * has one solution; it is the ṽ of the pooled test, and at most v^π. For F = V_lo nothing has to be shown. The higher
 * F, the less is lost by what was never seen, which cannot be below m. */
#include "certify/floor.h"

#include "certify/row_bets.h"

#include <math.h>

/* Floors that are tried, each with its share of δ: of the way from the bound that needs no test to the estimate. */
static const double rungs[] = {0, 0.15, 0.3, 0.45};
enum { RUNGS = sizeof rungs / sizeof *rungs };
#define EVENLY 0.8 /* of δ goes to all rows alike, the rest as the first part shares its samples */

typedef struct floor_problem {
    pess__holdout *test;
    pess__row_bets bets;
    double floor; /* F, times the sign */
} floor_problem;

static double rung(const pess__holdout *test, int i) {
    const pess__holdout_setup *setup = &test->setup;
    const double known = setup->side > 0 ? setup->v_lo : setup->v_hi;
    double estimate = 0;
    for (int64_t s = 0; s < test->states; s++) estimate += setup->start_first[s] * test->value[s];
    return setup->side * (known + rungs[i] * (estimate - known));
}

static double floor_at(const floor_problem *p, int64_t s) { return fmin(p->floor, p->bets.sign * p->test->cap[s]); }

static void begin(floor_problem *p, double floor, bool prefers) {
    const pess__holdout *test = p->test;
    const pess__holdout_setup *setup = &test->setup;
    double samples = 0;
    p->floor = floor;
    p->bets.least = setup->ends ? 0 : INFINITY;
    for (int64_t s = 0; s < test->states; s++) {
        p->bets.value[s] = setup->terminal[s] ? 0 : floor_at(p, s);
        p->bets.least = fmin(p->bets.least, p->bets.value[s]);
    }
    for (int64_t z = 0; z < test->rows; z++) samples += test->expected[z];
    for (int64_t z = 0; z < test->rows; z++) {
        const double share = EVENLY / (double)test->rows + (1 - EVENLY) * test->expected[z] / samples;
        pess__row_bet_begin(&p->bets.rows[z], test->pair[z], share * setup->delta_floor / RUNGS,
                            prefers ? test->stake[z] : PESS__STAKES);
    }
}

/* From below; *holds: no state is held up. */
static double sweep(floor_problem *p, bool *holds) {
    const pess__holdout *test = p->test;
    double change = 0;
    *holds = true;
    for (int64_t s = 0; s < test->states; s++) {
        if (test->setup.terminal[s]) continue;
        double sum = p->bets.reward_lo + test->setup.gamma * p->bets.least;
        for (int64_t z = test->first_row[s]; z < test->first_row[s + 1]; z++)
            sum += test->weight[z] * pess__row_bet_mean(&p->bets, &p->bets.rows[z]);
        sum = fmin(sum, p->bets.sign * test->cap[s]);
        if (sum < floor_at(p, s)) *holds = false;
        change = fmax(change, sum - p->bets.value[s]);
        p->bets.value[s] = fmax(p->bets.value[s], sum);
    }
    return change;
}

static int64_t sweep_all(floor_problem *p, double precision, bool *holds) {
    const double tolerance = precision * (p->test->setup.v_hi - p->test->setup.v_lo);
    double change = INFINITY;
    int64_t count = 0;
    for (; count < 5000 && change > tolerance; count++) change = sweep(p, holds);
    return count;
}

/* The stake with which each row would win most, were the values those that the first part estimates. */
static void choose_stakes(floor_problem *p) {
    pess__holdout *test = p->test;
    begin(p, rung(test, 0), false);
    for (int64_t s = 0; s < test->states; s++)
        if (!test->setup.terminal[s]) p->bets.value[s] = fmax(p->bets.value[s], p->bets.sign * test->value[s]);
    for (int64_t z = 0; z < test->rows; z++) test->stake[z] = (uint8_t)pess__row_bet_best(&p->bets, &p->bets.rows[z]);
}

static void cut_box(const floor_problem *p, int64_t sweeps) {
    pess__holdout *test = p->test;
    const pess__holdout_setup *setup = &test->setup;
    const double rest = pess__rounding_of_sweeps(setup->v_lo, setup->v_hi, setup->gamma, sweeps);
    for (int64_t s = 0; s < test->states; s++) {
        const double v = p->bets.sign * (p->bets.value[s] - rest);
        if (setup->terminal[s]) continue;
        if (setup->side > 0)
            test->low[s] = fmax(test->low[s], v);
        else
            test->high[s] = fmin(test->high[s], v);
    }
}

/* A prediction uses the lowest rung alone: it would take the others for granted, for the first part imagines no states
 * that were hardly visited in the second. */
pess_status pess__holdout_floor(pess__holdout *test, bool imagined, pess_error *error) {
    const pess__holdout_setup *setup = &test->setup;
    const double rewards[] = {setup->reward_lo, setup->reward_hi};
    /* The priors of the pooled test are tuned to what is imagined, so that anybody must be able to find it again. */
    const double precision = imagined && !setup->dry ? 1e-10 : 1e-5;
    floor_problem p = {.test = test};
    if (!(setup->delta_floor > 0) || setup->side == 0) return PESS_OK;
    const pess_status status = pess__row_bets_create(setup->second, setup->side, rewards, setup->gamma,
                                                     setup->v_hi - setup->v_lo, test->rows, &p.bets, error);
    if (status == PESS_OK && imagined) choose_stakes(&p);
    for (int i = 0; status == PESS_OK && i < (imagined ? 1 : RUNGS); i++) {
        bool holds = false;
        begin(&p, rung(test, i), true);
        const int64_t sweeps = sweep_all(&p, precision, &holds);
        if (holds || i == 0) cut_box(&p, sweeps);
    }
    pess__row_bets_release(&p.bets);
    return status;
}
