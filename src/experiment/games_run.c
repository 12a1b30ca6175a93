/* Running: a thread per job takes tasks from the queue; the calling thread reports and asks whether to go on. */
#include "core/memory.h"
#include "core/threads.h"
#include "experiment/games.h"
#include "experiment/queue.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what the threads share. Everything but the atomics is touched under the lock. */

typedef struct notice {
    char text[400];
    bool finished; /* it tells of a run */
} notice;

typedef struct crew {
    pess_minatar *m;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pess__queue *queue;
    pess_observations **data; /* [dataset_count] in memory */
    bool *keep;               /* [dataset_count] its file stays when its runs are done */
    double *behaviour;        /* [dataset_count] */
    double *cost;             /* [dataset_count*curve_count] seconds of the trainings, as estimated before the first */
    double total, done;       /* seconds of one core, as estimated: of all tasks, of those finished */
    double begun;
    int64_t run_count, run_total; /* finished runs, those found at the start among them */
    int64_t failed;               /* runs that did not converge: the others go on */
    pess_error divergence;        /* what the first of them said */
    pess_status status;           /* the first failure */
    pess_error error;
    int64_t busy; /* threads at work */
    notice *notices;
    int64_t notice_count, notice_room;
    atomic_bool stop;
    _Atomic double *share; /* [jobs] of the present task that is done, in seconds of the estimate */
} crew;

/* One thread's place in the crew. */
typedef struct worker {
    crew *crew;
    int64_t number;
    double from, seconds; /* of its present task's estimate: where the present part begins, and its length */
} worker;

static bool on_progress(void *user, const char *what, double done, double total, const char *unit) {
    worker *w = user;
    (void)what;
    (void)unit;
    if (total > 0) atomic_store(&w->crew->share[w->number], w->from + w->seconds * fmin(done / total, 1));
    return !atomic_load(&w->crew->stop);
}

static void fail_crew(crew *k, pess_status status, const pess_error *error) {
    if (k->status == PESS_OK) {
        k->status = status;
        k->error = *error;
    }
    atomic_store(&k->stop, true);
}

/* ---- a dataset */

/* From the file that an interrupted run left, where it is the right one. */
static pess_observations *read_data(const crew *k, int64_t index, const char *path) {
    const pess__games_dataset *dataset = &k->m->datasets[index];
    pess_observations *data = NULL;
    pess_observations_info info;
    char seed[64];
    if (access(path, R_OK) != 0 || pess_observations_read(path, &data, NULL) != PESS_OK) return NULL;
    pess_observations_get_info(data, &info);
    (void)snprintf(seed, sizeof seed, "\nseed=%llu\n", (unsigned long long)dataset->data_seed);
    if (info.transitions == dataset->transitions && strstr(info.notes, seed) != NULL &&
        strcmp(info.game, k->m->games[dataset->game]->name) == 0)
        return data;
    pess_observations_destroy(data);
    return NULL;
}

static pess_status collect(worker *w, int64_t index, const char *path, pess_observations **out, pess_error *error) {
    const pess_minatar *m = w->crew->m;
    const pess__games_dataset *dataset = &m->datasets[index];
    pess_collect_options options = pess_collect_options_defaults();
    pess_observations *data = NULL;
    options.env.game = m->games[dataset->game]->name;
    options.net = m->policy[dataset->game];
    options.sample = m->policy_samples[dataset->game];
    options.epsilon = dataset->epsilon;
    options.transitions = dataset->transitions;
    options.seed = dataset->data_seed;
    options.progress = (pess_progress){.report = on_progress, .user = w};
    PESS_TRY(pess_collect(&options, &data, error));
    const pess_status status = pess_observations_write(data, path, error);
    if (status == PESS_OK)
        *out = data;
    else
        pess_observations_destroy(data);
    return status;
}

