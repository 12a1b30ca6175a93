/* Certificates by several processes and by one: the same recommendation, ledger, assumptions and policy; bounds and
 * estimates within what two ends of the same sweeps may differ. */
#include "test_scale.h"

#include "scale/input.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is certified: sets, ranges, starts and switches in turn. */
static const struct {
    const char *uncertainty;
    double gamma, delta, reward[2], returns[2];
    int64_t successors;
    bool iid, given;
    pess_may_end may_end;
} cases[] = {
    {"l1", 0.3, 0.05, {NAN, NAN}, {NAN, NAN}, 0, false, false, PESS_MAY_END_AUTO},
    {"support", 0.9, 0.1, {-1, 1}, {NAN, NAN}, 0, false, false, PESS_MAY_END_AUTO},
    {"good-turing", 0.5, 0.05, {NAN, NAN}, {NAN, NAN}, 0, true, false, PESS_MAY_END_OFF},
    {NULL, 0.5, 0.2, {-0.5, 1}, {-2, 3}, 50, false, false, PESS_MAY_END_ON},
    {"l1", 1, 0.05, {NAN, NAN}, {-3, 4}, 60, true, false, PESS_MAY_END_AUTO},
    {"support", 0.8, 0.05, {NAN, NAN}, {NAN, NAN}, 0, true, true, PESS_MAY_END_AUTO},
    {"good-turing", 0.8, 0.5, {NAN, NAN}, {NAN, NAN}, 0, false, true, PESS_MAY_END_AUTO},
    {"l1", 0.5, 0.01, {NAN, NAN}, {NAN, NAN}, 2, false, false, PESS_MAY_END_AUTO}, /* refused as a rule */
};
enum { CASES = sizeof cases / sizeof *cases };

int promising, switching;

static pess_status certify(const pess_problem *problem, int which, pess_certificate **out, pess_error *error) {
    pess_certify_options options = pess_certify_options_defaults();
    pess_policy *given = NULL;
    options.method = PESS_CERTIFY_ROBUST;
    options.uncertainty = cases[which].uncertainty;
    options.gamma = cases[which].gamma;
    options.delta = cases[which].delta;
    memcpy(options.reward_range, cases[which].reward, sizeof options.reward_range);
    memcpy(options.return_range, cases[which].returns, sizeof options.return_range);
    options.max_successors = cases[which].successors;
    options.iid = cases[which].iid;
    options.may_end = cases[which].may_end;
    options.threads = 1;
    options.counts = pess_problem_counts(problem);
    if (!pess_problem_start_from_log(problem)) options.start = pess_problem_start(problem);
    if (cases[which].given &&
        pess_policy_empirical(options.counts, pess_problem_model(problem), &given, error) != PESS_OK)
        return PESS_ARGUMENT;
    options.policy = given;
    const pess_status status = pess_certify(NULL, &options, out, error);
    pess_policy_destroy(given);
    return status;
}

static void compare_lists(int problem, const char *what, const pess_certificate *together,
                          const pess_certificate *one) {
    for (size_t i = 0;; i++) {
        const pess_ledger_entry *a = pess_certificate_ledger(together, i), *b = pess_certificate_ledger(one, i);
        check((a == NULL) == (b == NULL), what, problem, "a ledger of another length");
        if (a == NULL) break;
        check(strcmp(a->what, b->what) == 0 && a->delta == b->delta, what, problem, b->what);
    }
    for (size_t i = 0;; i++) {
        const pess_assumption *a = pess_certificate_assumption(together, i), *b = pess_certificate_assumption(one, i);
        check((a == NULL) == (b == NULL), what, problem, "another number of assumptions");
        if (a == NULL) break;
        check(strcmp(a->text, b->text) == 0, what, problem, a->text);
    }
}

