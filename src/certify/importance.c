#include "certify/importance.h"

#include "core/ranges.h"

#include <math.h>

static const double WEIGHT_CAP = 1e100;

typedef struct job {
    const pess_dataset *data;
    const pess__trajectories *trajectories;
    const double *probability, *policy;
    double gamma, lo;
    int64_t from;
    double *weight, *decision;
} job;

static void weigh(void *context, int64_t first, int64_t last, int part) {
    (void)part;
    const job *j = context;
    const pess_dataset *data = j->data;
    for (int64_t k = first; k < last; k++) {
        const int64_t e = j->from + k;
        double weight = 1, sum = 0, discount = 1;
        for (int64_t i = j->trajectories->begin[e]; i < j->trajectories->begin[e + 1]; i++) {
            const int64_t row = j->trajectories->row[i];
            const int64_t pair = (int64_t)data->state[row] * data->actions + data->action[row];
            weight = fmin(weight * (j->policy[pair] / j->probability[row]), WEIGHT_CAP);
            const double follows = data->end[row] == PESS_END_TERMINAL ? 0 : j->gamma * j->lo;
            sum += discount * weight * (data->reward[row] - j->lo + follows);
            discount *= j->gamma;
        }
        j->weight[k] = weight;
        if (j->decision != NULL) j->decision[k] = sum;
    }
}

void pess__importance_weights(const pess_dataset *data, const pess__trajectories *trajectories,
                              const double *probability, const double *policy, double gamma, double lo, int64_t from,
                              int64_t to, int threads, double *weight, double *decision) {
    job j = {data, trajectories, probability, policy, gamma, lo, from, weight, decision};
    pess__ranges(to - from > 4096 ? threads : 1, to - from, weigh, &j);
}

pess__weight_summary pess__importance_summary(const double *weight, int64_t count) {
    pess__weight_summary s = {.episodes = count};
    double sum = 0, squares = 0;
    int64_t zeros = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += weight[i];
        squares += weight[i] * weight[i];
        s.largest = fmax(s.largest, weight[i]);
        zeros += weight[i] == 0;
    }
    if (count == 0) return s;
    s.mean = sum / (double)count;
    double spread = 0;
    for (int64_t i = 0; i < count; i++) spread += (weight[i] - s.mean) * (weight[i] - s.mean);
    s.error = count > 1 ? sqrt(spread / (double)(count - 1) / (double)count) : INFINITY;
    s.effective = squares > 0 ? sum * (sum / squares) : 0;
    s.zero_share = (double)zeros / (double)count;
    return s;
}

void pess__importance_values(const pess__returns *returns, const double *weight, int64_t from, int64_t to, double cap,
                             double *values) {
    for (int64_t e = from; e < to; e++)
        values[e - from] = fmin(weight[e - from] * (returns->least[e] - returns->lo), cap);
}

void pess__importance_differences(const pess__returns *returns, const double *weight, int64_t from, int64_t to,
                                  double *values) {
    for (int64_t e = from; e < to; e++)
        values[e - from] = weight[e - from] * (returns->least[e] - returns->lo) + (returns->hi - returns->most[e]);
}
