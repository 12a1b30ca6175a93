/* `best` shares δ between its ways, and is never worse than the best of them by more than that costs: what it promises
 * is at least what robust promises at δ/2 and what the split promises at 0.8δ (src/certify/ledger.c), at any size of
 * the log. Nothing here is random once the logs are drawn. */
#include "core/threads.h"
#include "small_worlds.h"

#include <math.h>

static double certified(const world *w, const pess_dataset *data, pess_certify_method method, double delta) {
    pess_certify_options options = pess_certify_options_defaults();
    options.method = method;
    options.gamma = w->gamma;
    options.delta = delta;
    options.start = w->start;
    options.reward_range[0] = 0;
    options.reward_range[1] = 1;
    options.threads = 1;
    pess_certificate *certificate = NULL;
    MUST(pess_certify(data, &options, &certificate, error));
    pess_certificate_info info;
    pess_certificate_get_info(certificate, &info);
    pess_certificate_destroy(certificate);
    return info.lower_bound;
}

static void test_best_is_its_best_part_at_its_share(void **state) {
    (void)state;
    const double delta = 0.1;
    const int64_t sizes[] = {60, 300, 1000, 4000, 16000};
    world worlds[] = {world_gridworld(3, 5, 0.9, 0.5), world_garnet(6, 8, 0.8, 0.6), world_chain(5, 0.9, 0.5),
                      world_bandit(3, 0.6, 0.5, 0.5, 0.9)};
    int robust_wins = 0, split_wins = 0;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        const world *w = &worlds[i];
        for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
            pess_dataset *data = log_of(w, sizes[k / 2], k % 2 ? 10 : 0, 100 + k);
            const double best = certified(w, data, PESS_CERTIFY_BEST, delta);
            const double robust = certified(w, data, PESS_CERTIFY_ROBUST, delta / 2);
            const double split = certified(w, data, PESS_CERTIFY_SPLIT, 0.8 * delta);
            robust_wins += robust > split;
            split_wins += split > robust;
            assert_true(best >= robust - 1e-9);
            assert_true(best >= split - 1e-9);
            pess_dataset_destroy(data);
        }
        world_free(&worlds[i]);
    }
    print_message("robust is the better part in %d logs, the split in %d\n", robust_wins, split_wins);
    assert_true(robust_wins > 3 && split_wins > 3); /* either has its turn */
}

int main(void) {
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_best_is_its_best_part_at_its_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
