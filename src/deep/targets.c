/* Targets of fitted Q iteration: y = r + γ v(s'), v by the learner's rule from the frozen network. After a terminal
 * transition nothing follows; a cut-off goes on. Values are computed once per update, for every different state that
 * the update's minibatches lead to. */
#include "deep/fitted.h"

#include <math.h>
#include <string.h>

pess__rng pess__fitted_rows(const pess__fitted *fitted, int64_t network) {
    return pess__rng_stream(fitted->options.seed, "rows", (uint64_t)fitted->update + ((uint64_t)network << 32));
}

/* Uniform over the transitions; where there are several networks, over the network's own resample of them with
 * replacement (Efron 1979), entry j of which is a function of seed, network and j. */
int64_t pess__fitted_row(const pess__fitted *fitted, int64_t network, pess__rng *rng) {
    const uint64_t transitions = (uint64_t)fitted->data->transitions;
    const uint64_t entry = pess__rng_below(rng, transitions);
    if (pess__fitted_networks(fitted) == 1) return (int64_t)entry;
    pess__rng own = pess__rng_stream(fitted->options.seed, "resample", entry + ((uint64_t)network << 32));
    return (int64_t)pess__rng_below(&own, transitions);
}

double pess__fitted_target(const pess__fitted *fitted, int64_t row) {
    const pess_observations *data = fitted->data;
    const double after = data->end[row] == PESS_END_TERMINAL
                             ? 0
                             : (double)fitted->value[fitted->mixing * data->states + data->next[row]];
    return (double)data->reward[row] + fitted->options.gamma * after;
}

static void want(pess__fitted *fitted, int64_t state) {
    if (fitted->place[state] >= 0) return;
    fitted->place[state] = 0;
    fitted->wanted[fitted->wanted_count++] = state;
}

/* The states after the transitions that the coming update will draw. */
static void list_nexts(pess__fitted *fitted) {
    const pess_observations *data = fitted->data;
    const int64_t draws = fitted->steps * fitted->batch, networks = pess__fitted_networks(fitted);
    fitted->wanted_count = 0;
    if (networks * draws > 8 * data->transitions) {
        for (int64_t i = 0; i < data->transitions; i++) want(fitted, data->next[i]);
    } else {
        for (int64_t k = 0; k < networks; k++) {
            pess__rng rng = pess__fitted_rows(fitted, k);
            for (int64_t i = 0; i < draws; i++) want(fitted, data->next[pess__fitted_row(fitted, k, &rng)]);
        }
        for (int64_t i = 0; i < fitted->check_count; i++) want(fitted, data->next[fitted->check[i]]);
    }
    for (int64_t i = 0; i < fitted->wanted_count; i++) fitted->place[fitted->wanted[i]] = -1;
}

typedef void chunk_use(pess__fitted *fitted, const int64_t *states, int64_t count);

/* Outputs of the networks for the wanted states, a chunk at a time. */
static pess_status over_wanted(pess__fitted *fitted, const pess__net *const *nets, int64_t net_count, chunk_use *use,
                               pess_error *error) {
    const pess_observations *data = fitted->data;
    for (int64_t first = 0; first < fitted->wanted_count; first += PESS__OUTPUT_CHUNK) {
        const int64_t left = fitted->wanted_count - first,
                      count = left < PESS__OUTPUT_CHUNK ? left : PESS__OUTPUT_CHUNK;
        const pess__bits_rows rows = {data->observations, data->bytes, fitted->wanted + first};
        for (int64_t k = 0; k < net_count; k++)
            PESS_TRY(pess__net_apply(nets[k], &rows, count, fitted->options.threads,
                                     fitted->outputs + k * PESS__OUTPUT_CHUNK * nets[k]->outputs, error));
        use(fitted, fitted->wanted + first, count);
    }
    return PESS_OK;
}

pess__view pess__fitted_view(const pess__fitted *f, int64_t state) {
    const int64_t actions = f->data->actions, at = state * actions, networks = pess__fitted_networks(f);
    return (pess__view){.actions = actions,
                        .heads = networks > 1 ? networks : pess__fitted_heads(f),
                        .head_stride = networks > 1 ? PESS__OUTPUT_CHUNK * actions : actions,
                        .prior = f->prior != NULL ? f->prior + at : NULL,
                        .penalty = f->penalty != NULL ? f->penalty + at : NULL,
                        .counts = f->counts != NULL ? f->counts + at : NULL,
                        .actor = f->acting != NULL ? f->acting + at : NULL,
                        .cap = f->cap,
                        .relative = f->options.relative};
}