/* How well the policy that collects does: on episodes of its own, as the dataset may not hold a whole one. */
static pess_status play(worker *w, int64_t index, double *out, pess_error *error) {
    const pess_minatar *m = w->crew->m;
    const pess__games_dataset *dataset = &m->datasets[index];
    for (int c = 0; c < m->curve_count; c++) {
        const pess__games_run *run = pess__games_run_of(m, index, c);
        if (!run->finished) continue;
        *out = run->behaviour;
        return PESS_OK;
    }
    pess_play_options options = pess_play_options_defaults();
    pess_play_result result;
    options.env.game = m->games[dataset->game]->name;
    options.sample = m->policy_samples[dataset->game];
    options.epsilon = dataset->epsilon;
    options.episodes = m->options.protocol.score_episodes;
    options.seed = dataset->play_seed;
    options.threads = 1;
    options.progress = (pess_progress){.report = on_progress, .user = w};
    PESS_TRY(pess_play(m->policy[dataset->game], &options, &result, error));
    *out = result.mean_return;
    return PESS_OK;
}

/* ---- a training */

static notice *add_notice(crew *k, bool finished) {
    if (k->m->options.notice == NULL ||
        pess__grow(&k->notices, &k->notice_room, k->notice_count + 1, sizeof *k->notices, "notices", NULL) != PESS_OK)
        return NULL;
    notice *added = &k->notices[k->notice_count++];
    *added = (notice){.finished = finished};
    return added;
}

static void tell_finished(crew *k, int64_t index, int curve) {
    const pess_minatar *m = k->m;
    const pess__games_dataset *dataset = &m->datasets[index];
    const pess__games_run *run = pess__games_run_of(m, index, curve);
    notice *line = add_notice(k, true);
    if (line == NULL) return;
    (void)snprintf(line->text, sizeof line->text,
                   "[%lld/%lld] %s, %s %g, trial %d, %s: %.4g (data policy %.4g), %.0f s", (long long)k->run_count,
                   (long long)k->run_total, m->games[dataset->game]->name, pess__games_is_data(m) ? "transitions" : "ε",
                   m->x[dataset->x], dataset->trial + 1, m->curves[curve].name, run->result.score, run->behaviour,
                   run->result.seconds);
}

/* What the data do not support, by the first run of a game and curve that says so. */
static void tell_warning(crew *k, int64_t index, int curve) {
    const pess_minatar *m = k->m;
    const int game = m->datasets[index].game;
    int64_t runs = 0;
    if (pess__games_run_of(m, index, curve)->result.warning[0] == '\0') return;
    const char *warning = pess__games_warning(m, game, curve, &runs);
    notice *line = runs == 1 ? add_notice(k, false) : NULL;
    if (line != NULL)
        (void)snprintf(line->text, sizeof line->text, "warning: %s, %s: %s", m->games[game]->name,
                       m->curves[curve].name, warning);
}

static void set_train_options(worker *w, int64_t index, int curve, const char *directory, const char *imitation,
                              pess_train_options *o) {
    const pess_minatar *m = w->crew->m;
    const pess__games_dataset *dataset = &m->datasets[index];
    *o = pess_train_options_defaults();
    o->data = w->crew->data[index];
    o->data_name = "data.pessdata";
    o->algorithm = m->curves[curve].learner->name;
    o->protocol = m->options.protocol;
    o->alpha = m->curves[curve].alpha;
    o->out = directory;
    o->imitation = imitation;
    o->resume = true;
    o->seed = pess__games_is_imitation(m, curve) ? dataset->imitation_seed : dataset->train_seed;
    o->threads = 1;
    o->progress = (pess_progress){.report = on_progress, .user = w};
}

