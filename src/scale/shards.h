/* The files that a pattern names, and which rank reads which: neighbours together, about as many bytes each. */
#ifndef PESS_SCALE_SHARDS_H
#define PESS_SCALE_SHARDS_H

#include "scale/ranks.h"

typedef struct pess__shards {
    int64_t count;
    char **path;   /* [count] in ascending order within a pattern */
    int32_t *rank; /* [count] ascending: who reads it */
    char *bytes;   /* of the paths */
} pess__shards;

pess_status pess__shards_find(const char *const *patterns, int64_t count, pess__shards *out, pess_error *error);
void pess__shards_free(pess__shards *shards);

#endif
