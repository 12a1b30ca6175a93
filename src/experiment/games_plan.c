/* From options to a plan: games, x, curves, datasets and their seeds. */
#include "core/memory.h"
#include "core/rng.h"
#include "core/text.h"
#include "core/threads.h"
#include "experiment/games.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pess_experiment_info kinds[] = {
    {.name = "minatar-exploration",
     .summary = "games: return against the randomness of the player that collected the data",
     .title = "Games: how exploratory the data are",
     .x_label = "ε of the data policy",
     .y_label = "return",
     .findings = "What was expected, and what came out",
     .default_trials = 3,
     .default_points = 7},
    {.name = "minatar-data",
     .summary = "games: return against the size of the dataset",
     .title = "Games: how many data there are",
     .x_label = "transitions in the dataset",
     .y_label = "return",
     .findings = "What was expected, and what came out",
     .log_x = true,
     .default_trials = 3,
     .default_points = 6},
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

const pess_experiment_info *pess_minatar_list(size_t index) { return index < KIND_COUNT ? &kinds[index] : NULL; }

const pess_experiment_info *pess_minatar_find(const char *name) {
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

pess_minatar_options pess_minatar_options_defaults(void) {
    const pess_protocol *quick = pess_protocol_find("quick");
    return (pess_minatar_options){.games = "asterix,breakout,freeway,space_invaders",
                                  .algorithms = "imitation,naive,proximal:0.25,proximal:0.5",
                                  .epsilons = "0,0.05,0.1,0.2,0.33,0.66,1",
                                  .sizes = "10000,20000,50000,100000,200000,500000",
                                  .controls = true,
                                  .epsilon = 1,
                                  .trials = 3,
                                  .protocol = quick != NULL ? *quick : (pess_protocol){0},
                                  .seed = 1,
                                  .shard = 1,
                                  .shards = 1};
}

bool pess__games_is_data(const pess_minatar *m) { return m->info == &kinds[1]; }

bool pess__games_is_imitation(const pess_minatar *m, int curve) {
    return strcmp(m->curves[curve].learner->name, "imitation") == 0;
}

/* ---- lists: words between commas */

typedef struct list {
    char text[PESS__GAMES_LIST];
    char *rest;
} list;

static pess_status list_begin(list *words, const char *what, const char *text, pess_error *error) {
    if (text == NULL || *text == '\0') return pess__fail(error, PESS_ARGUMENT, "no %s", what);
    if (strlen(text) >= sizeof words->text)
        return pess__fail(error, PESS_ARGUMENT, "%s: the list is longer than %d bytes", what, PESS__GAMES_LIST - 1);
    (void)snprintf(words->text, sizeof words->text, "%s", text);
    words->rest = words->text;
    return PESS_OK;
}

/* NULL behind the last one. Two commas in a row give an empty word, which is nobody's name. */
static char *list_next(list *words) { return words->rest != NULL ? strsep(&words->rest, ",") : NULL; }

static void append(char *text, size_t size, const char *word) {
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "", word);
}

