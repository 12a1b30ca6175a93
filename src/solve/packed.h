/* The rows of a model as a sweep over all pairs reads them, in half of the model's bytes.
 *
 * Short rows lie in slices of four neighbouring pairs (sliced ELLPACK, Monakov et al. 2010): the j-th successors of the
 * four side by side, rows shorter than the slice's longest filled up with probability 0. Four sums are then added up at
 * once, and one loop ends instead of four. A probability is a 16-bit place in the table of those that occur: a log with
 * few samples per pair, or a process with rules, has few, and they stay the same doubles. Every kind of row is one of
 * these: a uniform one goes to a place behind the states that holds the mean of v, a sink to one that holds V_lo.
 *
 * Where the four pairs lead to much the same states, as the actions of a grid or a queue do, a slice has each of these
 * once, and beside it a place in a table of the fours of probabilities: one value is read for four products.
 *
 * Long rows that many pairs have in common (where a step goes depends on s + a, say) are multiplied once. */
#ifndef PESS_SOLVE_PACKED_H
#define PESS_SOLVE_PACKED_H

#include "model/model.h"

enum { PESS__SLICE = 4, PESS__MORE_VALUES = 2 /* places of v behind the states */ };

typedef struct pess__packed {
    int64_t states, actions;
    double *constant;    /* [S*A, to a whole slice] r + bonus; -infinity where there is no such action */
    bool joint;          /* the pairs of a slice have their successors in common */
    uint32_t *begin;     /* [slices+1] first entry, in fours where they are not joint */
    uint32_t *next;      /* entries: state, or S: the mean of v, S+1: V_lo; PESS__FETCH_AHEAD more that no row has */
    uint16_t *code;      /* entries: place in `probability`, in fours where they are joint */
    double *probability; /* those that occur, the first is 0; joint: the fours that occur */
    int64_t probabilities;
} pess__packed;

/* Packs the rows. *out is NULL where that would gain nothing: rows of very different lengths, too many probabilities.
 * bonus [S*A] or NULL. */
pess_status pess__packed_create(const pess_model *model, const double *bonus, int threads, pess__packed **out,
                                pess_error *error);
void pess__packed_destroy(pess__packed *packed);
/* q = constant + γPv of the pairs of whole slices `from` … to-1; v has PESS__MORE_VALUES places behind the states. */
void pess__packed_q(const pess__packed *packed, double gamma, const double *v, int64_t from, int64_t to, double *q);
/* What one sweep reads of it. */
int64_t pess__packed_bytes(const pess__packed *packed);

typedef struct pess__shared_rows {
    int64_t rows;
    uint32_t *row;   /* [S*A] which row the pair has, where it is sparse */
    uint32_t *pair;  /* [rows] the first pair that has it */
    double *product; /* [rows] (Pv) of each */
} pess__shared_rows;

/* *out is NULL where fewer than half of the rows are another pair's. */
pess_status pess__shared_rows_find(const pess_model *model, pess__shared_rows **out, pess_error *error);
void pess__shared_rows_destroy(pess__shared_rows *shared);

#endif
