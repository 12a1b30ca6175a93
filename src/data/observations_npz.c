/* Datasets of observations as NumPy arrays, by the names of D4RL (Fu et al. 2020):
 *
 *     observations       [N, …]  bool: bits; uint8: bytes, pictures as [N, H, W], [N, C, H, W] or [N, H, W, C], the
 *                                shorter side being the channels; other numbers: floats
 *     actions            [N]     whole numbers from 0; or [N, W] numbers: vectors, to be numbered
 *     rewards            [N]
 *     terminals,         [N]     whether the episode ends with this row, of itself or because it was cut off
 *     timeouts
 *     next_observations  [N, …]  optional
 *     probabilities      [N]     optional: of the logged action under the policy that logged
 *     stopped            [N]     optional, written by this program: cut off because logging stopped, not by the episode
 *     game, action_count [1]     optional, written by this program
 *     action_values      [A, W]  optional: the vectors that actions stand for; action_names [A]: what they are called
 *
 * Without next_observations the next row has them. Where an episode was cut off nobody knows what came next: its last
 * row is left out, and the row before it is where the episode is cut off. */
#include "data/observations_npz.h"
#include "core/infile.h"
#include "core/memory.h"
#include "core/settings.h"
#include "data/hdf5.h"
#include "data/observations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(name) PESS__FIELD(pess_observations_options, name)

static const pess_setting rows_of_settings[] = {
    {.name = "actions",
     .kind = PESS_SETTING_COUNT,
     FIELD(actions),
     .standard = "0",
     PESS__FROM_TO(0, PESS__DATA_MAX_ACTIONS),
     .argument = "N",
     .sentence = "number of actions of a NumPy dataset; 0: one more than the largest that was logged"},
    {.name = "game",
     .kind = PESS_SETTING_TEXT,
     FIELD(game),
     .argument = "GAME",
     .sentence = "the environment that the data are from; if it can be played here, a training is scored by playing it",
     .where_unset = "the name in the file, or none"},
};

static const pess_setting_table settings = PESS__SETTING_TABLE("dataset", pess_observations_options, rows_of_settings);

PESS__SETTINGS_OF(observations, settings)

/* ---- reading */

enum { OBSERVATIONS, NEXT, ACTIONS, REWARDS, TERMINALS, TIMEOUTS, STOPPED, PROBABILITIES, ROLES };

/* The name of an array, and another that it goes by (Gymnasium's). */
static const char *const names[ROLES][2] = {
    [OBSERVATIONS] = {"observations", "observations"},
    [NEXT] = {"next_observations", "next_observations"},
    [ACTIONS] = {"actions", "actions"},
    [REWARDS] = {"rewards", "rewards"},
    [TERMINALS] = {"terminals", "terminations"},
    [TIMEOUTS] = {"timeouts", "truncations"},
    [STOPPED] = {"stopped", "stopped"},
    [PROBABILITIES] = {"probabilities", "probabilities"},
};

typedef struct reader {
    pess__zip zip;
    const char *file;
    int64_t rows;
    const pess__zip_entry *entries[ROLES];
    double *columns[ROLES];   /* [rows] of the arrays with one number per row */
    int32_t *numbers, *nexts; /* [rows] of observations; nexts NULL: the next row has them */
    int64_t width;            /* of actions that are vectors, columns[ACTIONS] being [rows*width]; 0: whole numbers */
    float *vectors;           /* [rows*width] */
    char game[32];
    int64_t actions;
    pess_observations *data;
} reader;

static pess_status bad_array(const reader *r, int role, const char *what, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: array '%s': %s", r->file, names[role][0], what);
}

