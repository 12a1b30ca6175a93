/* What learners share that have a network for v(s) and one for the policy (iql, awr); crr has an actor alone. */
#include "deep/learner.h"

/* π is the actor's; what the state is worth is v. */
double pess__decide_actor(const pess__view *view, double *policy) {
    float actor[PESS__MAX_ACTIONS];
    pess__softmax(view->own[PESS__ACTOR], view->actions, actor);
    for (int64_t a = 0; a < view->actions; a++) policy[a] = (double)actor[a];
    return (double)view->own[PESS__STATE_VALUE][0];
}

pess__label pess__label_value(const pess__view *view, int64_t action) {
    return (pess__label){.target = (double)view->q[action], .weight = 1};
}

double pess__advantage(const pess__view *view, int64_t action) {
    return (double)view->q[action] - (double)view->own[PESS__STATE_VALUE][0];
}

pess__loss pess__loss_actor(const void *knobs) {
    (void)knobs;
    return (pess__loss){.kind = PESS__LOSS_CROSS_ENTROPY};
}
