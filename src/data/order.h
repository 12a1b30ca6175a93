/* Orders of rows: which rows come together when a log is sorted by a key. */
#ifndef PESS_DATA_ORDER_H
#define PESS_DATA_ORDER_H

#include "core/status.h"

/* Sorts the row numbers in `order` [rows] by key[order[i]], equal keys keeping their order. */
pess_status pess__order_by(const uint64_t *key, int64_t rows, int64_t *order, pess_error *error);

/* Rows by episode (NULL: all in one), then by step (NULL: all the same), then by their place: `order` [rows]. */
pess_status pess__order_episodes(const int64_t *episode, const int64_t *step, int64_t rows, int64_t *order,
                                 pess_error *error);

#endif
