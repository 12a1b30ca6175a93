#include "core/outfile.h"
#include "core/memory_raw.h"

#include "core/temporaries.h"
#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER_SIZE = 1 << 16 };

struct pess__outfile {
    char *path, *temporary; /* temporary NULL: straight to the descriptor (standard output, devices) */
    int descriptor;
    gzFile gz; /* NULL: not compressed */
    int saved_errno;
    bool failed, terminal; /* terminal: what is written is shown, not obeyed */
    size_t used;
    char buffer[BUFFER_SIZE];
};

static void remember(pess__outfile *file) {
    if (!file->failed) {
        file->failed = true;
        file->saved_errno = errno != 0 ? errno : EIO;
    }
}

/* zlib says in its own way that memory ran out. */
static void look_at_zlib(const pess__outfile *file) {
    int code = Z_OK;
    (void)gzerror(file->gz, &code);
    if (code == Z_MEM_ERROR) errno = ENOMEM;
}

static void send(pess__outfile *file, const char *bytes, size_t length) {
    while (!file->failed && length > 0) {
        errno = 0;
        const ssize_t wrote =
            file->gz != NULL ? gzwrite(file->gz, bytes, (unsigned)length) : write(file->descriptor, bytes, length);
        if (wrote <= 0) {
            if (wrote < 0 && errno == EINTR && file->gz == NULL) continue;
            if (file->gz != NULL) look_at_zlib(file);
            remember(file);
        } else {
            bytes += wrote;
            length -= (size_t)wrote;
        }
    }
}

/* A terminal obeys what it is sent, so names of others go there as pess_show has them. A character whose end has not
 * come yet stays in the buffer. */
static void flush_shown(pess__outfile *file) {
    char text[1 << 12];
    size_t length = 0, done = 0;
    while (done < file->used) {
        const char *next = file->buffer + done;
        pess_shown shown = {.taken = 1, .text = {*next}};
        if (*next != '\n' && *next != '\t') shown = pess_show(next, file->used - done);
        if (shown.taken == 0) break;
        if (length + sizeof shown.text > sizeof text) send(file, text, length), length = 0;
        memcpy(text + length, shown.text, strlen(shown.text));
        length += strlen(shown.text);
        done += shown.taken;
    }
    send(file, text, length);
    memmove(file->buffer, file->buffer + done, file->used -= done);
}

static void flush(pess__outfile *file) {
    if (file->terminal) {
        flush_shown(file);
    } else {
        send(file, file->buffer, file->used);
        file->used = 0;
    }
}

static void release(pess__outfile *file) {
    free(file->path);
    pess__temporary_forget(file->temporary);
    free(file);
}

