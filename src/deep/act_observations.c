/* A policy of networks applied to rows of observations, from CSV or NumPy arrays: an action and its probability per
 * row, and where to keep present practice. Of floats the policy knows mean and deviation of every feature over its
 * data: a row with a feature many deviations away is nothing that the data were about. That is a rule of thumb, no
 * bound. */
#include "core/infile.h"
#include "core/json_writer.h"
#include "core/memory.h"
#include "core/outfile.h"
#include "core/settings.h"
#include "core/text.h"
#include "data/npz_arrays.h"
#include "data/observations.h"
#include "data/table.h"
#include "deep/bundle.h"
#include "policy/decider.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 256 };

/* Rows as the networks read them, AT_ONCE at a time. */
typedef struct source {
    const char *name;
    pess_observation_shape shape;
    int64_t bytes;
    pess__infile *file; /* of NumPy arrays */
    pess__zip zip;
    pess__npz_array array;
    bool planes; /* pictures of it are [channel][row][col] */
    int64_t left;
    pess__table *table; /* of CSV */
    int64_t *columns;   /* [length] of the table */
    uint8_t *raw;       /* an observation as the array has it */
    double *numbers;    /* [length] */
} source;

/* ---- reading */

static pess_status fail_width(const source *s, const char *what, int64_t found, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: found %lld %s, expected the %lld numbers that the policy sees, in order",
                      s->name, (long long)found, what, (long long)s->shape.length);
}

/* Pictures come with their channels first or last: as the policy's own fit them. */
static pess_status check_picture(source *s, pess_error *error) {
    const pess__npy_header *h = &s->array.header;
    const pess_observation_shape *own = &s->shape;
    const int64_t *found = h->shape + 1;
    if (h->dimensions != 4 || own->channels < 2) return PESS_OK;
    s->planes = found[0] == own->channels && found[1] == own->rows && found[2] == own->cols;
    if (s->planes || (found[0] == own->rows && found[1] == own->cols && found[2] == own->channels)) return PESS_OK;
    return pess__fail(
        error, PESS_INPUT,
        "%s: array 'observations': found pictures of %lld, %lld and %lld, expected %d channels of %d rows "
        "and %d columns",
        s->name, (long long)found[0], (long long)found[1], (long long)found[2], own->channels, own->rows, own->cols);
}

static pess_status open_arrays(source *s, pess_error *error) {
    PESS_TRY(pess__infile_open(s->name, &s->file, error));
    PESS_TRY(pess__zip_open(s->file, &s->zip, error));
    const pess__zip_entry *entry = pess__npz_find(&s->zip, "observations");
    if (entry == NULL) return pess__fail(error, PESS_INPUT, "%s: found no array 'observations'", s->name);
    PESS_TRY(pess__npz_array_open(&s->zip, entry, "observations", &s->array, error));
    const pess__npy_header *h = &s->array.header;
    s->left = h->dimensions > 0 ? h->shape[0] : 0;
    if (h->type.kind == 'S' || h->type.kind == 'U')
        return pess__fail(error, PESS_INPUT, "%s: array 'observations': found text, expected numbers", s->name);
    const int64_t width = s->left > 0 ? s->array.count / s->left : s->shape.length;
    if (width != s->shape.length) return fail_width(s, "numbers in a row of 'observations'", width, error);
    PESS_TRY(check_picture(s, error));
    return pess__allocate(&s->raw, width * h->type.size, 1, "an observation", error);
}

/* A policy that was trained on the columns of a table finds them by their names, wherever they stand. */
static pess_status find_columns(source *s, char *features, pess_error *error) {
    char *place = NULL, *name = strtok_r(features, ",", &place);
    for (int64_t i = 0; i < s->shape.length; i++, name = strtok_r(NULL, ",", &place))
        PESS_TRY(pess__table_require(s->table, name, &s->columns[i], error));
    return PESS_OK;
}

