#include "core/printing.h"

#undef vsnprintf /* here the C library's is meant */

#include <pthread.h>

static locale_t plain;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); } /* takes no memory */

locale_t pess__plain_locale(void) {
    (void)pthread_once(&made, make);
    return uselocale(plain);
}

int pess__vsnprintf(char *out, size_t size, const char *format, va_list arguments) {
    const locale_t before = pess__plain_locale();
    const int length = vsnprintf(out, size, format, arguments);
    (void)uselocale(before);
    return length;
}

int pess__snprintf(char *out, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = pess__vsnprintf(out, size, format, arguments);
    va_end(arguments);
    return length;
}
