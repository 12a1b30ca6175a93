#include "data/hdf5_write.h"

#include "core/library.h"
#include "core/memory.h"
#include "data/hdf5.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- libhdf5, as documented for 1.10 to 1.14. An id is 64 bits; names that end in _g are variables. */

#define HDF5_CALLS(X)                                                                                                  \
    X(int, H5open, (void))                                                                                             \
    X(int, H5Eset_auto2, (int64_t, void *, void *))                                                                    \
    X(int64_t, H5Pcreate, (int64_t))                                                                                   \
    X(int, H5Pset_fapl_core, (int64_t, size_t, int))                                                                   \
    X(int, H5Pset_chunk, (int64_t, int, const uint64_t *))                                                             \
    X(int, H5Pset_obj_track_times, (int64_t, bool))                                                                    \
    X(int, H5Pclose, (int64_t))                                                                                        \
    X(int64_t, H5Fcreate, (const char *, unsigned, int64_t, int64_t))                                                  \
    X(int, H5Fflush, (int64_t, int))                                                                                   \
    X(int64_t, H5Fget_file_image, (int64_t, void *, size_t))                                                           \
    X(int, H5Fclose, (int64_t))                                                                                        \
    X(int64_t, H5Gcreate2, (int64_t, const char *, int64_t, int64_t, int64_t))                                         \
    X(int, H5Gclose, (int64_t))                                                                                        \
    X(int64_t, H5Screate, (int))                                                                                       \
    X(int64_t, H5Screate_simple, (int, const uint64_t *, const uint64_t *))                                            \
    X(int, H5Sclose, (int64_t))                                                                                        \
    X(int64_t, H5Dcreate2, (int64_t, const char *, int64_t, int64_t, int64_t, int64_t, int64_t))                       \
    X(int, H5Dwrite, (int64_t, int64_t, int64_t, int64_t, int64_t, const void *))                                      \
    X(int, H5Dclose, (int64_t))                                                                                        \
    X(int64_t, H5Acreate2, (int64_t, const char *, int64_t, int64_t, int64_t, int64_t))                                \
    X(int, H5Awrite, (int64_t, int64_t, const void *))                                                                 \
    X(int, H5Aclose, (int64_t))                                                                                        \
    X(int64_t, H5Tenum_create, (int64_t))                                                                              \
    X(int, H5Tenum_insert, (int64_t, const char *, const void *))                                                      \
    X(int, H5Tclose, (int64_t))                                                                                        \
    X(int64_t, H5P_CLS_FILE_ACCESS_ID_g, )                                                                             \
    X(int64_t, H5P_CLS_DATASET_CREATE_ID_g, )                                                                          \
    X(int64_t, H5P_CLS_GROUP_CREATE_ID_g, )                                                                            \
    X(int64_t, H5T_STD_I8LE_g, )                                                                                       \
    X(int64_t, H5T_STD_U8LE_g, )                                                                                       \
    X(int64_t, H5T_STD_I64LE_g, )                                                                                      \
    X(int64_t, H5T_IEEE_F32LE_g, )                                                                                     \
    X(int64_t, H5T_IEEE_F64LE_g, )

static struct hdf5_calls { HDF5_CALLS(PESS__LIBRARY_POINTER) } hdf5;

#define HDF5_NAME(result, name, arguments) {#name, offsetof(struct hdf5_calls, name)},
static const pess__library_call hdf5_names[] = {HDF5_CALLS(HDF5_NAME)};
#undef HDF5_NAME

static pess__library hdf5_library = {
    PESS__HDF5_LIBRARY, .how = "It comes with the Debian package hdf5-tools; or write .npz", .names = hdf5_names,
    .count = sizeof hdf5_names / sizeof hdf5_names[0], .calls = &hdf5};

enum { TRUNCATE = 2, SCALAR = 0, WHOLE_FILE = 1 };
#define UNLIMITED UINT64_MAX

/* An id, or the end of it all. */
static int64_t taken(pess__hdf5_out *out, int64_t id) {
    if (id < 0) out->failed = true;
    return id;
}

static void did(pess__hdf5_out *out, int result) {
    if (result < 0) out->failed = true;
}

static int64_t truth_type(pess__hdf5_out *out) {
    static const int8_t values[] = {0, 1};
    const int64_t type = taken(out, hdf5.H5Tenum_create(*hdf5.H5T_STD_I8LE_g));
    did(out, hdf5.H5Tenum_insert(type, "FALSE", &values[0]));
    did(out, hdf5.H5Tenum_insert(type, "TRUE", &values[1]));
    return type;
}

/* A file in memory alone. Without a list that says so HDF5 would write to the disk: so none is made then, and its name
 * is one that no disk has. */
static void create_in_memory(pess__hdf5_out *out) {
    const int64_t access = taken(out, hdf5.H5Pcreate(*hdf5.H5P_CLS_FILE_ACCESS_ID_g));
    did(out, hdf5.H5Pset_fapl_core(access, 1 << 20, 0));
    if (!out->failed) out->file = taken(out, hdf5.H5Fcreate("/dev/null/memory", TRUNCATE, 0, access));
    (void)hdf5.H5Pclose(access);
}

