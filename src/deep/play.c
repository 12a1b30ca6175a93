#include "deep/play.h"

#include "core/memory.h"
#include "core/rng.h"
#include "core/threads.h"
#include "nn/netfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Episodes go in groups that step together. Episode e always plays in environment (seed, e) and explores with stream
 * (seed, "explore", e), so groups and threads do not matter. */
enum { GROUP = 48, STEP_LIMIT = 10000 };

pess_play_options pess_play_options_defaults(void) {
    return (pess_play_options){.env = pess_env_options_defaults(), .episodes = 1000};
}

typedef struct group {
    const pess__net *net;
    const pess_play_options *options;
    int64_t count, actions, bytes;
    pess_batch *batch;
    pess__pass *pass; /* NULL without a net */
    uint8_t *bits;
    double rewards[GROUP];
    uint8_t ends[GROUP];
    int32_t choice[GROUP];
    int64_t alive[GROUP];
    pess__rng rng[GROUP];
    double *returns;  /* [count] out */
    int64_t *lengths; /* [count] out */
    int64_t cutoffs;
} group;

static pess_status open_group(group *g, const pess_mdp *mdp, int64_t first, pess_error *error) {
    pess_env_options env = g->options->env;
    env.seed = g->options->seed;
    env.stream = (uint64_t)first;
    env.generator = PESS_GENERATOR_FAST;
    if (env.step_limit == 0) env.step_limit = STEP_LIMIT;
    if (mdp != NULL)
        PESS_TRY(pess_batch_create_mdp(mdp, NULL, &env, g->count, 1, &g->batch, error));
    else
        PESS_TRY(pess_batch_create(&env, g->count, 1, &g->batch, error));
    g->actions = pess_batch_actions(g->batch);
    g->bytes = pess_batch_bytes(g->batch);
    if (g->net != NULL && (g->net->bytes != g->bytes || g->net->outputs != g->actions))
        return pess__fail(error, PESS_INPUT,
                          "the network reads %lld bytes and has %lld outputs; the environment has %lld bytes and %lld "
                          "actions",
                          (long long)g->net->bytes, (long long)g->net->outputs, (long long)g->bytes,
                          (long long)g->actions);
    PESS_TRY(pess__allocate(&g->bits, g->count * g->bytes, 1, "the observations of an evaluation", error));
    if (g->net != NULL) PESS_TRY(pess__pass_create(g->net, GROUP, false, &g->pass, error));
    for (int64_t i = 0; i < g->count; i++)
        g->rng[i] = pess__rng_stream(g->options->seed, "explore", (uint64_t)(first + i));
    return PESS_OK;
}

static void close_group(group *g) {
    pess_batch_destroy(g->batch);
    pess__pass_destroy(g->pass);
    free(g->bits);
}

/* Actions of those still playing; the others stand still. */
static void choose(group *g, int64_t playing) {
    memset(g->choice, 0, sizeof g->choice);
    const pess__real *q = NULL;
    if (g->net != NULL) {
        pess__pass_forward(g->net, g->pass, &(pess__bits_rows){g->bits, g->bytes, g->alive}, 0, playing);
        q = g->pass->activation[g->net->spec.layer_count - 1];
    }
    const double epsilon = g->options->epsilon;
    for (int64_t i = 0; i < playing; i++) {
        const int64_t who = g->alive[i];
        if (q == NULL || (epsilon > 0 && pess__rng_uniform(&g->rng[who]) < epsilon))
            g->choice[who] = (int32_t)pess__rng_below(&g->rng[who], (uint64_t)g->actions);
        else
            g->choice[who] = pess__greedy(q + i * g->net->padded_outputs, g->actions);
    }
}

static pess_status play_group(group *g, pess_error *error) {
    const pess_batch_out out = {.rewards = g->rewards, .ends = g->ends, .bits = g->bits};
    pess_batch_observe(g->batch, &out);
    int64_t playing = g->count;
    for (int64_t i = 0; i < g->count; i++) g->alive[i] = i;
    while (playing > 0) {
        choose(g, playing);
        PESS_TRY(pess_batch_step(g->batch, g->choice, &out, error));
        int64_t still = 0;
        for (int64_t i = 0; i < playing; i++) {
            const int64_t who = g->alive[i];
            g->returns[who] += g->rewards[who];
            g->lengths[who]++;
            if (g->ends[who] == PESS_END_NONE) g->alive[still++] = who;
            if (g->ends[who] == PESS_END_CUTOFF) g->cutoffs++;
        }
        playing = still;
    }
    return PESS_OK;
}

/* One entry per episode; a message and a number of cut-off episodes per worker. */
typedef struct tally {
    double *returns;
    int64_t *lengths, *cutoffs;
    pess_error *failures;
} tally;

static pess_status play_one_group(const pess__net *net, const pess_mdp *mdp, const pess_play_options *options,
                                  int64_t first, double *returns, int64_t *lengths, int64_t *cutoffs,
                                  pess_error *error) {
    const int64_t left = options->episodes - first;
    group g = {.net = net, .options = options, .count = left < GROUP ? left : GROUP};
    g.returns = returns + first;
    g.lengths = lengths + first;
    pess_status status = open_group(&g, mdp, first, error);
    if (status == PESS_OK) status = play_group(&g, error);
    *cutoffs = g.cutoffs;
    close_group(&g);
    return status;
}

