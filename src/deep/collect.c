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
#include "nn/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 96 /* observations that the policy is asked about together */, UNDECIDED = -1 };
#define STREAMS ((uint64_t)1 << 32)

static const pess_setting rows[] = {
    PESS__GAME_SETTINGS(pess_collect_options),
    PESS__STEP_LIMIT_SETTING(pess_collect_options),
    PESS__EPSILON_SETTING(pess_collect_options),
    PESS__ARGMAX_SETTING(pess_collect_options),
    {.name = "transitions",
     .kind = PESS_SETTING_COUNT,
     PESS__FIELD(pess_collect_options, transitions),
     .standard = "500000",
     PESS__FROM_TO(1, PESS__DATA_MAX),
     .argument = "N",
     .sentence = "transitions to collect"},
    {.name = "envs",
     .kind = PESS_SETTING_COUNT,
     PESS__FIELD(pess_collect_options, envs),
     .standard = "32",
     PESS__FROM_TO(1, 100000),
     .argument = "N",
     .sentence = "environments that step together; their data follow one another in the file"},
    {.name = "probabilities",
     .kind = PESS_SETTING_SWITCH,
     PESS__FIELD(pess_collect_options, probabilities),
     .standard = "off",
     .sentence = "keep the probability with which each action was taken, by which scores weigh episodes; the "
                 "transitions stay the same"},
    PESS__SEED_SETTING(pess_collect_options, "of games and exploration"),
};

static const pess_setting_table table = PESS__SETTING_TABLE("collect", pess_collect_options, rows);

PESS__SETTINGS_OF(collect, table)

typedef struct collection {
    const pess_collect_options *options;
    const pess_policy *policy; /* NULL: it is never asked */
    int64_t envs, actions, bytes;
    pess_batch *batch;
    void *worker; /* of the policy */
    pess_observations *data;
    int64_t steps; /* all environments have taken */
    uint8_t *bits; /* [envs*bytes] where they are now */
    uint8_t *last; /* [bytes] the last observation of an episode */
    double *rewards;
    uint8_t *ends;
    int32_t *choice, *number; /* number: of where they are now */
    double *chance;           /* [envs] of the choice */
    int64_t *asks;            /* environments whose action the policy decides */
    int64_t *states;          /* where they are, in an MDP */
    double *probabilities;    /* [CHUNK*actions] */
    pess__rng *rng;
} collection;

/* ---- setting up */

static pess_status settle(const pess_collect_options *options, pess_collect_options *o, pess_error *error) {
    PESS_TRY(pess__settle(&table, options, o, error));
    const pess_env_info *info = o->mdp == NULL && o->own == NULL ? pess_env_find(o->game) : NULL;
    return o->policy == NULL || info == NULL ? PESS_OK
                                             : pess_policy_check_game(o->policy, "the policy", info, o->argmax, error);
}

static pess_status open_environments(collection *c, pess_error *error) {
    const pess_collect_options *o = c->options;
    const pess_env_options env = PESS__ENVIRONMENTS(o, STREAMS);
    PESS_TRY(pess__open_batch(o->own, o->mdp, &env, c->envs, &c->batch, error));
    c->actions = pess_batch_actions(c->batch);
    c->bytes = pess_batch_bytes(c->batch);
    if (o->policy == NULL) return PESS_OK;
    PESS_TRY(pess__play_check(o->policy, c->batch, o->mdp != NULL, error));
    if (o->epsilon >= 1) return PESS_OK;
    PESS_TRY(o->policy->kind->open(o->policy, CHUNK, &c->worker, error));
    c->policy = o->policy;
    return PESS_OK;
}

static const char *name_of(const pess_collect_options *o) {
    if (o->own != NULL) return o->game != NULL ? o->game : "own";
    return o->mdp != NULL ? "mdp" : o->game;
}

