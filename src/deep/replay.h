/* The last transitions, as packed bits. */
#ifndef PESS_DEEP_REPLAY_H
#define PESS_DEEP_REPLAY_H

#include "core/bytes.h"
#include "core/status.h"

typedef struct pess__replay {
    int64_t capacity, count, next; /* next: where the next transition goes */
    int64_t bytes;                 /* of an observation */
    uint8_t *states, *nexts;       /* [capacity*bytes] */
    int32_t *actions;
    float *rewards;
    uint8_t *ends; /* pess_end */
} pess__replay;

pess_status pess__replay_create(pess__replay *replay, int64_t capacity, int64_t bytes, pess_error *error);
void pess__replay_destroy(pess__replay *replay);
void pess__replay_add(pess__replay *replay, const uint8_t *state, int32_t action, double reward, const uint8_t *next,
                      uint8_t end);
/* The n-step transition that begins at entry `at`, where the environments take turns in storing, `envs` entries apart:
 * Σ γ^i r_i up to n rewards, or up to the end of the episode or of what is stored. Returns the entry whose next state
 * comes last; *discount is what the value of that state counts (0 after a terminal). */
int64_t pess__replay_follow(const pess__replay *replay, int64_t at, int64_t envs, int64_t n, double gamma,
                            double *reward, double *discount);
void pess__replay_save(const pess__replay *replay, pess__sink *sink);
/* False where the bytes do not fit the replay's size. */
bool pess__replay_restore(pess__replay *replay, pess__cursor *cursor, int32_t actions);

#endif
