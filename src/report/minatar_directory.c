/* The files of a deep experiment, which appear together. */
#include "report/minatar.h"
#include "report/staging.h"

enum { FILE_COUNT = 3 };

static const char *const FILES[FILE_COUNT] = {"results.csv", "runs.csv", "manifest.json"};

static pess_status write_file(const pess_minatar *m, const pess__figure *figure, const char *command, int which,
                              const char *path, pess_error *error) {
    (void)figure;
    switch (which) {
        case 0: return pess__minatar_results(m, path, error);
        case 1: return pess__minatar_runs(m, path, error);
        default: return pess__minatar_manifest(m, command, path, error);
    }
}

pess_status pess_minatar_write(const pess_minatar *m, const char *command, pess_error *error) {
    pess__staging staging;
    pess__figure figure = {0};
    PESS_TRY(pess__staging_open(&staging, m->out, FILES, FILE_COUNT, error));
    pess_status status = PESS_OK;
    for (int i = 0; status == PESS_OK && i < FILE_COUNT; i++) {
        char path[PESS__STAGING_PATH];
        pess__staging_file(&staging, i, path);
        status = write_file(m, &figure, command, i, path, error);
    }
    if (status == PESS_OK) status = pess__staging_publish(&staging, error);
    pess__figure_release(&figure);
    pess__staging_close(&staging);
    return status;
}
