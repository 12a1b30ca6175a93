/* JSON: what the standard allows is read as it means, everything else is refused at its place; what is written reads
 * back as it was meant. */
#include "scratch.h"

#include "core/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static pess__json *parse(const char *text) {
    pess__json *json = NULL;
    pess_error error = {0};
    if (pess__json_parse(text, strlen(text), "file.json", &json, &error) != PESS_OK) fail_msg("%s", error.message);
    return json;
}

static void test_values_are_read(void **state) {
    (void)state;
    pess__json *json = parse(" {\"a\": [1, -2.5e3, true, false, null],\n\t\"b\": {\"c\": {}}, \"d\": \"x\", \"n\": 0,"
                             "\"m\": -0.0, \"s\": 18446744073709551615} \r\n");
    const pess__json_value *root = pess__json_root(json), *a = pess__json_member(root, "a");
    double number = 0;
    int64_t whole = 7;
    assert_int_equal(root->kind, PESS__JSON_OBJECT);
    assert_int_equal(a->kind, PESS__JSON_ARRAY);
    assert_true(pess__json_value_number(a->first) == 1 && pess__json_value_number(a->first->next) == -2500);
    assert_true(a->first->next->next->kind == PESS__JSON_BOOL && a->first->next->next->truth);
    assert_true(a->first->next->next->next->kind == PESS__JSON_BOOL && !a->first->next->next->next->truth);
    assert_int_equal(a->first->next->next->next->next->kind, PESS__JSON_NULL);
    assert_null(a->first->next->next->next->next->next);
    assert_null(pess__json_member(pess__json_member(root, "b"), "c")->first);
    assert_string_equal(pess__json_text(root, "d"), "x");
    assert_true(pess__json_integer(root, "n", &whole) && whole == 0);
    assert_true(pess__json_number(root, "m", &number) && number == 0 && signbit(number));
    assert_string_equal(pess__json_member(root, "s")->text, "18446744073709551615");
    /* what is not there, or is something else */
    assert_null(pess__json_member(root, "e"));
    assert_null(pess__json_member(a, "a"));
    assert_null(pess__json_text(root, "n"));
    assert_false(pess__json_number(root, "d", &number) || pess__json_integer(root, "s", &whole));
    pess__json_destroy(json);
    json = parse("{\"x\": null}");
    assert_true(pess__json_number(pess__json_root(json), "x", &number) && isnan(number));
    pess__json_destroy(json);
}

