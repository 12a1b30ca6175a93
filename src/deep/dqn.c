/* DQN. Many environments step together; every `train_every` frames a minibatch from the replay memory moves the online
 * network towards
 *
 *     y = Σ_{i<n} γ^i r_i  +  γ^n q_target(s_n, argmax_a q_online(s_n, a))
 *
 * (van Hasselt, Guez & Silver 2016, equation 4, over n steps as in Hessel et al. 2018, section 3), with Huber's loss
 * and Adam. After a terminal transition nothing follows; a cut-off ends the sum but not the future.
 *
 * With an action gap β > 0 the target is y − β (max_a q_target(s, a) − q_target(s, a_taken)): advantage learning
 * (Bellemare et al. 2016, equation 9). At its fixed point the best action has its value, and what the others lack is
 * 1/(1 − β) times as much, so that errors of the network exchange two nearly equal actions less often. */
#include "deep/dqn.h"

#include "core/memory.h"
#include "core/text.h"
#include "core/threads.h"
#include "deep/bundle.h"
#include "deep/play.h"
#include "nn/netfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 96 }; /* samples that go forward together */

/* ---- setting up */

static pess_status open_environments(pess__dqn *dqn, pess_error *error) {
    const pess_dqn_options *o = &dqn->options;
    pess_env_options env = pess_env_options_defaults();
    env.game = o->game;
    env.seed = o->seed;
    env.step_limit = o->step_limit;
    if (o->mdp != NULL)
        PESS_TRY(pess_batch_create_mdp(o->mdp, NULL, &env, o->envs, 1, &dqn->batch, error));
    else
        PESS_TRY(pess_batch_create(&env, o->envs, 1, &dqn->batch, error));
    dqn->bytes = pess_batch_bytes(dqn->batch);
    dqn->actions = pess_batch_actions(dqn->batch);
    return PESS_OK;
}

static pess_status open_networks(pess__dqn *dqn, pess_error *error) {
    const pess_dqn_options *o = &dqn->options;
    pess__net_spec spec;
    if (o->mdp != NULL) {
        PESS_TRY(pess__spec_named(o->network, 1, 1, (int32_t)pess_batch_bits(dqn->batch), (int32_t)dqn->actions, &spec,
                                  error));
    } else {
        const pess_observation_shape shape = pess_env_shape(pess_env_find(o->game));
        pess__spec_input(&shape, &spec);
        PESS_TRY(pess__spec_layers(o->network, (int32_t)dqn->actions, &spec, error));
    }
    PESS_TRY(pess__net_create(&spec, o->kernels, &dqn->online, error));
    PESS_TRY(pess__net_create(&spec, o->kernels, &dqn->target, error));
    PESS_TRY(pess__net_create(&spec, o->kernels, &dqn->average, error));
    pess__optimiser optimiser = pess__optimiser_defaults();
    optimiser.rate = o->rate;
    optimiser.epsilon = o->adam_epsilon;
    PESS_TRY(pess__trainer_create(dqn->online, &optimiser, &dqn->trainer, error));
    PESS_TRY(pess__pass_create(dqn->online, CHUNK, false, &dqn->pass, error));
    for (int i = 0; i < PESS__SNAPSHOTS; i++) {
        dqn->snapshots[i].frame = -1;
        PESS_TRY(pess__allocate(&dqn->snapshots[i].parameters, dqn->online->size, sizeof(float), "a snapshot", error));
    }
    pess__rng rng = pess__rng_stream(o->seed, "network", 0);
    pess__net_initialise(dqn->online, &rng);
    const size_t bytes = (size_t)dqn->online->size * sizeof(float);
    memcpy(dqn->target->parameters, dqn->online->parameters, bytes);
    memcpy(dqn->average->parameters, dqn->online->parameters, bytes);
    return PESS_OK;
}

