/* The gridworld of the paper's experiments (appendix E): a torus with slippery moves and Beta-distributed mean
 * rewards. State of cell (i,j): i*cols + j. Actions: 0 up (i-1), 1 right (j+1), 2 down (i+1), 3 left (j-1). */
#include "core/memory.h"
#include "core/rng.h"
#include "core/threads.h"
#include "model/mdps.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

enum { DIRECTIONS = 4 };

#define FIELD(name) PESS__FIELD(pess_gridworld_options, name)

static const pess_setting settings[] = {
    {"rows", 0, PESS_SETTING_COUNT, FIELD(rows), "8", PESS__AT_LEAST(1), .argument = "H",
     .sentence = "rows of the grid"},
    {"cols", 0, PESS_SETTING_COUNT, FIELD(cols), "8", PESS__AT_LEAST(1), .argument = "W",
     .sentence = "columns of the grid"},
    {"slip", 0, PESS_SETTING_NUMBER, FIELD(slip), "0.2", PESS__FROM_TO(0, 1), .argument = "P",
     .sentence = "probability of a random direction"},
    {"reward-beta", 0, PESS_SETTING_PAIR, FIELD(reward_beta), "1,3", PESS__ABOVE(0), .argument = "A,B",
     .sentence = "mean rewards are drawn from Beta(A,B)"},
    PESS__REWARDS_SETTING(pess_gridworld_options),
    PESS__SEED_SETTING(pess_gridworld_options, "of the mean rewards"),
    PESS__THREADS_SETTING(pess_gridworld_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("gridworld", pess_gridworld_options, settings);
PESS__SETTINGS_OF(gridworld, table)

static pess_status check_size(const pess_gridworld_options *options, pess_error *error) {
    if (options->rows <= PESS_MAX_STATES / options->cols) return PESS_OK;
    return pess__fail(error, PESS_LIMIT, "a gridworld of %lld × %lld cells is larger than the %lld that fit",
                      (long long)options->rows, (long long)options->cols, (long long)PESS_MAX_STATES);
}

typedef struct moves {
    int count;
    uint32_t next[DIRECTIONS]; /* ascending, each once */
    double probability[DIRECTIONS];
} moves;

/* P(·|s,a) = (1-slip)·[intended] + slip/4·[each direction]. On narrow grids several directions reach one cell. */
static moves moves_of(const pess_gridworld_options *options, int64_t state, int64_t action) {
    const int64_t rows = options->rows, cols = options->cols, i = state / cols, j = state % cols;
    const int64_t target[DIRECTIONS] = {
        (i > 0 ? i - 1 : rows - 1) * cols + j,
        i * cols + (j + 1 < cols ? j + 1 : 0),
        (i + 1 < rows ? i + 1 : 0) * cols + j,
        i * cols + (j > 0 ? j - 1 : cols - 1),
    };
    moves result = {0};
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        const double p = options->slip / DIRECTIONS + (direction == action ? 1 - options->slip : 0);
        if (p == 0) continue;
        const uint32_t next = (uint32_t)target[direction];
        int at = 0;
        while (at < result.count && result.next[at] < next) at++;
        if (at < result.count && result.next[at] == next) {
            result.probability[at] += p;
            continue;
        }
        for (int k = result.count++; k > at; k--) {
            result.next[k] = result.next[k - 1];
            result.probability[k] = result.probability[k - 1];
        }
        result.next[at] = next;
        result.probability[at] = p;
    }
    return result;
}

/* Rewards 1 and 0 with the given mean; one that never happens is left out. */
static int rewards_per_move(const pess_gridworld_options *options, double mean) {
    return options->rewards == PESS_REWARD_BERNOULLI && mean > 0 && mean < 1 ? 2 : 1;
}

static void fill_pair(const pess_gridworld_options *options, double mean, int64_t pair, pess_mdp *mdp) {
    const moves move = moves_of(options, pair / DIRECTIONS, pair % DIRECTIONS);
    const bool random = rewards_per_move(options, mean) == 2;
    int64_t k = mdp->row[pair];
    for (int m = 0; m < move.count; m++, k++) {
        mdp->next[k] = move.next[m];
        mdp->probability[k] = random ? move.probability[m] * mean : move.probability[m];
        mdp->reward[k] = random ? 1 : mean;
        if (!random) continue;
        k++;
        mdp->next[k] = move.next[m];
        mdp->probability[k] = move.probability[m] * (1 - mean);
        mdp->reward[k] = 0;
    }
}

pess_status pess_mdp_gridworld(const pess_gridworld_options *options, pess_mdp **out, pess_error *error) {
    pess_gridworld_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    options = &settled;
    PESS_TRY(check_size(options, error));
    const int64_t states = options->rows * options->cols, pairs = states * DIRECTIONS;
    PESS_TRY(pess__model_check_sizes(states, DIRECTIONS, error));
    double *mean = NULL;
    int64_t *row = NULL;
    pess_mdp *mdp = NULL;
    pess_status status = pess__allocate(&mean, pairs, sizeof *mean, "the gridworld's rewards", error);
    if (status == PESS_OK) status = pess__allocate(&row, pairs + 1, sizeof *row, "the gridworld's rows", error);
    if (status != PESS_OK) goto done;
#pragma omp parallel for num_threads(pess__threads(options->threads)) if (pairs > 10000)
    for (int64_t pair = 0; pair < pairs; pair++) {
        pess__rng rng = pess__rng_stream(options->seed, "gridworld", (uint64_t)pair);
        mean[pair] = pess__rng_beta(&rng, options->reward_beta[0], options->reward_beta[1]);
        row[pair + 1] = (int64_t)rewards_per_move(options, mean[pair]) *
                        moves_of(options, pair / DIRECTIONS, pair % DIRECTIONS).count;
    }
    for (int64_t pair = 0; pair < pairs; pair++) row[pair + 1] += row[pair];
    status = pess__mdp_allocate(states, DIRECTIONS, row[pairs], &mdp, error);
    if (status != PESS_OK) goto done;
    free(mdp->row);
    mdp->row = row;
    row = NULL;
#pragma omp parallel for num_threads(pess__threads(options->threads)) if (pairs > 10000)
    for (int64_t pair = 0; pair < pairs; pair++) fill_pair(options, mean[pair], pair, mdp);
    *out = mdp;
done:
    free(mean);
    free(row);
    return status;
}

static pess_status make(const void *options, pess_mdp **out, pess_error *error) {
    return pess_mdp_gridworld(options, out, error);
}

const pess__mdp_kind pess__mdp_kind_gridworld = {
    .info = {.name = "gridworld",
             .summary = "the paper's gridworld: a torus with random rewards",
             .description = "Actions are 0 up, 1 right, 2 down, 3 left; moves wrap around. With probability slip the "
                            "direction is drawn from all four. Mean rewards are Beta(A,B), paid as 0 or 1.",
             .settings = &table},
    .make = make};
