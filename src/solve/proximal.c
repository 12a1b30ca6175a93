/* proximal: stay near the empirical policy (paper, section 5.2 and Proposition 1). */
#include "policy/policy.h"
#include "solve/algorithm.h"

#include <math.h>

typedef struct proximal {
    const pess_policy *empirical;
    double c; /* price of one unit of total variation */
} proximal;

/* TV(π, π̂) = Σ_a max(π(a) − π̂(a), 0) */
static double penalty(const void *context, int64_t state, const double *pi) {
    const proximal *p = context;
    const double *base = p->empirical->probability + state * p->empirical->actions;
    double moved = 0;
    for (int64_t a = 0; a < p->empirical->actions; a++)
        if (pi[a] > base[a]) moved += pi[a] - base[a];
    return p->c * moved;
}

/* max_π Σ_a π(a)q(a) − c·TV(π, π̂). Moving a unit of mass from a to the best action gains max q − q(a) and costs c:
 * actions with q > max q − c keep their empirical probability, the rest goes to the best action (Proposition 1). */
static double improve(const void *context, int64_t state, const double *q, double *pi) {
    const proximal *p = context;
    const int64_t actions = p->empirical->actions;
    const double *base = p->empirical->probability + state * actions;
    const int64_t best = pess__greedy_action(q, actions);
    double top = q[best], kept = 0, moved = 0, value = 0;
    for (int64_t a = 0; a < actions; a++) top = q[a] > top ? q[a] : top;
    for (int64_t a = 0; a < actions; a++) {
        const bool keeps = a == best || q[a] > top - p->c;
        pi[a] = keeps ? base[a] : 0.0;
        if (!keeps)
            moved += base[a];
        else if (pi[a] > 0)
            kept += pi[a] * q[a];
    }
    value = kept + moved * (top - p->c);
    pi[best] += moved;
    return value;
}

/* Absorbed: c = α. In the theory's units: c = α/(1−γ)². */
static pess_status coefficient(const pess__problem *problem, double *c, pess_error *error) {
    const pess_solve_options *options = problem->options;
    const double horizon = options->gamma < 1 ? 1 / (1 - options->gamma) : INFINITY;
    *c = problem->alpha == 0 ? 0 : problem->absorbed ? problem->alpha : problem->alpha * horizon * horizon;
    if (!isfinite(*c))
        return pess__fail(error, PESS_ARGUMENT,
                          "proximal: alpha %g in theory units has no finite penalty at gamma %g; use absorbed units",
                          problem->alpha, options->gamma);
    return PESS_OK;
}

typedef pess_status action(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                           pess_error *error);

static pess_status with_local(const pess__problem *problem, pess_solution *solution, action *act, pess_error *error) {
    proximal context = {0};
    PESS_TRY(coefficient(problem, &context.c, error));
    const pess__local none = {0};
    if (context.c == 0) return act(problem, &none, solution, error); /* naive, to the last bit */
    pess_policy *empirical = NULL;
    PESS_TRY(pess_policy_empirical(problem->counts, problem->model, &empirical, error));
    context.empirical = empirical;
    const pess__local local = {.context = &context, .improve = improve, .penalty = penalty};
    const pess_status status = act(problem, &local, solution, error);
    pess_policy_destroy(empirical);
    return status;
}

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return with_local(problem, solution, pess__optimise, error);
}

static pess_status evaluate(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    return with_local(problem, solution, pess__evaluate_local, error);
}

const pess__algorithm pess__algorithm_proximal = {
    .info = {.name = "proximal",
             .summary = "pays for every departure from the logging policy; large alpha is imitation, 0 is naive",
             .equation = "v = max_π A^π(r_D + γ·P_D·v) − α·TV(π, π̂)   "
                         "[theory units: α·TV(π, π̂) / (1-γ)²]",
             .source = "Buckman, Gelada & Bellemare 2021, section 5.2, Proposition 1",
             .settings = "alpha absorbed-alpha " PESS__READS_METHOD},
    .spreads = true,
    .pairs_alone = true,
    .solve = solve,
    .evaluate = evaluate};
