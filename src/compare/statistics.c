#include "compare/statistics.h"

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

double pess__cells_iqm(const pess__score_cell *cells, int64_t tasks, double *room) {
    int64_t count = 0;
    for (int64_t m = 0; m < tasks; m++)
        for (int64_t i = 0; i < cells[m].count; i++) room[count++] = cells[m].scores[i];
    return pess__interquartile_mean(room, count);
}

double pess__cells_mean(const pess__score_cell *cells, int64_t tasks) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t m = 0; m < tasks; m++) {
        for (int64_t i = 0; i < cells[m].count; i++) sum += cells[m].scores[i];
        count += cells[m].count;
    }
    return sum / (double)count;
}

double pess__cells_median(const pess__score_cell *cells, int64_t tasks, double *room) {
    for (int64_t m = 0; m < tasks; m++) room[m] = pess__cells_mean(&cells[m], 1);
    return pess__median(room, tasks);
}

double pess__cells_improvement(const pess__score_cell *x, const pess__score_cell *y, int64_t tasks) {
    double sum = 0;
    for (int64_t m = 0; m < tasks; m++) {
        double wins = 0;
        for (int64_t i = 0; i < x[m].count; i++)
            for (int64_t j = 0; j < y[m].count; j++) {
                const double difference = x[m].scores[i] - y[m].scores[j];
                wins += difference > 0 ? 1 : difference < 0 ? 0 : 0.5;
            }
        sum += wins / (double)(x[m].count * y[m].count);
    }
    return sum / (double)tasks;
}

double pess__cells_above(const pess__score_cell *cells, int64_t tasks, double tau) {
    double sum = 0;
    for (int64_t m = 0; m < tasks; m++) {
        int64_t above = 0;
        for (int64_t i = 0; i < cells[m].count; i++) above += cells[m].scores[i] > tau;
        sum += (double)above / (double)cells[m].count;
    }
    return sum / (double)tasks;
}
