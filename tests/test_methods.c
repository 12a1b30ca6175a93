/* Every method on graphs of every kind agrees with dense LU; the graph is what it is said to be; the incomplete factors
 * are exact where they must be; a lower bound stays one where a method stops early. */
#include "fixture.h"

#include "core/ilu.h"
#include "solve/structure.h"

enum { STATES = 180, ACTIONS = 3, CELLS = 13 };

static void put(pess_model *model, int64_t z, int64_t next, double p) {
    model->next[model->row[z + 1]] = (uint32_t)next;
    model->probability[model->row[z + 1]++] = p;
}

static int by_state(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Certain steps to random states; some pairs end. */
static void certain_row(pess_model *model, int64_t z, pess__rng *rng) {
    if (pess__rng_below(rng, 50) == 0)
        model->end_mass[z] = 1;
    else
        put(model, z, (int64_t)pess__rng_below(rng, STATES), 1);
    model->reward[z] = pess__rng_below(rng, 30) == 0 ? pess__rng_uniform(rng) : 0;
}

/* The cells of a square with walls at its edge; the last one ends. */
static void maze_row(pess_model *model, int64_t z, pess__rng *rng) {
    (void)rng;
    const int64_t cell = z / ACTIONS, row = cell / CELLS, column = cell % CELLS;
    const int64_t way = z % ACTIONS, next = way == 0 ? cell + CELLS : way == 1 ? cell + 1 : cell - 1;
    const bool wall = (way == 0 && row >= CELLS) || (way == 1 && column == CELLS - 1) || (way == 2 && column == 0);
    model->reward[z] = -1;
    if (cell == STATES - 1)
        model->end_mass[z] = 1;
    else
        put(model, z, wall || next >= STATES ? cell : next, 1);
}

/* Steps to two later states, by random shares; the last states end. */
static void layered_row(pess_model *model, int64_t z, pess__rng *rng) {
    const int64_t s = z / ACTIONS, one = s + 1 + (int64_t)pess__rng_below(rng, 5), two = one + 1;
    const double p = pess__rng_uniform(rng);
    model->reward[z] = pess__rng_uniform(rng);
    if (one < STATES) put(model, z, one, p);
    if (two < STATES) put(model, z, two, 1 - p);
    model->end_mass[z] = (one < STATES ? 0 : p) + (two < STATES ? 0 : 1 - p);
}

static void queue_row(pess_model *model, int64_t z, pess__rng *rng) {
    const int64_t s = z / ACTIONS;
    const double up = s + 1 < STATES ? 0.4 : 0, down = s > 0 ? 0.2 * (double)(1 + z % ACTIONS) : 0;
    model->reward[z] = pess__rng_uniform(rng) * (double)s / STATES;
    if (down > 0) put(model, z, s - 1, down);
    put(model, z, s, 1 - up - down);
    if (up > 0) put(model, z, s + 1, up);
}

/* Random successors over all states; some rows are uniform, some sinks. */
static void mixed_row(pess_model *model, int64_t z, pess__rng *rng) {
    const uint64_t kind = pess__rng_below(rng, 20);
    int64_t next[3] = {0};
    model->reward[z] = pess__rng_uniform(rng);
    if (kind < 2) {
        model->kind[z] = kind == 0 ? PESS_ROW_UNIFORM : PESS_ROW_SINK;
        return;
    }
    for (int64_t k = 0; k < 3; k++) next[k] = (int64_t)pess__rng_below(rng, STATES);
    qsort(next, 3, sizeof *next, by_state);
    for (int64_t k = 0; k < 3; k++) put(model, z, next[k], 1.0 / 3);
}

/* A ring with slips: chains mix slowly. */
static void ring_row(pess_model *model, int64_t z, pess__rng *rng) {
    const int64_t s = z / ACTIONS;
    int64_t next[3] = {(s + STATES - 1) % STATES, s, (s + 1) % STATES};
    double p[3] = {0.1, 0.1, 0.1};
    p[z % ACTIONS] = 0.8;
    model->reward[z] = pess__rng_uniform(rng);
    for (int64_t k = 0; k < 3; k++) put(model, z, next[k], p[k]);
}

typedef void make_row(pess_model *model, int64_t z, pess__rng *rng);

static const struct graph {
    const char *name;
    make_row *row;
    const char *method; /* that is chosen; NULL: any */
} graphs[] = {{"certain", certain_row, NULL},
              {"maze", maze_row, "gauss-seidel"},
              {"layered", layered_row, "gauss-seidel"},
              {"queue", queue_row, "inexact policy iteration"},
              {"mixed", mixed_row, "modified policy iteration"},
              {"ring", ring_row, "inexact policy iteration"}};
enum { GRAPHS = sizeof graphs / sizeof *graphs };

static pess_model *graph_model(const struct graph *graph, uint64_t seed) {
    pess_error error = {0};
    pess_model *model = NULL;
    pess__rng rng = pess__rng_stream(seed, graph->name, 0);
    OK(pess__model_create(STATES, ACTIONS, 4 * STATES * ACTIONS, &model, &error));
    for (int64_t z = 0; z < STATES * ACTIONS; z++) {
        model->kind[z] = PESS_ROW_SPARSE;
        model->row[z + 1] = model->row[z];
        graph->row(model, z, &rng);
        if (model->end_mass[z] > 0) model->has_terminals = true;
    }
    model->reward_lo = -1;
    model->reward_hi = 1;
    return model;
}

static pess_solution *solve(const pess_counts *counts, const pess_model *model, const pess_solve_options *options) {
    pess_error error = {0};
    pess_solution *solution = NULL;
    double *start = fixture_start(model);
    OK(pess_solve(counts, model, start, options, &solution, &error));
    free(start);
    return solution;
}

static const pess_method methods[] = {PESS_METHOD_AUTO,
                                      PESS_METHOD_POLICY_ITERATION,
                                      PESS_METHOD_MODIFIED_POLICY_ITERATION,
                                      PESS_METHOD_INEXACT_POLICY_ITERATION,
                                      PESS_METHOD_GAUSS_SEIDEL,
                                      PESS_METHOD_VALUE_ITERATION};
enum { METHODS = sizeof methods / sizeof *methods };

/* Values of all methods with the Krylov solver, and those of policy iteration with dense LU. */
static void methods_agree(const pess_counts *counts, const pess_model *model, pess_solve_options options,
                          const char *expected) {
    options.tolerance = 1e-13;
    options.method = PESS_METHOD_POLICY_ITERATION;
    options.evaluation = PESS_EVALUATION_LU;
    pess_solution *exact = solve(counts, model, &options);
    const double *truth = pess_solution_values(exact);
    double largest = 0;
    for (int64_t s = 0; s < STATES; s++) largest = fmax(largest, fabs(truth[s]));
    options.evaluation = PESS_EVALUATION_KRYLOV;
    for (int m = 0; m < METHODS; m++) {
        if (methods[m] == PESS_METHOD_VALUE_ITERATION && options.gamma > 0.99) continue; /* too slow */
        options.method = methods[m];
        pess_solution *solution = solve(counts, model, &options);
        pess_solution_info info;
        pess_solution_get_info(solution, &info);
        assert_int_equal(info.outcome, PESS_OUTCOME_CONVERGED);
        const double off = fixture_difference(pess_solution_values(solution), truth, STATES) / fmax(1, largest);
        if (off > 1e-9) fail_msg("%s, %s: off by %g of the largest value", options.algorithm, info.method, off);
        assert_int_equal(info.structure.measured, m == 0 || methods[m] == PESS_METHOD_GAUSS_SEIDEL);
        if (m == 0) assert_non_null(info.reason);
        if (m == 0 && expected != NULL) assert_string_equal(info.method, expected);
        pess_solution_destroy(solution);
    }
    pess_solution_destroy(exact);
}

static void all_methods_agree_with_lu(void **state) {
    (void)state;
    const double gammas[] = {0.5, 0.95, 0.9999};
    for (int g = 0; g < GRAPHS; g++)
        for (uint64_t seed = 0; seed < 2; seed++)
            for (int d = 0; d < 3; d++) {
                pess_model *model = graph_model(&graphs[g], seed);
                pess_solve_options options = pess_solve_options_defaults();
                options.algorithm = "naive";
                options.gamma = gammas[d];
                methods_agree(NULL, model, options, d == 2 ? graphs[g].method : NULL);
                pess_model_destroy(model);
            }
}

/* The families whose local problem is their own, with rows of the policy that are not certain. */
static void all_families_agree_with_lu(void **state) {
    (void)state;
    const char *families[] = {"ua", "proximal", "spibb", "soft-spibb", "ramdp", "rmin"};
    for (int g = 0; g < GRAPHS; g++)
        for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
            pess_model *model = graph_model(&graphs[g], 7);
            pess_counts *counts = fixture_counts(model, 60, 7);
            pess_solve_options options = pess_solve_options_defaults();
            options.algorithm = families[f];
            options.gamma = 0.97;
            methods_agree(counts, model, options, NULL);
            pess_counts_destroy(counts);
            pess_model_destroy(model);
        }
}

