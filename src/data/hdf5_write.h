/* Writing HDF5: a file in memory, groups, arrays and attributes. The first error is kept, and later calls do nothing.
 * Times are left out, so that the same arrays give the same bytes. */
#ifndef PESS_DATA_HDF5_WRITE_H
#define PESS_DATA_HDF5_WRITE_H

#include "core/outfile.h"

typedef enum pess__hdf5_type {
    PESS__HDF5_TRUTH, /* int8_t 0 or 1; an enumeration FALSE, TRUE as h5py writes it */
    PESS__HDF5_U8,
    PESS__HDF5_I64,
    PESS__HDF5_F32,
    PESS__HDF5_F64,
    PESS__HDF5_TYPES
} pess__hdf5_type;

enum { PESS__HDF5_RANK = 4 };

typedef struct pess__hdf5_out {
    int64_t file, type[PESS__HDF5_TYPES];
    bool failed;
} pess__hdf5_out;

/* PESS_IO where the library is not there. */
pess_status pess__hdf5_create(pess__hdf5_out *out, pess_error *error);
int64_t pess__hdf5_group_begin(pess__hdf5_out *out, const char *name);
void pess__hdf5_group_end(pess__hdf5_out *out, int64_t group);
/* values [shape[0]*…*shape[rank-1]], shape[0] at least 1. */
void pess__hdf5_put(pess__hdf5_out *out, int64_t group, const char *name, pess__hdf5_type type, int rank,
                    const int64_t *shape, const void *values);
void pess__hdf5_attribute(pess__hdf5_out *out, int64_t group, const char *name, pess__hdf5_type type,
                          const void *value);
/* The bytes of the file go to `to`; their number to *size. Frees everything, also where something failed. */
pess_status pess__hdf5_finish(pess__hdf5_out *out, pess__outfile *to, int64_t *size, pess_error *error);

#endif
