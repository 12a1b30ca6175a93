/* What is measured after every update, on fixed transitions. */
#include "deep/training.h"

#include "core/memory.h"

#include <stdlib.h>

pess_status pess__check_create(const pess__setup *s, const pess__parts *parts, pess__training_scores *out,
                               pess_error *error) {
    const int64_t *held = parts->held_count > 0 ? parts->held : NULL;
    const int64_t transitions = held != NULL ? parts->held_count : s->data->transitions;
    pess__rng rng = pess__rng_stream(s->options.seed, "check", 0);
    PESS_TRY(pess__allocate(&out->check, PESS__CHECK_ROWS, sizeof *out->check, "the check of a training", error));
    out->check_count = transitions < PESS__CHECK_ROWS ? transitions : PESS__CHECK_ROWS;
    for (int64_t i = 0; i < out->check_count; i++)
        out->check[i] = transitions <= PESS__CHECK_ROWS ? i : (int64_t)pess__rng_below(&rng, (uint64_t)transitions);
    for (int64_t i = 0; held != NULL && i < out->check_count; i++) out->check[i] = held[out->check[i]];
    return PESS_OK;
}

/* The value of an action over all networks or heads: by the first mixture, or their mean. */
static double value_of(const pess__training *t, int64_t i, int64_t action, const pess__chunk_outputs outputs) {
    const pess__learner *learner = t->setup.learner;
    const int64_t networks = pess__learner_networks(learner, t->setup.knobs),
                  heads = pess__learner_heads(learner, t->setup.knobs), actions = t->setup.data->actions;
    if (networks == 1 && heads == 1) return (double)outputs[0][i * actions + action];
    double sum = 0;
    if (heads == 1) {
        for (int64_t k = 0; k < networks; k++) sum += (double)outputs[k][i * actions + action] / (double)networks;
        return sum;
    }
    const pess__real *own = outputs[0] + i * heads * actions + action;
    for (int64_t k = 0; k < heads; k++) sum += t->values.mixture[k] * (double)own[k * actions];
    return sum;
}

/* Sums over the check. */
typedef struct sums {
    pess__training *training;
    double loss, target, q;
    double mass, gap, values, penalties;
    double price, below; /* over logged actions that are not the best */
    int64_t with_both;   /* states with logged and never logged actions */
} sums;

/* What the policy and the values do with actions outside the data, and how far apart the actions are by value and by
 * penalty. */
static void add_state(sums *to, int64_t i, int64_t state, const pess__chunk_outputs outputs) {
    const pess__training *t = to->training;
    pess__view view = pess__networks_view(&t->setup, &t->tables, state, i, outputs);
    double policy[PESS__MAX_ACTIONS], logged = -INFINITY, never = -INFINITY, worst = INFINITY;
    double least = INFINITY, most = -INFINITY;
    view.mixture = t->values.mixture;
    (void)t->setup.learner->decide(&view, policy);
    for (int64_t a = 0; a < view.actions; a++) {
        const double q = value_of(t, i, a, outputs), u = view.penalty != NULL ? (double)view.penalty[a] : 0;
        worst = fmin(worst, q);
        least = fmin(least, u);
        most = fmax(most, u);
        if (view.counts[a] > 0) {
            logged = fmax(logged, q);
            continue;
        }
        to->mass += policy[a];
        never = fmax(never, q);
    }
    to->values += fmax(logged, never) - worst;
    if (view.penalty != NULL) to->penalties += pess__setup_alpha(&t->setup) * (most - least);
    if (isinf(never) || isinf(logged)) return;
    to->gap += never - logged;
    to->with_both++;
}

static double huber(double own, double target) {
    const double d = fabs(own - target), edge = PESS__HUBER_EDGE;
    return d <= edge ? 0.5 * d * d : edge * (d - 0.5 * edge);
}

