/* Where one more sample helps most: the value uncertainty of a policy, E_ρ[μ^π] = Σ d(s)π(a|s)u(s,a), pair by pair. */
#include "core/memory.h"
#include "core/threads.h"
#include "model/counts.h"
#include "model/model.h"
#include "policy/policy.h"
#include "solve/check.h"
#include "solve/visits.h"
#include "uncertainty/uncertainty.h"

#include <math.h>
#include <stdlib.h>

static int compare_gaps(const void *left, const void *right) {
    const pess_gap *a = left, *b = right;
    if (a->gain != b->gain) return a->gain > b->gain ? -1 : 1;
    if (a->share != b->share) return a->share > b->share ? -1 : 1;
    if (a->state != b->state) return a->state < b->state ? -1 : 1;
    return (a->action > b->action) - (a->action < b->action);
}

/* Keeps the best `top` in a list that is sorted now and then. */
static void keep(pess_gap *list, int64_t *count, int64_t room, int64_t top, pess_gap gap) {
    if (*count == room) {
        qsort(list, (size_t)*count, sizeof *list, compare_gaps);
        *count = top;
    }
    list[(*count)++] = gap;
}

/* u falls as 1/√n, so one more sample takes u(1 − √(n/(n+1))) off; a first one takes u from W to what one sample
 * leaves, `first`. */
static double gain_of(double u, int64_t n, double first) {
    return n > 0 ? u * (1 - sqrt((double)n / ((double)n + 1))) : fmax(u - first, 0);
}

static double first_sample(const pess_counts *counts, const double *u, double width) {
    double sum = 0;
    int64_t seen = 0;
    for (int64_t z = 0; z < counts->states * counts->actions; z++)
        if (counts->n[z] > 0) sum += u[z] * sqrt((double)counts->n[z]), seen++;
    return seen > 0 ? fmin(sum / (double)seen, width) : width;
}

static pess_status list_gaps(const pess__u_problem *problem, const double *visits, const double *u, int64_t top,
                             pess_gap *out, int64_t *found, double *value_uncertainty, pess_error *error) {
    const pess_counts *counts = problem->counts;
    const int64_t room = 2 * top + 64;
    const double first = first_sample(counts, u, problem->v_hi - problem->v_lo);
    pess_gap *list;
    PESS_TRY(pess__allocate(&list, room, sizeof *list, "the list of gaps", error));
    int64_t count = 0;
    double whole = 0;
    for (int64_t z = 0; z < counts->states * counts->actions; z++) {
        const double weight = visits[z];
        if (!(weight > 0)) continue;
        whole += weight * u[z];
        keep(list, &count, room, top,
             (pess_gap){.state = z / counts->actions,
                        .action = z % counts->actions,
                        .count = counts->n[z],
                        .visits = weight,
                        .uncertainty = u[z],
                        .share = weight * u[z],
                        .gain = weight * gain_of(u[z], counts->n[z], first)});
    }
    qsort(list, (size_t)count, sizeof *list, compare_gaps);
    *found = count < top ? count : top;
    for (int64_t i = 0; i < *found; i++) {
        out[i] = list[i];
        out[i].share = whole > 0 ? list[i].share / whole : 0;
    }
    if (value_uncertainty) *value_uncertainty = whole;
    free(list);
    return PESS_OK;
}

pess_status pess_gaps(const pess_counts *counts, const pess_model *model, const double *start,
                      const pess_policy *policy, const pess_solve_options *options, int64_t top, pess_gap *out,
                      int64_t *found, double *value_uncertainty, pess_error *error) {
    pess_solve_options settled;
    PESS_TRY(pess__solve_settle(options, &settled, error));
    options = &settled;
    const char *name = options->uncertainty ? options->uncertainty : "hoeffding";
    const pess__uncertainty *uncertainty = pess__uncertainty_find(name);
    if (!uncertainty || !uncertainty->compute)
        return pess__fail(error, PESS_ARGUMENT,
                          "the gaps need an uncertainty with one number per pair, which '%s' is not", name);
    if (!uncertainty->pairs_alone) PESS_TRY(pess__counts_need_all(counts, error));
    if (top < 1) return pess__fail(error, PESS_ARGUMENT, "at least one gap must be asked for");
    pess__u_problem problem = {.counts = counts,
                               .model = model,
                               .gamma = options->gamma,
                               .delta = options->delta,
                               .trajectories = counts->has_episodes && !options->iid,
                               .max_successors = options->max_successors,
                               .threads = pess__threads(options->threads)};
    PESS_TRY(pess__value_range_checked(model, options->gamma, &problem.v_lo, &problem.v_hi, error));
    if (options->horizon > 0)
        pess__horizon_range(model, options->gamma, options->horizon, &problem.v_lo, &problem.v_hi);
    PESS_TRY(pess__check_policy(model, policy, options->horizon, error));
    PESS_TRY(pess__u_check_range(&problem, error));
    double *visits = NULL, *u = NULL;
    pess_status status = pess__allocate(&visits, counts->states * counts->actions, sizeof *visits, "visits", error);
    if (status == PESS_OK)
        status = pess__allocate(&u, counts->states * counts->actions, sizeof *u, "the uncertainty", error);
    if (status == PESS_OK) status = uncertainty->compute(&problem, NULL, u, error);
    if (status == PESS_OK) status = pess__pair_visits(model, start, policy, options, visits, error);
    if (status == PESS_OK) status = list_gaps(&problem, visits, u, top, out, found, value_uncertainty, error);
    free(visits);
    free(u);
    return status;
}
