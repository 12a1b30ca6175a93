/* From options to a plan: games, x, curves, datasets and their seeds. */
#include "core/memory.h"
#include "core/rng.h"
#include "core/text.h"
#include "experiment/games.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists: words between commas */

pess_status pess__list_begin(pess__list *words, const char *what, const char *text, pess_error *error) {
    if (text == NULL || *text == '\0')
        return pess__fail(error, PESS_ARGUMENT, "%s: found nothing, expected a list", what);
    if (strlen(text) >= sizeof words->text)
        return pess__fail(error, PESS_ARGUMENT, "%s: the list is longer than %d bytes", what, PESS__GAMES_LIST - 1);
    (void)snprintf(words->text, sizeof words->text, "%s", text);
    words->rest = words->text;
    return PESS_OK;
}

char *pess__list_next(pess__list *words) { return words->rest != NULL ? strsep(&words->rest, ",") : NULL; }

void pess__list_append(char *text, size_t size, const char *word) {
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "", word);
}

static pess_status plan_games(pess__games *m, pess_error *error) {
    pess__list words = {.rest = NULL};
    PESS_TRY(pess__list_begin(&words, "games", m->options->games, error));
    for (const char *word; (word = pess__list_next(&words)) != NULL;) {
        const pess_env_info *game = pess_env_find(word);
        if (game == NULL) {
            char known[200] = "";
            for (size_t i = 0; (game = pess_env_list(i)) != NULL; i++)
                pess__list_append(known, sizeof known, game->name);
            return pess__fail(error, PESS_ARGUMENT, "games: found '%s', expected some of %s", word, known);
        }
        for (int i = 0; i < m->game_count; i++)
            if (m->games[i] == game) return pess__fail(error, PESS_ARGUMENT, "games: '%s' is named twice", word);
        if (m->game_count == PESS__GAMES_LIMIT)
            return pess__fail(error, PESS_ARGUMENT, "games: found more than %d", PESS__GAMES_LIMIT);
        m->games[m->game_count++] = game;
    }
    return PESS_OK;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static pess_status read_x(const pess__games_axis *axis, const char *word, double *x, pess_error *error) {
    if (pess__parse_double(word, word + strlen(word), x) && *x >= axis->least && *x <= axis->most &&
        (!axis->whole || *x == floor(*x)))
        return PESS_OK;
    return pess__fail(error, PESS_ARGUMENT, "%s: found '%s', expected %s from %g to %g", axis->values, word,
                      axis->whole ? "a whole number" : "a number", axis->least, axis->most);
}

/* Ascending, each once, and written back in the shortest form. */
static pess_status plan_x(pess__games *m, pess_error *error) {
    const pess__games_axis *axis = m->axis;
    char given[PESS__GAMES_LIST], sorted[PESS__GAMES_LIST] = "";
    pess__list words = {.rest = NULL};
    pess_setting_get(pess_experiment_settings(), m->options, axis->values, given, sizeof given);
    PESS_TRY(pess__list_begin(&words, axis->values, given, error));
    for (const char *word; (word = pess__list_next(&words)) != NULL; m->x_count++) {
        if (m->x_count == PESS__GAMES_XS)
            return pess__fail(error, PESS_ARGUMENT, "%s: found more than %d", axis->values, PESS__GAMES_XS);
        PESS_TRY(read_x(axis, word, &m->x[m->x_count], error));
    }
    qsort(m->x, (size_t)m->x_count, sizeof *m->x, ascending);
    for (int i = 0; i < m->x_count; i++) {
        char number[PESS__NUMBER_SIZE];
        (void)pess__format_double(m->x[i], number);
        if (i > 0 && m->x[i] == m->x[i - 1])
            return pess__fail(error, PESS_ARGUMENT, "%s: %s is named twice", axis->values, number);
        pess__list_append(sorted, sizeof sorted, number);
    }
    return pess__experiment_set_text(m->experiment, axis->values, sorted, error);
}

/* ---- datasets */

/* Seeds are a function of (seed, game, ε, size, trial): a dataset does not depend on what else is in the plan. */
static void seed_dataset(const pess__games *m, pess__games_dataset *dataset) {
    char purpose[160], epsilon[PESS__NUMBER_SIZE];
    (void)pess__format_double(dataset->epsilon, epsilon);
    (void)snprintf(purpose, sizeof purpose, "minatar %s epsilon=%s transitions=%lld", m->games[dataset->game]->name,
                   epsilon, (long long)dataset->transitions);
    pess__rng rng = pess__rng_stream(m->options->seed, purpose, (uint64_t)dataset->trial);
    dataset->data_seed = pess__rng_next(&rng);
    dataset->play_seed = pess__rng_next(&rng);
    for (int i = 0; i <= dataset->again; i++) {
        dataset->imitation_seed = pess__rng_next(&rng);
        dataset->train_seed = pess__rng_next(&rng);
    }
}

/* The i-th x to be run. */
static int x_in_order(const pess__games *m, int i) {
    int first = 0;
    if (m->axis->largest_first) return m->x_count - 1 - i;
    while (first < m->x_count && !(m->axis->first > 0 && m->x[first] == m->axis->first)) first++;
    if (first == m->x_count) return i;
    return i == 0 ? first : i <= first ? i - 1 : i;
}

/* First trials first, so that early results show whole curves. */
static pess_status plan_datasets(pess__games *m, pess_error *error) {
    const int again = (int)m->options->train_seeds;
    m->dataset_count = m->options->trials * again * m->x_count * m->game_count;
    PESS_TRY(pess__allocate(&m->datasets, m->dataset_count, sizeof *m->datasets, "the plan", error));
    PESS_TRY(pess__allocate(&m->runs, m->dataset_count * m->curve_count, sizeof *m->runs, "the plan", error));
    pess__games_dataset *dataset = m->datasets;
    for (int trial = 0; trial < (int)m->options->trials * again; trial++)
        for (int i = 0; i < m->x_count; i++)
            for (int game = 0; game < m->game_count; game++, dataset++) {
                const int x = x_in_order(m, i);
                *dataset = (pess__games_dataset){.game = game, .x = x, .trial = trial / again, .again = trial % again};
                m->axis->place(m->options, m->x[x], dataset);
                seed_dataset(m, dataset);
            }
    return PESS_OK;
}

/* "3 trials", "1 to 3 trials"; where every dataset is trained on several times, "6 trainings". */
static void number_of_trials(const pess__games *m, int64_t least, int64_t most, char *out, size_t size) {
    const char *noun = m->options->train_seeds > 1 ? "training" : "trial";
    if (least < most)
        (void)snprintf(out, size, "%lld to %lld %ss", (long long)least, (long long)most, noun);
    else
        (void)snprintf(out, size, "%lld %s%s", (long long)most, noun, most == 1 ? "" : "s");
}

/* As many as planned; once there are points, as many as those have. */
static void count_trials(const pess__games *m, char *out, size_t size) {
    const pess_experiment *e = m->experiment;
    int64_t least = m->options->trials * m->options->train_seeds, most = e->point_count > 0 ? 0 : least;
    for (int64_t i = 0; i < e->point_count; i++) {
        if (e->points[i].trials < least) least = e->points[i].trials;
        if (e->points[i].trials > most) most = e->points[i].trials;
    }
    number_of_trials(m, least, most, out, size);
}

/* " (50 of 480 runs so far)" once some but not all are finished; else nothing. */
static void count_runs(const pess__games *m, char *out, size_t size) {
    int64_t all = 0, finished = 0;
    for (int64_t d = 0; d < m->dataset_count; d++)
        for (int c = 0; c < m->curve_count; c++) {
            all += m->curves[c].shown;
            finished += m->curves[c].shown && pess__games_run_of(m, d, c)->finished;
        }
    out[0] = '\0';
    if (finished > 0 && finished < all)
        (void)snprintf(out, size, " (%lld of %lld runs so far)", (long long)finished, (long long)all);
}

static void write_note(const pess__games *m, const char *trials, const char *runs) {
    char shard[PESS__SHARD_NOTE];
    pess__shard_note(m->shard, shard);
    (void)snprintf(m->experiment->note, sizeof m->experiment->note,
                   "%s%s · protocol %s · seed %llu%s · lines: mean of the trials; bands: from the "
                   "smallest to the largest",
                   trials, runs, m->options->protocol, (unsigned long long)m->options->seed, shard);
}

void pess__games_describe(pess__games *m) {
    const pess_protocol *p = &m->protocol;
    char data[200], trials[60], runs[80], points[60] = "one point",
                                          own[100] = "each with its own data, imitation network and training";
    count_trials(m, trials, sizeof trials);
    count_runs(m, runs, sizeof runs);
    write_note(m, trials, runs);
    const int64_t again = m->options->train_seeds, planned = m->options->trials * again;
    if (runs[0] != '\0') number_of_trials(m, planned, planned, trials, sizeof trials);
    if (m->x_count > 1) (void)snprintf(points, sizeof points, "each of %d points", m->x_count);
    if (again > 1)
        (void)snprintf(own, sizeof own, "%lld on each dataset, each with its own imitation network", (long long)again);
    m->axis->describe(m->options, data, sizeof data);
    (void)snprintf(m->experiment->description, sizeof m->experiment->description,
                   "A near-optimal player of each game (DQN) acts ε-greedily and collects %s (sticky actions 0.1, "
                   "difficulty ramping, all six actions). %s%s at %s of the axis, %s. Protocol %s: "
                   "%s%lld Bellman updates of %s%lld gradient steps of %lld samples, the "
                   "network %s; γ = 0.99. The score is the mean undiscounted return of the last %d updates, %lld "
                   "episodes each.",
                   data, trials, runs[0] != '\0' ? " planned" : "", points, own, m->options->protocol,
                   p->settle ? "up to " : "", (long long)p->updates, p->settle ? "up to four times " : "",
                   (long long)p->steps, (long long)p->batch,
                   p->reset ? "initialised anew at each" : "kept from one to the next", PESS_SCORED_UPDATES,
                   (long long)p->score_episodes);
}

/* ---- the whole */

static pess_status plan_all(pess__games *m, pess_error *error) {
    pess_experiment_options *o = m->options;
    if (o->trials > 1000)
        return pess__fail(error, PESS_ARGUMENT, "trials: found %lld, expected 1 to 1000", (long long)o->trials);
    PESS_TRY(pess_protocol_find(o->protocol, &m->protocol, error));
    PESS_TRY(pess__shard_parse(o->shard, &m->shard, error));
    if (o->transitions == 0) o->transitions = m->protocol.transitions;
    PESS_TRY(plan_games(m, error));
    PESS_TRY(plan_x(m, error));
    PESS_TRY(pess__games_plan_curves(m, error));
    PESS_TRY(plan_datasets(m, error));
    pess__games_describe(m);
    return PESS_OK;
}

pess_status pess__games_plan(pess_experiment *e, pess_error *error) {
    pess__games *m = NULL;
    PESS_TRY(pess__allocate(&m, 1, sizeof *m, "the plan", error));
    e->plan = m;
    m->experiment = e;
    m->options = &e->options;
    m->axis = e->kind->games;
    return plan_all(m, error);
}

void pess__games_destroy(pess_experiment *e) {
    pess__games *m = e->plan;
    for (int i = 0; i < m->game_count; i++) pess_policy_destroy(m->policy[i]);
    free(m->datasets);
    free(m->runs);
    free(m->curve_names);
    free(m);
}
