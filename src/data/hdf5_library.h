/* The functions of libhdf5 that we use, and arrays read with them. In the child process only, but for loading. */
#ifndef PESS_DATA_HDF5_LIBRARY_H
#define PESS_DATA_HDF5_LIBRARY_H

#include "data/hdf5.h"

/* The whole of a dataset: [rows*width]. */
typedef struct pess__hdf5_array {
    int64_t rows, width;
    bool present;
    int64_t shape[3]; /* of a row; 0 past its last dimension, and for more than three */
    bool whole;       /* whole numbers, true and false; else numbers */
    bool truths;      /* true and false */
    bool bits;        /* true and false as PyTables stores them */
    bool bytes;       /* whole numbers from 0 to 255 */
    int64_t *numbers; /* of whole ones */
    double *reals;    /* of any */
    void *elements;   /* of observations, as asked for: uint8_t or float */
} pess__hdf5_array;

/* What an array is read as. */
typedef enum pess__hdf5_as {
    PESS__HDF5_WHOLE,
    PESS__HDF5_REAL,
    PESS__HDF5_BYTES,
    PESS__HDF5_FLOATS,
    PESS__HDF5_SHAPE_ONLY
} pess__hdf5_as;

/* Where the child's words go: message and end of the process. */
void pess__hdf5_give_up(int to, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* The file, opened in memory; gives up where it is none. */
int64_t pess__hdf5_open(const pess__hdf5_file *file, int to);
/* Whether the group has such a member. One that is a link to elsewhere is refused. */
bool pess__hdf5_has(int64_t group, const char *name, int to);
int64_t pess__hdf5_group(int64_t group, const char *name, int to);
void pess__hdf5_close_group(int64_t group);
/* Reads the dataset where it is there; a kind of values that does not fit is refused. `where` begins messages. */
pess__hdf5_array pess__hdf5_read(int64_t group, const char *where, const char *name, pess__hdf5_as as, int to);
void pess__hdf5_free(pess__hdf5_array *array);

#endif
