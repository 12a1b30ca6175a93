#include "data/npy.h"

#include "data/columns.h"
#include "data/names.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ header */

typedef struct scan {
    const char *at, *end;
} scan;

static void skip_blanks(scan *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t')) s->at++;
}

static bool take(scan *s, char c) {
    skip_blanks(s);
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

static bool take_string(scan *s, const char **text, size_t *length) {
    skip_blanks(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"')) return false;
    const char quote = *s->at++;
    *text = s->at;
    while (s->at < s->end && *s->at != quote && *s->at != '\\') s->at++;
    *length = (size_t)(s->at - *text);
    return s->at < s->end && *s->at++ == quote;
}

static bool take_word(scan *s, const char *word) {
    skip_blanks(s);
    const size_t length = strlen(word);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0) return false;
    s->at += length;
    return true;
}

static bool take_count(scan *s, int64_t *count) {
    skip_blanks(s);
    int64_t value = 0;
    const char *begin = s->at;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (value > (INT64_MAX - 9) / 10) return false;
        value = 10 * value + (*s->at - '0');
    }
    *count = value;
    if (s->at == begin) return false;
    (void)take(s, 'L'); /* written by Python 2 */
    return true;
}

static bool parse_type(const char *text, size_t length, pess__npy_type *type, const char **problem) {
    *problem = "found a type other than number, bool or text, expected one of b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 S U";
    if (length == 2 && memcmp(text, "|O", 2) == 0)
        *problem = "found Python objects, which are never loaded; expected numbers, bools or text";
    if (length < 3 || length > 12 || strchr("<>|=", text[0]) == NULL) return false;
    type->swapped = text[0] == '>';
    type->kind = text[1];
    scan s = {text + 2, text + length};
    if (!take_count(&s, &type->size) || s.at != s.end) return false;
    const int64_t n = type->size;
    switch (type->kind) {
        case 'b': return n == 1;
        case 'i':
        case 'u': return n == 1 || n == 2 || n == 4 || n == 8;
        case 'f': return n == 2 || n == 4 || n == 8;
        case 'S': return n > 0 && n <= 1 << 16;
        case 'U': type->size = 4 * n; return n > 0 && n <= 1 << 16;
        default: break;
    }
    return false;
}

static bool parse_shape(scan *s, pess__npy_header *out) {
    if (!take(s, '(')) return false;
    for (out->dimensions = 0; !take(s, ')'); out->dimensions++)
        if (out->dimensions == PESS__NPY_DIMENSIONS || !take_count(s, &out->shape[out->dimensions]) ||
            (!take(s, ',') && (out->dimensions == 0 || s->at == s->end || *s->at != ')')))
            return false;
    return true;
}

static bool parse_order(scan *s, pess__npy_header *out) {
    out->columns_first = take_word(s, "True");
    return out->columns_first || take_word(s, "False");
}

bool pess__npy_parse_header(const char *text, size_t length, pess__npy_header *out, const char **problem) {
    scan s = {text, text + length};
    bool has_type = false, has_shape = false, has_order = false;
    static const char broken[] = "found a header that is not NumPy's, expected descr, fortran_order and shape";
    *problem = broken;
    if (!take(&s, '{')) return false;
    while (!take(&s, '}')) {
        const char *key = NULL, *value = NULL;
        size_t key_length = 0, value_length = 0;
        if (!take_string(&s, &key, &key_length) || !take(&s, ':')) return false;
        if (key_length == 5 && memcmp(key, "descr", 5) == 0 && !has_type) {
            if (!take_string(&s, &value, &value_length)) {
                *problem = "found a structured type, expected one array per column";
                return false;
            }
            if (!parse_type(value, value_length, &out->type, problem)) return false;
            *problem = broken;
            has_type = true;
        } else if (key_length == 13 && memcmp(key, "fortran_order", 13) == 0 && !has_order) {
            if (!parse_order(&s, out)) return false;
            has_order = true;
        } else if (key_length == 5 && memcmp(key, "shape", 5) == 0 && !has_shape) {
            if (!parse_shape(&s, out)) {
                *problem = "found another shape, expected up to five dimensions";
                return false;
            }
            has_shape = true;
        } else {
            return false;
        }
        (void)take(&s, ',');
    }
    skip_blanks(&s);
    return s.at == s.end && has_type && has_shape && has_order;
}

