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

/* The bound that the algorithm goes by; NULL: none. */
static const pess_uncertainty_info *bound_of(const pess_algorithm_info *info, const char *uncertainty) {
    if (info->default_uncertainty == NULL) return NULL;
    return pess_uncertainty_find(uncertainty != NULL ? uncertainty : info->default_uncertainty);
}

bool pess_algorithm_reads(const char *algorithm, const char *uncertainty, const char *setting) {
    const pess_setting *row = pess_setting_find(pess_solve_settings(), setting);
    if (row == NULL || !row->specific) return row != NULL;
    const pess_algorithm_info *info = pess_algorithm_find(algorithm);
    if (info == NULL) return false;
    const pess_uncertainty_info *bound = bound_of(info, uncertainty);
    return pess_setting_listed(info->settings, setting) ||
           (bound != NULL && pess_setting_listed(bound->settings, setting));
}

bool pess_evaluation_reads(const char *algorithm, const char *uncertainty, const char *setting) {
    const pess_setting *row = pess_setting_find(pess_solve_settings(), setting);
    const pess__algorithm *found = pess__algorithm_find(algorithm);
    if (row == NULL || found == NULL || !row->specific) return pess_algorithm_reads(algorithm, uncertainty, setting);
    if (found->evaluate == pess__evaluate_plain || strcmp(setting, "method") == 0) return false;
    const pess_uncertainty_info *bound = bound_of(&found->info, uncertainty);
    if (strcmp(setting, "max-iterations") == 0) return bound != NULL && bound->depends_on_values;
    return pess_algorithm_reads(algorithm, uncertainty, setting);
}
