#include "certify/robust.h"
#include "core/threads.h"

#include "core/memory.h"
#include "core/raise.h"
#include "core/ranges.h"
#include "model/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double kl(double p, double q) {
    double sum = 0;
    if (p > 0) sum += p * log(p / q);
    if (p < 1) sum += (1 - p) * log((1 - p) / (1 - q));
    return sum;
}

/* Bisection keeps the outer end, so that rounding can only widen the interval. */
double pess__kl_upper(double m, double n, double log_term) {
    double inside = m, outside = 1;
    for (int i = 0; i < 60 && outside - inside > 1e-15; i++) {
        const double middle = 0.5 * (inside + outside);
        if (n * kl(m, middle) > log_term)
            outside = middle;
        else
            inside = middle;
    }
    return outside;
}

double pess__kl_lower(double m, double n, double log_term) { return 1 - pess__kl_upper(1 - m, n, log_term); }

static void bound_rewards(pess__robust *robust, const pess__u_problem *problem, pess__robust_delta delta) {
    const pess_model *model = robust->model;
    const int64_t pairs = model->states * model->actions;
    const double lo = model->reward_lo, range = model->reward_hi - lo;
#pragma omp parallel for num_threads(robust->threads) schedule(static) if (pairs > 256)
    for (int64_t z = 0; z < pairs; z++) {
        const int64_t n = robust->counts->n[z];
        robust->reward_low[z] = lo;
        robust->reward_high[z] = model->reward_hi;
        if (n == 0 || range <= 0) continue;
        const double above = robust->counts->reward_origin - lo + robust->counts->reward_offset[z] / (double)n;
        const double mean = fmin(fmax(above / range, 0), 1);
        const double low = pess__u_log_pairs(problem, delta.rewards_low, n);
        const double high = pess__u_log_pairs(problem, delta.rewards_high, n);
        robust->reward_low[z] = lo + range * pess__kl_lower(mean, (double)n, low);
        robust->reward_high[z] = lo + range * pess__kl_upper(mean, (double)n, high);
    }
}

static pess_status fill_subsets(pess__robust *robust, const pess__u_problem *problem, const char *uncertainty,
                                const pess_counts *first, const pess_counts *second, pess__robust_delta delta,
                                pess_error *error) {
    pess__u_problem sets = *problem;
    sets.delta = delta.transitions;
    PESS_TRY(pess__subset_create(&sets, uncertainty, &robust->subsets, error));
    robust->longest = robust->subsets->longest;
    if (delta.learned > 0) {
        sets.delta = delta.learned;
        sets.counts = second;
        PESS_TRY(pess__subset_learn(&sets, first, &robust->learned, error));
        if (robust->learned->longest > robust->longest) robust->longest = robust->learned->longest;
    }
    return pess__allocate(&robust->slots, problem->threads * pess__apart(robust->longest + 1, sizeof *robust->slots),
                          sizeof *robust->slots, "room for next states", error);
}

static pess_status fill(pess__robust *robust, const pess__u_problem *problem, const char *uncertainty,
                        const pess_counts *first, const pess_counts *second, pess__robust_delta delta,
                        pess_error *error) {
    const int64_t pairs = problem->model->states * problem->model->actions;
    if (pess__subset_knows(uncertainty)) {
        PESS_TRY(fill_subsets(robust, problem, uncertainty, first, second, delta, error));
    } else {
        pess__u_problem sets = *problem;
        sets.delta = 2 * delta.transitions; /* of which the sets spend half on rewards that are not used here */
        PESS_TRY(pess__set_build(&sets, uncertainty, 1, &robust->set, error));
        PESS_TRY(pess__set_scratch_create(robust->set, problem->threads, &robust->scratch, error));
    }
    PESS_TRY(pess__allocate(&robust->reward_low, pairs, sizeof(double), "reward bounds", error));
    PESS_TRY(pess__allocate(&robust->reward_high, pairs, sizeof(double), "reward bounds", error));
    bound_rewards(robust, problem, delta);
    return PESS_OK;
}

pess_status pess__robust_create(const pess__u_problem *problem, const char *uncertainty, const pess_counts *first,
                                const pess_counts *second, pess__robust_delta delta, pess__robust **out,
                                pess_error *error) {
    pess__robust *robust;
    PESS_TRY(pess__allocate(&robust, 1, sizeof *robust, "the robust bounds", error));
    robust->counts = problem->counts;
    robust->model = problem->model;
    robust->gamma = problem->gamma;
    robust->v_lo = problem->v_lo;
    robust->v_hi = problem->v_hi;
    robust->threads = problem->threads;
    const pess_status status = fill(robust, problem, uncertainty, first, second, delta, error);
    if (status == PESS_OK)
        *out = robust;
    else
        pess__robust_destroy(robust);
    return status;
}

void pess__robust_destroy(pess__robust *robust) {
    if (!robust) return;
    pess__subset_destroy(robust->subsets);
    pess__subset_destroy(robust->learned);
    free(robust->slots);
    pess__set_scratch_destroy(robust->scratch);
    pess__set_destroy(robust->set);
    free(robust->reward_low);
    free(robust->reward_high);
    free(robust);
}