static void layers_are_components_of_one_state(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = graph_model(&graphs[2], 1);
    pess__structure structure;
    OK(pess__structure_measure(model, 1, &structure, &error));
    assert_int_equal(structure.found.components, STATES);
    assert_int_equal(structure.found.largest_component, 1);
    int64_t place[STATES];
    for (int64_t i = 0; i < STATES; i++) place[structure.order[i]] = i;
    for (int64_t z = 0; z < STATES * ACTIONS; z++) /* successors come first */
        for (int64_t k = model->row[z]; k < model->row[z + 1]; k++)
            assert_true(place[model->next[k]] < place[z / ACTIONS]);
    pess__structure_release(&structure);
    pess_model_destroy(model);
}

/* Two rings, the first of which leads to the second. */
static void components_come_after_those_they_lead_to(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = NULL;
    enum { N = 10 };
    OK(pess__model_create(2 * N, 1, 3 * N, &model, &error));
    for (int64_t s = 0; s < 2 * N; s++) {
        model->kind[s] = PESS_ROW_SPARSE;
        model->row[s + 1] = model->row[s];
        put(model, s, s < N ? (s + 1) % N : N + (s - N + 3) % N, s == 4 ? 0.5 : 1);
        if (s == 4) put(model, s, N + 2, 0.5);
    }
    pess__structure structure = {0};
    OK(pess__components(model, &structure, &error));
    assert_int_equal(structure.found.components, 2);
    assert_int_equal(structure.found.largest_component, N);
    assert_int_equal(structure.components[1], N);
    for (int i = 0; i < N; i++) assert_true(structure.order[i] >= N && structure.order[N + i] < N);
    pess__structure_release(&structure);
    pess_model_destroy(model);
}

