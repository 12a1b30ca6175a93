/* Preloaded: lets the n-th allocation or the n-th call that touches a file fail, once, and counts.
 *
 *   FAULT=memory:17   allocation 17 gives NULL       FAULT=io:17   call 17 fails with EIO (writing: ENOSPC)
 *   FAULT=threads     no thread can be made          FAULT=eio:PATH   PATH opens, but every read of it fails
 *   FAULT=sites:FILE  nothing fails; FILE gets a line "memory 17 HASH" for the first call from each place in the
 * program FAULT_REPORT=FILE at the end: "memory N io N live N", how many there were and how many allocations were not
 * freed
 *
 * or, in a process that runs many commands, between faults_begin and faults_end.
 *
 * Only calls from the program itself and from zlib count: libraries that end the process when memory runs out
 * (OpenMP's, fontconfig) are not ours. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RANGES = 32, TABLE = 1 << 16 };

static struct range { uintptr_t begin, end; } ours[RANGES];
static int range_count;
static _Atomic long memory_calls, io_calls;
static long memory_at, io_at;
static bool no_threads;
static const char *unreadable; /* FAULT=eio:PATH */
static _Atomic int unreadable_descriptor = -1;
static _Atomic bool ready;

/* ---- the real ones */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

/* ---- who calls */

static int look_at_module(struct dl_phdr_info *info, size_t size, void *first) {
    (void)size;
    const bool program = *(bool *)first;
    *(bool *)first = false;
    if (!program && strstr(info->dlpi_name, "libz.so") == NULL) return 0;
    for (int i = 0; i < info->dlpi_phnum && range_count < RANGES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
        ours[range_count].begin = info->dlpi_addr + part->p_vaddr;
        ours[range_count++].end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
    }
    return 0;
}

static bool is_ours(const void *caller) {
    const uintptr_t at = (uintptr_t)caller;
    for (int i = 0; i < range_count; i++)
        if (at >= ours[i].begin && at < ours[i].end) return true;
    return false;
}

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/* ---- from where: a place is a chain of CHAIN callers of ours, told by their distances from the program's beginning */

enum { CHAIN = 3, FRAMES = 10, PLACES = 1 << 14 };

static struct place {
    uint64_t hash;
    long call;
    bool memory;
} places[PLACES];
static const char *places_path; /* FAULT=sites:FILE; NULL: not asked for */
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

static void note_place(bool memory, long call) {
    void *frames[FRAMES];
    const int count = backtrace(frames, FRAMES);
    uint64_t hash = memory;
    for (int i = 0, found = 0; i < count && found < CHAIN; i++) {
        if (!is_ours(frames[i])) continue;
        hash = (hash ^ ((uintptr_t)frames[i] - ours[0].begin)) * 0x9E3779B97F4A7C15U;
        found++;
    }
    (void)pthread_mutex_lock(&places_lock);
    size_t slot = hash >> 50;
    for (int i = 0; i < PLACES && places[slot].call != 0 && places[slot].hash != hash; i++) slot = (slot + 1) % PLACES;
    if (places[slot].call == 0) places[slot] = (struct place){hash, call, memory};
    (void)pthread_mutex_unlock(&places_lock);
}

