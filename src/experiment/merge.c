/* Shards put together: the engine that made them knows how. */
#include "core/text.h"
#include "experiment/experiment.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

/* Is there what the engine keeps finished runs in? */
static bool holds_runs(const char *directory, const pess__engine *engine) {
    char first[40] = "", path[PESS__EXPERIMENT_PATH + 80];
    (void)pess__next_word(engine->kept, first, sizeof first);
    (void)snprintf(path, sizeof path, "%.*s/%s", PESS__EXPERIMENT_PATH, directory, first);
    return access(path, F_OK) == 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info;
    (void)kind;
    (void)place;
    (void)remove(path);
    return 0;
}

/* A merge that failed leaves a directory that can be merged into: there was nothing in it that is removed here. */
void pess__experiment_undo_merge(const char *directory, const pess__engine *engine) {
    enum { DESCRIPTORS = 8 };
    char word[40], path[PESS__EXPERIMENT_PATH + 80];
    for (const char *at = engine->kept; (at = pess__next_word(at, word, sizeof word)) != NULL;) {
        (void)snprintf(path, sizeof path, "%.*s/%s", PESS__EXPERIMENT_PATH, directory, word);
        (void)nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
    }
    (void)rmdir(directory); /* where it is empty */
}

pess_status pess_experiment_merge(const char *const *directories, size_t count, const char *out, bool partial,
                                  pess_experiment **experiment, pess_error *error) {
    static const pess__engine *const engines[] = {&pess__engine_games, &pess__engine_trials};
    if (count == 0) return pess__fail(error, PESS_ARGUMENT, "found no directories to merge");
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        bool used = false;
        if (!holds_runs(directories[0], engines[i])) continue;
        PESS_TRY(pess__experiment_check_directory(out, engines[i], &used, error));
        if (used)
            return pess__fail(error, PESS_ARGUMENT, "out: %s holds runs already; choose an empty or new directory",
                              out);
        const pess_status status = engines[i]->merge(directories, count, out, partial, experiment, error);
        if (status == PESS_OK)
            (*experiment)->merged = true;
        else
            pess__experiment_undo_merge(out, engines[i]);
        return status;
    }
    return pess__fail(error, PESS_INPUT,
                      "%s: holds no runs that could be merged (neither settings.txt of games nor checkpoint.pess of "
                      "a shard)",
                      directories[0]);
}
