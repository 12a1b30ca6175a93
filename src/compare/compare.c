#include "compare/compare.h"

#include "core/memory.h"
#include "core/settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(name) PESS__FIELD(pess_compare_options, name)

static const pess_setting rows[] = {
    {.name = "algorithms",
     .kind = PESS_SETTING_TEXT,
     FIELD(algorithms),
     .letter = 'a',
     .argument = "ALGORITHM|LEARNER,…",
     .sentence = "which of the algorithms to compare, in this order",
     .where_unset = "all there are"},
    {.name = "scale",
     .kind = PESS_SETTING_CHOICE,
     FIELD(scale),
     .standard = "range",
     .choices = "range|none",
     .sentence = "how scores of different games are put on one scale: from the smallest (0) to the largest (1) of all "
                 "compared runs of the game, or as they are"},
    {.name = "resamples",
     .kind = PESS_SETTING_COUNT,
     FIELD(resamples),
     .standard = "2000",
     PESS__FROM_TO(10, 1e6),
     .argument = "N",
     .sentence = "resamples of the runs for intervals"},
    {.name = "delta",
     .kind = PESS_SETTING_NUMBER,
     FIELD(delta),
     .standard = "0.05",
     PESS__BETWEEN(0, 1),
     .argument = "D",
     .sentence = "error probability of the intervals"},
    PESS__SEED_SETTING(pess_compare_options, "of the resamples"),
    PESS__THREADS_SETTING(pess_compare_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("compare", pess_compare_options, rows);
PESS__SETTINGS_OF(compare, table)

static const char what[] = "a comparison";

/* ---- runs */

pess_status pess__comparison_open(pess_comparison **out, pess_error *error) {
    return pess__allocate(out, 1, sizeof **out, what, error);
}

void pess_comparison_destroy(pess_comparison *c) {
    if (c == NULL) return;
    void *const owned[] = {c->names, c->tasks, c->runs,     c->algorithm, c->task,        c->scores, c->least,
                           c->range, c->cells, c->compared, c->by_task,   c->improvement, c->profile};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    free(c);
}

static int64_t find_name(const pess_comparison *c, const char *name, size_t length) {
    for (int64_t i = 0; i < c->name_count; i++)
        if (strlen(c->names[i]) == length && memcmp(c->names[i], name, length) == 0) return i;
    return -1;
}

static pess_status name_of(pess_comparison *c, const char *name, int64_t *out, pess_error *error) {
    *out = find_name(c, name, strlen(name));
    if (*out >= 0) return PESS_OK;
    PESS_TRY(pess__grow(&c->names, &c->name_room, c->name_count + 1, sizeof *c->names, what, error));
    (void)snprintf(c->names[c->name_count], sizeof *c->names, "%s", name);
    *out = c->name_count++;
    return PESS_OK;
}

static pess_status task_of(pess_comparison *c, const char *game, double x, int64_t *out, pess_error *error) {
    for (*out = 0; *out < c->task_count; ++*out) {
        const pess__compare_task *t = &c->tasks[*out];
        if (strcmp(t->game, game) == 0 && (fabs(t->x - x) <= 0 || (isnan(t->x) && isnan(x)))) return PESS_OK;
    }
    PESS_TRY(pess__grow(&c->tasks, &c->task_room, c->task_count + 1, sizeof *c->tasks, what, error));
    (void)snprintf(c->tasks[*out].game, sizeof c->tasks[*out].game, "%s", game);
    c->tasks[*out].x = x;
    c->task_count++;
    return PESS_OK;
}

pess_status pess__comparison_add(pess_comparison *c, const char *algorithm, const char *game, double x, double score,
                                 pess_error *error) {
    pess__compare_run run = {.score = score};
    PESS_TRY(name_of(c, algorithm, &run.algorithm, error));
    PESS_TRY(task_of(c, game, x, &run.task, error));
    PESS_TRY(pess__grow(&c->runs, &c->run_room, c->run_count + 1, sizeof *c->runs, what, error));
    c->runs[c->run_count++] = run;
    return PESS_OK;
}

/* ---- which are compared */

static pess_status choose_algorithms(pess_comparison *c, const char *list, pess_error *error) {
    PESS_TRY(pess__allocate(&c->algorithm, c->name_count + 1, sizeof *c->algorithm, what, error));
    for (int64_t i = 0; list == NULL && i < c->name_count; i++) c->algorithm[c->info.algorithms++] = i;
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ",");
        const int64_t found = find_name(c, list, length);
        if (found < 0)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%.*s', expected some of those there are: %s%s",
                              (int)length, list, c->name_count > 0 ? c->names[0] : "none",
                              c->name_count > 1 ? ", …" : "");
        for (int64_t i = 0; i < c->info.algorithms; i++)
            if (c->algorithm[i] == found)
                return pess__fail(error, PESS_ARGUMENT, "algorithms: '%.*s' is named twice", (int)length, list);
        c->algorithm[c->info.algorithms++] = found;
        list += length + (list[length] == ',');
    }
    if (c->info.algorithms < 2)
        return pess__fail(error, PESS_INPUT, "there is one algorithm (%s); a comparison needs two",
                          c->name_count > 0 ? c->names[0] : "none");
    if (c->info.algorithms > PESS__COMPARE_ALGORITHMS)
        return pess__fail(error, PESS_LIMIT, "algorithms: found %lld, expected at most %d: name some of them",
                          (long long)c->info.algorithms, PESS__COMPARE_ALGORITHMS);
    return PESS_OK;
}

