#include "compare/statistics.h"

#include <math.h>

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
