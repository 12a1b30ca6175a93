#include "certify/episode_bets.h"

#include "certify/doubly_robust.h"
#include "core/memory.h"
#include "core/ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    bool *scratch; /* [threads, apart] [A] */
    int64_t apart;
} sums;

static void sum_range(void *context, int64_t first, int64_t last, int part) {
    const sums *j = context;
    const pess__trajectories *t = j->log->trajectories;
    for (int64_t k = first; k < last; k++) {
        const int64_t begin = t->begin[j->from + k], end = t->begin[j->from + k + 1];
        j->values[k] = pess__doubly_robust_sum(j->dr, j->log->data, j->log->probability, t->row + begin, end - begin,
                                               j->scratch + part * j->apart);
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
                                             .reward_least = log->reward_least,
                                             .reward_most = log->reward_most,
                                             .floor = bet->floor * range,
                                             .paired = bet->paired};
    sums j = {.log = log, .from = from, .values = values, .apart = pess__apart(log->data->actions, sizeof(bool))};
    PESS_TRY(pess__doubly_robust_create(&setup, &j.dr, error));
    const pess_status status = pess__allocate(&j.scratch, threads * j.apart, sizeof(bool), "doubly robust sums", error);
    if (status == PESS_OK) pess__ranges(threads, to - from, sum_range, &j);
    free(j.scratch);
    pess__doubly_robust_destroy(j.dr);
    if (status != PESS_OK) return status;
    for (int64_t k = 0; k < to - from; k++) *void_bet |= isnan(values[k]);
    return PESS_OK;
}

pess_status pess__bet_values(const pess__episode_log *log, const pess__bet_policy *policy, const pess__bet *bet,
                             int64_t from, int64_t to, double *weights, double *values, bool *void_bet,
                             pess_error *error) {
    const pess__returns *returns = log->returns;
    *void_bet = false;
    pess__importance_weights(log->data, log->trajectories, log->probability, policy->probability, returns->gamma,
                             returns->lo, from, to, log->threads, weights,
                             bet->kind == PESS__BET_PER_DECISION ? values : NULL);
    if (bet->kind == PESS__BET_DOUBLY_ROBUST)
        PESS_TRY(doubly_robust(log, policy, bet, from, to, values, void_bet, error));
    else if (bet->kind == PESS__BET_WHOLE && bet->paired)
        pess__importance_differences(returns, weights, from, to, values);
    else if (bet->kind == PESS__BET_WHOLE)
        pess__importance_values(returns, weights, from, to, INFINITY, values);
    for (int64_t k = 0; k < to - from; k++) values[k] = fmin(values[k], bet->cap);
    return PESS_OK;
}