/* What is possible from a state on. */
static double least_of(const pess__robust *robust, int64_t s) {
    return robust->steps ? robust->steps->lo[s / robust->steps->each] : robust->v_lo;
}

static double most_of(const pess__robust *robust, int64_t s) {
    return robust->steps ? robust->steps->hi[s / robust->steps->each] : robust->v_hi;
}

/* Of the states at a step. */
static pess__extremes extremes_at(const pess__robust *robust, const double *v, int64_t step) {
    const int64_t from = step * robust->steps->each, past = from + robust->steps->each;
    pess__extremes found = {.lo = INFINITY, .hi = -INFINITY, .lo_state = -1, .hi_state = -1};
    for (int64_t s = from; s < past && s < robust->model->states; s++) {
        if (robust->model->terminal[s]) continue;
        if (v[s] < found.lo) found.lo = v[s], found.lo_state = s;
        if (v[s] > found.hi) found.hi = v[s], found.hi_state = s;
    }
    return found;
}

static double pair_value(const pess__robust *robust, double sign, int64_t z, const double *v,
                         const pess__extremes *extremes, int thread) {
    const int64_t s = z / robust->model->actions;
    if (robust->counts->n[z] == 0) return sign > 0 ? least_of(robust, s) : most_of(robust, s);
    double next;
    if (robust->subsets)
        next = pess__subset_better(robust->subsets, robust->learned, sign, z, v, extremes,
                                   robust->slots + thread * pess__apart(robust->longest + 1, sizeof *robust->slots));
    else if (sign > 0)
        next = pess__set_worst(robust->set, z, v, extremes, &robust->scratch[thread], NULL);
    else
        next = pess__set_best(robust->set, z, v, extremes, &robust->scratch[thread], NULL);
    return (sign > 0 ? robust->reward_low[z] : robust->reward_high[z]) + robust->gamma * next;
}

double pess__robust_sweep(const pess__robust *robust, double sign, const pess_policy *policy, const double *v,
                          double *out, int32_t *found) {
    const pess_model *model = robust->model;
    const int64_t actions = model->actions;
    const pess__extremes everywhere = pess__value_extremes(model, v);
    const double tie = 1e-13 * (robust->v_hi - robust->v_lo); /* the smallest action wins */
    _Atomic double change = 0;
#pragma omp parallel num_threads(robust->threads) if (model->states > 256)
    {
        const int thread = omp_get_thread_num();
        double most = 0;
        int64_t step = -1; /* that of the extremes, with a horizon */
        pess__extremes extremes = everywhere;
#pragma omp for schedule(static)
        for (int64_t s = 0; s < model->states; s++) {
            out[s] = 0;
            if (found) found[s] = -1;
            if (robust->steps && step != s / robust->steps->each + 1) {
                step = s / robust->steps->each + 1;
                extremes = extremes_at(robust, v, step);
            }
            if (model->terminal[s]) continue;
            const double *pi = policy ? policy->probability + s * actions : NULL;
            double best = -INFINITY, most_of_all = -INFINITY, sum = 0, mass = 0;
            for (int64_t a = 0; a < actions; a++) {
                if (pi && pi[a] == 0) continue;
                const double q = pair_value(robust, sign, s * actions + a, v, &extremes, thread);
                if (pi)
                    sum += pi[a] * q, mass += pi[a];
                else if (q > best + tie)
                    best = q, found ? (void)(found[s] = (int32_t)a) : (void)0;
                most_of_all = fmax(most_of_all, q);
            }
            /* A lower bound is that of the action that is found; an upper one must not miss any. */
            if (sign < 0) best = most_of_all;
            if (pi) best = sum / mass;
            out[s] = fmin(fmax(best, least_of(robust, s)), most_of(robust, s));
            most = fmax(most, fabs(out[s] - v[s]));
        }
        pess__raise(&change, most);
    }
    return pess__most_of_all(model->spread, change);
}

/* By how much a sweep went down anywhere: rounding, and actions within the tie. */
static double drop(const pess_model *model, const double *v, const double *next) {
    double most = 0;
    for (int64_t s = 0; s < pess__own_states(model); s++) most = fmax(most, v[s] - next[s]);
    return pess__most_of_all(model->spread, most);
}

/* Values of states elsewhere, to their places. */
static void refresh(const pess_model *model, double *v) {
    if (model->spread != NULL) model->spread->refresh(model->spread, v);
}

enum { MOST_SWEEPS = 1000000, TOGETHER = 16 /* sweeps from one question whether to go on to the next */ };

/* From V_lo upwards every iterate v_k = T v_{k−1} is below the value of a given policy, by induction: T is monotone and
 * in the true process v^π >= T v^π. Below that of the policy that is greedy to it as well: v_{k−1} <= v_k, so that
 * v_k = T^π v_{k−1} <= T^π v_k <= … <= v^π for γ < 1; a step down of d in the last sweep costs γd/(1−γ). From V_hi
 * downwards alike. No iterate needs to be a fixed point. */
