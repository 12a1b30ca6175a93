/* Writing counts to a file (.pesscounts); src/data/pesscounts.c reads it. */
#ifndef PESS_MODEL_COUNTS_FILE_H
#define PESS_MODEL_COUNTS_FILE_H

#include "model/tally.h"

/* What goes into the file; borrowed. */
typedef struct pess__counts_file {
    pess__tally *tally; /* finished */
    int64_t states, actions;
    bool states_declared, actions_declared, has_episode;
    const pess_names *names[PESS__NUMBERINGS]; /* in ascending order; NULL: integers */
} pess__counts_file;

pess_status pess__counts_file_write(const pess__counts_file *counts, const char *path, pess_error *error);

#endif