static pess_status train(worker *w, int64_t index, int curve, pess_error *error) {
    crew *k = w->crew;
    pess_minatar *m = k->m;
    char directory[PESS__GAMES_PATH], imitation[PESS__GAMES_PATH];
    pess_train_options options;
    pess_train_result result;
    pess_observations_info info;
    pess__games_run_path(m, m->out, index, curve, "", directory);
    pess__games_run_path(m, m->out, index, 0, "policy.pessnet", imitation);
    PESS_TRY(pess__games_make_directories(directory, error));
    set_train_options(w, index, curve, directory, m->curves[curve].learner->imitation ? imitation : NULL, &options);
    PESS_TRY(pess_train_run(&options, &result, error));
    pess_observations_get_info(k->data[index], &info);
    pess__games_run *run = pess__games_run_of(m, index, curve);
    run->result = result;
    run->behaviour = k->behaviour[index];
    run->data_return = info.mean_return;
    PESS_TRY(pess__games_write_result(m, index, curve, error));
    (void)pthread_mutex_lock(&k->lock);
    run->finished = true;
    k->run_count++;
    tell_finished(k, index, curve);
    tell_warning(k, index, curve);
    (void)pthread_mutex_unlock(&k->lock);
    return PESS_OK;
}

static pess_status prepare(worker *w, int64_t index, pess_error *error) {
    crew *k = w->crew;
    pess_minatar *m = k->m;
    char path[PESS__GAMES_PATH];
    pess__games_dataset_path(m, m->out, index, "", path);
    PESS_TRY(pess__games_make_directories(path, error));
    pess__games_dataset_path(m, m->out, index, "data.pessdata", path);
    w->seconds = pess__games_prepare_seconds(m, index) / 2;
    k->data[index] = read_data(k, index, path);
    if (k->data[index] == NULL) PESS_TRY(collect(w, index, path, &k->data[index], error));
    w->from += w->seconds;
    PESS_TRY(play(w, index, &k->behaviour[index], error));
    w->from += w->seconds;
    if (!pess__games_is_imitation(m, 0) || pess__games_run_of(m, index, 0)->finished) return PESS_OK;
    w->seconds = k->cost[index * m->curve_count];
    return train(w, index, 0, error);
}

/* ---- threads */

static double task_seconds(const crew *k, const pess__task *task) {
    const pess_minatar *m = k->m;
    const double *cost = k->cost + task->dataset * m->curve_count;
    if (task->curve >= 0) return cost[task->curve];
    const bool trains = pess__games_is_imitation(m, 0) && !pess__games_run_of(m, task->dataset, 0)->finished;
    return pess__games_prepare_seconds(m, task->dataset) + (trains ? cost[0] : 0);
}

static void release_data(crew *k, int64_t index) {
    char path[PESS__GAMES_PATH];
    pess_observations_destroy(k->data[index]);
    k->data[index] = NULL;
    pess__games_dataset_path(k->m, k->m->out, index, "data.pessdata", path);
    if (!k->keep[index]) (void)unlink(path);
}

/* A training that diverges is counted, and the others go on; any other failure stops them all, and is what is told. */
static bool goes_on(crew *k, const pess__task *task, pess_status status, const pess_error *error) {
    const bool diverged = status == PESS_NOT_CONVERGED && task->curve >= 0;
    if (diverged && k->failed++ == 0) k->divergence = *error;
    if (status != PESS_OK && !diverged) fail_crew(k, status, error);
    return status == PESS_OK || diverged;
}

static void do_task(worker *w, const pess__task *task, double seconds) {
    crew *k = w->crew;
    pess_error error = {0};
    w->from = 0;
    w->seconds = seconds;
    const pess_status status =
        task->curve < 0 ? prepare(w, task->dataset, &error) : train(w, task->dataset, task->curve, &error);
    (void)pthread_mutex_lock(&k->lock);
    atomic_store(&k->share[w->number], 0);
    if (goes_on(k, task, status, &error)) {
        k->done += seconds;
        if (pess__queue_finish(k->queue, task)) release_data(k, task->dataset);
    }
    (void)pthread_cond_broadcast(&k->changed);
    (void)pthread_mutex_unlock(&k->lock);
}

static void *work(void *user) {
    worker *w = user;
    crew *k = w->crew;
    pess__task task;
    (void)pthread_mutex_lock(&k->lock);
    while (!atomic_load(&k->stop) && k->queue->tasks > 0) {
        if (!pess__queue_take(k->queue, &task)) {
            (void)pthread_cond_wait(&k->changed, &k->lock);
            continue;
        }
        const double seconds = task_seconds(k, &task);
        (void)pthread_mutex_unlock(&k->lock);
        do_task(w, &task, seconds);
        (void)pthread_mutex_lock(&k->lock);
    }
    k->busy--;
    (void)pthread_cond_broadcast(&k->changed);
    (void)pthread_mutex_unlock(&k->lock);
    return NULL;
}

