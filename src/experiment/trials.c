#include "experiment/trials.h"

#include "core/memory.h"
#include "core/settings.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECKPOINT "checkpoint.pess"

const pess__experiment_table pess__trial_tables[] = {
    {.title = "Mean ± 95 % half-width", .columns = "mean"},
    {.title = "Paired difference, optimal minus algorithm", .columns = "below_optimal", .ci95 = "below_optimal_ci95"},
    {.title = NULL}};

/* ---- for the rows */

int64_t pess__trials_finished(const pess__trials *t) {
    int64_t count = 0;
    for (int64_t i = 0; i < t->options->trials; i++) count += t->finished[i];
    return count;
}

pess_status pess__trials_add_column(pess__trials *t, const pess__column *column, pess_error *error) {
    PESS_TRY(pess__grow(&t->columns, &t->column_room, t->column_count + 1, sizeof *t->columns, "the curves", error));
    t->columns[t->column_count++] = *column;
    return PESS_OK;
}

pess_status pess__trials_list_algorithm(pess__trials *t, bool first, const char *name, pess_error *error) {
    const char *before = first ? "" : t->options->algorithms;
    const size_t size = strlen(before) + strlen(name) + 2;
    char *joined = NULL;
    PESS_TRY(pess__allocate(&joined, (int64_t)size, 1, "the list of algorithms", error));
    (void)snprintf(joined, size, "%s%s%s", before, first ? "" : ",", name);
    const pess_status status = pess__experiment_set_text(t->experiment, "algorithms", joined, error);
    free(joined);
    return status;
}

void pess__trials_summary(const pess__trials *t, int64_t a, int64_t b, double *mean, double *ci95) {
    const int64_t width = t->value_count;
    int64_t trials = 0;
    double sum = 0, square = 0;
    for (int64_t i = 0; i < t->options->trials; i++) {
        const double *row = t->values + i * width;
        if (!t->finished[i]) continue;
        sum += b < 0 ? row[a] : row[b] - row[a];
        trials++;
    }
    *mean = sum / (double)trials;
    for (int64_t i = 0; i < t->options->trials; i++) {
        const double *row = t->values + i * width;
        if (!t->finished[i]) continue;
        const double off = (b < 0 ? row[a] : row[b] - row[a]) - *mean;
        square += off * off;
    }
    *ci95 = trials > 1 ? 1.959963984540054 * sqrt(square / (double)(trials - 1) / (double)trials) : NAN;
}

/* ---- planning */

/* The settings as a line. Beta is there where rewards are drawn, α's units where α is the axis. */
static void write_note(const pess__trials *t) {
    const pess_experiment_options *o = t->options;
    char *out = t->experiment->note, grid[120] = "", shard[PESS__SHARD_NOTE];
    pess__shard_note(t->shard, shard);
    const size_t size = sizeof t->experiment->note;
    if (!isnan(o->reward_beta[0]))
        (void)snprintf(grid, sizeof grid, " · preset %s · %lld × %lld · γ = %g · Beta(%g,%g)",
                       o->preset == PESS_PRESET_CODE ? "code" : "text", (long long)o->rows, (long long)o->cols,
                       o->gamma, o->reward_beta[0], o->reward_beta[1]);
    (void)snprintf(out, size, "%lld trial%s%s · seed %llu · bands: 95 %% intervals of the mean%s", (long long)o->trials,
                   o->trials == 1 ? "" : "s", grid, (unsigned long long)o->seed, shard);
    if (!t->experiment->kind->panel_per_dataset) return;
    const char *separator = " · α in theory's units: ";
    const pess__column *first = &t->columns[0];
    for (int64_t c = 0; c < t->column_count; c += o->points) { /* the first panel's curves */
        const pess__column *column = &t->columns[c];
        if (column->epsilon != first->epsilon || column->transitions != first->transitions) break;
        if (isnan(column->alpha_theory)) continue;
        const size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s× %.3g for %s", separator, column->alpha_theory / column->x,
                       column->algorithm);
        separator = ", ";
    }
}

