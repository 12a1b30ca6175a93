/* Policy iteration with more than one look ahead: between two evaluations not one sweep improves the policy but
 * several, in place, which cost less than an evaluation and carry an improvement further. v^π' ≥ T^m v^π ≥ v^π, so it
 * ends as policy iteration does (Puterman 1994, chapter 6). q(s,a) = c + Σ_k w_k v(next_k) + u·mean(v) with rewards,
 * bonuses and sinks in c, γ in w and u. */
#include "solve/small.h"

#include "core/elimination.h"
#include "core/memory.h"
#include "core/memory_raw.h"
#include "solve/monitor.h"
#include "solve/proper.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

enum {
    MOST_ACTIONS = 4096,
    NARROW = 4, /* successors in a row, padded */
    WIDE = 8,
    FIRST_LOOKS = 1, /* sweeps before the first evaluation … */
    LOOKS = 4        /* … and between two */
};

/* Below every value; finite, since its last bits are used. */
static const double ABSENT = -DBL_MAX / 4;

typedef struct small {
    const pess__problem *problem;
    const pess_model *model;
    const double *bonus; /* [S*A] or NULL */
    int64_t states, actions, width;
    int64_t lanes; /* actions up to a multiple of four; those that are not there have the constant ABSENT */
    int words;     /* of a row of bits */
    double gamma;
    bool any_uniform;
    bool hurried;               /* γ = 1: the first policy is there, one that hurries to an end */
    double *constant, *uniform; /* [S*lanes] */
    double *weight;             /* [S*lanes/4*width*4] */
    double *self;               /* [S*lanes] weight of the state itself */
    double *v;                  /* [65 or 129] zero from S on */
    double *exact, *naive;      /* [as v] value of the policy last evaluated, with and without bonus */
    double *q;                  /* [lanes] */
    uint64_t *bits;             /* [S*lanes*words] successors, without the state itself */
    int32_t *choice;            /* [S] -1 in terminal states */
    int32_t *evaluated;         /* [S] the policy last evaluated */
    uint16_t *next;             /* [as weight] */
    pess__elimination elimination;
    void *memory;
    pess__monitor monitor;
} small;

static int64_t longest_row(const pess_model *model) {
    const int64_t pairs = model->states * model->actions;
    int64_t longest = 0;
    for (int64_t z = 0; z < pairs; z++) {
        const int64_t length = model->row[z + 1] - model->row[z];
        longest = length > longest ? length : longest;
    }
    return longest;
}

bool pess__small_fits(const pess__problem *problem, const pess__local *local) {
    const pess_model *model = problem->model;
    const pess_solve_options *options = problem->options;
    return local->improve == NULL && problem->endless < 0 && options->method == PESS_METHOD_AUTO &&
           options->evaluation != PESS_EVALUATION_KRYLOV && model->states <= PESS__ELIMINATION_STATES &&
           model->actions <= MOST_ACTIONS && longest_row(model) <= WIDE;
}

/* One block, not zeroed: most of what the elimination could need is never touched. */
static pess_status allocate(small *x, pess_error *error) {
    const int64_t pairs = x->states * x->lanes, entries = pairs * x->width, values = 64 * x->words + 1;
    const size_t doubles = (size_t)(3 * pairs + entries + 3 * values + x->lanes) * sizeof(double);
    const size_t words = (size_t)(pairs * x->words) * sizeof(uint64_t);
    const size_t integers = (size_t)x->states * 2 * sizeof(int32_t) + (size_t)entries * sizeof(uint16_t);
    x->memory = pess__raw(pess__elimination_bytes(x->states) + doubles + words + integers);
    if (x->memory == NULL) return pess__fail(error, PESS_MEMORY, "not enough memory for a model of few states");
    x->constant = x->memory;
    x->uniform = x->constant + pairs;
    x->self = x->uniform + pairs;
    x->weight = x->self + pairs;
    x->v = x->weight + entries;
    x->exact = x->v + values;
    x->naive = x->exact + values;
    x->q = x->naive + values;
    x->bits = (uint64_t *)(void *)(x->q + x->lanes);
    x->choice = (int32_t *)(void *)(x->bits + pairs * x->words);
    x->evaluated = x->choice + x->states;
    x->next = (uint16_t *)(void *)(x->evaluated + x->states);
    pess__elimination_place(&x->elimination, x->states, x->next + entries); /* entries: a multiple of 16 */
    memset(x->v, 0, 3 * (size_t)values * sizeof *x->v);
    memset(x->choice, 0xff, 2 * (size_t)x->states * sizeof *x->choice);
    return PESS_OK;
}

