/* propensity: u(s,a) = min(1/√p(a|s), cap) like imitation's, with probabilities that are calibrated. A network of its
 * own learns the logged actions of nine transitions in ten, z(s,a) its outputs; the tenth, which it has not seen, tells
 * how much of it to believe:
 *
 *     p(a|s) ∝ m(a) exp(β (z(s,a) − log m(a))),     β in [0,1] of the largest likelihood on the held-out transitions,
 *
 * m(a) the share of action a in the data. β = 1 is the network, β = 0 the shares alone: where the actions do not depend
 * on the state, as in random data, nothing that the network learnt by heart is left to choose among them.
 * (Temperature scaling, Guo et al. 2017, towards the shares instead of uniform.) */
#include "deep/neural_uncertainty.h"
#include "deep/regression.h"

#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* One transition in ten, scattered; never the first, so that some are left to learn from. */
bool pess__held_out(int64_t row) { return (((uint64_t)row * UINT64_C(0x9E3779B97F4A7C15)) >> 32) % 10 == 9; }

/* ---- learning */

/* Equal states once, with the actions that were drawn in them, weighted by how often. */
static int64_t draw(pess__fitted *f, pess__regression *l, pess__rng *rng) {
    int64_t different = 0, labels = 0;
    for (int64_t i = 0; i < l->batch; i++) {
        int64_t row = 0;
        do row = (int64_t)pess__rng_below(rng, (uint64_t)f->data->transitions);
        while (pess__held_out(row));
        const int64_t before = different, u = pess__regression_place(f, l, f->data->state[row], &different);
        for (int64_t a = 0; a < l->outputs && different > before; a++) l->drawn[u * l->outputs + a] = 0;
        l->drawn[u * l->outputs + f->data->action[row]]++;
    }
    l->first[0] = 0;
    for (int64_t u = 0; u < different; u++) {
        for (int64_t a = 0; a < l->outputs; a++) {
            if (l->drawn[u * l->outputs + a] == 0) continue;
            l->which[labels] = (int32_t)a;
            l->weights[labels++] = (pess__real)l->drawn[u * l->outputs + a];
        }
        l->first[u + 1] = labels;
    }
    for (int64_t k = 0; k < labels; k++) l->weights[k] *= (pess__real)((double)labels / (double)l->batch);
    pess__regression_clear(f, l, different);
    return different;
}

/* ---- calibrating */

/* What was held out: how often each action in each of its states, and z − log m there. */
typedef struct trial {
    int64_t actions, rows, states;
    int32_t *taken;                   /* [states*actions] */
    pess__real *apart;                /* [states*actions] */
    double shares[PESS__MAX_ACTIONS]; /* log m, of all transitions, each action counted once more than it occurs */
} trial;

/* ∂ log likelihood/∂β = Σ (d(s,a) − E_β d(s,·)), d = z − log m: falls as β grows. */
static double slope(const trial *t, double beta) {
    double sum = 0;
    for (int64_t i = 0; i < t->states; i++) {
        const int32_t *taken = t->taken + i * t->actions;
        const pess__real *d = t->apart + i * t->actions;
        double most = -INFINITY, mass = 0, mean = 0;
        for (int64_t a = 0; a < t->actions; a++) most = fmax(most, t->shares[a] + beta * (double)d[a]);
        for (int64_t a = 0; a < t->actions; a++) {
            const double p = exp(t->shares[a] + beta * (double)d[a] - most);
            mass += p;
            mean += p * (double)d[a];
        }
        for (int64_t a = 0; a < t->actions; a++) sum += taken[a] * ((double)d[a] - mean / mass);
    }
    return sum;
}

