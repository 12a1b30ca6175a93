/* Speed of the network engine on one core: samples per second forward and in training, time per layer, FMA peak.
 *
 *     bench_nn [seconds per figure] [kernels]        all figures, one JSON line each
 *     bench_nn SECONDS KERNELS train BATCH           one figure: a plain number, for interleaving with a peer
 *     bench_nn SECONDS KERNELS forward BATCH         KERNELS: avx2, portable or best
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

#ifdef PESS__KERNELS_AVX2
#include <immintrin.h>

/* Twelve independent chains keep both FMA units busy. */
__attribute__((target("avx2,fma"))) static double fma_peak(void) {
    /* All different, or a compiler finds that they are the same sum. */
    __m256 c0 = _mm256_set1_ps(0), c1 = _mm256_set1_ps(1), c2 = _mm256_set1_ps(2), c3 = _mm256_set1_ps(3);
    __m256 c4 = _mm256_set1_ps(4), c5 = _mm256_set1_ps(5), c6 = _mm256_set1_ps(6), c7 = _mm256_set1_ps(7);
    __m256 c8 = _mm256_set1_ps(8), c9 = _mm256_set1_ps(9), ca = _mm256_set1_ps(10), cb = _mm256_set1_ps(11);
    const __m256 x = _mm256_set1_ps(0.999F), y = _mm256_set1_ps(1e-3F);
    const long rounds = 10000000;
    double best = 0;
    for (int repeat = 0; repeat < 5; repeat++) {
        const double begun = cpu_clock();
        for (long r = 0; r < rounds; r++) {
            c0 = _mm256_fmadd_ps(c0, x, y), c1 = _mm256_fmadd_ps(c1, x, y), c2 = _mm256_fmadd_ps(c2, x, y);
            c3 = _mm256_fmadd_ps(c3, x, y), c4 = _mm256_fmadd_ps(c4, x, y), c5 = _mm256_fmadd_ps(c5, x, y);
            c6 = _mm256_fmadd_ps(c6, x, y), c7 = _mm256_fmadd_ps(c7, x, y), c8 = _mm256_fmadd_ps(c8, x, y);
            c9 = _mm256_fmadd_ps(c9, x, y), ca = _mm256_fmadd_ps(ca, x, y), cb = _mm256_fmadd_ps(cb, x, y);
        }
        const double rate = (double)rounds * 12 * 16 / (cpu_clock() - begun) / 1e9;
        if (rate > best) best = rate;
    }
    const __m256 sum = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + ca + cb;
    return _mm256_cvtss_f32(sum) > 1e30F ? 0 : best;
}
#else
static double fma_peak(void) { return 0; }
#endif

enum { DATA = 20000, MOST = 4096 };

typedef struct bench {
    pess__net *net;
    pess__trainer *trainer;
    pess__pass *pass;
    uint8_t *bits; /* [DATA][bytes] */
    int64_t index[MOST];
    int32_t actions[MOST];
    pess__real targets[MOST];
    pess__rng rng;
    double seconds;
} bench;

/* Boards like the games': one cell in twelve has something in a channel. */
static void fill(bench *b) {
    for (int64_t i = 0; i < DATA * b->net->bytes; i++) {
        b->bits[i] = 0;
        for (int bit = 0; bit < 8; bit++)
            if (pess__rng_below(&b->rng, 12) == 0) b->bits[i] |= (uint8_t)(1 << bit);
    }
    for (int i = 0; i < MOST; i++) {
        b->actions[i] = (int32_t)pess__rng_below(&b->rng, 6);
        b->targets[i] = (pess__real)pess__rng_normal(&b->rng);
    }
}

static void draw(bench *b, int64_t batch) {
    for (int64_t i = 0; i < batch; i++) b->index[i] = (int64_t)pess__rng_below(&b->rng, DATA);
}

