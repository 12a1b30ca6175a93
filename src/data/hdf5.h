/* HDF5 files of Minari, D4RL and d3rlpy. Their library crashes on hostile files, so that it runs in a child process
 * (core/sandbox.h), which understands the file and answers in the messages below: a beginning, rows, an end; or an
 * error. The parent trusts none of them. */
#ifndef PESS_DATA_HDF5_H
#define PESS_DATA_HDF5_H

#include "core/infile.h"

#define PESS__HDF5_MAGIC "\x89HDF\r\n\x1a\n"

/* Where the library is looked for (core/library.h). */
#define PESS__HDF5_LIBRARY                                                                                             \
    .what = "HDF5 files need the library HDF5", .variable = "PESS_HDF5", .files = (const char *const[]) {              \
        "libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5_serial.so", "libhdf5.so.103", "libhdf5.so.200",     \
            "libhdf5.so.310", "libhdf5.so", NULL                                                                       \
    }

typedef enum pess__hdf5_message {
    PESS__HDF5_ERROR = 1, /* a text of `count` bytes */
    PESS__HDF5_BEGIN,     /* pess__hdf5_begin */
    PESS__HDF5_ROWS,      /* `count` times pess__hdf5_row; where states are observations, two of them in bytes; where
                             actions are vectors, one of floats */
    PESS__HDF5_END
} pess__hdf5_message;

enum { PESS__HDF5_MOST_ROWS = 4096, PESS__HDF5_MOST_BYTES = 1 << 22, PESS__HDF5_LONGEST_ERROR = 800 };

typedef struct pess__hdf5_header {
    uint32_t message, count;
} pess__hdf5_header;

typedef struct pess__hdf5_begin {
    pess_observation_shape shape; /* of an observation; length 0: states are single whole numbers */
    int64_t actions;              /* the largest one plus 1 */
    int64_t width;                /* of actions that are vectors; 0: they are whole numbers */
    char origin[16];              /* "minari" */
} pess__hdf5_begin;

typedef struct pess__hdf5_row {
    int64_t episode, step, state, action, next_state; /* states: 0 where they are observations */
    double reward;
    int64_t end; /* pess_end */
} pess__hdf5_row;

/* Bytes of a row with its observations and vector, and rows of a message. */
size_t pess__hdf5_row_size(const pess__hdf5_begin *begin);
uint32_t pess__hdf5_most_rows(const pess__hdf5_begin *begin);

/* ---- in the child */

typedef struct pess__hdf5_file {
    const uint8_t *bytes; /* [size] the whole of it */
    int64_t size;
} pess__hdf5_file;

/* Finds the library; called before there is a child. */
pess_status pess__hdf5_load(pess_error *error);
/* All of the file as messages. `context` is a pess__hdf5_file. */
void pess__hdf5_child(void *context, int to);

/* ---- in the parent */

/* A file whose states are observations; and whether it is one. */
pess_status pess__observations_read_hdf5(pess__infile *file, const pess_observations_options *options,
                                         pess_observations **out, pess_error *error);
bool pess__hdf5_has_observations(pess__infile *file);

#endif
