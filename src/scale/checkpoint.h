/* Values kept on disk while a solver runs, for any number of ranks to go on from. */
#ifndef PESS_SCALE_CHECKPOINT_H
#define PESS_SCALE_CHECKPOINT_H

#include "scale/slab.h"

/* Where, and how often in seconds; NULL: nothing is kept. Before anything is solved. */
void pess__checkpoint_set(const char *path, double seconds);
/* v [places] from the file, where there is one; it stays as it is where there is none. */
pess_status pess__checkpoint_take(const pess__slab *slab, double *v, pess_error *error);
/* v to the file, where it is time. */
pess_status pess__checkpoint_keep(const pess__slab *slab, const double *v, pess_error *error);
/* The file is not needed any more. */
void pess__checkpoint_done(void);

#endif
