/* Arrow streams of other producers: decimals of every width, and producers that break their contract in one point. */
#include "scratch.h"

#include <math.h>

enum { ROWS = 2, COLUMNS = 4 };

/* A stream of one batch, after an empty one; a test changes what it is about. */
typedef struct producer {
    const char *stream_format, *reward_format, *reward_name;
    const void *rewards;
    int schema_code, batches, released;
    int64_t batch_columns, reward_rows, reward_buffers, batch_offset;
    struct ArrowSchema schema[COLUMNS], *schemas[COLUMNS], texts;
    struct ArrowArray array[COLUMNS], *arrays[COLUMNS], dictionary;
    const void *buffers[COLUMNS][3], *text_buffers[3];
} producer;

static const int32_t ids[ROWS + 1] = {0, 1, 0}; /* one more, for batches that begin later */

static producer usual(const char *format, const void *rewards) {
    return (producer){.stream_format = "+s",
                      .reward_format = format,
                      .reward_name = "reward",
                      .rewards = rewards,
                      .batch_columns = COLUMNS,
                      .reward_rows = ROWS,
                      .reward_buffers = 2};
}

static void release_schema(struct ArrowSchema *schema) {
    ((producer *)schema->private_data)->released++;
    schema->release = NULL;
}
static void release_batch(struct ArrowArray *array) {
    ((producer *)array->private_data)->released++;
    array->release = NULL;
}
static void release_stream(struct ArrowArrayStream *stream) {
    ((producer *)stream->private_data)->released++;
    stream->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    producer *p = stream->private_data;
    const char *const names[COLUMNS] = {"state", "action", "next_state", p->reward_name};
    for (int i = 0; i < COLUMNS; i++) {
        p->schema[i] = (struct ArrowSchema){.format = i == 3 ? p->reward_format : "i", .name = names[i]};
        p->schemas[i] = &p->schema[i];
    }
    if (p->text_buffers[1] != NULL) p->schema[1].dictionary = &p->texts;
    if (p->schema_code != 0) return p->schema_code;
    *out = (struct ArrowSchema){.format = p->stream_format,
                                .n_children = COLUMNS,
                                .children = p->schemas,
                                .release = release_schema,
                                .private_data = p};
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    producer *p = stream->private_data;
    *out = (struct ArrowArray){0};
    if (p->batches++ >= 2) return 0;
    for (int i = 0; i < COLUMNS; i++) {
        p->buffers[i][1] = i == 3 ? p->rewards : ids;
        p->array[i] = (struct ArrowArray){.length = i == 3 ? p->reward_rows : ROWS + p->batch_offset,
                                          .n_buffers = i == 3 ? p->reward_buffers : 2,
                                          .buffers = p->buffers[i]};
        p->arrays[i] = &p->array[i];
    }
    if (p->text_buffers[1] != NULL) p->array[1].dictionary = &p->dictionary;
    *out = (struct ArrowArray){.length = p->batches == 1 ? 0 : ROWS, /* the first one is empty */
                               .offset = p->batches == 1 ? 0 : p->batch_offset,
                               .n_children = p->batch_columns,
                               .children = p->arrays,
                               .release = release_batch,
                               .private_data = p};
    return 0;
}

static pess_status read_from(producer *p, pess_dataset **out, pess_error *error) {
    struct ArrowArrayStream stream = {get_schema, get_next, NULL, release_stream, p};
    const pess_status status = pess_dataset_read_arrow("batches", &stream, NULL, out, error);
    assert_null(stream.release);
    return status;
}

static void refused(producer p, const char *text) {
    pess_dataset *data = NULL;
    pess_error error = {0};
    assert_failure(read_from(&p, &data, &error), PESS_INPUT, &error, "batches", text, NULL);
    assert_null(data);
    assert_int_equal(p.released, 1 + (p.schema_code == 0) + (p.batches < 2 ? p.batches : 2)); /* each of them once */
}

