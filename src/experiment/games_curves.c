/* Curves from runs: means over trials, with the smallest and the largest. */
#include "core/memory.h"
#include "experiment/games_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a row of results.csv speaks of. */
typedef enum row_kind { ROW_BEHAVIOUR, ROW_SCORE, ROW_CONTROL, ROW_TRIVIAL } row_kind;

typedef struct row {
    row_kind kind;
    int curve;
    int at_one; /* of ROW_TRIVIAL: the curve that takes its place at x = 1 */
} row;

typedef struct mean {
    double sum, least, most;
    int64_t count;
} mean;

static void add(mean *to, double value) {
    if (isnan(value)) return;
    to->least = to->count == 0 ? value : fmin(to->least, value);
    to->most = to->count == 0 ? value : fmax(to->most, value);
    to->sum += value;
    to->count++;
}

/* Rounding must not carry the mean of equal numbers past them. */
static double value_of(const mean *from) {
    return from->count > 0 ? fmin(fmax(from->sum / (double)from->count, from->least), from->most) : NAN;
}

/* The finished runs of a point, trial after trial: the same sums whatever the order in which they were made. */
typedef struct sums {
    mean score, final, best, control, predicted, obtained, outside, spread, behaviour;
} sums;

static void add_run(sums *s, const pess__games_run *run) {
    const pess_train_result *r = &run->result;
    add(&s->score, r->score);
    add(&s->final, r->score_final);
    add(&s->best, r->score_best);
    add(&s->control, r->control);
    add(&s->predicted, r->predicted);
    add(&s->obtained, r->obtained);
    add(&s->outside, r->outside);
    add(&s->spread, r->score_spread);
    add(&s->behaviour, run->behaviour);
}

/* The data policy's return is the dataset's: any finished run of it tells. */
static const pess__games_run *run_for(const pess__games *m, int64_t dataset, const row *r) {
    for (int c = 0; c < m->curve_count; c++) {
        const pess__games_run *run = pess__games_run_of(m, dataset, c);
        if (run->finished && (r->kind == ROW_BEHAVIOUR || c == r->curve)) return run;
    }
    return NULL;
}

static void fill(const row *r, const sums *s, pess_experiment_point *out) {
    const mean *own = r->kind == ROW_BEHAVIOUR ? &s->behaviour : r->kind == ROW_CONTROL ? &s->control : &s->score;
    out->trials = own->count;
    out->mean = value_of(own);
    out->min = own->least;
    out->max = own->most;
    out->values[PESS__BEHAVIOUR] = value_of(&s->behaviour);
    if (r->kind == ROW_CONTROL) out->values[PESS__CONTROL] = out->mean;
    if (r->kind != ROW_SCORE) return;
    out->values[PESS__FINAL] = value_of(&s->final);
    out->values[PESS__BEST] = value_of(&s->best);
    out->values[PESS__CONTROL] = value_of(&s->control);
    out->values[PESS__PREDICTED] = value_of(&s->predicted);
    out->values[PESS__OBTAINED] = value_of(&s->obtained);
    out->values[PESS__OUTSIDE] = value_of(&s->outside);
    out->values[PESS__SPREAD] = value_of(&s->spread);
}

/* Datasets stand trial after trial, so runs are summed in that order. A point without a finished run is left out. */
static pess_status add_point(pess__games *m, int game, int x, const row *r, const char *name, pess_error *error) {
    sums s = {0};
    const row control = {ROW_CONTROL, r->curve, -1}, score = {ROW_SCORE, r->at_one, -1};
    if (r->kind == ROW_TRIVIAL) r = m->x[x] < 1 ? &control : &score;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        const pess__games_run *run = m->datasets[d].game == game && m->datasets[d].x == x ? run_for(m, d, r) : NULL;
        if (run != NULL) add_run(&s, run);
    }
    pess_experiment_point *point = pess__experiment_add_point(m->experiment, error);
    if (point == NULL) return PESS_MEMORY;
    point->game = m->games[game]->name;
    point->algorithm = name;
    point->x = m->x[x];
    fill(r, &s, point);
    if (point->trials == 0) m->experiment->point_count--;
    return PESS_OK;
}