/* Sums in the order of the episodes. */
static void summarise(int64_t episodes, const double *returns, const int64_t *lengths, pess_play_result *out) {
    const double n = (double)episodes;
    double sum = 0, squares = 0, length = 0;
    out->least_return = out->most_return = returns[0];
    for (int64_t i = 0; i < episodes; i++) {
        sum += returns[i];
        length += (double)lengths[i];
        out->least_return = fmin(out->least_return, returns[i]);
        out->most_return = fmax(out->most_return, returns[i]);
    }
    out->mean_return = sum / n;
    for (int64_t i = 0; i < episodes; i++) {
        const double d = returns[i] - out->mean_return;
        squares += d * d;
    }
    out->ci95 = episodes > 1 ? 1.959963984540054 * sqrt(squares / (n - 1) / n) : 0;
    out->mean_length = length / n;
    out->episodes = episodes;
}

/* Groups [begin, end), at most one per worker. The first failure, in their order, counts. */
static pess_status play_groups(const pess__net *net, const pess_mdp *mdp, const pess_play_options *options,
                               int64_t begin, int64_t end, tally *t, int64_t *cutoffs, pess_error *error) {
#pragma omp parallel for num_threads((int)(end - begin)) schedule(static, 1)
    for (int64_t i = begin; i < end; i++) {
        const int64_t worker = i - begin;
        pess_error *failure = &t->failures[worker];
        failure->status =
            play_one_group(net, mdp, options, i * GROUP, t->returns, t->lengths, &t->cutoffs[worker], failure);
    }
    for (int64_t worker = 0; worker < end - begin; worker++) {
        *cutoffs += t->cutoffs[worker];
        if (t->failures[worker].status != PESS_OK)
            return pess__fail(error, t->failures[worker].status, "%s", t->failures[worker].message);
    }
    return PESS_OK;
}

static pess_status play_all(const pess__net *net, const pess_mdp *mdp, const pess_play_options *options, int workers,
                            tally *t, pess_play_result *out, pess_error *error) {
    const int64_t groups = (options->episodes + GROUP - 1) / GROUP;
    double reported = pess__clock();
    for (int64_t begin = 0; begin < groups; begin += workers) {
        const int64_t end = begin + workers < groups ? begin + workers : groups;
        PESS_TRY(play_groups(net, mdp, options, begin, end, t, &out->cutoffs, error));
        if (options->progress.report == NULL || pess__clock() - reported < 0.1) continue;
        reported = pess__clock();
        const int64_t done = end * GROUP < options->episodes ? end * GROUP : options->episodes;
        if (!options->progress.report(options->progress.user, "playing", (double)done, (double)options->episodes,
                                      "episodes"))
            return pess__fail(error, PESS_INTERRUPTED, "interrupted after %lld episodes", (long long)done);
    }
    return PESS_OK;
}

pess_status pess__play(const pess__net *net, const pess_mdp *mdp, const pess_play_options *options,
                       pess_play_result *out, pess_error *error) {
    if (options->episodes < 1 || options->episodes > 100000000)
        return pess__fail(error, PESS_ARGUMENT, "%lld episodes; 1 to 100000000 are possible",
                          (long long)options->episodes);
    if (!(options->epsilon >= 0 && options->epsilon <= 1))
        return pess__fail(error, PESS_ARGUMENT, "epsilon is %g; 0 to 1 is possible", options->epsilon);
    const int workers = pess__threads(options->threads);
    tally t = {0};
    *out = (pess_play_result){0};
    pess_status status = pess__allocate(&t.returns, options->episodes, sizeof *t.returns, "returns", error);
    if (status == PESS_OK) status = pess__allocate(&t.lengths, options->episodes, sizeof *t.lengths, "lengths", error);
    if (status == PESS_OK) status = pess__allocate(&t.cutoffs, workers, sizeof *t.cutoffs, "cut-off episodes", error);
    if (status == PESS_OK) status = pess__allocate(&t.failures, workers, sizeof *t.failures, "messages", error);
    if (status == PESS_OK) status = play_all(net, mdp, options, workers, &t, out, error);
    if (status == PESS_OK) summarise(options->episodes, t.returns, t.lengths, out);
    free(t.returns);
    free(t.lengths);
    free(t.cutoffs);
    free(t.failures);
    return status;
}

pess_status pess_net_check_game(const pess_net *net, const char *name, const pess_env_info *game, pess_error *error) {
    char trained[64];
    pess_net_info info;
    pess_net_get_info(net, &info);
    if (pess_net_note(net, "game", trained, sizeof trained) && strcmp(trained, game->name) != 0)
        return pess__fail(error, PESS_INPUT, "%s: a policy for %s; one for %s is needed", name, trained, game->name);
    if (info.rows != game->rows || info.cols != game->cols || info.channels != game->channels)
        return pess__fail(error, PESS_INPUT, "%s: reads a board of %d × %d × %d; %s has %d × %d × %d", name, info.rows,
                          info.cols, info.channels, game->name, game->rows, game->cols, game->channels);
    if (info.outputs != PESS_ENV_ACTIONS)
        return pess__fail(error, PESS_INPUT, "%s: has %d outputs; %d actions are needed", name, info.outputs,
                          PESS_ENV_ACTIONS);
    return PESS_OK;
}

pess_status pess_play(const pess_net *net, const pess_play_options *options, pess_play_result *out, pess_error *error) {
    return pess__play(net == NULL ? NULL : net->net, NULL, options, out, error);
}
