/* A process whose shown state is not Markov. Patients are robust or frail, and whoever treats them sees which; the log
 * does not say. Treatment 1 harms everybody a little, but mostly the robust get it: a model of what the log shows takes
 * it for the better one. */
#ifndef PESS_TESTS_HIDDEN_WORLD_H
#define PESS_TESTS_HIDDEN_WORLD_H

#include "core/rng.h"
#include "small_worlds.h"

enum { HIDDEN_STEPS = 2 };

static const double hidden_survival[2][2] = {{0.45, 0.35}, {0.95, 0.85}}; /* frail, robust; treatment 0, 1 */
static const double hidden_gives_one[2] = {0.15, 0.85};                   /* frail, robust */

/* Treatments of both steps count half each; half of the patients are frail. */
static inline double hidden_value(const double one[HIDDEN_STEPS][2]) { /* [step][hidden]: P(treatment 1) */
    double value = 0;
    for (int h = 0; h < 2; h++)
        for (int t = 0; t < HIDDEN_STEPS; t++)
            value += 0.5 / HIDDEN_STEPS *
                     (hidden_survival[h][0] + one[t][h] * (hidden_survival[h][1] - hidden_survival[h][0]));
    return value;
}

static inline double hidden_policy_value(const pess_policy *policy) {
    double one[HIDDEN_STEPS][2];
    for (int t = 0; t < HIDDEN_STEPS; t++) one[t][0] = one[t][1] = pess_policy_row(policy, t)[1];
    return hidden_value(one);
}

static inline double hidden_behaviour_value(void) {
    const double one[HIDDEN_STEPS][2] = {{hidden_gives_one[0], hidden_gives_one[1]},
                                         {hidden_gives_one[0], hidden_gives_one[1]}};
    return hidden_value(one);
}

/* States 0 and 1 are the steps, 2 is the end; γ is 1 and returns are 0 or 1. */
static inline pess_dataset *hidden_log(int64_t episodes, uint64_t seed) {
    const size_t rows = (size_t)(episodes * HIDDEN_STEPS);
    uint32_t *ids = calloc(3 * rows, sizeof *ids);
    double *reward = calloc(rows, sizeof *reward), *probability = calloc(rows, sizeof *probability);
    uint8_t *end = calloc(rows, 1);
    int64_t *episode = calloc(rows, sizeof *episode);
    pess__rng rng = pess__rng_stream(seed, "hidden world", 0);
    for (size_t i = 0; i < rows;) {
        const int h = pess__rng_uniform(&rng) < 0.5;
        const double decisive = pess__rng_uniform(&rng); /* which step's treatment decides */
        double survives = 0;
        for (int t = 0; t < HIDDEN_STEPS; t++, i++) {
            const int a = pess__rng_uniform(&rng) < hidden_gives_one[h];
            if ((int)(decisive * HIDDEN_STEPS) == t) survives = hidden_survival[h][a];
            ids[i] = (uint32_t)t;
            ids[rows + i] = (uint32_t)a;
            ids[2 * rows + i] = (uint32_t)t + 1;
            probability[i] = a ? hidden_gives_one[h] : 1 - hidden_gives_one[h];
            episode[i] = (int64_t)i / HIDDEN_STEPS;
            end[i] = t == HIDDEN_STEPS - 1 ? PESS_END_TERMINAL : PESS_END_NONE;
        }
        reward[i - 1] = pess__rng_uniform(&rng) < survives;
    }
    const pess_columns columns = {.rows = (int64_t)rows,
                                  .state = ids,
                                  .action = ids + rows,
                                  .next_state = ids + 2 * rows,
                                  .reward = reward,
                                  .end = end,
                                  .episode = episode,
                                  .probability = probability};
    pess_dataset *data = NULL;
    MUST(pess_dataset_create(&columns, HIDDEN_STEPS + 1, 2, &data, error));
    free(ids);
    free(reward);
    free(probability);
    free(end);
    free(episode);
    return data;
}

#endif
