/* Control problems: environments whose observations are floats or bytes, one file each. A file has its state, how an
 * episode starts, a step and the observation; the loops around them are shared. */
#ifndef PESS_ENV_CONTROL_H
#define PESS_ENV_CONTROL_H

#include "env/env.h"

/* One step of every environment of the span. */
void pess__control_run(const pess__span *span);

/* Uniform between the two. */
PESS__INLINE double pess__draw_between(pess__instance *instance, double low, double high) {
    return low + (high - low) * pess__draw_uniform(&instance->source, false);
}

#define PESS__CONTROL(word, state_type, ...)                                                                           \
    const pess__game pess__control_##word = {.info = {__VA_ARGS__},                                                    \
                                             .state_size = sizeof(state_type),                                         \
                                             .reset = reset,                                                           \
                                             .step = step,                                                             \
                                             .observe = observe,                                                       \
                                             .valid = valid,                                                           \
                                             .run = pess__control_run}

#endif