static void decide_chunk(pess__fitted *fitted, const int64_t *states, int64_t count) {
    const int64_t heads = pess__fitted_heads(fitted), mixtures = pess__fitted_mixtures(fitted);
    double policy[PESS__MAX_ACTIONS];
    for (int64_t i = 0; i < count; i++) {
        pess__view view = pess__fitted_view(fitted, states[i]);
        view.q = fitted->outputs + i * heads * fitted->data->actions;
        for (int64_t j = 0; j < mixtures; j++) {
            if (fitted->mixture != NULL) view.mixture = fitted->mixture + j * heads;
            fitted->value[j * fitted->data->states + states[i]] =
                (float)fitted->learner->decide(fitted->alpha, &view, policy);
        }
    }
}

static void act_chunk(pess__fitted *fitted, const int64_t *states, int64_t count) {
    const int64_t actions = fitted->data->actions;
    for (int64_t i = 0; i < count; i++)
        pess__softmax(fitted->outputs + i * actions, actions, fitted->acting + states[i] * actions);
}

/* Convex weights of the heads, as in REM: uniform numbers over their sum. */
static void mix(pess__fitted *fitted) {
    const int64_t heads = pess__fitted_heads(fitted), mixtures = pess__fitted_mixtures(fitted);
    for (int64_t j = 0; j < mixtures && fitted->mixture != NULL; j++) {
        pess__rng rng = pess__rng_stream(fitted->options.seed, "mixture", (uint64_t)(fitted->update * mixtures + j));
        double *weights = fitted->mixture + j * heads, sum = 0;
        for (int64_t k = 0; k < heads; k++) sum += weights[k] = pess__rng_uniform(&rng);
        for (int64_t k = 0; k < heads; k++) weights[k] = sum > 0 ? weights[k] / sum : 1 / (double)heads;
    }
}

pess_status pess__fitted_targets(pess__fitted *fitted, pess_error *error) {
    const int64_t networks = pess__fitted_networks(fitted);
    mix(fitted);
    if (fitted->update == 0) { /* the first targets are the rewards alone */
        memset(fitted->value, 0,
               (size_t)(pess__fitted_mixtures(fitted) * fitted->data->states) * sizeof *fitted->value);
        return PESS_OK;
    }
    const pess__net *nets[PESS__MAX_NETWORKS] = {fitted->frozen};
    const pess__net *const actor = fitted->actor;
    for (int64_t k = 1; k < networks; k++) nets[k] = pess__fitted_net(fitted, k);
    list_nexts(fitted);
    if (actor != NULL) PESS_TRY(over_wanted(fitted, &actor, 1, act_chunk, error));
    return over_wanted(fitted, nets, networks, decide_chunk, error);
}

static void softmax_chunk(pess__fitted *fitted, const int64_t *states, int64_t count) {
    const int64_t actions = fitted->data->actions;
    for (int64_t i = 0; i < count; i++)
        pess__softmax(fitted->outputs + i * actions, actions, fitted->prior + states[i] * actions);
}

pess_status pess__fitted_priors(pess__fitted *fitted, pess_error *error) {
    fitted->wanted_count = fitted->data->states;
    for (int64_t i = 0; i < fitted->wanted_count; i++) fitted->wanted[i] = i;
    const pess__net *const imitation = fitted->imitation;
    return over_wanted(fitted, &imitation, 1, softmax_chunk, error);
}

/* The value of an action over all networks or heads: by the first mixture, or their mean. */
static double value_of(const pess__fitted *fitted, int64_t i, int64_t action) {
    const int64_t networks = pess__fitted_networks(fitted), heads = pess__fitted_heads(fitted),
                  actions = fitted->data->actions;
    const float *own = fitted->outputs + i * heads * actions + action;
    if (networks == 1 && heads == 1) return (double)*own;
    double sum = 0;
    for (int64_t k = 0; k < networks; k++) sum += (double)own[k * PESS__OUTPUT_CHUNK * actions] / (double)networks;
    if (heads == 1) return sum;
    sum = 0;
    for (int64_t k = 0; k < heads; k++) sum += fitted->mixture[k] * (double)own[k * actions];
    return sum;
}

/* Sums over the states of the check: what the policy and the values do with actions outside the data, and how far apart
 * the actions are by value and by penalty. */