/* Best of ten stretches, samples per second. */
static double train_rate(bench *b, int64_t batch) {
    const pess__loss loss = {PESS__LOSS_HUBER, 5};
    const pess__labels labels = {.actions = b->actions, .targets = b->targets};
    const pess__bits_rows rows = {b->bits, b->net->bytes, b->index};
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
    const pess__bits_rows rows = {b->bits, b->net->bytes, b->index};
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

static void print_layers(bench *b, const char *network) {
    const pess__net *net = b->net;
    const pess__kernels *k = net->kernels;
    pess__pass *pass = b->trainer->pass;
    pess__real *gradient = b->trainer->gradient;
    const int64_t samples = pass->capacity;
    draw(b, samples);
    pess__pass_forward(net, pass, &(pess__bits_rows){b->bits, net->bytes, b->index}, 0, samples);
    for (int i = 0; i < net->spec.layer_count; i++) {
        const pess__layer *l = &net->layers[i];
        const int64_t m = samples * l->positions;
        const double flop = 2e-3 * (double)(l->positions * l->k * l->outputs); /* GFLOP/s: flop / µs / 1000 */
        const pess__real *w = net->parameters + l->weights, *bias = net->parameters + l->bias;
        double forward, weights, input = 0;
        if (i == 0) {
            forward =
                TIMED(k->bits_forward(&net->bits, pass->bits, samples, w, bias, l->n, l->slope, pass->activation[0]));
            weights =
                TIMED(k->bits_gradient(&net->bits, pass->bits, samples, pass->delta[0], l->n, gradient + l->weights));
        } else {
            const pess__real *x = pass->activation[i - 1];
            forward = TIMED(k->forward(x, m, l->k, w, bias, l->n, l->slope, pass->activation[i]));
            weights = TIMED(k->weight_gradient(x, pass->delta[i], m, l->k, l->n, gradient + l->weights));
            input = TIMED(
                k->input_gradient(pass->delta[i], m, l->n, pass->transposed[i], l->k, x, l->slope, pass->delta[i - 1]));
        }
        const double biases = TIMED(k->bias_gradient(pass->delta[i], m, l->n, gradient + l->bias));
        printf("{\"name\": \"nn layer %d of %s\", \"kernels\": \"%s\", \"forward_us\": %.3f, \"weights_us\": %.3f, "
               "\"input_us\": %.3f, \"bias_us\": %.3f, \"forward_gflops\": %.1f, \"weights_gflops\": %.1f, "
               "\"input_gflops\": %.1f}\n",
               i + 1, network, k->name, forward, weights, input, biases, flop / forward, flop / weights,
               input > 0 ? flop / input : 0);
    }
    pess__step_info info;
    printf("{\"name\": \"nn step of %s\", \"kernels\": \"%s\", \"transpose_us\": %.1f, \"adam_us\": %.1f}\n", network,
           k->name, TIMED(pess__pass_transpose(net, pass)) * (double)samples,
           TIMED(pess__trainer_move(b->trainer, &info)) * (double)samples);
}

static void print_rates(bench *b, const char *network, double peak) {
    static const int64_t batches[] = {32, 256, 1024};
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        const double train = train_rate(b, batches[i]), forward = forward_rate(b, batches[i]);
        const double gflops = train * dense_flop(b->net, true) / 1e9;
        printf("{\"name\": \"nn %s batch %lld\", \"kernels\": \"%s\", \"train_per_s\": %.0f, \"forward_per_s\": %.0f, "
               "\"train_dense_gflops\": %.1f, \"forward_dense_gflops\": %.1f, \"peak_gflops\": %.1f, "
               "\"share_of_peak\": %.2f}\n",
               network, (long long)batches[i], b->net->kernels->name, train, forward, gflops,
               forward * dense_flop(b->net, false) / 1e9, peak, peak > 0 ? gflops / peak : 0);
    }
}

static bool open_bench(bench *b, const char *network, const char *kernels, pess_error *error) {
    pess__net_spec spec;
    const pess__optimiser optimiser = pess__optimiser_defaults();
    b->rng = pess__rng_stream(1, "bench", 0);
    if (pess__spec_named(network, 10, 10, 4, 6, &spec, error) != PESS_OK ||
        pess__net_create(&spec, kernels, &b->net, error) != PESS_OK ||
        pess__trainer_create(b->net, &optimiser, &b->trainer, error) != PESS_OK ||
        pess__pass_create(b->net, 96, false, &b->pass, error) != PESS_OK)
        return false;
    pess__net_initialise(b->net, &b->rng);
    b->bits = malloc((size_t)(DATA * b->net->bytes));
    if (b->bits == NULL) return false;
    fill(b);
    return true;
}

static void close_bench(bench *b) {
    free(b->bits);
    pess__pass_destroy(b->pass);
    pess__trainer_destroy(b->trainer);
    pess__net_destroy(b->net);
}

int main(int argc, char **argv) {
    static const char *const networks[] = {"value", "dqn"};
    const char *kernels = argc > 2 && strcmp(argv[2], "best") != 0 ? argv[2] : NULL;
    for (size_t i = 0; i < (argc > 4 ? 1 : 2); i++) {
        static bench b;
        pess_error error = {0};
        memset(&b, 0, sizeof b);
        b.seconds = argc > 1 ? atof(argv[1]) : 1;
        if (!open_bench(&b, networks[i], kernels, &error)) {
            (void)fprintf(stderr, "bench_nn: %s\n", error.message);
            return 1;
        }
        if (argc > 4) {
            const int64_t batch = atoll(argv[4]);
            if (batch < 1 || batch > MOST) return 1;
            printf("%.0f\n", strcmp(argv[3], "train") == 0 ? train_rate(&b, batch) : forward_rate(&b, batch));
        } else {
            print_rates(&b, networks[i], fma_peak());
            print_layers(&b, networks[i]);
        }
        close_bench(&b);
    }
    return 0;
}
