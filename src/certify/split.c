#include "certify/split.h"

#include "core/memory.h"
#include "data/dataset.h"

#include <math.h>
#include <stdlib.h>

enum { SECOND, FIRST, NEITHER };

typedef struct episode_row {
    int64_t episode, row;
} episode_row;

static int compare_rows(const void *left, const void *right) {
    const episode_row *a = left, *b = right;
    if (a->episode != b->episode) return a->episode < b->episode ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* begins [rows]: the first row, in the order of the file, of the episode that the row belongs to. */
static pess_status find_beginnings(const pess_dataset *data, int64_t *begins, pess_error *error) {
    episode_row *order;
    PESS_TRY(pess__allocate(&order, data->rows, sizeof *order, "the order of episodes", error));
    for (int64_t i = 0; i < data->rows; i++) order[i] = (episode_row){data->episode[i], i};
    qsort(order, (size_t)data->rows, sizeof *order, compare_rows);
    for (int64_t i = 0; i < data->rows; i++) {
        const bool same = i > 0 && order[i].episode == order[i - 1].episode;
        begins[order[i].row] = same ? begins[order[i - 1].row] : order[i].row;
    }
    free(order);
    return PESS_OK;
}

int64_t pess__split_place(int64_t rows, double share) {
    int64_t place = (int64_t)1 << PESS__SPLIT_LEAST;
    for (int i = 1; i < PESS__SPLIT_PLACES && (double)(2 * place) <= share * (double)rows; i++) place *= 2;
    return place;
}

/* The first part ends where the first episode begins at or after `place`. Whether a row begins an episode is known
 * when it is written, so that is a stopping time. Later rows of earlier episodes are left out: what is chosen there may
 * depend on the second part. */
static pess_status mark_episodes(const pess_dataset *data, int64_t place, uint8_t *part, pess_error *error) {
    int64_t *begins, cut = place;
    PESS_TRY(pess__allocate(&begins, data->rows, sizeof *begins, "the order of episodes", error));
    const pess_status status = find_beginnings(data, begins, error);
    while (cut < data->rows && begins[cut] != cut) cut++;
    for (int64_t i = 0; i < data->rows; i++) part[i] = i < cut ? FIRST : begins[i] >= cut ? SECOND : NEITHER;
    free(begins);
    return status;
}

static void mark_rows(int64_t rows, double share, uint64_t seed, uint8_t *part) {
    for (int64_t i = 0; i < rows; i++) {
        uint64_t x = seed + (uint64_t)(i + 1) * UINT64_C(0x9E3779B97F4A7C15);
        x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
        x ^= x >> 31;
        part[i] = (double)(x >> 11) * 0x1p-53 < share ? FIRST : SECOND;
    }
}

/* The columns of a part. */
typedef struct columns {
    uint32_t *state, *action, *next_state;
    double *reward;
    uint8_t *end;
    int64_t *episode, *step;
} columns;

static void columns_release(columns *c) {
    free(c->state);
    free(c->action);
    free(c->next_state);
    free(c->reward);
    free(c->end);
    free(c->episode);
    free(c->step);
}

static pess_status columns_create(int64_t rows, columns *c, pess_error *error) {
    const char *what = "a part of the log";
    PESS_TRY(pess__allocate(&c->state, rows, sizeof *c->state, what, error));
    PESS_TRY(pess__allocate(&c->action, rows, sizeof *c->action, what, error));
    PESS_TRY(pess__allocate(&c->next_state, rows, sizeof *c->next_state, what, error));
    PESS_TRY(pess__allocate(&c->reward, rows, sizeof *c->reward, what, error));
    PESS_TRY(pess__allocate(&c->end, rows, sizeof *c->end, what, error));
    PESS_TRY(pess__allocate(&c->episode, rows, sizeof *c->episode, what, error));
    return pess__allocate(&c->step, rows, sizeof *c->step, what, error);
}

static int64_t copy_part(const pess_dataset *data, const uint8_t *part, int wanted, columns *c) {
    int64_t at = 0;
    for (int64_t i = 0; i < data->rows; i++) {
        if (part[i] != wanted) continue;
        c->state[at] = data->state[i];
        c->action[at] = data->action[i];
        c->next_state[at] = data->next_state[i];
        c->reward[at] = data->reward[i];
        c->end[at] = data->end[i];
        if (data->episode) c->episode[at] = data->episode[i];
        if (data->step) c->step[at] = data->step[i];
        at++;
    }
    return at;
}

static pess_status count(const pess_dataset *data, const columns *c, int64_t rows, pess_counts **out,
                         pess_error *error) {
    const pess_columns view = {.rows = rows,
                               .state = c->state,
                               .action = c->action,
                               .next_state = c->next_state,
                               .reward = c->reward,
                               .end = c->end,
                               .episode = data->episode ? c->episode : NULL,
                               .step = data->step ? c->step : NULL};
    pess_read_options sizes = pess_read_options_defaults();
    sizes.states = data->states;
    sizes.actions = data->actions;
    return pess_counts_from_columns(&view, &sizes, out, error);
}

static pess_status fill(const pess_dataset *data, const pess_counts *whole, const uint8_t *part, columns *c,
                        pess__split *split, pess_error *error) {
    for (int second = 0; second < 2; second++) {
        const int64_t rows = copy_part(data, part, second ? SECOND : FIRST, c);
        *(second ? &split->second_rows : &split->first_rows) = rows;
        if (rows == 0)
            return pess__fail(error, PESS_INPUT,
                              "the log is too small to split: its %s part would have none of its %lld rows; more data "
                              "help, or another share for the first part, or the method robust, which needs no split",
                              second ? "second" : "first", (long long)data->rows);
        PESS_TRY(count(data, c, rows, second ? &split->second : &split->first, error));
    }
    PESS_TRY(pess__counts_of_states(split->first, &split->first_states, error));
    PESS_TRY(pess__counts_of_states(split->second, &split->second_states, error));
    return pess__counts_of_states(whole, &split->whole_states, error);
}

/* Which rows go where, what that costs, and how many times the first part the second is expected to be. */
static pess_status mark(const pess_dataset *data, const pess__split_rule *rule, pess__split *split, uint8_t *part,
                        pess_error *error) {
    split->by_episodes = rule->by_episodes && data->episode;
    split->declared = rule->first_part > 0;
    split->places = split->by_episodes && !split->declared ? PESS__SPLIT_PLACES : 1;
    split->ratio = ((split->places > 1 ? sqrt(2) : 1) - rule->share) / rule->share;
    const int64_t place = split->declared ? rule->first_part : pess__split_place(data->rows, rule->share);
    if (split->by_episodes) return mark_episodes(data, place, part, error);
    if (split->declared)
        for (int64_t i = 0; i < data->rows; i++) part[i] = i < place ? FIRST : SECOND;
    else
        mark_rows(data->rows, rule->share, rule->seed, part);
    return PESS_OK;
}

pess_status pess__split_create(const pess_dataset *data, const pess_counts *whole, const pess__split_rule *rule,
                               pess__split **out, pess_error *error) {
    pess__split *split = NULL;
    uint8_t *part = NULL;
    columns c = {0};
    pess_status status = pess__allocate(&split, 1, sizeof *split, "the parts of the log", error);
    if (status == PESS_OK) status = pess__allocate(&part, data->rows, sizeof *part, "the parts of the log", error);
    if (status == PESS_OK) status = columns_create(data->rows, &c, error);
    if (status == PESS_OK) status = mark(data, rule, split, part, error);
    if (status == PESS_OK) status = fill(data, whole, part, &c, split, error);
    columns_release(&c);
    free(part);
    if (status == PESS_OK)
        *out = split;
    else
        pess__split_destroy(split);
    return status;
}

void pess__split_destroy(pess__split *split) {
    if (!split) return;
    pess_counts_destroy(split->first);
    pess_counts_destroy(split->second);
    pess_counts_destroy(split->first_states);
    pess_counts_destroy(split->second_states);
    pess_counts_destroy(split->whole_states);
    free(split);
}
