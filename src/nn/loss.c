#include "nn/trainer.h"

#include <math.h>

/* Loss of d = q − target and its derivative. */
static double distance(const pess__loss *loss, double d, double *slope) {
    if (loss->kind == PESS__LOSS_SQUARED) {
        *slope = 2 * d;
        return d * d;
    }
    if (loss->kind == PESS__LOSS_DISTANCE) return loss->distance(d, loss->parameter, slope);
    const double edge = loss->parameter, size = fabs(d);
    if (size <= edge) {
        *slope = d;
        return 0.5 * d * d;
    }
    *slope = d > 0 ? edge : d < 0 ? -edge : d; /* the last: NaN stays NaN */
    return edge * (size - 0.5 * edge);
}

/* −log softmax(q)[action]; delta += factor·(softmax(q) − 1[action]). */
static double cross_entropy(const pess__real *q, int64_t outputs, int32_t action, double factor, pess__real *delta) {
    double most = (double)q[0], sum = 0;
    for (int64_t j = 1; j < outputs; j++) most = (double)q[j] > most ? (double)q[j] : most;
    for (int64_t j = 0; j < outputs; j++) sum += exp((double)q[j] - most);
    for (int64_t j = 0; j < outputs; j++)
        delta[j] += (pess__real)(factor * (exp((double)q[j] - most) / sum - (j == action ? 1 : 0)));
    return log(sum) + most - (double)q[action];
}

/* The distance of a mixture of heads: each head's share of the slope is its weight. */
static double mixed_distance(const pess__loss *loss, int64_t actions, int32_t action, double target, double factor,
                             const pess__real *q, pess__real *delta, double *mixed) {
    double slope;
    *mixed = 0;
    for (int64_t k = 0; k < loss->heads; k++) *mixed += loss->mixture[k] * (double)q[k * actions + action];
    const double value = distance(loss, *mixed - target, &slope);
    for (int64_t k = 0; k < loss->heads; k++)
        delta[k * actions + action] += (pess__real)(factor * loss->mixture[k] * slope);
    return value;
}

/* Label `at` of a sample: adds to its delta and to the sums. */
static void add_label(const pess__loss *loss, const pess__labels *labels, int64_t at, int64_t outputs, double scale,
                      const pess__real *q, pess__real *delta, pess__loss_sums *sums) {
    const int32_t action = labels->actions[at];
    const double weight = labels->weights != NULL ? (double)labels->weights[at] : 1;
    double value;
    if (loss->kind == PESS__LOSS_CROSS_ENTROPY) {
        value = cross_entropy(q, outputs, action, scale * weight, delta);
    } else if (loss->heads > 1) {
        double mixed;
        value = mixed_distance(loss, outputs / loss->heads, action, (double)labels->targets[at], scale * weight, q,
                               delta, &mixed);
        sums->output += mixed - (double)q[action];
    } else {
        double slope;
        value = distance(loss, (double)q[action] - (double)labels->targets[at], &slope);
        delta[action] += (pess__real)(scale * weight * slope);
        if (loss->conservative > 0)
            value += loss->conservative * cross_entropy(q, outputs, action, scale * weight * loss->conservative, delta);
    }
    sums->loss += weight * value;
    sums->output += (double)q[action];
}

double pess__direction(const pess__real *q, int64_t outputs, double *direction) {
    double mean = 0, squares = 0;
    for (int64_t j = 0; j < outputs; j++) mean += (double)q[j] / (double)outputs;
    for (int64_t j = 0; j < outputs; j++) {
        direction[j] = (double)q[j] - mean;
        squares += direction[j] * direction[j];
    }
    const double length = sqrt(squares);
    for (int64_t j = 0; j < outputs; j++) direction[j] = length > 0 ? direction[j] / length : 0;
    return length;
}

/* c = ĝ · others; delta += factor · (others − c ĝ)/|g|, where the sum of others is 0. Outputs that are nearly equal
 * have no direction to speak of, and a slope without bounds: none is taken. */
static double agreement(const pess__real *q, const pess__real *others, int64_t outputs, double factor,
                        pess__real *delta) {
    double direction[PESS__MOST_DIRECTIONS], cosine = 0;
    const double length = pess__direction(q, outputs, direction);
    for (int64_t j = 0; j < outputs; j++) cosine += direction[j] * (double)others[j];
    if (length < PESS__LEAST_LENGTH) return cosine;
    for (int64_t j = 0; j < outputs; j++)
        delta[j] += (pess__real)(factor * ((double)others[j] - cosine * direction[j]) / length);
    return cosine;
}

void pess__loss_gradient(const pess__loss *loss, const pess__labels *labels, int64_t first, int64_t samples,
                         int64_t outputs, int64_t stride, double scale, const pess__real *q, pess__real *delta,
                         pess__loss_sums *sums) {
    for (int64_t i = first; i < first + samples; i++, q += stride, delta += stride) {
        for (int64_t j = 0; j < stride; j++) delta[j] = 0;
        if (labels->first != NULL) {
            for (int64_t at = labels->first[i]; at < labels->first[i + 1]; at++)
                add_label(loss, labels, at, outputs, scale, q, delta, sums);
        } else {
            add_label(loss, labels, labels->index != NULL ? labels->index[i] : i, outputs, scale, q, delta, sums);
        }
        if (loss->diversity > 0) {
            const double count = labels->first != NULL ? (double)(labels->first[i + 1] - labels->first[i]) : 1,
                         weight = loss->diversity * count;
            sums->loss += weight * agreement(q, labels->others + i * outputs, outputs, scale * weight, delta);
        }
    }
}
