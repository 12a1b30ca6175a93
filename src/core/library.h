/* Shared libraries that are loaded when something needs them, so that the program starts, and is built, without them.
 * Their functions are declared by us from their documentation: a list X(result, name, arguments) makes the struct of
 * pointers and the table by which it is filled. */
#ifndef PESS_CORE_LIBRARY_H
#define PESS_CORE_LIBRARY_H

#include "core/status.h"

typedef struct pess__library_call {
    const char *name; /* "a|b": whichever there is */
    size_t offset;    /* of the pointer in `calls` */
} pess__library_call;

typedef struct pess__library {
    const char *what;                /* begins the message: "SQLite databases need the library SQLite" */
    const char *how;                 /* ... and ends it: how to get it */
    const char *variable;            /* of the environment, a path to be taken instead of the files; NULL: none */
    const char *const *files;        /* names to try in this order, NULL at the end */
    const pess__library_call *names; /* [count] */
    size_t count;
    void *calls; /* struct of pointers to functions */
    bool loaded;
} pess__library;

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type and a list of types */
#define PESS__LIBRARY_POINTER(result, name, arguments) result(*name) arguments;

/* Loads it unless it is there. PESS_IO where there is none, or one without these functions. Safe from several threads.
 */
pess_status pess__library_load(pess__library *library, pess_error *error);

#endif
