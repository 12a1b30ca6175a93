/* Policy evaluation against a dense solve written out from the definition; visitation; what is refused. */
#include "fixture.h"

#include "solve/evaluator.h"

static const fixture_shape shapes[] = {
    FIXTURE_SHAPES,
    {.states = 300, .actions = 2, .branching = 5, .uniform = 0.02},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static pess_solve_options naive_options(double gamma, pess_evaluation evaluation) {
    pess_solve_options options = pess_solve_options_defaults();
    options.algorithm = "naive";
    options.gamma = gamma;
    options.evaluation = evaluation;
    options.tolerance = 1e-11;
    return options;
}

static void values_match_the_definition(void **state) {
    (void)state;
    const double gammas[] = {0, 0.5, 0.99, 0.999};
    for (size_t i = 0; i < SHAPES; i++)
        for (size_t g = 0; g < 4; g++) {
            pess_error error = {0};
            pess_model *model = fixture_model(&shapes[i], 11 + i);
            pess_policy *policy = fixture_policy(model, i);
            double *start = fixture_start(model), *truth = fixture_evaluate(model, policy, gammas[g]);
            for (int kind = PESS_EVALUATION_AUTO; kind <= PESS_EVALUATION_KRYLOV; kind++) {
                const pess_solve_options options = naive_options(gammas[g], (pess_evaluation)kind);
                pess_solution *solution = NULL;
                OK(pess_evaluate(NULL, model, start, policy, &options, &solution, &error));
                assert_true(fixture_difference(pess_solution_values(solution), truth, model->states) <=
                            2e-11 / (1 - gammas[g]));
                pess_solution_info info;
                pess_solution_get_info(solution, &info);
                assert_true(info.residual <= 1e-11);
                assert_int_equal(info.outcome, PESS_OUTCOME_CONVERGED);
                double mean = 0;
                for (int64_t s = 0; s < model->states; s++) mean += start[s] * truth[s];
                assert_true(fabs(info.value - mean) <= 2e-11 / (1 - gammas[g]));
                pess_solution_destroy(solution);
            }
            free(truth);
            free(start);
            pess_policy_destroy(policy);
            pess_model_destroy(model);
        }
}

/* Σ_s d(s)·(r_π)(s) = E_ρ[v], and Σ_s d(s) = 1/(1−γ) where nothing ends. */
static void visitation_is_the_dual_of_evaluation(void **state) {
    (void)state;
    const double gamma = 0.97;
    for (size_t i = 0; i < SHAPES; i++)
        for (int kind = PESS_EVALUATION_LU; kind <= PESS_EVALUATION_KRYLOV; kind++) {
            pess_error error = {0};
            pess_model *model = fixture_model(&shapes[i], 21 + i);
            pess_policy *policy = fixture_policy(model, i);
            double *start = fixture_start(model), *truth = fixture_evaluate(model, policy, gamma), *d = NULL;
            OK(pess__allocate(&d, model->states, sizeof(double), "d", &error));
            const pess_solve_options options = naive_options(gamma, (pess_evaluation)kind);
            OK(pess_visitation(model, start, policy, &options, d, &error));
            double lo, hi, total = 0, value = 0, expected = 0;
            pess__value_range(model, gamma, &lo, &hi);
            for (int64_t z = 0; z < model->states * model->actions; z++) {
                const double sink = model->kind[z] == PESS_ROW_SINK ? gamma * lo : 0;
                value += d[z / model->actions] * policy->probability[z] * (model->reward[z] + sink);
            }
            for (int64_t s = 0; s < model->states; s++) {
                assert_true(d[s] >= 0 && (d[s] == 0 || !model->terminal[s]));
                total += d[s];
                expected += start[s] * truth[s];
            }
            assert_true(fabs(value - expected) <= 1e-8);
            if (!model->has_terminals && shapes[i].sink == 0) assert_true(fabs(total - 1 / (1 - gamma)) <= 1e-8);
            free(d);
            free(truth);
            free(start);
            pess_policy_destroy(policy);
            pess_model_destroy(model);
        }
}

/* A corridor 0 … n-1 whose last state ends; `loop` adds an action that stays. */
static pess_model *corridor(int64_t n, bool loop) {
    pess_error error = {0};
    pess_model *model = NULL;
    OK(pess__model_create(n, 2, 2 * n, &model, &error));
    model->reward_lo = 0;
    model->reward_hi = 1;
    model->has_terminals = true;
    for (int64_t z = 0; z < 2 * n; z++) {
        const int64_t s = z / 2;
        model->row[z + 1] = model->row[z];
        if (z % 2 == 1 && !(loop && s == n / 2)) continue;
        model->kind[z] = PESS_ROW_SPARSE;
        model->reward[z] = 1;
        const int64_t next = z % 2 == 1 ? s : s + 1;
        if (next == n)
            model->end_mass[z] = 1;
        else {
            model->next[model->row[z]] = (uint32_t)next;
            model->probability[model->row[z]] = 1;
            model->row[z + 1]++;
        }
    }
    return model;
}

static void undiscounted_needs_an_end(void **state) {
    (void)state;
    for (int kind = PESS_EVALUATION_LU; kind <= PESS_EVALUATION_KRYLOV; kind++) {
        pess_error error = {0};
        pess_solution *solution = NULL;
        const pess_solve_options options = naive_options(1, (pess_evaluation)kind);
        pess_model *model = corridor(30, false);
        double *start = fixture_start(model);
        OK(pess_solve(NULL, model, start, &options, &solution, &error));
        for (int64_t s = 0; s < 30; s++)
            assert_true(fabs(pess_solution_values(solution)[s] - (double)(30 - s)) <= 1e-10);
        pess_solution_destroy(solution);
        pess_model_destroy(model);
        model = corridor(30, true);
        assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_ARGUMENT);
        assert_non_null(strstr(error.message, "state 0 a policy can collect reward for ever"));
        pess_model_destroy(model);
        free(start);
    }
}

