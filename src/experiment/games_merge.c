/* Shards put together: the same settings, every run there, their files copied beneath one directory. */
#include "core/memory.h"
#include "core/outfile.h"
#include "core/text.h"
#include "experiment/games.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static pess_status copy_file(const char *from, const char *to, pess_error *error) {
    char piece[1 << 14];
    pess__outfile *file = NULL;
    FILE *source = fopen(from, "rb");
    if (source == NULL) return pess__fail(error, PESS_IO, "%s: cannot be read: %s", from, strerror(errno));
    pess_status status = pess__outfile_open(to, &file, error);
    for (size_t got; status == PESS_OK && (got = fread(piece, 1, sizeof piece, source)) > 0;)
        pess__outfile_write(file, piece, got);
    if (status == PESS_OK && ferror(source) != 0) {
        pess__outfile_abandon(file);
        status = pess__fail(error, PESS_IO, "%s: cannot be read", from);
    } else if (status == PESS_OK) {
        status = pess__outfile_commit(file, error);
    }
    (void)fclose(source);
    return status;
}

/* Results and networks; a finished run has no use for its checkpoints. */
static bool is_wanted(const char *name) {
    const size_t length = strlen(name);
    return name[0] != '.' && !pess__begins_with(name, "checkpoint") &&
           !(length > 4 && strcmp(name + length - 4, ".tmp") == 0);
}

static pess_status copy_run(const char *from, const char *to, pess_error *error) {
    PESS_TRY(pess__experiment_make_directories(to, error));
    DIR *directory = opendir(from);
    if (directory == NULL) return pess__fail(error, PESS_IO, "%s: cannot be read: %s", from, strerror(errno));
    pess_status status = PESS_OK;
    for (const struct dirent *entry; status == PESS_OK && (entry = readdir(directory)) != NULL;) {
        char source[2 * PESS__EXPERIMENT_PATH], target[2 * PESS__EXPERIMENT_PATH];
        struct stat info;
        (void)snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
        (void)snprintf(target, sizeof target, "%s/%s", to, entry->d_name);
        if (is_wanted(entry->d_name) && stat(source, &info) == 0 && S_ISREG(info.st_mode))
            status = copy_file(source, target, error);
    }
    (void)closedir(directory);
    return status;
}

static pess_status check_settings(const pess__games *m, const char *directory, pess_error *error) {
    pess_experiment *other = NULL;
    char there[PESS__GAMES_SETTINGS_SIZE], here[PESS__GAMES_SETTINGS_SIZE];
    PESS_TRY(pess__games_read_plan(directory, &other, error));
    pess__games_settings(other->plan, there, sizeof there);
    pess__games_settings(m, here, sizeof here);
    pess_experiment_destroy(other);
    return pess__games_same_settings(directory, there, here, true, error);
}

/* Where each run is: the first directory that has it; -1: nowhere. */
static pess_status read_results(pess__games *m, const char *const *directories, size_t count, int *where,
                                pess_error *error) {
    for (int64_t d = 0; d < m->dataset_count; d++)
        for (int c = 0; c < m->curve_count; c++) {
            const pess__games_run *run = pess__games_run_of(m, d, c);
            int *found = &where[d * m->curve_count + c];
            *found = -1;
            for (size_t i = 0; i < count && !run->finished; i++) {
                PESS_TRY(pess__games_read_result(m, directories[i], d, c, error));
                if (run->finished) *found = (int)i;
            }
        }
    return PESS_OK;
}

static pess_status check_whole(const pess__games *m, const int *where, pess_error *error) {
    int64_t missing = 0, first = -1;
    const int64_t count = m->dataset_count * m->curve_count;
    for (int64_t i = count - 1; i >= 0; i--) {
        if (where[i] >= 0) continue;
        missing++;
        first = i;
    }
    if (missing == 0) return PESS_OK;
    const pess__games_dataset *dataset = &m->datasets[first / m->curve_count];
    return pess__fail(error, PESS_INPUT,
                      "partial: %lld of %lld runs are in none of the directories, the first of them %s, x = %g, trial "
                      "%d, %s; finish them, or switch it on to merge the others",
                      (long long)missing, (long long)count, m->games[dataset->game]->name, m->x[dataset->x],
                      dataset->trial + 1, m->curves[first % m->curve_count].folder);
}

static pess_status copy_runs(const pess__games *m, const char *const *directories, const int *where,
                             pess_error *error) {
    for (int64_t d = 0; d < m->dataset_count; d++)
        for (int c = 0; c < m->curve_count; c++) {
            char from[PESS__EXPERIMENT_PATH], to[PESS__EXPERIMENT_PATH];
            const int source = where[d * m->curve_count + c];
            if (source < 0) continue;
            pess__games_run_path(m, directories[source], d, c, "", from);
            pess__games_run_path(m, m->options->out, d, c, "", to);
            PESS_TRY(copy_run(from, to, error));
        }
    return PESS_OK;
}

static pess_status check_any(const pess__games *m, const int *where, const char *directory, pess_error *error) {
    for (int64_t i = 0; i < m->dataset_count * m->curve_count; i++)
        if (where[i] >= 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: holds no finished run", directory);
}

static pess_status merge_into(pess__games *m, const char *const *directories, size_t count, bool partial,
                              pess_error *error) {
    int *where = NULL;
    for (size_t i = 1; i < count; i++) PESS_TRY(check_settings(m, directories[i], error));
    PESS_TRY(pess__allocate(&where, m->dataset_count * m->curve_count, sizeof *where, "the runs", error));
    pess_status status = read_results(m, directories, count, where, error);
    if (status == PESS_OK) status = check_any(m, where, directories[0], error);
    if (status == PESS_OK && !partial) status = check_whole(m, where, error);
    if (status == PESS_OK) status = pess__experiment_make_directories(m->options->out, error);
    if (status == PESS_OK) status = pess__games_write_settings(m, error);
    if (status == PESS_OK) status = copy_runs(m, directories, where, error);
    free(where);
    return status == PESS_OK ? pess__games_summarise(m, error) : status;
}

pess_status pess__games_merge(const char *const *directories, size_t count, const char *out, bool partial,
                              pess_experiment **experiment, pess_error *error) {
    pess_experiment *e = NULL;
    PESS_TRY(pess__games_read_plan(directories[0], &e, error));
    pess_status status = pess__experiment_set_text(e, "out", out, error);
    if (status == PESS_OK) status = merge_into(e->plan, directories, count, partial, error);
    if (status == PESS_OK)
        *experiment = e;
    else
        pess_experiment_destroy(e);
    return status;
}
