/* What choosing among algorithms costs: 10 folds of a log of a million rows, 716 states and 25 actions. One JSON line
 * each: the counts of all folds but one, by subtraction (ours) and by counting those rows again (peer), turn by turn,
 * one thread, best of three; and the whole of pess_choose with its default families. */
#include "choose/choose.h"
#include "core/memory.h"
#include "core/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(pess_status status, const pess_error *error) {
    if (status == PESS_OK) return;
    (void)fprintf(stderr, "bench_folds: %s\n", error->message);
    exit(1);
}

static pess_dataset *make_log(void) {
    pess_error error;
    pess_garnet_options garnet = pess_garnet_options_defaults();
    garnet.states = 716;
    garnet.actions = 25;
    garnet.branching = 8;
    garnet.terminals = 60;
    garnet.seed = 1;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_policy *uniform = NULL;
    pess_dataset *data = NULL;
    double start[716];
    must(pess_mdp_garnet(&garnet, &mdp, &error), &error);
    must(pess_mdp_model(mdp, 0, &model, &error), &error);
    must(pess_start_uniform(model, start, &error), &error);
    must(pess_policy_uniform(model, &uniform, &error), &error);
    pess_simulate_options options = pess_simulate_options_defaults();
    options.episodes = 90000;
    options.horizon = 50;
    must(pess_simulate(mdp, uniform, start, &options, &data, &error), &error);
    pess_policy_destroy(uniform);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
    return data;
}

enum { FOLDS = 10, TIMES = 3 };

/* The rows of all folds but one, as a fold of their own. */
static double count_again(const pess__folds *folds, int64_t fold) {
    pess_error error;
    pess__folds others = *folds;
    const int64_t from = folds->episodes.begin[folds->first[fold]], to = folds->episodes.begin[folds->first[fold + 1]];
    const int64_t rows = folds->data->rows - (to - from);
    int64_t first[2] = {0, 1}, begin[2] = {0, rows}, *row = NULL;
    must(pess__allocate(&row, rows, sizeof *row, "rows", &error), &error);
    for (int64_t i = 0; i < rows; i++) row[i] = folds->episodes.row[i < from ? i : i + (to - from)];
    others.first = first;
    others.episodes = (pess__trajectories){.count = 1, .begin = begin, .row = row};
    pess_counts *counts = NULL;
    const double begun = pess__clock();
    must(pess__folds_part(&others, 0, 1, &counts, &error), &error);
    const double seconds = pess__clock() - begun;
    pess_counts_destroy(counts);
    free(row);
    return seconds;
}

static double by_subtraction(const pess__folds *folds, int64_t fold) {
    pess_error error;
    pess_counts *part = NULL, *rest = NULL;
    const double begun = pess__clock();
    must(pess__folds_part(folds, fold, 1, &part, &error), &error);
    must(pess__counts_subtract(folds->whole, part, &rest, &error), &error);
    const double seconds = pess__clock() - begun;
    pess_counts_destroy(part);
    pess_counts_destroy(rest);
    return seconds;
}

static void compare_counting(const pess_dataset *data) {
    pess_error error;
    pess__folds folds;
    double ours = INFINITY, peer = INFINITY;
    must(pess__folds_create(data, FOLDS, 0, 1, &folds, &error), &error);
    for (int time = 0; time < TIMES; time++) {
        double subtracted = 0, counted = 0;
        for (int64_t k = 0; k < FOLDS; k++) {
            subtracted += by_subtraction(&folds, k);
            counted += count_again(&folds, k);
        }
        ours = fmin(ours, subtracted);
        peer = fmin(peer, counted);
    }
    (void)printf(
        "{\"name\": \"counts of 10 folds, %lld rows: subtraction beside counting again\", \"ours\": %.4f, \"peer\": "
        "%.4f, \"ratio\": %.2f, \"unit\": \"s\"}\n",
        (long long)data->rows, ours, peer, peer / ours);
    pess__folds_release(&folds);
}

int main(void) {
    pess_error error;
    pess_dataset *data = make_log();
    compare_counting(data);
    pess_choose_options options = pess_choose_options_defaults();
    pess_choice *choice = NULL;
    pess_choice_info info;
    options.folds = FOLDS;
    must(pess_choose(data, &options, &choice, &error), &error);
    pess_choice_get_info(choice, &info);
    (void)printf("{\"name\": \"pess_choose, 10 folds, 716 states, 25 actions, %lld rows, %d threads\", \"ours\": %.2f, "
                 "\"peer\": null, \"ratio\": null, \"unit\": \"s\"}\n",
                 (long long)data->rows, pess__threads(0), info.seconds);
    pess_choice_destroy(choice);
    pess_dataset_destroy(data);
    return 0;
}
