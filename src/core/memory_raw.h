/* Memory without a message, for callers that word their own; NULL where there is none. Fails as pess__allocate does
 * where a test wants it to (core/memory_hook.h). */
#ifndef PESS_CORE_MEMORY_RAW_H
#define PESS_CORE_MEMORY_RAW_H

#include <stddef.h>

void *pess__raw(size_t bytes); /* not zeroed */
void *pess__raw_aligned(size_t alignment, size_t bytes);
char *pess__raw_copy(const char *text);

#endif
