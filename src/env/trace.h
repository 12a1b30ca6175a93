/* Trace files: `# minatar-trace 1 game=… channels=C sticky=… ramping=0|1`, then one record a line,
 *     R draws… HEX                         a reset and the state after it
 *     S action reward terminal draws… HEX  a step and the state after it
 * with draws u0.25 (uniform) and i3 (integer). A reset stands first and after every terminal step, nowhere else. */
#ifndef PESS_ENV_TRACE_H
#define PESS_ENV_TRACE_H

#include "env/env.h"

typedef struct pess__trace_header {
    const pess__game *game;
    double sticky;
    bool ramping;
} pess__trace_header;

typedef struct pess__trace_record {
    bool is_reset;
    int64_t action, reward;
    bool terminal;
    pess_draw *draws; /* the reader's, until the next record */
    int64_t draw_count;
    uint8_t state[PESS_ENV_MAX_BYTES];
} pess__trace_record;

typedef struct pess__trace_reader pess__trace_reader;

/* Opens the file (compressed or not; "-": standard input) and reads its first line. */
pess_status pess__trace_open(const char *path, pess__trace_reader **out, pess__trace_header *header, pess_error *error);
/* The next record, checked for form; *more is false at the end of the file. */
pess_status pess__trace_next(pess__trace_reader *reader, pess__trace_record *record, bool *more, pess_error *error);
int64_t pess__trace_line(const pess__trace_reader *reader); /* of the last record */
void pess__trace_close(pess__trace_reader *reader);         /* NULL is fine */

#endif
