#include "nn/kernels.h"

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

const pess__kernels *pess__kernels_find(const char *name) {
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if ((name == NULL || strcmp(paths[i]->name, name) == 0) && paths[i]->supported()) return paths[i];
    return NULL;
}
