/* Certificates from whole episodes: importance weights and bets. No Markov assumption, no model, no count of states
 * (docs/theory.md, "Episodes"). */
#ifndef PESS_CERTIFY_EPISODES_H
#define PESS_CERTIFY_EPISODES_H

#include "certify/certificate.h"

/* The log as episodes, cut into those that choose a policy and those that test it. */
typedef struct pess__episodes pess__episodes;

/* PESS_INPUT, saying why, where the log does not allow for it. */
pess_status pess__episodes_create(const pess__certification *job, pess__episodes **out, pess_error *error);
void pess__episodes_destroy(pess__episodes *episodes);     /* NULL is fine */
int pess__episodes_places(const pess__episodes *episodes); /* of the cut, among which δ is shared */

typedef struct pess__episodes_result {
    pess_policy *policy;
    double lower;                        /* of V^π */
    double difference;                   /* lower bound of V^π − V^b */
    double estimate, behaviour_estimate; /* NAN where episodes were cut off */
    int64_t first_rows, second_rows;
} pess__episodes_result;

/* Chooses a policy and tests it. The report and the candidates go to the certificate. */
pess_status pess__episodes_test(pess__certification *job, const pess__episodes *episodes, const pess__shares *shares,
                                pess__episodes_result *out, pess_error *error);

/* What it rests on; `alone`: nothing else does. */
pess_status pess__episodes_assumptions(const pess__certification *job, const pess__episodes *episodes, bool alone,
                                       pess_error *error);
/* What a doubly robust bet needs in addition. */
pess_status pess__episodes_assume_bets(const pess__certification *job, pess_error *error);

#endif
