/* Settings: one table per options struct makes defaults, checks and values as text. */
#include "scratch.h"

#include "core/settings.h"

#include <math.h>

typedef struct colours {
    size_t size;
    bool bright;
    int shades;
    int64_t count;
    uint64_t seed, other_seed;
    double weight, hue, range[2], pair[2];
    const char *name;
    int kind;
    int later; /* a field that a later version added */
} colours;

#define FIELD(name) PESS__FIELD(colours, name)

static const pess_setting settings[] = {
    {"bright", 0, PESS_SETTING_SWITCH, FIELD(bright), "on"},
    {"shades", 0, PESS_SETTING_INT, FIELD(shades), "3", PESS__FROM_TO(1, 9)},
    {"count", 0, PESS_SETTING_COUNT, FIELD(count), NULL, PESS__AT_LEAST(2)},
    {"seed", 0, PESS_SETTING_SEED, FIELD(seed), "18446744073709551615"},
    {"other-seed", 0, PESS_SETTING_SEED, FIELD(other_seed), NULL, .open = PESS_SETTING_BELOW_MOST},
    {"weight", 'w', PESS_SETTING_NUMBER, FIELD(weight), "0.5", PESS__BETWEEN(0, 1)},
    {"hue", 0, PESS_SETTING_NUMBER, FIELD(hue), NULL, PESS__ABOVE(0)},
    {"range", 0, PESS_SETTING_RANGE, FIELD(range), NULL, PESS__ANY_NUMBER},
    {"pair", 0, PESS_SETTING_PAIR, FIELD(pair), "3,1", PESS__ABOVE(0)},
    {"name", 0, PESS_SETTING_TEXT, FIELD(name), "red"},
    {"kind", 0, PESS_SETTING_CHOICE, FIELD(kind), "light-blue", .choices = "green|light-blue|grey"},
    {"later", 0, PESS_SETTING_INT, FIELD(later), "7", PESS__AT_LEAST(0)},
};

static const pess_setting_table table = PESS__SETTING_TABLE("colours", colours, settings);

static colours defaults(void) {
    colours c;
    pess_setting_defaults(&table, &c);
    return c;
}

static void defaults_are_those_of_the_table(void **state) {
    (void)state;
    const colours c = defaults();
    assert_int_equal(c.size, sizeof c);
    assert_true(c.bright);
    assert_int_equal(c.shades, 3);
    assert_int_equal(c.count, 0);
    assert_true(c.seed == UINT64_MAX && c.other_seed == PESS_NO_SEED);
    assert_true(c.weight == 0.5 && isnan(c.hue) && isnan(c.range[0]) && isnan(c.range[1]));
    assert_true(c.pair[0] == 3 && c.pair[1] == 1);
    assert_string_equal(c.name, "red");
    assert_int_equal(c.kind, 1);
    for (size_t i = 0; i < table.count; i++) assert_true(pess_setting_is_default(&table, &c, settings[i].name));
}

static void a_value_reads_back_as_it_was_set(void **state) {
    (void)state;
    const char *const rows[][2] = {{"bright", "off"}, {"shades", "9"},   {"count", "1000000"}, {"seed", "12"},
                                   {"weight", "0.1"}, {"hue", "1e-300"}, {"range", "-1,2"},    {"pair", "0.25,0.125"},
                                   {"name", "a,b"},   {"kind", "grey"},  {"later", "0"},       {"other-seed", "0"}};
    colours c = defaults();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        assert_int_equal(pess_setting_set(&table, &c, rows[i][0], rows[i][1], NULL), PESS_OK);
        pess_setting_get(&table, &c, rows[i][0], text, sizeof text);
        assert_string_equal(text, rows[i][1]);
        assert_false(pess_setting_is_default(&table, &c, rows[i][0]));
    }
    assert_int_equal(pess_setting_set(&table, &c, "count", "1e6", NULL), PESS_OK);
    assert_int_equal(c.count, 1000000);
    assert_int_equal(pess_setting_check(&table, &c, NULL), PESS_OK);
}