static void decimals_of_every_width_are_numbers(void **state) {
    (void)state;
    static const int32_t narrow[] = {-125, 2000000000};
    static const int64_t word[] = {-125, INT64_C(9000000000000000000)};
    static const int64_t two[] = {-125, -1, 0, 1}, four[] = {-125, -1, -1, -1, 0, 0, 0, -1};
    static const struct {
        const char *format;
        const void *values;
        double expected[ROWS];
    } all[] = {{"d:9,2,32", narrow, {-1.25, 2e7}},
               {"d:18,2,64", word, {-1.25, 9e16}},
               {"d:38,2", two, {-1.25, 0x1p64 / 100}},
               {"d:38,2,128", two, {-1.25, 0x1p64 / 100}},
               {"d:76,2,256", four, {-1.25, -0x1p192 / 100}},
               {"d:38,-2", two, {-12500, 0x1p64 * 100}},
               {"d:38,0", two, {-125, 0x1p64}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        producer p = usual(all[i].format, all[i].values);
        pess_dataset *data = NULL;
        pess_error error = {0};
        pess_columns found;
        assert_ok(read_from(&p, &data, &error), &error);
        pess_dataset_columns(data, &found);
        assert_int_equal(found.rows, ROWS);
        for (int r = 0; r < ROWS; r++) assert_close(found.reward[r] / all[i].expected[r], 1, 1e-15);
        pess_dataset_destroy(data);
        assert_int_equal(p.released, 4);
    }
    static const char *const bad[] = {"d:", "d:9", "d:9,301", "d:9,-301", "d:9,2,33", "d:9,2,0", "+l", "z"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(usual(bad[i], two), "an Arrow type other than number");
}

static void contracts_that_are_broken_are_told(void **state) {
    (void)state;
    static const double rewards[ROWS] = {1, 2};
    producer p = usual("g", rewards);
    p.stream_format = "i";
    refused(p, "found an Arrow stream of 'i', expected record batches");
    p = usual("g", rewards);
    p.schema_code = 5;
    refused(p, "the Arrow stream says: no reason");
    p = usual("g", rewards);
    p.batch_columns = COLUMNS - 1;
    refused(p, "found a batch of 3 columns, expected 4");
    p = usual("g", rewards);
    p.reward_rows = ROWS - 1;
    refused(p, "column 'reward': found 1 rows, expected 2");
    p = usual("g", rewards);
    p.batch_offset = 1;
    refused(p, "column 'reward': found 2 rows, expected 3");
    p = usual("g", rewards);
    p.reward_buffers = 1;
    refused(p, "column 'reward': found no values");
    refused(usual("g", NULL), "column 'reward': found no values");
    p = usual("g", rewards);
    p.reward_name = NULL;
    refused(p, "no column 'reward'");
}

/* Actions as places in a dictionary of texts. */
static producer with_dictionary(const char *texts, const int32_t *begins, int64_t count) {
    static const double rewards[ROWS] = {1, 2};
    producer p = usual("g", rewards);
    p.texts = (struct ArrowSchema){.format = "u", .name = ""};
    p.text_buffers[1] = begins, p.text_buffers[2] = texts;
    p.dictionary = (struct ArrowArray){.length = count, .n_buffers = 3};
    return p;
}

static void places_and_texts_of_dictionaries_are_looked_at(void **state) {
    (void)state;
    static const int32_t begins[] = {0, 1, 2};
    producer p = with_dictionary("ab", begins, 2);
    p.dictionary.buffers = p.text_buffers;
    pess_dataset *data = NULL;
    pess_error error = {0};
    assert_ok(read_from(&p, &data, &error), &error);
    assert_string_equal(pess_names_get(pess_dataset_action_names(data), 1), "b");
    pess_dataset_destroy(data);
    const struct {
        const char *texts;
        int64_t count;
        const char *says;
    } bad[] = {{"ab", 1, "column 'action': found place 1 of a dictionary of 1 texts"}, {"a\xFF", 2, "UTF-8"}};
    for (int i = 0; i < 2; i++) {
        p = with_dictionary(bad[i].texts, begins, bad[i].count);
        p.dictionary.buffers = p.text_buffers;
        error = (pess_error){0};
        assert_failure(read_from(&p, &data, &error), PESS_INPUT, &error, bad[i].says, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_of_every_width_are_numbers),
        cmocka_unit_test(contracts_that_are_broken_are_told),
        cmocka_unit_test(places_and_texts_of_dictionaries_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
