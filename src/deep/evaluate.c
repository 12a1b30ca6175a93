/* Evaluation of a policy in training: whole episodes, sampled from π(·|s) or, as a control, its most probable action.
 */
#include "deep/bundle.h"
#include "deep/play.h"
#include "deep/training.h"

#include <math.h>

/* To the progress of the training, which stands still while its policy is played. */
static bool report(void *user, const char *what, double done, double total, const char *unit) {
    const pess__setup *s = &((const pess__training *)user)->setup;
    const pess_progress *p = &s->options.progress;
    const double steps = (double)(pess__learner_networks(s->learner, s->knobs) * s->steps);
    (void)what, (void)done, (void)total, (void)unit;
    return p->report(p->user, s->learner->info.name, (double)s->position->update * steps, (double)s->updates * steps,
                     "steps");
}

static pess_status play(pess__training *t, bool argmax, int64_t episodes, pess_play_result *out,
                        pess__play_measures *measures, pess_error *error) {
    const pess__setup *s = &t->setup;
    const pess__learned_policy learned = pess__networks_policy(s, &t->networks, &t->tables);
    pess_play_options options = pess_play_options_defaults();
    pess__rng rng = pess__rng_stream(s->options.seed, argmax ? "control" : "evaluate", (uint64_t)s->position->update);
    pess__play_in(&options, &s->env);
    options.mdp = s->options.mdp;
    options.argmax = argmax;
    options.seed = pess__rng_next(&rng);
    options.episodes = episodes;
    options.threads = s->options.threads;
    if (s->options.progress.report != NULL) options.progress = (pess_progress){report, t};
    pess_policy *policy = NULL;
    PESS_TRY(pess__bundle_borrow(&learned, NULL, &policy, error));
    *measures = (pess__play_measures){.gamma = s->options.gamma, .data = s->options.data};
    const pess_status status = pess__play(policy, &options, measures, out, error);
    pess_policy_destroy(policy);
    return status == PESS_INTERRUPTED ? pess__setup_interrupted(s, error) : status;
}

pess_status pess__training_evaluate(pess__training *t, int64_t episodes, int64_t control_episodes, pess__scored *out,
                                    pess_error *error) {
    const bool samples = t->setup.learner->info.samples;
    pess_play_result result;
    pess__play_measures measures;
    PESS_TRY(play(t, false, episodes, &result, &measures, error));
    *out = (pess__scored){.mean_return = result.mean_return,
                          .ci95 = result.ci95,
                          .control = samples ? NAN : result.mean_return,
                          .predicted = measures.predicted,
                          .obtained = measures.obtained,
                          .outside = measures.outside};
    if (!samples || control_episodes == 0) return PESS_OK;
    PESS_TRY(play(t, true, control_episodes, &result, &measures, error));
    out->control = result.mean_return;
    return PESS_OK;
}
