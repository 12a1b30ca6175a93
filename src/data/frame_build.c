#include "data/frame_build.h"

#include "core/memory.h"
#include "data/names.h"

#include <stdlib.h>
#include <string.h>

/* A value of any kind but OTHER takes eight bytes while the frame is built. */
typedef union cell {
    int64_t integer; /* INTEGER, TRUTH, and the place of a TEXT */
    double number;
} cell;

typedef struct column {
    bool begun; /* it has a kind */
    pess__frame_kind kind;
    const char *type;
    int64_t filled; /* rows that have a cell, null or not */
    cell *cells;
    uint8_t *valid; /* a byte per row; bits once the frame is finished */
    int64_t capacity, valid_capacity, nulls;
    pess_names *texts;
} column;

struct pess__frame_builder {
    int64_t rows, columns;
    pess_names *names; /* of columns, in their order */
    column *column;    /* [columns] */
    int64_t capacity;
    pess__frame_column *described; /* [columns] */
};

pess_status pess__frame_builder_create(pess__frame_builder **out, pess_error *error) {
    pess__frame_builder *builder = NULL;
    PESS_TRY(pess__allocate(&builder, 1, sizeof *builder, "a table", error));
    const pess_status status = pess__names_create(&builder->names, error);
    if (status != PESS_OK) {
        free(builder);
        return status;
    }
    *out = builder;
    return PESS_OK;
}

void pess__frame_builder_destroy(pess__frame_builder *builder) {
    if (builder == NULL) return;
    for (int64_t i = 0; i < builder->columns; i++) {
        free(builder->column[i].cells);
        free(builder->column[i].valid);
        pess_names_destroy(builder->column[i].texts);
    }
    pess_names_destroy(builder->names);
    free(builder->column);
    free(builder->described);
    free(builder);
}

pess_status pess__frame_builder_column(pess__frame_builder *builder, const char *name, size_t length, int64_t *out,
                                       pess_error *error) {
    *out = pess__names_find(builder->names, name, length);
    if (*out >= 0 || builder->columns == PESS__FRAME_MOST_COLUMNS) return PESS_OK;
    PESS_TRY(pess__grow(&builder->column, &builder->capacity, builder->columns + 1, sizeof *builder->column, "columns",
                        error));
    PESS_TRY(pess__names_add(builder->names, name, length, out, error));
    builder->column[builder->columns++] = (column){0};
    return PESS_OK;
}

/* The column has a cell in each of `needed` rows: those that are missing are null. */
static pess_status reach(column *c, int64_t needed, pess_error *error) {
    PESS_TRY(pess__grow(&c->cells, &c->capacity, needed, sizeof *c->cells, "a column", error));
    PESS_TRY(pess__grow(&c->valid, &c->valid_capacity, needed, 1, "a column", error));
    for (; c->filled < needed; c->filled++) {
        c->cells[c->filled] = (cell){0};
        c->valid[c->filled] = 0;
    }
    return PESS_OK;
}

bool pess__frame_builder_has(const pess__frame_builder *builder, int64_t i) {
    const column *c = &builder->column[i];
    return c->filled > builder->rows && c->valid[builder->rows] != 0;
}

/* ------------------------------------------------------------------------------------------------ widening */

static void to_numbers(column *c) {
    for (int64_t i = 0; i < c->filled; i++) c->cells[i].number = (double)c->cells[i].integer;
    c->kind = PESS__FRAME_NUMBER;
}

/* Every value becomes the text that stands for it; nulls share the first. */
static pess_status to_texts(column *c, pess_error *error) {
    int64_t nothing = 0;
    PESS_TRY(pess__names_create(&c->texts, error));
    PESS_TRY(pess__names_add(c->texts, "", 0, &nothing, error));
    for (int64_t i = 0; i < c->filled; i++) {
        char buffer[PESS__FRAME_VALUE_SIZE];
        const uint8_t truth = (uint8_t)c->cells[i].integer;
        const pess__frame_column one = {.kind = c->kind,
                                        .values = c->kind == PESS__FRAME_TRUTH ? (const void *)&truth : &c->cells[i]};
        const char *text = c->valid[i] != 0 ? pess__frame_value(&one, 0, buffer) : "";
        PESS_TRY(pess__names_add(c->texts, text, strlen(text), &c->cells[i].integer, error));
    }
    c->kind = PESS__FRAME_TEXT;
    return PESS_OK;
}

/* The column as one that holds values of `kind`, or of a wider one; ready for a value of this row. */
static pess_status widen(pess__frame_builder *builder, int64_t i, pess__frame_kind kind, column **out,
                         pess_error *error) {
    column *c = &builder->column[i];
    *out = c;
    if (c->begun && c->kind == PESS__FRAME_OTHER) return PESS_OK;
    if (!c->begun) c->kind = kind == PESS__FRAME_TEXT ? PESS__FRAME_INTEGER : kind;
    c->begun = true;
    if (kind == PESS__FRAME_TEXT && c->kind != PESS__FRAME_TEXT) PESS_TRY(to_texts(c, error));
    if (kind == PESS__FRAME_NUMBER && (c->kind == PESS__FRAME_INTEGER || c->kind == PESS__FRAME_TRUTH)) to_numbers(c);
    if (kind == PESS__FRAME_INTEGER && c->kind == PESS__FRAME_TRUTH) c->kind = PESS__FRAME_INTEGER;
    return reach(c, builder->rows + 1, error);
}

