#include "data/hdf5_library.h"

#include "core/library.h"
#include "core/sandbox.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- libhdf5, as documented for 1.10 to 1.14. An id is 64 bits; names that end in _g are variables. */

/* Callbacks by which a file image in memory is handed over without copies. */
typedef struct image_calls {
    void *(*image_malloc)(size_t, int, void *);
    void *(*image_memcpy)(void *, const void *, size_t, int, void *);
    void *(*image_realloc)(void *, size_t, int, void *);
    int (*image_free)(void *, int, void *);
    void *(*udata_copy)(void *);
    int (*udata_free)(void *);
    void *udata;
} image_calls;

#define HDF5_CALLS(X)                                                                                                  \
    X(int, H5open, H5open, (void))                                                                                     \
    X(int, H5Eset_auto2, H5Eset_auto2, (int64_t, void *, void *))                                                      \
    X(int, H5PLset_loading_state, H5PLset_loading_state, (unsigned))                                                   \
    X(int64_t, H5Pcreate, H5Pcreate, (int64_t))                                                                        \
    X(int, H5Pset_fapl_core, H5Pset_fapl_core, (int64_t, size_t, int))                                                 \
    X(int, H5Pset_file_image_callbacks, H5Pset_file_image_callbacks, (int64_t, image_calls *))                         \
    X(int, H5Pset_file_image, H5Pset_file_image, (int64_t, void *, size_t))                                            \
    X(int64_t, H5Fopen, H5Fopen, (const char *, unsigned, int64_t))                                                    \
    X(int, H5Lexists, H5Lexists, (int64_t, const char *, int64_t))                                                     \
    X(int, H5Lget_info, H5Lget_info | H5Lget_info1, (int64_t, const char *, void *, int64_t))                          \
    X(int64_t, H5Gopen2, H5Gopen2, (int64_t, const char *, int64_t))                                                   \
    X(int, H5Gclose, H5Gclose, (int64_t))                                                                              \
    X(int64_t, H5Dopen2, H5Dopen2, (int64_t, const char *, int64_t))                                                   \
    X(int, H5Dclose, H5Dclose, (int64_t))                                                                              \
    X(int64_t, H5Dget_space, H5Dget_space, (int64_t))                                                                  \
    X(int64_t, H5Dget_type, H5Dget_type, (int64_t))                                                                    \
    X(int64_t, H5Dget_create_plist, H5Dget_create_plist, (int64_t))                                                    \
    X(uint64_t, H5Dget_storage_size, H5Dget_storage_size, (int64_t))                                                   \
    X(int, H5Dread, H5Dread, (int64_t, int64_t, int64_t, int64_t, int64_t, void *))                                    \
    X(int, H5Sget_simple_extent_ndims, H5Sget_simple_extent_ndims, (int64_t))                                          \
    X(int, H5Sget_simple_extent_dims, H5Sget_simple_extent_dims, (int64_t, uint64_t *, uint64_t *))                    \
    X(int, H5Sclose, H5Sclose, (int64_t))                                                                              \
    X(int, H5Tget_class, H5Tget_class, (int64_t))                                                                      \
    X(int, H5Tget_sign, H5Tget_sign, (int64_t))                                                                        \
    X(size_t, H5Tget_size, H5Tget_size, (int64_t))                                                                     \
    X(int, H5Tclose, H5Tclose, (int64_t))                                                                              \
    X(int, H5Pget_external_count, H5Pget_external_count, (int64_t))                                                    \
    X(int, H5Pget_layout, H5Pget_layout, (int64_t))                                                                    \
    X(int, H5Pget_nfilters, H5Pget_nfilters, (int64_t))                                                                \
    X(int, H5Pget_filter2, H5Pget_filter2,                                                                             \
      (int64_t, unsigned, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *))                               \
    X(int, H5Pclose, H5Pclose, (int64_t))                                                                              \
    X(int64_t, file_access, H5P_CLS_FILE_ACCESS_ID_g, )                                                                \
    X(int64_t, native_uchar, H5T_NATIVE_UCHAR_g, )                                                                     \
    X(int64_t, native_bits, H5T_NATIVE_B8_g, )                                                                         \
    X(int64_t, native_llong, H5T_NATIVE_LLONG_g, )                                                                     \
    X(int64_t, native_float, H5T_NATIVE_FLOAT_g, )                                                                     \
    X(int64_t, native_double, H5T_NATIVE_DOUBLE_g, )

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type and a list of types */
#define HDF5_POINTER(result, name, symbol, arguments) result(*name) arguments;
static struct hdf5_calls { HDF5_CALLS(HDF5_POINTER) } hdf5;
#undef HDF5_POINTER