static int64_t count_runs(const pess_comparison *c, int64_t algorithm, int64_t task) {
    int64_t count = 0;
    for (int64_t i = 0; i < c->run_count; i++) count += c->runs[i].algorithm == algorithm && c->runs[i].task == task;
    return count;
}

/* Tasks that all of them have. */
static pess_status choose_tasks(pess_comparison *c, pess_error *error) {
    PESS_TRY(pess__allocate(&c->task, c->task_count, sizeof *c->task, what, error));
    for (int64_t m = 0; m < c->task_count; m++) {
        int64_t having = 0;
        for (int64_t a = 0; a < c->info.algorithms; a++) having += count_runs(c, c->algorithm[a], m) > 0;
        if (having == c->info.algorithms)
            c->task[c->info.tasks++] = m;
        else
            c->info.left_out += having > 0;
    }
    if (c->info.tasks > 0) return PESS_OK;
    return pess__fail(
        error, PESS_INPUT,
        "there is no game and point at which all %lld algorithms have runs: %s has %s, for one; algorithms names "
        "those to compare",
        (long long)c->info.algorithms, c->names[c->runs[0].algorithm], c->tasks[c->runs[0].task].game);
}

/* ---- scores on one scale */

static bool is_compared(const pess_comparison *c, int64_t algorithm) {
    for (int64_t a = 0; a < c->info.algorithms; a++)
        if (c->algorithm[a] == algorithm) return true;
    return false;
}

static bool is_task(const pess_comparison *c, int64_t task) {
    for (int64_t m = 0; m < c->info.tasks; m++)
        if (c->task[m] == task) return true;
    return false;
}

/* Per game, over all its points. */
static void measure(pess_comparison *c, int64_t m) {
    const char *game = c->tasks[c->task[m]].game;
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < c->run_count; i++) {
        const pess__compare_run *r = &c->runs[i];
        if (!is_compared(c, r->algorithm) || !is_task(c, r->task) || strcmp(c->tasks[r->task].game, game) != 0)
            continue;
        least = fmin(least, r->score);
        most = fmax(most, r->score);
    }
    c->least[m] = least;
    c->range[m] = most > least ? most - least : 1;
}

static pess_status fill_cells(pess_comparison *c, pess_error *error) {
    const int64_t cells = c->info.algorithms * c->info.tasks;
    int64_t used = 0;
    PESS_TRY(pess__allocate(&c->cells, cells, sizeof *c->cells, what, error));
    PESS_TRY(pess__allocate(&c->scores, c->run_count, sizeof *c->scores, what, error));
    PESS_TRY(pess__allocate(&c->least, c->info.tasks, sizeof *c->least, what, error));
    PESS_TRY(pess__allocate(&c->range, c->info.tasks, sizeof *c->range, what, error));
    for (int64_t m = 0; m < c->info.tasks; m++) {
        c->range[m] = 1;
        if (c->info.scale == PESS_SCALE_RANGE) measure(c, m);
    }
    for (int64_t k = 0; k < cells; k++) {
        const int64_t m = k % c->info.tasks;
        c->cells[k].scores = c->scores + used;
        for (int64_t i = 0; i < c->run_count; i++)
            if (c->runs[i].algorithm == c->algorithm[k / c->info.tasks] && c->runs[i].task == c->task[m]) {
                c->scores[used++] = (c->runs[i].score - c->least[m]) / c->range[m];
                c->cells[k].count++;
            }
    }
    return PESS_OK;
}

