/* crr: critic-regularised regression (Wang et al. 2020) for discrete actions. An actor network is trained to the logged
 * actions that are better than its own average, by the critic:
 *
 *     maximise Σ w(s,a) log π(a|s),   A(s,a) = q(s,a) − Σ_b π(b|s) q(s,b),   w = 1[A > 0] or min(exp(A/β), 20), β = 1
 *
 * and the critic's targets are r + γ Σ_b π(b|s') q(s',b). Their four sampled actions are exact sums here. Critic and
 * actor take turns: after every update of the critic the actor makes as many steps on as large minibatches, with
 * weights from the critic and the actor as they were at the start of its turn. It goes on from where it was, also where
 * the protocol renews the critic. */
#include "deep/fitted.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static const double most_weight = 20;

/* v = Σπq; alpha, the weight's β, has been spent in training the actor. */
static double decide(double alpha, const pess__view *view, double *policy) {
    (void)alpha;
    double value = 0;
    for (int64_t a = 0; a < view->actions; a++) {
        policy[a] = (double)view->actor[a];
        value += policy[a] * (double)view->q[a];
    }
    return value;
}

static pess_status open_actor(pess__fitted *f, pess_error *error) {
    pess__net *net = NULL;
    PESS_TRY(pess__fitted_network(f, f->data->actions, &net, error));
    f->actor = net;
    pess__rng rng = pess__rng_stream(f->options.seed, "actor", 0);
    pess__net_initialise(net, &rng);
    PESS_TRY(pess__fitted_add_network(f, net, error));
    return pess__allocate(&f->acting, f->data->states * f->data->actions, sizeof *f->acting, "an actor's probabilities",
                          error);
}

double pess__crr_weight(bool binary, double beta, double advantage) {
    if (binary) return advantage > 0 ? 1 : 0;
    return fmin(exp(advantage / beta), most_weight);
}

typedef struct turn {
    int64_t *rows, *states; /* [steps*batch] transitions of all minibatches; [batch] states of one */
    float *advantage;       /* [states*actions] */
    bool *known;            /* [states] */
    int32_t *taken;         /* [batch] */
    pess__real *weights;    /* [batch] */
} turn;

static pess_status open_turn(const pess__fitted *f, turn *t, pess_error *error) {
    static const char what[] = "the training of an actor";
    PESS_TRY(pess__allocate(&t->rows, f->steps * f->batch, sizeof *t->rows, what, error));
    PESS_TRY(pess__allocate(&t->states, f->batch, sizeof *t->states, what, error));
    PESS_TRY(pess__allocate(&t->advantage, f->data->states * f->data->actions, sizeof *t->advantage, what, error));
    PESS_TRY(pess__allocate(&t->known, f->data->states, sizeof *t->known, what, error));
    PESS_TRY(pess__allocate(&t->taken, f->batch, sizeof *t->taken, what, error));
    return pess__allocate(&t->weights, f->batch, sizeof *t->weights, what, error);
}

static void close_turn(turn *t) {
    void *const owned[] = {t->rows, t->states, t->advantage, t->known, t->taken, t->weights};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

static void draw_rows(pess__fitted *f, turn *t) {
    pess__rng rng = pess__rng_stream(f->options.seed, "actor rows", (uint64_t)f->update);
    f->wanted_count = 0;
    for (int64_t i = 0; i < f->steps * f->batch; i++) {
        t->rows[i] = (int64_t)pess__rng_below(&rng, (uint64_t)f->data->transitions);
        const int64_t state = f->data->state[t->rows[i]];
        if (!t->known[state]) f->wanted[f->wanted_count++] = state;
        t->known[state] = true;
    }
}

/* A(s,·) of the states of all minibatches. */
static pess_status appraise(pess__fitted *f, turn *t, pess_error *error) {
    const int64_t actions = f->data->actions;
    enum { PART = PESS__OUTPUT_CHUNK / 2 }; /* the chunk's room holds the outputs of both networks */
    for (int64_t first = 0; first < f->wanted_count; first += PART) {
        const int64_t left = f->wanted_count - first, count = left < PART ? left : PART;
        const pess__bits_rows rows = {f->data->observations, f->data->bytes, f->wanted + first};
        float *q = f->outputs, *odds = f->outputs + PART * actions;
        PESS_TRY(pess__net_apply(f->net, &rows, count, f->options.threads, q, error));
        PESS_TRY(pess__net_apply(f->actor, &rows, count, f->options.threads, odds, error));
        for (int64_t i = 0; i < count; i++) {
            float policy[PESS__MAX_ACTIONS];
            double mean = 0;
            pess__softmax(odds + i * actions, actions, policy);
            for (int64_t a = 0; a < actions; a++) mean += (double)policy[a] * (double)q[i * actions + a];
            for (int64_t a = 0; a < actions; a++)
                t->advantage[f->wanted[first + i] * actions + a] = (float)((double)q[i * actions + a] - mean);
        }
    }
    return PESS_OK;
}

static pess_status regress_actor(pess__fitted *f, turn *t, bool binary, pess_error *error) {
    const pess_observations *data = f->data;
    const pess__loss loss = {.kind = PESS__LOSS_CROSS_ENTROPY};
    const pess__bits_rows rows = {data->observations, data->bytes, t->states};
    const pess__labels labels = {.actions = t->taken, .weights = t->weights};
    pess__trainer *trainer = f->further_trainer[0];
    trainer->optimiser.rate = f->options.protocol.rate;
    for (int64_t step = 0; step < f->steps; step++) {
        pess__step_info info;
        for (int64_t i = 0; i < f->batch; i++) {
            const int64_t row = t->rows[step * f->batch + i];
            t->states[i] = data->state[row];
            t->taken[i] = data->action[row];
            t->weights[i] = (pess__real)pess__crr_weight(
                binary, f->alpha, (double)t->advantage[data->state[row] * data->actions + data->action[row]]);
        }
        PESS_TRY(pess__trainer_step(trainer, &rows, &labels, f->batch, &loss, &info, error));
        PESS_TRY(pess__fitted_report(f, "actor", f->update * f->steps + step, f->updates * f->steps, error));
    }
    return PESS_OK;
}

static pess_status train_actor(pess__fitted *f, bool binary, pess_error *error) {
    turn t = {0};
    pess_status status = open_turn(f, &t, error);
    if (status == PESS_OK) {
        draw_rows(f, &t);
        status = appraise(f, &t, error);
    }
    if (status == PESS_OK) status = regress_actor(f, &t, binary, error);
    close_turn(&t);
    return status;
}

static pess_status after_binary(pess__fitted *f, pess_error *error) { return train_actor(f, true, error); }
static pess_status after_exp(pess__fitted *f, pess_error *error) { return train_actor(f, false, error); }

const pess__learner pess__learner_crr = {
    .info = {.name = "crr",
             .summary = "an actor trained to the logged actions that beat its own average; values of the actor",
             .values = true,
             .imitation = false,
             .samples = true,
             .alpha = NAN,
             .source = "Wang et al. 2020, CRR binary with the mean over actions"},
    .decide = decide,
    .open = open_actor,
    .after_update = after_binary};

const pess__learner pess__learner_crr_exp = {
    .info = {.name = "crr-exp",
             .summary = "the same, every logged action weighted by exp(advantage/alpha), at most 20",
             .values = true,
             .imitation = false,
             .samples = true,
             .alpha = 1,
             .knob = "beta, the temperature of the weights",
             .source = "Wang et al. 2020, CRR exp: beta 1, weights up to 20"},
    .decide = decide,
    .open = open_actor,
    .after_update = after_exp};
