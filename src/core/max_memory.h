/* How much memory the process may take (pess_set_max_memory). */
#ifndef PESS_CORE_MAX_MEMORY_H
#define PESS_CORE_MAX_MEMORY_H

#include "core/status.h"

/* May so many bytes be added to those in use? Where not, *used (may be NULL) is how many those are. */
bool pess__memory_fits(size_t bytes, int64_t *used);

#endif
