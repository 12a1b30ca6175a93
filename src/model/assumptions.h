/* What is taken from a log because it was not declared: the assumptions that every reader of its counts shares. */
#ifndef PESS_MODEL_ASSUMPTIONS_H
#define PESS_MODEL_ASSUMPTIONS_H

#include "core/assumptions.h"
#include "model/counts.h"
#include "model/model.h"

/* states-from-log, actions-from-log, rewards-from-log and return-range-declared. */
pess_status pess__assume_sizes(pess__assumptions *to, const pess_counts *counts, const pess_model *model,
                               pess_error *error);
/* What the range of values rests on, where nothing else of the process is needed. */
pess_status pess__assume_value_range(pess__assumptions *to, const pess_model *model, pess_error *error);
/* returns-unchecked, of counts whose rows nobody looked at. */
pess_status pess__assume_returns_unchecked(pess__assumptions *to, const pess_model *model, pess_error *error);
/* repeated-steps, where there are any. */
pess_status pess__assume_repeated(pess__assumptions *to, const pess_counts *counts, pess_error *error);
/* cutoffs-continue, where there are any. */
pess_status pess__assume_cutoffs(pess__assumptions *to, const pess_counts *counts, pess_error *error);

#endif
