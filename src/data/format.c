/* The table of log formats. Adding one means one new file and one row here. */
#include "data/format.h"

#include <stdio.h>
#include <string.h>

/* One file each: pess__format_<name>. The first one has no magic bytes and takes what the others leave, so it is asked
 * last. */
#define FORMATS(X) X(csv) X(jsonl) X(npz) X(pesslog) X(pesscounts) X(sqlite) X(duckdb) X(hdf5)

#define DECLARE(name) extern const pess__format pess__format_##name;
FORMATS(DECLARE)
#undef DECLARE

#define ADDRESS(name) &pess__format_##name,
static const pess__format *const formats[] = {FORMATS(ADDRESS)};
#undef ADDRESS

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

const pess_format_info *pess_format_list(size_t index) { return index < FORMAT_COUNT ? &formats[index]->info : NULL; }

const pess__format *pess__format_find(const char *name) {
    for (int i = 0; name != NULL && i < FORMAT_COUNT; i++)
        if (strcmp(formats[i]->info.name, name) == 0) return formats[i];
    return NULL;
}

const pess_format_info *pess_format_find(const char *name) {
    const pess__format *format = pess__format_find(name);
    return format != NULL ? &format->info : NULL;
}

const pess__format *pess__format_of_head(const uint8_t *head, size_t length) {
    for (int i = FORMAT_COUNT - 1; i >= 0; i--)
        if (formats[i]->matches(head, length)) return formats[i];
    return NULL;
}

static bool ends_with(const char *text, const char *suffix, size_t length) {
    const size_t n = strlen(text);
    return n >= length && memcmp(text + n - length, suffix, length) == 0;
}

const pess__format *pess__format_of_path(const char *path) {
    for (int i = 0; i < FORMAT_COUNT; i++)
        for (const char *at = formats[i]->info.extensions; *at != '\0';) {
            const size_t length = strcspn(at, " ");
            if (ends_with(path, at, length)) return formats[i];
            at += length + strspn(at + length, " ");
        }
    return NULL;
}

void pess__format_names(char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < FORMAT_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", formats[i]->info.name);
}

void pess__format_extensions(char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < FORMAT_COUNT && used < size; i++)
        if (formats[i]->info.writes)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", formats[i]->info.extensions);
}
