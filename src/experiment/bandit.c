/* The paper's bandit example (appendix G.1): one state, 1000 arms; the first pays 1 with probability 0.99 and was
 * pulled 10000 times, the others with 0.01 and were pulled once each. Which arm does an algorithm choose?
 *
 * The 999 arms are exchangeable, so a repetition is two numbers: the first arm's successes, Bin(10000, 0.99), and how
 * many of the others paid, Bin(999, 0.01). Equal pairs give equal policies, which are solved for once; an algorithm
 * that takes the arm of the largest number need not even know how many paid, only whether any did. */
#include "core/memory.h"
#include "core/rng.h"
#include "experiment/trials.h"
#include "model/counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARMS = 1000, PULLS = 10000, MAX_METHODS = 64, SLOTS = 1 << 14 };

#define BEST 0.99
#define REST 0.01

typedef struct method {
    char name[80];
    char algorithm[80], uncertainty[80]; /* uncertainty "": none */
    bool greedy; /* takes one arm, by a number per arm: of the others only whether any paid matters */
} method;

typedef struct bandit {
    int64_t method_count;
    method methods[MAX_METHODS];
} bandit;

/* ---- the list of algorithms */

static pess_status add_method(bandit *b, const char *algorithm, const char *uncertainty, pess_error *error) {
    if (b->method_count == MAX_METHODS) return pess__fail(error, PESS_LIMIT, "at most %d algorithms", MAX_METHODS);
    method *m = &b->methods[b->method_count++];
    (void)snprintf(m->algorithm, sizeof m->algorithm, "%.70s", algorithm);
    (void)snprintf(m->uncertainty, sizeof m->uncertainty, "%.70s", uncertainty);
    const pess_uncertainty_info *bound = *uncertainty != '\0' ? pess_uncertainty_find(uncertainty) : NULL;
    m->greedy = strcmp(algorithm, "naive") == 0 || (strcmp(algorithm, "ua") == 0 && bound != NULL && bound->per_action);
    (void)snprintf(m->name, sizeof m->name, "%.38s%s%.38s", algorithm, *uncertainty != '\0' ? ":" : "", uncertainty);
    for (int64_t i = 0; i + 1 < b->method_count; i++)
        if (strcmp(b->methods[i].name, m->name) == 0)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: '%s' is named twice", m->name);
    return PESS_OK;
}

/* Naive, imitation and UA with every uncertainty there is. */
static pess_status add_all(bandit *b, pess_error *error) {
    const pess_uncertainty_info *bound;
    PESS_TRY(add_method(b, "imitation", "", error));
    PESS_TRY(add_method(b, "naive", "", error));
    for (size_t i = 0; (bound = pess_uncertainty_list(i)) != NULL; i++)
        PESS_TRY(add_method(b, "ua", bound->name, error));
    return PESS_OK;
}

static pess_status add_listed(bandit *b, const char *list, pess_error *error) {
    for (const char *at = list; at != NULL;) {
        const char *comma = strchr(at, ',');
        const size_t length = comma != NULL ? (size_t)(comma - at) : strlen(at);
        char word[80];
        (void)snprintf(word, sizeof word, "%.*s", (int)(length < 70 ? length : 70), at);
        at = comma != NULL ? comma + 1 : NULL;
        if (strcmp(word, "random") == 0 || strcmp(word, "optimal") == 0) continue;
        char *colon = strchr(word, ':');
        if (colon != NULL) *colon = '\0';
        if (pess_algorithm_find(word) == NULL)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%s', expected an algorithm such as ua or ua:l1",
                              word);
        if (colon != NULL && pess_uncertainty_find(colon + 1) == NULL)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: there is no uncertainty '%s'", colon + 1);
        PESS_TRY(add_method(b, word, colon != NULL ? colon + 1 : "", error));
    }
    return PESS_OK;
}

/* Values of a repetition: random, optimal, the methods; then whether the first arm's mean is below 1, and whether
 * another arm's is 1. */
