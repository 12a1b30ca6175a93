/* Writing counts to a file (.pesscounts); src/data/pesscounts.c reads it. */
#ifndef PESS_MODEL_COUNTS_FILE_H
#define PESS_MODEL_COUNTS_FILE_H

#include "data/pesscounts.h"
#include "model/tally.h"

/* What goes into the file; borrowed. */
typedef struct pess__counts_file {
    pess__tally *tally; /* finished */
    int64_t states, actions;
    bool states_declared, actions_declared, has_episode;
    const pess_names *names[PESS__NUMBERINGS]; /* in ascending order; NULL: integers */
} pess__counts_file;

/* The records of a finished tally, in the order of the file. */
typedef void pess__take_record(void *user, const pess__pesscounts_record *record);
pess_status pess__counts_records(const pess__tally *tally, pess__take_record *take, void *user, pess_error *error);

/* Header and checksum, for a file whose parts are elsewhere. What is not in `counts` (numbers of records and bytes, and
 * those of all processes) the caller sets before pess__counts_seal. */
pess__pesscounts_header pess__counts_header(const pess__counts_file *counts);
void pess__counts_seal(pess__pesscounts_header *header, int64_t body_bytes);

pess_status pess__counts_file_write(const pess__counts_file *counts, const char *path, pess_error *error);

#endif
