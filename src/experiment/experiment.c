#include "experiment/experiment.h"

#include "core/memory.h"
#include "core/threads.h"
#include "experiment/checkpoint.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static const pess__experiment_kind *const kinds[] = {&pess__experiment_bandit, &pess__experiment_gridworld_exploration,
                                                     &pess__experiment_gridworld_data,
                                                     &pess__experiment_gridworld_alpha};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

/* The public list is one array, the rows live in the experiments' files: copied together on first use. */
static pess_experiment_info infos[KIND_COUNT];
static once_flag infos_once = ONCE_FLAG_INIT;

static void fill_infos(void) {
    for (size_t i = 0; i < KIND_COUNT; i++) infos[i] = kinds[i]->info;
}

const pess_experiment_info *pess_experiment_list(size_t *count) {
    call_once(&infos_once, fill_infos);
    *count = KIND_COUNT;
    return infos;
}

static const pess__experiment_kind *find_kind(const char *name) {
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(kinds[i]->info.name, name) == 0) return kinds[i];
    return NULL;
}

const pess_experiment_info *pess_experiment_find(const char *name) {
    const pess__experiment_kind *kind = find_kind(name);
    return kind != NULL ? &kind->info : NULL;
}

pess_experiment_options pess_experiment_options_defaults(void) {
    return (pess_experiment_options){.seed = 1,
                                     .preset = PESS_PRESET_CODE,
                                     .rows = 8,
                                     .cols = 8,
                                     .gamma = NAN,
                                     .beta_a = NAN,
                                     .beta_b = NAN,
                                     .state_dist = -1,
                                     .clip = -1,
                                     .absorbed_alpha = 1};
}

/* ---- for the experiments' files */

pess_status pess__experiment_add_column(pess_experiment *experiment, const pess__column *column, pess_error *error) {
    PESS_TRY(pess__grow(&experiment->columns, &experiment->column_room, experiment->column_count + 1,
                        sizeof *experiment->columns, "the curves", error));
    experiment->columns[experiment->column_count++] = *column;
    return PESS_OK;
}

pess_status pess__experiment_list_algorithm(pess_experiment *experiment, bool first, const char *name,
                                            pess_error *error) {
    const char *before = first ? "" : experiment->algorithms, *comma = first ? "" : ",";
    const size_t size = strlen(before) + strlen(name) + 2;
    char *joined = NULL;
    PESS_TRY(pess__allocate(&joined, (int64_t)size, 1, "the list of algorithms", error));
    (void)snprintf(joined, size, "%s%s%s", before, comma, name);
    free(experiment->algorithms);
    experiment->algorithms = joined;
    experiment->options.algorithms = joined;
    return PESS_OK;
}

pess_prediction *pess__experiment_predict(pess_experiment *experiment, const char *algorithm, const char *claim,
                                          const char *reason, pess_error *error) {
    int64_t capacity = experiment->prediction_count;
    if (pess__grow(&experiment->predictions, &capacity, experiment->prediction_count + 1,
                   sizeof *experiment->predictions, "the predictions", error) != PESS_OK)
        return NULL;
    pess_prediction *row = &experiment->predictions[experiment->prediction_count++];
    *row = (pess_prediction){.algorithm = algorithm, .claim = claim, .judged = true, .reason = reason};
    return row;
}

void pess__experiment_signature(const pess_experiment *experiment, char *out, size_t size) {
    const pess_experiment_options *o = &experiment->options;
    (void)snprintf(out, size,
                   "%s %s seed=%llu points=%lld rows=%lld cols=%lld gamma=%.17g beta=%.17g,%.17g state-dist=%s clip=%s "
                   "alpha=%.17g algorithms=%s values=%lld preset=%s",
                   PESS_VERSION, o->experiment, (unsigned long long)o->seed, (long long)o->points, (long long)o->rows,
                   (long long)o->cols, o->gamma, o->beta_a, o->beta_b,
                   o->state_dist == PESS_STATE_DIST_START ? "start" : "stationary", o->clip == 1 ? "on" : "off",
                   o->absorbed_alpha, o->algorithms, (long long)experiment->value_count,
                   o->preset == PESS_PRESET_CODE ? "code" : "text");
}

