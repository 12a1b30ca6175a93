/* Speed of the network engine on one core: samples per second forward and in training, time per layer, FMA peak.
 *
 *     bench_nn [SECONDS [KERNELS]]                        all figures, one JSON line each
 *     bench_nn SECONDS KERNELS NETWORK train BATCH        one figure: a plain number, for interleaving with a peer
 *     bench_nn SECONDS KERNELS NETWORK forward BATCH      KERNELS: avx512, avx2, portable or best
 */
#include "nn/trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds of this thread on a core, so that what else the machine does counts as little as it can. */
static double cpu_clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#ifdef PESS__KERNELS_X86
#include <immintrin.h>

/* Twelve independent chains keep both FMA units busy; all different, or a compiler finds that they are the same. */
#define PEAK(name, instructions, vector, set, fused, lanes)                                                            \
    __attribute__((target(instructions))) static double name(void) {                                                   \
        enum { CHAINS = 12 };                                                                                          \
        const vector x = set(0.999F), y = set(1e-3F);                                                                  \
        const long rounds = 4000000;                                                                                   \
        double best = 0;                                                                                               \
        vector c[CHAINS], sum = set(0);                                                                                \
        for (int i = 0; i < CHAINS; i++) c[i] = set((float)i);                                                         \
        for (int repeat = 0; repeat < 8; repeat++) {                                                                   \
            const double begun = cpu_clock();                                                                          \
            for (long r = 0; r < rounds; r++)                                                                          \
                for (int i = 0; i < CHAINS; i++) c[i] = fused(c[i], x, y);                                             \
            const double rate = (double)rounds * CHAINS * 2 * (lanes) / (cpu_clock() - begun) / 1e9;                   \
            if (rate > best) best = rate;                                                                              \
        }                                                                                                              \
        for (int i = 0; i < CHAINS; i++) sum += c[i];                                                                  \
        return sum[0] > 1e30F ? 0 : best;                                                                              \
    }
PEAK(peak_avx2, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, 8)
PEAK(peak_avx512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, 16)

/* GFLOP/s that the instructions of those kernels could do at most; 0: not known. */
static double fma_peak(const char *kernels) {
    return strcmp(kernels, "avx512") == 0 ? peak_avx512() : strcmp(kernels, "avx2") == 0 ? peak_avx2() : 0;
}
#else
static double fma_peak(const char *kernels) { return kernels == NULL; }
#endif

enum { MOST = 4096 };

/* The networks that are timed, on observations of such a kind. */
static const struct kind {
    const char *network;
    pess_observation_shape shape;
    int32_t actions;
    int64_t data; /* observations to draw from */
} kinds[] = {{"value", {PESS_OBSERVATION_BITS, 400, 10, 10, 4}, 6, 20000},
             {"dqn", {PESS_OBSERVATION_BITS, 400, 10, 10, 4}, 6, 20000},
             {"mlp", {PESS_OBSERVATION_FLOATS, 17, 0, 0, 0}, 4, 20000},
             {"nature", {PESS_OBSERVATION_BYTES, 84 * 84 * 4, 84, 84, 4}, 6, 500}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct bench {
    const struct kind *kind;
    pess__net *net;
    pess__trainer *trainer;
    pess__pass *pass;
    uint8_t *observations; /* [data][bytes] */
    int64_t index[MOST];
    int32_t actions[MOST];
    pess__real targets[MOST];
    pess__rng rng;
    double seconds;
} bench;

/* Boards like the games': one cell in twelve has something in a channel. Bytes are uniform, floats normal. */
static void fill(bench *b) {
    const int64_t bytes = b->kind->data * b->net->bytes;
    float *floats = (float *)(void *)b->observations;
    if (b->kind->shape.kind == PESS_OBSERVATION_FLOATS)
        for (int64_t i = 0; i < bytes / (int64_t)sizeof *floats; i++) floats[i] = (float)pess__rng_normal(&b->rng);
    else if (b->kind->shape.kind == PESS_OBSERVATION_BYTES)
        for (int64_t i = 0; i < bytes; i++) b->observations[i] = (uint8_t)pess__rng_below(&b->rng, 256);
    else
        for (int64_t i = 0; i < 8 * bytes; i++)
            if (pess__rng_below(&b->rng, 12) == 0) b->observations[i / 8] |= (uint8_t)(1 << i % 8);
    for (int i = 0; i < MOST; i++) {
        b->actions[i] = (int32_t)pess__rng_below(&b->rng, (uint64_t)b->kind->actions);
        b->targets[i] = (pess__real)pess__rng_normal(&b->rng);
    }
}

static void draw(bench *b, int64_t batch) {
    for (int64_t i = 0; i < batch; i++) b->index[i] = (int64_t)pess__rng_below(&b->rng, (uint64_t)b->kind->data);
}

/* Best of ten stretches, samples per second. */
static double train_rate(bench *b, int64_t batch) {
    const pess__loss loss = {PESS__LOSS_HUBER, 5};
    const pess__labels labels = {.actions = b->actions, .targets = b->targets};
    const pess__bits_rows rows = {b->observations, b->net->bytes, b->index};
    double best = 0;
    for (int round = 0; round < 10; round++) {
        int64_t done = 0;
        const double begun = cpu_clock();
        double passed = 0;
        while (passed < b->seconds / 10) {
            pess__step_info info;
            pess_error error;
            draw(b, batch);
            if (pess__trainer_step(b->trainer, &rows, &labels, batch, &loss, &info, &error) != PESS_OK) return 0;
            done += batch;
            passed = cpu_clock() - begun;
        }
        if ((double)done / passed > best) best = (double)done / passed;
    }
    return best;
}

static double forward_rate(bench *b, int64_t batch) {
    const pess__bits_rows rows = {b->observations, b->net->bytes, b->index};
    double best = 0;
    for (int round = 0; round < 10; round++) {
        int64_t done = 0;
        const double begun = cpu_clock();
        double passed = 0;
        while (passed < b->seconds / 10) {
            draw(b, batch);
            for (int64_t first = 0; first < batch; first += b->pass->capacity) {
                const int64_t left = batch - first;
                pess__pass_forward(b->net, b->pass, &rows, first, left < b->pass->capacity ? left : b->pass->capacity);
            }
            done += batch;
            passed = cpu_clock() - begun;
        }
        if ((double)done / passed > best) best = (double)done / passed;
    }
    return best;
}

/* Multiplications and additions of a sample as if the input were dense: forward, and forward and back (no gradient of
 * the input itself). */
static double dense_flop(const pess__net *net, bool training) {
    double total = 0;
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        const double own = 2.0 * (double)(l->positions * l->taps * l->inputs * l->outputs);
        total += own * (training ? (i == 0 ? 2 : 3) : 1);
    }
    return total;
}

