/* Are the cells Markov? A test with a false-alarm probability that holds for every log.
 *
 * The cells are good states where the law of what follows — the next cell (or the end) and the reward — given the
 * present cell and action does not depend on what came before. Let y_1, y_2, … be what follows the rows of the held-out
 * episodes, z_t = (cell, action), x_t the cell before. Against P(y | z), whatever it is, stands a forecaster q_t(y | x,
 * z) that may use the episodes that made the cells and the held-out rows before t. If the cells are Markov,
 *
 *     E [ Π_t q_t(y_t) / P(y_t | z_t) ] = 1,   so   E = Π_t q_t(y_t) / max_P Π_t P(y_t | z_t)
 *
 * has mean at most 1 and is 1/α or more with probability at most α (universal inference: Wasserman, Ramdas and
 * Balakrishnan 2020; Markov's inequality). Nothing is asked of the policy that made the log or of the number of rows.
 * The maximum is at the frequencies of the held-out rows. The forecaster is a Dirichlet mixture that backs off,
 *
 *     q(y | x, z) = (n(x,z,y) + β q(y | z)) / (n(x,z) + β),   q(y | z) = (n(z,y) + q(y)) / (n(z) + 1),
 *     q(y) = (n(y) + ½) / (n + M/2),
 *
 * and its product is the mean of the products for β = 1, 8, 64: a mean of such E is one too. So is the mean of that for
 * next cells and that for rewards, which is what the test looks at. */
#include "core/memory.h"
#include "core/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(field) PESS__FIELD(pess_markov_options, field)

static const pess_setting settings[] = {
    {"markov-error", 0, PESS_SETTING_NUMBER, FIELD(error_probability), "0.05", PESS__BETWEEN(0, 1), .argument = "A",
     .sentence = "probability that cells that are Markov are reported as not Markov"},
    {"reward-levels", 0, PESS_SETTING_COUNT, FIELD(reward_levels), "8", PESS__FROM_TO(2, 1000), .argument = "N",
     .sentence = "rewards are told apart at no more than N levels: quantiles of the rewards that made the cells"},
};
static const pess_setting_table table = PESS__SETTING_TABLE("markov", pess_markov_options, settings);
PESS__SETTINGS_OF(markov, table)

/* ---- counts by key */

typedef struct counter {
    uint64_t *key; /* plus one; 0: free */
    int64_t *count;
    int64_t slots, used;
} counter;

static void counter_free(counter *c) {
    free(c->key);
    free(c->count);
    *c = (counter){0};
}

