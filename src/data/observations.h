/* A fixed dataset of observations: packed bits, bytes or floats. Every different observation is kept once and has a
 * number; a transition is two numbers, an action, a reward and how it ended. */
#ifndef PESS_DATA_OBSERVATIONS_H
#define PESS_DATA_OBSERVATIONS_H

#include "core/infile.h"
#include "core/status.h"
#include "data/action_space.h"

enum { PESS__DATA_NOTES_SIZE = 2048, PESS__DATA_MAX_ACTIONS = 256, PESS__DATA_MAX_LENGTH = 1 << 18 };
#define PESS__DATA_MAX INT32_MAX /* states, and transitions */

struct pess_observations {
    char game[32];
    char notes[PESS__DATA_NOTES_SIZE];
    pess_observation_shape shape;
    int64_t bytes, actions; /* bytes: of an observation in memory */
    int64_t states, transitions;
    uint8_t *observations;    /* [states*bytes] */
    int32_t *state, *next;    /* [transitions] numbers of observations */
    uint8_t *action, *end;    /* [transitions]; end: pess_end */
    float *reward;            /* [transitions] */
    float *probability;       /* [transitions] of the logged action under the logging policy; NULL: not known */
    pess__action_space space; /* vectors and names of the actions */
    float *vector;            /* [transitions*space.width] actions that are not numbered yet: every `action` is 0 */
    int64_t slots;            /* of the index below, a power of two */
    int32_t *index;           /* [slots] hash table: number of an observation, or -1 */
    int64_t state_room, transition_room;
    uint64_t hash_mask;  /* all ones; a test leaves few, so that hashes collide */
    int64_t pairs;       /* different (state, action) */
    int64_t tried_bytes; /* actions/8 rounded up */
    uint8_t *tried;      /* [states*tried_bytes] bit a: action a was taken here */
    int64_t *stopped;    /* [stop_count] ascending: transitions that are cut-offs because collecting stopped */
    int64_t stop_count, stop_room;
};

/* Where an observation is among the states, compared in full; -1: it is not. */
int64_t pess__observations_find(const pess_observations *data, const uint8_t *observation);

/* PESS_INPUT where the padding of bits is not zero or a float is not finite; `name` begins the message. */
/* Whether all floats are finite; else the first that is not, and where. */
bool pess__floats_hold(const void *observation, int64_t length, int64_t *at, float *found);
pess_status pess__observations_check(const pess_observations *data, const char *name, const void *observation,
                                     pess_error *error);
/* With which probability transition i, which has room, was taken. The first one makes the column. */
pess_status pess__observations_set_probability(pess_observations *data, int64_t i, double probability,
                                               pess_error *error);

/* observations_actions.c: the vector of transition i, which has room; the first one makes the column. */
pess_status pess__observations_set_vector(pess_observations *data, int64_t i, const float *vector, int64_t width,
                                          pess_error *error);
/* PESS_ARGUMENT where actions are vectors that have no numbers yet. */
pess_status pess__observations_check_numbered(const pess_observations *data, pess_error *error);
/* Vectors become actions: number [transitions] of the `count` actions whose vectors are values [count*width]. */
pess_status pess__observations_take_numbers(pess_observations *data, const uint32_t *number, float *values,
                                            int64_t count, pess_error *error);

/* Collecting stopped after transition i, which had no end: it becomes a cut-off, and its episode is not a whole one. To
 * be called in the order of the transitions. */
pess_status pess__observations_stop(pess_observations *data, int64_t i, pess_error *error);

/* A walk over the whole episodes. */
typedef struct pess__episode_walk {
    int64_t count;            /* transitions that belong to episodes */
    int64_t at, stop;         /* next transition, next entry of `stopped` */
    int64_t first, length;    /* of the episode */
    double total, discounted; /* its return, also discounted by 0.99 */
} pess__episode_walk;

pess__episode_walk pess__walk_episodes(const pess_observations *data);
bool pess__next_episode(const pess_observations *data, pess__episode_walk *walk); /* false after the last */

/* The parts of pess_observations_add, for those who know numbers and places. */
/* The number of an observation, which is kept where it is new. */
pess_status pess__observations_number(pess_observations *data, const uint8_t *observation, int32_t *number,
                                      pess_error *error);
/* Room for that many transitions. */
pess_status pess__observations_reserve(pess_observations *data, int64_t transitions, pess_error *error);
/* Writes transition i, which has room; its place must be new. */
pess_status pess__observations_set(pess_observations *data, int64_t i, int32_t state, int32_t action, double reward,
                                   int32_t next, pess_end end, pess_error *error);
/* Numbers the observations in the order in which the transitions first show them, as adding one by one does. */
pess_status pess__observations_order(pess_observations *data, pess_error *error);

/* observations_npz.c: arrays by the names of D4RL, and the same again. */
pess_status pess__observations_read_npz(pess__infile *file, const pess_observations_options *options,
                                        pess_observations **out, pess_error *error);
pess_status pess__observations_write_npz(const pess_observations *data, const char *path, pess_error *error);

/* observations_hdf5.c: in the layout of Minari. */
pess_status pess__observations_write_hdf5(const pess_observations *data, const char *path, pess_error *error);

/* From bytes in memory, as the fuzzer does. */
pess_status pess__observations_read_memory(const char *name, const void *bytes, size_t size, pess_observations **out,
                                           pess_error *error);

#endif