/* Microseconds per sample of one kernel call on a chunk. */
#define TIMED(call)                                                                                                    \
    ({                                                                                                                 \
        double best_ = 1e9;                                                                                            \
        for (int round_ = 0; round_ < 20; round_++) {                                                                  \
            const double begun_ = cpu_clock();                                                                         \
            for (int repeat_ = 0; repeat_ < 20; repeat_++) call;                                                       \
            const double each_ = (cpu_clock() - begun_) / 20;                                                          \
            if (each_ < best_) best_ = each_;                                                                          \
        }                                                                                                              \
        best_ / (double)samples * 1e6;                                                                                 \
    })

typedef struct layer_times {
    double forward, weights, input, biases; /* microseconds per sample */
} layer_times;

static layer_times time_layer(const pess__net *net, pess__pass *pass, int i, pess__real *gradient) {
    const pess__kernels *k = net->kernels;
    const pess__layer *l = &net->layers[i];
    const bool gathered = l->gather != NULL || (i == 0 && pass->columns != NULL);
    const int64_t samples = gathered ? 1 : pass->samples, m = samples * l->positions;
    const pess__real *w = net->parameters + l->weights, *bias = net->parameters + l->bias;
    layer_times t = {0};
    t.biases = TIMED(k->bias_gradient(pass->delta[i], m, l->n, gradient + l->bias));
    if (i == 0 && net->spec.input == PESS_OBSERVATION_BITS) {
        t.forward =
            TIMED(k->bits_forward(&net->bits, pass->bits, samples, w, bias, l->n, l->slope, pass->activation[0]));
        t.weights =
            TIMED(k->bits_gradient(&net->bits, pass->bits, samples, pass->delta[0], l->n, gradient + l->weights));
        return t;
    }
    /* Of gathered windows the products alone are timed, one sample at a time, on whatever lies there. */
    const pess__real *x = gathered ? pass->columns : i == 0 ? pass->input : pass->activation[i - 1];
    pess__real *below = gathered ? pass->column_delta : i > 0 ? pass->delta[i - 1] : NULL;
    t.forward = TIMED(k->forward(x, m, l->k, l->used, w, bias, l->n, l->slope, pass->activation[i]));
    t.weights = TIMED(
        k->weight_gradient(x, pass->delta[i], m, l->k, l->used, l->n, true, gradient + l->weights, gradient + l->bias));
    if (i > 0)
        t.input = TIMED(
            k->input_gradient(pass->delta[i], m, l->n, l->outputs, pass->transposed[i], l->k, x, l->slope, below));
    return t;
}

