/* Arrow's streams of record batches as frames. */
#include "data/arrow.h"

#include "core/memory.h"
#include "core/memory_raw.h"
#include "data/dataset.h"
#include "data/frame_log.h"
#include "data/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A column as its schema describes it. */
typedef struct column {
    const struct ArrowSchema *schema;
    char type; /* of the values, or of the places in a dictionary: 'b', 'c' … 'L', 'f', 'g', 'd', or 0: others */
    char text; /* 'u', 'U' or 'v': how texts lie; 0: none */
    int64_t multiply, divide; /* of times: to microseconds */
    int bytes;                /* of decimals: how many an integer has, */
    double unit;              /* and what it is divided by */
    pess_names *texts;
    int64_t *known; /* [length of the dictionary] its texts as places in `texts` */
    int64_t known_capacity;
    void *values; /* [capacity] what had to be converted; eight bytes each */
    int64_t capacity;
    uint8_t *valid; /* bits that had to be moved */
    int64_t valid_capacity;
} column;

typedef struct arrow_source {
    pess__frames frames;
    char *name;
    struct ArrowArrayStream *stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int64_t rows; /* handed out */
    column *columns;
    pess__frame_column *described;
} arrow_source;

/* ------------------------------------------------------------------------------------------------ the schema */

static char text_kind(const char *format) {
    if (strcmp(format, "u") == 0 || strcmp(format, "U") == 0) return format[0];
    return strcmp(format, "vu") == 0 ? 'v' : 0;
}

/* Dates and timestamps: how many microseconds the unit has, or the other way round. */
static bool time_unit(const char *format, column *c) {
    static const struct {
        const char *begin;
        char type;
        int64_t multiply, divide;
    } units[] = {{"tdD", 'i', INT64_C(86400000000), 1},
                 {"tdm", 'l', 1000, 1},
                 {"tss:", 'l', 1000000, 1},
                 {"tsm:", 'l', 1000, 1},
                 {"tsu:", 'l', 1, 1},
                 {"tsn:", 'l', 1, 1000}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strncmp(format, units[i].begin, strlen(units[i].begin)) == 0) {
            c->type = units[i].type;
            c->multiply = units[i].multiply;
            c->divide = units[i].divide;
            return true;
        }
    return false;
}

/* d:PRECISION,SCALE or d:PRECISION,SCALE,BITS: whole numbers of 128 bits unless said otherwise, over 10^SCALE. */
static bool decimal(const char *format, column *c) {
    int scale = 0, bits = 128;
    if (sscanf(format, "d:%*d,%d,%d", &scale, &bits) < 1 || scale < -300 || scale > 300) return false;
    if (bits != 32 && bits != 64 && bits != 128 && bits != 256) return false;
    c->type = 'd';
    c->bytes = bits / 8;
    c->unit = pow(10, scale);
    return true;
}

static pess__frame_kind kind_of(column *c) {
    const char *format = c->schema->format;
    const bool simple = strlen(format) == 1 && strchr("bcCsSiIlLfg", format[0]) != NULL;
    c->type = simple ? format[0] : 0;
    c->text = text_kind(c->schema->dictionary != NULL ? c->schema->dictionary->format : format);
    if (c->schema->dictionary != NULL) return c->text != 0 && simple ? PESS__FRAME_TEXT : PESS__FRAME_OTHER;
    if (c->text != 0) return PESS__FRAME_TEXT;
    if (time_unit(format, c)) return PESS__FRAME_TIME;
    if (decimal(format, c)) return PESS__FRAME_NUMBER;
    if (!simple) return PESS__FRAME_OTHER;
    return c->type == 'b'                     ? PESS__FRAME_TRUTH
           : c->type == 'f' || c->type == 'g' ? PESS__FRAME_NUMBER
                                              : PESS__FRAME_INTEGER;
}

