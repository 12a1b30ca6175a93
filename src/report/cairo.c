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

/* Without fonts cairo draws ASCII with strokes of its own, and all other characters alike. */
static bool has_fonts(void) {
    cairo_text_extents_t narrow, wide;
    cairo_surface_t *surface = pess__cairo.image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cr = pess__cairo.create(surface);
    pess__cairo.select_font_face(cr, PESS__FONT, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    pess__cairo.text_extents(cr, "ε", &narrow);
    pess__cairo.text_extents(cr, "Ω", &wide);
    pess__cairo.destroy(cr);
    pess__cairo.surface_destroy(surface);
    return narrow.x_advance != wide.x_advance;
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
    if (!has_fonts())
        return pess__fail(error, PESS_IO,
                          "figures need a font with Greek letters, best " PESS__FONT
                          " (Debian package fonts-dejavu-core); there is none");
    loaded = true;
    return PESS_OK;
}