/* ---- the calling thread */

static double done_so_far(const crew *k) {
    double done = k->done;
    for (int64_t i = 0; i < k->m->options.jobs; i++) done += atomic_load(&k->share[i]);
    return done;
}

/* The lock is held, and let go while others are told. */
static void pass_on(crew *k) {
    const pess_minatar_options *o = &k->m->options;
    const double done = done_so_far(k), elapsed = pess__clock() - k->begun;
    notice *notices = k->notices;
    const int64_t count = k->notice_count, runs = k->run_total;
    k->notices = NULL;
    k->notice_count = k->notice_room = 0;
    (void)pthread_mutex_unlock(&k->lock);
    const double left = done > 0 ? elapsed * (k->total - done) / done : 0;
    for (int64_t i = 0; i < count; i++) o->notice(o->notice_user, notices[i].text, notices[i].finished ? left : NAN);
    free(notices);
    const double share = k->total > 0 ? done / k->total : 0;
    if (o->progress.report != NULL &&
        !o->progress.report(o->progress.user, k->m->info->name, share * (double)runs, (double)runs, "runs"))
        atomic_store(&k->stop, true);
    (void)pthread_mutex_lock(&k->lock);
}

static void watch(crew *k) {
    (void)pthread_mutex_lock(&k->lock);
    while (k->busy > 0) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        (void)pthread_cond_timedwait(&k->changed, &k->lock, &until);
        pass_on(k);
        if (atomic_load(&k->stop)) (void)pthread_cond_broadcast(&k->changed);
    }
    pass_on(k);
    (void)pthread_mutex_unlock(&k->lock);
}

static pess_status run_crew(crew *k, worker *workers, pthread_t *threads, pess_error *error) {
    const int64_t jobs = k->m->options.jobs;
    int64_t started = 0;
    for (; started < jobs; started++) {
        workers[started] = (worker){.crew = k, .number = started};
        (void)pthread_mutex_lock(&k->lock);
        k->busy++;
        (void)pthread_mutex_unlock(&k->lock);
        if (pthread_create(&threads[started], NULL, work, &workers[started]) != 0) break;
    }
    if (started < jobs) {
        (void)pthread_mutex_lock(&k->lock);
        k->busy--;
        (void)pthread_mutex_unlock(&k->lock);
    }
    if (started > 0) watch(k);
    for (int64_t i = 0; i < started; i++) (void)pthread_join(threads[i], NULL);
    return started > 0 ? PESS_OK : pess__fail(error, PESS_MEMORY, "no thread can be started");
}

static pess_status end_of(const crew *k, pess_error *error) {
    if (k->status == PESS_INTERRUPTED || (k->status == PESS_OK && atomic_load(&k->stop)))
        return pess__fail(error, PESS_INTERRUPTED,
                          "interrupted after %lld of %lld runs; what is done is kept in %s, and the same command with "
                          "--resume goes on from there",
                          (long long)k->run_count, (long long)k->run_total, k->m->out);
    if (k->status != PESS_OK) return pess__fail(error, k->status, "%s", k->error.message);
    if (k->failed > 0)
        return pess__fail(error, PESS_NOT_CONVERGED,
                          "%lld of %lld runs did not converge; the first: %.500s. The others are finished; pess merge "
                          "--partial makes a page of them",
                          (long long)k->failed, (long long)k->run_total, k->divergence.message);
    return PESS_OK;
}

