/* What actions are beside their numbers: the vectors that they stand for, and names. */
#ifndef PESS_DATA_ACTION_SPACE_H
#define PESS_DATA_ACTION_SPACE_H

#include "core/bytes.h"
#include "core/status.h"

typedef struct pess__action_space {
    int64_t width;     /* numbers of a vector; 0: there are none */
    float *values;     /* [actions*width]; NULL: none, or not numbered yet */
    pess_names *names; /* NULL: none */
} pess__action_space;

/* Parts of it in files. */
enum { PESS__ACTION_VECTORS = 2, PESS__ACTION_NAMES = 4 };

uint32_t pess__action_space_parts(const pess__action_space *space);
/* Where there are vectors, u32 width and f32 [actions][width]; where there are names, the texts. */
void pess__action_space_write(const pess__action_space *space, int64_t actions, pess__sink *sink);
/* Vectors that are not finite, and names that are not UTF-8 or there twice, are PESS_INPUT. */
pess_status pess__action_space_read(pess__cursor *cursor, uint32_t parts, int64_t actions, pess__action_space *out,
                                    pess_error *error);
/* A copy, in place of what was in *to. Nothing has changed where it fails. */
pess_status pess__action_space_copy(const pess__action_space *from, int64_t actions, pess__action_space *to,
                                    pess_error *error);
void pess__action_space_free(pess__action_space *space);

#endif