/* Where the slope is 0 in [0,1]; 1 where nothing was held out. */
static double best_beta(const trial *t) {
    double low = 0, high = 1;
    if (slope(t, 1) >= 0) return 1;
    if (slope(t, 0) <= 0) return 0;
    for (int i = 0; i < 30; i++) {
        const double middle = (low + high) / 2;
        if (slope(t, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The states of the held-out transitions to f->wanted, and what was done there. */
static pess_status collect(pess__fitted *f, trial *t, pess_error *error) {
    const pess_observations *data = f->data;
    int64_t taken[PESS__MAX_ACTIONS] = {0};
    for (int64_t row = 0; row < data->transitions; row++) {
        const int64_t state = data->state[row];
        taken[data->action[row]]++;
        if (!pess__held_out(row)) continue;
        t->rows++;
        if (f->place[state] >= 0) continue;
        f->place[state] = (int32_t)t->states;
        f->wanted[t->states++] = state;
    }
    for (int64_t a = 0; a < t->actions; a++)
        t->shares[a] = log((double)(taken[a] + 1) / (double)(data->transitions + t->actions));
    const int64_t size = (t->states > 0 ? t->states : 1) * t->actions;
    pess_status status = pess__allocate(&t->taken, size, sizeof *t->taken, "held-out transitions", error);
    if (status == PESS_OK) status = pess__allocate(&t->apart, size, sizeof *t->apart, "held-out transitions", error);
    for (int64_t row = 0; row < data->transitions && status == PESS_OK; row++)
        if (pess__held_out(row)) t->taken[f->place[data->state[row]] * t->actions + data->action[row]]++;
    for (int64_t i = 0; i < t->states; i++) f->place[f->wanted[i]] = -1;
    return status;
}

/* The network's last layer becomes βz + (1−β) log m: its softmax is p. */
static void flatten(pess__net *net, double beta, const double *shares) {
    const pess__layer *last = &net->layers[net->spec.layer_count - 1];
    pess__real *weights = net->parameters + last->weights, *bias = net->parameters + last->bias;
    for (int64_t i = 0; i < last->k * last->n; i++) weights[i] *= (pess__real)beta;
    for (int64_t a = 0; a < net->outputs; a++) bias[a] = (pess__real)(beta * (double)bias[a] + (1 - beta) * shares[a]);
}

static pess_status calibrate(pess__fitted *f, trial *t, pess__net *net, pess_error *error) {
    enum { FEW = 100 };
    PESS_TRY(collect(f, t, error));
    const pess__bits_rows rows = {f->data->observations, f->data->bytes, f->wanted};
    PESS_TRY(pess__net_apply(net, &rows, t->states, f->options.threads, t->apart, error));
    for (int64_t i = 0; i < t->states * t->actions; i++) t->apart[i] -= (pess__real)t->shares[i % t->actions];
    flatten(net, best_beta(t), t->shares);
    if (t->rows < FEW)
        (void)snprintf(
            f->warning, sizeof f->warning,
            "%lld of %lld transitions were held out: too few to tell how far probabilities are to be trusted",
            (long long)t->rows, (long long)f->data->transitions);
    return PESS_OK;
}

static pess_status train(pess__fitted *f, pess__net *net, pess_error *error) {
    pess__regression regression = {.loss = {.kind = PESS__LOSS_CROSS_ENTROPY}, .draw = draw};
    trial t = {.actions = net->outputs};
    PESS_TRY(pess__regression_run(f, &regression, net, error));
    const pess_status status = calibrate(f, &t, net, error);
    free(t.taken);
    free(t.apart);
    return status;
}

static void from_network(const pess__fitted *fitted, const float *prior, const pess__real *outputs, double *u) {
    float p[PESS__MAX_ACTIONS];
    (void)prior;
    pess__softmax(outputs, fitted->data->actions, p);
    for (int64_t a = 0; a < fitted->data->actions; a++) u[a] = pess__root_share(p[a]);
}

const pess__neural_uncertainty pess__neural_uncertainty_propensity = {
    .info = {.name = "propensity",
             .summary = "how unlikely the action is, by probabilities that are calibrated on held-out data",
             .formula = "min(1/sqrt(p(a|s)), cap), p of a network that is flattened as far as held-out data ask for",
             .outside = "the same network",
             .cap = 10,
             .imitation = false},
    .learner = {.info = {.name = "ua-propensity",
                         .summary = "values less alpha times an uncertainty from calibrated probabilities",
                         .values = true,
                         .alpha = 0.5,
                         .uncertainty = "propensity"},
                .decide = pess__decide_ua,
                .uncertainty = &pess__neural_uncertainty_propensity},
    .outside = from_network,
    .train = train};