static pess_status open_buffers(pess__dqn *dqn, pess_error *error) {
    const int64_t envs = dqn->options.envs, batch = dqn->options.batch;
    static const char what[] = "the buffers of a training";
    PESS_TRY(pess__allocate(&dqn->bits, envs * dqn->bytes, 1, what, error));
    PESS_TRY(pess__allocate(&dqn->next_bits, envs * dqn->bytes, 1, what, error));
    PESS_TRY(pess__allocate(&dqn->rewards, envs, sizeof *dqn->rewards, what, error));
    PESS_TRY(pess__allocate(&dqn->running, envs, sizeof *dqn->running, what, error));
    PESS_TRY(pess__allocate(&dqn->ends, envs, 1, what, error));
    PESS_TRY(pess__allocate(&dqn->choice, envs, sizeof *dqn->choice, what, error));
    PESS_TRY(pess__allocate(&dqn->index, batch, sizeof *dqn->index, what, error));
    PESS_TRY(pess__allocate(&dqn->last, batch, sizeof *dqn->last, what, error));
    PESS_TRY(pess__allocate(&dqn->returns, batch, sizeof *dqn->returns, what, error));
    PESS_TRY(pess__allocate(&dqn->discounts, batch, sizeof *dqn->discounts, what, error));
    PESS_TRY(pess__allocate(&dqn->best, batch, sizeof *dqn->best, what, error));
    PESS_TRY(pess__allocate(&dqn->taken, batch, sizeof *dqn->taken, what, error));
    PESS_TRY(pess__allocate(&dqn->targets, batch, sizeof *dqn->targets, what, error));
    return pess__replay_create(&dqn->replay, dqn->options.replay, dqn->bytes, error);
}

static pess_status open_training(pess__dqn *dqn, const pess_dqn_options *options, pess_error *error) {
    dqn->options = *options;
    dqn->act = pess__rng_stream(options->seed, "act", 0);
    dqn->sample = pess__rng_stream(options->seed, "replay", 0);
    PESS_TRY(open_environments(dqn, error));
    PESS_TRY(open_networks(dqn, error));
    pess__dqn_describe(dqn);
    PESS_TRY(pess__dqn_open_directory(dqn, error));
    PESS_TRY(open_buffers(dqn, error));
    return pess__logtext_add(&dqn->log, "frame,return,loss,mean_q,seconds,epsilon,training_return\n", error);
}

static void close_training(pess__dqn *dqn) {
    pess__directory_give_back(&dqn->lock);
    pess_batch_destroy(dqn->batch);
    pess__pass_destroy(dqn->pass);
    pess__trainer_destroy(dqn->trainer);
    pess__net_destroy(dqn->online);
    pess__net_destroy(dqn->target);
    pess__net_destroy(dqn->average);
    pess__replay_destroy(&dqn->replay);
    for (int i = 0; i < PESS__SNAPSHOTS; i++) free(dqn->snapshots[i].parameters);
    void *const owned[] = {dqn->bits,   dqn->next_bits, dqn->rewards, dqn->running, dqn->ends,
                           dqn->choice, dqn->index,     dqn->last,    dqn->returns, dqn->discounts,
                           dqn->best,   dqn->taken,     dqn->targets, dqn->log.text};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
    free(dqn);
}

/* ---- acting */

static double along(double first, double last, int64_t done, int64_t total) {
    return done >= total ? last : first + (last - first) * (double)done / (double)total;
}

static double epsilon_now(const pess__dqn *dqn) {
    const pess_dqn_options *o = &dqn->options;
    if (dqn->frames < o->warmup) return 1;
    return along(o->epsilon_first, o->epsilon_last, dqn->frames - o->warmup, o->epsilon_frames);
}

static const pess__real *outputs_of(const pess__dqn *dqn) {
    return dqn->pass->activation[dqn->online->spec.layer_count - 1];
}

static void choose(pess__dqn *dqn) {
    const double epsilon = epsilon_now(dqn), begun = pess__clock();
    const int64_t envs = dqn->options.envs, stride = dqn->online->padded_outputs;
    const pess__bits_rows rows = {dqn->bits, dqn->bytes, NULL};
    for (int64_t first = 0; first < envs && epsilon < 1; first += CHUNK) {
        const int64_t count = envs - first < CHUNK ? envs - first : CHUNK;
        pess__pass_forward(dqn->online, dqn->pass, &rows, first, count);
        for (int64_t i = 0; i < count; i++)
            dqn->choice[first + i] = pess__greedy(outputs_of(dqn) + i * stride, dqn->actions);
    }
    for (int64_t i = 0; i < envs; i++)
        if (pess__rng_uniform(&dqn->act) < epsilon)
            dqn->choice[i] = (int32_t)pess__rng_below(&dqn->act, (uint64_t)dqn->actions);
    dqn->network_seconds += pess__clock() - begun;
}