static int64_t slot_of(const counter *c, uint64_t key) {
    uint64_t x = (key ^ (key >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    uint64_t at = (x ^ (x >> 31)) & (uint64_t)(c->slots - 1);
    while (c->key[at] != 0 && c->key[at] != key + 1) at = (at + 1) & (uint64_t)(c->slots - 1);
    return (int64_t)at;
}

static double count_of(const counter *c, uint64_t key) { return c->slots > 0 ? (double)c->count[slot_of(c, key)] : 0; }

static pess_status counter_grow(counter *c, pess_error *error) {
    counter larger = {.slots = c->slots > 0 ? 2 * c->slots : 1024, .used = c->used};
    PESS_TRY(pess__allocate(&larger.key, larger.slots, sizeof *larger.key, "counts", error));
    const pess_status status = pess__allocate(&larger.count, larger.slots, sizeof *larger.count, "counts", error);
    if (status != PESS_OK) {
        counter_free(&larger);
        return status;
    }
    for (int64_t i = 0; i < c->slots; i++)
        if (c->key[i] != 0) {
            const int64_t at = slot_of(&larger, c->key[i] - 1);
            larger.key[at] = c->key[i];
            larger.count[at] = c->count[i];
        }
    counter_free(c);
    *c = larger;
    return PESS_OK;
}

static pess_status counter_add(counter *c, uint64_t key, pess_error *error) {
    if (2 * (c->used + 1) > c->slots) PESS_TRY(counter_grow(c, error));
    const int64_t at = slot_of(c, key);
    c->used += c->key[at] == 0;
    c->key[at] = key + 1;
    c->count[at]++;
    return PESS_OK;
}

/* The number of a key, from 1 in order of appearance. */
static pess_status counter_number(counter *c, uint64_t key, uint64_t *number, pess_error *error) {
    const int64_t before = c->used;
    if (count_of(c, key) == 0) {
        PESS_TRY(counter_add(c, key, error));
        c->count[slot_of(c, key)] = before + 1;
    }
    *number = (uint64_t)c->count[slot_of(c, key)];
    return PESS_OK;
}

/* ---- the forecaster */

enum { BETAS = 3, FOLLOWS_BITS = 17, PAIR_BITS = 36 };
static const double betas[BETAS] = {1, 8, 64};

/* A row: the cell before, the present cell and action, and what follows. */
typedef struct event {
    uint64_t before, pair, follows;
} event;

static uint64_t pair_follows(const event *e) { return e->pair << FOLLOWS_BITS | e->follows; }
static uint64_t context(const event *e) { return e->before << PAIR_BITS | e->pair; }

typedef struct side {
    double alphabet; /* M */
    double rows;     /* n */
    counter follows, pair, pair_follows;
    counter context_id;                   /* contexts (before, pair), numbered from 1 in order of appearance */
    counter context, context_follows;     /* by that number */
    counter held_pair, held_pair_follows; /* of the held-out rows alone */
    double log_one, log_two[BETAS];       /* log-likelihoods of the held-out rows by q(y|z) and q(y|x,z) */
} side;

static void side_free(side *s) {
    counter_free(&s->follows);
    counter_free(&s->pair);
    counter_free(&s->pair_follows);
    counter_free(&s->context_id);
    counter_free(&s->context);
    counter_free(&s->context_follows);
    counter_free(&s->held_pair);
    counter_free(&s->held_pair_follows);
}

static pess_status learn(side *s, const event *e, pess_error *error) {
    uint64_t number = 0;
    s->rows++;
    PESS_TRY(counter_add(&s->follows, e->follows, error));
    PESS_TRY(counter_add(&s->pair, e->pair, error));
    PESS_TRY(counter_add(&s->pair_follows, pair_follows(e), error));
    PESS_TRY(counter_number(&s->context_id, context(e), &number, error));
    PESS_TRY(counter_add(&s->context, number, error));
    return counter_add(&s->context_follows, number << FOLLOWS_BITS | e->follows, error);
}

static void forecast(side *s, const event *e) {
    const double zero = (count_of(&s->follows, e->follows) + 0.5) / (s->rows + s->alphabet / 2);
    const double one = (count_of(&s->pair_follows, pair_follows(e)) + zero) / (count_of(&s->pair, e->pair) + 1);
    const uint64_t number = (uint64_t)count_of(&s->context_id, context(e)); /* 0: a new context, with no counts */
    const double n = count_of(&s->context, number);
    const double hits = count_of(&s->context_follows, number << FOLLOWS_BITS | e->follows);
    s->log_one += log(one);
    for (int b = 0; b < BETAS; b++) s->log_two[b] += log((hits + betas[b] * one) / (n + betas[b]));
}

/* A held-out row is forecast before it is learnt. */
static pess_status meet(side *s, const event *e, pess_error *error) {
    forecast(s, e);
    PESS_TRY(counter_add(&s->held_pair, e->pair, error));
    PESS_TRY(counter_add(&s->held_pair_follows, pair_follows(e), error));
    return learn(s, e, error);
}

/* max_P Σ log P(y|z): the frequencies of the held-out rows, summed in the order of the table. */
static double most_likely(const side *s) {
    double sum = 0;
    for (int64_t i = 0; i < s->held_pair_follows.slots; i++) {
        if (s->held_pair_follows.key[i] == 0) continue;
        const double n = (double)s->held_pair_follows.count[i];
        sum += n * log(n / count_of(&s->held_pair, (s->held_pair_follows.key[i] - 1) >> FOLLOWS_BITS));
    }
    return sum;
}

/* log of the mean of e^v. */
static double log_mean(const double *v, int count) {
    double most = v[0], sum = 0;
    for (int i = 1; i < count; i++) most = v[i] > most ? v[i] : most;
    for (int i = 0; i < count; i++) sum += exp(v[i] - most);
    return most + log(sum / count);
}

static pess_markov_side settle(const side *s, double rows) {
    const double two = log_mean(s->log_two, BETAS);
    return (pess_markov_side){.bits_one = -s->log_one / (rows * log(2)),
                              .bits_two = -two / (rows * log(2)),
                              .log_evidence = two - most_likely(s)};
}

/* ---- levels of the rewards */

typedef struct levels {
    double *edge; /* [count], ascending; a reward is on the level above all edges that are not above it */
    int64_t count;
} levels;

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* A level for each reward where there are few enough, else quantiles. */
static pess_status make_levels(const pess_columns *c, int64_t most, levels *out, pess_error *error) {
    double *sorted = NULL;
    PESS_TRY(pess__allocate(&sorted, c->rows, sizeof *sorted, "rewards", error));
    const pess_status status = pess__allocate(&out->edge, most, sizeof *out->edge, "rewards", error);
    if (status != PESS_OK) {
        free(sorted);
        return status;
    }
    memcpy(sorted, c->reward, (size_t)c->rows * sizeof *sorted);
    qsort(sorted, (size_t)c->rows, sizeof *sorted, compare);
    int64_t different = 1;
    for (int64_t i = 1; i < c->rows; i++) different += sorted[i] != sorted[i - 1];
    for (int64_t i = 1; different <= most && i < c->rows; i++)
        if (sorted[i] != sorted[i - 1]) out->edge[out->count++] = sorted[i];
    for (int64_t b = 1; different > most && b < most; b++) {
        const double edge = sorted[c->rows * b / most];
        if (edge > sorted[0] && (out->count == 0 || edge > out->edge[out->count - 1])) out->edge[out->count++] = edge;
    }
    free(sorted);
    return PESS_OK;
}

static uint64_t level_of(const levels *l, double reward) {
    uint64_t level = 0;
    while ((int64_t)level < l->count && l->edge[level] <= reward) level++;
    return level;
}

/* ---- the test */

typedef struct test {
    int64_t states, actions;
    levels rewards;
    side next, reward;
} test;

/* All rows of a log, in order: learnt, or forecast and learnt. Returns how many episodes there are. */
static pess_status walk(test *t, const pess_columns *c, bool held_out, int64_t *episodes, pess_error *error) {
    for (int64_t i = 0; i < c->rows; i++) {
        const bool first = i == 0 || c->episode[i] != c->episode[i - 1] || c->end[i - 1] != PESS_END_NONE;
        const bool ends = c->end[i] == PESS_END_TERMINAL;
        event e = {.before = first ? (uint64_t)t->states : c->state[i - 1],
                   .pair = (uint64_t)c->state[i] * (uint64_t)t->actions + c->action[i],
                   .follows = ends ? (uint64_t)t->states : c->next_state[i]};
        *episodes += first;
        PESS_TRY(held_out ? meet(&t->next, &e, error) : learn(&t->next, &e, error));
        e.follows = level_of(&t->rewards, c->reward[i]);
        PESS_TRY(held_out ? meet(&t->reward, &e, error) : learn(&t->reward, &e, error));
    }
    return PESS_OK;
}

static pess_status run(test *t, const pess_columns *making, const pess_columns *held_out,
                       const pess_markov_options *options, pess_markov *out, pess_error *error) {
    int64_t learnt = 0, episodes = 0;
    PESS_TRY(make_levels(making, options->reward_levels, &t->rewards, error));
    t->next.alphabet = (double)t->states + 1;
    t->reward.alphabet = (double)t->rewards.count + 1;
    PESS_TRY(walk(t, making, false, &learnt, error));
    PESS_TRY(walk(t, held_out, true, &episodes, error));
    *out = (pess_markov){.rows = held_out->rows,
                         .episodes = episodes,
                         .error_probability = options->error_probability,
                         .next = settle(&t->next, (double)held_out->rows),
                         .reward = settle(&t->reward, (double)held_out->rows)};
    const double both[] = {out->next.log_evidence, out->reward.log_evidence};
    out->log_evidence = log_mean(both, 2);
    out->flagged = out->log_evidence >= -log(options->error_probability);
    return PESS_OK;
}

pess_status pess_markov_test(const pess_dataset *making, const pess_dataset *held_out,
                             const pess_markov_options *options, pess_markov *out, pess_error *error) {
    pess_markov_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    pess_columns first, second;
    pess_dataset_columns(making, &first);
    pess_dataset_columns(held_out, &second);
    test t = {.states = pess_dataset_states(making), .actions = pess_dataset_actions(making)};
    if (t.states != pess_dataset_states(held_out) || t.actions != pess_dataset_actions(held_out))
        return pess__fail(error, PESS_ARGUMENT,
                          "the two parts of the log differ in their states or actions, expected the same in both");
    if (t.states >= (int64_t)1 << FOLLOWS_BITS)
        return pess__fail(error, PESS_LIMIT, "found %lld cells, expected at most %d", (long long)t.states,
                          PESS_MAX_CELLS);
    if (first.episode == NULL || second.episode == NULL)
        return pess__fail(error, PESS_ARGUMENT, "found no episodes, expected them: the test looks at the cell before");
    const pess_status status = run(&t, &first, &second, &settled, out, error);
    side_free(&t.next);
    side_free(&t.reward);
    free(t.rewards.edge);
    return status;
}
