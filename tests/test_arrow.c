/* Arrow streams: batches made here by hand, of every width, with offsets, nulls, dictionaries and views, are the log
 * that they were made of; and whatever happens everything is released once. */
#include "failing_memory.h"
#include "logs.h"

enum { BATCHES = 3, COLUMNS = 9 };

static int released_streams, released_schemas, released_batches;

/* What a producer keeps: the log, and how columns are to lie. */
typedef struct producer {
    const pess_dataset *data;
    int variant, batch;
    int64_t offset; /* of all columns, as of a slice */
    const char *failure;
    struct ArrowSchema schema[COLUMNS], *schemas[COLUMNS], dictionary;
    struct ArrowArray array[COLUMNS], *arrays[COLUMNS], texts;
    const void *buffers[COLUMNS][3], *batch_buffers[1], *text_buffers[3];
    void *memory[32];
    int used;
} producer;

static void *take(producer *p, int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 16, size);
    assert_non_null(memory);
    p->memory[p->used++] = memory;
    return memory;
}

static void release_schema(struct ArrowSchema *schema) {
    released_schemas++;
    schema->release = NULL;
}

static void release_batch(struct ArrowArray *array) {
    producer *p = array->private_data;
    while (p->used > 0) free(p->memory[--p->used]);
    released_batches++;
    array->release = NULL;
}

static void release_stream(struct ArrowArrayStream *stream) {
    released_streams++;
    stream->release = NULL;
}

static const char *last_error(struct ArrowArrayStream *stream) { return ((producer *)stream->private_data)->failure; }

static const char *const names[COLUMNS] = {"state",    "action",    "reward", "next_state", "episode",
                                           "terminal", "truncated", "step",   "probability"};
/* How columns lie: small, wide and as text. */
static const char *const formats[3][COLUMNS] = {{"l", "C", "g", "l", "s", "b", "b", "tsn:UTC", "f"},
                                                {"S", "i", "f", "I", "l", "b", "c", "tdD", "g"},
                                                {"u", "i", "g", "U", "vu", "b", "b", "tsu:", "g"}};

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    producer *p = stream->private_data;
    for (int i = 0; i < COLUMNS; i++) {
        p->schema[i] = (struct ArrowSchema){.format = formats[p->variant][i], .name = names[i]};
        p->schemas[i] = &p->schema[i];
    }
    p->dictionary = (struct ArrowSchema){.format = "u", .name = ""};
    if (p->variant == 2) p->schema[1].dictionary = &p->dictionary; /* actions: places in a dictionary */
    *out = (struct ArrowSchema){
        .format = "+s", .n_children = COLUMNS, .children = p->schemas, .release = release_schema, .private_data = p};
    return 0;
}

static void put_bit(uint8_t *bits, int64_t i, bool value) {
    if (value) bits[i >> 3] = (uint8_t)(bits[i >> 3] | 1 << (i & 7));
}

/* `rows` whole numbers from `get`, in the format's width, behind the offset. */
static void *put_integers(producer *p, char format, int64_t first, int64_t rows,
                          int64_t (*get)(const pess_dataset *, int64_t), int64_t scale) {
    uint8_t *memory = take(p, p->offset + rows, 8);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t at = p->offset + i, value = get(p->data, first + i) * scale;
        switch (format) {
            case 'b': put_bit(memory, at, value != 0); break;
            case 'c':
            case 'C': memory[at] = (uint8_t)value; break;
            case 's':
            case 'S': ((uint16_t *)(void *)memory)[at] = (uint16_t)value; break;
            case 'i':
            case 'I': ((uint32_t *)(void *)memory)[at] = (uint32_t)value; break;
            default: ((int64_t *)(void *)memory)[at] = value; break;
        }
    }
    return memory;
}

static int64_t state_of(const pess_dataset *d, int64_t i) { return d->state[i]; }
static int64_t action_of(const pess_dataset *d, int64_t i) { return d->action[i]; }
static int64_t next_of(const pess_dataset *d, int64_t i) { return d->next_state[i]; }
static int64_t episode_of(const pess_dataset *d, int64_t i) { return d->episode[i]; }
static int64_t terminal_of(const pess_dataset *d, int64_t i) { return d->end[i] == PESS_END_TERMINAL; }
static int64_t cutoff_of(const pess_dataset *d, int64_t i) { return d->end[i] == PESS_END_CUTOFF; }
static int64_t step_of(const pess_dataset *d, int64_t i) { return d->step[i]; }

static void *put_reals(producer *p, bool narrow, int64_t first, int64_t rows, const double *values) {
    uint8_t *memory = take(p, p->offset + rows, 8);
    for (int64_t i = 0; i < rows; i++)
        if (narrow)
            ((float *)(void *)memory)[p->offset + i] = (float)values[first + i];
        else
            ((double *)(void *)memory)[p->offset + i] = values[first + i];
    return memory;
}

