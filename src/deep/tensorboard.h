/* Event files of TensorBoard: one file per run of the program, in a directory per training. Each record is
 *
 *     u64 length, u32 masked CRC-32C of it, an Event (Protocol Buffers), u32 masked CRC-32C of the Event
 *
 * The first names the version of the format, the second says where this run begins: TensorBoard then drops what an
 * earlier run wrote from that step on. The file grows while the training goes on, for whoever reads along. */
#ifndef PESS_DEEP_TENSORBOARD_H
#define PESS_DEEP_TENSORBOARD_H

#include "core/status.h"

typedef struct pess__tensorboard pess__tensorboard;

/* A new file in the directory, which is made where it is missing. */
pess_status pess__tensorboard_open(const char *directory, pess__tensorboard **out, pess_error *error);
/* The first records: the points from this step on are this file's. A file that is closed without is taken away. */
pess_status pess__tensorboard_start(pess__tensorboard *board, int64_t first, pess_error *error);
/* A point of a curve; a value that is not finite is none. The first error is kept for flush. NULL: nothing happens. */
void pess__tensorboard_scalar(pess__tensorboard *board, const char *tag, int64_t step, double value);
pess_status pess__tensorboard_flush(pess__tensorboard *board, pess_error *error);
void pess__tensorboard_close(pess__tensorboard *board); /* NULL is fine */

/* Parts that tests look at. */
uint32_t pess__crc32c(const void *bytes, size_t length);
/* An event as it stands in the file: a version (step and value not read), or a point. Returns its bytes, at most 512.
 */
size_t pess__tensorboard_version(double time, uint8_t *out);
size_t pess__tensorboard_point(double time, int64_t step, const char *tag, float value, uint8_t *out);

#endif
