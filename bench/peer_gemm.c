/* The choice of a matrix product, measured: FMA peak of one core, and OpenBLAS, libxsmm and oneDNN on the shapes of the
 * value network at batch 1024. Not part of the build; by hand:
 *
 *     cc -O2 -march=native bench/peer_gemm.c -o /tmp/peer_gemm -lopenblas -lxsmm -lxsmmext -lxsmmnoblas -ldnnl -lm
 *     OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 /tmp/peer_gemm
 */
#include <cblas.h>
#include <dnnl.h>
#include <immintrin.h>
#include <libxsmm.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Twelve independent chains keep both FMA units busy. */
static double fma_peak(void) {
    __m256 c[12], x = _mm256_set1_ps(0.999F), y = _mm256_set1_ps(1e-3F);
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++) c[i] = _mm256_set1_ps((float)i);
    const long rounds = 20000000;
    const double begun = now();
    for (long r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) c[i] = _mm256_fmadd_ps(c[i], x, y);
    }
    const double seconds = now() - begun;
    float sum = 0;
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++) sum += _mm256_cvtss_f32(c[i]);
    if (sum == 12345) puts("");
    return (double)rounds * 12 * 16 / seconds / 1e9;
}

enum { M_MAX = 4096, SIZE = 4096 * 256 };
static float *a, *b, *c;

typedef void product(int trans_a, int trans_b, int m, int n, int k);

static void openblas(int ta, int tb, int m, int n, int k) {
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, 1, a,
                ta ? m : k, b, tb ? k : n, 0, c, n);
}

static void onednn(int ta, int tb, int m, int n, int k) {
    (void)dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a, ta ? m : k, b, tb ? k : n, 0, c, n);
}

/* Column-major underneath: C' = B' A'. Small kernels over strips of 64 rows, as its authors advise. Transposed
 * operands go through its general sgemm. */
static void xsmm(int ta, int tb, int m, int n, int k) {
    const float one = 1, zero = 0;
    if (ta || tb) {
        const int lda = ta ? m : k, ldb = tb ? k : n;
        libxsmm_sgemm(tb ? "T" : "N", ta ? "T" : "N", &n, &m, &k, &one, b, &ldb, a, &lda, &zero, c, &n);
        return;
    }
    const int flags = LIBXSMM_GEMM_FLAG_NONE, strip = 64;
    const libxsmm_smmfunction kernel = libxsmm_smmdispatch(n, strip, k, &n, &k, &n, &one, &zero, &flags, NULL);
    if (kernel == NULL) return;
    for (int i = 0; i < m; i += strip) kernel(b, a + (size_t)i * (size_t)k, c + (size_t)i * (size_t)n);
}

static double rate(product *f, int ta, int tb, int m, int n, int k) {
    f(ta, tb, m, n, k);
    double best = 0;
    for (int round = 0; round < 5; round++) {
        const int repeats = (int)(1e9 / (2.0 * m * n * k)) + 1;
        const double begun = now();
        for (int r = 0; r < repeats; r++) f(ta, tb, m, n, k);
        const double gflops = 2.0 * m * n * k * repeats / (now() - begun) / 1e9;
        if (gflops > best) best = gflops;
    }
    return best;
}

int main(void) {
    static const struct {
        const char *name;
        int ta, tb, m, n, k;
    } shapes[] = {
        {"conv2 forward", 0, 0, 4096, 64, 128},   {"conv3 forward", 0, 0, 1024, 64, 256},
        {"dense1 forward", 0, 0, 1024, 128, 64},  {"dense2 forward", 0, 0, 1024, 128, 128},
        {"dense3 forward", 0, 0, 1024, 6, 128},   {"conv2 input", 0, 1, 4096, 128, 64},
        {"conv3 input", 0, 1, 1024, 256, 64},     {"dense2 input", 0, 1, 1024, 128, 128},
        {"conv2 weights", 1, 0, 128, 64, 4096},   {"conv3 weights", 1, 0, 256, 64, 1024},
        {"dense2 weights", 1, 0, 128, 128, 1024},
    };
    a = aligned_alloc(64, SIZE * sizeof *a), b = aligned_alloc(64, SIZE * sizeof *b);
    c = aligned_alloc(64, SIZE * sizeof *c);
    if (a == NULL || b == NULL || c == NULL) return 1;
    for (int i = 0; i < SIZE; i++) a[i] = b[i] = (float)(i % 17) * 0.01F;
    libxsmm_init();
    printf("FMA peak %.1f GFLOP/s\n%-16s %5s %5s %5s %9s %9s %9s\n", fma_peak(), "product", "m", "n", "k", "OpenBLAS",
           "libxsmm", "oneDNN");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const int ta = shapes[i].ta, tb = shapes[i].tb, m = shapes[i].m, n = shapes[i].n, k = shapes[i].k;
        printf("%-16s %5d %5d %5d %9.1f %9.1f %9.1f\n", shapes[i].name, m, n, k, rate(openblas, ta, tb, m, n, k),
               rate(xsmm, ta, tb, m, n, k), rate(onednn, ta, tb, m, n, k));
    }
    return 0;
}
