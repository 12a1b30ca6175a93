/* The algorithms that learn from a fixed dataset with networks. Each is one file that says which policy it draws from
 * what is known of a state, and what that policy is worth; each has one word in the table PESS__LEARNERS. Its knobs,
 * how its loss differs, which networks it has of its own and how they are trained are fields of its row. Everything
 * else (options, targets, training, evaluation, checkpoints, files) is the same for all. */
#ifndef PESS_DEEP_LEARNER_H
#define PESS_DEEP_LEARNER_H

#include "core/settings.h"
#include "nn/trainer.h"
#include "pess.h"

enum {
    PESS__MAX_ACTIONS = 64,
    PESS__MAX_VALUE_NETWORKS = 10,
    PESS__MAX_OWN_NETWORKS = 3,
    PESS__MAX_NETWORKS = PESS__MAX_VALUE_NETWORKS + PESS__MAX_OWN_NETWORKS,
    PESS__KNOBS_SIZE = 128 /* bytes of a learner's struct of knobs */
};
#define PESS__HUBER_EDGE 5.0 /* squared error up to here, linear beyond */

/* What is known of a state: the outputs of the networks, and what the data say about it. Read only. */
typedef struct pess__view {
    int64_t actions;
    const void *knobs;     /* the struct that the learner's knobs are in; NULL without any */
    const pess__real *q;   /* value of action a by head k: q[k*head_stride + a]; for imitation the log odds */
    int64_t heads;         /* heads or networks that give values */
    int64_t head_stride;   /* read where heads > 1 */
    const double *mixture; /* [heads] weights of the heads, sum 1; NULL: equal ones */
    const pess__real *own[PESS__MAX_OWN_NETWORKS]; /* outputs of the learner's own networks, in the order of its rows */
    const float *prior;            /* [actions] π̂(a|s) of the imitation network; NULL unless info.imitation */
    const int32_t *counts;         /* [actions] n(s,a), zeros outside the data; NULL for imitation */
    const float *widths;           /* [actions] by the uncertainty's `widths`; NULL without, and outside the data */
    const float *penalty;          /* [actions] u(s,a), capped and relative as asked; NULL without an uncertainty */
    const pess__real *uncertainty; /* outputs of the uncertainty's network; NULL where it has none or is not asked */
    double cap;                    /* largest u, and whether u counts from the state's smallest: for learners that */
    bool relative;                 /* compute u from the values */
} pess__view;

/* What a network of a learner's own is to say about a logged action: `target` for the output of that action (or its
 * only output), not read by cross-entropy, and how much that counts. */
typedef struct pess__label {
    double target, weight;
} pess__label;

/* A network of the learner's own. After the values of every update it makes as many steps on as large minibatches of
 * logged transitions, from where it was. Its labels come from the networks as they are when its turn begins. */
typedef struct pess__own_network {
    const char *name; /* of its file and of its random streams: "actor" */
    bool one_output;  /* otherwise one per action */
    bool policy;      /* its softmax is a policy by itself */
    pess__loss (*loss)(const void *knobs);
    pess__label (*label)(const pess__view *view, int64_t action);
} pess__own_network;

struct pess__neural_uncertainty;
struct pess__setup;

typedef struct pess__learner {
    pess_learner_info info;
    /* π(·|s) to policy [actions]; returns what the state is worth under it, penalty included: the value that the
     * targets of the transitions into it bootstrap from. */
    double (*decide)(const pess__view *view, double *policy);
    const struct pess__neural_uncertainty *uncertainty; /* where view.penalty comes from; NULL: nowhere */
    bool counts;      /* goes by n(s,a), which says little where next to no state comes back */
    bool bits;        /* learns from observations of bits alone */
    bool untrained;   /* trains no values: acts by its uncertainty alone */
    int64_t networks; /* that give values, each trained on its own resample of the data; 0: 1 */
    int64_t (*network_count)(const void *knobs); /* of them, where a knob says how many; NULL: `networks` */
    bool same_data;                              /* several networks learn from the same data, in draws of their own */
    int64_t heads, mixtures;                     /* of a network, and of its heads per update; 0: 1 */
    int64_t (*head_count)(const void *knobs);    /* of a network, where a knob says how many; NULL: `heads` */
    pess__loss (*loss)(const void *knobs);       /* of the values; NULL: Huber's */
    const pess__own_network *own;                /* [own_count] */
    int64_t own_count;
    /* Before the tables are made: data that take the place of the data; NULL: there are none. */
    pess_status (*prepare)(const struct pess__setup *setup, pess_observations **out, pess_error *error);
} pess__learner;