/* Texts one behind the other, and where each begins; or views of them. */
static void put_texts(producer *p, char kind, int64_t rows, const char *(*get)(const pess_dataset *, int64_t),
                      int64_t first, int64_t offset, const void *buffers[3]) {
    char *all = take(p, 64 * (rows + 1), 1);
    char *places = take(p, 16 * (offset + rows + 1), 1);
    int64_t used = 0;
    for (int64_t i = 0; i <= rows; i++) {
        const char *text = i < rows ? get(p->data, first + i) : "";
        const int32_t narrow = (int32_t)used, view[4] = {(int32_t)strlen(text), 0, 0, narrow};
        if (kind == 'u') memcpy(places + 4 * (offset + i), &narrow, 4);
        if (kind == 'U') memcpy(places + 8 * (offset + i), &used, 8);
        if (kind == 'v') memcpy(places + 16 * (offset + i), view, 16);
        if (kind == 'v' && view[0] <= 12) memcpy(places + 16 * (offset + i) + 4, text, (size_t)view[0]);
        memcpy(all + used, text, strlen(text));
        used += (int64_t)strlen(text);
    }
    buffers[1] = places;
    buffers[2] = all;
}

static const char *state_text(const pess_dataset *d, int64_t i) { return pess_names_get(d->state_names, d->state[i]); }
static const char *next_text(const pess_dataset *d, int64_t i) {
    return pess_names_get(d->state_names, d->next_state[i]);
}
static const char *episode_text(const pess_dataset *d, int64_t i) {
    return pess_names_get(d->episode_names, d->episode[i]);
}
static const char *action_text(const pess_dataset *d, int64_t i) {
    return pess_names_get(d->action_names, pess_names_count(d->action_names) - 1 - i); /* in an order of its own */
}
static int64_t action_place(const pess_dataset *d, int64_t i) {
    return pess_names_count(d->action_names) - 1 - d->action[i];
}

/* The flag of rows that end is there, that of others is null every second time. */
static void *put_valid(producer *p, int64_t first, int64_t rows) {
    uint8_t *bits = take(p, p->offset + rows, 1);
    for (int64_t i = 0; i < rows; i++)
        put_bit(bits, p->offset + i, p->data->end[first + i] == PESS_END_TERMINAL || i % 2 == 0);
    return bits;
}

static void put_columns(producer *p, int64_t first, int64_t rows) {
    const char *const *f = formats[p->variant];
    static int64_t (*const get[])(const pess_dataset *, int64_t) = {state_of,   action_of,   NULL,     next_of,
                                                                    episode_of, terminal_of, cutoff_of};
    for (int i = 0; i < 7; i++)
        if (get[i] != NULL && f[i][0] != 'u' && f[i][0] != 'U' && f[i][0] != 'v')
            p->buffers[i][1] = put_integers(p, f[i][0], first, rows, get[i], 1);
    p->buffers[2][1] = put_reals(p, f[2][0] == 'f', first, rows, p->data->reward);
    p->buffers[7][1] = put_integers(p, f[7][1] == 'd' ? 'i' : 'l', first, rows, step_of, f[7][2] == 'n' ? 1000 : 1);
    p->buffers[8][1] = put_reals(p, f[8][0] == 'f', first, rows, p->data->probability);
    p->buffers[5][0] = put_valid(p, first, rows);
    if (p->variant < 2) return;
    put_texts(p, 'u', rows, state_text, first, p->offset, p->buffers[0]);
    put_texts(p, 'U', rows, next_text, first, p->offset, p->buffers[3]);
    put_texts(p, 'v', rows, episode_text, first, p->offset, p->buffers[4]);
    p->buffers[1][1] = put_integers(p, 'i', first, rows, action_place, 1);
    put_texts(p, 'u', pess_names_count(p->data->action_names), action_text, 0, 0, p->text_buffers);
    p->texts = (struct ArrowArray){
        .length = pess_names_count(p->data->action_names), .n_buffers = 3, .buffers = p->text_buffers};
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    producer *p = stream->private_data;
    *out = (struct ArrowArray){0};
    if (p->batch == BATCHES) return 0;
    if (p->failure != NULL && p->batch == 1) return 5;
    const int64_t first = p->data->rows * p->batch / BATCHES, end = p->data->rows * (p->batch + 1) / BATCHES;
    p->batch++;
    memset(p->buffers, 0, sizeof p->buffers);
    put_columns(p, first, end - first);
    for (int i = 0; i < COLUMNS; i++) {
        p->array[i] = (struct ArrowArray){.length = end - first,
                                          .null_count = i == 5 ? -1 : 0,
                                          .offset = p->offset,
                                          .n_buffers = 3,
                                          .buffers = p->buffers[i]};
        p->arrays[i] = &p->array[i];
    }
    if (p->variant == 2) p->array[1].dictionary = &p->texts;
    *out = (struct ArrowArray){.length = end - first,
                               .n_buffers = 1,
                               .n_children = COLUMNS,
                               .buffers = p->batch_buffers,
                               .children = p->arrays,
                               .release = release_batch,
                               .private_data = p};
    return 0;
}

static struct ArrowArrayStream stream_of(producer *p) {
    released_streams = released_schemas = released_batches = 0;
    return (struct ArrowArrayStream){get_schema, get_next, last_error, release_stream, p};
}

