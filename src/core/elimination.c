#include "core/elimination.h"

#include "core/lu.h"

#include <string.h>

/* Fewer states than this are never worth the dense code. */
enum { DENSE_FROM = 16 };

static int words_for(int64_t n) { return n <= 64 ? 1 : 2; }

static int64_t rows_for(int64_t n) { return 64 * words_for(n) + 1; }

static int64_t stride_for(int64_t n) { return pess__lu_stride(rows_for(n)); }

size_t pess__elimination_bytes(int64_t n) {
    const size_t count = (size_t)n, pairs = (size_t)(n * (n - 1) / 2), words = (size_t)words_for(n);
    return (size_t)rows_for(n) * ((size_t)stride_for(n) * sizeof(double) + 2 * words * sizeof(uint64_t)) +
           count * (sizeof(pess__step) + sizeof(double) + 2 * sizeof(int64_t)) + 2 * pairs * sizeof(double) +
           (count + 2 * pairs) * sizeof(uint16_t);
}

void pess__elimination_place(pess__elimination *e, int64_t n, void *memory) {
    const int64_t pairs = n * (n - 1) / 2;
    *e = (pess__elimination){.n = n, .stride = stride_for(n), .words = words_for(n)};
    e->a = memory;
    e->inverse = e->a + rows_for(n) * e->stride;
    e->lower_value = e->inverse + n;
    e->upper_value = e->lower_value + pairs;
    e->in = (uint64_t *)(void *)(e->upper_value + pairs);
    e->out = e->in + rows_for(n) * e->words;
    e->lower_end = (int64_t *)(void *)(e->out + rows_for(n) * e->words);
    e->upper_end = e->lower_end + n;
    e->step = (pess__step *)(void *)(e->upper_end + n);
    e->order = (uint16_t *)(void *)(e->step + n);
    e->lower = e->order + n;
    e->upper = e->lower + pairs;
}

void pess__elimination_clear(pess__elimination *e) {
    const int64_t nobody = pess__elimination_nobody(e);
    memset(e->in, 0, 2 * (size_t)((nobody + 1) * e->words) * sizeof *e->in);
    for (int64_t s = 0; s < e->n; s++) {
        e->a[s * e->stride + s] = -1.0;
        e->a[s * e->stride + nobody] = 0.0;
    }
    memset(e->a + nobody * e->stride, 0, (size_t)e->stride * sizeof *e->a);
}

void pess__elimination_add(pess__elimination *e, int64_t s, int64_t t, double weight) {
    double *entry = e->a + s * e->stride + t;
    uint64_t *word = e->out + s * e->words + (t >> 6);
    const uint64_t bit = (uint64_t)1 << (t & 63);
    if (s == t || (*word & bit)) {
        *entry += weight;
        return;
    }
    *entry = weight;
    *word |= bit;
    e->in[t * e->words + (s >> 6)] |= (uint64_t)1 << (s & 63);
}

static inline int count_bits(const uint64_t *bits, int words) {
    int count = 0;
    for (int w = 0; w < words; w++) count += __builtin_popcountll(bits[w]);
    return count;
}

/* The numbers of the set bits, in ascending order; returns how many. */
static inline int64_t list_bits(const uint64_t *bits, int words, uint16_t *list) {
    int64_t count = 0;
    for (int w = 0; w < words; w++)
        for (uint64_t left = bits[w]; left != 0; left &= left - 1)
            list[count++] = (uint16_t)(64 * w + __builtin_ctzll(left));
    return count;
}

/* Word w of the bit of state i. */
static inline uint64_t bit_of(int64_t i, int w) { return (uint64_t)(i >> 6 == w) << (i & 63); }

/* The first set bit, or nobody's; it is cleared. */
static inline int64_t take_bit(uint64_t *bits, int words) {
    const int64_t first = bits[0] != 0 ? __builtin_ctzll(bits[0]) : 64;
    if (words == 1) {
        bits[0] &= bits[0] - 1;
        return first;
    }
    const int64_t second = bits[1] != 0 ? 64 + __builtin_ctzll(bits[1]) : 128;
    const uint64_t upper = -(uint64_t)(first == 64);
    bits[0] &= bits[0] - 1;
    bits[1] &= (bits[1] - 1) | ~upper;
    return first == 64 ? second : first;
}

