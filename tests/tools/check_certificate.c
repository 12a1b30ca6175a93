/* check_certificate LOG.csv POLICY.csv CERTIFICATE.json STATES ACTIONS REWARD_LO REWARD_HI MAX_SUCCESSORS SEED
 *
 * Verifies what `pess certify --json` printed, from the log, the policy and the printed numbers alone. It shares no
 * code with the library: plain dense tables, Gauss–Jordan and sorting in long double, written from docs/theory.md. It
 * recomputes its own lower bound of the policy, upper bound of the logging policy and upper bound of the best policy;
 * each printed bound must be implied by its own to within 1e-8 of the range of values, which covers that the estimate
 * v₁ of the first part (any is valid) was found by another method here. The log has integer ids and no names; the start
 * distribution is uniform. Exit 0: verified; 1: not. */
#include "check_certificate.h"

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
