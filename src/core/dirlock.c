#include "core/dirlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

pess_status pess__directory_take(pess__directory_lock *lock, const char *directory, pess_error *error) {
    if (lock->held) return PESS_OK;
    lock->descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock->descriptor < 0) return PESS_OK;
    lock->held = flock(lock->descriptor, LOCK_EX | LOCK_NB) == 0;
    if (lock->held) return PESS_OK;
    const bool taken = errno == EWOULDBLOCK;
    (void)close(lock->descriptor);
    if (!taken) return PESS_OK;
    return pess__fail(error, PESS_IO,
                      "%s: another run is writing into this directory; wait until it has ended, or name another one",
                      directory);
}

void pess__directory_give_back(pess__directory_lock *lock) {
    if (lock->held) (void)close(lock->descriptor);
    lock->held = false;
}
