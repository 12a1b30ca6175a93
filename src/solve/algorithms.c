/* The table of algorithms. Adding one means one new file and one row here. */
#include "solve/algorithm.h"

#include <string.h>

/* One file each: pess__algorithm_<name>. */
/* clang-format off */
#define ALGORITHMS(X)                                                                                                    \
    X(imitation) X(naive) X(ua) X(proximal) X(density_proximal) X(robust)                                              \
    X(spibb) X(spibb_leq) X(soft_spibb) X(ramdp) X(rmin) X(duipi)
/* clang-format on */

#define DECLARE(name) extern const pess__algorithm pess__algorithm_##name;
ALGORITHMS(DECLARE)
#undef DECLARE

#define ADDRESS(name) &pess__algorithm_##name,
static const pess__algorithm *const algorithms[] = {ALGORITHMS(ADDRESS)};
#undef ADDRESS

enum { ALGORITHM_COUNT = sizeof algorithms / sizeof algorithms[0] };

const pess__algorithm *pess__algorithm_find(const char *name) {
    for (size_t i = 0; name != NULL && i < ALGORITHM_COUNT; i++)
        if (strcmp(algorithms[i]->info.name, name) == 0) return algorithms[i];
    return NULL;
}

const pess_algorithm_info *pess_algorithm_list(size_t index) {
    return index < ALGORITHM_COUNT ? &algorithms[index]->info : NULL;
}

const pess_algorithm_info *pess_algorithm_find(const char *name) {
    const pess__algorithm *algorithm = pess__algorithm_find(name);
    return algorithm != NULL ? &algorithm->info : NULL;
}

bool pess_algorithm_reads(const char *algorithm, const char *uncertainty, const char *setting) {
    const pess_setting *row = pess_setting_find(pess_solve_settings(), setting);
    if (row == NULL || !row->specific) return row != NULL;
    const pess_algorithm_info *info = pess_algorithm_find(algorithm);
    if (info == NULL) return false;
    if (pess_setting_listed(info->settings, setting)) return true;
    const pess_uncertainty_info *bound =
        pess_uncertainty_find(uncertainty != NULL ? uncertainty : info->default_uncertainty);
    return info->default_uncertainty != NULL && bound != NULL && pess_setting_listed(bound->settings, setting);
}
