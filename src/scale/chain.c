#include "scale/chain.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

void pess__chain_destroy(pess__chain *chain) {
    if (chain == NULL) return;
    pess__chain_release_system(chain);
    free(chain->constant);
    free(chain->uniform);
    free(chain->lowest);
    free(chain->row);
    free(chain->column);
    free(chain->away_row);
    free(chain->away_column);
    free(chain->value);
    free(chain->away_value);
    free(chain->away_place);
    free(chain->position);
    free(chain);
}

/* ------------------------------------------------------------------------------------------------ the pattern */

/* Which pairs of a state a pattern is made for: those of the policy, or all. */
typedef struct taken {
    const int32_t *choice;
    const double *pi;
} taken;

static bool takes(const pess_model *model, const taken *by, int64_t state, int64_t action) {
    const int64_t z = state * model->actions + action;
    if (model->kind[z] == PESS_ROW_NONE) return false;
    if (by->choice != NULL) return by->choice[state] == action;
    return by->pi == NULL || by->pi[z] > 0;
}

/* A new entry of the row from `begin` on, kept ascending. */
static void insert(PetscInt *list, int32_t *places, int64_t begin, int64_t *end, PetscInt column, int32_t place) {
    int64_t at = (*end)++;
    for (; at > begin && list[at - 1] > column; at--) {
        list[at] = list[at - 1];
        if (places != NULL) places[at] = places[at - 1];
    }
    list[at] = column;
    if (places != NULL) places[at] = place;
}

static pess_status make_room(pess__chain *chain, int64_t used, int64_t away, int64_t more, pess_error *error) {
    const size_t index = sizeof *chain->column;
    PESS_TRY(pess__grow(&chain->column, &chain->room, used + more + 1, index, "the matrix", error));
    PESS_TRY(pess__grow(&chain->away_column, &chain->away_room, away + more, index, "the matrix", error));
    return pess__grow(&chain->away_place, &chain->place_room, away + more, sizeof(int32_t), "the matrix", error);
}

/* The columns of one state's row, each once; -1 is left in `position`. */
static void add_columns(pess__chain *chain, const taken *by, int64_t s, int64_t *used, int64_t *away) {
    const pess_model *model = chain->model;
    const int64_t own = chain->slab->spread.own, copies = chain->slab->copies, begin = *used, away_begin = *away;
    insert(chain->column, NULL, begin, used, (PetscInt)s, 0);
    chain->position[s] = 0;
    for (int64_t a = 0; a < model->actions && !model->terminal[s]; a++) {
        if (!takes(model, by, s, a)) continue;
        const int64_t z = s * model->actions + a;
        for (int64_t k = model->row[z]; k < model->row[z + 1]; k++) {
            const int64_t place = model->next[k];
            if (place >= own + copies || chain->position[place] >= 0) continue;
            chain->position[place] = 0;
            if (place < own)
                insert(chain->column, NULL, begin, used, (PetscInt)place, 0);
            else
                insert(chain->away_column, chain->away_place, away_begin, away,
                       (PetscInt)chain->slab->copied[place - own], (int32_t)place);
        }
    }
    for (int64_t i = begin; i < *used; i++) chain->position[chain->column[i]] = -1;
    for (int64_t i = away_begin; i < *away; i++) chain->position[chain->away_place[i]] = -1;
}

static pess_status make_pattern(pess__chain *chain, const taken *by, pess_error *error) {
    const pess_model *model = chain->model;
    int64_t used = 0, away = 0;
    for (int64_t s = 0; s < chain->slab->spread.own; s++) {
        const int64_t first = s * model->actions;
        PESS_TRY(make_room(chain, used, away, model->row[first + model->actions] - model->row[first], error));
        add_columns(chain, by, s, &used, &away);
        chain->row[s + 1] = (PetscInt)used;
        chain->away_row[s + 1] = (PetscInt)away;
    }
    const int64_t entries = used + away;
    if (entries > pess__petsc_most())
        return pess__fail(error, PESS_LIMIT,
                          "one rank's matrix has %lld entries, more than this PETSc can number: use more ranks, or a "
                          "PETSc with 64-bit indices",
                          (long long)entries);
    PESS_TRY(pess__grow(&chain->value, &chain->value_room, used + 1, sizeof *chain->value, "the matrix", error));
    return pess__grow(&chain->away_value, &chain->away_value_room, away + 1, sizeof *chain->value, "the matrix", error);
}

/* One pattern for all policies, where it has at most twice the entries of that of a single action in every state: then
 * the matrix keeps it, and only numbers change. */
static pess_status choose_pattern(pess__chain *chain, pess_error *error) {
    const pess_model *model = chain->model;
    const taken all = {NULL, NULL};
    int64_t longest = 0;
    for (int64_t s = 0; s < chain->slab->spread.own; s++) {
        int64_t most = 0;
        for (int64_t z = s * model->actions; z < (s + 1) * model->actions; z++)
            most = model->row[z + 1] - model->row[z] > most ? model->row[z + 1] - model->row[z] : most;
        longest += most + 1;
    }
    PESS__TRY_TOGETHER(make_pattern(chain, &all, error), error);
    const int64_t own = chain->slab->spread.own;
    const int64_t entries = pess__ranks_total((int64_t)chain->row[own] + chain->away_row[own]);
    chain->all_actions = entries <= 2 * pess__ranks_total(longest);
    return PESS_OK;
}

