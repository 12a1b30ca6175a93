#include "data/sparse.h"

#include "data/names.h"
#include "data/reading.h"

#include <stdio.h>

enum { FEW = 1 << 20, TIMES = 32 };

/* Pairs with an action: tables over so few cost next to nothing. */
static bool are_few(int64_t states, int64_t actions) { return states <= FEW / (actions > 0 ? actions : 1); }

bool pess__few_occur(int64_t found, int64_t ids, int64_t others) {
    return !are_few(ids, others) && found < ids / TIMES;
}

bool pess__is_sparse(const pess__stream *stream) {
    const bool listed = stream->counted != NULL && stream->counted->starts != NULL; /* the file has a number for each */
    return stream->occurring == NULL && stream->state_names == NULL && stream->options.states == 0 && !listed &&
           pess__few_occur(stream->rows, stream->states, stream->actions);
}

static pess_status number(pess__stream *stream, uint32_t *id, pess_error *error) {
    char name[16];
    int64_t place = 0;
    const int length = snprintf(name, sizeof name, "%u", *id);
    PESS_TRY(pess__names_add(stream->occurring, name, (size_t)length, &place, error));
    *id = (uint32_t)place;
    return PESS_OK;
}

/* Rows that stand for no transition have no next state, or no state at all. */
static pess_status number_block(pess__stream *stream, pess__block *block, bool next, pess_error *error) {
    for (int64_t i = 0; i < block->rows; i++) {
        const uint8_t end = block->end[i];
        if (end != PESS__END_GAP) PESS_TRY(number(stream, &block->state[i], error));
        if (next && end < PESS__END_SQUARES) PESS_TRY(number(stream, &block->next_state[i], error));
    }
    const int64_t count = pess_names_count(stream->occurring);
    block->max_state = count > 0 ? (uint32_t)count - 1 : 0;
    return PESS_OK;
}

pess_status pess__number_states(pess__stream *stream, const pess__portion *portion, pess_error *error) {
    if (stream->occurring == NULL) return PESS_OK;
    const bool next = !stream->reading->info.next_state_derived;
    for (int64_t i = 0; i < portion->count; i++) PESS_TRY(number_block(stream, &portion->blocks[i], next, error));
    return PESS_OK;
}

pess_status pess__settle_states(pess__stream *stream, pess_error *error) {
    pess__counted *counted = stream->counted;
    if (stream->occurring == NULL) return PESS_OK;
    for (int64_t i = 0; counted != NULL && i < counted->episodes; i++)
        PESS_TRY(number(stream, &counted->first_state[i], error));
    stream->states = pess_names_count(stream->occurring);
    stream->states_declared = false;
    stream->state_names = stream->occurring;
    stream->occurring = NULL;
    return PESS_OK;
}
