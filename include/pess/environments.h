/* Pessimist: environments to act in, traces, pictures.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_ENVIRONMENTS_H
#define PESS_ENVIRONMENTS_H

#include "pess/tabular.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Environments to act in, step by step: the five MinAtar games, control problems, tabular MDPs and environments of the
 * caller's own, behind the same functions. A game's board is rows × cols cells of `channels` bits each; six actions, of
 * which each game uses some. A control problem shows floats (rows and cols are 1, channels the features) or a picture
 * of bytes, and has the actions 0 … minimal_count-1. */
typedef struct pess_env_channel {
    const char *name;
    uint32_t colour; /* 0xRRGGBB, for drawing; of games, like the rest */
    char glyph;      /* for drawing without colours */
    int layer;       /* where several channels share a cell, the one of the highest layer is drawn */
} pess_env_channel;

typedef struct pess_env_info {
    const char *name, *summary;
    int rows, cols, channels;
    const pess_env_channel *channel; /* [channels] */
    int minimal_count;
    const uint8_t *minimal;          /* [minimal_count] the actions that mean something in this game, ascending */
    bool ramps;                      /* `ramping` matters */
    pess_observation_kind kind;      /* what an observation is made of: bits of games */
    const char *const *action_names; /* [minimal_count] of a control problem; NULL: pess_env_action_name */
    int64_t step_limit;              /* an episode is cut off there at the latest; 0: the options alone say */
} pess_env_info;

#define PESS_ENV_ACTIONS 6
#define PESS_ENV_MAX_BYTES 128 /* of a game's packed observation */

PESS_API const pess_env_info *pess_env_list(size_t index);     /* games, by position from 0; NULL past the last */
PESS_API const pess_env_info *pess_control_list(size_t index); /* control problems likewise */
PESS_API const pess_env_info *pess_env_find(const char *name); /* of both; NULL: none */
PESS_API pess_observation_shape pess_env_shape(const pess_env_info *info);
PESS_API int pess_env_full_actions(const pess_env_info *info); /* six of a game, as many as there are otherwise */
PESS_API const char *pess_env_action_name(int action); /* 0 "nothing", "left", "up", "right", "down", 5 "fire" */

typedef enum pess_generator {
    PESS_GENERATOR_FAST, /* xoshiro256++, stream (seed, stream) */
    PESS_GENERATOR_NUMPY /* numpy's RandomState(seed + stream), draw for draw; seed + stream < 2^32 */
} pess_generator;

typedef struct pess_env_options {
    size_t size;
    const char *game;      /* a name of pess_env_list or pess_control_list, which reads no more than step_limit on */
    double sticky;         /* probability that the previous action is taken instead */
    bool ramping;          /* difficulty grows */
    bool minimal_actions;  /* actions are 0 … minimal_count-1 and stand for info.minimal[action] */
    int64_t step_limit;    /* > 0: an episode is cut off after that many steps; that is never a terminal */
    uint64_t seed, stream; /* environments of one seed and different streams are independent */
    pess_generator generator;
} pess_env_options;

typedef struct pess_env pess_env;

/* The settings in pess_env_options, a row each. */
PESS_API const pess_setting_table *pess_env_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_env_options pess_env_options_defaults(void);
/* A new environment is at the start of its first episode: reset has been called once. */
PESS_API pess_status pess_env_create(const pess_env_options *options, pess_env **out, pess_error *error);
/* The MDP as an environment; episodes start from `start` [S] (NULL: uniform over states with actions). The tables are
 * copied. Of the options it reads step_limit, seed, stream and generator. An episode ends (terminal) on entering a
 * state without actions. */
PESS_API pess_status pess_env_create_mdp(const pess_mdp *mdp, const double *start, const pess_env_options *options,
                                         pess_env **out, pess_error *error);

/* An environment of the caller's own, as functions. Its state is plain bytes without pointers, which are copied and
 * saved; all that is random comes from `random`. It reads options as an MDP does. The struct is borrowed for as long as
 * environments are made of it. Batches of several threads call the functions from all of them. */
