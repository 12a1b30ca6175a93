#include "deep/play.h"

#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Episodes go in groups that step together. Episode e always plays in environment (seed, e) and explores with stream
 * (seed, "explore", e), so groups and threads do not matter. */
enum { GROUP = 48 };

static const pess_setting rows[] = {
    PESS__GAME_SETTINGS(pess_play_options),
    PESS__STEP_LIMIT_SETTING(pess_play_options),
    PESS__EPSILON_SETTING(pess_play_options),
    PESS__ARGMAX_SETTING(pess_play_options),
    {.name = "episodes",
     .kind = PESS_SETTING_COUNT,
     PESS__FIELD(pess_play_options, episodes),
     .standard = "1000",
     PESS__FROM_TO(1, 100000000),
     .argument = "N",
     .sentence = "episodes to play"},
    PESS__SEED_SETTING(pess_play_options, "of games and exploration"),
    PESS__THREADS_SETTING(pess_play_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("play", pess_play_options, rows);

PESS__SETTINGS_OF(play, table)

void pess__play_in(pess_play_options *options, const pess_env_options *env) {
    options->game = env->game;
    options->sticky = env->sticky;
    options->ramping = env->ramping;
    options->minimal_actions = env->minimal_actions;
}

pess_status pess__open_batch(const pess_env_callbacks *own, const pess_mdp *mdp, const pess_env_options *env,
                             int64_t count, pess_batch **out, pess_error *error) {
    if (own != NULL) return pess_batch_create_own(own, env, count, 1, out, error);
    if (mdp != NULL) return pess_batch_create_mdp(mdp, NULL, env, count, 1, out, error);
    return pess_batch_create(env, count, 1, out, error);
}

/* What an episode came to. */
typedef struct episode {
    double reward, discounted, weight; /* weight: γ^t of the next reward */
    double predicted;
    int64_t length, outside;
    bool cut;
} episode;

/* What an evaluation is of: the same for all its groups. */
typedef struct evaluation {
    const pess_policy *policy;
    const pess_play_options *options;
    double gamma;
    const pess_observations *data;
} evaluation;

typedef struct group {
    const evaluation *of;
    int64_t count, actions, bytes;
    pess_batch *batch;
    void *worker;
    uint8_t *bits;
    double *probabilities; /* [count*actions] */
    double values[GROUP], rewards[GROUP];
    int64_t states[GROUP], alive[GROUP];
    uint8_t ends[GROUP];
    int32_t actions_taken[GROUP];
    pess__rng rng[GROUP];
    episode *episodes; /* [count] out */
} group;

pess_status pess__play_check(const pess_policy *policy, const pess_batch *batch, bool mdp, pess_error *error) {
    const int64_t bytes = pess_batch_bytes(batch), actions = pess_batch_actions(batch);
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    if (policy->states > 0)
        return mdp ? pess__policy_check_table(policy, pess_batch_bits(batch), actions, "the MDP", error)
                   : pess__fail(error, PESS_INPUT, "the policy is a table over states; a game shows observations");
    if (info.bytes == bytes && info.shape.kind == pess_batch_kind(batch) && policy->actions == actions) return PESS_OK;
    return pess__fail(
        error, PESS_INPUT,
        "the policy reads %lld bytes of %s and has %lld actions; the environment has %lld bytes of %s and "
        "%lld actions",
        (long long)info.bytes, pess_observation_kind_name(info.shape.kind), (long long)policy->actions,
        (long long)bytes, pess_observation_kind_name(pess_batch_kind(batch)), (long long)actions);
}

static pess_status open_group(group *g, int64_t first, pess_error *error) {
    static const char what[] = "the observations of an evaluation";
    const pess_play_options *options = g->of->options;
    const pess_policy *policy = g->of->policy;
    const pess_env_options env = PESS__ENVIRONMENTS(options, (uint64_t)first);
    PESS_TRY(pess__open_batch(options->own, options->mdp, &env, g->count, &g->batch, error));
    g->actions = pess_batch_actions(g->batch);
    g->bytes = pess_batch_bytes(g->batch);
    PESS_TRY(pess__allocate(&g->bits, g->count * g->bytes, 1, what, error));
    PESS_TRY(pess__allocate(&g->probabilities, g->count * g->actions, sizeof *g->probabilities, what, error));
    for (int64_t i = 0; i < g->count; i++)
        g->rng[i] = pess__rng_stream(options->seed, "explore", (uint64_t)(first + i));
    if (policy == NULL) return PESS_OK;
    PESS_TRY(pess__play_check(policy, g->batch, options->mdp != NULL, error));
    return policy->kind->open(policy, GROUP, &g->worker, error);
}

static void close_group(group *g) {
    pess_batch_destroy(g->batch);
    if (g->of->policy != NULL) g->of->policy->kind->close(g->worker);
    free(g->probabilities);
    free(g->bits);
}

/* The action of place i of those still playing. */
static int32_t choose(group *g, int64_t i) {
    const pess_policy *policy = g->of->policy;
    const pess_play_options *options = g->of->options;
    pess__rng *rng = &g->rng[g->alive[i]];
    if (policy == NULL || (options->epsilon > 0 && pess__rng_uniform(rng) < options->epsilon))
        return (int32_t)pess__rng_below(rng, (uint64_t)g->actions);
    const double *own = g->probabilities + i * g->actions;
    if (options->argmax || !policy->samples) return pess__policy_most_probable(own, g->actions);
    return pess__policy_draw(own, g->actions, pess__rng_uniform(rng));
}

/* Actions of those still playing; the others stand still. */
static void act(group *g, int64_t playing) {
    const evaluation *of = g->of;
    memset(g->actions_taken, 0, sizeof g->actions_taken);
    const pess__seen seen = {g->bits, g->bytes, of->options->mdp != NULL ? g->states : NULL, g->alive};
    for (int64_t i = 0; i < playing; i++) g->values[i] = NAN;
    if (of->policy != NULL) of->policy->kind->apply(of->policy, g->worker, &seen, playing, g->probabilities, g->values);
    for (int64_t i = 0; i < playing; i++) {
        episode *e = &g->episodes[g->alive[i]];
        if (e->length == 0) e->predicted = g->values[i];
        if (of->data != NULL) e->outside += pess__observations_find(of->data, g->bits + g->alive[i] * g->bytes) < 0;
        g->actions_taken[g->alive[i]] = choose(g, i);
    }
}

static pess_status play_group(group *g, pess_error *error) {
    const pess_batch_out out = {.rewards = g->rewards, .ends = g->ends, .bits = g->bits, .states = g->states};
    pess_batch_observe(g->batch, &out);
    int64_t playing = g->count;
    for (int64_t i = 0; i < g->count; i++) {
        g->alive[i] = i;
        g->episodes[i].weight = 1;
    }
    while (playing > 0) {
        act(g, playing);
        PESS_TRY(pess_batch_step(g->batch, g->actions_taken, &out, error));
        int64_t still = 0;
        for (int64_t i = 0; i < playing; i++) {
            const int64_t who = g->alive[i];
            episode *e = &g->episodes[who];
            e->reward += g->rewards[who];
            e->discounted += e->weight * g->rewards[who];
            e->weight *= g->of->gamma;
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

static pess_status play_one_group(const evaluation *of, int64_t first, episode *episodes, pess_error *error) {
    const int64_t left = of->options->episodes - first;
    group g = {.of = of, .count = left < GROUP ? left : GROUP, .episodes = episodes + first};
    pess_status status = open_group(&g, first, error);
    if (status == PESS_OK) status = play_group(&g, error);
    close_group(&g);
    return status;
}

/* Sums in the order of the episodes. */
static void summarise(int64_t count, const episode *episodes, pess_play_result *out, pess__play_measures *measures) {
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
    if (measures == NULL) return;
    measures->predicted = predicted / n;
    measures->obtained = obtained / n;
    measures->outside = measures->data != NULL ? outside / length : NAN;
}

/* Groups [begin, end), at most one per worker. The first failure, in their order, counts. */
static pess_status play_groups(const evaluation *of, int64_t begin, int64_t end, tally *t, pess_error *error) {
#pragma omp parallel for num_threads((int)(end - begin)) schedule(static, 1) if (end - begin > 1)
    for (int64_t i = begin; i < end; i++) {
        pess_error *failure = &t->failures[i - begin];
        failure->status = play_one_group(of, i * GROUP, t->episodes, failure);
    }
    for (int64_t i = 0; i < end - begin; i++)
        if (t->failures[i].status != PESS_OK)
            return pess__fail(error, t->failures[i].status, "%s", t->failures[i].message);
    return PESS_OK;
}

static pess_status play_all(const evaluation *of, int workers, tally *t, pess_error *error) {
    const pess_play_options *options = of->options;
    const int64_t groups = (options->episodes + GROUP - 1) / GROUP;
    double reported = pess__clock();
    for (int64_t begin = 0; begin < groups; begin += workers) {
        const int64_t end = begin + workers < groups ? begin + workers : groups;
        PESS_TRY(play_groups(of, begin, end, t, error));
        if (options->progress.report == NULL || pess__clock() - reported < 0.1) continue;
        reported = pess__clock();
        const int64_t done = end * GROUP < options->episodes ? end * GROUP : options->episodes;
        if (!options->progress.report(options->progress.user, "playing", (double)done, (double)options->episodes,
                                      "episodes"))
            return pess__fail(error, PESS_INTERRUPTED, "interrupted after %lld episodes", (long long)done);
    }
    return PESS_OK;
}

pess_status pess__play(const pess_policy *policy, const pess_play_options *options, pess__play_measures *measures,
                       pess_play_result *out, pess_error *error) {
    pess_play_options o;
    PESS_TRY(pess__settle(&table, options, &o, error));
    const evaluation of = {.policy = policy,
                           .options = &o,
                           .gamma = measures != NULL ? measures->gamma : 1,
                           .data = measures != NULL ? measures->data : NULL};
    const int workers = pess__threads(o.threads);
    tally t = {0};
    *out = (pess_play_result){0};
    pess_status status = pess__allocate(&t.episodes, o.episodes, sizeof *t.episodes, "the episodes", error);
    if (status == PESS_OK) status = pess__allocate(&t.failures, workers, sizeof *t.failures, "messages", error);
    if (status == PESS_OK) status = play_all(&of, workers, &t, error);
    if (status == PESS_OK) summarise(o.episodes, t.episodes, out, measures);
    free(t.episodes);
    free(t.failures);
    return status;
}

pess_status pess_play(const pess_policy *policy, const pess_play_options *options, pess_play_result *out,
                      pess_error *error) {
    pess_play_options o;
    PESS_TRY(pess__settle(&table, options, &o, error));
    const pess_env_info *game = o.mdp == NULL && o.own == NULL ? pess_env_find(o.game) : NULL;
    if (policy != NULL && game != NULL) PESS_TRY(pess_policy_check_game(policy, "the policy", game, o.argmax, error));
    return pess__play(policy, &o, NULL, out, error);
}