static pess_status plan(pess_experiment *e, pess_error *error) {
    pess__trials *t = NULL;
    PESS_TRY(pess__allocate(&t, 1, sizeof *t, "the trials", error));
    e->plan = t;
    t->experiment = e;
    t->options = &e->options;
    t->block = e->kind->trial->block;
    PESS_TRY(pess__shard_parse(e->options.shard, &t->shard, error));
    PESS_TRY(e->kind->trial->prepare(t, error));
    const int64_t trials = e->options.trials, blocks = (trials + t->block - 1) / t->block;
    if (t->shard.index > blocks)
        return pess__fail(error, PESS_ARGUMENT,
                          "shard: found '%s', expected I of at most %lld: trials go in blocks of %lld, and %lld trials "
                          "make no more blocks",
                          e->options.shard, (long long)blocks, (long long)t->block, (long long)trials);
    if (trials > INT64_MAX / 16 / (t->value_count + 1)) return pess__fail(error, PESS_LIMIT, "too many trials");
    PESS_TRY(pess__allocate(&t->values, trials * t->value_count, sizeof *t->values, "the trials", error));
    PESS_TRY(pess__allocate(&t->finished, trials, sizeof *t->finished, "the trials", error));
    write_note(t);
    return PESS_OK;
}

static void destroy(pess_experiment *e) {
    pess__trials *t = e->plan;
    (void)pess__checkpoint_close(t->checkpoint, NULL);
    if (t->context != NULL) e->kind->trial->release(t);
    free(t->columns);
    free(t->values);
    free(t->finished);
    free(t);
}

/* ---- the checkpoint */

/* Every setting that the trials' values depend on, and nothing else; the version, which is not compared, comes first.
 */
static void write_signature(const pess__trials *t, char *out, size_t size) {
    const pess_experiment_options *o = t->options;
    (void)snprintf(out, size,
                   "%s %s seed=%llu points=%lld rows=%lld cols=%lld gamma=%.17g beta=%.17g,%.17g state-dist=%s clip=%s "
                   "alpha=%.17g algorithms=%s values=%lld preset=%s",
                   pess_version(), o->experiment, (unsigned long long)o->seed, (long long)o->points, (long long)o->rows,
                   (long long)o->cols, o->gamma, o->reward_beta[0], o->reward_beta[1],
                   o->state_dist == PESS_STATE_DIST_START ? "start" : "stationary", o->clip == 1 ? "on" : "off",
                   o->absorbed_alpha, o->algorithms, (long long)t->value_count,
                   o->preset == PESS_PRESET_CODE ? "code" : "text");
}

void pess__trials_checkpoint(const pess__trials *t, const char *directory, char path[PESS__EXPERIMENT_PATH],
                             char *signature, size_t size) {
    (void)snprintf(path, PESS__EXPERIMENT_PATH, "%s/" CHECKPOINT, directory);
    write_signature(t, signature, size);
}

static pess_status open_checkpoint(pess_experiment *e, bool resume, pess_error *error) {
    pess__trials *t = e->plan;
    char path[PESS__EXPERIMENT_PATH], signature[2000];
    pess__trials_checkpoint(t, e->options.out, path, signature, sizeof signature);
    return pess__checkpoint_open(path, resume, signature, t->options->trials, t->value_count, t->values, t->finished,
                                 &t->checkpoint, error);
}

static pess_status read_trials(pess_experiment *e, pess_error *error) { return open_checkpoint(e, true, error); }

/* Trials of a part are what the whole is merged from; those of the whole have served. */
static void remove_checkpoint(const pess_experiment *e) {
    char path[PESS__EXPERIMENT_PATH];
    if (pess__trials_finished(e->plan) < e->options.trials) return;
    (void)snprintf(path, sizeof path, "%s/" CHECKPOINT, e->options.out);
    (void)unlink(path);
}

/* ---- running: a group of the executor's is a block of trials */

static pess_status enter(void *context, void **scratch, pess_error *error) {
    const pess__trials *t = context;
    return t->experiment->kind->trial->workspace_create(t, scratch, error);
}

typedef struct range {
    int64_t begin, end;
} range;

