/* check_certificate LOG.csv POLICY.csv CERTIFICATE.json STATES ACTIONS REWARD_LO REWARD_HI MAX_SUCCESSORS SEED
 *
 * Verifies what `pess certify --json` printed, from the log, the policy and the printed numbers alone. It shares no
 * code with the library: plain dense tables, Gauss–Jordan and sorting in long double, written from docs/theory.md. It
 * recomputes its own lower bound of the policy, upper bound of the logging policy and upper bound of the best policy;
 * each printed bound must be implied by its own to within 1e-8 of the range of values, which covers that the estimate
 * v₁ of the first part (any is valid) was found by another method here. The log has integer ids and no names; the start
 * distribution is uniform. Exit 0: verified; 1: not. */
#include "checker.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static real gamma_, r_lo, r_hi, v_lo, v_hi;
static bool ends, adaptive;
static int successors_declared;
static uint8_t *terminal;

/* Room that lasts until the end. */
static void *kept[4096];
static int kept_count;
static void release(void) {
    for (int i = 0; i < kept_count; i++) free(kept[i]);
    json_decref(certificate);
}
static void *keep(size_t count, size_t size) {
    if (kept_count == 4096) exit(3);
    return kept[kept_count++] = room(count, size);
}

/* ------------------------------------------------------------------------------------------------ input */

typedef struct row {
    long s, a, t, episode;
    real r;
    bool end;
} row;

typedef struct table { /* counts; column S of next is the end; sums of rewards are relative to the first one */
    int actions;
    real origin, least, most; /* rewards: the first, the least, the most */
    real *n, *sum, *square, *next, *paid;
} table;

static table new_table(int actions) {
    const size_t z = (size_t)(S * actions);
    return (table){actions,
                   NAN,
                   INFINITY,
                   -INFINITY,
                   keep(z, sizeof(real)),
                   keep(z, sizeof(real)),
                   keep(z, sizeof(real)),
                   keep(z * (size_t)(S + 1), sizeof(real)),
                   keep(z * (size_t)(S + 1), sizeof(real))};
}

static void put(table *c, const row *x, bool one_action) {
    const long z = one_action ? x->s : x->s * c->actions + x->a, to = x->end ? S : x->t;
    c->least = fminl(c->least, x->r);
    c->most = fmaxl(c->most, x->r);
    if (isnan((double)c->origin)) c->origin = x->r;
    const real r = x->r - c->origin;
    c->n[z] += 1;
    c->sum[z] += r;
    c->square[z] += r * r;
    c->next[z * (S + 1) + to] += 1;
    c->paid[z * (S + 1) + to] += r;
}

/* Columns by name; fields are plain numbers. */
static row *read_log(const char *path, long *count, bool *episodes) {
    FILE *f = fopen(path, "r");
    char line[4096];
    if (!f || !fgets(line, sizeof line, f)) exit(3);
    int column[8] = {-1, -1, -1, -1, -1, -1, -1, -1}, k = 0;
    const char *names[] = {"state", "action", "reward", "next_state", "terminal", "episode"};
    for (char *w = strtok(line, ",\r\n"); w; w = strtok(NULL, ",\r\n"), k++)
        for (int i = 0; i < 6; i++)
            if (strcmp(w, names[i]) == 0) column[i] = k;
    *episodes = column[5] >= 0;
    row *rows = NULL;
    long capacity = 0;
    for (*count = 0; fgets(line, sizeof line, f); ++*count) {
        double field[32] = {0};
        int n = 0;
        for (char *at = line; n < 32 && *at && *at != '\n';) {
            char *after = at;
            field[n++] = strtod(at, &after);
            at = strchr(after, ',');
            if (!at) break;
            at++;
        }
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            rows = realloc(rows, (size_t)capacity * sizeof *rows);
            if (!rows) exit(3);
        }
        rows[*count] = (row){(long)field[column[0]], (long)field[column[1]],
                             (long)field[column[3]], column[5] >= 0 ? (long)field[column[5]] : 0,
                             (real)field[column[2]], column[4] >= 0 && field[column[4]] != 0};
    }
    (void)fclose(f);
    return rows;
}

/* ------------------------------------------------------------------------------------------------ sets of rows */

static const real *sort_by;
static int higher_first(const void *x, const void *y) {
    const real a = sort_by[*(const int *)x], b = sort_by[*(const int *)y];
    return (a < b) - (a > b);
}

/* A q with kl(p,q') <= level only for q' >= q: kl(p,q) >= (p−q)²/(2·max of t(1−t) between them). */
static real coin_low(real p, real level) {
    if (p >= 1) return expl(-level);
    if (p <= 0.5L) return fmaxl(p - sqrtl(2 * level * p * (1 - p)), 0);
    const real q = (p + level - sqrtl(level * (2 * p * (1 - p) + level))) / (1 + 2 * level);
    return q >= 0.5L ? q : fmaxl(p - sqrtl(level / 2), 0);
}

/* The lowest P·v when every subset A of the row has n·kl(P_D(A), P(A)) <= n·level: Abel summation over the values in
 * descending order. */
static real subsets(const real *p, const real *v, real level) {
    int order[1024], count = 0;
    for (int t = 0; t <= S; t++)
        if (p[t] > 0) order[count++] = t;
    sort_by = v;
    qsort(order, (size_t)count, sizeof *order, higher_first);
    real total = v[order[count - 1]], above = 0;
    for (int i = 0; i + 1 < count; i++) {
        above += p[order[i]];
        total += (v[order[i]] - v[order[i + 1]]) * coin_low(above, level);
    }
    return total;
}

/* ln C(m,k) + ln m */
static real log_supports(real m, real k) { return lgammal(m + 1) - lgammal(k + 1) - lgammal(m - k + 1) + logl(m); }

