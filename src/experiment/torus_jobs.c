/* Policies of a torus, optimised and valued in lanes; compiled twice. */
#include "experiment/torus_solve.h"

#include <math.h>
#include <string.h>

enum { A = TORUS_ACTIONS, LANES = PESS__LANES };

#define TIE 1e-8        /* values this close are equal; the smallest action wins */
#define MAX_STEPS 10000 /* far beyond what policy iteration needs: each step strictly improves */

typedef double actions __attribute__((vector_size(8 * TORUS_ACTIONS)));

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
    for (int a = 0; a < A; a++) total += pi[a] > imitation[a] ? pi[a] - imitation[a] : 0;
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

/* The same for a policy that takes one action in every state: the very same numbers without the sums. */
static void assemble_greedy(pess__torus_solver *solver, int64_t lane, const pess__torus_model *model,
                            const double *reward, const double *policy) {
    double *coefficient = solver->lanes.coefficient + lane, *right = solver->lanes.right + lane;
    for (int64_t s = 0; s < solver->torus->states; s++) {
        const double *pi = policy + s * A, *p = model->probability + s * A * A;
        const int64_t a = (pi[1] > 0) + 2 * (pi[2] > 0) + 3 * (pi[3] > 0);
        for (int64_t d = 0; d < A; d++) coefficient[(s * A + d) * LANES] = solver->gamma * p[d * A + a];
        right[2 * s * LANES] = reward[s * A + a];
        right[(2 * s + 1) * LANES] = model->unseen[s * A + a];
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

static inline double largest(actions q) {
    const double low = q[0] > q[1] ? q[0] : q[1], high = q[2] > q[3] ? q[2] : q[3];
    return low > high ? low : high;
}

/* The smallest action within a tie of the largest q. */
static inline int first_best(actions q, double top) {
    const unsigned near =
        (unsigned)(q[0] >= top - TIE) | (unsigned)(q[1] >= top - TIE) << 1 | (unsigned)(q[2] >= top - TIE) << 2 | 8;
    return __builtin_ctz(near);
}

/* Proposition 1: actions with q > max q − α keep their empirical probability, the rest goes to the best. Value of that,
 * max_π Σπq − α·TV(π, π̂). */
static inline double proximal_value(actions q, double top, actions imitation, double alpha) {
    /* an action below the line is worth the line: its mass moves to the best and pays α */
    const double line = top - alpha;
    actions worth;
    for (int a = 0; a < A; a++) worth[a] = q[a] > line ? q[a] : line;
    return sum(worth * imitation);
}

static inline void write_greedy(actions q, double top, double *pi) {
    static const double unit[A][A] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    memcpy(pi, unit[first_best(q, top)], sizeof unit[0]);
}

static inline void write_proximal(actions q, double top, const double *imitation, double alpha, double *pi) {
    const int best = first_best(q, top);
    double moved = 0;
    for (int a = 0; a < A; a++) {
        const bool keeps = a == best || q[a] > top - alpha + TIE;
        pi[a] = keeps ? imitation[a] : 0;
        moved += keeps ? 0 : imitation[a];
    }
    pi[best] += moved;
}

/* q = r + γPv at every state; a state's policy changes where that gains more than a tie, and where `all` is set, so
 * that the policy of a converged v is a function of v alone. Returns whether any state gained. */
static inline bool improve_kind(const pess__torus_solver *solver, pess__torus_job *job, const double *v, double mean,
                                bool all, pess__torus_kind kind) {
    const uint32_t *neighbour = solver->torus->neighbour;
    const double uniform = solver->gamma * mean;
    bool gained = false;
    for (int64_t s = 0; s < solver->torus->states; s++) {
        const double *p = job->model->probability + s * A * A;
        actions next = load(p) * v[neighbour[s * A]];
        for (int64_t d = 1; d < A; d++) next += load(p + d * A) * v[neighbour[s * A + d]];
        const actions q = load(job->reward + s * A) + solver->gamma * next + uniform * load(job->model->unseen + s * A);
        const double top = largest(q);
        const double value =
            kind == TORUS_GREEDY ? top : proximal_value(q, top, load(job->imitation + s * A), job->alpha);
        const bool gains = value > v[s] + TIE;
        gained = gained || gains;
        if (!gains && !all) continue;
        if (kind == TORUS_GREEDY)
            write_greedy(q, top, job->policy + s * A);
        else
            write_proximal(q, top, job->imitation + s * A, job->alpha, job->policy + s * A);
    }
    return gained;
}

static bool improve(const pess__torus_solver *solver, pess__torus_job *job, const double *v, double mean, bool all) {
    return job->kind == TORUS_GREEDY ? improve_kind(solver, job, v, mean, all, TORUS_GREEDY)
                                     : improve_kind(solver, job, v, mean, all, TORUS_PROXIMAL);
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
    (void)improve(solver, job, v, mean / (double)states, true);
}

static void assemble_lane(pess__torus_solver *solver, const lane_state *lane, int64_t index) {
    const pess__torus_job *job = lane->job;
    if (job == NULL) return;
    const pess__torus_model *model = lane->optimising ? job->model : job->truth;
    const double *reward = lane->optimising ? job->reward : job->truth->reward;
    const bool penalised = lane->optimising && job->kind == TORUS_PROXIMAL;
    if (job->kind == TORUS_GREEDY)
        assemble_greedy(solver, index, model, reward, job->policy);
    else
        assemble(solver, index, model, reward, job->policy, job->alpha, penalised ? job->imitation : NULL);
}

/* Takes the lane one step on; true when its job is done. */
static bool advance(pess__torus_solver *solver, lane_state *lane, int64_t index) {
    pess__torus_job *job = lane->job;
    double *v = solver->values + index * solver->torus->states;
    const double mean = read_values(solver, index, v);
    job->steps++;
    if (lane->optimising) {
        if (improve(solver, job, v, mean, false) && job->steps < MAX_STEPS) return false;
        (void)improve(solver, job, v, mean, true);
        lane->optimising = false;
        if (job->truth != NULL) return false;
    }
    job->value = mean;
    if (job->values != NULL) memcpy(job->values, v, (size_t)solver->torus->states * sizeof *v);
    return true;
}

void PESS__VARIANT(pess__torus_jobs)(pess__torus_solver *solver, pess__torus_job *jobs, int64_t count) {
    lane_state lanes[LANES] = {{0}};
    int64_t next = 0, active = 0;
    for (; next < count && next < LANES; next++, active++) begin(solver, &lanes[next], next, &jobs[next]);
    while (active > 0) {
        for (int64_t l = 0; l < LANES; l++) assemble_lane(solver, &lanes[l], l);
        PESS__VARIANT(pess__lanes_solve)(solver->plan, &solver->lanes);
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

void PESS__VARIANT(pess__torus_laws)(pess__torus_solver *solver, int64_t count, const pess__torus_model *const *truth,
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
    PESS__VARIANT(pess__lanes_null)(solver->plan, &solver->lanes);
    for (int64_t l = 0; l < count; l++)
        for (int64_t s = 0; s < states; s++) law[l][s] = solver->lanes.solution[2 * s * LANES + l];
}
