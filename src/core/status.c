#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *pess_version(void) { return PESS_VERSION; }

const char *pess_status_name(pess_status status) {
    switch (status) {
#define PESS_STATUS_NAME(name, exit_code, text)                                                                        \
    case PESS_##name: return #name;
        PESS_STATUS_LIST(PESS_STATUS_NAME)
#undef PESS_STATUS_NAME
        case PESS_STATUS_COUNT: break;
    }
    return "UNKNOWN";
}

const char *pess_status_text(pess_status status) {
    switch (status) {
#define PESS_STATUS_TEXT(name, exit_code, text)                                                                        \
    case PESS_##name: return text;
        PESS_STATUS_LIST(PESS_STATUS_TEXT)
#undef PESS_STATUS_TEXT
        case PESS_STATUS_COUNT: break;
    }
    return "unknown status";
}

int pess_status_exit_code(pess_status status) {
    switch (status) {
#define PESS_STATUS_EXIT(name, exit_code, text)                                                                        \
    case PESS_##name: return exit_code;
        PESS_STATUS_LIST(PESS_STATUS_EXIT)
#undef PESS_STATUS_EXIT
        case PESS_STATUS_COUNT: break;
    }
    return 2;
}

pess_status pess__fail(pess_error *error, pess_status status, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        (void)vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}