/* The worst P·v of a row under "l1" or "support" for transitions that get delta; v may be negated for the best. */
static real worst(const table *c, int z, const char *set, real delta, int declared, const real *v) {
    real p[1024], k = 0, low_in = INFINITY, low_out = INFINITY;
    const real n = c->n[z], states = declared > 0 ? declared : S, m = states + (ends ? 1 : 0);
    int states_seen = 0;
    for (int t = 0; t <= S; t++) {
        p[t] = c->next[z * (S + 1) + t] / n;
        if (p[t] > 0) k += 1, low_in = fminl(low_in, v[t]), states_seen += t < S;
    }
    if ((real)states_seen < states)
        for (int t = 0; t < S; t++)
            if (!terminal[t]) low_out = fminl(low_out, v[t]);
    if (ends && p[S] == 0) low_out = fminl(low_out, v[S]);
    const real pairs = logl((real)S * c->actions / delta) + (adaptive ? logl(n) + log1pl(n) : 0);
    if (strcmp(set, "l1") == 0) {
        const real level = (pairs + m * logl(2)) / n;
        return subsets(p, v, level) - fmaxl(low_in - low_out, 0) * (1 - expl(-level));
    }
    const real price = log_supports(m, k) + logl(2) + pairs, unseen = fminl(price / n, 1);
    const real inside = subsets(p, v, (price + k * logl(2)) / n);
    return isfinite((double)low_out) ? fminl(inside, (1 - unseen) * inside + unseen * low_out) : inside;
}

/* Is t (S: the end) in the learned support of a pair? Its own successors are, and those of its state's other actions
 * where these add at most 8 and, if it is declared how many are possible, are fewer altogether. */
static bool learned(const table *earlier, int z, int declared, int t) {
    const int first = z - z % earlier->actions;
    int own = 0, all = 0;
    bool found = false;
    for (int u = 0; u <= S; u++) {
        bool any = false;
        for (int y = first; y < first + earlier->actions; y++) any = any || earlier->next[y * (S + 1) + u] > 0;
        own += u < S && earlier->next[z * (S + 1) + u] > 0;
        all += u < S && any;
        found = found || (u == t && any);
    }
    return earlier->next[z * (S + 1) + t] > 0 || (found && all <= own + 8 && (declared == 0 || all < declared));
}

/* The worst P·v where the k successors of a learned support are all that is told apart and the others stand at the
 * lowest value. A pair's share of δ is that of its state times that of its action among the state's earlier samples;
 * one half is for the support as a whole, the other for its 2^k subsets. */
static real worst_learned(const table *c, const table *earlier, int z, real delta, int declared, const real *v) {
    int order[1024], count = 0, states = 0;
    const int first = z - z % earlier->actions;
    const real n = c->n[z];
    real lowest = INFINITY, above = 0, total, samples = 0;
    for (int t = 0; t <= S; t++)
        if (learned(earlier, z, declared, t)) order[count++] = t, states += t < S;
    if (states < (declared > 0 ? declared : S))
        for (int t = 0; t < S; t++)
            if (!terminal[t]) lowest = fminl(lowest, v[t]);
    if (ends && !learned(earlier, z, declared, S)) lowest = fminl(lowest, v[S]);
    if (count == 0) return lowest;
    for (int y = first; y < first + earlier->actions; y++) samples += earlier->n[y] + 0.5L;
    const real price =
        logl(2 * (real)S * samples / (delta * (earlier->n[z] + 0.5L))) + (adaptive ? logl(n) + log1pl(n) : 0);
    sort_by = v;
    qsort(order, (size_t)count, sizeof *order, higher_first);
    const real last = v[order[count - 1]], base = fminl(lowest, last);
    total = base;
    for (int i = 0; i < count; i++) {
        const real level = (price + (i + 1 < count ? count * logl(2) : 0)) / n;
        above += c->next[z * (S + 1) + order[i]];
        total += (v[order[i]] - (i + 1 < count ? v[order[i + 1]] : base)) * coin_low(above / n, level);
    }
    return total;
}

/* Both, each with its share; the better one. A pair that the later part does not show has the first alone. */
static real worst_of_both(const table *c, const table *earlier, const table *later, int z, const char *set, real delta,
                          real delta_learned, int declared, const real *v) {
    const real one = worst(c, z, set, delta, declared, v);
    if (delta_learned == 0 || later->n[z] == 0) return one;
    return fmaxl(one, worst_learned(later, earlier, z, delta_learned, declared, v));
}

/* ------------------------------------------------------------------------------------------------ all policies */

static real coin(real p, real q) {
    return (p > 0 ? p * logl(p / q) : 0) + (p < 1 ? (1 - p) * logl((1 - p) / (1 - q)) : 0);
}

/* The mean of numbers in [0,1] is at most this: n·kl <= log_term. */
static real mean_above(real m, real n, real log_term) {
    real in = m, out = 1;
    for (int i = 0; i < 100; i++) {
        const real q = (in + out) / 2;
        *(n * coin(m, q) > log_term ? &out : &in) = q;
    }
    return out;
}

/* Values [S+1] in the worst (sign 1) or best (−1) world, of a policy or, where it is NULL, of the best one; returns
 * their mean over the states with actions. */
static real by_sets(const table *c, const table *earlier, const table *later, const char *prefix, int declared,
                    const real *pi, int sign, real *v) {
    const char *set = json_string_value(json_object_get(certificate, "uncertainty"));
    char rewards[120], transitions[120], learned[120];
    (void)snprintf(rewards, sizeof rewards, "%ssets: rewards from %s", prefix, sign > 0 ? "below" : "above");
    (void)snprintf(transitions, sizeof transitions, "%ssets: transitions", prefix);
    (void)snprintf(learned, sizeof learned, "%ssets: learned supports", prefix);
    const real delta = share(rewards);
    const int actions = c->actions;
    real *w = room((size_t)S + 1, sizeof *w);
    v[S] = 0;
    for (int s = 0; s < S; s++) v[s] = terminal[s] ? 0 : sign > 0 ? v_lo : v_hi;
    for (int i = 0; i < 200000; i++) {
        real change = 0;
        for (int t = 0; t <= S; t++) w[t] = sign * v[t];
        for (int s = 0; s < S; s++) {
            if (terminal[s]) continue;
            real best = -INFINITY, sum = 0, mass = 0;
            for (int a = 0; a < actions; a++) {
                const int z = s * actions + a;
                if (pi && pi[z] == 0) continue;
                real q = sign > 0 ? v_lo : v_hi;
                if (c->n[z] > 0) {
                    const real log_term =
                        logl((real)S * actions / delta) + (adaptive ? logl(c->n[z]) + log1pl(c->n[z]) : 0);
                    const real m = fminl(fmaxl((c->origin - r_lo + c->sum[z] / c->n[z]) / (r_hi - r_lo), 0), 1);
                    const real r =
                        sign > 0 ? 1 - mean_above(1 - m, c->n[z], log_term) : mean_above(m, c->n[z], log_term);
                    q = r_lo + (r_hi - r_lo) * r +
                        gamma_ * sign *
                            worst_of_both(c, earlier, later, z, set, share(transitions), share(learned), declared, w);
                }
                best = fmaxl(best, q);
                if (pi) sum += pi[z] * q, mass += pi[z];
            }
            if (pi) best = mass > 0 ? sum / mass : sign > 0 ? v_lo : v_hi;
            best = fminl(fmaxl(best, v_lo), v_hi);
            change = fmaxl(change, fabsl(best - v[s]));
            v[s] = best;
        }
        if (change < 1e-13L) break;
    }
    real value = 0, alive = 0;
    for (int s = 0; s < S; s++)
        if (!terminal[s]) value += v[s], alive += 1;
    free(w);
    return value / alive;
}

