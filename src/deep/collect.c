/* A dataset by acting: environments step together, each fills its own stretch of the log. Environment i plays stream
 * STREAMS + i of the seed and explores with stream (seed, "collect", i), so its transitions depend on the seed and on i
 * alone, and share no luck with the episodes that pess_play plays with the same seed. */
#include "core/memory.h"
#include "core/rng.h"
#include "core/text.h"
#include "core/threads.h"
#include "data/observations.h"
#include "deep/game_notes.h"
#include "deep/play.h"
#include "nn/netfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 96 /* samples that go forward together */, STEP_LIMIT = 10000 };
#define STREAMS ((uint64_t)1 << 32)

pess_collect_options pess_collect_options_defaults(void) {
    return (pess_collect_options){.env = pess_env_options_defaults(), .transitions = 500000, .envs = 32};
}

typedef struct collection {
    const pess_collect_options *options;
    const pess__net *net; /* NULL: nobody is asked */
    int64_t envs, actions, bytes;
    pess_batch *batch;
    pess__pass *pass;
    pess_observations *data;
    int64_t steps; /* all environments have taken */
    uint8_t *bits; /* [envs*bytes] where they are now */
    double *rewards;
    uint8_t *ends;
    int32_t *choice, *number; /* number: of where they are now */
    int64_t *asks;            /* environments whose action the network decides */
    pess__rng *rng;
} collection;

/* ---- setting up */

static pess_status check_options(const pess_collect_options *o, pess_error *error) {
    if (o->transitions < 1 || o->transitions > PESS__DATA_MAX)
        return pess__fail(error, PESS_ARGUMENT, "transitions is %lld; 1 to %lld is possible", (long long)o->transitions,
                          (long long)PESS__DATA_MAX);
    if (o->envs < 1 || o->envs > 100000)
        return pess__fail(error, PESS_ARGUMENT, "envs is %lld; 1 to 100000 is possible", (long long)o->envs);
    if (!(o->epsilon >= 0 && o->epsilon <= 1))
        return pess__fail(error, PESS_ARGUMENT, "epsilon is %g; 0 to 1 is possible", o->epsilon);
    if (o->mdp != NULL || o->net == NULL) return PESS_OK;
    const pess_env_info *info = o->env.game == NULL ? NULL : pess_env_find(o->env.game);
    return info == NULL ? PESS_OK : pess_net_check_game(o->net, "the policy", info, error);
}

static pess_env_options environment(const pess_collect_options *o) {
    pess_env_options env = o->env;
    env.seed = o->seed;
    env.stream = STREAMS;
    env.generator = PESS_GENERATOR_FAST;
    if (env.step_limit == 0) env.step_limit = STEP_LIMIT;
    return env;
}

static pess_status open_environments(collection *c, pess_error *error) {
    const pess_collect_options *o = c->options;
    const pess_env_options env = environment(o);
    if (o->mdp != NULL)
        PESS_TRY(pess_batch_create_mdp(o->mdp, NULL, &env, c->envs, 1, &c->batch, error));
    else
        PESS_TRY(pess_batch_create(&env, c->envs, 1, &c->batch, error));
    c->actions = pess_batch_actions(c->batch);
    c->bytes = pess_batch_bytes(c->batch);
    const pess__net *net = o->net != NULL ? o->net->net : NULL;
    if (net != NULL && (net->bytes != c->bytes || net->outputs != c->actions))
        return pess__fail(error, PESS_INPUT,
                          "the network reads %lld bytes and has %lld outputs; the environment has %lld bytes and %lld "
                          "actions",
                          (long long)net->bytes, (long long)net->outputs, (long long)c->bytes, (long long)c->actions);
    if (net == NULL || o->epsilon >= 1) return PESS_OK;
    c->net = net;
    return pess__pass_create(net, CHUNK, false, &c->pass, error);
}

