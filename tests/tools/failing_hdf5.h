/* What tests/tools/failing_hdf5.c does, told by a test to the library and to the child that it reads in. */
#ifndef PESS_TESTS_FAILING_HDF5_H
#define PESS_TESTS_FAILING_HDF5_H

#include <stdint.h>

typedef struct failing_hdf5 {
    int64_t fails_at; /* the call that fails, from 1; 0: none */
    int64_t calls;    /* made so far */
    int64_t speech;   /* bytes that a child says in place of all it would; 0: it does its work */
    char said[200];
} failing_hdf5;

#endif
