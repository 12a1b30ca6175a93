/* Text from files as it may be shown on a terminal (pess/base.h). */
#include "pess.h"

#include <stdio.h>
#include <string.h>

/* How many bytes the character that begins with this byte has; 0: none begins so. */
static size_t length_of(unsigned char first) {
    return first < 0x80                    ? 1
           : first >= 0xC2 && first < 0xE0 ? 2
           : (first & 0xF0) == 0xE0        ? 3
           : first >= 0xF0 && first < 0xF5 ? 4
                                           : 0;
}

/* The code point of `count` bytes; UINT32_MAX where they are not the UTF-8 of one. */
static uint32_t decode(const unsigned char *bytes, size_t count) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t point = count == 1 ? bytes[0] : bytes[0] & (0x7FU >> count);
    for (size_t i = 1; i < count; i++) {
        if ((bytes[i] & 0xC0) != 0x80) return UINT32_MAX;
        point = point << 6 | (bytes[i] & 0x3FU);
    }
    const bool surrogate = point >= 0xD800 && point < 0xE000;
    return point < least[count] || point > 0x10FFFF || surrogate ? UINT32_MAX : point;
}

/* Control characters, those that set or turn the direction of writing, and those that end lines and paragraphs. */
static bool is_control(uint32_t point) {
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x61C || (point >= 0x200E && point <= 0x200F) ||
           (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

pess_shown pess_show(const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;
    pess_shown shown = {.taken = 0};
    if (length == 0) return shown;
    const size_t count = length_of(bytes[0]);
    size_t valid = 1; /* bytes that may belong to the character */
    while (valid < count && valid < length && (bytes[valid] & 0xC0) == 0x80) valid++;
    if (valid < count && valid == length) return shown;
    const uint32_t point = count > 0 && valid == count ? decode(bytes, count) : UINT32_MAX;
    shown.taken = point == UINT32_MAX ? 1 : count;
    if (point == UINT32_MAX)
        memcpy(shown.text, "\xEF\xBF\xBD", 4);
    else if (is_control(point))
        (void)snprintf(shown.text, sizeof shown.text, "\\u%04x", point);
    else
        memcpy(shown.text, text, count);
    return shown;
}
