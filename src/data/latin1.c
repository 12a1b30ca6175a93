#include "data/latin1.h"

#include <stdint.h>

/* Windows-1252; places without a character keep their number. */
static const uint16_t from_80[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                     0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                     0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                     0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

size_t pess__latin1_to_utf8(const char *from, size_t length, char *to) {
    char *const begin = to;
    for (size_t i = 0; i < length; i++) {
        const uint8_t byte = (uint8_t)from[i];
        const unsigned c = byte >= 0x80 && byte < 0xA0 ? from_80[byte - 0x80] : byte;
        if (c < 0x80) {
            *to++ = (char)c;
        } else if (c < 0x800) {
            *to++ = (char)(0xC0 | c >> 6);
            *to++ = (char)(0x80 | (c & 0x3F));
        } else {
            *to++ = (char)(0xE0 | c >> 12);
            *to++ = (char)(0x80 | (c >> 6 & 0x3F));
            *to++ = (char)(0x80 | (c & 0x3F));
        }
    }
    return (size_t)(to - begin);
}