/* ------------------------------------------------------------------------------------------------ one policy */

enum { PRIORS = 3 };
#define REACH 3.5L
#define TAIL 4.6537e-4L

typedef struct test {
    table first, second; /* second: what is tested, or the imagined one */
    const char *prefix;  /* of the ledger */
    real ratio;
    int rows, targets, priors, declared;
    int *pair, *state, *reference, (*target)[2];
    real *weight, *v1, *centre, *expected, *variance, *low, *high, *cap, *excess;
    int *stake;
    int side; /* 1: a lower bound is wanted, −1: an upper one */
    bool *closed;
    const real *outer_low, *outer_high; /* [S] from the sets, or NULL */
    real *inverse1, *inverse, *v, *range, *seen, *h, *prior_v[PRIORS], *prior_r[PRIORS];
    bool *held;
} test;

static real ledger(const test *x, const char *what) {
    char key[120];
    (void)snprintf(key, sizeof key, "%s: %s", x->prefix, what);
    return share(key);
}

/* (I − γP)⁻¹ over the states that are not held, by Gauss–Jordan with rows of the identity for the others. */
static void invert(const test *x, const table *c, const bool *held, real *out) {
    real *a = room((size_t)(S * S), sizeof *a);
    memset(out, 0, (size_t)((S + 1) * S) * sizeof *out);
    for (int s = 0; s < S; s++) a[s * S + s] = out[s * S + s] = 1;
    for (int z = 0; z < x->rows; z++) {
        if (held[x->state[z]]) continue;
        for (int t = 0; t < S; t++)
            a[x->state[z] * S + t] -= gamma_ * x->weight[z] * c->next[x->pair[z] * (S + 1) + t] / c->n[x->pair[z]];
    }
    for (int k = 0; k < S; k++) {
        const real pivot = a[k * S + k];
        for (int j = 0; j < S; j++) a[k * S + j] /= pivot, out[k * S + j] /= pivot;
        for (int i = 0; i < S; i++) {
            const real f = a[i * S + k];
            if (i == k || f == 0) continue;
            for (int j = 0; j < S; j++) a[i * S + j] -= f * a[k * S + j], out[i * S + j] -= f * out[k * S + j];
        }
    }
    free(a);
}

static void values_of(const test *x, const table *c, const bool *held, const real *at, const real *inverse, real *v) {
    real *constant = room((size_t)S, sizeof *constant);
    for (int s = 0; s < S; s++) constant[s] = held[s] ? at[s] : 0;
    for (int z = 0; z < x->rows; z++)
        if (!held[x->state[z]])
            constant[x->state[z]] += x->weight[z] * (c->origin + c->sum[x->pair[z]] / c->n[x->pair[z]]);
    for (int s = 0; s < S; s++) {
        v[s] = 0;
        for (int t = 0; t < S; t++) v[s] += inverse[s * S + t] * constant[t];
    }
    v[S] = 0;
    free(constant);
}

static real mean_y(const test *x, const table *c, int z) {
    real sum = c->sum[x->pair[z]];
    for (int t = 0; t < S; t++) sum += gamma_ * c->next[x->pair[z] * (S + 1) + t] * x->v1[t];
    return c->origin + sum / c->n[x->pair[z]];
}

/* Σ(r + γv₁(s') − ŷ)² */
static real squares(const test *x, const table *c, int z) {
    real sum = c->square[x->pair[z]];
    for (int t = 0; t <= S; t++) {
        const real shift = c->origin + gamma_ * x->v1[t] - x->centre[z];
        sum += 2 * shift * c->paid[x->pair[z] * (S + 1) + t] + c->next[x->pair[z] * (S + 1) + t] * shift * shift;
    }
    return sum;
}

static void fix_first(test *x) {
    const table *c = &x->first;
    bool *held = room((size_t)S, sizeof *held);
    real rewards = 0, visits = 0, *at = room((size_t)S, sizeof *at);
    for (int z = 0; z < x->rows; z++) {
        rewards += c->sum[x->pair[z]] + c->n[x->pair[z]] * c->origin;
        visits += c->n[x->pair[z]];
        if (c->n[x->pair[z]] == 0) held[x->state[z]] = true;
    }
    const real typical = ends ? (v_lo + v_hi) / 2 : rewards / visits / (1 - gamma_);
    for (int s = 0; s < S; s++) {
        at[s] = terminal[s] ? 0 : fminl(fmaxl(typical, v_lo), v_hi);
        if (terminal[s]) held[s] = true;
    }
    invert(x, c, held, x->inverse1);
    values_of(x, c, held, at, x->inverse1, x->v1);
    for (int z = 0; z < x->rows; z++) {
        const real n = c->n[x->pair[z]], *next = c->next + x->pair[z] * (S + 1);
        const real width = v_hi - v_lo, spread = r_hi - r_lo;
        x->expected[z] = fmaxl(n, 0.5L) * x->ratio;
        x->centre[z] = n > 0 ? mean_y(x, c, z) : x->v1[x->state[z]];
        x->variance[z] = (squares(x, c, z) + 0.25L * spread * spread + 1e-12L * width * width) / fmaxl(n, 1);
        x->reference[z] = next[S] > 0 ? S : x->state[z];
        real most = next[S];
        int seen = 0;
        for (int t = 0; t < S; t++) {
            seen += next[t] > 0;
            if (next[t] > most) most = next[t], x->reference[z] = t;
        }
        x->closed[z] = x->declared > 0 && seen >= x->declared && (!ends || next[S] > 0);
    }
    free(held);
    free(at);
}

