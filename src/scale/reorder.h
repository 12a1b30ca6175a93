/* Neighbours near each other, before states are shared out: see reorder.c. */
#ifndef PESS_SCALE_REORDER_H
#define PESS_SCALE_REORDER_H

#include "scale/counting.h"

typedef enum pess__reorder { PESS__REORDER_AUTO, PESS__REORDER_ON, PESS__REORDER_OFF } pess__reorder;

/* From now on; auto: where it pays. */
void pess__reorder_set(pess__reorder how);

/* Gives the states of a log other places, unless those of their names are as good. Records, and the ranges that ranks
 * have, then go by places; share->order is the way back. */
pess_status pess__reorder_share(pess__share *share, pess_error *error);

#endif
