#include "core/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first of the names, with bars between them, that is there. */
static void *find_any(void *handle, const char *names) {
    void *found = NULL;
    for (const char *at = names; found == NULL && *at != '\0';) {
        char name[80];
        const int length = (int)strcspn(at, " |");
        (void)snprintf(name, sizeof name, "%.*s", length, at);
        found = dlsym(handle, name);
        at += length + (int)strspn(at + length, " |");
    }
    return found;
}

static pess_status find_calls(const pess__library *library, void *handle, pess_error *error) {
    for (size_t i = 0; i < library->count; i++) {
        void *found = find_any(handle, library->names[i].name);
        if (found == NULL)
            return pess__fail(error, PESS_IO, "%s; the one found has no function %s. %s", library->what,
                              library->names[i].name, library->how);
        memcpy((char *)library->calls + library->names[i].offset, &found, sizeof found);
    }
    return PESS_OK;
}

/* RTLD_NODELETE: some of these libraries end their threads and exit handlers badly when they are unloaded. */
static void *open_first(const pess__library *library) {
    const int how = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    const char *path = library->variable != NULL ? getenv(library->variable) : NULL;
    if (path != NULL && path[0] != '\0') return dlopen(path, how);
    void *handle = NULL;
    for (size_t i = 0; handle == NULL && library->files[i] != NULL; i++) handle = dlopen(library->files[i], how);
    return handle;
}

pess_status pess__library_load(pess__library *library, pess_error *error) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pess_status status = PESS_OK;
    (void)pthread_mutex_lock(&lock);
    if (!library->loaded) {
        void *handle = open_first(library);
        status = handle != NULL
                     ? find_calls(library, handle, error)
                     : pess__fail(error, PESS_IO, "%s, which is not on this machine. %s", library->what, library->how);
        library->loaded = status == PESS_OK;
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}
