/* Neural fitted Q iteration (Riedmiller 2005; paper, appendix on deep experiments). Per Bellman update the targets are
 * computed from the networks as the last one left them, and a network is trained to them with Huber's loss and Adam:
 *
 *     y = r + γ v(s'),   v(s') = what the learner's policy at s' is worth;      minimise Σ huber(q(s,a) − y)
 *
 * The step size falls within every update. Imitation is the same loop with cross-entropy on the logged actions, where
 * "updates" are stretches of one long training. All that is random is a function of seed and update, so a run that was
 * interrupted ends in the same bytes. */
#include "deep/game_notes.h"
#include "deep/neural_uncertainty.h"
#include "deep/training.h"

#include "core/memory.h"
#include "core/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- setting up */

static pess__loss loss_of(const pess__setup *s) {
    if (!s->learner->info.values) return (pess__loss){.kind = PESS__LOSS_CROSS_ENTROPY};
    pess__loss loss = {.kind = PESS__LOSS_HUBER, .parameter = PESS__HUBER_EDGE};
    if (s->learner->loss != NULL) loss = s->learner->loss(s->knobs);
    loss.heads = pess__learner_heads(s->learner, s->knobs);
    return loss;
}

/* Memory for the updates. */
static pess_status open_updates(pess__training *t, pess_error *error) {
    const pess__setup *s = &t->setup;
    int64_t outputs = 0;
    for (int64_t i = 0; i < t->networks.count; i++) outputs += t->networks.nets[i]->outputs;
    PESS_TRY(pess__network_sweep_create(s, PESS__CHECK_ROWS, outputs, &t->sweep, error));
    PESS_TRY(pess__targets_create(s, &t->values, error));
    return pess__minibatch_create(s->batch, loss_of(s).diversity > 0 ? s->data->actions : 0, &t->minibatch, error);
}

/* What is known of the states of the data. */
static pess_status open_tables(pess__training *t, pess_error *error) {
    const pess__setup *s = &t->setup;
    const pess__learner *learner = s->learner;
    PESS_TRY(pess__check_create(s, &t->settling.parts, &t->scores, error));
    if (learner->info.values || learner->uncertainty != NULL)
        PESS_TRY(pess__tables_count(s, &t->tables, t->warning, error));
    if (t->networks.imitation != NULL) PESS_TRY(pess__tables_priors(s, t->networks.imitation, &t->tables, error));
    if (learner->uncertainty == NULL || learner->uncertainty->outside == NULL) return PESS_OK;
    return pess__penalties_create(s, &t->tables, &t->networks.uncertainty, t->warning, error);
}

/* What is held out, where the protocol settles. */
static pess_status open_settling(pess__training *t, pess_error *error) {
    pess__setup *s = &t->setup;
    pess__settling *own = &t->settling;
    if (!s->options.protocol.settle) return PESS_OK;
    PESS_TRY(pess__parts_create(s->data, &own->parts, error));
    s->rows = own->parts.learnt;
    s->row_count = own->parts.learnt_count;
    own->plateau = pess__plateau_begin();
    if (s->learner->info.values || s->learner->untrained) return PESS_OK;
    return pess__allocate(&own->best, t->networks.nets[0]->size, sizeof *own->best, "the best network", error);
}

static pess_status open_training(pess__training *t, const pess_train_options *options, pess_error *error) {
    pess__setup *s = &t->setup;
    t->scores.best = -INFINITY;
    t->price_weight = 1;
    PESS_TRY(pess__setup_open(options, &t->position, s, error));
    PESS_TRY(pess__setup_environment(s, error));
    PESS_TRY(pess__networks_create(s, &t->networks, error));
    const bool imitates = s->learner->info.imitation, given = s->options.imitation != NULL;
    if (imitates && given) /* may be refused: no directory yet */
        PESS_TRY(pess__networks_open_imitation(s, &t->networks, error));
    if (s->options.tensorboard != NULL) PESS_TRY(pess__tensorboard_open(s->options.tensorboard, &t->board, error));
    PESS_TRY(pess__training_open_directory(t, error));
    if (imitates && !given) PESS_TRY(pess__networks_open_imitation(s, &t->networks, error));
    pess__setup_describe(s, t->networks.nets[0]->kernels->sums, t->networks.imitation_checksum, t->settings);
    PESS_TRY(pess__training_check_settings(t, error));
    if (s->learner->prepare != NULL) {
        PESS_TRY(s->learner->prepare(s, &t->replaced, error));
        s->data = t->replaced;
    }
    PESS_TRY(open_settling(t, error));
    PESS_TRY(open_updates(t, error));
    PESS_TRY(open_tables(t, error));
    pess__networks_renew(s, &t->networks);
    return pess__logtext_add(&t->scores.log,
                             "update,steps,loss,mean_target,mean_q,return,ci95,argmax_return,predicted,obtained,"
                             "outside,unlogged,gap,values_apart,penalty_apart,seconds\n",
                             error);
}