typedef struct pess_env_callbacks {
    size_t size; /* sizeof(pess_env_callbacks) */
    pess_observation_shape shape;
    int64_t actions;    /* 1 to 256 */
    int64_t state_size; /* bytes, 1 to 2,048; aligned for anything */
    int64_t step_limit; /* an episode is cut off there at the latest; 0: the options alone say */
    void *user;
    void (*reset)(void *user, void *state, pess_random *random);
    double (*step)(void *user, void *state, int64_t action, pess_random *random, bool *terminal); /* the reward */
    void (*observe)(void *user, const void *state, void *observation);                            /* as data hold it */
} pess_env_callbacks;

/* An environment of the caller's own; the callbacks are borrowed for its life. */
PESS_API pess_status pess_env_create_own(const pess_env_callbacks *callbacks, const pess_env_options *options,
                                         pess_env **out, pess_error *error);
/* Frees it. */
PESS_API void pess_env_destroy(pess_env *env);
/* A copy in the same state, with the same random numbers ahead. */
PESS_API pess_status pess_env_clone(const pess_env *env, pess_env **out, pess_error *error);
PESS_API const pess_env_info *pess_env_get_info(const pess_env *env); /* NULL for an MDP */
PESS_API int64_t pess_env_actions(const pess_env *env);
PESS_API int64_t pess_env_bits(const pess_env *env);  /* of an observation: rows*cols*channels; S for an MDP */
PESS_API int64_t pess_env_bytes(const pess_env *env); /* of a packed observation: bits/8 rounded up */
PESS_API int64_t pess_env_state(const pess_env *env); /* the state of an MDP; -1 for a game */
PESS_API int64_t pess_env_steps(const pess_env *env); /* since the last reset */
PESS_API pess_end pess_env_ended(const pess_env *env);

typedef struct pess_env_step_result {
    double reward;
    pess_end end;
    int action; /* the one really taken (sticky); of the full set for games */
} pess_env_step_result;

/* PESS_ARGUMENT for an action the environment does not have and for a step after the end of an episode; then nothing
 * has changed. */
PESS_API pess_status pess_env_reset(pess_env *env, pess_error *error);
/* One step by this action. */
PESS_API pess_status pess_env_step(pess_env *env, int64_t action, pess_env_step_result *out, pess_error *error);

/* Observations. Packed: bit ((y*cols + x)*channels + c), least significant bit of each byte first, padded with zero
 * bits; an MDP's is one-hot. Planes: one float or byte, 0 or 1, per bit. */
typedef enum pess_layout {
    PESS_LAYOUT_HWC, /* [rows][cols][channels], the order of the bits */
    PESS_LAYOUT_CHW  /* [channels][rows][cols] */
} pess_layout;

/* The observation as data hold it, [bytes]. */
PESS_API void pess_env_observe_bits(const pess_env *env, uint8_t *out);
/* The observation as planes of bytes, [bits]. */
PESS_API void pess_env_observe_bytes(const pess_env *env, pess_layout layout, uint8_t *out);
/* The observation as planes of floats, [bits]. */
PESS_API void pess_env_observe_floats(const pess_env *env, pess_layout layout, float *out);
/* The same from packed bits that were kept. cells: rows*cols; channels 1 makes the layouts equal. */
PESS_API void pess_bits_to_floats(const uint8_t *bits, int64_t cells, int channels, pess_layout layout, float *out);
/* The same to bytes. */
PESS_API void pess_bits_to_bytes(const uint8_t *bits, int64_t cells, int channels, pess_layout layout, uint8_t *out);

/* The whole state as plain bytes: board, hidden timers, previous action, step count and generator. The settings are not
 * part of it: restore needs an environment of the same game (or an MDP of the same size) and generator. Bytes that are
 * damaged, or that describe no possible state, are refused with PESS_INPUT and change nothing. They are meant for the
 * same version of the library on the same kind of machine. An environment on a tape cannot be saved. */