static pess_status prepare(pess__trials *t, pess_error *error) {
    bandit *b = NULL;
    PESS_TRY(pess__allocate(&b, 1, sizeof *b, "the bandit", error));
    t->context = b;
    t->options->points = 1;
    t->options->reward_beta[0] = t->options->reward_beta[1] = NAN;
    t->options->state_dist = PESS_STATE_DIST_START;
    t->options->clip = 0;
    PESS_TRY(t->options->algorithms != NULL ? add_listed(b, t->options->algorithms, error) : add_all(b, error));
    for (int64_t i = 0; i < b->method_count; i++)
        PESS_TRY(pess__trials_list_algorithm(t, i == 0, b->methods[i].name, error));
    t->value_count = 2 + b->method_count + 2;
    for (int64_t i = 0; i < 2 + b->method_count; i++) {
        pess__column column = {
            .x = 1, .value = i, .optimal = 1, .epsilon = NAN, .transitions = PULLS + ARMS - 1, .alpha_theory = NAN};
        const char *name = i == 0 ? "random" : i == 1 ? "optimal" : b->methods[i - 2].name;
        (void)snprintf(column.algorithm, sizeof column.algorithm, "%s", name);
        PESS_TRY(pess__trials_add_column(t, &column, error));
    }
    (void)snprintf(
        t->experiment->description, sizeof t->experiment->description,
        "The paper's bandit example: %d arms; the first has mean %g and was pulled %d times, the others have "
        "mean %g and were pulled once each. A repetition draws all pulls; the value of an algorithm is the "
        "probability with which its policy takes the first arm. Uncertainties are in the theory's units "
        "(α = 1, δ = 0.05), discount %g.",
        ARMS, BEST, PULLS, REST, t->options->gamma);
    return PESS_OK;
}

/* ---- solving */

typedef struct slot {
    int64_t first, others; /* successes; first -1: empty */
    bool greedy;           /* holds the greedy methods' entries, else the others' */
    double *chosen;        /* [methods] probability of the first arm */
} slot;

typedef struct workspace {
    pess_counts *counts; /* of 1000 arms */
    slot slots[SLOTS];
    double *memory; /* [SLOTS*methods] */
} workspace;

/* The pulls; how many of them paid is filled in for every repetition. */
static pess_status create_counts(pess_counts **out, pess_error *error) {
    pess_counts *c = NULL;
    PESS_TRY(pess__allocate(&c, 1, sizeof *c, "the bandit's counts", error));
    *out = c; /* the caller destroys it, whole or not */
    *c = (pess_counts){.states = 1,
                       .actions = ARMS,
                       .states_declared = true,
                       .actions_declared = true,
                       .transitions = PULLS + ARMS - 1,
                       .pairs_seen = ARMS,
                       .reward_max = 1};
    PESS_TRY(pess__counts_allocate(c, ARMS, error));
    for (int64_t a = 0; a < ARMS; a++) {
        c->n[a] = c->n_next[a] = a == 0 ? PULLS : 1;
        c->row[a] = a;
    }
    c->row[ARMS] = ARMS;
    c->n_state[0] = PULLS + ARMS - 1;
    return PESS_OK;
}

static void workspace_destroy(void *memory) {
    workspace *w = memory;
    if (w == NULL) return;
    pess_counts_destroy(w->counts);
    free(w->memory);
    free(w);
}

static pess_status workspace_create(const pess__trials *t, void **out, pess_error *error) {
    const bandit *b = t->context;
    workspace *w = NULL;
    PESS_TRY(pess__allocate(&w, 1, sizeof *w, "the bandit's workspace", error));
    pess_status status = create_counts(&w->counts, error);
    if (status == PESS_OK)
        status =
            pess__allocate(&w->memory, SLOTS * b->method_count, sizeof *w->memory, "the bandit's workspace", error);
    if (status != PESS_OK) {
        workspace_destroy(w);
        return status;
    }
    for (int64_t i = 0; i < SLOTS; i++) w->slots[i] = (slot){-1, -1, false, w->memory + i * b->method_count};
    *out = w;
    return PESS_OK;
}