/* The largest |Y − ŷ| when values are in [low, high]. */
static real range_of(const test *x, int z, const real *low, const real *high) {
    real least = ends ? 0 : INFINITY, most = ends ? 0 : -INFINITY;
    for (int t = 0; t < S; t++)
        if (!x->closed[z] || x->first.next[x->pair[z] * (S + 1) + t] > 0)
            least = fminl(least, low[t]), most = fmaxl(most, high[t]);
    const int ref = x->reference[z];
    return fmaxl(r_hi + gamma_ * most - x->centre[z] - gamma_ * (low[ref] - x->v1[ref]),
                 x->centre[z] + gamma_ * (high[ref] - x->v1[ref]) - r_lo - gamma_ * least);
}

/* The largest |Y − ŷ| of an outcome that was seen, where h [S+1] bounds |g(t) − g(reference)|; NULL: values are v₁. */
static real seen_of(const test *x, int z, const real *h) {
    real most = 0;
    for (int t = 0; t <= S; t++) {
        if (x->second.next[x->pair[z] * (S + 1) + t] == 0) continue;
        const real next = gamma_ * x->v1[t] - x->centre[z];
        most = fmaxl(most, fmaxl(fabsl(r_hi + next), fabsl(r_lo + next)) + (h ? gamma_ * h[t] : 0));
    }
    return most;
}

static void find_box(test *x) {
    const real log_term = logl(2 * (real)x->rows / ledger(x, "each row")), delta = ledger(x, "transitions");
    real *width = room((size_t)x->rows, sizeof *width), *g = room((size_t)S + 1, sizeof *g);
    real *w = room((size_t)S + 1, sizeof *w), *now = room((size_t)S + 1, sizeof *now);
    for (int z = 0; z < x->rows; z++) {
        const real range = range_of(x, z, x->v1, x->v1), n = x->second.n[x->pair[z]];
        const real theta = fminl(sqrtl(2 * log_term / (x->expected[z] * x->variance[z])), 0.7L / range);
        const real y = theta * fminl(seen_of(x, z, NULL), range), kappa = 1 + 2 * y / (3 * (1 - y));
        width[z] = n > 0 ? (log_term + kappa * theta * theta * squares(x, &x->second, z) / 2) / (theta * n) : 0;
    }
    for (int sign = 1; sign >= -1; sign -= 2) {
        memset(g, 0, (size_t)(S + 1) * sizeof *g);
        for (int i = 0; i < 200000; i++) {
            real change = 0;
            for (int t = 0; t <= S; t++) w[t] = sign * g[t], now[t] = 0;
            for (int z = 0; z < x->rows; z++) {
                const int s = x->state[z];
                real q = (sign > 0 ? v_lo : v_hi) - x->v1[s];
                if (x->second.n[x->pair[z]] > 0)
                    q = mean_y(x, &x->second, z) - x->v1[s] - sign * width[z] +
                        gamma_ * sign *
                            worst_of_both(&x->second, &x->first, &x->second, x->pair[z], "support", 0.2L * delta,
                                          0.8L * delta, x->declared, w);
                now[s] += x->weight[z] * q;
            }
            for (int s = 0; s < S; s++) {
                const real limit = (sign > 0 ? v_lo : v_hi) - x->v1[s];
                if (terminal[s]) continue;
                now[s] = sign > 0 ? fmaxl(now[s], limit) : fminl(now[s], limit);
                change = fmaxl(change, fabsl(now[s] - g[s]));
                g[s] = now[s];
            }
            if (change < 1e-12L * (v_hi - v_lo)) break;
        }
        real *to = sign > 0 ? x->low : x->high;
        for (int s = 0; s < S; s++) to[s] = terminal[s] ? 0 : fminl(fmaxl(x->v1[s] + g[s], v_lo), v_hi);
        to[S] = 0;
    }
    free(width);
    free(g);
    free(w);
    free(now);
}

static real box_difference(const test *x, int s, int t) {
    return fmaxl((x->high[s] - x->v1[s]) - (x->low[t] - x->v1[t]), (x->high[t] - x->v1[t]) - (x->low[s] - x->v1[s]));
}

/* cap = v₁ ± c with c = ¾σ/(1−γ), σ the noise of a Bellman update, averaged over the expected samples. */
static void place_cap(test *x) {
    real sum = 0, weights = 0;
    for (int z = 0; z < x->rows; z++) {
        if (x->first.n[x->pair[z]] == 0) continue;
        sum += x->weight[z] * x->variance[z] * (x->ratio + 1);
        weights += x->weight[z] * x->expected[z];
    }
    for (int s = 0; s < S; s++)
        x->cap[s] = terminal[s]
                        ? 0
                        : fminl(fmaxl(x->v1[s] + x->side * 0.75L * sqrtl(sum / weights) / (1 - gamma_), v_lo), v_hi);
}

/* ------------------------------------------------------------------------------------------------ the floor */

enum { STAKES = 8, RUNGS = 4 };
static const real stakes[STAKES] = {0.95L, 0.75L, 0.5L, 0.3L, 0.15L, 0.07L, 0.03L, 0.01L};

/* ln of what each stake has won against the mean e; values l are times the side. */
static void bet(const test *x, int z, const real *l, real least, real e, real *won) {
    const table *c = &x->second;
    const real lo = x->side > 0 ? r_lo : -r_hi, base = x->side * c->origin - lo;
    const real paid_lo = fmaxl((x->side > 0 ? c->least : -c->most) - lo, 0);
    const real paid_hi = fmaxl((x->side > 0 ? c->most : -c->least) - lo, 0);
    for (int j = 0; j < STAKES; j++) won[j] = 0;
    for (int t = 0; t <= S; t++) {
        const real n = c->next[x->pair[z] * (S + 1) + t];
        if (n == 0) continue;
        const real paid = base + x->side * c->paid[x->pair[z] * (S + 1) + t] / n;
        const real share = paid_hi > paid_lo ? fminl(fmaxl((paid - paid_lo) / (paid_hi - paid_lo), 0), 1) : 0;
        const real low = paid_lo + gamma_ * (l[t] - least), high = paid_hi + gamma_ * (l[t] - least);
        for (int j = 0; j < STAKES; j++) {
            if (share < 1) won[j] += n * (1 - share) * logl(1 - stakes[j] + stakes[j] * low / e);
            if (share > 0) won[j] += n * share * logl(1 - stakes[j] + stakes[j] * high / e);
        }
    }
}

