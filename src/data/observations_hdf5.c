/* Datasets of observations in the layout of Minari 0.5: a group per episode,
 *
 *     episode_<i>/observations [T+1, …], actions [T, …], rewards [T], terminations [T], truncations [T]
 *
 * with the attributes id, total_steps and rewards_sum, _mean, _std, _max, _min. Bits are true and false, pictures
 * [T+1, H, W, C] bytes; actions are whole numbers, or the vectors that they stand for. Beside a file called
 * main_data.hdf5 stands its metadata.json, by which Minari opens it. */
#include "core/memory.h"
#include "data/hdf5_write.h"
#include "data/observations.h"
#include "data/observations_minari.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows [first, first+steps) of the data are an episode. */
typedef struct episode {
    const pess_observations *data;
    int64_t number, first, steps;
} episode;

/* Room for the longest episode. */
typedef struct scratch {
    uint8_t *observations;
    int64_t *whole;
    float *vectors;
    double *rewards;
    int8_t *flags;
} scratch;

static void free_scratch(scratch *r) {
    void *const owned[] = {r->observations, r->whole, r->vectors, r->rewards, r->flags};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

static pess_status take_scratch(const pess_observations *data, int64_t steps, scratch *r, pess_error *error) {
    static const char what[] = "an episode";
    const int64_t length = data->shape.kind == PESS_OBSERVATION_BITS ? data->shape.length : data->bytes;
    PESS_TRY(pess__allocate(&r->observations, (steps + 1) * length, 1, what, error));
    PESS_TRY(pess__allocate(&r->whole, steps, sizeof *r->whole, what, error));
    PESS_TRY(pess__allocate(&r->vectors, steps * data->space.width, sizeof *r->vectors, what, error));
    PESS_TRY(pess__allocate(&r->rewards, steps, sizeof *r->rewards, what, error));
    return pess__allocate(&r->flags, steps, sizeof *r->flags, what, error);
}

/* ---- the arrays of an episode */

static void render_observation(const pess_observations *data, int32_t number, uint8_t *to) {
    const uint8_t *from = data->observations + number * data->bytes;
    if (data->shape.kind == PESS_OBSERVATION_BITS)
        for (int64_t k = 0; k < data->shape.length; k++) to[k] = from[k / 8] >> (k % 8) & 1;
    else
        memcpy(to, from, (size_t)data->bytes);
}

static void put_observations(pess__hdf5_out *out, int64_t group, const episode *e, scratch *r) {
    static const pess__hdf5_type types[] = {PESS__HDF5_TRUTH, PESS__HDF5_U8, PESS__HDF5_F32};
    const pess_observation_shape *s = &e->data->shape;
    const bool board = s->rows > 0 && !(s->rows == 1 && s->cols == 1);
    const int64_t length = s->kind == PESS_OBSERVATION_BITS ? s->length : e->data->bytes;
    const int64_t shape[] = {e->steps + 1, board ? s->rows : s->length, s->cols, s->channels};
    for (int64_t t = 0; t < e->steps; t++)
        render_observation(e->data, e->data->state[e->first + t], r->observations + t * length);
    render_observation(e->data, e->data->next[e->first + e->steps - 1], r->observations + e->steps * length);
    pess__hdf5_put(out, group, "observations", types[s->kind], board ? 4 : 2, shape, r->observations);
}

static void put_actions(pess__hdf5_out *out, int64_t group, const episode *e, scratch *r) {
    const pess_observations *data = e->data;
    const int64_t width = data->space.width, shape[] = {e->steps, width};
    for (int64_t t = 0; t < e->steps; t++) {
        const int64_t i = e->first + t;
        const float *vector =
            data->vector != NULL ? data->vector + i * width : data->space.values + data->action[i] * width;
        r->whole[t] = data->action[i];
        if (width > 0) memcpy(r->vectors + t * width, vector, (size_t)width * sizeof *vector);
    }
    if (width > 0)
        pess__hdf5_put(out, group, "actions", PESS__HDF5_F32, 2, shape, r->vectors);
    else
        pess__hdf5_put(out, group, "actions", PESS__HDF5_I64, 1, shape, r->whole);
}

static void put_rewards(pess__hdf5_out *out, int64_t group, const episode *e, scratch *r) {
    double sum = 0, squares = 0, most = -INFINITY, least = INFINITY;
    for (int64_t t = 0; t < e->steps; t++) {
        r->rewards[t] = (double)e->data->reward[e->first + t];
        sum += r->rewards[t];
        most = fmax(most, r->rewards[t]);
        least = fmin(least, r->rewards[t]);
    }
    const double mean = sum / (double)e->steps;
    for (int64_t t = 0; t < e->steps; t++) squares += (r->rewards[t] - mean) * (r->rewards[t] - mean);
    const double deviation = sqrt(squares / (double)e->steps);
    pess__hdf5_put(out, group, "rewards", PESS__HDF5_F64, 1, &e->steps, r->rewards);
    pess__hdf5_attribute(out, group, "rewards_sum", PESS__HDF5_F64, &sum);
    pess__hdf5_attribute(out, group, "rewards_mean", PESS__HDF5_F64, &mean);
    pess__hdf5_attribute(out, group, "rewards_std", PESS__HDF5_F64, &deviation);
    pess__hdf5_attribute(out, group, "rewards_max", PESS__HDF5_F64, &most);
    pess__hdf5_attribute(out, group, "rewards_min", PESS__HDF5_F64, &least);
}

static void put_flags(pess__hdf5_out *out, int64_t group, const episode *e, const char *name, pess_end end,
                      scratch *r) {
    for (int64_t t = 0; t < e->steps; t++) r->flags[t] = e->data->end[e->first + t] == (uint8_t)end;
    pess__hdf5_put(out, group, name, PESS__HDF5_TRUTH, 1, &e->steps, r->flags);
}

static void put_episode(pess__hdf5_out *out, const episode *e, scratch *r) {
    char name[40];
    (void)snprintf(name, sizeof name, "episode_%lld", (long long)e->number);
    const int64_t group = pess__hdf5_group_begin(out, name);
    pess__hdf5_attribute(out, group, "id", PESS__HDF5_I64, &e->number);
    pess__hdf5_attribute(out, group, "total_steps", PESS__HDF5_I64, &e->steps);
    put_observations(out, group, e, r);
    put_actions(out, group, e, r);
    put_rewards(out, group, e, r);
    put_flags(out, group, e, "terminations", PESS_END_TERMINAL, r);
    put_flags(out, group, e, "truncations", PESS_END_CUTOFF, r);
    pess__hdf5_group_end(out, group);
}

/* ---- the file */

/* The next episode; false behind the last one. */
static bool next_episode(episode *e) {
    const pess_observations *data = e->data;
    e->first += e->steps;
    e->number += e->steps > 0;
    e->steps = 0;
    while (e->first + e->steps < data->transitions)
        if (data->end[e->first + e->steps++] != PESS_END_NONE) break;
    return e->steps > 0;
}

/* Minari keeps one observation a step: a row has to begin where the one before it led to. */
static pess_status check_episodes(const pess_observations *data, int64_t *longest, pess_error *error) {
    *longest = 0;
    for (episode e = {.data = data}; next_episode(&e);) {
        if (e.steps > *longest) *longest = e.steps;
        for (int64_t i = e.first; i + 1 < e.first + e.steps; i++)
            if (data->next[i] != data->state[i + 1])
                return pess__fail(error, PESS_INPUT,
                                  "transition %lld begins elsewhere than where the one before it led: episodes of "
                                  "Minari have no place for that; .npz and .pessdata do",
                                  (long long)i + 1);
    }
    return PESS_OK;
}

static pess_status put_all(const pess_observations *data, int64_t longest, pess__outfile *to,
                           pess__minari_totals *totals, pess_error *error) {
    pess__hdf5_out out;
    scratch r = {0};
    PESS_TRY(pess__hdf5_create(&out, error));
    pess_status status = take_scratch(data, longest, &r, error);
    for (episode e = {.data = data}; status == PESS_OK && next_episode(&e); totals->episodes++)
        put_episode(&out, &e, &r);
    free_scratch(&r);
    pess_error why;
    const pess_status finished = pess__hdf5_finish(&out, to, &totals->bytes, status == PESS_OK ? error : &why);
    return status == PESS_OK ? finished : status;
}

pess_status pess__observations_write_hdf5(const pess_observations *data, const char *path, pess_error *error) {
    pess__outfile *file = NULL;
    pess__minari_totals totals = {0};
    int64_t longest = 0;
    PESS_TRY(check_episodes(data, &longest, error));
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess_status status = put_all(data, longest, file, &totals, error);
    if (status == PESS_OK) status = pess__minari_write_metadata(data, &totals, path, error);
    if (status == PESS_OK) return pess__outfile_commit(file, error);
    pess__outfile_abandon(file);
    return status;
}
