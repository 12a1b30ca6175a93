#include "data/inspect.h"

#include "core/memory.h"
#include "data/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AS_STATE = 1, AS_NEXT = 2, AS_TERMINAL = 4 }; /* how a state occurs */

/* ------------------------------------------------------------------------------------------------ states, rewards */

static pess_status look_at_states(const pess_dataset *d, pess_inspection *in, pess__inspected *found,
                                  pess_error *error) {
    uint8_t *state = NULL, *action = NULL;
    pess_status status = pess__allocate(&state, d->states, 1, "a look at the states", error);
    if (status == PESS_OK) status = pess__allocate(&action, d->actions, 1, "a look at the actions", error);
    if (status == PESS_OK) {
        for (int64_t i = 0; i < d->rows; i++) {
            state[d->state[i]] |= AS_STATE;
            state[d->next_state[i]] |= d->end[i] == PESS_END_TERMINAL ? AS_TERMINAL : AS_NEXT;
            action[d->action[i]] = 1;
        }
        for (int64_t s = 0; s < d->states; s++) {
            in->states_seen += (state[s] & AS_STATE) != 0;
            in->next_only_states += (state[s] & (AS_STATE | AS_NEXT)) == AS_NEXT;
            in->terminal_states += state[s] == AS_TERMINAL;
        }
        for (int64_t a = 0; a < d->actions; a++) in->actions_seen += action[a];
        for (int64_t i = 0; i < d->rows && found->next_only_row < 0; i++)
            if (d->end[i] != PESS_END_TERMINAL && (state[d->next_state[i]] & AS_STATE) == 0) found->next_only_row = i;
    }
    free(state);
    free(action);
    return status;
}

static void look_at_rewards(const pess_dataset *d, pess_inspection *in) {
    double mean = 0;
    for (int64_t i = 0; i < d->rows; i++) {
        const double r = d->reward[i];
        if (i == 0 || r < in->reward_min) in->reward_min = r;
        if (i == 0 || r > in->reward_max) in->reward_max = r;
        mean += (r - mean) / (double)(i + 1); /* running mean: no overflow */
        in->terminals += d->end[i] == PESS_END_TERMINAL;
        in->cutoffs += d->end[i] == PESS_END_CUTOFF;
    }
    in->reward_mean = mean;
}

/* ------------------------------------------------------------------------------------------------ pairs */

