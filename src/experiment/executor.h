/* Executors: they are given independent runs with their costs, a function that makes one, and a place where finished
 * ones are kept; they know nothing of what a run is. Runs come in groups (all runs on one dataset): a group may have to
 * be prepared before its runs, and leaves the memory after the last of them. Threads of this machine are one executor;
 * shards are groups that are left to another machine (pess__shard_has); a distributed one has the same interface. */
#ifndef PESS_EXPERIMENT_EXECUTOR_H
#define PESS_EXPERIMENT_EXECUTOR_H

#include "core/status.h"

typedef struct pess__worker pess__worker;

typedef struct pess__work {
    int64_t group_count;
    int run_count;              /* of every group */
    const bool *todo;           /* [group_count*run_count] */
    const double *cost;         /* [group_count*run_count] of the runs, in any unit */
    const double *prepare_cost; /* [group_count]; NULL: groups need no preparing */
    bool prepare_makes_first;   /* run 0 is made, and kept, while preparing */
    bool skip_diverged;         /* a run that does not converge is counted, and the others go on */
    int64_t threads;

    void *context;
    /* A worker's own memory, in worker order; NULL: none. */
    pess_status (*enter)(void *context, void **scratch, pess_error *error);
    void (*leave)(void *scratch);
    pess_status (*prepare)(void *context, pess__worker *worker, int64_t group, pess_error *error);
    pess_status (*run)(void *context, pess__worker *worker, int64_t group, int run, pess_error *error);
    /* Keeps a finished run: one at a time, whoever made it. */
    pess_status (*keep)(void *context, pess__worker *worker, int64_t group, int run, pess_error *error);
    void (*release)(void *context, int64_t group); /* nothing is left to do with it; NULL: nothing to release */

    /* Progress in `unit`s, told by the calling thread: so many of the total were there before. */
    const char *what, *unit;
    int64_t units_before, units_total;
    pess_progress progress;
    void (*notice)(void *user, const char *line, double seconds_left); /* NULL: none */
    void *notice_user;
} pess__work;

typedef struct pess__executed {
    bool interrupted;      /* progress asked to stop */
    int64_t diverged;      /* runs that did not converge */
    pess_error divergence; /* what the first of them said */
} pess__executed;

/* PESS_OK also where it was interrupted or runs diverged: `out` tells. Else the first failure, which stops the others.
 */
typedef pess_status pess__executor(const pess__work *work, pess__executed *out, pess_error *error);

pess__executor pess__execute_on_threads;

/* A part of the groups, which are dealt to the shards one by one; shards count from 1. */
typedef struct pess__shard {
    int64_t index, count;
} pess__shard;

/* "2/8"; NULL is the whole. */
pess_status pess__shard_parse(const char *text, pess__shard *out, pess_error *error);
static inline bool pess__shard_has(pess__shard shard, int64_t group) { return group % shard.count == shard.index - 1; }
/* " · shard 2 of 8 only", for notes; "" for the whole. */
enum { PESS__SHARD_NOTE = 60 };
void pess__shard_note(pess__shard shard, char out[PESS__SHARD_NOTE]);

/* ---- for the functions of a work */

void *pess__worker_scratch(pess__worker *worker);
/* Reports how far the present part of the task is, and asks whether to go on. */
pess_progress pess__worker_progress(pess__worker *worker);
/* A task of several parts: the first one has this cost; the part before is done, and the next one has this. */
void pess__worker_begin(pess__worker *worker, double cost);
void pess__worker_part(pess__worker *worker, double cost);
/* From keep alone: a line for work->notice. `finished`: it is about a run, and the time that is left goes with it. */
void pess__worker_tell(pess__worker *worker, bool finished, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Keeps run 0, which was made while preparing. */
pess_status pess__worker_keep_first(pess__worker *worker, int64_t group, pess_error *error);

#endif
