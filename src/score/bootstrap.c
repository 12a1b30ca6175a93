/* Fitted Q evaluation by several networks. Network k learns from resample k of the episodes and says what their first
 * states are worth, so the networks' spread has in it what the episodes happened to be, and what a network happens to
 * learn. With K networks of mean m and standard deviation s the interval is
 *
 *     m ∓ t·s,   t the 1 − δ/2 quantile of Student's law with K − 1 degrees of freedom:
 *
 * a heuristic. It knows nothing of what all networks get wrong together. */
#include "score/score.h"

#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <stdlib.h>

/* ---- progress of networks that learn side by side: the first thread reports, all of them stop */

typedef struct reports {
    pess_progress to;
    bool stopped;
} reports;

typedef struct own_report {
    reports *all;
    int64_t network, networks;
} own_report;

static bool report(void *user, const char *task, double done, double total, const char *unit) {
    own_report *own = user;
    bool stopped;
    const pess_progress *to = &own->all->to;
    if (omp_get_thread_num() == 0 && to->report != NULL &&
        !to->report(to->user, task, (double)own->network * total + done, (double)own->networks * total, unit)) {
#pragma omp atomic write
        own->all->stopped = true;
    }
#pragma omp atomic read
    stopped = own->all->stopped;
    return !stopped;
}

/* ---- one network */

static double mean(const double *values, int64_t count) {
    double sum = 0;
    for (int64_t k = 0; k < count; k++) sum += values[k];
    return sum / (double)count;
}

/* out: value of the network, and what it was before its last updates. */
static pess_status fit(const pess__fitting *fitting, const pess__policy_table *table,
                       const pess__score_episodes *episodes, bool each_once, int64_t index, double out[2],
                       pess_error *error) {
    pess__resample r = {0};
    pess__fitted_evaluation e = {.policy = table->probability, .lo = episodes->lo, .hi = episodes->hi};
    double *values = NULL;
    pess_status status = pess__resample_create(fitting->data, episodes, each_once, fitting->seed, index, &r, error);
    if (status == PESS_OK)
        status = pess__allocate(&values, 2 * episodes->count, sizeof *values, "the values of episodes", error);
    if (status == PESS_OK) {
        pess__fitting own = *fitting;
        own.seed += (uint64_t)index; /* networks differ; the same for every policy */
        e.rows = r.rows, e.row_count = r.row_count, e.first = r.first;
        e.states = r.starts, e.count = episodes->count, e.values = values;
        e.before = values + episodes->count;
        status = pess__evaluate_fitted(&own, &e, error);
    }
    for (int64_t k = 0; status == PESS_OK && k < 2; k++) out[k] = mean(values + k * episodes->count, episodes->count);
    free(values);
    pess__resample_destroy(&r);
    return status;
}

/* ---- all of them */

static void sum_up(int64_t networks, bool each_once, double delta, pess_score *out) {
    double squares = 0;
    out->fqe = mean(out->fqe_networks, networks);
    if (networks < 2 || each_once) return;
    for (int64_t k = 0; k < networks; k++)
        squares += (out->fqe_networks[k] - out->fqe) * (out->fqe_networks[k] - out->fqe);
    out->fqe_spread = sqrt(squares / (double)(networks - 1));
    const double t = pess__student_quantile(1 - delta / 2, networks - 1);
    out->fqe_lower = out->fqe - t * out->fqe_spread;
    out->fqe_upper = out->fqe + t * out->fqe_spread;
}

pess_status pess__score_by_networks(const pess__fitting *fitting, const pess__policy_table *table,
                                    const pess__score_episodes *episodes, int64_t networks, double delta, int threads,
                                    pess_score *out, pess_error *error) {
    const bool each_once = networks == 1 || episodes->count == 1;
    reports all = {.to = fitting->progress};
    double values[PESS_SCORE_NETWORKS][2], before[PESS_SCORE_NETWORKS];
    pess_status status = PESS_OK;
#pragma omp parallel for num_threads(pess__threads(threads)) schedule(static, 1)
    for (int64_t k = 0; k < networks; k++) {
        pess_error why = {0};
        pess__fitting own = *fitting;
        own_report reporting = {&all, k, networks};
        own.progress = (pess_progress){report, &reporting};
        own.threads = 1;
        const pess_status fitted = fit(&own, table, episodes, each_once, k, values[k], &why);
        pess__keep_failure(fitted, &why, &status, error);
    }
    if (status != PESS_OK) return status;
    for (int64_t k = 0; k < networks; k++) out->fqe_networks[k] = values[k][0], before[k] = values[k][1];
    sum_up(networks, each_once, delta, out);
    if (pess__late_updates(fitting->protocol.updates) > 0) out->fqe_moved = out->fqe - mean(before, networks);
    return PESS_OK;
}
