/* Evaluation of a policy in training: whole episodes, sampled from π(·|s) or, as a control, its most probable action.
 */
#include "deep/play.h"
#include "deep/training.h"

#include "core/memory.h"

#include <stdlib.h>

typedef struct actor {
    const pess__training *training;
    pess__learned_policy policy;
    bool argmax;
} actor;

/* A worker's own. */
typedef struct memory {
    pess__learned_passes *passes;
    double *probabilities; /* [PESS__PLAY_GROUP*actions] */
    double values[PESS__PLAY_GROUP];
    int64_t states[PESS__PLAY_GROUP];
} memory;

static void close_memory(void *own) {
    memory *m = own;
    if (m == NULL) return;
    pess__learned_passes_destroy(m->passes);
    free(m->probabilities);
    free(m);
}

static pess_status open_memory(const void *self, void **out, pess_error *error) {
    static const char what[] = "an evaluation";
    const pess__learned_policy *policy = &((const actor *)self)->policy;
    memory *m = NULL;
    PESS_TRY(pess__allocate(&m, 1, sizeof *m, what, error));
    pess_status status =
        pess__allocate(&m->probabilities, PESS__PLAY_GROUP * policy->actions, sizeof *m->probabilities, what, error);
    if (status == PESS_OK) status = pess__learned_passes_create(policy, PESS__PLAY_GROUP, &m->passes, error);
    if (status == PESS_OK)
        *out = m;
    else
        close_memory(m);
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

static void choose(const void *self, void *own, const pess__bits_rows *rows, int64_t count, int64_t actions,
                   pess__rng *rng, pess__choice *out) {
    const actor *who = self;
    const pess_observations *logged = who->training->setup.options.data;
    memory *m = own;
    pess__learned_apply(&who->policy, m->passes, rows, count, m->probabilities, m->values, m->states);
    for (int64_t i = 0; i < count; i++) {
        const double *policy = m->probabilities + i * actions;
        const uint8_t *observation = rows->bits + rows->index[i] * rows->stride;
        out[i].value = m->values[i];
        out[i].action = who->argmax ? most_probable(policy, actions) : draw(policy, actions, &rng[rows->index[i]]);
        out[i].outside =
            who->training->replaced == NULL ? m->states[i] < 0 : pess__observations_find(logged, observation) < 0;
    }
}

/* To the progress of the training, which stands still while its policy is played. */
static bool report(void *user, const char *what, double done, double total, const char *unit) {
    const pess__setup *s = &((const actor *)user)->training->setup;
    const pess_progress *p = &s->options.progress;
    const double steps = (double)(pess__learner_networks(s->learner) * s->steps);
    (void)what, (void)done, (void)total, (void)unit;
    return p->report(p->user, s->learner->info.name, (double)s->position->update * steps, (double)s->updates * steps,
                     "steps");
}

static pess_status play(const pess__training *t, bool argmax, int64_t episodes, pess_play_result *out,
                        pess__play_thoughts *thoughts, pess_error *error) {
    const pess__setup *s = &t->setup;
    actor self = {t, pess__networks_policy(s, &t->networks, &t->tables), argmax};
    const pess__player player = {&self, s->data->bytes, s->data->actions, open_memory, close_memory, choose};
    pess_play_options options = pess_play_options_defaults();
    pess__rng rng = pess__rng_stream(s->options.seed, argmax ? "control" : "evaluate", (uint64_t)s->position->update);
    options.env = s->env;
    options.seed = pess__rng_next(&rng);
    options.episodes = episodes;
    options.threads = s->options.threads;
    if (s->options.progress.report != NULL) options.progress = (pess_progress){report, &self};
    const pess_status status =
        pess__play_with(&player, s->options.mdp, &options, s->options.gamma, out, thoughts, error);
    return status == PESS_INTERRUPTED ? pess__setup_interrupted(s, error) : status;
}

pess_status pess__training_evaluate(const pess__training *t, int64_t episodes, int64_t control_episodes,
                                    pess__scored *out, pess_error *error) {
    const bool samples = t->setup.learner->info.samples;
    pess_play_result result;
    pess__play_thoughts thoughts;
    PESS_TRY(play(t, false, episodes, &result, &thoughts, error));
    *out = (pess__scored){.mean_return = result.mean_return,
                          .ci95 = result.ci95,
                          .control = samples ? NAN : result.mean_return,
                          .predicted = thoughts.predicted,
                          .obtained = thoughts.obtained,
                          .outside = thoughts.outside};
    if (!samples || control_episodes == 0) return PESS_OK;
    PESS_TRY(play(t, true, control_episodes, &result, &thoughts, error));
    out->control = result.mean_return;
    return PESS_OK;
}