/* Evenly from the smallest to the largest score. */
static void place_profile(pess_comparison *c) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t k = 0; k < c->info.algorithms * c->info.tasks; k++)
        for (int64_t i = 0; i < c->cells[k].count; i++) {
            least = fmin(least, c->cells[k].scores[i]);
            most = fmax(most, c->cells[k].scores[i]);
        }
    for (int p = 0; p < PESS_PROFILE_POINTS; p++)
        c->info.tau[p] = least + (most - least) * (double)p / (PESS_PROFILE_POINTS - 1);
}

/* ---- the numbers */

static void name_results(pess_comparison *c) {
    const int64_t algorithms = c->info.algorithms, tasks = c->info.tasks;
    int64_t pair = 0;
    for (int64_t a = 0; a < algorithms; a++) {
        const char *name = c->names[c->algorithm[a]];
        c->compared[a].name = name;
        for (int64_t m = 0; m < tasks; m++) {
            const pess__score_cell *cell = &pess__comparison_cells(c, a)[m];
            pess_compared_task *to = &c->by_task[m * algorithms + a];
            *to = (pess_compared_task){.game = c->tasks[c->task[m]].game,
                                       .x = c->tasks[c->task[m]].x,
                                       .algorithm = name,
                                       .runs = cell->count,
                                       .mean = c->least[m] + c->range[m] * pess__cells_mean(cell, 1)};
            c->compared[a].runs += cell->count;
        }
        for (int64_t b = a + 1; b < algorithms; b++)
            c->improvement[pair++] = (pess_improvement){.better = name, .than = c->names[c->algorithm[b]]};
    }
}

static void warn(pess_comparison *c) {
    const int64_t pairs = c->info.algorithms * c->info.tasks;
    int64_t single = 0;
    for (int64_t k = 0; k < pairs; k++) single += c->cells[k].count == 1;
    if (single > 0)
        (void)snprintf(c->info.warning, sizeof c->info.warning,
                       "%lld of %lld pairs of algorithm and task have a single run: intervals are too narrow, since "
                       "resamples of one run are all the same",
                       (long long)single, (long long)pairs);
}

pess_status pess__comparison_finish(pess_comparison *c, const pess_compare_options *options, pess_error *error) {
    pess_compare_options o;
    PESS_TRY(pess__settle(&table, options, &o, error));
    c->info.resamples = o.resamples;
    c->info.delta = o.delta;
    c->info.scale = o.scale;
    PESS_TRY(choose_algorithms(c, o.algorithms, error));
    PESS_TRY(choose_tasks(c, error));
    PESS_TRY(fill_cells(c, error));
    place_profile(c);
    const int64_t algorithms = c->info.algorithms;
    PESS_TRY(pess__allocate(&c->compared, algorithms, sizeof *c->compared, what, error));
    PESS_TRY(pess__allocate(&c->by_task, algorithms * c->info.tasks, sizeof *c->by_task, what, error));
    PESS_TRY(pess__allocate(&c->improvement, pess__comparison_pairs(c), sizeof *c->improvement, what, error));
    PESS_TRY(pess__allocate(&c->profile, algorithms * PESS_PROFILE_POINTS, sizeof *c->profile, what, error));
    name_results(c);
    warn(c);
    return pess__comparison_bootstrap(c, &o, error);
}

/* ---- looking */

void pess_comparison_get_info(const pess_comparison *c, pess_comparison_info *out) { *out = c->info; }

const pess_compared *pess_comparison_algorithm(const pess_comparison *c, size_t i) {
    return i < (size_t)c->info.algorithms ? &c->compared[i] : NULL;
}

const pess_compared_task *pess_comparison_task(const pess_comparison *c, size_t i) {
    return i < (size_t)(c->info.algorithms * c->info.tasks) ? &c->by_task[i] : NULL;
}

const pess_improvement *pess_comparison_improvement(const pess_comparison *c, size_t i) {
    return i < (size_t)pess__comparison_pairs(c) ? &c->improvement[i] : NULL;
}

const pess_interval *pess_comparison_profile(const pess_comparison *c, size_t i) {
    return i < (size_t)c->info.algorithms ? c->profile + (int64_t)i * PESS_PROFILE_POINTS : NULL;
}
