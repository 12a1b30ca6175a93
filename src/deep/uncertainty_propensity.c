/* propensity: u(s,a) = min(1/√p(a|s), cap) like imitation's, with probabilities that are calibrated. A network of its
 * own learns the logged actions of nine episodes in ten, z(s,a) its outputs; the tenth, which it has not seen, tells
 * how much of it to believe:
 *
 *     p(a|s) ∝ m(a) exp(β (z(s,a) − log m(a))),     β in [0,1] of the largest likelihood on the held-out episodes,
 *
 * m(a) the share of action a in the data. β = 1 is the network, β = 0 the shares alone: where the actions do not depend
 * on the state, as in random data, nothing that the network memorised is left to choose among them.
 * (Temperature scaling, Guo et al. 2017, towards the shares instead of uniform.) Protocols that settle have an
 * imitation network of the same nine episodes in ten: that is the network then. */
#include "deep/networks.h"
#include "deep/neural_uncertainty.h"
#include "deep/regression.h"
#include "deep/settling.h"

#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- learning */

/* Equal states once, with the actions that were drawn in them, weighted by how often. */
static int64_t draw(pess__regression *r, pess__rng *rng) {
    const pess_observations *data = r->training->setup->data;
    const pess__parts *parts = r->user;
    int64_t different = 0, labels = 0;
    for (int64_t i = 0; i < r->batch; i++) {
        const int64_t row = parts->learnt[pess__rng_below(rng, (uint64_t)parts->learnt_count)];
        const int64_t before = different, u = pess__regression_place(r, data->state[row], &different);
        for (int64_t a = 0; a < r->outputs && different > before; a++) r->drawn[u * r->outputs + a] = 0;
        r->drawn[u * r->outputs + data->action[row]]++;
    }
    r->first[0] = 0;
    for (int64_t u = 0; u < different; u++) {
        for (int64_t a = 0; a < r->outputs; a++) {
            if (r->drawn[u * r->outputs + a] == 0) continue;
            r->which[labels] = (int32_t)a;
            r->weights[labels++] = (pess__real)r->drawn[u * r->outputs + a];
        }
        r->first[u + 1] = labels;
    }
    for (int64_t k = 0; k < labels; k++) r->weights[k] *= (pess__real)((double)labels / (double)r->batch);
    pess__regression_clear(r, different);
    return different;
}

/* ---- calibrating */

