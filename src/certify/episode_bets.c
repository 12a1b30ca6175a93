#include "certify/episode_bets.h"

#include "certify/doubly_robust.h"
#include "core/ranges.h"

#include <math.h>

const char *pess__bet_name(pess__bet_kind kind) {
    static const char *const names[] = {"whole", "per-decision", "doubly-robust"};
    return names[kind];
}

double pess__bet_offset(const pess__episode_log *log, const pess__bet *bet) {
    const double range = log->returns->hi - log->returns->lo, from = bet->paired ? 0 : log->returns->lo;
    if (bet->kind == PESS__BET_DOUBLY_ROBUST) return from - bet->floor * range;
    return bet->paired ? -range : from;
}

typedef struct sums {
    const pess__episode_log *log;
    pess__doubly_robust *dr;
    int64_t from;
    double *values;
} sums;

static void sum_range(void *context, int64_t first, int64_t last, int part) {
    (void)part;
    const sums *j = context;
    const pess__trajectories *t = j->log->trajectories;
    for (int64_t k = first; k < last; k++) {
        const int64_t i = j->from + k;
        const pess__episode episode = {.data = j->log->data,
                                       .probability = j->log->probability,
                                       .rows = t->row + t->begin[i],
                                       .count = t->begin[i + 1] - t->begin[i],
                                       .least = j->log->returns->least[i],
                                       .most = j->log->returns->most[i]};
        j->values[k] = pess__doubly_robust_sum(j->dr, &episode);
    }
}

static pess_status doubly_robust(const pess__episode_log *log, const pess__bet_policy *policy, const pess__bet *bet,
                                 int64_t from, int64_t to, double *values, bool *void_bet, pess_error *error) {
    const pess__returns *returns = log->returns;
    const double range = returns->hi - returns->lo;
    const int threads = to - from > 4096 ? log->threads : 1;
    const pess__doubly_robust_setup setup = {.states = log->data->states,
                                             .actions = log->data->actions,
                                             .policy = policy->probability,
                                             .behaviour = log->by_state,
                                             .q = policy->q,
                                             .gamma = returns->gamma,
                                             .lo = returns->lo,
                                             .range = range,
                                             .floor = bet->floor * range,
                                             .paired = bet->paired};
    sums j = {.log = log, .from = from, .values = values};
    PESS_TRY(pess__doubly_robust_create(&setup, &j.dr, error));
    pess__ranges(threads, to - from, sum_range, &j);
    pess__doubly_robust_destroy(j.dr);
    for (int64_t k = 0; k < to - from; k++) *void_bet |= isnan(values[k]);
    return PESS_OK;
}

void pess__bet_weights(const pess__episode_log *log, const pess__bet_policy *policy, int64_t from, int64_t to,
                       double *weights) {
    pess__importance_weights(log->data, log->trajectories, log->probability, policy->probability, log->returns->gamma,
                             log->returns->lo, from, to, log->threads, weights, NULL);
}

pess_status pess__bet_values(const pess__episode_log *log, const pess__bet_policy *policy, const pess__bet *bet,
                             int64_t from, int64_t to, double *weights, double *values, bool *void_bet,
                             pess_error *error) {
    const pess__returns *returns = log->returns;
    *void_bet = false;
    if (bet->kind == PESS__BET_DOUBLY_ROBUST)
        PESS_TRY(doubly_robust(log, policy, bet, from, to, values, void_bet, error));
    else if (bet->kind == PESS__BET_PER_DECISION)
        pess__importance_weights(log->data, log->trajectories, log->probability, policy->probability, returns->gamma,
                                 returns->lo, from, to, log->threads, weights, values);
    else if (bet->paired)
        pess__importance_differences(returns, weights, from, to, values);
    else
        pess__importance_values(returns, weights, from, to, INFINITY, values);
    if (bet->cap < INFINITY)
        for (int64_t k = 0; k < to - from; k++) values[k] = fmin(values[k], bet->cap);
    return PESS_OK;
}
