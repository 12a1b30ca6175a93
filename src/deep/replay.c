#include "deep/replay.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

pess_status pess__replay_create(pess__replay *replay, int64_t capacity, int64_t bytes, pess_error *error) {
    static const char what[] = "the replay memory";
    *replay = (pess__replay){.capacity = capacity, .bytes = bytes};
    pess_status status = pess__allocate(&replay->states, capacity, (size_t)bytes, what, error);
    if (status == PESS_OK) status = pess__allocate(&replay->nexts, capacity, (size_t)bytes, what, error);
    if (status == PESS_OK) status = pess__allocate(&replay->actions, capacity, sizeof *replay->actions, what, error);
    if (status == PESS_OK) status = pess__allocate(&replay->rewards, capacity, sizeof *replay->rewards, what, error);
    if (status == PESS_OK) status = pess__allocate(&replay->ends, capacity, sizeof *replay->ends, what, error);
    if (status != PESS_OK) pess__replay_destroy(replay);
    return status;
}

void pess__replay_destroy(pess__replay *replay) {
    free(replay->states);
    free(replay->nexts);
    free(replay->actions);
    free(replay->rewards);
    free(replay->ends);
    *replay = (pess__replay){0};
}

void pess__replay_add(pess__replay *replay, const uint8_t *state, int32_t action, double reward, const uint8_t *next,
                      uint8_t end) {
    const int64_t at = replay->next;
    memcpy(replay->states + at * replay->bytes, state, (size_t)replay->bytes);
    memcpy(replay->nexts + at * replay->bytes, next, (size_t)replay->bytes);
    replay->actions[at] = action;
    replay->rewards[at] = (float)reward;
    replay->ends[at] = end;
    replay->next = at + 1 < replay->capacity ? at + 1 : 0;
    if (replay->count < replay->capacity) replay->count++;
}

int64_t pess__replay_follow(const pess__replay *replay, int64_t at, int64_t envs, int64_t n, double gamma,
                            double *reward, double *discount) {
    const int64_t oldest = replay->count < replay->capacity ? 0 : replay->next;
    int64_t age = at >= oldest ? at - oldest : at - oldest + replay->capacity; /* entries stored before it */
    *reward = 0;
    *discount = 1;
    for (;;) {
        *reward += *discount * (double)replay->rewards[at];
        *discount = replay->ends[at] == PESS_END_TERMINAL ? 0 : *discount * gamma;
        age += envs;
        if (--n == 0 || replay->ends[at] != PESS_END_NONE || age >= replay->count) return at;
        at = (at + envs) % replay->capacity;
    }
}

void pess__replay_save(const pess__replay *replay, pess__sink *sink) {
    const size_t count = (size_t)replay->count, bytes = (size_t)replay->bytes;
    pess__sink_i64(sink, replay->count);
    pess__sink_i64(sink, replay->next);
    pess__sink_write(sink, replay->states, count * bytes);
    pess__sink_write(sink, replay->nexts, count * bytes);
    pess__sink_write(sink, replay->actions, count * sizeof *replay->actions);
    pess__sink_write(sink, replay->rewards, count * sizeof *replay->rewards);
    pess__sink_write(sink, replay->ends, count);
}

bool pess__replay_restore(pess__replay *replay, pess__cursor *cursor, int32_t actions) {
    const int64_t count = pess__cursor_i64(cursor), next = pess__cursor_i64(cursor);
    if (count < 0 || count > replay->capacity || next < 0 || next >= replay->capacity) return false;
    const size_t n = (size_t)count, bytes = (size_t)replay->bytes;
    replay->count = count;
    replay->next = next;
    pess__cursor_read(cursor, replay->states, n * bytes);
    pess__cursor_read(cursor, replay->nexts, n * bytes);
    pess__cursor_read(cursor, replay->actions, n * sizeof *replay->actions);
    pess__cursor_read(cursor, replay->rewards, n * sizeof *replay->rewards);
    pess__cursor_read(cursor, replay->ends, n);
    for (int64_t i = 0; i < count; i++)
        if (replay->actions[i] < 0 || replay->actions[i] >= actions || replay->ends[i] > PESS_END_CUTOFF) return false;
    return !cursor->beyond;
}
