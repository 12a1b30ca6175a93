/* Pessimist: logs from Arrow (https://arrow.apache.org/docs/format/CStreamInterface.html), the way in which pandas,
 * Polars, DuckDB, R and others hand over tables within a process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_ARROW_H
#define PESS_ARROW_H

#include "pess/tabular.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrow's own structs, as its specification prints them. Their pointers belong to who made them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* A table whose columns are those of a log, batch by batch: whole numbers of any width, float and double, bool, UTF-8
 * text (also as dictionaries and views), dates and timestamps. int64 and double are read where they lie. `name` begins
 * the messages. The stream is released, also where reading fails. */
PESS_API pess_status pess_dataset_read_arrow(const char *name, struct ArrowArrayStream *stream,
                                             const pess_read_options *options, pess_dataset **out, pess_error *error);
/* The same straight into counts, also of a counted log. */
PESS_API pess_status pess_counts_read_arrow(const char *name, struct ArrowArrayStream *stream,
                                            const pess_read_options *options, pess_counts **out, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
