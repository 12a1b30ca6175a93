/* What the child process makes of an HDF5 file: the layouts of Minari, D4RL and d3rlpy as episodes, and episodes as
 * rows. Whatever does not fit ends the process with a sentence. */
#include "core/sandbox.h"
#include "data/hdf5_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef pess__hdf5_array array;

typedef struct reader {
    int to;
    int64_t file;
    pess__hdf5_begin begin; /* shape of an observation, of length 0 where a state is a whole number; actions */
    bool channels_first;    /* of pictures in the file */
    int64_t action_width;   /* numbers per action as they are stored; 0: none has been seen */
    bool whole_actions;     /* stored as whole numbers */
    int64_t episodes;
    uint32_t held; /* rows in `rows` */
    char *rows;    /* [PESS__HDF5_MOST_ROWS * size of a row] */
} reader;

/* The arrays of one file, or of one episode of it. */
typedef struct arrays {
    const char *where; /* "episode_3/" */
    array observations, actions, rewards, next;
} arrays;

static void require(const reader *r, bool fits, const arrays *a, const char *what) {
    if (!fits) pess__hdf5_give_up(r->to, "%s%s%s", a->where, a->where[0] != '\0' ? ": " : "", what);
}

/* ------------------------------------------------------------------------------------------------ rows */

static void flush(reader *r) {
    const pess__hdf5_header header = {PESS__HDF5_ROWS, r->held};
    if (r->held == 0) return;
    pess__sandbox_write(r->to, &header, sizeof header);
    pess__sandbox_write(r->to, r->rows, r->held * pess__hdf5_row_size(&r->begin));
    r->held = 0;
}

/* Bits, the least significant first. */
static void pack_bits(const uint8_t *from, int64_t count, uint8_t *to) {
    memset(to, 0, (size_t)(count + 7) / 8);
    for (int64_t k = 0; k < count; k++) to[k >> 3] = (uint8_t)(to[k >> 3] | (from[k] != 0) << (k & 7));
}

/* Channels that stand one behind the other, pixel by pixel. */
static void interleave(const uint8_t *from, const pess_observation_shape *shape, uint8_t *to) {
    const int64_t pixels = (int64_t)shape->rows * shape->cols;
    for (int64_t i = 0; i < pixels; i++)
        for (int c = 0; c < shape->channels; c++) *to++ = from[c * pixels + i];
}

static void put_observation(const reader *r, const array *observations, int64_t i, uint8_t *to) {
    const int64_t length = r->begin.shape.length;
    const uint8_t *from = observations->elements;
    if (r->begin.shape.kind == PESS_OBSERVATION_FLOATS)
        memcpy(to, from + 4 * length * i, 4 * (size_t)length);
    else if (r->begin.shape.kind == PESS_OBSERVATION_BITS)
        pack_bits(from + length * i, length, to);
    else if (r->channels_first)
        interleave(from + length * i, &r->begin.shape, to);
    else
        memcpy(to, from + length * i, (size_t)length);
}

/* The action of row i where it is a vector. */
static void put_vector(const reader *r, const array *actions, int64_t i, char *to) {
    const int64_t width = r->begin.width;
    for (int64_t j = 0; j < width; j++) {
        const double number =
            actions->reals != NULL ? actions->reals[i * width + j] : (double)actions->numbers[i * width + j];
        const float value = (float)number;
        memcpy(to + (size_t)j * sizeof value, &value, sizeof value);
    }
}