static pess_status plan_games(pess_minatar *m, pess_error *error) {
    list words = {.rest = NULL};
    PESS_TRY(list_begin(&words, "games", m->options.games, error));
    for (const char *word; (word = list_next(&words)) != NULL;) {
        const pess_env_info *game = pess_env_find(word);
        if (game == NULL) {
            char known[200] = "";
            for (size_t i = 0; (game = pess_env_list(i)) != NULL; i++) append(known, sizeof known, game->name);
            return pess__fail(error, PESS_ARGUMENT, "games: found '%s', expected some of %s", word, known);
        }
        for (int i = 0; i < m->game_count; i++)
            if (m->games[i] == game) return pess__fail(error, PESS_ARGUMENT, "games: '%s' is there twice", word);
        if (m->game_count == PESS__GAMES_LIMIT) return pess__fail(error, PESS_ARGUMENT, "games: too many");
        m->games[m->game_count++] = game;
        append(m->games_text, sizeof m->games_text, word);
    }
    m->options.games = m->games_text;
    return PESS_OK;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static pess_status plan_x(pess_minatar *m, pess_error *error) {
    const bool data = pess__games_is_data(m);
    const char *what = data ? "sizes" : "epsilons";
    list words = {.rest = NULL};
    PESS_TRY(list_begin(&words, what, data ? m->options.sizes : m->options.epsilons, error));
    for (const char *word; (word = list_next(&words)) != NULL;) {
        double x = NAN;
        const bool number = pess__parse_double(word, word + strlen(word), &x);
        if (!number || (data ? !(x >= 1 && x <= 1e9 && x == floor(x)) : !(x >= 0 && x <= 1)))
            return pess__fail(error, PESS_ARGUMENT, "%s: found '%s', expected %s", what, word,
                              data ? "a whole number from 1 to 1e9" : "a number from 0 to 1");
        if (m->x_count == PESS__GAMES_XS)
            return pess__fail(error, PESS_ARGUMENT, "%s: more than %d", what, PESS__GAMES_XS);
        m->x[m->x_count++] = x;
    }
    qsort(m->x, (size_t)m->x_count, sizeof *m->x, ascending);
    for (int i = 0; i < m->x_count; i++) {
        char number[PESS__NUMBER_SIZE];
        (void)pess__format_double(m->x[i], number);
        if (i > 0 && m->x[i] == m->x[i - 1])
            return pess__fail(error, PESS_ARGUMENT, "%s: %s is there twice", what, number);
        append(m->x_text, sizeof m->x_text, number);
    }
    m->options.epsilons = m->options.sizes = m->x_text;
    return PESS_OK;
}

/* ---- curves */

static pess_status unknown_learner(const char *word, pess_error *error) {
    char known[300] = "";
    const pess_learner_info *learner;
    for (size_t i = 0; (learner = pess_learner_list(i)) != NULL; i++) append(known, sizeof known, learner->name);
    return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%s', expected some of %s, each NAME or NAME:ALPHA",
                      word, known);
}

/* `given`, which stood behind the colon of `word`. */
static pess_status read_alpha(const pess_learner_info *learner, const char *word, const char *given, double *out,
                              pess_error *error) {
    const double most = learner->alpha_most > 0 ? learner->alpha_most : 1e30; /* as much as a training takes */
    if (isnan(learner->alpha))
        return pess__fail(error, PESS_ARGUMENT, "algorithms: %s has no α, found '%s:%s'", word, word, given);
    if (!pess__parse_double(given, given + strlen(given), out) || !(*out >= 0 && isfinite(*out)))
        return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%s:%s', expected an α of 0 or more", word, given);
    if (*out > most)
        return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%s:%s', expected an α from 0 to %g", word, given,
                          most);
    return PESS_OK;
}

/* A curve is named by its learner, whatever word found it: "ua" and "ua-counts" are the same curve. */
static pess_status add_curve(pess_minatar *m, char *word, bool *alpha_given, pess_error *error) {
    char *colon = strchr(word, ':');
    if (colon != NULL) *colon = '\0';
    pess__games_curve curve = {.learner = pess_learner_find(word), .shown = true};
    if (curve.learner == NULL) return unknown_learner(word, error);
    curve.alpha = curve.learner->alpha;
    if (colon != NULL) PESS_TRY(read_alpha(curve.learner, word, colon + 1, &curve.alpha, error));
    const char *name = curve.learner->name;
    char number[PESS__NUMBER_SIZE];
    (void)pess__format_double(curve.alpha, number);
    if (strlen(name) + strlen(number) + 2 > sizeof curve.folder || m->curve_count + 1 >= PESS__GAMES_CURVES)
        return pess__fail(error, PESS_ARGUMENT, "algorithms: no room for %s: at most %d, added controls included", name,
                          PESS__GAMES_CURVES - 1);
    (void)snprintf(curve.name, sizeof curve.name, "%s", name);
    (void)snprintf(curve.folder, sizeof curve.folder, isnan(curve.alpha) ? "%s" : "%s-%s", name, number);
    for (int i = 0; i < m->curve_count; i++)
        if (strcmp(m->curves[i].folder, curve.folder) == 0)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: %s is there twice", curve.folder);
    alpha_given[m->curve_count] = colon != NULL;
    m->curves[m->curve_count++] = curve;
    return PESS_OK;
}

