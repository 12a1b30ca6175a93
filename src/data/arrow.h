/* Arrow's streams as sources of logs. */
#ifndef PESS_DATA_ARROW_H
#define PESS_DATA_ARROW_H

#include "data/stream.h"
#include "pess/arrow.h"

/* Takes over the Arrow stream, also where it fails. */
pess_status pess__arrow_stream(const char *name, struct ArrowArrayStream *stream, const pess_read_options *options,
                               pess__stream **out, pess_error *error);

#endif
