/* n(s,a), how often the data took an action in exactly this observation, and whether that says something. */
#include "deep/fitted.h"

#include "core/memory.h"

#include <stdio.h>

/* Counts say something where states come back. Where fewer than one transition in FEW is in a state that occurs more
 * than once, they tell which action was taken and nothing more. */
static void warn(pess__fitted *f) {
    enum { FEW = 100 };
    const int64_t actions = f->data->actions, all = f->data->transitions;
    int64_t repeated = 0;
    for (int64_t state = 0; state < f->data->states; state++) {
        int64_t visits = 0;
        for (int64_t a = 0; a < actions; a++) visits += f->counts[state * actions + a];
        if (visits > 1) repeated += visits;
    }
    if (repeated > 0 && repeated * FEW >= all) return;
    char found[128] = "no state of the data occurs twice";
    if (repeated > 0)
        (void)snprintf(found, sizeof found, "only %lld of %lld transitions are in states that occur more than once",
                       (long long)repeated, (long long)all);
    (void)snprintf(f->warning, sizeof f->warning,
                   "%s: counts tell logged actions from others, and %s of how often a state was seen", found,
                   repeated > 0 ? "little" : "nothing");
}

pess_status pess__fitted_count(pess__fitted *f, pess_error *error) {
    const pess_observations *data = f->data;
    PESS_TRY(pess__allocate(&f->counts, data->states * data->actions, sizeof *f->counts, "the counts of pairs", error));
    for (int64_t i = 0; i < data->transitions; i++) f->counts[data->state[i] * data->actions + data->action[i]]++;
    if (f->learner->counts) warn(f);
    return PESS_OK;
}