static pess_status find_arrays(reader *r, pess_error *error) {
    for (int role = 0; role < ROLES; role++)
        for (int k = 1; k >= 0 && r->entries[role] == NULL; k--)
            r->entries[role] = pess__npz_find(&r->zip, names[role][1 - k]);
    for (int role = 0; role < ROLES; role++)
        if (r->entries[role] == NULL && (role == OBSERVATIONS || role == ACTIONS || role == REWARDS))
            return bad_array(r, role,
                             "found none, expected the arrays observations, actions, rewards, and terminals or "
                             "timeouts",
                             error);
    if (r->entries[TERMINALS] == NULL && r->entries[TIMEOUTS] == NULL)
        return bad_array(r, TERMINALS,
                         "found none, and no 'timeouts': at least one of them must say where episodes end", error);
    return PESS_OK;
}

/* A column of numbers, one per row. */
static pess_status read_column(reader *r, int role, pess_error *error) {
    pess__npz_array a;
    if (r->entries[role] == NULL) return PESS_OK;
    pess_status status = pess__npz_array_open(&r->zip, r->entries[role], names[role][0], &a, error);
    const pess__npy_header *h = &a.header;
    const bool vectors = role == ACTIONS && h->dimensions == 2 && h->shape[1] > 1;
    if (vectors) r->width = h->shape[1];
    if (status == PESS_OK && (h->dimensions < 1 || h->shape[0] != r->rows || (!vectors && a.count != r->rows)))
        status = pess__fail(error, PESS_INPUT, "%s: array '%s': found %lld numbers, expected %lld as in 'observations'",
                            r->file, names[role][0], (long long)(vectors ? h->shape[0] : a.count), (long long)r->rows);
    if (status == PESS_OK) status = pess__npz_array_doubles(&a, names[role][0], &r->columns[role], error);
    pess__npz_array_close(&a);
    return status;
}

/* The first row whose value is not as it must be is named. */
static pess_status check_column(const reader *r, int role, double least, double most, bool whole, pess_error *error) {
    const double *x = r->columns[role];
    for (int64_t i = 0; x != NULL && i < r->rows; i++)
        if (!(x[i] >= least && x[i] <= most) || (whole && x[i] < floor(x[i])) || (whole && x[i] > floor(x[i])))
            return pess__fail(error, PESS_INPUT,
                              "%s: array '%s', row %lld: found %g, expected a%s number from %g to %g", r->file,
                              names[role][0], (long long)i, x[i], whole ? " whole" : "", least, most);
    return PESS_OK;
}

/* Actions with decimals are vectors of one number. */
static bool has_decimals(const reader *r) {
    for (int64_t i = 0; i < r->rows; i++)
        if (isfinite(r->columns[ACTIONS][i]) && fabs(r->columns[ACTIONS][i] - nearbyint(r->columns[ACTIONS][i])) > 0)
            return true;
    return false;
}

static pess_status check_vectors(reader *r, const pess_observations_options *o, pess_error *error) {
    if (o->actions > 0 && r->width == 1) /* so many there are: then they are numbers from 0 */
        return check_column(r, ACTIONS, 0, (double)o->actions - 1, true, error);
    if (o->actions > 0)
        return pess__fail(error, PESS_ARGUMENT,
                          "actions: found %lld declared, but array 'actions' of %s has %lld numbers per row: a grid or "
                          "k-means numbers them",
                          (long long)o->actions, r->file, (long long)r->width);
    r->actions = 1;
    PESS_TRY(pess__allocate(&r->vectors, r->rows * r->width, sizeof *r->vectors, "the actions of a dataset", error));
    for (int64_t i = 0; i < r->rows * r->width; i++)
        if (!isfinite(r->vectors[i] = (float)r->columns[ACTIONS][i]))
            return pess__fail(error, PESS_INPUT,
                              "%s: array 'actions', row %lld, number %lld: found %g, expected a finite number", r->file,
                              (long long)(i / r->width), (long long)(i % r->width), r->columns[ACTIONS][i]);
    return PESS_OK;
}

