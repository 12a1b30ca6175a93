/* Control problems: environments whose observations are floats or bytes, one file each. A file has its state, how an
 * episode starts, a step and the observation; the loops around them are shared. */
#ifndef PESS_ENV_CONTROL_H
#define PESS_ENV_CONTROL_H

#include "env/env.h"

/* One step of every environment of the span. */
void pess__control_run(const pess__span *span);

PESS__INLINE pess__instance *pess__control_instance(const pess__span *span, int64_t i) {
    return (pess__instance *)(void *)(span->instances + (size_t)i * span->stride);
}

/* What follows a step of environment i: its end, the next episode, and what the caller asked to see. */
void pess__control_finish(const pess__span *span, pess__instance *instance, int64_t i, pess__step_result outcome);

/* Uniform between the two. */
PESS__INLINE double pess__draw_between(pess__instance *instance, double low, double high) {
    return low + (high - low) * pess__draw_uniform(&instance->source, false);
}

#define PESS__CONTROL(word, state_type, ...) PESS__CONTROL_RUN(word, state_type, pess__control_run, __VA_ARGS__)

/* The same with a loop of its own. */
#define PESS__CONTROL_RUN(word, state_type, runs, ...)                                                                 \
    const pess__game pess__control_##word = {.info = {__VA_ARGS__},                                                    \
                                             .state_size = sizeof(state_type),                                         \
                                             .reset = reset,                                                           \
                                             .step = step,                                                             \
                                             .observe = observe,                                                       \
                                             .valid = valid,                                                           \
                                             .run = runs}

#endif
