#include "solve/families.h"

#include "core/settings.h"
#include "solve/algorithm.h"

#include <math.h>
#include <string.h>

/* One row per family. */
static const pess__family families[] = {
    {"imitation", NULL, {0}, false},
    {"naive", NULL, {0}, false},
    {"ua", "absorbed-alpha", {0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}, false},
    {"ramdp", "absorbed-alpha", {0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}, false},
    {"proximal", "absorbed-alpha", {0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}, false},
    {"density-proximal", "absorbed-alpha", {0.05, 0.2, 1, 5}, true},
    {"robust", "alpha", {0.01, 0.03, 0.1, 0.3, 1}, false},
    {"spibb", "min-count", {2, 5, 10, 20, 50, 100, 200, 500, 1000}, false},
    {"spibb-leq", "min-count", {2, 5, 10, 20, 50, 100, 200, 500, 1000}, false},
    {"soft-spibb", "budget", {0.1, 0.2, 0.5, 1, 2, 5}, false},
    {"rmin", "min-count", {2, 5, 10, 20, 50, 100, 200, 500}, false},
    {"duipi", "alpha", {0.1, 0.3, 1, 3}, false},
};

const pess__family *pess__family_list(size_t index) {
    return index < sizeof families / sizeof *families ? &families[index] : NULL;
}

int pess__family_strengths(const pess__family *family) {
    int count = 0;
    while (family->setting != NULL && count < PESS__STRENGTHS && family->grid[count] > 0) count++;
    return count > 0 ? count : 1;
}

pess__family_member pess__family_member_of(const pess__family *family, int strength, double unit) {
    if (family->setting == NULL) return (pess__family_member){family->algorithm, NULL, NAN};
    const bool absorbed = strcmp(family->setting, "absorbed-alpha") == 0;
    return (pess__family_member){family->algorithm, family->setting, family->grid[strength] * (absorbed ? unit : 1)};
}

/* The method that was asked for, where the algorithm has it. */
static pess_method method_for(const char *name, pess_method method) {
    const pess__algorithm *algorithm = pess__algorithm_find(name);
    const bool has =
        algorithm->own_way == NULL && !(algorithm->info.takes_sets_only && method == PESS_METHOD_GAUSS_SEIDEL);
    return has ? method : PESS_METHOD_AUTO;
}

pess_solve_options pess__family_member_options(const pess__family_member *candidate, const pess_solve_options *base) {
    pess_solve_options options = *base;
    options.algorithm = candidate->algorithm;
    options.uncertainty = NULL;
    options.own_uncertainty = NULL;
    options.alpha = options.absorbed_alpha = NAN;
    options.clip = false;
    options.method = method_for(candidate->algorithm, base->method);
    if (candidate->setting == NULL) return options;
    const pess_setting *setting = pess_setting_find(pess_solve_settings(), candidate->setting);
    memcpy((char *)&options + setting->offset, &candidate->strength, sizeof candidate->strength);
    return options;
}