/* x where the condition is 1, 0 where it is 0, without a branch. */
static inline double keep_if(uint64_t condition, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= -condition;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* State k leaves; its neighbours see one another instead. With a = G − I and d = −a_kk:
 *   l_ik = a_ik / d,   a_ij ← a_ij + l_ik a_kj
 * Only i, j that are left and neighbours of k; entries that come into being start from zero. No pivots are needed:
 * what is left of an M-matrix is one again (see core/lu.c), in whatever order the states go.
 * Here without a branch: `width` predecessors and successors, nobody in place of the missing ones. */
static inline void eliminate_step(pess__elimination *e, int64_t k, pess__step *step, int width, int words) {
    const int64_t stride = e->stride;
    const double *pivot = e->a + k * stride;
    uint64_t in[2], out[2], above[2], below[2];
    for (int w = 0; w < words; w++) {
        in[w] = above[w] = e->in[k * words + w];
        out[w] = below[w] = e->out[k * words + w];
    }
    const double inverse = -1.0 / pivot[k];
    int64_t upper[PESS__NEIGHBOURS];
    double value[PESS__NEIGHBOURS];
    step->state = (uint16_t)k;
    step->inverse = inverse;
    for (int m = 0; m < width; m++) {
        const int64_t j = upper[m] = take_bit(below, words);
        step->upper[m] = (uint16_t)j;
        step->upper_value[m] = value[m] = pivot[j];
        uint64_t *into = e->in + j * words;
        for (int w = 0; w < words; w++) into[w] = (into[w] | in[w]) & ~(bit_of(k, w) | bit_of(j, w));
    }
    for (int m = 0; m < width; m++) {
        const int64_t i = take_bit(above, words);
        double *row = e->a + i * stride;
        uint64_t *from = e->out + i * words;
        const double factor = row[k] * inverse;
        step->lower[m] = (uint16_t)i;
        step->lower_value[m] = factor;
        for (int w = 0; w < words; w++) from[w] |= bit_of(i, w); /* its diagonal is there, too */
        for (int p = 0; p < width; p++) {
            const int64_t j = upper[p];
            const uint64_t word = words == 1 || j < 64 ? from[0] : from[1];
            row[j] = keep_if(word >> (j & 63) & 1, row[j]) + factor * value[p];
        }
        for (int w = 0; w < words; w++) from[w] = (from[w] | out[w]) & ~(bit_of(k, w) | bit_of(i, w));
    }
}

/* The same with any number of neighbours. */
static inline void eliminate(pess__elimination *e, int64_t k, int64_t step, int words) {
    const int64_t stride = e->stride, lower_from = step > 0 ? e->lower_end[step - 1] : 0,
                  upper_from = step > 0 ? e->upper_end[step - 1] : 0;
    uint64_t *in = e->in + k * words, *out = e->out + k * words;
    uint16_t *lower = e->lower + lower_from, *upper = e->upper + upper_from;
    double *lower_value = e->lower_value + lower_from, *upper_value = e->upper_value + upper_from;
    const int64_t above = list_bits(in, words, lower), below = list_bits(out, words, upper);
    const double *pivot = e->a + k * stride;
    const double inverse = -1.0 / pivot[k];
    for (int64_t m = 0; m < below; m++) {
        const int64_t j = upper[m];
        upper_value[m] = pivot[j];
        uint64_t *into = e->in + j * words;
        for (int w = 0; w < words; w++) into[w] = (into[w] | in[w]) & ~(bit_of(k, w) | bit_of(j, w));
    }
    for (int64_t m = 0; m < above; m++) {
        const int64_t i = lower[m];
        double *row = e->a + i * stride;
        uint64_t *from = e->out + i * words;
        const double factor = row[k] * inverse;
        lower_value[m] = factor;
        for (int w = 0; w < words; w++) {
            for (uint64_t fresh = out[w] & ~(from[w] | bit_of(i, w)); fresh != 0; fresh &= fresh - 1)
                row[64 * w + __builtin_ctzll(fresh)] = 0.0;
            from[w] = (from[w] | out[w]) & ~(bit_of(k, w) | bit_of(i, w));
        }
        for (int64_t p = 0; p < below; p++) row[upper[p]] += factor * upper_value[p];
    }
    e->inverse[step] = inverse;
    e->order[step] = (uint16_t)k;
    e->lower_end[step] = lower_from + above;
    e->upper_end[step] = upper_from + below;
}

/* I − G of the states that are left, packed to the front of `a`: every entry moves forward or stays, so that taking
 * them in order overwrites none that is still needed. */
static void pack_rest(pess__elimination *e, int64_t left, int words) {
    const uint16_t *state = e->order + e->lists;
    e->dense_stride = pess__lu_stride(left);
    for (int64_t i = 0; i < left; i++) {
        const double *row = e->a + state[i] * e->stride;
        const uint64_t *out = e->out + state[i] * words;
        double *target = e->a + i * e->dense_stride;
        for (int64_t j = 0; j < left; j++) {
            const int64_t t = state[j];
            const bool there = i == j || (out[t >> 6] >> (t & 63) & 1);
            target[j] = there ? -row[t] : 0.0;
        }
    }
}

/* Marks in `few` whether state s has at most `width` neighbours either way. */
static inline void look_at(const pess__elimination *e, uint64_t *few, int64_t s, int width, int words) {
    const int above = count_bits(e->in + s * words, words), below = count_bits(e->out + s * words, words);
    const uint64_t is = (uint64_t)((above <= width) & (below <= width));
    for (int w = 0; w < words; w++) {
        const uint64_t bit = bit_of(s, w);
        few[w] = (few[w] & ~bit) | (bit & -is);
    }
}

/* Steps of at most `width` neighbours as long as there are any; all decisions are made by arithmetic on the words of
 * bits, since a branch would be foretold wrongly half of the time. */
static inline void take_steps(pess__elimination *e, uint64_t *left, int width, int words) {
    const int64_t nobody = pess__elimination_nobody(e);
    uint64_t few[2] = {0, 0};
    for (int64_t s = 0; s < e->n; s++) look_at(e, few, s, width, words);
    for (;;) {
        uint64_t candidates[2];
        for (int w = 0; w < words; w++) candidates[w] = few[w] & left[w];
        const int64_t k = take_bit(candidates, words);
        if (k == nobody) return;
        pess__step *step = e->step + e->steps++;
        eliminate_step(e, k, step, width, words);
        for (int w = 0; w < words; w++) left[w] &= ~bit_of(k, w);
        for (int m = 0; m < width; m++) look_at(e, few, step->lower[m], width, words);
        for (int m = 0; m < width; m++) look_at(e, few, step->upper[m], width, words);
    }
}

/* Then states whose predecessors times successors are few, then those with more, until none are left or what is left is
 * about as full as it can be. */
static inline void factor(pess__elimination *e, int words) {
    uint64_t left[2];
    for (int w = 0; w < words; w++) left[w] = e->n - 64 * w >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (e->n - 64 * w)) - 1;
    e->steps = e->lists = 0;
    take_steps(e, left, PESS__NEIGHBOURS / 2, words);
    e->pairs = e->steps;
    take_steps(e, left, PESS__NEIGHBOURS, words);
    int64_t rest = e->n - e->steps;
    for (int64_t limit = 9; rest > 0; limit += limit / 2) {
        if (rest >= DENSE_FROM && 3 * limit > rest * rest) break;
        for (int w = 0; w < words; w++)
            for (uint64_t bits = left[w]; bits != 0; bits &= bits - 1) {
                const int64_t k = 64 * w + __builtin_ctzll(bits);
                if (count_bits(e->in + k * words, words) * count_bits(e->out + k * words, words) > limit) continue;
                eliminate(e, k, e->lists++, words);
                left[w] &= ~(bits & -bits);
            }
        rest = e->n - e->steps - e->lists;
    }
    if (rest == 0) return;
    (void)list_bits(left, words, e->order + e->lists);
    pack_rest(e, rest, words);
    pess__lu_factor(e->a, rest, e->dense_stride, 1);
}

