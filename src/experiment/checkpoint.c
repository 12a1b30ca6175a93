#include "experiment/checkpoint.h"

#include "core/memory.h"
#include "core/memory_raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pess__checkpoint {
    FILE *file;
    char *path;
    int64_t width;
};

enum { SIGNATURE = 4000 };

static const char MAGIC[16] = "pess-trials-1\n\0";

/* FNV-1a over 64-bit words, seeded with the trial's number: a record at the wrong place is as bad as a torn one. */
static uint64_t checksum(int64_t trial, const double *values, int64_t width) {
    uint64_t hash = 0xcbf29ce484222325U ^ (uint64_t)trial;
    for (int64_t i = 0; i < width; i++) {
        uint64_t word = 0;
        memcpy(&word, &values[i], sizeof word);
        hash = (hash ^ word) * 0x100000001b3U;
        hash ^= hash >> 29;
    }
    return hash;
}

static pess_status fail_io(const char *path, const char *what, pess_error *error) {
    return pess__fail(error, PESS_IO, "%s: cannot be %s: %s", path, what, strerror(errno != 0 ? errno : EIO));
}

static pess_status write_header(pess__checkpoint *c, const char *signature, pess_error *error) {
    const uint64_t length = strlen(signature);
    errno = 0;
    if (fwrite(MAGIC, sizeof MAGIC, 1, c->file) != 1 || fwrite(&length, sizeof length, 1, c->file) != 1 ||
        fwrite(signature, length, 1, c->file) != 1 || fflush(c->file) != 0)
        return fail_io(c->path, "written", error);
    return PESS_OK;
}

/* A file that was killed, or found the disk full, before its header was whole holds no trials: it is begun anew. */
static bool header_is_torn(FILE *file) {
    char head[sizeof MAGIC + sizeof(uint64_t) + SIGNATURE];
    uint64_t length = 0;
    const size_t got = fread(head, 1, sizeof head, file);
    const bool readable = ferror(file) == 0;
    rewind(file);
    if (!readable || memcmp(head, MAGIC, got < sizeof MAGIC ? got : sizeof MAGIC) != 0) return false;
    if (got < sizeof MAGIC + sizeof length) return true;
    memcpy(&length, head + sizeof MAGIC, sizeof length);
    return length < SIGNATURE && got < sizeof MAGIC + sizeof length + length;
}

static pess_status check_header(pess__checkpoint *c, const char *signature, pess_error *error) {
    char magic[sizeof MAGIC], found[SIGNATURE];
    uint64_t length = 0;
    errno = 0;
    if (fread(magic, sizeof magic, 1, c->file) != 1 || memcmp(magic, MAGIC, sizeof magic) != 0 ||
        fread(&length, sizeof length, 1, c->file) != 1 || length >= sizeof found ||
        (length > 0 && fread(found, (size_t)length, 1, c->file) != 1)) {
        if (ferror(c->file) != 0) return fail_io(c->path, "read", error);
        return pess__fail(error, PESS_INPUT,
                          "%s: does not hold the trials of an interrupted run; remove it to start again", c->path);
    }
    found[length] = '\0';
    const char *there = found + strcspn(found, " "), *here = signature + strcspn(signature, " ");
    if (strcmp(there, here) != 0)
        return pess__fail(error, PESS_INPUT, "%s: its trials have other settings: found '%.400s', expected '%.400s'",
                          c->path, there + (*there != '\0'), here + (*here != '\0'));
    return PESS_OK;
}

/* Reads whole records. Returns where the first bad one begins; -1 where the file cannot be read, which is no torn
 * record.
 */
static long read_records(pess__checkpoint *c, int64_t trials, double *row, double *values, bool *finished) {
    long good = ftell(c->file);
    for (;;) {
        int64_t trial = 0;
        uint64_t sum = 0;
        if (fread(&trial, sizeof trial, 1, c->file) != 1 || fread(&sum, sizeof sum, 1, c->file) != 1 ||
            fread(row, sizeof *row, (size_t)c->width, c->file) != (size_t)c->width)
            break;
        if (sum != checksum(trial, row, c->width) || trial < 0) break;
        good = ftell(c->file);
        if (trial >= trials) continue; /* of a run with more trials */
        memcpy(values + trial * c->width, row, (size_t)c->width * sizeof *row);
        finished[trial] = true;
    }
    return ferror(c->file) == 0 ? good : -1;
}