static void bad_input_is_refused(void **state) {
    (void)state;
    pess_error error = {0};
    pess_model *model = fixture_model(&shapes[0], 1);
    pess_policy *policy = fixture_policy(model, 1);
    double *start = fixture_start(model);
    pess_solution *solution = NULL;
    pess_solve_options options = naive_options(1.5, PESS_EVALUATION_AUTO);
    assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_ARGUMENT);
    options = naive_options(NAN, PESS_EVALUATION_AUTO);
    assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_ARGUMENT);
    options = naive_options(0.9, PESS_EVALUATION_AUTO);
    options.alpha = -1;
    assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_ARGUMENT);
    options = naive_options(0.9, PESS_EVALUATION_AUTO);
    options.delta = 1;
    assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_ARGUMENT);
    options = naive_options(0.9, PESS_EVALUATION_AUTO);
    options.algorithm = "niave";
    assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "naive"));
    options = naive_options(0.9, PESS_EVALUATION_AUTO);
    options.uncertainty = "count";
    assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_ARGUMENT);
    options = naive_options(0.9, PESS_EVALUATION_AUTO);
    options.algorithm = "imitation"; /* needs counts */
    assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_ARGUMENT);
    options = naive_options(0.9, PESS_EVALUATION_AUTO);
    start[0] += 0.1;
    assert_int_equal(pess_solve(NULL, model, start, &options, &solution, &error), PESS_INPUT);
    start[0] -= 0.1;
    policy->probability[0] += 0.5;
    assert_int_equal(pess_evaluate(NULL, model, start, policy, &options, &solution, &error), PESS_INPUT);
    assert_null(solution);
    free(start);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
}

/* States in pairs that go to each other for ever. */
static pess_model *pairs_apart(int64_t states) {
    pess_error error = {0};
    pess_model *model = NULL;
    OK(pess__model_create(states, 1, states, &model, &error));
    model->reward_hi = (double)states;
    for (int64_t s = 0; s < states; s++) {
        model->kind[s] = PESS_ROW_SPARSE;
        model->row[s + 1] = s + 1;
        model->reward[s] = (double)((7 * s) % states);
        model->next[s] = (uint32_t)(s ^ 1);
        model->probability[s] = 1;
    }
    return model;
}