void pess__training_release(pess__training *t) {
    pess__directory_give_back(&t->lock);
    pess__networks_destroy(&t->networks);
    pess__tables_destroy(&t->tables);
    pess__network_sweep_destroy(&t->sweep);
    pess__targets_destroy(&t->values);
    pess__minibatch_destroy(&t->minibatch);
    pess__parts_destroy(&t->settling.parts);
    free(t->settling.best);
    pess_observations_destroy(t->replaced);
    free(t->scores.check);
    free(t->scores.log.text);
    pess__tensorboard_close(t->board);
}

/* ---- learning */

/* Step size of a step: along the update, or along the whole of imitation; where that settles, as it finds. */
static double rate_of(const pess__training *t, int64_t step) {
    const pess__setup *s = &t->setup;
    const pess_protocol *p = &s->options.protocol;
    if (s->learner->info.values) return p->rate + (p->rate_last - p->rate) * (double)step / (double)s->steps;
    if (p->settle) return p->imitation_rate / pow(PESS__RATE_FALL, (double)t->settling.plateau.falls);
    const double fall = p->imitation_rate > 0 ? 1 - p->imitation_rate_last / p->imitation_rate : 0;
    const double done = (double)(s->position->update * s->steps + step);
    return p->imitation_rate * (1 - fall * done / (double)(s->updates * s->steps));
}

static pess_status failed(const pess__setup *s, pess_status status, const pess_error *why, pess_error *error) {
    const long long update = (long long)s->position->update + 1;
    if (s->options.out == NULL)
        return pess__fail(error, status, "%s, update %lld: %s", s->learner->info.name, update, why->message);
    return pess__fail(error, status, "update %lld: %s; the checkpoints in %s are from before", update, why->message,
                      s->options.out);
}

/* One network of those that are trained to the same targets, over the steps of an update. */
static pess_status pass(pess__training *t, int64_t network, pess_error *error) {
    const pess__setup *s = &t->setup;
    const int64_t networks = pess__learner_networks(s->learner, s->knobs),
                  mixtures = pess__learner_mixtures(s->learner);
    const int64_t done = (s->position->update * networks + network) * s->steps;
    const pess__minibatch *m = &t->minibatch;
    const pess__bits_rows rows = {s->data->observations, s->data->bytes, m->unique};
    const pess__labels labels = {.actions = m->taken, .targets = m->targets, .first = m->first, .others = m->others};
    pess__trainer *trainer = t->networks.trainers[network];
    pess__loss loss = loss_of(s);
    if (pess__setup_prices(s)) loss.conservative *= t->price_weight;
    pess__rng rng = pess__rows_stream(s, network);
    for (int64_t step = 0; step < s->steps; step++) {
        t->values.mixing = step % mixtures;
        if (t->values.mixture != NULL) loss.mixture = t->values.mixture + t->values.mixing * loss.heads;
        const int64_t samples = pess__minibatch_draw(t, network, &rng);
        if (loss.diversity > 0) pess__minibatch_others(t, network, samples);
        pess__step_info info;
        pess_error why;
        trainer->optimiser.rate = rate_of(t, step);
        const pess_status status = pess__trainer_step(trainer, &rows, &labels, samples, &loss, &info, &why);
        if (status != PESS_OK) return failed(s, status, &why, error);
        PESS_TRY(pess__setup_report(s, s->learner->info.name, done + step, s->updates * networks * s->steps, error));
    }
    t->values.mixing = 0;
    if (network == 0) t->settling.steps += s->steps;
    return PESS_OK;
}

/* Where the protocol settles, values go over the update's sample again as long as that fits held-out targets better. */
static pess_status train(pess__training *t, int64_t network, pess_error *error) {
    const pess__setup *s = &t->setup;
    double before, after;
    if (!s->options.protocol.settle || !s->learner->info.values) return pass(t, network, error);
    PESS_TRY(pess__training_fit_error(t, network, &after, error));
    int64_t passes = 0;
    do {
        before = after;
        PESS_TRY(pass(t, network, error));
        PESS_TRY(pess__training_fit_error(t, network, &after, error));
    } while (pess__fit_improves(before, after, ++passes));
    return PESS_OK;
}

/* Counted only where their number is a finding. */
static int64_t steps_so_far(const pess__training *t) {
    return t->setup.options.protocol.settle ? t->settling.steps : t->position.update * t->setup.steps;
}

static void field(char *line, size_t size, double value) {
    char number[32] = ",";
    if (isfinite(value)) (void)snprintf(number, sizeof number, ",%.6g", value);
    strncat(line, number, size - strlen(line) - 1);
}

