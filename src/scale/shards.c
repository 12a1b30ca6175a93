#include "scale/shards.h"

#include "core/memory.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What rank 0 finds. */
typedef struct found {
    char *bytes; /* paths, each with its final zero */
    int64_t length, room, count;
} found;

static pess_status add_path(found *f, const char *path, pess_error *error) {
    const int64_t size = (int64_t)strlen(path) + 1;
    PESS_TRY(pess__grow(&f->bytes, &f->room, f->length + size, 1, "paths", error));
    memcpy(f->bytes + f->length, path, (size_t)size);
    f->length += size;
    f->count++;
    return PESS_OK;
}

static pess_status add_pattern(found *f, const char *pattern, pess_error *error) {
    struct stat entry;
    glob_t list = {0};
    if (strpbrk(pattern, "*?[") == NULL || stat(pattern, &entry) == 0) return add_path(f, pattern, error);
    const int failed = glob(pattern, 0, NULL, &list);
    pess_status status = PESS_OK;
    if (failed != 0)
        status = failed == GLOB_NOMATCH ? pess__fail(error, PESS_IO, "%s: no file has such a name", pattern)
                                        : pess__fail(error, PESS_IO, "%s: the files cannot be listed", pattern);
    for (size_t i = 0; i < list.gl_pathc && status == PESS_OK; i++) status = add_path(f, list.gl_pathv[i], error);
    globfree(&list);
    return status;
}

static double size_of(const char *path) {
    struct stat entry;
    return stat(path, &entry) == 0 && entry.st_size > 0 ? (double)entry.st_size : 1;
}

/* The rank whose part of all bytes the middle of a file lies in. */
static void assign(pess__shards *shards) {
    double total = 0, before = 0;
    for (int64_t i = 0; i < shards->count; i++) total += size_of(shards->path[i]);
    for (int64_t i = 0; i < shards->count; i++) {
        const double size = size_of(shards->path[i]);
        const int rank = (int)((before + size / 2) / total * pess__ranks_all.size);
        shards->rank[i] = rank < pess__ranks_all.size ? rank : pess__ranks_all.size - 1;
        before += size;
    }
}

static pess_status allocate(pess__shards *out, int64_t length, pess_error *error) {
    PESS_TRY(pess__allocate(&out->path, out->count, sizeof *out->path, "paths", error));
    PESS_TRY(pess__allocate(&out->rank, out->count, sizeof *out->rank, "paths", error));
    return out->bytes != NULL ? PESS_OK : pess__allocate(&out->bytes, length, 1, "paths", error);
}

pess_status pess__shards_find(const char *const *patterns, int64_t count, pess__shards *out, pess_error *error) {
    found f = {0};
    pess_status status = PESS_OK;
    *out = (pess__shards){0};
    for (int64_t i = 0; i < count && status == PESS_OK && pess__ranks_all.rank == 0; i++)
        status = add_pattern(&f, patterns[i], error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        int64_t sizes[2] = {f.count, f.length};
        MPI_Bcast(sizes, 2, MPI_INT64_T, 0, pess__ranks_all.comm);
        out->count = sizes[0];
        out->bytes = f.bytes;
        f.bytes = NULL;
        status = pess__agree(allocate(out, sizes[1], error), error);
        if (status == PESS_OK) MPI_Bcast(out->bytes, (int)sizes[1], MPI_BYTE, 0, pess__ranks_all.comm);
    }
    if (status == PESS_OK) {
        char *at = out->bytes;
        for (int64_t i = 0; i < out->count; i++, at += strlen(at) + 1) out->path[i] = at;
        if (pess__ranks_all.rank == 0) assign(out);
        MPI_Bcast(out->rank, (int)out->count, MPI_INT32_T, 0, pess__ranks_all.comm);
    }
    free(f.bytes);
    if (status != PESS_OK) pess__shards_free(out);
    return status;
}

void pess__shards_free(pess__shards *shards) {
    free(shards->path);
    free(shards->rank);
    free(shards->bytes);
    *shards = (pess__shards){0};
}
