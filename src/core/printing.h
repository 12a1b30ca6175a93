/* printf in the C locale, whatever the host program has set: numbers in files and messages have decimal points. The
 * build puts this header before every file of the library, so that nobody has to think of it. */
#ifndef PESS_CORE_PRINTING_H
#define PESS_CORE_PRINTING_H

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

/* This thread has the C locale from now on, until uselocale of what is returned. */
locale_t pess__plain_locale(void);
int pess__vsnprintf(char *out, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
int pess__snprintf(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#undef snprintf
#undef vsnprintf
#define snprintf pess__snprintf
#define vsnprintf pess__vsnprintf
/* clang makes macros of these where it fortifies */
#undef sprintf
#undef vsprintf
#undef fprintf
#undef vfprintf
#undef dprintf
#pragma GCC poison sprintf vsprintf fprintf vfprintf dprintf

#endif
