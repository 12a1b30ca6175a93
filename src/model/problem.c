/* A log ready to solve: counts, the model estimated from them, a start distribution. */
#include "model/problem.h"

#include "core/memory.h"
#include "data/dataset.h"
#include "model/assumptions.h"
#include "model/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pess_problem {
    const pess_counts *counts;
    pess_counts *own; /* the same, where they were read here */
    pess_model *model;
    double *start; /* [S] */
    bool start_from_log;
    pess__assumptions assumptions;
};

/* ---- assumptions */

const pess__others *pess__with_others;

/* Nowhere, here or elsewhere. */
static bool nowhere(const pess__spread *spread, bool here) { return pess__most_of_all(spread, here) == 0; }

static bool starts_as_log(const pess_counts *counts, const double *start) {
    if (!counts->has_starts) return false;
    int64_t total = 0;
    for (int64_t s = 0; s < counts->states; s++) total += counts->starts[s];
    const double all = pess__sum_of_all(counts->spread, (double)total);
    bool differs = false;
    for (int64_t s = 0; s < counts->states; s++) differs |= start[s] != (double)counts->starts[s] / all;
    return nowhere(counts->spread, differs);
}

static bool starts_everywhere(const pess_model *model, const double *start) {
    double first = 0;
    bool differs = false;
    for (int64_t s = 0; s < model->states && first == 0; s++)
        if (!model->terminal[s]) first = start[s];
    first = pess__most_of_all(model->spread, first);
    for (int64_t s = 0; s < model->states; s++) differs |= !model->terminal[s] && start[s] != first;
    return nowhere(model->spread, differs) && first > 0;
}

static pess_status assume_start(const pess_counts *counts, const pess_model *model, const double *start,
                                pess__assumptions *to, pess_error *error) {
    if (starts_as_log(counts, start)) {
        const double episodes = (double)counts->episodes;
        if (counts->episodes > 0)
            return pess__assume(to, "start-from-log", "Episodes start as the {0} episodes of the log did.", &episodes,
                                error);
        return pess__assume(to, "start-from-log", "Episodes start as those of the log did.", NULL, error);
    }
    if (!starts_everywhere(model, start)) return PESS_OK;
    return pess__assume(to, "start-uniform", "Every state is equally likely to be the first.", NULL, error);
}

/* How many pairs the log does not show, of how many; the kind of row that they get, all of them. */
static pess_row_kind count_unseen(const pess_counts *counts, const pess_model *model, double numbers[2]) {
    uint8_t kind = PESS_ROW_NONE;
    int64_t unseen = 0, pairs = 0;
    for (int64_t s = 0; s < model->states; s++) {
        if (model->terminal[s]) continue;
        pairs += model->actions;
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++) {
            if (counts->n[z] > 0) continue;
            unseen++;
            kind = model->kind[z];
        }
    }
    numbers[0] = (double)unseen;
    numbers[1] = (double)pairs;
    for (int i = 0; i < 2; i++) numbers[i] = pess__sum_of_all(model->spread, numbers[i]);
    return (pess_row_kind)pess__most_of_all(model->spread, kind);
}

static pess_status assume_unseen(const pess_counts *counts, const pess_model *model, pess__assumptions *to,
                                 pess_error *error) {
    double numbers[2];
    const pess_row_kind kind = count_unseen(counts, model, numbers);
    static const char *const sentences[] = {
        [PESS_ROW_UNIFORM] = "The log lacks {0} of {1} state-action pairs; each is assumed to give a random reward "
                             "and a uniform next state.",
        [PESS_ROW_SINK] =
            "The log lacks {0} of {1} state-action pairs; each is assumed to give the lowest reward for ever.",
        [PESS_ROW_SPARSE] = "The log lacks {0} of {1} state-action pairs; each is assumed to give the lowest reward "
                            "and the same state again."};
    return kind == PESS_ROW_NONE ? PESS_OK : pess__assume(to, "unseen-pairs", sentences[kind], numbers, error);
}

pess_status pess__log_assumptions(const pess_counts *counts, const pess_model *model, const double *start,
                                  pess__assumptions *to, pess_error *error) {
    PESS_TRY(pess__assume_sizes(to, counts, model, error));
    PESS_TRY(assume_start(counts, model, start, to, error));
    PESS_TRY(assume_unseen(counts, model, to, error));
    PESS_TRY(pess__assume_repeated(to, counts, error));
    if (counts->counted) PESS_TRY(pess__assume_returns_unchecked(to, model, error));
    return pess__assume_cutoffs(to, counts, error);
}

/* ---- making one */

