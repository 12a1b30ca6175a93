/* How large things may be (PESS_MAX_… in pess.h). */
#ifndef PESS_CORE_LIMITS_H
#define PESS_CORE_LIMITS_H

#include "core/status.h"

/* PESS_LIMIT where the sizes are beyond what fits; 0 is fine (not known yet). `where` begins the message: a file, or
 * words such as "the model". */
pess_status pess__check_sizes(const char *where, int64_t states, int64_t actions, pess_error *error);

#endif
