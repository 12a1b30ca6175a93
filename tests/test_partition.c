/* Counting in tables and in partitions: the same bytes by every way, in every order of the rows. */
#include "logs.h"

#include "model/tally.h"

#include <math.h>

/* How the rows are taken in. */
typedef struct way {
    int threads;
    bool direct;
    int64_t limit;      /* pages beyond which duplicates are looked for; 0: as always */
    int64_t block_rows; /* small blocks: ids grow step by step */
    bool backwards;
} way;

static pess__block block_of(const pess_dataset *d, int64_t from, int64_t rows) {
    pess__block block = {.rows = rows,
                         .state = d->state + from,
                         .action = d->action + from,
                         .next_state = d->next_state + from,
                         .reward = d->reward + from,
                         .end = d->end + from};
    for (int64_t i = 0; i < rows; i++) {
        block.max_state = block.state[i] > block.max_state ? block.state[i] : block.max_state;
        block.max_state = block.next_state[i] > block.max_state ? block.next_state[i] : block.max_state;
        block.max_action = block.action[i] > block.max_action ? block.action[i] : block.max_action;
    }
    return block;
}

static pess_status try_count(const pess_dataset *d, way how, pess_counts **out, pess_error *error) {
    pess__tally tally;
    pess__tally_begin(&tally, how.threads);
    tally.direct = how.direct;
    if (how.limit > 0) tally.partitions.limit = how.limit;
    const int64_t step = how.block_rows, blocks = (d->rows + step - 1) / step;
    pess_status status = PESS_OK;
    for (int64_t k = 0; k < blocks && status == PESS_OK; k += 2) {
        pess__block two[2];
        for (int64_t i = 0; i < 2 && k + i < blocks; i++) {
            const int64_t from = (how.backwards ? blocks - 1 - k - i : k + i) * step;
            two[i] = block_of(d, from, d->rows - from < step ? d->rows - from : step);
        }
        status = pess__tally_add(&tally, two, blocks - k < 2 ? 1 : 2, error);
    }
    *out = calloc(1, sizeof **out);
    (*out)->states = d->states;
    (*out)->actions = d->actions;
    if (status == PESS_OK) status = pess__counts_fill(*out, &tally, error);
    pess__tally_free(&tally);
    return status;
}

static pess_counts *count(const pess_dataset *d, way how) {
    pess_counts *c = NULL;
    pess_error error;
    if (try_count(d, how, &c, &error) != PESS_OK) fail_msg("%s", error.message);
    return c;
}

enum { COINS, DECIMALS, WIDE, KINDS_OF_REWARDS };

static void set_rewards(pess_dataset *d, int kind, uint64_t seed) {
    pess__rng rng = pess__rng_stream(seed, "rewards", 0);
    for (int64_t i = 0; i < d->rows; i++) {
        const double x = pess__rng_uniform(&rng);
        d->reward[i] = kind == COINS      ? (double)(x < 0.3)
                       : kind == DECIMALS ? floor(1000 * x) / 1000 - 0.2
                                          : ldexp(x - 0.5, (int)(pess__rng_next(&rng) % 400) - 200);
    }
}

static void test_every_way_gives_the_same_bytes(void **state) {
    (void)state;
    static const way ways[] = {{1, true, 0, 5000, true},   {2, true, 0, 40000, false}, {2, true, 0, 7, false},
                               {1, false, 0, 5000, false}, {2, false, 1, 5000, true},  {2, false, 40, 40000, false},
                               {2, false, 1, 200, false}};
    for (int kind = 0; kind < KINDS_OF_REWARDS; kind++) {
        pess_dataset *d = logs_random(90000, kind == 0 ? 12 : 40, 3, LOGS_ENDS, (uint64_t)kind);
        set_rewards(d, kind, (uint64_t)kind);
        pess_counts *c = count(d, (way){1, true, 0, 1000, false});
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            pess_counts *other = count(d, ways[i]);
            same_counts(c, other);
            pess_counts_destroy(other);
        }
        pess_counts_destroy(c);
        pess_dataset_destroy(d);
    }
}

/* Ids that grow to 22 bits while rows are already in partitions, so that keys are widened and partitions joined. */
static void ids_may_grow_while_rows_are_counted(void **state) {
    (void)state;
    enum { ROWS = 20000 };
    pess_dataset *d = logs_random(ROWS, 12, 3, LOGS_ENDS, 5);
    set_rewards(d, DECIMALS, 5);
    for (int64_t i = 0; i < ROWS; i++) {
        d->state[i] = (uint32_t)(i * i / 1000 % (70 * (i + 1)));
        d->next_state[i] = (uint32_t)((i * 7919) % (70 * (i + 1)));
        d->action[i] = (uint32_t)(i * 13 % (1 + i / 3000));
    }
    d->states = 70 * ROWS;
    d->actions = 1 + ROWS / 3000;
    pess_counts *all = count(d, (way){2, true, 0, ROWS, false}), *small = count(d, (way){2, true, 30, 100, false});
    same_counts(all, small);
    int64_t rows = 0;
    for (int64_t z = 0; z < d->states * d->actions; z++) rows += all->n[z];
    assert_int_equal(rows, ROWS);
    for (int64_t i = 0; i < ROWS; i += 97) {
        const int64_t z = d->state[i] * d->actions + d->action[i];
        int64_t k = all->row[z];
        while (k < all->row[z + 1] && all->next[k] != d->next_state[i]) k++;
        assert_true(d->end[i] == PESS_END_TERMINAL ? all->n_terminal[z] > 0 : k < all->row[z + 1]);
    }
    pess_counts_destroy(all);
    pess_counts_destroy(small);
    pess_dataset_destroy(d);
}

static void test_sums_are_exact(void **state) {
    (void)state;
    uint32_t zero[6] = {0};
    double rewards[6] = {1e16, 1, 1, -1e16, 0.5, -0.0};
    pess_columns columns = {.rows = 6, .state = zero, .action = zero, .next_state = zero, .reward = rewards};
    pess_dataset *d = NULL;
    assert_int_equal(pess_dataset_create(&columns, 0, 0, &d, NULL), PESS_OK);
    pess_counts *c = count(d, (way){1, true, 0, 6, false});
    assert_true(c->reward_sum[0] == 2.5 && c->next_offset[0] == 2.5 - 6 * c->reward_origin);
    pess_counts_destroy(c);
    d->reward[0] = d->reward[1] = 1e308;
    d->reward[2] = 1e307;
    pess_error error;
    for (int direct = 0; direct < 2; direct++) {
        assert_int_equal(try_count(d, (way){1, direct == 1, 0, 6, false}, &c, &error), PESS_INPUT);
        assert_non_null(strstr(error.message, "the rewards of state 0, action 0 sum to more than a double can hold"));
        pess_counts_destroy(c);
    }
    pess_dataset_destroy(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_way_gives_the_same_bytes),
                                       cmocka_unit_test(ids_may_grow_while_rows_are_counted),
                                       cmocka_unit_test(test_sums_are_exact)};
    return cmocka_run_group_tests(tests, logs_begin, logs_end);
}
