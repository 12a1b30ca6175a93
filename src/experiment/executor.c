/* Threads: each takes tasks from the queue; the calling thread reports and asks whether to go on. */
#include "experiment/executor.h"

#include "core/memory.h"
#include "core/text.h"
#include "core/threads.h"
#include "experiment/queue.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct notice {
    char text[400];
    bool finished; /* it tells of a run */
} notice;

/* What the threads share. Everything but the atomics is touched under the lock. */
typedef struct execution {
    const pess__work *work;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a task may be ready */
    pthread_cond_t news;    /* for the calling thread */
    pess__queue *queue;
    double total, done; /* cost of all tasks, of those finished */
    double begun, next_report;
    pess__executed result;
    pess_status status; /* the first failure */
    pess_error error;
    int64_t busy;    /* workers that have not left */
    int64_t waiting; /* of them, for a task */
    notice *notices;
    int64_t notice_count, notice_room;
    atomic_bool stop;
    _Atomic double *share; /* [threads] of the present task that is done, as cost */
} execution;

struct pess__worker {
    execution *execution;
    int64_t number;
    void *scratch;
    double before, cost; /* of its present task: of the parts that are done, of the present one */
};

/* ---- for the functions of a work */

void *pess__worker_scratch(pess__worker *worker) { return worker->scratch; }

static bool on_progress(void *user, const char *what, double done, double total, const char *unit) {
    pess__worker *w = user;
    (void)what;
    (void)unit;
    if (total > 0) atomic_store(&w->execution->share[w->number], w->before + w->cost * fmin(done / total, 1));
    return !atomic_load(&w->execution->stop);
}

pess_progress pess__worker_progress(pess__worker *worker) {
    return (pess_progress){.report = on_progress, .user = worker};
}

void pess__worker_begin(pess__worker *worker, double cost) { worker->cost = cost; }

void pess__worker_part(pess__worker *worker, double cost) {
    worker->before += worker->cost;
    worker->cost = cost;
}

void pess__worker_tell(pess__worker *worker, bool finished, const char *format, ...) {
    execution *x = worker->execution;
    if (x->work->notice == NULL ||
        pess__grow(&x->notices, &x->notice_room, x->notice_count + 1, sizeof *x->notices, "notices", NULL) != PESS_OK)
        return;
    notice *added = &x->notices[x->notice_count++];
    added->finished = finished;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(added->text, sizeof added->text, format, arguments);
    va_end(arguments);
    (void)pthread_cond_signal(&x->news);
}

static pess_status keep(pess__worker *w, int64_t group, int run, pess_error *error) {
    const pess__work *work = w->execution->work;
    (void)pthread_mutex_lock(&w->execution->lock);
    const pess_status status = work->keep(work->context, w, group, run, error);
    (void)pthread_mutex_unlock(&w->execution->lock);
    return status;
}

pess_status pess__worker_keep_first(pess__worker *worker, int64_t group, pess_error *error) {
    return keep(worker, group, 0, error);
}

/* ---- a worker */

static void fail(execution *x, pess_status status, const pess_error *error) {
    if (x->status == PESS_OK && status != PESS_INTERRUPTED) {
        x->status = status;
        x->error = *error;
    }
    atomic_store(&x->stop, true);
}

/* A run that diverges may be counted, and the others go on; any other failure stops them all, and is what is told. */
static bool goes_on(execution *x, const pess__task *task, pess_status status, const pess_error *error) {
    const bool diverged = status == PESS_NOT_CONVERGED && task->run >= 0 && x->work->skip_diverged;
    if (diverged && x->result.diverged++ == 0) x->result.divergence = *error;
    if (status != PESS_OK && !diverged) fail(x, status, error);
    return status == PESS_OK || diverged;
}

static double cost_of(const pess__work *work, const pess__task *task) {
    const int64_t first = task->group * work->run_count;
    if (task->run >= 0) return work->cost[first + task->run];
    const bool makes_first = work->prepare_makes_first && work->todo[first];
    return (work->prepare_cost != NULL ? work->prepare_cost[task->group] : 0) + (makes_first ? work->cost[first] : 0);
}