pess_status pess__hdf5_create(pess__hdf5_out *out, pess_error *error) {
    *out = (pess__hdf5_out){.file = -1};
    PESS_TRY(pess__library_load(&hdf5_library, error));
    did(out, hdf5.H5open());
    (void)hdf5.H5Eset_auto2(0, NULL, NULL);
    create_in_memory(out);
    out->type[PESS__HDF5_TRUTH] = truth_type(out);
    out->type[PESS__HDF5_U8] = *hdf5.H5T_STD_U8LE_g;
    out->type[PESS__HDF5_I64] = *hdf5.H5T_STD_I64LE_g;
    out->type[PESS__HDF5_F32] = *hdf5.H5T_IEEE_F32LE_g;
    out->type[PESS__HDF5_F64] = *hdf5.H5T_IEEE_F64LE_g;
    return PESS_OK;
}

int64_t pess__hdf5_group_begin(pess__hdf5_out *out, const char *name) {
    if (out->failed) return -1;
    const int64_t list = taken(out, hdf5.H5Pcreate(*hdf5.H5P_CLS_GROUP_CREATE_ID_g));
    did(out, hdf5.H5Pset_obj_track_times(list, false));
    const int64_t group = taken(out, hdf5.H5Gcreate2(out->file, name, 0, list, 0));
    (void)hdf5.H5Pclose(list);
    return group;
}

void pess__hdf5_group_end(pess__hdf5_out *out, int64_t group) {
    if (group >= 0) did(out, hdf5.H5Gclose(group));
}

/* Chunked, as h5py writes what may grow: one chunk of all rows, at most about a megabyte. */
static int64_t storage(pess__hdf5_out *out, int rank, const uint64_t *shape) {
    uint64_t chunk[PESS__HDF5_RANK] = {0}, width = 1;
    for (int i = 0; i < rank; i++) {
        chunk[i] = shape[i];
        if (i > 0) width *= shape[i];
    }
    const uint64_t most = (UINT64_C(1) << 20) / (8 * width) + 1;
    if (chunk[0] > most) chunk[0] = most;
    const int64_t list = taken(out, hdf5.H5Pcreate(*hdf5.H5P_CLS_DATASET_CREATE_ID_g));
    did(out, hdf5.H5Pset_chunk(list, rank, chunk));
    did(out, hdf5.H5Pset_obj_track_times(list, false));
    return list;
}

void pess__hdf5_put(pess__hdf5_out *out, int64_t group, const char *name, pess__hdf5_type type, int rank,
                    const int64_t *shape, const void *values) {
    uint64_t sizes[PESS__HDF5_RANK] = {0}, most[PESS__HDF5_RANK] = {0};
    if (out->failed) return;
    for (int i = 0; i < rank; i++) sizes[i] = most[i] = (uint64_t)shape[i];
    most[0] = UNLIMITED;
    const int64_t space = taken(out, hdf5.H5Screate_simple(rank, sizes, most)), list = storage(out, rank, sizes);
    const int64_t id = taken(out, hdf5.H5Dcreate2(group, name, out->type[type], space, 0, list, 0));
    if (!out->failed) did(out, hdf5.H5Dwrite(id, out->type[type], 0, 0, 0, values));
    if (id >= 0) did(out, hdf5.H5Dclose(id));
    (void)hdf5.H5Pclose(list);
    (void)hdf5.H5Sclose(space);
}

void pess__hdf5_attribute(pess__hdf5_out *out, int64_t group, const char *name, pess__hdf5_type type,
                          const void *value) {
    if (out->failed) return;
    const int64_t space = taken(out, hdf5.H5Screate(SCALAR));
    const int64_t id = taken(out, hdf5.H5Acreate2(group, name, out->type[type], space, 0, 0));
    if (!out->failed) did(out, hdf5.H5Awrite(id, out->type[type], value));
    if (id >= 0) did(out, hdf5.H5Aclose(id));
    (void)hdf5.H5Sclose(space);
}

pess_status pess__hdf5_finish(pess__hdf5_out *out, pess__outfile *to, int64_t *size, pess_error *error) {
    uint8_t *bytes = NULL;
    pess_status status = PESS_OK;
    *size = 0;
    if (!out->failed) did(out, hdf5.H5Fflush(out->file, WHOLE_FILE));
    if (!out->failed) *size = taken(out, hdf5.H5Fget_file_image(out->file, NULL, 0));
    if (!out->failed) status = pess__allocate(&bytes, *size, 1, "an HDF5 file", error);
    if (!out->failed && status == PESS_OK) {
        (void)taken(out, hdf5.H5Fget_file_image(out->file, bytes, (size_t)*size));
        pess__outfile_write(to, bytes, (size_t)*size);
    }
    free(bytes);
    (void)hdf5.H5Tclose(out->type[PESS__HDF5_TRUTH]);
    if (out->file >= 0) (void)hdf5.H5Fclose(out->file);
    if (status != PESS_OK || !out->failed) return status;
    return pess__fail(error, PESS_IO,
                      "the library HDF5 does not write the file: too little memory, or another version");
}