/* "NAME-ALPHA" where α was given, or where the algorithm is there with more than one. */
static void name_curves(pess_minatar *m, const bool *alpha_given) {
    for (int i = 0; i < m->curve_count; i++) {
        bool several = false;
        for (int j = 0; j < m->curve_count; j++) several |= j != i && m->curves[j].learner == m->curves[i].learner;
        if (alpha_given[i] || several) memcpy(m->curves[i].name, m->curves[i].folder, sizeof m->curves[i].name);
    }
}

/* The imitation network comes first: the others may need it. */
static void put_imitation_first(pess_minatar *m) {
    int at = 0;
    bool needed = false;
    while (at < m->curve_count && strcmp(m->curves[at].learner->name, "imitation") != 0) at++;
    for (int i = 0; i < m->curve_count; i++) needed |= m->curves[i].learner->imitation;
    pess__games_curve first = {.learner = pess_learner_find("imitation"), .alpha = NAN, .folder = "imitation"};
    if (at < m->curve_count)
        first = m->curves[at];
    else if (needed && first.learner != NULL)
        m->curve_count++;
    else
        return;
    memcpy(first.name, first.folder, sizeof first.name);
    memmove(m->curves + 1, m->curves, (size_t)at * sizeof *m->curves);
    m->curves[0] = first;
}

/* What an uncertainty-aware learner is to be seen beside: much of its gain may be had without its values. */
static pess_status add_controls(pess_minatar *m, bool *alpha_given, pess_error *error) {
    static const char *const controls[] = {"imitation", "proximal", "counts-alone"};
    bool wanted = false;
    for (int i = 0; i < m->curve_count; i++)
        wanted |= m->curves[i].learner->values && m->curves[i].learner->uncertainty != NULL;
    for (size_t k = 0; wanted && k < sizeof controls / sizeof controls[0]; k++) {
        bool found = false;
        for (int i = 0; i < m->curve_count; i++) found |= strcmp(m->curves[i].learner->name, controls[k]) == 0;
        if (found) continue;
        char word[20];
        (void)snprintf(word, sizeof word, "%s", controls[k]);
        if (strlen(m->algorithms_text) + sizeof word >= sizeof m->algorithms_text)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: no room for the control %s in the list", word);
        PESS_TRY(add_curve(m, word, alpha_given, error));
        append(m->algorithms_text, sizeof m->algorithms_text, controls[k]);
    }
    return PESS_OK;
}

static pess_status plan_curves(pess_minatar *m, pess_error *error) {
    bool alpha_given[PESS__GAMES_CURVES] = {false};
    list words = {.rest = NULL};
    PESS_TRY(list_begin(&words, "algorithms", m->options.algorithms, error));
    for (char *word; (word = list_next(&words)) != NULL;) PESS_TRY(add_curve(m, word, alpha_given, error));
    (void)snprintf(m->algorithms_text, sizeof m->algorithms_text, "%s", m->options.algorithms);
    if (m->options.controls) PESS_TRY(add_controls(m, alpha_given, error));
    name_curves(m, alpha_given);
    put_imitation_first(m);
    m->options.algorithms = m->algorithms_text;
    return PESS_OK;
}

/* ---- datasets */

