/* DUIPI: policy iteration that carries the variance of Q along, without covariances (Schneegass, Udluft, Martinetz
 * 2008; Hans, Udluft 2009). For a policy π:
 *   V = A^π Q,          Q(s,a)   = r + γ Σ_s' P(s') V(s')
 *   σ²V = (A^π)² σ²Q,   σ²Q(s,a) = Σ_s' (γP(s'))² σ²V(s') + Σ_s' (r + γV(s'))² σ²P(s') + σ²R
 * ((A^π)²: probabilities squared.) Both are linear in V and in σ²V. The policy is greedy in Q − α·σQ. Variances:
 *   σ²P(s') = p̃(1−p̃)/(n+2), p̃ = (n(s,a,s') + 1/K)/(n+1): Dirichlet posterior with one sample spread over the K
 *             possible outcomes (all states, and the end where episodes can end);
 *   σ²R     = (Σ(r−r̄)² + (r_hi−r_lo)²/4)/((n+1)·n): sample variance with one pseudo-sample of the widest spread;
 *   σ²Q     = W² where the pair was never seen. */
#include "core/memory.h"
#include "policy/policy.h"
#include "solve/algorithm.h"
#include "solve/evaluator.h"
#include "solve/horizon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FULL_STEPS = 50, DAMPED_STEPS = 2000, STABLE = 5 };

typedef struct duipi {
    const pess__problem *problem;
    pess_model squares; /* of variances: P², rows of unseen pairs constant; shares what does not differ */
    pess__evaluator *mean, *variance;
    pess__monitor monitor;
    double *pi;             /* [S*A] */
    double *pi_square;      /* [S*A] */
    double *v, *v_variance; /* [S] */
    double *q, *lower;      /* [S*A] Q and Q − α·σQ */
    int32_t *greedy;        /* [S] */
} duipi;

static void duipi_release(duipi *d) {
    free(d->squares.kind);
    free(d->squares.reward);
    free(d->squares.probability);
    pess__evaluator_destroy(d->mean);
    pess__evaluator_destroy(d->variance);
    free(d->pi);
    free(d->pi_square);
    free(d->v);
    free(d->v_variance);
    free(d->q);
    free(d->lower);
    free(d->greedy);
}

static pess_status duipi_allocate(duipi *d, pess_error *error) {
    const pess_model *model = d->problem->model;
    const int64_t states = model->states, pairs = states * model->actions;
    static const char what[] = "DUIPI";
    PESS_TRY(pess__allocate(&d->squares.kind, pairs, 1, what, error));
    PESS_TRY(pess__allocate(&d->squares.reward, pairs, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&d->squares.probability, model->row[pairs], sizeof(double), what, error));
    PESS_TRY(pess__allocate(&d->pi, pairs, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&d->pi_square, pairs, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&d->v, states, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&d->v_variance, states, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&d->q, pairs, sizeof(double), what, error));
    PESS_TRY(pess__allocate(&d->lower, pairs, sizeof(double), what, error));
    return pess__allocate(&d->greedy, states, sizeof(int32_t), what, error);
}

static pess_status duipi_create(const pess__problem *problem, duipi *d, pess_error *error) {
    const pess_model *model = problem->model;
    const pess_solve_options *options = problem->options;
    const int64_t pairs = model->states * model->actions;
    *d = (duipi){.problem = problem,
                 .squares = *model,
                 .monitor = pess__monitor_start(&options->progress, "duipi", problem->deadline)};
    d->squares.kind = NULL;
    d->squares.reward = d->squares.probability = NULL;
    PESS_TRY(pess__no_horizon(problem, "'duipi'", error));
    PESS_TRY(pess__need_ends(problem, "'duipi'", error));
    if (problem->counts != NULL) PESS_TRY(pess__counts_need_squares(problem->counts, error));
    PESS_TRY(duipi_allocate(d, error));
    for (int64_t k = 0; k < model->row[pairs]; k++)
        d->squares.probability[k] = model->probability[k] * model->probability[k];
    for (int64_t z = 0; z < pairs; z++) { /* a sink worth 0: nothing but its own variance */
        const bool seen = model->kind[z] == PESS_ROW_SPARSE && problem->counts->n[z] > 0;
        d->squares.kind[z] = seen ? PESS_ROW_SPARSE : model->kind[z] == PESS_ROW_NONE ? PESS_ROW_NONE : PESS_ROW_SINK;
        if (!seen && model->kind[z] != PESS_ROW_NONE && !isfinite(problem->v_hi - problem->v_lo))
            return pess__unseen_without_limit(problem, z, error);
    }
    PESS_TRY(pess__evaluator_create(model, options->gamma, problem->v_lo, options->evaluation, problem->threads,
                                    &d->monitor, &d->mean, error));
    return pess__evaluator_create(&d->squares, options->gamma * options->gamma, 0.0, options->evaluation,
                                  problem->threads, &d->monitor, &d->variance, error);
}