static pess_status load(pess__checkpoint *c, const char *signature, int64_t trials, double *values, bool *finished,
                        long *good, pess_error *error) {
    PESS_TRY(check_header(c, signature, error));
    double *row = NULL;
    PESS_TRY(pess__allocate(&row, c->width, sizeof *row, "a trial", error));
    errno = 0;
    *good = read_records(c, trials, row, values, finished);
    free(row);
    return *good >= 0 ? PESS_OK : fail_io(c->path, "read", error);
}

/* … and the file is cut there. */
static pess_status load_and_cut(pess__checkpoint *c, const char *signature, int64_t trials, double *values,
                                bool *finished, pess_error *error) {
    long good = -1;
    PESS_TRY(load(c, signature, trials, values, finished, &good, error));
    errno = 0;
    if (ftruncate(fileno(c->file), good) != 0 || fseek(c->file, good, SEEK_SET) != 0)
        return fail_io(c->path, "continued", error);
    return PESS_OK;
}

/* *fresh: there is nothing to go on from. */
static FILE *open_file(const char *path, bool resume, bool *fresh) {
    FILE *file = fopen(path, "r+b");
    *fresh = file == NULL && errno == ENOENT;
    if (*fresh) return fopen(path, "wbx");
    if (file == NULL) return NULL;
    *fresh = header_is_torn(file);
    if (resume || *fresh) return file;
    (void)fclose(file);
    errno = EEXIST;
    return NULL;
}

static pess_status begin_or_go_on(pess__checkpoint *c, bool fresh, const char *signature, int64_t trials,
                                  double *values, bool *finished, pess_error *error) {
    if (c->path == NULL) return pess__fail(error, PESS_MEMORY, "not enough memory for the name of a checkpoint");
    if (c->file == NULL && errno == EEXIST)
        return pess__fail(
            error, PESS_ARGUMENT,
            "resume: %s holds the trials of an interrupted run; switch it on to continue with them, or remove the file",
            c->path);
    if (c->file == NULL) return fail_io(c->path, "written", error);
    if (!fresh) return load_and_cut(c, signature, trials, values, finished, error);
    if (ftruncate(fileno(c->file), 0) != 0) return fail_io(c->path, "written", error);
    return write_header(c, signature, error);
}

pess_status pess__checkpoint_open(const char *path, bool resume, const char *signature, int64_t trials, int64_t width,
                                  double *values, bool *finished, pess__checkpoint **out, pess_error *error) {
    pess__checkpoint *c = NULL;
    bool fresh = false;
    PESS_TRY(pess__allocate(&c, 1, sizeof *c, "the checkpoint", error));
    c->width = width;
    c->path = pess__raw_copy(path);
    errno = 0;
    c->file = open_file(path, resume, &fresh);
    const pess_status status = begin_or_go_on(c, fresh, signature, trials, values, finished, error);
    if (status != PESS_OK) {
        (void)pess__checkpoint_close(c, NULL);
        return status;
    }
    *out = c;
    return PESS_OK;
}

pess_status pess__checkpoint_read(const char *path, const char *signature, int64_t trials, int64_t width,
                                  double *values, bool *finished, pess_error *error) {
    pess__checkpoint c = {.width = width, .path = pess__raw_copy(path)};
    long good = -1;
    if (c.path == NULL) return pess__fail(error, PESS_MEMORY, "not enough memory to open %s", path);
    errno = 0;
    c.file = fopen(path, "rb");
    const pess_status status =
        c.file == NULL ? fail_io(path, "read", error) : load(&c, signature, trials, values, finished, &good, error);
    if (c.file != NULL) (void)fclose(c.file);
    free(c.path);
    return status;
}

pess_status pess__checkpoint_add(pess__checkpoint *c, int64_t first, int64_t count, const double *values,
                                 pess_error *error) {
    errno = 0;
    for (int64_t i = 0; i < count; i++) {
        const double *row = values + i * c->width;
        const int64_t trial = first + i;
        const uint64_t sum = checksum(trial, row, c->width);
        if (fwrite(&trial, sizeof trial, 1, c->file) != 1 || fwrite(&sum, sizeof sum, 1, c->file) != 1 ||
            fwrite(row, sizeof *row, (size_t)c->width, c->file) != (size_t)c->width)
            return fail_io(c->path, "written", error);
    }
    if (fflush(c->file) != 0) return fail_io(c->path, "written", error);
    return PESS_OK;
}

pess_status pess__checkpoint_close(pess__checkpoint *c, pess_error *error) {
    if (c == NULL) return PESS_OK;
    pess_status status = PESS_OK;
    errno = 0;
    if (c->file != NULL && fclose(c->file) != 0) status = fail_io(c->path, "written", error);
    free(c->path);
    free(c);
    return status;
}
