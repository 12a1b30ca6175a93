/* Several logs, counted together; counts_merge.c makes one file of them. */
#ifndef PESS_MODEL_COUNTS_MERGE_H
#define PESS_MODEL_COUNTS_MERGE_H

#include "model/tally.h"

/* What was read so far. */
typedef struct pess__merging {
    pess__tally tally, ordered; /* as it came; under the final numbers */
    const char *first;          /* path of the first input; NULL: none yet */
    int64_t states, actions;
    bool states_declared, actions_declared, has_episode;
    pess_names *names[PESS__NUMBERINGS]; /* NULL: integers */
} pess__merging;

void pess__merging_begin(pess__merging *merging, int threads);
/* One more log, counted log or file of counts. The path is borrowed. */
pess_status pess__merging_read(pess__merging *merging, const char *path, const pess_read_options *options,
                               pess_error *error);
void pess__merging_free(pess__merging *merging);

/* What all of them must have alike; `path` and its three are compared with those of `first`. */
typedef struct pess__merging_kind {
    bool has_episode, named[PESS__NUMBERINGS];
} pess__merging_kind;

pess_status pess__merging_check_alike(const char *first, const pess__merging_kind *as, const char *path,
                                      const pess__merging_kind *found, pess_error *error);

#endif
