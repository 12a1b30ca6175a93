#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* What stands in a message may come from a file. */
static void write_shown(const char *text, char *out, size_t size) {
    size_t used = 0;
    for (size_t length = strlen(text); length > 0;) {
        pess_shown shown = pess_show(text, length);
        if (shown.taken == 0) break; /* cut within a character */
        const size_t room = strlen(shown.text);
        if (used + room >= size) break;
        memcpy(out + used, shown.text, room);
        used += room;
        text += shown.taken;
        length -= shown.taken;
    }
    out[used] = '\0';
}

pess_status pess__fail(pess_error *error, pess_status status, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        error->remedy = NULL;
        error->value[0] = '\0';
        char message[sizeof error->message];
        (void)vsnprintf(message, sizeof message, format, arguments);
        write_shown(message, error->message, sizeof error->message);
        va_end(arguments);
    }
    return status;
}

pess_status pess__fail_with_remedy(pess_error *error, pess_status status, const char *remedy, const char *value) {
    if (error != NULL) {
        error->remedy = remedy;
        write_shown(value, error->value, sizeof error->value);
    }
    return status;
}
