#include "deep/play.h"

#include "core/memory.h"
#include "core/threads.h"
#include "nn/netfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Episodes go in groups that step together. Episode e always plays in environment (seed, e) and explores with stream
 * (seed, "explore", e), so groups and threads do not matter. */
enum { GROUP = PESS__PLAY_GROUP, STEP_LIMIT = 10000 };

pess_play_options pess_play_options_defaults(void) {
    return (pess_play_options){.env = pess_env_options_defaults(), .episodes = 1000};
}

/* What an episode came to. */
typedef struct episode {
    double reward, discounted, weight; /* weight: γ^t of the next reward */
    double predicted;
    int64_t length, outside;
    bool cut;
} episode;

typedef struct group {
    const pess__player *player;
    double gamma;
    int64_t count, actions, bytes;
    pess_batch *batch;
    void *room;
    uint8_t *bits;
    double rewards[GROUP];
    uint8_t ends[GROUP];
    int32_t actions_taken[GROUP];
    int64_t alive[GROUP];
    pess__rng rng[GROUP];
    pess__choice choice[GROUP];
    episode *episodes; /* [count] out */
} group;

static pess_status open_group(group *g, const pess_mdp *mdp, const pess_play_options *options, int64_t first,
                              pess_error *error) {
    pess_env_options env = options->env;
    env.seed = options->seed;
    env.stream = (uint64_t)first;
    env.generator = PESS_GENERATOR_FAST;
    if (env.step_limit == 0) env.step_limit = STEP_LIMIT;
    if (mdp != NULL)
        PESS_TRY(pess_batch_create_mdp(mdp, NULL, &env, g->count, 1, &g->batch, error));
    else
        PESS_TRY(pess_batch_create(&env, g->count, 1, &g->batch, error));
    g->actions = pess_batch_actions(g->batch);
    g->bytes = pess_batch_bytes(g->batch);
    if (g->player->bytes != 0 && (g->player->bytes != g->bytes || g->player->actions != g->actions))
        return pess__fail(error, PESS_INPUT,
                          "the network reads %lld bytes and has %lld outputs; the environment has %lld bytes and %lld "
                          "actions",
                          (long long)g->player->bytes, (long long)g->player->actions, (long long)g->bytes,
                          (long long)g->actions);
    PESS_TRY(pess__allocate(&g->bits, g->count * g->bytes, 1, "the observations of an evaluation", error));
    for (int64_t i = 0; i < g->count; i++)
        g->rng[i] = pess__rng_stream(options->seed, "explore", (uint64_t)(first + i));
    return g->player->open(g->player->self, &g->room, error);
}

static void close_group(group *g) {
    pess_batch_destroy(g->batch);
    g->player->close(g->room);
    free(g->bits);
}

/* Actions of those still playing; the others stand still. */
static void choose(group *g, int64_t playing) {
    memset(g->actions_taken, 0, sizeof g->actions_taken);
    const pess__bits_rows rows = {g->bits, g->bytes, g->alive};
    g->player->choose(g->player->self, g->room, &rows, playing, g->actions, g->rng, g->choice);
    for (int64_t i = 0; i < playing; i++) {
        episode *e = &g->episodes[g->alive[i]];
        if (e->length == 0) e->predicted = g->choice[i].value;
        e->outside += g->choice[i].outside;
        g->actions_taken[g->alive[i]] = g->choice[i].action;
    }
}

static pess_status play_group(group *g, pess_error *error) {
    const pess_batch_out out = {.rewards = g->rewards, .ends = g->ends, .bits = g->bits};
    pess_batch_observe(g->batch, &out);
    int64_t playing = g->count;
    for (int64_t i = 0; i < g->count; i++) {
        g->alive[i] = i;
        g->episodes[i].weight = 1;
    }
    while (playing > 0) {
        choose(g, playing);
        PESS_TRY(pess_batch_step(g->batch, g->actions_taken, &out, error));
        int64_t still = 0;
        for (int64_t i = 0; i < playing; i++) {
            const int64_t who = g->alive[i];
            episode *e = &g->episodes[who];
            e->reward += g->rewards[who];
            e->discounted += e->weight * g->rewards[who];
            e->weight *= g->gamma;
            e->length++;
            if (g->ends[who] == PESS_END_NONE) g->alive[still++] = who;
            e->cut = g->ends[who] == PESS_END_CUTOFF;
        }
        playing = still;
    }
    return PESS_OK;
}

