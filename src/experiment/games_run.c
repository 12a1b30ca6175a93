/* Running: a dataset is collected and its imitation network trained, then every other curve is trained on it. */
#include "core/memory.h"
#include "core/text.h"
#include "experiment/executor.h"
#include "experiment/games.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the runs share. Of a dataset: written while it is prepared, only read while its runs are made. */
typedef struct running {
    pess__games *m;
    pess_observations **data; /* [dataset_count] in memory */
    bool *keep;               /* [dataset_count] its file stays when its runs are done */
    double *behaviour;        /* [dataset_count] */
    bool *todo;               /* [dataset_count*curve_count] */
    double *cost;             /* [dataset_count*curve_count] seconds of the trainings, as estimated before the first */
    double *prepare_cost;     /* [dataset_count] */
    int64_t run_count, run_total; /* finished runs, those found at the start among them */
} running;

/* ---- a dataset */

/* From the file that an interrupted run left, where it is the right one. */
static pess_observations *read_data(const running *r, int64_t index, const char *path) {
    const pess__games_dataset *dataset = &r->m->datasets[index];
    pess_observations *data = NULL;
    pess_observations_info info;
    char seed[64];
    if (access(path, R_OK) != 0 || pess_observations_read(path, &data, NULL) != PESS_OK) return NULL;
    pess_observations_get_info(data, &info);
    (void)snprintf(seed, sizeof seed, "\nseed=%llu\n", (unsigned long long)dataset->data_seed);
    if (info.transitions == dataset->transitions && strstr(info.notes, seed) != NULL &&
        strcmp(info.game, r->m->games[dataset->game]->name) == 0)
        return data;
    pess_observations_destroy(data);
    return NULL;
}

static pess_status collect(const running *r, pess__worker *worker, int64_t index, const char *path,
                           pess_observations **out, pess_error *error) {
    const pess__games *m = r->m;
    const pess__games_dataset *dataset = &m->datasets[index];
    pess_collect_options options = pess_collect_options_defaults();
    pess_observations *data = NULL;
    options.game = m->games[dataset->game]->name;
    options.policy = m->policy[dataset->game];
    options.epsilon = dataset->epsilon;
    options.transitions = dataset->transitions;
    options.seed = dataset->data_seed;
    options.progress = pess__worker_progress(worker);
    PESS_TRY(pess_collect(&options, &data, error));
    const pess_status status = pess_observations_write(data, path, error);
    if (status == PESS_OK)
        *out = data;
    else
        pess_observations_destroy(data);
    return status;
}

/* How well the policy that collects does: on episodes of its own, as the dataset may not hold a whole one. */
static pess_status play(const running *r, pess__worker *worker, int64_t index, double *out, pess_error *error) {
    const pess__games *m = r->m;
    const pess__games_dataset *dataset = &m->datasets[index];
    for (int c = 0; c < m->curve_count; c++) {
        const pess__games_run *run = pess__games_run_of(m, index, c);
        if (!run->finished) continue;
        *out = run->behaviour;
        return PESS_OK;
    }
    pess_play_options options = pess_play_options_defaults();
    pess_play_result result;
    options.game = m->games[dataset->game]->name;
    options.epsilon = dataset->epsilon;
    options.episodes = m->protocol.score_episodes;
    options.seed = dataset->play_seed;
    options.threads = 1;
    options.progress = pess__worker_progress(worker);
    PESS_TRY(pess_play(m->policy[dataset->game], &options, &result, error));
    *out = result.mean_return;
    return PESS_OK;
}

/* ---- a training */

/* The α of the curve, in the shortest form that reads back the same; empty where its learner has none. */
static void set_knobs(const pess__games_curve *curve, char *knobs, size_t size) {
    char alpha[PESS__NUMBER_SIZE];
    knobs[0] = '\0';
    if (isnan(curve->alpha)) return;
    (void)pess__format_double(curve->alpha, alpha);
    (void)snprintf(knobs, size, "absorbed-alpha=%s", alpha);
}

static void set_train_options(const running *r, pess__worker *worker, int64_t index, int curve, const char *directory,
                              const char *imitation, const char *knobs, pess_train_options *o) {
    const pess__games *m = r->m;
    const pess__games_dataset *dataset = &m->datasets[index];
    *o = pess_train_options_defaults();
    o->data = r->data[index];
    o->data_name = "data.pessdata";
    o->algorithm = m->curves[curve].learner->name;
    o->protocol = m->protocol;
    o->knobs = knobs;
    o->out = directory;
    o->imitation = imitation;
    o->resume = true;
    o->seed = pess__games_is_imitation(m, curve) ? dataset->imitation_seed : dataset->train_seed;
    o->threads = 1;
    o->progress = pess__worker_progress(worker);
}