/* Lines "key=value" that say how the data came about. */
static void describe(const collection *c, char *notes, size_t size) {
    const pess_collect_options *o = c->options;
    const pess_env_options env = environment(o);
    char epsilon[PESS__NUMBER_SIZE], policy[16] = "random", game[PESS__GAME_NOTES_SIZE] = "";
    (void)pess__format_double(o->net != NULL ? o->epsilon : 1, epsilon);
    if (o->net != NULL) (void)snprintf(policy, sizeof policy, "%08x", o->net->checksum);
    if (o->mdp == NULL) pess__game_notes(&env, true, game);
    (void)snprintf(notes, size,
                   "game=%s\npolicy=%s\n%sepsilon=%s\nseed=%llu\ntransitions=%lld\nenvs=%lld\n%sstep_limit=%lld\n"
                   "%s%s%sversion=%s\n",
                   o->mdp != NULL ? "mdp" : env.game, policy, o->net != NULL && o->sample ? "acts=softmax\n" : "",
                   epsilon, (unsigned long long)o->seed, (long long)o->transitions, (long long)o->envs, game,
                   (long long)env.step_limit, c->net != NULL ? "kernels=" : "",
                   c->net != NULL ? c->net->kernels->name : "", c->net != NULL ? "\n" : "", pess_version());
}

static pess_status open_buffers(collection *c, pess_error *error) {
    static const char what[] = "the buffers of collecting";
    PESS_TRY(pess__allocate(&c->bits, c->envs * c->bytes, 1, what, error));
    PESS_TRY(pess__allocate(&c->rewards, c->envs, sizeof *c->rewards, what, error));
    PESS_TRY(pess__allocate(&c->ends, c->envs, 1, what, error));
    PESS_TRY(pess__allocate(&c->choice, c->envs, sizeof *c->choice, what, error));
    PESS_TRY(pess__allocate(&c->number, c->envs, sizeof *c->number, what, error));
    PESS_TRY(pess__allocate(&c->asks, c->envs, sizeof *c->asks, what, error));
    PESS_TRY(pess__allocate(&c->rng, c->envs, sizeof *c->rng, what, error));
    for (int64_t i = 0; i < c->envs; i++) c->rng[i] = pess__rng_stream(c->options->seed, "collect", (uint64_t)i);
    return PESS_OK;
}

static pess_status open_collection(collection *c, pess_error *error) {
    const pess_collect_options *o = c->options;
    char notes[PESS__DATA_NOTES_SIZE];
    PESS_TRY(open_environments(c, error));
    describe(c, notes, sizeof notes);
    const pess_env_info *info = o->mdp == NULL ? pess_env_find(o->env.game) : NULL;
    pess_observation_shape shape = pess_observation_bits(pess_batch_bits(c->batch));
    if (info != NULL) shape.rows = info->rows, shape.cols = info->cols, shape.channels = info->channels;
    PESS_TRY(
        pess_observations_create(o->mdp != NULL ? "mdp" : o->env.game, notes, &shape, c->actions, &c->data, error));
    PESS_TRY(pess__observations_reserve(c->data, o->transitions, error));
    PESS_TRY(open_buffers(c, error));
    pess_batch_observe(c->batch, &(pess_batch_out){.bits = c->bits});
    for (int64_t i = 0; i < c->envs; i++)
        PESS_TRY(pess__observations_number(c->data, c->bits + i * c->bytes, &c->number[i], error));
    return PESS_OK;
}

