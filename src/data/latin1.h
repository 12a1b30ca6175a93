/* Text in Latin-1, as spreadsheets of older systems write it, in UTF-8. */
#ifndef PESS_DATA_LATIN1_H
#define PESS_DATA_LATIN1_H

#include <stddef.h>

/* `to` holds three bytes for each of `from`; returns how many there are. The bytes 80 to 9F are those of Windows-1252,
 * which is what is meant by them. */
size_t pess__latin1_to_utf8(const char *from, size_t length, char *to);

#endif