#define HDF5_NAME(result, name, symbol, arguments) {#symbol, offsetof(struct hdf5_calls, name)},
static const pess__library_call hdf5_names[] = {HDF5_CALLS(HDF5_NAME)};
#undef HDF5_NAME

static pess__library hdf5_library = {PESS__HDF5_LIBRARY,
                                     .how = "It comes with the Debian package hdf5-tools; or write the arrays with "
                                            "numpy.savez",
                                     .names = hdf5_names, .count = sizeof hdf5_names / sizeof hdf5_names[0],
                                     .calls = &hdf5};

enum {
    LINK_HARD = 0,
    LAYOUT_VIRTUAL = 3,
    CLASS_INTEGER = 0,
    CLASS_FLOAT = 1,
    CLASS_BITS = 4,
    CLASS_ENUM = 8,
    SIGN_NONE = 0
};
enum { FILTER_FLETCHER32 = 3 /* and below it deflate and shuffle */, MOST_DIMENSIONS = 8 };

/* What is declared may be a thousand times what is stored, and a little more. */
static const uint64_t expansion = 1000, expansion_floor = UINT64_C(1) << 26, most_bytes = UINT64_C(1) << 32;

pess_status pess__hdf5_load(pess_error *error) { return pess__library_load(&hdf5_library, error); }

void pess__hdf5_give_up(int to, const char *format, ...) {
    char text[PESS__HDF5_LONGEST_ERROR];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const pess__hdf5_header header = {PESS__HDF5_ERROR, (uint32_t)strlen(text)};
    pess__sandbox_write(to, &header, sizeof header);
    pess__sandbox_write(to, text, header.count);
    pess__sandbox_leave();
}

/* ------------------------------------------------------------------------------------------------ the file */

static const pess__hdf5_file *image; /* the child has one file */

static void *image_malloc(size_t size, int operation, void *user) {
    (void)size;
    (void)operation;
    (void)user;
    void *bytes = NULL;
    memcpy(&bytes, &image->bytes, sizeof bytes);
    return bytes;
}
static void *image_memcpy(void *to, const void *from, size_t size, int operation, void *user) {
    (void)from;
    (void)size;
    (void)operation;
    (void)user;
    return to;
}
static void *image_realloc(void *bytes, size_t size, int operation, void *user) {
    (void)bytes;
    (void)size;
    (void)operation;
    (void)user;
    return NULL;
}
static int image_free(void *bytes, int operation, void *user) {
    (void)bytes;
    (void)operation;
    (void)user;
    return 0;
}
static void *udata_copy(void *user) { return user; }
static int udata_free(void *user) {
    (void)user;
    return 0;
}

int64_t pess__hdf5_open(const pess__hdf5_file *file, int to) {
    static char user;
    image_calls calls = {image_malloc, image_memcpy, image_realloc, image_free, udata_copy, udata_free, &user};
    image = file;
    if (hdf5.H5open() < 0) pess__hdf5_give_up(to, "the library HDF5 does not start");
    (void)hdf5.H5Eset_auto2(0, NULL, NULL);
    (void)hdf5.H5PLset_loading_state(0);
    const int64_t access = hdf5.H5Pcreate(*hdf5.file_access);
    void *bytes = image_malloc(0, 0, NULL);
    if (access < 0 || hdf5.H5Pset_fapl_core(access, 1 << 16, 0) < 0 ||
        hdf5.H5Pset_file_image_callbacks(access, &calls) < 0 ||
        hdf5.H5Pset_file_image(access, bytes, (size_t)file->size) < 0)
        pess__hdf5_give_up(to, "the library HDF5 takes no file from memory");
    const int64_t id = hdf5.H5Fopen("image", 0, access);
    if (id < 0) pess__hdf5_give_up(to, "found an HDF5 file that its library does not open: damaged or truncated");
    return id;
}