/* Σ_s' (r + γV(s'))² σ²P(s') + σ²R of one pair; sum and square: Σ_s V, Σ_s V² over all states. */
static double own_variance(const duipi *d, int64_t z, double sum, double square) {
    const pess_counts *counts = d->problem->counts;
    const pess_model *model = d->problem->model;
    const double gamma = d->problem->options->gamma, width = d->problem->v_hi - d->problem->v_lo;
    if (d->squares.kind[z] != PESS_ROW_SPARSE) return width * width;
    const double n = (double)counts->n[z], r = model->reward[z], states = (double)model->states;
    const double outcomes = states + (model->has_terminals ? 1 : 0), prior = 1 / outcomes;
    double unseen = states * r * r + 2 * gamma * r * sum + gamma * gamma * square, total = 0;
    for (int64_t k = counts->row[z]; k < counts->row[z + 1]; k++) {
        const double worth = r + gamma * d->v[counts->next[k]];
        const double p = ((double)counts->n_next[k] + prior) / (n + 1);
        total += worth * worth * p * (1 - p);
        unseen -= worth * worth;
    }
    if (model->has_terminals) {
        const double p = ((double)counts->n_terminal[z] + prior) / (n + 1);
        total += r * r * p * (1 - p);
    }
    const double rare = prior / (n + 1);
    total += (unseen > 0 ? unseen : 0) * rare * (1 - rare);
    const double spread = model->reward_hi - model->reward_lo;
    double scatter = counts->reward_square[z] - counts->reward_offset[z] * counts->reward_offset[z] / n;
    if (scatter < 0) scatter = 0;
    return total / (n + 2) + (scatter + spread * spread / 4) / ((n + 1) * n);
}

/* V, σ²V, Q and Q − α·σQ of d->pi. */
static pess_status propagate(duipi *d, pess_error *error) {
    const pess_model *model = d->problem->model;
    const int64_t states = model->states, pairs = states * model->actions;
    const double gamma = d->problem->options->gamma, tolerance = 0.25 * d->problem->options->tolerance;
    pess__evaluator_result result;
    PESS_TRY(pess__evaluator_fill_policy(d->mean, d->pi, NULL, error));
    PESS_TRY(pess__evaluator_evaluate(d->mean, tolerance, d->v, &result, error));
    pess__q_values(d->problem, NULL, d->v, d->q);
    double square = 0;
    for (int64_t s = 0; s < states; s++) square += d->v[s] * d->v[s];
    const double sum = pess__sum(states, d->v);
    for (int64_t z = 0; z < pairs; z++) {
        d->squares.reward[z] = d->squares.kind[z] == PESS_ROW_NONE ? 0 : own_variance(d, z, sum, square);
        d->pi_square[z] = d->pi[z] * d->pi[z];
    }
    PESS_TRY(pess__evaluator_fill_policy(d->variance, d->pi_square, NULL, error));
    PESS_TRY(pess__evaluator_evaluate(d->variance, tolerance, d->v_variance, &result, error));
    for (int64_t z = 0; z < pairs; z++) {
        double total = d->squares.reward[z];
        if (d->squares.kind[z] == PESS_ROW_SPARSE)
            for (int64_t k = model->row[z]; k < model->row[z + 1]; k++)
                total += gamma * gamma * d->squares.probability[k] * d->v_variance[model->next[k]];
        d->lower[z] = d->q[z] - d->problem->alpha * sqrt(total);
    }
    return PESS_OK;
}

/* The algorithm's value V − α·σV of a state. */
static double penalised(const duipi *d, int64_t s) {
    const double variance = d->v_variance[s] > 0 ? d->v_variance[s] : 0;
    return d->v[s] - d->problem->alpha * sqrt(variance);
}

/* sup_s |max_a (Q − α·σQ)(s,a) − (V − α·σV)(s)| */
static double residual(const duipi *d) {
    const int64_t actions = d->problem->model->actions;
    double most = 0;
    for (int64_t s = 0; s < d->problem->model->states; s++) {
        if (d->problem->model->terminal[s]) continue;
        double best = -INFINITY;
        for (int64_t a = 0; a < actions; a++)
            best = d->lower[s * actions + a] > best ? d->lower[s * actions + a] : best;
        const double size = fabs(best - penalised(d, s));
        if (size > most) most = size;
    }
    return most;
}

/* Moves π by `share` towards the greedy policy; sets whether π was already it and whether that policy is a new one. */
static void move(duipi *d, double share, bool *fixed, bool *same) {
    const int64_t actions = d->problem->model->actions;
    *fixed = *same = true;
    for (int64_t s = 0; s < d->problem->model->states; s++) {
        if (d->problem->model->terminal[s]) continue;
        double *row = d->pi + s * actions;
        const int32_t best = (int32_t)pess__greedy_action(d->lower + s * actions, actions);
        if (row[best] != 1.0) *fixed = false;
        if (d->greedy[s] != best) *same = false;
        d->greedy[s] = best;
        for (int64_t a = 0; a < actions; a++) row[a] = (1 - share) * row[a];
        row[best] = share == 1 ? 1.0 : row[best] + share;
    }
}

