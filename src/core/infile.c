#include "core/infile.h"

#include "core/memory.h"
#include "core/memory_raw.h"
#include "core/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKED_BUFFER = 1 << 17 };

struct pess__infile {
    char *name;
    int descriptor;           /* -1: memory */
    const uint8_t *memory;    /* NULL: a file */
    int64_t size;             /* of a regular file or memory; of a pipe once its end was seen; else -1 */
    int64_t base;             /* where the file began when it was opened (standard input may be part-read) */
    pess__infile_maker maker; /* read NULL: none */
    bool has_path;            /* the name is one */
    bool pipe, once;          /* once: a pipe is not kept */
    int spool;                /* -1: none */
    int64_t spooled;          /* bytes of the pipe that the spool holds */
    int64_t offset;           /* of sequential reading, bytes as stored */
    uint8_t *map;             /* [map_size] the whole file, or NULL */
    size_t map_size;
    pess__packing packing;
    pess__unpacker *unpacker; /* NULL: not begun */
    uint8_t *packed;          /* [PACKED_BUFFER] */
    size_t packed_at, packed_end;
};

static pess_status cannot_read(const pess__infile *file, int reason, pess_error *error) {
    return pess__fail(error, PESS_IO, "%s: cannot be read: %s", file->name, strerror(reason));
}

/* Keeps what a pipe delivers. */
static pess_status spool_write(pess__infile *file, const uint8_t *bytes, size_t length, pess_error *error) {
    if (file->spool < 0) {
        const char *folder = getenv("TMPDIR");
        if (folder == NULL || folder[0] == '\0') folder = access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
        char path[4096];
        if (snprintf(path, sizeof path, "%s/pess-XXXXXX", folder) >= (int)sizeof path)
            return pess__fail(error, PESS_IO, "TMPDIR is longer than a path can be");
        file->spool = mkstemp(path);
        if (file->spool < 0)
            return pess__fail(error, PESS_IO, "%s: no temporary file in %s: %s", file->name, folder, strerror(errno));
        (void)unlink(path);
    }
    while (length > 0) {
        const ssize_t wrote = pwrite(file->spool, bytes, length, (off_t)file->spooled);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0)
            return pess__fail(error, PESS_IO, "%s: the temporary copy cannot be written: %s", file->name,
                              strerror(wrote < 0 ? errno : ENOSPC));
        bytes += wrote;
        length -= (size_t)wrote;
        file->spooled += wrote;
    }
    return PESS_OK;
}

/* What a pipe or maker has next; *count is -1 where the system says why. */
static pess_status read_new(pess__infile *file, void *buffer, size_t size, ssize_t *count, pess_error *error) {
    size_t got = 0;
    if (file->maker.read == NULL) {
        *count = read(file->descriptor, buffer, size);
        return PESS_OK;
    }
    PESS_TRY(file->maker.read(file->maker.user, buffer, size, &got, error));
    *count = (ssize_t)got;
    return PESS_OK;
}

/* Bytes as stored from `offset`; *got is 0 only at the end. A pipe can only be asked up to where it was read. */
static pess_status read_some(pess__infile *file, int64_t offset, void *buffer, size_t size, size_t *got,
                             pess_error *error) {
    if (file->memory != NULL) {
        const int64_t left = offset < file->size ? file->size - offset : 0;
        *got = (int64_t)size < left ? size : (size_t)left;
        if (*got > 0) memcpy(buffer, file->memory + offset, *got);
        return PESS_OK;
    }
    for (;;) {
        ssize_t count = 0;
        if (!file->pipe) {
            count = pread(file->descriptor, buffer, size, (off_t)(file->base + offset));
        } else if (offset < file->spooled) {
            const int64_t left = file->spooled - offset;
            count = pread(file->spool, buffer, (int64_t)size < left ? size : (size_t)left, (off_t)offset);
        } else if (file->size < 0) {
            PESS_TRY(read_new(file, buffer, size, &count, error));
            if (count == 0) file->size = file->spooled;
            if (count > 0 && file->once)
                file->spooled += count;
            else if (count > 0)
                PESS_TRY(spool_write(file, buffer, (size_t)count, error));
        }
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return cannot_read(file, errno, error);
        *got = (size_t)count;
        return PESS_OK;
    }
}

/* As many as there are, up to size. */
static pess_status read_full(pess__infile *file, int64_t offset, void *buffer, size_t size, size_t *got,
                             pess_error *error) {
    size_t done = 0, part = 1;
    while (done < size && part > 0) {
        PESS_TRY(read_some(file, offset + (int64_t)done, (uint8_t *)buffer + done, size - done, &part, error));
        done += part;
    }
    *got = done;
    return PESS_OK;
}

static pess_status look_for_packing(pess__infile *file, pess_error *error) {
    uint8_t head[PESS__PACKING_HEAD];
    size_t got = 0;
    PESS_TRY(read_full(file, 0, head, sizeof head, &got, error));
    file->packing = pess__packing_of(head, got);
    return PESS_OK;
}

