/* How float observations are standardised: feature by feature, by mean and deviation over the transitions. */
#ifndef PESS_DEEP_STANDARD_H
#define PESS_DEEP_STANDARD_H

#include "data/observations.h"
#include "nn/network.h"

/* Nothing where the observations are not floats. A feature that is always the same becomes 0. */
pess_status pess__standardise_by(const pess_observations *data, pess__net *net, pess_error *error);

#endif
