/* A finished certificate: what it says and the lists behind it. */
#include "certify/certificate.h"

#include "policy/policy.h"

#include <stdlib.h>

void pess_certificate_destroy(pess_certificate *certificate) {
    if (!certificate) return;
    pess_policy_destroy(certificate->policy);
    pess__assumptions_release(&certificate->assumptions);
    free(certificate->ledger);
    free(certificate->candidates);
    for (int64_t i = 0; i < certificate->name_count; i++) free(certificate->names[i]);
    free(certificate->names);
    free(certificate);
}

void pess_certificate_get_info(const pess_certificate *certificate, pess_certificate_info *out) {
    *out = certificate->info;
}

const pess_policy *pess_certificate_policy(const pess_certificate *certificate) { return certificate->policy; }

const pess_ledger_entry *pess_certificate_ledger(const pess_certificate *certificate, size_t index) {
    return index < (size_t)certificate->ledger_count ? &certificate->ledger[index] : NULL;
}

const pess_assumption *pess_certificate_assumption(const pess_certificate *certificate, size_t index) {
    return pess__assumption(&certificate->assumptions, index);
}

const pess_episode_report *pess_certificate_episodes(const pess_certificate *certificate) {
    return certificate->has_episodes ? &certificate->episodes : NULL;
}

const pess_candidate *pess_certificate_candidate(const pess_certificate *certificate, size_t index) {
    return index < (size_t)certificate->candidate_count ? &certificate->candidates[index] : NULL;
}