static pess_status make(pess__worker *w, const pess__task *task, pess_error *error) {
    const pess__work *work = w->execution->work;
    if (task->run < 0) return work->prepare != NULL ? work->prepare(work->context, w, task->group, error) : PESS_OK;
    PESS_TRY(work->run(work->context, w, task->group, task->run, error));
    return keep(w, task->group, task->run, error);
}

static void do_task(pess__worker *w, const pess__task *task) {
    execution *x = w->execution;
    const pess__work *work = x->work;
    pess_error error = {0};
    w->before = 0;
    w->cost = cost_of(work, task);
    const double whole = w->cost;
    const pess_status status = make(w, task, &error);
    (void)pthread_mutex_lock(&x->lock);
    atomic_store(&x->share[w->number], 0);
    if (goes_on(x, task, status, &error)) {
        x->done += whole;
        if (pess__queue_finish(x->queue, task) && work->release != NULL) work->release(work->context, task->group);
    }
    if (x->waiting > 0) (void)pthread_cond_broadcast(&x->changed);
    (void)pthread_mutex_unlock(&x->lock);
}

static void work_on(pess__worker *w) {
    execution *x = w->execution;
    pess__task task;
    (void)pthread_mutex_lock(&x->lock);
    while (!atomic_load(&x->stop) && x->queue->tasks > 0) {
        if (!pess__queue_take(x->queue, &task)) {
            x->waiting++;
            (void)pthread_cond_wait(&x->changed, &x->lock);
            x->waiting--;
            continue;
        }
        (void)pthread_mutex_unlock(&x->lock);
        do_task(w, &task);
        (void)pthread_mutex_lock(&x->lock);
    }
    (void)pthread_mutex_unlock(&x->lock);
}

static void *work(void *user) {
    pess__worker *w = user;
    execution *x = w->execution;
    const pess__work *todo = x->work;
    pess_error error = {0};
    const pess_status status = todo->enter != NULL ? todo->enter(todo->context, &w->scratch, &error) : PESS_OK;
    if (status == PESS_OK) work_on(w);
    if (status == PESS_OK && todo->leave != NULL) todo->leave(w->scratch);
    (void)pthread_mutex_lock(&x->lock);
    if (status != PESS_OK) fail(x, status, &error);
    x->busy--;
    (void)pthread_cond_broadcast(&x->changed);
    (void)pthread_cond_signal(&x->news);
    (void)pthread_mutex_unlock(&x->lock);
    return NULL;
}

/* ---- the calling thread */

static double done_so_far(const execution *x) {
    double done = x->done;
    for (int64_t i = 0; i < x->work->threads; i++) done += atomic_load(&x->share[i]);
    return done;
}

static bool report(const execution *x, double done) {
    const pess__work *w = x->work;
    const double share = x->total > 0 ? done / x->total : 1, left = (double)(w->units_total - w->units_before);
    return w->progress.report == NULL ||
           w->progress.report(w->progress.user, w->what, (double)w->units_before + share * left, (double)w->units_total,
                              w->unit);
}

/* Called with the lock held, and releases it during the callbacks. */
static void pass_on(execution *x) {
    const pess__work *w = x->work;
    const double done = done_so_far(x), elapsed = pess__clock() - x->begun;
    notice *notices = x->notices;
    const int64_t count = x->notice_count;
    const bool due = pess__clock() >= x->next_report;
    x->notices = NULL;
    x->notice_count = x->notice_room = 0;
    (void)pthread_mutex_unlock(&x->lock);
    const double left = done > 0 ? elapsed * (x->total - done) / done : 0;
    for (int64_t i = 0; i < count; i++) w->notice(w->notice_user, notices[i].text, notices[i].finished ? left : NAN);
    free(notices);
    if (due) x->next_report = pess__clock() + 0.1;
    const bool go_on = !due || report(x, done);
    (void)pthread_mutex_lock(&x->lock);
    if (go_on || atomic_load(&x->stop)) return;
    x->result.interrupted = true;
    atomic_store(&x->stop, true);
    (void)pthread_cond_broadcast(&x->changed);
}

