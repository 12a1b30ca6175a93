/* naive: the values at face value, v(s) = max_a q(s,a). */
#include "deep/learner.h"

double pess__decide_greedy(const pess__view *view, double *policy) {
    const int32_t best = pess__greedy(view->q, view->actions);
    for (int64_t a = 0; a < view->actions; a++) policy[a] = a == best;
    return (double)view->q[best];
}

const pess__learner pess__learner_naive = {.info = {.name = "naive",
                                                    .summary = "fitted Q iteration: the action of the largest value",
                                                    .values = true,
                                                    .imitation = false,
                                                    .samples = false,
                                                    .source = "Ernst et al. 2005 with networks; the paper's naive",
                                                    .settings = PESS__READS_VALUES},
                                           .decide = pess__decide_greedy};
