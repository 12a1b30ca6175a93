/* Where the runs of a deep experiment are: ROOT/runs/GAME/x-X/trial-T/ALGORITHM, further trainings on the data of a
 * trial in trial-T-seed-2 and so on. */
#include "core/text.h"
#include "experiment/games.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void pess__games_dataset_path(const pess__games *m, const char *root, int64_t index, const char *name,
                              char out[PESS__EXPERIMENT_PATH]) {
    const pess__games_dataset *dataset = &m->datasets[index];
    char x[PESS__NUMBER_SIZE], again[32] = "";
    (void)pess__format_double(m->x[dataset->x], x);
    if (dataset->again > 0) (void)snprintf(again, sizeof again, "-seed-%d", dataset->again + 1);
    (void)snprintf(out, PESS__EXPERIMENT_PATH, "%s/runs/%s/x-%s/trial-%d%s%s%s", root, m->games[dataset->game]->name, x,
                   dataset->trial + 1, again, *name != '\0' ? "/" : "", name);
}

void pess__games_run_path(const pess__games *m, const char *root, int64_t dataset, int curve, const char *name,
                          char out[PESS__EXPERIMENT_PATH]) {
    char inside[100];
    (void)snprintf(inside, sizeof inside, "%s%s%s", m->curves[curve].folder, *name != '\0' ? "/" : "", name);
    pess__games_dataset_path(m, root, dataset, inside, out);
}

pess_status pess__games_read_text(const char *path, char *out, size_t size, bool *found, pess_error *error) {
    FILE *file = fopen(path, "rb");
    *found = file != NULL;
    if (file == NULL && errno != ENOENT && errno != ENOTDIR)
        return pess__fail(error, PESS_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (file == NULL) return PESS_OK;
    const size_t got = fread(out, 1, size, file);
    const bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (failed) return pess__fail(error, PESS_IO, "%s: cannot be read", path);
    if (got == size || memchr(out, '\0', got) != NULL)
        return pess__fail(error, PESS_INPUT, "%s: is not a file of this experiment", path);
    out[got] = '\0';
    return PESS_OK;
}
