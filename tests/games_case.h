/* What the tests of the experiments with games share: a plan that nobody runs, and results made up for it. */
#ifndef GAMES_CASE_H
#define GAMES_CASE_H

#include "scratch_tree.h"

#include "experiment/games.h"

#include <string.h>

static inline pess_experiment_options options(void) {
    pess_experiment_options o = pess_experiment_options_defaults();
    o.experiment = "minatar-exploration";
    o.protocol = "smoke";
    o.out = "nowhere";
    o.threads = 2;
    return o;
}

static inline pess_experiment *plan_experiment(const pess_experiment_options *o) {
    pess_experiment *e = NULL;
    pess_error error = {0};
    if (pess__experiment_plan(o, &e, &error) != PESS_OK) fail_msg("%s", error.message);
    return e;
}

static inline pess__games *plan(const pess_experiment_options *o) { return pess__games_of(plan_experiment(o)); }

static inline void destroy(pess__games *m) { pess_experiment_destroy(m->experiment); }

/* A result all of whose numbers differ: `base` tells runs apart, `apart` the trials, which have it as their mean. */
static inline pess_train_result made_up(double base, double apart) {
    return (pess_train_result){.score = 20 + base + apart,
                               .score_final = 30 + base + 2 * apart,
                               .score_best = 40 + base + 3 * apart,
                               .score_spread = 4 + base + apart,
                               .control = 50 + base + apart,
                               .predicted = 1.5 + base + 0.5 * apart,
                               .obtained = 0.25 + base + 0.125 * apart,
                               .outside = 0.25 + base / 4 + 0.0625 * apart,
                               .mean_target = 70 + base,
                               .loss = 80 + base,
                               .seconds = 12,
                               .updates = 6,
                               .resumed_from = -1};
}

#endif
