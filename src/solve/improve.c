/* One sweep over all states: q = r + γPv + bonus, the local optimum, and the policy that attains it. */
#include "solve/optimise.h"

#include "core/ranges.h"
#include "core/sparse_row.h"
#include "model/spread.h"
#include "solve/check.h"
#include "solve/packed.h"

#include <math.h>
#include <string.h>

/* Where states are swept one after the other: the last entry of the model's rows. */
static int64_t last_entry(const pess_model *model) {
    return model->states >= PESS__FETCH_FROM ? model->row[model->states * model->actions] - 1 : PESS__FETCH_NONE;
}

/* q(s,·) [A] = r + γPv + bonus; -infinity where there is no such action. last: last_entry, or PESS__FETCH_NONE. */
static inline void q_row(const pess_model *model, const pess__shared_rows *shared, const double *bonus, double gamma,
                         double v_lo, double mean, const double *v, int64_t last, int64_t s, double *q) {
    const int64_t first = s * model->actions;
    for (int64_t a = 0; a < model->actions; a++) {
        const int64_t z = first + a;
        double future = 0;
        switch ((pess_row_kind)model->kind[z]) {
            case PESS_ROW_SPARSE:
                future = shared != NULL ? shared->product[shared->row[z]]
                                        : pess__row_product_ahead(model->probability, model->next, v, model->row[z],
                                                                  model->row[z + 1], last);
                break;
            case PESS_ROW_UNIFORM: future = mean; break;
            case PESS_ROW_SINK: future = v_lo; break;
            case PESS_ROW_NONE: future = -INFINITY; break;
        }
        q[a] = model->kind[z] == PESS_ROW_NONE ? -INFINITY
                                               : model->reward[z] + gamma * future + (bonus != NULL ? bonus[z] : 0.0);
    }
}

double pess__solver_mean(const pess__solver *solver) {
    return solver->any_uniform ? pess__sum(solver->states, solver->v) / (double)solver->states : 0.0;
}

void pess__q_values(const pess__problem *problem, const double *bonus, const double *v, double *q) {
    const pess_model *model = problem->model;
    const int64_t here = model->spread != NULL ? model->spread->own : model->states;
    const double mean = pess__sum_of_all(model->spread, pess__sum(here, v)) / (double)pess__all_states(model);
    const int threads = model->states * model->actions >= 65536 ? problem->threads : 1;
    const int64_t last = last_entry(model);
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(static)
    for (int64_t s = 0; s < model->states; s++)
        q_row(model, NULL, bonus, problem->options->gamma, problem->v_lo, mean, v, last, s, q + s * model->actions);
}

pess_status pess_q_values(const pess_model *model, double gamma, const double *values, double *out, pess_error *error) {
    pess_solve_options options = pess_solve_options_defaults();
    options.gamma = gamma;
    pess_solve_options settled;
    PESS_TRY(pess__solve_settle(&options, &settled, error));
    pess__problem problem = {.model = model, .options = &settled, .endless = -1, .threads = 1};
    pess__value_range(model, gamma, &problem.v_lo, &problem.v_hi);
    pess__q_values(&problem, NULL, values, out);
    return PESS_OK;
}

static inline double largest_of(const double *q, int64_t actions) {
    double best = q[0];
    for (int64_t a = 1; a < actions; a++) best = q[a] > best ? q[a] : best;
    return best;
}

int64_t pess__greedy_action(const double *q, int64_t actions) {
    const double best = largest_of(q, actions);
    int64_t a = 0;
    while (a + 1 < actions && !(q[a] >= best - PESS__TIE)) a++;
    return a;
}

/* The largest entry, the first where several are equal. */
static inline int64_t argmax(const double *q, int64_t actions) {
    int64_t best = 0;
    for (int64_t a = 1; a < actions; a++)
        if (q[a] > q[best]) best = a;
    return best;
}

/* Greedy algorithms; returns the maximum and whether the choice changed. */
static inline double improve_choice(pess__solver *solver, int64_t s, const double *q, pess__switching switching,
                                    double threshold, int64_t *changed) {
    const double best = largest_of(q, solver->actions);
    int32_t *choice = solver->choice + s;
    int64_t chosen = *choice;
    if (switching == PESS__SWITCH_ALWAYS)
        chosen = pess__greedy_action(q, solver->actions);
    else if (switching == PESS__SWITCH_GAINS && (*choice < 0 || best > q[*choice] + threshold))
        chosen = argmax(q, solver->actions);
    if (chosen != *choice) {
        *choice = (int32_t)chosen;
        ++*changed;
    }
    return best;
}

/* Σ_a π(a)q(a) − penalty(π) */
static double local_value(const pess__local *local, int64_t s, const double *q, const double *pi, int64_t actions) {
    double sum = 0;
    for (int64_t a = 0; a < actions; a++)
        if (pi[a] > 0) sum += pi[a] * q[a];
    return local->penalty != NULL ? sum - local->penalty(local->context, s, pi) : sum;
}