PESS_API int64_t pess_env_save_size(const pess_env *env);
/* Writes the state into `out`, whose size is pess_env_save_size. */
PESS_API pess_status pess_env_save(const pess_env *env, uint8_t *out, int64_t size, pess_error *error);
/* Puts the environment into a saved state. */
PESS_API pess_status pess_env_restore(pess_env *env, const uint8_t *bytes, int64_t size, pess_error *error);

/* Every random number is drawn in one place, where a tape can take the place of the generator. */
typedef struct pess_draw {
    bool integer; /* an integer result; otherwise a uniform in [0,1) */
    double value;
} pess_draw;

/* Plays the draws (borrowed until replaced; NULL: back to the generator) from the next reset or step on. A draw that is
 * missing, of the wrong kind or out of range makes reset or step fail with PESS_INPUT. */
PESS_API void pess_env_set_tape(pess_env *env, const pess_draw *draws, int64_t count);
/* How many draws of the tape were played. */
PESS_API int64_t pess_env_tape_used(const pess_env *env);
/* Notes every draw in `out` from now on, up to `capacity` (borrowed; NULL ends it). pess_env_drawn: how many there were
 * since, also beyond the capacity. */
PESS_API void pess_env_record_draws(pess_env *env, pess_draw *out, int64_t capacity);
/* How many draws there were since pess_env_record_draws. */
PESS_API int64_t pess_env_drawn(const pess_env *env);

/* Many environments stepped in one call. Environment i is the one that pess_env_create makes from the same options with
 * stream + i, at any thread count. When an episode ends its environment is reset at once: the observation is then the
 * first of the next episode, and pess_batch_final_bits has the last one of the old. */
typedef struct pess_batch pess_batch;

typedef struct pess_batch_out { /* any may be NULL */
    double *rewards;            /* [N] */
    uint8_t *ends;              /* [N] pess_end */
    uint8_t *bits;              /* [N * bytes] as data hold them: packed bits, bytes, or floats (then aligned so) */
    float *floats;              /* [N * bits] */
    uint8_t *bytes;             /* [N * bits] */
    int64_t *states;            /* [N] of an MDP; -1 for games */
    pess_layout layout;         /* of floats and bytes */
} pess_batch_out;

PESS_API pess_status pess_batch_create(const pess_env_options *options, int64_t count, int threads, pess_batch **out,
                                       pess_error *error); /* threads 0: all there are */
PESS_API pess_status pess_batch_create_mdp(const pess_mdp *mdp, const double *start, const pess_env_options *options,
                                           int64_t count, int threads, pess_batch **out, pess_error *error);
/* The same of an environment of the caller's own. */
PESS_API pess_status pess_batch_create_own(const pess_env_callbacks *callbacks, const pess_env_options *options,
                                           int64_t count, int threads, pess_batch **out, pess_error *error);
/* Frees it. */
PESS_API void pess_batch_destroy(pess_batch *batch);
/* How many environments there are. */
PESS_API int64_t pess_batch_count(const pess_batch *batch);
/* How many actions each has. */
PESS_API int64_t pess_batch_actions(const pess_batch *batch);
/* Bits, bytes or floats of an observation: what it is made of, counted. */
PESS_API int64_t pess_batch_bits(const pess_batch *batch);
/* Bytes of an observation as data hold it. */
PESS_API int64_t pess_batch_bytes(const pess_batch *batch);
/* What an observation is made of. */
PESS_API pess_observation_kind pess_batch_kind(const pess_batch *batch);
/* Where all are now; rewards and ends are set to 0. */
PESS_API void pess_batch_observe(const pess_batch *batch, const pess_batch_out *out);
/* actions [N]. One illegal action refuses the whole step and changes nothing. */
PESS_API pess_status pess_batch_step(pess_batch *batch, const int32_t *actions, const pess_batch_out *out,
                                     pess_error *error);