/* What was held out: its states, how often each action was taken in them, and z − log m there. */
typedef struct trial {
    pess__parts parts;
    int64_t actions, states;
    int64_t *list;                    /* [states] */
    int32_t *place;                   /* [states of the data] where a state is in the list, or -1 */
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

static void list_states(const pess_observations *data, trial *t) {
    int64_t taken[PESS__MAX_ACTIONS] = {0};
    for (int64_t i = 0; i < data->states; i++) t->place[i] = -1;
    for (int64_t row = 0; row < data->transitions; row++) taken[data->action[row]]++;
    for (int64_t i = 0; i < t->parts.held_count; i++) {
        const int64_t state = data->state[t->parts.held[i]];
        if (t->place[state] >= 0) continue;
        t->place[state] = (int32_t)t->states;
        t->list[t->states++] = state;
    }
    for (int64_t a = 0; a < t->actions; a++)
        t->shares[a] = log((double)(taken[a] + 1) / (double)(data->transitions + t->actions));
}

static pess_status collect(const pess_observations *data, trial *t, pess_error *error) {
    static const char what[] = "held-out transitions";
    PESS_TRY(pess__allocate(&t->list, data->states, sizeof *t->list, what, error));
    PESS_TRY(pess__allocate(&t->place, data->states, sizeof *t->place, what, error));
    list_states(data, t);
    PESS_TRY(pess__allocate(&t->taken, t->states * t->actions, sizeof *t->taken, what, error));
    PESS_TRY(pess__allocate(&t->apart, t->states * t->actions, sizeof *t->apart, what, error));
    for (int64_t i = 0; i < t->parts.held_count; i++) {
        const int64_t row = t->parts.held[i];
        t->taken[t->place[data->state[row]] * t->actions + data->action[row]]++;
    }
    return PESS_OK;
}

/* The network's last layer becomes βz + (1−β) log m: its softmax is p. */
static void flatten(pess__net *net, double beta, const double *shares) {
    const pess__layer *last = &net->layers[net->spec.layer_count - 1];
    pess__real *weights = net->parameters + last->weights, *bias = net->parameters + last->bias;
    for (int64_t i = 0; i < last->k * last->n; i++) weights[i] *= (pess__real)beta;
    for (int64_t a = 0; a < net->outputs; a++) bias[a] = (pess__real)(beta * (double)bias[a] + (1 - beta) * shares[a]);
}

static pess_status calibrate(const pess__uncertainty_training *training, trial *t, pess__net *net, pess_error *error) {
    enum { FEW = 100 };
    const pess_observations *data = training->setup->data;
    PESS_TRY(collect(data, t, error));
    const pess__bits_rows rows = {data->observations, data->bytes, t->list};
    PESS_TRY(pess__net_apply(net, &rows, t->states, training->setup->options.threads, t->apart, error));
    for (int64_t i = 0; i < t->states * t->actions; i++) t->apart[i] -= (pess__real)t->shares[i % t->actions];
    flatten(net, best_beta(t), t->shares);
    if (t->parts.held_count < FEW)
        (void)snprintf(
            training->warning, PESS__WARNING_SIZE,
            "%lld of %lld transitions were held out: too few to tell how far probabilities are to be trusted",
            (long long)t->parts.held_count, (long long)data->transitions);
    return PESS_OK;
}

/* The imitation network of these data. */
static pess_status take_imitation(const pess__setup *s, pess__net *net, pess_error *error) {
    pess__networks found = {0};
    pess_status status = pess__networks_open_imitation(s, &found, error);
    if (status == PESS_OK && found.imitation->size != net->size)
        status = pess__fail(error, PESS_INPUT, "the imitation network has %lld parameters; %lld are expected",
                            (long long)found.imitation->size, (long long)net->size);
    if (status == PESS_OK)
        memcpy(net->parameters, found.imitation->parameters, (size_t)net->size * sizeof *net->parameters);
    pess__networks_destroy(&found);
    return status;
}

static pess_status learn(const pess__uncertainty_training *training, trial *t, pess__net *net, pess_error *error) {
    pess__regression regression = {
        .training = training, .loss = {.kind = PESS__LOSS_CROSS_ENTROPY}, .draw = draw, .user = &t->parts};
    PESS_TRY(pess__parts_create(training->setup->data, &t->parts, error));
    const pess_train_options *o = &training->setup->options;
    PESS_TRY(o->protocol.settle || o->imitation != NULL ? take_imitation(training->setup, net, error)
                                                        : pess__regression_run(&regression, net, error));
    return calibrate(training, t, net, error);
}

static pess_status train(const pess__uncertainty_training *training, pess__net *net, pess_error *error) {
    trial t = {.actions = net->outputs};
    const pess_status status = learn(training, &t, net, error);
    pess__parts_destroy(&t.parts);
    free(t.list);
    free(t.place);
    free(t.taken);
    free(t.apart);
    return status;
}

static void from_network(const pess__view *view, double *u) {
    float p[PESS__MAX_ACTIONS];
    pess__softmax(view->uncertainty, view->actions, p);
    for (int64_t a = 0; a < view->actions; a++) u[a] = pess__root_share(p[a]);
}

const pess__neural_uncertainty pess__neural_uncertainty_propensity = {
    .info = {.name = "propensity",
             .summary = "how unlikely the action is, by probabilities that are calibrated on held-out data",
             .formula = "min(1/sqrt(p(a|s)), cap), p of a network that is flattened as far as held-out data ask for",
             .outside = "the same network",
             .cap = 10,
             .imitation = false},
    .learner =
        {.info = {.name = "ua-propensity",
                  .summary = "values less alpha times an uncertainty from calibrated probabilities",
                  .values = true,
                  .knobs = &pess__ua_knobs,
                  .source =
                      "the rule of Buckman et al. 2021; the uncertainty is ours, calibrated as in Guo et al. 2017",
                  .settings = PESS__READS_UA_NETWORK " imitation",
                  .uncertainty = "propensity"},
         .decide = pess__decide_ua,
         .uncertainty = &pess__neural_uncertainty_propensity},
    .outside = from_network,
    .train = train};
