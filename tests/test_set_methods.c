/* Families whose penalty depends on the values, by every method: the same fixed point, whose equation is checked by
 * pess_evaluate of the policy; what no method can be chosen for says so. */
#include "fixture.h"

#include "solve/families.h"

typedef struct family {
    const char *algorithm, *uncertainty;
    double alpha;
} family;

static const family families[] = {
    {"robust", "support", 1}, {"robust", "l1", 0.5}, {"ua", "support", 0.5}, {"ua", "l1", 1}, {"ua", "l1", 0.3}};
enum { FAMILIES = sizeof families / sizeof *families };

static const struct way {
    pess_method method;
    const char *name;
} ways[] = {{PESS_METHOD_AUTO, "newton"},
            {PESS_METHOD_POLICY_ITERATION, "policy iteration"},
            {PESS_METHOD_INEXACT_POLICY_ITERATION, "inexact policy iteration"},
            {PESS_METHOD_MODIFIED_POLICY_ITERATION, "modified policy iteration"},
            {PESS_METHOD_VALUE_ITERATION, "value iteration"}};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct world {
    pess_model *model;
    pess_counts *counts;
    double *start;
} world;

static world world_of(uint64_t seed) {
    const fixture_shape shape = {.states = 30 + (int64_t)(seed % 3) * 60,
                                 .actions = 3,
                                 .branching = 4,
                                 .terminals = seed % 2 == 0,
                                 .end = 0.1,
                                 .missing = 0.1};
    world w = {.model = fixture_model(&shape, seed)};
    w.counts = fixture_counts(w.model, 80, seed);
    w.start = fixture_start(w.model);
    return w;
}

static void world_free(world *w) {
    pess_model_destroy(w->model);
    pess_counts_destroy(w->counts);
    free(w->start);
}

static pess_solve_options options_of(const family *f, pess_method method) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = f->algorithm;
    options.uncertainty = f->uncertainty;
    options.alpha = f->alpha;
    options.gamma = 0.95;
    options.tolerance = 1e-12;
    options.method = method;
    return options;
}

static void every_method_finds_the_same_worst_case(void **state) {
    (void)state;
    pess_error error = {0};
    for (uint64_t seed = 0; seed < 6; seed++)
        for (int f = 0; f < FAMILIES; f++) {
            world w = world_of(seed);
            pess_solution *first = NULL;
            for (int i = 0; i < WAYS; i++) {
                pess_solve_options options = options_of(&families[f], ways[i].method);
                options.evaluation = i == 0 ? PESS_EVALUATION_LU : PESS_EVALUATION_KRYLOV;
                pess_solution *solution = NULL;
                pess_solution_info info;
                OK(pess_solve(w.counts, w.model, w.start, &options, &solution, &error));
                pess_solution_get_info(solution, &info);
                assert_string_equal(info.method, ways[i].name);
                assert_int_equal(info.outcome, PESS_OUTCOME_CONVERGED);
                if (first == NULL) {
                    first = solution;
                    continue;
                }
                const double *x = pess_solution_values(first), *y = pess_solution_values(solution);
                const double off = fixture_difference(x, y, pess_model_states(w.model));
                if (off > 1e-9)
                    fail_msg("%s, %s, %s: off by %g", families[f].algorithm, families[f].uncertainty, info.method, off);
                pess_solution_destroy(solution);
            }
            pess_solution_destroy(first);
            world_free(&w);
        }
}

/* One iteration of anything, whatever it leaves: the residual that is reported bounds how far off it is. */
static void stopping_early_says_how_far_off_it_is(void **state) {
    (void)state;
    pess_error error = {0};
    world w = world_of(4);
    for (int f = 0; f < FAMILIES; f++) {
        pess_solve_options options = options_of(&families[f], PESS_METHOD_AUTO);
        pess_solution *best = NULL;
        OK(pess_solve(w.counts, w.model, w.start, &options, &best, &error));
        for (int i = 1; i < WAYS; i++) {
            options.method = ways[i].method;
            options.max_iterations = 2;
            pess_solution *early = NULL;
            pess_solution_info info;
            OK(pess_solve(w.counts, w.model, w.start, &options, &early, &error));
            pess_solution_get_info(early, &info);
            const double off =
                fixture_difference(pess_solution_values(early), pess_solution_values(best), pess_model_states(w.model));
            assert_true(off <= info.residual / (1 - options.gamma) + 1e-9);
            pess_solution_destroy(early);
        }
        pess_solution_destroy(best);
    }
    world_free(&w);
}

static void what_has_no_choice_of_method_says_so(void **state) {
    (void)state;
    world w = world_of(1);
    const struct refused {
        family family;
        pess_method method;
        double gamma;
        const char *because;
    } refused[] = {
        {{"robust", "support", 1}, PESS_METHOD_GAUSS_SEIDEL, 0.9, "in the middle of a sweep"},
        {{"ua", "l1", 1}, PESS_METHOD_GAUSS_SEIDEL, 0.9, "in the middle of a sweep"},
        {{"imitation", NULL, NAN}, PESS_METHOD_VALUE_ITERATION, 0.9, "counted, not found"},
        {{"duipi", NULL, 1}, PESS_METHOD_POLICY_ITERATION, 0.9, "no choice of method"},
        {{"density-proximal", NULL, 1}, PESS_METHOD_VALUE_ITERATION, 0.9, "no choice of method"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        pess_solve_options options = options_of(&refused[i].family, refused[i].method);
        options.gamma = refused[i].gamma;
        pess_solution *solution = NULL;
        pess_error error = {0};
        assert_int_equal(pess_solve(w.counts, w.model, w.start, &options, &solution, &error), PESS_ARGUMENT);
        if (strstr(error.message, refused[i].because) == NULL) fail_msg("'%s'", error.message);
    }
    world_free(&w);
}

/* Whoever chooses among families asks all of them for one method; those that do not have it take their own. */
static void every_family_takes_the_method_that_it_has(void **state) {
    (void)state;
    world w = world_of(3);
    const pess__family *row;
    for (size_t i = 0; (row = pess__family_list(i)) != NULL; i++)
        for (int m = PESS_METHOD_AUTO; m <= PESS_METHOD_GAUSS_SEIDEL; m++) {
            pess_error error = {0};
            pess_solve_options base = pess_solve_options_defaults();
            base.gamma = 0.9;
            base.method = (pess_method)m;
            const pess__family_member candidate = pess__family_member_of(row, 0, 1);
            const pess_solve_options options = pess__family_member_options(&candidate, &base);
            pess_solution *solution = NULL;
            OK(pess_solve(w.counts, w.model, w.start, &options, &solution, &error));
            pess_solution_destroy(solution);
        }
    world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_finds_the_same_worst_case),
        cmocka_unit_test(stopping_early_says_how_far_off_it_is),
        cmocka_unit_test(what_has_no_choice_of_method_says_so),
        cmocka_unit_test(every_family_takes_the_method_that_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
