/* Names: ids in order of appearance, found again, at any number of them. */
#include "logs.h"

static void without_names_there_are_numbers(void **state) {
    (void)state;
    assert_false(pess_names_given(NULL));
    assert_int_equal(pess_names_count(NULL), 0);
    assert_null(pess_names_get(NULL, 0));
    assert_int_equal(pess_names_find(NULL, "x"), -1);
    pess_names_destroy(NULL);
    pess_names *copy = (pess_names *)(uintptr_t)1;
    assert_int_equal(pess__names_clone(NULL, &copy, NULL), PESS_OK);
    assert_null(copy);
}

static void many_names_are_found_again(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    pess_names *names = NULL, *copy = NULL;
    assert_int_equal(pess__names_create(&names, NULL), PESS_OK);
    char text[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++) {
            int64_t id = -1;
            const int length = snprintf(text, sizeof text, "name %d", i * 7);
            assert_int_equal(pess__names_add(names, text, (size_t)length, &id, NULL), PESS_OK);
            assert_int_equal(id, i);
        }
    assert_int_equal(pess_names_count(names), COUNT);
    assert_int_equal(pess__names_clone(names, &copy, NULL), PESS_OK);
    same_names(names, copy);
    assert_string_equal(pess_names_get(copy, 3), "name 21");
    assert_int_equal(pess_names_find(copy, "name 21"), 3);
    assert_int_equal(pess_names_find(copy, "name 2"), -1);
    assert_int_equal(pess__names_find(copy, "name 21 and more", 7), 3);
    assert_int_equal(pess__names_find(copy, "name 210", 7), 3); /* a prefix of another name */
    assert_null(pess_names_get(copy, COUNT));
    assert_null(pess_names_get(copy, -1));
    pess__names_clear(copy);
    assert_int_equal(pess_names_count(copy), 0);
    assert_int_equal(pess_names_find(copy, "name 21"), -1);
    pess_names_destroy(names);
    pess_names_destroy(copy);
}

static void names_are_utf8(void **state) {
    (void)state;
    static const char *const good[] = {"plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"};
    static const char *const bad[] = {
        "\xE9", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xF4\x90\x80\x80", "a\x80"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) assert_true(pess__names_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(pess__names_valid(bad[i], strlen(bad[i])));
    assert_false(pess__names_valid("a\0b", 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_names_there_are_numbers),
                                       cmocka_unit_test(many_names_are_found_again), cmocka_unit_test(names_are_utf8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
