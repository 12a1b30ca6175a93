/* Files that appear together: written in a directory of their own beside the others, then given their names. */
#ifndef PESS_REPORT_STAGING_H
#define PESS_REPORT_STAGING_H

#include "core/status.h"

enum { PESS__STAGING_PATH = 4300 };

#define PESS__STAGING "incoming.tmp" /* new files, until all of them are whole */

typedef struct pess__staging {
    const char *directory;
    const char *const *names; /* [count]; the last one, a manifest, says that all the others are there */
    int count;
    char path[PESS__STAGING_PATH];
} pess__staging;

/* Makes directory and staging directory where they are missing. */
pess_status pess__staging_open(pess__staging *staging, const char *directory, const char *const *names, int count,
                               pess_error *error);
/* Where file i is to be written. Names do not end in .gz: bytes are as they were given. */
void pess__staging_file(const pess__staging *staging, int i, char out[PESS__STAGING_PATH]);
/* All files are whole and on the disk; giving them their names takes no room. The old manifest goes first, so that it
 * never stands beside new results. */
pess_status pess__staging_publish(const pess__staging *staging, pess_error *error);
/* Removes what is left. */
void pess__staging_close(const pess__staging *staging);

#endif