/* Lines "key=value" that say how the data came about. */
static void describe(const collection *c, char *notes, size_t size) {
    const pess_collect_options *o = c->options;
    const pess_env_options env = PESS__ENVIRONMENTS(o, STREAMS);
    char epsilon[PESS__NUMBER_SIZE], policy[16] = "random", game[PESS__GAME_NOTES_SIZE] = "", acts[64] = "",
                                     kernels[64] = "";
    (void)pess__format_double(o->policy != NULL ? o->epsilon : 1, epsilon);
    if (o->policy != NULL) {
        pess_policy_info info;
        pess_policy_get_info(o->policy, &info);
        (void)snprintf(policy, sizeof policy, "%08x", info.checksum);
        if (!o->argmax && strcmp(info.rule, "argmax") != 0) (void)snprintf(acts, sizeof acts, "acts=%s\n", info.rule);
        if (c->policy != NULL && info.kernels != NULL)
            (void)snprintf(kernels, sizeof kernels, "kernels=%s\n", pess__kernels_find(info.kernels)->sums);
    }
    if (o->mdp == NULL && o->own == NULL) pess__game_notes(&env, true, game);
    (void)snprintf(notes, size,
                   "game=%s\npolicy=%s\n%sepsilon=%s\nseed=%llu\ntransitions=%lld\nenvs=%lld\n%sstep_limit=%lld\n"
                   "%sversion=%s\n",
                   name_of(o), policy, acts, epsilon, (unsigned long long)o->seed, (long long)o->transitions,
                   (long long)o->envs, game, (long long)env.step_limit, kernels, pess_version());
}

static pess_status open_buffers(collection *c, pess_error *error) {
    static const char what[] = "the buffers of collecting";
    PESS_TRY(pess__allocate(&c->bits, c->envs * c->bytes, 1, what, error));
    PESS_TRY(pess__allocate(&c->last, c->bytes, 1, what, error));
    PESS_TRY(pess__allocate(&c->rewards, c->envs, sizeof *c->rewards, what, error));
    PESS_TRY(pess__allocate(&c->ends, c->envs, 1, what, error));
    PESS_TRY(pess__allocate(&c->choice, c->envs, sizeof *c->choice, what, error));
    PESS_TRY(pess__allocate(&c->chance, c->envs, sizeof *c->chance, what, error));
    PESS_TRY(pess__allocate(&c->number, c->envs, sizeof *c->number, what, error));
    PESS_TRY(pess__allocate(&c->asks, c->envs, sizeof *c->asks, what, error));
    PESS_TRY(pess__allocate(&c->states, c->envs, sizeof *c->states, what, error));
    PESS_TRY(pess__allocate(&c->probabilities, CHUNK * c->actions, sizeof *c->probabilities, what, error));
    PESS_TRY(pess__allocate(&c->rng, c->envs, sizeof *c->rng, what, error));
    for (int64_t i = 0; i < c->envs; i++) c->rng[i] = pess__rng_stream(c->options->seed, "collect", (uint64_t)i);
    return PESS_OK;
}

static pess_status open_collection(collection *c, pess_error *error) {
    const pess_collect_options *o = c->options;
    char notes[PESS__DATA_NOTES_SIZE];
    PESS_TRY(open_environments(c, error));
    describe(c, notes, sizeof notes);
    const pess_observation_shape shape = o->own != NULL   ? o->own->shape
                                         : o->mdp != NULL ? pess_observation_bits(pess_batch_bits(c->batch))
                                                          : pess_env_shape(pess_env_find(o->game));
    PESS_TRY(pess_observations_create(name_of(o), notes, &shape, c->actions, &c->data, error));
    PESS_TRY(pess__observations_reserve(c->data, o->transitions, error));
    PESS_TRY(open_buffers(c, error));
    pess_batch_observe(c->batch, &(pess_batch_out){.bits = c->bits, .states = c->states});
    for (int64_t i = 0; i < c->envs; i++)
        PESS_TRY(pess__observations_number(c->data, c->bits + i * c->bytes, &c->number[i], error));
    return PESS_OK;
}