/* Seeds are a function of (seed, game, ε, size, trial): a dataset does not depend on what else is in the plan. */
static void seed_dataset(const pess_minatar *m, pess__games_dataset *dataset) {
    char purpose[160], epsilon[PESS__NUMBER_SIZE];
    (void)pess__format_double(dataset->epsilon, epsilon);
    (void)snprintf(purpose, sizeof purpose, "minatar %s epsilon=%s transitions=%lld", m->games[dataset->game]->name,
                   epsilon, (long long)dataset->transitions);
    pess__rng rng = pess__rng_stream(m->options.seed, purpose, (uint64_t)dataset->trial);
    dataset->data_seed = pess__rng_next(&rng);
    dataset->play_seed = pess__rng_next(&rng);
    dataset->imitation_seed = pess__rng_next(&rng);
    dataset->train_seed = pess__rng_next(&rng);
}

/* First trials first, so that early results show whole curves; within a trial the largest datasets first, so that the
 * longest trainings do not come last. */
static pess_status plan_datasets(pess_minatar *m, pess_error *error) {
    const bool data = pess__games_is_data(m);
    m->dataset_count = m->options.trials * m->x_count * m->game_count;
    PESS_TRY(pess__allocate(&m->datasets, m->dataset_count, sizeof *m->datasets, "the plan", error));
    PESS_TRY(pess__allocate(&m->runs, m->dataset_count * m->curve_count, sizeof *m->runs, "the plan", error));
    pess__games_dataset *dataset = m->datasets;
    for (int trial = 0; trial < (int)m->options.trials; trial++)
        for (int i = 0; i < m->x_count; i++)
            for (int game = 0; game < m->game_count; game++, dataset++) {
                const int x = data ? m->x_count - 1 - i : i;
                *dataset = (pess__games_dataset){.game = game,
                                                 .x = x,
                                                 .trial = trial,
                                                 .epsilon = data ? m->options.epsilon : m->x[x],
                                                 .transitions = data ? (int64_t)m->x[x] : m->options.transitions};
                seed_dataset(m, dataset);
            }
    return PESS_OK;
}

void pess__games_trials(const pess_minatar *m, char *out, size_t size) {
    int64_t least = m->options.trials, most = m->point_count > 0 ? 0 : least;
    for (size_t i = 0; i < m->point_count; i++) {
        if (m->points[i].trials < least) least = m->points[i].trials;
        if (m->points[i].trials > most) most = m->points[i].trials;
    }
    if (least < most)
        (void)snprintf(out, size, "%lld to %lld trials", (long long)least, (long long)most);
    else
        (void)snprintf(out, size, "%lld trial%s", (long long)least, least == 1 ? "" : "s");
}

void pess__games_describe(pess_minatar *m) {
    const pess_minatar_options *o = &m->options;
    char data[200], trials[60];
    pess__games_trials(m, trials, sizeof trials);
    if (pess__games_is_data(m))
        (void)snprintf(data, sizeof data, "with ε = %g", o->epsilon);
    else
        (void)snprintf(data, sizeof data, "into datasets of %lld transitions", (long long)o->transitions);
    (void)snprintf(
        m->description, sizeof m->description,
        "A near-optimal player of each game (DQN) acts ε-greedily and collects %s (sticky actions 0.1, "
        "difficulty ramping, all six actions). %s at each of %d x, each with its own data, imitation "
        "network and training. Protocol %s: %lld Bellman updates of %lld gradient steps of %lld samples, the "
        "network %s; γ = 0.99. The score is the mean undiscounted return of the last %d updates, %lld "
        "episodes each.",
        data, trials, m->x_count, o->protocol.name, (long long)o->protocol.updates, (long long)o->protocol.steps,
        (long long)o->protocol.batch, o->protocol.reset ? "begun anew at each" : "kept from one to the next",
        PESS_SCORED_UPDATES, (long long)o->protocol.score_episodes);
}