/* The largest mean that the row refutes, from `e` on, which it does; 0: it refutes none. */
static real refuted(const test *x, int z, const real *l, real least, real delta, int preferred, real e) {
    real low = e > 0 ? logl(e) : logl(v_hi - v_lo) - 2 * logl(1 / delta) - 20, high = logl(10 * (v_hi - v_lo + 1));
    for (int i = 0; i < 70; i++) {
        const real middle = i == 0 ? low : (low + high) / 2;
        real won[STAKES], sum = 0;
        bet(x, z, l, least, expl(middle), won);
        for (int j = 0; j < STAKES; j++)
            sum += expl(won[j]) * (preferred < STAKES ? 0.4L / STAKES + (j == preferred ? 0.6L : 0) : 1.0L / STAKES);
        if (sum * delta >= 1)
            low = middle;
        else if (i == 0)
            return 0;
        else
            high = middle;
    }
    return expl(low);
}

static real row_delta(const test *x, int z) {
    real samples = 0;
    for (int k = 0; k < x->rows; k++) samples += x->expected[k];
    return ledger(x, "floor") / RUNGS * (0.8L / x->rows + 0.2L * x->expected[z] / samples);
}

/* The floor's value at each state; returns the least. */
static real lay_floor(const test *x, int rung, real *l) {
    const real known = x->side > 0 ? v_lo : v_hi;
    real alive = 0, estimate = 0, least = ends ? 0 : INFINITY;
    for (int s = 0; s < S; s++)
        if (!terminal[s]) estimate += x->v1[s], alive += 1;
    const real level = x->side * (known + 0.15L * rung * (estimate / alive - known));
    for (int s = 0; s < S; s++) {
        l[s] = terminal[s] ? 0 : fminl(level, x->side * x->cap[s]);
        least = fminl(least, l[s]);
    }
    l[S] = 0;
    return least;
}

/* The stake that would have won most in the imagined second part, were the values v₁. */
static void choose_stakes(test *x) {
    real *l = room((size_t)S + 1, sizeof *l), won[STAKES];
    const real least = lay_floor(x, 0, l);
    for (int s = 0; s < S; s++)
        if (!terminal[s]) l[s] = fmaxl(l[s], x->side * x->v1[s]);
    for (int z = 0; z < x->rows; z++) {
        const real e = x->second.n[x->pair[z]] > 0 ? refuted(x, z, l, least, row_delta(x, z), STAKES, 0) : 0;
        x->stake[z] = 0;
        if (e == 0) continue;
        bet(x, z, l, least, e, won);
        for (int j = 1; j < STAKES; j++)
            if (won[j] > won[x->stake[z]]) x->stake[z] = j;
    }
    free(l);
}

static void cut_by_floor(test *x, int rungs) {
    const real lo = x->side > 0 ? r_lo : -r_hi;
    real *l = room((size_t)S + 1, sizeof *l), *f = room((size_t)S + 1, sizeof *f);
    real *e = room((size_t)x->rows, sizeof *e), *now = room((size_t)S, sizeof *now);
    for (int rung = 0; rung < rungs; rung++) {
        const real least = lay_floor(x, rung, f);
        bool holds = false;
        memcpy(l, f, (size_t)(S + 1) * sizeof *l);
        memset(e, 0, (size_t)x->rows * sizeof *e);
        for (real change = INFINITY; change > (rungs == 1 ? 1e-12L : 1e-7L) * (v_hi - v_lo);) {
            change = 0;
            holds = true;
            for (int s = 0; s < S; s++) now[s] = lo + gamma_ * least;
            for (int z = 0; z < x->rows; z++) {
                if (x->second.n[x->pair[z]] > 0) e[z] = refuted(x, z, l, least, row_delta(x, z), x->stake[z], e[z]);
                now[x->state[z]] += x->weight[z] * e[z];
            }
            for (int s = 0; s < S; s++) {
                const real found = fminl(now[s], x->side * x->cap[s]);
                if (terminal[s]) continue;
                holds = holds && found >= f[s];
                change = fmaxl(change, found - l[s]);
                l[s] = fmaxl(l[s], found);
            }
        }
        for (int s = 0; s < S && (holds || rung == 0); s++) {
            if (x->side > 0 && !terminal[s]) x->low[s] = fmaxl(x->low[s], l[s]);
            if (x->side < 0 && !terminal[s]) x->high[s] = fminl(x->high[s], -l[s]);
        }
    }
    free(l);
    free(f);
    free(e);
    free(now);
}

/* ------------------------------------------------------------------------------------------------ the box of ṽ */

/* The box of ṽ, which the cap bounds; false where the box of v^π lies beyond the cap. */
static bool cut_at_cap(test *x) {
    bool inside = true;
    for (int s = 0; s < S; s++) {
        inside = inside && x->side * (x->cap[s] - (x->side > 0 ? x->low[s] : x->high[s])) >= 0;
        *(x->side > 0 ? &x->high[s] : &x->low[s]) =
            x->side > 0 ? fminl(x->high[s], x->cap[s]) : fmaxl(x->low[s], x->cap[s]);
    }
    return inside;
}

static void find_excess(test *x) {
    for (int s = 0; s < S; s++) x->excess[s] = -x->cap[s];
    for (int z = 0; z < x->rows; z++) {
        const int s = x->state[z];
        const real n = x->second.n[x->pair[z]], *next = x->second.next + x->pair[z] * (S + 1);
        real mean = x->second.origin + x->second.sum[x->pair[z]] / n;
        for (int t = 0; t < S; t++) mean += gamma_ * next[t] / n * x->cap[t];
        x->excess[s] += n > 0 ? x->weight[z] * mean : 0;
    }
    for (int s = 0; s < S; s++) x->excess[s] = x->held[s] ? 0 : fmaxl(x->side * x->excess[s], 0);
}

static int find_target(const test *x, int s, int t) {
    for (int k = 0; k < x->targets; k++)
        if (x->target[k][0] == s && x->target[k][1] == t) return k;
    return -1;
}

