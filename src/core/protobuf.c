#include "core/protobuf.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, EIGHT_BYTES = 1, LENGTH = 2, FOUR_BYTES = 5 }; /* wire types */

static void put(pess__proto *p, const void *bytes, size_t length) {
    if (p->failed || length == 0) return;
    p->failed = pess__grow(&p->bytes, &p->room, (int64_t)(p->used + length), 1, "a message", NULL) != PESS_OK;
    if (p->failed) return;
    memcpy(p->bytes + p->used, bytes, length);
    p->used += length;
}

/* Seven bits per byte, the lowest first; the eighth says that more follow. */
static void put_varint(pess__proto *p, uint64_t value) {
    for (; value >= 0x80; value >>= 7) put(p, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    put(p, &(uint8_t){(uint8_t)value}, 1);
}

static void put_tag(pess__proto *p, uint32_t field, uint32_t type) { put_varint(p, field << 3 | type); }

void pess__proto_count(pess__proto *p, uint32_t field, uint64_t value) {
    put_tag(p, field, VARINT);
    put_varint(p, value);
}

void pess__proto_float(pess__proto *p, uint32_t field, float value) {
    put_tag(p, field, FOUR_BYTES);
    put(p, &value, sizeof value);
}

void pess__proto_double(pess__proto *p, uint32_t field, double value) {
    put_tag(p, field, EIGHT_BYTES);
    put(p, &value, sizeof value);
}

void pess__proto_bytes(pess__proto *p, uint32_t field, const void *bytes, size_t length) {
    put_tag(p, field, LENGTH);
    put_varint(p, length);
    put(p, bytes, length);
}

void pess__proto_text(pess__proto *p, uint32_t field, const char *text) {
    pess__proto_bytes(p, field, text, strlen(text));
}

void pess__proto_message(pess__proto *p, uint32_t field, pess__proto *part) {
    pess__proto_bytes(p, field, part->bytes, part->used);
    p->failed |= part->failed;
    pess__proto_free(part);
}

void pess__proto_join(pess__proto *p, pess__proto *part) {
    put(p, part->bytes, part->used);
    p->failed |= part->failed;
    pess__proto_free(part);
}

void pess__proto_free(pess__proto *p) {
    free(p->bytes);
    *p = (pess__proto){0};
}

pess_status pess__proto_check(const pess__proto *p, const char *what, pess_error *error) {
    return p->failed ? pess__fail(error, PESS_MEMORY, "not enough memory for %s", what) : PESS_OK;
}
