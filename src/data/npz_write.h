#ifndef PESS_DATA_NPZ_WRITE_H
#define PESS_DATA_NPZ_WRITE_H

#include "data/dataset.h"

/* A zip file of stored arrays, as numpy.savez writes it. Beyond 4 GB: PESS_LIMIT. */
pess_status pess__npz_write(const pess_dataset *data, const char *path, pess_error *error);

#endif