pess_status pess__chain_create(const pess_model *model, double gamma, double v_lo, pess__chain **out,
                               pess_error *error) {
    const pess__slab *slab = pess__slab_of(model);
    const int64_t own = slab->spread.own;
    pess__chain *chain = NULL;
    pess_status status = pess__allocate(&chain, 1, sizeof *chain, "the chain", error);
    if (status == PESS_OK) {
        chain->model = model;
        chain->slab = slab;
        chain->gamma = gamma;
        chain->v_lo = v_lo;
        status = pess__allocate(&chain->constant, own, sizeof(double), "the chain", error);
    }
    if (status == PESS_OK) status = pess__allocate(&chain->uniform, own, sizeof(double), "the chain", error);
    if (status == PESS_OK) status = pess__allocate(&chain->lowest, own, sizeof(double), "the chain", error);
    if (status == PESS_OK) status = pess__allocate(&chain->row, own + 1, sizeof(PetscInt), "the matrix", error);
    if (status == PESS_OK) status = pess__allocate(&chain->away_row, own + 1, sizeof(PetscInt), "the matrix", error);
    if (status == PESS_OK)
        status = pess__allocate(&chain->position, slab->places, sizeof *chain->position, "the matrix", error);
    for (int64_t i = 0; status == PESS_OK && i < slab->places; i++) chain->position[i] = -1;
    status = pess__agree(status, error);
    if (status == PESS_OK) status = choose_pattern(chain, error);
    if (status == PESS_OK && chain->all_actions) status = pess__chain_assemble(chain, true, error);
    if (status == PESS_OK)
        *out = chain;
    else
        pess__chain_destroy(chain);
    return status;
}

/* ------------------------------------------------------------------------------------------------ the numbers */

/* Adds one pair of the row at hand, whose columns are in `position`, with the probability `weight`. */
static void add_pair(pess__chain *chain, int64_t s, int64_t z, double weight, double bonus) {
    const pess_model *model = chain->model;
    const int64_t own = chain->slab->spread.own, copies = chain->slab->copies;
    const double discounted = chain->gamma * weight;
    chain->constant[s] += weight * (model->reward[z] + bonus);
    if (model->kind[z] == PESS_ROW_UNIFORM) chain->uniform[s] += discounted;
    if (model->kind[z] == PESS_ROW_SINK) chain->constant[s] += discounted * chain->v_lo;
    if (model->kind[z] != PESS_ROW_SPARSE) return;
    for (int64_t k = model->row[z]; k < model->row[z + 1]; k++) {
        const int64_t place = model->next[k];
        const double moved = discounted * model->probability[k];
        if (place < own)
            chain->value[chain->position[place]] -= moved;
        else if (place < own + copies)
            chain->away_value[chain->position[place]] -= moved;
        else
            chain->lowest[s] += moved;
    }
}

static void fill_state(pess__chain *chain, const taken *by, const double *bonus, int64_t s) {
    const pess_model *model = chain->model;
    chain->constant[s] = chain->uniform[s] = chain->lowest[s] = 0;
    for (PetscInt i = chain->row[s]; i < chain->row[s + 1]; i++) {
        chain->position[chain->column[i]] = i;
        chain->value[i] = chain->column[i] == s;
    }
    for (PetscInt i = chain->away_row[s]; i < chain->away_row[s + 1]; i++) {
        chain->position[chain->away_place[i]] = i;
        chain->away_value[i] = 0;
    }
    for (int64_t a = 0; a < model->actions && !model->terminal[s]; a++) {
        const int64_t z = s * model->actions + a;
        if (takes(model, by, s, a))
            add_pair(chain, s, z, by->choice != NULL ? 1 : by->pi[z], bonus != NULL ? bonus[z] : 0);
    }
    for (PetscInt i = chain->row[s]; i < chain->row[s + 1]; i++) chain->position[chain->column[i]] = -1;
    for (PetscInt i = chain->away_row[s]; i < chain->away_row[s + 1]; i++) chain->position[chain->away_place[i]] = -1;
}

pess_status pess__chain_fill(pess__chain *chain, const int32_t *choice, const double *pi, const double *bonus,
                             pess_error *error) {
    const taken by = {choice, pi};
    double uniform = 0, lowest = 0;
    if (!chain->all_actions) PESS__TRY_TOGETHER(make_pattern(chain, &by, error), error);
    for (int64_t s = 0; s < chain->slab->spread.own; s++) {
        fill_state(chain, &by, bonus, s);
        uniform += chain->uniform[s];
        lowest += chain->lowest[s];
    }
    chain->any_uniform = pess__ranks_any(uniform > 0);
    chain->any_lowest = pess__ranks_any(lowest > 0);
    return pess__chain_assemble(chain, !chain->all_actions, error);
}

double pess__chain_apply(pess__chain *chain, const double *v, double *out) {
    const pess__slab *slab = chain->slab;
    const int64_t own = slab->spread.own;
    double sum = 0, most = 0, low = 0, squares = 0;
    for (int64_t s = 0; s < own; s++) sum += v[s];
    const double mean = chain->any_uniform ? pess__ranks_sum(sum) / (double)slab->spread.states : 0;
    if (chain->any_lowest) low = pess__ranks_sum(slab->lo_place >= 0 ? v[slab->lo_place] : 0);
    for (int64_t s = 0; s < own; s++) {
        double left = chain->constant[s] + chain->uniform[s] * mean + chain->lowest[s] * low + v[s];
        for (PetscInt i = chain->row[s]; i < chain->row[s + 1]; i++) left -= chain->value[i] * v[chain->column[i]];
        for (PetscInt i = chain->away_row[s]; i < chain->away_row[s + 1]; i++)
            left -= chain->away_value[i] * v[chain->away_place[i]];
        out[s] = left;
        const double size = fabs(left - v[s]);
        most = size > most ? size : most;
        squares += size * size;
    }
    chain->norm = sqrt(pess__ranks_sum(squares));
    return pess__ranks_most(most);
}
