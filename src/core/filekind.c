#include "core/filekind.h"

#include "core/infile.h"
#include "core/text.h"

#include <string.h>
#include <sys/stat.h>

static const pess__file_row rows[] = {
    [PESS_FILE_OBSERVATIONS] = {"PESSDATA", ".pessdata", "a dataset of observations"},
    [PESS_FILE_NETWORK] = {"PESSNET\n", ".pessnet", "a network file"},
    [PESS_FILE_POLICY] = {"PESSPOL\n", ".pesspolicy", "a policy of networks"},
    [PESS_FILE_MAP] = {"PESSMAP\n", ".pessmap", "a map file"},
    [PESS_FILE_MDP] = {"PESSMDP\n", ".pessmdp", "a decision process"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

const pess__file_row *pess__file_row_of(pess_file_kind kind) { return &rows[kind]; }

pess_file_kind pess__file_kind_of_head(const void *head, size_t length) {
    for (int i = PESS_FILE_OTHER + 1; i < ROWS; i++)
        if (length >= PESS__MAGIC && memcmp(head, rows[i].magic, PESS__MAGIC) == 0) return (pess_file_kind)i;
    return PESS_FILE_OTHER;
}

/* Of pipes nothing is read: their bytes come once. */
static pess_file_kind of_bytes(const char *path) {
    char head[PESS__MAGIC];
    size_t got = 0;
    struct stat info;
    pess__infile *file = NULL;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return PESS_FILE_OTHER;
    if (pess__infile_open(path, &file, NULL) != PESS_OK) return PESS_FILE_OTHER;
    const pess_status status = pess__infile_head(file, head, sizeof head, &got, NULL);
    pess__infile_close(file);
    return status == PESS_OK ? pess__file_kind_of_head(head, got) : PESS_FILE_OTHER;
}

pess_file_kind pess_file_kind_of(const char *path) {
    if (path == NULL || strcmp(path, "-") == 0) return PESS_FILE_OTHER;
    pess_file_kind kind = of_bytes(path);
    for (int i = PESS_FILE_OTHER + 1; i < ROWS && kind == PESS_FILE_OTHER; i++)
        if (pess__ends_with(path, rows[i].ending)) kind = (pess_file_kind)i;
    return kind;
}