/* One step of all environments, into the replay memory. */
static pess_status step(pess__dqn *dqn, pess_error *error) {
    choose(dqn);
    const pess_batch_out out = {.rewards = dqn->rewards, .ends = dqn->ends, .bits = dqn->next_bits};
    PESS_TRY(pess_batch_step(dqn->batch, dqn->choice, &out, error));
    for (int64_t i = 0; i < dqn->options.envs; i++) {
        const uint8_t *next = dqn->next_bits + i * dqn->bytes;
        _Alignas(float) uint8_t last[PESS__MAX_INPUTS / 8];
        if (dqn->ends[i] != PESS_END_NONE && pess_batch_final_bits(dqn->batch, i, last)) next = last;
        pess__replay_add(&dqn->replay, dqn->bits + i * dqn->bytes, dqn->choice[i], dqn->rewards[i], next, dqn->ends[i]);
        dqn->running[i] += dqn->rewards[i];
        if (dqn->ends[i] == PESS_END_NONE) continue;
        dqn->return_sum += dqn->running[i];
        dqn->return_count++;
        dqn->running[i] = 0;
    }
    uint8_t *swap = dqn->bits;
    dqn->bits = dqn->next_bits;
    dqn->next_bits = swap;
    dqn->frames += dqn->options.envs;
    return PESS_OK;
}

/* ---- learning */

/* Targets of the drawn minibatch. */
static void compute_targets(pess__dqn *dqn) {
    const int64_t batch = dqn->options.batch, stride = dqn->online->padded_outputs;
    const pess__bits_rows nexts = {dqn->replay.nexts, dqn->bytes, dqn->last};
    for (int64_t first = 0; first < batch; first += CHUNK) {
        const int64_t count = batch - first < CHUNK ? batch - first : CHUNK;
        pess__pass_forward(dqn->online, dqn->pass, &nexts, first, count);
        for (int64_t i = 0; i < count; i++)
            dqn->best[first + i] = pess__greedy(outputs_of(dqn) + i * stride, dqn->actions);
        pess__pass_forward(dqn->target, dqn->pass, &nexts, first, count);
        for (int64_t i = 0; i < count; i++) {
            const double after = (double)outputs_of(dqn)[i * stride + dqn->best[first + i]];
            dqn->targets[first + i] = (float)(dqn->returns[first + i] + dqn->discounts[first + i] * after);
        }
    }
}

/* Advantage learning: lowers each target by β times what the action taken is short of the best. */
static void widen_gaps(pess__dqn *dqn) {
    const int64_t batch = dqn->options.batch, stride = dqn->online->padded_outputs;
    const pess__bits_rows states = {dqn->replay.states, dqn->bytes, dqn->index};
    for (int64_t first = 0; first < batch; first += CHUNK) {
        const int64_t count = batch - first < CHUNK ? batch - first : CHUNK;
        pess__pass_forward(dqn->target, dqn->pass, &states, first, count);
        for (int64_t i = 0; i < count; i++) {
            const pess__real *q = outputs_of(dqn) + i * stride;
            const double gap = (double)q[pess__greedy(q, dqn->actions)] - (double)q[dqn->taken[first + i]];
            dqn->targets[first + i] -= (float)(dqn->options.action_gap * gap);
        }
    }
}

/* Running mean over about the last `average` updates (Polyak & Juditsky 1992): it plays more evenly than the network
 * that is being moved. */
static void follow(pess__dqn *dqn) {
    float *restrict mean = dqn->average->parameters;
    const float *restrict online = dqn->online->parameters;
    const float share = 1.0F / (float)dqn->options.average;
    for (int64_t i = 0; i < dqn->online->size; i++) mean[i] += share * (online[i] - mean[i]);
}

static pess_status update(pess__dqn *dqn, pess_error *error) {
    const pess_dqn_options *o = &dqn->options;
    for (int64_t i = 0; i < o->batch; i++) {
        dqn->index[i] = (int64_t)pess__rng_below(&dqn->sample, (uint64_t)dqn->replay.count);
        dqn->taken[i] = dqn->replay.actions[dqn->index[i]];
        dqn->last[i] = pess__replay_follow(&dqn->replay, dqn->index[i], o->envs, o->n_step, o->gamma, &dqn->returns[i],
                                           &dqn->discounts[i]);
    }
    compute_targets(dqn);
    if (o->action_gap > 0) widen_gaps(dqn);
    dqn->trainer->optimiser.rate = along(o->rate, o->rate_last, dqn->frames, o->frames);
    const pess__labels labels = {.actions = dqn->taken, .targets = dqn->targets};
    const pess__loss loss = {PESS__LOSS_HUBER, o->huber};
    pess__step_info info;
    pess_error why;
    const pess__bits_rows states = {dqn->replay.states, dqn->bytes, dqn->index};
    const pess_status status = pess__trainer_step(dqn->trainer, &states, &labels, o->batch, &loss, &info, &why);
    if (status != PESS_OK)
        return pess__fail(error, status, "frame %lld: %s; the checkpoints in %s are from before",
                          (long long)dqn->frames, why.message, o->out);
    dqn->loss_sum += info.loss;
    dqn->output_sum += info.mean_output;
    dqn->loss_count++;
    follow(dqn);
    if (++dqn->updates % o->target_every == 0)
        memcpy(dqn->target->parameters, dqn->online->parameters, (size_t)dqn->online->size * sizeof(float));
    return PESS_OK;
}