/* One transition: row i of the arrays, to the observation `next` of `of`. */
static void add_row(reader *r, const arrays *a, int64_t i, int64_t step, const array *of, int64_t next, pess_end end) {
    char *at = r->rows + r->held * pess__hdf5_row_size(&r->begin);
    const bool states = r->begin.shape.length == 0;
    const pess__hdf5_row row = {.episode = r->episodes,
                                .step = step,
                                .state = states ? a->observations.numbers[i] : 0,
                                .action = r->begin.width > 0 ? 0 : a->actions.numbers[i],
                                .next_state = states ? of->numbers[next] : 0,
                                .reward = a->rewards.reals[i],
                                .end = end};
    memcpy(at, &row, sizeof row);
    if (!states) {
        put_observation(r, &a->observations, i, (uint8_t *)at + sizeof row);
        put_observation(r, of, next, (uint8_t *)at + sizeof row + pess_observation_bytes(&r->begin.shape));
    }
    put_vector(r, &a->actions, i, at + pess__hdf5_row_size(&r->begin) - (size_t)r->begin.width * sizeof(float));
    if (++r->held == pess__hdf5_most_rows(&r->begin)) flush(r);
}

/* `steps` rows from `first` on are an episode. `last` says whether the observation that it ended in follows them. Where
 * it does not, a terminal row leads to its own state, as nothing depends on it; one that was cut off is lost, and the
 * row before it is the one that is cut off. */
static void add_episode(reader *r, const arrays *a, int64_t first, int64_t steps, bool last, pess_end end) {
    const bool lost = !a->next.present && !last && end != PESS_END_TERMINAL;
    const int64_t kept = lost ? steps - 1 : steps;
    for (int64_t t = 0; t < kept; t++) {
        const int64_t i = first + t;
        const pess_end how = t < kept - 1 ? PESS_END_NONE : lost ? PESS_END_CUTOFF : end;
        if (a->next.present)
            add_row(r, a, i, t, &a->next, i, how);
        else
            add_row(r, a, i, t, &a->observations, t + 1 < steps || last ? i + 1 : i, how);
    }
    r->episodes++;
}

/* ------------------------------------------------------------------------------------------------ arrays */

/* What was stored with decimals, as whole numbers. */
static void take_whole(const reader *r, array *of) {
    const int64_t count = of->rows * of->width;
    of->numbers = calloc(count > 0 ? (size_t)count : 1, sizeof *of->numbers);
    if (of->numbers == NULL) pess__hdf5_give_up(r->to, "found more numbers than there is memory for");
    for (int64_t i = 0; i < count; i++) of->numbers[i] = (int64_t)of->reals[i];
}

/* Actions of several numbers are vectors. So is a single number where any is below 0 or has decimals: 2.0 is the action
 * 2 where all are whole. */
static bool are_vectors(const array *actions) {
    if (actions->width != 1) return true;
    for (int64_t i = 0; !actions->whole && i < actions->rows; i++)
        if (!(actions->reals[i] >= 0 && actions->reals[i] < PESS_MAX_ACTIONS) ||
            (double)(int64_t)actions->reals[i] < actions->reals[i])
            return true;
    return false;
}

/* Episodes whose actions happen to be whole may stand beside others whose actions are not: then all are vectors. */
static void count_actions(reader *r, arrays *a) {
    array *actions = &a->actions;
    require(r, actions->present, a, "found no actions, expected some");
    if (actions->rows == 0) return;
    require(r,
            actions->width > 0 &&
                (r->action_width == 0 || (r->action_width == actions->width && r->whole_actions == actions->whole)),
            a, "found actions of another type or length than before");
    r->action_width = actions->width;
    r->whole_actions = actions->whole;
    if (are_vectors(actions)) {
        r->begin.width = actions->width;
        return;
    }
    if (!actions->whole) take_whole(r, actions);
    for (int64_t i = 0; i < actions->rows; i++) {
        require(r, actions->numbers[i] >= 0 && actions->numbers[i] < PESS_MAX_ACTIONS, a,
                "found an action that is negative or too large");
        if (actions->numbers[i] >= r->begin.actions) r->begin.actions = actions->numbers[i] + 1;
    }
}

static void check_lengths(const reader *r, const arrays *a) {
    const int64_t rows = a->actions.rows;
    require(r, a->rewards.present && a->observations.present, a, "found no observations or no rewards, expected both");
    require(r, a->rewards.rows == rows && (a->rewards.width == 1 || rows == 0), a,
            "found different numbers of rewards and actions");
}

