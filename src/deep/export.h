/* Policies of one network as files that others read: which network decides and how, one file per format. */
#ifndef PESS_DEEP_EXPORT_H
#define PESS_DEEP_EXPORT_H

#include "deep/bundle.h"

/* The network by which a policy acts alone. */
typedef struct pess__exported {
    const pess__net *net;
    bool softmax;      /* π = softmax of its outputs; otherwise its largest output has probability 1 */
    const float *file; /* [parameters] in the order of a network file: weights [out][in][row][col], biases */
    const char *rule, *notes;
} pess__exported;

pess_status pess__export_c(const pess__exported *policy, const char *path, pess_error *error);
pess_status pess__export_npz(const pess__exported *policy, const char *path, pess_error *error);

#endif
