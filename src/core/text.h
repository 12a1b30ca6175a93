/* Numbers as text, independent of the locale; notes; how a text begins and ends. */
#ifndef PESS_CORE_TEXT_H
#define PESS_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole of [begin,end) as a number; false where it is not one. Accepts what JSON and C write in decimal, and nan
 * and inf (callers refuse those with a better message). The result is the correctly rounded double. */
bool pess__parse_double(const char *begin, const char *end, double *out);
/* An optional sign and digits; false on anything else or overflow. */
bool pess__parse_int64(const char *begin, const char *end, int64_t *out);

#define PESS__NUMBER_SIZE 32
/* The shortest decimal that reads back as the same double, as a string. Returns its length; buffer holds
 * PESS__NUMBER_SIZE. */
size_t pess__format_double(double value, char *buffer);
/* The same of an integer. */
size_t pess__format_integer(int64_t value, char *buffer);

/* The value of `key` in lines "key=value", and its length; NULL where there is no such line. */
const char *pess__note_find(const char *notes, const char *key, size_t key_length, size_t *length);
/* The same as a text, cut to size - 1 characters; false where there is no such line. */
bool pess__note(const char *notes, const char *key, char *value, size_t size);

/* Of the letters of ASCII, in every locale. */
static inline char pess__upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }
bool pess__same_letters(const char *a, const char *b); /* whether capital or small */

bool pess__begins_with(const char *text, const char *prefix);
bool pess__ends_with(const char *text, const char *suffix);

#endif
