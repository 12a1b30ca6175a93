/* Building the ambiguity sets, and the uncertainty that follows from them. */
#include "uncertainty/sets.h"
#include "core/threads.h"

#include "core/memory.h"
#include "model/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The row of the model must be the one that the counts give, and show no more successors than were declared. */
static pess_status check_row(const pess__u_problem *problem, int64_t pair, pess_error *error) {
    const pess_counts *counts = problem->counts;
    const pess_model *model = problem->model;
    const int64_t seen = counts->row[pair + 1] - counts->row[pair], actions = model->actions;
    if (model->kind[pair] != PESS_ROW_SPARSE || model->row[pair + 1] - model->row[pair] != seen)
        return pess__fail(
            error, PESS_ARGUMENT,
            "the model was not estimated from these counts: they differ in the next states of state %lld, "
            "action %lld",
            (long long)(pair / actions), (long long)(pair % actions));
    return pess__u_check_successors(problem, pair, seen, error);
}

static pess__set_facts facts_of(const pess__u_problem *problem, int64_t pair) {
    const pess_counts *counts = problem->counts;
    const int64_t states = problem->max_successors > 0 ? problem->max_successors : pess__all_states(problem->model);
    pess__set_facts facts = {.n = (double)counts->n[pair],
                             .seen = (double)(counts->row[pair + 1] - counts->row[pair]),
                             .possible = (double)states + (problem->model->has_terminals ? 1 : 0),
                             .log_pairs = pess__u_log_pairs(problem, problem->delta / 2, counts->n[pair])};
    for (int64_t i = counts->row[pair]; i < counts->row[pair + 1]; i++)
        if (counts->n_next[i] == 1) facts.singletons += 1;
    if (counts->n_terminal[pair] > 0) facts.seen += 1;
    if (counts->n_terminal[pair] == 1) facts.singletons += 1;
    return facts;
}

static pess__set_pair pair_of(const pess__u_problem *problem, int64_t pair, pess__set_bound *bound, double scale) {
    const pess_counts *counts = problem->counts;
    const pess_model *model = problem->model;
    const double range = model->reward_hi - model->reward_lo;
    const int64_t states = problem->max_successors > 0 ? problem->max_successors : pess__all_states(model);
    pess__set_pair set = {.reward_width = range, .ball = 2, .unseen = 1, .seen_ball = INFINITY};
    set.end_open = model->has_terminals && counts->n_terminal[pair] == 0;
    set.state_open = counts->row[pair + 1] - counts->row[pair] < states;
    if (counts->n[pair] > 0) {
        const pess__set_facts facts = facts_of(problem, pair);
        bound(&facts, &set);
        set.reward_width = range * sqrt((log(2) + facts.log_pairs) / (2 * facts.n));
    }
    set.reward_width = scale * fmin(set.reward_width, range);
    set.unseen = scale * fmin(set.unseen, 1);
    if (isfinite(set.ball)) set.ball = scale * fmin(set.ball, 2);
    if (isfinite(set.seen_ball)) set.seen_ball = scale * fmin(set.seen_ball, 2);
    return set;
}

static pess_status fill(pess__set *set, pess__set_bound *bound, double scale, pess_error *error) {
    const pess__u_problem *problem = &set->problem;
    const pess_model *model = problem->model;
    const int64_t pairs = model->states * model->actions;
    PESS_TRY(pess__allocate(&set->pairs, pairs, sizeof *set->pairs, "the ambiguity sets", error));
    for (int64_t z = 0; z < pairs; z++) {
        if (problem->counts->n[z] > 0) PESS_TRY(check_row(problem, z, error));
        if (model->row[z + 1] - model->row[z] > set->longest) set->longest = model->row[z + 1] - model->row[z];
    }
#pragma omp parallel for num_threads(problem->threads) schedule(static) if (pairs > 4096)
    for (int64_t z = 0; z < pairs; z++)
        if (model->kind[z] != PESS_ROW_NONE) set->pairs[z] = pair_of(problem, z, bound, scale);
    return PESS_OK;
}

pess_status pess__set_build(const pess__u_problem *problem, const char *name, double scale, pess__set **out,
                            pess_error *error) {
    PESS_TRY(pess__u_check_counts(problem, error));
    const pess__uncertainty *uncertainty = pess__uncertainty_find(name);
    if (uncertainty == NULL || uncertainty->set_of == NULL)
        return pess__fail(error, PESS_ARGUMENT, "the uncertainty '%s' is not a set of transition rows", name);
    pess__set *set;
    PESS_TRY(pess__allocate(&set, 1, sizeof *set, "the ambiguity sets", error));
    set->problem = *problem;
    const pess_status status = fill(set, uncertainty->set_of, scale, error);
    if (status != PESS_OK) {
        pess__set_destroy(set);
        return status;
    }
    *out = set;
    return PESS_OK;
}

