/* Files for readers that take a path: a directory in memory, which goes when the fuzzer ends. */
#ifndef PESS_FUZZ_FILES_H
#define PESS_FUZZ_FILES_H

#include "pess.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char fuzz_directory[64];
static const char *const fuzz_names[] = {"input",         "results.csv",          "runs.csv",
                                         "manifest.json", "checkpoint-0.pessdqn", "merged"};

static inline void fuzz_path(const char *name, char path[128]) {
    (void)snprintf(path, 128, "%s/%s", fuzz_directory, name);
}

static inline void fuzz_remove_files(void) {
    char path[128];
    for (size_t i = 0; i < sizeof fuzz_names / sizeof *fuzz_names; i++) {
        fuzz_path(fuzz_names[i], path);
        (void)remove(path);
    }
}

static inline void fuzz_remove_directory(void) {
    fuzz_remove_files();
    (void)rmdir(fuzz_directory);
}

/* The directory is made by the first call. */
static inline void fuzz_write(const char *name, const void *bytes, size_t size, char path[128]) {
    if (fuzz_directory[0] == '\0') {
        (void)snprintf(fuzz_directory, sizeof fuzz_directory, "%s/pess-fuzz-XXXXXX",
                       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        if (mkdtemp(fuzz_directory) == NULL || atexit(fuzz_remove_directory) != 0) abort();
    }
    fuzz_path(name, path);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || close(file) != 0) abort();
}

/* A refusal has a status and a sentence. */
static inline void fuzz_refused(pess_status status, const pess_error *error) {
    if (status == PESS_OK || error->status != status || error->message[0] == '\0') abort();
}

#endif
