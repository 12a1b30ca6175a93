/* Acting by a learner's policy: whole episodes, sampled from π(·|s) or, as a control, its most probable action. */
#include "deep/game_notes.h"
#include "deep/neural_uncertainty.h"
#include "deep/play.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct actor {
    const pess__fitted *fitted;
    bool argmax;
} actor;

typedef struct room {
    pess__pass *values[PESS__MAX_NETWORKS];
    pess__pass *prior, *actor, *uncertainty; /* NULL without such a network */
    int32_t *no_counts;                      /* [actions] zeros */
} room;

static void close_room(void *memory) {
    room *r = memory;
    if (r == NULL) return;
    for (int i = 0; i < PESS__MAX_NETWORKS; i++) pess__pass_destroy(r->values[i]);
    pess__pass_destroy(r->prior);
    pess__pass_destroy(r->actor);
    pess__pass_destroy(r->uncertainty);
    free(r->no_counts);
    free(r);
}

static pess_status open_passes(const pess__fitted *fitted, room *r, pess_error *error) {
    const struct {
        const pess__net *net;
        pess__pass **pass;
    } further[] = {
        {fitted->imitation, &r->prior}, {fitted->actor, &r->actor}, {fitted->uncertainty_net, &r->uncertainty}};
    PESS_TRY(pess__allocate(&r->no_counts, fitted->data->actions, sizeof *r->no_counts, "an evaluation", error));
    for (int64_t k = 0; k < pess__fitted_networks(fitted); k++)
        PESS_TRY(pess__pass_create(pess__fitted_net(fitted, k), PESS__PLAY_GROUP, false, &r->values[k], error));
    for (size_t i = 0; i < sizeof further / sizeof further[0]; i++)
        if (further[i].net != NULL)
            PESS_TRY(pess__pass_create(further[i].net, PESS__PLAY_GROUP, false, further[i].pass, error));
    return PESS_OK;
}

static pess_status open_room(const void *self, void **out, pess_error *error) {
    const pess__fitted *fitted = ((const actor *)self)->fitted;
    room *r;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "an evaluation", error));
    const pess_status status = open_passes(fitted, r, error);
    if (status != PESS_OK)
        close_room(r);
    else
        *out = r;
    return status;
}

/* A draw from the policy. Rounding may leave a little mass beyond the last action: then it is the last possible one. */
static int32_t draw(const double *policy, int64_t actions, pess__rng *rng) {
    double left = pess__rng_uniform(rng);
    int32_t last = 0;
    for (int32_t a = 0; a < actions; a++) {
        if (!(policy[a] > 0)) continue;
        last = a;
        if (left < policy[a]) return a;
        left -= policy[a];
    }
    return last;
}

static int32_t most_probable(const double *policy, int64_t actions) {
    int32_t best = 0;
    for (int32_t a = 1; a < actions; a++)
        if (policy[a] > policy[best]) best = a;
    return best;
}

/* Row i of the outputs of a pass. */
static const pess__real *row_of(const pess__net *net, const pess__pass *pass, int64_t i) {
    return pass->activation[net->spec.layer_count - 1] + i * net->padded_outputs;
}

static void forward(const pess__fitted *fitted, const room *r, const pess__bits_rows *rows, int64_t count) {
    for (int64_t k = 0; k < pess__fitted_networks(fitted); k++)
        pess__pass_forward(pess__fitted_net(fitted, k), r->values[k], rows, 0, count);
    if (r->prior != NULL) pess__pass_forward(fitted->imitation, r->prior, rows, 0, count);
    if (r->actor != NULL) pess__pass_forward(fitted->actor, r->actor, rows, 0, count);
}

/* What is written for a view that the tables of the data do not hold. */
typedef struct written {
    float prior[PESS__MAX_ACTIONS], actor[PESS__MAX_ACTIONS], penalty[PESS__MAX_ACTIONS];
    pess__real values[PESS__MAX_NETWORKS * PESS__MAX_ACTIONS];
} written;

/* What is known of row i, which is `state` of the data, or -1. */
static pess__view look_at(const pess__fitted *fitted, const room *r, int64_t i, int64_t state, written *w) {
    const int64_t actions = fitted->data->actions, networks = pess__fitted_networks(fitted);
    pess__view view = pess__fitted_view(fitted, state < 0 ? 0 : state);
    view.q = row_of(fitted->net, r->values[0], i);
    view.head_stride = actions;
    if (networks > 1) {
        for (int64_t k = 0; k < networks; k++)
            memcpy(w->values + k * actions, row_of(pess__fitted_net(fitted, k), r->values[k], i),
                   (size_t)actions * sizeof *w->values);
        view.q = w->values;
    }
    if (r->prior != NULL)
        pess__softmax(row_of(fitted->imitation, r->prior, i), actions, w->prior);
    else if (!fitted->learner->info.values)
        pess__softmax(view.q, actions, w->prior);
    view.prior = w->prior;
    if (r->actor != NULL) {
        pess__softmax(row_of(fitted->actor, r->actor, i), actions, w->actor);
        view.actor = w->actor;
    }
    if (state >= 0) return view;
    view.counts = r->no_counts;
    if (fitted->penalty != NULL) {
        pess__neural_uncertainty_outside(
            fitted, w->prior, r->uncertainty != NULL ? row_of(fitted->uncertainty_net, r->uncertainty, i) : NULL,
            w->penalty);
        view.penalty = w->penalty;
    }
    return view;
}

