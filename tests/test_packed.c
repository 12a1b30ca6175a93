/* Packed rows give the q of the model itself, shared rows are found where there are some, and what is swept in either
 * form solves the same equations. */
#include "fixture.h"

#include "core/sparse_row.h"
#include "solve/packed.h"

static void put(pess_model *model, int64_t z, int64_t next, double p) {
    model->kind[z] = PESS_ROW_SPARSE;
    model->next[model->row[z + 1]] = (uint32_t)next;
    model->probability[model->row[z + 1]++] = p;
}

/* Rows of every kind: up to `longest` neighbouring successors with probabilities of n samples. */
static pess_model *mixed_model(int64_t states, int64_t actions, int64_t longest, uint64_t seed) {
    pess_error error;
    pess_model *model = NULL;
    assert_int_equal(pess__model_create(states, actions, states * actions * longest, &model, &error), PESS_OK);
    pess__rng rng = pess__rng_stream(seed, "packed", 0);
    model->reward_hi = 1;
    for (int64_t z = 0; z < states * actions; z++) {
        model->row[z + 1] = model->row[z];
        model->terminal[z / actions] = z / actions % 37 == 36;
        model->reward[z] = pess__rng_uniform(&rng);
        const uint64_t kind = pess__rng_below(&rng, 30);
        model->kind[z] = kind == 0                      ? PESS_ROW_UNIFORM
                         : kind == 1                    ? PESS_ROW_SINK
                         : kind == 2 && z % actions > 0 ? PESS_ROW_NONE
                                                        : PESS_ROW_SPARSE;
        if (model->terminal[z / actions]) model->kind[z] = PESS_ROW_NONE;
        if (model->kind[z] != PESS_ROW_SPARSE) continue;
        const int64_t length = kind < 25 ? longest : 1 + (int64_t)pess__rng_below(&rng, (uint64_t)longest);
        const int64_t first = (int64_t)pess__rng_below(&rng, (uint64_t)(states - longest));
        for (int64_t k = 0; k < length; k++)
            if ((first + k) % 37 != 36) put(model, z, first + k, 1.0 / (double)length);
    }
    model->has_terminals = true;
    return model;
}

/* r + γPv + bonus, from the definition. */
static double q_of(const pess_model *model, const double *bonus, double gamma, const double *v, int64_t z) {
    double future = 0;
    for (int64_t k = model->row[z]; k < model->row[z + 1]; k++) future += model->probability[k] * v[model->next[k]];
    if (model->kind[z] == PESS_ROW_UNIFORM) future = v[model->states];
    if (model->kind[z] == PESS_ROW_SINK) future = v[model->states + 1];
    return model->kind[z] == PESS_ROW_NONE ? -INFINITY : model->reward[z] + gamma * future + bonus[z];
}

static void packed_rows_give_the_q_of_the_model(void **state) {
    (void)state;
    for (int64_t actions = 1; actions <= 7; actions++) {
        const int64_t states = 91, pairs = states * actions, slices = (pairs + PESS__SLICE - 1) / PESS__SLICE;
        pess_model *model = mixed_model(states, actions, 3, (uint64_t)actions);
        double *bonus = calloc((size_t)pairs, sizeof *bonus), *v = calloc((size_t)states + 2, sizeof *v);
        double *q = calloc((size_t)slices * PESS__SLICE, sizeof *q);
        pess__rng rng = pess__rng_stream(5, "values", (uint64_t)actions);
        for (int64_t s = 0; s < states + 2; s++) v[s] = 10 * pess__rng_uniform(&rng) - 5;
        for (int64_t z = 0; z < pairs; z++) bonus[z] = -pess__rng_uniform(&rng);
        pess__packed *packed = NULL;
        pess_error error;
        assert_int_equal(pess__packed_create(model, bonus, 1 + (int)(actions % 2), &packed, &error), PESS_OK);
        assert_non_null(packed);
        pess__packed_q(packed, 0.9, v, 0, slices, q);
        for (int64_t z = 0; z < pairs; z++) {
            const double expected = q_of(model, bonus, 0.9, v, z);
            if (isinf(expected))
                assert_true(q[z] == expected);
            else
                assert_true(fabs(q[z] - expected) <= 1e-13);
        }
        pess__packed_destroy(packed);
        free(bonus);
        free(v);
        free(q);
        pess_model_destroy(model);
    }
}

/* The four pairs of a slice lead to four states in common, with probabilities of their own; some pairs are not there.
 * `reversed`: the successors of the last pair are in no order. */
