/* The paper's bounds on suboptimality, computed for one dataset whose process is known (paper, sections 2, 4, 5 and
 * appendix C). With u a Bellman uncertainty and μ^π = (I − γA^πP_D)⁻¹A^πu the value uncertainty,
 *   theorem 2 (naive)       inf_π( E[v* − v^π] + E[μ^π] )               + sup_π E[μ^π]
 *   theorem 3 (UA, α)       inf_π( E[v* − v^π] + (1+α)E[μ^π] )          + (1−α)·sup_π E[μ^π]
 *   theorem 4 (proximal, α) inf_π( E[v* − v^π] + E[μ^π] + α·E[T^π] )    + sup_π( E[μ^π] − α·E[T^π] ),
 *                           T^π = (I − γA^πP_D)⁻¹ TV(π,π̂)/(1−γ)²
 *   density variant (α)     as theorem 4 with the variant's own penalty X(π) for T^π; its sup is bounded by sup E[μ^π]
 * sup E[μ^π] is one MDP with u for rewards and P_D for dynamics; theorem 4's sup is the proximal algorithm on that MDP.
 * inf is taken over a list of policies: any of them gives a valid bound, the best one the tightest. */
#include "core/memory.h"
#include "core/settings.h"
#include "core/threads.h"
#include "model/counts.h"
#include "model/model.h"
#include "policy/policy.h"
#include "uncertainty/uncertainty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pess_theorem_1(int64_t count, const double *f, const double *f_hat, double *inf_term, double *sup_term,
                      double *regret) {
    double best = -INFINITY, under = INFINITY, over = -INFINITY;
    int64_t chosen = 0;
    for (int64_t i = 0; i < count; i++) {
        best = fmax(best, f[i]);
        over = fmax(over, f_hat[i] - f[i]);
        if (f_hat[i] > f_hat[chosen]) chosen = i;
    }
    /* (f* − f(x)) + (f(x) − f̂(x)) = f* − f̂(x) */
    for (int64_t i = 0; i < count; i++) under = fmin(under, best - f_hat[i]);
    if (inf_term) *inf_term = under;
    if (sup_term) *sup_term = over;
    if (regret) *regret = best - f[chosen];
    return under + over;
}

#define FIELD(name) PESS__FIELD(pess_theorem_options, name)

