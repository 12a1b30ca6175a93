/* n(s,a), n(s,a,s') and sums of rewards. Pairs are s*A + a. */
#ifndef PESS_MODEL_COUNTS_H
#define PESS_MODEL_COUNTS_H

#include "core/status.h"
#include "model/successors.h"

struct pess__spread;

struct pess_counts {
    const struct pess__spread *spread; /* NULL: all states are here */
    int64_t states, actions;
    int threads; /* that counted them, and may make a model of them; 0: one */
    bool states_declared, actions_declared;
    int64_t transitions, terminals, cutoffs, episodes, pairs_seen;
    int64_t repeated;              /* rows that repeat a step of their episode, at least; 0 where there are no steps */
    double reward_min, reward_max; /* NAN: not known, of a counted log without them */
    bool squares_unknown;          /* Σ r² is not known, of a counted log without it */
    bool has_episodes, has_starts;
    bool counted;                           /* of a counted log: there were no rows to look at */
    bool pairs_alone;                       /* after pess__counts_keep_pairs */
    pess_names *state_names, *action_names; /* NULL: integers */
    pess_reading *reading;                  /* NULL: not read from columns with names */

    int64_t *n;            /* [S*A] n(s,a), terminal transitions included */
    int64_t *n_state;      /* [S]   n(s) */
    int64_t *n_terminal;   /* [S*A] how many of n(s,a) were terminal; they are in no successor list */
    double *reward_sum;    /* [S*A] */
    double reward_origin;  /* the least reward; the next sums are relative to it, so that nothing large cancels */
    double *reward_offset; /* [S*A] Σ (r − origin) */
    double *reward_square; /* [S*A] Σ (r − origin)² */

    pess__successors *successors; /* who owns row and next; NULL: the caller */
    int64_t *row;                 /* [S*A+1] successors of pair z are row[z] … row[z+1]-1 */
    uint32_t *next;               /* ascending within a pair */
    int64_t *n_next;              /* n(s,a,s') */
    double *next_offset;          /* Σ (r − origin) of those samples */

    int64_t *starts;   /* [S] number of episodes that begin here; NULL unless has_starts */
    uint8_t *terminal; /* [S] 1: occurs only as the next state of terminal transitions */
};

/* The arrays but starts, zeros, for the states and actions that are set and so many successors of all pairs together.
 * pess_counts_destroy frees them, all or some. */
pess_status pess__counts_allocate(pess_counts *counts, int64_t successors, pess_error *error);

/* Refuses counts without Σ r². */
pess_status pess__counts_need_squares(const pess_counts *counts, pess_error *error);
/* Gives back n_terminal, n_next and all about rewards, three quarters of a large log's counts; they are NULL then. */
void pess__counts_keep_pairs(pess_counts *counts);
/* Refuses counts after that. */
pess_status pess__counts_need_all(const pess_counts *counts, pess_error *error);

/* Allocates and sets what follows from the transitions that were counted, for the states and actions that are set. */
struct pess__tally;
pess_status pess__counts_fill(pess_counts *counts, struct pess__tally *tally, pess_error *error);

/* The same with all actions as one, without names: the process that the logging policy makes. */
pess_status pess__counts_of_states(const pess_counts *from, pess_counts **out, pess_error *error);

/* The same with every count times ratio, rounded, and sums alike; without names and starts. */
pess_status pess__counts_scale(const pess_counts *counts, double ratio, pess_counts **out, pess_error *error);

/* Counts of the rows that are listed, for the states and actions of the whole log. */
pess_status pess__counts_of_rows(const pess_dataset *data, const int64_t *row, int64_t count, int threads,
                                 pess_counts **out, pess_error *error);
/* whole − part: counts of the other rows. Sizes, names' absence, the range of rewards and which states are terminal
 * are those of the whole. */
pess_status pess__counts_subtract(const pess_counts *whole, const pess_counts *part, pess_counts **out,
                                  pess_error *error);

#endif