static pess_status open_file(const char *path, pess__infile *file, pess_error *error) {
    const bool standard = strcmp(path, "-") == 0;
    file->has_path = !standard;
    file->name = pess__raw_copy(standard ? "standard input" : path);
    if (file->name == NULL) return pess__fail(error, PESS_MEMORY, "not enough memory to read %s", path);
    file->descriptor = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file->descriptor < 0) return cannot_read(file, errno, error);
    struct stat info;
    if (fstat(file->descriptor, &info) != 0) return cannot_read(file, errno, error);
    if (S_ISDIR(info.st_mode)) return cannot_read(file, EISDIR, error);
    file->pipe = !S_ISREG(info.st_mode);
    if (!file->pipe) {
        const off_t here = standard ? lseek(file->descriptor, 0, SEEK_CUR) : 0;
        file->base = here > 0 ? (int64_t)here : 0;
        file->size = info.st_size > file->base ? (int64_t)info.st_size - file->base : 0;
    }
    return look_for_packing(file, error);
}

pess_status pess__infile_open(const char *path, pess__infile **out, pess_error *error) {
    pess__infile *file = NULL;
    if (path == NULL) return pess__fail(error, PESS_ARGUMENT, "no path is given");
    PESS_TRY(pess__allocate(&file, 1, sizeof *file, "a file handle", error));
    file->descriptor = file->spool = -1;
    file->size = -1;
    const pess_status status = open_file(path, file, error);
    if (status != PESS_OK) {
        pess__infile_close(file);
        return status;
    }
    *out = file;
    return PESS_OK;
}

pess_status pess__infile_open_memory(const char *name, const void *bytes, size_t length, pess__infile **out,
                                     pess_error *error) {
    static const uint8_t nothing[1];
    pess__infile *file = NULL;
    PESS_TRY(pess__allocate(&file, 1, sizeof *file, "a file handle", error));
    file->descriptor = file->spool = -1;
    file->memory = length > 0 ? bytes : nothing;
    file->size = (int64_t)length;
    file->name = pess__raw_copy(name);
    const pess_status status = file->name == NULL ? pess__fail(error, PESS_MEMORY, "not enough memory to read %s", name)
                                                  : look_for_packing(file, error);
    if (status != PESS_OK) {
        pess__infile_close(file);
        return status;
    }
    *out = file;
    return PESS_OK;
}

pess_status pess__infile_open_maker(const char *name, const pess__infile_maker *maker, pess__infile **out,
                                    pess_error *error) {
    pess__infile *file = NULL;
    const pess_status status = pess__allocate(&file, 1, sizeof *file, "a file handle", error);
    if (status != PESS_OK) {
        maker->close(maker->user);
        return status;
    }
    file->descriptor = file->spool = -1;
    file->size = -1;
    file->pipe = true;
    file->maker = *maker;
    file->name = pess__raw_copy(name);
    if (file->name == NULL) {
        const pess_status failed = pess__fail(error, PESS_MEMORY, "not enough memory to read %s", name);
        pess__infile_close(file); /* with the maker, whose name it may be */
        return failed;
    }
    *out = file;
    return PESS_OK;
}

void pess__infile_close(pess__infile *file) {
    if (file == NULL) return;
    if (file->maker.read != NULL) file->maker.close(file->maker.user);
    pess__unpacker_destroy(file->unpacker);
    if (file->descriptor >= 0) (void)close(file->descriptor);
    if (file->spool >= 0) (void)close(file->spool);
    if (file->map != NULL) (void)munmap(file->map, file->map_size);
    free(file->packed);
    free(file->name);
    free(file);
}

const char *pess__infile_name(const pess__infile *file) { return file->name; }

bool pess__infile_is_packed(const pess__infile *file) { return file->packing != PESS__PACKING_NONE; }

bool pess__infile_is_plain(const pess__infile *file) {
    return file->has_path && !file->pipe && file->packing == PESS__PACKING_NONE;
}

bool pess__infile_is_pipe(const pess__infile *file) { return file->pipe; }

pess_status pess__infile_head(pess__infile *file, void *buffer, size_t size, size_t *got, pess_error *error) {
    return read_full(file, 0, buffer, size, got, error);
}

static pess_status start_unpacking(pess__infile *file, pess_error *error) {
    if (file->packed == NULL) PESS_TRY(pess__allocate(&file->packed, PACKED_BUFFER, 1, "decompression", error));
    if (file->unpacker != NULL) return PESS_OK;
    return pess__unpacker_create(file->packing, file->name, &file->unpacker, error);
}