void pess__elimination_factor(pess__elimination *e) {
    if (e->words == 1) /* written out for both */
        factor(e, 1);
    else
        factor(e, 2);
}

static int64_t dense_states(const pess__elimination *e) { return e->n - e->steps - e->lists; }

/* The dense rest, lane by lane. */
static void solve_rest(const pess__elimination *e, pess__quad *b) {
    const int64_t rest = dense_states(e);
    const uint16_t *state = e->order + e->lists;
    double x[PESS__ELIMINATION_STATES];
    for (int lane = 0; lane < 4; lane++) {
        bool any = false;
        for (int64_t i = 0; i < rest; i++) {
            x[i] = b[state[i]][lane];
            any |= x[i] != 0.0;
        }
        if (!any) continue;
        pess__lu_solve(e->a, rest, e->dense_stride, x);
        for (int64_t i = 0; i < rest; i++) b[state[i]][lane] = x[i];
    }
}

static void solve_lists(const pess__elimination *e, pess__quad *b) {
    int64_t at = 0;
    for (int64_t step = 0; step < e->lists; step++) {
        const pess__quad value = b[e->order[step]];
        for (; at < e->lower_end[step]; at++) b[e->lower[at]] += pess__quad_of(e->lower_value[at]) * value;
    }
    if (dense_states(e) > 0) solve_rest(e, b);
    for (int64_t step = e->lists - 1; step >= 0; step--) {
        pess__quad value = b[e->order[step]];
        for (at = step > 0 ? e->upper_end[step - 1] : 0; at < e->upper_end[step]; at++)
            value += pess__quad_of(e->upper_value[at]) * b[e->upper[at]];
        b[e->order[step]] = value * pess__quad_of(e->inverse[step]);
    }
}

