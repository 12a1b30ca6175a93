/* Elliptical widths: the counts on one-hot states, a second method on shared bits, and less with more data. */
#include "fitted_case.h"

enum { SHARED = 10, ROWS = 60 };

/* u of every pair, not relative; the cap is 5. */
static pess__training *widths_of(const pess_observations *data) {
    pess__training *f = by_hand("ua-elliptical", 1, data);
    f->setup.options.relative = false;
    f->setup.options.uncertainty_steps = 1; /* the network is not asked */
    make_penalties(f);
    return f;
}

/* 1/√(n + 1/cap²), which is the cap where n = 0. */
static void one_hot_states_have_their_counts(void **state) {
    (void)state;
    pess_observations *data = no_steps(STATES);
    pess__rng rng = pess__rng_stream(1, "test elliptical", 0);
    for (int i = 0; i < 40; i++) {
        const int64_t from = (int64_t)pess__rng_below(&rng, STATES);
        add_step(data, from, from == 0 ? 1 : (int32_t)pess__rng_below(&rng, ACTIONS), 0, (from + 1) % STATES,
                 PESS_END_NONE);
    }
    pess__training *f = widths_of(data);
    bool never = false;
    for (int64_t z = 0; z < data->states * ACTIONS; z++) {
        const double n = f->tables.counts[z];
        never |= n == 0;
        assert_close("width", (double)f->tables.penalty[z], 1 / sqrt(n + 0.04));
    }
    assert_true(never);
    put_away(f);
    pess_observations_destroy(data);
}

/* Observations of ten bits, two to five of them set. */
static pess_observations *shared_bits(int rows) {
    pess_observations *data = no_steps(SHARED);
    pess__rng rng = pess__rng_stream(2, "test elliptical", 0);
    unsigned from = 3;
    for (int i = 0; i < rows; i++) {
        unsigned to = 0;
        const int bits = 2 + (int)pess__rng_below(&rng, 4);
        while (__builtin_popcount(to) < bits) to |= 1U << pess__rng_below(&rng, SHARED);
        const uint8_t before[2] = {(uint8_t)from, (uint8_t)(from >> 8)}, after[2] = {(uint8_t)to, (uint8_t)(to >> 8)};
        pess_error error;
        OK(pess_observations_add(data, before, (int32_t)pess__rng_below(&rng, ACTIONS), 0, after, PESS_END_NONE,
                                 &error));
        from = to;
    }
    return data;
}

static void unit_vector(const pess_observations *data, int64_t state, double *out) {
    const uint8_t *at = data->observations + state * data->bytes;
    double count = 0;
    for (int i = 0; i < SHARED; i++) count += out[i] = at[i / 8] >> (i % 8) & 1;
    for (int i = 0; i < SHARED; i++) out[i] /= sqrt(count);
}

/* φᵀΛ⁻¹φ by elimination with pivoting on [Λ φ]. */
static double by_elimination(const pess_observations *data, int64_t state, int action) {
    double m[SHARED][SHARED + 1] = {{0}}, phi[SHARED], sum = 0;
    for (int i = 0; i < SHARED; i++) m[i][i] = 0.04;
    for (int64_t row = 0; row < data->transitions; row++) {
        if (data->action[row] != action) continue;
        unit_vector(data, data->state[row], phi);
        for (int i = 0; i < SHARED; i++)
            for (int k = 0; k < SHARED; k++) m[i][k] += phi[i] * phi[k];
    }
    unit_vector(data, state, phi);
    for (int i = 0; i < SHARED; i++) m[i][SHARED] = phi[i];
    for (int p = 0; p < SHARED; p++) {
        int pivot = p;
        for (int i = p + 1; i < SHARED; i++)
            if (fabs(m[i][p]) > fabs(m[pivot][p])) pivot = i;
        for (int k = 0; k <= SHARED; k++) {
            const double kept = m[p][k];
            m[p][k] = m[pivot][k];
            m[pivot][k] = kept;
        }
        for (int i = 0; i < SHARED; i++) {
            const double factor = i != p ? m[i][p] / m[p][p] : 0;
            for (int k = 0; k <= SHARED; k++) m[i][k] -= factor * m[p][k];
        }
    }
    for (int i = 0; i < SHARED; i++) sum += phi[i] * m[i][SHARED] / m[i][i];
    return sqrt(sum);
}

static void widths_are_those_of_elimination(void **state) {
    (void)state;
    pess_observations *data = shared_bits(ROWS);
    pess__training *f = widths_of(data);
    for (int64_t s = 0; s < data->states; s++)
        for (int a = 0; a < ACTIONS; a++) {
            const double wanted = by_elimination(data, s, a);
            if (pess__tables_acted(&f->setup, &f->tables, s))
                assert_close("width", (double)f->tables.penalty[s * ACTIONS + a], wanted);
            assert_close("width of any state", (double)f->tables.widths[s * ACTIONS + a], wanted);
        }
    put_away(f);
    pess_observations_destroy(data);
}

static void more_data_make_them_smaller(void **state) {
    (void)state;
    pess_observations *few = shared_bits(ROWS), *more = shared_bits(2 * ROWS); /* the same first rows */
    pess__training *f = widths_of(few), *g = widths_of(more);
    for (int64_t s = 0; s < few->states; s++) {
        const int64_t t = pess__observations_find(more, few->observations + s * few->bytes);
        for (int a = 0; a < ACTIONS; a++)
            assert_true(g->tables.widths[t * ACTIONS + a] < f->tables.widths[s * ACTIONS + a]);
    }
    put_away(f);
    put_away(g);
    pess_observations_destroy(few);
    pess_observations_destroy(more);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_hot_states_have_their_counts),
        cmocka_unit_test(widths_are_those_of_elimination),
        cmocka_unit_test(more_data_make_them_smaller),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
