/* The candidates of a list of families (solve/families.c has their grids). */
#include "choose/choose.h"

#include "core/memory.h"

#include <string.h>

/* The row of the family, or −1. */
static int find_family(const char *name, size_t length) {
    const pess__family *f;
    for (int i = 0; (f = pess__family_list((size_t)i)) != NULL; i++)
        if (strlen(f->algorithm) == length && memcmp(f->algorithm, name, length) == 0) return i;
    return -1;
}

/* Counts the candidates of the list and, unless `to` is NULL, fills them in; PESS_ARGUMENT names a family that there is
 * not, or that is there twice. */
static pess_status each_family(const char *list, double unit, pess__family_member *to, int64_t *count,
                               pess_error *error) {
    uint32_t seen = 0;
    *count = 0;
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        const int row = find_family(at, length);
        if (row < 0)
            return pess__fail(error, PESS_ARGUMENT,
                              "families: found '%.*s', expected names of algorithms with commas between them, such as "
                              "'naive,ua,spibb'",
                              (int)(length < 60 ? length : 60), at);
        const pess__family *f = pess__family_list((size_t)row);
        if (seen >> row & 1) return pess__fail(error, PESS_ARGUMENT, "families: '%s' is named twice", f->algorithm);
        seen |= (uint32_t)1 << row;
        for (int i = 0; i < pess__family_strengths(f); i++, (*count)++)
            if (to != NULL) to[*count] = pess__family_member_of(f, i, unit);
        at += length;
        if (*at == '\0') return PESS_OK;
    }
}

pess_status pess__candidates_create(const char *list, double unit, pess__family_member **out, int64_t *count,
                                    pess_error *error) {
    pess__family_member *candidates = NULL;
    PESS_TRY(each_family(list, unit, NULL, count, error));
    PESS_TRY(pess__allocate(&candidates, *count, sizeof *candidates, "the candidates", error));
    *out = candidates;
    return each_family(list, unit, candidates, count, error);
}
