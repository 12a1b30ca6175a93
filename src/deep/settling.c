#include "deep/settling.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

/* ---- parts */

enum { EVERY = 10, STRETCHES = 20 };

/* Where the episode, or stretch of one, that begins at `first` ends: behind its last transition. */
static int64_t end_of(const pess_observations *data, int64_t first, int64_t limit) {
    const int64_t longest = (data->transitions + STRETCHES - 1) / STRETCHES;
    int64_t at = first;
    while (at < limit && at - first < longest)
        if (data->end[at++] != PESS_END_NONE) break;
    return at;
}

static void divide(const pess_observations *data, pess__parts *out) {
    const int64_t episodes = pess__walk_episodes(data).count; /* what follows was imagined */
    int64_t number = 0;
    for (int64_t first = 0, end; first < episodes; first = end, number++) {
        end = end_of(data, first, episodes);
        for (int64_t i = first; i < end; i++)
            if (number % EVERY == EVERY - 1)
                out->held[out->held_count++] = i;
            else
                out->learnt[out->learnt_count++] = i;
    }
    for (int64_t i = episodes; i < data->transitions; i++) out->learnt[out->learnt_count++] = i;
}

pess_status pess__parts_create(const pess_observations *data, pess__parts *out, pess_error *error) {
    PESS_TRY(pess__allocate(&out->learnt, data->transitions, sizeof *out->learnt, "what is learnt from", error));
    PESS_TRY(pess__allocate(&out->held, data->transitions, sizeof *out->held, "what is held out", error));
    divide(data, out);
    return PESS_OK;
}

void pess__parts_destroy(pess__parts *parts) {
    free(parts->learnt);
    free(parts->held);
    *parts = (pess__parts){0};
}

/* ---- likelihood */

pess__plateau pess__plateau_begin(void) { return (pess__plateau){.best = INFINITY, .mark = INFINITY}; }

pess__verdict pess__plateau_next(pess__plateau *p, double loss, bool *best) {
    *best = loss < p->best;
    if (*best) p->best = loss;
    if (loss < p->mark * (1 - PESS__IMPROVEMENT)) {
        p->mark = loss;
        p->since = 0;
        return PESS__GO_ON;
    }
    if (++p->since < PESS__PATIENCE) return PESS__GO_ON;
    p->since = 0;
    return ++p->falls <= PESS__RATE_FALLS ? PESS__FALL : PESS__OVER;
}

/* ---- values */

/* Values begin at 0 and an update brings them closer to what they will be by a factor of γ at most, mean by mean as
 * long as they move in one direction. So after a change of d in W updates what is left is at most
 *
 *     d (γ^W + γ^2W + …) = d γ^W/(1 − γ^W),
 *
 * and values have arrived where that is at most a twentieth of their mean, a few updates in a row. Where episodes are
 * short, values arrive sooner and d falls sooner. The change of the mean in an update is the mean Bellman error of the
 * values before it: this is the held-out Bellman error, with its sign, summed over W updates. */
bool pess__stillness_next(pess__stillness *s, double mean, double gamma) {
    const int64_t at = s->count % PESS__WINDOW;
    const double before = s->means[at], kept = pow(gamma, PESS__WINDOW);
    s->means[at] = mean;
    if (s->count++ < PESS__WINDOW || kept >= 1) return false;
    const double left = fabs(mean - before) * kept / (1 - kept);
    s->still = left <= PESS__VALUES_APART * fabs(mean) ? s->still + 1 : 0;
    return s->still >= PESS__STILL;
}

bool pess__fit_improves(double before, double after, int64_t passes) {
    return passes < PESS__PASSES && after < before * (1 - PESS__FIT_IMPROVEMENT);
}