static void what_does_not_fit_is_refused_and_says_what_would(void **state) {
    (void)state;
    const char *const rows[][3] = {
        {"bright", "yes", "bright: found 'yes', expected on or off"},
        {"shades", "10", "shades: found '10', expected a whole number from 1 to 9"},
        {"shades", "2.5", "shades: found '2.5', expected a whole number from 1 to 9"},
        {"count", "1", "count: found '1', expected a whole number, 2 or more"},
        {"count", "1e300", "count: found '1e300', expected a whole number, 2 or more"},
        {"seed", "-1", "seed: found '-1', expected a whole number from 0 to 2^64-1"},
        {"seed", "18446744073709551616",
         "seed: found '18446744073709551616', expected a whole number from 0 to 2^64-1"},
        {"other-seed", "18446744073709551615",
         "other-seed: found '18446744073709551615', expected a whole number from 0 to 2^64-2"},
        {"weight", "1", "weight: found '1', expected a number above 0 and below 1"},
        {"weight", "0,5", "weight: found '0,5', expected a number above 0 and below 1"},
        {"weight", "nan", "weight: found 'nan', expected a number above 0 and below 1"},
        {"hue", "0", "hue: found '0', expected a number above 0"},
        {"range", "2,1", "range: found '2,1', expected two numbers, LO,HI, with LO not above HI"},
        {"range", "2", "range: found '2', expected two numbers, LO,HI, with LO not above HI"},
        {"pair", "0,1", "pair: found '0,1', expected two numbers, A,B, each above 0"},
        {"kind", "blue", "kind: found 'blue', expected one of green|light-blue|grey"},
        {"tint", "1", "tint: there is no such setting"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        colours c = defaults();
        pess_error error;
        assert_int_equal(pess_setting_set(&table, &c, rows[i][0], rows[i][1], &error), PESS_ARGUMENT);
        assert_string_equal(error.message, rows[i][2]);
    }
}

static void a_struct_filled_by_hand_is_checked(void **state) {
    (void)state;
    colours bad[8];
    for (int i = 0; i < 8; i++) bad[i] = defaults();
    bad[0].weight = NAN; /* it has a default, so it must be set */
    bad[1].hue = INFINITY;
    bad[2].kind = 3;
    bad[3].shades = 0;
    bad[4].range[0] = 1; /* one end alone */
    bad[5].pair[1] = 0;
    bad[6].size = 0;
    bad[7].size = sizeof(colours) + 8;
    for (int i = 0; i < 8; i++) {
        colours settled;
        assert_int_equal(pess_setting_check(&table, &bad[i], NULL), PESS_ARGUMENT);
        assert_int_equal(pess__settle(&table, &bad[i], &settled, NULL), PESS_ARGUMENT);
    }
}

static void no_options_and_options_of_an_earlier_version_are_filled_up(void **state) {
    (void)state;
    colours c, old = defaults();
    assert_int_equal(pess__settle(&table, NULL, &c, NULL), PESS_OK);
    assert_int_equal(c.shades, 3);
    old.shades = 5;
    old.name = NULL;  /* a text that is not set */
    old.later = 1000; /* beyond its end */
    old.size = offsetof(colours, later);
    assert_int_equal(pess__settle(&table, &old, &c, NULL), PESS_OK);
    assert_int_equal(c.shades, 5);
    assert_int_equal(c.later, 7);
    assert_string_equal(c.name, "red");
    assert_int_equal(c.size, sizeof c);
}

static void lists_are_words(void **state) {
    (void)state;
    assert_true(pess_setting_listed("alpha min-count", "min-count"));
    assert_true(pess_setting_listed("alpha min-count", "alpha"));
    assert_false(pess_setting_listed("alpha min-count", "min"));
    assert_false(pess_setting_listed(NULL, "alpha"));
    assert_false(pess_setting_listed("", "alpha"));
}

static void several_values_stand_under_one_key(void **state) {
    (void)state;
    const colours c = defaults();
    char text[64];
    pess__setting_values(&table, &c, "shades bright weight", text, sizeof text);
    assert_string_equal(text, "3,on,0.5");
    pess__setting_key("light-blue-ish", text, sizeof text);
    assert_string_equal(text, "light_blue_ish");
}

static void words_are_names_and_values(void **state) {
    (void)state;
    static const char *const wanted[][2] = {{"shades", "5"}, {"name", "a=b"}, {"bright", ""}, {"count", ""}};
    const char *words = " shades=5,name=a=b bright\ncount=";
    char name[PESS__WORD_SIZE], value[PESS__WORD_SIZE];
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        assert_true(pess__setting_word(&words, name, value));
        assert_string_equal(name, wanted[i][0]);
        assert_string_equal(value, wanted[i][1]);
    }
    assert_false(pess__setting_word(&words, name, value));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(a_value_reads_back_as_it_was_set),
        cmocka_unit_test(what_does_not_fit_is_refused_and_says_what_would),
        cmocka_unit_test(a_struct_filled_by_hand_is_checked),
        cmocka_unit_test(no_options_and_options_of_an_earlier_version_are_filled_up),
        cmocka_unit_test(lists_are_words),
        cmocka_unit_test(several_values_stand_under_one_key),
        cmocka_unit_test(words_are_names_and_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