static range block_of(const pess__trials *t, int64_t block) {
    const int64_t begin = block * t->block, end = begin + t->block;
    return (range){begin, end < t->options->trials ? end : t->options->trials};
}

/* The next trials of the block that no earlier run has finished; an empty range behind the last of them. */
static range next_unfinished(const pess__trials *t, range block, int64_t from) {
    while (from < block.end && t->finished[from]) from++;
    int64_t end = from;
    while (end < block.end && !t->finished[end]) end++;
    return (range){from, end};
}

static pess_status run_block(void *context, pess__worker *worker, int64_t block, int run, pess_error *error) {
    pess__trials *t = context;
    const range whole = block_of(t, block);
    (void)run;
    for (range part = next_unfinished(t, whole, whole.begin); part.begin < part.end;
         part = next_unfinished(t, whole, part.end))
        PESS_TRY(t->experiment->kind->trial->run(t, pess__worker_scratch(worker), part.begin, part.end - part.begin,
                                                 t->values + part.begin * t->value_count, error));
    return PESS_OK;
}

static pess_status keep_block(void *context, pess__worker *worker, int64_t block, int run, pess_error *error) {
    pess__trials *t = context;
    const range whole = block_of(t, block);
    (void)worker;
    (void)run;
    for (range part = next_unfinished(t, whole, whole.begin); part.begin < part.end;
         part = next_unfinished(t, whole, part.end)) {
        if (t->checkpoint != NULL)
            PESS_TRY(pess__checkpoint_add(t->checkpoint, part.begin, part.end - part.begin,
                                          t->values + part.begin * t->value_count, error));
        for (int64_t i = part.begin; i < part.end; i++) t->finished[i] = true;
    }
    return PESS_OK;
}

/* Trials of this shard. */
static int64_t count_mine(const pess__trials *t) {
    int64_t count = 0;
    for (int64_t i = 0; i < t->options->trials; i++) count += pess__shard_has(t->shard, i / t->block);
    return count;
}

static pess_status interrupted(const pess__trials *t, pess_error *error) {
    const int64_t done = pess__trials_finished(t), all = count_mine(t);
    if (t->options->out == NULL)
        return pess__fail(error, PESS_INTERRUPTED, "interrupted after %lld of %lld trials; nothing was kept",
                          (long long)done, (long long)all);
    return pess__fail(error, PESS_INTERRUPTED,
                      "interrupted after %lld of %lld trials, which are kept in %s/" CHECKPOINT, (long long)done,
                      (long long)all, t->options->out);
}

static pess_status execute(pess__trials *t, bool *todo, double *cost, pess_error *error) {
    const pess_experiment_options *o = t->options;
    pess__work work = {.group_count = (o->trials + t->block - 1) / t->block,
                       .run_count = 1,
                       .todo = todo,
                       .cost = cost,
                       .threads = o->threads,
                       .context = t,
                       .enter = enter,
                       .leave = t->experiment->kind->trial->workspace_destroy,
                       .run = run_block,
                       .keep = keep_block,
                       .what = o->experiment,
                       .unit = "trials",
                       .units_before = pess__trials_finished(t),
                       .units_total = count_mine(t),
                       .progress = o->progress};
    if (work.threads > work.group_count) work.threads = work.group_count;
    for (int64_t b = 0; b < work.group_count; b++) {
        const range block = block_of(t, b);
        if (!pess__shard_has(t->shard, b)) continue;
        for (int64_t i = block.begin; i < block.end; i++) cost[b] += !t->finished[i];
        todo[b] = cost[b] > 0;
    }
    pess__executed executed;
    PESS_TRY(pess__execute_on_threads(&work, &executed, error));
    return executed.interrupted ? interrupted(t, error) : PESS_OK;
}

static pess_status run_trials(pess__trials *t, pess_error *error) {
    const int64_t blocks = (t->options->trials + t->block - 1) / t->block;
    bool *todo = NULL;
    double *cost = NULL;
    PESS_TRY(pess__allocate(&todo, blocks, sizeof *todo, "the trials", error));
    pess_status status = pess__allocate(&cost, blocks, sizeof *cost, "the trials", error);
    if (status == PESS_OK) status = execute(t, todo, cost, error);
    free(todo);
    free(cost);
    return status;
}

