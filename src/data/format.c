#include "data/format.h"

#include <string.h>

/* Row i of both tables is one format. CSV has no magic bytes and takes what the others leave, so it stands first and
 * is asked last. */
static const pess_format_info list[] = {
    {"csv", ".csv .csv.gz", "text with a header line: state,action,reward,next_state and optional columns", true, true},
    {"npz", ".npz", "NumPy arrays of the same names in a zip file", true, true},
    {"pesslog", ".pesslog", "binary columns with checksums; the fastest to read", true, true}};
static const pess__format *const formats[] = {&pess__format_csv, &pess__format_npz, &pess__format_native};
enum { FORMATS = sizeof list / sizeof list[0] };
_Static_assert(sizeof formats / sizeof formats[0] == FORMATS, "one row per format in both tables");

const pess_format_info *pess_format_list(size_t *count) {
    if (count != NULL) *count = FORMATS;
    return list;
}

const pess__format *pess__format_find(const char *name) {
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(list[i].name, name) == 0) return formats[i];
    return NULL;
}

const pess__format *pess__format_of_head(const uint8_t *head, size_t length) {
    for (int i = FORMATS - 1; i >= 0; i--)
        if (formats[i]->matches(head, length)) return formats[i];
    return NULL;
}

static bool ends_with(const char *text, const char *suffix, size_t length) {
    const size_t n = strlen(text);
    return n >= length && memcmp(text + n - length, suffix, length) == 0;
}

const pess__format *pess__format_of_path(const char *path) {
    for (int i = 0; i < FORMATS; i++)
        for (const char *at = list[i].extensions; *at != '\0';) {
            const size_t length = strcspn(at, " ");
            if (ends_with(path, at, length)) return formats[i];
            at += length + strspn(at + length, " ");
        }
    return NULL;
}
