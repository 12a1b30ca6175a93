/* Which task comes next. A dataset is prepared (collected, its imitation network trained), then its other trainings are
 * ready. Only `limit` datasets are in memory at a time. No threads here: the caller holds a lock. */
#ifndef PESS_EXPERIMENT_QUEUE_H
#define PESS_EXPERIMENT_QUEUE_H

#include "core/status.h"

typedef struct pess__task {
    int64_t dataset;
    int curve; /* -1: prepare the dataset */
} pess__task;

typedef struct pess__queue {
    int64_t dataset_count, jobs, limit;
    int curve_count;
    bool *todo;     /* [dataset_count*curve_count] trainings that nobody has taken yet */
    bool *prepared; /* [dataset_count] */
    int64_t *left;  /* [dataset_count] tasks that are not finished, preparing among them */
    int *order;     /* [dataset_count*curve_count] curves of a dataset, the longest first */
    int64_t next;   /* dataset to prepare next */
    int64_t oldest; /* datasets before it are done */
    int64_t loaded; /* datasets in memory, or on their way there */
    int64_t ready;  /* trainings that can be taken now */
    int64_t tasks;  /* not finished, taken ones counted */
} pess__queue;

/* todo and cost [dataset_count*curve_count]; cost orders the trainings of a dataset. Curve 0 is made while preparing
 * where `with_data`. Datasets without anything to do are passed over. */
pess_status pess__queue_create(int64_t dataset_count, int curve_count, bool with_data, int64_t jobs, const bool *todo,
                               const double *cost, pess__queue **out, pess_error *error);
void pess__queue_destroy(pess__queue *queue);
/* False: nothing can be taken now; wait for a task to finish, or, where queue->tasks is 0, go home. */
bool pess__queue_take(pess__queue *queue, pess__task *out);
/* The task is finished. True: nothing is left to do with its dataset, which can leave the memory. */
bool pess__queue_finish(pess__queue *queue, const pess__task *task);

#endif