void pess__set_destroy(pess__set *set) {
    if (!set) return;
    free(set->pairs);
    free(set);
}

pess__extremes pess__value_extremes(const pess_model *model, const double *v) {
    pess__extremes extremes = {INFINITY, -INFINITY, -1, -1};
    if (model->spread != NULL) return model->spread->extremes(model->spread, model, v);
    for (int64_t s = 0; s < model->states; s++) {
        if (model->terminal[s]) continue;
        if (v[s] < extremes.lo) extremes.lo = v[s], extremes.lo_state = s;
        if (v[s] > extremes.hi) extremes.hi = v[s], extremes.hi_state = s;
    }
    return extremes;
}

double pess__set_variation(const pess__set_pair *pair) {
    const double mass = pair->state_open || pair->end_open ? pair->unseen : 0;
    return fmin(pair->ball / 2, mass + (1 - mass) * pair->seen_ball / 2);
}

bool pess__set_contains(const pess__set *set, int64_t pair, const double *next, double end) {
    const pess_model *model = set->problem.model;
    const pess__set_pair *limits = &set->pairs[pair];
    double seen = model->end_mass[pair] > 0 ? end : 0;
    for (int64_t i = model->row[pair]; i < model->row[pair + 1]; i++) seen += next[model->next[i]];
    double away = fabs(end - model->end_mass[pair]) - end, conditional = 0;
    if (model->end_mass[pair] > 0 && seen > 0) conditional += fabs(end / seen - model->end_mass[pair]);
    for (int64_t i = model->row[pair]; i < model->row[pair + 1]; i++) {
        const double p = next[model->next[i]];
        away += fabs(p - model->probability[i]) - p;
        if (seen > 0) conditional += fabs(p / seen - model->probability[i]);
    }
    /* What is not in the row counts with its whole mass: away holds |P−P_D| − P over the row, and ΣP = 1. */
    const double slack = 1e-12;
    return away + 1 <= limits->ball + slack && 1 - seen <= limits->unseen + slack &&
           (seen == 0 || conditional <= limits->seen_ball + slack);
}

static pess_status compute_values(const pess__set *set, const double *v, double *u, pess_error *error) {
    const pess__u_problem *problem = &set->problem;
    const pess_model *model = problem->model;
    const int64_t pairs = model->states * model->actions;
    const double width = problem->v_hi - problem->v_lo;
    const pess__extremes extremes = pess__value_extremes(model, v);
    pess__set_scratch *scratch;
    PESS_TRY(pess__set_scratch_create(set, problem->threads, &scratch, error));
#pragma omp parallel num_threads(problem->threads) if (pairs > 1024)
    {
        pess__set_scratch *own = &scratch[omp_get_thread_num()];
#pragma omp for schedule(static)
        for (int64_t z = 0; z < pairs; z++) {
            double centre;
            if (model->kind[z] == PESS_ROW_NONE) {
                u[z] = 0;
            } else if (problem->counts->n[z] == 0) {
                u[z] = width;
            } else {
                const double worst = pess__set_worst(set, z, v, &extremes, own, &centre);
                u[z] = fmin(set->pairs[z].reward_width + problem->gamma * (centre - worst), width);
            }
        }
    }
    pess__set_scratch_destroy(scratch);
    return PESS_OK;
}

/* |γ(P − P_D)v| ≤ γ·TV(P, P_D)·span(v), and no span is larger than W. */
static void compute_without(const pess__set *set, double *u) {
    const pess__u_problem *problem = &set->problem;
    const int64_t pairs = problem->model->states * problem->model->actions;
    const double width = problem->v_hi - problem->v_lo;
    for (int64_t z = 0; z < pairs; z++) {
        const pess__set_pair *pair = &set->pairs[z];
        if (problem->model->kind[z] == PESS_ROW_NONE)
            u[z] = 0;
        else if (problem->counts->n[z] == 0)
            u[z] = width;
        else
            u[z] = fmin(pair->reward_width + problem->gamma * pess__set_variation(pair) * width, width);
    }
}

pess_status pess__set_compute(const pess__u_problem *problem, const char *name, const double *v, double *u,
                              pess_error *error) {
    if (!v) PESS_TRY(pess__u_check_range(problem, error));
    pess__set *set;
    PESS_TRY(pess__set_build(problem, name, 1, &set, error));
    pess_status status = PESS_OK;
    if (v)
        status = compute_values(set, v, u, error);
    else
        compute_without(set, u);
    pess__set_destroy(set);
    return status;
}
