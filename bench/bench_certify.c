/* Robust sweeps against plain ones: one sweep of value iteration over a random sparse model of S states, 4 actions and
 * up to 8 seen successors per pair, in the worst world of its l1 and support sets, beside the same sweep at face value
 * (one thread, interleaved, best of several). One JSON line per figure: ours is the robust sweep, peer the plain one.
 */
#include "bench.h"

#include "certify/robust.h"
#include "core/rng.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACTIONS = 4, SAMPLES = 20 };

static pess_counts *random_counts(int64_t states) {
    const int64_t rows = states * ACTIONS * SAMPLES;
    uint32_t *s = array(rows, sizeof *s), *a = array(rows, sizeof *a), *t = array(rows, sizeof *t);
    double *r = array(rows, sizeof *r);
    uint8_t *end = array(rows, sizeof *end);
    pess__rng rng = pess__rng_stream(1, "bench certify", (uint64_t)states);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t pair = i / SAMPLES;
        s[i] = (uint32_t)(pair / ACTIONS);
        a[i] = (uint32_t)(pair % ACTIONS);
        t[i] = (uint32_t)((pair * 7919 + (int64_t)pess__rng_below(&rng, 8) * 104729) % states);
        r[i] = pess__rng_uniform(&rng) < 0.3;
    }
    const pess_columns columns = {rows, s, a, t, r, end, NULL, NULL, NULL};
    pess_error error = {0};
    pess_dataset *data = NULL;
    pess_counts *counts = NULL;
    must(pess_dataset_create(&columns, states, ACTIONS, &data, &error), &error);
    must(pess_counts_create(data, 0, &counts, &error), &error);
    pess_dataset_destroy(data);
    free(s);
    free(a);
    free(t);
    free(r);
    free(end);
    return counts;
}

static void plain_sweep(const pess_model *model, double gamma, const double *v, double *out, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t s = 0; s < model->states; s++) {
        double best = -INFINITY;
        for (int64_t z = s * ACTIONS; z < (s + 1) * ACTIONS; z++) {
            double q = 0;
            for (int64_t i = model->row[z]; i < model->row[z + 1]; i++) q += model->probability[i] * v[model->next[i]];
            q = model->reward[z] + gamma * q;
            best = q > best ? q : best;
        }
        out[s] = best;
    }
}

static void bench(int64_t states, const char *uncertainty) {
    const int threads = 1, repeats = states > 50000 ? 8 : 20;
    pess_error error = {0};
    pess_counts *counts = random_counts(states);
    pess_model *model = NULL;
    const pess_model_options options = {.size = sizeof(pess_model_options),
                                        .unseen = PESS_UNSEEN_WORST,
                                        .reward_range = {0, 1},
                                        .return_range = {NAN, NAN}};
    must(pess_model_estimate(counts, &options, &model, &error), &error);
    const pess__u_problem problem = {.counts = counts,
                                     .model = model,
                                     .gamma = 0.99,
                                     .delta = 0.05,
                                     .v_hi = 100,
                                     .max_successors = 8,
                                     .threads = threads};
    pess__robust *robust = NULL;
    must(pess__robust_create(&problem, uncertainty, NULL, NULL, (pess__robust_delta){0.02, 0, 0.02, 0.01}, &robust,
                             &error),
         &error);
    double *v = array(states, sizeof *v), *out = array(states, sizeof *out), worst = INFINITY, plain = INFINITY;
    int32_t *found = array(states, sizeof *found);
    for (int i = 0; i < repeats; i++) {
        double begun = pess__clock();
        (void)pess__robust_sweep(robust, 1, NULL, v, out, found);
        worst = fmin(worst, pess__clock() - begun);
        begun = pess__clock();
        plain_sweep(model, 0.99, out, v, threads);
        plain = fmin(plain, pess__clock() - begun);
    }
    printf("{\"name\": \"certify_sweep_%s_%lld_states\", \"ours\": %.6f, \"peer\": %.6f, \"ratio\": %.3f, \"unit\": "
           "\"s\", "
           "\"times_plain\": %.2f}\n",
           uncertainty, (long long)states, worst, plain, plain / worst, worst / plain);
    pess__robust_destroy(robust);
    pess_model_destroy(model);
    pess_counts_destroy(counts);
    free(v);
    free(out);
    free(found);
}

int main(void) {
    const int64_t sizes[] = {1000, 10000, 100000};
    for (int i = 0; i < 3; i++) {
        bench(sizes[i], "l1");
        bench(sizes[i], "support");
    }
    return 0;
}
