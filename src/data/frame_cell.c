#include "data/frame_cell.h"

#include "core/text.h"
#include "data/csv_row.h"
#include "data/reading.h"

#include <math.h>
#include <string.h>

const char *pess__frame_cell_text(const pess__frame_cell *c) {
    return pess_names_get(c->column->texts, ((const int64_t *)c->column->values)[c->row]);
}

/* Nulls, NaN, and texts that mean nothing. */
bool pess__frame_cell_missing(const pess__frame_cell *c) {
    if (c->column->kind == PESS__FRAME_OTHER) return false;
    if (pess__frame_is_null(c->column, c->row)) return true;
    if (c->column->kind == PESS__FRAME_NUMBER) return isnan(((const double *)c->column->values)[c->row]);
    return c->column->kind == PESS__FRAME_TEXT &&
           pess__is_missing(pess__frame_cell_text(c), strlen(pess__frame_cell_text(c)));
}

pess_status pess__frame_cell_wrong(const pess__frame_cell *c, const char *expected, pess_error *error) {
    char buffer[PESS__FRAME_VALUE_SIZE], shown[PESS__SHOWN_SIZE];
    const char *text = pess__frame_value(c->column, c->row, buffer);
    const bool other = c->column->kind == PESS__FRAME_OTHER;
    return pess__fail(error, PESS_INPUT, "%s: %s %lld, column '%.60s': found %s, expected %s", c->frames->name,
                      c->frames->row, (long long)c->frame->first + (long long)c->row, c->column->name,
                      other && c->column->type != NULL ? c->column->type
                      : other                          ? pess__frame_kind_words(c->column->kind)
                                                       : pess__shown(text, strlen(text), shown),
                      expected);
}

static bool whole_double(double value, int64_t *out) {
    if (!(fabs(value) < 0x1p53) || value != floor(value)) return false;
    *out = (int64_t)value;
    return true;
}

/* A whole number, also where a column of numbers or texts holds one; false: none. */
bool pess__frame_cell_whole(const pess__frame_cell *c, int64_t *out) {
    double value = 0;
    if (pess__frame_is_null(c->column, c->row)) return false;
    switch (c->column->kind) {
        case PESS__FRAME_INTEGER:
        case PESS__FRAME_TIME: *out = ((const int64_t *)c->column->values)[c->row]; return true;
        case PESS__FRAME_TRUTH: *out = ((const uint8_t *)c->column->values)[c->row]; return true;
        case PESS__FRAME_NUMBER: return whole_double(((const double *)c->column->values)[c->row], out);
        case PESS__FRAME_TEXT: {
            const char *text = pess__frame_cell_text(c), *const end = text + strlen(text);
            return pess__parse_int64(text, end, out) ||
                   (pess__parse_double(text, end, &value) && whole_double(value, out));
        }
        default: return false;
    }
}

bool pess__frame_cell_number(const pess__frame_cell *c, double *out) {
    if (pess__frame_is_null(c->column, c->row)) return false;
    if (c->column->kind == PESS__FRAME_NUMBER) {
        *out = ((const double *)c->column->values)[c->row];
        return isfinite(*out);
    }
    if (c->column->kind == PESS__FRAME_TEXT) {
        const char *text = pess__frame_cell_text(c);
        return pess__parse_double(text, text + strlen(text), out) && isfinite(*out);
    }
    int64_t integer = 0;
    if (c->column->kind == PESS__FRAME_TIME || !pess__frame_cell_whole(c, &integer)) return false;
    *out = (double)integer;
    return true;
}

/* A null is no flag, as an empty field of a CSV is none. */
bool pess__frame_cell_flag(const pess__frame_cell *c, bool *out) {
    int64_t integer = 0;
    *out = false;
    if (pess__frame_is_null(c->column, c->row)) return c->column->kind != PESS__FRAME_OTHER;
    if (c->column->kind == PESS__FRAME_TEXT)
        return pess__flag_of(pess__frame_cell_text(c), strlen(pess__frame_cell_text(c)), out);
    if (c->column->kind == PESS__FRAME_TIME || !pess__frame_cell_whole(c, &integer) || integer < 0 || integer > 1)
        return false;
    *out = integer == 1;
    return true;
}
