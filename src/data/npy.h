/* NumPy's array headers (.npy versions 1 to 3) and the element types of a log. */
#ifndef PESS_DATA_NPY_H
#define PESS_DATA_NPY_H

#include "core/status.h"

typedef struct pess__npy_type {
    char kind;    /* b bool, i signed, u unsigned, f float, S bytes, U code points */
    int64_t size; /* bytes of an element */
    bool swapped; /* big-endian */
} pess__npy_type;

enum { PESS__NPY_LONGEST_HEADER = 10000, PESS__NPY_DIMENSIONS = 5 };

typedef struct pess__npy_header {
    pess__npy_type type;
    int dimensions; /* 0: a single number */
    int64_t shape[PESS__NPY_DIMENSIONS];
    bool columns_first; /* Fortran's order */
} pess__npy_header;

/* The text of a header. On failure *problem is a phrase "found ..., expected ...". */
bool pess__npy_parse_header(const char *text, size_t length, pess__npy_header *out, const char **problem);
/* The rows of an array of shape (N,) or (N,1). On failure *problem is a phrase as above. */
bool pess__npy_rows(const pess__npy_header *header, int64_t *rows, const char **problem);

/* Elements as numbers. *bad is the first element that does not fit an int64 (a fraction, NaN, too large). */
bool pess__npy_int64(const pess__npy_type *type, const uint8_t *bytes, int64_t count, int64_t *out, int64_t *bad);
void pess__npy_double(const pess__npy_type *type, const uint8_t *bytes, int64_t count, double *out);
/* An S or U element as UTF-8 text; room for size bytes. -1: it is empty or not text. */
int64_t pess__npy_text(const pess__npy_type *type, const uint8_t *element, char *out);

#endif
