/* Rows of a CSV log as columns: what one thread does with one piece of the text. */
#ifndef PESS_DATA_CSV_CHUNK_H
#define PESS_DATA_CSV_CHUNK_H

#include "data/csv_text.h"
#include "data/reading.h"

typedef struct pess__csv_layout {
    const pess_reading *reading;
    int64_t columns;
    int64_t core;  /* state,action,reward,next_state stand side by side from this column on; -1: they do not */
    uint8_t *role; /* [columns] pess__role */
    char separator;
    bool decimal_comma;
    bool plain;                   /* rows may be read the fast way */
    bool joined;                  /* some role is played by several columns */
    bool named[PESS__NUMBERINGS]; /* tokens are names, numbered in order of appearance */
    int64_t limit[2];             /* ids of states and actions are below this */
    bool declared[2];             /* ... because the caller said so */
    pess_step_unit step;
} pess__csv_layout;

/* What a chunk found that the log has to be read again for: a numbering that holds names (its number), or steps that
 * are no integers. */
enum { PESS__AGAIN_STEP_MILLIONTHS = PESS__NUMBERINGS, PESS__AGAIN_STEP_TIMES };

typedef struct pess__csv_chunk {
    char *begin, *end; /* whole rows; the last byte is a line feed */
    pess__block block;
    int64_t lines;                       /* line feeds passed; problem lines count from 0 at the chunk's first line */
    pess__csv_problem problem;           /* the first one; rows before it are in the block */
    int again;                           /* -1: nothing. Never with a problem */
    pess_names *names[PESS__NUMBERINGS]; /* in order of appearance in this chunk; block ids refer to them */
    struct pess__csv_place {
        int64_t line, column;
    } * first[PESS__NUMBERINGS]; /* where each name first stands */
    int64_t first_capacity[PESS__NUMBERINGS];
    pess__csv_field *fields; /* [columns] */
    char *text;              /* scratch: a value of several columns, or one that is not in UTF-8 */
    int64_t text_capacity;
    int64_t rows;              /* of the text */
    int64_t dropped, stood_in; /* rows and values */
    int64_t ends_without_next;
    bool decimal_ids, number_names;
    pess__missing_rows missing[PESS__ROLES];
} pess__csv_chunk;

/* Room for the rows of `bytes` of text (and the row that these end in). */
pess_status pess__csv_chunk_create(pess__csv_chunk *chunk, const pess__csv_layout *layout, int64_t bytes,
                                   pess_error *error);
void pess__csv_chunk_free(pess__csv_chunk *chunk);
/* Text to block. Failures are in chunk->problem. */
void pess__csv_chunk_parse(pess__csv_chunk *chunk, const pess__csv_layout *layout);
#endif