/* Algorithms with a local problem of their own; the same. */
static double improve_row(pess__solver *solver, int64_t s, const double *q, double *row, pess__switching switching,
                          double threshold, int64_t *changed) {
    const pess__local *local = solver->local;
    const size_t bytes = (size_t)solver->actions * sizeof *row;
    double *pi = solver->pi + s * solver->actions;
    memset(row, 0, bytes);
    const double best = local->improve(local->context, s, q, row);
    bool take = switching == PESS__SWITCH_ALWAYS;
    if (switching == PESS__SWITCH_GAINS)
        take =
            local_value(local, s, q, row, solver->actions) > local_value(local, s, q, pi, solver->actions) + threshold;
    if (take && memcmp(pi, row, bytes) != 0) {
        memcpy(pi, row, bytes);
        ++*changed;
    }
    return best;
}

/* (Tv)(s) = max_π Σ_a π(a)q(s,a) − penalty_s(π) of a state that is not terminal, counted into `sweep`. */
static inline double improve_by(pess__solver *solver, const pess__improving *how, int64_t s, const double *q,
                                double *row, pess__sweep *sweep) {
    const double best = solver->choice != NULL
                            ? improve_choice(solver, s, q, how->switching, how->threshold, &sweep->changed)
                            : improve_row(solver, s, q, row, how->switching, how->threshold, &sweep->changed);
    const double size = fabs(best - solver->v[s]);
    if (size > sweep->residual) sweep->residual = size;
    if (fabs(best) > sweep->scale) sweep->scale = fabs(best);
    return best;
}

static inline double improve_state(pess__solver *solver, const pess__improving *how, int64_t last, int64_t s, double *q,
                                   double *row, const pess__shared_rows *shared, pess__sweep *sweep) {
    if (solver->model->terminal[s]) return 0;
    q_row(solver->model, shared, solver->local->bonus, solver->gamma, solver->problem->v_lo, how->mean, solver->v, last,
          s, q);
    return improve_by(solver, how, s, q, row, sweep);
}

double pess__improve_state(pess__solver *solver, const pess__improving *how, int64_t s, pess__sweep *sweep) {
    return improve_state(solver, how, PESS__FETCH_NONE, s, solver->q, solver->row, NULL, sweep);
}

/* ------------------------------------------------------------------------------------------------ all states */

typedef struct shared_out {
    pess__solver *solver;
    pess__improving how;
} shared_out;

int64_t pess__sweep_block(int64_t actions) {
    const int64_t slices = 128 / (PESS__SLICE * actions);
    return PESS__SLICE * (slices > 1 ? slices : 1);
}

/* From the packed rows, q of a block of states at a time. */
static void improve_packed(const shared_out *x, int64_t from, int64_t to, double *q, double *row, pess__sweep *sweep) {
    pess__solver *solver = x->solver;
    const int64_t actions = solver->actions, block = pess__sweep_block(actions);
    for (int64_t first = from; first < to; first += block) {
        const int64_t end = to - first < block ? to : first + block;
        pess__packed_q(solver->packed, solver->gamma, solver->v, first * actions / PESS__SLICE,
                       (end * actions + PESS__SLICE - 1) / PESS__SLICE, q);
        for (int64_t s = first; s < end; s++)
            solver->tv[s] =
                solver->model->terminal[s] ? 0 : improve_by(solver, &x->how, s, q + (s - first) * actions, row, sweep);
    }
}

/* Groups of PESS__SLICE states, so that slices of pairs are not cut. */
static void improve_groups(void *context, int64_t from, int64_t to, int part) {
    const shared_out *x = context;
    pess__solver *solver = x->solver;
    double *q = solver->q + part * pess__apart(solver->room, sizeof(double));
    double *row = solver->row + part * pess__apart(solver->actions, sizeof(double));
    const int64_t first = from * PESS__SLICE, past = to * PESS__SLICE;
    const int64_t end = past < solver->states ? past : solver->states, last = last_entry(solver->model);
    pess__sweep sweep = {0};
    if (solver->packed != NULL)
        improve_packed(x, first, end, q, row, &sweep);
    else
        for (int64_t s = first; s < end; s++)
            solver->tv[s] = improve_state(solver, &x->how, last, s, q, row, solver->shared, &sweep);
    solver->part[part] = sweep;
}

static void multiply_shared(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const pess__solver *solver = context;
    const pess_model *model = solver->model;
    for (int64_t i = from; i < to; i++) {
        const int64_t z = solver->shared->pair[i];
        solver->shared->product[i] =
            pess__row_product(model->probability, model->next, solver->v, model->row[z], model->row[z + 1]);
    }
}

pess__sweep pess__improve(pess__solver *solver, pess__switching switching, double threshold) {
    shared_out x = {solver, {switching, threshold, pess__solver_mean(solver)}};
    solver->v[solver->states] = x.how.mean;
    solver->v[solver->states + 1] = solver->problem->v_lo;
    pess__solver_pack(solver);
    if (solver->shared != NULL) pess__ranges(solver->threads, solver->shared->rows, multiply_shared, solver);
    pess__ranges(solver->threads, (solver->states + PESS__SLICE - 1) / PESS__SLICE, improve_groups, &x);
    pess__sweep total = {0};
    for (int t = 0; t < solver->threads; t++) {
        const pess__sweep *part = solver->part + t;
        if (part->residual > total.residual) total.residual = part->residual;
        if (part->scale > total.scale) total.scale = part->scale;
        total.changed += part->changed;
    }
    if (total.changed > 0) solver->filled = PESS__FILLED_NOT;
    solver->chain->moved += total.changed;
    return total;
}
