/* pess_choose: every candidate is fitted to all folds but one and scored on that one; the best mean is fitted to all.
 */
#include "choose/choose.h"

#include "certify/behaviour.h"
#include "core/memory.h"
#include "core/rng.h"
#include "core/settings.h"
#include "core/threads.h"
#include "solve/check.h"
#include "solve/monitor.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(name) PESS__FIELD(pess_choose_options, name)

static const pess_setting settings[] = {
    {"families", 0, PESS_SETTING_TEXT, FIELD(families), "imitation,naive,ua,proximal,spibb,soft-spibb,rmin",
     .argument = "ALGORITHM,…", .sentence = "algorithms to choose among, each over a grid of strengths"},
    {"folds", 0, PESS_SETTING_COUNT, FIELD(folds), "5", PESS__FROM_TO(2, 1000), .argument = "K",
     .sentence =
         "number of parts of the episodes; each candidate is fitted to all but one and scored on that one, in turn"},
    {"score", 0, PESS_SETTING_CHOICE, FIELD(score), "model", .choices = "model|weights",
     .sentence = "what decides: the value in the model of the held-out episodes, or their returns weighted by "
                 "importance, for which the log needs the column probability"},
    PESS__SEED_SETTING(pess_choose_options, "of the folds"),
    PESS__THREADS_SETTING(pess_choose_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("choose", pess_choose_options, settings);
PESS__SETTINGS_OF(choose, table)

/* What a candidate got in a fold. */
typedef struct result {
    double model;
    pess__weighted weights;
    pess_status status;
    pess_error error;
} result;

typedef struct job {
    const pess_dataset *data;
    const pess_choose_options *options;
    pess_solve_options solve;
    pess_choice *choice;
    pess__folds folds;
    pess__family_member *candidates; /* [count] the last one is imitation, for comparison */
    int64_t count, listed;           /* listed: without it, where it is not asked for */
    result *results;                 /* [folds*count] */
    double *returns;                 /* [episodes in the order of folds] */
    double lowest;                   /* of them */
    double unit;                     /* of rewards */
    int threads;
    pess__monitor monitor;
} job;

/* ---- setting up */

/* Σ_t γ^t r_t of what an episode shows, up to the horizon. */
static pess_status sum_returns(job *j, pess_error *error) {
    const pess__trajectories *episodes = &j->folds.episodes;
    PESS_TRY(pess__allocate(&j->returns, episodes->count, sizeof *j->returns, "the returns", error));
    const int64_t horizon = j->solve.horizon > 0 ? j->solve.horizon : INT64_MAX;
    double sum = 0, squares = 0;
    int64_t ended = 0;
    j->lowest = INFINITY;
    for (int64_t e = 0; e < episodes->count; e++) {
        const int64_t *row = episodes->row + episodes->begin[e], length = episodes->begin[e + 1] - episodes->begin[e];
        double discount = 1;
        for (int64_t t = 0; t < length && t < horizon; t++, discount *= j->solve.gamma)
            j->returns[e] += discount * j->data->reward[row[t]];
        j->lowest = fmin(j->lowest, j->returns[e]);
        if (length < horizon && j->data->end[row[length - 1]] != PESS_END_TERMINAL) continue;
        sum += j->returns[e];
        squares += j->returns[e] * j->returns[e];
        ended++;
    }
    const double n = (double)ended, mean = sum / n;
    j->choice->info.log_return = ended > 0 ? mean : NAN;
    j->choice->info.log_return_error = ended > 1 ? sqrt(fmax(squares / n - mean * mean, 0) / (n - 1)) : NAN;
    return PESS_OK;
}

/* Imitation is always fitted: gains are over it. */
static pess_status list_candidates(job *j, pess_error *error) {
    const pess_model *model = pess_problem_model(j->choice->problem);
    double v_lo, v_hi;
    pess__value_range(model, j->solve.gamma, &v_lo, &v_hi);
    j->unit = pess__reward_span(model, v_lo, v_hi);
    PESS_TRY(pess__candidates_create(j->options->families, j->unit, &j->candidates, &j->listed, error));
    pess__family_member *all = NULL;
    PESS_TRY(pess__allocate(&all, j->listed + 1, sizeof *all, "the candidates", error));
    memcpy(all, j->candidates, (size_t)j->listed * sizeof *all);
    free(j->candidates);
    j->candidates = all;
    all[j->listed] = (pess__family_member){"imitation", NULL, NAN};
    j->count = j->listed + 1;
    return pess__allocate(&j->results, j->folds.count * j->count, sizeof *j->results, "the scores", error);
}

/* An action of probability 0 cannot have been taken, and has no weight. */
static pess_status check_probabilities(const job *j, pess_error *error) {
    pess__behaviour logged = {0};
    if (j->data->probability == NULL || j->data->episode == NULL) return PESS_OK;
    PESS_TRY(pess__behaviour_create(j->data, j->folds.whole, NULL, false, &logged, error));
    pess__behaviour_release(&logged);
    return PESS_OK;
}

static pess_status set_up(job *j, pess_error *error) {
    const pess_choose_options *o = j->options;
    PESS_TRY(pess__solve_settle(o->solve, &j->solve, error));
    j->solve.threads = 1;
    j->solve.progress = (pess_progress){0};
    if (o->score == PESS_CHOOSE_WEIGHTS && j->data->probability == NULL)
        return pess__fail(error, PESS_ARGUMENT,
                          "score: weights need the probability of each logged action, and the log has no column "
                          "'probability'; the score 'model' does not need it");
    if (o->score == PESS_CHOOSE_WEIGHTS && j->data->episode == NULL)
        return pess__fail(error, PESS_ARGUMENT,
                          "score: weights need whole episodes, and the log has no column 'episode'; the score 'model' "
                          "does not need it");
    PESS_TRY(pess__folds_create(j->data, o->folds, o->seed, o->threads, &j->folds, error));
    PESS_TRY(check_probabilities(j, error));
    PESS_TRY(pess_problem_create(j->folds.whole, o->model, o->start, &j->choice->problem, error));
    PESS_TRY(sum_returns(j, error));
    return list_candidates(j, error);
}

/* ---- a fold */

typedef struct fold {
    pess_counts *part, *rest;
    pess_model *model; /* of the rest */
    pess__judge judge;
} fold;

static void fold_release(fold *f) {
    pess__judge_release(&f->judge);
    pess_model_destroy(f->model);
    if (f->rest != NULL) f->rest->state_names = f->rest->action_names = NULL; /* borrowed */
    pess_counts_destroy(f->rest);
    pess_counts_destroy(f->part);
}

static pess_status fold_create(const job *j, int64_t index, fold *f, pess_error *error) {
    const pess_counts *whole = j->folds.whole;
    *f = (fold){0};
    PESS_TRY(pess__folds_part(&j->folds, index, j->threads, &f->part, error));
    PESS_TRY(pess__counts_subtract(whole, f->part, &f->rest, error));
    f->rest->state_names = whole->state_names;
    f->rest->action_names = whole->action_names;
    PESS_TRY(pess_model_estimate(f->rest, j->options->model, &f->model, error));
    return pess__judge_create(whole, f->part, f->model, pess_problem_start(j->choice->problem), &j->solve, j->lowest,
                              &f->judge, error);
}

static void try_candidate(const job *j, const fold *f, int64_t index, const pess__family_member *candidate, result *r) {
    pess_solve_options options = pess__family_member_options(candidate, &j->solve);
    options.tolerance = fmax(options.tolerance, PESS__CHOICE_TOLERANCE * j->unit);
    pess_solution *solution = NULL;
    r->weights.mean = NAN;
    r->status = pess_solve(f->rest, f->model, pess_problem_start(j->choice->problem), &options, &solution, &r->error);
    if (r->status == PESS_OK)
        r->status = pess__judge_score(&f->judge, pess_solution_policy(solution), &r->model, &r->error);
    if (r->status == PESS_OK && j->data->probability != NULL && j->data->episode != NULL)
        r->status = pess__weighted_score(&j->folds, index, pess_solution_policy(solution), j->solve.horizon, j->returns,
                                         &r->weights, &r->error);
    pess_solution_destroy(solution);
}

/* Candidates side by side; the first thread, which is the caller's, reports. */
static pess_status run_fold(job *j, int64_t index, pess_error *error) {
    fold f;
    const pess_status status = fold_create(j, index, &f, error);
    atomic_bool stop = false;
    atomic_llong done = 0;
#pragma omp parallel for schedule(dynamic) num_threads(j->threads) if (status == PESS_OK)
    for (int64_t c = 0; c < j->count; c++) {
        if (status != PESS_OK || stop) continue;
        try_candidate(j, &f, index, &j->candidates[c], &j->results[index * j->count + c]);
        done++;
        if (omp_get_thread_num() != 0) continue;
        j->monitor.done = (double)(index * j->count + done);
        if (!pess__monitor_check(&j->monitor)) stop = true;
    }
    fold_release(&f);
    PESS_TRY(status);
    return stop ? pess__fail(error, PESS_INTERRUPTED, "interrupted while choosing") : PESS_OK;
}

/* A candidate that does not fit the log is left out; other failures are everybody's. */
static pess_status look_for_failures(job *j, pess_error *error) {
    for (int64_t i = 0; i < j->folds.count * j->count; i++) {
        const result *r = &j->results[i];
        const int64_t c = i % j->count;
        if (r->status == PESS_OK) continue;
        if (r->status != PESS_ARGUMENT && r->status != PESS_INPUT)
            return pess__fail(error, r->status, "%s", r->error.message);
        if (c == j->listed || j->choice->scores[c].left_out != NULL) continue;
        (void)snprintf(j->choice->reasons[c], PESS__CHOICE_REASON, "%.299s", r->error.message);
        j->choice->scores[c].left_out = j->choice->reasons[c];
    }
    return PESS_OK;
}

/* ---- the decision */

typedef struct mean {
    double value, error;
} mean;

/* Mean over the folds and its standard error, of a candidate's score less another's; against -1: the score itself. */
static mean mean_over_folds(const job *j, int64_t candidate, int64_t against, pess_choose_score score) {
    const double n = (double)j->folds.count;
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < j->folds.count; k++) {
        const result *a = &j->results[k * j->count + candidate];
        const result *b = against >= 0 ? &j->results[k * j->count + against] : NULL;
        double x = score == PESS_CHOOSE_MODEL ? a->model : a->weights.mean;
        if (b != NULL) x -= score == PESS_CHOOSE_MODEL ? b->model : b->weights.mean;
        if (b != NULL && b->status != PESS_OK) x = NAN;
        sum += x;
        squares += x * x;
    }
    const double value = sum / n;
    return (mean){value, isnan(value) ? NAN : sqrt(fmax(squares / n - value * value, 0) / (n - 1))};
}

static void fill_score(const job *j, int64_t c) {
    const pess_choose_score score = j->options->score;
    pess_candidate_score *out = &j->choice->scores[c];
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < j->folds.count; k++) {
        sum += j->results[k * j->count + c].weights.sum;
        squares += j->results[k * j->count + c].weights.squares;
    }
    const mean own = mean_over_folds(j, c, -1, score), gain = mean_over_folds(j, c, j->listed, score);
    const mean weighted = mean_over_folds(j, c, -1, PESS_CHOOSE_WEIGHTS);
    out->score = own.value;
    out->error = own.error;
    out->gain = gain.value;
    out->gain_error = gain.error;
    out->weighted = weighted.value;
    out->weighted_error = weighted.error;
    out->effective = squares > 0 ? sum * sum / squares : isnan(weighted.value) ? NAN : 0;
    if (isnan(own.value)) out->left_out = "in some fold no held-out episode acts as it would";
}