bool pess__hdf5_has(int64_t group, const char *name, int to) {
    union {
        int kind;
        char room[256];
    } info = {0};
    const int exists = hdf5.H5Lexists(group, name, 0);
    if (exists < 0) pess__hdf5_give_up(to, "'%s': the library HDF5 does not say whether it is there: damaged", name);
    if (exists == 0) return false;
    if (hdf5.H5Lget_info(group, name, &info, 0) < 0 || info.kind != LINK_HARD)
        pess__hdf5_give_up(to, "'%s': found a link, expected what the file itself holds", name);
    return true;
}

int64_t pess__hdf5_group(int64_t group, const char *name, int to) {
    const int64_t id = pess__hdf5_has(group, name, to) ? hdf5.H5Gopen2(group, name, 0) : -1;
    if (id < 0) pess__hdf5_give_up(to, "'%s': found no group of this name", name);
    return id;
}

void pess__hdf5_close_group(int64_t group) { (void)hdf5.H5Gclose(group); }

/* ------------------------------------------------------------------------------------------------ datasets */

typedef struct dataset {
    int64_t id;
    const char *where, *name;
    int to;
} dataset;

static void refuse(const dataset *d, const char *found, const char *expected) __attribute__((noreturn));
static void refuse(const dataset *d, const char *found, const char *expected) {
    pess__hdf5_give_up(d->to, "'%s%s': found %s, expected %s", d->where, d->name, found, expected);
}

/* Values that lie in other files, or are packed by programs that would have to be loaded. */
static void check_storage(const dataset *d) {
    const int64_t list = hdf5.H5Dget_create_plist(d->id);
    if (list < 0) refuse(d, "no description of its storage", "one");
    const int layout = hdf5.H5Pget_layout(list), filters = hdf5.H5Pget_nfilters(list);
    if (layout < 0 || filters < 0) refuse(d, "a description of its storage that is damaged", "a whole one");
    if (hdf5.H5Pget_external_count(list) != 0 || layout == LAYOUT_VIRTUAL)
        refuse(d, "values that lie in other files", "values within this one");
    for (int i = 0; i < filters; i++) {
        unsigned flags = 0, configuration = 0;
        size_t values = 0;
        const int filter = hdf5.H5Pget_filter2(list, (unsigned)i, &flags, &values, NULL, 0, NULL, &configuration);
        if (filter < 1 || filter > FILTER_FLETCHER32)
            refuse(d, "a compression that is not part of HDF5", "gzip (deflate), shuffle or none");
    }
    (void)hdf5.H5Pclose(list);
}

/* Rows and width, and bytes as they are declared. */
static void read_shape(const dataset *d, pess__hdf5_array *array, size_t element) {
    uint64_t dimensions[MOST_DIMENSIONS] = {0}, count = 1;
    const int64_t space = hdf5.H5Dget_space(d->id);
    const int rank = space >= 0 ? hdf5.H5Sget_simple_extent_ndims(space) : -1;
    if (rank < 0 || rank > MOST_DIMENSIONS || hdf5.H5Sget_simple_extent_dims(space, dimensions, NULL) < 0)
        refuse(d, "no array of at most 8 dimensions", "one");
    (void)hdf5.H5Sclose(space);
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(count, dimensions[i], &count)) refuse(d, "more values than can be counted", "fewer");
    const uint64_t stored = hdf5.H5Dget_storage_size(d->id);
    if (count > most_bytes / element || count * element > expansion * stored + expansion_floor)
        refuse(d, "more values declared than the file can hold", "at most a thousand times what is stored, and 4 GB");
    array->rows = rank == 0 ? 1 : (int64_t)dimensions[0];
    for (int i = 1; i < rank && rank <= 4; i++) array->shape[i - 1] = (int64_t)dimensions[i];
    array->width = array->rows == 0 ? 0 : (int64_t)(count / (uint64_t)array->rows);
}