bool pess__npy_rows(const pess__npy_header *header, int64_t *rows, const char **problem) {
    *rows = header->shape[0];
    if (header->dimensions == 1 || (header->dimensions == 2 && header->shape[1] == 1)) return true;
    *problem = "found another shape, expected (N,) or (N, 1)";
    return false;
}

/* ------------------------------------------------------------------------------------------------ elements */

/* The bytes of an element as an unsigned integer. */
static inline uint64_t bits_of(const pess__npy_type *type, const uint8_t *at) {
    uint64_t bits = 0;
    const int size = (int)type->size;
    for (int i = 0; i < size; i++) bits |= (uint64_t)at[type->swapped ? size - 1 - i : i] << (8 * i);
    return bits;
}

/* IEEE 754 binary16. */
static double half_of(uint64_t bits) {
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (double)(bits & 1023);
    double value = 0;
    if (exponent == 31)
        value = fraction > 0 ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

static double float_of(const pess__npy_type *type, uint64_t bits) {
    if (type->size == 2) return half_of(bits);
    if (type->size == 4) {
        const uint32_t small = (uint32_t)bits;
        float value = 0;
        memcpy(&value, &small, sizeof value);
        return value;
    }
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t signed_of(uint64_t bits, int64_t size) {
    const int unused = 64 - 8 * (int)size;
    const uint64_t sign = (uint64_t)1 << (63 - unused);
    const uint64_t wide = (bits ^ sign) - sign;
    int64_t value = 0;
    memcpy(&value, &wide, sizeof value);
    return value;
}

bool pess__npy_int64(const pess__npy_type *type, const uint8_t *bytes, int64_t count, int64_t *out, int64_t *bad) {
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = bits_of(type, bytes + i * type->size);
        bool fits = true;
        if (type->kind == 'f') {
            const double value = float_of(type, bits);
            fits = value >= -0x1p53 && value <= 0x1p53 && value == floor(value);
            out[i] = fits ? (int64_t)value : 0;
        } else if (type->kind == 'i') {
            out[i] = signed_of(bits, type->size);
        } else {
            fits = bits <= INT64_MAX;
            out[i] = fits ? (int64_t)(type->kind == 'b' ? bits != 0 : bits) : 0;
        }
        if (!fits) {
            *bad = i;
            return false;
        }
    }
    return true;
}

void pess__npy_double(const pess__npy_type *type, const uint8_t *bytes, int64_t count, double *out) {
    for (int64_t i = 0; i < count; i++) {
        const uint64_t bits = bits_of(type, bytes + i * type->size);
        if (type->kind == 'f')
            out[i] = float_of(type, bits);
        else if (type->kind == 'i')
            out[i] = (double)signed_of(bits, type->size);
        else
            out[i] = type->kind == 'b' ? (double)(bits != 0) : (double)bits;
    }
}

static size_t put_utf8(uint32_t c, char *out) {
    if (c < 0x80) return out[0] = (char)c, 1;
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(lead[more] | c >> (6 * more));
    for (int i = 1; i <= more; i++) out[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3F));
    return (size_t)more + 1;
}

int64_t pess__npy_text(const pess__npy_type *type, const uint8_t *element, char *out) {
    size_t length = 0;
    if (type->kind == 'S') {
        length = (size_t)type->size;
        while (length > 0 && element[length - 1] == 0) length--;
        memcpy(out, element, length);
    } else {
        int64_t count = type->size / 4;
        const pess__npy_type unit = {'u', 4, type->swapped};
        while (count > 0 && bits_of(&unit, element + 4 * (count - 1)) == 0) count--;
        for (int64_t i = 0; i < count; i++) {
            const uint32_t c = (uint32_t)bits_of(&unit, element + 4 * i);
            if (c == 0 || c > 0x10FFFF) return -1;
            length += put_utf8(c, out + length);
        }
    }
    return length > 0 && pess__names_valid(out, length) ? (int64_t)length : -1;
}