static void count_runs(crew *k, const bool *todo) {
    const pess_minatar *m = k->m;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        bool any = false;
        if (!pess__games_mine(m, d)) continue;
        for (int c = 0; c < m->curve_count; c++) {
            const bool wanted = todo[d * m->curve_count + c];
            any |= wanted;
            k->run_total++;
            k->run_count += !wanted;
            k->total += wanted ? k->cost[d * m->curve_count + c] : 0;
        }
        k->total += any ? pess__games_prepare_seconds(m, d) : 0;
    }
}

/* Files stay where this run is to keep them, and where an earlier one may have kept them on purpose. */
static void mark_kept(crew *k) {
    const pess_minatar *m = k->m;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        char path[PESS__GAMES_PATH];
        pess__games_dataset_path(m, m->out, d, "data.pessdata", path);
        k->keep[d] = m->options.keep_data || (m->data_kept && access(path, F_OK) == 0);
    }
}

/* Datasets of which nothing is left to run, but whose file a crash has left behind. */
static void remove_leftovers(crew *k, const bool *todo) {
    const pess_minatar *m = k->m;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        bool any = !pess__games_mine(m, d);
        for (int c = 0; c < m->curve_count; c++) any |= todo[d * m->curve_count + c];
        if (!any) release_data(k, d);
    }
}

/* Which runs are left, and a queue of them. */
static pess_status make_queue(crew *k, pess_error *error) {
    pess_minatar *m = k->m;
    const int64_t count = m->dataset_count * m->curve_count;
    bool *todo = NULL;
    PESS_TRY(pess__allocate(&k->cost, count, sizeof *k->cost, "the queue", error));
    PESS_TRY(pess__allocate(&todo, count, sizeof *todo, "the queue", error));
    for (int64_t i = 0; i < count; i++) {
        const int64_t d = i / m->curve_count;
        const int c = (int)(i % m->curve_count);
        todo[i] = pess__games_mine(m, d) && !m->runs[i].finished;
        k->cost[i] = pess__games_run_seconds(m, d, c);
    }
    count_runs(k, todo);
    mark_kept(k);
    remove_leftovers(k, todo);
    const pess_status status = pess__queue_create(m->dataset_count, m->curve_count, pess__games_is_imitation(m, 0),
                                                  m->options.jobs, todo, k->cost, &k->queue, error);
    free(todo);
    return status;
}

static pess_status run(crew *k, pess_error *error) {
    pess_minatar *m = k->m;
    worker *workers = NULL;
    pthread_t *threads = NULL;
    PESS_TRY(pess__allocate(&k->data, m->dataset_count, sizeof *k->data, "the datasets", error));
    PESS_TRY(pess__allocate(&k->keep, m->dataset_count, sizeof *k->keep, "the datasets", error));
    PESS_TRY(pess__allocate(&k->behaviour, m->dataset_count, sizeof *k->behaviour, "the datasets", error));
    PESS_TRY(pess__allocate(&k->share, m->options.jobs, sizeof *k->share, "the threads", error));
    PESS_TRY(make_queue(k, error));
    pess_status status = pess__allocate(&workers, m->options.jobs, sizeof *workers, "the threads", error);
    if (status == PESS_OK) status = pess__allocate(&threads, m->options.jobs, sizeof *threads, "the threads", error);
    if (status == PESS_OK) status = run_crew(k, workers, threads, error);
    free(workers);
    free(threads);
    return status == PESS_OK ? end_of(k, error) : status;
}

pess_status pess_minatar_run(pess_minatar *m, pess_error *error) {
    PESS_TRY(pess__games_make_directories(m->out, error));
    PESS_TRY(pess__games_measure(m, error));
    PESS_TRY(pess__games_write_settings(m, error));
    crew k = {.m = m, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .begun = pess__clock()};
    pess_status status = run(&k, error);
    for (int64_t d = 0; k.data != NULL && d < m->dataset_count; d++) pess_observations_destroy(k.data[d]);
    pess__queue_destroy(k.queue);
    free(k.data);
    free(k.keep);
    free(k.behaviour);
    free(k.cost);
    free((void *)k.share);
    free(k.notices);
    m->seconds = pess__clock() - k.begun;
    return status == PESS_OK ? pess__games_summarise(m, error) : status;
}