/* One entry per episode, and a message per worker. */
typedef struct tally {
    episode *episodes;
    pess_error *failures;
} tally;

static pess_status play_one_group(const pess__player *player, const pess_mdp *mdp, const pess_play_options *options,
                                  double gamma, int64_t first, episode *episodes, pess_error *error) {
    const int64_t left = options->episodes - first;
    group g = {.player = player, .gamma = gamma, .count = left < GROUP ? left : GROUP, .episodes = episodes + first};
    pess_status status = open_group(&g, mdp, options, first, error);
    if (status == PESS_OK) status = play_group(&g, error);
    close_group(&g);
    return status;
}

/* Sums in the order of the episodes. */
static void summarise(int64_t count, const episode *episodes, pess_play_result *out, pess__play_thoughts *thoughts) {
    const double n = (double)count;
    double sum = 0, squares = 0, length = 0, outside = 0, predicted = 0, obtained = 0;
    out->least_return = out->most_return = episodes[0].reward;
    for (int64_t i = 0; i < count; i++) {
        const episode *e = &episodes[i];
        sum += e->reward;
        length += (double)e->length;
        outside += (double)e->outside;
        predicted += e->predicted;
        obtained += e->discounted;
        out->cutoffs += e->cut;
        out->least_return = fmin(out->least_return, e->reward);
        out->most_return = fmax(out->most_return, e->reward);
    }
    out->mean_return = sum / n;
    for (int64_t i = 0; i < count; i++) {
        const double d = episodes[i].reward - out->mean_return;
        squares += d * d;
    }
    out->ci95 = count > 1 ? 1.959963984540054 * sqrt(squares / (n - 1) / n) : 0;
    out->mean_length = length / n;
    out->episodes = count;
    if (thoughts != NULL) *thoughts = (pess__play_thoughts){predicted / n, obtained / n, outside / length};
}

/* Groups [begin, end), at most one per worker. The first failure, in their order, counts. */
static pess_status play_groups(const pess__player *player, const pess_mdp *mdp, const pess_play_options *options,
                               double gamma, int64_t begin, int64_t end, tally *t, pess_error *error) {
#pragma omp parallel for num_threads((int)(end - begin)) schedule(static, 1)
    for (int64_t i = begin; i < end; i++) {
        pess_error *failure = &t->failures[i - begin];
        failure->status = play_one_group(player, mdp, options, gamma, i * GROUP, t->episodes, failure);
    }
    for (int64_t i = 0; i < end - begin; i++)
        if (t->failures[i].status != PESS_OK)
            return pess__fail(error, t->failures[i].status, "%s", t->failures[i].message);
    return PESS_OK;
}

static pess_status play_all(const pess__player *player, const pess_mdp *mdp, const pess_play_options *options,
                            double gamma, int workers, tally *t, pess_error *error) {
    const int64_t groups = (options->episodes + GROUP - 1) / GROUP;
    double reported = pess__clock();
    for (int64_t begin = 0; begin < groups; begin += workers) {
        const int64_t end = begin + workers < groups ? begin + workers : groups;
        PESS_TRY(play_groups(player, mdp, options, gamma, begin, end, t, error));
        if (options->progress.report == NULL || pess__clock() - reported < 0.1) continue;
        reported = pess__clock();
        const int64_t done = end * GROUP < options->episodes ? end * GROUP : options->episodes;
        if (!options->progress.report(options->progress.user, "playing", (double)done, (double)options->episodes,
                                      "episodes"))
            return pess__fail(error, PESS_INTERRUPTED, "interrupted after %lld episodes", (long long)done);
    }
    return PESS_OK;
}

pess_status pess__play_with(const pess__player *player, const pess_mdp *mdp, const pess_play_options *options,
                            double gamma, pess_play_result *out, pess__play_thoughts *thoughts, pess_error *error) {
    if (options->episodes < 1 || options->episodes > 100000000)
        return pess__fail(error, PESS_ARGUMENT, "%lld episodes; 1 to 100000000 are possible",
                          (long long)options->episodes);
    const int workers = pess__threads(options->threads);
    tally t = {0};
    *out = (pess_play_result){0};
    pess_status status = pess__allocate(&t.episodes, options->episodes, sizeof *t.episodes, "the episodes", error);
    if (status == PESS_OK) status = pess__allocate(&t.failures, workers, sizeof *t.failures, "messages", error);
    if (status == PESS_OK) status = play_all(player, mdp, options, gamma, workers, &t, error);
    if (status == PESS_OK) summarise(options->episodes, t.episodes, out, thoughts);
    free(t.episodes);
    free(t.failures);
    return status;
}

