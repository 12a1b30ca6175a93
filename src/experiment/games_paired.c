#include "experiment/games_paired.h"

#include "core/memory.h"
#include "core/rng.h"
#include "core/sorted.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 10000 };

bool pess__games_method_named(const pess__games *m, const char *name, pess__games_method *out) {
    char curve[64];
    (void)snprintf(curve, sizeof curve, "%s", name);
    *out = (pess__games_method){.curve = pess__games_curve_named(m, name), .at_one = -1};
    if (strcmp(name, PESS__GAMES_TRIVIAL) == 0) {
        *out = (pess__games_method){pess__games_curve_named(m, "imitation"), true, pess__games_curve_named(m, "naive")};
        return out->curve >= 0 && out->at_one >= 0;
    }
    if (out->curve < 0 && pess__ends_with(name, "-argmax")) {
        curve[strlen(curve) - strlen("-argmax")] = '\0';
        *out = (pess__games_method){pess__games_curve_named(m, curve), true, -1};
    }
    return out->curve >= 0;
}

double pess__player_return(const pess__games *m, int game) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        if (m->datasets[d].game != game || m->datasets[d].x != 0) continue;
        for (int c = 0; c < m->curve_count; c++) {
            const pess__games_run *run = pess__games_run_of(m, d, c);
            if (!run->finished) continue;
            sum += run->behaviour;
            count++;
            break;
        }
    }
    return count > 0 ? sum / (double)count : NAN;
}

double pess__games_method_share(const pess__games *m, const pess__games_method *method, int64_t dataset) {
    const pess__games_dataset *d = &m->datasets[dataset];
    const bool replaced = method->at_one >= 0 && m->x[d->x] == 1;
    const pess__games_run *run = pess__games_run_of(m, dataset, replaced ? method->at_one : method->curve);
    if (!run->finished) return NAN;
    return (method->argmax && !replaced ? run->result.control : run->result.score) / pess__player_return(m, d->game);
}

/* ---- the differences, stratum after stratum */

typedef struct strata {
    double *difference; /* all of them */
    double *drawn;      /* as many, of a resample */
    int64_t *first;     /* [count+1] */
    int64_t count, missing;
} strata;

static void fill(const pess__games *m, const pess__games_method *own, const pess__games_method *other, double weight,
                 double x, strata *s) {
    for (int g = 0; g < m->game_count; g++)
        for (int i = 0; i < m->x_count; i++) {
            int64_t at = s->first[s->count];
            if (!isnan(x) && m->x[i] != x) continue;
            for (int64_t d = 0; d < m->dataset_count; d++) {
                if (m->datasets[d].game != g || m->datasets[d].x != i) continue;
                const double apart =
                    pess__games_method_share(m, own, d) - weight * pess__games_method_share(m, other, d);
                if (!isnan(apart)) s->difference[at++] = apart;
            }
            if (at == s->first[s->count]) {
                s->missing++;
                continue;
            }
            s->first[++s->count] = at;
        }
}

/* rng NULL: as they are. */
static void draw(const strata *s, pess__rng *rng) {
    for (int64_t k = 0; k < s->count; k++) {
        const int64_t first = s->first[k], count = s->first[k + 1] - first;
        for (int64_t i = 0; i < count; i++)
            s->drawn[first + i] =
                s->difference[first + (rng != NULL ? (int64_t)pess__rng_below(rng, (uint64_t)count) : i)];
    }
}

enum { MEAN, AHEAD, IQM, NUMBERS };

/* Of what was drawn: the mean of the strata's means, that of their shares above 0 (0 counts half), and the
 * interquartile mean of all, which sorts them. */
static void tell(const strata *s, double out[NUMBERS]) {
    out[MEAN] = out[AHEAD] = 0;
    for (int64_t k = 0; k < s->count; k++) {
        const int64_t count = s->first[k + 1] - s->first[k];
        double sum = 0, ahead = 0;
        for (int64_t i = s->first[k]; i < s->first[k + 1]; i++) {
            sum += s->drawn[i];
            ahead += s->drawn[i] > 0 ? 1 : s->drawn[i] < 0 ? 0 : 0.5;
        }
        out[MEAN] += sum / (double)count;
        out[AHEAD] += ahead / (double)count;
    }
    out[MEAN] /= (double)s->count;
    out[AHEAD] /= (double)s->count;
    out[IQM] = pess__interquartile_mean(s->drawn, s->first[s->count]);
}

/* found [NUMBERS*RESAMPLES] is scratch. */
static void resample(const strata *s, double *found, pess__paired *out) {
    pess_interval *intervals[NUMBERS] = {[MEAN] = &out->mean, [AHEAD] = &out->ahead, [IQM] = &out->iqm};
    double numbers[NUMBERS];
    for (int r = 0; r < RESAMPLES; r++) {
        pess__rng rng = pess__rng_stream(0, "paired", (uint64_t)r);
        draw(s, &rng);
        tell(s, numbers);
        for (int i = 0; i < NUMBERS; i++) found[i * RESAMPLES + r] = numbers[i];
    }
    draw(s, NULL);
    tell(s, numbers);
    for (int i = 0; i < NUMBERS; i++) {
        double *own = found + (ptrdiff_t)i * RESAMPLES;
        pess__sort_numbers(own, RESAMPLES);
        *intervals[i] = (pess_interval){numbers[i], own[RESAMPLES / 40], own[RESAMPLES - 1 - RESAMPLES / 40]};
    }
}

static pess_status allocate(const pess__games *m, strata *s, double **found, pess_error *error) {
    const char *pairs = "pairs of runs";
    PESS_TRY(pess__allocate(&s->difference, m->dataset_count, sizeof *s->difference, pairs, error));
    PESS_TRY(pess__allocate(&s->drawn, m->dataset_count, sizeof *s->drawn, pairs, error));
    PESS_TRY(pess__allocate(&s->first, (int64_t)m->game_count * m->x_count + 1, sizeof *s->first, pairs, error));
    return pess__allocate(found, (int64_t)NUMBERS * RESAMPLES, sizeof **found, "resamples of runs", error);
}

pess_status pess__compare_paired(const pess__games *m, const pess__games_method *own, const pess__games_method *other,
                                 double weight, double x, pess__paired *out, pess_error *error) {
    const pess_interval unknown = {NAN, NAN, NAN};
    strata s = {0};
    double *found = NULL;
    const pess_status status = allocate(m, &s, &found, error);
    *out = (pess__paired){.mean = unknown, .iqm = unknown, .ahead = unknown};
    if (status == PESS_OK) {
        fill(m, own, other, weight, x, &s);
        out->strata = s.count + s.missing;
        out->missing = s.missing;
        for (int64_t k = 0; k < s.count; k++) {
            const int64_t pairs = s.first[k + 1] - s.first[k];
            if (k == 0 || pairs < out->fewest) out->fewest = pairs;
        }
        if (s.count > 0) resample(&s, found, out);
    }
    free(s.difference);
    free(s.drawn);
    free(s.first);
    free(found);
    return status;
}