static pess_status describe(arrow_source *r, pess_error *error) {
    const int64_t count = r->schema.n_children;
    if (strcmp(r->schema.format, "+s") != 0)
        return pess__fail(error, PESS_INPUT, "%s: found an Arrow stream of '%.20s', expected record batches",
                          r->frames.name, r->schema.format);
    PESS_TRY(pess__allocate(&r->columns, count, sizeof *r->columns, "columns", error));
    PESS_TRY(pess__allocate(&r->described, count, sizeof *r->described, "columns", error));
    for (int64_t i = 0; i < count; i++) {
        column *c = &r->columns[i];
        c->schema = r->schema.children[i];
        r->described[i].name = c->schema->name != NULL ? c->schema->name : "";
        r->described[i].kind = kind_of(c);
        r->described[i].type = "an Arrow type other than number, text, boolean or time";
        if (r->described[i].kind == PESS__FRAME_TEXT) PESS_TRY(pess__names_create(&c->texts, error));
        r->described[i].texts = c->texts;
    }
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ values */

static bool bit(const uint8_t *bits, int64_t i) { return (bits[i >> 3] >> (i & 7) & 1) != 0; }

/* The bits of `rows` rows from `first` on, as bits that begin a byte. */
static pess_status take_valid(column *c, const uint8_t *bits, int64_t first, int64_t rows, const uint8_t **out,
                              pess_error *error) {
    *out = bits == NULL ? NULL : bits + first / 8;
    if (bits == NULL || first % 8 == 0) return PESS_OK;
    PESS_TRY(pess__grow(&c->valid, &c->valid_capacity, rows / 8 + 1, 1, "a column", error));
    memset(c->valid, 0, (size_t)rows / 8 + 1);
    for (int64_t i = 0; i < rows; i++)
        if (bit(bits, first + i)) c->valid[i >> 3] = (uint8_t)(c->valid[i >> 3] | 1 << (i & 7));
    *out = c->valid;
    return PESS_OK;
}

/* One whole number of the type; unsigned ones of 64 bits that are larger than signed ones come out negative, which no
 * role takes. */
static int64_t integer_at(char type, const void *values, int64_t i) {
    switch (type) {
        case 'b': return bit(values, i);
        case 'c': return ((const int8_t *)values)[i];
        case 'C': return ((const uint8_t *)values)[i];
        case 's': return ((const int16_t *)values)[i];
        case 'S': return ((const uint16_t *)values)[i];
        case 'i': return ((const int32_t *)values)[i];
        case 'I': return ((const uint32_t *)values)[i];
        default: return ((const int64_t *)values)[i];
    }
}

/* A whole number of 4 to 32 bytes, in two's complement, the lowest byte first. */
static double decimal_at(const column *c, const void *values, int64_t i) {
    const unsigned char *at = (const unsigned char *)values + c->bytes * i;
    int64_t word[4];
    const int words = (c->bytes + 7) / 8;
    double sum = 0;
    bool small = true; /* it fits into the lowest word: nothing is rounded before the division */
    if (c->bytes == 4) return (double)((const int32_t *)values)[i] / c->unit;
    memcpy(word, at, (size_t)c->bytes);
    for (int k = 1; k < words; k++) small = small && word[k] == (word[0] < 0 ? -1 : 0);
    for (int k = words - 1; k >= 0; k--)
        sum = sum * 0x1p64 + (k == words - 1 ? (double)word[k] : (double)(uint64_t)word[k]);
    return (small ? (double)word[0] : sum) / c->unit;
}

/* Text i of an array of texts. */
static const char *text_at(char kind, const struct ArrowArray *array, int64_t i, size_t *length) {
    if (kind == 'v') { /* a view: short texts lie within, others in one of the buffers behind it */
        const char *view = (const char *)array->buffers[1] + 16 * i;
        int32_t part[4];
        memcpy(part, view, sizeof part);
        *length = (size_t)part[0];
        return part[0] <= 12 ? view + 4 : (const char *)array->buffers[2 + part[2]] + part[3];
    }
    const int64_t begin = integer_at(kind == 'u' ? 'i' : 'l', array->buffers[1], i);
    *length = (size_t)(integer_at(kind == 'u' ? 'i' : 'l', array->buffers[1], i + 1) - begin);
    return *length == 0 ? "" : (const char *)array->buffers[2] + begin;
}

static pess_status bad_text(const arrow_source *r, const column *c, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: column '%.60s': found bytes that are not text, expected UTF-8",
                      r->frames.name, c->schema->name);
}

