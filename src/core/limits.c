#include "core/limits.h"

pess_status pess__check_sizes(const char *where, int64_t states, int64_t actions, pess_error *error) {
    if (states > PESS_MAX_STATES || actions > PESS_MAX_ACTIONS)
        return pess__fail(
            error, PESS_LIMIT,
            "%s: %lld states and %lld actions; at most %lld states and %lld actions are possible: group states that "
            "are alike into cells",
            where, (long long)states, (long long)actions, (long long)PESS_MAX_STATES, (long long)PESS_MAX_ACTIONS);
    if (states > 0 && actions > PESS_MAX_PAIRS / states)
        return pess__fail(
            error, PESS_LIMIT,
            "%s: %lld states times %lld actions are %.4g pairs; at most %lld pairs are possible: group states that "
            "are alike into cells",
            where, (long long)states, (long long)actions, (double)states * (double)actions, (long long)PESS_MAX_PAIRS);
    return PESS_OK;
}