static pess_status check_numbers(const pess_minatar_options *o, pess_error *error) {
    if (o->trials < 1 || o->trials > 1000)
        return pess__fail(error, PESS_ARGUMENT, "trials: found %lld, expected 1 to 1000", (long long)o->trials);
    if (o->shards < 1 || o->shard < 1 || o->shard > o->shards)
        return pess__fail(error, PESS_ARGUMENT, "shard: found %lld/%lld, expected I/N with 1 <= I <= N",
                          (long long)o->shard, (long long)o->shards);
    if (!(o->epsilon >= 0 && o->epsilon <= 1))
        return pess__fail(error, PESS_ARGUMENT, "epsilon: found %g, expected a number from 0 to 1", o->epsilon);
    if (o->transitions < 0 || o->transitions > 1000000000)
        return pess__fail(error, PESS_ARGUMENT, "transitions: found %lld, expected 1 to 1e9",
                          (long long)o->transitions);
    if (o->jobs < 0 || o->jobs > 4096)
        return pess__fail(error, PESS_ARGUMENT, "jobs: found %lld, expected 1 to 4096", (long long)o->jobs);
    if (o->protocol.name == NULL || o->protocol.updates < 1 || o->protocol.steps < 1 || o->protocol.batch < 1)
        return pess__fail(error, PESS_ARGUMENT, "protocol: it has no updates");
    return PESS_OK;
}

static pess_status plan_all(pess_minatar *m, pess_error *error) {
    pess_minatar_options *o = &m->options;
    PESS_TRY(check_numbers(o, error));
    if (o->transitions == 0) o->transitions = o->protocol.transitions;
    if (o->jobs == 0) o->jobs = pess__threads(0);
    (void)snprintf(m->protocol_name, sizeof m->protocol_name, "%s", o->protocol.name);
    o->protocol.name = o->protocol.summary = m->protocol_name;
    o->experiment = m->info->name;
    PESS_TRY(plan_games(m, error));
    PESS_TRY(plan_x(m, error));
    PESS_TRY(plan_curves(m, error));
    PESS_TRY(plan_datasets(m, error));
    pess__games_describe(m);
    return PESS_OK;
}

static pess_status copy_path(const char *what, const char *from, char to[PESS__GAMES_PATH], pess_error *error) {
    if (from != NULL && strlen(from) > PESS__GAMES_PATH - 200) /* room for the names of runs */
        return pess__fail(error, PESS_ARGUMENT, "%s: the name is too long", what);
    (void)snprintf(to, PESS__GAMES_PATH, "%s", from != NULL ? from : "");
    return PESS_OK;
}

pess_status pess__games_plan(const pess_minatar_options *options, pess_minatar **out, pess_error *error) {
    const pess_experiment_info *info = options->experiment != NULL ? pess_minatar_find(options->experiment) : NULL;
    if (info == NULL)
        return pess__fail(error, PESS_ARGUMENT, "experiment: found '%s', expected minatar-exploration or minatar-data",
                          options->experiment != NULL ? options->experiment : "");
    pess_minatar *m = NULL;
    PESS_TRY(pess__allocate(&m, 1, sizeof *m, "the plan", error));
    m->options = *options;
    m->info = info;
    pess_status status = copy_path("policies", options->policies, m->policies, error);
    if (status == PESS_OK) status = copy_path("out", options->out, m->out, error);
    m->options.policies = m->policies;
    m->options.out = m->out;
    if (status == PESS_OK) status = plan_all(m, error);
    if (status != PESS_OK) {
        pess_minatar_destroy(m);
        return status;
    }
    *out = m;
    return PESS_OK;
}

void pess_minatar_destroy(pess_minatar *m) {
    if (m == NULL) return;
    for (int i = 0; i < m->game_count; i++) pess_net_destroy(m->policy[i]);
    free(m->datasets);
    free(m->runs);
    free(m->points);
    free(m->curve_names);
    free(m->claims);
    free(m);
}

const char *pess_minatar_description(const pess_minatar *m) { return m->description; }

const pess_minatar_point *pess_minatar_points(const pess_minatar *m, size_t *count) {
    *count = m->point_count;
    return m->points;
}

const pess_minatar_claim *pess_minatar_claims(const pess_minatar *m, size_t *count) {
    *count = m->claim_count;
    return m->claims;
}