/* The result stays in memory until it is kept. */
static pess_status train(void *context, pess__worker *worker, int64_t index, int curve, pess_error *error) {
    running *r = context;
    pess__games *m = r->m;
    char directory[PESS__EXPERIMENT_PATH], imitation[PESS__EXPERIMENT_PATH], knobs[64];
    pess_train_options options;
    pess_observations_info info;
    pess__games_run_path(m, m->options->out, index, curve, "", directory);
    pess__games_run_path(m, m->options->out, index, 0, "policy.pessnet", imitation);
    PESS_TRY(pess__experiment_make_directories(directory, error));
    set_knobs(&m->curves[curve], knobs, sizeof knobs);
    set_train_options(r, worker, index, curve, directory,
                      pess__games_imitates(m, m->curves[curve].learner) ? imitation : NULL, knobs, &options);
    pess__games_run *run = pess__games_run_of(m, index, curve);
    PESS_TRY(pess_train_run(&options, &run->result, error));
    pess_observations_get_info(r->data[index], &info);
    run->behaviour = r->behaviour[index];
    run->data_return = info.mean_return;
    return PESS_OK;
}

/* Results may have been kept without their networks: the one that others need is made again, the same as it was. */
static pess_status have_imitation(running *r, pess__worker *worker, int64_t index, pess_error *error) {
    pess__games *m = r->m;
    const pess__games_run kept = *pess__games_run_of(m, index, 0);
    char path[PESS__EXPERIMENT_PATH];
    bool needed = false;
    for (int c = 1; c < m->curve_count; c++)
        needed |= r->todo[index * m->curve_count + c] && pess__games_imitates(m, m->curves[c].learner);
    pess__games_run_path(m, m->options->out, index, 0, "policy.pessnet", path);
    if (!needed || access(path, F_OK) == 0) return PESS_OK;
    pess__worker_part(worker, r->cost[index * m->curve_count]);
    PESS_TRY(train(r, worker, index, 0, error));
    *pess__games_run_of(m, index, 0) = kept;
    return PESS_OK;
}

static pess_status prepare(void *context, pess__worker *worker, int64_t index, pess_error *error) {
    running *r = context;
    pess__games *m = r->m;
    char path[PESS__EXPERIMENT_PATH];
    pess__games_dataset_path(m, m->options->out, index, "", path);
    PESS_TRY(pess__experiment_make_directories(path, error));
    pess__games_dataset_path(m, m->options->out, index, "data.pessdata", path);
    pess__worker_begin(worker, r->prepare_cost[index] / 2);
    r->data[index] = read_data(r, index, path);
    if (r->data[index] == NULL) PESS_TRY(collect(r, worker, index, path, &r->data[index], error));
    pess__worker_part(worker, r->prepare_cost[index] / 2);
    PESS_TRY(play(r, worker, index, &r->behaviour[index], error));
    if (!pess__games_is_imitation(m, 0)) return PESS_OK;
    if (!r->todo[index * m->curve_count]) return have_imitation(r, worker, index, error);
    pess__worker_part(worker, r->cost[index * m->curve_count]);
    PESS_TRY(train(r, worker, index, 0, error));
    return pess__worker_keep_first(worker, index, error);
}

static void tell_finished(const running *r, pess__worker *worker, int64_t index, int curve) {
    const pess__games *m = r->m;
    const pess__games_dataset *dataset = &m->datasets[index];
    const pess__games_run *run = pess__games_run_of(m, index, curve);
    pess__worker_tell(worker, true, "[%lld/%lld] %s, %s %g, trial %d, %s: %.4g (data policy %.4g), %.0f s",
                      (long long)r->run_count, (long long)r->run_total, m->games[dataset->game]->name, m->axis->symbol,
                      m->x[dataset->x], dataset->trial + 1, m->curves[curve].name, run->result.score, run->behaviour,
                      run->result.seconds);
}

/* What the data do not support, by the first run of a game and curve that says so. */
static void tell_warning(const running *r, pess__worker *worker, int64_t index, int curve) {
    const pess__games *m = r->m;
    const int game = m->datasets[index].game;
    int64_t runs = 0;
    if (pess__games_run_of(m, index, curve)->result.warning[0] == '\0') return;
    const char *warning = pess__games_warning(m, game, curve, &runs);
    if (runs == 1)
        pess__worker_tell(worker, false, "warning: %s, %s: %s", m->games[game]->name, m->curves[curve].name, warning);
}

static pess_status keep(void *context, pess__worker *worker, int64_t index, int curve, pess_error *error) {
    running *r = context;
    PESS_TRY(pess__games_write_result(r->m, index, curve, error));
    pess__games_run_of(r->m, index, curve)->finished = true;
    r->run_count++;
    tell_finished(r, worker, index, curve);
    tell_warning(r, worker, index, curve);
    return PESS_OK;
}

