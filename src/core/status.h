/* Errors: the status that is returned and the sentence that goes with it. */
#ifndef PESS_CORE_STATUS_H
#define PESS_CORE_STATUS_H

#include "pess.h"

/* Writes the message (when error is not NULL) and returns status, so that a failure is one statement. */
pess_status pess__fail(pess_error *error, pess_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds what would help to an error that has its message; returns status. */
pess_status pess__fail_with_remedy(pess_error *error, pess_status status, const char *remedy, const char *value);

/* PESS_TRY(call): return the status of a failed call from the current function. Only where nothing must be freed. */
#define PESS_TRY(call)                                                                                                 \
    do {                                                                                                               \
        pess_status pess_try_status = (call);                                                                          \
        if (pess_try_status != PESS_OK) return pess_try_status;                                                        \
    } while (0)

#endif