static pess_status solve_method(const pess__trials *t, const workspace *w, const pess_model *model, const method *m,
                                double *chosen, pess_error *error) {
    const double start = 1;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = m->algorithm;
    options.uncertainty = m->uncertainty[0] != '\0' ? m->uncertainty : NULL;
    options.gamma = t->options->gamma;
    options.alpha = 1;
    options.threads = 1;
    pess_solution *solution = NULL;
    PESS_TRY(pess_solve(w->counts, model, &start, &options, &solution, error));
    *chosen = pess_policy_row(pess_solution_policy(solution), 0)[0];
    pess_solution_destroy(solution);
    return PESS_OK;
}

static pess_status solve_group(const pess__trials *t, workspace *w, int64_t first, int64_t others, bool greedy,
                               double *chosen, pess_error *error) {
    const bandit *b = t->context;
    pess_counts *c = w->counts;
    for (int64_t a = 0; a < ARMS; a++) {
        const double sum = a == 0 ? (double)first : a <= others ? 1 : 0;
        c->reward_sum[a] = c->reward_offset[a] = c->reward_square[a] = c->next_offset[a] = sum; /* origin 0 */
    }
    const pess_model_options options = {.size = sizeof(pess_model_options),
                                        .unseen = PESS_UNSEEN_PAPER,
                                        .reward_range = {0, 1},
                                        .return_range = {NAN, NAN}};
    pess_model *model = NULL;
    PESS_TRY(pess_model_estimate(c, &options, &model, error));
    pess_status status = PESS_OK;
    for (int64_t i = 0; i < b->method_count && status == PESS_OK; i++)
        if (b->methods[i].greedy == greedy) status = solve_method(t, w, model, &b->methods[i], &chosen[i], error);
    pess_model_destroy(model);
    return status;
}

/* The slot of a pair, or a free one, or (the table being full) the one it would begin at. */
static slot *find_slot(workspace *w, int64_t first, int64_t others, bool greedy) {
    const uint64_t hash =
        ((uint64_t)first * 0x9e3779b97f4a7c15U + (uint64_t)(2 * others + greedy)) * 0xbf58476d1ce4e5b9U >> 40;
    for (uint64_t i = 0; i < SLOTS; i++) {
        slot *s = &w->slots[(hash + i) % SLOTS];
        if (s->first < 0 || (s->first == first && s->others == others && s->greedy == greedy)) return s;
    }
    return &w->slots[hash % SLOTS];
}

/* The methods of one group; others of the row are left alone. */
static pess_status choose(const pess__trials *t, workspace *w, int64_t first, int64_t others, bool greedy, double *row,
                          pess_error *error) {
    const bandit *b = t->context;
    slot *s = find_slot(w, first, others, greedy);
    if (s->first != first || s->others != others || s->greedy != greedy) {
        s->first = -1;
        PESS_TRY(solve_group(t, w, first, others, greedy, s->chosen, error));
        s->first = first;
        s->others = others;
        s->greedy = greedy;
    }
    for (int64_t i = 0; i < b->method_count; i++)
        if (b->methods[i].greedy == greedy) row[i] = s->chosen[i];
    return PESS_OK;
}

static pess_status run(const pess__trials *t, void *memory, int64_t begin, int64_t count, double *out,
                       pess_error *error) {
    workspace *w = memory;
    const bandit *b = t->context;
    for (int64_t i = 0; i < count; i++) {
        pess__rng rng = pess__rng_stream(t->options->seed, "experiment-bandit", (uint64_t)(begin + i));
        const int64_t first = pess__rng_binomial(&rng, PULLS, BEST);
        const int64_t others = pess__rng_binomial(&rng, ARMS - 1, REST);
        double *row = out + i * t->value_count;
        row[0] = 1.0 / ARMS;
        row[1] = 1;
        PESS_TRY(choose(t, w, first, others > 0, true, row + 2, error));
        PESS_TRY(choose(t, w, first, others, false, row + 2, error));
        row[2 + b->method_count] = first < PULLS;
        row[3 + b->method_count] = others > 0;
    }
    return PESS_OK;
}

