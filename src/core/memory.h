/* Memory with overflow checks: sizes are counts of elements in 64 bits, failures are messages. */
#ifndef PESS_CORE_MEMORY_H
#define PESS_CORE_MEMORY_H

#include "core/status.h"

/* Zeroed array of count elements; count 0 gives a valid pointer. `what` names it in the message ("the value table").
 * The result goes to *out, which is set only on success. */
pess_status pess__allocate(void *out, int64_t count, size_t element, const char *what, pess_error *error);

/* Grows *array so that it holds at least `needed` elements; *capacity is updated. Growth is geometric. */
pess_status pess__grow(void *array, int64_t *capacity, int64_t needed, size_t element, const char *what,
                       pess_error *error);

#endif