static void moments(test *x) {
    real *moved = room((size_t)S + 1, sizeof *moved);
    for (int z = 0; z < x->rows; z++) {
        real sum = 0;
        memset(moved, 0, (size_t)(S + 1) * sizeof *moved);
        for (int t = 0; t <= S; t++) {
            const real n = x->second.next[x->pair[z] * (S + 1) + t];
            if (n == 0 || t == x->reference[z]) continue;
            real h = box_difference(x, t, x->reference[z]);
            if (x->first.next[x->pair[z] * (S + 1) + t] > 0) h = fminl(h, x->h[find_target(x, t, x->reference[z])]);
            moved[t] = h;
            sum += n * h * h;
        }
        const real root = sqrtl(squares(x, &x->second, z)) + gamma_ * sqrtl(sum);
        x->v[z] = root * root;
        x->range[z] = range_of(x, z, x->low, x->high);
        x->seen[z] = fminl(seen_of(x, z, moved), x->range[z]);
    }
    free(moved);
}

/* Inequality (2) of docs/theory.md at nearly its best λ, for the visits `now` [S], with a prior around those of the
 * first part `before` [S] that is tuned to pv, pr. */
static real noise(const test *x, const real *now, const real *before, const real *pv, const real *pr, real log_term) {
    real *d = room((size_t)x->rows, sizeof *d), *c = room((size_t)x->rows, sizeof *c);
    real *tau = room((size_t)x->rows, sizeof *tau), sum = 0, cap = INFINITY, top = INFINITY, best = INFINITY;
    for (int z = 0; z < x->rows; z++) {
        const real n = x->second.n[x->pair[z]];
        d[z] = n > 0 && !x->held[x->state[z]] ? x->weight[z] * now[x->state[z]] / n : 0;
        c[z] = x->weight[z] * before[x->state[z]] / x->expected[z];
        sum += c[z] * c[z] * pv[z];
        if (c[z] != 0) cap = fminl(cap, 0.5L / (pr[z] * fabsl(c[z])));
    }
    const real scale0 = sum > 0 ? fminl(sqrtl(2 * log_term / sum), cap) : isfinite((double)cap) ? cap : 0;
    bool allowed = true;
    for (int z = 0; z < x->rows; z++) {
        const real n1 = fmaxl(x->first.n[x->pair[z]], 1), widest = 0.4L / (REACH * pr[z]);
        c[z] *= scale0;
        tau[z] =
            sqrtl(fminl(c[z] * c[z] * 16 * (1 / n1 + 1 / x->expected[z]) + 1 / (x->rows * pv[z]), widest * widest));
        if (x->second.n[x->pair[z]] == 0) continue;
        const real space = 0.95L / x->range[z] - REACH * tau[z];
        if (space <= 0) allowed = false;
        if (d[z] != 0) top = fminl(top, space / fabsl(d[z]));
    }
    if (allowed && !isfinite((double)top)) best = 0;
    real lambda = 0;
    for (int pass = 0; allowed && isfinite((double)top) && pass < 4; pass++) {
        real slope = 0, constant = log_term, total = log_term;
        for (int z = 0; z < x->rows; z++) {
            if (x->second.n[x->pair[z]] == 0) continue;
            const real theta = lambda * d[z], y = (fabsl(theta) + REACH * tau[z]) * x->seen[z];
            const real kappa = 1 + 2 * y / (3 * (1 - y)), t2 = tau[z] * tau[z];
            slope += (kappa * x->v[z] + 1 / t2) * d[z] * d[z] / 2;
            constant += TAIL + (kappa * t2 * x->v[z] + c[z] * c[z] / t2) / 2;
            total += TAIL + (kappa * (theta * theta + t2) * x->v[z] + (theta - c[z]) * (theta - c[z]) / t2) / 2;
        }
        if (lambda > 0) best = fminl(best, total / lambda);
        lambda = fminl(sqrtl(constant / slope), top);
    }
    free(d);
    free(c);
    free(tau);
    return best;
}

static void hold_thin(test *x, real least) {
    for (int s = 0; s < S; s++) x->held[s] = terminal[s];
    for (int z = 0; z < x->rows; z++)
        if (x->second.n[x->pair[z]] < least) x->held[x->state[z]] = true;
}

/* One round over the differences; returns the largest relative gain. */
static real round_of(test *x, int from, const real *v_hat) {
    const real log_term = logl(2.0L * PRIORS * (x->targets > 0 ? x->targets : 1) / ledger(x, "differences of values"));
    real gain = 0, *h = room((size_t)x->targets, sizeof *h), *now = room((size_t)S, sizeof *now);
    real *before = room((size_t)S, sizeof *before);
    for (int k = 0; k < x->targets; k++) {
        const int s = x->target[k][0], t = x->target[k][1];
        real best = INFINITY, held = 0;
        for (int i = 0; i < S; i++) {
            now[i] = x->inverse[s * S + i] - x->inverse[t * S + i];
            before[i] = x->inverse1[s * S + i] - x->inverse1[t * S + i];
            held += fabsl(now[i]) * (x->held[i] ? x->high[i] - x->low[i] : x->excess[i]);
        }
        for (int i = from; i < x->priors; i++)
            best = fminl(best, noise(x, now, before, x->prior_v[i], x->prior_r[i], log_term));
        const real shift = (v_hat[s] - x->v1[s]) - (v_hat[t] - x->v1[t]);
        h[k] = fminl(x->h[k], fabsl(shift) + held + best);
        if (x->h[k] > 0) gain = fmaxl(gain, 1 - h[k] / x->h[k]);
    }
    memcpy(x->h, h, (size_t)x->targets * sizeof *h);
    moments(x);
    free(h);
    free(now);
    free(before);
    return gain;
}

static void begin(test *x, real least, real *v_low, real *v_high) {
    hold_thin(x, least);
    find_excess(x);
    invert(x, &x->second, x->held, x->inverse);
    values_of(x, &x->second, x->held, x->low, x->inverse, v_low);
    values_of(x, &x->second, x->held, x->high, x->inverse, v_high);
    for (int k = 0; k < x->targets; k++) x->h[k] = box_difference(x, x->target[k][0], x->target[k][1]);
    moments(x);
}