static void release(void *context, int64_t index) {
    running *r = context;
    char path[PESS__EXPERIMENT_PATH];
    pess_observations_destroy(r->data[index]);
    r->data[index] = NULL;
    pess__games_dataset_path(r->m, r->m->options->out, index, "data.pessdata", path);
    if (!r->keep[index]) (void)unlink(path);
}

/* ---- which runs */

static bool is_mine(const pess__games *m, int64_t dataset) { return pess__shard_has(m->shard, dataset); }

/* Files stay where this run is to keep them, and where an earlier one may have kept them on purpose. */
static void mark_kept(running *r) {
    const pess__games *m = r->m;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        char path[PESS__EXPERIMENT_PATH];
        pess__games_dataset_path(m, m->options->out, d, "data.pessdata", path);
        r->keep[d] = m->options->keep_data || (m->data_kept && access(path, F_OK) == 0);
    }
}

/* Datasets of which nothing is left to run, but whose file a crash has left behind. */
static void remove_leftovers(running *r) {
    const pess__games *m = r->m;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        bool any = !is_mine(m, d);
        for (int c = 0; c < m->curve_count; c++) any |= r->todo[d * m->curve_count + c];
        if (!any) release(r, d);
    }
}

static void choose_runs(running *r) {
    const pess__games *m = r->m;
    for (int64_t i = 0; i < m->dataset_count * m->curve_count; i++) {
        const int64_t d = i / m->curve_count;
        r->todo[i] = is_mine(m, d) && !m->runs[i].finished;
        r->cost[i] = pess__games_run_seconds(m, d, (int)(i % m->curve_count));
        r->prepare_cost[d] = pess__games_prepare_seconds(m, d);
        r->run_total += is_mine(m, d);
        r->run_count += is_mine(m, d) && m->runs[i].finished;
    }
    mark_kept(r);
    remove_leftovers(r);
}

static pess_status allocate(running *r, pess_error *error) {
    const int64_t datasets = r->m->dataset_count, runs = datasets * r->m->curve_count;
    PESS_TRY(pess__allocate(&r->data, datasets, sizeof *r->data, "the datasets", error));
    PESS_TRY(pess__allocate(&r->keep, datasets, sizeof *r->keep, "the datasets", error));
    PESS_TRY(pess__allocate(&r->behaviour, datasets, sizeof *r->behaviour, "the datasets", error));
    PESS_TRY(pess__allocate(&r->prepare_cost, datasets, sizeof *r->prepare_cost, "the datasets", error));
    PESS_TRY(pess__allocate(&r->todo, runs, sizeof *r->todo, "the runs", error));
    return pess__allocate(&r->cost, runs, sizeof *r->cost, "the runs", error);
}

/* ---- the whole */

static pess_status end_of(const running *r, const pess__executed *executed, pess_error *error) {
    if (executed->interrupted)
        return pess__fail(error, PESS_INTERRUPTED, "interrupted after %lld of %lld runs; what is done is kept in %s",
                          (long long)r->run_count, (long long)r->run_total, r->m->options->out);
    if (executed->diverged > 0)
        return pess__fail(error, PESS_NOT_CONVERGED,
                          "%lld of %lld runs did not converge; the first: %.500s. The others are finished",
                          (long long)executed->diverged, (long long)r->run_total, executed->divergence.message);
    return PESS_OK;
}

static pess_status execute(running *r, pess_error *error) {
    const pess__games *m = r->m;
    PESS_TRY(allocate(r, error));
    choose_runs(r);
    const pess__work work = {.group_count = m->dataset_count,
                             .run_count = m->curve_count,
                             .todo = r->todo,
                             .cost = r->cost,
                             .prepare_cost = r->prepare_cost,
                             .prepare_makes_first = pess__games_is_imitation(m, 0),
                             .skip_diverged = true,
                             .threads = m->options->threads,
                             .context = r,
                             .prepare = prepare,
                             .run = train,
                             .keep = keep,
                             .release = release,
                             .what = m->options->experiment,
                             .unit = "runs",
                             .units_before = r->run_count,
                             .units_total = r->run_total,
                             .progress = m->options->progress,
                             .notice = m->options->notice,
                             .notice_user = m->options->notice_user};
    pess__executed executed;
    PESS_TRY(pess__execute_on_threads(&work, &executed, error));
    return end_of(r, &executed, error);
}

pess_status pess__games_execute(pess_experiment *e, pess_error *error) {
    pess__games *m = e->plan;
    running r = {.m = m};
    PESS_TRY(pess__games_measure(m, error));
    PESS_TRY(pess__games_write_settings(m, error));
    const pess_status status = execute(&r, error);
    for (int64_t d = 0; r.data != NULL && d < m->dataset_count; d++) pess_observations_destroy(r.data[d]);
    free(r.data);
    free(r.keep);
    free(r.behaviour);
    free(r.prepare_cost);
    free(r.todo);
    free(r.cost);
    return status == PESS_OK ? pess__games_summarise(m, error) : status;
}
