/* What whole episodes say of the policy that made them. */
#ifndef PESS_CERTIFY_EPISODE_RETURNS_H
#define PESS_CERTIFY_EPISODE_RETURNS_H

#include "data/dataset.h"

/* An upper bound of the mean discounted return from the episodes' own start distribution, for one policy that made all
 * of them: the episodes are independent, each return lies in [v_lo, v_hi], and what a cut-off episode would still have
 * earned is counted with the most it can be, γ^T·v_hi. By betting on v_hi − return >= 0, so that it holds at any
 * stopping time of the collection. v_hi where there are no episodes. */
pess_status pess__returns_upper(const pess_dataset *data, double gamma, double v_lo, double v_hi, double delta,
                                double *upper, pess_error *error);

#endif