static void depth_is_the_longest_way_to_the_end(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = graph_model(&graphs[1], 0);
    pess__structure structure = {0};
    OK(pess__breadth_first(model, &structure, &error));
    assert_int_equal(structure.found.sources, 1);
    assert_int_equal(structure.order[0], STATES - 1);
    /* 180 states in rows of 13: the last is in row 13, column 10; the farthest, 13 rows up, is 10 columns away. */
    assert_int_equal(structure.found.depth, 13 + 10);
    pess__structure_release(&structure);
    pess_model_destroy(model);
}

/* M⁻¹Ax = x where A is tridiagonal, or its rows have one entry beside the diagonal. */
static void factors_are_exact(make_row *row, int64_t action) {
    pess_error error = {0};
    pess_model *model = graph_model(&(struct graph){"factors", row, NULL}, 3);
    int64_t begin[STATES + 1] = {0};
    uint32_t next[3 * STATES];
    double weight[3 * STATES], x[STATES], y[STATES], z[STATES];
    for (int64_t s = 0; s < STATES; s++) {
        begin[s + 1] = begin[s];
        for (int64_t k = model->row[s * ACTIONS + action]; k < model->row[s * ACTIONS + action + 1]; k++) {
            next[begin[s + 1]] = model->next[k];
            weight[begin[s + 1]++] = 0.999 * model->probability[k];
        }
        x[s] = sin((double)s);
    }
    pess__ilu ilu;
    const pess__sparse g = {STATES, begin, next, weight};
    OK(pess__ilu_create(STATES, 1, &ilu, &error));
    OK(pess__ilu_order(&g, &ilu, &error));
    OK(pess__ilu_factor(&g, &ilu, &error));
    pess__ilu_apply(&ilu, x, y);
    pess__ilu_precondition(&ilu, y, z);
    assert_true(fixture_difference(x, z, STATES) <= 1e-10);
    pess__ilu_release(&ilu);
    pess_model_destroy(model);
}

