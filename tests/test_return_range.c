/* The declared range of returns: what contradicts it is refused, what rests on it holds, and with it the discount may
 * be 1. Coverage: false alarms 1e-6 per check. */
#include "coverage.h"
#include "rows.h"
#include "small_worlds.h"

#include "core/rng.h"
#include "core/threads.h"
#include "data/trajectories.h"

enum { WARDS = 4 };

static void add(uint32_t state, uint32_t action, double reward, uint32_t next, pess_end end, int64_t episode) {
    rows_put((log_row){state, action, reward, next, end, episode, 0, 0});
}

/* ------------------------------------------------------------------------------------------------ refusals */

/* The verdict of the check on the rows so far, at γ = 0.5 and returns in [0, 1]; its words contain `words`. */
static void assert_refused(bool episodes, const char *words) {
    pess_dataset *data = rows_dataset(3, 1, episodes ? ROWS_EPISODES : 0);
    pess_error error = {0};
    const pess_status status = pess__returns_check(data, 0.5, 0, 1, &error);
    if (words == NULL)
        assert_int_equal(status, PESS_OK);
    else
        assert_true(status == PESS_INPUT && strstr(error.message, words) != NULL);
    pess_dataset_destroy(data);
}

static void a_log_that_contradicts_the_range_is_refused(void **state) {
    (void)state;
    made.count = 0;
    add(0, 0, 0.5, 1, PESS_END_NONE, 7);
    add(1, 0, 1, 2, PESS_END_TERMINAL, 7);
    assert_refused(true, NULL); /* 0.5 + 0.5·1 = 1 */
    made.reward[0] = 0.6;
    assert_refused(true, "the return of episode '7' is 1.1, outside the declared range of returns from 0 to 1");
    made.reward[0] = -1;
    made.reward[1] = 1.2; /* the whole is -0.4, but what comes first from behind is named */
    assert_refused(true, "episode '7' from its step 2 on is 1.2");
    made.reward[1] = 1;
    assert_refused(true, "episode '7' is -0.5");
    made.end[1] = PESS_END_CUTOFF; /* 1 + 0.5·[0,1] touches [0,1], -1 + 0.5·1 does not */
    assert_refused(true, "episode '7' is -0.5");
    made.reward[0] = 0;
    assert_refused(true, NULL);
    made.reward[1] = 1.5; /* 1.5 at least */
    assert_refused(true, "from its step 2 on is 1.5");
    assert_refused(false, "the return from row 2 on is 1.5");
}

static pess_status certify_rows(int64_t states, int64_t actions, double gamma, double lo, double hi,
                                pess_certificate_info *info, pess_error *error) {
    pess_dataset *data = rows_dataset(states, actions, ROWS_EPISODES);
    pess_certify_options options = pess_certify_options_defaults();
    pess_certificate *certificate = NULL;
    options.gamma = gamma;
    options.return_range[0] = lo;
    options.return_range[1] = hi;
    options.threads = 1;
    const pess_status status = pess_certify(data, &options, &certificate, error);
    if (status == PESS_OK) pess_certificate_get_info(certificate, info);
    pess_certificate_destroy(certificate);
    pess_dataset_destroy(data);
    return status;
}

static void a_certificate_uses_the_range_that_is_declared(void **state) {
    (void)state;
    pess_certificate_info info;
    pess_error error = {0};
    made.count = 0;
    for (int64_t e = 0; e < 400; e++) {
        add(0, 0, 0, 1, PESS_END_NONE, e);
        add(1, 0, e % 2 ? 1 : 0, 2, PESS_END_TERMINAL, e);
    }
    assert_int_equal(certify_rows(3, 1, 1, NAN, NAN, &info, &error), PESS_ARGUMENT);
    assert_non_null(strstr(error.message, "declare the range of returns"));
    assert_int_equal(certify_rows(3, 1, 0.5, 3, 4, &info, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "contradict rewards from 0 to 1"));
    assert_int_equal(certify_rows(3, 1, 1, 0, 0.9, &info, &error), PESS_INPUT);
    assert_non_null(strstr(error.message, "episode '1'"));
    /* The narrower range holds at either end: rewards give 0 .. 2, the declaration -1 .. 1. */
    assert_int_equal(certify_rows(3, 1, 0.5, -1, 1, &info, &error), PESS_OK);
    assert_true(info.value_lo == 0 && info.value_hi == 1);
    assert_true(info.lower_bound > 0.1 && info.lower_bound < 0.25 && info.optimal_upper_bound > 0.25);
    assert_true(info.optimal_upper_bound < 0.5);
    assert_int_equal(certify_rows(3, 1, 1, 0, 1, &info, &error), PESS_OK);
    assert_true(info.lower_bound > 0.2 && info.lower_bound < 0.5 && info.optimal_upper_bound > 0.5);
    assert_true(info.optimal_upper_bound < 0.9);
}

