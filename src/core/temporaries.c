#include "core/temporaries.h"

#include "core/memory_raw.h"
#include "core/text.h"

#include "pess.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define INFIX ".pess-" /* results.csv.pess-4711-0.tmp */
#define ENDING ".tmp"

/* ---- those that are being written now, for pess_remove_temporaries */

enum { LIVE_MOST = 256 }; /* more at once are not remembered */

static _Atomic(char *) live[LIVE_MOST];
static _Atomic pid_t owner; /* a child of fork() has its parent's names, not its files */

static void remember(char *name) {
    atomic_store(&owner, getpid());
    for (int i = 0; i < LIVE_MOST; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&live[i], &none, name)) return;
    }
}

void pess__temporary_forget(char *name) {
    if (name == NULL) return;
    for (int i = 0; i < LIVE_MOST; i++) {
        char *mine = name;
        if (atomic_compare_exchange_strong(&live[i], &mine, NULL)) break;
    }
    free(name);
}

void pess_remove_temporaries(void) {
    if (atomic_load(&owner) != getpid()) return;
    for (int i = 0; i < LIVE_MOST; i++) {
        const char *name = atomic_exchange(&live[i], NULL);
        if (name != NULL) (void)unlink(name);
    }
}

/* ---- those of dead processes */

static bool is_temporary(const char *name) {
    const char *infix = strstr(name, INFIX);
    if (infix == NULL || !pess__ends_with(name, ENDING)) return false;
    const char *number = infix + strlen(INFIX);
    return strspn(number, "0123456789-") + strlen(ENDING) == strlen(number);
}

/* Whoever gets the lock is alone with the file. */
static void remove_if_dead(int directory, const char *name) {
    struct stat info;
    const int descriptor = openat(directory, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return;
    if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(directory, name, 0);
    (void)close(descriptor);
}

/* Was this directory looked at before? A process looks once. */
static bool swept_before(const struct stat *directory) {
    enum { DIRECTORIES = 64 };
    static _Atomic uint64_t swept[DIRECTORIES];
    const uint64_t key = (uint64_t)directory->st_dev * 0x9E3779B97F4A7C15U ^ ((uint64_t)directory->st_ino + 1);
    return atomic_exchange(&swept[key % DIRECTORIES], key) == key;
}

static void sweep(const char *path) {
    char *folder = pess__raw_copy(path);
    if (folder == NULL) return;
    char *slash = strrchr(folder, '/');
    if (slash != NULL) slash[slash == folder ? 1 : 0] = '\0';
    struct stat info;
    const int descriptor = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    DIR *entries =
        descriptor >= 0 && fstat(descriptor, &info) == 0 && !swept_before(&info) ? fdopendir(descriptor) : NULL;
    if (entries == NULL) {
        if (descriptor >= 0) (void)close(descriptor);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (is_temporary(entry->d_name)) remove_if_dead(descriptor, entry->d_name);
    (void)closedir(entries);
}

/* ---- a new one */

/* Where the file system has no locks, nobody gets one and nothing is removed. */
static bool lock(int descriptor) {
    struct stat info;
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false; /* somebody removes it */
    return fstat(descriptor, &info) == 0 && info.st_nlink > 0;
}

int pess__temporary_open(const char *path, mode_t mode, char **name) {
    sweep(path);
    const size_t size = strlen(path) + 48;
    char *text = pess__raw(size);
    int descriptor = -1;
    errno = ENOMEM;
    for (unsigned attempt = 0; text != NULL && attempt < 100 && descriptor < 0; attempt++) {
        (void)snprintf(text, size, "%s" INFIX "%ld-%u" ENDING, path, (long)getpid(), attempt);
        descriptor = open(text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor < 0 && errno != EEXIST) break;
        if (descriptor >= 0 && !lock(descriptor)) {
            (void)close(descriptor);
            descriptor = -1;
        }
    }
    if (descriptor < 0) {
        const int reason = errno;
        free(text);
        errno = reason;
        return -1;
    }
    remember(text);
    *name = text;
    return descriptor;
}
