/* kernel-counts: u(s,a) = min(1/√(π̂(a|s)·N̂(s)), cap), where states that look alike share their visits:
 *
 *     N̂(s) = Σ N(s′) J(s,s′)^4 over the states s′ of the data,     J = |s ∩ s′|/|s ∪ s′| of the bits that are set.
 *
 * States without a common bit share nothing: one-hot states have N̂ = N and u = 1/√n, the paper's. It shrinks as the
 * data grow, and no state has to come back. The sum over all pairs of states is estimated by MinHash (Broder 1997): the
 * smallest of the set bits in a random order is the same in s and s′ with probability J, so the states that have it in
 * common with s in four orders at once are counted, and the mean is taken over eight such counts; a state always counts
 * its own visits. Outside the data a network stands for 1/√N̂(s), held to [0,1]. */
#include "deep/neural_uncertainty.h"
#include "deep/regression.h"

#include "core/memory.h"
#include "core/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES = 8, POWER = 4 };

/* What one state has in one table: the code of its smallest bits, and its visits. */
typedef struct place {
    uint64_t code;
    int64_t state, visits;
} place;

typedef struct sharing {
    const pess_observations *data;
    const pess__tables *tables;
    uint64_t *order; /* [bits*POWER] random numbers that put the bits in order */
    place *places;   /* [states] */
    double *sum;     /* [states] of the counts in all tables */
} sharing;

static int64_t visits(const sharing *s, int64_t state) {
    int64_t sum = 0;
    for (int64_t a = 0; a < s->data->actions; a++) sum += s->tables->counts[state * s->data->actions + a];
    return sum;
}

/* The smallest number of the set bits, in each order; their hash. No bits at all are a code of their own. */
static uint64_t code(const sharing *s, int64_t state) {
    const uint8_t *at = s->data->observations + state * s->data->bytes;
    uint64_t least[POWER], hash = 0;
    memset(least, 0xFF, sizeof least);
    for (int64_t i = 0; i < s->data->shape.length; i++) {
        if (!(at[i / 8] >> (i % 8) & 1)) continue;
        for (int j = 0; j < POWER; j++)
            if (s->order[i * POWER + j] < least[j]) least[j] = s->order[i * POWER + j];
    }
    for (int j = 0; j < POWER; j++) hash = (hash ^ least[j]) * 0x9E3779B97F4A7C15U; /* Fibonacci hashing */
    return hash;
}

static int by_code(const void *a, const void *b) {
    const place *x = a, *y = b;
    return x->code < y->code ? -1 : x->code > y->code ? 1 : (x->state > y->state) - (x->state < y->state);
}

/* Adds to every state the visits of those with its code. */
static void share(sharing *s, int64_t table) {
    const int64_t states = s->data->states;
    pess__rng rng = pess__rng_stream(0, "kernel counts", (uint64_t)table);
    for (int64_t i = 0; i < s->data->shape.length * POWER; i++) s->order[i] = pess__rng_next(&rng);
    for (int64_t i = 0; i < states; i++) s->places[i] = (place){code(s, i), i, visits(s, i)};
    qsort(s->places, (size_t)states, sizeof *s->places, by_code);
    for (int64_t first = 0, end; first < states; first = end) {
        double sum = 0;
        for (end = first; end < states && s->places[end].code == s->places[first].code; end++)
            sum += (double)s->places[end].visits;
        for (int64_t i = first; i < end; i++) s->sum[s->places[i].state] += sum;
    }
}

static pess_status widths(const pess__setup *setup, const pess__tables *tables, float *out, pess_error *error) {
    static const char what[] = "shared counts";
    const pess_observations *data = setup->data;
    sharing s = {.data = data, .tables = tables};
    pess_status status = pess__allocate(&s.order, data->shape.length * POWER, sizeof *s.order, what, error);
    if (status == PESS_OK) status = pess__allocate(&s.places, data->states, sizeof *s.places, what, error);
    if (status == PESS_OK) status = pess__allocate(&s.sum, data->states, sizeof *s.sum, what, error);
    for (int64_t table = 0; table < TABLES && status == PESS_OK; table++) share(&s, table);
    for (int64_t i = 0; i < data->states * data->actions && status == PESS_OK; i++)
        out[i] = (float)pess__root_count(s.sum[i / data->actions] / TABLES, 1);
    free(s.order);
    free(s.places);
    free(s.sum);
    return status;
}

static void from_widths(const pess__view *view, double *u) { pess__share_visits(view, (double)view->widths[0], u); }

static void label(const pess__view *view, pess__real *labels) { labels[0] = (pess__real)view->widths[0]; }

const pess__neural_uncertainty pess__neural_uncertainty_kernel_counts = {
    .info = {.name = "kernel-counts",
             .summary = "the imitation network's share of how often states like this one occur",
             .formula =
                 "min(1/sqrt(p(a|s) N(s)), cap), p of the imitation network, N(s) = sum of N(s') J(s,s')^4, J the "
                 "share of set bits that both have",
             .outside = "p of the imitation network, N(s) of a network that was trained to predict 1/sqrt(N(s))",
             .cap = 10,
             .imitation = true},
    .learner = {.info = {.name = "ua-kernel-counts",
                         .summary = "values less alpha times an uncertainty from counts that similar states share",
                         .values = true,
                         .imitation = true,
                         .knobs = &pess__ua_knobs,
                         .source = "the rule of Buckman et al. 2021; the uncertainty is ours, by MinHash (Broder 1997)",
                         .settings = PESS__READS_UA_NETWORK " " PESS__READS_IMITATION,
                         .uncertainty = "kernel-counts"},
                .decide = pess__decide_ua,
                .bits = true,
                .uncertainty = &pess__neural_uncertainty_kernel_counts},
    .widths = widths,
    .inside = from_widths,
    .outside = pess__share_predicted_visits,
    .train = pess__regress_labels,
    .label = label,
    .one_output = true};
