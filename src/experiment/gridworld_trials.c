#include "experiment/gridworld_trials.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { A = TORUS_ACTIONS, CHUNK = 32 }; /* cases whose models are in memory at a time */

#define SLIP 0.2

/* One dataset in memory, and a slot per method for what it needs. */
typedef struct dataset {
    pess__torus_model model;
    double *imitation, *root; /* [S*4] */
    double *reward;           /* [methods*S*4] penalised rewards, where the method has its own */
    double *policy;           /* [methods*S*4] */
} dataset;

struct pess__grid_workspace {
    double *memory;
    pess__torus_solver solver;
    pess__torus_model truth[GRID_BLOCK];
    double *best[GRID_BLOCK];        /* [S*4] optimal policy of the trial */
    double *best_values[GRID_BLOCK]; /* [S] */
    double best_value[GRID_BLOCK], random_value[GRID_BLOCK];
    double *collecting[PESS__LANES]; /* [S*4] policies whose stationary law is wanted */
    double *law;                     /* [cases*S] states of the data, of one trial */
    double *weight;                  /* [S*4] the collecting policy */
    double *cumulative;              /* [S*4+1] probabilities of the pairs before each pair */
    double *uniform;                 /* [S*4] the random policy */
    pess__torus_counts counts;
    dataset data[CHUNK];
    pess__torus_job *jobs; /* [CHUNK*methods] */
};

pess_status pess__grid_plan_prepare(pess__grid_plan *plan, int64_t rows, int64_t cols, pess_error *error) {
    PESS_TRY(pess__torus_create(rows, cols, SLIP, &plan->torus, error));
    const pess_status status =
        pess__lanes_plan_create(plan->torus.states, plan->torus.neighbour, &plan->elimination, error);
    if (status != PESS_OK) pess__torus_destroy(&plan->torus);
    return status;
}

void pess__grid_plan_release(pess__grid_plan *plan) {
    pess__torus_destroy(&plan->torus);
    pess__lanes_plan_destroy(plan->elimination);
    plan->elimination = NULL;
}

/* ---- workspace: one allocation, handed out piece by piece; a first pass over the same code finds its size */

typedef struct pieces {
    double *base; /* NULL while sizes are added up */
    int64_t used;
} pieces;

static double *take(pieces *p, int64_t doubles) {
    double *at = p->base != NULL ? p->base + p->used : NULL;
    p->used += (doubles + 3) / 4 * 4;
    return at;
}

static pess__torus_model take_model(pieces *p, int64_t states) {
    pess__torus_model model;
    model.probability = take(p, states * A * A);
    model.reward = take(p, states * A);
    model.unseen = take(p, states * A);
    return model;
}

static void hand_out(const pess__grid_plan *plan, pess__grid_workspace *workspace, pieces *p) {
    const int64_t states = plan->torus.states, pairs = states * A;
    const int64_t chunk = plan->case_count < CHUNK ? plan->case_count : CHUNK;
    for (int64_t i = 0; i < GRID_BLOCK; i++) {
        workspace->truth[i] = take_model(p, states);
        workspace->best[i] = take(p, pairs);
        workspace->best_values[i] = take(p, states);
    }
    for (int64_t i = 0; i < PESS__LANES; i++) workspace->collecting[i] = take(p, pairs);
    workspace->law = take(p, plan->case_count * states);
    workspace->weight = take(p, pairs);
    workspace->cumulative = take(p, pairs + 1);
    workspace->uniform = take(p, pairs);
    workspace->counts.pair = (int64_t *)(void *)take(p, pairs);
    workspace->counts.success = (int64_t *)(void *)take(p, pairs);
    workspace->counts.move = (int64_t *)(void *)take(p, pairs * A);
    for (int64_t i = 0; i < chunk; i++) {
        dataset *data = &workspace->data[i];
        data->model = take_model(p, states);
        data->imitation = take(p, pairs);
        data->root = take(p, pairs);
        data->reward = take(p, plan->method_count * pairs);
        data->policy = take(p, plan->method_count * pairs);
    }
}

pess_status pess__grid_workspace_create(const pess__grid_plan *plan, pess__grid_workspace **out, pess_error *error) {
    pess__grid_workspace *workspace = NULL;
    PESS_TRY(pess__allocate(&workspace, 1, sizeof *workspace, "a block of trials", error));
    pieces p = {0};
    hand_out(plan, workspace, &p);
    pess_status status =
        pess__allocate(&workspace->memory, p.used, sizeof *workspace->memory, "a block of trials", error);
    if (status == PESS_OK)
        status = pess__allocate(&workspace->jobs, CHUNK * plan->method_count, sizeof *workspace->jobs,
                                "a block of trials", error);
    if (status == PESS_OK)
        status = pess__torus_solver_create(&plan->torus, plan->elimination, plan->gamma, &workspace->solver, error);
    if (status != PESS_OK) {
        pess__grid_workspace_destroy(workspace);
        return status;
    }
    p = (pieces){.base = workspace->memory};
    hand_out(plan, workspace, &p);
    for (int64_t z = 0; z < plan->torus.states * A; z++) workspace->uniform[z] = 1.0 / A;
    *out = workspace;
    return PESS_OK;
}