/* Full steps first. Where they cycle, steps of 1/k (Hans & Udluft, section 4), with a full one once the greedy policy
 * has not changed for a while. Ends where π is greedy in its own Q − α·σQ. */
static pess_status iterate(duipi *d, pess_solution_info *info, pess_error *error) {
    bool fixed = false, same = false;
    int64_t damped = 0, stable = 0;
    while (!fixed) {
        if (!pess__monitor_check(&d->monitor)) {
            info->outcome = PESS_OUTCOME_TIME_LIMIT;
            return PESS_OK;
        }
        if (info->iterations >= d->problem->options->max_iterations || damped >= DAMPED_STEPS) {
            info->outcome = PESS_OUTCOME_ITERATION_LIMIT;
            return PESS_OK;
        }
        if (info->iterations >= FULL_STEPS) damped++;
        stable = same ? stable + 1 : 0;
        const bool full = damped == 0 || stable >= STABLE;
        move(d, full ? 1.0 : 1.0 / (double)(damped + 1), &fixed, &same);
        if (fixed) break;
        PESS_TRY(propagate(d, error));
        d->monitor.done = (double)++info->iterations;
    }
    info->outcome = PESS_OUTCOME_CONVERGED;
    return PESS_OK;
}

static pess_status deliver(duipi *d, pess_solution *solution, pess_error *error) {
    const int64_t states = d->problem->model->states;
    if (d->monitor.interrupted) return pess__fail(error, PESS_INTERRUPTED, "duipi: interrupted");
    PESS_TRY(pess__allocate(&solution->values, states, sizeof(double), "the values", error));
    PESS_TRY(pess__allocate(&solution->naive_values, states, sizeof(double), "the values", error));
    for (int64_t s = 0; s < states; s++) solution->values[s] = penalised(d, s);
    memcpy(solution->naive_values, d->v, (size_t)states * sizeof(double));
    solution->info.evaluation = d->mean->evaluation == PESS_EVALUATION_LU ? "lu" : "krylov";
    return PESS_OK;
}

static pess_status run(duipi *d, pess_solution *solution, pess_error *error) {
    const pess_model *model = d->problem->model;
    const int64_t pairs = model->states * model->actions;
    pess__q_values(d->problem, NULL, d->v, d->lower); /* begin greedy in r */
    bool fixed, same;
    move(d, 1.0, &fixed, &same);
    PESS_TRY(propagate(d, error));
    solution->info.iterations = 1;
    PESS_TRY(iterate(d, &solution->info, error));
    d->monitor.deadline = INFINITY; /* the answer's own value is not cut short */
    d->monitor.late = false;
    if (solution->info.outcome != PESS_OUTCOME_CONVERGED) PESS_TRY(propagate(d, error));
    solution->info.residual = residual(d);
    solution->info.method = "policy iteration";
    PESS_TRY(pess__policy_allocate(model->states, model->actions, &solution->policy, error));
    memcpy(solution->policy->probability, d->pi, (size_t)pairs * sizeof(double));
    return deliver(d, solution, error);
}

static pess_status solve(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    duipi d;
    pess_status status = duipi_create(problem, &d, error);
    if (status == PESS_OK) status = run(&d, solution, error);
    duipi_release(&d);
    return status;
}

static pess_status evaluate(const pess__problem *problem, pess_solution *solution, pess_error *error) {
    duipi d;
    pess_status status = duipi_create(problem, &d, error);
    if (status == PESS_OK) {
        memcpy(d.pi, solution->policy->probability,
               (size_t)(problem->model->states * problem->model->actions) * sizeof(double));
        status = propagate(&d, error);
    }
    if (status == PESS_OK) status = deliver(&d, solution, error);
    if (status == PESS_OK) {
        solution->info.iterations = 1;
        solution->info.method = "evaluation";
        solution->info.outcome = d.monitor.late ? PESS_OUTCOME_TIME_LIMIT : PESS_OUTCOME_CONVERGED;
        solution->info.residual = pess__evaluator_apply(d.mean, d.v, d.mean->scratch);
    }
    duipi_release(&d);
    return status;
}

const pess__algorithm pess__algorithm_duipi = {
    .info = {.name = "duipi",
             .summary = "carries the variance of Q along, without covariances, and acts on Q - alpha sigma",
             .equation = "π greedy in Q − α·σ_Q,  var_Q = Σ (γP)² var_V + (r + γV)² var_P + var_R",
             .source = "Schneegass, Udluft, Martinetz 2008; Hans, Udluft 2009",
             .settings = "alpha absorbed-alpha max-iterations"},
    .own_way = "it improves its policy by the variance of its values, in its own loop",
    .solve = solve,
    .evaluate = evaluate};
