/* The command line that repeats a run, as pages and manifests show it. */
#ifndef PESS_CLI_REPEAT_H
#define PESS_CLI_REPEAT_H

#include <stddef.h>

/* "pess" and the words as they were typed, without --resume; quoted where a shell would want it. */
void repeat_command(int argc, char **argv, char *out, size_t size);

/* Adds a blank and the word. */
void repeat_word(char *out, size_t size, const char *word);

#endif
