/* Event files of TensorBoard: the bytes of records as published, and what a training writes. */
#include "core/protobuf.h"
#include "deep/tensorboard.h"
#include "scratch.h"

#include <stdio.h>

static void the_checksum_is_castagnolis(void **unused) {
    (void)unused;
    assert_int_equal(pess__crc32c("123456789", 9), 0xe3069283U);
    assert_int_equal(pess__crc32c("", 0), 0);
}

/* Two digits per byte, blanks anywhere. */
static size_t unhex(const char *text, uint8_t *out) {
    size_t count = 0;
    for (unsigned byte; *text != '\0'; text += 2) {
        while (*text == ' ') text++;
        assert_int_equal(sscanf(text, "%2x", &byte), 1);
        out[count++] = (uint8_t)byte;
    }
    return count;
}

static void records_have_the_published_bytes(void **unused) {
    (void)unused;
    uint8_t want[512], got[512];
    size_t length =
        unhex("1800000000000000 a37f4b22 09 0000000000000000 1a0d 627261696e2e4576656e743a32 eedf28a3", want);
    assert_int_equal(pess__tensorboard_version(0, got), length);
    assert_memory_equal(got, want, length);
    /* losses/td = 1.5 at step 300: the event between its frame */
    length = unhex("09 0000000000000000 10ac02 2a10 0a0e 0a07 6c6f73732f7464 15 0000c03f", want);
    assert_int_equal(pess__tensorboard_point(0, 300, "loss/td", 1.5F, got), length + 16);
    assert_memory_equal(got + 12, want, length);
    assert_int_equal(got[0], length);
}

static void numbers_of_a_message_are_cut_into_sevens(void **unused) {
    (void)unused;
    pess__proto p = {0}, part = {0};
    uint8_t want[64];
    pess__proto_count(&p, 1, 150);
    pess__proto_count(&p, 16, 1);
    pess__proto_count(&part, 3, UINT64_MAX);
    pess__proto_message(&p, 2, &part);
    const size_t length = unhex("08 9601 8001 01 12 0b 18 ffffffffffffffffff01", want);
    assert_int_equal(p.used, length);
    assert_memory_equal(p.bytes, want, length);
    assert_false(p.failed);
    pess__proto_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checksum_is_castagnolis),
        cmocka_unit_test(records_have_the_published_bytes),
        cmocka_unit_test(numbers_of_a_message_are_cut_into_sevens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
