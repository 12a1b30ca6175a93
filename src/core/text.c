#include "core/text.h"

#include "core/printing.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* strtod reads the decimal point of the thread's locale: that of C, for a moment. */
static bool parse_slow(const char *begin, const char *end, double *out) {
    char buffer[400];
    const size_t length = (size_t)(end - begin);
    if (length == 0 || length >= sizeof buffer) return false;
    memcpy(buffer, begin, length);
    buffer[length] = '\0';
    for (size_t i = 0; i < length; i++) {
        const char c = buffer[i];
        if (c == 'x' || c == 'X' || c == '(' || c == ' ' || c == '\t' || c == '\0') return false;
    }
    char *stop = NULL;
    const locale_t before = pess__plain_locale();
    const double value = strtod(buffer, &stop);
    (void)uselocale(before);
    if (stop != buffer + length) return false;
    *out = value;
    return true;
}

/* m/10^k, correctly rounded, for m > 0 and 0 <= k <= 22: the quotient has at least 54 bits, and the remainder tells on
 * which side of a tie it lies. */
static double divide_by_power_of_ten(uint64_t m, int k) {
    __extension__ typedef unsigned __int128 wide;
    wide power = 1;
    for (int i = 0; i < k; i++) power *= 10;
    const int shift = 64 + __builtin_clzll(m);
    const wide scaled = (wide)m << shift, quotient = scaled / power;
    const uint64_t high = (uint64_t)(quotient >> 64);
    const int bits = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)quotient);
    const int dropped = bits - 53;
    const wide half = (wide)1 << (dropped - 1), rest = quotient & (2 * half - 1);
    uint64_t mantissa = (uint64_t)(quotient >> dropped);
    if (rest > half || (rest == half && (quotient * power != scaled || (mantissa & 1) != 0))) mantissa++;
    return ldexp((double)mantissa, dropped - shift);
}

/* Digits behind those of *mantissa; NULL: it would have more than 19. */
static inline const char *take_digits(const char *c, const char *end, uint64_t *mantissa) {
    uint64_t m = *mantissa;
    for (unsigned digit; c < end && (digit = (unsigned)(*c - '0')) <= 9; c++) {
        if (m >= 1000000000000000000U) return NULL;
        m = 10 * m + digit;
    }
    *mantissa = m;
    return c;
}

/* Digits of a number without exponent: up to 19 that count, at most 22 of them behind the point. */
bool pess__parse_double(const char *begin, const char *end, double *out) {
    const bool sign = begin < end && (*begin == '-' || *begin == '+');
    const char *const whole = begin + sign;
    uint64_t mantissa = 0;
    const char *c = take_digits(whole, end, &mantissa);
    int64_t digits = c != NULL ? c - whole : 0, places = 0;
    if (c != NULL && c < end && *c == '.') {
        const char *const fraction = c + 1;
        c = take_digits(fraction, end, &mantissa);
        places = c != NULL ? c - fraction : 0;
        digits += places;
    }
    if (c != end || digits == 0 || places > 22) return parse_slow(begin, end, out);
    /* Clinger's fast path: both numbers are exact doubles, so their quotient is rounded once. */
    const double value = mantissa <= ((uint64_t)1 << 53) ? (double)mantissa / powers_of_ten[places]
                                                         : divide_by_power_of_ten(mantissa, (int)places);
    *out = sign && *begin == '-' ? -value : value;
    return true;
}

