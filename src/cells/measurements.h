/* Measurements in memory. */
#ifndef PESS_CELLS_MEASUREMENTS_H
#define PESS_CELLS_MEASUREMENTS_H

#include "cells/row_reader.h"

struct pess_measurements {
    int64_t rows;
    pess__name_list features;
    double *values;   /* [rows*features] */
    uint32_t *action; /* [rows] or NULL, like the following */
    double *reward, *probability;
    uint8_t *end;
    int64_t *episode, *step;   /* episodes are numbered in order of appearance */
    pess_names *action_names;  /* NULL: integers */
    pess_names *episode_names; /* NULL: no episodes */
    bool *dropped;             /* [rows] or NULL: no transition begins here */
    pess_reading *reading;     /* NULL: from arrays */
    bool ends_marked;          /* there is a column that says how rows end */
    int last_row;              /* pess_last_row */
};

#endif
