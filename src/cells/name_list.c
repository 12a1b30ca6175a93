/* Lists of names as users write them: "age,lactate". */
#include "cells/row_reader.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

pess_status pess__name_list_create(const char *text, pess__name_list *out, pess_error *error) {
    pess__name_list list = {0};
    int64_t commas = 0;
    if (text == NULL || text[0] == '\0')
        return pess__fail(error, PESS_ARGUMENT, "features: found none, expected names of columns, \"age,lactate\"");
    for (const char *c = text; *c != '\0'; c++) commas += *c == ',';
    if (commas >= PESS_MAX_FEATURES)
        return pess__fail(error, PESS_LIMIT, "features: found %lld, expected at most %d", (long long)commas + 1,
                          PESS_MAX_FEATURES);
    PESS_TRY(pess__allocate(&list.text, (int64_t)strlen(text) + 1, 1, "names of features", error));
    pess_status status = pess__allocate(&list.names, commas + 1, sizeof *list.names, "names of features", error);
    memcpy(list.text, text, strlen(text) + 1);
    for (char *at = list.text; status == PESS_OK && at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) *comma = '\0';
        if (*at == '\0')
            status = pess__fail(error, PESS_ARGUMENT, "features: found '%.200s', expected a name between commas", text);
        for (int64_t i = 0; status == PESS_OK && i < list.count; i++)
            if (strcmp(list.names[i], at) == 0)
                status = pess__fail(error, PESS_ARGUMENT, "features: found '%.200s' twice, expected it once", at);
        list.names[list.count++] = at;
        at = comma != NULL ? comma + 1 : NULL;
    }
    if (status == PESS_OK)
        *out = list;
    else
        pess__name_list_free(&list);
    return status;
}

void pess__name_list_free(pess__name_list *list) {
    free(list->text);
    free(list->names);
    *list = (pess__name_list){0};
}
