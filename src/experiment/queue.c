#include "experiment/queue.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static pess_status allocate(pess__queue *q, pess_error *error) {
    PESS_TRY(pess__allocate(&q->todo, q->group_count * q->run_count, sizeof *q->todo, "the queue", error));
    PESS_TRY(pess__allocate(&q->prepared, q->group_count, sizeof *q->prepared, "the queue", error));
    PESS_TRY(pess__allocate(&q->left, q->group_count, sizeof *q->left, "the queue", error));
    return pess__allocate(&q->order, q->group_count * q->run_count, sizeof *q->order, "the queue", error);
}

/* The runs of a group, the longest first. */
static void sort_runs(pess__queue *q, int64_t group, const double *cost) {
    int *order = q->order + group * q->run_count;
    const double *own = cost + group * q->run_count;
    for (int r = 0; r < q->run_count; r++) {
        int at = r;
        for (; at > 0 && own[order[at - 1]] < own[r]; at--) order[at] = order[at - 1];
        order[at] = r;
    }
}

static void add_group(pess__queue *q, int64_t group, const pess__work *work) {
    bool any = false;
    for (int r = 0; r < q->run_count; r++) {
        const bool wanted = work->todo[group * q->run_count + r];
        any |= wanted;
        q->todo[group * q->run_count + r] = wanted && !(work->prepare_makes_first && r == 0);
        q->left[group] += q->todo[group * q->run_count + r];
    }
    q->left[group] += any; /* preparing */
    q->tasks += q->left[group];
    sort_runs(q, group, work->cost);
}

pess_status pess__queue_create(const pess__work *work, pess__queue **out, pess_error *error) {
    pess__queue *q = NULL;
    PESS_TRY(pess__allocate(&q, 1, sizeof *q, "the queue", error));
    *q = (pess__queue){.group_count = work->group_count,
                       .run_count = work->run_count,
                       .threads = work->threads,
                       .limit = work->threads + 1};
    const pess_status status = allocate(q, error);
    if (status != PESS_OK) {
        pess__queue_destroy(q);
        return status;
    }
    for (int64_t g = 0; g < q->group_count; g++) add_group(q, g, work);
    *out = q;
    return PESS_OK;
}

double pess__queue_cost(const pess__queue *q, const pess__work *work) {
    double total = 0;
    for (int64_t g = 0; g < q->group_count; g++) {
        if (q->left[g] > 0 && work->prepare_cost != NULL) total += work->prepare_cost[g];
        for (int r = 0; r < q->run_count; r++)
            total += work->todo[g * q->run_count + r] ? work->cost[g * q->run_count + r] : 0;
    }
    return total;
}

void pess__queue_destroy(pess__queue *q) {
    if (q == NULL) return;
    free(q->todo);
    free(q->prepared);
    free(q->left);
    free(q->order);
    free(q);
}

static bool take_group(pess__queue *q, pess__task *out) {
    while (q->next < q->group_count && q->left[q->next] == 0) q->next++;
    if (q->next == q->group_count || q->loaded == q->limit) return false;
    *out = (pess__task){.group = q->next++, .run = -1};
    q->loaded++;
    return true;
}

/* Of the oldest group, so that it leaves the memory soon. */
static bool take_run(pess__queue *q, pess__task *out) {
    if (q->ready == 0) return false;
    while (q->oldest < q->next && q->left[q->oldest] == 0) q->oldest++;
    for (int64_t g = q->oldest; g < q->next; g++) {
        if (!q->prepared[g]) continue;
        for (int i = 0; i < q->run_count; i++) {
            const int run = q->order[g * q->run_count + i];
            bool *todo = &q->todo[g * q->run_count + run];
            if (!*todo) continue;
            *todo = false;
            q->ready--;
            *out = (pess__task){.group = g, .run = run};
            return true;
        }
    }
    return false;
}

/* Preparing comes early: while fewer runs are ready than there are threads, so that at the end nobody waits for the
 * last group. */
bool pess__queue_take(pess__queue *q, pess__task *out) {
    if (q->ready < q->threads && take_group(q, out)) return true;
    return take_run(q, out) || take_group(q, out);
}

bool pess__queue_finish(pess__queue *q, const pess__task *task) {
    if (task->run < 0) {
        q->prepared[task->group] = true;
        q->ready += q->left[task->group] - 1;
    }
    q->left[task->group]--;
    q->tasks--;
    if (q->left[task->group] > 0) return false;
    q->loaded--;
    return true;
}