/* ---- a network's argmax or softmax, with some exploration */

typedef struct greedy {
    const pess__net *net;
    double epsilon;
    bool sample;
} greedy;

int32_t pess__draw_softmax(const pess__real *outputs, int64_t actions, double uniform) {
    double most = (double)outputs[0], sum = 0;
    for (int64_t a = 1; a < actions; a++) most = fmax(most, (double)outputs[a]);
    for (int64_t a = 0; a < actions; a++) sum += exp((double)outputs[a] - most);
    double left = uniform * sum;
    int32_t last = 0; /* possible one: rounding may leave a little beyond it */
    for (int32_t a = 0; a < actions; a++) {
        const double share = exp((double)outputs[a] - most);
        if (!(share > 0)) continue;
        last = a;
        if (left < share) return a;
        left -= share;
    }
    return last;
}

int64_t pess_net_action(const float *outputs, int64_t actions, bool sample, pess_random *random) {
    if (!sample) return pess__greedy(outputs, actions);
    return pess__draw_softmax(outputs, actions, pess_random_uniform(random));
}

static pess_status open_greedy(const void *self, void **room, pess_error *error) {
    const greedy *player = self;
    pess__pass *pass = NULL;
    if (player->net != NULL) PESS_TRY(pess__pass_create(player->net, GROUP, false, &pass, error));
    *room = pass;
    return PESS_OK;
}

static void close_greedy(void *room) { pess__pass_destroy(room); }

static void choose_greedy(const void *self, void *room, const pess__bits_rows *rows, int64_t count, int64_t actions,
                          pess__rng *rng, pess__choice *out) {
    const greedy *player = self;
    const pess__net *net = player->net;
    pess__pass *pass = room;
    const pess__real *q = NULL;
    if (net != NULL) {
        pess__pass_forward(net, pass, rows, 0, count);
        q = pass->activation[net->spec.layer_count - 1];
    }
    for (int64_t i = 0; i < count; i++) {
        pess__rng *own = &rng[rows->index[i]];
        out[i] = (pess__choice){.value = NAN};
        if (q == NULL || (player->epsilon > 0 && pess__rng_uniform(own) < player->epsilon))
            out[i].action = (int32_t)pess__rng_below(own, (uint64_t)actions);
        else if (player->sample)
            out[i].action = pess__draw_softmax(q + i * net->padded_outputs, actions, pess__rng_uniform(own));
        else
            out[i].action = pess__greedy(q + i * net->padded_outputs, actions);
    }
}

pess_status pess__play(const pess__net *net, const pess_mdp *mdp, const pess_play_options *options,
                       pess_play_result *out, pess_error *error) {
    if (!(options->epsilon >= 0 && options->epsilon <= 1))
        return pess__fail(error, PESS_ARGUMENT, "epsilon is %g; 0 to 1 is possible", options->epsilon);
    const greedy self = {net, options->epsilon, options->sample};
    pess__player player = {&self, 0, 0, open_greedy, close_greedy, choose_greedy};
    if (net != NULL) {
        player.bytes = net->bytes;
        player.actions = net->outputs;
    }
    return pess__play_with(&player, mdp, options, 1, out, NULL, error);
}

pess_status pess_net_check_game(const pess_net *net, const char *name, const pess_env_info *game, pess_error *error) {
    char trained[64], acts[64];
    pess_net_info info;
    pess_net_get_info(net, &info);
    if (pess_net_note(net, "acts", acts, sizeof acts) && strcmp(acts, "uncertainty") == 0)
        return pess__fail(error, PESS_INPUT, "%s: gives the uncertainties of a training; a policy is needed", name);
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

pess_status pess_net_samples(const pess_net *net, const char *name, bool *sample, pess_error *error) {
    char acts[64] = "argmax";
    (void)pess_net_note(net, "acts", acts, sizeof acts);
    if (strcmp(acts, "softmax") != 0 && strcmp(acts, "argmax") != 0)
        return pess__fail(error, PESS_INPUT,
                          "%s: acts by the rule of '%s', which needs more than this network; expected acts=softmax or "
                          "acts=argmax in its notes",
                          name, acts);
    *sample = strcmp(acts, "softmax") == 0;
    return PESS_OK;
}

pess_status pess_play(const pess_net *net, const pess_play_options *options, pess_play_result *out, pess_error *error) {
    return pess__play(net == NULL ? NULL : net->net, NULL, options, out, error);
}
