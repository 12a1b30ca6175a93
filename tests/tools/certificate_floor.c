/* The floor under a policy's values: bets row by row. */
#include "check_certificate.h"

enum { STAKES = 8 };
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

/* Is the mean e too small for what the row won? */
static int refutes(const test *x, int z, const real *l, real least, real delta, int preferred, real e) {
    real won[STAKES], sum = 0;
    bet(x, z, l, least, e, won);
    for (int j = 0; j < STAKES; j++)
        sum += expl(won[j]) * (preferred < STAKES ? 0.4L / STAKES + (j == preferred ? 0.6L : 0) : 1.0L / STAKES);
    return sum * delta >= 1;
}

/* The largest mean that the row refutes, from `e` on, which it does; 0: it refutes none. In logarithms: `low` is
 * refuted, steps from it grow until `high` is not, and what is between is halved. Sweeps move e by little. */
static real refuted(const test *x, int z, const real *l, real least, real delta, int preferred, real e) {
    real low = e > 0 ? logl(e) : logl(v_hi - v_lo) - 2 * logl(1 / delta) - 20, step = e > 0 ? 1e-7L : 1;
    if (!refutes(x, z, l, least, delta, preferred, expl(low))) return 0;
    while (refutes(x, z, l, least, delta, preferred, expl(low + step))) {
        low += step;
        step *= 8;
    }
    for (real high = low + step; high - low > 1e-11L;) {
        const real middle = (low + high) / 2;
        *(refutes(x, z, l, least, delta, preferred, expl(middle)) ? &low : &high) = middle;
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
void choose_stakes(test *x) {
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

void cut_by_floor(test *x, int rungs) {
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
