/* What Minari wants to know of a dataset beside its arrays. */
#ifndef PESS_DATA_OBSERVATIONS_MINARI_H
#define PESS_DATA_OBSERVATIONS_MINARI_H

#include "data/observations.h"

typedef struct pess__minari_totals {
    int64_t episodes, bytes; /* of the HDF5 file */
} pess__minari_totals;

/* metadata.json beside `path`, where that is called main_data.hdf5. */
pess_status pess__minari_write_metadata(const pess_observations *data, const pess__minari_totals *totals,
                                        const char *path, pess_error *error);

#endif