static pess_status check_actions(reader *r, const pess_observations_options *o, pess_error *error) {
    if (r->width == 0 && has_decimals(r)) r->width = 1;
    if (r->width > 0) return check_vectors(r, o, error);
    if (o->actions > 0) r->actions = o->actions;
    const int64_t most = r->actions > 0 ? r->actions : PESS__DATA_MAX_ACTIONS;
    PESS_TRY(check_column(r, ACTIONS, 0, (double)most - 1, true, error));
    for (int64_t i = 0; i < r->rows && o->actions == 0; i++)
        if (r->columns[ACTIONS][i] >= (double)r->actions) r->actions = (int64_t)r->columns[ACTIONS][i] + 1;
    return PESS_OK;
}

static pess_status read_columns(reader *r, const pess_observations_options *o, pess_error *error) {
    for (int role = ACTIONS; role < ROLES; role++) PESS_TRY(read_column(r, role, error));
    PESS_TRY(check_actions(r, o, error));
    PESS_TRY(check_column(r, REWARDS, -3.4e38, 3.4e38, false, error));
    PESS_TRY(check_column(r, TERMINALS, 0, 1, true, error));
    PESS_TRY(check_column(r, TIMEOUTS, 0, 1, true, error));
    PESS_TRY(check_column(r, STOPPED, 0, 1, true, error));
    return check_column(r, PROBABILITIES, 1e-38, 1, false, error);
}

/* Whether pictures are [H, W, C]: the shorter side are the channels. What this program wrote, with a number of actions,
 * has them first. */
static bool has_channels_last(const reader *r, const pess__npy_header *h) {
    return h->dimensions == 4 && h->shape[3] < h->shape[1] && pess__npz_find(&r->zip, "action_count") == NULL;
}

/* What the observations of an array are. */
static pess_status shape_of(const reader *r, int role, const pess__npy_header *h, pess_observation_shape *out,
                            pess_error *error) {
    int64_t length = 1;
    for (int i = 1; i < h->dimensions; i++) length *= h->shape[i];
    if (h->dimensions < 1 || length < 1 || length > PESS__DATA_MAX_LENGTH)
        return bad_array(r, role, "found observations without numbers or with too many", error);
    if (h->type.kind == 'S' || h->type.kind == 'U') return bad_array(r, role, "found text, expected numbers", error);
    if (h->dimensions > 4) return bad_array(r, role, "found five dimensions, expected at most [N, C, H, W]", error);
    const int64_t *s = h->shape;
    if (h->type.kind == 'b')
        *out = pess_observation_bits(length);
    else if (h->type.kind != 'u' || h->type.size != 1)
        *out = pess_observation_floats(length);
    else if (h->dimensions == 4 && has_channels_last(r, h))
        *out = pess_observation_picture((int)s[1], (int)s[2], (int)s[3]);
    else if (h->dimensions == 4)
        *out = pess_observation_picture((int)s[2], (int)s[3], (int)s[1]);
    else if (h->dimensions == 3)
        *out = pess_observation_picture((int)s[1], (int)s[2], 1);
    else
        *out = pess_observation_picture(1, 1, (int)length);
    return PESS_OK;
}

/* An observation as it is in the file to one as the data hold it: [C][H][W] becomes [H][W][C]. */
static void convert(const pess__npy_type *type, const pess_observation_shape *shape, bool channels_last,
                    const uint8_t *from, double *numbers, uint8_t *to) {
    const int64_t length = shape->length, cells = shape->channels > 0 ? length / shape->channels : length;
    if (shape->kind == PESS_OBSERVATION_BYTES && channels_last) {
        memcpy(to, from, (size_t)length);
        return;
    }
    if (shape->kind == PESS_OBSERVATION_BYTES) {
        for (int64_t i = 0; i < length; i++) to[i % cells * shape->channels + i / cells] = from[i];
        return;
    }
    if (shape->kind == PESS_OBSERVATION_BITS) {
        memset(to, 0, (size_t)pess_observation_bytes(shape));
        for (int64_t i = 0; i < length; i++) to[i / 8] |= (uint8_t)((unsigned)(from[i] != 0) << (i % 8));
        return;
    }
    pess__npy_double(type, from, length, numbers);
    for (int64_t i = 0; i < length; i++) {
        const float value = (float)numbers[i];
        memcpy(to + i * (int64_t)sizeof value, &value, sizeof value);
    }
}

