#include "repeat.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void repeat_word(char *out, size_t size, const char *word) {
    const size_t used = strlen(out);
    const bool plain =
        *word != '\0' &&
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/=+@%") == strlen(word);
    if (plain) {
        (void)snprintf(out + used, size - used, " %s", word);
        return;
    }
    (void)snprintf(out + used, size - used, " '");
    for (; *word != '\0'; word++) {
        const size_t now = strlen(out);
        (void)snprintf(out + now, size - now, *word == '\'' ? "'\\''" : "%c", *word);
    }
    const size_t now = strlen(out);
    (void)snprintf(out + now, size - now, "'");
}

void repeat_command(int argc, char **argv, char *out, size_t size) {
    (void)snprintf(out, size, "pess");
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--resume") != 0) repeat_word(out, size, argv[i]);
}
