#include "model/named.h"

#include <math.h>
#include <stdio.h>

void pess__write_id(pess__outfile *file, const pess_names *names, int64_t id) {
    const char *name = pess_names_given(names) ? pess_names_get(names, id) : NULL;
    if (name != NULL)
        pess__outfile_field(file, name);
    else
        pess__outfile_print(file, "%lld", (long long)id);
}

const char *pess__show_id(const pess_names *names, int64_t id, char buffer[PESS__ID_SIZE]) {
    const char *name = pess_names_given(names) ? pess_names_get(names, id) : NULL;
    if (name != NULL)
        (void)snprintf(buffer, PESS__ID_SIZE, "'%.50s'", name);
    else
        (void)snprintf(buffer, PESS__ID_SIZE, "%lld", (long long)id);
    return buffer;
}

bool pess__normalise(double *values, int64_t count, double *sum) {
    *sum = 0;
    for (int64_t i = 0; i < count; i++) *sum += values[i];
    if (fabs(*sum - 1) <= 1e-12) return true;
    if (!(fabs(*sum - 1) <= 1e-6)) return false;
    for (int64_t i = 0; i < count; i++) values[i] /= *sum;
    return true;
}
