/* Families of algorithms and the strengths that are tried of each. One row per family. */
#include "choose/choose.h"

#include "core/memory.h"
#include "core/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STRENGTHS = 10 };

/* Strengths ascend; those of absorbed-alpha are in units of reward. 0 ends the grid. */
typedef struct family {
    const char *algorithm, *setting;
    double grid[MOST_STRENGTHS];
} family;

static const family families[] = {
    {"imitation", NULL, {0}},
    {"naive", NULL, {0}},
    {"ua", "absorbed-alpha", {0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}},
    {"ramdp", "absorbed-alpha", {0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}},
    {"proximal", "absorbed-alpha", {0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}},
    {"density-proximal", "absorbed-alpha", {0.05, 0.2, 1, 5}},
    {"robust", "alpha", {0.01, 0.03, 0.1, 0.3, 1}},
    {"spibb", "min-count", {2, 5, 10, 20, 50, 100, 200, 500, 1000}},
    {"spibb-leq", "min-count", {2, 5, 10, 20, 50, 100, 200, 500, 1000}},
    {"soft-spibb", "budget", {0.1, 0.2, 0.5, 1, 2, 5}},
    {"rmin", "min-count", {2, 5, 10, 20, 50, 100, 200, 500}},
    {"duipi", "alpha", {0.1, 0.3, 1, 3}},
};

static const family *find_family(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strlen(families[i].algorithm) == length && memcmp(families[i].algorithm, name, length) == 0)
            return &families[i];
    return NULL;
}

static int64_t strengths_of(const family *f) {
    int64_t count = 0;
    while (f->setting != NULL && count < MOST_STRENGTHS && f->grid[count] > 0) count++;
    return count > 0 ? count : 1;
}

static void add_family(const family *f, double unit, pess__candidate *to) {
    const bool absorbed = f->setting != NULL && strcmp(f->setting, "absorbed-alpha") == 0;
    for (int64_t i = 0; i < strengths_of(f); i++)
        to[i] = (pess__candidate){f->algorithm, f->setting,
                                  f->setting == NULL ? NAN
                                  : absorbed         ? f->grid[i] * unit
                                                     : f->grid[i]};
}

/* Calls `each` for the families of the list; PESS_ARGUMENT names one that there is not, or that is there twice. */
static pess_status each_family(const char *list, double unit, pess__candidate *to, int64_t *count, pess_error *error) {
    uint32_t seen = 0;
    *count = 0;
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        const family *f = find_family(at, length);
        if (f == NULL)
            return pess__fail(error, PESS_ARGUMENT,
                              "families: found '%.*s', expected names of algorithms with commas between them, such as "
                              "'naive,ua,spibb'",
                              (int)(length < 60 ? length : 60), at);
        if (seen >> (f - families) & 1)
            return pess__fail(error, PESS_ARGUMENT, "families: '%s' is there twice", f->algorithm);
        seen |= (uint32_t)1 << (f - families);
        if (to != NULL) add_family(f, unit, to + *count);
        *count += strengths_of(f);
        at += length;
        if (*at == '\0') return PESS_OK;
    }
}

pess_status pess__candidates_create(const char *list, double unit, pess__candidate **out, int64_t *count,
                                    pess_error *error) {
    pess__candidate *candidates = NULL;
    PESS_TRY(each_family(list, unit, NULL, count, error));
    PESS_TRY(pess__allocate(&candidates, *count, sizeof *candidates, "the candidates", error));
    *out = candidates;
    return each_family(list, unit, candidates, count, error);
}

pess_solve_options pess__candidate_options(const pess__candidate *candidate, const pess_solve_options *base) {
    pess_solve_options options = *base;
    options.algorithm = candidate->algorithm;
    options.uncertainty = NULL;
    options.own_uncertainty = NULL;
    options.alpha = options.absorbed_alpha = NAN;
    options.clip = false;
    if (candidate->setting == NULL) return options;
    const pess_setting *setting = pess_setting_find(pess_solve_settings(), candidate->setting);
    memcpy((char *)&options + setting->offset, &candidate->strength, sizeof candidate->strength);
    return options;
}
