/* Where the runs of a deep experiment are: ROOT/runs/GAME/x-X/trial-T/ALGORITHM. */
#include "core/text.h"
#include "experiment/games.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void pess__games_dataset_path(const pess_minatar *m, const char *root, int64_t index, const char *name,
                              char out[PESS__GAMES_PATH]) {
    const pess__games_dataset *dataset = &m->datasets[index];
    char x[PESS__NUMBER_SIZE];
    (void)pess__format_double(m->x[dataset->x], x);
    (void)snprintf(out, PESS__GAMES_PATH, "%s/runs/%s/x-%s/trial-%d%s%s", root, m->games[dataset->game]->name, x,
                   dataset->trial + 1, *name != '\0' ? "/" : "", name);
}

void pess__games_run_path(const pess_minatar *m, const char *root, int64_t dataset, int curve, const char *name,
                          char out[PESS__GAMES_PATH]) {
    char inside[100];
    (void)snprintf(inside, sizeof inside, "%s%s%s", m->curves[curve].folder, *name != '\0' ? "/" : "", name);
    pess__games_dataset_path(m, root, dataset, inside, out);
}

pess_status pess__games_make_directories(const char *path, pess_error *error) {
    char part[PESS__GAMES_PATH];
    (void)snprintf(part, sizeof part, "%s", path);
    for (char *slash = part;; *slash = '/') {
        slash = strchr(slash + 1, '/');
        if (slash != NULL) *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return pess__fail(error, PESS_IO, "%s: cannot be created: %s", part, strerror(errno));
        if (slash == NULL) return PESS_OK;
    }
}

static bool is_own(const char *name) {
    static const char *const names[] = {".",           "..",         "runs",         "settings.txt",
                                        "results.csv", "runs.csv",   "figure.svg",   "figure.png",
                                        "figure.pdf",  "index.html", "manifest.json"};
    const size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".tmp") == 0) return true; /* of a file that a kill left half written */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* Somebody's other files are never mixed with results. */
static pess_status check_content(const char *directory, bool *used, pess_error *error) {
    DIR *open_directory = opendir(directory);
    if (open_directory == NULL) return pess__fail(error, PESS_IO, "%s: cannot be read: %s", directory, strerror(errno));
    pess_status status = PESS_OK;
    for (const struct dirent *entry; status == PESS_OK && (entry = readdir(open_directory)) != NULL;) {
        if (strcmp(entry->d_name, "settings.txt") == 0) *used = true;
        if (!is_own(entry->d_name))
            status = pess__fail(error, PESS_ARGUMENT,
                                "%s: holds '%s', which is not of an experiment with games; choose an empty or new "
                                "directory",
                                directory, entry->d_name);
    }
    (void)closedir(open_directory);
    return status;
}

pess_status pess__games_check_directory(const char *directory, bool *used, pess_error *error) {
    struct stat info;
    *used = false;
    if (stat(directory, &info) != 0) {
        if (errno == ENOENT) return PESS_OK;
        return pess__fail(error, PESS_IO, "%s: cannot be read: %s", directory, strerror(errno));
    }
    if (!S_ISDIR(info.st_mode)) return pess__fail(error, PESS_IO, "%s: is not a directory", directory);
    if (access(directory, W_OK | X_OK) != 0)
        return pess__fail(error, PESS_IO, "%s: cannot be written: %s", directory, strerror(errno));
    return check_content(directory, used, error);
}
