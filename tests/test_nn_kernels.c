/* Kernels of one rounding scheme give the same bytes: whole trainings on random networks, on bits, bytes and floats.
 * The others agree within rounding. Moments of weights that nothing reaches settle at 0. */
#include "nn/trainer.h"

#include "nn_reference.h"
#include "scratch.h"

#include <float.h>
#include <math.h>

enum { ROUNDS = 30, BATCH = 130, STEPS = 4 };

static pess_error error;

typedef struct problem {
    pess__net_spec spec;
    uint8_t *observations;
    int32_t actions[BATCH];
    float targets[BATCH];
    float *start; /* parameters before the training */
} problem;

static problem open_problem(pess__rng *rng, int round) {
    problem p = {.spec = random_spec(rng)};
    p.spec.input = (pess_observation_kind)(round % 3);
    if (round % 5 == 4) { /* as wide as tiles are, and a little wider */
        p.spec.layer_count = 2;
        p.spec.layers[0] = (pess__layer_spec){PESS__LAYER_DENSE, 0, 0, 65 + 16 * round, 0.01F};
        p.spec.layers[1] = (pess__layer_spec){PESS__LAYER_DENSE, 0, 0, 5, 1};
    }
    const int64_t count = pess__spec_parameters(&p.spec), inputs = (int64_t)p.spec.rows * p.spec.cols * p.spec.channels;
    p.observations = calloc((size_t)(BATCH * inputs), sizeof(float));
    p.start = malloc((size_t)count * sizeof *p.start);
    random_observations(rng, &p.spec, BATCH, p.observations);
    for (int64_t i = 0; i < count; i++) p.start[i] = (float)(0.2 * pess__rng_normal(rng));
    const int outputs = p.spec.layers[p.spec.layer_count - 1].outputs;
    for (int i = 0; i < BATCH; i++) {
        p.actions[i] = (int32_t)pess__rng_below(rng, (uint64_t)outputs);
        p.targets[i] = (float)pess__rng_normal(rng);
    }
    return p;
}

static void close_problem(problem *p) {
    free(p->observations);
    free(p->start);
}

/* Parameters after a few steps; the caller frees them. */
static float *trained(const problem *p, const char *path, pess__optimiser_kind kind) {
    pess__net *net = NULL;
    pess__trainer *trainer = NULL;
    pess__optimiser optimiser = pess__optimiser_defaults();
    optimiser.kind = kind;
    assert_ok(pess__net_create(&p->spec, path, &net, &error), &error);
    pess__net_import(net, p->start);
    assert_ok(pess__trainer_create(net, &optimiser, &trainer, &error), &error);
    const pess__labels labels = {.actions = p->actions, .targets = p->targets};
    const pess__loss loss = {.kind = PESS__LOSS_HUBER, .parameter = 1};
    const pess__bits_rows rows = {p->observations, net->bytes, NULL};
    for (int step = 0; step < STEPS; step++) {
        pess__step_info info;
        assert_ok(pess__trainer_step(trainer, &rows, &labels, BATCH - 7 * step, &loss, &info, &error), &error);
    }
    float *out = malloc((size_t)pess__spec_parameters(&p->spec) * sizeof *out);
    pess__net_export(net, out);
    pess__trainer_destroy(trainer);
    pess__net_destroy(net);
    return out;
}

static void kernels_of_the_same_sums_give_the_same_bytes(void **unused) {
    (void)unused;
    pess__rng rng = pess__rng_stream(41, "test kernels", 0);
    size_t count, compared = 0;
    const pess__kernels *const *paths = pess__kernels_list(&count);
    for (int round = 0; round < ROUNDS; round++) {
        problem p = open_problem(&rng, round);
        const int64_t parameters = pess__spec_parameters(&p.spec);
        const pess__optimiser_kind kind = round % 2 == 0 ? PESS__OPTIMISER_ADAM : PESS__OPTIMISER_RMSPROP;
        float *plain = trained(&p, "portable", kind), *first = NULL;
        const char *sums = NULL;
        for (size_t k = 0; k < count; k++) {
            if (!paths[k]->supported()) continue;
            float *own = trained(&p, paths[k]->name, kind);
            int64_t far = 0;
            for (int64_t i = 0; i < parameters; i++) far += fabs((double)own[i] - (double)plain[i]) > 2e-3;
            assert_true(far <=
                        parameters / 100 + 2); /* a gradient of nearly 0 has any sign, and Adam's step is of that */
            if (first != NULL && strcmp(sums, paths[k]->sums) == 0) {
                assert_memory_equal(own, first, (size_t)parameters * sizeof *own);
                compared++;
            }
            free(first);
            first = own;
            sums = paths[k]->sums;
        }
        free(first);
        free(plain);
        close_problem(&p);
    }
    if (compared == 0) print_message("one path alone on this machine: nothing to compare\n");
}

/* Both products of every table, for any number of rows: the sums over what is used, and nothing written behind the last
 * row. The gradient of the input may take the place of the input. */