static void *take_memory(const dataset *d, int64_t count, size_t element) {
    void *memory = calloc(count > 0 ? (size_t)count : 1, element);
    if (memory == NULL) refuse(d, "more values than there is memory for", "fewer");
    return memory;
}

/* A byte of bits for each true or false, which the library HDF5 turns into no other type. */
static void widen_bits(const dataset *d, pess__hdf5_array *array, int64_t count, pess__hdf5_as as) {
    const uint8_t *bits = array->elements;
    if (as != PESS__HDF5_WHOLE) refuse(d, "true and false", "numbers");
    array->numbers = take_memory(d, count, sizeof *array->numbers);
    for (int64_t i = 0; i < count; i++) array->numbers[i] = bits[i] != 0;
}

static void read_values(const dataset *d, pess__hdf5_array *array, pess__hdf5_as as) {
    const int64_t count = array->rows * array->width;
    void *memory = NULL;
    int64_t type = 0;
    if (as == PESS__HDF5_SHAPE_ONLY) return;
    if (as == PESS__HDF5_BYTES || array->bits) {
        memory = array->elements = take_memory(d, count, 1);
        type = array->bits ? *hdf5.native_bits : *hdf5.native_uchar;
    } else if (as == PESS__HDF5_FLOATS) {
        memory = array->elements = take_memory(d, count, sizeof(float));
        type = *hdf5.native_float;
    } else if (as == PESS__HDF5_WHOLE && array->whole) {
        memory = array->numbers = take_memory(d, count, sizeof *array->numbers);
        type = *hdf5.native_llong;
    } else {
        memory = array->reals = take_memory(d, count, sizeof *array->reals);
        type = *hdf5.native_double;
    }
    if (count > 0 && hdf5.H5Dread(d->id, type, 0, 0, 0, memory) < 0)
        refuse(d, "values that the library HDF5 does not read", "whole ones: the file is damaged");
    if (array->bits && as != PESS__HDF5_BYTES) widen_bits(d, array, count, as);
}

pess__hdf5_array pess__hdf5_read(int64_t group, const char *where, const char *name, pess__hdf5_as as, int to) {
    pess__hdf5_array array = {0};
    if (!pess__hdf5_has(group, name, to)) return array;
    const dataset d = {hdf5.H5Dopen2(group, name, 0), where, name, to};
    if (d.id < 0) refuse(&d, "no array", "one");
    const int64_t type = hdf5.H5Dget_type(d.id);
    const int class = type >= 0 ? hdf5.H5Tget_class(type) : -1;
    const size_t element = type >= 0 ? hdf5.H5Tget_size(type) : 0;
    const int sign = class == CLASS_INTEGER ? hdf5.H5Tget_sign(type) : SIGN_NONE;
    array.bits = class == CLASS_BITS && element == 1;
    if ((class != CLASS_INTEGER && class != CLASS_FLOAT && class != CLASS_ENUM && !array.bits) || element == 0 ||
        element > 16 || sign < 0)
        refuse(&d, "values that are not numbers", "numbers, or true and false");
    array.present = true;
    array.whole = class != CLASS_FLOAT;
    array.truths = class == CLASS_ENUM || array.bits;
    array.bytes = class == CLASS_INTEGER && element == 1 && sign == SIGN_NONE;
    (void)hdf5.H5Tclose(type);
    check_storage(&d);
    read_shape(&d, &array, element);
    read_values(&d, &array, as);
    (void)hdf5.H5Dclose(d.id);
    return array;
}

void pess__hdf5_free(pess__hdf5_array *array) {
    free(array->numbers);
    free(array->reals);
    free(array->elements);
    *array = (pess__hdf5_array){0};
}
