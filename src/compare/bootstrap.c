/* Stratified bootstrap (Agarwal et al. 2021, section 4.1): the runs of every algorithm on every task are drawn anew
 * with replacement, as many as there are, and all numbers are computed again; intervals are percentiles of these. What
 * cell k draws in resample r is a function of seed, algorithm, task and r. */
#include "compare/compare.h"

#include "core/memory.h"
#include "core/rng.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* All intervals, in one order: per algorithm its three numbers, its profile and its tasks; then the pairs. */
static int64_t per_algorithm(const pess_comparison *c) { return 3 + PESS_PROFILE_POINTS + c->info.tasks; }

static pess_interval *interval_at(pess_comparison *c, int64_t i) {
    const int64_t each = per_algorithm(c), a = i / each, k = i % each;
    if (a >= c->info.algorithms) return &c->improvement[i - c->info.algorithms * each].probability;
    pess_compared *own = &c->compared[a];
    if (k < 3) return k == 0 ? &own->iqm : k == 1 ? &own->mean : &own->median;
    if (k < 3 + PESS_PROFILE_POINTS) return &c->profile[a * PESS_PROFILE_POINTS + k - 3];
    return &c->by_task[(k - 3 - PESS_PROFILE_POINTS) * c->info.algorithms + a].iqm;
}

/* The numbers of these cells to out, `stride` apart. room: as many as there are runs, and tasks. */
static void compute(const pess_comparison *c, const pess__score_cell *cells, double *room, double *out,
                    int64_t stride) {
    const int64_t tasks = c->info.tasks;
    for (int64_t a = 0; a < c->info.algorithms; a++) {
        const pess__score_cell *own = cells + a * tasks;
        *out = pess__cells_iqm(own, tasks, room), out += stride;
        *out = pess__cells_mean(own, tasks), out += stride;
        *out = pess__cells_median(own, tasks, room), out += stride;
        for (int p = 0; p < PESS_PROFILE_POINTS; p++, out += stride)
            *out = pess__cells_above(own, tasks, c->info.tau[p]);
        for (int64_t m = 0; m < tasks; m++, out += stride)
            *out = c->least[m] + c->range[m] * pess__cells_iqm(own + m, 1, room);
    }
    for (int64_t a = 0; a < c->info.algorithms; a++)
        for (int64_t b = a + 1; b < c->info.algorithms; b++, out += stride)
            *out = pess__cells_improvement(cells + a * tasks, cells + b * tasks, tasks);
}

/* ---- a resample */

typedef struct scratch {
    pess__score_cell *cells;
    double *scores, *room;
} scratch;

static pess_status open_scratch(const pess_comparison *c, scratch *s, pess_error *error) {
    static const char what[] = "resamples of runs";
    PESS_TRY(pess__allocate(&s->cells, c->info.algorithms * c->info.tasks, sizeof *s->cells, what, error));
    PESS_TRY(pess__allocate(&s->scores, c->run_count, sizeof *s->scores, what, error));
    return pess__allocate(&s->room, c->run_count + c->info.tasks, sizeof *s->room, what, error);
}

static void close_scratch(scratch *s) {
    free(s->cells);
    free(s->scores);
    free(s->room);
}

static void draw(const pess_comparison *c, uint64_t seed, int64_t resample, scratch *s) {
    for (int64_t k = 0; k < c->info.algorithms * c->info.tasks; k++) {
        const pess__score_cell *from = &c->cells[k];
        const pess__compare_task *task = &c->tasks[c->task[k % c->info.tasks]];
        char purpose[PESS__COMPARE_NAME + 100];
        (void)snprintf(purpose, sizeof purpose, "compare %s %s %.17g", c->names[c->algorithm[k / c->info.tasks]],
                       task->game, task->x);
        pess__rng rng = pess__rng_stream(seed, purpose, (uint64_t)resample);
        s->cells[k] = (pess__score_cell){s->scores + (from->scores - c->scores), from->count};
        for (int64_t i = 0; i < from->count; i++)
            s->cells[k].scores[i] = from->scores[pess__rng_below(&rng, (uint64_t)from->count)];
    }
}

/* ---- all of them */

static void fill(pess_comparison *c, double *sample, int64_t count, int64_t resamples, const double *found) {
    const double out = c->info.delta / 2;
    for (int64_t i = 0; i < count; i++) {
        double *own = sample + i * resamples;
        pess__sort_numbers(own, resamples);
        *interval_at(c, i) = (pess_interval){found[i], pess__sorted_quantile(own, resamples, out),
                                             pess__sorted_quantile(own, resamples, 1 - out)};
    }
}

pess_status pess__comparison_bootstrap(pess_comparison *c, const pess_compare_options *o, pess_error *error) {
    const int64_t count = c->info.algorithms * per_algorithm(c) + pess__comparison_pairs(c);
    double *sample = NULL, *found = NULL;
    scratch first = {0};
    pess_status status = pess__allocate(&sample, count * o->resamples, sizeof *sample, "resamples of runs", error);
    if (status == PESS_OK) status = pess__allocate(&found, count, sizeof *found, "resamples of runs", error);
    if (status == PESS_OK) status = open_scratch(c, &first, error);
    if (status == PESS_OK) {
        compute(c, c->cells, first.room, found, 1);
#pragma omp parallel num_threads(pess__threads(o->threads))
        {
            scratch own = {0};
            pess_error why = {0};
            const pess_status opened = open_scratch(c, &own, &why);
#pragma omp for schedule(static)
            for (int64_t r = 0; r < o->resamples; r++)
                if (opened == PESS_OK) {
                    draw(c, o->seed, r, &own);
                    compute(c, own.cells, own.room, sample + r, o->resamples);
                }
            pess__keep_failure(opened, &why, &status, error);
            close_scratch(&own);
        }
    }
    if (status == PESS_OK) fill(c, sample, count, o->resamples, found);
    close_scratch(&first);
    free(sample);
    free(found);
    return status;
}
