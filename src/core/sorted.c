#include "core/sorted.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void pess__sort_numbers(double *values, int64_t count) { qsort(values, (size_t)count, sizeof *values, ascending); }

double pess__interquartile_mean(double *values, int64_t count) {
    const int64_t cut = count / 4;
    double sum = 0;
    pess__sort_numbers(values, count);
    for (int64_t i = cut; i < count - cut; i++) sum += values[i];
    return count > 0 ? sum / (double)(count - 2 * cut) : NAN;
}

double pess__median(double *values, int64_t count) {
    pess__sort_numbers(values, count);
    return pess__sorted_quantile(values, count, 0.5);
}

double pess__sorted_quantile(const double *sorted, int64_t count, double p) {
    if (count < 1) return NAN;
    const double at = p * (double)(count - 1);
    const int64_t below = (int64_t)floor(at), above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}
