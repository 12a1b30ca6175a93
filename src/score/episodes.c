#include "score/score.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static const char what[] = "the episodes of a score";

/* ---- where they begin */

/* begin NULL: counts alone. A tail without an end is an episode that logging cut off. */
static void split(const pess_observations *data, pess__score_episodes *e) {
    const int64_t rows = pess__walk_episodes(data).count;
    int64_t stop = 0;
    e->count = e->whole = 0;
    if (e->begin != NULL) e->begin[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (data->end[i] == PESS_END_NONE && i + 1 < rows) continue;
        const bool stopped = stop < data->stop_count && data->stopped[stop] == i;
        const bool whole = !stopped && data->end[i] != PESS_END_NONE;
        stop += stopped;
        if (e->begin != NULL) {
            e->is_whole[e->count] = whole;
            e->begin[e->count + 1] = i + 1;
        }
        e->count++;
        e->whole += whole;
    }
}

/* ---- what followed */

/* G_t = r_t + γ G_{t+1}. What follows a cut-off is not known: there G goes on as the mean over all transitions, m,
 *
 *     m = (1/N) Σ_i [g_i + γ^{n_i} m],   g: rewards up to the cut-off, n: steps to it; γ^{n_i} → 0 where it was the
 * end,
 *
 * which is a guess to begin from and no more. */
static void sum_backwards(const pess_observations *data, double gamma, pess__score_episodes *e) {
    const int64_t rows = e->begin[e->count];
    double sum = 0, open = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < e->count; k++) {
            const int64_t last = e->begin[k + 1] - 1;
            const bool ended = data->end[last] == PESS_END_TERMINAL;
            double after = pass == 1 && !ended ? e->level : 0, reach = ended ? 0 : 1;
            for (int64_t i = last; i >= e->begin[k]; i--) {
                after = (double)data->reward[i] + gamma * after;
                reach *= gamma;
                e->after[i] = after;
                if (pass == 0) sum += after, open += reach;
            }
        }
        if (pass == 0) e->level = (double)rows - open > 1e-9 * (double)rows ? sum / ((double)rows - open) : 0;
    }
}

static void bound_values(const pess_observations *data, double gamma, pess__score_episodes *e) {
    double least = 0, most = 0;
    for (int64_t i = 0; i < e->begin[e->count]; i++) {
        least = fmin(least, (double)data->reward[i]);
        most = fmax(most, (double)data->reward[i]);
    }
    e->lo = least < 0 ? least / (1 - gamma) : 0;
    e->hi = most > 0 ? most / (1 - gamma) : 0;
}

pess_status pess__score_episodes_create(const pess_observations *data, const char *name, double gamma,
                                        pess__score_episodes *e, pess_error *error) {
    split(data, e);
    const int64_t rows = pess__walk_episodes(data).count;
    if (rows < 1 || (e->count == 1 && e->whole == 0))
        return pess__fail(error, PESS_INPUT,
                          "%s: none of %lld transitions ends an episode; expected ends (terminals, timeouts), since "
                          "policies are scored from the first states of episodes",
                          name, (long long)rows);
    PESS_TRY(pess__allocate(&e->begin, e->count + 1, sizeof *e->begin, what, error));
    PESS_TRY(pess__allocate(&e->is_whole, e->count, sizeof *e->is_whole, what, error));
    PESS_TRY(pess__allocate(&e->after, rows, sizeof *e->after, what, error));
    split(data, e);
    sum_backwards(data, gamma, e);
    bound_values(data, gamma, e);
    return PESS_OK;
}

void pess__score_episodes_destroy(pess__score_episodes *e) {
    free(e->begin);
    free(e->is_whole);
    free(e->after);
    *e = (pess__score_episodes){0};
}

/* ---- resamples */

static pess_status list_rows(const pess__score_episodes *e, pess__resample *r, pess_error *error) {
    for (int64_t k = 0; k < e->count; k++) {
        const int64_t from = e->begin[r->episode[k]], to = e->begin[r->episode[k] + 1];
        PESS_TRY(pess__grow(&r->rows, &r->row_room, r->row_count + to - from, sizeof *r->rows, what, error));
        for (int64_t i = from; i < to; i++) r->rows[r->row_count++] = i;
    }
    return PESS_OK;
}

/* States from which no row begins keep the level. */
static pess_status average(const pess_observations *data, const pess__score_episodes *e, pess__resample *r,
                           pess_error *error) {
    double *sum = NULL;
    int32_t *times = NULL;
    PESS_TRY(pess__allocate(&r->first, data->states, sizeof *r->first, what, error));
    PESS_TRY(pess__allocate(&sum, data->states, sizeof *sum, what, error));
    const pess_status status = pess__allocate(&times, data->states, sizeof *times, what, error);
    if (status == PESS_OK) {
        for (int64_t i = 0; i < r->row_count; i++) {
            sum[data->state[r->rows[i]]] += e->after[r->rows[i]];
            times[data->state[r->rows[i]]]++;
        }
        for (int64_t s = 0; s < data->states; s++) r->first[s] = (float)(times[s] > 0 ? sum[s] / times[s] : e->level);
    }
    free(sum);
    free(times);
    return status;
}

pess_status pess__resample_create(const pess_observations *data, const pess__score_episodes *e, bool each_once,
                                  uint64_t seed, int64_t index, pess__resample *r, pess_error *error) {
    pess__rng rng = pess__rng_stream(seed, "score episodes", (uint64_t)index);
    PESS_TRY(pess__allocate(&r->episode, e->count, sizeof *r->episode, what, error));
    PESS_TRY(pess__allocate(&r->starts, e->count, sizeof *r->starts, what, error));
    for (int64_t k = 0; k < e->count; k++) {
        r->episode[k] = each_once ? k : (int64_t)pess__rng_below(&rng, (uint64_t)e->count);
        r->starts[k] = data->state[e->begin[r->episode[k]]];
    }
    PESS_TRY(list_rows(e, r, error));
    return average(data, e, r, error);
}

void pess__resample_destroy(pess__resample *r) {
    void *const owned[] = {r->episode, r->rows, r->first, r->starts};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    *r = (pess__resample){0};
}