/* Where the successors of action a of state s begin; they are four places apart. */
static inline int64_t entries_of(const small *x, int64_t s, int64_t a) {
    return (s * x->lanes + (a & ~(int64_t)3)) * x->width + (a & 3);
}

/* `width` and `words` are those of x, as constants. Reads `width` successors whether they are there or not, within
 * the last of the model, and keeps those that are: no branch depends on the length. */
static inline void pack_row(small *x, int64_t s, int64_t a, int64_t last, int64_t width, int words) {
    const pess_model *model = x->model;
    const int64_t z = s * x->actions + a, lane = s * x->lanes + a, first = model->row[z];
    const pess_row_kind kind = (pess_row_kind)model->kind[z];
    const int64_t length = kind == PESS_ROW_SPARSE ? model->row[z + 1] - first : 0;
    double *weight = x->weight + entries_of(x, s, a), self = 0;
    uint16_t *next = x->next + entries_of(x, s, a);
    uint64_t bits[2] = {0, 0};
    for (int64_t k = 0; k < width; k++) {
        const int64_t at = first + k < last ? first + k : last;
        const int64_t there = k < length, t = 64 * words + there * ((int64_t)model->next[at] - 64 * words);
        const double w = (double)there * x->gamma * model->probability[at];
        weight[4 * k] = w;
        next[4 * k] = (uint16_t)t;
        for (int i = 0; i < words && i < 2; i++) bits[i] |= (uint64_t)(t >> 6 == i) << (t & 63);
        self += (double)(t == s) * w;
    }
    for (int i = 0; i < words && i < 2; i++)
        x->bits[lane * words + i] = bits[i] & ~((uint64_t)(s >> 6 == i) << (s & 63));
    x->self[lane] = self;
    const double constant = model->reward[z] + (x->bonus != NULL ? x->bonus[z] : 0.0);
    x->constant[lane] = constant;
    x->uniform[lane] = 0.0;
    if (kind == PESS_ROW_SPARSE) return;
    if (kind == PESS_ROW_SINK) x->constant[lane] += x->gamma * x->problem->v_lo;
    if (kind == PESS_ROW_NONE) x->constant[lane] = ABSENT;
    if (kind == PESS_ROW_UNIFORM) {
        x->uniform[lane] = x->gamma;
        x->any_uniform = true;
    }
}

static inline void pack_rows(small *x, int64_t width, int words) {
    const int64_t entries = x->model->row[x->states * x->actions], last = entries > 0 ? entries - 1 : 0;
    for (int64_t s = 0; s < x->states; s++)
        for (int64_t a = 0; a < x->actions; a++) pack_row(x, s, a, last, width, words);
}

/* Written out for the usual size. */
static void pack(small *x) {
    if (x->width == NARROW && x->words == 1)
        pack_rows(x, NARROW, 1);
    else
        pack_rows(x, x->width, x->words);
    for (int64_t s = 0; s < x->states; s++)
        for (int64_t a = x->actions; a < x->lanes; a++) {
            x->constant[s * x->lanes + a] = ABSENT;
            x->uniform[s * x->lanes + a] = 0.0;
            for (int64_t k = 0; k < x->width; k++) {
                x->weight[entries_of(x, s, a) + 4 * k] = 0.0;
                x->next[entries_of(x, s, a) + 4 * k] = 0;
            }
        }
}

static double mean_of(const small *x, const double *v) {
    double sum = 0;
    if (x->any_uniform)
        for (int64_t s = 0; s < x->states; s++) sum += v[s];
    return sum / (double)x->states;
}

/* Four actions of state s, from a on. */
static inline void q_of(const small *x, int64_t s, int64_t a, int64_t width, const double *v, double mean,
                        pess__quad *out) {
    const int64_t lane = s * x->lanes + a;
    const double *weight = x->weight + lane * width;
    const uint16_t *next = x->next + lane * width;
    pess__quad q = pess__quad_load(x->constant + lane);
    if (x->any_uniform) q += pess__quad_load(x->uniform + lane) * pess__quad_of(mean);
    for (int64_t k = 0; k < width; k++) {
        const uint16_t *to = next + 4 * k;
        q += pess__quad_load(weight + 4 * k) * (pess__quad){v[to[0]], v[to[1]], v[to[2]], v[to[3]]};
    }
    *out = q;
}

/* The largest of four, with its place in its last two bits. */
static inline double marked_most(pess__quad q) {
    const pess__quad_bits place = {3, 2, 1, 0}, clear = {~3, ~3, ~3, ~3};
    const pess__quad marked = (pess__quad)(((pess__quad_bits)q & clear) | place);
#ifdef __AVX2__
    const __m128d half = _mm_max_pd(_mm256_castpd256_pd128((__m256d)marked), _mm256_extractf128_pd((__m256d)marked, 1));
    return _mm_cvtsd_f64(_mm_max_sd(_mm_unpackhi_pd(half, half), half));
#else
    return pess__quad_most(marked);
#endif
}