/* What is seen of an observation: true and false are bits, whole numbers from 0 to 255 are bytes, of pictures where
 * there are two or three dimensions, others are floats. */
static void set_shape(reader *r, const array *observations) {
    const int64_t *shape = observations->shape;
    r->begin.shape = observations->truths ? pess_observation_bits(observations->width)
                                          : pess_observation_floats(observations->width);
    if (!observations->bytes) return;
    r->begin.shape.kind = PESS_OBSERVATION_BYTES;
    if (shape[1] == 0 || shape[0] > INT32_MAX || shape[1] > INT32_MAX || shape[2] > INT32_MAX) return;
    r->channels_first = shape[2] > shape[0];
    const int channels = shape[2] == 0 ? 1 : (int)(r->channels_first ? shape[0] : shape[2]);
    const int rows = (int)(r->channels_first ? shape[1] : shape[0]),
              cols = (int)(r->channels_first ? shape[2] : shape[1]);
    r->begin.shape = pess_observation_picture(rows, cols, channels);
}

/* States are single whole numbers, or what the first observations are. */
static void begin(reader *r, const array *observations, const char *origin) {
    if (r->begin.width > 0) r->begin.actions = 0;
    if (!observations->whole || observations->width != 1) set_shape(r, observations);
    if (pess__hdf5_row_size(&r->begin) > PESS__HDF5_MOST_BYTES)
        pess__hdf5_give_up(r->to, "found observations of %lld values, expected smaller ones",
                           (long long)observations->width);
    (void)snprintf(r->begin.origin, sizeof r->begin.origin, "%s", origin);
    r->rows = calloc(pess__hdf5_most_rows(&r->begin), pess__hdf5_row_size(&r->begin));
    if (r->rows == NULL) pess__hdf5_give_up(r->to, "found observations that are too large for the memory");
    const pess__hdf5_header header = {PESS__HDF5_BEGIN, 1};
    pess__sandbox_write(r->to, &header, sizeof header);
    pess__sandbox_write(r->to, &r->begin, sizeof r->begin);
}

static array read_observations(const reader *r, int64_t group, const char *where, const char *name) {
    const pess__hdf5_as as = r->begin.shape.length == 0                       ? PESS__HDF5_WHOLE
                             : r->begin.shape.kind == PESS_OBSERVATION_FLOATS ? PESS__HDF5_FLOATS
                                                                              : PESS__HDF5_BYTES;
    return pess__hdf5_read(group, where, name, as, r->to);
}

static void check_observations(const reader *r, const arrays *a, const array *observations, int64_t rows) {
    require(r, observations->rows == rows, a, "found a number of observations that does not fit the actions");
    const bool states = r->begin.shape.length == 0;
    require(r, rows == 0 || observations->width == (states ? 1 : r->begin.shape.length), a,
            "found observations of another shape than before");
    require(r, observations->whole || (!states && r->begin.shape.kind == PESS_OBSERVATION_FLOATS), a,
            "found observations of another type than before");
}

static void free_arrays(arrays *a) {
    pess__hdf5_free(&a->observations);
    pess__hdf5_free(&a->actions);
    pess__hdf5_free(&a->rewards);
    pess__hdf5_free(&a->next);
}

/* Ends of episodes, a flag each: true and false, whole numbers, or, as d3rlpy 1 writes them, 0.0 and 1.0. */
static array read_flags(const reader *r, int64_t group, const char *where, const char *name) {
    array flags = pess__hdf5_read(group, where, name, PESS__HDF5_WHOLE, r->to);
    const int64_t count = flags.rows * flags.width;
    if (!flags.present || flags.whole) return flags;
    for (int64_t i = 0; i < count; i++)
        if (flags.reals[i] != 0 && flags.reals[i] != 1)
            pess__hdf5_give_up(r->to, "'%s%s', row %lld: found %g, expected 0 or 1", where, name, (long long)i,
                               flags.reals[i]);
    take_whole(r, &flags);
    return flags;
}