/* ---- the paper's two probabilities, and who is fooled */

static pess_status judge(pess__trials *t, pess_error *error) {
    const bandit *b = t->context;
    const double none = pow(1 - REST, ARMS - 1), all = pow(BEST, PULLS), trials = (double)t->options->trials;
    double below = 0, another = 0, ci = 0;
    pess__trials_summary(t, 2 + b->method_count, -1, &below, &ci);
    pess__trials_summary(t, 3 + b->method_count, -1, &another, &ci);
    pess_experiment_claim *row = pess__experiment_add_claim(
        t->experiment, "data", "the first arm's empirical mean is below 1 with probability 1 − 2·10⁻⁴⁴", NULL, error);
    if (row == NULL) return PESS_MEMORY;
    row->holds = below == 1;
    (void)snprintf(row->found, sizeof row->found, "exactly 1 − %.2g; in %.0f of %.0f repetitions", all, below * trials,
                   trials);
    row = pess__experiment_add_claim(t->experiment, "data",
                                     "another arm's empirical mean is 1 with probability 1 − 4·10⁻⁵", NULL, error);
    if (row == NULL) return PESS_MEMORY;
    /* five standard deviations of a count whose mean is trials·0.99^999 */
    row->holds = fabs((1 - another) - none) * trials <= 5 * sqrt(trials * none) + 5;
    (void)snprintf(row->found, sizeof row->found,
                   "exactly 1 − %.3g; not so in %.0f of %.0f repetitions (expected %.1f)", none, (1 - another) * trials,
                   trials, none * trials);
    for (int64_t i = 0; i < b->method_count; i++) {
        const pess_experiment_point *point = &t->experiment->points[2 + i];
        const method *m = &b->methods[i];
        const bool lower_bound = strcmp(m->algorithm, "ua") == 0 && strcmp(m->uncertainty, "trivial") != 0;
        const bool naive = strcmp(m->algorithm, "naive") == 0;
        if (!lower_bound && !naive) continue;
        row = pess__experiment_add_claim(t->experiment, point->algorithm,
                                         naive ? "takes the first arm with probability below 5·10⁻⁵ (here 0.99⁹⁹⁹)"
                                               : "a lower-bound rule takes the first arm nearly always",
                                         NULL, error);
        if (row == NULL) return PESS_MEMORY;
        row->holds = naive ? fabs(point->mean - none) * trials <= 5 * sqrt(trials * none) + 5 : point->mean > 0.99;
        (void)snprintf(row->found, sizeof row->found, "takes it with probability %.6g (± %.2g)", point->mean,
                       point->ci95);
    }
    return PESS_OK;
}

static void release(pess__trials *t) {
    free(t->context);
    t->context = NULL;
}

static const pess__trial_kind trial = {.block = 1000,
                                       .prepare = prepare,
                                       .workspace_create = workspace_create,
                                       .workspace_destroy = workspace_destroy,
                                       .run = run,
                                       .judge = judge,
                                       .release = release};

const pess__experiment_kind pess__experiment_bandit = {
    .info = {.name = "bandit",
             .summary = "the paper's example: 1000 arms, one well known, 999 pulled once; who is fooled",
             .title = "Bandit: who takes the well-known best arm, and who a lucky one",
             .x = {.name = "pulls", .label = "pulls of each other arm"},
             .y_label = "probability of taking the best arm",
             .columns = PESS__TRIAL_COLUMNS,
             .settings = "gamma shard",
             .findings = "What the paper predicts, and what came out"},
    .defaults = (const pess__experiment_default[]){{"trials", "100000"}, {"gamma", "0"}, {NULL, NULL}},
    .tables = pess__trial_tables,
    .explanation = PESS__TRIAL_EXPLANATION,
    .engine = &pess__engine_trials,
    .trial = &trial};