static inline void forward(const pess__elimination *e, int64_t from, int64_t to, int width, pess__quad *b) {
    for (const pess__step *step = e->step + from; step < e->step + to; step++) {
        const pess__quad value = b[step->state];
        for (int m = 0; m < width; m++) b[step->lower[m]] += pess__quad_of(step->lower_value[m]) * value;
    }
}

static inline void backward(const pess__elimination *e, int64_t from, int64_t to, int width, pess__quad *b) {
    for (const pess__step *step = e->step + to; step-- > e->step + from;) {
        pess__quad value = b[step->state];
        for (int m = 0; m < width; m++) value += pess__quad_of(step->upper_value[m]) * b[step->upper[m]];
        b[step->state] = value * pess__quad_of(step->inverse);
    }
}

void pess__elimination_solve(const pess__elimination *e, pess__quad *b) {
    forward(e, 0, e->pairs, PESS__NEIGHBOURS / 2, b);
    forward(e, e->pairs, e->steps, PESS__NEIGHBOURS, b);
    solve_lists(e, b);
    backward(e, e->pairs, e->steps, PESS__NEIGHBOURS, b);
    backward(e, 0, e->pairs, PESS__NEIGHBOURS / 2, b);
}

static void solve_lists_transposed(const pess__elimination *e, double *b) {
    int64_t at = 0;
    for (int64_t step = 0; step < e->lists; step++) {
        double *value = b + e->order[step];
        *value *= e->inverse[step];
        for (; at < e->upper_end[step]; at++) b[e->upper[at]] += e->upper_value[at] * *value;
    }
    const int64_t rest = dense_states(e);
    if (rest > 0) {
        const uint16_t *state = e->order + e->lists;
        double x[PESS__ELIMINATION_STATES];
        for (int64_t i = 0; i < rest; i++) x[i] = b[state[i]];
        pess__lu_solve_transposed(e->a, rest, e->dense_stride, x);
        for (int64_t i = 0; i < rest; i++) b[state[i]] = x[i];
    }
    for (int64_t step = e->lists - 1; step >= 0; step--) {
        double sum = b[e->order[step]];
        for (at = step > 0 ? e->lower_end[step - 1] : 0; at < e->lower_end[step]; at++)
            sum += e->lower_value[at] * b[e->lower[at]];
        b[e->order[step]] = sum;
    }
}

void pess__elimination_solve_transposed(const pess__elimination *e, double *b) {
    for (int64_t k = 0; k < e->steps; k++) {
        const pess__step *step = e->step + k;
        const double value = b[step->state] * step->inverse;
        b[step->state] = value;
        for (int m = 0; m < (k < e->pairs ? PESS__NEIGHBOURS / 2 : PESS__NEIGHBOURS); m++)
            b[step->upper[m]] += step->upper_value[m] * value;
    }
    solve_lists_transposed(e, b);
    for (int64_t k = e->steps - 1; k >= 0; k--) {
        const pess__step *step = e->step + k;
        for (int m = 0; m < (k < e->pairs ? PESS__NEIGHBOURS / 2 : PESS__NEIGHBOURS); m++)
            b[step->state] += step->lower_value[m] * b[step->lower[m]];
    }
}