static void fill_scores(job *j) {
    for (int64_t c = 0; c < j->listed; c++) {
        pess_candidate_score *out = &j->choice->scores[c];
        const pess__family_member *candidate = &j->candidates[c];
        const char *left_out = out->left_out;
        *out = (pess_candidate_score){.algorithm = candidate->algorithm,
                                      .setting = candidate->setting,
                                      .strength = candidate->strength,
                                      .score = NAN,
                                      .error = NAN,
                                      .gain = NAN,
                                      .gain_error = NAN,
                                      .weighted = NAN,
                                      .weighted_error = NAN,
                                      .effective = NAN,
                                      .left_out = left_out};
        if (left_out == NULL) fill_score(j, c);
    }
}

static bool same_family(const job *j, int64_t a, int64_t b) {
    return strcmp(j->candidates[a].algorithm, j->candidates[b].algorithm) == 0;
}

/* The best by the weighted sums of folds; ties to the first. `except`: a candidate whose family is passed over, or -1.
 */
static int64_t best_of(const job *j, const int64_t *times, int64_t except) {
    int64_t best = -1;
    double most = -INFINITY;
    for (int64_t c = 0; c < j->listed; c++) {
        double sum = 0;
        if (j->choice->scores[c].left_out != NULL || (except >= 0 && same_family(j, c, except))) continue;
        for (int64_t k = 0; k < j->folds.count; k++) {
            const result *r = &j->results[k * j->count + c];
            sum += (double)times[k] * (j->options->score == PESS_CHOOSE_MODEL ? r->model : r->weights.mean);
        }
        if (sum <= most) continue;
        most = sum;
        best = c;
    }
    return best;
}

