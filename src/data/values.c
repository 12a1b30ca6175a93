/* Values of a log as text: flags, numbers, ids, steps. */
#include "core/memory.h"
#include "core/text.h"
#include "data/reading.h"

#include <math.h>
#include <string.h>
#include <strings.h>

bool pess__is_missing(const char *text, size_t length) {
    static const char *const words[] = {"na", "n/a", "nan", "null"};
    if (length == 4 && memcmp(text, "None", 4) == 0) return true; /* as Python writes it; none may be an action */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (length == strlen(words[i]) && strncasecmp(text, words[i], length) == 0) return true;
    return length == 0;
}

bool pess__flag_of(const char *text, size_t length, bool *flag) {
    static const char *const words[] = {"0", "1", "false", "true", "f", "t", "0.0", "1.0"};
    *flag = length == 1 && *text == '1';
    if (length == 0 || *flag || (length == 1 && *text == '0')) return true;
    for (size_t i = 2; i < sizeof words / sizeof words[0]; i++)
        if (length == strlen(words[i]) && strncasecmp(text, words[i], length) == 0) {
            *flag = i % 2 == 1;
            return true;
        }
    return false;
}

static bool number_with_comma(const char *begin, const char *end, double *out) {
    enum { LONGEST = 64 };
    char point[LONGEST];
    const size_t length = (size_t)(end - begin);
    if (length == 0 || length > LONGEST || memchr(begin, '.', length) != NULL) return false;
    memcpy(point, begin, length);
    char *comma = memchr(point, ',', length);
    if (comma != NULL) *comma = '.';
    return pess__parse_double(point, point + length, out);
}

bool pess__number_of(bool decimal_comma, const char *begin, const char *end, double *out) {
    return (decimal_comma ? number_with_comma(begin, end, out) : pess__parse_double(begin, end, out)) && isfinite(*out);
}

bool pess__whole_of(bool decimal_comma, const char *begin, const char *end, int64_t *out) {
    const char *sign = begin < end ? memchr(begin, decimal_comma ? ',' : '.', (size_t)(end - begin)) : NULL;
    for (const char *c = sign; c != NULL && ++c < end;)
        if (*c != '0') return false;
    return pess__parse_int64(begin, sign != NULL ? sign : end, out);
}

bool pess__step_of(pess_step_unit unit, bool decimal_comma, const char *begin, const char *end, int64_t *out) {
    double number = 0;
    if (unit == PESS_STEP_INTEGERS) return pess__whole_of(decimal_comma, begin, end, out);
    if (unit == PESS_STEP_MICROSECONDS) return pess__parse_time(begin, (size_t)(end - begin), out);
    if (!pess__number_of(decimal_comma, begin, end, &number) || !(fabs(number) < 9e12)) return false;
    *out = (int64_t)llround(number * 1e6);
    return true;
}

size_t pess__id_length(const pess__csv_field *field) {
    const char *end = field->text + field->length;
    const char *point = field->length > 0 ? memchr(field->text, '.', field->length) : NULL;
    const char *digit = field->text + (field->length > 0 && *field->text == '-');
    if (point == NULL || digit == point) return field->length;
    for (; digit < end; digit++)
        if (digit < point ? *digit < '0' || *digit > '9' : digit > point && *digit != '0') return field->length;
    return (size_t)(point - field->text);
}

bool pess__join(const pess__csv_field *fields, const pess_reading *reading, pess__role role, char **text,
                int64_t *capacity, size_t *length) {
    size_t used = 0;
    for (int i = 0; i < reading->parts[role]; i++) {
        const pess__csv_field *field = &fields[reading->column_of[role][i]];
        const size_t size = pess__id_length(field);
        if (pess__grow(text, capacity, (int64_t)(used + size + 1), 1, "names", NULL) != PESS_OK) return false;
        if (i > 0) (*text)[used++] = PESS__JOINT;
        if (size > 0) memcpy(*text + used, field->text, size);
        used += size;
    }
    *length = used;
    return true;
}

/* ---- times: ISO 8601, to the microsecond. A time without a zone is taken as UTC. */

/* So many digits; false: there are others. */
static bool digits(const char **at, const char *end, int count, int64_t *out) {
    *out = 0;
    if (end - *at < count) return false;
    for (int i = 0; i < count; i++, ++*at) {
        if (**at < '0' || **at > '9') return false;
        *out = 10 * *out + (**at - '0');
    }
    return true;
}

static bool follows(const char **at, const char *end, char c) {
    if (*at == end || **at != c) return false;
    ++*at;
    return true;
}

/* Days from 1970-01-01, proleptic Gregorian: years begin in March, so that the leap day is their last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    const int64_t y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool read_date(const char **at, const char *end, int64_t *days) {
    static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year = 0, month = 0, day = 0;
    if (!digits(at, end, 4, &year) || !follows(at, end, '-') || !digits(at, end, 2, &month) || !follows(at, end, '-') ||
        !digits(at, end, 2, &day) || year < 1 || month < 1 || month > 12 || day < 1 || day > lengths[month - 1])
        return false;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    *days = days_of(year, month, day);
    return month != 2 || day <= 28 || leap;
}

/* "08:30", "08:30:15", "08:30:15.25", in microseconds. */
static bool read_clock(const char **at, const char *end, int64_t *micros) {
    int64_t hour = 0, minute = 0, second = 0, unit = 1000000;
    if (!digits(at, end, 2, &hour) || !follows(at, end, ':') || !digits(at, end, 2, &minute)) return false;
    if (follows(at, end, ':') && !digits(at, end, 2, &second)) return false;
    if (hour > 24 || minute > 59 || second > 60) return false;
    *micros = ((hour * 60 + minute) * 60 + second) * 1000000;
    if (!follows(at, end, '.')) return true;
    for (int64_t digit = 0; *at < end && **at >= '0' && **at <= '9' && digits(at, end, 1, &digit);)
        *micros += digit * (unit /= 10);
    return true;
}

/* "Z", "+02:00", "+0200", "+02" or nothing. */
static bool read_zone(const char **at, const char *end, int64_t *micros) {
    int64_t hours = 0, minutes = 0;
    *micros = 0;
    if (*at == end || follows(at, end, 'Z')) return true;
    const bool east = follows(at, end, '+');
    if ((!east && !follows(at, end, '-')) || !digits(at, end, 2, &hours)) return false;
    (void)follows(at, end, ':');
    if (*at < end && !digits(at, end, 2, &minutes)) return false;
    *micros = (hours * 60 + minutes) * 60000000 * (east ? 1 : -1);
    return hours <= 14 && minutes < 60;
}

bool pess__parse_time(const char *text, size_t length, int64_t *micros) {
    const char *at = text, *end = text + length;
    int64_t days = 0, clock = 0, zone = 0;
    if (!read_date(&at, end, &days)) return false;
    if (at < end && (!(follows(&at, end, 'T') || follows(&at, end, ' ')) || !read_clock(&at, end, &clock) ||
                     !read_zone(&at, end, &zone)))
        return false;
    *micros = days * INT64_C(86400000000) + clock - zone;
    return at == end;
}