static void products_are_sums_and_stay_within_their_rows(void **unused) {
    (void)unused;
    enum { WIDEST = 112, MOST_ROWS = 14, GUARDED = (MOST_ROWS + 4) * WIDEST };
    static float x[GUARDED], w[WIDEST * WIDEST], turned[WIDEST * WIDEST], bias[WIDEST], y[GUARDED], dx[GUARDED];
    const float guard = 12345, slope = 0.25F;
    pess__rng rng = pess__rng_stream(43, "test products", 0);
    size_t count;
    const pess__kernels *const *paths = pess__kernels_list(&count);
    for (int i = 0; i < GUARDED; i++) x[i] = (float)pess__rng_normal(&rng);
    for (int i = 0; i < WIDEST * WIDEST; i++) w[i] = (float)pess__rng_normal(&rng);
    for (int i = 0; i < WIDEST; i++) bias[i] = (float)pess__rng_normal(&rng);
    for (size_t table = 0; table < count; table++)
        for (int64_t m = 1; m <= MOST_ROWS && paths[table]->supported(); m++)
            for (int64_t k = 16; k <= WIDEST; k += 16)
                for (int64_t n = 16; n <= WIDEST; n += 16) {
                    for (int i = 0; i < GUARDED; i++) y[i] = dx[i] = guard;
                    const int64_t used_k = k - 5 * (m % 2), used_n = n - 3 * (m % 2);
                    paths[table]->forward(x, m, k, used_k, w, bias, n, slope, y);
                    paths[table]->transpose(w, k, n, turned);
                    if (m % 2 == 0) memcpy(dx, x, (size_t)(m * k) * sizeof *dx);
                    paths[table]->input_gradient(y, m, n, used_n, turned, k, m % 2 == 0 ? dx : x, slope, dx);
                    for (int64_t i = m * n; i < GUARDED; i++) assert_true(y[i] == guard);
                    for (int64_t i = m * k; i < GUARDED; i++) assert_true(dx[i] == guard);
                    for (int64_t i = 0; i < m * n; i++) {
                        double t = bias[i % n];
                        for (int64_t j = 0; j < used_k; j++)
                            t += (double)x[i / n * k + j] * w[(i % n / 16 * k + j) * 16 + i % 16];
                        assert_close(y[i], t > 0 ? t : slope * t, 1e-4);
                    }
                    for (int64_t i = 0; i < m * k; i++) {
                        double t = 0;
                        for (int64_t j = 0; j < used_n; j++)
                            t += (double)y[i / k * n + j] * w[(j / 16 * k + i % k) * 16 + j % 16];
                        assert_close(dx[i], t * (x[i] > 0 ? 1 : slope), 1e-3);
                    }
                }
}

static void moments_of_dead_weights_settle(void **unused) {
    (void)unused;
    enum { COUNT = 48, MANY = 2000 };
    size_t count;
    const pess__kernels *const *paths = pess__kernels_list(&count);
    const pess__adam s = {.rate = 3e-4F,
                          .beta1 = 0.9F,
                          .beta2 = 0.9F,
                          .epsilon = 1e-8F,
                          .root = 1,
                          .rest1 = 0.1F,
                          .rest2 = 0.1F,
                          .scale = 1};
    for (size_t k = 0; k < count; k++) {
        float gradient[COUNT], parameters[COUNT] = {0}, m[COUNT] = {0}, v[COUNT] = {0};
        if (!paths[k]->supported()) continue;
        for (int step = 0; step < MANY; step++) {
            for (int i = 0; i < COUNT; i++) gradient[i] = step == 0 ? (float)(i + 1) * 1e-3F : 0;
            paths[k]->adam(&s, COUNT, gradient, parameters, m, v);
            for (int i = 0; i < COUNT; i++) assert_true(m[i] >= FLT_MIN || !(m[i] > 0));
        }
        for (int i = 0; i < COUNT; i++) assert_true(parameters[i] < 0 && !(m[i] > 0) && !(v[i] > 0));
    }
}

static void the_environment_names_kernels(void **unused) {
    (void)unused;
    assert_int_equal(setenv("PESS_KERNELS", "portable", 1), 0);
    assert_string_equal(pess_kernels(), "portable");
    assert_string_equal(pess__kernels_find(NULL)->name, "portable");
    assert_int_equal(setenv("PESS_KERNELS", "abacus", 1), 0);
    pess__net_spec spec;
    pess__net *net = NULL;
    assert_ok(pess__spec_named("value", 10, 10, 4, 6, &spec, &error), &error);
    assert_failure(pess__net_create(&spec, NULL, &net, &error), PESS_ARGUMENT, &error, "'abacus'", NULL);
    assert_string_equal(pess_kernels(), "none");
    assert_int_equal(unsetenv("PESS_KERNELS"), 0);
    assert_non_null(pess__kernels_find(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_the_same_sums_give_the_same_bytes),
        cmocka_unit_test(products_are_sums_and_stay_within_their_rows),
        cmocka_unit_test(moments_of_dead_weights_settle),
        cmocka_unit_test(the_environment_names_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
