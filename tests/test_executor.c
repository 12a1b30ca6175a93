/* Executors: which task comes next, every run made and kept once, failures and divergences told. */
#include "scratch.h"

#include "experiment/queue.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---- the queue */

enum { GROUPS = 9, RUNS = 4 };

/* Workers take turns at random; every task is done once, never before its group is prepared, never with more than
 * threads+1 groups in memory, and nobody waits while something could be done. */
static void run_queue(int threads, uint64_t seed, const bool *todo, bool makes_first) {
    double cost[GROUPS * RUNS];
    int done[GROUPS * RUNS] = {0}, prepared[GROUPS] = {0};
    for (int i = 0; i < GROUPS * RUNS; i++) cost[i] = i % RUNS == 1 ? 1 : 2;
    pess__queue *queue = NULL;
    const pess__work work = {.group_count = GROUPS,
                             .run_count = RUNS,
                             .prepare_makes_first = makes_first,
                             .threads = threads,
                             .todo = todo,
                             .cost = cost};
    assert_int_equal(pess__queue_create(&work, &queue, NULL), PESS_OK);
    pess_random random = pess_random_create(seed, "queue", 0);
    pess__task busy[8];
    int busy_count = 0, loaded = 0;
    while (queue->tasks > 0) {
        pess__task task;
        while (busy_count < threads && pess__queue_take(queue, &task)) {
            busy[busy_count++] = task;
            if (task.run < 0) {
                assert_int_equal(prepared[task.group], 0);
                loaded++;
            } else {
                assert_int_equal(prepared[task.group], 2);
                assert_true(todo[task.group * RUNS + task.run] && !(makes_first && task.run == 0));
                done[task.group * RUNS + task.run]++;
            }
            assert_true(loaded <= threads + 1);
        }
        assert_true(busy_count > 0);
        const int64_t which = pess_random_below(&random, busy_count);
        task = busy[which];
        busy[which] = busy[--busy_count];
        if (task.run < 0) prepared[task.group] = 2;
        if (pess__queue_finish(queue, &task)) loaded--;
    }
    assert_int_equal(loaded, 0);
    assert_int_equal(busy_count, 0);
    for (int i = 0; i < GROUPS * RUNS; i++) assert_int_equal(done[i], todo[i] && !(makes_first && i % RUNS == 0));
    for (int d = 0; d < GROUPS; d++) {
        bool any = false;
        for (int c = 0; c < RUNS; c++) any |= todo[d * RUNS + c];
        assert_int_equal(prepared[d], any ? 2 : 0);
    }
    pess__queue_destroy(queue);
}

static void every_task_is_taken_once(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        bool todo[GROUPS * RUNS];
        pess_random random = pess_random_create(seed, "todo", 0);
        for (int i = 0; i < GROUPS * RUNS; i++) todo[i] = seed % 3 == 0 || pess_random_uniform(&random) < 0.5;
        run_queue(1 + (int)(seed % 5), seed, todo, seed % 2 == 0);
    }
}

/* With two threads: both prepare, the runs of the first group come first and the longest of them at once, and the
 * third group is prepared before the runs run out. */
static void tasks_come_in_their_order(void **state) {
    (void)state;
    bool todo[3 * RUNS];
    double cost[3 * RUNS];
    for (int i = 0; i < 3 * RUNS; i++) {
        todo[i] = true;
        cost[i] = i % RUNS; /* run 3 is the longest */
    }
    pess__queue *queue = NULL;
    pess__task task[2];
    const pess__work work = {
        .group_count = 3, .run_count = RUNS, .prepare_makes_first = true, .threads = 2, .todo = todo, .cost = cost};
    assert_int_equal(pess__queue_create(&work, &queue, NULL), PESS_OK);
    assert_true(pess__queue_take(queue, &task[0]) && task[0].group == 0 && task[0].run == -1);
    assert_true(pess__queue_take(queue, &task[1]) && task[1].group == 1 && task[1].run == -1);
    assert_false(pess__queue_finish(queue, &task[0]));
    static const int expected[][2] = {{0, 3}, {0, 2}, {2, -1}, {0, 1}}; /* the last one before, and one is still left */
    for (int i = 0; i < 4; i++) {
        pess__task next;
        assert_true(pess__queue_take(queue, &next));
        assert_int_equal(next.group, expected[i][0]);
        assert_int_equal(next.run, expected[i][1]);
    }
    pess__queue_destroy(queue);
}