static void close_collection(collection *c) {
    pess_batch_destroy(c->batch);
    if (c->policy != NULL) c->policy->kind->close(c->worker);
    void *const owned[] = {c->bits, c->last,   c->rewards,       c->ends, c->choice, c->number,
                           c->asks, c->states, c->probabilities, c->rng,  c->chance};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

/* Where the stretch of environment i begins in the log: equal shares, and one more for each of the first. */
static int64_t begin_of(const collection *c, int64_t i) {
    const int64_t share = c->options->transitions / c->envs, more = c->options->transitions % c->envs;
    return i * share + (i < more ? i : more);
}

/* ---- acting */

/* The action of an environment by π(·|s) = own, unless it explores, and with what probability it came about:
 * ε/A + (1 − ε)π(a|s), where π is all on its most probable action if it does not draw. */
static void take(collection *c, int64_t env, const double *own) {
    const pess_collect_options *o = c->options;
    const bool draws = !o->argmax && c->policy->samples;
    const int32_t likeliest = draws ? 0 : pess__policy_most_probable(own, c->actions);
    int32_t *choice = &c->choice[env];
    if (*choice == UNDECIDED)
        *choice = draws ? pess__policy_draw(own, c->actions, pess__rng_uniform(&c->rng[env])) : likeliest;
    const double taken = draws ? own[*choice] : *choice == likeliest;
    c->chance[env] = fmin(o->epsilon / (double)c->actions + (1 - o->epsilon) * taken, 1);
}

static void choose(collection *c) {
    const pess_collect_options *o = c->options;
    double values[CHUNK];
    int64_t asking = 0;
    for (int64_t i = 0; i < c->envs; i++) {
        const bool explores = c->policy == NULL || (o->epsilon > 0 && pess__rng_uniform(&c->rng[i]) < o->epsilon);
        c->choice[i] = explores ? (int32_t)pess__rng_below(&c->rng[i], (uint64_t)c->actions) : UNDECIDED;
        c->chance[i] = 1 / (double)c->actions;
        if (!explores || (c->policy != NULL && o->probabilities)) c->asks[asking++] = i;
    }
    for (int64_t first = 0; first < asking; first += CHUNK) {
        const int64_t count = asking - first < CHUNK ? asking - first : CHUNK;
        const pess__seen seen = {c->bits, c->bytes, o->mdp != NULL ? c->states : NULL, c->asks + first};
        c->policy->kind->apply(c->policy, c->worker, &seen, count, c->probabilities, values);
        for (int64_t i = 0; i < count; i++) take(c, c->asks[first + i], c->probabilities + i * c->actions);
    }
}

/* Keeps the step that environment i took, as the next transition of its stretch. */
static pess_status keep(collection *c, int64_t i, int64_t at, pess_error *error) {
    const uint8_t *now = c->bits + i * c->bytes, *next = now;
    const pess_end end = (pess_end)c->ends[i];
    if (end != PESS_END_NONE && pess_batch_final_bits(c->batch, i, c->last)) next = c->last;
    const int32_t from = c->number[i];
    int32_t to;
    if (c->options->own != NULL) PESS_TRY(pess__observations_check(c->data, "the environment", next, error));
    PESS_TRY(pess__observations_number(c->data, next, &to, error));
    PESS_TRY(pess__observations_set(c->data, at, from, c->choice[i], c->rewards[i], to, end, error));
    if (c->options->probabilities) PESS_TRY(pess__observations_set_probability(c->data, at, c->chance[i], error));
    c->number[i] = to;
    return end == PESS_END_NONE ? PESS_OK : pess__observations_number(c->data, now, &c->number[i], error);
}

static pess_status step(collection *c, pess_error *error) {
    choose(c);
    const pess_batch_out out = {.rewards = c->rewards, .ends = c->ends, .bits = c->bits, .states = c->states};
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
    pess_collect_options o;
    PESS_TRY(settle(options, &o, error));
    collection c = {.options = &o, .envs = o.envs < o.transitions ? o.envs : o.transitions};
    pess_status status = open_collection(&c, error);
    if (status == PESS_OK) status = run(&c, error);
    close_collection(&c);
    if (status == PESS_OK)
        *out = c.data;
    else
        pess_observations_destroy(c.data);
    return status;
}
