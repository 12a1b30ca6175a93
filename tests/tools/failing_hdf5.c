/* The library HDF5, but for one call that fails: found through PESS_HDF5, it passes every other call on. What a call
 * that closes something does is done all the same. Functions are passed on as if all of them took eight whole numbers,
 * of which those that take fewer read none: so it is with the calling conventions of x86-64 and AArch64. */
#include "failing_hdf5.h"

#include "core/library.h"
#include "data/hdf5.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNCTIONS(X)                                                                                                   \
    X(H5open)                                                                                                          \
    X(H5Eset_auto2)                                                                                                    \
    X(H5PLset_loading_state)                                                                                           \
    X(H5Pcreate)                                                                                                       \
    X(H5Pset_fapl_core)                                                                                                \
    X(H5Pset_file_image_callbacks)                                                                                     \
    X(H5Pset_file_image)                                                                                               \
    X(H5Pset_chunk)                                                                                                    \
    X(H5Pset_obj_track_times)                                                                                          \
    X(H5Pget_external_count)                                                                                           \
    X(H5Pget_layout)                                                                                                   \
    X(H5Pget_nfilters)                                                                                                 \
    X(H5Pget_filter2)                                                                                                  \
    X(H5Pclose)                                                                                                        \
    X(H5Fopen)                                                                                                         \
    X(H5Fcreate)                                                                                                       \
    X(H5Fflush)                                                                                                        \
    X(H5Fget_file_image)                                                                                               \
    X(H5Fclose)                                                                                                        \
    X(H5Lexists)                                                                                                       \
    X(H5Lget_info)                                                                                                     \
    X(H5Gopen2)                                                                                                        \
    X(H5Gcreate2)                                                                                                      \
    X(H5Gclose)                                                                                                        \
    X(H5Dopen2)                                                                                                        \
    X(H5Dcreate2)                                                                                                      \
    X(H5Dclose)                                                                                                        \
    X(H5Dget_space)                                                                                                    \
    X(H5Dget_type)                                                                                                     \
    X(H5Dget_create_plist)                                                                                             \
    X(H5Dget_storage_size)                                                                                             \
    X(H5Dread)                                                                                                         \
    X(H5Dwrite)                                                                                                        \
    X(H5Screate)                                                                                                       \
    X(H5Screate_simple)                                                                                                \
    X(H5Sclose)                                                                                                        \
    X(H5Sget_simple_extent_ndims)                                                                                      \
    X(H5Sget_simple_extent_dims)                                                                                       \
    X(H5Acreate2)                                                                                                      \
    X(H5Awrite)                                                                                                        \
    X(H5Aclose)                                                                                                        \
    X(H5Tget_class)                                                                                                    \
    X(H5Tget_sign)                                                                                                     \
    X(H5Tget_size)                                                                                                     \
    X(H5Tenum_create)                                                                                                  \
    X(H5Tenum_insert)                                                                                                  \
    X(H5Tclose)

#define VARIABLES(X)                                                                                                   \
    X(H5P_CLS_FILE_ACCESS_ID_g)                                                                                        \
    X(H5P_CLS_DATASET_CREATE_ID_g)                                                                                     \
    X(H5P_CLS_GROUP_CREATE_ID_g)                                                                                       \
    X(H5T_STD_I8LE_g)                                                                                                  \
    X(H5T_STD_U8LE_g)                                                                                                  \
    X(H5T_STD_I64LE_g)                                                                                                 \
    X(H5T_IEEE_F32LE_g)                                                                                                \
    X(H5T_IEEE_F64LE_g)                                                                                                \
    X(H5T_NATIVE_UCHAR_g)                                                                                              \
    X(H5T_NATIVE_B8_g)                                                                                                 \
    X(H5T_NATIVE_LLONG_g)                                                                                              \
    X(H5T_NATIVE_FLOAT_g)                                                                                              \
    X(H5T_NATIVE_DOUBLE_g)

enum { ARGUMENTS = 8, FILES = 256 };

typedef int64_t (*call)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

#define POINTER(name) call name;
static struct { FUNCTIONS(POINTER) } real;
#define VARIABLE(name) int64_t name;
VARIABLES(VARIABLE)
#undef VARIABLE
#define VARIABLE(name) const int64_t *name;
static struct { VARIABLES(VARIABLE) } original;

failing_hdf5 *failing_hdf5_shared; /* with the children */
static pid_t first;
static bool taken[FILES]; /* descriptors that were open before there was a child */

static void find(void *handle, const char *name, void *to) {
    void *found = dlsym(handle, name);
    if (found == NULL && strcmp(name, "H5Lget_info") == 0) found = dlsym(handle, "H5Lget_info1");
    if (found == NULL) abort();
    memcpy(to, &found, sizeof found);
}

__attribute__((constructor)) static void begin(void) {
    const pess__library hdf5 = {PESS__HDF5_LIBRARY};
    void *handle = NULL;
    for (size_t i = 0; handle == NULL && hdf5.files[i] != NULL; i++) handle = dlopen(hdf5.files[i], RTLD_NOW);
    if (handle == NULL) return;
#define FIND(name) find(handle, #name, &real.name);
    FUNCTIONS(FIND)
#undef FIND
#define FIND(name) find(handle, #name, &original.name);
    VARIABLES(FIND)
    failing_hdf5_shared =
        mmap(NULL, sizeof *failing_hdf5_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (failing_hdf5_shared == MAP_FAILED) abort();
    first = getpid();
    for (int file = 0; file < FILES; file++) taken[file] = fcntl(file, F_GETFD) != -1;
}

/* The end of the pipe is the last file that was opened; the sandbox lets nothing else be written. */
static void speak(void) {
    for (int file = FILES - 1; file > 2; file--)
        if (!taken[file] && write(file, failing_hdf5_shared->said, (size_t)failing_hdf5_shared->speech) > 0) _exit(0);
    _exit(1);
}

static int64_t pass_on(call function, const char *name, const int64_t a[ARGUMENTS]) {
    if (failing_hdf5_shared->speech > 0 && getpid() != first) speak();
    const bool fails = ++failing_hdf5_shared->calls == failing_hdf5_shared->fails_at;
    const bool size = strcmp(name, "H5Tget_size") == 0 || strcmp(name, "H5Dget_storage_size") == 0;
    if (fails && strstr(name, "close") == NULL) return size ? 0 : -1;
    const int64_t result = function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
#define COPY(name) name = *original.name;
    if (strcmp(name, "H5open") == 0) {
        VARIABLES(COPY)
    } /* they are numbers from now on */
    return fails ? -1 : result;
}

#define FUNCTION(name)                                                                                                 \
    int64_t name(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h);              \
    int64_t name(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h) {             \
        return pass_on(real.name, #name, (int64_t[ARGUMENTS]){a, b, c, d, e, f, g, h});                                \
    }
FUNCTIONS(FUNCTION)
