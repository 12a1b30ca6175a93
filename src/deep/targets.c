/* Targets of fitted Q iteration: y = r + γ v(s'), v by the learner's rule from the frozen network. After a terminal
 * transition nothing follows; a cut-off goes on. Values are computed once per update, for every different state that
 * the update's minibatches lead to. */
#include "deep/fitted.h"

#include <math.h>
#include <string.h>

pess__rng pess__fitted_rows(const pess__fitted *fitted) {
    return pess__rng_stream(fitted->options.seed, "rows", (uint64_t)fitted->update);
}

double pess__fitted_target(const pess__fitted *fitted, int64_t row) {
    const pess_transitions *data = fitted->data;
    const double after = data->end[row] == PESS_END_TERMINAL ? 0 : (double)fitted->value[data->next[row]];
    return (double)data->reward[row] + fitted->options.gamma * after;
}

static void want(pess__fitted *fitted, int64_t state) {
    if (fitted->place[state] >= 0) return;
    fitted->place[state] = 0;
    fitted->wanted[fitted->wanted_count++] = state;
}

/* The states after the transitions that the coming update will draw. */
static void list_nexts(pess__fitted *fitted) {
    const pess_transitions *data = fitted->data;
    const int64_t draws = fitted->steps * fitted->batch;
    fitted->wanted_count = 0;
    if (draws > 8 * data->transitions) {
        for (int64_t i = 0; i < data->transitions; i++) want(fitted, data->next[i]);
    } else {
        pess__rng rng = pess__fitted_rows(fitted);
        for (int64_t i = 0; i < draws; i++)
            want(fitted, data->next[pess__rng_below(&rng, (uint64_t)data->transitions)]);
        for (int64_t i = 0; i < fitted->check_count; i++) want(fitted, data->next[fitted->check[i]]);
    }
    for (int64_t i = 0; i < fitted->wanted_count; i++) fitted->place[fitted->wanted[i]] = -1;
}

typedef void chunk_use(pess__fitted *fitted, const int64_t *states, int64_t count);

/* Outputs of the network for the wanted states, a chunk at a time. */
static pess_status over_wanted(pess__fitted *fitted, const pess__net *net, chunk_use *use, pess_error *error) {
    const pess_transitions *data = fitted->data;
    for (int64_t first = 0; first < fitted->wanted_count; first += PESS__OUTPUT_CHUNK) {
        const int64_t left = fitted->wanted_count - first,
                      count = left < PESS__OUTPUT_CHUNK ? left : PESS__OUTPUT_CHUNK;
        const pess__bits_rows rows = {data->observations, data->bytes, fitted->wanted + first};
        PESS_TRY(pess__net_apply(net, &rows, count, fitted->options.threads, fitted->outputs, error));
        use(fitted, fitted->wanted + first, count);
    }
    return PESS_OK;
}

static void decide_chunk(pess__fitted *fitted, const int64_t *states, int64_t count) {
    const int64_t actions = fitted->data->actions;
    double policy[PESS__MAX_ACTIONS];
    for (int64_t i = 0; i < count; i++) {
        const pess__sight sight = {.actions = actions,
                                   .q = fitted->outputs + i * actions,
                                   .prior = fitted->prior != NULL ? fitted->prior + states[i] * actions : NULL};
        fitted->value[states[i]] = (float)fitted->learner->decide(fitted->alpha, &sight, policy);
    }
}

pess_status pess__fitted_targets(pess__fitted *fitted, pess_error *error) {
    if (fitted->update == 0) { /* the first targets are the rewards alone */
        memset(fitted->value, 0, (size_t)fitted->data->states * sizeof *fitted->value);
        return PESS_OK;
    }
    list_nexts(fitted);
    return over_wanted(fitted, fitted->frozen, decide_chunk, error);
}

static void softmax_chunk(pess__fitted *fitted, const int64_t *states, int64_t count) {
    const int64_t actions = fitted->data->actions;
    for (int64_t i = 0; i < count; i++)
        pess__softmax(fitted->outputs + i * actions, actions, fitted->prior + states[i] * actions);
}

pess_status pess__fitted_priors(pess__fitted *fitted, pess_error *error) {
    fitted->wanted_count = fitted->data->states;
    for (int64_t i = 0; i < fitted->wanted_count; i++) fitted->wanted[i] = i;
    return over_wanted(fitted, fitted->imitation, softmax_chunk, error);
}

pess_status pess__fitted_check(pess__fitted *fitted, pess_error *error) {
    const pess_transitions *data = fitted->data;
    const int64_t actions = data->actions;
    double loss = 0, target = 0, q = 0;
    for (int64_t i = 0; i < fitted->check_count; i++) fitted->wanted[i] = data->state[fitted->check[i]];
    const pess__bits_rows rows = {data->observations, data->bytes, fitted->wanted};
    PESS_TRY(pess__net_apply(fitted->net, &rows, fitted->check_count, fitted->options.threads, fitted->outputs, error));
    for (int64_t i = 0; i < fitted->check_count; i++) {
        const int64_t row = fitted->check[i];
        const pess__real *own = fitted->outputs + i * actions;
        if (!fitted->learner->info.values) {
            float odds[PESS__MAX_ACTIONS];
            pess__softmax(own, actions, odds);
            loss -= log(fmax((double)odds[data->action[row]], 1e-30));
            continue;
        }
        const double y = pess__fitted_target(fitted, row), d = fabs((double)own[data->action[row]] - y);
        const double edge = PESS__HUBER_EDGE;
        loss += d <= edge ? 0.5 * d * d : edge * (d - 0.5 * edge);
        target += y;
        q += (double)own[data->action[row]];
    }
    const double n = (double)fitted->check_count;
    fitted->loss = loss / n;
    fitted->mean_target = fitted->learner->info.values ? target / n : NAN;
    fitted->mean_q = fitted->learner->info.values ? q / n : NAN;
    return PESS_OK;
}
