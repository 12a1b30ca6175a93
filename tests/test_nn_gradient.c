/* Gradients against finite differences: the engine's own sources, built with double in place of float (see
 * tests/CMakeLists.txt). */
#include "nn/trainer.h"

#include "nn_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SAMPLES = 7 };

typedef struct problem {
    pess__net *net;
    pess__trainer *trainer;
    uint8_t *bits;
    int32_t actions[SAMPLES];
    double targets[SAMPLES], weights[SAMPLES];
    pess__loss loss;
    double *others; /* NULL: the loss has no diversity */
} problem;

static void open_problem(problem *p, pess__rng *rng, const pess__net_spec *spec, pess__loss loss) {
    pess_error error;
    const pess__optimiser optimiser = pess__optimiser_defaults();
    assert_int_equal(pess__net_create(spec, "portable", &p->net, &error), PESS_OK);
    assert_int_equal(pess__trainer_create(p->net, &optimiser, &p->trainer, &error), PESS_OK);
    pess__net_initialise(p->net, rng);
    p->bits = malloc((size_t)(SAMPLES * p->net->bytes));
    random_observations(rng, spec, SAMPLES, p->bits);
    for (int i = 0; i < SAMPLES; i++) {
        p->actions[i] = (int32_t)pess__rng_below(rng, (uint64_t)p->net->outputs);
        p->targets[i] = pess__rng_normal(rng);
        p->weights[i] = pess__rng_uniform(rng) * 2;
    }
    p->loss = loss;
    p->others = NULL;
}

static void close_problem(problem *p) {
    free(p->bits);
    pess__trainer_destroy(p->trainer);
    pess__net_destroy(p->net);
}

static double loss_of(problem *p) {
    pess__step_info info;
    const pess__labels labels = {
        .actions = p->actions, .targets = p->targets, .weights = p->weights, .others = p->others};
    pess__trainer_gradient(p->trainer, &(pess__bits_rows){p->bits, p->net->bytes, NULL}, &labels, SAMPLES, &p->loss,
                           &info);
    return info.loss;
}

/* Central differences along some sixty parameters, drawn at random. A kink of an activation
 * between the two points makes them differ; halving the step tells that from a wrong gradient. */
static void check_gradient(problem *p, pess__rng *rng) {
    const int64_t count = pess__spec_parameters(&p->net->spec);
    double *values = malloc((size_t)count * sizeof *values), *gradient = malloc((size_t)count * sizeof *gradient);
    (void)loss_of(p);
    pess__net_export(p->net, values);
    pess__net_unpad(p->net, p->trainer->gradient, gradient);
    int64_t checked = 0, kinks = 0;
    for (int64_t i = 0; i < count; i++) {
        if (pess__rng_below(rng, (uint64_t)count) > 60) continue;
        const double kept = values[i];
        double slope[2];
        for (int half = 0; half < 2; half++) {
            const double h = half == 0 ? 1e-5 : 5e-6;
            values[i] = kept + h, pess__net_import(p->net, values);
            const double up = loss_of(p);
            values[i] = kept - h, pess__net_import(p->net, values);
            slope[half] = (up - loss_of(p)) / (2 * h);
        }
        values[i] = kept;
        checked++;
        if (fabs(slope[0] - slope[1]) > 1e-7 * (1 + fabs(slope[0]))) {
            kinks++;
            continue;
        }
        assert_true(fabs(slope[1] - gradient[i]) < 1e-6 * (1 + fabs(gradient[i])));
    }
    assert_true(checked > 0 && kinks * 10 <= checked);
    pess__net_import(p->net, values);
    free(values);
    free(gradient);
}

static const pess__loss losses[] = {
    {PESS__LOSS_SQUARED, 0}, {PESS__LOSS_HUBER, 0.7}, {PESS__LOSS_HUBER, 5}, {PESS__LOSS_CROSS_ENTROPY, 0}};

static void every_layer_and_loss_has_its_gradient(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(21, "test gradient", 0);
    for (int round = 0; round < 48; round++) {
        pess__net_spec spec = random_spec(&rng);
        spec.input = round < 24           ? PESS_OBSERVATION_BITS
                     : round / 4 % 2 == 0 ? PESS_OBSERVATION_BYTES
                                          : PESS_OBSERVATION_FLOATS;
        problem p;
        open_problem(&p, &rng, &spec, losses[round % 4]);
        check_gradient(&p, &rng);
        close_problem(&p);
    }
}

static void both_named_networks_have_their_gradients(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(22, "test gradient", 0);
    static const char *const names[] = {"value", "dqn"};
    for (int i = 0; i < 2; i++)
        for (size_t l = 0; l < 4; l += 1 + 2 * (size_t)i) {
            pess__net_spec spec;
            pess_error error;
            problem p;
            assert_int_equal(pess__spec_named(names[i], 10, 10, 4, 6, &spec, &error), PESS_OK);
            open_problem(&p, &rng, &spec, losses[l]);
            check_gradient(&p, &rng);
            close_problem(&p);
        }
}