/* ---- threads */

/* Runs that count themselves; one of them may fail. */
typedef struct tally {
    atomic_int prepared[GROUPS], made[GROUPS * RUNS], released[GROUPS], workers, left;
    int kept[GROUPS * RUNS], kept_total;
    int bad; /* index of the run that fails with `status`; -1: none */
    pess_status status;
    bool bad_preparing; /* … or of the group whose preparing does */
} tally;

static pess_status enter(void *context, void **scratch, pess_error *error) {
    (void)error;
    tally *t = context;
    atomic_fetch_add(&t->workers, 1);
    *scratch = t;
    return PESS_OK;
}

static void leave(void *scratch) { atomic_fetch_add(&((tally *)scratch)->left, 1); }

static pess_status prepare(void *context, pess__worker *worker, int64_t group, pess_error *error) {
    tally *t = context;
    atomic_fetch_add(&t->prepared[group], 1);
    if (t->bad_preparing && t->bad == group) {
        (void)snprintf(error->message, sizeof error->message, "preparing %d", (int)group);
        return t->status;
    }
    atomic_fetch_add(&t->made[group * RUNS], 1);
    return pess__worker_keep_first(worker, group, error);
}

static pess_status make(void *context, pess__worker *worker, int64_t group, int run, pess_error *error) {
    tally *t = context;
    const int64_t index = group * RUNS + run;
    assert_ptr_equal(pess__worker_scratch(worker), t);
    assert_int_equal(atomic_load(&t->prepared[group]), 1);
    if (!t->bad_preparing && t->bad == index) {
        (void)snprintf(error->message, sizeof error->message, "run %d", (int)index);
        return t->status;
    }
    atomic_fetch_add(&t->made[index], 1);
    return PESS_OK;
}

static pess_status keep(void *context, pess__worker *worker, int64_t group, int run, pess_error *error) {
    (void)error;
    tally *t = context;
    t->kept[group * RUNS + run]++; /* not atomic: one at a time */
    t->kept_total++;
    pess__worker_tell(worker, true, "kept %d", t->kept_total);
    return PESS_OK;
}

static void release(void *context, int64_t group) { atomic_fetch_add(&((tally *)context)->released[group], 1); }

static int lines;

static void count_line(void *user, const char *line, double seconds_left) {
    char expected[40];
    (void)user;
    (void)snprintf(expected, sizeof expected, "kept %d", ++lines);
    assert_string_equal(line, expected);
    assert_true(seconds_left >= 0);
}

static pess_status execute(tally *t, int threads, pess__executed *out, pess_error *error) {
    static bool todo[GROUPS * RUNS];
    static double cost[GROUPS * RUNS], prepare_cost[GROUPS];
    for (int i = 0; i < GROUPS * RUNS; i++) {
        todo[i] = true;
        cost[i] = 1;
    }
    const pess__work work = {.group_count = GROUPS,
                             .run_count = RUNS,
                             .todo = todo,
                             .cost = cost,
                             .prepare_cost = prepare_cost,
                             .prepare_makes_first = true,
                             .skip_diverged = true,
                             .threads = threads,
                             .context = t,
                             .enter = enter,
                             .leave = leave,
                             .prepare = prepare,
                             .run = make,
                             .keep = keep,
                             .release = release,
                             .notice = count_line};
    lines = 0;
    return pess__execute_on_threads(&work, out, error);
}

static void test_every_run_is_made_and_kept_once(void **state) {
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        tally t = {.bad = -1};
        pess__executed executed;
        assert_int_equal(execute(&t, threads, &executed, NULL), PESS_OK);
        assert_false(executed.interrupted);
        assert_int_equal(executed.diverged, 0);
        for (int i = 0; i < GROUPS * RUNS; i++) {
            assert_int_equal(atomic_load(&t.made[i]), 1);
            assert_int_equal(t.kept[i], 1);
        }
        for (int g = 0; g < GROUPS; g++) assert_int_equal(atomic_load(&t.released[g]), 1);
        assert_int_equal(atomic_load(&t.workers), threads);
        assert_int_equal(atomic_load(&t.left), threads);
        assert_int_equal(lines, GROUPS * RUNS);
    }
}