typedef struct looks {
    double mass, gap, values, penalties;
    int64_t with_both; /* states with logged and never logged actions */
} looks;

static void look_at(const pess__fitted *fitted, int64_t i, int64_t state, looks *s) {
    const int64_t actions = fitted->data->actions;
    const int32_t *counts = fitted->counts + state * actions;
    double policy[PESS__MAX_ACTIONS], logged = -INFINITY, never = -INFINITY, worst = INFINITY;
    double least = INFINITY, most = -INFINITY;
    pess__view view = pess__fitted_view(fitted, state);
    view.q = fitted->outputs + i * pess__fitted_heads(fitted) * actions;
    view.mixture = fitted->mixture;
    (void)fitted->learner->decide(fitted->alpha, &view, policy);
    for (int64_t a = 0; a < actions; a++) {
        const double q = value_of(fitted, i, a), u = view.penalty != NULL ? (double)view.penalty[a] : 0;
        worst = fmin(worst, q);
        least = fmin(least, u);
        most = fmax(most, u);
        if (counts[a] > 0) {
            logged = fmax(logged, q);
            continue;
        }
        s->mass += policy[a];
        never = fmax(never, q);
    }
    s->values += fmax(logged, never) - worst;
    s->penalties += fitted->alpha * (most - least);
    if (isinf(never) || isinf(logged)) return;
    s->gap += never - logged;
    s->with_both++;
}

/* Imagined transitions are not logged ones. */
static void check_states(pess__fitted *fitted) {
    const double n = (double)fitted->check_count;
    looks s = {0};
    fitted->unlogged = fitted->gap = fitted->values_apart = fitted->penalty_apart = NAN;
    if (!fitted->learner->info.values || fitted->imagined != NULL) return;
    for (int64_t i = 0; i < fitted->check_count; i++) look_at(fitted, i, fitted->data->state[fitted->check[i]], &s);
    fitted->unlogged = s.mass / n;
    fitted->values_apart = s.values / n;
    if (fitted->penalty != NULL) fitted->penalty_apart = s.penalties / n;
    if (s.with_both > 0) fitted->gap = s.gap / (double)s.with_both;
}

pess_status pess__fitted_check(pess__fitted *fitted, pess_error *error) {
    const pess_observations *data = fitted->data;
    const int64_t actions = data->actions;
    double loss = 0, target = 0, q = 0;
    if (fitted->learner->untrained) {
        fitted->loss = fitted->mean_target = fitted->mean_q = fitted->unlogged = fitted->gap = NAN;
        fitted->values_apart = fitted->penalty_apart = NAN;
        return PESS_OK;
    }
    for (int64_t i = 0; i < fitted->check_count; i++) fitted->wanted[i] = data->state[fitted->check[i]];
    const pess__bits_rows rows = {data->observations, data->bytes, fitted->wanted};
    if (fitted->actor != NULL) {
        PESS_TRY(pess__net_apply(fitted->actor, &rows, fitted->check_count, fitted->options.threads, fitted->outputs,
                                 error));
        act_chunk(fitted, fitted->wanted, fitted->check_count);
    }
    for (int64_t k = 0; k < pess__fitted_networks(fitted); k++)
        PESS_TRY(pess__net_apply(pess__fitted_net(fitted, k), &rows, fitted->check_count, fitted->options.threads,
                                 fitted->outputs + k * PESS__OUTPUT_CHUNK * actions, error));
    for (int64_t i = 0; i < fitted->check_count; i++) {
        const int64_t row = fitted->check[i];
        if (!fitted->learner->info.values) {
            float odds[PESS__MAX_ACTIONS];
            pess__softmax(fitted->outputs + i * actions, actions, odds);
            loss -= log(fmax((double)odds[data->action[row]], 1e-30));
            continue;
        }
        const double y = pess__fitted_target(fitted, row), own = value_of(fitted, i, data->action[row]);
        const double d = fabs(own - y), edge = PESS__HUBER_EDGE;
        loss += d <= edge ? 0.5 * d * d : edge * (d - 0.5 * edge);
        target += y;
        q += own;
    }
    const double n = (double)fitted->check_count;
    fitted->loss = loss / n;
    fitted->mean_target = fitted->learner->info.values ? target / n : NAN;
    fitted->mean_q = fitted->learner->info.values ? q / n : NAN;
    check_states(fitted);
    return PESS_OK;
}
