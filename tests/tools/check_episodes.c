/* check_episodes LOG.csv POLICY.csv CERTIFICATE.json STATES ACTIONS HI
 *
 * Verifies what `pess certify --method episodes --json` printed, from the log, the policy and the printed numbers
 * alone. It shares no code with the library: sums of logarithms and Gauss–Jordan in long double, written from
 * docs/theory.md (2.3). A printed bound is implied if the bets on the tested episodes reach 1/δ against it. The log has
 * integer ids and one episode after the other; rewards are at least 0, returns lie in [0, HI]. Exit 0: verified; 1:
 * not. */
#include "checker.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SHARES = 40, LONGEST = 4096 };

static real gamma_, hi;

typedef struct row {
    long s, a, t, episode;
    real r, b;
    bool end;
} row;

typedef struct log_ {
    row *rows;
    long count, episodes;
    long *first; /* [episodes+1] */
} log_;

static log_ read_log(const char *path) {
    FILE *f = fopen(path, "r");
    char line[4096];
    if (!f || !fgets(line, sizeof line, f)) exit(3);
    const char *names[] = {"state", "action", "reward", "next_state", "terminal", "episode", "probability"};
    int column[7] = {-1, -1, -1, -1, -1, -1, -1}, k = 0;
    for (char *w = strtok(line, ",\r\n"); w; w = strtok(NULL, ",\r\n"), k++)
        for (int i = 0; i < 7; i++)
            if (strcmp(w, names[i]) == 0) column[i] = k;
    log_ l = {0};
    long capacity = 0;
    for (; fgets(line, sizeof line, f); l.count++) {
        double field[32] = {0};
        int n = 0;
        for (char *at = line; at && n < 32; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
            field[n++] = strtod(at, NULL);
        if (l.count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            l.rows = realloc(l.rows, (size_t)capacity * sizeof *l.rows);
            if (!l.rows) exit(3);
        }
        l.rows[l.count] = (row){(long)field[column[0]],
                                (long)field[column[1]],
                                (long)field[column[3]],
                                (long)field[column[5]],
                                (real)field[column[2]],
                                (real)field[column[6]],
                                column[4] >= 0 && field[column[4]] != 0};
    }
    (void)fclose(f);
    l.first = room((size_t)l.count + 1, sizeof *l.first);
    for (long i = 0; i < l.count; i++)
        if (i == 0 || l.rows[i].episode != l.rows[i - 1].episode) l.first[l.episodes++] = i;
    l.first[l.episodes] = l.count;
    return l;
}

static json_t *of_episodes(const char *key) { return json_object_get(json_object_get(certificate, "episodes"), key); }

/* ln of the mean over the shares of Π(1 − x + x·X/m). */
static real log_capital(const real *x, long count, real m) {
    real each[SHARES], most = -INFINITY, sum = 0;
    for (int j = 0; j < SHARES; j++) {
        const real stake = powl(2, -(real)(j + 1) / 2);
        each[j] = 0;
        for (long i = 0; i < count; i++) each[j] += logl(1 - stake + stake * x[i] / m);
        most = fmaxl(most, each[j]);
    }
    for (int j = 0; j < SHARES; j++) sum += expl(each[j] - most);
    return most + logl(sum / SHARES);
}

/* Is "the mean of X is at least m" what bets at level δ say? */
static int verdict(const char *what, const real *x, long count, real m, real delta) {
    const bool implied = m <= 1e-9L * hi || log_capital(x, count, m) >= logl(1 / delta) - 1e-6L;
    printf("%-40s %s\n", what, implied ? "implied" : "NOT implied");
    return implied ? 0 : 1;
}

/* ------------------------------------------------------------------------------------------------ the choosing part */

/* q̂ of the policy in the model of the first episodes; pairs that they do not show have 0. */
static real *estimate_q(const log_ *l, long first, const real *pi) {
    const long rows = l->first[first];
    const real discount = fminl(gamma_, 1 - 0.02L / ((real)rows / (real)first));
    real *n = room((size_t)(S * A), sizeof *n), *paid = room((size_t)(S * A), sizeof *paid);
    real *next = room((size_t)(S * A) * (size_t)S, sizeof *next);
    for (long i = 0; i < rows; i++) {
        const row *x = &l->rows[i];
        const long z = x->s * A + x->a;
        n[z] += 1;
        paid[z] += x->r;
        if (!x->end) next[z * S + x->t] += 1;
    }
    real *m = room((size_t)S * (size_t)(S + 1), sizeof *m); /* I − γP^π | r^π */
    for (int s = 0; s < S; s++) {
        m[s * (S + 1) + s] = 1;
        for (int a = 0; a < A; a++) {
            const long z = s * A + a;
            if (n[z] == 0) continue;
            for (int t = 0; t < S; t++) m[s * (S + 1) + t] -= discount * pi[z] * next[z * S + t] / n[z];
            m[s * (S + 1) + S] += pi[z] * paid[z] / n[z];
        }
    }
    for (int p = 0; p < S; p++)
        for (int s = 0; s < S; s++) {
            const real f = m[s * (S + 1) + p] / m[p * (S + 1) + p];
            for (int t = p; t <= S && s != p; t++) m[s * (S + 1) + t] -= f * m[p * (S + 1) + t];
        }
    real *q = room((size_t)(S * A), sizeof *q);
    for (long z = 0; z < (long)S * A; z++) {
        if (n[z] == 0) continue;
        q[z] = paid[z] / n[z];
        for (int t = 0; t < S; t++) q[z] += discount * next[z * S + t] / n[z] * m[t * (S + 1) + S] / m[t * (S + 1) + t];
        q[z] = fminl(fmaxl(q[z], 0), hi);
    }
    free(n);
    free(paid);
    free(next);
    free(m);
    return q;
}

static real *known_behaviour(const log_ *l, long rows) {
    real *b = room((size_t)(S * A), sizeof *b);
    for (long i = 0; i < rows; i++) b[l->rows[i].s * A + l->rows[i].a] = l->rows[i].b;
    return b;
}

/* ------------------------------------------------------------------------------------------------ the numbers */

typedef struct bet {
    const char *kind;
    bool paired;
    real cap, floor; /* infinite; floor as a multiple of HI */
    const real *pi, *q, *b;
} bet;

static real rest_of(const row *x, long t, long length) {
    real sum = 0, discount = 1;
    for (; t < length; t++, discount *= gamma_) sum += discount * x[t].r;
    return fminl(sum + (x[length - 1].end ? 0 : discount * hi), hi);
}

static real whole(const bet *f, const row *x, long length) {
    real w = 1, g = 0, discount = 1, decision = 0;
    for (long t = 0; t < length; t++, discount *= gamma_) {
        w *= f->pi[x[t].s * A + x[t].a] / x[t].b;
        g += discount * x[t].r;
        decision += discount * w * x[t].r;
    }
    if (strcmp(f->kind, "per-decision") == 0) return decision;
    return f->paired ? w * g + hi - rest_of(x, 0, length) : w * g;
}

/* What the control of one step adds: Σ b·k·z less k·z of the action taken. Where the whole z might lose more than
 * `room`, those with k < 0 are scaled to lose half of it at most and those with k > 0 cut to what is left, and again to
 * what is left and what they bring when cut so. */
static real control(const bet *f, real w, real past, real discount, real room, long s, int taken) {
    real k[LONGEST] = {0}, kz[LONGEST] = {0}, sum = 0, k_most = 0, q_most = 0, lost = 0, brought = 0, most = INFINITY;
    for (int a = 0; a < A; a++) {
        const real b = f->b[s * A + a], q = f->q[s * A + a];
        if (b <= 0) continue;
        k[a] = w * f->pi[s * A + a] / b - (f->paired ? 1 : 0);
        kz[a] = k[a] * (past + discount * q);
        sum += b * kz[a];
        lost += b * fmaxl(-kz[a], 0);
        k_most = fmaxl(k_most, k[a]);
        q_most = fmaxl(q_most, q);
    }
    if (room + sum >= k_most * (past + discount * q_most)) return sum - kz[taken];
    const real scale = 2 * lost > room ? fmaxl(room, 0) / (2 * lost) : 1;
    for (int round = 0; round < 2; round++) {
        most = fmaxl(room, 0) - scale * lost + brought;
        brought = 0;
        for (int a = 0; a < A; a++) brought += f->b[s * A + a] * fminl(fmaxl(kz[a], 0), most);
    }
    return brought - scale * lost - (kz[taken] < 0 ? scale * kz[taken] : fminl(kz[taken], most));
}

static real doubly_robust(const bet *f, const row *x, long length) {
    const real owed = f->paired ? hi : 0, floor = f->floor * hi;
    real sum = 0, w = 1, g = 0, discount = 1;
    for (long t = 0; t < length; t++, discount *= gamma_) {
        sum += control(f, w, fminl(g, hi), discount, sum + floor - owed, x[t].s, (int)x[t].a);
        w *= f->pi[x[t].s * A + x[t].a] / x[t].b;
        g += discount * x[t].r;
    }
    return fmaxl(w * g + sum + floor - (f->paired ? rest_of(x, 0, length) : 0), 0);
}

static int check_bet(const char *what, const log_ *l, long first, bet f, real printed, real delta) {
    const bool robust = strcmp(f.kind, "doubly-robust") == 0;
    const real offset = robust ? -f.floor * hi : f.paired ? -hi : 0;
    real *x = room((size_t)(l->episodes - first), sizeof *x);
    for (long e = first; e < l->episodes; e++) {
        const row *rows = l->rows + l->first[e];
        const long length = l->first[e + 1] - l->first[e];
        x[e - first] = fminl(robust ? doubly_robust(&f, rows, length) : whole(&f, rows, length), f.cap);
    }
    const int bad = verdict(what, x, l->episodes - first, printed - offset, delta);
    free(x);
    return bad;
}

static real cap_of(const char *key) {
    json_t *cap = of_episodes(key);
    return json_is_number(cap) ? (real)json_number_value(cap) : INFINITY;
}

/* ------------------------------------------------------------------------------------------------ all of it */

/* The first episode that begins at or after the largest of 2⁵ … 2²⁴ rows within the share. */
static long first_tested(const log_ *l, real part) {
    long cut = 32, e = 0;
    while (cut < 16777216 && (real)(2 * cut) <= part * (real)l->count) cut *= 2;
    while (e < l->episodes && l->first[e] < cut) e++;
    return e;
}

int main(int argc, char **argv) {
    json_error_t why;
    if (argc != 7) return 2;
    S = atoi(argv[4]);
    A = atoi(argv[5]);
    hi = strtold(argv[6], NULL);
    certificate = json_load_file(argv[3], 0, &why);
    if (!certificate || A > LONGEST) return 3;
    log_ l = read_log(argv[1]);
    real *pi = room((size_t)(S * A), sizeof *pi), sum = 0;
    read_policy(argv[2], pi);
    gamma_ = number("gamma");
    const long first = first_tested(&l, number("split")), rows = l.first[first];
    int bad = 0;
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(certificate, "delta_ledger"), key, value) sum += json_number_value(value);
    if (fabsl(sum - number("delta")) > 1e-12L) bad = 1, printf("the ledger does not add up\n");
    if (rows != (long)number("first_part")) bad = 1, printf("the parts are not where they should be\n");
    real *q = estimate_q(&l, first, pi), *b = known_behaviour(&l, rows);
    const bet policy = {
        json_string_value(of_episodes("bet")), false, cap_of("cap"), json_number_value(of_episodes("floor")), pi, q, b};
    const bet pair = {json_string_value(of_episodes("difference_bet")),
                      true,
                      cap_of("difference_cap"),
                      json_number_value(of_episodes("difference_floor")),
                      pi,
                      q,
                      b};
    bad |= check_bet("lower bound", &l, first, policy, number("lower_bound"), share("whole episodes: the policy"));
    bad |= check_bet("difference", &l, first, pair, json_number_value(of_episodes("difference_lower_bound")),
                     share("whole episodes: the comparison with the logging policy"));
    real *below = room((size_t)l.episodes, sizeof *below);
    for (long e = 0; e < l.episodes; e++) below[e] = hi - rest_of(l.rows + l.first[e], 0, l.first[e + 1] - l.first[e]);
    bad |= verdict("logging policy, upper bound", below, l.episodes, hi - number("behaviour_upper_bound"),
                   share("logging policy: whole episodes"));
    const real gain = fmaxl(number("lower_bound") - number("behaviour_upper_bound"),
                            json_number_value(of_episodes("difference_lower_bound")));
    const char *word = json_string_value(json_object_get(certificate, "recommendation"));
    if (fabsl(gain - number("improvement_lower_bound")) > 1e-9L || (strcmp(word, "switch") == 0) != (gain > 0))
        bad = 1, printf("the recommendation does not follow\n");
    free(below);
    free(q);
    free(b);
    free(pi);
    free(l.rows);
    free(l.first);
    json_decref(certificate);
    return bad;
}