static void print_layers(bench *b, double peak) {
    const pess__net *net = b->net;
    pess__pass *pass = b->trainer->pass;
    double total = 0, products = 0;
    draw(b, pass->capacity);
    pess__pass_forward(net, pass, &(pess__bits_rows){b->observations, net->bytes, b->index}, 0, pass->capacity);
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        const layer_times t = time_layer(net, pass, i, b->trainer->gradient);
        const double flop =
            2e-3 * (double)(l->positions * l->taps * l->inputs * l->outputs); /* GFLOP/s: flop/µs/1000 */
        const bool bits = i == 0 && net->spec.input == PESS_OBSERVATION_BITS;
        total += bits ? 0 : t.forward + t.weights + t.input;
        products += bits ? 0 : flop * (t.input > 0 ? 3 : 2);
        printf("{\"name\": \"nn layer %d of %s\", \"kernels\": \"%s\", \"forward_us\": %.3f, \"weights_us\": %.3f, "
               "\"input_us\": %.3f, \"bias_us\": %.3f, \"forward_gflops\": %.1f, \"weights_gflops\": %.1f, "
               "\"input_gflops\": %.1f}\n",
               i + 1, b->kind->network, net->kernels->name, t.forward, t.weights, t.input, t.biases, flop / t.forward,
               flop / t.weights, t.input > 0 ? flop / t.input : 0);
    }
    pess__step_info info;
    const int64_t samples = 1;
    printf("{\"name\": \"nn step of %s\", \"kernels\": \"%s\", \"transpose_us\": %.1f, \"adam_us\": %.1f, "
           "\"products_gflops\": %.1f, \"peak_gflops\": %.1f, \"products_share_of_peak\": %.2f}\n",
           b->kind->network, net->kernels->name, TIMED(pess__pass_transpose(net, pass)),
           TIMED(pess__trainer_move(b->trainer, &info)), products / total, peak,
           peak > 0 ? products / total / peak : 0);
}

static void print_rates(bench *b, double peak) {
    static const int64_t batches[] = {32, 256, 1024};
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        const double train = train_rate(b, batches[i]), forward = forward_rate(b, batches[i]);
        const double gflops = train * dense_flop(b->net, true) / 1e9;
        printf("{\"name\": \"nn %s batch %lld\", \"kernels\": \"%s\", \"train_per_s\": %.0f, \"forward_per_s\": %.0f, "
               "\"train_dense_gflops\": %.1f, \"forward_dense_gflops\": %.1f, \"peak_gflops\": %.1f, "
               "\"share_of_peak\": %.2f}\n",
               b->kind->network, (long long)batches[i], b->net->kernels->name, train, forward, gflops,
               forward * dense_flop(b->net, false) / 1e9, peak, peak > 0 ? gflops / peak : 0);
    }
}

static bool open_bench(bench *b, const struct kind *kind, const char *kernels, pess_error *error) {
    pess__net_spec spec;
    const pess__optimiser optimiser = pess__optimiser_defaults();
    b->rng = pess__rng_stream(1, "bench", 0);
    b->kind = kind;
    pess__spec_input(&kind->shape, &spec);
    if (pess__spec_layers(kind->network, kind->actions, &spec, error) != PESS_OK ||
        pess__net_create(&spec, kernels, &b->net, error) != PESS_OK ||
        pess__trainer_create(b->net, &optimiser, &b->trainer, error) != PESS_OK ||
        pess__pass_create(b->net, 96, false, &b->pass, error) != PESS_OK)
        return false;
    pess__net_initialise(b->net, &b->rng);
    b->observations = calloc((size_t)kind->data, (size_t)b->net->bytes);
    if (b->observations == NULL) return false;
    fill(b);
    return true;
}

static void close_bench(bench *b) {
    free(b->observations);
    pess__pass_destroy(b->pass);
    pess__trainer_destroy(b->trainer);
    pess__net_destroy(b->net);
}

static void print_all(bench *b) {
    const double peak = fma_peak(b->net->kernels->name);
    print_rates(b, peak);
    print_layers(b, peak);
}

int main(int argc, char **argv) {
    const char *kernels = argc > 2 && strcmp(argv[2], "best") != 0 ? argv[2] : NULL;
    for (size_t i = 0; i < KINDS; i++) {
        static bench b;
        pess_error error = {0};
        if (argc > 3 && strcmp(argv[3], kinds[i].network) != 0) continue;
        memset(&b, 0, sizeof b);
        b.seconds = argc > 1 ? atof(argv[1]) : 1;
        if (!open_bench(&b, &kinds[i], kernels, &error)) {
            (void)fprintf(stderr, "bench_nn: %s\n", error.message);
            return 1;
        }
        const int64_t batch = argc > 5 ? atoll(argv[5]) : 0;
        if (batch < 0 || batch > MOST) return 1;
        if (batch > 0)
            printf("%.0f\n", strcmp(argv[4], "train") == 0 ? train_rate(&b, batch) : forward_rate(&b, batch));
        else
            print_all(&b);
        close_bench(&b);
    }
    return 0;
}