static void close_collection(collection *c) {
    pess_batch_destroy(c->batch);
    pess__pass_destroy(c->pass);
    void *const owned[] = {c->bits, c->rewards, c->ends, c->choice, c->number, c->asks, c->rng};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

/* Where the stretch of environment i begins in the log: equal shares, and one more for each of the first. */
static int64_t begin_of(const collection *c, int64_t i) {
    const int64_t share = c->options->transitions / c->envs, more = c->options->transitions % c->envs;
    return i * share + (i < more ? i : more);
}

/* ---- acting */

static void choose(collection *c) {
    const double epsilon = c->options->epsilon;
    int64_t asking = 0;
    for (int64_t i = 0; i < c->envs; i++)
        if (c->net == NULL || (epsilon > 0 && pess__rng_uniform(&c->rng[i]) < epsilon))
            c->choice[i] = (int32_t)pess__rng_below(&c->rng[i], (uint64_t)c->actions);
        else
            c->asks[asking++] = i;
    const pess__bits_rows rows = {c->bits, c->bytes, c->asks};
    for (int64_t first = 0; first < asking; first += CHUNK) {
        const int64_t count = asking - first < CHUNK ? asking - first : CHUNK;
        pess__pass_forward(c->net, c->pass, &rows, first, count);
        const pess__real *q = c->pass->activation[c->net->spec.layer_count - 1];
        for (int64_t i = 0; i < count; i++) {
            const int64_t who = c->asks[first + i];
            const pess__real *own = q + i * c->net->padded_outputs;
            c->choice[who] = c->options->sample ? pess__draw_softmax(own, c->actions, pess__rng_uniform(&c->rng[who]))
                                                : pess__greedy(own, c->actions);
        }
    }
}

/* Keeps the step that environment i took, as the next transition of its stretch. */
static pess_status keep(collection *c, int64_t i, int64_t at, pess_error *error) {
    uint8_t last[PESS__DATA_MAX_BITS / 8];
    const uint8_t *now = c->bits + i * c->bytes, *next = now;
    const pess_end end = (pess_end)c->ends[i];
    if (end != PESS_END_NONE && pess_batch_final_bits(c->batch, i, last)) next = last;
    const int32_t from = c->number[i];
    int32_t to;
    PESS_TRY(pess__observations_number(c->data, next, &to, error));
    PESS_TRY(pess__observations_set(c->data, at, from, c->choice[i], c->rewards[i], to, end, error));
    c->number[i] = to;
    return end == PESS_END_NONE ? PESS_OK : pess__observations_number(c->data, now, &c->number[i], error);
}

static pess_status step(collection *c, pess_error *error) {
    choose(c);
    const pess_batch_out out = {.rewards = c->rewards, .ends = c->ends, .bits = c->bits};
    PESS_TRY(pess_batch_step(c->batch, c->choice, &out, error));
    for (int64_t i = 0; i < c->envs; i++) {
        const int64_t at = begin_of(c, i) + c->steps;
        if (at < begin_of(c, i + 1)) PESS_TRY(keep(c, i, at, error));
    }
    c->steps++;
    return PESS_OK;
}

static pess_status run(collection *c, pess_error *error) {
    const pess_collect_options *o = c->options;
    double reported = pess__clock();
    while (c->steps < begin_of(c, 1)) {
        PESS_TRY(step(c, error));
        if (o->progress.report == NULL || pess__clock() - reported < 0.1) continue;
        reported = pess__clock();
        const int64_t done = c->steps * c->envs < o->transitions ? c->steps * c->envs : o->transitions;
        if (!o->progress.report(o->progress.user, "collecting", (double)done, (double)o->transitions, "transitions"))
            return pess__fail(error, PESS_INTERRUPTED, "interrupted after %lld transitions", (long long)done);
    }
    c->data->transitions = o->transitions;
    for (int64_t i = 0; i < c->envs; i++) {
        const int64_t last = begin_of(c, i + 1) - 1;
        if (c->data->end[last] == PESS_END_NONE) PESS_TRY(pess__observations_stop(c->data, last, error));
    }
    return pess__observations_order(c->data, error);
}

pess_status pess_collect(const pess_collect_options *options, pess_observations **out, pess_error *error) {
    PESS_TRY(check_options(options, error));
    collection c = {.options = options};
    c.envs = options->envs < options->transitions ? options->envs : options->transitions;
    pess_status status = open_collection(&c, error);
    if (status == PESS_OK) status = run(&c, error);
    close_collection(&c);
    if (status == PESS_OK)
        *out = c.data;
    else
        pess_observations_destroy(c.data);
    return status;
}
