/* NumPy's .npz as arrays: members of a zip file, each with its header, read front to back and written row by row.
 * Arrays in Fortran's order, which pandas writes, are turned into C's in memory when they are opened. */
#ifndef PESS_DATA_NPZ_ARRAYS_H
#define PESS_DATA_NPZ_ARRAYS_H

#include "data/npy.h"
#include "data/zip.h"

/* ---- reading */

typedef struct pess__npz_array {
    pess__npy_header header;
    int64_t count; /* elements */
    pess__zip_member member;
    uint8_t *turned; /* all elements in C's order; NULL where the file has them so */
    int64_t taken;   /* bytes of them that were read */
} pess__npz_array;

/* The entry of array `name`, or NULL; an array that is there twice is the first of them. */
const pess__zip_entry *pess__npz_find(const pess__zip *zip, const char *name);
/* Are these more bytes than the file may unpack to: a thousand times its size (a column of zeros) and some? */
bool pess__npz_expands(const pess__zip *zip, int64_t bytes);
/* The header, checked against the bytes there are. Arrays that unpack to more than a thousand times the file are
 * refused. `name` stands in messages. Nothing is left to be closed where it fails, but closing is no mistake. */
pess_status pess__npz_array_open(const pess__zip *zip, const pess__zip_entry *entry, const char *name,
                                 pess__npz_array *out, pess_error *error);
void pess__npz_array_close(pess__npz_array *array);
/* Its next bytes, in C's order. */
pess_status pess__npz_array_read(pess__npz_array *array, uint8_t *out, int64_t bytes, pess_error *error);
/* All its elements as numbers; text is refused. *out is the caller's to free. */
pess_status pess__npz_array_doubles(pess__npz_array *array, const char *name, double **out, pess_error *error);

/* ---- writing */

typedef struct pess__npz_column {
    const char *name;
    char type[24]; /* NumPy's: "<f4" */
    int dimensions;
    int64_t shape[PESS__NPY_DIMENSIONS]; /* shape[0]: rows */
    int64_t width;                       /* bytes of a row */
    /* Rows [first, first+rows) as they are in the file. */
    void (*render)(const void *user, int64_t first, int64_t rows, uint8_t *out);
    const void *user;
} pess__npz_column;

/* Where all the arrays take more than 4 GB they are refused; `instead` says how to write so much. */
pess_status pess__npz_write_arrays(const char *path, const pess__npz_column *columns, int count, const char *instead,
                                   pess_error *error);

#endif