/* Whether the text has as many names as an observation has numbers: a name may have a comma in it. */
static bool names_all(const source *s, const char *features) {
    int64_t names = 1;
    for (const char *c = features; *c != '\0'; c++) names += *c == ',';
    return names == s->shape.length && features[0] != ',' && strstr(features, ",,") == NULL;
}

static pess_status open_source(source *s, const pess_policy *policy, pess_error *error) {
    char features[PESS__BUNDLE_NOTES];
    PESS_TRY(pess__allocate(&s->numbers, s->shape.length, sizeof *s->numbers, "an observation", error));
    PESS_TRY(pess__allocate(&s->columns, s->shape.length, sizeof *s->columns, "an observation", error));
    const size_t length = strlen(s->name);
    if (length > 4 && strcmp(s->name + length - 4, ".npz") == 0) return open_arrays(s, error);
    PESS_TRY(pess__table_open(s->name, &s->table, error));
    if (pess_policy_note(policy, "features", features, sizeof features) && names_all(s, features))
        return find_columns(s, features, error);
    const int64_t columns = pess__table_columns(s->table);
    for (int64_t i = 0; i < s->shape.length; i++) s->columns[i] = i;
    return columns == s->shape.length ? PESS_OK : fail_width(s, "columns", columns, error);
}

static void close_source(source *s) {
    pess__npz_array_close(&s->array);
    pess__zip_free(&s->zip);
    pess__infile_close(s->file);
    pess__table_close(s->table);
    free(s->raw);
    free(s->columns);
    free(s->numbers);
}

/* The numbers of the next row; *row false behind the last. */
static pess_status next_numbers(source *s, bool *row, pess_error *error) {
    const int64_t length = s->shape.length;
    if (s->table != NULL) {
        PESS_TRY(pess__table_next(s->table, row, error));
        for (int64_t i = 0; *row && i < length; i++)
            PESS_TRY(
                pess__table_double(s->table, s->columns[i], -INFINITY, INFINITY, "a number", &s->numbers[i], error));
        return PESS_OK;
    }
    *row = s->left-- > 0;
    if (!*row) return PESS_OK;
    const pess__npy_type *type = &s->array.header.type;
    PESS_TRY(pess__npz_array_read(&s->array, s->raw, length * type->size, error));
    pess__npy_double(type, s->raw, length, s->numbers);
    return PESS_OK;
}

static pess_status store(const source *s, int64_t number, uint8_t *to, pess_error *error) {
    const pess_observation_shape *shape = &s->shape;
    const int64_t length = shape->length;
    const int64_t cells = s->planes ? length / shape->channels : length;
    memset(to, 0, (size_t)s->bytes);
    for (int64_t i = 0; i < length; i++) {
        const double v = s->numbers[i];
        const int64_t at = s->planes ? i % cells * shape->channels + i / cells : i;
        const double most = shape->kind == PESS_OBSERVATION_BITS    ? 1
                            : shape->kind == PESS_OBSERVATION_BYTES ? 255
                                                                    : 3e38;
        if (!(fabs(v) <= most) || (shape->kind != PESS_OBSERVATION_FLOATS && (v < 0 || v > floor(v))))
            return pess__fail(error, PESS_INPUT, "%s, row %lld, number %lld: found %g, expected %s", s->name,
                              (long long)number + 1, (long long)i + 1, v,
                              shape->kind == PESS_OBSERVATION_BITS    ? "0 or 1"
                              : shape->kind == PESS_OBSERVATION_BYTES ? "a whole number from 0 to 255"
                                                                      : "a finite number");
        if (shape->kind == PESS_OBSERVATION_BITS)
            to[at / 8] |= (uint8_t)((unsigned)(v > 0) << (at % 8));
        else if (shape->kind == PESS_OBSERVATION_BYTES)
            to[at] = (uint8_t)v;
        else
            memcpy(to + at * (int64_t)sizeof(float), &(float){(float)v}, sizeof(float));
    }
    return PESS_OK;
}

/* ---- answering */

