/* The files of a deep experiment, which appear together. */
#include "report/games.h"
#include "report/staging.h"

enum { FILE_COUNT = 7 };

/* manifest.json comes last: where it is, all the others are. */
static const char *const FILES[FILE_COUNT] = {"results.csv", "runs.csv",   "figure.svg",   "figure.png",
                                              "figure.pdf",  "index.html", "manifest.json"};

static pess_status write_file(const pess_minatar *m, const pess__figure *figure, const char *command, int which,
                              const char *path, pess_error *error) {
    switch (which) {
        case 0: return pess__games_results(m, path, error);
        case 1: return pess__games_runs(m, path, error);
        case 2: return pess__figure_save(figure, path, "svg", error);
        case 3: return pess__figure_save(figure, path, "png", error);
        case 4: return pess__figure_save(figure, path, "pdf", error);
        case 5: return pess__games_page(m, command, path, error);
        default: return pess__games_manifest(m, command, path, error);
    }
}

pess_status pess_minatar_write(const pess_minatar *m, const char *command, pess_error *error) {
    pess__staging staging;
    pess__figure figure = {0};
    PESS_TRY(pess__staging_open(&staging, m->out, FILES, FILE_COUNT, error));
    pess_status status = pess__games_figure(m, &figure, error);
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
