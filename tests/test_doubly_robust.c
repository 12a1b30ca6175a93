/* Doubly robust sums of episodes: means are exact, for every course of a small process is an episode, weighted by its
 * probability. A hidden variable decides what pays; the behaviour looks at the state alone. */
#include "logs.h"

#include "certify/doubly_robust.h"
#include "core/rng.h"
#include "data/trajectories.h"

#include <math.h>

enum { LENGTH = 3, ACTIONS = 3, HIDDEN = 2, COURSES = HIDDEN * ACTIONS * ACTIONS * ACTIONS, ROWS = COURSES * LENGTH };

static const double gamma_ = 0.9, lo = -0.5, hi = 2.5;

typedef struct process {
    double hidden[HIDDEN];
    double behaviour[LENGTH * ACTIONS], policy[LENGTH * ACTIONS], q[LENGTH * ACTIONS];
    double pays[HIDDEN][LENGTH][ACTIONS];
    double chance[COURSES];
    double value_policy, value_behaviour;
    pess_dataset *data;
} process;

static void draw_row(pess__rng *rng, double *row) {
    double sum = 0;
    for (int a = 0; a < ACTIONS; a++) sum += row[a] = pess__rng_uniform(rng) < 0.2 ? 0 : pess__rng_uniform(rng) + 0.02;
    if (sum == 0) sum = row[0] = 1;
    for (int a = 0; a < ACTIONS; a++) row[a] /= sum;
}

/* Payments of at most 0.9 a step, of at least −0.15: every return from any state on is within lo … hi. */
static process draw_process(uint64_t seed, bool cut) {
    process p = {0};
    pess__rng rng = pess__rng_stream(seed, "doubly robust", 0);
    uint32_t state[ROWS], action[ROWS], next[ROWS];
    double reward[ROWS];
    uint8_t end[ROWS];
    int64_t episode[ROWS], rows = 0;
    p.hidden[0] = 0.2 + 0.6 * pess__rng_uniform(&rng);
    p.hidden[1] = 1 - p.hidden[0];
    for (int t = 0; t < LENGTH; t++) {
        draw_row(&rng, p.behaviour + t * ACTIONS);
        draw_row(&rng, p.policy + t * ACTIONS);
        for (int a = 0; a < ACTIONS; a++) {
            p.q[t * ACTIONS + a] = p.behaviour[t * ACTIONS + a] > 0 ? (hi - lo) * pess__rng_uniform(&rng) : 0;
            for (int h = 0; h < HIDDEN; h++) p.pays[h][t][a] = 1.05 * pess__rng_uniform(&rng) - 0.15;
        }
    }
    for (int i = 0; i < COURSES; i++) {
        const int h = i % HIDDEN, a[LENGTH] = {i / 2 % 3, i / 6 % 3, i / 18};
        double under_policy = p.hidden[h], discount = 1, sum = 0;
        p.chance[i] = p.hidden[h];
        for (int t = 0; t < LENGTH; t++) {
            p.chance[i] *= p.behaviour[t * ACTIONS + a[t]];
            under_policy *= p.policy[t * ACTIONS + a[t]];
            sum += discount * p.pays[h][t][a[t]];
            discount *= gamma_;
        }
        p.value_policy += under_policy * sum;
        p.value_behaviour += p.chance[i] * sum;
        for (int t = 0; t < LENGTH; t++, rows++) {
            state[rows] = (uint32_t)t;
            next[rows] = (uint32_t)(t + 1) % LENGTH;
            action[rows] = (uint32_t)a[t];
            reward[rows] = p.pays[h][t][a[t]];
            episode[rows] = i;
            end[rows] = t == LENGTH - 1 ? PESS_END_TERMINAL : PESS_END_NONE;
            /* Cut off where the second action was the last one. */
            if (cut && t == 1 && a[1] == ACTIONS - 1) {
                end[rows++] = PESS_END_CUTOFF;
                break;
            }
        }
    }
    const pess_columns columns = {.rows = rows,
                                  .state = state,
                                  .action = action,
                                  .next_state = next,
                                  .reward = reward,
                                  .end = end,
                                  .episode = episode};
    pess_error error;
    if (pess_dataset_create(&columns, LENGTH, ACTIONS, &p.data, &error) != PESS_OK) fail_msg("%s", error.message);
    return p;
}