/* ---- summing up */

static void fill_point(const pess__trials *t, const pess__column *column, pess_experiment_point *point) {
    point->algorithm = column->algorithm;
    point->x = column->x;
    point->trials = pess__trials_finished(t);
    pess__trials_summary(t, column->value, -1, &point->mean, &point->ci95);
    pess__trials_summary(t, column->value, column->optimal, &point->values[PESS__BELOW_OPTIMAL],
                         &point->values[PESS__BELOW_OPTIMAL_CI95]);
    point->values[PESS__EPSILON] = column->epsilon;
    point->values[PESS__TRANSITIONS] = (double)column->transitions;
    point->values[PESS__ALPHA_THEORY] = column->alpha_theory;
    point->min = INFINITY;
    point->max = -INFINITY;
    for (int64_t i = 0; i < t->options->trials; i++) {
        if (!t->finished[i]) continue;
        const double value = t->values[i * t->value_count + column->value];
        point->min = fmin(point->min, value);
        point->max = fmax(point->max, value);
    }
}

pess_status pess__trials_summarise(pess__trials *t, pess_error *error) {
    pess_experiment *e = t->experiment;
    for (int64_t c = 0; c < t->column_count; c++)
        if (pess__experiment_add_point(e, error) == NULL) return PESS_MEMORY;
#pragma omp parallel for num_threads(pess__threads_still(e->options.threads)) schedule(static)
    for (int64_t c = 0; c < t->column_count; c++) fill_point(t, &t->columns[c], &e->points[c]);
    return pess__trials_finished(t) == e->options.trials ? e->kind->trial->judge(t, error) : PESS_OK;
}

static pess_status run(pess_experiment *e, pess_error *error) {
    pess__trials *t = e->plan;
    if (e->options.out != NULL && t->checkpoint == NULL) PESS_TRY(open_checkpoint(e, false, error));
    pess_status status = run_trials(t, error);
    const pess_status closed = pess__checkpoint_close(t->checkpoint, status == PESS_OK ? error : NULL);
    t->checkpoint = NULL;
    if (status == PESS_OK) status = closed;
    PESS_TRY(status);
    return pess__trials_summarise(t, error);
}

static int64_t finished(const pess_experiment *e, double *seconds) {
    *seconds = NAN;
    return pess__trials_finished(e->plan);
}

/* ---- how long it takes: by its first block */

static pess_status time_block(const pess__trials *t, void *workspace, double *seconds, pess_error *error) {
    const range block = block_of(t, 0);
    double *out = NULL;
    PESS_TRY(pess__allocate(&out, t->block * t->value_count, sizeof *out, "a trial", error));
    const double begun = pess__clock();
    const pess_status status = t->experiment->kind->trial->run(t, workspace, block.begin, block.end, out, error);
    *seconds = (pess__clock() - begun) / (double)block.end;
    free(out);
    return status;
}

static pess_status estimate(pess_experiment *e, pess_experiment_cost *out, pess_error *error) {
    const pess__trials *t = e->plan;
    pess_experiment_cost cost = {.datasets = count_mine(t),
                                 .runs = count_mine(t),
                                 .finished = pess__trials_finished(t),
                                 .threads = e->options.threads,
                                 .measured = true};
    void *workspace = NULL;
    double each = 0;
    PESS_TRY(e->kind->trial->workspace_create(t, &workspace, error));
    const pess_status status = time_block(t, workspace, &each, error);
    e->kind->trial->workspace_destroy(workspace);
    PESS_TRY(status);
    cost.seconds = each * (double)(cost.runs - cost.finished) / (double)cost.threads;
    *out = cost;
    return PESS_OK;
}

const pess__engine pess__engine_trials = {.files = "paired.csv trials.csv.gz",
                                          .kept = CHECKPOINT,
                                          .plan = plan,
                                          .read = read_trials,
                                          .estimate = estimate,
                                          .run = run,
                                          .finished = finished,
                                          .written = remove_checkpoint,
                                          .merge = pess__trials_merge,
                                          .destroy = destroy};