/* Memory for one observation: as it is in the file, as numbers, as the data hold it. */
typedef struct scratch {
    uint8_t *from, *to;
    double *numbers;
} scratch;

static pess_status open_scratch(const reader *r, const pess__npy_type *type, scratch *out, pess_error *error) {
    static const char what[] = "an observation";
    const int64_t length = r->data->shape.length;
    PESS_TRY(pess__allocate(&out->from, length * type->size, 1, what, error));
    PESS_TRY(pess__allocate(&out->to, r->data->bytes, 1, what, error));
    return pess__allocate(&out->numbers, length, sizeof *out->numbers, what, error);
}

/* Numbers [rows] of the observations of an open array. */
static pess_status number_rows(reader *r, int role, pess__npz_array *a, int32_t **out, pess_error *error) {
    const pess__npy_type *type = &a->header.type;
    const bool channels_last = has_channels_last(r, &a->header);
    scratch s = {0};
    char name[512];
    pess_status status = open_scratch(r, type, &s, error);
    if (status == PESS_OK) status = pess__allocate(out, r->rows, sizeof **out, "the rows of a dataset", error);
    for (int64_t i = 0; i < r->rows && status == PESS_OK; i++) {
        status = pess__npz_array_read(a, s.from, r->data->shape.length * type->size, error);
        if (status != PESS_OK) break;
        convert(type, &r->data->shape, channels_last, s.from, s.numbers, s.to);
        (void)snprintf(name, sizeof name, "%s: array '%s', row %lld", r->file, names[role][0], (long long)i);
        status = pess__observations_check(r->data, name, s.to, error);
        if (status == PESS_OK) status = pess__observations_number(r->data, s.to, &(*out)[i], error);
    }
    free(s.from);
    free(s.to);
    free(s.numbers);
    return status;
}

static pess_status read_observations(reader *r, pess__npz_array *a, const char *game, pess_error *error) {
    pess_observation_shape shape;
    PESS_TRY(shape_of(r, OBSERVATIONS, &a->header, &shape, error));
    pess_error why;
    const pess_status status = pess_observations_create(game, "", &shape, r->actions, &r->data, &why);
    if (status != PESS_OK) return pess__fail(error, status, "%s: %s", r->file, why.message);
    return number_rows(r, OBSERVATIONS, a, &r->numbers, error);
}

static pess_status read_nexts(reader *r, pess_error *error) {
    pess__npz_array a;
    pess_observation_shape shape;
    if (r->entries[NEXT] == NULL) return PESS_OK;
    pess_status status = pess__npz_array_open(&r->zip, r->entries[NEXT], names[NEXT][0], &a, error);
    if (status == PESS_OK) status = shape_of(r, NEXT, &a.header, &shape, error);
    const pess_observation_shape *own = &r->data->shape;
    if (status == PESS_OK && (a.header.shape[0] != r->rows || shape.kind != own->kind || shape.length != own->length))
        status = pess__fail(error, PESS_INPUT,
                            "%s: array '%s': found %lld rows of %lld %s, expected %lld of %lld %s as in 'observations'",
                            r->file, names[NEXT][0], (long long)a.header.shape[0], (long long)shape.length,
                            pess_observation_kind_name(shape.kind), (long long)r->rows, (long long)own->length,
                            pess_observation_kind_name(own->kind));
    if (status == PESS_OK && (shape.rows != own->rows || shape.cols != own->cols))
        status = bad_array(r, NEXT, "found another shape, expected that of 'observations'", error);
    if (status == PESS_OK) status = number_rows(r, NEXT, &a, &r->nexts, error);
    pess__npz_array_close(&a);
    return status;
}

