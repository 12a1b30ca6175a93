/* The directory of an experiment: who may write there, and its files appearing together. */
#include "report/report.h"
#include "report/staging.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4200, FILE_COUNT = 8 };

#define CHECKPOINT "checkpoint.pess"

/* manifest.json comes last: where it is, all the others are. */
static const char *const FILES[FILE_COUNT] = {"results.csv", "paired.csv", "trials.csv.gz", "figure.svg",
                                              "figure.png",  "figure.pdf", "index.html",    "manifest.json"};

static pess_status join(const char *directory, const char *name, char *out, size_t size, pess_error *error) {
    if ((size_t)snprintf(out, size, "%s/%s", directory, name) >= size)
        return pess__fail(error, PESS_ARGUMENT, "%.200s…: the name is too long", directory);
    return PESS_OK;
}

static bool is_own(const char *name) {
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, CHECKPOINT) == 0 ||
        strcmp(name, PESS__STAGING) == 0)
        return true;
    for (int i = 0; i < FILE_COUNT; i++)
        if (strcmp(name, FILES[i]) == 0) return true;
    return false;
}

/* Somebody's other files are never mixed with results. */
static pess_status check_content(const char *directory, pess_error *error) {
    DIR *open_directory = opendir(directory);
    if (open_directory == NULL) return pess__fail(error, PESS_IO, "%s: cannot be read: %s", directory, strerror(errno));
    pess_status status = PESS_OK;
    for (const struct dirent *entry; status == PESS_OK && (entry = readdir(open_directory)) != NULL;)
        if (!is_own(entry->d_name))
            status = pess__fail(error, PESS_ARGUMENT,
                                "%s: holds '%s', which is not of an experiment; choose an empty "
                                "or new directory",
                                directory, entry->d_name);
    (void)closedir(open_directory);
    return status;
}

pess_status pess_experiment_directory(const char *directory, bool resume, char *checkpoint, size_t size,
                                      pess_error *error) {
    struct stat info;
    PESS_TRY(join(directory, CHECKPOINT, checkpoint, size, error));
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return pess__fail(error, PESS_IO, "%s: cannot be created: %s", directory, strerror(errno));
    if (stat(directory, &info) != 0 || !S_ISDIR(info.st_mode))
        return pess__fail(error, PESS_IO, "%s: is not a directory", directory);
    if (access(directory, W_OK | X_OK) != 0)
        return pess__fail(error, PESS_IO, "%s: cannot be written: %s", directory, strerror(errno));
    PESS_TRY(check_content(directory, error));
    if (!resume && access(checkpoint, F_OK) == 0)
        return pess__fail(error, PESS_ARGUMENT,
                          "%s: holds an interrupted run; add --resume to go on with it, or "
                          "remove the directory",
                          directory);
    return PESS_OK;
}

/* ---- writing */

typedef struct job {
    const pess_experiment *experiment;
    const pess__figure *figure;
    const char *command;
    char path[PESS__STAGING_PATH];
    pess_status status;
    pess_error error;
} job;

static void write_file(job *j, int which) {
    switch (which) {
        case 0: j->status = pess__report_results(j->experiment, j->path, &j->error); break;
        case 1: j->status = pess__report_paired(j->experiment, j->path, &j->error); break;
        case 2: j->status = pess__report_trials(j->experiment, j->path, &j->error); break;
        case 3: j->status = pess__figure_save(j->figure, j->path, "svg", &j->error); break;
        case 4: j->status = pess__figure_save(j->figure, j->path, "png", &j->error); break;
        case 5: j->status = pess__figure_save(j->figure, j->path, "pdf", &j->error); break;
        case 6: j->status = pess__report_page(j->experiment, j->command, j->path, &j->error); break;
        default: j->status = pess__report_manifest(j->experiment, j->command, j->path, &j->error); break;
    }
}

static pess_status write_staged(const pess_experiment *e, const pess__figure *figure, const char *command,
                                const pess__staging *staging, pess_error *error) {
    job jobs[FILE_COUNT];
    for (int i = 0; i < FILE_COUNT; i++) {
        jobs[i] = (job){.experiment = e, .figure = figure, .command = command};
        pess__staging_file(staging, i, jobs[i].path);
    }
    write_file(&jobs[2], 2); /* on all cores by itself */
#pragma omp parallel for schedule(dynamic) num_threads(e->options.threads)
    for (int i = 0; i < FILE_COUNT; i++)
        if (i != 2) write_file(&jobs[i], i);
    for (int i = 0; i < FILE_COUNT; i++)
        if (jobs[i].status != PESS_OK) return pess__fail(error, jobs[i].status, "%s", jobs[i].error.message);
    return PESS_OK;
}

pess_status pess_experiment_write(const pess_experiment *experiment, const char *directory, const char *command,
                                  pess_error *error) {
    char checkpoint[PATH_SIZE];
    pess__staging staging;
    pess__figure figure = {0};
    PESS_TRY(join(directory, CHECKPOINT, checkpoint, sizeof checkpoint, error));
    PESS_TRY(pess__staging_open(&staging, directory, FILES, FILE_COUNT, error));
    pess_status status = pess__report_figure(experiment, &figure, error);
    if (status == PESS_OK) status = write_staged(experiment, &figure, command, &staging, error);
    if (status == PESS_OK) status = pess__staging_publish(&staging, error);
    pess__figure_release(&figure);
    pess__staging_close(&staging);
    if (status == PESS_OK) (void)unlink(checkpoint);
    return status;
}