static void assert_released(int batches) {
    assert_int_equal(released_streams, 1);
    assert_int_equal(released_schemas, 1);
    assert_int_equal(released_batches, batches);
}

static void a_stream_is_the_same_log_as_its_file(void **state) {
    (void)state;
    for (int variant = 0; variant < 3; variant++)
        for (int64_t offset = 0; offset < 12; offset += 1 + 2 * (offset > 0)) {
            const int kinds =
                LOGS_ENDS | LOGS_EPISODES | LOGS_STEPS | LOGS_PROBABILITY | (variant == 2 ? LOGS_NAMES : 0);
            pess_dataset *d = logs_random(3001, 40, 6, kinds, (uint64_t)(10 * variant + offset)), *e = NULL;
            for (int64_t i = 0; i < d->rows; i++) { /* what a float and a day can hold */
                d->reward[i] = variant == 1 ? (double)(float)d->reward[i] : d->reward[i];
                d->probability[i] = (double)(float)d->probability[i];
            }
            producer p = {.data = d, .variant = variant, .offset = offset};
            struct ArrowArrayStream stream = stream_of(&p);
            pess_error error = {0};
            if (pess_dataset_read_arrow("batches", &stream, NULL, &e, &error) != PESS_OK) fail_msg("%s", error.message);
            assert_released(BATCHES);
            for (int64_t i = 0; variant == 1 && i < e->rows; i++) e->step[i] /= INT64_C(86400000000);
            same_data(d, e);
            pess_counts *a = NULL, *b = NULL;
            pess_columns columns;
            pess_dataset_columns(d, &columns);
            p = (producer){.data = d, .variant = variant, .offset = offset};
            stream = stream_of(&p);
            if (pess_counts_read_arrow("batches", &stream, NULL, &b, &error) != PESS_OK) fail_msg("%s", error.message);
            assert_released(BATCHES);
            if (variant < 2) { /* names found in order of appearance are not declared, those of columns are */
                assert_int_equal(pess_counts_from_columns(&columns, NULL, &a, &error), PESS_OK);
                same_counts(a, b);
            }
            pess_counts_destroy(a);
            pess_counts_destroy(b);
            pess_dataset_destroy(d);
            pess_dataset_destroy(e);
        }
}

static void streams_that_are_no_logs_are_refused(void **state) {
    (void)state;
    pess_dataset *d = logs_random(300, 5, 3, LOGS_ENDS | LOGS_EPISODES | LOGS_STEPS | LOGS_PROBABILITY, 1), *e = NULL;
    pess_error error = {0};
    producer p = {.data = d, .failure = "the cable was cut"};
    struct ArrowArrayStream stream = stream_of(&p);
    assert_int_equal(pess_dataset_read_arrow("batches", &stream, NULL, &e, &error), PESS_INPUT);
    assert_string_equal(error.message, "batches: the Arrow stream says: the cable was cut");
    assert_released(1);
    assert_int_equal(pess_dataset_read_arrow("batches", &stream, NULL, &e, &error), PESS_ARGUMENT); /* released */
    d->probability[250] = 2;
    p = (producer){.data = d};
    stream = stream_of(&p);
    assert_int_equal(pess_dataset_read_arrow("batches", &stream, NULL, &e, &error), PESS_INPUT);
    assert_string_equal(error.message,
                        "batches: row 251, column 'probability': found '2', expected a probability from 0 to 1");
    assert_released(BATCHES);
    const pess_read_options options = {.size = 3};
    p = (producer){.data = d};
    stream = stream_of(&p);
    assert_int_equal(pess_dataset_read_arrow("batches", &stream, &options, &e, &error), PESS_ARGUMENT);
    assert_released(0);
    pess_dataset_destroy(d);
}

/* Where memory runs out, what the producer handed over is released once all the same. */
static int variant_of_all;

static pess_status read_stream(const pess_dataset *d, pess_error *error) {
    pess_dataset *e = NULL;
    producer p = {.data = d, .variant = variant_of_all, .offset = 1};
    struct ArrowArrayStream stream = stream_of(&p);
    const pess_status status = pess_dataset_read_arrow("batches", &stream, NULL, &e, error);
    assert_null(stream.release);
    assert_int_equal(released_streams, 1);
    assert_int_equal(released_schemas, p.schemas[0] != NULL);
    assert_int_equal(released_batches, p.batch);
    assert_int_equal(p.used, 0);
    pess_dataset_destroy(e);
    return status;
}

static void streams_say_that_memory_ran_out(void **state) {
    (void)state;
    for (variant_of_all = 0; variant_of_all < 3; variant_of_all++) {
        const int kinds = LOGS_ENDS | LOGS_EPISODES | LOGS_STEPS | LOGS_PROBABILITY;
        pess_dataset *d = logs_random(30, 4, 3, kinds | (variant_of_all == 2 ? LOGS_NAMES : 0), 5);
        assert_true(fail_in_turn(read_stream, d, 10) > 10);
        pess_dataset_destroy(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_stream_is_the_same_log_as_its_file),
                                       cmocka_unit_test(streams_that_are_no_logs_are_refused),
                                       cmocka_unit_test(streams_say_that_memory_ran_out)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
