/* Episodes of one step, in which what was paid tells the action, and networks whose outputs are known. */
#ifndef PESS_TESTS_PLAY_CASE_H
#define PESS_TESTS_PLAY_CASE_H

#include "coverage.h"

#include "nn/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A network of one layer: output j of the observation with bit s alone is table[s*outputs + j], exactly. */
static inline pess__net *table_network(int64_t bits, int64_t outputs, const float *table) {
    const pess__net_spec spec = {.rows = 1,
                                 .cols = 1,
                                 .channels = (int32_t)bits,
                                 .layer_count = 1,
                                 .layers = {{PESS__LAYER_DENSE, 0, 0, (int32_t)outputs, 1}}};
    pess__net *net = NULL;
    pess_error error;
    assert_int_equal(pess__net_create(&spec, NULL, &net, &error), PESS_OK);
    float *values = calloc((size_t)((bits + 1) * outputs), sizeof *values);
    for (int64_t j = 0; j < outputs; j++)
        for (int64_t s = 0; s < bits; s++) values[j * bits + s] = table[s * outputs + j];
    pess__net_import(net, values);
    free(values);
    return net;
}

/* State 0 pays by the action and ends in state 1. */
static inline pess_mdp *one_step(int64_t actions, const double *pay) {
    pess_mdp_transition *transitions = calloc((size_t)actions, sizeof *transitions);
    for (int64_t a = 0; a < actions; a++) transitions[a] = (pess_mdp_transition){0, a, 1, 1, pay[a]};
    pess_mdp *mdp = NULL;
    pess_error error;
    assert_int_equal(pess_mdp_create(2, actions, transitions, actions, &mdp, &error), PESS_OK);
    free(transitions);
    return mdp;
}

/* A count of n trials of probability p; a false alarm once in a million, half of it on either side. */
static inline void is_binomial(int64_t n, double p, int64_t count) {
    assert_true(binomial_above(n, p, count - 1) > 0.5e-6);
    assert_true(binomial_above(n, 1 - p, n - count - 1) > 0.5e-6);
}

#endif