/* Directions that sum to 0 over the outputs, as those of other networks do. */
static void diversity_has_its_gradient(void **state) {
    (void)state;
    enum { OUTPUTS = 5 };
    pess__rng rng = pess__rng_stream(25, "test gradient", 0);
    const pess__net_spec spec = {.rows = 3,
                                 .cols = 3,
                                 .channels = 2,
                                 .layer_count = 2,
                                 .layers = {{PESS__LAYER_DENSE, 0, 0, 7, 0}, {PESS__LAYER_DENSE, 0, 0, OUTPUTS, 1}}};
    double others[SAMPLES * OUTPUTS];
    problem p;
    open_problem(&p, &rng, &spec, (pess__loss){.kind = PESS__LOSS_HUBER, .parameter = 5, .diversity = 0.8});
    for (int i = 0; i < SAMPLES; i++) {
        double q[OUTPUTS];
        for (int j = 0; j < OUTPUTS; j++) q[j] = pess__rng_normal(&rng);
        (void)pess__direction(q, OUTPUTS, others + (ptrdiff_t)i * OUTPUTS);
    }
    p.others = others;
    check_gradient(&p, &rng);
    const double with = loss_of(&p);
    p.loss.diversity = 0;
    const double without = loss_of(&p);
    assert_true(fabs(with - without) > 1e-3); /* it counts, and is a cosine at most */
    assert_true(fabs(with - without) <= 0.8);
    close_problem(&p);
}

/* Adam's first step moves every parameter by rate·sign(g); RMSProp's by rate·g/(√(ρ(1−ρ))|g|). By hand. */
static void first_steps_are_those_computed_by_hand(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(23, "test gradient", 0);
    for (int kind = 0; kind < 2; kind++) {
        const pess__net_spec spec = {
            .rows = 3, .cols = 3, .channels = 2, .layer_count = 1, .layers = {{PESS__LAYER_DENSE, 0, 0, 3, 1}}};
        problem p;
        open_problem(&p, &rng, &spec, losses[0]);
        p.trainer->optimiser.kind = kind == 0 ? PESS__OPTIMISER_ADAM : PESS__OPTIMISER_RMSPROP;
        p.trainer->optimiser.beta2 = kind == 0 ? 0.999 : 0.95;
        double before[57], after[57], g[57];
        assert_int_equal(pess__spec_parameters(&spec), 57);
        (void)loss_of(&p);
        pess__net_export(p.net, before);
        pess__net_unpad(p.net, p.trainer->gradient, g);
        pess__step_info info;
        pess__trainer_move(p.trainer, &info);
        pess__net_export(p.net, after);
        const double size = kind == 0 ? 3e-4 : 3e-4 / sqrt(0.05 * 0.95);
        for (int i = 0; i < 57; i++) {
            const double want = g[i] > 0 ? -size : g[i] < 0 ? size : 0;
            assert_true(fabs(g[i]) < 1e-3 || fabs(after[i] - before[i] - want) < 1e-4 * size);
            assert_true(g[i] > 0 || g[i] < 0 || after[i] - before[i] == 0);
        }
        close_problem(&p);
    }
}

static void clipping_limits_the_norm(void **state) {
    (void)state;
    pess__rng rng = pess__rng_stream(24, "test gradient", 0);
    const pess__net_spec spec = {
        .rows = 3, .cols = 3, .channels = 2, .layer_count = 1, .layers = {{PESS__LAYER_DENSE, 0, 0, 3, 1}}};
    problem p;
    open_problem(&p, &rng, &spec, losses[0]);
    (void)loss_of(&p);
    double norm = 0;
    for (int64_t i = 0; i < p.net->size; i++) norm += p.trainer->gradient[i] * p.trainer->gradient[i];
    norm = sqrt(norm);
    p.trainer->optimiser.clip = norm / 3;
    pess__step_info info;
    pess__trainer_move(p.trainer, &info);
    assert_true(fabs(info.norm - norm) < 1e-12 * norm);
    double moment = 0; /* m = (1−β1)·clipped gradient after one step */
    for (int64_t i = 0; i < p.net->size; i++) moment += p.trainer->first[i] * p.trainer->first[i];
    assert_true(fabs(sqrt(moment) / 0.1 - norm / 3) < 1e-5 * norm);
    close_problem(&p);
}

/* Loss of one output q = d against the target 0, and its derivative. */
static double distance(double d, double *slope) {
    const pess__loss huber = {PESS__LOSS_HUBER, 5};
    const int32_t action = 0;
    const double target = 0;
    const pess__labels labels = {.actions = &action, .targets = &target};
    pess__loss_sums sums = {0};
    pess__loss_gradient(&huber, &labels, 0, 1, 1, 1, 1, &d, slope, &sums);
    return sums.loss;
}

static void huber_is_continuous_and_squared_near_zero(void **state) {
    (void)state;
    double slope;
    assert_true(fabs(distance(5 - 1e-9, &slope) - distance(5 + 1e-9, &slope)) < 1e-7);
    assert_true(fabs(distance(-2, &slope) - 2) < 1e-12 && fabs(slope + 2) < 1e-12);
    assert_true(fabs(distance(-8, &slope) - 27.5) < 1e-12 && fabs(slope + 5) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_and_loss_has_its_gradient),
        cmocka_unit_test(both_named_networks_have_their_gradients),
        cmocka_unit_test(diversity_has_its_gradient),
        cmocka_unit_test(first_steps_are_those_computed_by_hand),
        cmocka_unit_test(clipping_limits_the_norm),
        cmocka_unit_test(huber_is_continuous_and_squared_near_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
