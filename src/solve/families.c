/* The table of algorithms. Adding one means one new file and one row here. */
#include "solve/family.h"

#include <string.h>
#include <threads.h>

/* One file each: pess__family_<name>. */
/* clang-format off */
#define FAMILIES(X)                                                                                                    \
    X(imitation) X(naive) X(ua) X(proximal) X(density_proximal) X(robust)                                              \
    X(spibb) X(spibb_leq) X(soft_spibb) X(ramdp) X(rmin) X(duipi)
/* clang-format on */

#define DECLARE(name) extern const pess__family pess__family_##name;
FAMILIES(DECLARE)
#undef DECLARE

#define ADDRESS(name) &pess__family_##name,
static const pess__family *const families[] = {FAMILIES(ADDRESS)};
#undef ADDRESS

enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

const pess__family *pess__family_find(const char *name) {
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(families[i]->info.name, name) == 0) return families[i];
    return NULL;
}

/* The public list is one array, the rows live in the families' files: copied together on first use, constant after. */
static pess_algorithm_info infos[FAMILY_COUNT];
static once_flag infos_once = ONCE_FLAG_INIT;

static void fill_infos(void) {
    for (size_t i = 0; i < FAMILY_COUNT; i++) infos[i] = families[i]->info;
}

const pess_algorithm_info *pess_algorithm_list(size_t *count) {
    call_once(&infos_once, fill_infos);
    *count = FAMILY_COUNT;
    return infos;
}

const pess_algorithm_info *pess_algorithm_find(const char *name) {
    const pess__family *family = pess__family_find(name);
    return family != NULL ? &family->info : NULL;
}
