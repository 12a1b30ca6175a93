/* The table of experiments, and what they all do: settings, points, claims, from creating to destroying. */
#include "experiment/experiment.h"

#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS(name) &pess__experiment_##name,
static const pess__experiment_kind *const kinds[] = {PESS__EXPERIMENTS(ADDRESS)};
#undef ADDRESS

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

const pess__experiment_kind *pess__experiment_row(size_t index) { return index < KIND_COUNT ? kinds[index] : NULL; }

const pess_experiment_info *pess_experiment_list(size_t index) {
    return index < KIND_COUNT ? &kinds[index]->info : NULL;
}

static const pess__experiment_kind *find_kind(const char *name) {
    for (size_t i = 0; name != NULL && i < KIND_COUNT; i++)
        if (strcmp(kinds[i]->info.name, name) == 0) return kinds[i];
    return NULL;
}

const pess_experiment_info *pess_experiment_find(const char *name) {
    const pess__experiment_kind *kind = find_kind(name);
    return kind != NULL ? &kind->info : NULL;
}

/* ---- for engines and rows */

const char *pess__next_word(const char *list, char *word, size_t size) {
    if (list == NULL) return NULL;
    list += strspn(list, " ");
    if (*list == '\0') return NULL;
    const size_t length = strcspn(list, " ");
    (void)snprintf(word, size, "%.*s", (int)length, list);
    return list + length;
}

int pess__experiment_column(const pess__experiment_kind *kind, const char *name) {
    char word[40];
    int place = 0;
    for (const char *list = kind->info.columns; (list = pess__next_word(list, word, sizeof word)) != NULL; place++)
        if (strcmp(word, name) == 0) return place;
    return -1;
}

pess_experiment_point *pess__experiment_add_point(pess_experiment *e, pess_error *error) {
    if (pess__grow(&e->points, &e->point_room, e->point_count + 1, sizeof *e->points, "the points", error) != PESS_OK)
        return NULL;
    pess_experiment_point *point = &e->points[e->point_count++];
    *point = (pess_experiment_point){.mean = NAN, .ci95 = NAN, .min = NAN, .max = NAN};
    for (int i = 0; i < PESS_EXPERIMENT_VALUES; i++) point->values[i] = NAN;
    return point;
}

pess_experiment_claim *pess__experiment_add_claim(pess_experiment *e, const char *about, const char *claim,
                                                  const char *rule, pess_error *error) {
    if (pess__grow(&e->claims, &e->claim_room, e->claim_count + 1, sizeof *e->claims, "the claims", error) != PESS_OK)
        return NULL;
    pess_experiment_claim *added = &e->claims[e->claim_count++];
    *added = (pess_experiment_claim){.about = about, .claim = claim, .rule = rule, .judged = true};
    return added;
}

pess_status pess__experiment_add_warning(pess_experiment *e, const pess__experiment_warning *warning,
                                         pess_error *error) {
    PESS_TRY(
        pess__grow(&e->warnings, &e->warning_room, e->warning_count + 1, sizeof *e->warnings, "the warnings", error));
    e->warnings[e->warning_count++] = *warning;
    return PESS_OK;
}

/* ---- from options to a finished experiment */

static pess_status no_experiment(const char *name, pess_error *error) {
    char known[400] = "";
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const size_t used = strlen(known);
        (void)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", kinds[i]->info.name);
    }
    return pess__fail(error, PESS_ARGUMENT, "experiment: found '%.100s', expected one of %s", name != NULL ? name : "",
                      known);
}

pess_status pess__experiment_plan(const pess_experiment_options *options, pess_experiment **out, pess_error *error) {
    const pess__experiment_kind *kind = find_kind(options != NULL ? options->experiment : NULL);
    if (kind == NULL) return no_experiment(options != NULL ? options->experiment : NULL, error);
    pess_experiment *e = NULL;
    PESS_TRY(pess__allocate(&e, 1, sizeof *e, "the experiment", error));
    e->kind = kind;
    pess_status status = pess__experiment_resolve(e, options, error);
    if (status == PESS_OK) {
        e->options.threads = pess__threads(e->options.threads);
        status = kind->engine->plan(e, error);
    }
    if (status != PESS_OK) {
        pess_experiment_destroy(e);
        return status;
    }
    *out = e;
    return PESS_OK;
}

/* Finished runs that are there stay out of a new experiment unless they are asked for. */
static pess_status open_directory(pess_experiment *e, pess_error *error) {
    const pess_experiment_options *o = &e->options;
    const pess__engine *engine = e->kind->engine;
    bool used = false;
    if (engine->open != NULL) PESS_TRY(engine->open(e, error));
    if (o->out == NULL && o->resume)
        return pess__fail(error, PESS_ARGUMENT, "resume: found no directory to go on with; set out");
    if (o->out == NULL) return PESS_OK;
    PESS_TRY(pess__directory_take(&e->lock, o->out, error));
    PESS_TRY(pess__experiment_check_directory(o->out, engine, &used, error));
    if (!used) return PESS_OK;
    if (!o->resume)
        return pess__fail(
            error, PESS_ARGUMENT,
            "resume: %s holds finished runs already; switch it on to continue with them, or choose another directory",
            o->out);
    return engine->read(e, error);
}

pess_status pess_experiment_create(const pess_experiment_options *options, pess_experiment **out, pess_error *error) {
    pess_experiment *e = NULL;
    PESS_TRY(pess__experiment_plan(options, &e, error));
    const pess_status status = open_directory(e, error);
    if (status == PESS_OK)
        *out = e;
    else
        pess_experiment_destroy(e);
    return status;
}

void pess_experiment_destroy(pess_experiment *e) {
    if (e == NULL) return;
    if (e->plan != NULL) e->kind->engine->destroy(e);
    pess__experiment_release_texts(e);
    free(e->points);
    free(e->claims);
    free(e->warnings);
    pess__directory_give_back(&e->lock);
    free(e);
}

pess_status pess_experiment_estimate(pess_experiment *e, pess_experiment_cost *out, pess_error *error) {
    return e->kind->engine->estimate(e, out, error);
}

pess_status pess_experiment_run(pess_experiment *e, pess_error *error) {
    const double begun = pess__clock();
    e->point_count = e->claim_count = e->warning_count = 0;
    if (e->options.out != NULL) {
        PESS_TRY(pess__experiment_make_directories(e->options.out, error));
        PESS_TRY(pess__directory_take(&e->lock, e->options.out, error));
    }
    const pess_status status = e->kind->engine->run(e, error);
    e->seconds = pess__clock() - begun;
    return status;
}

/* ---- what came out */

const pess_experiment_info *pess_experiment_get_info(const pess_experiment *e) { return &e->kind->info; }
void pess_experiment_get_options(const pess_experiment *e, pess_experiment_options *out) { *out = e->options; }
const char *pess_experiment_description(const pess_experiment *e) { return e->description; }
double pess_experiment_seconds(const pess_experiment *e) { return e->seconds; }

const pess_experiment_point *pess_experiment_points(const pess_experiment *e, size_t *count) {
    *count = (size_t)e->point_count;
    return e->points;
}

double pess_experiment_value(const pess_experiment *e, const pess_experiment_point *point, const char *column) {
    const int place = pess__experiment_column(e->kind, column);
    return place >= 0 ? point->values[place] : NAN;
}

const pess_experiment_claim *pess_experiment_claims(const pess_experiment *e, size_t *count) {
    *count = (size_t)e->claim_count;
    return e->claims;
}
