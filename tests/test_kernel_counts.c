/* Counts that similar states share: exact on one-hot states, the fourth power of what two states have in common, and
 * more with more data. */
#include "fitted_case.h"

enum { PAIRS = 400, TWIN_BYTES = 10 * PAIRS / 8, ROWS = 1000 };

/* What stands for 1/√N̂(s), once per action. */
static pess__training *shared_counts(const pess_observations *data) {
    pess__training *f = by_hand("ua-kernel-counts", 1, data);
    pess_error error;
    f->tables.widths = room_for(data->states * ACTIONS, sizeof *f->tables.widths);
    OK(pess__neural_uncertainty_kernel_counts.widths(&f->setup, &f->tables, f->tables.widths, &error));
    return f;
}

static double visits(const pess__training *f, int64_t state) {
    double sum = 0;
    for (int a = 0; a < ACTIONS; a++) sum += f->tables.counts[state * ACTIONS + a];
    return sum;
}

static void one_hot_states_share_nothing(void **state) {
    (void)state;
    pess_observations *data = no_steps(STATES);
    pess__rng rng = pess__rng_stream(1, "test kernel counts", 0);
    for (int i = 0; i < 40; i++) {
        const int64_t from = (int64_t)pess__rng_below(&rng, STATES - 1); /* the last state only ends episodes */
        add_step(data, from, (int32_t)pess__rng_below(&rng, ACTIONS), 0, STATES - 1, PESS_END_TERMINAL);
    }
    pess__training *f = shared_counts(data);
    for (int64_t s = 0; s < data->states; s++)
        assert_close("1/√N", (double)f->tables.widths[s * ACTIONS], 1 / sqrt(fmax(visits(f, s), 1)));
    put_away(f);
    pess_observations_destroy(data);
}

/* Two states with eight bits each, six of them in both, that share none with any other two: J = 6/10. */
static void add_twins(pess_observations *data, int pair) {
    uint8_t one[TWIN_BYTES] = {0}, other[TWIN_BYTES] = {0};
    pess_error error;
    for (int i = 0; i < 10; i++) {
        const int bit = pair * 10 + i;
        if (i < 8) one[bit / 8] |= (uint8_t)(1U << (bit % 8));
        if (i >= 2) other[bit / 8] |= (uint8_t)(1U << (bit % 8));
    }
    OK(pess_observations_add(data, one, 0, 0, other, PESS_END_NONE, &error));
    OK(pess_observations_add(data, other, 0, 0, one, PESS_END_TERMINAL, &error));
}

/* N̂ − 1 of each is the mean of eight counts that are 1 with probability J^4 = 0.1296, independently for each pair: over
 * 400 pairs its standard deviation is 0.006, and a false alarm at 0.03 has a probability below 1e-6. */
static void similar_states_share_the_fourth_power_of_what_they_have_in_common(void **state) {
    (void)state;
    pess_observations *data = no_steps(10 * PAIRS);
    for (int pair = 0; pair < PAIRS; pair++) add_twins(data, pair);
    pess__training *f = shared_counts(data);
    double sum = 0;
    for (int64_t s = 0; s < data->states; s++) {
        const double width = (double)f->tables.widths[s * ACTIONS];
        sum += 1 / (width * width) - 1;
    }
    assert_int_equal(data->states, 2 * PAIRS);
    if (!(fabs(sum / (double)data->states - 0.1296) < 0.03)) fail_msg("shared: %g", sum / (double)data->states);
    put_away(f);
    pess_observations_destroy(data);
}

/* Observations of twelve bits. */
static pess_observations *shared_bits(int rows) {
    pess_observations *data = no_steps(12);
    pess__rng rng = pess__rng_stream(2, "test kernel counts", 0);
    unsigned from = 0x3F;
    for (int i = 0; i < rows; i++) {
        const unsigned to = (unsigned)pess__rng_below(&rng, 1U << 12);
        const uint8_t before[2] = {(uint8_t)from, (uint8_t)(from >> 8)}, after[2] = {(uint8_t)to, (uint8_t)(to >> 8)};
        pess_error error;
        OK(pess_observations_add(data, before, (int32_t)pess__rng_below(&rng, ACTIONS), 0, after, PESS_END_NONE,
                                 &error));
        from = to;
    }
    return data;
}

static void more_data_make_it_smaller(void **state) {
    (void)state;
    pess_observations *few = shared_bits(ROWS / 4), *more = shared_bits(ROWS); /* the same first rows */
    pess__training *f = shared_counts(few), *g = shared_counts(more);
    for (int64_t s = 0; s < few->states; s++) {
        const int64_t t = pess__observations_find(more, few->observations + s * few->bytes);
        assert_true(g->tables.widths[t * ACTIONS] < f->tables.widths[s * ACTIONS]);
        assert_true((double)g->tables.widths[t * ACTIONS] <= 1 / sqrt(fmax(visits(g, t), 1))); /* its own are counted */
    }
    put_away(f);
    put_away(g);
    pess_observations_destroy(few);
    pess_observations_destroy(more);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_hot_states_share_nothing),
        cmocka_unit_test(similar_states_share_the_fourth_power_of_what_they_have_in_common),
        cmocka_unit_test(more_data_make_it_smaller),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
