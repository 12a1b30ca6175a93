/* The paper's bandit example (appendix G.1): one state, 1000 arms; the first pays 1 with probability 0.99 and was
 * pulled 10000 times, the others with 0.01 and were pulled once each. Which arm does an algorithm choose?
 *
 * The 999 arms are exchangeable, so a repetition is two numbers: the first arm's successes, Bin(10000, 0.99), and how
 * many of the others paid, Bin(999, 0.01). Equal pairs give equal policies, which are solved for once; an algorithm
 * that takes the arm of the largest number need not even know how many paid, only whether any did. */
#include "core/memory.h"
#include "core/rng.h"
#include "experiment/experiment.h"
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
    char family[80], uncertainty[80]; /* uncertainty "": none */
    bool greedy; /* takes one arm, by a number per arm: of the others only whether any paid matters */
} method;

typedef struct bandit {
    int64_t method_count;
    method methods[MAX_METHODS];
} bandit;

/* ---- the list of algorithms */

static pess_status add_method(bandit *b, const char *family, const char *uncertainty, pess_error *error) {
    if (b->method_count == MAX_METHODS) return pess__fail(error, PESS_LIMIT, "at most %d algorithms", MAX_METHODS);
    method *m = &b->methods[b->method_count++];
    (void)snprintf(m->family, sizeof m->family, "%.70s", family);
    (void)snprintf(m->uncertainty, sizeof m->uncertainty, "%.70s", uncertainty);
    const pess_uncertainty_info *bound = *uncertainty != '\0' ? pess_uncertainty_find(uncertainty) : NULL;
    m->greedy = strcmp(family, "naive") == 0 || (strcmp(family, "ua") == 0 && bound != NULL && bound->per_action);
    (void)snprintf(m->name, sizeof m->name, "%.38s%s%.38s", family, *uncertainty != '\0' ? ":" : "", uncertainty);
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
            return pess__fail(error, PESS_ARGUMENT, "algorithms: found '%s', expected a family such as ua or ua:l1",
                              word);
        if (colon != NULL && pess_uncertainty_find(colon + 1) == NULL)
            return pess__fail(error, PESS_ARGUMENT, "algorithms: no uncertainty '%s'", colon + 1);
        PESS_TRY(add_method(b, word, colon != NULL ? colon + 1 : "", error));
    }
    return PESS_OK;
}

/* Values of a repetition: random, optimal, the methods; then whether the first arm's mean is below 1, and whether
 * another arm's is 1. */
static pess_status prepare(pess_experiment *e, pess_error *error) {
    bandit *b = NULL;
    PESS_TRY(pess__allocate(&b, 1, sizeof *b, "the bandit", error));
    e->context = b;
    e->options.points = 1;
    if (isnan(e->options.gamma)) e->options.gamma = 0; /* one pull */
    e->options.beta_a = e->options.beta_b = NAN;
    e->options.state_dist = PESS_STATE_DIST_START;
    e->options.clip = 0;
    PESS_TRY(e->algorithms != NULL ? add_listed(b, e->algorithms, error) : add_all(b, error));
    for (int64_t i = 0; i < b->method_count; i++)
        PESS_TRY(pess__experiment_list_algorithm(e, i == 0, b->methods[i].name, error));
    e->value_count = 2 + b->method_count + 2;
    for (int64_t i = 0; i < 2 + b->method_count; i++) {
        pess__column column = {
            .x = 1, .value = i, .optimal = 1, .epsilon = NAN, .transitions = PULLS + ARMS - 1, .alpha_theory = NAN};
        const char *name = i == 0 ? "random" : i == 1 ? "optimal" : b->methods[i - 2].name;
        (void)snprintf(column.algorithm, sizeof column.algorithm, "%s", name);
        PESS_TRY(pess__experiment_add_column(e, &column, error));
    }
    (void)snprintf(
        e->description, sizeof e->description,
        "The paper's bandit example: %d arms; the first has mean %g and was pulled %d times, the others have "
        "mean %g and were pulled once each. A repetition draws all pulls; the value of an algorithm is the "
        "probability with which its policy takes the first arm. Uncertainties are in the theory's units "
        "(α = 1, δ = 0.05), discount %g.",
        ARMS, BEST, PULLS, REST, e->options.gamma);
    return PESS_OK;
}

