/* Inspection of a log: what it measures (inspect.c) and what it says about it (findings.c). */
#ifndef PESS_DATA_INSPECT_H
#define PESS_DATA_INSPECT_H

#include "data/dataset.h"

/* What findings.c needs beside the numbers of pess_inspection. Rows are -1 where there is no example. */
typedef struct pess__inspected {
    const pess_dataset *data;
    const pess_inspection *numbers;
    int64_t gap_before, gap_after;        /* first gap: two rows that follow each other */
    int64_t duplicate_row;                /* repeats an (episode, step) */
    int64_t after_terminal, after_row;    /* rows behind a terminal one in its episode; the first */
    int64_t after_cutoff, cutoff_row;     /* rows behind a cut-off one in its episode; the first */
    int64_t open_row;                     /* last row of the first open episode */
    int64_t late_row, least_step;         /* first row of the first episode that begins late; where others begin */
    int64_t next_only_row;                /* first row that leads to a state of which nothing is known */
    int64_t probability_pairs, odd_pairs; /* pairs whose logged probabilities were compared; that disagree */
    int64_t odd_row;                      /* a row of the worst one */
    double odd_logged, odd_empirical;
} pess__inspected;

/* How many times every row stands in the log, and the first copy; 1 and -1 where they do not all do so equally often.
 */
typedef struct pess__copies {
    int64_t times, row;
} pess__copies;

pess__copies pess__find_copies(const pess_dataset *data);

/* Writes the findings into `inspection`. */
pess_status pess__findings_write(const pess__inspected *found, pess_inspection *inspection, pess_error *error);

/* The finding with this code; NULL: there is none. */
const pess_finding *pess__finding(const pess_inspection *inspection, const char *code);

/* Is nothing found by which the return of an episode would not be that of its rows: steps that are missing or there
 * twice, rows after an end or a cut-off? */
bool pess__episodes_are_whole(const pess_inspection *inspection);

#endif