/* A value in the kind that the column has by now. */
static pess_status put(pess__frame_builder *builder, column *c, const pess__frame_column *value, pess_error *error) {
    cell *to = &c->cells[builder->rows];
    char buffer[PESS__FRAME_VALUE_SIZE];
    c->valid[builder->rows] = 1;
    if (c->kind == PESS__FRAME_TEXT) {
        const char *text = pess__frame_value(value, 0, buffer);
        return pess__names_add(c->texts, text, strlen(text), &to->integer, error);
    }
    const int64_t integer = value->kind == PESS__FRAME_TRUTH    ? *(const uint8_t *)value->values
                            : value->kind == PESS__FRAME_NUMBER ? 0
                                                                : *(const int64_t *)value->values;
    if (value->kind == PESS__FRAME_NUMBER)
        to->number = *(const double *)value->values;
    else if (c->kind == PESS__FRAME_NUMBER)
        to->number = (double)integer;
    else
        to->integer = integer;
    return PESS_OK;
}

static pess_status add(pess__frame_builder *builder, int64_t i, pess__frame_kind kind, const void *value,
                       pess_error *error) {
    column *c = NULL;
    const pess__frame_column one = {.kind = kind, .values = value};
    PESS_TRY(widen(builder, i, kind, &c, error));
    return c->kind == PESS__FRAME_OTHER ? PESS_OK : put(builder, c, &one, error);
}

pess_status pess__frame_builder_truth(pess__frame_builder *builder, int64_t i, bool value, pess_error *error) {
    const uint8_t truth = value;
    return add(builder, i, PESS__FRAME_TRUTH, &truth, error);
}

pess_status pess__frame_builder_integer(pess__frame_builder *builder, int64_t i, int64_t value, pess_error *error) {
    return add(builder, i, PESS__FRAME_INTEGER, &value, error);
}

pess_status pess__frame_builder_number(pess__frame_builder *builder, int64_t i, double value, pess_error *error) {
    return add(builder, i, PESS__FRAME_NUMBER, &value, error);
}

pess_status pess__frame_builder_text(pess__frame_builder *builder, int64_t i, const char *text, size_t length,
                                     pess_error *error) {
    column *c = NULL;
    PESS_TRY(widen(builder, i, PESS__FRAME_TEXT, &c, error));
    if (c->kind == PESS__FRAME_OTHER) return PESS_OK;
    c->valid[builder->rows] = 1;
    return pess__names_add(c->texts, text, length, &c->cells[builder->rows].integer, error);
}

void pess__frame_builder_other(pess__frame_builder *builder, int64_t i, const char *type) {
    builder->column[i].begun = true;
    builder->column[i].kind = PESS__FRAME_OTHER;
    builder->column[i].type = type;
}

void pess__frame_builder_end_row(pess__frame_builder *builder) { builder->rows++; }

int64_t pess__frame_builder_rows(const pess__frame_builder *builder) { return builder->rows; }

/* ------------------------------------------------------------------------------------------------ the frame */

/* One bit a row instead of a byte, in the same memory. */
static void pack_valid(column *c) {
    for (int64_t i = 0; i < c->filled; i++) {
        const uint8_t valid = c->valid[i];
        c->nulls += valid == 0;
        if ((i & 7) == 0) c->valid[i >> 3] = 0;
        c->valid[i >> 3] = (uint8_t)(c->valid[i >> 3] | valid << (i & 7));
    }
}

pess_status pess__frame_builder_finish(pess__frame_builder *builder, pess__frame *frame, pess_error *error) {
    PESS_TRY(pess__allocate(&builder->described, builder->columns, sizeof *builder->described, "a table", error));
    for (int64_t i = 0; i < builder->columns; i++) {
        column *c = &builder->column[i];
        const bool values = c->begun && c->kind != PESS__FRAME_OTHER;
        if (values) PESS_TRY(reach(c, builder->rows, error));
        if (values) pack_valid(c);
        if (c->kind == PESS__FRAME_TRUTH && values) {
            uint8_t *bytes = (uint8_t *)c->cells;
            for (int64_t k = 0; k < c->filled; k++) bytes[k] = (uint8_t)c->cells[k].integer;
        }
        builder->described[i] = (pess__frame_column){.name = pess_names_get(builder->names, i),
                                                     .kind = c->kind,
                                                     .type = c->type,
                                                     .values = values ? c->cells : NULL,
                                                     .valid = c->nulls > 0 ? c->valid : NULL,
                                                     .texts = c->texts};
    }
    *frame = (pess__frame){.rows = builder->rows, .columns = builder->columns, .column = builder->described};
    return PESS_OK;
}
