/* What is told of numbers once they are sorted. */
#ifndef PESS_CORE_SORTED_H
#define PESS_CORE_SORTED_H

#include <stdint.h>

void pess__sort_numbers(double *values, int64_t count); /* ascending */
/* Mean of sorted[k … n−k−1], k = ⌊n/4⌋: what remains when a quarter is cut off at either end. Sorts the values. */
double pess__interquartile_mean(double *values, int64_t count);
/* Sorts the values; between two of them where the count is even. */
double pess__median(double *values, int64_t count);
/* The p quantile of sorted values, linear between two of them (as NumPy has it). */
double pess__sorted_quantile(const double *sorted, int64_t count, double p);

#endif