void pess__experiment_summary(const pess_experiment *experiment, int64_t a, int64_t b, double *mean, double *ci95) {
    const int64_t trials = experiment->options.trials, width = experiment->value_count;
    double sum = 0, square = 0;
    for (int64_t t = 0; t < trials; t++) {
        const double *row = experiment->values + t * width;
        sum += b < 0 ? row[a] : row[b] - row[a];
    }
    *mean = sum / (double)trials;
    for (int64_t t = 0; t < trials; t++) {
        const double *row = experiment->values + t * width;
        const double off = (b < 0 ? row[a] : row[b] - row[a]) - *mean;
        square += off * off;
    }
    *ci95 = trials > 1 ? 1.959963984540054 * sqrt(square / (double)(trials - 1) / (double)trials) : NAN;
}

/* ---- running */

static void summarise(pess_experiment *experiment) {
#pragma omp parallel for num_threads(experiment->options.threads) schedule(static)
    for (int64_t c = 0; c < experiment->column_count; c++) {
        const pess__column *column = &experiment->columns[c];
        pess_experiment_point *point = &experiment->points[c];
        *point = (pess_experiment_point){.algorithm = column->algorithm,
                                         .x = column->x,
                                         .trials = experiment->options.trials,
                                         .epsilon = column->epsilon,
                                         .transitions = column->transitions,
                                         .alpha_theory = column->alpha_theory};
        pess__experiment_summary(experiment, column->value, -1, &point->mean, &point->ci95);
        pess__experiment_summary(experiment, column->value, column->optimal, &point->regret, &point->regret_ci95);
    }
}

/* What the threads of a run share; done, status and error are touched under the lock only. */
typedef struct progress {
    pthread_mutex_t lock;
    pess_experiment *experiment;
    pess__checkpoint *checkpoint;
    const bool *finished; /* [trials] computed before this run began */
    int64_t done;
    double next_report;
    pess_status status;
    pess_error error;
} progress;

static void stop_with(progress *p, pess_status status, const pess_error *error) {
    (void)pthread_mutex_lock(&p->lock);
    if (p->status == PESS_OK) {
        p->error = *error;
        p->status = status;
    }
    (void)pthread_mutex_unlock(&p->lock);
}

static bool is_stopped(progress *p) {
    (void)pthread_mutex_lock(&p->lock);
    const bool stopped = p->status != PESS_OK;
    (void)pthread_mutex_unlock(&p->lock);
    return stopped;
}

/* Finished trials go to the checkpoint; the calling thread reports. */
static void account(progress *p, int64_t first, int64_t count, bool calling_thread) {
    const pess_experiment *e = p->experiment;
    pess_error error = {0};
    pess_status status = PESS_OK;
    (void)pthread_mutex_lock(&p->lock);
    p->done += count;
    const int64_t done = p->done;
    if (p->checkpoint != NULL)
        status = pess__checkpoint_add(p->checkpoint, first, count, e->values + first * e->value_count, &error);
    (void)pthread_mutex_unlock(&p->lock);
    if (status != PESS_OK) stop_with(p, status, &error);
    const pess_progress *report = &e->options.progress;
    if (!calling_thread || report->report == NULL || pess__clock() < p->next_report) return;
    p->next_report = pess__clock() + 0.1;
    if (!report->report(report->user, e->options.experiment, (double)done, (double)e->options.trials, "trials")) {
        (void)pess__fail(&error, PESS_INTERRUPTED, "interrupted");
        stop_with(p, PESS_INTERRUPTED, &error);
    }
}

/* One block, without the trials that an earlier run has finished. */
static pess_status run_block(const pess_experiment *e, progress *p, void *room, int64_t begin, int64_t end,
                             bool calling_thread, pess_error *error) {
    while (begin < end) {
        while (begin < end && p->finished[begin]) begin++;
        int64_t stop = begin;
        while (stop < end && !p->finished[stop]) stop++;
        if (stop == begin) break;
        PESS_TRY(e->kind->run(e, room, begin, stop - begin, e->values + begin * e->value_count, error));
        account(p, begin, stop - begin, calling_thread);
        begin = stop;
    }
    return PESS_OK;
}

