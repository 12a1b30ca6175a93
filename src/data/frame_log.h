/* A log made of the frames of a source: columns become states, actions, rewards. Formats whose files are frames have
 * these three functions for `next` and `close` and, once the source is open, for `open`. */
#ifndef PESS_DATA_FRAME_LOG_H
#define PESS_DATA_FRAME_LOG_H

#include "data/frame.h"
#include "data/stream.h"

/* Takes over the frames, also where it fails. */
pess_status pess__frame_log_open(pess__stream *stream, pess__frames *frames, pess_error *error);
pess_status pess__frame_log_next(pess__stream *stream, pess__portion *portion, pess_error *error);
void pess__frame_log_close(pess__stream *stream);

/* A log whose frames come from no file. Takes over the frames, also where it fails. */
pess_status pess__stream_open_frames(pess__frames *frames, const pess_read_options *options, pess__stream **out,
                                     pess_error *error);

/* A file whose rows are wanted as they are, without roles: *frames is NULL where its format delivers none. The frames
 * are to be closed before the stream. */
pess_status pess__stream_open_table(const char *path, const pess_read_options *options, pess__stream **out,
                                    pess__frames **frames, pess_error *error);

#endif
