/* Gauss–Seidel: v(s) ← (Tv)(s) in place, in an order in which the states that others depend on come first. Components
 * are finished one after the other; an acyclic model takes one pass. Values begin at a bound from below and rise, so
 * that a state whose successors are not there yet takes none of their guesses for more than they are worth; where every
 * step is certain, a pass in breadth-first order from the ends is Dijkstra's (Bertsekas 2012, volume II, chapter 2).
 * One thread: the order is the point. */
#include "solve/optimise.h"

#include <math.h>

enum { PATIENCE = 12 }; /* passes after which each must have gained a third */

/* v = k with k ≤ Tk: T(k)(s) ≥ (T0)(s) + γk for k ≤ 0, so k = min(0, min T0)/(1−γ) does. At γ = 1 there is no such k,
 * and every policy ends: any v does. */
static void start_below(pess__solver *solver) {
    double lowest = 0;
    for (int64_t s = 0; s < solver->states; s++) solver->v[s] = 0;
    (void)pess__improve(solver, PESS__SWITCH_ALWAYS, 0);
    if (solver->gamma == 1) return;
    for (int64_t s = 0; s < solver->states; s++) lowest = fmin(lowest, solver->tv[s]);
    for (int64_t s = 0; s < solver->states; s++)
        if (!solver->model->terminal[s]) solver->v[s] = lowest / (1 - solver->gamma);
}

/* One pass over places from … to-1 of the order, forwards or back. */
static pess__sweep pass(pess__solver *solver, int64_t from, int64_t to, bool back, double threshold) {
    const pess__improving how = {PESS__SWITCH_GAINS, threshold, pess__solver_mean(solver)};
    pess__sweep sweep = {0};
    for (int64_t i = from; i < to; i++) {
        const int64_t s = solver->structure.order[back ? from + to - 1 - i : i];
        solver->v[s] = pess__improve_state(solver, &how, s, &sweep);
    }
    return sweep;
}

static double enough(const pess__solver *solver, double scale) {
    return fmax(0.25 * solver->problem->options->tolerance, pess__solve_rounding(scale));
}

/* Passes over one component until nothing moves; false: it takes too many, or was stopped. */
static bool finish_component(pess__solver *solver, int64_t from, int64_t to, bool may_give_up,
                             pess_solution_info *info) {
    const bool single = to - from == 1;
    double first = INFINITY;
    for (int64_t k = 0;; k++) {
        const pess__sweep sweep = pass(solver, from, to, k % 2 == 1, enough(solver, 0));
        if (!single || k == 0) info->iterations += !single;
        if (sweep.residual <= enough(solver, sweep.scale)) return true;
        if (k == 0) first = sweep.residual;
        if (may_give_up && k >= PATIENCE && sweep.residual > first * pow(2.0 / 3, (double)k)) return false;
        if (!pess__go_on(solver, info->iterations, &info->outcome)) return false;
    }
}

void pess__gauss_seidel(pess__solver *solver, bool may_give_up, bool *done, pess_solution_info *info) {
    const pess__structure *structure = &solver->structure;
    const int64_t components = structure->components != NULL ? structure->found.components : 1;
    start_below(solver);
    solver->filled = PESS__FILLED_NOT;
    *done = true;
    for (int64_t c = 0; c < components && *done; c++) {
        const int64_t from = structure->components != NULL ? structure->components[c] : 0;
        const int64_t to = structure->components != NULL ? structure->components[c + 1] : solver->states;
        *done = finish_component(solver, from, to, may_give_up, info);
    }
    if (*done) info->outcome = PESS_OUTCOME_CONVERGED;
    if (info->iterations == 0) info->iterations = 1; /* components of one state each: one pass in all */
}