typedef struct answering {
    const pess_policy *policy;
    pess_policy_info info; /* its */
    const pess__bundle *bundle;
    pess_act_options options;
    source rows;
    uint8_t *observations; /* [AT_ONCE] */
    double *probabilities; /* [AT_ONCE*actions] */
    int64_t number;        /* of the first of them */
    pess__outfile *out;
} answering;

/* Deviations from the mean of the feature that is farthest out; NAN where nothing is standardised. */
static double deviations(const pess__net *net, const uint8_t *observation) {
    double most = NAN;
    for (int64_t i = 0; net->shift != NULL && i < net->inputs; i++) {
        float v;
        memcpy(&v, observation + i * (int64_t)sizeof v, sizeof v);
        const double far = fabs(((double)v - (double)net->shift[i]) * (double)net->scale[i]);
        if (!(far <= most)) most = far;
    }
    return most;
}

/* A policy that goes by how often its data were in a state knows nothing where they never were. */
static bool never_counted(const pess__bundle *b, const uint8_t *observation) {
    const pess__learned_policy *l = &b->learned;
    return l->learner->counts && l->data != NULL && pess__observations_find(l->data, observation) < 0;
}

static void put_number(pess__outfile *out, double value) {
    if (isfinite(value)) pess__outfile_double(out, value);
}

/* An action by its name, where actions have names. */
static void put_action(const answering *a, int64_t action) {
    const char *name = pess_names_get(a->info.action_names, action);
    if (name != NULL)
        pess__outfile_field(a->out, name);
    else
        pess__outfile_print(a->out, "%lld", (long long)action);
}

/* The numbers of the vector that an action stands for; none where it stands for itself. */
static const float *vector_of(const answering *a, int64_t action) {
    return a->info.action_values + action * a->info.action_width;
}

static void put_header(const answering *a) {
    pess__outfile_print(a->out, "row,action");
    for (int64_t i = 0; i < a->info.action_width; i++) pess__outfile_print(a->out, ",action_%lld", (long long)i);
    pess__outfile_print(a->out, ",probability,outside,advice,reason");
    for (int64_t i = 0; a->options.probabilities && i < a->policy->actions; i++) {
        pess__outfile_print(a->out, ",");
        put_action(a, i);
    }
    pess__outfile_print(a->out, "\n");
}

static void answer_csv(const answering *a, int64_t number, int64_t action, const double *p, double far,
                       pess_advice advice) {
    pess__outfile_print(a->out, "%lld,", (long long)number + 1);
    put_action(a, action);
    for (int64_t i = 0; i < a->info.action_width; i++)
        pess__outfile_print(a->out, ",%.9g", (double)vector_of(a, action)[i]);
    pess__outfile_print(a->out, ",");
    put_number(a->out, p[action]);
    pess__outfile_print(a->out, ",");
    put_number(a->out, far);
    pess__outfile_print(a->out, ",%s,%s", pess__advice_words(advice), pess__advice_reason(advice));
    for (int64_t i = 0; a->options.probabilities && i < a->policy->actions; i++) {
        pess__outfile_print(a->out, ",");
        put_number(a->out, p[i]);
    }
    pess__outfile_print(a->out, "\n");
}

static void answer_json(const answering *a, int64_t number, int64_t action, const double *p, double far,
                        pess_advice advice) {
    const char *name = pess_names_get(a->info.action_names, action);
    pess_json_writer json = pess__json_begin(a->out, PESS_JSON_PACKED);
    pess_json_open_object(&json, NULL);
    pess_json_put_count(&json, "row", number + 1);
    if (name != NULL)
        pess_json_put_text(&json, "action", name);
    else
        pess_json_put_count(&json, "action", action);
    if (a->info.action_width > 0) {
        pess_json_open_array(&json, "vector");
        for (int64_t i = 0; i < a->info.action_width; i++)
            pess_json_put_number(&json, NULL, (double)vector_of(a, action)[i]);
        pess_json_close(&json);
    }
    pess_json_put_number(&json, "probability", p[action]);
    pess_json_put_number(&json, "outside", far);
    pess_json_put_text(&json, "advice", pess__advice_words(advice));
    pess_json_put_text(&json, "reason", pess__advice_reason(advice));
    if (a->options.probabilities) {
        pess_json_open_array(&json, "probabilities");
        for (int64_t i = 0; i < a->policy->actions; i++) pess_json_put_number(&json, NULL, p[i]);
        pess_json_close(&json);
    }
    pess_json_close(&json);
    pess_json_end(&json);
}