static void choose(const void *self, void *memory, const pess__bits_rows *rows, int64_t count, int64_t actions,
                   pess__rng *rng, pess__choice *out) {
    const actor *who = self;
    const pess__fitted *fitted = who->fitted;
    const room *r = memory;
    bool asked = false; /* the uncertainty's network is asked only where somebody is outside the data */
    forward(fitted, r, rows, count);
    for (int64_t i = 0; i < count; i++) {
        const int64_t state = pess__observations_find(fitted->data, rows->bits + rows->index[i] * rows->stride);
        double policy[PESS__MAX_ACTIONS];
        written w;
        if (state < 0 && r->uncertainty != NULL && !asked) {
            pess__pass_forward(fitted->uncertainty_net, r->uncertainty, rows, 0, count);
            asked = true;
        }
        const pess__view view = look_at(fitted, r, i, state, &w);
        out[i].value = fitted->learner->decide(fitted->alpha, &view, policy);
        out[i].action = who->argmax ? most_probable(policy, actions) : draw(policy, actions, &rng[rows->index[i]]);
        out[i].outside =
            fitted->imagined == NULL
                ? state < 0
                : pess__observations_find(fitted->options.data, rows->bits + rows->index[i] * rows->stride) < 0;
    }
}

/* ---- where it is played */

pess_status pess__fitted_environment(pess__fitted *f, pess_error *error) {
    const pess_observations *data = f->options.data;
    f->env = pess_env_options_defaults();
    f->env.game = data->game;
    if (f->options.mdp != NULL || pess_env_find(data->game) == NULL) return PESS_OK;
    PESS_TRY(pess__game_check_data(data, f->options.data_name != NULL ? f->options.data_name : "data", error));
    return pess__game_notes_read(data->notes, &f->env, error);
}

/* To the progress of the training, which stands still while its policy is played. */
static bool report(void *user, const char *what, double done, double total, const char *unit) {
    const pess__fitted *f = ((const actor *)user)->fitted;
    const pess_progress *p = &f->options.progress;
    const double steps = (double)(pess__fitted_networks(f) * f->steps);
    (void)what, (void)done, (void)total, (void)unit;
    return p->report(p->user, f->learner->info.name, (double)f->update * steps, (double)f->updates * steps, "steps");
}

static pess_status play(const pess__fitted *fitted, bool argmax, int64_t episodes, pess_play_result *out,
                        pess__play_thoughts *thoughts, pess_error *error) {
    actor self = {fitted, argmax};
    const pess__player player = {&self, fitted->data->bytes, fitted->data->actions, open_room, close_room, choose};
    pess_play_options options = pess_play_options_defaults();
    pess__rng rng = pess__rng_stream(fitted->options.seed, argmax ? "control" : "evaluate", (uint64_t)fitted->update);
    options.env = fitted->env;
    options.seed = pess__rng_next(&rng);
    options.episodes = episodes;
    options.threads = fitted->options.threads;
    if (fitted->options.progress.report != NULL) options.progress = (pess_progress){report, &self};
    const pess_status status =
        pess__play_with(&player, fitted->options.mdp, &options, fitted->options.gamma, out, thoughts, error);
    return status == PESS_INTERRUPTED ? pess__fitted_interrupted(fitted, error) : status;
}

pess_status pess__fitted_evaluate(const pess__fitted *fitted, int64_t episodes, int64_t control_episodes,
                                  pess__scored *out, pess_error *error) {
    pess_play_result result;
    pess__play_thoughts thoughts;
    PESS_TRY(play(fitted, false, episodes, &result, &thoughts, error));
    *out = (pess__scored){.mean_return = result.mean_return,
                          .ci95 = result.ci95,
                          .control = fitted->learner->info.samples ? NAN : result.mean_return,
                          .predicted = thoughts.predicted,
                          .obtained = thoughts.obtained,
                          .outside = thoughts.outside};
    if (!fitted->learner->info.samples || control_episodes == 0) return PESS_OK;
    PESS_TRY(play(fitted, true, control_episodes, &result, &thoughts, error));
    out->control = result.mean_return;
    return PESS_OK;
}
