/* Small parts by their definitions: what may be shown of a text, names of statuses, images and colours. */
#include "scratch.h"

#include "core/exact.h"
#include "core/rng.h"

#include <math.h>

/* ---- pess_show */

/* The UTF-8 of a code point, by the table of RFC 3629. */
static size_t encode(uint32_t point, char out[5]) {
    const size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length; i-- > 1; point >>= 6) out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)(first[length] | point);
    out[length] = '\0';
    return length;
}

static bool steers(uint32_t p) {
    return p < 0x20 || (p >= 0x7F && p < 0xA0) || p == 0x61C || p == 0x200E || p == 0x200F ||
           (p >= 0x2028 && p <= 0x202E) || (p >= 0x2066 && p <= 0x2069);
}

static void every_character_is_shown_or_spelt_out(void **state) {
    (void)state;
    for (uint32_t p = 0; p < 0x120000; p += p < 0x3000 || (p >= 0xD7F0 && p < 0xE010) ? 1 : 251) {
        char text[5], spelt[16];
        const size_t length = encode(p, text);
        const pess_shown shown = pess_show(text, length);
        if (p > 0x10FFFF || (p >= 0xD800 && p < 0xE000)) { /* no characters */
            assert_int_equal(shown.taken, 1);
            assert_string_equal(shown.text, "\uFFFD");
            continue;
        }
        assert_int_equal(shown.taken, length);
        (void)snprintf(spelt, sizeof spelt, "\\u%04x", (unsigned)p);
        assert_string_equal(shown.text, steers(p) ? spelt : text);
        /* cut short there may be more to come; followed by something else it is damaged */
        if (length == 1) continue;
        assert_int_equal(pess_show(text, length - 1).taken, 0);
        text[length - 1] = 'x';
        assert_int_equal(pess_show(text, length).taken, 1);
        assert_string_equal(pess_show(text, length).text, "\uFFFD");
    }
    assert_int_equal(pess_show("x", 0).taken, 0);
}

static void longer_forms_of_a_character_are_damaged(void **state) {
    (void)state;
    static const char *const forms[] = {
        "\xC0\xAF",         "\xC1\xBF",         "\xE0\x80\xAF",     "\xE0\x9F\xBF", "\xF0\x80\x80\xAF",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",         "\x80"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const pess_shown shown = pess_show(forms[i], strlen(forms[i]));
        assert_int_equal(shown.taken, 1);
        assert_string_equal(shown.text, "\uFFFD");
    }
}

/* ---- names */

static void every_status_has_a_name_and_a_sentence(void **state) {
    (void)state;
    for (int status = 0; status < PESS_STATUS_COUNT; status++) {
        assert_true(strlen(pess_status_name((pess_status)status)) > 1);
        assert_true(strlen(pess_status_text((pess_status)status)) > 1);
        for (int other = 0; other < status; other++)
            assert_string_not_equal(pess_status_name((pess_status)status), pess_status_name((pess_status)other));
    }
    assert_string_equal(pess_status_name(PESS_STATUS_COUNT), "UNKNOWN");
    assert_string_equal(pess_status_name((pess_status)-1), "UNKNOWN");
    assert_string_equal(pess_status_text(PESS_STATUS_COUNT), "unknown status");
}

/* ---- sums */

/* Powers of two from the largest to the smallest, each second one negative, and then all of them taken away again. */
static void sums_of_many_sizes_are_exact(void **state) {
    (void)state;
    double part[PESS__EXACT_PARTS];
    pess__exact sum = {0};
    for (int round = 0; round < 3; round++)
        for (int e = -1070; e < 1020; e += 7) pess__exact_add(&sum, ldexp(e % 2 == 0 ? 1.5 : -1.5, e));
    for (int round = 0; round < 3; round++)
        for (int e = 1019; e >= -1070; e--)
            if ((e + 1070) % 7 == 0) pess__exact_add(&sum, ldexp(e % 2 == 0 ? -1.5 : 1.5, e));
    pess__exact_add(&sum, 0.375);
    assert_int_equal(pess__exact_take(&sum, part), 1);
    assert_true(part[0] == 0.375);
    /* beyond the range of doubles, and not a number */
    for (int i = 0; i < 3; i++) pess__exact_add(&sum, 0x1p1023);
    assert_int_equal(pess__exact_take(&sum, part), 1);
    assert_true(isnan(part[0]));
    pess__exact_add(&sum, INFINITY);
    assert_int_equal(pess__exact_take(&sum, part), 1);
    assert_true(isnan(part[0]));
    pess__exact_add(&sum, 1);
    pess__exact_add(&sum, 0x1p-60);
    assert_int_equal(pess__exact_take(&sum, part), 2);
    assert_true(part[0] == 1 && part[1] == 0x1p-60);
}

/* ---- random numbers */

static void no_numbers_are_below_nothing(void **state) {
    (void)state;
    pess_random random = pess_random_create(3, "test", 0);
    const pess_random before = random;
    assert_int_equal(pess_random_below(&random, 0), 0);
    assert_int_equal(pess_random_below(&random, -5), 0);
    assert_memory_equal(&random, &before, sizeof random); /* nothing was drawn */
    for (int i = 0; i < 1000; i++) assert_in_range(pess_random_below(&random, 3), 0, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_is_shown_or_spelt_out),
        cmocka_unit_test(longer_forms_of_a_character_are_damaged),
        cmocka_unit_test(every_status_has_a_name_and_a_sentence),
        cmocka_unit_test(sums_of_many_sizes_are_exact),
        cmocka_unit_test(no_numbers_are_below_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
