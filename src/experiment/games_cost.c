/* How long it will take: by runs of the same algorithm that are finished, else by a few training steps on this machine
 * at the protocol's batch, and what a protocol says about the number of steps and episodes. */
#include "core/memory.h"
#include "deep/learner.h"
#include "experiment/executor.h"
#include "experiment/games.h"
#include "nn/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define MEASURE_SECONDS 0.15
#define EPISODE_STEPS 500.0 /* of an episode, about: games differ, and so do players */

typedef struct bench {
    pess__net *net;
    pess__trainer *trainer;
    uint8_t *bits;     /* [batch*bytes] */
    int32_t *actions;  /* [batch] */
    float *out;        /* [batch*outputs] */
    pess__real *goals; /* [batch] */
} bench;

static pess_status create(bench *b, const pess_env_info *game, int64_t batch, pess_error *error) {
    pess__net_spec spec;
    const pess__optimiser optimiser = pess__optimiser_defaults();
    PESS_TRY(pess__spec_named("value", game->rows, game->cols, game->channels, PESS_ENV_ACTIONS, &spec, error));
    PESS_TRY(pess__net_create(&spec, NULL, &b->net, error));
    PESS_TRY(pess__trainer_create(b->net, &optimiser, &b->trainer, error));
    PESS_TRY(pess__allocate(&b->bits, batch * b->net->bytes, 1, "a minibatch", error));
    PESS_TRY(pess__allocate(&b->actions, batch, sizeof *b->actions, "a minibatch", error));
    PESS_TRY(pess__allocate(&b->goals, batch, sizeof *b->goals, "a minibatch", error));
    PESS_TRY(pess__allocate(&b->out, batch * b->net->outputs, sizeof *b->out, "a minibatch", error));
    pess__rng rng = pess__rng_stream(1, "minatar cost", 0);
    pess__net_initialise(b->net, &rng);
    for (int64_t i = 0; i < batch * b->net->bytes; i++) { /* a board has about one bit in ten */
        const uint64_t word = pess__rng_next(&rng);
        b->bits[i] = (uint8_t)(word & (word >> 8) & (word >> 16));
    }
    for (int64_t i = 0; i < batch; i++) b->actions[i] = (int32_t)pess__rng_below(&rng, PESS_ENV_ACTIONS);
    return PESS_OK;
}

static void destroy(bench *b) {
    pess__trainer_destroy(b->trainer);
    pess__net_destroy(b->net);
    free(b->bits);
    free(b->actions);
    free(b->goals);
    free(b->out);
}

/* Of this thread alone: others on the machine do not count. */
static double own_clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds per sample, of learning and of acting; the first repetition only warms up. */
static pess_status time_steps(bench *b, int64_t batch, double *learn, double *act, pess_error *error) {
    const pess__bits_rows rows = {.bits = b->bits, .stride = b->net->bytes};
    const pess__labels labels = {.actions = b->actions, .targets = b->goals};
    const pess__loss loss = {.kind = PESS__LOSS_HUBER, .parameter = 5};
    pess__step_info info;
    double begun = 0;
    int64_t count = -1;
    do {
        PESS_TRY(pess__trainer_step(b->trainer, &rows, &labels, batch, &loss, &info, error));
        if (++count == 0) begun = own_clock();
    } while (count == 0 || own_clock() - begun < MEASURE_SECONDS);
    *learn = (own_clock() - begun) / (double)(count * batch);
    begun = own_clock();
    for (count = 0; count == 0 || own_clock() - begun < MEASURE_SECONDS / 4; count++)
        PESS_TRY(pess__net_apply(b->net, &rows, batch, 1, b->out, error));
    *act = (own_clock() - begun) / (double)(count * batch);
    return PESS_OK;
}

static const pess__learner *learner_of(const pess__games *m, int curve) {
    return pess__learner_find(m->curves[curve].learner->name);
}

/* That each of its networks learns from; where it settles, about, by the first datasets that it was run on. */
static double samples_of(const pess__games *m, int curve) {
    const pess_protocol *p = &m->protocol;
    const double settled = p->settle ? 1 : 0;
    if (pess__games_is_imitation(m, curve))
        return (1 - 0.6 * settled) * (double)p->imitation_steps * (double)p->imitation_batch;
    return (1 + settled) * (double)p->updates * (double)p->steps * (double)p->batch;
}

