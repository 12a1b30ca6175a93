/* For tests: memory that runs out. */
#ifndef PESS_CORE_MEMORY_HOOK_H
#define PESS_CORE_MEMORY_HOOK_H

#include <stdbool.h>
#include <stdint.h>

/* The n-th allocation from now on fails, once (1: the next one); 0: none does. */
void pess__memory_fail_at(int64_t n);
/* Has that allocation failed by now? */
bool pess__memory_failed(void);
/* From now on no allocation fails, and this is called at each of them; NULL: nothing is called. */
void pess__memory_watch(void (*asked)(void));

#endif
