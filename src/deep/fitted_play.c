/* Acting by a learner's policy: whole episodes, sampled from π(·|s) or, as a control, its most probable action. */
#include "deep/fitted.h"
#include "deep/play.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

typedef struct actor {
    const pess__fitted *fitted;
    bool argmax;
} actor;

typedef struct room {
    pess__pass *values, *prior; /* prior NULL without imitation */
} room;

static void close_room(void *memory) {
    room *r = memory;
    if (r == NULL) return;
    pess__pass_destroy(r->values);
    pess__pass_destroy(r->prior);
    free(r);
}

static pess_status open_room(const void *self, void **out, pess_error *error) {
    const pess__fitted *fitted = ((const actor *)self)->fitted;
    room *r;
    PESS_TRY(pess__allocate(&r, 1, sizeof *r, "an evaluation", error));
    pess_status status = pess__pass_create(fitted->net, PESS__PLAY_GROUP, false, &r->values, error);
    if (status == PESS_OK && fitted->imitation != NULL)
        status = pess__pass_create(fitted->imitation, PESS__PLAY_GROUP, false, &r->prior, error);
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

static void choose(const void *self, void *memory, const pess__bits_rows *rows, int64_t count, int64_t actions,
                   pess__rng *rng, pess__choice *out) {
    const actor *who = self;
    const pess__fitted *fitted = who->fitted;
    const room *r = memory;
    const int last = fitted->net->spec.layer_count - 1;
    const int prior_last = fitted->imitation != NULL ? fitted->imitation->spec.layer_count - 1 : 0;
    pess__pass_forward(fitted->net, r->values, rows, 0, count);
    if (r->prior != NULL) pess__pass_forward(fitted->imitation, r->prior, rows, 0, count);
    for (int64_t i = 0; i < count; i++) {
        const pess__real *q = r->values->activation[last] + i * fitted->net->padded_outputs;
        float prior[PESS__MAX_ACTIONS];
        double policy[PESS__MAX_ACTIONS];
        if (r->prior != NULL)
            pess__softmax(r->prior->activation[prior_last] + i * fitted->imitation->padded_outputs, actions, prior);
        else if (!fitted->learner->info.values)
            pess__softmax(q, actions, prior);
        const pess__sight sight = {.actions = actions, .q = q, .prior = prior};
        out[i].value = fitted->learner->decide(fitted->alpha, &sight, policy);
        out[i].action = who->argmax ? most_probable(policy, actions) : draw(policy, actions, &rng[rows->index[i]]);
        out[i].outside = pess__transitions_find(fitted->data, rows->bits + rows->index[i] * rows->stride) < 0;
    }
}

static pess_status play(const pess__fitted *fitted, bool argmax, int64_t episodes, pess_play_result *out,
                        pess__play_thoughts *thoughts, pess_error *error) {
    const actor self = {fitted, argmax};
    const pess__player player = {&self, fitted->data->bytes, fitted->data->actions, open_room, close_room, choose};
    pess_play_options options = pess_play_options_defaults();
    pess__rng rng = pess__rng_stream(fitted->options.seed, argmax ? "control" : "evaluate", (uint64_t)fitted->update);
    options.env.game = fitted->data->game;
    options.seed = pess__rng_next(&rng);
    options.episodes = episodes;
    options.threads = fitted->options.threads;
    return pess__play_with(&player, fitted->options.mdp, &options, fitted->options.gamma, out, thoughts, error);
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
