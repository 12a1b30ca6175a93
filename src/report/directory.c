/* The files of an experiment, which appear together. */
#include "report/report.h"
#include "report/staging.h"

#include <stdio.h>
#include <unistd.h>

enum { FILE_LIMIT = 16 };

typedef struct job {
    const pess_experiment *experiment;
    const pess__figure *figure;
    const char *command;
    const char *format; /* of a figure */
    char path[PESS__STAGING_PATH];
    pess_status (*write)(struct job *job, pess_error *error);
    pess_status status;
    pess_error error;
} job;

static pess_status results(job *j, pess_error *error) { return pess__report_results(j->experiment, j->path, error); }
static pess_status paired(job *j, pess_error *error) { return pess__report_paired(j->experiment, j->path, error); }
static pess_status trials(job *j, pess_error *error) { return pess__report_trials(j->experiment, j->path, error); }
static pess_status runs(job *j, pess_error *error) { return pess__report_runs(j->experiment, j->path, error); }
static pess_status figure(job *j, pess_error *error) { return pess__figure_save(j->figure, j->path, j->format, error); }
static pess_status page(job *j, pess_error *error) {
    return pess__report_page(j->experiment, j->command, j->path, error);
}
static pess_status manifest(job *j, pess_error *error) {
    return pess__report_manifest(j->experiment, j->command, j->path, error);
}

/* Those that only some engines write are among pess__engine.files. manifest.json comes last: where it is, all the
 * others are. */
static const struct {
    const char *name, *format;
    bool some;
    pess_status (*write)(job *job, pess_error *error);
} files[] = {{"results.csv", NULL, false, results},   {"paired.csv", NULL, true, paired},
             {"trials.csv.gz", NULL, true, trials},   {"runs.csv", NULL, true, runs},
             {"figure.svg", "svg", false, figure},    {"figure.png", "png", false, figure},
             {"figure.pdf", "pdf", false, figure},    {"index.html", NULL, false, page},
             {"manifest.json", NULL, false, manifest}};

static int list_files(const pess_experiment *e, const char *names[FILE_LIMIT], job jobs[FILE_LIMIT]) {
    const bool drawable = pess_figure_possible(NULL) == PESS_OK;
    int count = 0;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].some && !pess_setting_listed(e->kind->engine->files, files[i].name)) continue;
        if (files[i].write == figure && !drawable) continue;
        jobs[count] = (job){.experiment = e, .format = files[i].format, .write = files[i].write};
        names[count++] = files[i].name;
    }
    return count;
}

/* The table of trials is made on all cores by itself, the others a core each. */
static pess_status write_all(job *jobs, int count, int threads, pess_error *error) {
    for (int i = 0; i < count; i++)
        if (jobs[i].write == trials) jobs[i].status = trials(&jobs[i], &jobs[i].error);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int i = 0; i < count; i++)
        if (jobs[i].write != trials) jobs[i].status = jobs[i].write(&jobs[i], &jobs[i].error);
    for (int i = 0; i < count; i++)
        if (jobs[i].status != PESS_OK) return pess__fail(error, jobs[i].status, "%s", jobs[i].error.message);
    return PESS_OK;
}

static pess_status write_directory(const pess_experiment *e, const char *command, pess_error *error) {
    const char *names[FILE_LIMIT];
    job jobs[FILE_LIMIT];
    pess__staging staging;
    pess__figure drawn = {0};
    if (e->options.out == NULL) return pess__fail(error, PESS_ARGUMENT, "out: found no directory to write to");
    const int count = list_files(e, names, jobs);
    PESS_TRY(pess__staging_open(&staging, e->options.out, names, count, error));
    pess_status status = pess__report_figure(e, &drawn, error);
    for (int i = 0; i < count; i++) {
        jobs[i].figure = &drawn;
        jobs[i].command = command != NULL ? command : "";
        pess__staging_file(&staging, i, jobs[i].path);
    }
    if (status == PESS_OK) status = write_all(jobs, count, e->options.threads, error);
    if (status == PESS_OK) status = pess__staging_publish(&staging, error);
    pess__figure_release(&drawn);
    pess__staging_close(&staging);
    if (status == PESS_OK && e->kind->engine->written != NULL) e->kind->engine->written(e);
    return status;
}

static bool is_written(const pess_experiment *e) {
    char path[PESS__EXPERIMENT_PATH + 20];
    (void)snprintf(path, sizeof path, "%s/manifest.json", e->options.out);
    return access(path, F_OK) == 0;
}

pess_status pess_experiment_write(const pess_experiment *e, const char *command, pess_error *error) {
    const pess_status status = write_directory(e, command, error);
    if (status != PESS_OK && e->merged && !is_written(e)) pess__experiment_undo_merge(e->options.out, e->kind->engine);
    return status;
}
