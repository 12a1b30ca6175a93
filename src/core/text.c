#include "core/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* strtod reads the decimal point of the process's locale; put that one in place of '.'. */
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
    const char *point = localeconv()->decimal_point;
    char *dot = strchr(buffer, '.');
    if (dot != NULL && point[0] != '.' && point[0] != '\0') *dot = point[0];
    char *stop = NULL;
    const double value = strtod(buffer, &stop);
    if (stop != buffer + length) return false;
    *out = value;
    return true;
}

bool pess__parse_double(const char *begin, const char *end, double *out) {
    /* Clinger's fast path: up to 19 digits that fit 53 bits, scaled by an exactly representable power of ten. */
    const char *c = begin;
    bool negative = false;
    if (c < end && (*c == '-' || *c == '+')) negative = *c++ == '-';
    uint64_t mantissa = 0;
    int digits = 0, exponent = 0;
    for (; c < end && *c >= '0' && *c <= '9'; c++, digits++) {
        if (digits >= 18) return parse_slow(begin, end, out);
        mantissa = 10 * mantissa + (uint64_t)(*c - '0');
    }
    if (c < end && *c == '.') {
        for (c++; c < end && *c >= '0' && *c <= '9'; c++, digits++, exponent--) {
            if (digits >= 18) return parse_slow(begin, end, out);
            mantissa = 10 * mantissa + (uint64_t)(*c - '0');
        }
    }
    if (digits == 0 || c != end || mantissa > ((uint64_t)1 << 53) || exponent < -22) return parse_slow(begin, end, out);
    const double value = (double)mantissa / powers_of_ten[-exponent];
    *out = negative ? -value : value;
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
    return (size_t)(2 + places);
}

static size_t format_small_integer(int64_t value, char *buffer) {
    char reversed[24];
    size_t length = 0, at = 0;
    uint64_t rest = (uint64_t)(value < 0 ? -value : value);
    do reversed[length++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0) buffer[at++] = '-';
    while (length > 0) buffer[at++] = reversed[--length];
    buffer[at] = '\0';
    return at;
}

size_t pess__format_double(double value, char *buffer) {
    if (isnan(value)) {
        memcpy(buffer, "nan", 4);
        return 3;
    }
    if (value >= 1e-4 && value < 1) return format_fraction(value, buffer);
    if (fabs(value) < 1e15 && value == (double)(int64_t)value && (value != 0 || !signbit(value)))
        return format_small_integer((int64_t)value, buffer);
    int length = 0;
    for (int precision = 15; precision <= 17; precision++) {
        length = snprintf(buffer, PESS__NUMBER_SIZE, "%.*g", precision, value);
        const char *point = localeconv()->decimal_point;
        if (point[0] != '.') {
            char *found = strstr(buffer, point);
            if (found != NULL) *found = '.';
        }
        double back = 0;
        if (isinf(value) || (pess__parse_double(buffer, buffer + length, &back) && back == value)) break;
    }
    return (size_t)length;
}
