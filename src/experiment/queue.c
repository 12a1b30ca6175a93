#include "experiment/queue.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

static pess_status allocate(pess__queue *q, pess_error *error) {
    PESS_TRY(pess__allocate(&q->todo, q->dataset_count * q->curve_count, sizeof *q->todo, "the queue", error));
    PESS_TRY(pess__allocate(&q->prepared, q->dataset_count, sizeof *q->prepared, "the queue", error));
    PESS_TRY(pess__allocate(&q->left, q->dataset_count, sizeof *q->left, "the queue", error));
    return pess__allocate(&q->order, q->dataset_count * q->curve_count, sizeof *q->order, "the queue", error);
}

/* The curves of a dataset, the longest first. */
static void sort_curves(pess__queue *q, int64_t dataset, const double *cost) {
    int *order = q->order + dataset * q->curve_count;
    const double *own = cost + dataset * q->curve_count;
    for (int c = 0; c < q->curve_count; c++) {
        int at = c;
        for (; at > 0 && own[order[at - 1]] < own[c]; at--) order[at] = order[at - 1];
        order[at] = c;
    }
}

pess_status pess__queue_create(int64_t dataset_count, int curve_count, bool with_data, int64_t jobs, const bool *todo,
                               const double *cost, pess__queue **out, pess_error *error) {
    pess__queue *q = NULL;
    PESS_TRY(pess__allocate(&q, 1, sizeof *q, "the queue", error));
    *q = (pess__queue){.dataset_count = dataset_count, .curve_count = curve_count, .jobs = jobs, .limit = jobs + 1};
    const pess_status status = allocate(q, error);
    if (status != PESS_OK) {
        pess__queue_destroy(q);
        return status;
    }
    for (int64_t d = 0; d < dataset_count; d++) {
        bool any = false;
        for (int c = 0; c < curve_count; c++) {
            const bool wanted = todo[d * curve_count + c];
            any |= wanted;
            q->todo[d * curve_count + c] = wanted && !(with_data && c == 0);
            q->left[d] += q->todo[d * curve_count + c];
        }
        q->left[d] += any; /* preparing */
        q->tasks += q->left[d];
        sort_curves(q, d, cost);
    }
    *out = q;
    return PESS_OK;
}

void pess__queue_destroy(pess__queue *q) {
    if (q == NULL) return;
    free(q->todo);
    free(q->prepared);
    free(q->left);
    free(q->order);
    free(q);
}

static bool take_dataset(pess__queue *q, pess__task *out) {
    while (q->next < q->dataset_count && q->left[q->next] == 0) q->next++;
    if (q->next == q->dataset_count || q->loaded == q->limit) return false;
    *out = (pess__task){.dataset = q->next++, .curve = -1};
    q->loaded++;
    return true;
}

/* Of the oldest dataset, so that it leaves the memory soon. */
static bool take_training(pess__queue *q, pess__task *out) {
    if (q->ready == 0) return false;
    while (q->oldest < q->next && q->left[q->oldest] == 0) q->oldest++;
    for (int64_t d = q->oldest; d < q->next; d++) {
        if (!q->prepared[d]) continue;
        for (int i = 0; i < q->curve_count; i++) {
            const int curve = q->order[d * q->curve_count + i];
            bool *todo = &q->todo[d * q->curve_count + curve];
            if (!*todo) continue;
            *todo = false;
            q->ready--;
            *out = (pess__task){.dataset = d, .curve = curve};
            return true;
        }
    }
    return false;
}

/* Preparing comes early: while fewer trainings are ready than there are jobs, so that at the end nobody waits for the
 * last dataset. */
bool pess__queue_take(pess__queue *q, pess__task *out) {
    if (q->ready < q->jobs && take_dataset(q, out)) return true;
    return take_training(q, out) || take_dataset(q, out);
}

bool pess__queue_finish(pess__queue *q, const pess__task *task) {
    if (task->curve < 0) {
        q->prepared[task->dataset] = true;
        q->ready += q->left[task->dataset] - 1;
    }
    q->left[task->dataset]--;
    q->tasks--;
    if (q->left[task->dataset] > 0) return false;
    q->loaded--;
    return true;
}
