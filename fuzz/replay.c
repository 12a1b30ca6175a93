/* Runs a fuzz target on every file of the folders that are named: the corpus as a test, with any compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

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
    uint8_t *exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees the last byte's end */
    for (size_t i = 0; exact != NULL && i < size; i++) exact[i] = bytes[i];
    free(bytes);
    if (exact != NULL) (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

int main(int count, char **folders) {
    int failed = 0, files = 0;
    for (int i = 1; i < count; i++) {
        DIR *folder = opendir(folders[i]);
        if (folder == NULL) return perror(folders[i]), 1;
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            char path[4096];
            if (entry->d_name[0] == '.') continue;
            (void)snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
            failed |= replay_file(path);
            files++;
        }
        (void)closedir(folder);
    }
    printf("%d inputs replayed\n", files);
    return failed != 0 || files == 0;
}
