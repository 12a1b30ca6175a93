#include "data/columns.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

pess_status pess__cutter_create(pess__cutter *cutter, pess__stream *stream, int64_t rows, int64_t block_rows,
                                pess_error *error) {
    cutter->rows = stream->total_rows = rows;
    cutter->block_rows = block_rows < PESS__BLOCK_ROWS ? block_rows : PESS__BLOCK_ROWS;
    if (cutter->block_rows > rows) cutter->block_rows = rows > 0 ? rows : 1;
    const int64_t needed = (rows + cutter->block_rows - 1) / cutter->block_rows;
    cutter->count = needed < 2 * (int64_t)stream->threads ? needed : 2 * (int64_t)stream->threads;
    PESS_TRY(pess__allocate(&cutter->blocks, cutter->count, sizeof *cutter->blocks, "blocks of the log", error));
    for (int64_t i = 0; i < cutter->count; i++)
        PESS_TRY(pess__block_create(&cutter->blocks[i], cutter->block_rows, stream->has_episode, stream->has_step,
                                    stream->has_probability, error));
    return PESS_OK;
}

void pess__cutter_free(pess__cutter *cutter) {
    for (int64_t i = 0; cutter->blocks != NULL && i < cutter->count; i++) pess__block_free(&cutter->blocks[i]);
    free(cutter->blocks);
}

static pess_status bad_value(const pess__stream *stream, const char *column, int64_t row, const char *found,
                             const char *expected, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: column '%s', row %lld: found %s, expected %s",
                      pess__infile_name(stream->file), column, (long long)row, found, expected);
}

static pess_status bad_id(const pess__stream *stream, const char *column, int64_t row, uint32_t id, int64_t limit,
                          bool declared, pess_error *error) {
    return pess__fail(error, PESS_INPUT, "%s: column '%s', row %lld: found %u, expected an integer from 0 to %lld%s",
                      pess__infile_name(stream->file), column, (long long)row, id, (long long)limit - 1,
                      declared ? ", as declared" : "");
}

static pess_status check_block(const pess__stream *stream, pess__block *block, int64_t first, pess_error *error) {
    const int64_t states = stream->states_declared ? stream->states : PESS_MAX_STATES;
    const int64_t actions = stream->actions_declared ? stream->actions : PESS_MAX_ACTIONS;
    uint32_t max_state = 0, max_action = 0;
    for (int64_t i = 0; i < block->rows; i++) {
        const uint32_t s = block->state[i], t = block->next_state[i], a = block->action[i];
        if (s >= states) return bad_id(stream, "state", first + i, s, states, stream->states_declared, error);
        if (t >= states) return bad_id(stream, "next_state", first + i, t, states, stream->states_declared, error);
        if (a >= actions) return bad_id(stream, "action", first + i, a, actions, stream->actions_declared, error);
        max_state = s > max_state ? s : max_state;
        max_state = t > max_state ? t : max_state;
        max_action = a > max_action ? a : max_action;
        if (!isfinite(block->reward[i]))
            return bad_value(stream, "reward", first + i, isnan(block->reward[i]) ? "NaN" : "an infinity",
                             "a finite number", error);
        if (block->end[i] > PESS_END_CUTOFF)
            return bad_value(stream, "end", first + i, "an unknown value", "0, 1 or 2", error);
        if (block->probability != NULL && !(block->probability[i] >= 0 && block->probability[i] <= 1))
            return bad_value(stream, "probability", first + i, "a number outside [0,1]", "a probability", error);
    }
    block->max_state = max_state;
    block->max_action = max_action;
    return PESS_OK;
}

pess_status pess__cutter_next(pess__cutter *cutter, pess__stream *stream, pess__fill *fill, pess__portion *portion,
                              pess_error *error) {
    portion->blocks = cutter->blocks;
    portion->count = 0;
    for (; portion->count < cutter->count && cutter->at < cutter->rows; portion->count++) {
        pess__block *block = &cutter->blocks[portion->count];
        const int64_t left = cutter->rows - cutter->at;
        block->rows = left < cutter->block_rows ? left : cutter->block_rows;
        PESS_TRY(fill(stream, block, cutter->at, error));
        PESS_TRY(check_block(stream, block, cutter->at, error));
        cutter->at += block->rows;
    }
    return PESS_OK;
}
