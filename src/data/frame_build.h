/* A frame built value by value, for sources that do not say beforehand what a column holds. A column takes the kind of
 * its first value and widens where a later one does not fit: true and false become 0 and 1, whole numbers become
 * numbers, anything becomes text. */
#ifndef PESS_DATA_FRAME_BUILD_H
#define PESS_DATA_FRAME_BUILD_H

#include "data/frame.h"

enum { PESS__FRAME_MOST_COLUMNS = 4096 };

typedef struct pess__frame_builder pess__frame_builder;

pess_status pess__frame_builder_create(pess__frame_builder **out, pess_error *error);
void pess__frame_builder_destroy(pess__frame_builder *builder); /* NULL is fine */

/* The place of the column of this name, added where it is new: -1 where there would be too many. */
pess_status pess__frame_builder_column(pess__frame_builder *builder, const char *name, size_t length, int64_t *column,
                                       pess_error *error);
/* Whether the row that is being built has a value in the column. */
bool pess__frame_builder_has(const pess__frame_builder *builder, int64_t column);

/* Values of the row that is being built; a column that gets none is null there. */
pess_status pess__frame_builder_truth(pess__frame_builder *builder, int64_t column, bool value, pess_error *error);
pess_status pess__frame_builder_integer(pess__frame_builder *builder, int64_t column, int64_t value, pess_error *error);
pess_status pess__frame_builder_number(pess__frame_builder *builder, int64_t column, double value, pess_error *error);
/* UTF-8 without zero bytes. */
pess_status pess__frame_builder_text(pess__frame_builder *builder, int64_t column, const char *text, size_t length,
                                     pess_error *error);
/* A value that is no single one: the column has no values from here on. `type` lives longer than the frame. */
void pess__frame_builder_other(pess__frame_builder *builder, int64_t column, const char *type);
void pess__frame_builder_end_row(pess__frame_builder *builder);
int64_t pess__frame_builder_rows(const pess__frame_builder *builder);

/* All rows as one frame, which lives as long as the builder. Nothing is added afterwards. */
pess_status pess__frame_builder_finish(pess__frame_builder *builder, pess__frame *frame, pess_error *error);

#endif
