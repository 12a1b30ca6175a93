#include "certify/episode_returns.h"

#include "certify/betting.h"
#include "data/trajectories.h"

static double upper_of(pess__returns *returns, int64_t count, double delta) {
    double *below = returns->most; /* by how much a return stays below hi: at least 0 */
    for (int64_t i = 0; i < count; i++) below[i] = returns->hi - returns->most[i];
    return returns->hi - pess__bet_lower(below, count, delta);
}

pess_status pess__returns_upper(const pess_dataset *data, double gamma, double v_lo, double v_hi, double delta,
                                double *upper, pess_error *error) {
    pess__trajectories *episodes = NULL;
    pess__returns *returns = NULL;
    *upper = v_hi;
    if (!data->episode || data->rows == 0 || !(v_hi > v_lo)) return PESS_OK;
    PESS_TRY(pess__trajectories_create(data, &episodes, error));
    const pess_status status = pess__returns_create(data, episodes, gamma, v_lo, v_hi, &returns, error);
    if (status == PESS_OK) *upper = upper_of(returns, episodes->count, delta);
    pess__returns_destroy(returns);
    pess__trajectories_destroy(episodes);
    return status;
}
