/* Files with a row per state, read by all ranks: each keeps the rows of its own states. */
#ifndef PESS_SCALE_ROWS_H
#define PESS_SCALE_ROWS_H

#include "model/counts.h"
#include "scale/slab.h"

/* A start distribution: state,probability. start [places] is zero before. */
pess_status pess__read_start_rows(const char *path, const pess__slab *slab, const pess_counts *counts, double *start,
                                  pess_error *error);

#endif