static pess_model *grid_model(int64_t states, int64_t actions, bool reversed) {
    pess_error error;
    pess_model *model = NULL;
    assert_int_equal(pess__model_create(states, actions, 4 * states * actions, &model, &error), PESS_OK);
    model->reward_hi = 1;
    for (int64_t z = 0; z < states * actions; z++) {
        const int64_t from = z / 8 * 3 % (states - 4);
        model->row[z + 1] = model->row[z];
        model->reward[z] = (double)(z * 7919 % 1000) / 1000;
        if (z % 11 == 10) model->kind[z] = PESS_ROW_NONE;
        if (z % 11 == 10) continue;
        const bool back = reversed && z + 1 == states * actions;
        for (int64_t k = 0; k < 4; k++) put(model, z, from + (back ? 3 - k : k), k == z % 4 ? 0.85 : 0.05);
    }
    return model;
}

static void common_successors_are_read_once(void **state) {
    (void)state;
    for (int64_t actions = 1; actions <= 9; actions++) {
        const int64_t states = 97, pairs = states * actions, slices = (pairs + PESS__SLICE - 1) / PESS__SLICE;
        pess_model *model = grid_model(states, actions, false);
        double *bonus = calloc((size_t)pairs, sizeof *bonus), *v = calloc((size_t)states + 2, sizeof *v);
        double *q = calloc((size_t)slices * PESS__SLICE, sizeof *q);
        pess__rng rng = pess__rng_stream(6, "values", (uint64_t)actions);
        for (int64_t s = 0; s < states; s++) v[s] = 10 * pess__rng_uniform(&rng) - 5;
        for (int64_t z = 0; z < pairs; z++) bonus[z] = -pess__rng_uniform(&rng);
        pess__packed *packed = NULL;
        pess_error error;
        assert_int_equal(pess__packed_create(model, bonus, 1, &packed, &error), PESS_OK);
        assert_true(packed->joint);
        pess__packed_q(packed, 0.9, v, 0, slices, q);
        for (int64_t z = 0; z < pairs; z++) {
            double future = 0;
            for (int64_t k = model->row[z]; k < model->row[z + 1]; k++)
                future += model->probability[k] * v[model->next[k]];
            assert_true(q[z] ==
                        (model->kind[z] == PESS_ROW_NONE ? -INFINITY : model->reward[z] + bonus[z] + 0.9 * future));
        }
        pess__packed_destroy(packed);
        free(bonus);
        free(v);
        free(q);
        pess_model_destroy(model);
        model = grid_model(states, actions, true);
        assert_int_equal(pess__packed_create(model, NULL, 1, &packed, &error), PESS_OK);
        assert_false(packed->joint);
        pess__packed_destroy(packed);
        pess_model_destroy(model);
    }
}

/* 2^16 − 2 probabilities beside 0 and 1 have codes, one more has none. */
static void too_many_probabilities_are_not_packed(void **state) {
    (void)state;
    const int64_t states = 65535;
    for (int64_t more = 0; more < 2; more++) {
        pess_error error;
        pess_model *model = NULL;
        assert_int_equal(pess__model_create(states, 1, states, &model, &error), PESS_OK);
        for (int64_t s = 0; s < states; s++) {
            model->row[s + 1] = model->row[s];
            put(model, s, s, s < 65534 + more ? (double)(s + 1) / 131072 : 0.25);
        }
        pess__packed *packed = NULL;
        assert_int_equal(pess__packed_create(model, NULL, 1, &packed, &error), PESS_OK);
        assert_int_equal(packed != NULL, more == 0);
        pess__packed_destroy(packed);
        pess_model_destroy(model);
    }
}

/* One row of 40 among rows of one: the others would be filled up. */
static void rows_of_very_different_lengths_are_not_packed(void **state) {
    (void)state;
    pess_error error;
    pess_model *model = NULL;
    assert_int_equal(pess__model_create(100, 4, 100 * (3 + 40), &model, &error), PESS_OK);
    for (int64_t z = 0; z < 400; z++) {
        model->row[z + 1] = model->row[z];
        for (int64_t k = 0; k < (z % 4 == 0 ? 40 : 1); k++) put(model, z, k, z % 4 == 0 ? 1.0 / 40 : 1);
    }
    pess__packed *packed = NULL;
    assert_int_equal(pess__packed_create(model, NULL, 1, &packed, &error), PESS_OK);
    assert_null(packed);
    pess_model_destroy(model);
}

/* Where a step goes depends on s + a: row z of `width` successors begins there. With `twist` one entry of every row
 * but its ends and its middle is another one, so that no two rows are the same. */
