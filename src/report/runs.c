/* runs.csv, a row per training. */
#include "experiment/games.h"
#include "report/report.h"

#include <math.h>

/* Empty where it does not apply. */
static void field(pess__outfile *file, double value) {
    pess__outfile_write(file, ",", 1);
    if (!isnan(value)) pess__outfile_double(file, value);
}

static void write_run(pess__outfile *file, const pess__games *m, int64_t index, int curve) {
    const pess__games_dataset *dataset = &m->datasets[index];
    const pess__games_run *run = pess__games_run_of(m, index, curve);
    const pess_train_result *r = &run->result;
    pess__outfile_print(file, "%s,%s", m->games[dataset->game]->name, m->curves[curve].name);
    field(file, m->x[dataset->x]);
    pess__outfile_print(file, ",%d", dataset->trial + 1);
    if (m->options->train_seeds > 1) pess__outfile_print(file, ",%d", dataset->again + 1);
    const double values[] = {r->score,     r->score_final, r->score_best, r->score_spread, r->control,
                             r->predicted, r->obtained,    r->outside,    r->mean_target,  r->loss};
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) field(file, values[v]);
    field(file, run->behaviour);
    field(file, run->data_return);
    pess__outfile_print(file, ",%lld", (long long)r->updates);
    field(file, r->seconds);
    pess__outfile_write(file, "\n", 1);
}

/* In the order of results.csv, then trial after trial. */
pess_status pess__report_runs(const pess_experiment *experiment, const char *path, pess_error *error) {
    const pess__games *m = pess__games_of(experiment);
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file,
                        "game,algorithm,x,trial,%sscore,score_final,score_best,score_spread,control,predicted,"
                        "obtained,outside,mean_target,loss,behaviour,data_return,updates,seconds\n",
                        m->options->train_seeds > 1 ? "train_seed," : "");
    for (int g = 0; g < m->game_count; g++)
        for (int c = 0; c < m->curve_count; c++)
            for (int x = 0; x < m->x_count; x++)
                for (int64_t d = 0; d < m->dataset_count; d++)
                    if (m->datasets[d].game == g && m->datasets[d].x == x && pess__games_run_of(m, d, c)->finished)
                        write_run(file, m, d, c);
    return pess__outfile_commit(file, error);
}
