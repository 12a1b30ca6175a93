/* Files of what all ranks have: rank 0 writes them, piece by piece. */
#ifndef PESS_SCALE_OUTPUT_H
#define PESS_SCALE_OUTPUT_H

#include "scale/slab.h"

/* The slab that values without a model belong to: that of the log that was read last. */
void pess__output_of(const pess__slab *slab);
pess_status pess__write_values_together(const char *path, const pess_names *state_names, const double *values,
                                        pess_error *error);

#endif
