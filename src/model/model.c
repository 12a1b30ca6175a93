/* The model itself: memory, access to single entries, the range of values. */
#include "model/model.h"

#include "core/limits.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

pess_status pess__model_check_sizes(int64_t states, int64_t actions, pess_error *error) {
    if (states < 1 || actions < 1)
        return pess__fail(error, PESS_ARGUMENT, "%lld states and %lld actions: at least one of each is needed",
                          (long long)states, (long long)actions);
    return pess__check_sizes("the process", states, actions, error);
}

/* Without rows. */
static pess_status create(int64_t states, int64_t actions, int64_t successors, pess_model **out, pess_error *error) {
    pess_model *model = NULL;
    PESS_TRY(pess__allocate(&model, 1, sizeof *model, "a model", error));
    const int64_t pairs = states * actions;
    model->states = states;
    model->actions = actions;
    pess_status status = pess__allocate(&model->reward, pairs, sizeof *model->reward, "the model's rewards", error);
    if (status == PESS_OK)
        status = pess__allocate(&model->kind, pairs, sizeof *model->kind, "the model's kinds of rows", error);
    if (status == PESS_OK)
        status = pess__allocate(&model->end_mass, pairs, sizeof *model->end_mass, "the model's endings", error);
    if (status == PESS_OK)
        status = pess__allocate(&model->probability, successors, sizeof *model->probability,
                                "the model's probabilities", error);
    if (status == PESS_OK)
        status = pess__allocate(&model->terminal, states, sizeof *model->terminal, "the terminal states", error);
    if (status == PESS_OK)
        *out = model;
    else
        pess_model_destroy(model);
    return status;
}

static void take_over(pess_model *model, pess__successors *successors) {
    model->successors = successors;
    model->row = successors->row;
    model->next = successors->next;
}

pess_status pess__model_create(int64_t states, int64_t actions, int64_t successors, pess_model **out,
                               pess_error *error) {
    pess__successors *own = NULL;
    PESS_TRY(pess__model_check_sizes(states, actions, error));
    PESS_TRY(pess__successors_create(states * actions, successors, &own, error));
    const pess_status status = create(states, actions, successors, out, error);
    if (status == PESS_OK)
        take_over(*out, own);
    else
        pess__successors_disown(own);
    return status;
}

pess_status pess__model_create_over(int64_t states, int64_t actions, pess__successors *successors, pess_model **out,
                                    pess_error *error) {
    PESS_TRY(pess__model_check_sizes(states, actions, error));
    PESS_TRY(create(states, actions, successors->row[states * actions], out, error));
    take_over(*out, pess__successors_own(successors));
    return PESS_OK;
}

static bool row_holds(const pess_model *model, int64_t pair) {
    double sum = model->end_mass[pair];
    for (int64_t k = model->row[pair]; k < model->row[pair + 1]; k++) {
        if (k > model->row[pair] && model->next[k] <= model->next[k - 1]) return false;
        if (model->terminal[model->next[k]] || !(model->probability[k] >= 0)) return false;
        sum += model->probability[k];
    }
    return model->kind[pair] != PESS_ROW_SPARSE || fabs(sum - 1) < 1e-6;
}

bool pess__model_holds(const pess_model *model) {
    for (int64_t pair = 0; pair < model->states * model->actions; pair++)
        if (model->row[pair] > model->row[pair + 1] || !row_holds(model, pair)) return false;
    return true;
}

void pess_model_destroy(pess_model *model) {
    if (model == NULL) return;
    free(model->reward);
    free(model->kind);
    free(model->end_mass);
    pess__successors_disown(model->successors);
    free(model->probability);
    free(model->terminal);
    free(model);
}

int64_t pess_model_states(const pess_model *model) { return model->states; }
int64_t pess_model_actions(const pess_model *model) { return model->actions; }

static bool pair_of(const pess_model *model, int64_t state, int64_t action, int64_t *pair) {
    if (state < 0 || state >= model->states || action < 0 || action >= model->actions) return false;
    *pair = state * model->actions + action;
    return true;
}

double pess_model_reward(const pess_model *model, int64_t state, int64_t action) {
    int64_t pair = 0;
    return pair_of(model, state, action, &pair) ? model->reward[pair] : 0;
}

double pess_model_terminal(const pess_model *model, int64_t state, int64_t action) {
    int64_t pair = 0;
    return pair_of(model, state, action, &pair) ? model->end_mass[pair] : 0;
}

double pess_model_probability(const pess_model *model, int64_t state, int64_t action, int64_t next_state) {
    int64_t pair = 0;
    if (!pair_of(model, state, action, &pair) || next_state < 0 || next_state >= model->states) return 0;
    if (model->terminal[next_state]) return 0; /* that mass is pess_model_terminal's */
    if (model->kind[pair] == PESS_ROW_UNIFORM) return 1 / (double)model->states;
    int64_t lo = model->row[pair], hi = model->row[pair + 1];
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if ((int64_t)model->next[middle] < next_state)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < model->row[pair + 1] && (int64_t)model->next[lo] == next_state ? model->probability[lo] : 0;
}

bool pess_model_is_terminal_state(const pess_model *model, int64_t state) {
    return state >= 0 && state < model->states && model->terminal[state] != 0;
}

void pess_model_reward_range(const pess_model *model, double *lo, double *hi) {
    *lo = model->reward_lo;
    *hi = model->reward_hi;
}

/* Σ_t γ^t r for ever. */
static double for_ever(double reward, double gamma) {
    if (reward == 0) return 0;
    return gamma < 1 ? reward / (1 - gamma) : copysign(INFINITY, reward);
}

/* 0 is a value where episodes end; and what was declared. */
static void narrow(const pess_model *model, double *lo, double *hi) {
    if (model->has_terminals) {
        *lo = fmin(*lo, 0);
        *hi = fmax(*hi, 0);
    }
    if (!model->return_declared) return;
    *lo = fmax(*lo, model->return_lo);
    *hi = fmin(*hi, model->return_hi);
}

void pess__value_range(const pess_model *model, double gamma, double *lo, double *hi) {
    *lo = for_ever(model->reward_lo, gamma);
    *hi = for_ever(model->reward_hi, gamma);
    narrow(model, lo, hi);
}

void pess__horizon_range(const pess_model *model, double gamma, int64_t steps, double *lo, double *hi) {
    *lo = *hi = 0;
    if (steps == 0) return;
    const double factor = gamma < 1 ? -expm1((double)steps * log(gamma)) / (1 - gamma) : (double)steps;
    *lo = model->reward_lo * factor;
    *hi = model->reward_hi * factor;
    narrow(model, lo, hi);
}

pess_status pess__value_range_checked(const pess_model *model, double gamma, double *lo, double *hi,
                                      pess_error *error) {
    pess__value_range(model, gamma, lo, hi);
    if (*lo <= *hi) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "returns from %.10g to %.10g contradict rewards from %.10g to %.10g at discount %.10g",
                      model->return_lo, model->return_hi, model->reward_lo, model->reward_hi, gamma);
}

void pess_model_get_arrays(const pess_model *model, pess_model_arrays *out) {
    *out = (pess_model_arrays){.states = model->states,
                               .actions = model->actions,
                               .successors = model->row[model->states * model->actions],
                               .reward = model->reward,
                               .kind = model->kind,
                               .end = model->end_mass,
                               .row = model->row,
                               .next = model->next,
                               .probability = model->probability,
                               .terminal = model->terminal};
}