static bool says(const reader *r, int role, int64_t i) { return r->columns[role] != NULL && r->columns[role][i] > 0; }

/* How the episode of row i goes on after it; nothing of its own ends it where logging stopped. */
static pess_end end_of(const reader *r, int64_t i) {
    if (says(r, TERMINALS, i)) return PESS_END_TERMINAL;
    return says(r, TIMEOUTS, i) && !says(r, STOPPED, i) ? PESS_END_CUTOFF : PESS_END_NONE;
}

static pess_status add_transitions(reader *r, int64_t *left_out, pess_error *error) {
    pess_observations *data = r->data;
    PESS_TRY(pess__observations_reserve(data, r->rows, error));
    for (int64_t i = 0; i < r->rows; i++) {
        const pess_end end = end_of(r, i);
        const bool last = i + 1 == r->rows || says(r, STOPPED, i), known = r->nexts != NULL || end == PESS_END_TERMINAL;
        if (!known && (end == PESS_END_CUTOFF || last)) { /* nobody knows what came next */
            ++*left_out;
            if (data->transitions > 0 && data->end[data->transitions - 1] == PESS_END_NONE) {
                if (end == PESS_END_CUTOFF)
                    data->end[data->transitions - 1] = PESS_END_CUTOFF;
                else
                    PESS_TRY(pess_observations_stop(data, error));
            }
            continue;
        }
        const int32_t next = r->nexts != NULL ? r->nexts[i] : r->numbers[end == PESS_END_TERMINAL ? i : i + 1];
        const int64_t at = data->transitions;
        const int32_t action = r->width > 0 ? 0 : (int32_t)r->columns[ACTIONS][i];
        PESS_TRY(pess__observations_set(data, at, r->numbers[i], action, r->columns[REWARDS][i], next, end, error));
        if (r->width > 0) PESS_TRY(pess__observations_set_vector(data, at, r->vectors + i * r->width, r->width, error));
        if (r->columns[PROBABILITIES] != NULL)
            PESS_TRY(pess__observations_set_probability(data, at, r->columns[PROBABILITIES][i], error));
        data->transitions++;
        if (last) PESS_TRY(pess_observations_stop(data, error));
    }
    if (data->transitions == 0)
        return pess__fail(error, PESS_INPUT, "%s: no transition is left: of %lld rows none has a next observation",
                          r->file, (long long)r->rows);
    return PESS_OK;
}

/* ---- what this program wrote beside D4RL's arrays */

static pess_status read_game(reader *r, pess_error *error) {
    const pess__zip_entry *entry = pess__npz_find(&r->zip, "game");
    uint8_t element[4 * sizeof r->game];
    pess__npz_array a;
    if (entry == NULL) return PESS_OK;
    pess_status status = pess__npz_array_open(&r->zip, entry, "game", &a, error);
    const pess__npy_type *type = &a.header.type;
    if (status == PESS_OK && a.count == 1 && type->kind == 'S' && type->size < (int64_t)sizeof r->game) {
        status = pess__npz_array_read(&a, element, type->size, error);
        const int64_t length = status == PESS_OK ? pess__npy_text(type, element, r->game) : 0;
        r->game[length > 0 ? length : 0] = '\0';
    }
    pess__npz_array_close(&a);
    return status;
}

static pess_status read_action_count(reader *r, pess_error *error) {
    const pess__zip_entry *entry = pess__npz_find(&r->zip, "action_count");
    pess__npz_array a;
    double *number = NULL;
    if (entry == NULL) return PESS_OK;
    pess_status status = pess__npz_array_open(&r->zip, entry, "action_count", &a, error);
    if (status == PESS_OK) status = pess__npz_array_doubles(&a, "action_count", &number, error);
    if (status == PESS_OK && a.count == 1 && number[0] >= 1 && number[0] <= PESS__DATA_MAX_ACTIONS)
        r->actions = (int64_t)number[0];
    free(number);
    pess__npz_array_close(&a);
    return status;
}

