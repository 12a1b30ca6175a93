/* One rank's share of a problem: the rows of a range of states, places for the values of the states elsewhere that they
 * lead to, and two more places, for the lowest and the highest value of all. */
#ifndef PESS_SCALE_SLAB_H
#define PESS_SCALE_SLAB_H

#include "model/spread.h"
#include "scale/dictionary.h"
#include "scale/order.h"

typedef struct pess__slab {
    pess__spread spread; /* first: what the rest of the library sees */
    int64_t *begin;      /* [size+1] the first state of every rank */
    int64_t places;      /* own + copies + 2 */
    int64_t copies;
    int64_t *copied; /* [copies] ascending: which state the place own + i is for */

    /* What goes to and comes from whom, at every refresh. */
    int partners;
    int *partner;                    /* [partners] ranks */
    int64_t *give_begin, *get_begin; /* [partners+1] */
    int32_t *give;                   /* own states, partner by partner */
    double *given;                   /* room for their values; what is got goes straight to its place */

    int64_t lo_place;   /* the own state of the lowest value of all, at the last look at the extremes; -1: elsewhere */
    pess__order *order; /* NULL: places are numbers */
    pess__dictionary state_names; /* by number; begin NULL: there are none */
} pess__slab;

/* The states first … first+own-1 of all are here; `elsewhere` are the others that rows lead to, any number of times and
 * in any order. */
pess_status pess__slab_create(int64_t states, const int64_t *begin, const int64_t *elsewhere, int64_t count,
                              pess__slab **out, pess_error *error);
void pess__slab_destroy(pess__slab *slab);

static inline const pess__slab *pess__slab_of(const pess_model *model) { return (const pess__slab *)model->spread; }

/* The place of a state; -1: it has none here. */
int64_t pess__slab_place(const pess__slab *slab, int64_t state);
int pess__slab_rank(const int64_t *begin, int64_t state);

/* Values of others to their places; and back: what stands in the places is added to the states they are for. */
void pess__slab_refresh(const pess__slab *slab, double *v);
void pess__slab_collect(const pess__slab *slab, double *v);

/* From now on the states have numbers beside their places. */
void pess__slab_take_order(pess__slab *slab, pess__order *order);
/* The own place of a number; -1: it is elsewhere. */
int64_t pess__slab_own_place(const pess__slab *slab, int64_t number);
/* The own place of the i-th smallest own number. */
static inline int64_t pess__slab_by_number(const pess__slab *slab, int64_t i) {
    return slab->order != NULL ? slab->order->arriving[i] : i;
}
/* The first number of every rank. */
static inline const int64_t *pess__slab_numbers(const pess__slab *slab) {
    return slab->order != NULL ? slab->order->begin : slab->begin;
}

/* begin [size+1] so that every rank has about the same weight: `weight` of `buckets` equal ranges of states. */
void pess__slab_cut(int64_t states, double *weight, int64_t buckets, int64_t *begin);

#endif