const pess__learner *pess__learner_find(const char *name);
/* The learner that the options name. */
pess_status pess__learner_of(const pess_train_options *options, const pess__learner **out, pess_error *error);
/* Seconds of a training (targets and uncertainty included, episodes not) beside those of a naive one, about. */
double pess__learner_cost(const pess__learner *learner);

/* Networks that give values, heads of each, and mixtures of the heads per update. */
static inline int64_t pess__learner_networks(const pess__learner *l, const void *knobs) {
    const int64_t networks = l->network_count != NULL ? l->network_count(knobs) : l->networks;
    return networks > 1 ? networks : 1;
}
static inline int64_t pess__learner_heads(const pess__learner *l, const void *knobs) {
    const int64_t heads = l->head_count != NULL ? l->head_count(knobs) : l->heads;
    return heads > 1 ? heads : 1;
}
static inline int64_t pess__learner_mixtures(const pess__learner *l) { return l->mixtures > 1 ? l->mixtures : 1; }

/* clang-format off */
/* The table of learners: one file each, pess__learner_<word>. Those of neural_uncertainty.h come after them. */
#define PESS__LEARNERS(X)                                                                                              \
    X(imitation) X(naive) X(proximal) X(counts_alone)                                                                  \
    X(bcq) X(brac) X(spibb_dqn) X(cql) X(crr) X(crr_exp) X(awac) X(awr) X(iql)            \
    X(sac_n) X(edac) X(rem) X(model_ensemble)
/* clang-format on */
#define PESS__DECLARE(word) extern const pess__learner pess__learner_##word;
PESS__LEARNERS(PESS__DECLARE)
#undef PESS__DECLARE

/* naive.c: the action of the largest value, and that value. */
double pess__decide_greedy(const pess__view *view, double *policy);
/* sac_n.c: the least value of the critics; the knobs that its kin begin with, and their rows. */
typedef struct pess__sac_knobs {
    size_t size;
    int64_t critics;
    double temperature;
} pess__sac_knobs;
double pess__decide_least(const pess__view *view, double *policy);
int64_t pess__sac_critics(const void *knobs);
double pess__sac_temperature(const void *knobs);
/* clang-format off */
#define PESS__SAC_ROWS                                                                                                 \
    {.name = "critics",                                                                                                \
     .kind = PESS_SETTING_COUNT,                                                                                       \
     PESS__FIELD(pess__sac_knobs, critics),                                                                            \
     .standard = "5",                                                                                                  \
     PESS__FROM_TO(2, PESS__MAX_VALUE_NETWORKS),                                                                       \
     .argument = "N",                                                                                                  \
     .sentence = "networks whose least value counts: more of them, more pessimism, and N times the work"},             \
    {.name = "temperature",                                                                                            \
     .kind = PESS_SETTING_NUMBER,                                                                                      \
     PESS__FIELD(pess__sac_knobs, temperature),                                                                        \
     .standard = "0.1",                                                                                                \
     PESS__FROM_TO(0, 1e6),                                                                                            \
     .argument = "T",                                                                                                  \
     .sentence = "weight of the policy's entropy: 0 takes the best action alone"}