static void test_texts_are_resolved(void **state) {
    (void)state;
    static const struct {
        const char *json, *text;
    } cases[] = {{"\"\"", ""},
                 {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
                 {"\"\\u0041\\u00e4\\u03b5\\u20AC\"", "Aäε€"},
                 {"\"\\ud83d\\ude00\"", "😀"},
                 {"\"ε = 1\"", "ε = 1"},
                 {"\"\\u0001\"", "\x01"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pess__json *json = parse(cases[i].json);
        assert_string_equal(pess__json_root(json)->text, cases[i].text);
        pess__json_destroy(json);
    }
}

static void test_anything_else_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *json, *says;
    } cases[] = {{"", "1:1: found the end, expected a value"},
                 {"{", "1:2: found the end"},
                 {"{\"a\" 1}", "1:6: found '1', expected ':'"},
                 {"{\"a\": 1,}", "1:9: found '}', expected a text in quotes"},
                 {"{a: 1}", "1:2: found 'a', expected a text in quotes"},
                 {"[1 2]", "1:4: found '2', expected ',' or ']'"},
                 {"[1,]", "expected a value"},
                 {"[1}", "expected ',' or ']'"},
                 {"1 1", "1:3: found '1', expected the end"},
                 {"01", "1:2: found '1', expected the end"},
                 {"+1", "expected a value"},
                 {".5", "expected a value"},
                 {"1.", "expected a digit"},
                 {"1e", "expected a digit"},
                 {"-", "expected a value"},
                 {"nan", "expected a value"},
                 {"tru", "expected a value"},
                 {"\"a", "1:3: found the end, expected the end of a text"},
                 {"\"a\nb\"", "1:3: found byte 0x0a"},
                 {"\"\\x\"", "expected an escape"},
                 {"\"\\u12g4\"", "expected four hexadecimal digits"},
                 {"\"\\u0000\"", "expected the number of a character"},
                 {"\"\\ud800\"", "second half"},
                 {"\"\\ud800\\u0041\"", "second half"},
                 {"\"\\udc00\"", "expected the number of a character"},
                 {"{\n  \"a\": ?\n}", "2:8: found '?'"},
                 {"'a'", "expected a value"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pess__json *json = NULL;
        pess_error error = {0};
        assert_int_equal(pess__json_parse(cases[i].json, strlen(cases[i].json), "file.json", &json, &error),
                         PESS_INPUT);
        assert_null(json);
        assert_true(strncmp(error.message, "file.json:", 10) == 0);
        if (strstr(error.message, cases[i].says) == NULL) fail_msg("%s: '%s'", cases[i].json, error.message);
    }
    /* a zero byte is no end */
    pess__json *json = NULL;
    assert_int_equal(pess__json_parse("1\0", 2, "file.json", &json, NULL), PESS_INPUT);
    assert_int_equal(pess__json_parse("\"\\\0\"", 4, "file.json", &json, NULL), PESS_INPUT);
}

static void test_depth_is_limited(void **state) {
    (void)state;
    char text[200];
    pess__json *json = NULL;
    for (int depth = 64; depth <= 65; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        const pess_status status = pess__json_parse(text, strlen(text), "deep", &json, NULL);
        assert_int_equal(status, depth == 64 ? PESS_OK : PESS_INPUT);
    }
    pess__json_destroy(json);
}

static void files_are_read_and_refused(void **state) {
    (void)state;
    pess__json *json = NULL;
    pess_error error = {0};
    assert_int_equal(pess__json_read(scratch_path(0, ".none"), &json, &error), PESS_IO);
    const char *path = scratch_write(0, "{\"format\": \"x\"}\n");
    assert_int_equal(pess__json_read(path, &json, &error), PESS_OK);
    assert_string_equal(pess__json_text(pess__json_root(json), "format"), "x");
    pess__json_destroy(json);
    FILE *file = fopen(path, "wb");
    for (int i = 0; i <= 1 << 20; i++) (void)fputc(' ', file);
    (void)fclose(file);
    assert_int_equal(pess__json_read(path, &json, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "larger than a megabyte"));
    scratch_remove(path);
}

/* ---- writing */

typedef struct page {
    char text[4000];
    size_t length;
} page;

static void append(void *to, const char *text, size_t length) {
    page *p = to;
    assert_true(p->length + length < sizeof p->text);
    memcpy(p->text + p->length, text, length);
    p->length += length;
    p->text[p->length] = '\0';
}

static void write_example(page *p, pess_json_style style) {
    *p = (page){.length = 0};
    pess_json_writer json = pess_json_begin((pess_json_sink){append, p}, style);
    pess_json_open_object(&json, NULL);
    pess_json_put_text(&json, "a", "</b>");
    pess_json_open_array(&json, "empty");
    pess_json_close(&json);
    pess_json_open_array(&json, "rows");
    pess_json_open_row(&json, NULL);
    pess_json_put_bool(&json, "x", true);
    pess_json_put_number(&json, "y", 0.1);
    pess_json_close(&json);
    pess_json_put_null(&json, NULL);
    pess_json_close(&json);
    pess_json_close(&json);
    pess_json_end(&json);
}

static void test_the_three_styles_differ_in_blanks_alone(void **state) {
    (void)state;
    page p;
    write_example(&p, PESS_JSON_INDENTED);
    assert_string_equal(p.text,
                        "{\n  \"a\": \"</b>\",\n  \"empty\": [],\n  \"rows\": [\n    {\"x\": true, \"y\": 0.1},\n"
                        "    null\n  ]\n}\n");
    write_example(&p, PESS_JSON_LINE);
    assert_string_equal(p.text, "{\"a\": \"</b>\", \"empty\": [], \"rows\": [{\"x\": true, \"y\": 0.1}, null]}\n");
    write_example(&p, PESS_JSON_PACKED);
    assert_string_equal(p.text, "{\"a\":\"\\u003c/b>\",\"empty\":[],\"rows\":[{\"x\":true,\"y\":0.1},null]}\n");
}

/* Whatever is written is read back the same, bit by bit. */
static void test_values_survive_writing_and_reading(void **state) {
    (void)state;
    const double numbers[] = {0.1, 1.0 / 3, -0.0, 5e-324, 1.7976931348623157e308, 1e15, 123456789012345680.0, 1e21};
    enum { COUNT = sizeof numbers / sizeof numbers[0] };
    char control[40];
    for (int i = 1; i < 32; i++) control[i - 1] = (char)i;
    (void)snprintf(control + 31, 9, "\"\\<é>");
    page p = {.length = 0};
    pess_json_writer json = pess_json_begin((pess_json_sink){append, &p}, PESS_JSON_PACKED);
    pess_json_open_object(&json, NULL);
    pess_json_put_text(&json, "text", control);
    pess_json_put_seed(&json, "seed", UINT64_MAX);
    pess_json_put_count(&json, "least", INT64_MIN);
    pess_json_put_number(&json, "infinite", INFINITY);
    pess_json_open_array(&json, "numbers");
    for (int i = 0; i < COUNT; i++) pess_json_put_number(&json, NULL, numbers[i]);
    pess_json_close(&json);
    pess_json_close(&json);
    pess__json *read = parse(p.text);
    const pess__json_value *root = pess__json_root(read), *value = pess__json_member(root, "numbers")->first;
    for (int i = 0; i < COUNT; i++, value = value->next) {
        const double number = pess__json_value_number(value);
        assert_memory_equal(&number, &numbers[i], sizeof number);
    }
    assert_string_equal(pess__json_text(root, "text"), control);
    assert_string_equal(pess__json_member(root, "seed")->text, "18446744073709551615");
    assert_string_equal(pess__json_member(root, "least")->text, "-9223372036854775808");
    assert_int_equal(pess__json_member(root, "infinite")->kind, PESS__JSON_NULL);
    pess__json_destroy(read);
}

static void test_settings_are_numbers_switches_or_texts(void **state) {
    (void)state;
    page p = {.length = 0};
    pess_env_options o = pess_env_options_defaults();
    o.seed = UINT64_MAX, o.sticky = 0.25;
    pess_json_writer json = pess_json_begin((pess_json_sink){append, &p}, PESS_JSON_LINE);
    pess_json_open_object(&json, NULL);
    for (size_t i = 0; i < pess_env_settings()->count; i++)
        pess_json_put_setting(&json, pess_env_settings(), &o, pess_env_settings()->rows[i].name);
    pess_json_put_setting(&json, pess_env_settings(), &o, "no such setting");
    pess_json_close(&json);
    assert_string_equal(p.text, "{\"game\": null, \"sticky\": 0.25, \"ramping\": true, \"minimal_actions\": false, "
                                "\"step_limit\": 0, \"seed\": 18446744073709551615, \"stream\": 0, "
                                "\"generator\": \"fast\"}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_read),
        cmocka_unit_test(test_texts_are_resolved),
        cmocka_unit_test(test_anything_else_is_refused),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(files_are_read_and_refused),
        cmocka_unit_test(test_the_three_styles_differ_in_blanks_alone),
        cmocka_unit_test(test_values_survive_writing_and_reading),
        cmocka_unit_test(test_settings_are_numbers_switches_or_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