/* The first part times the ratio, rounded to whole counts. */
static table imagine(const test *x) {
    const table *c = &x->first;
    table out = new_table(c->actions);
    out.origin = c->origin;
    out.least = c->least;
    out.most = c->most;
    for (int z = 0; z < S * c->actions; z++) {
        real n = 0;
        for (int t = 0; t <= S; t++) {
            const real m = c->next[z * (S + 1) + t];
            n += out.next[z * (S + 1) + t] = m > 0 ? fmaxl(1, roundl(m * x->ratio)) : 0;
        }
        const real part = c->n[z] > 0 ? n / c->n[z] : 0;
        out.n[z] = n;
        out.sum[z] = part * c->sum[z];
        out.square[z] = part * c->square[z];
        for (int t = 0; t <= S; t++) out.paid[z * (S + 1) + t] = part * c->paid[z * (S + 1) + t];
    }
    return out;
}

static void lay_out(test *x, const real *pi) {
    const size_t pairs = (size_t)(S * x->first.actions), states = (size_t)S + 1;
    x->pair = keep(pairs, sizeof(int));
    x->state = keep(pairs, sizeof(int));
    x->reference = keep(pairs, sizeof(int));
    x->stake = keep(pairs, sizeof(int));
    x->weight = keep(pairs, sizeof(real));
    x->closed = keep(pairs, sizeof(bool));
    x->held = keep(states, sizeof(bool));
    real **per_row[] = {&x->centre, &x->expected, &x->variance, &x->v, &x->range, &x->seen};
    for (int i = 0; i < 6; i++) *per_row[i] = keep(pairs, sizeof(real));
    for (int i = 0; i < PRIORS; i++)
        x->prior_v[i] = keep(pairs, sizeof(real)), x->prior_r[i] = keep(pairs, sizeof(real));
    x->v1 = keep(states, sizeof(real));
    x->low = keep(states, sizeof(real));
    x->high = keep(states, sizeof(real));
    x->cap = keep(states, sizeof(real));
    x->excess = keep(states, sizeof(real));
    x->inverse = keep(states * states, sizeof(real));
    x->inverse1 = keep(states * states, sizeof(real));
    x->target = keep(pairs * states, sizeof *x->target);
    x->h = keep(pairs * states, sizeof(real));
    for (int s = 0; s < S; s++) {
        real sum = 0;
        const int actions = x->first.actions;
        for (int a = 0; a < actions; a++) sum += pi[s * actions + a];
        for (int a = 0; a < actions && !terminal[s]; a++) {
            const real weight = sum > 0 ? pi[s * actions + a] / sum : 1.0L / actions;
            if (weight == 0) continue;
            x->pair[x->rows] = s * actions + a;
            x->state[x->rows] = s;
            x->weight[x->rows++] = weight;
        }
    }
}

/* The bounds of one policy from a first and a second part. */
static void try_policy(test *x, const real *pi, real *lower, real *upper) {
    const table tested = x->second;
    lay_out(x, pi);
    fix_first(x);
    for (int z = 0; z < x->rows; z++)
        for (int t = 0; t <= S; t++)
            if (x->first.next[x->pair[z] * (S + 1) + t] > 0 && t != x->reference[z] &&
                find_target(x, t, x->reference[z]) < 0)
                x->target[x->targets][0] = t, x->target[x->targets++][1] = x->reference[z];
    real *v_low = keep((size_t)S + 1, sizeof *v_low), *v_high = keep((size_t)S + 1, sizeof *v_high);
    place_cap(x);
    x->second = imagine(x);
    find_box(x);
    choose_stakes(x);
    cut_by_floor(x, 1);
    (void)cut_at_cap(x);
    begin(x, 1, v_low, v_high);
    const real tiny = (v_hi - v_lo) * 1e-6L;
    for (real gain = 1; x->priors < PRIORS && gain > 0.02L;) {
        for (int z = 0; z < x->rows; z++) {
            x->prior_v[x->priors][z] = fmaxl(x->v[z], x->expected[z] * x->variance[z]) + tiny * tiny;
            x->prior_r[x->priors][z] = x->range[z] + tiny;
        }
        x->priors++;
        gain = round_of(x, x->priors - 1, v_low);
    }
    x->second = tested;
    find_box(x);
    for (int s = 0; s < S && x->outer_low; s++) {
        x->low[s] = fmaxl(x->low[s], x->outer_low[s]);
        x->high[s] = fmaxl(fminl(x->high[s], x->outer_high[s]), x->low[s]);
    }
    cut_by_floor(x, RUNGS);
    real alive = 0;
    *lower = *upper = 0;
    for (int s = 0; s < S; s++)
        if (!terminal[s]) *lower += x->low[s], *upper += x->high[s], alive += 1;
    *lower /= alive;
    *upper /= alive;
    if (!cut_at_cap(x)) return;
    const real thresholds[] = {4, 1, 16, 64, 256};
    real *now = keep((size_t)S, sizeof *now), *before = keep((size_t)S, sizeof *before);
    real *pv = keep((size_t)x->rows, sizeof *pv), *pr = keep((size_t)x->rows, sizeof *pr);
    for (int i = 0; i < 5; i++) {
        begin(x, thresholds[i], v_low, v_high);
        for (int k = 0; k < 15; k++)
            if (round_of(x, 0, v_low) < 0.03L) break;
        real width = INFINITY, low = 0, high = 0;
        memset(now, 0, (size_t)S * sizeof *now);
        memset(before, 0, (size_t)S * sizeof *before);
        for (int s = 0; s < S; s++) {
            if (terminal[s]) continue;
            low += v_low[s] / alive;
            high += v_high[s] / alive;
            for (int t = 0; t < S; t++) low -= x->inverse[s * S + t] / alive * x->excess[t];
            for (int t = 0; t < S; t++) high += x->inverse[s * S + t] / alive * x->excess[t];
            for (int t = 0; t < S; t++)
                now[t] += x->inverse[s * S + t] / alive, before[t] += x->inverse1[s * S + t] / alive;
        }
        for (int wide = 0; wide < 2; wide++) {
            for (int z = 0; z < x->rows; z++) {
                pv[z] = (wide ? 4 : 1) * x->prior_v[x->priors - 1][z];
                pr[z] = (wide ? 4 : 1) * x->prior_r[x->priors - 1][z];
            }
            width =
                fminl(width, noise(x, now, before, pv, pr, logl(1 / ((wide ? 0.15L : 0.85L) * ledger(x, "pooled")))));
        }
        if (x->side > 0) *lower = fmaxl(*lower, low - width);
        if (x->side < 0) *upper = fminl(*upper, high + width);
    }
}