static bool one_per_row(const array *flags, int64_t rows) {
    return flags->present && flags->rows == rows && (flags->width == 1 || rows == 0);
}

/* ------------------------------------------------------------------------------------------------ Minari */

/* A flag that is set anywhere but in the last row would be an episode that goes on after its end. */
static bool last_flag(const reader *r, const arrays *a, const array *flags) {
    require(r, one_per_row(flags, a->actions.rows), a, "found no terminations or truncations with one flag per row");
    for (int64_t i = 0; i + 1 < flags->rows; i++)
        require(r, flags->numbers[i] == 0, a, "found an end before the last row, expected it there");
    return flags->rows > 0 && flags->numbers[flags->rows - 1] != 0;
}

static void add_minari_episode(reader *r, int64_t group, arrays *a) {
    a->observations = read_observations(r, group, a->where, "observations");
    a->rewards = pess__hdf5_read(group, a->where, "rewards", PESS__HDF5_REAL, r->to);
    array terminations = read_flags(r, group, a->where, "terminations");
    array truncations = read_flags(r, group, a->where, "truncations");
    check_lengths(r, a);
    check_observations(r, a, &a->observations, a->actions.rows + 1);
    const bool terminal = last_flag(r, a, &terminations);
    (void)last_flag(r, a, &truncations); /* an episode that ends in neither was cut off as well */
    add_episode(r, a, 0, a->actions.rows, true, terminal ? PESS_END_TERMINAL : PESS_END_CUTOFF);
    pess__hdf5_free(&terminations);
    pess__hdf5_free(&truncations);
}

/* Groups episode_0, episode_1, … with an observation more than actions. First pass: how many actions there are. */
static void read_minari(reader *r) {
    char name[40], where[44];
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0;; i++) {
            (void)snprintf(name, sizeof name, "episode_%lld", (long long)i);
            (void)snprintf(where, sizeof where, "%s/", name);
            if (!pess__hdf5_has(r->file, name, r->to)) break;
            const int64_t group = pess__hdf5_group(r->file, name, r->to);
            arrays a = {.where = where};
            a.actions = pess__hdf5_read(group, where, "actions", PESS__HDF5_WHOLE, r->to);
            count_actions(r, &a);
            if (pass == 1 && i == 0) {
                const array shape = pess__hdf5_read(group, where, "observations", PESS__HDF5_SHAPE_ONLY, r->to);
                begin(r, &shape, "minari");
            }
            if (pass == 1) add_minari_episode(r, group, &a);
            free_arrays(&a);
            pess__hdf5_close_group(group);
        }
}

/* ------------------------------------------------------------------------------------------------ D4RL */

static bool is_set(const array *flags, int64_t i) { return flags->present && flags->numbers[i] != 0; }

static void check_flags(const reader *r, const arrays *a, const array *flags) {
    require(r, !flags->present || one_per_row(flags, a->actions.rows), a,
            "found ends of episodes that are not one flag per row");
}