static const pess_setting settings[] = {
    {"uncertainty", 'u', PESS_SETTING_TEXT, FIELD(uncertainty), "hoeffding", .argument = "UNCERTAINTY",
     .sentence = "uncertainty function with one number per state-action pair; the paper's is hoeffding"},
    {"gamma", 0, PESS_SETTING_NUMBER, FIELD(gamma), "0.99", .least = 0, .most = 1, .open = PESS_SETTING_BELOW_MOST,
     .argument = "G", .sentence = "discount"},
    {"delta", 0, PESS_SETTING_NUMBER, FIELD(delta), "0.05", PESS__BETWEEN(0, 1), .argument = "D",
     .sentence = "error probability"},
    {"max-successors", 0, PESS_SETTING_COUNT, FIELD(max_successors), NULL, PESS__AT_LEAST(0), .argument = "K",
     .sentence = "declare how many next states a state-action pair can have at most", .where_unset = "all states"},
    {"iid", 0, PESS_SETTING_SWITCH, FIELD(iid), "off",
     .sentence = "declare that the transitions are independent draws, even though the log has episodes"},
    PESS__THREADS_SETTING(pess_theorem_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("theorem", pess_theorem_options, settings);
PESS__SETTINGS_OF(theorem, table)

static const double standard_alphas[] = {0, 0.25, 0.5, 0.75, 1};

/* ------------------------------------------------------------------------------------------------ the table's work */

enum { WITNESS_LIMIT = 6 };

typedef struct witness {
    const char *name;
    pess_policy *policy;
    double loss; /* E[v* − v^π] in the true process */
    double mu;   /* E[μ^π] */
} witness;

typedef struct theorem_case {
    const pess_theorem_options *options;
    bool trajectories;
    const pess_counts *counts;
    const pess_model *truth, *model;
    pess_model mu_model; /* the empirical dynamics with u for rewards; borrows the model's arrays */
    const double *start;
    double *u; /* [S*A] */
    double optimal, sup_mu;
    witness witnesses[WITNESS_LIMIT];
    int witness_count;
} theorem_case;

static pess_solve_options solve_options(const theorem_case *b, const char *algorithm, double alpha) {
    pess_solve_options o = pess_solve_options_defaults();
    o.algorithm = algorithm;
    o.gamma = b->options->gamma;
    o.delta = b->options->delta;
    o.alpha = alpha;
    o.iid = !b->trajectories;
    o.max_successors = b->options->max_successors;
    o.threads = b->options->threads;
    return o;
}

/* The policy on a model that may lack some of its actions, or ends where the policy goes on. */
static pess_status fit_policy(const pess_policy *policy, const pess_model *model, pess_policy **out,
                              pess_error *error) {
    const int64_t actions = model->actions;
    pess_policy *fit = NULL;
    PESS_TRY(pess__policy_allocate(model->states, actions, &fit, error));
    for (int64_t s = 0; s < model->states; s++) {
        double sum = 0, have = 0, *row = fit->probability + s * actions;
        if (model->terminal[s]) continue;
        for (int64_t a = 0; a < actions; a++) {
            const bool exists = model->kind[s * actions + a] != PESS_ROW_NONE;
            row[a] = exists ? policy->probability[s * actions + a] : 0;
            sum += row[a];
            have += exists;
        }
        for (int64_t a = 0; a < actions; a++)
            if (sum > 0)
                row[a] /= sum;
            else if (model->kind[s * actions + a] != PESS_ROW_NONE)
                row[a] = 1 / have;
    }
    *out = fit;
    return PESS_OK;
}

static pess_status value_in(const theorem_case *b, const pess_model *model, const pess_counts *counts,
                            const pess_policy *policy, const pess_solve_options *options, double *value,
                            pess_error *error) {
    pess_policy *fit = NULL;
    pess_solution *solution = NULL;
    PESS_TRY(fit_policy(policy, model, &fit, error));
    const pess_status status = pess_evaluate(counts, model, b->start, fit, options, &solution, error);
    if (status == PESS_OK) {
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        *value = info.value;
    }
    pess_solution_destroy(solution);
    pess_policy_destroy(fit);
    return status;
}

/* E[v* − v^π] in the true process. */
static pess_status loss_of(const theorem_case *b, const pess_policy *policy, double *loss, pess_error *error) {
    const pess_solve_options options = solve_options(b, "naive", 0);
    PESS_TRY(value_in(b, b->truth, NULL, policy, &options, loss, error));
    *loss = fmax(b->optimal - *loss, 0);
    return PESS_OK;
}

/* Takes the policy. */
static pess_status add_witness(theorem_case *b, const char *name, pess_policy *policy, pess_error *error) {
    witness *w = &b->witnesses[b->witness_count++];
    *w = (witness){.name = name, .policy = policy};
    const pess_solve_options options = solve_options(b, "naive", 0);
    PESS_TRY(value_in(b, &b->mu_model, NULL, policy, &options, &w->mu, error));
    return loss_of(b, policy, &w->loss, error);
}

static pess_status solve_on(const theorem_case *b, const pess_model *model, const pess_counts *counts,
                            const pess_solve_options *options, pess_policy **policy, double *value, pess_error *error) {
    pess_solution *solution = NULL;
    PESS_TRY(pess_solve(counts, model, b->start, options, &solution, error));
    pess_solution_info info;
    pess_solution_get_info(solution, &info);
    if (value) *value = info.value;
    pess_status status = PESS_OK;
    if (policy) {
        const pess_policy *found = pess_solution_policy(solution);
        status = pess_policy_create(found->states, found->actions, found->probability, policy, error);
    }
    pess_solution_destroy(solution);
    return status;
}

/* The policies that may stand behind an infimum: optimal, naive, least uncertain, empirical. */
static pess_status gather(theorem_case *b, pess_error *error) {
    const pess_solve_options naive = solve_options(b, "naive", 0);
    const int64_t pairs = b->model->states * b->model->actions;
    pess_policy *policy = NULL;
    PESS_TRY(solve_on(b, b->truth, NULL, &naive, &policy, &b->optimal, error));
    PESS_TRY(add_witness(b, "the optimal policy", policy, error));
    PESS_TRY(solve_on(b, b->model, NULL, &naive, &policy, NULL, error));
    PESS_TRY(add_witness(b, "the naive policy", policy, error));
    for (int64_t z = 0; z < pairs; z++) b->u[z] = -b->u[z];
    const pess_status status = solve_on(b, &b->mu_model, NULL, &naive, &policy, NULL, error);
    for (int64_t z = 0; z < pairs; z++) b->u[z] = -b->u[z];
    PESS_TRY(status);
    PESS_TRY(add_witness(b, "the least uncertain policy", policy, error));
    PESS_TRY(pess_policy_empirical(b->counts, b->model, &policy, error));
    PESS_TRY(add_witness(b, "the empirical policy", policy, error));
    return solve_on(b, &b->mu_model, NULL, &naive, NULL, &b->sup_mu, error);
}

/* ------------------------------------------------------------------------------------------------ the theorems */

/* inf over the witnesses of loss + weight·E[μ^π]. */
static void infimum(const theorem_case *b, double weight, pess_theorem_row *row) {
    row->inf_term = INFINITY;
    for (int i = 0; i < b->witness_count; i++) {
        const double term = b->witnesses[i].loss + weight * b->witnesses[i].mu;
        if (term < row->inf_term) row->inf_term = term, row->witness = b->witnesses[i].name;
    }
}

static void theorem_2(const theorem_case *b, pess_theorem_row *row) {
    infimum(b, 1, row);
    row->sup_term = b->sup_mu;
}

static void theorem_3(const theorem_case *b, double alpha, pess_theorem_row *row) {
    infimum(b, 1 + alpha, row);
    row->sup_term = (1 - alpha) * b->sup_mu;
}

/* The variant's penalty makes its value E[naive value] − α·X(π). On the MDP of uncertainties that is E[μ] − αX, so
 * E[μ] + αX = 2E[μ] − it. */
static pess_status proximal_infimum(const theorem_case *b, const pess_solve_options *options, pess_theorem_row *row,
                                    pess_error *error) {
    row->inf_term = INFINITY;
    for (int i = 0; i < b->witness_count; i++) {
        const witness *w = &b->witnesses[i];
        double penalised = 0;
        PESS_TRY(value_in(b, &b->mu_model, b->counts, w->policy, options, &penalised, error));
        const double term = w->loss + 2 * w->mu - penalised;
        if (term < row->inf_term) row->inf_term = term, row->witness = w->name;
    }
    return PESS_OK;
}

static pess_status theorem_4(const theorem_case *b, double alpha, pess_theorem_row *row, pess_error *error) {
    const pess_solve_options options = solve_options(b, "proximal", alpha);
    PESS_TRY(proximal_infimum(b, &options, row, error));
    return solve_on(b, &b->mu_model, b->counts, &options, NULL, &row->sup_term, error);
}

static pess_status theorem_density(const theorem_case *b, double alpha, pess_theorem_row *row, pess_error *error) {
    const pess_solve_options options = solve_options(b, "density-proximal", alpha);
    row->sup_term = b->sup_mu;
    return proximal_infimum(b, &options, row, error);
}

static bool same_u(void *user, const pess_counts *counts, const pess_model *model, double *u) {
    (void)counts;
    const theorem_case *b = user;
    memcpy(u, b->u, (size_t)(model->states * model->actions) * sizeof *u);
    return true;
}

/* The truth about the policy of an algorithm. That of theorem 3 subtracts the u of its bound, one number per pair
 * whatever the values are; 'ua' with a set subtracts the u of its values, of which the theorem says nothing. */
static pess_status judge(theorem_case *b, pess_theorem_row *row, pess_error *error) {
    const pess_own_uncertainty u = {sizeof u, b->options->uncertainty, same_u, b};
    pess_solve_options options = solve_options(b, row->algorithm, row->alpha);
    if (strcmp(row->algorithm, "ua") == 0) options.own_uncertainty = &u;
    pess_policy *policy = NULL;
    PESS_TRY(solve_on(b, b->model, b->counts, &options, &policy, NULL, error));
    const pess_status status = loss_of(b, policy, &row->suboptimality, error);
    pess_policy_destroy(policy);
    row->bound = row->inf_term + row->sup_term;
    row->holds = row->suboptimality <= row->bound + 1e-7 * (1 + fabs(row->bound));
    return status;
}

static pess_status fill_rows(theorem_case *b, pess_theorem_row *rows, int64_t *count, pess_error *error) {
    for (int64_t i = 0; i < b->options->alpha_count; i++) {
        const double alpha = b->options->alphas[i];
        pess_theorem_row row = {.theorem = "2 (naive)", .algorithm = "naive"};
        if (i == 0) {
            theorem_2(b, &row);
            PESS_TRY(judge(b, &row, error));
            rows[(*count)++] = row;
        }
        row = (pess_theorem_row){.theorem = "3 (uncertainty-aware)", .algorithm = "ua", .alpha = alpha};
        theorem_3(b, alpha, &row);
        PESS_TRY(judge(b, &row, error));
        rows[(*count)++] = row;
        row = (pess_theorem_row){.theorem = "4 (proximal)", .algorithm = "proximal", .alpha = alpha};
        PESS_TRY(theorem_4(b, alpha, &row, error));
        PESS_TRY(judge(b, &row, error));
        rows[(*count)++] = row;
        row = (pess_theorem_row){.theorem = "density", .algorithm = "density-proximal", .alpha = alpha};
        PESS_TRY(theorem_density(b, alpha, &row, error));
        PESS_TRY(judge(b, &row, error));
        rows[(*count)++] = row;
    }
    return PESS_OK;
}

static pess_status check(const theorem_case *b, const pess__uncertainty *uncertainty, pess_error *error) {
    const pess_theorem_options *o = b->options;
    if (!uncertainty || !uncertainty->compute)
        return pess__fail(error, PESS_ARGUMENT,
                          "the theorems need an uncertainty with one number per pair, which '%s' is not",
                          o->uncertainty);
    for (int64_t i = 0; i < o->alpha_count; i++)
        if (!(o->alphas[i] >= 0 && o->alphas[i] <= 1))
            return pess__fail(error, PESS_ARGUMENT, "the theorems are about alpha from 0 to 1, found %g", o->alphas[i]);
    if (b->truth->states != b->model->states || b->truth->actions != b->model->actions)
        return pess__fail(error, PESS_INPUT, "the process has %lld states and %lld actions, the dataset %lld and %lld",
                          (long long)b->truth->states, (long long)b->truth->actions, (long long)b->model->states,
                          (long long)b->model->actions);
    return PESS_OK;
}

static pess_status prepare(theorem_case *b, const pess__uncertainty *uncertainty, pess_error *error) {
    pess__u_problem problem = {.counts = b->counts,
                               .model = b->model,
                               .gamma = b->options->gamma,
                               .delta = b->options->delta,
                               .trajectories = b->trajectories,
                               .max_successors = b->options->max_successors,
                               .threads = pess__threads(b->options->threads)};
    pess__value_range(b->model, b->options->gamma, &problem.v_lo, &problem.v_hi);
    PESS_TRY(pess__allocate(&b->u, b->model->states * b->model->actions, sizeof *b->u, "the uncertainty", error));
    PESS_TRY(uncertainty->compute(&problem, NULL, b->u, error));
    b->mu_model = *b->model;
    b->mu_model.reward = b->u;
    b->mu_model.reward_lo = 0; /* a pair never seen has u = W and, where its row is a sink, nothing after it */
    b->mu_model.reward_hi = problem.v_hi - problem.v_lo;
    return gather(b, error);
}

pess_status pess_theorems(const pess_mdp *mdp, const pess_counts *counts, const pess_model *model, const double *start,
                          const pess_theorem_options *options, pess_theorem_row *rows, int64_t *count,
                          pess_error *error) {
    pess_theorem_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    PESS_TRY(pess__counts_need_all(counts, error));
    options = &settled;
    if (!settled.alphas) {
        settled.alphas = standard_alphas;
        settled.alpha_count = sizeof standard_alphas / sizeof *standard_alphas;
    }
    const pess__uncertainty *uncertainty = pess__uncertainty_find(options->uncertainty);
    pess_model *truth = NULL;
    PESS_TRY(pess_mdp_model(mdp, 0, &truth, error));
    theorem_case b = {.options = options,
                      .trajectories = counts->has_episodes && !options->iid,
                      .counts = counts,
                      .truth = truth,
                      .model = model,
                      .start = start};
    *count = 0;
    pess_status status = check(&b, uncertainty, error);
    if (status == PESS_OK) status = prepare(&b, uncertainty, error);
    if (status == PESS_OK) status = fill_rows(&b, rows, count, error);
    for (int i = 0; i < b.witness_count; i++) pess_policy_destroy(b.witnesses[i].policy);
    free(b.u);
    pess_model_destroy(truth);
    return status;
}
