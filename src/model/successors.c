#include "model/successors.h"

#include "core/memory.h"

#include <stdlib.h>

pess_status pess__successors_create(int64_t pairs, int64_t room, pess__successors **out, pess_error *error) {
    pess__successors *s = NULL;
    PESS_TRY(pess__allocate(&s, 1, sizeof *s, "successors", error));
    s->owners = 1;
    pess_status status = pess__allocate(&s->row, pairs + 1, sizeof *s->row, "successors of pairs", error);
    if (status == PESS_OK) status = pess__allocate(&s->next, room, sizeof *s->next, "successors", error);
    if (status == PESS_OK)
        *out = s;
    else
        pess__successors_disown(s);
    return status;
}

pess__successors *pess__successors_own(pess__successors *successors) {
    successors->owners++;
    return successors;
}

void pess__successors_disown(pess__successors *successors) {
    if (successors == NULL || --successors->owners > 0) return;
    free(successors->row);
    free(successors->next);
    free(successors);
}