/* How often the family of the one chosen stays first when folds are drawn anew, with replacement. */
static double resample(const job *j, int64_t chosen, int64_t *times) {
    enum { DRAWS = 1000 };
    int64_t same = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        pess__rng rng = pess__rng_stream(j->options->seed, "choice", (uint64_t)draw);
        memset(times, 0, (size_t)j->folds.count * sizeof *times);
        for (int64_t k = 0; k < j->folds.count; k++) times[pess__rng_below(&rng, (uint64_t)j->folds.count)]++;
        same += same_family(j, best_of(j, times, -1), chosen);
    }
    return (double)same / DRAWS;
}

static pess_status decide(job *j, pess_error *error) {
    pess_choice_info *info = &j->choice->info;
    int64_t *times = NULL;
    PESS_TRY(look_for_failures(j, error));
    fill_scores(j);
    PESS_TRY(pess__allocate(&times, j->folds.count, sizeof *times, "the folds", error));
    for (int64_t k = 0; k < j->folds.count; k++) times[k] = 1;
    info->chosen = best_of(j, times, -1);
    if (info->chosen >= 0) {
        info->runner_up = best_of(j, times, info->chosen);
        info->sure = resample(j, info->chosen, times);
        const mean margin = info->runner_up >= 0 ? mean_over_folds(j, info->chosen, info->runner_up, j->options->score)
                                                 : (mean){NAN, NAN};
        info->margin = margin.value;
        info->margin_error = margin.error;
    }
    free(times);
    if (info->chosen >= 0) return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "none of the candidates fits this log; the first: %s",
                      j->choice->scores[0].left_out);
}