/* Flat arrays with a row per action. `timeouts` are D4RL's cut-offs, `episode_terminals` those of d3rlpy 1. */
static void read_flat(reader *r) {
    arrays a = {.where = ""};
    const array shape = pess__hdf5_read(r->file, "", "observations", PESS__HDF5_SHAPE_ONLY, r->to);
    a.actions = pess__hdf5_read(r->file, "", "actions", PESS__HDF5_WHOLE, r->to);
    a.rewards = pess__hdf5_read(r->file, "", "rewards", PESS__HDF5_REAL, r->to);
    a.observations = shape;
    count_actions(r, &a);
    check_lengths(r, &a);
    begin(r, &shape, "d4rl");
    a.observations = read_observations(r, r->file, "", "observations");
    a.next = read_observations(r, r->file, "", "next_observations");
    array terminals = read_flags(r, r->file, "", "terminals"), timeouts = read_flags(r, r->file, "", "timeouts"),
          ends = read_flags(r, r->file, "", "episode_terminals");
    check_observations(r, &a, &a.observations, a.actions.rows);
    if (a.next.present) check_observations(r, &a, &a.next, a.actions.rows);
    require(r, terminals.present, &a, "found no 'terminals', expected it beside the actions");
    require(r, timeouts.present || ends.present, &a,
            "found no 'timeouts', which say where episodes were cut off: without them, rows that do not follow each "
            "other would be joined");
    check_flags(r, &a, &terminals);
    check_flags(r, &a, &timeouts);
    check_flags(r, &a, &ends);
    for (int64_t i = 0, first = 0; i < a.actions.rows; i++) {
        const bool terminal = is_set(&terminals, i);
        if (!terminal && !is_set(&timeouts, i) && !is_set(&ends, i) && i + 1 < a.actions.rows) continue;
        add_episode(r, &a, first, i + 1 - first, false, terminal ? PESS_END_TERMINAL : PESS_END_CUTOFF);
        first = i + 1;
    }
    pess__hdf5_free(&terminals);
    pess__hdf5_free(&timeouts);
    pess__hdf5_free(&ends);
}

/* ------------------------------------------------------------------------------------------------ d3rlpy 2 */

static array read_numbered(const reader *r, const char *key, int64_t i, pess__hdf5_as as) {
    char name[60];
    (void)snprintf(name, sizeof name, "%s_%lld", key, (long long)i);
    return pess__hdf5_read(r->file, "", name, as, r->to);
}

/* observations_0, actions_0, rewards_0, terminated_0, … : episodes without the observation that they ended in. */
static void read_d3rlpy(reader *r) {
    const array count = pess__hdf5_read(r->file, "", "num_episodes", PESS__HDF5_WHOLE, r->to);
    char where[40];
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; count.numbers != NULL && i < count.numbers[0]; i++) {
            arrays a = {.where = where};
            (void)snprintf(where, sizeof where, "episode %lld", (long long)i);
            a.actions = read_numbered(r, "actions", i, PESS__HDF5_WHOLE);
            a.rewards = read_numbered(r, "rewards", i, PESS__HDF5_REAL);
            a.observations = read_numbered(r, "observations", i, PESS__HDF5_SHAPE_ONLY);
            count_actions(r, &a);
            check_lengths(r, &a);
            if (pass == 1 && i == 0) begin(r, &a.observations, "d3rlpy");
            if (pass == 1) {
                array terminated = read_numbered(r, "terminated", i, PESS__HDF5_WHOLE);
                require(r, terminated.numbers != NULL && terminated.rows == 1, &a, "found no flag 'terminated'");
                char name[60];
                (void)snprintf(name, sizeof name, "observations_%lld", (long long)i);
                a.observations = read_observations(r, r->file, "", name);
                check_observations(r, &a, &a.observations, a.actions.rows);
                add_episode(r, &a, 0, a.actions.rows, false,
                            terminated.numbers[0] != 0 ? PESS_END_TERMINAL : PESS_END_CUTOFF);
                pess__hdf5_free(&terminated);
            }
            free_arrays(&a);
        }
}

void pess__hdf5_child(void *context, int to) {
    reader r = {.to = to};
    r.file = pess__hdf5_open(context, to);
    if (pess__hdf5_has(r.file, "episode_0", to))
        read_minari(&r);
    else if (pess__hdf5_has(r.file, "num_episodes", to))
        read_d3rlpy(&r);
    else if (pess__hdf5_has(r.file, "observations", to))
        read_flat(&r);
    else
        pess__hdf5_give_up(to, "found an HDF5 file with neither 'episode_0' (Minari), 'num_episodes' (d3rlpy) nor "
                               "'observations' (D4RL), expected one of these");
    flush(&r);
    const pess__hdf5_header end = {PESS__HDF5_END, 0};
    pess__sandbox_write(to, &end, sizeof end);
    free(r.rows);
}
