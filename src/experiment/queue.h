/* Which task comes next. A group is prepared, then its runs are ready, the longest first. Only threads + 1 groups are
 * in memory at a time. No threads here: the caller holds a lock. */
#ifndef PESS_EXPERIMENT_QUEUE_H
#define PESS_EXPERIMENT_QUEUE_H

#include "experiment/executor.h"

typedef struct pess__task {
    int64_t group;
    int run; /* -1: prepare the group */
} pess__task;

typedef struct pess__queue {
    int64_t group_count, threads, limit;
    int run_count;
    bool *todo;     /* [group_count*run_count] runs that nobody has taken yet */
    bool *prepared; /* [group_count] */
    int64_t *left;  /* [group_count] tasks that are not finished, preparing among them */
    int *order;     /* [group_count*run_count] runs of a group, the longest first */
    int64_t next;   /* group to prepare next */
    int64_t oldest; /* groups before it are done */
    int64_t loaded; /* groups in memory, or on their way there */
    int64_t ready;  /* runs that can be taken now */
    int64_t tasks;  /* not finished, taken ones counted */
} pess__queue;

/* Of what work->todo asks for; groups without anything to do are passed over. */
pess_status pess__queue_create(const pess__work *work, pess__queue **out, pess_error *error);
void pess__queue_destroy(pess__queue *queue);
/* The cost of all its tasks. */
double pess__queue_cost(const pess__queue *queue, const pess__work *work);
/* False: nothing can be taken now; wait for a task to finish or, where queue->tasks is 0, stop. */
bool pess__queue_take(pess__queue *queue, pess__task *out);
/* The task is finished. True: nothing is left to do with its group, which can leave the memory. */
bool pess__queue_finish(pess__queue *queue, const pess__task *task);

#endif
