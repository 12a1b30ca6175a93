/* A decision process as the solvers see it: v -> r + γ P v over sparse rows. Pairs are s*A + a. */
#ifndef PESS_MODEL_MODEL_H
#define PESS_MODEL_MODEL_H

#include "core/status.h"
#include "model/successors.h"

struct pess__spread;

struct pess_model {
    const struct pess__spread *spread; /* NULL: all states are here */
    int64_t states, actions;
    double reward_lo, reward_hi;
    bool reward_declared;
    bool return_declared;
    double return_lo, return_hi;  /* the declared range of returns from any state on */
    bool has_terminals;           /* some transition ends the episode, or some state is terminal */
    double *reward;               /* [S*A] expected reward */
    uint8_t *kind;                /* [S*A] pess_row_kind */
    double *end_mass;             /* [S*A] probability that the pair ends the episode */
    pess__successors *successors; /* who owns row and next */
    int64_t *row;                 /* [S*A+1] */
    uint32_t *next;               /* ascending within a pair; never a terminal state */
    double *probability;
    uint8_t *terminal; /* [S] 1: no actions, value 0 */
};

/* A model with empty rows and zeroed arrays; `successors` is the room for next and probability. */
pess_status pess__model_create(int64_t states, int64_t actions, int64_t successors, pess_model **out,
                               pess_error *error);
/* The same with successors that are there already, of which it becomes one more owner. */
pess_status pess__model_create_over(int64_t states, int64_t actions, pess__successors *successors, pess_model **out,
                                    pess_error *error);

/* What every model holds, for assertions: successors of a pair ascend and are not terminal, and with the probability of
 * an end theirs sum to 1. */
bool pess__model_holds(const pess_model *model);

/* Sizes of at least one and within PESS_MAX_*: PESS_ARGUMENT or PESS_LIMIT otherwise. */
pess_status pess__model_check_sizes(int64_t states, int64_t actions, pess_error *error);

/* V_lo..V_hi from the reward range, γ and whether episodes can end (0 is then in the range), or from the declared range
 * of returns: the narrower one at either end. Infinite at γ = 1 where no range of returns was declared and that of the
 * rewards allows it. */
void pess__value_range(const pess_model *model, double gamma, double *lo, double *hi);
/* The same for `steps` steps at most. */
void pess__horizon_range(const pess_model *model, double gamma, int64_t steps, double *lo, double *hi);
/* The first; PESS_INPUT where the two ranges have nothing in common. */
pess_status pess__value_range_checked(const pess_model *model, double gamma, double *lo, double *hi, pess_error *error);

#endif