static void run_blocks(pess_experiment *e, progress *p) {
    const int64_t trials = e->options.trials, blocks = (trials + e->block - 1) / e->block;
#pragma omp parallel num_threads(e->options.threads)
    {
        void *room = NULL;
        pess_error error = {0};
        pess_status status = e->kind->room_create(e, &room, &error);
        bool calling_thread = false;
#pragma omp master
        calling_thread = true;
        if (status != PESS_OK) stop_with(p, status, &error);
#pragma omp for schedule(dynamic)
        for (int64_t b = 0; b < blocks; b++) {
            if (is_stopped(p)) continue;
            const int64_t begin = b * e->block, end = begin + e->block < trials ? begin + e->block : trials;
            status = run_block(e, p, room, begin, end, calling_thread, &error);
            if (status != PESS_OK) stop_with(p, status, &error);
        }
        e->kind->room_destroy(room);
    }
}

static pess_status stopped(const progress *p, pess_error *error) {
    const pess_experiment *e = p->experiment;
    if (p->status != PESS_INTERRUPTED) return pess__fail(error, p->status, "%s", p->error.message);
    if (p->checkpoint == NULL)
        return pess__fail(error, PESS_INTERRUPTED, "interrupted after %lld of %lld trials; nothing was kept",
                          (long long)p->done, (long long)e->options.trials);
    return pess__fail(error, PESS_INTERRUPTED,
                      "interrupted after %lld of %lld trials; they are kept in %s, and the same command with --resume "
                      "goes on from there",
                      (long long)p->done, (long long)e->options.trials, e->options.checkpoint);
}

static pess_status run_trials(pess_experiment *e, bool *finished, pess_error *error) {
    progress p = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .experiment = e, .finished = finished, .next_report = pess__clock() + 0.1};
    if (e->options.checkpoint != NULL) {
        char signature[2000];
        pess__experiment_signature(e, signature, sizeof signature);
        PESS_TRY(pess__checkpoint_open(e->options.checkpoint, e->options.resume, signature, e->options.trials,
                                       e->value_count, e->values, finished, &p.checkpoint, error));
        for (int64_t t = 0; t < e->options.trials; t++) p.done += finished[t];
    }
    run_blocks(e, &p);
    pess_status status = p.status == PESS_OK ? PESS_OK : stopped(&p, error);
    const pess_status closed = pess__checkpoint_close(p.checkpoint, status == PESS_OK ? error : NULL);
    return status == PESS_OK ? closed : status;
}

/* ---- the whole */

static pess_status check_options(const pess_experiment_options *o, pess_error *error) {
    if (o->trials < 0 || o->trials > 100000000)
        return pess__fail(error, PESS_ARGUMENT, "%lld trials: expected 1 to 100000000", (long long)o->trials);
    if (o->points < 0 || o->points > 100000)
        return pess__fail(error, PESS_ARGUMENT, "%lld points: expected 1 to 100000", (long long)o->points);
    if (o->rows < 1 || o->cols < 1 || o->rows > 64 || o->cols > 64)
        return pess__fail(error, PESS_ARGUMENT, "a grid of %lld x %lld cells: expected 1 to 64 each way",
                          (long long)o->rows, (long long)o->cols);
    if (!isnan(o->gamma) && !(o->gamma >= 0 && o->gamma < 1))
        return pess__fail(error, PESS_ARGUMENT, "gamma is %g; it must be in [0,1)", o->gamma);
    if ((!isnan(o->beta_a) && !(o->beta_a > 0 && o->beta_a < 1e6)) ||
        (!isnan(o->beta_b) && !(o->beta_b > 0 && o->beta_b < 1e6)))
        return pess__fail(error, PESS_ARGUMENT, "Beta(%g,%g): both parameters must be positive and below 1e6",
                          o->beta_a, o->beta_b);
    if (!(o->absorbed_alpha >= 0 && isfinite(o->absorbed_alpha)))
        return pess__fail(error, PESS_ARGUMENT, "alpha is %g; it must be finite and not negative", o->absorbed_alpha);
    if (o->threads < 0 || o->threads > 4096)
        return pess__fail(error, PESS_ARGUMENT, "%d threads: expected 0 (all there are) to 4096", o->threads);
    return PESS_OK;
}