static void watch(execution *x) {
    (void)pthread_mutex_lock(&x->lock);
    while (x->busy > 0) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        (void)pthread_cond_timedwait(&x->news, &x->lock, &until);
        pass_on(x);
    }
    pass_on(x);
    (void)pthread_mutex_unlock(&x->lock);
}

static pess_status run_workers(execution *x, pess__worker *workers, pthread_t *threads, pess_error *error) {
    const int64_t count = x->work->threads;
    int64_t started = 0;
    x->busy = count;
    for (; started < count; started++) {
        workers[started] = (pess__worker){.execution = x, .number = started};
        if (pthread_create(&threads[started], NULL, work, &workers[started]) != 0) break;
    }
    (void)pthread_mutex_lock(&x->lock);
    x->busy -= count - started;
    (void)pthread_mutex_unlock(&x->lock);
    if (started > 0) watch(x);
    for (int64_t i = 0; i < started; i++) (void)pthread_join(threads[i], NULL);
    return started > 0 ? PESS_OK : pess__fail(error, PESS_MEMORY, "no thread can be started");
}

static pess_status execute(execution *x, pess_error *error) {
    const pess__work *w = x->work;
    pess__worker *workers = NULL;
    pthread_t *threads = NULL;
    PESS_TRY(pess__queue_create(w, &x->queue, error));
    x->total = pess__queue_cost(x->queue, w);
    PESS_TRY(pess__allocate(&x->share, w->threads, sizeof *x->share, "the threads", error));
    pess_status status = pess__allocate(&workers, w->threads, sizeof *workers, "the threads", error);
    if (status == PESS_OK) status = pess__allocate(&threads, w->threads, sizeof *threads, "the threads", error);
    if (status == PESS_OK) status = run_workers(x, workers, threads, error);
    free(workers);
    free(threads);
    return status;
}

pess_status pess__execute_on_threads(const pess__work *todo, pess__executed *out, pess_error *error) {
    execution x = {.work = todo,
                   .lock = PTHREAD_MUTEX_INITIALIZER,
                   .changed = PTHREAD_COND_INITIALIZER,
                   .news = PTHREAD_COND_INITIALIZER,
                   .begun = pess__clock()};
    x.next_report = x.begun + 0.1;
    const pess_status status = execute(&x, error);
    pess__queue_destroy(x.queue);
    free((void *)x.share);
    free(x.notices);
    *out = x.result;
    if (status != PESS_OK) return status;
    return x.status == PESS_OK ? PESS_OK : pess__fail(error, x.status, "%s", x.error.message);
}

/* ---- shards */

pess_status pess__shard_parse(const char *text, pess__shard *out, pess_error *error) {
    const char *slash = text != NULL ? strchr(text, '/') : NULL;
    pess__shard shard = {1, 1};
    *out = shard;
    if (text == NULL) return PESS_OK;
    if (slash == NULL || !pess__parse_int64(text, slash, &shard.index) ||
        !pess__parse_int64(slash + 1, slash + strlen(slash), &shard.count) || shard.index < 1 ||
        shard.index > shard.count)
        return pess__fail(error, PESS_ARGUMENT, "shard: found '%s', expected I/N with 1 <= I <= N, e.g. 1/4", text);
    *out = shard;
    return PESS_OK;
}

void pess__shard_note(pess__shard shard, char out[PESS__SHARD_NOTE]) {
    out[0] = '\0';
    if (shard.count > 1)
        (void)snprintf(out, PESS__SHARD_NOTE, " · shard %lld of %lld only", (long long)shard.index,
                       (long long)shard.count);
}
