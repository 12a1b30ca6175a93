#include "deep/standard.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static const float *observation_of(const pess_observations *data, int64_t transition) {
    return (const float *)(const void *)(data->observations + data->state[transition] * data->bytes);
}

/* mean_k = Σ_i v_ik / N,   deviation_k = √(Σ_i (v_ik − mean_k)² / N),   over the transitions i in their order */
static void measure(const pess_observations *data, double *mean, double *square) {
    const int64_t count = data->transitions, length = data->shape.length;
    for (int64_t i = 0; i < count; i++) {
        const float *v = observation_of(data, i);
        for (int64_t k = 0; k < length; k++) mean[k] += (double)v[k];
    }
    for (int64_t k = 0; k < length; k++) mean[k] /= (double)count;
    for (int64_t i = 0; i < count; i++) {
        const float *v = observation_of(data, i);
        for (int64_t k = 0; k < length; k++) square[k] += ((double)v[k] - mean[k]) * ((double)v[k] - mean[k]);
    }
}

pess_status pess__standardise_by(const pess_observations *data, pess__net *net, pess_error *error) {
    static const char what[] = "the means of the features";
    if (net->spec.input != PESS_OBSERVATION_FLOATS) return PESS_OK;
    const int64_t length = data->shape.length;
    double *mean = NULL, *square = NULL;
    pess_status status = pess__allocate(&mean, length, sizeof *mean, what, error);
    if (status == PESS_OK) status = pess__allocate(&square, length, sizeof *square, what, error);
    if (status == PESS_OK) {
        measure(data, mean, square);
        for (int64_t k = 0; k < length; k++) {
            const double deviation = sqrt(square[k] / (double)data->transitions);
            const bool constant = !(deviation > 1e-6 * fabs(mean[k]) && deviation > 1e-30);
            net->shift[k] = (float)mean[k];
            net->scale[k] = constant ? 0 : (float)(1 / deviation);
        }
    }
    free(mean);
    free(square);
    return status;
}