static double networks_of(const pess__learner *learner) {
    if (learner->untrained) return 0;
    return learner->networks > 1 ? (double)learner->networks : 1;
}

/* The mean of finished runs of this curve and game; NAN where there are none. */
static double seconds_before(const pess__games *m, int64_t dataset, int curve) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        const pess__games_run *run = pess__games_run_of(m, d, curve);
        if (!run->finished || run->result.resumed_from >= 0 || m->datasets[d].game != m->datasets[dataset].game)
            continue;
        sum += run->result.seconds;
        count++;
    }
    return count > 0 ? sum / (double)count : NAN;
}

/* Where no finished run tells. */
pess_status pess__games_measure(pess__games *m, pess_error *error) {
    bool needed = false;
    for (int64_t i = 0; i < m->dataset_count * m->curve_count; i++)
        needed |= !m->runs[i].finished && isnan(seconds_before(m, i / m->curve_count, (int)(i % m->curve_count)));
    if (m->step_seconds > 0 || !needed) return PESS_OK;
    bench b = {0};
    const int64_t batch = m->protocol.batch;
    pess_status status = create(&b, m->games[0], batch, error);
    if (status == PESS_OK) status = time_steps(&b, batch, &m->step_seconds, &m->act_seconds, error);
    destroy(&b);
    return status;
}

/* Learning and the targets of every update, as many times as the learner costs; and episodes, in which the game itself
 * costs about as much as a network. */
double pess__games_run_seconds(const pess__games *m, int64_t dataset, int curve) {
    const pess_protocol *p = &m->protocol;
    const pess__learner *learner = learner_of(m, curve);
    const double before = seconds_before(m, dataset, curve);
    if (!isnan(before)) return before;
    const bool imitates = pess__games_is_imitation(m, curve);
    const int64_t looks_between = learner->info.values && p->eval_every > 0 ? p->updates / p->eval_every : 0;
    const double episodes =
        (double)(PESS_SCORED_UPDATES * (p->score_episodes + p->control_episodes) + looks_between * p->eval_episodes);
    const double looks = learner->info.imitation ? 1.1 : 1; /* acting asks the imitation network too, now and then */
    const double rows = fmin((double)m->datasets[dataset].transitions, (double)p->steps * (double)p->batch);
    const double targets = imitates ? 0 : (double)p->updates * rows * looks; /* only those that an update will draw */
    const double learning = samples_of(m, curve) * m->step_seconds + targets * m->act_seconds;
    const double acting = episodes * EPISODE_STEPS * (fmax(networks_of(learner), 1) + 1) * m->act_seconds;
    return learning * pess__learner_cost(learner) + acting;
}

double pess__games_prepare_seconds(const pess__games *m, int64_t dataset) {
    const double episodes = (double)m->protocol.score_episodes * EPISODE_STEPS;
    return ((double)m->datasets[dataset].transitions + episodes) * 2 * m->act_seconds;
}

pess_status pess__games_estimate(pess_experiment *e, pess_experiment_cost *out, pess_error *error) {
    pess__games *m = e->plan;
    PESS_TRY(pess__games_measure(m, error));
    pess_experiment_cost cost = {.threads = m->options->threads};
    double longest = 0;
    for (int64_t d = 0; d < m->dataset_count; d++) {
        if (!pess__shard_has(m->shard, d)) continue;
        bool left = false;
        cost.datasets++;
        for (int c = 0; c < m->curve_count; c++) {
            cost.runs++;
            if (pess__games_run_of(m, d, c)->finished) {
                cost.finished++;
                continue;
            }
            const double seconds = pess__games_run_seconds(m, d, c);
            left = true;
            cost.measured |= isnan(seconds_before(m, d, c));
            cost.samples += samples_of(m, c) * networks_of(learner_of(m, c));
            cost.seconds += seconds;
            longest = fmax(longest, seconds);
        }
        if (left) cost.seconds += pess__games_prepare_seconds(m, d);
    }
    cost.seconds = fmax(cost.seconds / (double)cost.threads, longest);
    *out = cost;
    return PESS_OK;
}
