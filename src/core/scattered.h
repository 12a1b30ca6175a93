/* Memory for arrays that are read at random places. */
#ifndef PESS_CORE_SCATTERED_H
#define PESS_CORE_SCATTERED_H

#include "core/status.h"

/* pess__allocate; a large array is to lie in huge pages, whose addresses the processor finds sooner, where the system
 * has them. */
pess_status pess__allocate_scattered(void *out, int64_t count, size_t element, const char *what, pess_error *error);

#endif
