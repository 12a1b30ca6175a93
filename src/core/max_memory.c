#include "core/max_memory.h"

#include "core/text.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static _Atomic int64_t chosen;  /* 0: the standard share */
static _Atomic int64_t machine; /* 0: not looked up yet */

/* ---- what the machine has */

/* A number in a file of the kernel's; INT64_MAX where there is none ("max"). */
static int64_t number_in(const char *path) {
    char text[40];
    int64_t number = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file >= 0 ? read(file, text, sizeof text) : 0;
    if (file >= 0) (void)close(file);
    if (length <= 0) return INT64_MAX;
    const char *end = memchr(text, '\n', (size_t)length);
    return end != NULL && pess__parse_int64(text, end, &number) && number > 0 ? number : INT64_MAX;
}

/* Physical memory, or what the container has of it: cgroups of version 2 and 1. */
static int64_t look_up(void) {
    const int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    int64_t least = pages > 0 && size > 0 ? pages * size : INT64_MAX;
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (int i = 0; i < 2; i++) {
        const int64_t limit = number_in(limits[i]);
        if (limit < least) least = limit;
    }
    return least;
}

/* ---- the limit */

void pess_set_max_memory(int64_t bytes) { atomic_store(&chosen, bytes > 0 ? bytes : 0); }

int64_t pess_max_memory(void) {
    const int64_t own = atomic_load(&chosen);
    if (own > 0) return own;
    if (atomic_load(&machine) == 0) atomic_store(&machine, look_up());
    return atomic_load(&machine) / 5 * 4;
}

/* Asking the allocator takes a while. So what was handed out since is added up, freed or not, and it is asked again
 * only where that could be too much. */
static _Atomic int64_t in_use, since;

static int64_t ask_allocator(void) {
    const struct mallinfo2 all = mallinfo2();
    atomic_store(&since, 0);
    atomic_store(&in_use, (int64_t)(all.uordblks + all.hblkhd));
    return atomic_load(&in_use);
}

bool pess__memory_fits(size_t bytes, int64_t *used) {
    enum { SMALL = 1 << 16 }; /* not worth counting one by one */
    if (bytes < SMALL) return true;
    const int64_t limit = pess_max_memory(), more = bytes < (size_t)INT64_MAX ? (int64_t)bytes : INT64_MAX;
    const int64_t before = atomic_load(&in_use) + atomic_fetch_add(&since, more < limit ? more : 0);
    if (more <= limit && before <= limit - more) return true;
    const int64_t now = ask_allocator();
    if (used != NULL) *used = now;
    if (more > limit || now > limit - more) return false;
    atomic_fetch_add(&since, more);
    return true;
}