/* Without discount, staying for ever looks as good as leaving for 1: the certified policy must be worth its bound. */
static void test_staying_for_ever_earns_nothing(void **state) {
    (void)state;
    made.count = 0;
    for (int64_t e = 0; e < 2000; e++) {
        add(0, 0, 0, 0, PESS_END_NONE, e); /* stay */
        add(0, 1, 1, 1, PESS_END_TERMINAL, e);
    }
    for (int method = PESS_CERTIFY_BEST; method <= PESS_CERTIFY_SPLIT; method++) {
        pess_dataset *data = rows_dataset(2, 2, ROWS_EPISODES);
        pess_certify_options options = pess_certify_options_defaults();
        pess_certificate *certificate = NULL;
        pess_certificate_info info;
        options.method = (pess_certify_method)method;
        options.gamma = 1;
        options.return_range[0] = 0;
        options.return_range[1] = 1;
        options.threads = 1;
        MUST(pess_certify(data, &options, &certificate, error));
        pess_certificate_get_info(certificate, &info);
        const double leaves = pess_policy_row(pess_certificate_policy(certificate), 0)[1];
        assert_true(info.lower_bound <= (leaves > 0 ? 1 : 0));
        assert_true(info.lower_bound > 0.9);
        pess_certificate_destroy(certificate);
        pess_dataset_destroy(data);
    }
}

/* ------------------------------------------------------------------------------------------------ coverage */

/* Four wards from well to ill. An action makes better with its own probability, else worse; below the first the patient
 * goes home (reward 1), above the last he dies (0). */
static const double better[WARDS][2] = {{0.6, 0.4}, {0.5, 0.7}, {0.6, 0.3}, {0.2, 0.45}};

static void ward_log(int64_t episodes, uint64_t seed) {
    pess__rng rng = pess__rng_stream(seed, "wards", 0);
    made.count = 0;
    for (int64_t e = 0; e < episodes; e++)
        for (int64_t s = (int64_t)pess__rng_below(&rng, WARDS); s >= 0 && s < WARDS;) {
            const uint32_t a = (uint32_t)pess__rng_below(&rng, 2);
            const int64_t to = pess__rng_uniform(&rng) < better[s][a] ? s - 1 : s + 1;
            const bool over = to < 0 || to >= WARDS;
            add((uint32_t)s, a, to < 0 ? 1 : 0, over ? (uint32_t)s : (uint32_t)to,
                over ? PESS_END_TERMINAL : PESS_END_NONE, e);
            s = to;
        }
}

/* E over the wards of the probability to go home, of a policy [WARDS*2], or of the best one for NULL. */
static double chance(const pess_policy *policy) {
    double v[WARDS + 2] = {[0] = 1}, sum = 0; /* v[0]: home */
    for (int sweep = 0; sweep < 4000; sweep++)
        for (int s = 0; s < WARDS; s++) {
            double q[2], mixed = 0;
            for (int a = 0; a < 2; a++) {
                q[a] = better[s][a] * v[s] + (1 - better[s][a]) * v[s + 2];
                if (policy) mixed += pess_policy_row(policy, s)[a] * q[a];
            }
            v[s + 1] = policy ? mixed : fmax(q[0], q[1]);
        }
    for (int s = 0; s < WARDS; s++) sum += v[s + 1] / WARDS;
    return sum;
}

static double uniform_chance(void) {
    static const double half[WARDS * 2] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    pess_policy *policy = NULL;
    MUST(pess_policy_create(WARDS, 2, half, &policy, error));
    const double value = chance(policy);
    pess_policy_destroy(policy);
    return value;
}

static void certificates_cover_without_discount(void **state) {
    (void)state;
    const double delta = 0.3, best = chance(NULL), logging = uniform_chance();
    const int64_t runs = coverage_runs(150), allowed = failures_allowed(runs, delta);
    for (int method = PESS_CERTIFY_BEST; method <= PESS_CERTIFY_SPLIT; method++) {
        int64_t wrong = 0;
        double promised = 0;
        for (int64_t r = 0; r < runs; r++) {
            pess_certify_options options = pess_certify_options_defaults();
            pess_certificate *certificate = NULL;
            pess_certificate_info info;
            ward_log(800, coverage_seed(31) * 1000 + (uint64_t)r);
            pess_dataset *data = rows_dataset(WARDS, 2, ROWS_EPISODES);
            options.method = (pess_certify_method)method;
            options.gamma = 1;
            options.delta = delta;
            options.return_range[0] = 0;
            options.return_range[1] = 1;
            options.threads = 1;
            MUST(pess_certify(data, &options, &certificate, error));
            pess_certificate_get_info(certificate, &info);
            const double truth = chance(pess_certificate_policy(certificate));
            wrong +=
                truth < info.lower_bound || best > info.optimal_upper_bound || logging > info.behaviour_upper_bound;
            promised += info.lower_bound / (double)runs;
            pess_certificate_destroy(certificate);
            pess_dataset_destroy(data);
        }
        print_message("wards, method %d: wrong %lld, allowed %lld of %lld; mean promise %.3f\n", method,
                      (long long)wrong, (long long)allowed, (long long)runs, promised);
        assert_true(wrong <= allowed);
        assert_true(promised > best / 5); /* and it says something */
    }
}

int main(void) {
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_that_contradicts_the_range_is_refused),
        cmocka_unit_test(a_certificate_uses_the_range_that_is_declared),
        cmocka_unit_test(test_staying_for_ever_earns_nothing),
        cmocka_unit_test(certificates_cover_without_discount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
