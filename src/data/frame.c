#include "data/frame.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>

void pess__frames_close(pess__frames *frames) {
    if (frames != NULL) frames->close(frames);
}

const char *pess__frame_kind_words(pess__frame_kind kind) {
    static const char *const words[PESS__FRAME_KINDS] = {"whole numbers", "numbers", "true and false",
                                                         "times",         "text",    "values that are not single"};
    return words[kind];
}

/* Days since 1970-01-01 as year, month, day (proleptic Gregorian). */
static void date_of_days(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468; /* from 0000-03-01 */
    const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const int64_t of_era = days - era * 146097;
    const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted = (5 * of_year + 2) / 153; /* months from March on */
    *day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

static void write_time(int64_t micros, char buffer[PESS__FRAME_VALUE_SIZE]) {
    const int64_t day_length = INT64_C(86400000000);
    int64_t days = micros / day_length, rest = micros % day_length, year = 0;
    if (rest < 0) {
        rest += day_length;
        days--;
    }
    int month = 0, day = 0;
    date_of_days(days, &year, &month, &day);
    const int seconds = (int)(rest / 1000000), fraction = (int)(rest % 1000000);
    const int used = snprintf(buffer, PESS__FRAME_VALUE_SIZE, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)year, month,
                              day, seconds / 3600, seconds / 60 % 60, seconds % 60);
    if (fraction != 0) (void)snprintf(buffer + used, (size_t)(PESS__FRAME_VALUE_SIZE - used), ".%06d", fraction);
}

const char *pess__frame_value(const pess__frame_column *column, int64_t row, char buffer[PESS__FRAME_VALUE_SIZE]) {
    buffer[0] = '\0';
    if (pess__frame_is_null(column, row)) return buffer;
    switch (column->kind) {
        case PESS__FRAME_INTEGER:
            (void)snprintf(buffer, PESS__FRAME_VALUE_SIZE, "%lld", (long long)((const int64_t *)column->values)[row]);
            break;
        case PESS__FRAME_NUMBER: {
            const double value = ((const double *)column->values)[row];
            if (fabs(value) < 1e15 && value == floor(value))
                (void)snprintf(buffer, PESS__FRAME_VALUE_SIZE, "%lld", (long long)value);
            else
                (void)pess__format_double(value, buffer);
            break;
        }
        case PESS__FRAME_TRUTH:
            (void)snprintf(buffer, PESS__FRAME_VALUE_SIZE, "%s",
                           ((const uint8_t *)column->values)[row] != 0 ? "true" : "false");
            break;
        case PESS__FRAME_TIME: write_time(((const int64_t *)column->values)[row], buffer); break;
        case PESS__FRAME_TEXT: return pess_names_get(column->texts, ((const int64_t *)column->values)[row]);
        case PESS__FRAME_OTHER:
        case PESS__FRAME_KINDS: break;
    }
    return buffer;
}
