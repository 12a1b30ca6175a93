/* The directory of an experiment: who may write there, and whether it holds finished runs. */
#include "core/text.h"
#include "experiment/experiment.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMON_FILES ". .. results.csv figure.svg figure.png figure.pdf index.html manifest.json"

/* A name that ends in .tmp is of a file that a kill left half written. */
static bool is_own(const pess__engine *engine, const char *name) {
    return pess__ends_with(name, ".tmp") || pess_setting_listed(COMMON_FILES, name) ||
           pess_setting_listed(engine->files, name) || pess_setting_listed(engine->kept, name);
}

/* A kill or a full disk can leave a file in which nothing stands yet. */
static bool is_empty(DIR *directory, const char *name) {
    struct stat info;
    return fstatat(dirfd(directory), name, &info, 0) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

/* Files that are not results are never mixed with them. */
static pess_status check_content(const char *directory, const pess__engine *engine, bool *used, pess_error *error) {
    char first[40] = "";
    (void)pess__next_word(engine->kept, first, sizeof first);
    DIR *open_directory = opendir(directory);
    if (open_directory == NULL) return pess__fail(error, PESS_IO, "%s: cannot be read: %s", directory, strerror(errno));
    pess_status status = PESS_OK;
    for (const struct dirent *entry; status == PESS_OK && (entry = readdir(open_directory)) != NULL;) {
        *used = *used || (strcmp(entry->d_name, first) == 0 && !is_empty(open_directory, entry->d_name));
        if (!is_own(engine, entry->d_name))
            status =
                pess__fail(error, PESS_ARGUMENT,
                           "%s: holds '%s', which does not belong to this experiment; choose an empty or new directory",
                           directory, entry->d_name);
    }
    (void)closedir(open_directory);
    return status;
}

pess_status pess__experiment_check_directory(const char *directory, const pess__engine *engine, bool *used,
                                             pess_error *error) {
    struct stat info;
    *used = false;
    if (strlen(directory) > PESS__EXPERIMENT_PATH - 200) /* room for the names of runs */
        return pess__fail(error, PESS_ARGUMENT, "out: the name %.80s… is too long", directory);
    if (stat(directory, &info) != 0) {
        if (errno == ENOENT) return PESS_OK;
        return pess__fail(error, PESS_IO, "%s: cannot be read: %s", directory, strerror(errno));
    }
    if (!S_ISDIR(info.st_mode)) return pess__fail(error, PESS_IO, "%s: is not a directory", directory);
    if (access(directory, W_OK | X_OK) != 0)
        return pess__fail(error, PESS_IO, "%s: cannot be written: %s", directory, strerror(errno));
    return check_content(directory, engine, used, error);
}

pess_status pess__experiment_make_directories(const char *path, pess_error *error) {
    char part[PESS__EXPERIMENT_PATH];
    (void)snprintf(part, sizeof part, "%s", path);
    for (char *slash = part;; *slash = '/') {
        slash = strchr(slash + 1, '/');
        if (slash != NULL) *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return pess__fail(error, PESS_IO, "%s: cannot be created: %s", part, strerror(errno));
        if (slash == NULL) return PESS_OK;
    }
}