/* The mean of the sums minus the floor, over all courses; each of them is at least 0. */
static double mean_sum(const process *p, const double *policy, double floor, bool paired) {
    const double range = hi - lo;
    const pess__doubly_robust_setup setup = {.states = LENGTH,
                                             .actions = ACTIONS,
                                             .policy = policy,
                                             .behaviour = p->behaviour,
                                             .q = p->q,
                                             .gamma = gamma_,
                                             .lo = lo,
                                             .range = range,
                                             .floor = floor,
                                             .paired = paired};
    pess__doubly_robust *dr = NULL;
    assert_int_equal(pess__doubly_robust_create(&setup, &dr, NULL), PESS_OK);
    double probability[ROWS], mean = 0;
    for (int64_t i = 0; i < p->data->rows; i++)
        probability[i] = p->behaviour[p->data->state[i] * ACTIONS + p->data->action[i]];
    pess__trajectories *t = NULL;
    pess__returns *returns = NULL;
    assert_int_equal(pess__trajectories_create(p->data, &t, NULL), PESS_OK);
    assert_int_equal(pess__returns_create(p->data, t, gamma_, lo, hi, &returns, NULL), PESS_OK);
    for (int i = 0; i < COURSES; i++) {
        const double sum = pess__doubly_robust_sum(dr, &(pess__episode){p->data, probability, t->row + t->begin[i],
                                                                        t->begin[i + 1] - t->begin[i],
                                                                        returns->least[i], returns->most[i]});
        if (p->chance[i] > 0) assert_true(sum >= 0);
        if (p->chance[i] > 0) mean += p->chance[i] * (sum - floor);
    }
    pess__returns_destroy(returns);
    pess__trajectories_destroy(t);
    pess__doubly_robust_destroy(dr);
    return mean;
}

/* Whatever q̂, floor and overlap are, the mean is never above; with overlap it is equal: no floor takes any of it. */
static void means_are_never_above_and_equal_where_policies_overlap(void **state) {
    (void)state;
    int64_t overlapping = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        process p = draw_process(seed, false);
        bool overlap = true;
        for (int z = 0; z < LENGTH * ACTIONS; z++) overlap &= p.policy[z] == 0 || p.behaviour[z] > 0;
        overlapping += overlap;
        const double value = p.value_policy - lo, difference = p.value_policy - p.value_behaviour;
        for (double floor = 0; floor < 1e4; floor = floor * 3 + 0.5) {
            const double found = mean_sum(&p, p.policy, floor, false);
            assert_true(overlap ? fabs(found - value) < 1e-9 : found <= value + 1e-9);
            if (floor < hi - lo) continue;
            const double paired = mean_sum(&p, p.policy, floor, true);
            assert_true(overlap ? fabs(paired - difference) < 1e-9 : paired <= difference + 1e-9);
        }
        pess_dataset_destroy(p.data);
    }
    assert_true(overlapping > 30);
}

static void the_behaviour_against_itself_is_nothing(void **state) {
    (void)state;
    process p = draw_process(5, false);
    const double range = hi - lo, mean = mean_sum(&p, p.behaviour, 2 * range, true);
    assert_true(fabs(mean) < 1e-12);
    pess_dataset_destroy(p.data);
}

static void cut_offs_count_with_the_least(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        process whole = draw_process(seed, false), cut = draw_process(seed, true);
        for (double floor = hi - lo; floor < 100; floor *= 3) {
            assert_true(mean_sum(&cut, cut.policy, floor, false) <= whole.value_policy - lo + 1e-9);
            assert_true(mean_sum(&cut, cut.policy, floor, true) <= whole.value_policy - whole.value_behaviour + 1e-9);
        }
        pess_dataset_destroy(whole.data);
        pess_dataset_destroy(cut.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_never_above_and_equal_where_policies_overlap),
        cmocka_unit_test(the_behaviour_against_itself_is_nothing),
        cmocka_unit_test(cut_offs_count_with_the_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