/* The same for TensorBoard, at the steps so far; docs/deep.md says what the curves are. */
static pess_status show_update(const pess__training *t, const pess__scored *scored, pess_error *error) {
    const pess__training_scores *s = &t->scores;
    const bool values = t->setup.learner->info.values;
    const double done = (double)(steps_so_far(t) - t->shown_from);
    const struct {
        const char *tag;
        double value;
    } curves[] = {{values ? "losses/td_loss" : "losses/cross_entropy", s->loss},
                  {"losses/mean_target", s->mean_target},
                  {"losses/q_values", s->mean_q},
                  {"charts/episodic_return", scored->mean_return},
                  {"charts/SPS", done / (pess__clock() - s->begun)},
                  {"eval/return_ci95", scored->ci95},
                  {"eval/argmax_return", scored->control},
                  {"eval/predicted", scored->predicted},
                  {"eval/obtained", scored->obtained},
                  {"eval/outside", scored->outside},
                  {"data/unlogged", s->unlogged},
                  {"data/gap", s->gap},
                  {"data/values_apart", s->values_apart},
                  {"data/penalty_apart", s->penalty_apart}};
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++)
        pess__tensorboard_scalar(t->board, curves[i].tag, steps_so_far(t), curves[i].value);
    return pess__tensorboard_flush(t->board, error);
}

static pess_status log_update(pess__training *t, const pess__scored *scored, pess_error *error) {
    pess__training_scores *s = &t->scores;
    char line[512];
    const int64_t update = t->position.update;
    (void)snprintf(line, sizeof line, "%lld,%lld", (long long)update, (long long)steps_so_far(t));
    const double fields[] = {s->loss,         s->mean_target,    s->mean_q,        scored->mean_return, scored->ci95,
                             scored->control, scored->predicted, scored->obtained, scored->outside,     s->unlogged,
                             s->gap,          s->values_apart,   s->penalty_apart};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) field(line, sizeof line, fields[i]);
    const size_t used = strlen(line);
    (void)snprintf(line + used, sizeof line - used, ",%.2f\n", s->seconds_before + pess__clock() - s->begun);
    PESS_TRY(pess__logtext_add(&s->log, line, error));
    PESS_TRY(pess__logtext_write(&s->log, t->setup.options.out, error));
    return show_update(t, scored, error);
}

/* After an update (they are counted from 1 here): how the policy does, where it is time to evaluate it. Imitation has
 * one network at the end, which plays all the scored episodes. */
static pess_status score_update(pess__training *t, pess_error *error) {
    const pess__setup *s = &t->setup;
    const pess_protocol *p = &s->options.protocol;
    pess__scored scored = {NAN, NAN, NAN, NAN, NAN, NAN};
    const int64_t update = s->position->update, left = s->updates - update;
    const bool values = s->learner->info.values,
               playable = s->options.mdp != NULL || pess_env_find(s->data->game) != NULL;
    const bool counts = values ? left < PESS_SCORED_UPDATES : left == 0;
    const int64_t times = values ? 1 : PESS_SCORED_UPDATES;
    if (playable && counts && p->score_episodes > 0)
        PESS_TRY(pess__training_evaluate(t, times * p->score_episodes, times * p->control_episodes, &scored, error));
    else if (playable && !counts && p->eval_every > 0 && update % p->eval_every == 0 && p->eval_episodes > 0)
        PESS_TRY(pess__training_evaluate(t, p->eval_episodes, 0, &scored, error));
    if (counts) t->scores.scored[values ? PESS_SCORED_UPDATES - 1 - left : 0] = scored;
    if (scored.mean_return > t->scores.best) t->scores.best = scored.mean_return;
    return log_update(t, &scored, error);
}

/* Targets from the networks as they are, and a fresh start for what learns them. */
static pess_status begin_update(pess__training *t, pess_error *error) {
    const pess__setup *s = &t->setup;
    PESS_TRY(pess__targets_compute(t, error));
    if (s->options.protocol.reset && s->position->update > 0) pess__networks_renew(s, &t->networks);
    for (int64_t i = 0; i < pess__learner_networks(s->learner, s->knobs); i++)
        pess__trainer_reset(t->networks.trainers[i]);
    return PESS_OK;
}

static pess_status learn(pess__training *t, pess_error *error) {
    const pess__setup *s = &t->setup;
    if (s->learner->info.values) PESS_TRY(begin_update(t, error));
    for (int64_t i = 0; i < pess__learner_networks(s->learner, s->knobs); i++) PESS_TRY(train(t, i, error));
    return pess__own_networks_train(s, &t->networks, &t->tables, &t->sweep, error);
}