/* ---- solving */

typedef struct slot {
    int64_t first, others; /* successes; first -1: empty */
    bool greedy;           /* holds the greedy methods' entries, else the others' */
    double *chosen;        /* [methods] probability of the first arm */
} slot;

typedef struct room {
    pess_counts *counts; /* of 1000 arms */
    slot slots[SLOTS];
    double *memory; /* [SLOTS*methods] */
} room;

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

static void room_destroy(void *memory) {
    room *r = memory;
    if (r == NULL) return;
    pess_counts_destroy(r->counts);
    free(r->memory);
    free(r);
}

static pess_status room_create(const pess_experiment *e, void **out, pess_error *error) {
    const bandit *b = e->context;
    room *r = NULL;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "the bandit's room", error));
    pess_status status = create_counts(&r->counts, error);
    if (status == PESS_OK)
        status = pess__allocate(&r->memory, SLOTS * b->method_count, sizeof *r->memory, "the bandit's room", error);
    if (status != PESS_OK) {
        room_destroy(r);
        return status;
    }
    for (int64_t i = 0; i < SLOTS; i++) r->slots[i] = (slot){-1, -1, false, r->memory + i * b->method_count};
    *out = r;
    return PESS_OK;
}

static pess_status solve_method(const pess_experiment *e, const room *r, const pess_model *model, const method *m,
                                double *chosen, pess_error *error) {
    const double start = 1;
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = m->family;
    options.uncertainty = m->uncertainty[0] != '\0' ? m->uncertainty : NULL;
    options.gamma = e->options.gamma;
    options.absorbed = false;
    options.alpha = 1;
    options.threads = 1;
    pess_solution *solution = NULL;
    PESS_TRY(pess_solve(r->counts, model, &start, &options, &solution, error));
    *chosen = pess_policy_row(pess_solution_policy(solution), 0)[0];
    pess_solution_destroy(solution);
    return PESS_OK;
}

static pess_status solve_group(const pess_experiment *e, room *r, int64_t first, int64_t others, bool greedy,
                               double *chosen, pess_error *error) {
    const bandit *b = e->context;
    pess_counts *c = r->counts;
    for (int64_t a = 0; a < ARMS; a++) {
        const double sum = a == 0 ? (double)first : a <= others ? 1 : 0;
        c->reward_sum[a] = c->reward_offset[a] = c->reward_square[a] = c->next_offset[a] = sum; /* origin 0 */
    }
    const pess_model_options options = {.unseen = PESS_UNSEEN_PAPER, .reward_lo = 0, .reward_hi = 1};
    pess_model *model = NULL;
    PESS_TRY(pess_model_estimate(c, &options, &model, error));
    pess_status status = PESS_OK;
    for (int64_t i = 0; i < b->method_count && status == PESS_OK; i++)
        if (b->methods[i].greedy == greedy) status = solve_method(e, r, model, &b->methods[i], &chosen[i], error);
    pess_model_destroy(model);
    return status;
}

/* The slot of a pair, or a free one, or (the table being full) the one it would begin at. */
static slot *find_slot(room *r, int64_t first, int64_t others, bool greedy) {
    const uint64_t hash =
        ((uint64_t)first * 0x9e3779b97f4a7c15U + (uint64_t)(2 * others + greedy)) * 0xbf58476d1ce4e5b9U >> 40;
    for (uint64_t i = 0; i < SLOTS; i++) {
        slot *s = &r->slots[(hash + i) % SLOTS];
        if (s->first < 0 || (s->first == first && s->others == others && s->greedy == greedy)) return s;
    }
    return &r->slots[hash % SLOTS];
}

