/* A model that several processes hold together (src/scale): each has the rows of a range of states, and places for the
 * values of states elsewhere that its rows lead to. The own states come first, 0 … own-1; the places behind them have
 * no rows and count as terminal. Models, counts and policies of one process are of that size, so that whatever looks at
 * one state at a time need not know; whatever looks at all of them asks here. */
#ifndef PESS_MODEL_SPREAD_H
#define PESS_MODEL_SPREAD_H

#include "core/status.h"
#include "model/model.h"

struct pess__problem;
struct pess__local;
struct pess__frozen_kind;
struct pess__extremes;

typedef struct pess__spread {
    int64_t states;        /* of all processes together */
    int64_t first, own;    /* the own ones are first … first+own-1 of all */
    const int64_t *number; /* [own] in the order of names; NULL: first, first+1, … */
    pess_counts_info info; /* of the whole log */
    /* Of what the processes give, all of which call it. */
    double (*sum)(const struct pess__spread *spread, double x);
    double (*most)(const struct pess__spread *spread, double x);
    /* What happened to any of them has happened to all. */
    pess_status (*agree)(const struct pess__spread *spread, pess_status status, pess_error *error);
    /* The values of states elsewhere, to their places. */
    void (*refresh)(const struct pess__spread *spread, double *v);
    /* The lowest and the highest value of all states with actions; lo_state and hi_state are the last two places. */
    struct pess__extremes (*extremes)(const struct pess__spread *spread, const pess_model *model, const double *v);
    /* pess__optimise and pess__evaluate_local; the linear systems of solve/fixed_point.h. */
    pess_status (*optimise)(const struct pess__problem *problem, const struct pess__local *local,
                            pess_solution *solution, pess_error *error);
    pess_status (*evaluate)(const struct pess__problem *problem, const struct pess__local *local,
                            pess_solution *solution, pess_error *error);
    const struct pess__frozen_kind *frozen;
    /* Discounted visits d = ρ + Gᵀd of the own states. */
    pess_status (*visits)(const pess_model *model, const double *start, const pess_policy *policy,
                          const pess_solve_options *options, double *out, pess_error *error);
    /* A table of the own states, zero, whose file has those of all. */
    pess_status (*policy)(const struct pess__spread *spread, int64_t actions, pess_policy **out, pess_error *error);
    /* The thinnest places of all, of those that each process found; numbers and names are made fit for this one. */
    pess_status (*thinnest)(const pess_counts *counts, pess_thin_place *list, int64_t room, int64_t *count,
                            pess_error *error);
} pess__spread;

/* All states, here and elsewhere. */
static inline int64_t pess__all_states(const pess_model *model) {
    return model->spread != NULL ? model->spread->states : model->states;
}

/* The states that are here; behind them are places for others. */
static inline int64_t pess__own_states(const pess_model *model) {
    return model->spread != NULL ? model->spread->own : model->states;
}

/* The number of an own state among all, in the order of names. */
static inline int64_t pess__number_in(const pess__spread *spread, int64_t state) {
    return spread->number != NULL ? spread->number[state] : spread->first + state;
}

static inline int64_t pess__state_number(const pess_model *model, int64_t state) {
    return model->spread != NULL ? pess__number_in(model->spread, state) : state;
}

static inline pess_status pess__agree_of_all(const pess__spread *spread, pess_status status, pess_error *error) {
    return spread != NULL ? spread->agree(spread, status, error) : status;
}

static inline double pess__sum_of_all(const pess__spread *spread, double x) {
    return spread != NULL ? spread->sum(spread, x) : x;
}

static inline double pess__most_of_all(const pess__spread *spread, double x) {
    return spread != NULL ? spread->most(spread, x) : x;
}

/* The other processes, for what has no model at hand; NULL: this one works alone. Set once, before anything is read. */
typedef struct pess__others {
    pess_status (*read)(const char *path, const pess_read_options *read, const pess_model_options *model,
                        const char *start, pess_problem **out, pess_error *error);
    pess_status (*read_policy)(const char *path, const pess_counts *counts, const pess_model *model,
                               pess_unknown unknown, pess_policy **out, pess_policy_fit *fit, pess_error *error);
    pess_status (*write_values)(const char *path, const pess_names *state_names, const double *values,
                                pess_error *error);
} pess__others;

extern const pess__others *pess__with_others;

#endif
