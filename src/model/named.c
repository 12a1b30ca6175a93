#include "model/named.h"

#include <math.h>
#include <stdio.h>

void pess__write_id(pess__outfile *file, const pess_names *names, int64_t id) {
    const char *name = pess_names_given(names) ? pess_names_get(names, id) : NULL;
    if (name != NULL)
        pess__outfile_field(file, name);
    else
        pess__outfile_integer(file, id);
}

const char *pess__show_id(const pess_names *names, int64_t id, char buffer[PESS__ID_SIZE]) {
    const char *name = pess_names_given(names) ? pess_names_get(names, id) : NULL;
    if (name != NULL)
        (void)snprintf(buffer, PESS__ID_SIZE, "'%.50s'", name);
    else
        (void)snprintf(buffer, PESS__ID_SIZE, "%lld", (long long)id);
    return buffer;
}

double pess__sum_tolerance(int64_t count) { return fmin(0.5e-6 * ((double)count + 1), 1e-4); }

bool pess__normalise(double *values, int64_t count, double *sum) {
    int64_t used = 0;
    *sum = 0;
    for (int64_t i = 0; i < count; i++) {
        *sum += values[i];
        used += values[i] > 0;
    }
    if (fabs(*sum - 1) <= 1e-12) return true;
    if (!(fabs(*sum - 1) <= pess__sum_tolerance(used))) return false;
    for (int64_t i = 0; i < count; i++) values[i] /= *sum;
    return true;
}
