/* Rows of a CSV log as columns: what one thread does with one piece of the text. */
#ifndef PESS_DATA_CSV_CHUNK_H
#define PESS_DATA_CSV_CHUNK_H

#include "data/csv_row.h"
#include "data/stream.h"

enum { PESS__CSV_CHUNK = 1 << 18, PESS__CSV_LONGEST_ROW = 1 << 20 };

typedef struct pess__csv_layout {
    int64_t columns;
    int64_t core;  /* state,action,reward,next_state stand side by side from this column on; -1: they do not */
    uint8_t *role; /* [columns] pess__role */
    bool has[PESS__ROLES];
    bool counted;                 /* a row stands for `count` transitions */
    bool named[PESS__NUMBERINGS]; /* tokens are names, numbered in order of appearance */
    int64_t limit[2];             /* ids of states and actions are below this */
    bool declared[2];             /* ... because the caller said so */
} pess__csv_layout;

typedef struct pess__csv_chunk {
    char *begin, *end; /* whole rows; the last byte is a line feed */
    pess__block block;
    int64_t lines;             /* line feeds passed; problem lines count from 0 at the chunk's first line */
    pess__csv_problem problem; /* the first one; rows before it are in the block */
    int switch_numbering;      /* this numbering turned out to hold a name: read the log again; -1: none. Never with a
                                  problem */
    pess_names *names[PESS__NUMBERINGS]; /* in order of appearance in this chunk; block ids refer to them */
    struct pess__csv_place {
        int64_t line, column;
    } * first[PESS__NUMBERINGS]; /* where each name first stands */
    int64_t first_capacity[PESS__NUMBERINGS];
    pess__csv_field *fields; /* [columns] */
} pess__csv_chunk;

/* Room for the rows of `bytes` of text (and the row that these end in). */
pess_status pess__csv_chunk_create(pess__csv_chunk *chunk, const pess__csv_layout *layout, int64_t bytes,
                                   pess_error *error);
void pess__csv_chunk_free(pess__csv_chunk *chunk);
/* Text to block. Failures are in chunk->problem. */
void pess__csv_chunk_parse(pess__csv_chunk *chunk, const pess__csv_layout *layout);
#endif