static void write_places(void) {
    const int file = REAL(open)(places_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (int i = 0; i < PLACES && file >= 0; i++)
        if (places[i].call != 0)
            (void)dprintf(file, "%s %ld %lx\n", places[i].memory ? "memory" : "io", places[i].call,
                          (unsigned long)places[i].hash);
    (void)REAL(close)(file);
}

/* ---- allocations of ours that live */

static void *live[TABLE];
static _Atomic long live_count;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t slot_of(const void *p) { return ((uintptr_t)p >> 4) * 0x9E3779B1U % TABLE; }

static void note(void *p) {
    if (p == NULL || live_count > TABLE / 2) return;
    (void)pthread_mutex_lock(&table_lock);
    size_t i = slot_of(p);
    while (live[i] != NULL && live[i] != (void *)1) i = (i + 1) % TABLE;
    live[i] = p;
    live_count++;
    (void)pthread_mutex_unlock(&table_lock);
}

static void drop(const void *p) {
    if (p == NULL || live_count == 0) return;
    (void)pthread_mutex_lock(&table_lock);
    for (size_t i = slot_of(p); live[i] != NULL; i = (i + 1) % TABLE)
        if (live[i] == p) {
            live[i] = (void *)1; /* once used */
            live_count--;
            break;
        }
    (void)pthread_mutex_unlock(&table_lock);
}

static bool no_memory(const void *caller) {
    if (!ready || !is_ours(caller)) return false;
    const long call = ++memory_calls;
    if (places_path != NULL) note_place(true, call);
    return call == memory_at;
}

#define ALLOCATE(call)                                                                                                 \
    do {                                                                                                               \
        const void *caller = CALLER;                                                                                   \
        if (no_memory(caller)) {                                                                                       \
            errno = ENOMEM;                                                                                            \
            return NULL;                                                                                               \
        }                                                                                                              \
        void *p = (call);                                                                                              \
        if (ready && is_ours(caller)) note(p);                                                                         \
        return p;                                                                                                      \
    } while (0)

void *malloc(size_t size) { ALLOCATE(__libc_malloc(size)); }
void *calloc(size_t n, size_t size) { ALLOCATE(__libc_calloc(n, size)); }
void *aligned_alloc(size_t alignment, size_t size) { ALLOCATE(__libc_memalign(alignment, size)); }

void *realloc(void *old, size_t size) {
    const void *caller = CALLER;
    if (no_memory(caller)) {
        errno = ENOMEM;
        return NULL;
    }
    drop(old);
    void *p = __libc_realloc(old, size);
    if (ready && is_ours(caller)) note(p);
    return p;
}

void free(void *p) {
    drop(p);
    __libc_free(p);
}

/* ---- files */

static bool fails(const void *caller, int reason) {
    if (!ready || !is_ours(caller)) return false;
    const long call = ++io_calls;
    if (places_path != NULL) note_place(false, call);
    if (call != io_at) return false;
    errno = reason;
    return true;
}

static bool is_unreadable(int descriptor) {
    if (descriptor != unreadable_descriptor) return false;
    errno = EIO;
    return true;
}

static int opened(const char *path, int descriptor) {
    if (descriptor >= 0 && unreadable != NULL && strcmp(path, unreadable) == 0) unreadable_descriptor = descriptor;
    return descriptor;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails(CALLER, EIO) ? -1 : opened(path, REAL(open)(path, flags, mode));
}

int openat(int directory, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails(CALLER, EIO) ? -1 : REAL(openat)(directory, path, flags, mode);
}

ssize_t read(int descriptor, void *to, size_t size) {
    return is_unreadable(descriptor) || fails(CALLER, EIO) ? -1 : REAL(read)(descriptor, to, size);
}

ssize_t pread(int descriptor, void *to, size_t size, off_t at) {
    return is_unreadable(descriptor) || fails(CALLER, EIO) ? -1 : REAL(pread)(descriptor, to, size, at);
}

ssize_t write(int descriptor, const void *from, size_t size) {
    return fails(CALLER, ENOSPC) ? -1 : REAL(write)(descriptor, from, size);
}

ssize_t pwrite(int descriptor, const void *from, size_t size, off_t at) {
    return fails(CALLER, ENOSPC) ? -1 : REAL(pwrite)(descriptor, from, size, at);
}

int fsync(int descriptor) { return fails(CALLER, EIO) ? -1 : REAL(fsync)(descriptor); }
int rename(const char *from, const char *to) { return fails(CALLER, EIO) ? -1 : REAL(rename)(from, to); }
int ftruncate(int descriptor, off_t size) { return fails(CALLER, EIO) ? -1 : REAL(ftruncate)(descriptor, size); }
int mkdir(const char *path, mode_t mode) { return fails(CALLER, ENOSPC) ? -1 : REAL(mkdir)(path, mode); }

/* It is closed all the same, as the kernel does. */
int close(int descriptor) {
    const bool bad = fails(CALLER, EIO);
    if (descriptor == unreadable_descriptor) unreadable_descriptor = -1;
    const int result = REAL(close)(descriptor);
    if (bad) errno = EIO;
    return bad ? -1 : result;
}

FILE *fopen(const char *path, const char *mode) {
    if (fails(CALLER, EIO)) return NULL;
    FILE *file = REAL(fopen)(path, mode);
    if (file != NULL) (void)opened(path, fileno(file));
    return file;
}

/* The stream has to know of its error: its descriptor is one that cannot be read or written, for a moment. */
static size_t through_broken(FILE *file, bool writes, void *buffer, size_t size, size_t count) {
    const int descriptor = fileno(file), kept = dup(descriptor);
    const int broken = REAL(open)(writes ? "/dev/full" : "/", writes ? O_WRONLY : O_RDONLY);
    (void)dup2(broken, descriptor);
    size_t done = writes ? fwrite_unlocked(buffer, size, count, file) : fread_unlocked(buffer, size, count, file);
    if (writes && fflush(file) != 0) done = 0;
    (void)dup2(kept, descriptor);
    (void)REAL(close)(kept);
    (void)REAL(close)(broken);
    errno = writes ? ENOSPC : EIO;
    return done;
}

size_t fread(void *to, size_t size, size_t count, FILE *file) {
    const bool bad = ready && is_ours(CALLER) && (fileno(file) == unreadable_descriptor || ++io_calls == io_at);
    return bad ? through_broken(file, false, to, size, count) : REAL(fread)(to, size, count, file);
}

size_t fwrite(const void *from, size_t size, size_t count, FILE *file) {
    const bool bad = ready && is_ours(CALLER) && fileno(file) > STDERR_FILENO && ++io_calls == io_at;
    return bad ? through_broken(file, true, (void *)from, size, count) : REAL(fwrite)(from, size, count, file);
}

/* What the calls above are where sizes are checked (_FORTIFY_SOURCE). */
ssize_t __read_chk(int descriptor, void *to, size_t size, size_t room) {
    (void)room;
    return is_unreadable(descriptor) || fails(CALLER, EIO) ? -1 : REAL(read)(descriptor, to, size);
}

ssize_t __pread_chk(int descriptor, void *to, size_t size, off_t at, size_t room) {
    (void)room;
    return is_unreadable(descriptor) || fails(CALLER, EIO) ? -1 : REAL(pread)(descriptor, to, size, at);
}

size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *file) {
    (void)room;
    const bool bad = ready && is_ours(CALLER) && (fileno(file) == unreadable_descriptor || ++io_calls == io_at);
    return bad ? through_broken(file, false, to, size, count) : REAL(fread)(to, size, count, file);
}