static void describe(const reader *r, int64_t left_out) {
    (void)snprintf(r->data->notes, sizeof r->data->notes, "format=npz\nrows=%lld\n", (long long)r->rows);
    const size_t used = strlen(r->data->notes);
    if (left_out > 0)
        (void)snprintf(r->data->notes + used, sizeof r->data->notes - used, "left_out_rows=%lld\n",
                       (long long)left_out);
}

static pess_status read_all(reader *r, const pess_observations_options *o, pess_error *error) {
    pess__npz_array a;
    int64_t left_out = 0;
    PESS_TRY(find_arrays(r, error));
    PESS_TRY(read_game(r, error));
    PESS_TRY(read_action_count(r, error));
    pess_status status = pess__npz_array_open(&r->zip, r->entries[OBSERVATIONS], names[OBSERVATIONS][0], &a, error);
    r->rows = a.header.shape[0];
    if (status == PESS_OK && (a.header.dimensions < 1 || r->rows < 1))
        status = bad_array(r, OBSERVATIONS, "found no rows, expected an observation for each step", error);
    if (status == PESS_OK && r->rows > PESS__DATA_MAX)
        status = bad_array(r, OBSERVATIONS, "found more than 2^31 - 1 rows, expected fewer", error);
    if (status == PESS_OK) status = read_columns(r, o, error);
    if (status == PESS_OK) status = read_observations(r, &a, o->game != NULL ? o->game : r->game, error);
    pess__npz_array_close(&a);
    if (status == PESS_OK) status = read_nexts(r, error);
    if (status == PESS_OK && r->width == 0) status = pess__observations_npz_actions(&r->zip, r->file, r->data, error);
    if (status == PESS_OK) status = add_transitions(r, &left_out, error);
    if (status == PESS_OK) describe(r, left_out);
    return status;
}

pess_status pess__observations_read_npz(pess__infile *file, const pess_observations_options *options,
                                        pess_observations **out, pess_error *error) {
    pess_observations_options settled;
    reader r = {.file = pess__infile_name(file)};
    PESS_TRY(pess__settle(&settings, options, &settled, error));
    pess_status status = pess__zip_open(file, &r.zip, error);
    if (status == PESS_OK) status = read_all(&r, &settled, error);
    pess__zip_free(&r.zip);
    for (int role = 0; role < ROLES; role++) free(r.columns[role]);
    free(r.numbers);
    free(r.vectors);
    free(r.nexts);
    if (status == PESS_OK)
        *out = r.data;
    else
        pess_observations_destroy(r.data);
    return status;
}

static bool has_observations(pess__infile *file) {
    pess__zip zip = {0};
    const bool found =
        pess__zip_open(file, &zip, NULL) == PESS_OK && pess__npz_find(&zip, names[OBSERVATIONS][0]) != NULL;
    pess__zip_free(&zip);
    return found;
}

bool pess_observations_file(const char *path) {
    pess__infile *file = NULL;
    char head[8] = "";
    size_t got = 0;
    if (pess_file_kind_of(path) != PESS_FILE_OTHER) return pess_file_kind_of(path) == PESS_FILE_OBSERVATIONS;
    if (strcmp(path, "-") == 0 || pess__infile_open(path, &file, NULL) != PESS_OK) return false;
    const bool read = !pess__infile_is_pipe(file) && pess__infile_head(file, head, sizeof head, &got, NULL) == PESS_OK;
    const bool npz = read && memcmp(head, "PK\3\4", 4) == 0 && has_observations(file);
    const bool hdf5 = read && memcmp(head, PESS__HDF5_MAGIC, 8) == 0 && pess__hdf5_has_observations(file);
    pess__infile_close(file);
    return npz || hdf5;
}