/* A run that diverges is counted, and all others are made. */
static void test_divergence_is_counted(void **state) {
    (void)state;
    tally t = {.bad = 2 * RUNS + 1, .status = PESS_NOT_CONVERGED};
    pess__executed executed;
    assert_int_equal(execute(&t, 2, &executed, NULL), PESS_OK);
    assert_int_equal(executed.diverged, 1);
    assert_string_equal(executed.divergence.message, "run 9");
    assert_int_equal(t.kept_total, GROUPS * RUNS - 1);
    assert_int_equal(atomic_load(&t.released[2]), 1);
}

/* Any other failure stops the others and is what is told; so does one while preparing, of whatever kind. */
static void a_failure_stops_the_others(void **state) {
    (void)state;
    for (int preparing = 0; preparing < 2; preparing++) {
        tally t = {.bad = preparing ? 1 : RUNS + 2,
                   .status = preparing ? PESS_NOT_CONVERGED : PESS_IO,
                   .bad_preparing = preparing != 0};
        pess__executed executed;
        pess_error error = {0};
        assert_int_equal(execute(&t, 1, &executed, &error), t.status);
        assert_string_equal(error.message, preparing ? "preparing 1" : "run 6");
        assert_true(t.kept_total < GROUPS * RUNS - 1);
        assert_int_equal(atomic_load(&t.left), 1);
    }
}

/* ---- interruption */

static pess_status wait_for_stop(void *context, pess__worker *worker, int64_t group, int run, pess_error *error) {
    (void)context, (void)group, (void)run;
    const pess_progress progress = pess__worker_progress(worker);
    while (progress.report(progress.user, "", 1, 2, "")) continue;
    return pess__fail(error, PESS_INTERRUPTED, "stopped");
}

static bool stop_halfway(void *user, const char *what, double done, double total, const char *unit) {
    *(double *)user = done / total;
    assert_string_equal(what, "waiting");
    assert_string_equal(unit, "runs");
    return false;
}

/* Progress counts what was there before and the parts of the runs that are under way. */
static void progress_counts_parts_until_it_is_stopped(void **state) {
    (void)state;
    const bool todo[] = {true, true};
    const double cost[] = {3, 3};
    double share = 0;
    const pess__work work = {.group_count = 2,
                             .run_count = 1,
                             .todo = todo,
                             .cost = cost,
                             .threads = 2,
                             .run = wait_for_stop,
                             .what = "waiting",
                             .unit = "runs",
                             .units_before = 2,
                             .units_total = 4,
                             .progress = {.report = stop_halfway, .user = &share}};
    pess__executed executed;
    assert_int_equal(pess__execute_on_threads(&work, &executed, NULL), PESS_OK);
    assert_true(executed.interrupted);
    assert_true(fabs(share - 0.75) < 1e-12);
}

/* ---- shards */

static void shards_are_parsed(void **state) {
    (void)state;
    pess_error error;
    pess__shard shard;
    static const struct {
        const char *text;
        int64_t index, count;
    } right[] = {{NULL, 1, 1}, {"1/1", 1, 1}, {"2/3", 2, 3}, {"4/4", 4, 4}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_ok(pess__shard_parse(right[i].text, &shard, &error), &error);
        assert_true(shard.index == right[i].index && shard.count == right[i].count);
    }
    static const char *const wrong[] = {"", "2", "/", "0/3", "4/3", "1/", "/2", "1/2/3", "1.5/2", "-1/2", "1/0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_failure(pess__shard_parse(wrong[i], &shard, &error), PESS_ARGUMENT, &error, "expected I/N", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_taken_once),
        cmocka_unit_test(tasks_come_in_their_order),
        cmocka_unit_test(test_every_run_is_made_and_kept_once),
        cmocka_unit_test(test_divergence_is_counted),
        cmocka_unit_test(a_failure_stops_the_others),
        cmocka_unit_test(progress_counts_parts_until_it_is_stopped),
        cmocka_unit_test(shards_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
