#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *pess_version(void) { return PESS_VERSION; }

static const struct {
    const char *name;
    const char *text;
} statuses[PESS_STATUS_COUNT] = {
#define PESS_STATUS_ROW(name, text) {#name, text},
    PESS_STATUS_LIST(PESS_STATUS_ROW)
#undef PESS_STATUS_ROW
};

static bool known(pess_status status) { return (unsigned)status < PESS_STATUS_COUNT; }

const char *pess_status_name(pess_status status) { return known(status) ? statuses[status].name : "UNKNOWN"; }

const char *pess_status_text(pess_status status) { return known(status) ? statuses[status].text : "unknown status"; }

pess_status pess__fail(pess_error *error, pess_status status, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        error->remedy = NULL;
        error->value[0] = '\0';
        (void)vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

pess_status pess__fail_with_remedy(pess_error *error, pess_status status, const char *remedy, const char *value) {
    if (error != NULL) {
        error->remedy = remedy;
        (void)snprintf(error->value, sizeof error->value, "%s", value);
    }
    return status;
}
