#include "report/cairo.h"

#include <dlfcn.h>
#include <string.h>

static const char library[] = "libcairo.so.2";

pess__cairo_calls pess__cairo;

static pess_status find_call(void *handle, const char *name, void *pointer, pess_error *error) {
    void *found = dlsym(handle, name);
    if (found == NULL)
        return pess__fail(error, PESS_IO, "%s: no function %s; expected cairo 1.16 or later", library, name);
    memcpy(pointer, &found, sizeof found);
    return PESS_OK;
}

pess_status pess__cairo_load(pess_error *error) {
    static bool loaded = false;
    if (loaded) return PESS_OK;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        return pess__fail(error, PESS_IO, "figures need the library cairo, which cannot be loaded: %s", dlerror());
#define FIND(name) PESS_TRY(find_call(handle, "cairo_" #name, &pess__cairo.name, error));
    PESS__CAIRO_CALLS(FIND)
#undef FIND
    loaded = true;
    return PESS_OK;
}