static pess_status number_text(const arrow_source *r, column *c, const struct ArrowArray *texts, int64_t i,
                               int64_t *out, pess_error *error) {
    size_t length = 0;
    const char *text = text_at(c->text, texts, i, &length);
    if (!pess__names_valid(text, length)) return bad_text(r, c, error);
    return pess__names_add(c->texts, text, length, out, error);
}

/* The texts of a dictionary, which may be another one in each batch. */
static pess_status number_dictionary(const arrow_source *r, column *c, const struct ArrowArray *dictionary,
                                     pess_error *error) {
    PESS_TRY(pess__grow(&c->known, &c->known_capacity, dictionary->length, sizeof *c->known, "names", error));
    for (int64_t i = 0; i < dictionary->length; i++)
        PESS_TRY(number_text(r, c, dictionary, dictionary->offset + i, &c->known[i], error));
    return PESS_OK;
}

static pess_status take_texts(const arrow_source *r, column *c, const struct ArrowArray *array, int64_t first,
                              int64_t rows, const uint8_t *valid, pess_error *error) {
    int64_t *codes = c->values;
    if (array->dictionary != NULL) PESS_TRY(number_dictionary(r, c, array->dictionary, error));
    for (int64_t i = 0; i < rows; i++) {
        codes[i] = 0;
        if (valid != NULL && !bit(valid, i)) continue;
        if (array->dictionary == NULL) {
            PESS_TRY(number_text(r, c, array, first + i, &codes[i], error));
            continue;
        }
        const int64_t place = integer_at(c->type, array->buffers[1], first + i);
        if (place < 0 || place >= array->dictionary->length)
            return pess__fail(error, PESS_INPUT, "%s: column '%.60s': found place %lld of a dictionary of %lld texts",
                              r->frames.name, c->schema->name, (long long)place, (long long)array->dictionary->length);
        codes[i] = c->known[place];
    }
    return PESS_OK;
}

static void convert(const column *c, pess__frame_kind kind, const void *values, int64_t first, int64_t rows) {
    if (kind == PESS__FRAME_TRUTH)
        for (int64_t i = 0; i < rows; i++) ((uint8_t *)c->values)[i] = bit(values, first + i);
    else if (c->type == 'd')
        for (int64_t i = 0; i < rows; i++) ((double *)c->values)[i] = decimal_at(c, values, first + i);
    else if (kind == PESS__FRAME_NUMBER)
        for (int64_t i = 0; i < rows; i++) ((double *)c->values)[i] = (double)((const float *)values)[first + i];
    else if (kind == PESS__FRAME_TIME)
        for (int64_t i = 0; i < rows; i++)
            ((int64_t *)c->values)[i] = integer_at(c->type, values, first + i) / c->divide * c->multiply;
    else
        for (int64_t i = 0; i < rows; i++) ((int64_t *)c->values)[i] = integer_at(c->type, values, first + i);
}