static pess_model *stock_model(int64_t states, int64_t actions, int64_t width, bool twist) {
    pess_error error;
    pess_model *model = NULL;
    assert_int_equal(pess__model_create(states, actions, states * actions * width, &model, &error), PESS_OK);
    model->reward_hi = 1;
    for (int64_t z = 0; z < states * actions; z++) {
        const int64_t from = (z / actions + z % actions) % (states - width);
        model->row[z + 1] = model->row[z];
        model->reward[z] = (double)(z * 7919 % 1000) / 1000;
        for (int64_t k = 0; k < width; k++)
            put(model, z, from + k, 1 / (double)width - (twist && k == 2 ? 1e-6 * (double)(z + 1) : 0));
    }
    return model;
}

static void shared_rows_are_found_and_others_are_not(void **state) {
    (void)state;
    pess_error error;
    pess__shared_rows *shared = NULL;
    pess_model *model = stock_model(120, 15, 40, false);
    assert_int_equal(pess__shared_rows_find(model, &shared, &error), PESS_OK);
    assert_non_null(shared);
    assert_true(shared->rows <= 80);
    for (int64_t z = 0; z < 120 * 15; z++) {
        const int64_t as = shared->pair[shared->row[z]];
        assert_int_equal((z / 15 + z % 15) % 80, (as / 15 + as % 15) % 80);
    }
    pess__shared_rows_destroy(shared);
    pess_model_destroy(model);

    model = stock_model(120, 15, 40, true);
    assert_int_equal(pess__shared_rows_find(model, &shared, &error), PESS_OK);
    assert_null(shared);
    pess_model_destroy(model);
}

/* sup|Tv − v| by pess_q_values, which knows no other form of the rows. */
static double residual_of(const pess_model *model, double gamma, const double *v) {
    pess_error error;
    double most = 0, *q = calloc((size_t)(model->states * model->actions), sizeof *q);
    assert_int_equal(pess_q_values(model, gamma, v, q, &error), PESS_OK);
    for (int64_t s = 0; s < model->states; s++) {
        double best = model->terminal[s] ? 0 : -INFINITY;
        for (int64_t a = 0; a < model->actions && !model->terminal[s]; a++)
            best = fmax(best, q[s * model->actions + a]);
        most = fmax(most, fabs(best - v[s]));
    }
    free(q);
    return most;
}

static void solve_by_every_method(const pess_model *model) {
    static const pess_method method[] = {PESS_METHOD_AUTO, PESS_METHOD_VALUE_ITERATION,
                                         PESS_METHOD_MODIFIED_POLICY_ITERATION, PESS_METHOD_INEXACT_POLICY_ITERATION};
    pess_error error;
    double *start = calloc((size_t)model->states, sizeof *start);
    assert_int_equal(pess_start_uniform(model, start, &error), PESS_OK);
    for (int i = 0; i < 4; i++) {
        double *first = NULL;
        for (int threads = 1; threads <= 3; threads += 2) {
            pess_solve_options options = pess_solve_options_defaults();
            options.algorithm = "naive";
            options.gamma = 0.9;
            options.tolerance = 1e-9;
            options.method = method[i];
            options.threads = threads;
            pess_solution *solution = NULL;
            assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_OK);
            const double *v = pess_solution_values(solution);
            assert_true(residual_of(model, 0.9, v) <= 2e-8); /* ties within 1e-8 go to the smaller action */
            const size_t bytes = (size_t)model->states * sizeof *v;
            if (first == NULL) {
                first = malloc(bytes);
                memcpy(first, v, bytes);
            }
            assert_memory_equal(first, v, bytes);
            pess_solution_destroy(solution);
        }
        free(first);
    }
    free(start);
}

/* Large enough to be packed. */
static void packed_models_solve_to_the_same_equations(void **state) {
    (void)state;
    pess_model *model = mixed_model(52502, 5, 3, 9);
    solve_by_every_method(model);
    pess_model_destroy(model);
}

static void shared_models_solve_to_the_same_equations(void **state) {
    (void)state;
    pess_model *model = stock_model(300, 20, 40, false);
    solve_by_every_method(model);
    pess_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_rows_give_the_q_of_the_model),
        cmocka_unit_test(common_successors_are_read_once),
        cmocka_unit_test(too_many_probabilities_are_not_packed),
        cmocka_unit_test(rows_of_very_different_lengths_are_not_packed),
        cmocka_unit_test(shared_rows_are_found_and_others_are_not),
        cmocka_unit_test(packed_models_solve_to_the_same_equations),
        cmocka_unit_test(shared_models_solve_to_the_same_equations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
