/* Seven worlds of different kinds, logs of every size and way of collecting, every method and declaration drawn at
 * random: how often is any bound of a certificate wrong? At δ = 0.9 most of what is promised may fail, and hardly
 * anything does; at δ = 0.2 a gross mistake shows in few logs. tools/check-long.d/coverage.sh draws thousands. */
#include "coverage.h"
#include "small_worlds.h"

#include "core/rng.h"
#include "core/threads.h"

static world world_from(int64_t states, int64_t actions, const pess_mdp_transition *transitions, int64_t count,
                        double gamma, double epsilon) {
    pess_mdp *mdp = NULL;
    MUST(pess_mdp_create(states, actions, transitions, count, &mdp, error));
    return world_of(mdp, gamma, epsilon);
}

/* One arm pays 1 with probability 0.02, the other 0.01 always. */
static world world_lottery(void) {
    static const pess_mdp_transition t[] = {{0, 0, 0, 0.02, 1}, {0, 0, 0, 0.98, 0}, {0, 1, 0, 1, 0.01}};
    return world_from(1, 2, t, 3, 0.8, 0.8);
}

/* Walking on pays; with probability 0.004 it falls into a state that pays nothing for ever. Resting pays less. */
static world world_trap(void) {
    static const pess_mdp_transition t[] = {{0, 0, 0, 1, 0.55},  {0, 1, 0, 0.996, 0.7}, {0, 1, 1, 0.004, 0.7},
                                            {1, 0, 1, 0.999, 0}, {1, 0, 0, 0.001, 0},   {1, 1, 1, 1, 0}};
    return world_from(2, 2, t, 6, 0.95, 0.6);
}

/* Upstream lies the reward; the stream takes back. */
static world world_river(void) {
    pess_mdp_transition t[32];
    int64_t count = 0;
    for (int64_t s = 0; s < 5; s++) {
        const int64_t up = s < 4 ? s + 1 : 4, down = s > 0 ? s - 1 : 0;
        t[count++] = (pess_mdp_transition){s, 0, down, 1, s == 0 ? 0.05 : 0};
        t[count++] = (pess_mdp_transition){s, 1, up, 0.5, s == 4 ? 1 : 0};
        if (down != s && up != s) t[count++] = (pess_mdp_transition){s, 1, s, 0.4, 0};
        t[count++] = (pess_mdp_transition){s, 1, down, down != s && up != s ? 0.1 : 0.5, 0};
    }
    return world_from(5, 2, t, count, 0.9, 0.7);
}

enum { WORLDS = 7 };

/* What is drawn: the size from 20 to 3000 rows, how it was collected, and what is declared. */
static bool any_bound_is_wrong(const world *w, double delta, pess__rng *rng) {
    const int64_t rows = (int64_t)(20 * pow(150, pess__rng_uniform(rng)));
    const int64_t horizon = pess__rng_below(rng, 3) == 0 ? 0 : 1 + (int64_t)pess__rng_below(rng, 12);
    pess_dataset *data = log_of(w, rows > horizon ? rows : horizon, horizon, pess__rng_next(rng)), *sized = NULL;
    pess_columns columns;
    pess_dataset_columns(data, &columns);
    MUST(pess_dataset_create(&columns, pess_mdp_states(w->mdp), pess_mdp_actions(w->mdp), &sized, error));
    pess_certify_options options = pess_certify_options_defaults();
    options.method = (pess_certify_method)pess__rng_below(rng, 3); /* best has whole episodes where it can */
    options.gamma = w->gamma;
    options.delta = delta;
    options.split = 0.1 + 0.8 * pess__rng_uniform(rng);
    options.first_part = pess__rng_below(rng, 2) ? rows / 4 + 1 : 0; /* fixed beforehand: all of δ is spent */
    options.iid = horizon == 1;                                      /* rows from ρ are independent */
    options.start = horizon == 0 || pess__rng_below(rng, 2) ? w->start : NULL;
    options.reward_range[0] = 0;
    options.reward_range[1] = 1;
    options.threads = 1;
    pess_certificate *certificate = NULL;
    pess_error why = {0};
    const pess_status status = pess_certify(sized, &options, &certificate, &why);
    bool wrong = false;
    if (status == PESS_OK) {
        pess_certificate_info info;
        pess_certificate_get_info(certificate, &info);
        wrong = info.lower_bound > true_value(w, pess_certificate_policy(certificate)) + 1e-9 ||
                info.optimal_upper_bound < w->optimal - 1e-9 || info.behaviour_upper_bound < w->logging_value - 1e-9;
    } else if (strstr(why.message, "too small to split") == NULL) {
        fail_msg("%s", why.message);
    }
    pess_certificate_destroy(certificate);
    pess_dataset_destroy(sized);
    pess_dataset_destroy(data);
    return wrong;
}

static void seven_worlds_are_covered(void **state) {
    (void)state;
    world worlds[WORLDS] = {world_gridworld(3, 5, 0.9, 0.5),
                            world_garnet(6, 8, 0.8, 0.6),
                            world_chain(5, 0.9, 0.5),
                            world_bandit(3, 0.6, 0.5, 0.5, 0.9),
                            world_lottery(),
                            world_trap(),
                            world_river()};
    const double deltas[] = {0.2, 0.9};
    for (size_t d = 0; d < 2; d++) {
        const int64_t logs = coverage_runs(40);
        int64_t wrong = 0, all = WORLDS * logs;
        for (int64_t i = 0; i < all; i++) {
            pess__rng rng = pess__rng_stream(coverage_seed(91 + d), "seven worlds", (uint64_t)i);
            wrong += any_bound_is_wrong(&worlds[i % WORLDS], deltas[d], &rng);
        }
        const int64_t allowed = failures_allowed(all, deltas[d]);
        print_message("delta %g: wrong %lld, allowed %lld of %lld\n", deltas[d], (long long)wrong, (long long)allowed,
                      (long long)all);
        assert_true(wrong <= allowed);
    }
    for (int i = 0; i < WORLDS; i++) world_free(&worlds[i]);
}

int main(void) {
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(seven_worlds_are_covered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
