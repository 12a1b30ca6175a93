/* A floor under the values of a policy (a ceiling, where an upper bound is asked for). */
#ifndef PESS_CERTIFY_FLOOR_H
#define PESS_CERTIFY_FLOOR_H

#include "certify/holdout.h"

/* Cuts the box of the test by the floor and what it leads to, where it holds (floor_holds). `imagined`: the second part
 * is the first part's prediction, which also chooses the stakes. */
pess_status pess__holdout_floor(pess__holdout *test, bool imagined, pess_error *error);

#endif