pess_status pess__training_fit_begin(pess__training *t, pess_error *error) {
    PESS_TRY(pess__networks_create(&t->setup, &t->networks, error));
    PESS_TRY(open_updates(t, error));
    pess__networks_renew(&t->setup, &t->networks);
    t->position.update = 0;
    return PESS_OK;
}

pess_status pess__training_fit_to(pess__training *t, int64_t updates, pess_error *error) {
    for (; t->position.update < updates; t->position.update++) PESS_TRY(learn(t, error));
    return pess__networks_check(&t->setup, &t->networks, error);
}

/* Imitation: the best network is kept, and is the result once the held-out likelihood no longer grows. */
static void settle_imitation(pess__training *t) {
    pess__settling *own = &t->settling;
    const pess__net *net = t->networks.nets[0];
    const size_t size = (size_t)net->size * sizeof *own->best;
    bool best = false;
    const pess__verdict verdict = pess__plateau_next(&own->plateau, t->scores.loss, &best);
    if (best) memcpy(own->best, net->parameters, size);
    if (verdict == PESS__OVER) t->setup.updates = t->position.update;
    const bool ends = t->position.update == t->setup.updates;
    if (verdict != PESS__FALL && !ends) return;
    memcpy(net->parameters, own->best, size);
    pess__trainer_reset(t->networks.trainers[0]);
    if (ends) t->scores.loss = own->plateau.best;
}

/* Values: once they have arrived, as many updates follow as are scored. */
static void settle(pess__training *t) {
    const pess__setup *s = &t->setup;
    if (!s->options.protocol.settle || s->learner->untrained) return;
    if (!s->learner->info.values) {
        settle_imitation(t);
        return;
    }
    const bool found = t->settling.stillness.still >= PESS__STILL;
    if (found || !pess__stillness_next(&t->settling.stillness, t->scores.mean_q, s->options.gamma)) return;
    const int64_t last = t->position.update + PESS_SCORED_UPDATES;
    if (last < s->updates) t->setup.updates = last;
}

static pess_status update(pess__training *t, pess_error *error) {
    const pess__setup *s = &t->setup;
    PESS_TRY(learn(t, error));
    PESS_TRY(pess__training_check(t, error));
    t->position.update++;
    settle(t);
    pess__training_adapt_price(t);
    PESS_TRY(score_update(t, error));
    const double now = pess__clock();
    if (t->position.update < s->updates && now - t->saved < s->options.checkpoint_seconds) return PESS_OK;
    t->saved = now;
    return pess__training_save(t, error);
}

/* ---- the whole */

static void sum_up(const pess__training *t, pess_train_result *out) {
    const pess__training_scores *scores = &t->scores;
    const int64_t all = t->setup.learner->info.values ? PESS_SCORED_UPDATES : 1;
    const int64_t count = all < t->setup.updates ? all : t->setup.updates, begin = all - count;
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = begin; i < all; i++) {
        const pess__scored *s = &scores->scored[i];
        const double share = 1 / (double)count;
        out->score += share * s->mean_return;
        out->control += share * s->control;
        out->predicted += share * s->predicted;
        out->obtained += share * s->obtained;
        out->outside += share * s->outside;
        least = fmin(least, s->mean_return);
        most = fmax(most, s->mean_return);
    }
    out->score_final = scores->scored[all - 1].mean_return;
    out->score_best = isfinite(scores->best) ? scores->best : NAN;
    out->score_spread = most >= least ? most - least : NAN; /* NAN: nothing was played */
    out->loss = scores->loss;
    out->mean_target = scores->mean_target;
    out->updates = t->position.update;
    out->seconds = pess__clock() - scores->begun;
    memcpy(out->warning, t->warning, sizeof out->warning);
}

static pess_status run(pess__training *t, pess_train_result *out, pess_error *error) {
    bool found = false;
    PESS_TRY(pess__training_restore(t, &found, error));
    out->resumed_from = found ? t->position.update : -1;
    t->shown_from = steps_so_far(t);
    /* The points at the checkpoint itself stay. */
    PESS_TRY(pess__tensorboard_start(t->board, found ? t->shown_from + 1 : 0, error));
    t->scores.begun = t->saved = t->position.reported = pess__clock();
    while (t->position.update < t->setup.updates) PESS_TRY(update(t, error));
    sum_up(t, out);
    PESS_TRY(pess__logtext_write(&t->scores.log, t->setup.options.out, error));
    return pess__training_write(t, out, error);
}

pess_status pess_train_run(const pess_train_options *options, pess_train_result *out, pess_error *error) {
    pess__training *t = NULL;
    PESS_TRY(pess__allocate(&t, 1, sizeof *t, "a training", error));
    *out = (pess_train_result){0};
    pess_status status = open_training(t, options, error);
    if (status == PESS_OK) status = run(t, out, error);
    pess__training_release(t);
    free(t);
    return status;
}
