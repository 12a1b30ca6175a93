/* What is written about a deep experiment. */
#ifndef PESS_REPORT_GAMES_H
#define PESS_REPORT_GAMES_H

#include "experiment/games.h"
#include "report/figure.h"

/* Each writes one file. */
pess_status pess__games_results(const pess_minatar *m, const char *path, pess_error *error);
pess_status pess__games_runs(const pess_minatar *m, const char *path, pess_error *error);
pess_status pess__games_manifest(const pess_minatar *m, const char *command, const char *path, pess_error *error);
pess_status pess__games_page(const pess_minatar *m, const char *command, const char *path, pess_error *error);

/* A panel per game: return against x. */
pess_status pess__games_figure(const pess_minatar *m, pess__figure *out, pess_error *error);
/* A panel per game: what the algorithms with values predict, and what they get, against x. */
pess_status pess__games_overestimation(const pess_minatar *m, pess__figure *out, pess_error *error);
/* "space_invaders" as "Space invaders". */
void pess__game_title(const char *game, char *out, size_t size);
/* The settings as a line, e.g. "3 trials · protocol quick · seed 1". */
void pess__games_note(const pess_minatar *m, char *out, size_t size);

#endif
