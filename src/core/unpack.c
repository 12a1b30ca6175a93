#include "core/unpack.h"

#include "core/library.h"
#include "core/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

/* ---- libzstd: its streaming interface, stable since 1.3 */

typedef struct zstd_input {
    const void *bytes;
    size_t size, at;
} zstd_input;

typedef struct zstd_output {
    void *bytes;
    size_t size, at;
} zstd_output;

#define ZSTD_CALLS(X)                                                                                                  \
    X(void *, createDStream, (void))                                                                                   \
    X(size_t, freeDStream, (void *))                                                                                   \
    X(size_t, initDStream, (void *))                                                                                   \
    X(size_t, decompressStream, (void *, zstd_output *, zstd_input *))                                                 \
    X(unsigned, isError, (size_t))                                                                                     \
    X(const char *, getErrorName, (size_t))

static struct zstd_calls { ZSTD_CALLS(PESS__LIBRARY_POINTER) } zstd;

#define ZSTD_NAME(result, name, arguments) {"ZSTD_" #name, offsetof(struct zstd_calls, name)},
static const pess__library_call zstd_names[] = {ZSTD_CALLS(ZSTD_NAME)};
#undef ZSTD_NAME

static pess__library zstd_library = {.what = "zstd files need the library zstd",
                                     .how = "It comes with the Debian package libzstd1; or decompress the file first",
                                     .files = (const char *const[]){"libzstd.so.1", NULL},
                                     .names = zstd_names,
                                     .count = sizeof zstd_names / sizeof zstd_names[0],
                                     .calls = &zstd};

/* ---- both kinds */

const char PESS__UNPACK_NO_MEMORY[] = "not enough memory";

struct pess__unpacker {
    pess__packing packing;
    const char *name; /* of the file, the caller's */
    z_stream gzip;
    bool gzip_ready;
    void *zstd;
    bool in_member;
};

pess__packing pess__packing_of(const uint8_t *head, size_t length) {
    if (length >= 2 && head[0] == 0x1f && head[1] == 0x8b) return PESS__PACKING_GZIP;
    if (length >= 4 && memcmp(head, "\x28\xB5\x2F\xFD", 4) == 0) return PESS__PACKING_ZSTD;
    return PESS__PACKING_NONE;
}

const char *pess__packing_name(pess__packing packing) {
    static const char *const names[] = {"plain", "gzip", "zstd"};
    return names[packing];
}

static pess_status no_memory(const char *name, pess_error *error) {
    return pess__fail(error, PESS_MEMORY, "%s: not enough memory for decompression", name);
}

static pess_status start(pess__unpacker *u, pess_error *error) {
    if (u->packing == PESS__PACKING_GZIP) {
        u->gzip_ready = inflateInit2(&u->gzip, 15 + 16) == Z_OK;
        return u->gzip_ready ? PESS_OK : no_memory(u->name, error);
    }
    PESS_TRY(pess__library_load(&zstd_library, error));
    u->zstd = zstd.createDStream();
    return u->zstd != NULL ? PESS_OK : no_memory(u->name, error);
}

pess_status pess__unpacker_create(pess__packing packing, const char *name, pess__unpacker **out, pess_error *error) {
    pess__unpacker *u = NULL;
    PESS_TRY(pess__allocate(&u, 1, sizeof *u, "decompression", error));
    u->packing = packing;
    u->name = name;
    const pess_status status = start(u, error);
    if (status != PESS_OK) {
        pess__unpacker_destroy(u);
        return status;
    }
    *out = u;
    return PESS_OK;
}

void pess__unpacker_destroy(pess__unpacker *u) {
    if (u == NULL) return;
    if (u->gzip_ready) (void)inflateEnd(&u->gzip);
    if (u->zstd != NULL) (void)zstd.freeDStream(u->zstd);
    free(u);
}

pess_status pess__unpacker_reset(pess__unpacker *u, pess_error *error) {
    const bool failed = u->packing == PESS__PACKING_GZIP ? inflateReset(&u->gzip) != Z_OK
                                                         : zstd.isError(zstd.initDStream(u->zstd)) != 0;
    u->in_member = false;
    return failed ? pess__fail(error, PESS_MEMORY, "%s: decompression failed", u->name) : PESS_OK;
}

bool pess__unpacker_in_member(const pess__unpacker *u) { return u->in_member; }

static const char *unpack_gzip(pess__unpacker *u, pess__unpack_step *step) {
    enum { AT_ONCE = 1 << 30 }; /* zlib counts in 32 bits */
    z_stream *z = &u->gzip;
    const size_t room = step->out_size < AT_ONCE ? step->out_size : AT_ONCE;
    const size_t given = step->in_size < AT_ONCE ? step->in_size : AT_ONCE;
    z->next_in = step->in;
    z->avail_in = (uInt)given;
    z->next_out = step->out;
    z->avail_out = (uInt)room;
    u->in_member = true;
    const int result = inflate(z, Z_NO_FLUSH);
    step->in += given - z->avail_in;
    step->in_size -= given - z->avail_in;
    step->out += room - z->avail_out;
    step->out_size -= room - z->avail_out;
    if (result == Z_STREAM_END) {
        u->in_member = false;
        return inflateReset(z) == Z_OK ? NULL : "it cannot be begun again";
    }
    if (result == Z_MEM_ERROR) return PESS__UNPACK_NO_MEMORY;
    return result == Z_OK || result == Z_BUF_ERROR ? NULL : z->msg != NULL ? z->msg : "not gzip";
}

static const char *unpack_zstd(pess__unpacker *u, pess__unpack_step *step) {
    zstd_input in = {step->in, step->in_size, 0};
    zstd_output out = {step->out, step->out_size, 0};
    const size_t result = zstd.decompressStream(u->zstd, &out, &in);
    step->in += in.at;
    step->in_size -= in.at;
    step->out += out.at;
    step->out_size -= out.at;
    if (zstd.isError(result) != 0) {
        const char *wrong = zstd.getErrorName(result);
        return strstr(wrong, "memory") == NULL ? wrong : PESS__UNPACK_NO_MEMORY;
    }
    u->in_member = result != 0;
    return NULL;
}

const char *pess__unpack(pess__unpacker *u, pess__unpack_step *step) {
    return u->packing == PESS__PACKING_GZIP ? unpack_gzip(u, step) : unpack_zstd(u, step);
}