static inline int32_t place_of(double marked) {
    uint64_t bits;
    memcpy(&bits, &marked, sizeof bits);
    return 3 - (int32_t)(bits & 3);
}

/* v ← Tv, each state seeing what the ones before it became; first every other state, then those between, so that one
 * need not wait for the next. `choice` is where the maximum was; the last two bits of v tell it, too, so that no branch
 * depends on it. Returns the largest change. */
static inline double sweep_width(small *x, int64_t width, bool back) {
    const double mean = mean_of(x, x->v);
    const int64_t last = x->states - 1, half = (x->states + 1) / 2;
    double *v = x->v, most = 0;
    for (int64_t k = 0; k <= last; k++) {
        const int64_t turn = back ? last - k : k, s = turn < half ? 2 * turn : 2 * (turn - half) + 1;
        if (x->model->terminal[s]) continue;
        pess__quad q;
        q_of(x, s, 0, width, v, mean, &q);
        double best = marked_most(q);
        int32_t chosen = place_of(best);
        for (int64_t a = 4; a < x->lanes; a += 4) {
            q_of(x, s, a, width, v, mean, &q);
            const double top = marked_most(q);
            chosen = top > best ? (int32_t)a + place_of(top) : chosen;
            best = top > best ? top : best;
        }
        x->choice[s] = chosen;
        const double change = fabs(best - v[s]);
        most = change > most ? change : most;
        v[s] = best;
    }
    return most;
}

static double sweep(small *x, bool back) { /* written out for both: the inner loop has a constant length */
    return x->width == NARROW ? sweep_width(x, NARROW, back) : sweep_width(x, WIDE, back);
}

/* The chain of the present policy and its right-hand sides: the constant, u, and the constant without the bonus. */
static inline void fill(small *x, pess__quad *b, int64_t width, int words) {
    const pess_model *model = x->model;
    for (int64_t s = 0; s < x->states; s++) {
        const int64_t a = x->choice[s], z = s * x->actions + a, lane = s * x->lanes + a, at = entries_of(x, s, a);
        b[s] = pess__quad_of(0.0);
        if (a < 0) continue;
        const double sink = model->kind[z] == PESS_ROW_SINK ? x->gamma * x->problem->v_lo : 0.0;
        b[s] = (pess__quad){x->constant[lane], x->uniform[lane], model->reward[z] + sink, 0.0};
        pess__elimination_row(&x->elimination, s, words, x->bits + lane * words, x->next + at, x->weight + at, width, 4,
                              x->self[lane]);
    }
}

/* (I − G − u·1ᵀ/S) v = c: the uniform rows are a term of rank one (Sherman & Morrison 1950),
 *   v = y + z·mean(y)/(1 − mean(z)),   y = (I − G)⁻¹c,  z = (I − G)⁻¹u,
 * where mean(z) < 1 since the whole matrix is a nonsingular M-matrix. */
static void evaluate(small *x) {
    pess__elimination *e = &x->elimination;
    pess__quad b[PESS__ELIMINATION_STATES + 1];
    pess__elimination_clear(e);
    if (x->width == NARROW && x->words == 1)
        fill(x, b, NARROW, 1);
    else
        fill(x, b, x->width, x->words);
    for (int64_t s = x->states; s <= pess__elimination_nobody(e); s++) b[s] = pess__quad_of(0.0);
    memcpy(x->evaluated, x->choice, (size_t)x->states * sizeof *x->choice);
    pess__elimination_factor(e);
    pess__elimination_solve(e, b);
    pess__quad share = {0};
    if (x->any_uniform) {
        pess__quad sum = {0};
        for (int64_t s = 0; s < x->states; s++) sum += b[s];
        share = sum / pess__quad_of((double)x->states - sum[1]);
    }
    for (int64_t s = 0; s < x->states; s++) {
        const pess__quad value = b[s] + pess__quad_of(b[s][1]) * share;
        x->exact[s] = x->v[s] = value[0];
        x->naive[s] = value[2];
    }
}

/* Differences below this are rounding. */
static double rounding(const double *v, int64_t states) {
    double scale = 0;
    for (int64_t s = 0; s < states; s++) scale = fabs(v[s]) > scale ? fabs(v[s]) : scale;
    return 64 * DBL_EPSILON * scale;
}

/* The policy greedy in `exact`, ties within PESS__TIE to the smallest action; returns whether it is not the one that
 * was evaluated, and leaves the Bellman residual. */
