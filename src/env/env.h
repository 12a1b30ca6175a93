/* What an environment is inside: a game (a table of functions), rules that never change, and an instance: the
 * header below followed by the game's own state, plain bytes without pointers. A single environment has one instance, a
 * batch an array of them. */
#ifndef PESS_ENV_ENV_H
#define PESS_ENV_ENV_H

#include "core/cpu.h"
#include "core/status.h"
#include "env/source.h"

enum {
    PESS__ROWS = 10,
    PESS__COLS = 10,
    PESS__CELLS = PESS__ROWS * PESS__COLS,
    PESS__WORDS = PESS_ENV_MAX_BYTES / 8 /* a packed observation, with room for writes of whole words */
};

/* A word of a packed observation. Those of a batch lie side by side without gaps, so it may be anywhere. */
typedef uint64_t pess__word __attribute__((aligned(1), may_alias));

enum { PESS__NOTHING, PESS__LEFT, PESS__UP, PESS__RIGHT, PESS__DOWN, PESS__FIRE };

typedef struct pess__step_result {
    double reward;
    bool terminal;
} pess__step_result;

typedef struct pess__rules {
    double sticky;
    bool ramping;
    int64_t step_limit; /* INT64_MAX: none */
    int64_t actions;
    const uint8_t *action_map;           /* [actions] to the full set; NULL for an MDP */
    struct pess__mdp_tables *tables;     /* of an MDP; NULL for a game */
    const pess_env_callbacks *callbacks; /* of an environment of the caller's own; NULL for others */
    int64_t bits, bytes;
} pess__rules;

typedef struct pess__instance {
    pess__source source;
    int64_t steps;    /* since the last reset */
    uint8_t previous; /* action really taken last; a reset does not clear it */
    uint8_t end;      /* pess_end of the last step; a reset clears it */
    uint8_t unused[6];
} pess__instance;

enum { PESS__ALIGNMENT = 64, PESS__STATE_OFFSET = 64 };
_Static_assert(sizeof(pess__instance) <= PESS__STATE_OFFSET, "the header fits in front of the state");

PESS__INLINE void *pess__state(pess__instance *instance) { return (uint8_t *)instance + PESS__STATE_OFFSET; }

/* A stretch of a batch. Instances lie `stride` bytes apart. */
typedef struct pess__span {
    const struct pess__game *game;
    const pess__rules *rules;
    uint8_t *instances;
    size_t stride;
    int64_t first, last; /* [first,last) */
    const int32_t *actions;
    const pess_batch_out *out;
    uint8_t *final; /* [N * bytes] packed; of an MDP [N] states as int64_t */
    uint8_t *ended; /* [N] an episode has ended here at least once */
    bool fast;      /* all draws come straight from our generator */
} pess__span;

typedef struct pess__game {
    pess_env_info info;
    size_t state_size;
    void (*reset)(const pess__rules *rules, pess__instance *instance);
    /* The action is legal and the episode has not ended. */
    pess__step_result (*step)(const pess__rules *rules, pess__instance *instance, int64_t action);
    void (*draw)(const void *state, pess__word *words); /* of a game; NULL for others */
    /* Of a control problem, and NULL for others: the observation as data hold it. */
    void (*observe)(const pess__rules *rules, const void *state, void *out);
    bool (*valid)(const pess__rules *rules, const void *state);
    void (*run)(const pess__span *span); /* one step of every environment of the span */
    bool (*has_action)(const pess__rules *rules, const void *state, int64_t action); /* NULL: all in range */
} pess__game;

/* One row per game; adding one is one file and one row here. */
#define PESS__GAMES(X)                                                                                                 \
    X(asterix)                                                                                                         \
    X(breakout)                                                                                                        \
    X(freeway)                                                                                                         \
    X(seaquest)                                                                                                        \
    X(space_invaders)

#define PESS__GAME_DECLARE(name) PESS__TWICE(extern const pess__game, pess__game_##name, );
PESS__GAMES(PESS__GAME_DECLARE)
#undef PESS__GAME_DECLARE
extern const pess__game pess__game_mdp;

/* One row per control problem, likewise. */
#define PESS__CONTROLS(X) X(cartpole) X(acrobot) X(mountain_car) X(pixel_grid)
#define PESS__CONTROL_DECLARE(name) extern const pess__game pess__control_##name;
PESS__CONTROLS(PESS__CONTROL_DECLARE)
#undef PESS__CONTROL_DECLARE

const pess__game *pess__game_find(const char *name); /* NULL: no such game */

/* Bytes from one instance to the next. */
static inline size_t pess__instance_stride(const pess__game *game) {
    return (PESS__STATE_OFFSET + game->state_size + PESS__ALIGNMENT - 1) / PESS__ALIGNMENT * PESS__ALIGNMENT;
}

struct pess_env {
    const pess__game *game;
    pess__game own; /* what `game` is of an environment of the caller's own */
    pess__rules rules;
    pess__instance *instance;
    pess__draw_hook hook;
    pess__numpy_random numpy;
    pess_generator generator;
};

/* The options as they hold: NULL is all defaults; every value is in its range. */
pess_status pess__env_settle(const pess_env_options *options, pess_env_options *out, pess_error *error);
pess__rules pess__rules_of(const pess__game *game, const pess_env_options *options);
/* The game that the options name. PESS_ARGUMENT: "no game 'x'; there are …" */
pess_status pess__game_of(const pess_env_options *options, const pess__game **out, pess_error *error);
/* own.c: the table and rules of an environment of the caller's own; PESS_ARGUMENT where it cannot be. */
pess_status pess__own_game(const pess_env_callbacks *callbacks, const pess_env_options *options, pess__game *game,
                           pess__rules *rules, pess_error *error);
/* Seeds the source for stream `index` of the options; `numpy` is used where the options ask for it. */
void pess__source_seed(pess__source *source, pess__draw_hook *hook, pess__numpy_random *numpy,
                       const pess_env_options *options, uint64_t index);
pess_status pess__check_generator(const pess_env_options *options, int64_t count, pess_error *error);
/* The observation of one instance into whatever of `out` is wanted, at position i. */
void pess__observe(const pess__game *game, const pess__rules *rules, pess__instance *instance,
                   const pess_batch_out *out, int64_t i);

/* One instance as bytes: header, state, generator. numpy NULL: our generator. */
size_t pess__instance_size(const pess__game *game, bool numpy);
void pess__instance_save(const pess__game *game, const pess__instance *instance, const pess__numpy_random *numpy,
                         uint8_t *out);
/* Do the bytes describe a possible instance? */
bool pess__instance_valid(const pess__game *game, const pess__rules *rules, bool numpy, const uint8_t *bytes);
void pess__instance_load(const pess__game *game, pess__instance *instance, pess__numpy_random *numpy,
                         const uint8_t *bytes);

/* The envelope around saved instances, and its checksum. */
typedef struct pess__stored {
    const char *game;
    pess_generator generator;
    int64_t count, bits, body; /* body: bytes of all that is saved between envelope and checksum */
} pess__stored;

int64_t pess__stored_size(const pess__stored *what);
size_t pess__stored_offset(void); /* where the body begins */
pess_status pess__stored_begin(const pess__stored *what, uint8_t *out, int64_t size, pess_error *error);
void pess__stored_seal(const pess__stored *what, uint8_t *out);
pess_status pess__stored_open(const pess__stored *what, const uint8_t *bytes, int64_t size, pess_error *error);

#endif
