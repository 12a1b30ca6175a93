/* The library's own format: layout as documented, damage refused. */
#include "logs.h"

#include "data/columns.h"

#include <zlib.h>

static void the_layout_is_the_documented_one(void **state) {
    (void)state;
    pess_dataset *d = logs_random(1000, 7, 3, LOGS_NAMES | LOGS_EPISODES | LOGS_STEPS | LOGS_ENDS, 1);
    logs_write(d, logs_path("x.pesslog"));
    size_t size = 0;
    uint8_t *bytes = (uint8_t *)logs_bytes(logs_path("x.pesslog"), &size);
    assert_memory_equal(bytes, "\x89PESS\r\n\x1a", 8);
    assert_int_equal(pess__get32(bytes + 8), 1);
    assert_int_equal(pess__get64(bytes + 16), 1000);
    assert_int_equal(pess__get64(bytes + 24), 7);
    assert_int_equal(pess__get64(bytes + 32), 3);
    assert_int_equal(pess__get64(bytes + 48), size);
    const uint32_t sections = pess__get32(bytes + 40);
    assert_int_equal(sections, 10);
    for (uint32_t i = 0; i < sections; i++) {
        const uint8_t *entry = bytes + 64 + 32 * (size_t)i;
        const uint64_t offset = pess__get64(entry + 8), length = pess__get64(entry + 16);
        assert_int_equal(offset % 64, 0);
        assert_true(offset + length <= size);
        assert_int_equal(crc32(0, bytes + offset, (uInt)length), pess__get32(entry + 4));
        if (pess__get32(entry) == 4) assert_memory_equal(bytes + offset, d->reward, 8000);
    }
    const uint32_t crc = pess__get32(bytes + 60);
    memset(bytes + 60, 0, 4);
    assert_int_equal(crc32(0, bytes, 64 + 32 * sections), crc);
    free(bytes);
    pess_dataset_destroy(d);
}

static pess_status read_memory(const void *bytes, size_t size, pess_dataset **out, pess_error *error) {
    const pess_read_options options = {.size = sizeof options, .threads = 1, .format = "pesslog"};
    pess__stream *stream = NULL;
    const pess_status status = pess__stream_open_memory("memory", bytes, size, &options, &stream, error);
    return status == PESS_OK ? pess__dataset_collect(stream, out, error) : status;
}

static void damage_is_refused(void **state) {
    (void)state;
    pess_dataset *d = logs_random(30, 7, 3, LOGS_NAMES | LOGS_EPISODES | LOGS_ENDS, 1), *read = NULL;
    logs_write(d, logs_path("x.pesslog"));
    size_t size = 0;
    char *bytes = logs_bytes(logs_path("x.pesslog"), &size);
    pess_error error;
    for (size_t kept = 0; kept < size; kept++) {
        assert_int_equal(read_memory(bytes, kept, &read, &error), PESS_INPUT);
        assert_null(read);
    }
    int accepted = 0;
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            if (read_memory(bytes, size, &read, &error) == PESS_OK) { /* only the padding between sections */
                same_data(d, read);
                pess_dataset_destroy(read);
                read = NULL;
                accepted += bit == 0;
            }
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
        }
    assert_true(accepted < 64 * 11);
    free(bytes);
    pess_dataset_destroy(d);
}

/* A damaged id with a right checksum is still refused. */
static void wrong_contents_are_refused(void **state) {
    (void)state;
    pess_dataset *d = logs_random(30, 7, 3, LOGS_NAMES, 1);
    d->state[3] = 7;
    logs_write(d, logs_path("x.pesslog"));
    logs_refused(logs_path("x.pesslog"), NULL, PESS_INPUT, "x.pesslog", "has no name");
    d->state[3] = 0;
    d->reward[2] = 0.0 / 0.0;
    logs_write(d, logs_path("x.pesslog"));
    logs_refused(logs_path("x.pesslog"), NULL, PESS_INPUT, "column 'reward', row 2", "found NaN");
    d->reward[2] = 0;
    d->end[1] = 3;
    logs_write(d, logs_path("x.pesslog"));
    logs_refused(logs_path("x.pesslog"), NULL, PESS_INPUT, "column 'end', row 1", "expected 0, 1 or 2");
    pess_dataset_destroy(d);
    static const char text[] = "\x89PESS\r\n\x1a and no more";
    logs_refused(logs_file("x.pesslog", text, strlen(text)), NULL, PESS_INPUT, "x.pesslog", "truncated");
}

static void test_declared_sizes_stay(void **state) {
    (void)state;
    pess_dataset *d = logs_random(30, 7, 3, 0, 1), *read = NULL;
    d->states = 100;
    d->states_declared = true;
    logs_write(d, logs_path("x.pesslog"));
    read = logs_read(logs_path("x.pesslog"), 1);
    assert_true(read->states == 100 && read->states_declared && read->actions == 3 && !read->actions_declared);
    pess_dataset_destroy(read);
    read = NULL;
    pess_read_options options = pess_read_options_defaults();
    options.states = 50;
    assert_int_equal(pess_dataset_read(logs_path("x.pesslog"), &options, &read, NULL), PESS_OK);
    assert_int_equal(read->states, 50);
    pess_dataset_destroy(read);
    options.states = 6;
    logs_refused(logs_path("x.pesslog"), &options, PESS_INPUT, "found 6", "from 0 to 5, as declared");
    pess_dataset_destroy(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_the_documented_one), cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(wrong_contents_are_refused), cmocka_unit_test(test_declared_sizes_stay)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