static void add_row(sums *to, int64_t i, int64_t row, const pess__chunk_outputs outputs) {
    const pess__training *t = to->training;
    const pess_observations *data = t->setup.data;
    if (!t->setup.learner->info.values) {
        float odds[PESS__MAX_ACTIONS];
        pess__softmax(outputs[0] + i * data->actions, data->actions, odds);
        to->loss -= log(fmax((double)odds[data->action[row]], 1e-30));
        return;
    }
    const double y = pess__target(&t->setup, &t->values, row), own = value_of(t, i, data->action[row], outputs);
    to->loss += huber(own, y);
    to->target += y;
    to->q += own;
    double best = own;
    for (int64_t a = 0; a < data->actions; a++) best = fmax(best, value_of(t, i, a, outputs));
    if (own < best) {
        to->price += y - own;
        to->below += best - own;
    }
}

/* Transitions that take the place of logged ones are no measure of what was logged. */
static void check_chunk(void *user, const int64_t *states, int64_t count, const pess__chunk_outputs outputs) {
    sums *to = user;
    const pess__training *t = to->training;
    const bool looks = t->setup.learner->info.values && t->replaced == NULL;
    for (int64_t i = 0; i < count; i++) {
        add_row(to, i, t->scores.check[i], outputs);
        if (looks) add_state(to, i, states[i], outputs);
    }
}

static void list_check(pess__training *t) {
    t->sweep.count = t->scores.check_count;
    for (int64_t i = 0; i < t->scores.check_count; i++) t->sweep.states[i] = t->setup.data->state[t->scores.check[i]];
}

pess_status pess__training_check(pess__training *t, pess_error *error) {
    pess__training_scores *out = &t->scores;
    const bool values = t->setup.learner->info.values;
    const double n = (double)out->check_count;
    sums s = {.training = t};
    out->loss = out->mean_target = out->mean_q = NAN;
    out->unlogged = out->gap = out->values_apart = out->penalty_apart = NAN;
    if (t->setup.learner->untrained) return PESS_OK;
    list_check(t);
    PESS_TRY(pess__network_sweep_run(&t->setup, &t->sweep, (const pess__net *const *)t->networks.nets,
                                     t->networks.count, check_chunk, &s, error));
    out->loss = s.loss / n;
    out->price = s.price / n;
    out->below = s.below / n;
    if (!values) return PESS_OK;
    out->mean_target = s.target / n;
    out->mean_q = s.q / n;
    if (t->replaced != NULL) return PESS_OK;
    out->unlogged = s.mass / n;
    out->values_apart = s.values / n;
    if (t->tables.penalty != NULL) out->penalty_apart = s.penalties / n;
    if (s.with_both > 0) out->gap = s.gap / (double)s.with_both;
    return PESS_OK;
}

static void add_fit(void *user, const int64_t *states, int64_t count, const pess__chunk_outputs outputs) {
    sums *to = user;
    const pess__training *t = to->training;
    const pess_observations *data = t->setup.data;
    const int64_t heads = pess__learner_heads(t->setup.learner, t->setup.knobs), actions = data->actions;
    (void)states;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = t->scores.check[i];
        const pess__real *q = outputs[0] + i * heads * actions + data->action[row];
        double own = heads == 1 ? (double)q[0] : 0;
        for (int64_t k = 0; heads > 1 && k < heads; k++) own += t->values.mixture[k] * (double)q[k * actions];
        to->loss += huber(own, pess__target(&t->setup, &t->values, row));
    }
}

pess_status pess__training_fit_error(pess__training *t, int64_t network, double *out, pess_error *error) {
    sums s = {.training = t};
    const pess__net *net = t->networks.nets[network];
    t->values.mixing = 0;
    list_check(t);
    PESS_TRY(pess__network_sweep_run(&t->setup, &t->sweep, &net, 1, add_fit, &s, error));
    *out = s.loss / (double)t->scores.check_count;
    return PESS_OK;
}
