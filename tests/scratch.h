/* Files of a test: written, read back, compared, and the sentence that goes with a failure. */
#ifndef PESS_TESTS_SCRATCH_H
#define PESS_TESTS_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path that no other process uses; `slot` tells several files of one test apart. */
static inline const char *scratch_path(int slot, const char *extension) {
    static char paths[4][200];
    (void)snprintf(paths[slot], sizeof paths[slot], "/tmp/pess-test-%ld-%d%s", (long)getpid(), slot, extension);
    return paths[slot];
}

static inline const char *scratch_write(int slot, const char *text) {
    const char *path = scratch_path(slot, ".csv");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline char *scratch_read(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    text[size] = '\0';
    assert_int_equal(fclose(file), 0);
    return text;
}

static inline void scratch_remove(const char *path) { (void)unlink(path); }

/* The status, and each of the words in the message. The list of words ends with NULL. */
static inline void assert_failure(pess_status found, pess_status expected, const pess_error *error, ...) {
    if (found != expected) fail_msg("status %s: %s", pess_status_name(found), found != PESS_OK ? error->message : "");
    va_list words;
    va_start(words, error);
    for (const char *word = va_arg(words, const char *); word != NULL; word = va_arg(words, const char *))
        if (strstr(error->message, word) == NULL) fail_msg("'%s' is not in: %s", word, error->message);
    va_end(words);
}

static inline void assert_ok(pess_status found, const pess_error *error) {
    if (found != PESS_OK) fail_msg("status %s: %s", pess_status_name(found), error->message);
}

#define assert_close(a, b, tolerance)                                                                                  \
    do {                                                                                                               \
        const double close_a = (a), close_b = (b);                                                                     \
        if (!(close_a - close_b <= (tolerance) && close_b - close_a <= (tolerance)))                                   \
            fail_msg("%s:%d: %.17g is not %.17g", __FILE__, __LINE__, close_a, close_b);                               \
    } while (0)

#endif
