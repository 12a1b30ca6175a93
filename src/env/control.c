#include "env/control.h"

#include <string.h>

/* An episode has ended: keep its last observation and start the next one. */
static void restart(const pess__span *span, pess__instance *instance, int64_t i) {
    span->game->observe(span->rules, pess__state(instance), span->final + i * span->rules->bytes);
    span->ended[i] = 1;
    span->game->reset(span->rules, instance);
    instance->steps = 0;
    instance->end = PESS_END_NONE;
}

void pess__control_finish(const pess__span *span, pess__instance *instance, int64_t i, pess__step_result outcome) {
    const pess_batch_out *out = span->out;
    const bool late = ++instance->steps >= span->rules->step_limit;
    const pess_end end = outcome.terminal ? PESS_END_TERMINAL : late ? PESS_END_CUTOFF : PESS_END_NONE;
    if (out->rewards != NULL) out->rewards[i] = outcome.reward;
    if (out->ends != NULL) out->ends[i] = (uint8_t)end;
    if (end != PESS_END_NONE) restart(span, instance, i);
    pess__observe(span->game, span->rules, instance, out, i);
}

void pess__control_run(const pess__span *span) {
    for (int64_t i = span->first; i < span->last; i++) {
        pess__instance *instance = pess__control_instance(span, i);
        pess__control_finish(span, instance, i, span->game->step(span->rules, instance, span->actions[i]));
    }
}
