#include "data/next_rows.h"

#include "core/memory.h"
#include "data/order.h"
#include "data/reading.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 16 };

struct pess__all_rows {
    pess_dataset *rows;
    int64_t at; /* the next row to hand out */
    pess__block blocks[BLOCKS];
};

void pess__all_rows_free(pess__all_rows *all) {
    if (all == NULL) return;
    pess_dataset_destroy(all->rows);
    free(all);
}

/* ---- what follows a row */

/* One row and those around it in its episode; -1: there is none. */
typedef struct place {
    int64_t before, row, after; /* before: the last one that stays */
} place;

/* Whether the row stays. */
static bool derive(pess__linked_rows *r, const place *p) {
    uint8_t *end = &r->end[p->row];
    if (*end >= PESS__END_GAP) return false;
    if (p->after < 0 && *end == PESS_END_NONE && r->last_row == PESS_LAST_ROW_TERMINAL) {
        *end = PESS_END_TERMINAL;
        r->declared_ends++;
    }
    if (*end == PESS_END_TERMINAL) {
        r->next_state[p->row] = r->state[p->row];
        return true;
    }
    if (p->after >= 0 && r->end[p->after] != PESS__END_GAP) {
        r->next_state[p->row] = r->state[p->after];
        return true;
    }
    if (p->before >= 0 && r->end[p->before] == PESS_END_NONE) r->end[p->before] = PESS_END_CUTOFF;
    r->last_rows++;
    return false;
}

/* Whether `next`, the row after `row`, is of the same episode. Without an episode column, an episode goes on until a
 * row that ends. */
static bool follows(const int64_t *episode, const uint8_t *end, int64_t row, int64_t next) {
    if (episode != NULL) return episode[row] == episode[next];
    return end[row] != PESS_END_TERMINAL && end[row] != PESS_END_CUTOFF;
}

void pess__link_rows(pess__linked_rows *r, const int64_t *order) {
    place p = {-1, -1, -1};
    for (int64_t i = 0; i < r->rows; i++) {
        p.row = order[i];
        p.after = i + 1 < r->rows && follows(r->episode, r->end, p.row, order[i + 1]) ? order[i + 1] : -1;
        r->left_out[p.row] = !derive(r, &p);
        if (p.after < 0)
            p.before = -1;
        else if (!r->left_out[p.row])
            p.before = p.row;
    }
}

/* The log has next states: the last row of an episode ends as declared where its columns do not say it. */
static void declare_ends(pess_dataset *d, const int64_t *order, pess_reading *reading) {
    const bool terminal = reading->options.last_row == PESS_LAST_ROW_TERMINAL;
    for (int64_t i = 0; i < d->rows; i++) {
        const int64_t row = order[i];
        if (d->end[row] != PESS_END_NONE) continue;
        if (i + 1 < d->rows && follows(d->episode, d->end, row, order[i + 1])) continue;
        d->end[row] = terminal ? PESS_END_TERMINAL : PESS_END_CUTOFF;
        reading->info.declared_ends++;
    }
}

static void link_log(pess_dataset *d, const int64_t *order, pess_reading *reading, bool *left_out) {
    pess__linked_rows rows = {.rows = d->rows,
                              .episode = d->episode,
                              .state = d->state,
                              .last_row = (pess_last_row)reading->options.last_row,
                              .end = d->end,
                              .next_state = d->next_state,
                              .left_out = left_out};
    pess__link_rows(&rows, order);
    reading->info.last_rows += rows.last_rows;
    reading->info.declared_ends += rows.declared_ends;
}

/* ---- the whole log */

static void move_row(pess_dataset *d, int64_t to, int64_t from) {
    d->state[to] = d->state[from];
    d->action[to] = d->action[from];
    d->next_state[to] = d->next_state[from];
    d->reward[to] = d->reward[from];
    d->end[to] = d->end[from];
    if (d->episode != NULL) d->episode[to] = d->episode[from];
    if (d->step != NULL) d->step[to] = d->step[from];
    if (d->probability != NULL) d->probability[to] = d->probability[from];
}

static pess_status settle(pess_dataset *d, pess_reading *reading, pess_error *error) {
    int64_t *order = NULL;
    bool *left_out = NULL;
    pess_status status = pess__allocate(&order, d->rows, sizeof *order, "the order of rows", error);
    if (status == PESS_OK) status = pess__allocate(&left_out, d->rows, sizeof *left_out, "the order of rows", error);
    if (status == PESS_OK) status = pess__order_episodes(d->episode, d->step, d->rows, order, error);
    if (status == PESS_OK) {
        int64_t kept = 0;
        if (reading->info.next_state_derived)
            link_log(d, order, reading, left_out);
        else
            declare_ends(d, order, reading);
        for (int64_t i = 0; i < d->rows; i++)
            if (!left_out[i]) move_row(d, kept++, i);
        d->rows = kept;
    }
    free(order);
    free(left_out);
    return status;
}

static pess_status load(pess__stream *stream,
                        pess_status (*next)(pess__stream *stream, pess__portion *portion, pess_error *error),
                        pess_error *error) {
    pess__all_rows *all = NULL;
    PESS_TRY(pess__allocate(&all, 1, sizeof *all, "the log", error));
    stream->all_rows = all;
    PESS_TRY(pess__allocate(&all->rows, 1, sizeof *all->rows, "the log", error));
    for (int64_t capacity = 0;;) {
        pess__portion portion = {0};
        PESS_TRY(next(stream, &portion, error));
        if (portion.restarted) all->rows->rows = 0;
        if (portion.count == 0) break;
        PESS_TRY(pess__dataset_append(all->rows, stream, &portion, &capacity, error));
    }
    PESS_TRY(settle(all->rows, stream->reading, error));
    stream->rows = all->rows->rows;
    if (stream->rows > 0) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: found no row that is followed by another of its episode, expected some",
                      pess__infile_name(stream->file));
}

static pess__block view(const pess_dataset *d, int64_t at, int64_t rows, const pess__stream *stream) {
    return (pess__block){.rows = rows,
                         .state = d->state + at,
                         .action = d->action + at,
                         .next_state = d->next_state + at,
                         .reward = d->reward + at,
                         .end = d->end + at,
                         .episode = d->episode != NULL ? d->episode + at : NULL,
                         .step = d->step != NULL ? d->step + at : NULL,
                         .probability = d->probability != NULL ? d->probability + at : NULL,
                         .max_state = (uint32_t)(stream->states - 1),
                         .max_action = (uint32_t)(stream->actions - 1)};
}

pess_status pess__all_rows_next(pess__stream *stream,
                                pess_status (*next)(pess__stream *stream, pess__portion *portion, pess_error *error),
                                pess__portion *portion, pess_error *error) {
    if (stream->all_rows == NULL) PESS_TRY(load(stream, next, error));
    pess__all_rows *all = stream->all_rows;
    const pess_dataset *d = all->rows;
    portion->blocks = all->blocks;
    for (; portion->count < BLOCKS && all->at < d->rows; portion->count++) {
        const int64_t left = d->rows - all->at, rows = left < PESS__BLOCK_ROWS ? left : PESS__BLOCK_ROWS;
        all->blocks[portion->count] = view(d, all->at, rows, stream);
        all->at += rows;
    }
    return PESS_OK;
}