static pess_status copy_text(const char *text, char **copy, pess_error *error) {
    const size_t size = strlen(text) + 1;
    PESS_TRY(pess__allocate(copy, (int64_t)size, 1, "a setting", error));
    memcpy(*copy, text, size);
    return PESS_OK;
}

static pess_status create(const pess__experiment_kind *kind, const pess_experiment_options *options, pess_experiment *e,
                          pess_error *error) {
    e->kind = kind;
    e->block = kind->block;
    e->options = *options;
    e->options.experiment = kind->info.name;
    if (options->trials == 0) e->options.trials = kind->info.default_trials;
    if (options->points == 0) e->options.points = kind->info.default_points;
    e->options.threads = pess__threads(options->threads);
    if (options->algorithms != NULL) PESS_TRY(copy_text(options->algorithms, &e->algorithms, error));
    if (options->checkpoint != NULL) PESS_TRY(copy_text(options->checkpoint, &e->checkpoint, error));
    e->options.algorithms = e->algorithms;
    e->options.checkpoint = e->checkpoint;
    PESS_TRY(kind->prepare(e, error));
    PESS_TRY(pess__allocate(&e->points, e->column_count, sizeof *e->points, "the curves", error));
    if (e->options.trials > INT64_MAX / 16 / (e->value_count + 1))
        return pess__fail(error, PESS_LIMIT, "too many trials");
    return pess__allocate(&e->values, e->options.trials * e->value_count, sizeof *e->values, "the trials", error);
}

static pess_status run(pess_experiment *e, pess_error *error) {
    const double begun = pess__clock();
    bool *finished = NULL;
    PESS_TRY(pess__allocate(&finished, e->options.trials, sizeof *finished, "the trials", error));
    const pess_status status = run_trials(e, finished, error);
    free(finished);
    PESS_TRY(status);
    summarise(e);
    PESS_TRY(e->kind->judge(e, error));
    e->seconds = pess__clock() - begun;
    return PESS_OK;
}

pess_status pess_experiment_run(const pess_experiment_options *options, pess_experiment **out, pess_error *error) {
    const pess__experiment_kind *kind = options->experiment != NULL ? find_kind(options->experiment) : NULL;
    if (kind == NULL)
        return pess__fail(error, PESS_ARGUMENT,
                          "no experiment '%s'; there are bandit, gridworld-exploration, "
                          "gridworld-data and gridworld-alpha",
                          options->experiment != NULL ? options->experiment : "");
    PESS_TRY(check_options(options, error));
    pess_experiment *e = NULL;
    PESS_TRY(pess__allocate(&e, 1, sizeof *e, "the experiment", error));
    pess_status status = create(kind, options, e, error);
    if (status == PESS_OK) status = run(e, error);
    if (status != PESS_OK) {
        pess_experiment_destroy(e);
        return status;
    }
    *out = e;
    return PESS_OK;
}

void pess_experiment_destroy(pess_experiment *experiment) {
    if (experiment == NULL) return;
    if (experiment->context != NULL) experiment->kind->release(experiment);
    free(experiment->algorithms);
    free(experiment->checkpoint);
    free(experiment->columns);
    free(experiment->values);
    free(experiment->points);
    free(experiment->predictions);
    free(experiment);
}

void pess_experiment_get_options(const pess_experiment *experiment, pess_experiment_options *out) {
    *out = experiment->options;
}

double pess_experiment_seconds(const pess_experiment *experiment) { return experiment->seconds; }
const char *pess_experiment_description(const pess_experiment *experiment) { return experiment->description; }

const pess_experiment_point *pess_experiment_points(const pess_experiment *experiment, size_t *count) {
    *count = (size_t)experiment->column_count;
    return experiment->points;
}

const pess_prediction *pess_experiment_predictions(const pess_experiment *experiment, size_t *count) {
    *count = (size_t)experiment->prediction_count;
    return experiment->predictions;
}
