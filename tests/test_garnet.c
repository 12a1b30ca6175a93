/* Garnets: the shape that was asked for, and draws that follow their laws. */
#include "scratch.h"

#include "model/mdp.h"

#include <math.h>

static pess_mdp *make(const pess_garnet_options *options) {
    pess_mdp *mdp = NULL;
    pess_error error = {0};
    assert_ok(pess_mdp_garnet(options, &mdp, &error), &error);
    return mdp;
}

static void processes_have_the_shape_asked_for(void **state) {
    (void)state;
    const pess_garnet_options shapes[] = {
        {.size = sizeof(pess_garnet_options),
         .states = 20,
         .actions = 3,
         .branching = 5,
         .terminals = 2,
         .rewards = PESS_REWARD_BERNOULLI,
         .seed = 1},
        {.size = sizeof(pess_garnet_options),
         .states = 20,
         .actions = 3,
         .branching = 20,
         .terminals = 19,
         .rewards = PESS_REWARD_MEAN,
         .seed = 2},
        {.size = sizeof(pess_garnet_options),
         .states = 1,
         .actions = 1,
         .branching = 1,
         .rewards = PESS_REWARD_BERNOULLI},
        {.size = sizeof(pess_garnet_options),
         .states = 3000,
         .actions = 2,
         .branching = 30,
         .rewards = PESS_REWARD_MEAN,
         .seed = 3},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const pess_garnet_options *o = &shapes[i];
        pess_mdp *mdp = make(o);
        const int64_t per_move = o->rewards == PESS_REWARD_BERNOULLI ? 2 : 1;
        for (int64_t s = 0; s < o->states; s++) {
            assert_int_equal(mdp->terminal[s], s >= o->states - o->terminals);
            for (int64_t pair = s * o->actions; pair < (s + 1) * o->actions; pair++) {
                const int64_t length = mdp->row[pair + 1] - mdp->row[pair];
                assert_int_equal(length, mdp->terminal[s] ? 0 : o->branching * per_move);
                double sum = 0;
                for (int64_t k = mdp->row[pair]; k < mdp->row[pair + 1]; k++) {
                    sum += mdp->probability[k];
                    assert_true(mdp->probability[k] > 0 && (int64_t)mdp->next[k] < o->states);
                    const int64_t before = k - per_move;
                    if (before >= mdp->row[pair]) assert_true(mdp->next[before] < mdp->next[k]); /* all different */
                }
                if (length > 0) assert_close(sum, 1, 1e-12);
            }
        }
        pess_mdp_destroy(mdp);
    }
}

/* Every state is drawn equally often; the largest of three uniform simplex coordinates has mean 11/18. */
static void draws_follow_their_laws(void **state) {
    (void)state;
    const pess_garnet_options options = {.size = sizeof(pess_garnet_options),
                                         .states = 10,
                                         .actions = 20000,
                                         .branching = 3,
                                         .rewards = PESS_REWARD_MEAN,
                                         .seed = 5};
    pess_mdp *mdp = make(&options);
    const int64_t pairs = 10 * options.actions;
    double drawn[10] = {0}, largest = 0, mean = 0;
    for (int64_t pair = 0; pair < pairs; pair++) {
        double most = 0;
        for (int64_t k = mdp->row[pair]; k < mdp->row[pair + 1]; k++) {
            drawn[mdp->next[k]]++;
            most = fmax(most, mdp->probability[k]);
        }
        largest += most / (double)pairs;
        mean += mdp->reward[mdp->row[pair]] / (double)pairs;
    }
    /* chi-square with 9 degrees of freedom: 45.1 is passed once in 10^6; a set without repetition has factor 0.7/0.9
     * less variance than independent draws, so this is on the safe side */
    double chi_square = 0;
    for (int s = 0; s < 10; s++) chi_square += pow(drawn[s] - 0.3 * (double)pairs, 2) / (0.3 * (double)pairs);
    assert_true(chi_square < 45.1);
    assert_close(largest, 11.0 / 18, 4.9 * 0.16 / sqrt((double)pairs)); /* its standard deviation is below 0.16 */
    assert_close(mean, 0.5, 4.9 * sqrt(1.0 / 12 / (double)pairs));
    pess_mdp_destroy(mdp);
}

static void bad_options_are_refused(void **state) {
    (void)state;
    const pess_garnet_options bad[] = {
        {.size = sizeof(pess_garnet_options), .states = 0, .actions = 1, .branching = 1},
        {.size = sizeof(pess_garnet_options), .states = 5, .actions = 0, .branching = 1},
        {.size = sizeof(pess_garnet_options), .states = 5, .actions = 1, .branching = 0},
        {.size = sizeof(pess_garnet_options), .states = 5, .actions = 1, .branching = 6},
        {.size = sizeof(pess_garnet_options), .states = 5, .actions = 1, .branching = 1, .terminals = 5},
        {.size = sizeof(pess_garnet_options), .states = 5, .actions = 1, .branching = 1, .terminals = -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pess_mdp *mdp = NULL;
        pess_error error = {0};
        assert_failure(pess_mdp_garnet(&bad[i], &mdp, &error), PESS_ARGUMENT, &error, NULL);
        assert_null(mdp);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_have_the_shape_asked_for),
        cmocka_unit_test(draws_follow_their_laws),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
