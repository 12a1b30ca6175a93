#include "report/staging.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pess_status pess__staging_open(pess__staging *staging, const char *directory, const char *const *names, int count,
                               pess_error *error) {
    *staging = (pess__staging){.directory = directory, .names = names, .count = count};
    if (strlen(directory) + 80 > sizeof staging->path)
        return pess__fail(error, PESS_ARGUMENT, "%.200s…: the name is too long", directory);
    (void)snprintf(staging->path, sizeof staging->path, "%s/" PESS__STAGING, directory);
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return pess__fail(error, PESS_IO, "%s: cannot be created: %s", directory, strerror(errno));
    if (mkdir(staging->path, 0777) != 0 && errno != EEXIST)
        return pess__fail(error, PESS_IO, "%s: cannot be written: %s", directory, strerror(errno));
    return PESS_OK;
}

void pess__staging_file(const pess__staging *staging, int i, char out[PESS__STAGING_PATH]) {
    (void)snprintf(out, PESS__STAGING_PATH, "%.*s/%d", PESS__STAGING_PATH - 20, staging->path, i);
}

static void final_name(const pess__staging *staging, int i, char out[PESS__STAGING_PATH]) {
    (void)snprintf(out, PESS__STAGING_PATH, "%s/%s", staging->directory, staging->names[i]);
}

pess_status pess__staging_publish(const pess__staging *staging, pess_error *error) {
    char from[PESS__STAGING_PATH], to[PESS__STAGING_PATH];
    final_name(staging, staging->count - 1, to);
    (void)unlink(to);
    for (int i = 0; i < staging->count; i++) {
        pess__staging_file(staging, i, from);
        final_name(staging, i, to);
        if (rename(from, to) != 0) return pess__fail(error, PESS_IO, "%s: cannot be written: %s", to, strerror(errno));
    }
    return PESS_OK;
}

void pess__staging_close(const pess__staging *staging) {
    char path[PESS__STAGING_PATH];
    for (int i = 0; i < staging->count; i++) {
        pess__staging_file(staging, i, path);
        (void)unlink(path);
    }
    (void)rmdir(staging->path);
}