static void incomplete_factors_are_complete_where_nothing_fills_in(void **state) {
    (void)state;
    factors_are_exact(queue_row, 0);
    factors_are_exact(queue_row, 2);
    factors_are_exact(maze_row, 0);
}

/* Cells of a square, a tenth of the steps slips; the last cell ends. The first action leads away from it, against a
 * drift that a policy of it alone takes some 10^15 steps to overcome. */
static void slippery_row(pess_model *model, int64_t z, pess__rng *rng) {
    (void)rng;
    static const int64_t right[] = {-1, 1, 0, 0}, down[] = {0, 0, 1, -1};
    const int64_t cell = z / ACTIONS, row = cell / CELLS, column = cell % CELLS;
    double share[STATES] = {0};
    for (int d = 0; d < 4; d++) {
        const int64_t r = row + down[d], c = column + right[d], next = r * CELLS + c;
        const bool wall = r < 0 || c < 0 || c >= CELLS || next >= STATES;
        share[wall ? cell : next] += d == z % ACTIONS ? 0.925 : 0.025;
    }
    model->reward[z] = -1;
    model->end_mass[z] = cell == STATES - 1 ? 1 : share[STATES - 1];
    if (cell == STATES - 1) return;
    for (int64_t s = 0; s < STATES - 1; s++)
        if (share[s] > 0) put(model, z, s, share[s]);
}

static void ends_far_against_the_drift_are_found(void **state) {
    (void)state;
    const struct graph slippery = {"slippery", slippery_row, NULL};
    pess_model *model = graph_model(&slippery, 1);
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = 1;
    options.tolerance = 1e-12;
    options.time_limit = 20;
    options.method = PESS_METHOD_VALUE_ITERATION;
    pess_solution *truth = solve(NULL, model, &options);
    for (int m = 0; m < METHODS; m++)
        for (int e = 0; e < 2; e++) {
            pess_solution_info info;
            options.method = methods[m];
            options.evaluation = e == 0 ? PESS_EVALUATION_KRYLOV : PESS_EVALUATION_LU;
            pess_solution *solution = solve(NULL, model, &options);
            pess_solution_get_info(solution, &info);
            assert_int_equal(info.outcome, PESS_OUTCOME_CONVERGED);
            assert_true(fixture_difference(pess_solution_values(solution), pess_solution_values(truth), STATES) <=
                        1e-9);
            pess_solution_destroy(solution);
        }
    pess_solution_destroy(truth);
    pess_model_destroy(model);
}

/* The value that is returned is that of the policy, whenever it stops; the best value is no lower. */
static void stopping_early_leaves_a_lower_bound(void **state) {
    (void)state;
    for (int g = 0; g < GRAPHS; g++) {
        pess_model *model = graph_model(&graphs[g], 5);
        pess_solve_options options = pess_solve_options_defaults();
        options.algorithm = "naive";
        options.gamma = 0.99;
        options.evaluation = PESS_EVALUATION_KRYLOV;
        pess_solution *best = solve(NULL, model, &options);
        for (int m = 0; m < METHODS; m++) {
            options.method = methods[m];
            options.max_iterations = 1;
            pess_solution *early = solve(NULL, model, &options);
            double *truth = fixture_evaluate(model, pess_solution_policy(early), 0.99);
            assert_true(fixture_difference(pess_solution_values(early), truth, STATES) <= 1e-8);
            for (int64_t s = 0; s < STATES; s++)
                assert_true(pess_solution_values(early)[s] <= pess_solution_values(best)[s] + 1e-7);
            free(truth);
            pess_solution_destroy(early);
        }
        pess_solution_destroy(best);
        pess_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_methods_agree_with_lu),
                                       cmocka_unit_test(all_families_agree_with_lu),
                                       cmocka_unit_test(layers_are_components_of_one_state),
                                       cmocka_unit_test(components_come_after_those_they_lead_to),
                                       cmocka_unit_test(depth_is_the_longest_way_to_the_end),
                                       cmocka_unit_test(incomplete_factors_are_complete_where_nothing_fills_in),
                                       cmocka_unit_test(ends_far_against_the_drift_are_found),
                                       cmocka_unit_test(stopping_early_leaves_a_lower_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