void pess__grid_workspace_destroy(pess__grid_workspace *workspace) {
    if (workspace == NULL) return;
    pess__torus_solver_destroy(&workspace->solver);
    free(workspace->jobs);
    free(workspace->memory);
    free(workspace);
}

/* ---- the trial's world: true model, optimal policy, where the data's states come from */

static void draw_worlds(const pess__grid_plan *plan, pess__grid_workspace *workspace, int64_t first, int64_t count) {
    pess__torus_job jobs[2 * GRID_BLOCK];
    for (int64_t i = 0; i < count; i++) {
        pess__rng rng = pess__rng_stream(plan->seed, "experiment-world", (uint64_t)(first + i));
        pess__torus_draw(&plan->torus, plan->beta_a, plan->beta_b, &rng, &workspace->truth[i]);
        jobs[i] = (pess__torus_job){.kind = TORUS_GREEDY,
                                    .model = &workspace->truth[i],
                                    .reward = workspace->truth[i].reward,
                                    .policy = workspace->best[i],
                                    .values = workspace->best_values[i]};
        jobs[count + i] =
            (pess__torus_job){.kind = TORUS_EVALUATE, .truth = &workspace->truth[i], .policy = workspace->uniform};
    }
    pess__torus_run_jobs(&workspace->solver, jobs, 2 * count);
    for (int64_t i = 0; i < count; i++) {
        workspace->best_value[i] = jobs[i].value;
        workspace->random_value[i] = jobs[count + i].value;
    }
}

/* ε-greedy: (1-ε)π* + ε/4 */
static void soften(const pess__grid_plan *plan, const double *best, double epsilon, double *out) {
    for (int64_t z = 0; z < plan->torus.states * A; z++) out[z] = (1 - epsilon) * best[z] + epsilon / A;
}

/* The law of the data's states for every case of one trial; equal ε share one. */
static void find_laws(const pess__grid_plan *plan, pess__grid_workspace *workspace, int64_t trial) {
    const int64_t states = plan->torus.states;
    if (!plan->stationary) {
        for (int64_t i = 0; i < plan->case_count * states; i++) workspace->law[i] = 1 / (double)states;
        return;
    }
    const pess__torus_model *truth[PESS__LANES];
    const double *policy[PESS__LANES];
    double *law[PESS__LANES];
    int64_t waiting = 0;
    for (int64_t c = 0; c < plan->case_count; c++) {
        if (c == 0 || plan->cases[c].epsilon != plan->cases[c - 1].epsilon) {
            soften(plan, workspace->best[trial], plan->cases[c].epsilon, workspace->collecting[waiting]);
            truth[waiting] = &workspace->truth[trial];
            policy[waiting] = workspace->collecting[waiting];
            law[waiting++] = workspace->law + c * states;
        }
        if (waiting == PESS__LANES || (c == plan->case_count - 1 && waiting > 0)) {
            pess__torus_stationary(&workspace->solver, waiting, truth, policy, law);
            waiting = 0;
        }
    }
    for (int64_t c = 1; c < plan->case_count; c++)
        if (plan->cases[c].epsilon == plan->cases[c - 1].epsilon)
            memcpy(workspace->law + c * states, workspace->law + (c - 1) * states,
                   (size_t)states * sizeof *workspace->law);
}

/* ---- one case: its dataset and what the methods make of it */

/* UA: r_D − α·u with u = 1/√n. Clipped to [0,1] as in the authors' code, or with u capped at W = 1/(1-γ). */
static void penalise(const pess__grid_plan *plan, const dataset *data, double alpha, double *out) {
    const double width = 1 / (1 - plan->gamma);
    for (int64_t z = 0; z < plan->torus.states * A; z++) {
        const double u = data->root[z], capped = plan->clip || u < width ? u : width;
        const double penalty = alpha == 0 ? 0 : alpha * capped; /* 0·∞ is no penalty */
        const double left = data->model.reward[z] - penalty;    /* at most 1 as it is */
        out[z] = plan->clip && left < 0 ? 0 : left;
    }
}