static void answer_row(const answering *a, int64_t i) {
    const int64_t number = a->number + i;
    const double *p = a->probabilities + i * a->policy->actions;
    const uint8_t *observation = a->observations + i * a->rows.bytes;
    const double far = deviations(a->bundle->learned.values[0], observation);
    pess__rng rng = pess__rng_stream(a->options.seed, "act", (uint64_t)number);
    const int64_t action = a->options.choice == PESS_ACT_DRAW
                               ? pess__policy_draw(p, a->policy->actions, pess__rng_uniform(&rng))
                               : pess__policy_most_probable(p, a->policy->actions);
    const pess_advice advice = far > a->options.outside_limit          ? PESS_ADVICE_OUTSIDE
                               : never_counted(a->bundle, observation) ? PESS_ADVICE_FEW_COUNTS
                                                                       : PESS_ADVICE_POLICY;
    (a->options.json ? answer_json : answer_csv)(a, number, action, p, far, advice);
}

static pess_status answer_all(answering *a, pess_error *error) {
    const pess_progress *progress = &a->options.progress;
    bool row = true;
    if (!a->options.json) put_header(a);
    while (row) {
        int64_t count = 0;
        while (count < AT_ONCE) {
            PESS_TRY(next_numbers(&a->rows, &row, error));
            if (!row) break;
            PESS_TRY(store(&a->rows, a->number + count, a->observations + count * a->rows.bytes, error));
            count++;
        }
        PESS_TRY(pess_policy_observation_probabilities(a->policy, a->observations, a->rows.bytes, count,
                                                       a->probabilities, error));
        for (int64_t i = 0; i < count; i++) answer_row(a, i);
        a->number += count;
        if (progress->report != NULL && !progress->report(progress->user, "acting", (double)a->number, 0, "rows"))
            return pess__fail(error, PESS_INTERRUPTED, "acting was interrupted after %lld rows", (long long)a->number);
    }
    return PESS_OK;
}

static pess_status open_answering(answering *a, const char *output, pess_error *error) {
    PESS_TRY(pess__allocate(&a->observations, AT_ONCE * a->rows.bytes, 1, "rows", error));
    PESS_TRY(pess__allocate(&a->probabilities, AT_ONCE * a->policy->actions, sizeof *a->probabilities, "rows", error));
    PESS_TRY(open_source(&a->rows, a->policy, error));
    return pess__outfile_open(output, &a->out, error);
}

pess_status pess_act_observations(const pess_policy *policy, const char *rows, const char *output,
                                  const pess_act_options *options, int64_t *count, pess_error *error) {
    answering a = {.policy = policy, .bundle = (const pess__bundle *)(const void *)policy, .rows = {.name = rows}};
    if (policy->states > 0)
        return pess__fail(error, PESS_ARGUMENT, "the policy is a table over states; it does not see observations");
    PESS_TRY(pess__settle(pess_act_settings(), options, &a.options, error));
    pess_policy_get_info(policy, &a.info);
    if (a.info.partial)
        return pess__fail(
            error, PESS_ARGUMENT,
            "the rule of '%s' needs more than this network; the .pesspolicy file of the same training has "
            "all of it",
            a.info.rule);
    a.rows.shape = a.info.shape;
    a.rows.bytes = a.info.bytes;
    pess_status status = open_answering(&a, output, error);
    if (status == PESS_OK) status = answer_all(&a, error);
    if (status == PESS_OK)
        status = pess__outfile_commit(a.out, error);
    else
        pess__outfile_abandon(a.out);
    if (status == PESS_OK && count != NULL) *count = a.number;
    close_source(&a.rows);
    free(a.observations);
    free(a.probabilities);
    return status;
}
