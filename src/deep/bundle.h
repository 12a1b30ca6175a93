/* Policies of networks: the rule of a learner with its knobs, the networks that it reads and what it knows of the
 * states of its data, in one file (.pesspolicy). A file of one network (.pessnet) is a policy where its argmax or
 * softmax is the rule. */
#ifndef PESS_DEEP_BUNDLE_H
#define PESS_DEEP_BUNDLE_H

#include "core/infile.h"
#include "deep/acting.h"
#include "policy/policy.h"

enum {
    /* Places of networks in files: four of values, three of the learner's own, imitation, uncertainty, and further ones
     * of values. */
    PESS__PLACE_OWN = 4,
    PESS__PLACE_IMITATION = 7,
    PESS__PLACE_UNCERTAINTY = 8,
    PESS__PLACE_FURTHER = 9,
    PESS__BUNDLE_NETWORKS = PESS__MAX_NETWORKS + 2,
    PESS__BUNDLE_NOTES = 4096
};

/* A policy that borrows all that the learned one borrows; it lasts no longer. notes may be NULL. */
pess_status pess__bundle_borrow(const pess__learned_policy *learned, const char *notes, pess_policy **out,
                                pess_error *error);
/* The largest output of a network, which is borrowed. */
pess_status pess__bundle_argmax(const pess__net *net, pess_policy **out, pess_error *error);
/* A policy of one network, which is taken out of `net`. Its notes say how it acts: by its softmax, or by its argmax, as
 * without a word. path begins the messages. */
pess_status pess__bundle_of_network(const char *path, pess_net *net, pess_policy **out, pess_error *error);
/* pess_policy_import of an open file. */
pess_status pess__policy_import_file(pess__infile *file, const pess_import_options *options, pess_policy **out,
                                     pess_error *error);
/* From bytes in memory, as the fuzzer does. */
pess_status pess__bundle_read_memory(const char *name, const void *bytes, size_t size, pess_policy **out,
                                     pess_error *error);

/* bundle_file.c */
typedef struct pess__bundle {
    pess_policy policy; /* first */
    pess__learned_policy learned;
    const char *rule;
    bool partial;
    uint32_t checksum;
    char acts[32]; /* the rule of a network that needs more than it */
    char notes[PESS__BUNDLE_NOTES];
    /* What it owns; nothing where it borrows. */
    _Alignas(max_align_t) unsigned char knobs[PESS__KNOBS_SIZE];
    pess__net *nets[PESS__BUNDLE_NETWORKS];
    int64_t net_count;
    pess_observations *data;
    float *penalty;
    int32_t *counts;
    pess__action_space space;
} pess__bundle;

/* What the network reads, without its board. */
pess_observation_shape pess__bundle_shape(const pess__net *net);
pess_status pess__bundle_create(pess__bundle **out, pess_error *error);
/* Networks by their place in the learned policy: values, the learner's own, imitation, uncertainty. NULL: no such. */
const pess__net **pess__bundle_place(pess__learned_policy *learned, int64_t place);
pess_status pess__bundle_write(const pess_policy *policy, const char *path, const pess_names *state_names,
                               const pess_names *action_names, pess_error *error);
pess_status pess__bundle_read(const char *path, pess_policy **out, pess_error *error);

#endif
