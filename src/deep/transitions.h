/* A fixed dataset of packed observations. Every different observation is kept once and has a number; a transition is
 * two numbers, an action, a reward and how it ended. */
#ifndef PESS_DEEP_TRANSITIONS_H
#define PESS_DEEP_TRANSITIONS_H

#include "core/status.h"

enum { PESS__DATA_NOTES_SIZE = 2048 };

struct pess_transitions {
    char game[32];
    char notes[PESS__DATA_NOTES_SIZE];
    int64_t bits, bytes, actions;
    int64_t states, transitions;
    uint8_t *observations; /* [states*bytes] */
    int32_t *state, *next; /* [transitions] numbers of observations */
    uint8_t *action, *end; /* [transitions]; end: pess_end */
    float *reward;         /* [transitions] */
    int64_t slots;         /* of the index below, a power of two */
    int32_t *index;        /* [slots] hash table: number of an observation, or -1 */
    int64_t state_room, transition_room;
};

/* Where an observation is among the states, compared in full; -1: it is not. */
int64_t pess__transitions_find(const pess_transitions *data, const uint8_t *observation);

/* Building. Transitions of an episode follow each other; the last has an end. */
pess_status pess__transitions_create(const char *game, const char *notes, int64_t bits, int64_t actions,
                                     pess_transitions **out, pess_error *error);
pess_status pess__transitions_add(pess_transitions *data, const uint8_t *state, int32_t action, double reward,
                                  const uint8_t *next, pess_end end, pess_error *error);
/* From bytes in memory, as the fuzzer does. */
pess_status pess__transitions_read_memory(const char *name, const void *bytes, size_t size, pess_transitions **out,
                                          pess_error *error);

#endif
