/* Soft-SPIBB: a budget for moving away from the logging policy, spent where it was seen to be safe (Nadjahi, Laroche,
 * Tachet des Combes 2019). The step is the exact optimum of the local linear program. */
#include "core/memory.h"
#include "model/spread.h"
#include "policy/policy.h"
#include "solve/algorithm.h"

#include <math.h>
#include <stdlib.h>

typedef struct soft {
    const pess_policy *empirical;
    const double *e; /* [S*A] error of a pair's value; infinity where it was never seen */
    double budget;   /* ε */
} soft;

/* One state's problem and the answer of its Lagrangian at the price λ: who receives, what moving costs and gains. */
typedef struct step {
    double lambda, cost, gain;
    int64_t to;
    bool all; /* λ = 0: everything that may move does */
} step;

static inline bool gives(const double *q, const double *e, int64_t a, const step *at) {
    if (a == at->to || !isfinite(e[a]) || q[a] == -INFINITY) return false;
    return at->all || q[a] + at->lambda * e[a] < q[at->to] - at->lambda * e[at->to];
}

/* max Σ_a (π−π̂)(a)q(a) − λ·Σ_a e(a)|π−π̂|(a): the receiver maximises q − λe, and b gives all it has where
 * q(b) + λe(b) is below that. `to` is the receiver, or -1 to find it. */
static step price(const double *q, const double *e, const double *base, int64_t actions, double lambda, int64_t to) {
    step at = {.lambda = lambda, .to = to, .all = to >= 0};
    for (int64_t a = 0; a < actions && !at.all; a++)
        if (isfinite(e[a]) && q[a] > -INFINITY && (at.to < 0 || q[a] - lambda * e[a] > q[at.to] - lambda * e[at.to]))
            at.to = a;
    for (int64_t a = 0; a < actions; a++)
        if (base[a] > 0 && gives(q, e, a, &at)) {
            at.cost += base[a] * (e[a] + e[at.to]);
            at.gain += base[a] * (q[at.to] - q[a]);
        }
    return at;
}

/* π = π̂ moved by share·(move of `at`), added to what is there. */
static void add_move(const double *q, const double *e, const double *base, int64_t actions, const step *at,
                     double share, double *pi) {
    for (int64_t a = 0; a < actions; a++)
        if (base[a] > 0 && gives(q, e, a, at)) {
            pi[a] -= share * base[a];
            pi[at->to] += share * base[a];
        }
}

/* Receiver without a price: the best pair that was ever seen, ties to the smallest action; -1: none. */
static int64_t best_seen(const double *q, const double *e, int64_t actions) {
    double top = -INFINITY;
    for (int64_t a = 0; a < actions; a++)
        if (isfinite(e[a]) && q[a] > top) top = q[a];
    for (int64_t a = 0; a < actions; a++)
        if (isfinite(e[a]) && q[a] > -INFINITY && q[a] >= top - PESS__TIE) return a;
    return -1;
}

/* max_π Σ_a π(a)q(a)  s.t.  Σ_a e(a)|π(a) − π̂(a)| ≤ ε. The cost of the Lagrangian's answer is a falling staircase in
 * λ; where it crosses ε both its answers are optimal at that λ, and their mixture that costs exactly ε solves the
 * program. Each answer is a line in λ, gain + λ(ε − cost), and the dual is the highest of them: the next λ is where the
 * lines of the last two answers on either side meet (Kelley 1960), until no other line is above that point. */
static double improve(const void *context, int64_t state, const double *q, double *pi) {
    const soft *c = context;
    const int64_t actions = c->empirical->actions;
    const double *base = c->empirical->probability + state * actions, *e = c->e + state * actions;
    double value = 0, size = 0;
    for (int64_t a = 0; a < actions; a++) {
        pi[a] = base[a];
        if (base[a] > 0) value += base[a] * q[a];
        if (isfinite(q[a]) && fabs(q[a]) > size) size = fabs(q[a]);
    }
    const int64_t best = best_seen(q, e, actions);
    if (best < 0 || c->budget <= 0) return value;
    step cheap = price(q, e, base, actions, 0, best), dear = cheap;
    if (cheap.cost > c->budget) {
        cheap = price(q, e, base, actions, 0, -1);
        for (double lambda = size + 1; dear.cost > c->budget; lambda *= 2)
            dear = price(q, e, base, actions, lambda, -1);
    }
    double share = cheap.cost > c->budget ? 0 : 1;
    for (int k = 0; k < 200 && cheap.cost > c->budget; k++) {
        share = (c->budget - dear.cost) / (cheap.cost - dear.cost);
        const double primal = share * cheap.gain + (1 - share) * dear.gain;
        const double lambda = (cheap.gain - dear.gain) / (cheap.cost - dear.cost);
        const step middle = price(q, e, base, actions, lambda, -1);
        const double dual = middle.gain + lambda * (c->budget - middle.cost);
        if (dual - primal <= 1e-15 * (1 + size) || !(lambda > cheap.lambda && lambda < dear.lambda)) break;
        if (middle.cost > c->budget)
            cheap = middle;
        else
            dear = middle;
    }
    add_move(q, e, base, actions, &cheap, share, pi);
    if (share < 1) add_move(q, e, base, actions, &dear, 1 - share, pi);
    for (int64_t a = 0; a < actions; a++)
        if (pi[a] < 0) pi[a] = 0; /* rounding */
    return value + share * cheap.gain + (1 - share) * dear.gain;
}

/* e(s,a) = √(2/n(s,a) · ln(2·S·A/δ)), their error function of Q */
static void fill_errors(const pess__problem *problem, double *e) {
    const double pairs = (double)pess__all_states(problem->model) * (double)problem->model->actions;
    const double logarithm = log(2 * pairs / problem->options->delta);
    for (int64_t z = 0; z < problem->model->states * problem->model->actions; z++)
        e[z] = problem->counts->n[z] > 0 ? sqrt(2 / (double)problem->counts->n[z] * logarithm) : INFINITY;
}

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    pess_policy *empirical = NULL;
    double *e = NULL;
    PESS_TRY(pess_policy_empirical(problem->counts, problem->model, &empirical, error));
    pess_status status =
        pess__allocate(&e, problem->model->states * problem->model->actions, sizeof(double), "the errors", error);
    if (status == PESS_OK) {
        fill_errors(problem, e);
        const soft context = {empirical, e, problem->options->budget};
        const pess__local local = {.context = &context, .improve = improve};
        status = pess__optimise(problem, &local, solution, error);
    }
    free(e);
    pess_policy_destroy(empirical);
    return status;
}

const pess__algorithm pess__algorithm_soft_spibb = {
    .info = {.name = "soft-spibb",
             .summary = "moves away from the logging policy within a budget, more where there are more data",
             .equation = "v = max_π A^π(r_D + γ·P_D·v),  Σ_a e(s,a)·|π − π̂|(a|s) ≤ budget,  "
                         "e = √(2/n·ln(2SA/δ))",
             .source = "Nadjahi, Laroche, Tachet des Combes 2019; the local program is solved exactly",
             .settings = "budget delta " PESS__READS_METHOD},
    .spreads = true,
    .pairs_alone = true,
    .solve = solve,
    .evaluate = pess__evaluate_plain};
