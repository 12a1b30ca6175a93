#include "shown.h"

#include "command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct filter {
    int descriptor;
    char kept[4]; /* the beginning of a character whose end has not come yet */
    size_t kept_count;
    char out[4096];
    size_t used;
} filter;

static filter filters[2] = {{.descriptor = STDOUT_FILENO}, {.descriptor = STDERR_FILENO}};

static bool send(int descriptor, const char *text, size_t length) {
    while (length > 0) {
        const ssize_t wrote = write(descriptor, text, length);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        text += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

static bool put(filter *f, const char *text, size_t length) {
    if (f->used + length > sizeof f->out) {
        if (!send(f->descriptor, f->out, f->used)) return false;
        f->used = 0;
    }
    memcpy(f->out + f->used, text, length);
    f->used += length;
    return true;
}

/* One character of the text, or none where its end is missing: how many bytes that is. */
static size_t put_one(filter *f, const char *text, size_t length, bool *fine) {
    if (*text == '\n' || *text == '\t') {
        *fine = put(f, text, 1);
        return 1;
    }
    const pess_shown shown = pess_show(text, length);
    if (shown.taken > 0) *fine = put(f, shown.text, strlen(shown.text));
    return shown.taken;
}

/* Completes the character that the last piece ended within; false: it is still not whole. */
static bool complete(filter *f, const char **text, const char *end, bool *fine) {
    while (f->kept_count > 0 && *fine) {
        const size_t taken = put_one(f, f->kept, f->kept_count, fine);
        f->kept_count -= taken;
        memmove(f->kept, f->kept + taken, f->kept_count);
        if (taken > 0) continue;
        if (*text == end) return false;
        f->kept[f->kept_count++] = *(*text)++;
    }
    return true;
}

static ssize_t write_filtered(void *cookie, const char *text, size_t length) {
    filter *f = cookie;
    const char *at = text, *end = text + length;
    bool fine = true;
    if (complete(f, &at, end, &fine)) {
        size_t taken = 1;
        while (fine && at < end && taken > 0) {
            taken = put_one(f, at, (size_t)(end - at), &fine);
            at += taken;
        }
        f->kept_count = (size_t)(end - at) < sizeof f->kept ? (size_t)(end - at) : 0;
        memcpy(f->kept, at, f->kept_count);
    }
    if (fine) fine = send(f->descriptor, f->out, f->used);
    f->used = 0;
    return fine ? (ssize_t)length : 0;
}

void show_through_filter(void) {
    const cookie_io_functions_t calls = {.write = write_filtered};
    FILE *out = fopencookie(&filters[0], "w", calls), *err = fopencookie(&filters[1], "w", calls);
    if (out != NULL) stdout = out;
    if (err != NULL) stderr = err;
    static char space[2][BUFSIZ];
    if (out != NULL) (void)setvbuf(out, space[0], isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    if (err != NULL) (void)setvbuf(err, space[1], _IOLBF, BUFSIZ);
}

void draw_on_terminal(const char *text) {
    (void)fflush(stderr);
    (void)send(STDERR_FILENO, text, strlen(text));
}
