/* Names that the library has tables of, by the word that help shows for them: "-a ALGORITHM". */
#ifndef PESS_CLI_NAMES_H
#define PESS_CLI_NAMES_H

#include <stddef.h>

typedef struct name_table {
    const char *word;                  /* "ALGORITHM" */
    const char *listed;                /* what lists them: "list algorithms" */
    const char *(*name)(size_t index); /* by position; NULL past the last */
} name_table;

const name_table *find_names(const char *word, size_t length); /* NULL: there is no such table */

#endif