static void compare_numbers(int problem, const char *what, const pess_certificate_info *a,
                            const pess_certificate_info *b) {
    const double near = 3e-8 * (b->value_hi - b->value_lo) + 1e-12;
    /* at discount 1 estimates may be millions */
    const double rough = 1e-6 * fmax(1, fmax(fabs(b->value_estimate), fabs(b->behaviour_value_estimate)));
    const struct {
        const char *name;
        double x, y, slack;
    } rows[] = {
        {"lower bound", a->lower_bound, b->lower_bound, near},
        {"upper bound of the best", a->optimal_upper_bound, b->optimal_upper_bound, near},
        {"upper bound of the logging policy", a->behaviour_upper_bound, b->behaviour_upper_bound, near},
        {"estimate", a->value_estimate, b->value_estimate, rough},
        {"estimate of the logging policy", a->behaviour_value_estimate, b->behaviour_value_estimate, rough},
        {"lowest value", a->value_lo, b->value_lo, 0},
        {"highest value", a->value_hi, b->value_hi, 0},
        {"decisions changed", a->decisions_changed, b->decisions_changed, 1e-12},
        {"states compared", (double)a->states_compared, (double)b->states_compared, 0},
        {"states changed", (double)a->states_changed, (double)b->states_changed, 0},
        {"transitions", (double)a->transitions, (double)b->transitions, 0},
        {"recommendation", a->recommend_switch, b->recommend_switch, 0},
        {"vacuous", a->vacuous, b->vacuous, 0},
        {"may end", a->may_end, b->may_end, 0},
    };
    char text[200];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)snprintf(text, sizeof text, "%s %.12g, alone %.12g", rows[i].name, rows[i].x, rows[i].y);
        check(fabs(rows[i].x - rows[i].y) <= rows[i].slack, what, problem, text);
    }
}

static void compare_policies(int problem, const char *what, const pess__slab *slab, const pess_certificate *together,
                             const pess_certificate *one, int64_t actions) {
    for (int64_t s = 0; s < slab->spread.own; s++) {
        const double *a = pess_policy_row(pess_certificate_policy(together), s),
                     *b = pess_policy_row(pess_certificate_policy(one), pess__number_in(&slab->spread, s));
        check(memcmp(a, b, (size_t)actions * sizeof *a) == 0, what, problem, "another policy");
    }
}

/* Where states have other places, another of several states that are refused may be met first. */
static bool same_sentence(const char *a, const char *b, bool reordered) {
    const char *state = reordered ? strstr(b, " of state ") : NULL;
    return state != NULL ? strncmp(a, b, (size_t)(state - b)) == 0 : strcmp(a, b) == 0;
}

void certify_both(int problem, const char *pattern, const char *alone) {
    const int which = problem % CASES;
    pess_error error = {0}, other = {0};
    pess_read_options read = pess_read_options_defaults();
    pess_model_options model = pess_model_options_defaults();
    read.threads = 1;
    model.unseen = PESS_UNSEEN_WORST;
    char what[80];
    (void)snprintf(what, sizeof what, "certificate %d", which);
    pess_problem *shared = NULL, *whole = NULL;
    pess_certificate *together = NULL, *one = NULL;
    check(pess__read_together(pattern, &read, &model, NULL, &shared, &error) == PESS_OK, what, problem, error.message);
    check(pess_problem_read(alone, &read, &model, NULL, &whole, &error) == PESS_OK, what, problem, error.message);
    const pess__slab *slab = pess__slab_of(pess_problem_model(shared));
    const pess_status first = certify(shared, which, &together, &error);
    const pess_status second = certify(whole, which, &one, &other);
    check(first == second && same_sentence(error.message, other.message, slab->order != NULL), what, problem,
          error.message);
    if (first == PESS_OK) {
        pess_certificate_info a, b;
        pess_certificate_get_info(together, &a);
        pess_certificate_get_info(one, &b);
        promising += b.lower_bound > b.value_lo;
        switching += b.recommend_switch;
        compare_lists(problem, what, together, one);
        compare_numbers(problem, what, &a, &b);
        compare_policies(problem, what, slab, together, one, pess_model_actions(pess_problem_model(whole)));
    }
    pess_certificate_destroy(together);
    pess_certificate_destroy(one);
    pess_problem_destroy(shared);
    pess_problem_destroy(whole);
    pess__slab_destroy((pess__slab *)slab);
}
