/* The price of a regulariser, held against the evidence. At a minimum of CQL's loss q(s,a) lies below its target by the
 * price α (softmax(q)(a)/β(a|s) − 1): where the log hardly ever took an action, it is many times α, whatever the
 * rewards are measured in. Among logged actions that are not the best by q,
 *
 *     max_b q(s,b) − q(s,a) = (y − q(s,a)) + (max_b q(s,b) − y),
 *
 * and the first part is the price: the action lies so far below what its own target says. Where more than a share of
 * the whole is price, it is the regulariser that decides, and its weight falls. A heuristic, in the second half of the
 * updates, when values have come about; never below a quarter of α, since values without a price may grow without
 * bound. */
#include "deep/training.h"

static const double step = 0.95, least = 0.25;

void pess__training_adapt_price(pess__training *t) {
    const pess__training_scores *s = &t->scores;
    if (!pess__setup_prices(&t->setup) || 2 * t->position.update < t->setup.updates || !(s->below > 0)) return;
    if (s->price > t->setup.options.protocol.price_share * s->below)
        t->price_weight = fmax(t->price_weight * step, least);
}
