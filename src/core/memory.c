#include "core/memory.h"

#include "core/max_memory.h"
#include "core/memory_hook.h"
#include "core/memory_raw.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int64_t failing_in; /* 0: never */
static void (*watching)(void);

void pess__memory_fail_at(int64_t n) { failing_in = n; }

bool pess__memory_failed(void) { return failing_in <= 0; }

void pess__memory_watch(void (*asked)(void)) {
    watching = asked;
    failing_in = asked != NULL ? INT64_MAX : 0;
}

/* Is this the allocation that a test wants to fail? */
static bool refused(void) {
    if (failing_in == 0) return false;
    if (watching != NULL) watching();
    return atomic_fetch_sub(&failing_in, 1) == 1;
}

/* "0.21 MB", "2170 MB": three digits, or all before the point. */
static const char *megabytes(double bytes, char text[32]) {
    (void)snprintf(text, 32, bytes < 1e9 ? "%.3g MB" : "%.0f MB", bytes / 1e6);
    return text;
}

static pess_status out_of_memory(double bytes, const char *what, pess_error *error) {
    char size[32];
    return pess__fail(error, PESS_MEMORY, "not enough memory for %s (%s)", what, megabytes(bytes, size));
}

/* Asked before the system is: it would promise memory that it does not have. */
static pess_status check_limit(size_t bytes, const char *what, pess_error *error) {
    int64_t used = 0;
    if (pess__memory_fits(bytes, &used)) return PESS_OK;
    char enough[32], asked[32], present[32], limit[32];
    (void)snprintf(enough, sizeof enough, "%.0fM", ceil(1.1 * ((double)used + (double)bytes) / 1e6));
    (void)pess__fail(error, PESS_MEMORY, "%s for %s, beside the %s in use, are more than the limit of %s",
                     megabytes((double)bytes, asked), what, megabytes((double)used, present),
                     megabytes((double)pess_max_memory(), limit));
    return pess__fail_with_remedy(error, PESS_MEMORY, "max-memory", enough);
}

pess_status pess__allocate(void *out, int64_t count, size_t element, const char *what, pess_error *error) {
    if (count < 0 || (uint64_t)count > (uint64_t)PTRDIFF_MAX / element)
        return out_of_memory((double)count * (double)element, what, error);
    PESS_TRY(check_limit((size_t)count * element, what, error));
    void *memory = refused() ? NULL : calloc(count > 0 ? (size_t)count : 1, element);
    if (memory == NULL) return out_of_memory((double)count * (double)element, what, error);
    memcpy(out, &memory, sizeof memory);
    return PESS_OK;
}

pess_status pess__grow(void *array, int64_t *capacity, int64_t needed, size_t element, const char *what,
                       pess_error *error) {
    if (needed <= *capacity) return PESS_OK;
    int64_t target = *capacity + *capacity / 2 + 16;
    if (target < needed) target = needed;
    if ((uint64_t)target > (uint64_t)PTRDIFF_MAX / element)
        return out_of_memory((double)target * (double)element, what, error);
    PESS_TRY(check_limit((size_t)(target - *capacity) * element, what, error));
    void *memory = NULL;
    memcpy(&memory, array, sizeof memory);
    memory = refused() ? NULL : realloc(memory, (size_t)target * element);
    if (memory == NULL) return out_of_memory((double)target * (double)element, what, error);
    memcpy(array, &memory, sizeof memory);
    *capacity = target;
    return PESS_OK;
}

void *pess__raw(size_t bytes) { return refused() || !pess__memory_fits(bytes, NULL) ? NULL : malloc(bytes); }

void *pess__raw_aligned(size_t alignment, size_t bytes) {
    return refused() || !pess__memory_fits(bytes, NULL) ? NULL : aligned_alloc(alignment, bytes);
}

char *pess__raw_copy(const char *text) { return refused() ? NULL : strdup(text); }