/* The methods of one group; others of the row are left alone. */
static pess_status choose(const pess_experiment *e, room *r, int64_t first, int64_t others, bool greedy, double *row,
                          pess_error *error) {
    const bandit *b = e->context;
    slot *s = find_slot(r, first, others, greedy);
    if (s->first != first || s->others != others || s->greedy != greedy) {
        s->first = -1;
        PESS_TRY(solve_group(e, r, first, others, greedy, s->chosen, error));
        s->first = first;
        s->others = others;
        s->greedy = greedy;
    }
    for (int64_t i = 0; i < b->method_count; i++)
        if (b->methods[i].greedy == greedy) row[i] = s->chosen[i];
    return PESS_OK;
}

static pess_status run(const pess_experiment *e, void *memory, int64_t begin, int64_t count, double *out,
                       pess_error *error) {
    room *r = memory;
    const bandit *b = e->context;
    for (int64_t t = 0; t < count; t++) {
        pess__rng rng = pess__rng_stream(e->options.seed, "experiment-bandit", (uint64_t)(begin + t));
        const int64_t first = pess__rng_binomial(&rng, PULLS, BEST);
        const int64_t others = pess__rng_binomial(&rng, ARMS - 1, REST);
        double *row = out + t * e->value_count;
        row[0] = 1.0 / ARMS;
        row[1] = 1;
        PESS_TRY(choose(e, r, first, others > 0, true, row + 2, error));
        PESS_TRY(choose(e, r, first, others, false, row + 2, error));
        row[2 + b->method_count] = first < PULLS;
        row[3 + b->method_count] = others > 0;
    }
    return PESS_OK;
}

/* ---- the paper's two probabilities, and who is fooled */

static pess_status judge(pess_experiment *e, pess_error *error) {
    const bandit *b = e->context;
    const double none = pow(1 - REST, ARMS - 1), all = pow(BEST, PULLS), trials = (double)e->options.trials;
    double below = 0, another = 0, ci = 0;
    pess__experiment_summary(e, 2 + b->method_count, -1, &below, &ci);
    pess__experiment_summary(e, 3 + b->method_count, -1, &another, &ci);
    pess_prediction *row = pess__experiment_predict(
        e, "data", "the first arm's empirical mean is below 1 with probability 1 − 2·10⁻⁴⁴", NULL, error);
    if (row == NULL) return PESS_MEMORY;
    row->holds = below == 1;
    (void)snprintf(row->found, sizeof row->found, "exactly 1 − %.2g; in %.0f of %.0f repetitions", all, below * trials,
                   trials);
    row = pess__experiment_predict(e, "data", "another arm's empirical mean is 1 with probability 1 − 4·10⁻⁵", NULL,
                                   error);
    if (row == NULL) return PESS_MEMORY;
    /* five standard deviations of a count whose mean is trials·0.99^999 */
    row->holds = fabs((1 - another) - none) * trials <= 5 * sqrt(trials * none) + 5;
    (void)snprintf(row->found, sizeof row->found,
                   "exactly 1 − %.3g; not so in %.0f of %.0f repetitions (expected %.1f)", none, (1 - another) * trials,
                   trials, none * trials);
    for (int64_t i = 0; i < b->method_count; i++) {
        const pess_experiment_point *point = &e->points[2 + i];
        const method *m = &b->methods[i];
        const bool lower_bound = strcmp(m->family, "ua") == 0 && strcmp(m->uncertainty, "trivial") != 0;
        const bool naive = strcmp(m->family, "naive") == 0;
        if (!lower_bound && !naive) continue;
        row = pess__experiment_predict(e, point->algorithm,
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

static void release(pess_experiment *e) {
    free(e->context);
    e->context = NULL;
}

const pess__experiment_kind pess__experiment_bandit = {
    .info = {.name = "bandit",
             .summary = "the paper's example: 1000 arms, one well known, 999 pulled once; who is fooled",
             .title = "Bandit: who takes the well-known best arm, and who a lucky one",
             .findings = "What the paper predicts, and what came out",
             .x_label = "pulls of each other arm",
             .y_label = "probability of taking the best arm",
             .default_trials = 100000,
             .default_points = 1},
    .block = 1000,
    .prepare = prepare,
    .room_create = room_create,
    .room_destroy = room_destroy,
    .run = run,
    .judge = judge,
    .release = release};
