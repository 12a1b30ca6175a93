/* A child process for work on bytes that may be hostile. What it needs is in its memory when it begins; from then on it
 * opens no file, runs no program, and its time and memory are limited. It answers through a pipe and may crash. */
#ifndef PESS_CORE_SANDBOX_H
#define PESS_CORE_SANDBOX_H

#include "core/status.h"

#include <sys/types.h>

enum { PESS__SANDBOX_PATIENCE = 60 }; /* machines are busy */

typedef struct pess__sandbox_limits {
    int64_t memory; /* bytes, beside what the process had before */
    int seconds;    /* of processor time; PESS__SANDBOX_PATIENCE times as many by the clock between two answers */
} pess__sandbox_limits;

typedef struct pess__sandbox {
    pid_t child;
    int from; /* the child's answers */
    pess__sandbox_limits limits;
    bool silent; /* nothing came for too long, and the child was ended */
} pess__sandbox;

/* Starts a process that does body(context, to), where `to` is the descriptor of its answers, and nothing more. */
pess_status pess__sandbox_start(pess__sandbox *sandbox, void (*body)(void *context, int to), void *context,
                                const pess__sandbox_limits *limits, pess_error *error);
/* `size` bytes of the answer; false where it ends before that. */
bool pess__sandbox_read(pess__sandbox *sandbox, void *to, size_t size);
/* Ends the child and says how it went: "" where it did all it had to, else words that follow "the reader …". */
void pess__sandbox_end(pess__sandbox *sandbox, char *how, size_t size);

/* In the child: all of the bytes, or the process ends; and its end in good order. */
void pess__sandbox_write(int to, const void *bytes, size_t size);
_Noreturn void pess__sandbox_leave(void);

#endif
