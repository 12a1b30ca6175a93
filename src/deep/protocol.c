/* Named sets of numbers to train with. docs/deep.md tells how `quick` and `standard` were chosen: on Breakout with data
 * of ε = 0 and ε = 1 alone. They are not to be changed by what the experiment shows. */
#include "pess.h"

#include <string.h>

static const pess_protocol protocols[] = {
    {.name = "smoke",
     .summary = "seconds, for tests: nothing is learnt",
     .updates = 6,
     .steps = 20,
     .batch = 64,
     .rate = 3e-4,
     .rate_last = 0,
     .reset = false,
     .imitation_steps = 100,
     .imitation_batch = 64,
     .imitation_rate = 1e-3,
     .imitation_rate_last = 0,
     .eval_every = 2,
     .eval_episodes = 4,
     .score_episodes = 8,
     .control_episodes = 4,
     .transitions = 5000},
    {.name = "quick",
     .summary = "four games, seven epsilons, three trials in two to three hours on two cores",
     .updates = 40,
     .steps = 400,
     .batch = 256,
     .rate = 3e-4,
     .rate_last = 0,
     .reset = false,
     .imitation_steps = 12000,
     .imitation_batch = 256,
     .imitation_rate = 1e-3,
     .imitation_rate_last = 0,
     .eval_every = 5,
     .eval_episodes = 50,
     .score_episodes = 200,
     .control_episodes = 50,
     .transitions = 500000},
    {.name = "standard",
     .summary = "a night on two cores",
     .updates = 100,
     .steps = 1000,
     .batch = 256,
     .rate = 3e-4,
     .rate_last = 0,
     .reset = false,
     .imitation_steps = 40000,
     .imitation_batch = 256,
     .imitation_rate = 1e-3,
     .imitation_rate_last = 0,
     .eval_every = 10,
     .eval_episodes = 50,
     .score_episodes = 200,
     .control_episodes = 50,
     .transitions = 500000},
    {.name = "paper",
     .summary = "the authors' 250 updates of 50 epochs, each from a new network",
     .updates = 250,
     .steps = 24400,
     .batch = 1024,
     .rate = 3e-4,
     .rate_last = 3e-4,
     .reset = true,
     .imitation_steps = 24400,
     .imitation_batch = 1024,
     .imitation_rate = 3e-4,
     .imitation_rate_last = 3e-4,
     .eval_every = 10,
     .eval_episodes = 50,
     .score_episodes = 200,
     .control_episodes = 50,
     .transitions = 500000},
};

const pess_protocol *pess_protocol_list(size_t index) {
    return index < sizeof protocols / sizeof protocols[0] ? &protocols[index] : NULL;
}

const pess_protocol *pess_protocol_find(const char *name) {
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
        if (strcmp(protocols[i].name, name) == 0) return &protocols[i];
    return NULL;
}
