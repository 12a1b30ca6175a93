#include "experiment/torus_solve.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { A = TORUS_ACTIONS, LANES = PESS__LANES };

#define TIE 1e-8        /* values this close are equal; the smallest action wins */
#define MAX_STEPS 10000 /* far beyond what policy iteration needs: each step strictly improves */

typedef double actions __attribute__((vector_size(8 * TORUS_ACTIONS)));

pess_status pess__torus_solver_create(const pess__torus *torus, const pess__lanes_plan *plan, double gamma,
                                      pess__torus_solver *out, pess_error *error) {
    *out = (pess__torus_solver){.torus = torus, .plan = plan, .gamma = gamma};
    PESS_TRY(pess__allocate(&out->values, LANES * torus->states, sizeof *out->values, "the values of a batch", error));
    const pess_status status = pess__lanes_create(plan, &out->lanes, error);
    if (status != PESS_OK) pess__torus_solver_destroy(out);
    return status;
}

void pess__torus_solver_destroy(pess__torus_solver *solver) {
    pess__lanes_destroy(&solver->lanes);
    free(solver->values);
    solver->values = NULL;
}

static inline actions load(const double *from) {
    actions v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline double sum(actions v) { return (v[0] + v[1]) + (v[2] + v[3]); }

/* ---- one lane: the system of its policy, and the step to a better one */

/* TV(π, π̂) = Σ_a max(π − π̂, 0) */
static double total_variation(const double *pi, const double *imitation) {
    double total = 0;
    for (int a = 0; a < A; a++) total += fmax(pi[a] - imitation[a], 0);
    return total;
}

/* Row s of (I − γP^π)v = r^π − penalty + γ·mean(v)·unseen^π: the neighbours' coefficients, the reward and, as the
 * second right-hand side, the mass of unseen pairs, whose next state is uniform. That part of P has rank one. */
static void assemble(pess__torus_solver *solver, int64_t lane, const pess__torus_model *model, const double *reward,
                     const double *policy, double alpha, const double *imitation) {
    double *coefficient = solver->lanes.coefficient + lane, *right = solver->lanes.right + lane;
    for (int64_t s = 0; s < solver->torus->states; s++) {
        const actions pi = load(policy + s * A);
        const actions discounted = pi * solver->gamma;
        for (int64_t d = 0; d < A; d++)
            coefficient[(s * A + d) * LANES] = sum(discounted * load(model->probability + (s * A + d) * A));
        double expected = sum(pi * load(reward + s * A));
        if (imitation != NULL) expected -= alpha * total_variation(policy + s * A, imitation + s * A);
        right[2 * s * LANES] = expected;
        right[(2 * s + 1) * LANES] = sum(pi * load(model->unseen + s * A));
    }
}

/* v = x + γ·m·y with m = mean(v) = mean(x)/(1 − γ·mean(y)). Returns m. */
static double read_values(const pess__torus_solver *solver, int64_t lane, double *v) {
    const int64_t states = solver->torus->states;
    const double *solution = solver->lanes.solution + lane;
    double x = 0, y = 0;
    for (int64_t s = 0; s < states; s++) {
        x += solution[2 * s * LANES];
        y += solution[(2 * s + 1) * LANES];
    }
    const double mean = x / ((double)states - solver->gamma * y), weight = solver->gamma * mean;
    for (int64_t s = 0; s < states; s++) v[s] = solution[2 * s * LANES] + weight * solution[(2 * s + 1) * LANES];
    return mean;
}

static int first_best(actions q) {
    double best = q[0];
    for (int a = 1; a < A; a++) best = q[a] > best ? q[a] : best;
    int a = 0;
    while (q[a] < best - TIE) a++;
    return a;
}

/* The best π(·|s) for q, to `pi`; returns its value. Greedy: all on the first best action. Proximal (Proposition 1):
 * actions with q > max q − α keep their empirical probability, the rest goes to the first best. */
static double best_local(const pess__torus_job *job, int64_t s, actions q, double *pi) {
    const int best = first_best(q);
    if (job->kind == TORUS_GREEDY) {
        for (int a = 0; a < A; a++) pi[a] = a == best ? 1 : 0;
        return q[best];
    }
    double moved = 0, value = 0, top = q[0];
    for (int a = 1; a < A; a++) top = q[a] > top ? q[a] : top;
    for (int a = 0; a < A; a++) {
        const double had = job->imitation[s * A + a];
        const bool keeps = a == best || q[a] > top - job->alpha + TIE;
        pi[a] = keeps ? had : 0;
        if (!keeps) moved += had;
    }
    pi[best] += moved;
    for (int a = 0; a < A; a++) value += pi[a] * q[a];
    return value - job->alpha * moved;
}

/* q = r + γPv at every state; a state's policy changes where that gains more than a tie. On a converged v (no state
 * gains, or `settle`) every state gets its local optimum, so that the policy is a function of v alone. */
static bool improve(const pess__torus_solver *solver, pess__torus_job *job, const double *v, double mean, bool fresh,
                    bool settle) {
    const uint32_t *neighbour = solver->torus->neighbour;
    const double uniform = solver->gamma * mean;
    bool changed = false;
    for (int64_t s = 0; s < solver->torus->states; s++) {
        const double *p = job->model->probability + s * A * A;
        actions next = load(p) * v[neighbour[s * A]];
        for (int64_t d = 1; d < A; d++) next += load(p + d * A) * v[neighbour[s * A + d]];
        const actions q = load(job->reward + s * A) + solver->gamma * next + uniform * load(job->model->unseen + s * A);
        double pi[A];
        const double value = best_local(job, s, q, pi);
        const bool gains = fresh || value > v[s] + TIE;
        if (gains || settle) memcpy(job->policy + s * A, pi, sizeof pi);
        changed = changed || gains;
    }
    return changed;
}

/* ---- the lanes together */

typedef struct lane_state {
    pess__torus_job *job; /* NULL: idle */
    bool optimising;      /* else: its last system is the true one */
} lane_state;

static void begin(pess__torus_solver *solver, lane_state *lane, int64_t index, pess__torus_job *job) {
    const int64_t states = solver->torus->states;
    *lane = (lane_state){job, job->kind != TORUS_EVALUATE};
    job->steps = 0;
    if (!lane->optimising) return;
    double *v = solver->values + index * states, mean = 0;
    for (int64_t s = 0; s < states; s++) mean += v[s] = job->guess != NULL ? job->guess[s] : 0;
    (void)improve(solver, job, v, mean / (double)states, true, false);
}

static void assemble_lane(pess__torus_solver *solver, const lane_state *lane, int64_t index) {
    const pess__torus_job *job = lane->job;
    if (job == NULL) return;
    if (lane->optimising)
        assemble(solver, index, job->model, job->reward, job->policy, job->alpha,
                 job->kind == TORUS_PROXIMAL ? job->imitation : NULL);
    else
        assemble(solver, index, job->truth, job->truth->reward, job->policy, 0, NULL);
}

/* Takes the lane one step on; true when its job is done. */
static bool advance(pess__torus_solver *solver, lane_state *lane, int64_t index) {
    pess__torus_job *job = lane->job;
    double *v = solver->values + index * solver->torus->states;
    const double mean = read_values(solver, index, v);
    job->steps++;
    if (lane->optimising) {
        if (improve(solver, job, v, mean, false, false) && job->steps < MAX_STEPS) return false;
        (void)improve(solver, job, v, mean, false, true);
        lane->optimising = false;
        if (job->truth != NULL) return false;
    }
    job->value = mean;
    if (job->values != NULL) memcpy(job->values, v, (size_t)solver->torus->states * sizeof *v);
    return true;
}

void pess__torus_run_jobs(pess__torus_solver *solver, pess__torus_job *jobs, int64_t count) {
    lane_state lanes[LANES] = {{0}};
    int64_t next = 0, active = 0;
    for (; next < count && next < LANES; next++, active++) begin(solver, &lanes[next], next, &jobs[next]);
    while (active > 0) {
        for (int64_t l = 0; l < LANES; l++) assemble_lane(solver, &lanes[l], l);
        pess__lanes_solve(solver->plan, &solver->lanes);
        for (int64_t l = 0; l < LANES; l++) {
            if (lanes[l].job == NULL || !advance(solver, &lanes[l], l)) continue;
            if (next < count) {
                begin(solver, &lanes[l], l, &jobs[next++]);
            } else {
                lanes[l].job = NULL;
                active--;
            }
        }
    }
}

void pess__torus_stationary(pess__torus_solver *solver, int64_t count, const pess__torus_model *const *truth,
                            const double *const *policy, double *const *law) {
    const uint32_t *neighbour = solver->torus->neighbour;
    const int64_t states = solver->torus->states;
    for (int64_t l = 0; l < LANES; l++) {
        const int64_t of = l < count ? l : 0; /* idle lanes repeat the first */
        for (int64_t s = 0; s < states; s++)
            for (int64_t d = 0; d < A; d++) {
                /* μ = P'μ: the cell in direction d reaches s by the opposite direction */
                const int64_t from = neighbour[s * A + d], back = (d + A / 2) % A;
                solver->lanes.coefficient[(s * A + d) * LANES + l] =
                    sum(load(policy[of] + from * A) * load(truth[of]->probability + (from * A + back) * A));
            }
    }
    pess__lanes_null(solver->plan, &solver->lanes);
    for (int64_t l = 0; l < count; l++)
        for (int64_t s = 0; s < states; s++) law[l][s] = solver->lanes.solution[2 * s * LANES + l];
}
