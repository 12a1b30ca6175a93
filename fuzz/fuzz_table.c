/* Tables over the states of a model: any text as a policy (for a model, for a log, for a log where unknown states are
 * filled in) or as a start distribution. What is read sums to one. The first byte chooses. */
#include "csv_mutator.h"
#include "fuzz_files.h"

#include <math.h>

enum { STATES = 6, ACTIONS = 2 };

static pess_counts *counts;
static pess_model *model;

/* Three named states and a terminal one, two named actions. */
static void make_log(void) {
    static const char log[] = "state,action,next_state,reward,terminal\na,go,b,1,0\nb,go,c,0,0\nb,stay,b,0,0\n"
                              "c,go,d,1,1\na,stay,a,0,0\n";
    pess_error error;
    if (pess_counts_read_memory("log", log, sizeof log - 1, NULL, &counts, &error) != PESS_OK) abort();
    if (pess_model_estimate(counts, NULL, &model, &error) != PESS_OK) abort();
}

static void check_sum(const double *row, int64_t count, bool may_be_empty) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!(row[i] >= 0 && row[i] <= 1)) abort();
        sum += row[i];
    }
    if (!(fabs(sum - 1) < 1e-6) && !(may_be_empty && sum == 0)) abort();
}

static void read_policy(const char *path, int way) {
    pess_policy *policy = NULL;
    pess_policy_fit fit;
    pess_policy_info info;
    pess_error error = {0};
    const pess_status status =
        pess_policy_read_for_log(path, counts, model, (pess_unknown)(way % 3), way > 3 ? 3 : 0, &policy, &fit, &error);
    if (status != PESS_OK) {
        fuzz_refused(status, &error);
        return;
    }
    pess_policy_get_info(policy, &info);
    if (info.actions != ACTIONS) abort();
    for (int64_t s = 0; s < info.states; s++) check_sum(pess_policy_row(policy, s), ACTIONS, true);
    pess_policy_destroy(policy);
}

static void read_start(const char *path, bool named) {
    double start[STATES] = {0};
    pess_error error = {0};
    const pess_status status = named ? pess_start_read(path, 4, pess_counts_state_names(counts), start, &error)
                                     : pess_start_read(path, STATES, NULL, start, &error);
    if (status != PESS_OK)
        fuzz_refused(status, &error);
    else
        check_sum(start, named ? 4 : STATES, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char path[128];
    if (counts == NULL) make_log();
    if (size < 1) return 0;
    fuzz_write("input", bytes + 1, size - 1, path);
    const int way = bytes[0] % 8;
    if (way < 6)
        read_policy(path, way);
    else
        read_start(path, way == 7);
    return 0;
}