static pess_status learn(pess__dqn *dqn, pess_error *error) {
    const double begun = pess__clock();
    const int64_t due = (dqn->frames - dqn->options.warmup) / dqn->options.train_every;
    while (dqn->updates < due) PESS_TRY(update(dqn, error));
    dqn->network_seconds += pess__clock() - begun;
    return PESS_OK;
}

/* ---- looking at how it plays */

static pess_status interrupted(const pess__dqn *dqn, pess_error *error) {
    return pess__fail(error, PESS_INTERRUPTED,
                      "interrupted at frame %lld; what is done is kept in %s, and resuming continues from there",
                      (long long)dqn->frames, dqn->options.out);
}

/* progress: whom to ask whether to go on. */
static pess_status play_net(const pess__dqn *dqn, const pess__net *net, const char *purpose, int64_t index,
                            int64_t episodes, pess_progress progress, pess_play_result *out, pess_error *error) {
    pess_play_options options = pess_play_options_defaults();
    pess__rng rng = pess__rng_stream(dqn->options.seed, purpose, (uint64_t)index);
    options.game = dqn->options.game;
    options.mdp = dqn->options.mdp;
    options.episodes = episodes;
    options.seed = pess__rng_next(&rng);
    options.threads = dqn->options.threads;
    options.progress = progress;
    pess_policy *policy = NULL;
    PESS_TRY(pess__bundle_argmax(net, &policy, error));
    const pess_status status = pess__play(policy, &options, NULL, out, error);
    pess_policy_destroy(policy);
    return status;
}

/* Keeps the parameters where the score is among the best; the earlier one of equals stays. */
static void keep(pess__dqn *dqn, double score) {
    pess__snapshot *worst = &dqn->snapshots[0];
    for (int i = 0; i < PESS__SNAPSHOTS; i++) {
        pess__snapshot *s = &dqn->snapshots[i];
        if (s->frame < 0 || (worst->frame >= 0 && s->score < worst->score)) worst = s;
        if (worst->frame < 0) break;
    }
    if (worst->frame >= 0 && worst->score >= score) return;
    worst->score = score;
    worst->frame = dqn->frames;
    memcpy(worst->parameters, dqn->average->parameters, (size_t)dqn->online->size * sizeof(float));
}

/* Not to be interrupted: a checkpoint is from before or after it. */
static pess_status evaluate(pess__dqn *dqn, pess_error *error) {
    const pess_dqn_options *o = &dqn->options;
    pess_play_result result;
    PESS_TRY(play_net(dqn, dqn->average, "evaluate", dqn->evaluations++, o->evaluate_episodes, (pess_progress){0},
                      &result, error));
    keep(dqn, result.mean_return);
    const double updates = dqn->loss_count > 0 ? (double)dqn->loss_count : 1;
    const double seconds = dqn->seconds_before + pess__clock() - dqn->begun;
    char line[256];
    (void)snprintf(line, sizeof line, "%lld,%.6g,%.6g,%.6g,%.1f,%.4g,%.6g\n", (long long)dqn->frames,
                   result.mean_return, dqn->loss_sum / updates, dqn->output_sum / updates, seconds, epsilon_now(dqn),
                   dqn->return_count > 0 ? dqn->return_sum / (double)dqn->return_count : 0);
    dqn->loss_sum = dqn->output_sum = dqn->return_sum = 0;
    dqn->loss_count = dqn->return_count = 0;
    PESS_TRY(pess__logtext_add(&dqn->log, line, error));
    return pess__logtext_write(&dqn->log, dqn->options.out, error);
}

