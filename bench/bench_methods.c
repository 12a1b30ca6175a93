/* Every way to solve on processes of every kind: bench_methods NAME STATES METHOD THREADS [DUMP]. One JSON line; with
 * DUMP the model is also written there for bench/peer_methods.py. */
#include "problems.h"

#include "core/threads.h"
#include "model/model.h"

#include <string.h>
#include <time.h>

static void put(FILE *file, const void *bytes, size_t element, int64_t count) {
    if (fwrite(bytes, element, (size_t)count, file) != (size_t)count) exit(1);
}

/* Sizes, γ, rows, next states, probabilities and rewards, as NumPy reads them. */
static void dump(const pess_model *model, double gamma, const char *path) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) exit(1);
    const int64_t pairs = model->states * model->actions, head[2] = {model->states, model->actions};
    put(file, head, sizeof head, 1);
    put(file, &gamma, sizeof gamma, 1);
    put(file, model->row, sizeof *model->row, pairs + 1);
    put(file, model->probability, sizeof *model->probability, model->row[pairs]);
    put(file, model->reward, sizeof *model->reward, pairs);
    put(file, model->next, sizeof *model->next, model->row[pairs]);
    fclose(file);
}

static void report(const process *what, const pess_model *model, const pess_solution_info *info, double processor) {
    printf("{\"bench\":\"methods\",\"problem\":\"%s\",\"states\":%lld,\"gamma\":%.6g,\"seconds\":%.4g,"
           "\"cpu_seconds\":%.4g,\"iterations\":%lld,\"residual\":%.3g,\"outcome\":\"%s\",\"method\":\"%s\","
           "\"value\":%.12g}\n",
           what->name, (long long)model->states, what->gamma, info->seconds, processor, (long long)info->iterations,
           info->residual, pess_outcome_name(info->outcome), info->method, info->value);
}

static void solve(const process *what, const pess_model *model, const char *method, int threads) {
    pess_error error = {0};
    double *start = array(model->states, sizeof *start);
    must(pess_start_uniform(model, start, &error), &error);
    pess_solve_options options = pess_solve_options_defaults();
    must(pess_setting_set(pess_solve_settings(), &options, "method", method, &error), &error);
    options.algorithm = "naive";
    options.gamma = what->gamma;
    options.tolerance = 1e-6;
    options.threads = threads;
    options.time_limit = 120;
    pess_solution *solution = NULL;
    pess_solution_info info;
    const clock_t ticks = clock();
    must(pess_solve(NULL, model, start, &options, &solution, &error), &error);
    pess_solution_get_info(solution, &info);
    report(what, model, &info, (double)(clock() - ticks) / CLOCKS_PER_SEC);
    pess_solution_destroy(solution);
    free(start);
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    for (int i = 0; i < PROCESSES; i++) {
        if (strcmp(processes[i].name, argv[1]) != 0) continue;
        pess_error error = {0};
        pess_mdp *mdp = processes[i].make(strtoll(argv[2], NULL, 10));
        pess_model *model = NULL;
        must(pess_mdp_model(mdp, 0, &model, &error), &error);
        pess_mdp_destroy(mdp);
        if (argc > 5) dump(model, processes[i].gamma, argv[5]);
        solve(&processes[i], model, argv[3], (int)strtol(argv[4], NULL, 10));
        pess_model_destroy(model);
        return 0;
    }
    return 2;
}