static pess_status take_column(arrow_source *r, int64_t index, const struct ArrowArray *array, int64_t first,
                               int64_t rows, pess_error *error) {
    column *c = &r->columns[index];
    pess__frame_column *to = &r->described[index];
    const bool as_it_lies =
        to->kind != PESS__FRAME_TEXT && (c->type == 'g' || (c->type == 'l' && c->multiply <= 1 && c->divide <= 1));
    to->values = NULL;
    to->valid = NULL;
    if (to->kind == PESS__FRAME_OTHER || rows == 0) return PESS_OK;
    if (array->n_buffers < 2 || (array->buffers[1] == NULL && rows > 0))
        return pess__fail(error, PESS_INPUT, "%s: column '%.60s': found no values", r->frames.name, to->name);
    PESS_TRY(take_valid(c, array->null_count == 0 ? NULL : array->buffers[0], first, rows, &to->valid, error));
    if (as_it_lies) {
        to->values = (const char *)array->buffers[1] + 8 * first;
        return PESS_OK;
    }
    PESS_TRY(pess__grow(&c->values, &c->capacity, rows, 8, "a column", error));
    to->values = c->values;
    if (to->kind == PESS__FRAME_TEXT) return take_texts(r, c, array, first, rows, to->valid, error);
    convert(c, to->kind, array->buffers[1], first, rows);
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ batches */

static pess_status failed(const arrow_source *r, pess_error *error) {
    const char *why = r->stream->get_last_error != NULL ? r->stream->get_last_error(r->stream) : NULL;
    return pess__fail(error, PESS_INPUT, "%s: the Arrow stream says: %.300s", r->frames.name,
                      why != NULL ? why : "no reason");
}

static pess_status take_batch(arrow_source *r, pess_error *error) {
    const struct ArrowArray *batch = &r->batch;
    if (batch->n_children != r->schema.n_children)
        return pess__fail(error, PESS_INPUT, "%s: found a batch of %lld columns, expected %lld", r->frames.name,
                          (long long)batch->n_children, (long long)r->schema.n_children);
    for (int64_t i = 0; i < batch->n_children; i++) {
        const struct ArrowArray *array = batch->children[i];
        if (array->length < batch->offset + batch->length)
            return pess__fail(error, PESS_INPUT, "%s: column '%.60s': found %lld rows, expected %lld", r->frames.name,
                              r->described[i].name, (long long)array->length,
                              (long long)batch->offset + (long long)batch->length);
        PESS_TRY(take_column(r, i, array, array->offset + batch->offset, batch->length, error));
    }
    return PESS_OK;
}

static pess_status next_frame(pess__frames *frames, pess__frame *frame, pess_error *error) {
    arrow_source *r = (arrow_source *)frames;
    do {
        if (r->batch.release != NULL) r->batch.release(&r->batch);
        r->batch = (struct ArrowArray){0};
        if (r->stream->get_next(r->stream, &r->batch) != 0) return failed(r, error);
    } while (r->batch.release != NULL && r->batch.length == 0);
    const int64_t rows = r->batch.release != NULL ? r->batch.length : 0;
    if (rows > 0) PESS_TRY(take_batch(r, error));
    *frame = (pess__frame){.rows = rows, .first = r->rows + 1, .columns = r->schema.n_children, .column = r->described};
    r->rows += rows;
    return PESS_OK;
}

static void close_source(pess__frames *frames) {
    arrow_source *r = (arrow_source *)frames;
    for (int64_t i = 0; r->columns != NULL && i < r->schema.n_children; i++) {
        pess_names_destroy(r->columns[i].texts);
        free(r->columns[i].known);
        free(r->columns[i].values);
        free(r->columns[i].valid);
    }
    if (r->batch.release != NULL) r->batch.release(&r->batch);
    if (r->schema.release != NULL) r->schema.release(&r->schema);
    if (r->stream->release != NULL) r->stream->release(r->stream);
    free(r->columns);
    free(r->described);
    free(r->name);
    free(r);
}

static pess_status open_source(const char *name, struct ArrowArrayStream *stream, pess__frames **out,
                               pess_error *error) {
    arrow_source *r = NULL;
    pess_status status = pess__allocate(&r, 1, sizeof *r, "an Arrow stream", error);
    if (status != PESS_OK) {
        if (stream->release != NULL) stream->release(stream);
        return status;
    }
    r->name = pess__raw_copy(name);
    r->frames = (pess__frames){.name = r->name, .row = "row", .next = next_frame, .close = close_source};
    r->stream = stream;
    if (r->name == NULL)
        status = pess__fail(error, PESS_MEMORY, "not enough memory for an Arrow stream");
    else if (stream->release == NULL)
        status = pess__fail(error, PESS_ARGUMENT, "%s: found an Arrow stream that is released already", name);
    else if (stream->get_schema(stream, &r->schema) != 0)
        status = failed(r, error);
    if (status == PESS_OK) status = describe(r, error);
    if (status == PESS_OK)
        *out = &r->frames;
    else
        close_source(&r->frames);
    return status;
}

pess_status pess__arrow_stream(const char *name, struct ArrowArrayStream *stream, const pess_read_options *options,
                               pess__stream **out, pess_error *error) {
    pess__frames *frames = NULL;
    PESS_TRY(open_source(name, stream, &frames, error));
    return pess__stream_open_frames(frames, options, out, error);
}

pess_status pess_dataset_read_arrow(const char *name, struct ArrowArrayStream *stream, const pess_read_options *options,
                                    pess_dataset **out, pess_error *error) {
    pess__stream *log = NULL;
    PESS_TRY(pess__arrow_stream(name, stream, options, &log, error));
    return pess__dataset_collect(log, out, error);
}