/* The one chosen, fitted to all data. */
static pess_status fit(job *j, pess_error *error) {
    pess_choice *choice = j->choice;
    choice->solve = pess__family_member_options(&j->candidates[choice->info.chosen], &j->solve);
    choice->solve.threads = j->options->threads;
    return pess_solve(j->folds.whole, pess_problem_model(choice->problem), pess_problem_start(choice->problem),
                      &choice->solve, &choice->solution, error);
}

static pess_status run(job *j, pess_error *error) {
    pess_choice *choice = j->choice;
    PESS_TRY(set_up(j, error));
    choice->count = j->listed;
    PESS_TRY(pess__allocate(&choice->scores, j->listed, sizeof *choice->scores, "the scores", error));
    PESS_TRY(pess__allocate(&choice->reasons, j->listed, sizeof *choice->reasons, "the scores", error));
    j->monitor = pess__monitor_start(&j->options->progress, "choosing", INFINITY);
    j->monitor.unit = "fits";
    j->monitor.total = (double)(j->folds.count * j->count);
    for (int64_t k = 0; k < j->folds.count; k++) PESS_TRY(run_fold(j, k, error));
    PESS_TRY(decide(j, error));
    return fit(j, error);
}

pess_status pess_choose(const pess_dataset *data, const pess_choose_options *options, pess_choice **out,
                        pess_error *error) {
    const double begun = pess__clock();
    pess_choose_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    job j = {.data = data, .options = &settled, .threads = pess__threads(settled.threads)};
    PESS_TRY(pess__allocate(&j.choice, 1, sizeof *j.choice, "the choice", error));
    const pess_status status = run(&j, error);
    pess_choice_info *info = &j.choice->info;
    info->folds = j.folds.count;
    info->episodes = j.folds.episodes.count;
    info->rows = data->episode == NULL;
    info->score = settled.score;
    info->gamma = j.solve.gamma;
    info->horizon = j.solve.horizon;
    info->seconds = pess__clock() - begun;
    j.choice->counts = j.folds.whole; /* the problem borrows them */
    j.folds.whole = NULL;
    pess__folds_release(&j.folds);
    free(j.candidates);
    free(j.results);
    free(j.returns);
    if (status == PESS_OK)
        *out = j.choice;
    else
        pess_choice_destroy(j.choice);
    return status;
}

/* ---- looking */

void pess_choice_destroy(pess_choice *choice) {
    if (choice == NULL) return;
    pess_solution_destroy(choice->solution);
    pess_problem_destroy(choice->problem);
    pess_counts_destroy(choice->counts);
    free(choice->scores);
    free(choice->reasons);
    free(choice);
}

void pess_choice_get_info(const pess_choice *choice, pess_choice_info *out) { *out = choice->info; }
const pess_solution *pess_choice_solution(const pess_choice *choice) { return choice->solution; }
const pess_problem *pess_choice_problem(const pess_choice *choice) { return choice->problem; }
pess_solve_options pess_choice_solve_options(const pess_choice *choice) { return choice->solve; }

const pess_candidate_score *pess_choice_candidate(const pess_choice *choice, size_t index) {
    return index < (size_t)choice->count ? &choice->scores[index] : NULL;
}
