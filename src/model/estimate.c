/* The empirical model of a log (paper, appendix A): r_D(s,a) = Σr / n(s,a), P_D(s'|s,a) = n(s,a,s') / n(s,a), and a
 * stand-in for every pair that the log never shows. Linear in S*A + successors. */
#include "core/ranges.h"
#include "core/rng.h"
#include "core/settings.h"
#include "core/threads.h"
#include "model/counts.h"
#include "model/model.h"
#include "model/named.h"
#include "model/spread.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { PARALLEL_FROM = 65536 /* pairs */ };

#define FIELD(name) PESS__FIELD(pess_model_options, name)

static const pess_setting settings[] = {
    {"unseen", 0, PESS_SETTING_CHOICE, FIELD(unseen), "paper", .choices = "paper|worst|self-loop",
     .sentence =
         "what to assume about a state-action pair that the log never shows: a random reward and a uniform next state "
         "(paper), the lowest reward for ever (worst), or the lowest reward and the same state again (self-loop)"},
    {"reward-range", 0, PESS_SETTING_RANGE, FIELD(reward_range), NULL, PESS__ANY_NUMBER, .argument = "LO,HI",
     .sentence = "declare the range of rewards", .where_unset = "the range that the log shows"},
    PESS__SEED_SETTING(pess_model_options, "of the rewards of pairs that the log never shows"),
    PESS__RETURN_RANGE_SETTING(pess_model_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("model", pess_model_options, settings);
PESS__SETTINGS_OF(model, table)

/* Of rewards whose range is not known: their means at least lie in the declared one, as far as rounding allows. */
static pess_status check_means(const pess_counts *counts, double lo, double hi, pess_error *error) {
    const double slack = 1e-9 * fmax(fabs(lo), fabs(hi));
    for (int64_t z = 0; z < counts->states * counts->actions; z++) {
        const double mean = counts->reward_sum[z] / (double)counts->n[z];
        if (counts->n[z] > 0 && !(mean >= lo - slack && mean <= hi + slack))
            return pess__fail(error, PESS_INPUT,
                              "the mean reward of state %s, action %s is %.17g, outside the declared range "
                              "%.17g..%.17g (samples: %lld)",
                              pess__show_id(counts->state_names, z / counts->actions, (char[PESS__ID_SIZE]){0}),
                              pess__show_id(counts->action_names, z % counts->actions, (char[PESS__ID_SIZE]){0}), mean,
                              lo, hi, (long long)counts->n[z]);
    }
    return PESS_OK;
}

/* The declared range, or that of the log, and held against what the log shows. */
static pess_status reward_range(const pess_counts *counts, const pess_model_options *options, double *lo, double *hi,
                                pess_error *error) {
    const bool declared = !isnan(options->reward_range[0]);
    *lo = declared ? options->reward_range[0] : counts->reward_min;
    *hi = declared ? options->reward_range[1] : counts->reward_max;
    if (isnan(counts->reward_min) && !declared)
        return pess__fail_with_remedy(
            error,
            pess__fail(error, PESS_ARGUMENT,
                       "the counts do not tell the range of rewards (they have no columns 'reward_min' and "
                       "'reward_max'): declare it"),
            "reward-range", "LO,HI");
    if (isnan(counts->reward_min)) return check_means(counts, *lo, *hi, error);
    if (counts->transitions == 0 || (counts->reward_min >= *lo && counts->reward_max <= *hi)) return PESS_OK;
    const double found = counts->reward_min < *lo ? counts->reward_min : counts->reward_max;
    return pess__fail(error, PESS_INPUT, "the log has a reward of %.17g, outside the declared range %.17g..%.17g",
                      found, *lo, *hi);
}

static int64_t unseen_pairs(const pess_counts *counts) {
    int64_t unseen = 0;
    for (int64_t s = 0; s < counts->states; s++) {
        if (counts->terminal[s]) continue;
        for (int64_t a = 0; a < counts->actions; a++) unseen += counts->n[s * counts->actions + a] == 0;
    }
    return unseen;
}

/* The random reward of a pair that the log never shows. */
static double unseen_reward(const pess_model *model, uint64_t seed, int64_t pair) {
    pess__rng rng = pess__rng_stream(seed, "unseen", (uint64_t)pair);
    return model->reward_lo + pess__rng_uniform(&rng) * (model->reward_hi - model->reward_lo);
}

/* What is filled in pair by pair, by several threads. */
typedef struct filling {
    const pess_counts *counts;
    const pess_model_options *options;
    double uniform_end; /* a next state that is uniform over all may be a terminal one */
    pess_model *model;
} filling;

static void fill_unseen(const filling *f, int64_t pair) {
    pess_model *model = f->model;
    model->reward[pair] = model->reward_lo;
    switch (f->options->unseen) {
        case PESS_UNSEEN_PAPER:
            model->kind[pair] = PESS_ROW_UNIFORM;
            model->reward[pair] = unseen_reward(model, f->options->seed, pair);
            model->end_mass[pair] = f->uniform_end;
            break;
        case PESS_UNSEEN_WORST: model->kind[pair] = PESS_ROW_SINK; break;
        case PESS_UNSEEN_SELF_LOOP:
            model->kind[pair] = PESS_ROW_SPARSE;
            model->probability[model->row[pair]] = 1;
            break;
    }
}

static void fill_seen(const filling *f, int64_t pair) {
    const pess_counts *counts = f->counts;
    pess_model *model = f->model;
    const double n = (double)counts->n[pair];
    const int64_t from = counts->row[pair], to = model->row[pair];
    model->kind[pair] = PESS_ROW_SPARSE;
    model->reward[pair] = fmin(fmax(counts->reward_sum[pair] / n, model->reward_lo), model->reward_hi);
    if (counts->n_terminal[pair] > 0) model->end_mass[pair] = (double)counts->n_terminal[pair] / n;
    for (int64_t i = 0; i < counts->row[pair + 1] - from; i++)
        model->probability[to + i] = (double)counts->n_next[from + i] / n;
}

static void fill_pairs(void *context, int64_t from, int64_t to, int part) {
    (void)part;
    const filling *f = context;
    for (int64_t pair = from; pair < to; pair++) {
        if (f->model->terminal[pair / f->model->actions]) continue;
        if (f->counts->n[pair] > 0)
            fill_seen(f, pair);
        else
            fill_unseen(f, pair);
    }
}

/* The successors of the counts, and with `more` the state itself where nothing was seen. */
static void copy_rows(const pess_counts *counts, bool more, pess_model *model) {
    int64_t used = 0;
    for (int64_t pair = 0; pair < counts->states * counts->actions; pair++) {
        const int64_t s = pair / counts->actions, begin = counts->row[pair], length = counts->row[pair + 1] - begin;
        if (length > 0) memcpy(model->next + used, counts->next + begin, (size_t)length * sizeof *model->next);
        used += length;
        if (more && !counts->terminal[s] && counts->n[pair] == 0) model->next[used++] = (uint32_t)s;
        model->row[pair + 1] = used;
    }
}

/* A model with the rows that it will have. */
static pess_status make_rows(const pess_counts *counts, pess_unseen unseen, pess_model **out, pess_error *error) {
    const int64_t more = unseen == PESS_UNSEEN_SELF_LOOP ? unseen_pairs(counts) : 0;
    if (more == 0 && counts->successors != NULL)
        return pess__model_create_over(counts->states, counts->actions, counts->successors, out, error);
    const int64_t successors = counts->row[counts->states * counts->actions] + more;
    PESS_TRY(pess__model_create(counts->states, counts->actions, successors, out, error));
    copy_rows(counts, more > 0, *out);
    return PESS_OK;
}

static pess_status estimate(const pess_counts *counts, const pess_model_options *options, pess_model **out,
                            pess_error *error) {
    if ((unsigned)options->unseen > PESS_UNSEEN_SELF_LOOP)
        return pess__fail(error, PESS_ARGUMENT, "%d is not a rule for unseen pairs", (int)options->unseen);
    double lo = 0, hi = 0;
    PESS_TRY(pess__counts_need_all(counts, error));
    PESS_TRY(reward_range(counts, options, &lo, &hi, error));
    const int64_t pairs = counts->states * counts->actions;
    pess_model *model = NULL;
    PESS_TRY(make_rows(counts, options->unseen, &model, error));
    model->reward_lo = lo;
    model->reward_hi = hi;
    model->reward_declared = !isnan(options->reward_range[0]);
    model->return_declared = !isnan(options->return_range[0]);
    model->return_lo = options->return_range[0];
    model->return_hi = options->return_range[1];
    int64_t terminals = 0;
    for (int64_t s = 0; s < counts->states; s++) terminals += model->terminal[s] = counts->terminal[s];
    model->has_terminals = terminals > 0 || counts->terminals > 0;
    filling f = {counts, options, (double)terminals / (double)counts->states, model};
    pess__ranges(pairs >= PARALLEL_FROM ? pess__threads_still(counts->threads) : 1, pairs, fill_pairs, &f);
    assert(counts->spread != NULL || pess__model_holds(model)); /* places of states elsewhere count as terminal */
    *out = model;
    return PESS_OK;
}

/* What an estimate from some of the states cannot know: whether episodes end at all, and of unseen pairs their number
 * among all, which decides on their random reward, and how likely a uniform next state is terminal. */
static void complete(const pess_counts *counts, uint64_t seed, pess_model *model) {
    const pess__spread *spread = counts->spread;
    double terminals = 0, ends = 0;
    for (int64_t s = 0; s < spread->own; s++) terminals += counts->terminal[s];
    for (int64_t z = 0; z < spread->own * counts->actions; z++) ends += counts->n_terminal[z] > 0;
    terminals = pess__sum_of_all(spread, terminals);
    model->has_terminals = pess__most_of_all(spread, terminals + ends) > 0;
    model->spread = spread;
    for (int64_t z = 0; z < spread->own * counts->actions; z++) {
        if (model->kind[z] != PESS_ROW_UNIFORM) continue;
        const int64_t state = pess__number_in(spread, z / counts->actions);
        model->reward[z] = unseen_reward(model, seed, state * counts->actions + z % counts->actions);
        model->end_mass[z] = terminals / (double)spread->states;
    }
}

pess_status pess_model_estimate(const pess_counts *counts, const pess_model_options *options, pess_model **out,
                                pess_error *error) {
    pess_model_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    PESS_TRY(pess__agree_of_all(counts->spread, estimate(counts, &settled, out, error), error));
    if (counts->spread != NULL) complete(counts, settled.seed, *out);
    return PESS_OK;
}