/* Turns in place of factors: the values of the definition; whether sweeps were not enough. Takes the model. */
static bool by_turns(pess_model *model, uint64_t seed) {
    const double gamma = 0.99;
    pess_error error = {0};
    pess_policy *policy = fixture_policy(model, seed);
    double *truth = fixture_evaluate(model, policy, gamma), *v = NULL;
    pess__evaluator *chain = NULL;
    pess__krylov_result result;
    double v_lo, v_hi;
    pess__value_range(model, gamma, &v_lo, &v_hi);
    OK(pess__allocate(&v, model->states, sizeof *v, "v", &error));
    OK(pess__evaluator_create(model, gamma, v_lo, PESS_EVALUATION_KRYLOV, 2, NULL, &chain, &error));
    OK(pess__evaluator_fill_policy(chain, policy->probability, NULL, &error));
    chain->searched = chain->branches_out = true;
    OK(pess__evaluator_by_krylov(chain, 1e-11, v, &result, &error));
    assert_true(result.converged);
    assert_true(fixture_difference(v, truth, model->states) <= 2e-11 / (1 - gamma));
    assert_int_equal(chain->ilu.n, 0);
    const bool more = chain->krylov.work != NULL;
    pess__evaluator_destroy(chain);
    free(v);
    free(truth);
    pess_policy_destroy(policy);
    pess_model_destroy(model);
    return more;
}

/* On chains small enough to write the definition out. Where values mix, sweeps with shifts get there; where each pair
 * of states keeps its own, BiCGSTAB does. */
static void turns_give_the_same_values(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) assert_false(by_turns(fixture_model(&shapes[i], 31 + i), i));
    assert_true(by_turns(pairs_apart(40), 0));
}

/* One action, three successors: anywhere, or on a ring whose states are numbered at random. */
static pess_model *large_chain(int64_t states, bool ring) {
    pess_error error = {0};
    pess_model *model = NULL;
    pess__rng rng = pess__rng_stream(1, "large chain", 0);
    const uint64_t far = 387420489; /* a power of three: its multiples number the states of a power of two at random */
    OK(pess__model_create(states, 1, 3 * states, &model, &error));
    model->reward_hi = 1;
    for (int64_t s = 0; s < states; s++) {
        model->kind[s] = PESS_ROW_SPARSE;
        model->row[s] = 3 * s;
        model->reward[s] = pess__rng_uniform(&rng);
        for (int64_t k = 0; k < 3; k++) {
            const uint64_t near = ((uint64_t)s + (uint64_t)(k - 1) * far) % (uint64_t)states;
            model->next[3 * s + k] = (uint32_t)(ring ? near : pess__rng_below(&rng, (uint64_t)states));
            model->probability[3 * s + k] = 1.0 / 3;
        }
    }
    model->row[states] = 3 * states;
    return model;
}

/* v of the only policy; whether it was solved by turns. */
static bool solve_large_chain(const pess_model *model, int threads, double *v) {
    pess_error error = {0};
    double *next = NULL;
    int32_t *choice = NULL;
    pess__evaluator *chain = NULL;
    pess__evaluator_result result;
    OK(pess__allocate(&next, model->states, sizeof *next, "v", &error));
    OK(pess__allocate(&choice, model->states, sizeof *choice, "the policy", &error));
    OK(pess__evaluator_create(model, 0.9, 0, PESS_EVALUATION_KRYLOV, threads, NULL, &chain, &error));
    OK(pess__evaluator_fill_choice(chain, choice, NULL, &error));
    OK(pess__evaluator_evaluate(chain, 1e-9, v, &result, &error));
    assert_true(pess__evaluator_apply(chain, v, next) <= 1e-9);
    const bool by_turns = chain->branches_out;
    pess__evaluator_destroy(chain);
    free(next);
    free(choice);
    return by_turns;
}

/* Whether ways meet again is seen in the graph, not in the numbers; either way the residual is what was asked for, and
 * the values are the same bytes at any number of threads. */
static void large_chains_are_told_apart(void **state) {
    (void)state;
    enum { STATES = 524288 };
    for (int ring = 0; ring < 2; ring++) {
        pess_error error = {0};
        pess_model *model = large_chain(STATES, ring);
        double *v = NULL, *alone = NULL;
        OK(pess__allocate(&v, STATES, sizeof *v, "v", &error));
        OK(pess__allocate(&alone, STATES, sizeof *alone, "v", &error));
        assert_int_equal(solve_large_chain(model, 2, v), !ring);
        assert_int_equal(solve_large_chain(model, 1, alone), !ring);
        assert_memory_equal(v, alone, STATES * sizeof *v);
        free(v);
        free(alone);
        pess_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_match_the_definition), cmocka_unit_test(turns_give_the_same_values),
        cmocka_unit_test(large_chains_are_told_apart), cmocka_unit_test(visitation_is_the_dual_of_evaluation),
        cmocka_unit_test(undiscounted_needs_an_end),   cmocka_unit_test(bad_input_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
