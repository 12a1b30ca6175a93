/* One run per directory: an advisory lock on the directory itself, which the kernel takes away when the process dies.
 */
#ifndef PESS_CORE_DIRLOCK_H
#define PESS_CORE_DIRLOCK_H

#include "core/status.h"

typedef struct pess__directory_lock {
    bool held;
    int descriptor;
} pess__directory_lock;

/* PESS_IO where another run holds it. A directory that is not there, or whose file system has no locks, is not held. */
pess_status pess__directory_take(pess__directory_lock *lock, const char *directory, pess_error *error);
void pess__directory_give_back(pess__directory_lock *lock);

#endif