/* [bytes] The last observation of the latest episode of environment i that has ended; false where none has. */
PESS_API bool pess_batch_final_bits(const pess_batch *batch, int64_t index, uint8_t *out);
PESS_API int64_t pess_batch_final_state(const pess_batch *batch, int64_t index); /* of an MDP; -1 otherwise */
PESS_API int64_t pess_batch_save_size(const pess_batch *batch);                  /* as for one environment */
PESS_API pess_status pess_batch_save(const pess_batch *batch, uint8_t *out, int64_t size, pess_error *error);
/* Puts all environments into a saved state. */
PESS_API pess_status pess_batch_restore(pess_batch *batch, const uint8_t *bytes, int64_t size, pess_error *error);

/* What chooses the actions. NULL in place of `act`: uniformly at random. */
typedef struct pess_actor {
    int64_t (*act)(void *user, const pess_env *env);
    void *user;
} pess_actor;

/* Traces: a game as text, one reset or step a line with its draws and the packed state in hexadecimal
 * (docs/environments.md). Replaying puts the draws on a tape and checks rewards, ends, draws and states. */
typedef struct pess_trace_report {
    char game[32];
    int64_t records, steps, resets, draws; /* that conform */
    bool conforms;
    int64_t line;    /* of the first record that does not */
    char text[400];  /* what differs there */
    bool has_boards; /* the states after it: */
    uint8_t expected[PESS_ENV_MAX_BYTES], found[PESS_ENV_MAX_BYTES];
} pess_trace_report;

/* PESS_INPUT, with the line, for a file that is no trace or is damaged; not conforming is a result, not an error. */
PESS_API pess_status pess_trace_replay(const char *path, pess_trace_report *out, pess_error *error);
/* Plays `steps` steps, resetting as episodes end, and writes them. */
PESS_API pess_status pess_trace_record(const pess_env_options *options, const pess_actor *actor, int64_t steps,
                                       const char *path, pess_error *error);

/* Pictures. The channel to draw in each cell, or -1 for none; `top` [rows*cols]. */
PESS_API void pess_env_top_channels(const pess_env_info *info, const uint8_t *bits, int *top);
/* The board as an image: cells of `size` pixels with a thin grid, a margin of size/2, and a line of digits below for
 * the score where score >= 0. Pixels are indices into `palette` (RGB, 3 bytes each; colour 0 is the background). */
#define PESS_PALETTE_COLOURS 32
/* Width and height of such an image, in pixels. */
PESS_API void pess_env_picture_size(const pess_env_info *info, int size, int *width, int *height);
/* The colours of its pixels. */
PESS_API void pess_env_palette(const pess_env_info *info, uint8_t palette[3 * PESS_PALETTE_COLOURS]);
/* Draws it into pixels [width*height]. */
PESS_API void pess_env_picture(const pess_env_info *info, const uint8_t *bits, int size, int64_t score,
                               uint8_t *pixels);
/* Image files, whole or not at all. */
PESS_API pess_status pess_png_write(const char *path, int width, int height, const uint8_t *pixels,
                                    const uint8_t palette[3 * PESS_PALETTE_COLOURS], pess_error *error);
typedef struct pess_gif pess_gif;
/* Begins an animation. */
PESS_API pess_status pess_gif_create(const char *path, int width, int height,
                                     const uint8_t palette[3 * PESS_PALETTE_COLOURS], pess_gif **out,
                                     pess_error *error);
/* Adds a picture, which is shown for so long. */
PESS_API pess_status pess_gif_add(pess_gif *gif, const uint8_t *pixels, int delay_ms, pess_error *error);
PESS_API pess_status pess_gif_finish(pess_gif *gif, pess_error *error); /* the file appears; the handle is gone */
PESS_API void pess_gif_abandon(pess_gif *gif);

#ifdef __cplusplus
}
#endif
#endif
