/* Policies of networks as files that others read. What a policy computes is one description, whatever the format: its
 * networks, and one of a few rules over their outputs; one file per format. */
#ifndef PESS_DEEP_EXPORT_H
#define PESS_DEEP_EXPORT_H

#include "deep/bundle.h"

/* From values q [networks*heads][actions] and, of some rules, one further network: the imitation network or that of an
 * uncertainty, whose softmax is p [actions]. */
typedef enum pess__export_rule {
    PESS__EXPORT_SOFTMAX,  /* π = softmax of the outputs */
    PESS__EXPORT_ARGMAX,   /* the largest q, a mean over heads */
    PESS__EXPORT_PROXIMAL, /* q > max q − α keep p, the rest goes to the best */
    PESS__EXPORT_BCQ,      /* the largest q where p > α max p */
    PESS__EXPORT_BRAC,     /* π ∝ p exp(q/α) */
    PESS__EXPORT_UA, /* the largest q − αu, u = 1/√p, capped and counted from the smallest as it was trained */
    PESS__EXPORT_UA_NETWORK, /* the same with u the further network's outputs, not below 0 */
    PESS__EXPORT_ENSEMBLE,   /* the same with u the deviation of the networks' values, q their mean */
    PESS__EXPORT_LEAST,      /* the largest min_k q_k */
    PESS__EXPORT_SOFT_LEAST  /* π ∝ exp(min_k q_k/α) */
} pess__export_rule;

enum { PESS__EXPORT_NETWORKS = PESS__MAX_VALUE_NETWORKS + 1 };

typedef struct pess__exported {
    pess__export_rule rule;
    int64_t networks; /* that give q; the further network, where the rule reads one, comes after them */
    const pess__net *nets[PESS__EXPORT_NETWORKS];
    float *file[PESS__EXPORT_NETWORKS]; /* parameters in the order of a network file: weights [out][in][row][col],
                                           biases */
    bool further;
    int64_t actions, heads;
    double alpha, cap;
    bool relative;
    const char *name, *notes;        /* of the learner whose rule it is */
    const pess__action_space *space; /* what the actions stand for; NULL: numbers alone */
} pess__exported;

static inline int64_t pess__exported_count(const pess__exported *p) { return p->networks + (p->further ? 1 : 0); }
/* Does the rule draw its actions? */
static inline bool pess__exported_draws(const pess__exported *p) {
    return p->rule == PESS__EXPORT_SOFTMAX || p->rule == PESS__EXPORT_PROXIMAL || p->rule == PESS__EXPORT_BRAC ||
           p->rule == PESS__EXPORT_SOFT_LEAST;
}

/* Does it weigh values against an uncertainty? */
static inline bool pess__exported_penalises(const pess__exported *p) {
    return p->rule == PESS__EXPORT_UA || p->rule == PESS__EXPORT_UA_NETWORK || p->rule == PESS__EXPORT_ENSEMBLE;
}
/* Is the softmax of the further network what it reads? */
static inline bool pess__exported_prior(const pess__exported *p) {
    return p->further && p->rule != PESS__EXPORT_UA_NETWORK;
}

pess_status pess__export_c(const pess__exported *policy, const char *path, pess_error *error);
pess_status pess__export_npz(const pess__exported *policy, const char *path, pess_error *error);
pess_status pess__export_onnx(const pess__exported *policy, const char *path, pess_error *error);

#endif