int pess__games_curve_named(const pess__games *m, const char *name) {
    for (int c = 0; c < m->curve_count; c++)
        if (strcmp(m->curves[c].name, name) == 0) return c;
    return -1;
}

/* A control that needs no values: imitation by argmax, but naive at ε = 1. */
static int add_trivial(pess__games *m, row *rows, int count) {
    const int imitation = pess__games_curve_named(m, "imitation"), naive = pess__games_curve_named(m, "naive");
    if (!m->axis->trivial || imitation < 0 || naive < 0) return count;
    (void)snprintf(m->curve_names[count], sizeof m->curve_names[0], PESS__GAMES_TRIVIAL);
    rows[count] = (row){ROW_TRIVIAL, imitation, naive};
    return count + 1;
}

static int list_rows(pess__games *m, row *rows) {
    int count = 0;
    (void)snprintf(m->curve_names[count], sizeof m->curve_names[0], "behaviour");
    rows[count++] = (row){ROW_BEHAVIOUR, -1, -1};
    for (int c = 0; c < m->curve_count; c++) {
        const pess__games_curve *curve = &m->curves[c];
        if (!curve->shown) continue;
        (void)snprintf(m->curve_names[count], sizeof m->curve_names[0], "%s", curve->name);
        rows[count++] = (row){ROW_SCORE, c, -1};
        if (!curve->learner->samples) continue;
        (void)snprintf(m->curve_names[count], sizeof m->curve_names[0], "%s-argmax", curve->name);
        rows[count++] = (row){ROW_CONTROL, c, -1};
    }
    return add_trivial(m, rows, count);
}

pess_status pess__games_add_claims(pess__games *m, const pess_experiment_claim *claims, size_t count,
                                   pess_error *error) {
    for (size_t i = 0; i < count; i++) {
        pess_experiment_claim *added =
            pess__experiment_add_claim(m->experiment, claims[i].about, claims[i].claim, claims[i].rule, error);
        if (added == NULL) return PESS_MEMORY;
        *added = claims[i];
    }
    return PESS_OK;
}

static pess_status add_warnings(pess__games *m, pess_error *error) {
    for (int i = 0; i < m->game_count * m->curve_count; i++) {
        const int game = i / m->curve_count, curve = i % m->curve_count;
        pess__experiment_warning warning = {.game = m->games[game]->name, .algorithm = m->curves[curve].name};
        warning.text = pess__games_warning(m, game, curve, &warning.runs);
        if (warning.text != NULL) PESS_TRY(pess__experiment_add_warning(m->experiment, &warning, error));
    }
    return PESS_OK;
}

pess_status pess__games_summarise(pess__games *m, pess_error *error) {
    row rows[PESS__GAMES_ROWS];
    if (m->curve_names == NULL)
        PESS_TRY(pess__allocate(&m->curve_names, PESS__GAMES_ROWS, sizeof *m->curve_names, "curves", error));
    const int count = list_rows(m, rows);
    for (int g = 0; g < m->game_count; g++)
        for (int r = 0; r < count; r++)
            for (int x = 0; x < m->x_count; x++) PESS_TRY(add_point(m, g, x, &rows[r], m->curve_names[r], error));
    pess__games_describe(m);
    PESS_TRY(m->axis->judge(m, error));
    return add_warnings(m, error);
}

const pess_experiment_point *pess__games_point_at(const pess_experiment_point *points, size_t count, const char *game,
                                                  const char *algorithm, double x) {
    for (size_t i = 0; i < count; i++)
        if (points[i].x == x && strcmp(points[i].game, game) == 0 && strcmp(points[i].algorithm, algorithm) == 0)
            return &points[i];
    return NULL;
}
