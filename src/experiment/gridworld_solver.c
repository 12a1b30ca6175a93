/* Any algorithm on the gridworld's data, through the generic solver: counts and model of a torus dataset in the form
 * that pess_solve takes. */
#include "core/memory.h"
#include "experiment/gridworld_trials.h"
#include "model/counts.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { A = TORUS_ACTIONS };

/* Different neighbours of a cell, ascending, and the directions that lead there: on a narrow torus several do. */
typedef struct successors {
    int count;
    uint32_t next[A];
    unsigned directions[A]; /* bit d */
} successors;

static successors successors_of(const pess__torus *torus, int64_t state) {
    successors list = {0};
    for (int d = 0; d < A; d++) {
        const uint32_t next = torus->neighbour[state * A + d];
        int at = 0;
        while (at < list.count && list.next[at] < next) at++;
        if (at == list.count || list.next[at] != next) {
            for (int k = list.count++; k > at; k--) {
                list.next[k] = list.next[k - 1];
                list.directions[k] = list.directions[k - 1];
            }
            list.next[at] = next;
            list.directions[at] = 0;
        }
        list.directions[at] |= 1U << d;
    }
    return list;
}

static pess_status create_counts(const pess__torus *torus, pess_counts **out, pess_error *error) {
    pess_counts *c = NULL;
    PESS_TRY(pess__allocate(&c, 1, sizeof *c, "the counts of a trial", error));
    *out = c; /* the caller destroys it, whole or not */
    c->states = torus->states;
    c->actions = A;
    c->states_declared = c->actions_declared = true;
    c->reward_max = 1;
    return pess__counts_allocate(c, torus->states * A * A, error);
}

/* How many of n samples, `success` of which paid 1, do so among the m that moved to one successor: drawn without
 * replacement, as reward and move are independent. */
static int64_t share_successes(pess__rng *rng, int64_t n, int64_t success, int64_t m) {
    int64_t among = 0;
    for (int64_t i = 0; i < m; i++, n--) {
        const bool paid = (int64_t)pess__rng_below(rng, (uint64_t)n) < success - among;
        among += paid;
    }
    return among;
}

static void fill_pair(const pess__torus *torus, const pess__torus_counts *from, int64_t z, pess__rng *rng,
                      pess_counts *to, int64_t *used) {
    const successors list = successors_of(torus, z / A);
    int64_t left = from->pair[z], success = from->success[z];
    to->n[z] = left;
    to->n_state[z / A] += left;
    to->transitions += left;
    to->pairs_seen += left > 0;
    to->reward_sum[z] = to->reward_offset[z] = to->reward_square[z] = (double)success; /* origin 0 */
    to->row[z] = *used;
    for (int k = 0; k < list.count; k++) {
        int64_t moves = 0;
        for (int d = 0; d < A; d++) moves += (list.directions[k] >> d & 1) != 0 ? from->move[z * A + d] : 0;
        if (moves == 0) continue;
        const int64_t paid = share_successes(rng, left, success, moves);
        to->next[*used] = list.next[k];
        to->n_next[*used] = moves;
        to->next_offset[*used] = (double)paid;
        left -= moves;
        success -= paid;
        ++*used;
    }
}

/* r_D and P_D of the counts; the rewards of unseen pairs are those that every other method of the trial sees. */
static pess_status estimate(const pess_counts *counts, const pess__torus_model *torus_model, pess_model **out,
                            pess_error *error) {
    const pess_model_options options = {.size = sizeof(pess_model_options),
                                        .unseen = PESS_UNSEEN_PAPER,
                                        .reward_range = {0, 1},
                                        .return_range = {NAN, NAN}};
    PESS_TRY(pess_model_estimate(counts, &options, out, error));
    for (int64_t z = 0; z < counts->states * A; z++)
        if (counts->n[z] == 0) (*out)->reward[z] = torus_model->reward[z];
    return PESS_OK;
}

static pess_status solve(const pess__grid_plan *plan, const pess__grid_method *method, const pess_counts *counts,
                         const pess_model *model, double *policy, pess_error *error) {
    const int64_t states = plan->torus.states;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = method->algorithm;
    options.uncertainty = method->uncertainty;
    options.gamma = plan->gamma;
    const pess_algorithm_info *algorithm = pess_algorithm_find(method->algorithm);
    const char *name = method->uncertainty != NULL ? method->uncertainty : algorithm->default_uncertainty;
    const pess_uncertainty_info *uncertainty = name != NULL ? pess_uncertainty_find(name) : NULL;
    options.min_count = 10; /* of SPIBB and R-MIN, whatever the size of the log */
    if (uncertainty == NULL || uncertainty->absorbed != NULL)
        options.absorbed_alpha = method->alpha;
    else
        options.alpha = 1;
    options.clip = plan->clip && strcmp(method->algorithm, "ua") == 0 && uncertainty != NULL &&
                   strcmp(uncertainty->name, "count") == 0;
    options.max_successors = A; /* a cell's neighbours: known to whoever knows the world is a grid */
    options.threads = 1;
    double *start = NULL;
    pess_solution *solution = NULL;
    pess_status status = pess__allocate(&start, states, sizeof *start, "the start distribution", error);
    if (status == PESS_OK) status = pess_start_uniform(model, start, error);
    if (status == PESS_OK) status = pess_solve(counts, model, start, &options, &solution, error);
    for (int64_t s = 0; status == PESS_OK && s < states; s++)
        memcpy(policy + s * A, pess_policy_row(pess_solution_policy(solution), s), A * sizeof *policy);
    pess_solution_destroy(solution);
    free(start);
    return status;
}

pess_status pess__grid_solve(const pess__grid_plan *plan, const pess__grid_method *method,
                             const pess__torus_counts *from, const pess__torus_model *torus_model, uint64_t stream,
                             double *policy, pess_error *error) {
    pess_counts *counts = NULL;
    pess_model *model = NULL;
    pess_status status = create_counts(&plan->torus, &counts, error);
    if (status == PESS_OK) {
        pess__rng rng = pess__rng_stream(plan->seed, "experiment-successes", stream);
        int64_t used = 0;
        for (int64_t z = 0; z < plan->torus.states * A; z++) fill_pair(&plan->torus, from, z, &rng, counts, &used);
        counts->row[plan->torus.states * A] = used;
        status = estimate(counts, torus_model, &model, error);
    }
    if (status == PESS_OK) status = solve(plan, method, counts, model, policy, error);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    return status;
}