/* ------------------------------------------------------------------------------------------------ the parts */

/* 1: the first part, 0: the second, -1: neither. By episodes: the first part ends where an episode begins, at or after
 * the largest of 2³ … 2¹⁸ rows that is at most the share. */
static long first_row_of(const row *rows, long i) {
    for (long k = 0; k < i; k++)
        if (rows[k].episode == rows[i].episode) return k;
    return i;
}

static long cut_of(const row *rows, long count, real part) {
    long cut = 8;
    while (cut < 262144 && (real)(2 * cut) <= part * (real)count) cut *= 2;
    while (cut < count && first_row_of(rows, cut) != cut) cut++;
    return cut;
}

static int part_of(const row *rows, long i, long cut, real part, uint64_t seed, bool episodes) {
    if (episodes) return i < cut ? 1 : first_row_of(rows, i) >= cut ? 0 : -1;
    uint64_t x = seed + (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-53 < (double)part;
}

static int verdict(const char *what, real printed, real own, bool lower) {
    const real slack = 1e-8L * (v_hi - v_lo);
    const bool implied = lower ? printed <= own + slack : printed >= own - slack;
    printf("%-26s printed %.9Lf, own %.9Lf: %s\n", what, printed, own, implied ? "implied" : "NOT implied");
    return implied ? 0 : 1;
}

/* States that occur only where a transition ended. */
static void find_terminals(const row *rows, long count) {
    terminal = keep((size_t)S, 1);
    uint8_t *other = keep((size_t)S, 1);
    for (long i = 0; i < count; i++) {
        other[rows[i].s] = 1;
        if (rows[i].end)
            ends = true, terminal[rows[i].t] = 1;
        else
            other[rows[i].t] = 1;
    }
    for (int s = 0; s < S; s++) terminal[s] = terminal[s] && !other[s];
}

static int check_ledger(void) {
    real sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(certificate, "delta_ledger"), key, value) sum += json_real_value(value);
    if (fabsl(sum - number("delta")) <= 1e-12L) return 0;
    printf("the ledger does not add up\n");
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 10) return 2;
    (void)atexit(release);
    S = atoi(argv[4]);
    A = atoi(argv[5]);
    if (S > 1000) return 2;
    r_lo = strtold(argv[6], NULL);
    r_hi = strtold(argv[7], NULL);
    successors_declared = atoi(argv[8]);
    const uint64_t seed = strtoull(argv[9], NULL, 10);
    json_error_t why;
    certificate = json_load_file(argv[3], 0, &why);
    long count = 0;
    row *rows = read_log(argv[1], &count, &adaptive);
    kept[kept_count++] = rows;
    real *pi = keep((size_t)(S * A), sizeof *pi);
    read_policy(argv[2], pi);
    if (!certificate) return 3;
    find_terminals(rows, count);
    if (json_is_true(json_object_get(certificate, "may_end"))) ends = true;
    gamma_ = number("gamma");
    v_lo = r_lo / (1 - gamma_);
    v_hi = r_hi / (1 - gamma_);
    if (ends) v_lo = fminl(v_lo, 0), v_hi = fmaxl(v_hi, 0);

    table whole = new_table(A), by_state = new_table(1);
    test policy = {.first = new_table(A), .second = new_table(A), .prefix = "test of the policy", .side = 1};
    test logging = {.first = new_table(1), .second = new_table(1), .prefix = "logging policy", .side = -1};
    const real part = number("split");
    policy.ratio = logging.ratio = ((adaptive ? sqrtl(2) : 1) - part) / part;
    const long cut = cut_of(rows, count, part);
    policy.declared = successors_declared;
    logging.declared = successors_declared * A;
    for (long i = 0; i < count; i++) {
        const int first = part_of(rows, i, cut, part, seed, adaptive);
        put(&whole, &rows[i], false);
        put(&by_state, &rows[i], true);
        if (first < 0) continue;
        put(first ? &policy.first : &policy.second, &rows[i], false);
        put(first ? &logging.first : &logging.second, &rows[i], true);
    }
    int bad = check_ledger();
    real *best = keep((size_t)S + 1, sizeof *best);
    real lower = 0, upper = 0;
    const bool split = strcmp(json_string_value(json_object_get(certificate, "method")), "split") == 0;
    real *outer_low = keep((size_t)S + 1, sizeof(real)), *outer_high = keep((size_t)S + 1, sizeof(real));
    lower = by_sets(&whole, &policy.first, &policy.second, "", successors_declared, pi, 1, outer_low);
    (void)by_sets(&whole, &policy.first, &policy.second, "", successors_declared, pi, -1, outer_high);
    policy.outer_low = outer_low;
    policy.outer_high = outer_high;
    if (split) try_policy(&policy, pi, &lower, &upper);
    bad |= verdict("lower bound", number("lower_bound"), fmaxl(lower, v_lo), true);
    bad |= verdict("best possible, upper bound", number("optimal_upper_bound"),
                   by_sets(&whole, &policy.first, &policy.second, "", successors_declared, NULL, -1, best), false);
    real *only = keep((size_t)S, sizeof *only);
    for (int s = 0; s < S; s++) only[s] = 1;
    real *logging_low = keep((size_t)S + 1, sizeof(real)), *logging_high = keep((size_t)S + 1, sizeof(real));
    (void)by_sets(&by_state, &logging.first, &logging.second, "logging policy, ", successors_declared * A, only, 1,
                  logging_low);
    (void)by_sets(&by_state, &logging.first, &logging.second, "logging policy, ", successors_declared * A, only, -1,
                  logging_high);
    logging.outer_low = logging_low;
    logging.outer_high = logging_high;
    try_policy(&logging, only, &lower, &upper);
    bad |= verdict("logging policy, upper bound", number("behaviour_upper_bound"), upper, false);
    const real gain = number("lower_bound") - number("behaviour_upper_bound");
    const char *word = json_string_value(json_object_get(certificate, "recommendation"));
    if (fabsl(gain - number("improvement_lower_bound")) > 1e-9L || (strcmp(word, "switch") == 0) != (gain > 0))
        bad = 1, printf("the recommendation does not follow\n");
    return bad;
}
