#include "core/scattered.h"

#include "core/memory.h"

#include <string.h>
#include <sys/mman.h>

enum { HUGE_FROM = 32 << 20 /* bytes: less is found soon enough in pages of 4 KB */, PAGE = 4096 };

/* Advice, no more: nothing depends on its being taken. */
static void advise(uint8_t *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const size_t skipped = PAGE - (uintptr_t)memory % PAGE;
    (void)madvise(memory + skipped, bytes - skipped, MADV_HUGEPAGE);
#else
    (void)memory, (void)bytes;
#endif
}

pess_status pess__allocate_scattered(void *out, int64_t count, size_t element, const char *what, pess_error *error) {
    uint8_t *memory = NULL;
    PESS_TRY(pess__allocate(&memory, count, element, what, error));
    const size_t bytes = (size_t)count * element;
    if (bytes >= HUGE_FROM) advise(memory, bytes);
    memcpy(out, &memory, sizeof memory);
    return PESS_OK;
}
