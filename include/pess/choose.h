/* Pessimist: which algorithm, and how much pessimism, for this log (docs/choosing.md).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_CHOOSE_H
#define PESS_CHOOSE_H

#include "pess/solving.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every family of algorithms with a grid of its strength is fitted to all folds of the episodes but one and scored on
 * that one, in turn. The mean score decides, and the one chosen is fitted to all data. Scores are evidence, not proof:
 * pess_certify proves. */
typedef enum pess_choose_score {
    PESS_CHOOSE_MODEL,  /* the value of the policy in the model of the held-out episodes: needs Markov states */
    PESS_CHOOSE_WEIGHTS /* held-out returns, weighted by importance: needs the column probability */
} pess_choose_score;

typedef struct pess_choose_options {
    size_t size;
    const char *families; /* names of pess_algorithm_list, with commas between */
    int64_t folds;
    pess_choose_score score;
    uint64_t seed; /* of the folds */
    int threads;   /* 0: all there are */

    /* Not in the table. */
    const pess_solve_options *solve; /* gamma, horizon and so on for every candidate; NULL: defaults */
    const pess_model_options *model; /* NULL: defaults */
    const char *start;               /* as in pess_problem_read */
    pess_progress progress;
} pess_choose_options;

/* The settings in pess_choose_options, a row each. */
PESS_API const pess_setting_table *pess_choose_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_choose_options pess_choose_options_defaults(void);

/* One algorithm with one strength. */
typedef struct pess_candidate_score {
    const char *algorithm;
    const char *setting;   /* what the strength is: "absorbed-alpha", "min-count", …; NULL: it has none */
    double strength;       /* its value; NAN: it has none */
    double score, error;   /* mean over the folds, and its standard error */
    double gain;           /* mean of the score less that of the logging policy (imitation), fold by fold … */
    double gain_error;     /* … and its standard error */
    double weighted;       /* self-normalised importance sampling of held-out returns; NAN: no probabilities */
    double weighted_error; /* its standard error over the folds */
    double effective;      /* (Σw)²/Σw², episodes that the weights are worth, in all folds together */
    const char *left_out;  /* why it could not be fitted in every fold; NULL: it could */
} pess_candidate_score;

typedef struct pess_choice pess_choice;

typedef struct pess_choice_info {
    int64_t folds, episodes; /* episodes: rows where the log has no episodes */
    bool rows;               /* the folds are of rows: the log has no episodes */
    pess_choose_score score;
    double gamma;
    int64_t chosen;              /* position of the one that was chosen */
    int64_t runner_up;           /* the best of another family; -1: there is none */
    double margin, margin_error; /* score of the one chosen less that of the runner-up, fold by fold; NAN */
    double sure;                 /* share of 1000 resamplings of the folds in which the chosen family comes first */
    double log_return, log_return_error; /* mean discounted return of the episodes that ended; NAN */
    double seconds;
    int64_t horizon; /* 0: none */
} pess_choice_info;

/* Fits and scores every candidate on folds of the episodes, and the best one on all of them. */
PESS_API pess_status pess_choose(const pess_dataset *data, const pess_choose_options *options, pess_choice **out,
                                 pess_error *error);
/* Frees it. */
PESS_API void pess_choice_destroy(pess_choice *choice);
/* Which one was chosen, and how sure the choice is. */
PESS_API void pess_choice_get_info(const pess_choice *choice, pess_choice_info *out);
/* The candidates, family by family, strengths ascending; NULL past the last. */
PESS_API const pess_candidate_score *pess_choice_candidate(const pess_choice *choice, size_t index);
/* The one chosen, fitted to all data; and the log as it was solved. */
PESS_API const pess_solution *pess_choice_solution(const pess_choice *choice);
/* The log as that solution saw it. */
PESS_API const pess_problem *pess_choice_problem(const pess_choice *choice);
/* The solver's options of the one chosen: pess_solve on the whole log with them gives the same solution. */
PESS_API pess_solve_options pess_choice_solve_options(const pess_choice *choice);

/* index.html, figure.svg, figure.png and candidates.csv into the directory, together; `log` and `command` may be NULL.
 */
PESS_API pess_status pess_choice_write_report(const pess_choice *choice, const char *log, const char *command,
                                              const char *directory, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