/* The snapshots once more, all on the same fresh episodes; the best becomes the policy. */
static pess_status finish(pess__dqn *dqn, pess_dqn_result *out, pess_error *error) {
    const int64_t size = dqn->online->size;
    const pess__snapshot *best = NULL;
    pess_play_result best_result = {0};
    for (int i = 0; i < PESS__SNAPSHOTS; i++) {
        const pess__snapshot *s = &dqn->snapshots[i];
        if (s->frame < 0) continue;
        pess_play_result result;
        memcpy(dqn->target->parameters, s->parameters, (size_t)size * sizeof(float));
        const pess_status played =
            play_net(dqn, dqn->target, "final", 0, dqn->options.final_episodes, dqn->options.progress, &result, error);
        if (played == PESS_INTERRUPTED) return interrupted(dqn, error);
        PESS_TRY(played);
        if (best == NULL || result.mean_return > best_result.mean_return ||
            (result.mean_return >= best_result.mean_return && s->frame < best->frame)) {
            best = s;
            best_result = result;
        }
    }
    memcpy(dqn->target->parameters, best->parameters, (size_t)size * sizeof(float));
    out->mean_return = best_result.mean_return;
    out->ci95 = best_result.ci95;
    out->best_frame = best->frame;
    char notes[PESS__NOTES_SIZE], path[PESS__PATH_SIZE];
    (void)snprintf(notes, sizeof notes, "%smethod=dqn\nbest_frame=%lld\nmean_return=%.6g\nci95=%.6g\nversion=%s\n",
                   dqn->settings, (long long)best->frame, best_result.mean_return, best_result.ci95, PESS_VERSION);
    (void)snprintf(path, sizeof path, "%s/policy.pessnet", dqn->options.out);
    pess_net *net = NULL;
    pess__net *policy = dqn->target;
    dqn->target = NULL;
    PESS_TRY(pess__net_wrap(policy, notes, &net, error));
    const pess_status status = pess_net_write(net, path, error);
    pess_net_destroy(net);
    return status;
}

/* ---- the whole */

static pess_status report(const pess__dqn *dqn, double *reported, pess_error *error) {
    const pess_progress *p = &dqn->options.progress;
    const double now = pess__clock();
    if (p->report == NULL || now - *reported < 0.1) return PESS_OK;
    *reported = now;
    if (p->report(p->user, "training", (double)dqn->frames, (double)dqn->options.frames, "frames")) return PESS_OK;
    return interrupted(dqn, error);
}

static bool crossed(int64_t before, int64_t now, int64_t every) { return before / every != now / every; }

static pess_status train(pess__dqn *dqn, pess_error *error) {
    const pess_dqn_options *o = &dqn->options;
    double reported = pess__clock();
    pess_batch_observe(dqn->batch, &(pess_batch_out){.bits = dqn->bits});
    while (dqn->frames < o->frames) {
        const int64_t before = dqn->frames;
        PESS_TRY(step(dqn, error));
        PESS_TRY(learn(dqn, error));
        const bool last = dqn->frames >= o->frames;
        if (last || crossed(before, dqn->frames, o->evaluate_every)) PESS_TRY(evaluate(dqn, error));
        if (last || crossed(before, dqn->frames, o->checkpoint_every)) PESS_TRY(pess__dqn_save(dqn, error));
        const pess_status status = report(dqn, &reported, error);
        if (status == PESS_INTERRUPTED) PESS_TRY(pess__dqn_save(dqn, error));
        PESS_TRY(status);
    }
    return PESS_OK;
}

static pess_status run(pess__dqn *dqn, pess_dqn_result *out, pess_error *error) {
    const pess_dqn_options *o = &dqn->options;
    bool found = false;
    PESS_TRY(pess__dqn_restore(dqn, &found, error));
    out->resumed_from = found ? dqn->frames : -1;
    dqn->begun = pess__clock();
    PESS_TRY(train(dqn, error));
    PESS_TRY(pess__logtext_write(&dqn->log, o->out, error));
    out->frames = dqn->frames;
    out->updates = dqn->updates;
    out->seconds = pess__clock() - dqn->begun;
    out->network_seconds = dqn->network_seconds;
    return finish(dqn, out, error);
}

pess_status pess_dqn_run(const pess_dqn_options *options, pess_dqn_result *out, pess_error *error) {
    pess_dqn_options settled;
    pess__dqn *dqn = NULL;
    PESS_TRY(pess__dqn_settle(options, &settled, error));
    PESS_TRY(pess__allocate(&dqn, 1, sizeof *dqn, "a training", error));
    *out = (pess_dqn_result){0};
    pess_status status = open_training(dqn, &settled, error);
    if (status == PESS_OK) status = run(dqn, out, error);
    close_training(dqn);
    return status;
}
