/* What actions are beside their numbers, in files: kept as they are, and refused where they cannot be. */
#include "scratch.h"

#include "data/action_space.h"

#include <math.h>

static const char magic[] = "TESTACT\n", kind[] = "a test";
static pess_error error;

/* What `write` puts into a file, read as a space of actions. */
static pess_status read_again(void (*write)(pess__sink *sink), uint32_t parts, int64_t actions,
                              pess__action_space *out) {
    pess__sink sink;
    pess__cursor cursor;
    const char *path = scratch_path(0, ".bin");
    assert_ok(pess__sink_open(&sink, path, magic, &error), &error);
    write(&sink);
    assert_ok(pess__sink_commit(&sink, &error), &error);
    assert_ok(pess__cursor_open(&cursor, path, magic, kind, 1 << 20, &error), &error);
    *out = (pess__action_space){0};
    const pess_status status = pess__action_space_read(&cursor, parts, actions, out, &error);
    pess__cursor_close(&cursor);
    scratch_remove(path);
    return status;
}

static void refused(void (*write)(pess__sink *sink), uint32_t parts, int64_t actions, const char *sentence) {
    pess__action_space space;
    assert_failure(read_again(write, parts, actions, &space), PESS_INPUT, &error, sentence, NULL);
    pess__action_space_free(&space);
}

/* ---- whole ones */

static float numbers[] = {1, -2, 0.5F, 4, 0, 1e30F};
static pess__action_space written;

static void write_space(pess__sink *sink) { pess__action_space_write(&written, 3, sink); }

static pess_names *three_names(void) {
    static const char *const words[] = {"left", "straight on", "\xC3\xBC"};
    pess_names *names = NULL;
    assert_ok(pess_names_create(words, 3, &names, &error), &error);
    return names;
}

static void assert_equal(const pess__action_space *a, const pess__action_space *b) {
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->values == NULL, b->values == NULL);
    assert_int_equal(a->names == NULL, b->names == NULL);
    if (a->values != NULL) assert_memory_equal(a->values, b->values, sizeof numbers);
    for (int64_t i = 0; a->names != NULL && i < 3; i++)
        assert_string_equal(pess_names_get(a->names, i), pess_names_get(b->names, i));
}

static void spaces_come_back_as_they_were(void **state) {
    (void)state;
    pess_names *names = three_names();
    const pess__action_space spaces[] = {{0}, {2, numbers, NULL}, {0, NULL, names}, {2, numbers, names}};
    static const uint32_t parts[] = {0, PESS__ACTION_VECTORS, PESS__ACTION_NAMES,
                                     PESS__ACTION_VECTORS | PESS__ACTION_NAMES};
    for (int i = 0; i < 4; i++) {
        pess__action_space found, copy = {0};
        written = spaces[i];
        assert_int_equal(pess__action_space_parts(&written), parts[i]);
        assert_ok(read_again(write_space, parts[i], 3, &found), &error);
        assert_equal(&written, &found);
        for (int k = 0; k < 2; k++) { /* into nothing, and over what is there */
            assert_ok(pess__action_space_copy(&found, 3, &copy, &error), &error);
            assert_equal(&written, &copy);
        }
        pess__action_space_free(&copy);
        pess__action_space_free(&found);
    }
    pess_names_destroy(names);
}

/* ---- others */

static void no_width(pess__sink *sink) { pess__sink_u32(sink, 0); }
static void too_wide(pess__sink *sink) {
    pess__sink_u32(sink, UINT32_MAX);
    pess__sink_write(sink, numbers, sizeof numbers);
}
static void infinite(pess__sink *sink) {
    const float values[] = {1, INFINITY};
    pess__sink_u32(sink, 1);
    pess__sink_write(sink, values, sizeof values);
}

static void vectors_that_cannot_be_are_refused(void **state) {
    (void)state;
    refused(no_width, PESS__ACTION_VECTORS, 3, "actions of 0 numbers, for which the file is too short");
    refused(too_wide, PESS__ACTION_VECTORS, 3, "actions of 4294967295 numbers, for which the file is too short");
    refused(too_wide, PESS__ACTION_VECTORS, INT64_C(1) << 20, "for which the file is too short");
    refused(infinite, PESS__ACTION_VECTORS, 2, "the vector of action 1 has inf; finite numbers are expected");
}

static void nothing(pess__sink *sink) { (void)sink; }
static void empty_name(pess__sink *sink) { pess__sink_text(sink, ""); }
static void damaged_name(pess__sink *sink) { pess__sink_text(sink, "a\xFFz"); }
static void same_names(pess__sink *sink) {
    pess__sink_text(sink, "a");
    pess__sink_text(sink, "b");
    pess__sink_text(sink, "a");
}
static void long_name(pess__sink *sink) {
    char name[400] = "";
    memset(name, 'x', sizeof name - 1);
    pess__sink_text(sink, name);
}

static void names_that_cannot_be_are_refused(void **state) {
    (void)state;
    static const char wrong[] = "the name of action 0 is too long, cut off or not UTF-8";
    refused(nothing, PESS__ACTION_NAMES, 1, wrong);
    refused(empty_name, PESS__ACTION_NAMES, 1, wrong);
    refused(damaged_name, PESS__ACTION_NAMES, 1, wrong);
    refused(long_name, PESS__ACTION_NAMES, 1, wrong);
    refused(same_names, PESS__ACTION_NAMES, 3, "actions 0 and 2 have the same name");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spaces_come_back_as_they_were),
                                       cmocka_unit_test(vectors_that_cannot_be_are_refused),
                                       cmocka_unit_test(names_that_cannot_be_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