static pess_status prepare_job(const pess__grid_plan *plan, pess__grid_workspace *workspace, int64_t trial,
                               uint64_t stream, int64_t m, dataset *data, pess__torus_job *job, pess_error *error) {
    const pess__grid_method *method = &plan->methods[m];
    const int64_t pairs = plan->torus.states * A;
    double *reward = data->reward + m * pairs, *policy = data->policy + m * pairs;
    *job = (pess__torus_job){.kind = TORUS_EVALUATE,
                             .model = &data->model,
                             .reward = data->model.reward,
                             .imitation = data->imitation,
                             .alpha = method->alpha,
                             .guess = workspace->best_values[trial],
                             .truth = &workspace->truth[trial],
                             .policy = policy};
    switch (method->kind) {
        case GRID_IMITATION: job->policy = data->imitation; break;
        case GRID_NAIVE: job->kind = TORUS_GREEDY; break;
        case GRID_UA:
            job->kind = TORUS_GREEDY;
            penalise(plan, data, method->alpha, reward);
            job->reward = reward;
            break;
        case GRID_PROXIMAL: job->kind = TORUS_PROXIMAL; break;
        case GRID_SOLVER:
            return pess__grid_solve(plan, method, &workspace->counts, &data->model, stream, policy, error);
        case GRID_RANDOM:
        case GRID_OPTIMAL: break;
    }
    return PESS_OK;
}

/* The random and the optimal policy do not look at data: no job. */
static bool is_constant(const pess__grid_method *method) {
    return method->kind == GRID_RANDOM || method->kind == GRID_OPTIMAL;
}

static pess_status prepare_case(const pess__grid_plan *plan, pess__grid_workspace *workspace, int64_t number,
                                int64_t trial, int64_t c, dataset *data, int64_t *jobs, pess_error *error) {
    const int64_t states = plan->torus.states;
    const pess__grid_case *grid_case = &plan->cases[c];
    soften(plan, workspace->best[trial], grid_case->epsilon, workspace->weight);
    workspace->cumulative[0] = 0;
    for (int64_t z = 0; z < states * A; z++)
        workspace->cumulative[z + 1] =
            workspace->cumulative[z] + workspace->weight[z] * workspace->law[c * states + z / A];
    /* a stream of its own for every dataset, whatever the number of cases */
    const uint64_t index = (uint64_t)number << 20 | (uint64_t)c;
    pess__rng rng = pess__rng_stream(plan->seed, "experiment-data", index);
    pess__rng unseen = pess__rng_stream(plan->seed, "experiment-unseen", index);
    pess__torus_sample(&plan->torus, &workspace->truth[trial], workspace->cumulative, grid_case->transitions, &rng,
                       &workspace->counts);
    pess__torus_estimate(&plan->torus, &workspace->counts, &unseen, &data->model, data->imitation, data->root);
    for (int64_t m = 0; m < plan->method_count; m++)
        if (!is_constant(&plan->methods[m]))
            PESS_TRY(prepare_job(plan, workspace, trial, index, m, data, &workspace->jobs[(*jobs)++], error));
    return PESS_OK;
}

static pess_status run_trial(const pess__grid_plan *plan, pess__grid_workspace *workspace, int64_t number,
                             int64_t trial, double *out, pess_error *error) {
    find_laws(plan, workspace, trial);
    for (int64_t begin = 0; begin < plan->case_count; begin += CHUNK) {
        const int64_t end = begin + CHUNK < plan->case_count ? begin + CHUNK : plan->case_count;
        int64_t jobs = 0, done = 0;
        for (int64_t c = begin; c < end; c++)
            PESS_TRY(prepare_case(plan, workspace, number, trial, c, &workspace->data[c - begin], &jobs, error));
        pess__torus_run_jobs(&workspace->solver, workspace->jobs, jobs);
        for (int64_t i = begin * plan->method_count; i < end * plan->method_count; i++) {
            const pess__grid_method *method = &plan->methods[i % plan->method_count];
            out[i] = method->kind == GRID_RANDOM    ? workspace->random_value[trial]
                     : method->kind == GRID_OPTIMAL ? workspace->best_value[trial]
                                                    : workspace->jobs[done++].value;
        }
    }
    return PESS_OK;
}

pess_status pess__grid_block(const pess__grid_plan *plan, pess__grid_workspace *workspace, int64_t first, int64_t count,
                             double *out, pess_error *error) {
    draw_worlds(plan, workspace, first, count);
    for (int64_t i = 0; i < count; i++)
        PESS_TRY(run_trial(plan, workspace, first + i, i, out + i * plan->case_count * plan->method_count, error));
    return PESS_OK;
}