bool pess__parse_int64(const char *begin, const char *end, int64_t *out) {
    const char *c = begin;
    bool negative = false;
    if (c < end && (*c == '-' || *c == '+')) negative = *c++ == '-';
    if (c == end) return false;
    uint64_t value = 0;
    for (; c < end; c++) {
        const unsigned digit = (unsigned)(*c - '0');
        if (digit > 9) return false;
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = 10 * value + digit;
    }
    if (value > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
    *out = negative ? (value > INT64_MAX ? INT64_MIN : -(int64_t)value) : (int64_t)value;
    return true;
}

/* Probabilities and integers make up most files; they need no printf. A double in [1e-4,1) is m/2^e exactly. Its
 * decimal of k places is d/10^k with d = round(m·10^k/2^e), and that reads back as the same double where it is off by
 * less than half a unit of m: |d·2^e - m·10^k| < 10^k/2. All of it fits 128 bits. Powers of two, whose lower neighbour
 * is nearer, are exact in this range. */
static size_t format_fraction(double value, char *buffer) {
    __extension__ typedef unsigned __int128 wide;
    int exponent = 0;
    const uint64_t m = (uint64_t)ldexp(frexp(value, &exponent), 53);
    const int e = 53 - exponent;
    int places = 14 + (value < 0.1) + (value < 0.01) + (value < 0.001);
    wide power = 1, digits = 0;
    for (int i = 0; i < places; i++) power *= 10;
    for (int tries = 0; tries < 3; tries++) { /* 15, 16 and 17 significant digits */
        places++;
        power *= 10;
        const wide scaled = (wide)m * power, half = (wide)1 << (e - 1), rest = scaled & (2 * half - 1);
        digits = scaled >> e;
        if (rest > half || (rest == half && (digits & 1) != 0)) digits++;
        const wide off = rest > half ? 2 * half - rest : rest;
        if (2 * off < power || (2 * off == power && (m & 1) == 0)) break;
    }
    for (; digits % 10 == 0; places--) digits /= 10;
    buffer[0] = '0';
    buffer[1] = '.';
    for (int i = places; i > 0; i--, digits /= 10) buffer[1 + i] = (char)('0' + (int)(digits % 10));
    buffer[2 + places] = '\0';
    return 2 + (size_t)places;
}

size_t pess__format_integer(int64_t value, char *buffer) {
    char reversed[24];
    size_t length = 0, at = 0;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do reversed[length++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0) buffer[at++] = '-';
    while (length > 0) buffer[at++] = reversed[--length];
    buffer[at] = '\0';
    return at;
}

/* At most six places: of decimals with 15 digits or fewer no two are the same double, so this one is the shortest. */
static bool format_millionths(double value, char *buffer, size_t *length) {
    const double millionths = round(value * 1e6);
    if (millionths / 1e6 != value) return false;
    const int64_t n = (int64_t)millionths;
    int64_t rest = n % 1000000;
    size_t at = pess__format_integer(n / 1000000, buffer);
    if (rest > 0) buffer[at++] = '.';
    for (int64_t unit = 100000; rest > 0; rest %= unit, unit /= 10) buffer[at++] = (char)('0' + rest / unit);
    buffer[at] = '\0';
    *length = at;
    return true;
}

size_t pess__format_double(double value, char *buffer) {
    size_t millionths = 0;
    if (isnan(value)) {
        memcpy(buffer, "nan", 4);
        return 3;
    }
    if (value >= 1e-4 && value < 1e8 && format_millionths(value, buffer, &millionths)) return millionths;
    if (value >= 1e-4 && value < 1) return format_fraction(value, buffer);
    if (fabs(value) < 1e15 && value == (double)(int64_t)value && (value != 0 || !signbit(value)))
        return pess__format_integer((int64_t)value, buffer);
    int length = 0;
    for (int precision = 15; precision <= 17; precision++) {
        length = snprintf(buffer, PESS__NUMBER_SIZE, "%.*g", precision, value);
        double back = 0;
        if (isinf(value) || (pess__parse_double(buffer, buffer + length, &back) && back == value)) break;
    }
    return (size_t)length;
}

const char *pess__note_find(const char *notes, const char *key, size_t key_length, size_t *length) {
    for (const char *line = notes; *line != '\0';) {
        const size_t whole = strcspn(line, "\n");
        if (whole > key_length && strncmp(line, key, key_length) == 0 && line[key_length] == '=') {
            *length = whole - key_length - 1;
            return line + key_length + 1;
        }
        line += whole + (line[whole] == '\n');
    }
    return NULL;
}

bool pess__note(const char *notes, const char *key, char *value, size_t size) {
    size_t length;
    const char *found = pess__note_find(notes, key, strlen(key), &length);
    if (found == NULL || size == 0) return found != NULL;
    if (length > size - 1) length = size - 1;
    memcpy(value, found, length);
    value[length] = '\0';
    return true;
}

bool pess__same_letters(const char *a, const char *b) {
    while (*a != '\0' && pess__upper(*a) == pess__upper(*b)) a++, b++;
    return *a == *b;
}

bool pess__begins_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

bool pess__ends_with(const char *text, const char *suffix) {
    const size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}