/* clang-format on */
/* actor.c: learners with a value and an actor network of their own, in this order. The policy is the actor's, and what
 * a state is worth is its value; the label of a value is q(s,a), and an actor's loss is its log likelihood. */
enum { PESS__STATE_VALUE, PESS__ACTOR };
double pess__decide_actor(const pess__view *view, double *policy);
pess__label pess__label_value(const pess__view *view, int64_t action);
double pess__advantage(const pess__view *view, int64_t action); /* q(s,a) − v(s) */
pess__loss pess__loss_actor(const void *knobs);
/* The rows of such a learner. */
#define PESS__VALUE_AND_ACTOR(value_loss, actor_label)                                                                 \
    {                                                                                                                  \
        [PESS__STATE_VALUE] = {.name = "state-value",                                                                  \
                               .one_output = true,                                                                     \
                               .loss = (value_loss),                                                                   \
                               .label = pess__label_value},                                                            \
        [PESS__ACTOR] = {                                                                                              \
            .name = "actor",                                                                                           \
            .policy = true,                                                                                            \
            .loss = pess__loss_actor,                                                                                  \
            .label = (actor_label)                                                                                     \
        }                                                                                                              \
    }
/* CRR: how much a logged action of that advantage counts. */
double pess__crr_weight(bool binary, double beta, double advantage);

/* `policy` holds what every action is worth (−∞: it may not be taken) and becomes the rule that takes the best one, the
 * smallest of equals. Returns what that is worth. */
static inline double pess__take_best(double *policy, int64_t actions) {
    int64_t best = 0;
    double most = -INFINITY;
    for (int64_t a = 0; a < actions; a++) {
        if (policy[a] > most) {
            most = policy[a];
            best = a;
        }
        policy[a] = 0;
    }
    policy[best] = 1;
    return most;
}

/* The action with the largest value; the smallest of equals. */
static inline int32_t pess__greedy(const pess__real *q, int64_t actions) {
    int32_t best = 0;
    for (int32_t a = 1; a < actions; a++)
        if (q[a] > q[best]) best = a;
    return best;
}

/* softmax(outputs) to probabilities [actions]. */
void pess__softmax(const pess__real *outputs, int64_t actions, float *probabilities);

/* ---- knobs */

/* The knob that most learners have, and for many the only one: α, the weight of a penalty, in absorbed units. */
typedef struct pess__alpha_knob {
    size_t size;
    double alpha;
} pess__alpha_knob;

#define PESS__ALPHA "absorbed-alpha"
#define PESS__HEADS "heads" /* of a network (rem) */
#define PESS__ALPHA_ROW(standard_text, what, ...)                                                                      \
    {                                                                                                                  \
        .name = PESS__ALPHA, .kind = PESS_SETTING_NUMBER, PESS__FIELD(pess__alpha_knob, alpha),                        \
        .standard = (standard_text), .argument = "X", .sentence = (what), __VA_ARGS__                                  \
    }
/* A table of that knob alone; the range comes last. */
#define PESS__ALPHA_TABLE(table, standard_text, what, ...)                                                             \
    static const pess_setting table##_rows[] = {PESS__ALPHA_ROW(standard_text, what, __VA_ARGS__)};                    \
    static const pess_setting_table table = PESS__SETTING_TABLE("alpha", pess__alpha_knob, table##_rows)
#define PESS__PENALTY_WEIGHT "weight of the penalty"
#define PESS__ANY_WEIGHT PESS__FROM_TO(0, 1e30)

static inline double pess__alpha(const void *knobs) { return ((const pess__alpha_knob *)knobs)->alpha; }

/* ---- which settings of a training a learner reads, beside those that all read (pess_learner_info.settings) */

#define PESS__READS_VALUES "updates steps batch rate rate-last reset"
#define PESS__READS_ARGMAX "control-episodes" /* those that sample */
#define PESS__READS_IMITATION "imitation imitation-steps imitation-batch imitation-rate imitation-rate-last"

#endif
