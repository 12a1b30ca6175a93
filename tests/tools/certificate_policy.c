/* The bounds of one policy: the pooled test, its box, its cap and its noise. */
#include "check_certificate.h"

#define REACH 3.5L
#define TAIL 4.6537e-4L

real ledger(const test *x, const char *what) {
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
void try_policy(test *x, const real *pi, real *lower, real *upper) {
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
