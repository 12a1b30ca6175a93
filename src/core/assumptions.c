#include "core/assumptions.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The index of the placeholder that begins here, or -1. */
static int placeholder(const char *at) {
    return at[0] == '{' && (at[1] == '0' || at[1] == '1') && at[2] == '}' ? at[1] - '0' : -1;
}

pess_status pess__assume(pess__assumptions *to, const char *code, const char *sentence, const double *values,
                         pess_error *error) {
    char *text;
    pess_assumption added = {.code = code, .values = {NAN, NAN}};
    PESS_TRY(pess__grow(&to->list, &to->capacity, to->count + 1, sizeof *to->list, "the assumptions", error));
    PESS_TRY(pess__allocate(&text, (int64_t)strlen(sentence) + 2 * PESS__NUMBER_SIZE, 1, "an assumption", error));
    size_t length = 0;
    for (const char *at = sentence; *at != '\0';) {
        const int index = placeholder(at);
        if (index < 0) {
            text[length++] = *at++;
            continue;
        }
        added.values[index] = values[index];
        length += pess__format_double(values[index], text + length);
        at += 3;
    }
    text[length] = '\0';
    added.text = text;
    to->list[to->count++] = added;
    return PESS_OK;
}

const pess_assumption *pess__assumption(const pess__assumptions *from, size_t index) {
    return index < (size_t)from->count ? &from->list[index] : NULL;
}

void pess__assumptions_release(pess__assumptions *assumptions) {
    for (int64_t i = 0; i < assumptions->count; i++) free((char *)assumptions->list[i].text);
    free(assumptions->list);
    *assumptions = (pess__assumptions){0};
}