pess_status pess__robust_value(const pess__robust *robust, double sign, const pess_policy *policy, double *v,
                               int32_t *found, pess__sweeps *sweeps, pess_error *error) {
    const pess_model *model = robust->model;
    const double gamma = robust->gamma, width = robust->v_hi - robust->v_lo;
    const double tolerance = 1e-8 * width * pess__slowest(gamma);
    double *next, change = INFINITY, dropped = 0;
    int64_t count = 0;
    PESS_TRY(
        pess__agree_of_all(model->spread, pess__allocate(&next, model->states, sizeof *next, "values", error), error));
    for (int64_t s = 0; s < model->states; s++)
        v[s] = model->terminal[s] ? 0 : sign > 0 ? least_of(robust, s) : most_of(robust, s);
    refresh(model, v);
    pess_status status = PESS_OK;
    for (; count < MOST_SWEEPS && change > tolerance && status == PESS_OK; count++) {
        if (model->spread == NULL || count % TOGETHER == 0)
            status = pess__agree_of_all(model->spread, pess__goes_on(robust->monitor, error), error);
        change = pess__robust_sweep(robust, sign, policy, v, next, found);
        const bool last = change <= tolerance || count + 1 == MOST_SWEEPS;
        if (last && sign > 0 && !policy && gamma < 1) dropped = drop(model, v, next);
        memcpy(v, next, (size_t)model->states * sizeof *v);
        refresh(model, v);
    }
    double rest = pess__rounding_of_sweeps(robust->v_lo, robust->v_hi, gamma, count);
    if (dropped > 0) rest += gamma / (1 - gamma) * dropped;
    for (int64_t s = 0; s < model->states; s++)
        if (!model->terminal[s]) v[s] = fmin(fmax(v[s] - sign * rest, least_of(robust, s)), most_of(robust, s));
    pess__sweeps_note(sweeps, change, change > tolerance);
    free(next);
    return status;
}

pess_status pess__policy_of_actions(const pess_model *model, const int32_t *found, pess_policy **out,
                                    pess_error *error) {
    pess_policy *policy = NULL;
    PESS_TRY(pess__policy_of_model(model, &policy, error));
    for (int64_t s = 0; s < model->states; s++)
        if (found[s] >= 0) policy->probability[s * model->actions + found[s]] = 1;
    *out = policy;
    return PESS_OK;
}

static int compare_mass(const void *left, const void *right) {
    const pess__start_mass *a = left, *b = right;
    return (a->value < b->value) - (a->value > b->value);
}

/* Mass `left` goes from the highest values of a list, whose mean is `sum`, to the lowest one. */
static double move_mass(pess__start_mass *list, int64_t count, double lowest, double left, double sum) {
    qsort(list, (size_t)count, sizeof *list, compare_mass);
    for (int64_t i = 0; i < count && left > 0; i++) {
        const double moved = fmin(left, list[i].mass);
        sum -= moved * (list[i].value - lowest);
        left -= moved;
    }
    return sum;
}

/* The same where each process has a part of the list: all that lies above a value goes, the rest of `left` from that
 * value. Halving finds the smallest such value from above, so that the sum can only be too low. */
static double move_mass_together(const pess__spread *spread, const pess__start_mass *list, int64_t count, double lowest,
                                 double left, double sum) {
    double highest = lowest, under = lowest, above = 0, cost = 0;
    for (int64_t i = 0; i < count; i++) highest = fmax(highest, list[i].value);
    highest = pess__most_of_all(spread, highest);
    for (int step = 0; step < 64; step++) {
        const double middle = step == 0 ? lowest : 0.5 * (under + highest);
        double mass = 0;
        for (int64_t i = 0; i < count; i++) mass += list[i].value > middle ? list[i].mass : 0;
        if (pess__sum_of_all(spread, mass) <= left)
            highest = middle;
        else
            under = middle;
    }
    for (int64_t i = 0; i < count; i++) {
        if (!(list[i].value > highest)) continue;
        above += list[i].mass;
        cost += list[i].mass * (list[i].value - lowest);
    }
    return sum - pess__sum_of_all(spread, cost) - (left - pess__sum_of_all(spread, above)) * (highest - lowest);
}

double pess__worst_start(const pess_model *model, const double *p, const double *v, double radius,
                         pess__start_mass *scratch) {
    const pess__spread *spread = model->spread;
    double lowest = INFINITY, sum = 0;
    int64_t count = 0;
    for (int64_t s = 0; s < pess__own_states(model); s++) {
        sum += p[s] * v[s];
        if (!model->terminal[s]) lowest = fmin(lowest, v[s]);
        if (p[s] > 0) scratch[count++] = (pess__start_mass){v[s], p[s]};
    }
    sum = pess__sum_of_all(spread, sum);
    lowest = -pess__most_of_all(spread, -lowest);
    if (!isfinite(lowest)) return sum;
    const double left = fmin(radius / 2, 1);
    return spread != NULL ? move_mass_together(spread, scratch, count, lowest, left, sum)
                          : move_mass(scratch, count, lowest, left, sum);
}
