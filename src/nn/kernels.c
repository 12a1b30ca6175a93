#include "nn/kernels.h"

#include "pess/networks.h"

#include <stdlib.h>
#include <string.h>

static const pess__kernels *const paths[] = {
#ifdef PESS__KERNELS_X86
    &pess__kernels_avx512,
    &pess__kernels_avx2,
#endif
    &pess__kernels_portable,
};

const pess__kernels *const *pess__kernels_list(size_t *count) {
    *count = sizeof paths / sizeof paths[0];
    return paths;
}

const char *pess__kernels_wanted(const char *name) { return name != NULL ? name : getenv("PESS_KERNELS"); }

const pess__kernels *pess__kernels_find(const char *given) {
    const char *name = pess__kernels_wanted(given);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if ((name == NULL || strcmp(paths[i]->name, name) == 0) && paths[i]->supported()) return paths[i];
    return NULL;
}

const char *pess_kernels(void) {
    const pess__kernels *best = pess__kernels_find(NULL);
    return best != NULL ? best->name : "none";
}