/* More compressed bytes; false at the end of the file, which may not come within a member. */
static pess_status fill_packed(pess__infile *file, bool *more, pess_error *error) {
    size_t got = 0;
    PESS_TRY(read_full(file, file->offset, file->packed, PACKED_BUFFER, &got, error));
    *more = got > 0;
    if (got == 0 && (pess__unpacker_in_member(file->unpacker) || file->offset == 0))
        return pess__fail(error, PESS_INPUT, "%s: the %s data end early: the file is truncated; copy it again",
                          file->name, pess__packing_name(file->packing));
    file->offset += (int64_t)got;
    file->packed_at = 0;
    file->packed_end = got;
    return PESS_OK;
}

static pess_status read_packed(pess__infile *file, void *buffer, size_t size, size_t *got, pess_error *error) {
    PESS_TRY(start_unpacking(file, error));
    pess__unpack_step step = {.out = buffer, .out_size = size};
    bool more = true;
    while (step.out_size > 0) {
        if (file->packed_at == file->packed_end) PESS_TRY(fill_packed(file, &more, error));
        if (!more) break;
        step.in = file->packed + file->packed_at;
        step.in_size = file->packed_end - file->packed_at;
        const char *wrong = pess__unpack(file->unpacker, &step);
        file->packed_at = file->packed_end - step.in_size;
        if (wrong == PESS__UNPACK_NO_MEMORY)
            return pess__fail(error, PESS_MEMORY, "%s: not enough memory for decompression", file->name);
        if (wrong != NULL)
            return pess__fail(error, PESS_INPUT, "%s: the %s data are damaged near byte %lld: %s", file->name,
                              pess__packing_name(file->packing), (long long)(file->offset - (int64_t)step.in_size),
                              wrong);
    }
    *got = size - step.out_size;
    return PESS_OK;
}

pess_status pess__infile_read(pess__infile *file, void *buffer, size_t size, size_t *got, pess_error *error) {
    if (pess__infile_is_packed(file)) return read_packed(file, buffer, size, got, error);
    PESS_TRY(read_full(file, file->offset, buffer, size, got, error));
    file->offset += (int64_t)*got;
    return PESS_OK;
}

pess_status pess__infile_read_some(pess__infile *file, void *buffer, size_t size, size_t *got, pess_error *error) {
    if (pess__infile_is_packed(file)) return read_packed(file, buffer, size, got, error);
    PESS_TRY(read_some(file, file->offset, buffer, size, got, error));
    file->offset += (int64_t)*got;
    return PESS_OK;
}

void pess__infile_read_once(pess__infile *file) { file->once = true; }

pess_status pess__infile_rewind(pess__infile *file, pess_error *error) {
    file->offset = 0;
    file->packed_at = file->packed_end = 0;
    return file->unpacker != NULL ? pess__unpacker_reset(file->unpacker, error) : PESS_OK;
}

pess_status pess__infile_size(pess__infile *file, int64_t *size, pess_error *error) {
    return pess__infile_size_within(file, INT64_MAX, size, error);
}

pess_status pess__infile_size_within(pess__infile *file, int64_t most, int64_t *size, pess_error *error) {
    if (file->size < 0) {
        uint8_t *buffer = NULL;
        PESS_TRY(pess__allocate(&buffer, PACKED_BUFFER, 1, "a copy of the input", error));
        pess_status status = PESS_OK;
        size_t got = 1;
        while (status == PESS_OK && got > 0 && file->spooled <= most)
            status = read_some(file, file->spooled, buffer, PACKED_BUFFER, &got, error);
        free(buffer);
        if (status != PESS_OK) return status;
    }
    *size = file->size >= 0 ? file->size : file->spooled;
    return PESS_OK;
}

pess_status pess__infile_at(pess__infile *file, int64_t offset, void *buffer, size_t size, pess_error *error) {
    size_t got = 0;
    PESS_TRY(read_full(file, offset, buffer, size, &got, error));
    if (got < size)
        return pess__fail(error, PESS_INPUT, "%s: ends at byte %lld, expected %lld more: the file is truncated",
                          file->name, (long long)offset + (long long)got, (long long)size - (long long)got);
    return PESS_OK;
}

pess_status pess__infile_map(pess__infile *file, const uint8_t **bytes, int64_t *size, pess_error *error) {
    PESS_TRY(pess__infile_size(file, size, error));
    *bytes = file->memory;
    if (file->memory != NULL || *size == 0) return PESS_OK;
    if (file->map == NULL) {
        const size_t length = (size_t)(file->base + *size);
        void *map = mmap(NULL, length, PROT_READ, MAP_PRIVATE, file->pipe ? file->spool : file->descriptor, 0);
        if (map == MAP_FAILED && errno == ENOMEM)
            return pess__fail(error, PESS_MEMORY, "%s: not enough memory to map its %lld bytes", file->name,
                              (long long)*size);
        if (map == MAP_FAILED) return cannot_read(file, errno, error);
        file->map = map;
        file->map_size = length;
    }
    *bytes = file->map + file->base;
    return PESS_OK;
}

void pess__infile_position(const pess__infile *file, int64_t *done, int64_t *total) {
    *done = file->offset;
    *total = file->size > 0 ? file->size : 0;
}
