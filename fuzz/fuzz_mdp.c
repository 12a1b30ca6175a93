/* Any bytes as the file of an MDP: refused with a message, or an MDP whose model has rows that sum to one. */
#include "csv_mutator.h"
#include "data/table.h"
#include "model/mdp.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_model(const pess_model *model) {
    const int64_t pairs = model->states * model->actions;
    for (int64_t pair = 0; pair < pairs; pair++) {
        if (model->kind[pair] == PESS_ROW_NONE) continue;
        double sum = model->end_mass[pair];
        for (int64_t k = model->row[pair]; k < model->row[pair + 1]; k++) sum += model->probability[k];
        if (!(fabs(sum - 1) < 1e-9) || !isfinite(model->reward[pair])) abort();
        if (model->reward[pair] < model->reward_lo - 1e-9 * fabs(model->reward_lo) ||
            model->reward[pair] > model->reward_hi + 1e-9 * fabs(model->reward_hi))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pess_error error = {0};
    pess__table *table = NULL;
    pess_mdp *mdp = NULL;
    pess_model *model = NULL;
    pess_set_max_memory(8 << 20); /* large ids are refused here: filling their tables is not what is tried */
    if (pess__table_open_memory("fuzz", data, size, &table, &error) != PESS_OK) return 0;
    const pess_status status = pess__mdp_read_table(table, "fuzz", &mdp, &error);
    pess__table_close(table);
    if (status != PESS_OK) {
        if (error.message[0] == '\0' || error.status != status) abort();
        return 0;
    }
    if (pess_mdp_model(mdp, 0, &model, &error) == PESS_OK) check_model(model);
    pess_model_destroy(model);
    pess_mdp_destroy(mdp);
    return 0;
}