static pess_status load_start(const char *start, pess_problem *problem, pess_error *error) {
    const pess_counts *counts = problem->counts;
    problem->start_from_log = start != NULL ? strcmp(start, "log") == 0 : counts->has_episodes;
    PESS_TRY(pess__allocate(&problem->start, counts->states, sizeof(double), "the start distribution", error));
    if (problem->start_from_log) return pess_start_from_counts(counts, problem->start, error);
    if (start == NULL || strcmp(start, "uniform") == 0)
        return pess_start_uniform(problem->model, problem->start, error);
    return pess_start_read(start, counts->states, counts->state_names, problem->start, error);
}

static pess_status fill(pess_problem *problem, const pess_model_options *model, const char *start, pess_error *error) {
    PESS_TRY(pess_model_estimate(problem->counts, model, &problem->model, error));
    PESS_TRY(load_start(start, problem, error));
    return pess__log_assumptions(problem->counts, problem->model, problem->start, &problem->assumptions, error);
}

pess_status pess__problem_of_parts(pess_counts *counts, pess_model *model, double *start, bool start_from_log,
                                   pess_problem **out, pess_error *error) {
    pess_problem *problem = NULL;
    PESS_TRY(pess__allocate(&problem, 1, sizeof *problem, "the problem", error));
    *problem = (pess_problem){counts, counts, model, start, start_from_log, {0}};
    const pess_status status = pess__log_assumptions(counts, model, start, &problem->assumptions, error);
    if (status == PESS_OK)
        *out = problem;
    else
        free(problem);
    return status;
}

pess_status pess_problem_create(const pess_counts *counts, const pess_model_options *model, const char *start,
                                pess_problem **out, pess_error *error) {
    pess_problem *problem = NULL;
    PESS_TRY(pess__allocate(&problem, 1, sizeof *problem, "the problem", error));
    problem->counts = counts;
    const pess_status status = fill(problem, model, start, error);
    if (status == PESS_OK)
        *out = problem;
    else
        pess_problem_destroy(problem);
    return status;
}

/* Takes the counts over. */
static pess_status create_owning(pess_counts *counts, const pess_model_options *model, const char *start,
                                 pess_problem **out, pess_error *error) {
    pess_problem *problem = NULL;
    const pess_status status = pess_problem_create(counts, model, start, &problem, error);
    if (status != PESS_OK) {
        pess_counts_destroy(counts);
        return status;
    }
    problem->own = counts;
    *out = problem;
    return PESS_OK;
}

pess_status pess_problem_read(const char *path, const pess_read_options *read, const pess_model_options *model,
                              const char *start, pess_problem **out, pess_error *error) {
    pess_counts *counts = NULL;
    PESS_TRY(pess_counts_read(path, read, &counts, error));
    return create_owning(counts, model, start, out, error);
}

/* The counts of a log whose episodes are held against the declared range of returns. */
static pess_status read_checked(const char *path, const pess_read_options *read, const double range[2], double gamma,
                                pess_counts **out, pess_error *error) {
    pess_dataset *data = NULL;
    PESS_TRY(pess_log_read(path, read, &data, out, error));
    if (data == NULL) return PESS_OK; /* counted */
    pess_status status = pess_dataset_check_returns(data, gamma, range, error);
    if (status == PESS_OK) status = pess_counts_create(data, read != NULL ? read->threads : 0, out, error);
    if (status == PESS_OK) {
        (*out)->reading = data->reading;
        data->reading = NULL;
    }
    pess_dataset_destroy(data);
    return status;
}

pess_status pess_problem_read_checked(const char *path, const pess_read_options *read, const pess_model_options *model,
                                      const char *start, double gamma, pess_problem **out, pess_error *error) {
    pess_counts *counts = NULL;
    if (pess__with_others != NULL) return pess__with_others->read(path, read, model, start, out, error);
    if (model == NULL || isnan(model->return_range[0])) return pess_problem_read(path, read, model, start, out, error);
    PESS_TRY(read_checked(path, read, model->return_range, gamma, &counts, error));
    return create_owning(counts, model, start, out, error);
}

void pess__problem_keep_pairs(pess_problem *problem) {
    if (problem->own != NULL && problem->own->spread == NULL) pess__counts_keep_pairs(problem->own);
}

void pess_problem_destroy(pess_problem *problem) {
    if (problem == NULL) return;
    pess_counts_destroy(problem->own);
    pess_model_destroy(problem->model);
    free(problem->start);
    pess__assumptions_release(&problem->assumptions);
    free(problem);
}

const pess_counts *pess_problem_counts(const pess_problem *problem) { return problem->counts; }
const pess_model *pess_problem_model(const pess_problem *problem) { return problem->model; }
const double *pess_problem_start(const pess_problem *problem) { return problem->start; }
bool pess_problem_start_from_log(const pess_problem *problem) { return problem->start_from_log; }

const pess_assumption *pess_problem_assumption(const pess_problem *problem, size_t index) {
    return pess__assumption(&problem->assumptions, index);
}
