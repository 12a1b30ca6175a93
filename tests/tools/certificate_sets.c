/* Bounds for all policies: the worst row of each pair's set, and values by it. */
#include "check_certificate.h"

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
real worst_of_both(const table *c, const table *earlier, const table *later, int z, const char *set, real delta,
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
real by_sets(const table *c, const table *earlier, const table *later, const char *prefix, int declared, const real *pi,
             int sign, real *v) {
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