static int compare_counts(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* The logged probability of an action should be near the share of its state's rows: compares the two where a state has
 * 50 rows or more, and calls it odd beyond a tenth and five standard errors. */
static void compare_probability(const pess_dataset *d, const int64_t *rows_of_state, const int64_t *order,
                                int64_t count, pess__inspected *found) {
    const int64_t row = order[0], n = rows_of_state[d->state[row]];
    if (d->probability == NULL || n < 50) return;
    double logged = 0;
    for (int64_t i = 0; i < count; i++) logged += d->probability[order[i]];
    logged /= (double)count;
    const double share = (double)count / (double)n;
    const double deviation = fabs(logged - share);
    found->probability_pairs++;
    if (deviation <= 0.1 + 5 * sqrt(logged * (1 - logged) / (double)n)) return;
    if (found->odd_pairs++ == 0 || deviation > fabs(found->odd_logged - found->odd_empirical)) {
        found->odd_row = row;
        found->odd_logged = logged;
        found->odd_empirical = share;
    }
}

/* `key` and `order` are scratch [rows]; counts per pair end up in `count` [rows]. */
static pess_status look_at_pairs(const pess_dataset *d, uint64_t *key, int64_t *order, int64_t *count,
                                 pess_inspection *in, pess__inspected *found, pess_error *error) {
    int64_t *rows_of_state = NULL;
    PESS_TRY(pess__allocate(&rows_of_state, d->states, sizeof *rows_of_state, "a look at the states", error));
    for (int64_t i = 0; i < d->rows; i++) {
        key[i] = (uint64_t)d->state[i] * (uint64_t)d->actions + d->action[i];
        order[i] = i;
        rows_of_state[d->state[i]]++;
    }
    const pess_status status = pess__order_by(key, d->rows, order, error);
    in->pairs = in->states_seen * d->actions;
    for (int64_t i = 0, j = 0; status == PESS_OK && i < d->rows; i = j) {
        while (j < d->rows && key[order[j]] == key[order[i]]) j++;
        count[in->pairs_seen++] = j - i;
        compare_probability(d, rows_of_state, order + i, j - i, found);
    }
    free(rows_of_state);
    if (status != PESS_OK || in->pairs_seen == 0) return status;
    qsort(count, (size_t)in->pairs_seen, sizeof *count, compare_counts);
    in->count_least = count[0];
    in->count_median = count[in->pairs_seen / 2];
    in->count_most = count[in->pairs_seen - 1];
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ episodes */

/* Does `after` have the number that follows that of `before`? */
static bool next_number(const pess_dataset *d, int64_t before, int64_t after) {
    return (uint64_t)d->step[after] - (uint64_t)d->step[before] == 1;
}

static bool same_episode(const pess_dataset *d, int64_t before, int64_t after) {
    return d->episode[before] == d->episode[after];
}

/* Do the steps number the rows of an episode? Where more than half of them follow the one before by one; times and
 * counters of another kind do not tell what is missing. */
static bool steps_are_numbers(const pess_dataset *d, const int64_t *order) {
    int64_t by_one = 0, others = 0;
    for (int64_t i = 1; d->step != NULL && i < d->rows; i++) {
        if (!same_episode(d, order[i - 1], order[i]) || d->step[order[i - 1]] == d->step[order[i]]) continue;
        if (next_number(d, order[i - 1], order[i]))
            by_one++;
        else
            others++;
    }
    return by_one > others;
}

/* Two rows of one episode, one behind the other; `numbered`: their steps are numbers. */
static void look_at_step(const pess_dataset *d, bool numbered, int64_t before, int64_t after, pess_inspection *in,
                         pess__inspected *found) {
    if (d->episode != NULL && d->step != NULL && d->step[before] == d->step[after]) {
        if (in->duplicates++ == 0) found->duplicate_row = after;
        return;
    }
    if (d->end[before] == PESS_END_TERMINAL) {
        if (found->after_terminal++ == 0) found->after_row = after;
        return;
    }
    if (d->end[before] == PESS_END_CUTOFF) {
        if (found->after_cutoff++ == 0) found->cutoff_row = after;
        return;
    }
    const bool leads_there = d->next_state[before] == d->state[after];
    if (leads_there && (!numbered || next_number(d, before, after))) return;
    in->step_gaps += leads_there;
    if (in->gaps++ > 0) return;
    found->gap_before = before;
    found->gap_after = after;
}

/* Episodes that begin with a later step than the others: where the steps are numbers and at least a quarter of the
 * episodes begin with the least. (One counter for all episodes begins with the least one once.) */
static void look_at_starts(const pess_dataset *d, const int64_t *order, pess_inspection *in, pess__inspected *found) {
    int64_t least = INT64_MAX, with_least = 0, late = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < d->rows; i++) {
            if (i > 0 && same_episode(d, order[i - 1], order[i])) continue;
            const int64_t step = d->step[order[i]];
            if (pass == 0 && step < least) least = step;
            if (pass == 0) continue;
            with_least += step == least;
            if (step > least && late < 0) late = order[i];
        }
    if (4 * with_least < in->episodes) return;
    in->late_starts = in->episodes - with_least;
    found->late_row = late;
    found->least_step = least;
}

static pess_status look_at_episodes(const pess_dataset *d, int64_t *order, pess_inspection *in, pess__inspected *found,
                                    pess_error *error) {
    if (d->episode == NULL) {
        /* Without episodes but with ends, the file is read as one episode after the other. */
        for (int64_t i = 1; in->terminals + in->cutoffs > 0 && i < d->rows; i++)
            if (d->end[i - 1] == PESS_END_NONE) look_at_step(d, false, i - 1, i, in, found);
        return PESS_OK;
    }
    PESS_TRY(pess__order_episodes(d->episode, d->step, d->rows, order, error));
    const bool numbered = steps_are_numbers(d, order);
    for (int64_t i = 0; i < d->rows; i++) {
        const int64_t row = order[i];
        const bool first = i == 0 || !same_episode(d, order[i - 1], row);
        const bool last = i + 1 == d->rows || !same_episode(d, order[i + 1], row);
        in->episodes += first;
        if (!first) look_at_step(d, numbered, order[i - 1], row, in, found);
        if (last && d->end[row] == PESS_END_NONE && in->open_ends++ == 0) found->open_row = row;
    }
    if (numbered) look_at_starts(d, order, in, found);
    return PESS_OK;
}

/* Rows that are equal in every column, by a hash of 64 bits. Only where there is no (episode, step) to tell. */
static pess_status look_for_equal_rows(const pess_dataset *d, uint64_t *key, int64_t *order, pess_inspection *in,
                                       pess_error *error) {
    if (d->episode != NULL && d->step != NULL) return PESS_OK;
    for (int64_t i = 0; i < d->rows; i++) {
        uint64_t reward = 0;
        memcpy(&reward, &d->reward[i], sizeof reward);
        const uint64_t parts[] = {d->state[i],
                                  d->action[i],
                                  d->next_state[i],
                                  reward,
                                  d->end[i],
                                  d->episode != NULL ? (uint64_t)d->episode[i] : 0,
                                  d->step != NULL ? (uint64_t)d->step[i] : 0};
        uint64_t h = 0;
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            h = (h ^ parts[k]) * 0x9E3779B97F4A7C15u;
            h ^= h >> 29;
        }
        key[i] = h;
        order[i] = i;
    }
    PESS_TRY(pess__order_by(key, d->rows, order, error));
    for (int64_t i = 1; i < d->rows; i++) in->duplicates += key[order[i]] == key[order[i - 1]];
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ all of it */

static pess_status look(const pess_dataset *d, pess_inspection *in, pess_error *error) {
    pess__inspected found = {.data = d,
                             .numbers = in,
                             .gap_before = -1,
                             .gap_after = -1,
                             .duplicate_row = -1,
                             .after_row = -1,
                             .open_row = -1,
                             .late_row = -1,
                             .cutoff_row = -1,
                             .next_only_row = -1,
                             .odd_row = -1};
    uint64_t *key = NULL;
    int64_t *order = NULL, *count = NULL;
    pess_status status = pess__allocate(&key, d->rows, sizeof *key, "a look at the log", error);
    if (status == PESS_OK) status = pess__allocate(&order, d->rows, sizeof *order, "a look at the log", error);
    if (status == PESS_OK) status = pess__allocate(&count, d->rows, sizeof *count, "a look at the log", error);
    if (status == PESS_OK) status = look_at_states(d, in, &found, error);
    if (status == PESS_OK) {
        look_at_rewards(d, in);
        status = look_at_pairs(d, key, order, count, in, &found, error);
    }
    if (status == PESS_OK) status = look_at_episodes(d, order, in, &found, error);
    if (status == PESS_OK) status = look_for_equal_rows(d, key, order, in, error);
    if (status == PESS_OK) status = pess__findings_write(&found, in, error);
    free(key);
    free(order);
    free(count);
    return status;
}

pess_status pess_dataset_inspect(const pess_dataset *data, pess_inspection **out, pess_error *error) {
    pess_inspection *in = NULL;
    PESS_TRY(pess__allocate(&in, 1, sizeof *in, "an inspection", error));
    in->rows = data->rows;
    in->states = data->states;
    in->actions = data->actions;
    const pess_status status = look(data, in, error);
    if (status == PESS_OK)
        *out = in;
    else
        pess_inspection_destroy(in);
    return status;
}

void pess_inspection_destroy(pess_inspection *inspection) {
    if (inspection == NULL) return;
    free(inspection->findings);
    free(inspection);
}