static bool break_ties(small *x, double *residual) {
    const double mean = mean_of(x, x->exact);
    bool changed = false;
    *residual = 0;
    for (int64_t s = 0; s < x->states; s++) {
        if (x->model->terminal[s]) continue;
        double best = -INFINITY;
        for (int64_t a = 0; a < x->lanes; a += 4) {
            pess__quad q;
            q_of(x, s, a, x->width, x->exact, mean, &q);
            pess__quad_store(x->q + a, q);
            const double top = pess__quad_most(q);
            best = top > best ? top : best;
        }
        int32_t a = 0;
        while (a + 1 < x->actions && !(x->q[a] >= best - PESS__TIE)) a++;
        changed |= x->evaluated[s] != a;
        x->choice[s] = a;
        const double size = fabs(best - x->exact[s]);
        *residual = size > *residual ? size : *residual;
    }
    return changed;
}

/* Ends where the sweep after an evaluation moves no value by more than an eighth of the tolerance: in place, a change
 * of ε in each means gains of at most 2ε at once. */
static void iterate(small *x, pess_solution_info *info) {
    const double tightest = 0.125 * x->problem->options->tolerance;
    bool back = false;
    info->iterations = 0;
    for (int k = 0; k < FIRST_LOOKS && !x->hurried; k++, back = !back) (void)sweep(x, back);
    for (;; info->iterations++) {
        x->monitor.done = (double)info->iterations;
        info->outcome = PESS_OUTCOME_TIME_LIMIT;
        if (!pess__monitor_check(&x->monitor)) return;
        info->outcome = PESS_OUTCOME_ITERATION_LIMIT;
        if (info->iterations >= x->problem->options->max_iterations) return;
        evaluate(x);
        const double change = sweep(x, back);
        if (change <= fmax(tightest, 0.5 * rounding(x->exact, x->states))) break;
        for (int k = 1; k < LOOKS; k++) (void)sweep(x, back = !back);
    }
    info->iterations++;
    info->outcome = PESS_OUTCOME_CONVERGED;
}

static pess_status store(const small *x, pess_solution *solution, pess_error *error) {
    const size_t bytes = (size_t)x->states * sizeof(double);
    if (solution->values == NULL)
        PESS_TRY(pess__allocate(&solution->values, x->states, sizeof(double), "the values", error));
    if (solution->naive_values == NULL)
        PESS_TRY(pess__allocate(&solution->naive_values, x->states, sizeof(double), "the values", error));
    if (solution->policy == NULL) PESS_TRY(pess__policy_allocate(x->states, x->actions, &solution->policy, error));
    memcpy(solution->values, x->exact, bytes);
    memcpy(solution->naive_values, x->naive, bytes);
    double *table = solution->policy->probability;
    memset(table, 0, bytes * (size_t)x->actions);
    for (int64_t s = 0; s < x->states; s++)
        if (x->evaluated[s] >= 0) table[s * x->actions + x->evaluated[s]] = 1.0;
    return PESS_OK;
}

pess_status pess__small_optimise(const pess__problem *problem, const pess__local *local, pess_solution *solution,
                                 pess_error *error) {
    const pess_model *model = problem->model;
    pess_solution_info *info = &solution->info;
    small x = {.problem = problem,
               .model = model,
               .bonus = local->bonus,
               .states = model->states,
               .actions = model->actions,
               .width = longest_row(model) <= NARROW ? NARROW : WIDE,
               .lanes = (model->actions + 3) / 4 * 4,
               .words = model->states <= 64 ? 1 : 2,
               .gamma = problem->options->gamma,
               .monitor =
                   pess__monitor_start(&problem->options->progress, problem->options->algorithm, problem->deadline)};
    PESS_TRY(allocate(&x, error));
    pack(&x);
    x.hurried = x.gamma == 1;
    pess_status status = x.hurried ? pess__soonest_end(model, x.bonus, x.choice, error) : PESS_OK;
    if (status == PESS_OK) iterate(&x, info);
    if (status == PESS_OK && x.monitor.interrupted)
        status = pess__fail(error, PESS_INTERRUPTED, "%s: interrupted after %lld iterations",
                            problem->options->algorithm, (long long)info->iterations);
    if (status == PESS_OK) {
        if (info->iterations == 0) evaluate(&x);
        if (break_ties(&x, &info->residual)) { /* the value of exactly the policy that is returned */
            evaluate(&x);
            (void)break_ties(&x, &info->residual);
        }
        info->method = "policy iteration";
        info->evaluation = "lu";
        status = store(&x, solution, error);
    }
    free(x.memory);
    return status;
}
