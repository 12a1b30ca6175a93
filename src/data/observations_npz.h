/* Parts of the reader of NumPy datasets. */
#ifndef PESS_DATA_OBSERVATIONS_NPZ_H
#define PESS_DATA_OBSERVATIONS_NPZ_H

#include "data/npz_arrays.h"
#include "data/observations.h"

/* observations_npz_actions.c: `action_values` and `action_names`, where they are there. */
pess_status pess__observations_npz_actions(const pess__zip *zip, const char *file, pess_observations *data,
                                           pess_error *error);

#endif
