/* The loops around a game, compiled into each game's file so that stepping a batch calls nothing per step. The file
 * has defined before:
 *
 *     GAME_CHANNELS, game_state
 *     game_reset(state, source, fast), game_step(state, source, action, ramping, fast, &terminal) -> reward
 *     game_draw(state, words), which writes all GAME_BYTES and nothing behind the word in which they end
 *     game_valid(state)
 */
#include "env/env.h"
#include "env/planes.h"

#include <string.h>

enum { GAME_BITS = PESS__CELLS * GAME_CHANNELS, GAME_BYTES = (GAME_BITS + 7) / 8 };

static void loop_reset(const pess__rules *rules, pess__instance *instance) {
    (void)rules;
    game_reset(pess__state(instance), &instance->source, false);
}

/* Sticky actions: u < sticky takes the previous action instead; the draw happens also where sticky is 0. */
PESS__INLINE pess__step_result loop_act(const pess__rules *rules, pess__instance *instance, int64_t asked, bool fast) {
    const double u = pess__draw_uniform(&instance->source, fast);
    const int action = u < rules->sticky ? instance->previous : rules->action_map[asked];
    instance->previous = (uint8_t)action;
    bool terminal = false;
    const int reward = game_step(pess__state(instance), &instance->source, action, rules->ramping, fast, &terminal);
    return (pess__step_result){.reward = reward, .terminal = terminal};
}

static pess__step_result loop_step(const pess__rules *rules, pess__instance *instance, int64_t action) {
    return loop_act(rules, instance, action, false);
}

static void loop_draw(const void *state, pess__word *words) { game_draw(state, words); }

static bool loop_valid(const pess__rules *rules, const void *state) {
    (void)rules;
    return game_valid(state);
}

PESS__INLINE void loop_write(const uint64_t words[PESS__WORDS], const pess_batch_out *out, int64_t i) {
    if (out->bits != NULL) memcpy(out->bits + i * GAME_BYTES, words, GAME_BYTES);
    if (out->floats != NULL) pess__floats(words, GAME_CHANNELS, out->layout, out->floats + i * GAME_BITS);
    if (out->bytes != NULL) pess__bytes(words, GAME_CHANNELS, out->layout, out->bytes + i * GAME_BITS);
}

/* An episode has ended: keep its last observation and start the next one. Rare, so out of the way. */
static __attribute__((noinline)) void loop_restart(const pess__span *span, pess__instance *instance, int64_t i) {
    uint64_t words[PESS__WORDS];
    game_draw(pess__state(instance), words);
    memcpy(span->final + i * GAME_BYTES, words, GAME_BYTES);
    span->ended[i] = 1;
    game_reset(pess__state(instance), &instance->source, false);
    instance->steps = 0;
    instance->end = PESS_END_NONE;
}

PESS__INLINE void loop_span(const pess__span *span, bool fast) {
    const pess__rules rules = *span->rules;
    const pess_batch_out out = *span->out;
    const bool observed = out.bits != NULL || out.floats != NULL || out.bytes != NULL;
    const bool bits_alone = out.floats == NULL && out.bytes == NULL;
    for (int64_t i = span->first; i < span->last; i++) {
        pess__instance *instance = (pess__instance *)(void *)(span->instances + (size_t)i * span->stride);
        const pess__step_result outcome = loop_act(&rules, instance, span->actions[i], fast);
        const bool late = ++instance->steps >= rules.step_limit;
        const pess_end end = outcome.terminal ? PESS_END_TERMINAL : late ? PESS_END_CUTOFF : PESS_END_NONE;
        if (out.rewards != NULL) out.rewards[i] = outcome.reward;
        if (out.ends != NULL) out.ends[i] = (uint8_t)end;
        if (out.states != NULL) out.states[i] = -1;
        if (__builtin_expect(end != PESS_END_NONE, 0)) loop_restart(span, instance, i);
        if (!observed) continue;
        if (bits_alone && i + 1 < span->last) {
            /* Where it is wanted; the last word reaches into the next observation, which is drawn over it. */
            game_draw(pess__state(instance), (pess__word *)(void *)(out.bits + i * GAME_BYTES));
        } else {
            uint64_t words[PESS__WORDS];
            game_draw(pess__state(instance), words);
            loop_write(words, &out, i);
        }
    }
}

static void loop_run(const pess__span *span) {
    if (span->fast)
        loop_span(span, true);
    else
        loop_span(span, false);
}

/* What the board shows; the file has defined channels and minimal. */
#define GAME_BOARD                                                                                                     \
    .rows = PESS__ROWS, .cols = PESS__COLS, .channels = GAME_CHANNELS, .channel = channels,                            \
    .minimal_count = sizeof minimal, .minimal = minimal

#define GAME_TABLE                                                                                                     \
    .state_size = sizeof(game_state), .reset = loop_reset, .step = loop_step, .draw = loop_draw, .valid = loop_valid,  \
    .run = loop_run
