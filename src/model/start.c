/* Start distributions ρ: uniform, from the episodes of a log, and their files (columns state,probability). */
#include "core/memory.h"
#include "core/outfile.h"
#include "data/table.h"
#include "model/counts.h"
#include "model/model.h"
#include "model/named.h"
#include "model/spread.h"

#include <stdlib.h>
#include <string.h>

pess_status pess_start_uniform(const pess_model *model, double *start, pess_error *error) {
    double open = 0;
    for (int64_t s = 0; s < model->states; s++) open += !model->terminal[s];
    open = pess__sum_of_all(model->spread, open);
    if (open == 0) return pess__fail(error, PESS_INPUT, "every state is terminal: there is nowhere to start");
    for (int64_t s = 0; s < model->states; s++) start[s] = model->terminal[s] ? 0 : 1 / open;
    return PESS_OK;
}

pess_status pess_start_from_counts(const pess_counts *counts, double *start, pess_error *error) {
    double total = 0;
    if (counts->has_starts && counts->starts != NULL)
        for (int64_t s = 0; s < counts->states; s++) total += (double)counts->starts[s];
    total = pess__sum_of_all(counts->spread, total);
    if (total == 0)
        return pess__fail(error, PESS_INPUT,
                          "the log does not tell where episodes start (it has no episode column): give the start "
                          "distribution, or take the uniform one");
    for (int64_t s = 0; s < counts->states; s++) start[s] = (double)counts->starts[s] / total;
    return PESS_OK;
}

/* start [S] is -1 where the file has not named the state. */
static pess_status read_rows(pess__table *table, int64_t states, const pess_names *names, double *start,
                             pess_error *error) {
    int64_t state_column = 0, probability_column = 0;
    PESS_TRY(pess__table_require(table, "state", &state_column, error));
    PESS_TRY(pess__table_require(table, "probability", &probability_column, error));
    for (bool row = true;;) {
        PESS_TRY(pess__table_next(table, &row, error));
        if (!row) return PESS_OK;
        int64_t s = 0;
        double p = 0;
        PESS_TRY(pess__table_id(table, state_column, names, states, "a state", &s, error));
        PESS_TRY(pess__table_double(table, probability_column, 0, 1, "a probability", &p, error));
        if (start[s] >= 0) return pess__table_fail(table, state_column, error, "expected each state once");
        start[s] = p;
    }
}

pess_status pess_start_read(const char *path, int64_t states, const pess_names *state_names, double *start,
                            pess_error *error) {
    PESS_TRY(pess__model_check_sizes(states, 1, error));
    pess__table *table = NULL;
    double *found = NULL;
    PESS_TRY(pess__allocate(&found, states, sizeof *found, "a start distribution", error));
    for (int64_t s = 0; s < states; s++) found[s] = -1;
    pess_status status = pess__table_open(path, &table, error);
    if (status == PESS_OK) status = read_rows(table, states, state_names, found, error);
    pess__table_close(table);
    if (status == PESS_OK) {
        double sum = 0;
        for (int64_t s = 0; s < states; s++)
            if (found[s] < 0) found[s] = 0;
        if (pess__normalise(found, states, &sum))
            memcpy(start, found, (size_t)states * sizeof *start);
        else
            status = pess__fail(error, PESS_INPUT, "%s: the probabilities sum to %.12g, expected 1", path, sum);
    }
    free(found);
    return status;
}

pess_status pess_start_write(const char *path, int64_t states, const pess_names *state_names, const double *start,
                             pess_error *error) {
    pess__outfile *file = NULL;
    PESS_TRY(pess__outfile_open(path, &file, error));
    pess__outfile_print(file, "state,probability\n");
    for (int64_t s = 0; s < states; s++) {
        if (start[s] == 0) continue;
        pess__write_id(file, state_names, s);
        pess__outfile_write(file, ",", 1);
        pess__outfile_double(file, start[s]);
        pess__outfile_write(file, "\n", 1);
    }
    return pess__outfile_commit(file, error);
}
