/* Garnets: random MDPs of given size and branching (Archibald, McKinnon & Thomas 1995). One random stream per pair. */
#include "core/memory.h"
#include "core/ranges.h"
#include "core/rng.h"
#include "core/threads.h"
#include "model/mdps.h"
#include "model/model.h"

#include <stdlib.h>

#define FIELD(name) PESS__FIELD(pess_garnet_options, name)

static const pess_setting settings[] = {
    {"states", 0, PESS_SETTING_COUNT, FIELD(states), "50", PESS__AT_LEAST(1), .argument = "N",
     .sentence = "number of states"},
    {"actions", 0, PESS_SETTING_COUNT, FIELD(actions), "4", PESS__AT_LEAST(1), .argument = "N",
     .sentence = "number of actions"},
    {"branching", 0, PESS_SETTING_COUNT, FIELD(branching), "3", PESS__AT_LEAST(1), .argument = "N",
     .sentence = "next states of each pair"},
    {"terminals", 0, PESS_SETTING_COUNT, FIELD(terminals), "0", PESS__AT_LEAST(0), .argument = "N",
     .sentence = "how many states are terminal"},
    PESS__REWARDS_SETTING(pess_garnet_options),
    PESS__SEED_SETTING(pess_garnet_options, "of successors, probabilities and rewards"),
    PESS__THREADS_SETTING(pess_garnet_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("garnet", pess_garnet_options, settings);
PESS__SETTINGS_OF(garnet, table)

static pess_status check_options(const pess_garnet_options *options, pess_error *error) {
    PESS_TRY(pess__model_check_sizes(options->states, options->actions, error));
    if (options->terminals >= options->states)
        return pess__fail(error, PESS_ARGUMENT, "%lld terminal states of %lld: at least one state must not be terminal",
                          (long long)options->terminals, (long long)options->states);
    if (options->branching > options->states)
        return pess__fail(error, PESS_ARGUMENT, "branching %lld: expected 1 to %lld, the number of states",
                          (long long)options->branching, (long long)options->states);
    return PESS_OK;
}

static int ascending(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* `branching` different states, every set equally likely (Floyd's method), ascending. taken[s] = mark: drawn already.
 */
static void draw_states(pess__rng *rng, const pess_garnet_options *options, uint32_t mark, uint32_t *taken,
                        uint32_t *chosen) {
    const int64_t states = options->states, branching = options->branching;
    for (int64_t i = 0; i < branching; i++) {
        const uint32_t last = (uint32_t)(states - branching + i);
        uint32_t drawn = (uint32_t)pess__rng_below(rng, (uint64_t)last + 1);
        if (taken[drawn] == mark) drawn = last;
        taken[drawn] = mark;
        chosen[i] = drawn;
    }
    qsort(chosen, (size_t)branching, sizeof *chosen, ascending);
}

/* taken [S], chosen [branching] and weight [branching] are scratch. */
static void fill_pair(const pess_garnet_options *options, int64_t pair, uint32_t *taken, uint32_t *chosen,
                      double *weight, pess_mdp *mdp) {
    pess__rng rng = pess__rng_stream(options->seed, "garnet", (uint64_t)pair);
    draw_states(&rng, options, (uint32_t)pair + 1, taken, chosen);
    /* exponentials divided by their sum: uniform on the simplex */
    double sum = 0;
    for (int64_t i = 0; i < options->branching; i++) sum += weight[i] = pess__rng_exponential(&rng) + 0x1p-60;
    const double mean = pess__rng_uniform(&rng) + 0x1p-60; /* open interval: both rewards can happen */
    int64_t k = mdp->row[pair];
    for (int64_t i = 0; i < options->branching; i++) {
        const double p = weight[i] / sum;
        mdp->next[k] = chosen[i];
        mdp->probability[k] = options->rewards == PESS_REWARD_BERNOULLI ? p * mean : p;
        mdp->reward[k++] = options->rewards == PESS_REWARD_BERNOULLI ? 1 : mean;
        if (options->rewards != PESS_REWARD_BERNOULLI) continue;
        mdp->next[k] = chosen[i];
        mdp->probability[k] = p * (1 - mean);
        mdp->reward[k++] = 0;
    }
}

pess_status pess_mdp_garnet(const pess_garnet_options *options, pess_mdp **out, pess_error *error) {
    pess_garnet_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    options = &settled;
    PESS_TRY(check_options(options, error));
    const int64_t all = options->states * options->actions;
    const int64_t pairs = (options->states - options->terminals) * options->actions;
    const int64_t length = options->branching * (options->rewards == PESS_REWARD_BERNOULLI ? 2 : 1);
    if (length > INT64_MAX / 8 / pairs)
        return pess__fail(error, PESS_LIMIT, "%lld pairs × %lld transitions are too many", (long long)pairs,
                          (long long)length);
    const int threads = pairs * length > 100000 ? pess__threads(options->threads) : 1;
    uint32_t *taken = NULL, *chosen = NULL;
    double *weight = NULL;
    pess_mdp *mdp = NULL;
    const int64_t room = pess__apart(options->branching, sizeof *chosen); /* per thread */
    pess_status status = pess__allocate(&taken, options->states * threads, sizeof *taken, "a garnet", error);
    if (status == PESS_OK) status = pess__allocate(&chosen, room * threads, sizeof *chosen, "a garnet", error);
    if (status == PESS_OK) status = pess__allocate(&weight, room * threads, sizeof *weight, "a garnet", error);
    if (status == PESS_OK) status = pess__mdp_allocate(options->states, options->actions, pairs * length, &mdp, error);
    if (status == PESS_OK) {
        for (int64_t pair = 0; pair <= all; pair++) mdp->row[pair] = (pair < pairs ? pair : pairs) * length;
        for (int64_t s = options->states - options->terminals; s < options->states; s++) mdp->terminal[s] = 1;
#pragma omp parallel for num_threads(threads)
        for (int64_t pair = 0; pair < pairs; pair++) {
            const int64_t t = omp_get_thread_num();
            fill_pair(options, pair, taken + t * options->states, chosen + t * room, weight + t * room, mdp);
        }
        *out = mdp;
    }
    free(taken);
    free(chosen);
    free(weight);
    return status;
}

static pess_status make(const void *options, pess_mdp **out, pess_error *error) {
    return pess_mdp_garnet(options, out, error);
}

const pess__mdp_kind pess__mdp_kind_random = {
    .info = {.name = "random", .summary = "a random sparse process (Garnet)", .settings = &table}, .make = make};
