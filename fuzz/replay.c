/* Runs a fuzz target on every file of the folders that are named, as it is and damaged in some thousand places: the
 * corpus as a test, with any compiler. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* ---- damage */

enum { DAMAGED = 12000 }; /* inputs altogether, about */

/* What a place is overwritten with: text that ends fields, numbers that are too small and too large. */
static const struct patch {
    const char *bytes;
    size_t count;
} patches[] = {
    {"\0", 1},
    {"\xff", 1},
    {"-", 1},
    {"9", 1},
    {" ", 1},
    {"\n", 1},
    {",", 1},
    {"\"", 1},
    {"x", 1},
    {"\xff\xff\xff\xff\xff\xff\xff\xff", 8},
    {"\0\0\0\0\0\0\0\0", 8},
    {"\0\0\0\0\0\1\0\0", 8},
    {"\0\0\0\0\0\0\xf8\x7f", 8},
    {"nan", 3},
    {"1e999", 5},
};
enum { PATCHES = sizeof patches / sizeof *patches, CUT = PATCHES, DROP, REPEAT, WAYS };

/* One input, in memory of its exact size, so that a sanitizer sees the last byte's end. */
static void try_bytes(const uint8_t *bytes, size_t size) {
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (exact == NULL) return;
    if (size > 0) memcpy(exact, bytes, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void damage(const uint8_t *bytes, size_t size, size_t place, size_t way, uint8_t *room) {
    size_t length = size;
    memcpy(room, bytes, size);
    if (way < PATCHES && place + patches[way].count <= size)
        memcpy(room + place, patches[way].bytes, patches[way].count);
    if (way == CUT) length = place;
    if (way == DROP || way == REPEAT) {
        const size_t to = way == DROP ? place : place + 1, from = way == DROP ? place + 1 : place;
        memcpy(room + to, bytes + from, size - from);
        length = way == DROP ? size - 1 : size + 1;
    }
    try_bytes(room, length);
}

/* Places are as far from each other as the number of inputs wants it, and closest at the beginning. */
static void try_damaged(const uint8_t *bytes, size_t size, size_t inputs) {
    uint8_t *room = malloc(size + 1);
    const size_t places = inputs / WAYS + 1;
    for (size_t i = 0; room != NULL && i < places; i++) {
        const double share = (double)i / (double)places;
        const size_t place = places >= size ? i : (size_t)((double)size * share * share);
        for (size_t way = 0; way < WAYS && place < size; way++) damage(bytes, size, place, way, room);
    }
    free(room);
}

static size_t inputs_each; /* damaged ones for a file */

static int replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return perror(path), 1;
    size_t size = 0, capacity = 1 << 16, got = 0;
    uint8_t *bytes = malloc(capacity);
    while (bytes != NULL && (got = fread(bytes + size, 1, capacity - size, file)) > 0) {
        size += got;
        if (size < capacity) continue;
        uint8_t *larger = realloc(bytes, capacity *= 2);
        if (larger == NULL) free(bytes);
        bytes = larger;
    }
    (void)fclose(file);
    if (bytes == NULL) return fprintf(stderr, "%s: not enough memory\n", path), 1;
    try_bytes(bytes, size);
    try_damaged(bytes, size, inputs_each);
    free(bytes);
    return 0;
}

/* Every file of a folder: counted, or tried. */
static int walk(const char *name, int *files, bool replays) {
    int failed = 0;
    DIR *folder = opendir(name);
    if (folder == NULL) return perror(name), 1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
        if (replays) failed |= replay_file(path);
        ++*files;
    }
    (void)closedir(folder);
    return failed;
}

int main(int count, char **folders) {
    int failed = 0, files = 0, replayed = 0;
    for (int i = 1; i < count; i++) failed |= walk(folders[i], &files, false);
    inputs_each = files > 0 ? (size_t)(DAMAGED / files) : 0;
    for (int i = 1; i < count && failed == 0; i++) failed |= walk(folders[i], &replayed, true);
    printf("%d inputs replayed\n", replayed);
    return failed != 0 || files == 0;
}