/* Standard output, pipes and devices are written in place; everything else through a temporary name. */
static bool written_in_place(const char *path) {
    struct stat info;
    return strcmp(path, "-") == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

/* What stands at the path now decides: a symbolic link is followed, the mode of a file is kept and its owner's where
 * the system lets us, and a file that may not be written is not replaced either. */
static int open_beside(pess__outfile *file, const struct stat *old) {
    const bool replaces = old->st_nlink > 0;
    if (replaces && faccessat(AT_FDCWD, file->path, W_OK, AT_EACCESS) != 0) return -1;
    const int descriptor = pess__temporary_open(file->path, replaces ? 0600 : 0666, &file->temporary);
    if (descriptor < 0 || !replaces) return descriptor;
    if (old->st_gid != getegid()) (void)fchown(descriptor, (uid_t)-1, old->st_gid);
    if (old->st_uid != geteuid()) (void)fchown(descriptor, old->st_uid, (gid_t)-1);
    (void)fchmod(descriptor, old->st_mode & 0777);
    return descriptor;
}

/* Goes to where a symbolic link points; one that points nowhere is refused. */
static bool follow(pess__outfile *file) {
    struct stat info;
    if (lstat(file->path, &info) != 0 || !S_ISLNK(info.st_mode)) return true;
    char *target = realpath(file->path, NULL);
    if (target == NULL) return false;
    free(file->path);
    file->path = target;
    return true;
}

static int open_target(pess__outfile *file) {
    struct stat old = {0};
    if (strcmp(file->path, "-") == 0) return dup(STDOUT_FILENO);
    if (written_in_place(file->path)) return open(file->path, O_WRONLY | O_CLOEXEC);
    if (!follow(file)) return -1;
    if (stat(file->path, &old) == 0 && S_ISDIR(old.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    return open_beside(file, &old);
}

pess_status pess__outfile_open(const char *path, pess__outfile **out, pess_error *error) {
    if (path == NULL) return pess__fail(error, PESS_ARGUMENT, "no path is given");
    pess__outfile *file = pess__raw(sizeof *file);
    if (file != NULL) memset(file, 0, sizeof *file);
    if (file == NULL || (file->path = pess__raw_copy(path)) == NULL) {
        free(file);
        return pess__fail(error, PESS_MEMORY, "not enough memory to write %s", path);
    }
    errno = 0;
    file->descriptor = open_target(file);
    if (file->descriptor < 0) {
        const int reason = errno;
        release(file);
        return pess__fail(error, reason == ENOMEM ? PESS_MEMORY : PESS_IO, "%s: cannot be written: %s", path,
                          strerror(reason));
    }
    file->terminal = file->temporary == NULL && isatty(file->descriptor) == 1;
    if (pess__ends_with(path, ".gz")) {
        const int copy = dup(file->descriptor); /* gzclose closes its own; ours stays for fsync */
        file->gz = copy < 0 ? NULL : gzdopen(copy, "wb6");
        if (file->gz == NULL) {
            if (copy >= 0) (void)close(copy);
            pess__outfile_abandon(file);
            return pess__fail(error, PESS_MEMORY, "%s: cannot start compression", path);
        }
    }
    *out = file;
    return PESS_OK;
}

void pess__outfile_write(pess__outfile *file, const void *bytes, size_t length) {
    const char *from = bytes;
    while (length > 0) {
        if (file->used == BUFFER_SIZE) flush(file);
        const size_t room = BUFFER_SIZE - file->used, part = length < room ? length : room;
        memcpy(file->buffer + file->used, from, part);
        file->used += part;
        from += part;
        length -= part;
    }
}

void pess__outfile_print(pess__outfile *file, const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0) pess__outfile_write(file, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void pess__outfile_double(pess__outfile *file, double value) {
    char text[PESS__NUMBER_SIZE];
    const size_t length = pess__format_double(value, text);
    pess__outfile_write(file, text, length);
}

void pess__outfile_integer(pess__outfile *file, int64_t value) {
    char text[PESS__NUMBER_SIZE];
    const size_t length = pess__format_integer(value, text);
    pess__outfile_write(file, text, length);
}

void pess__outfile_field(pess__outfile *file, const char *text) {
    const size_t length = strlen(text);
    const bool plain = length > 0 && strpbrk(text, ",\"\r\n") == NULL && text[0] != ' ' && text[length - 1] != ' ';
    if (plain) {
        pess__outfile_write(file, text, length);
        return;
    }
    pess__outfile_write(file, "\"", 1);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"') pess__outfile_write(file, "\"", 1);
        pess__outfile_write(file, c, 1);
    }
    pess__outfile_write(file, "\"", 1);
}

/* The rename is only as lasting as the directory entry: flush the directory too. */
static void sync_directory(const char *path) {
    char *directory = pess__raw_copy(path);
    if (directory == NULL) return;
    char *slash = strrchr(directory, '/');
    if (slash != NULL) slash[slash == directory ? 1 : 0] = '\0';
    const int descriptor = open(slash != NULL ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        (void)close(descriptor);
    }
    free(directory);
}

static pess_status cannot_write(const pess__outfile *file, pess_error *error) {
    return pess__fail(error, file->saved_errno == ENOMEM ? PESS_MEMORY : PESS_IO, "%s: cannot be written: %s",
                      file->path, strerror(file->saved_errno));
}

pess_status pess__outfile_flush(pess__outfile *file, pess_error *error) {
    flush(file);
    return file->failed ? cannot_write(file, error) : PESS_OK;
}

/* The lock on a temporary name, by which others know that it is alive, goes with the descriptor: rename first. After
 * fsync closing has nothing left to fail with. */
static void appear(pess__outfile *file) {
    errno = 0;
    if (!file->failed && fsync(file->descriptor) != 0) remember(file);
    errno = 0;
    if (!file->failed && rename(file->temporary, file->path) != 0) remember(file);
    if (file->failed)
        (void)unlink(file->temporary);
    else
        sync_directory(file->path);
    (void)close(file->descriptor);
}

pess_status pess__outfile_commit(pess__outfile *file, pess_error *error) {
    flush(file);
    errno = 0;
    const int closed = file->gz != NULL ? gzclose(file->gz) : Z_OK;
    if (closed == Z_MEM_ERROR) errno = ENOMEM;
    if (closed != Z_OK) remember(file);
    errno = 0;
    if (file->temporary != NULL)
        appear(file);
    else if (close(file->descriptor) != 0)
        remember(file);
    const pess_status status = file->failed ? cannot_write(file, error) : PESS_OK;
    release(file);
    return status;
}

void pess__outfile_abandon(pess__outfile *file) {
    if (file == NULL) return;
    if (file->gz != NULL) (void)gzclose(file->gz);
    if (file->temporary != NULL) (void)unlink(file->temporary);
    (void)close(file->descriptor);
    release(file);
}