int __open_2(const char *path, int flags) { return fails(CALLER, EIO) ? -1 : opened(path, REAL(open)(path, flags)); }

/* ---- threads */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    return no_threads ? EAGAIN : REAL(pthread_create)(thread, attributes, run, argument);
}

/* ---- beginning and end */

static void set_fault(const char *fault) {
    memory_at = io_at = 0;
    unreadable = places_path = NULL;
    if (fault != NULL && strncmp(fault, "sites:", 6) == 0) places_path = fault + 6;
    if (fault != NULL && strncmp(fault, "memory:", 7) == 0) memory_at = atol(fault + 7);
    if (fault != NULL && strncmp(fault, "io:", 3) == 0) io_at = atol(fault + 3);
    if (fault != NULL && strncmp(fault, "eio:", 4) == 0) unreadable = fault + 4;
    no_threads = fault != NULL && strcmp(fault, "threads") == 0;
}

/* For a process that runs one command after another (faulty.c): from here to faults_end one fault, and counts of it. */
static long live_before;

__attribute__((visibility("default"))) void faults_begin(const char *fault) {
    set_fault(fault);
    memory_calls = io_calls = 0;
    memset(places, 0, sizeof places);
    live_before = live_count;
    ready = true;
}

__attribute__((visibility("default"))) void faults_end(long *memory, long *io, long *alive) {
    ready = false;
    if (places_path != NULL) write_places();
    *memory = memory_calls;
    *io = io_calls;
    *alive = live_count - live_before;
}

__attribute__((constructor)) static void begin(void) {
    bool first = true;
    (void)dl_iterate_phdr(look_at_module, &first);
    void *frame;
    (void)backtrace(&frame, 1); /* loads what it needs */
    set_fault(getenv("FAULT"));
    ready = true;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAULT_REPORT");
    ready = false;
    if (places_path != NULL) write_places();
    char text[100];
    const int length =
        snprintf(text, sizeof text, "memory %ld io %ld live %ld\n", memory_calls, io_calls, (long)live_count);
    const int file = path != NULL ? REAL(open)(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (file < 0) return;
    (void)!REAL(write)(file, text, (size_t)length);
    (void)REAL(close)(file);
}
