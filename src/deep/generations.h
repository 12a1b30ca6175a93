/* Checkpoints: two files that take turns. Each is written under another name, flushed and renamed, so at any moment at
 * least one whole generation is there. Every file begins with a version, the settings it was made with and how far the
 * training was. */
#ifndef PESS_DEEP_GENERATIONS_H
#define PESS_DEEP_GENERATIONS_H

#include "core/bytes.h"
#include "core/dirlock.h"

enum { PESS__SETTINGS_SIZE = 2048, PESS__PATH_SIZE = 4096 };

typedef struct pess__generations {
    const char *directory;
    const char *suffix;   /* of the files' names */
    const char *kind;     /* for messages: "a checkpoint of DQN" */
    const char *settings; /* lines "key=value" of all that decides the result */
    char magic[8];
    uint32_t version;
    bool resume; /* go on from what is there; otherwise nothing may be there */
} pess__generations;

/* A directory in which files can be made; PESS_IO where there is none and none can be. */
pess_status pess__make_directory(const char *path, pess_error *error);

/* To be called before anything is trained or written: makes the directory and takes it, for this run alone. PESS_IO
 * where that is not possible or nothing can be written there, PESS_ARGUMENT where it has checkpoints and the run does
 * not resume. */
pess_status pess__generations_open(const pess__generations *g, pess__directory_lock *lock, pess_error *error);
/* Opens generation `number` for writing. */
pess_status pess__generations_begin(const pess__generations *g, int64_t number, int64_t progress, pess__sink *sink,
                                    pess_error *error);
/* Opens the newest good one, after its progress. *found false: there is none at all. PESS_ARGUMENT where it
 * was made with other settings, naming the first that differs. Close the cursor in any case. */
pess_status pess__generations_newest(const pess__generations *g, pess__cursor *cursor, int64_t *progress, bool *found,
                                     pess_error *error);
/* PESS_INPUT where one of the counts that were read from it is below 0. */
pess_status pess__generations_check_counts(const pess__cursor *cursor, const int64_t *counts, int size,
                                           pess_error *error);

/* A log that grows line by line and is written whole. */
typedef struct pess__logtext {
    char *text;
    int64_t length, capacity;
} pess__logtext;

pess_status pess__logtext_add(pess__logtext *log, const char *line, pess_error *error);
/* To directory/log.csv. */
pess_status pess__logtext_write(const pess__logtext *log, const char *directory, pess_error *error);
void pess__logtext_save(const pess__logtext *log, pess__sink *sink);
pess_status pess__logtext_restore(pess__logtext *log, pess__cursor *cursor, pess_error *error);

#endif
