/* What a certificate rests on. The sentences name no option: they are read on pages and by programs too. */
#include "certify/certificate.h"
#include "certify/episodes.h"
#include "data/dataset.h"
#include "model/assumptions.h"

/* Which episodes made the cells. */
static pess_status assume_cells(const pess_state_origin *origin, pess__assumptions *to, pess_error *error) {
    const double made_of = (double)origin->cells_made_of, shared = (double)origin->episodes_shared;
    if (shared > 0)
        return pess__assume(to, "cells-not-apart",
                            "{0} of the episodes also made the cells. The error probability does not cover that "
                            "choice: the bounds are proved for cells made of other episodes.",
                            &shared, error);
    return pess__assume(to, "cells-apart",
                        "The cells were made of {0} other episodes, which neither chose the policy nor tested it.",
                        &made_of, error);
}

static pess_status assume_markov(const pess__certification *job, pess__assumptions *to, pess_error *error) {
    if (job->origin.cells)
        return pess__assume(to, "markov-cells",
                            "If the cells are Markov: the states are cells of measurements, and what follows a cell "
                            "and an action is taken as a fresh draw from one distribution, whatever happened before. "
                            "Bounds for whole episodes do not need this.",
                            NULL, error);
    return pess__assume(to, "markov",
                        "The process is Markov and does not change: each outcome of a state and action is a fresh "
                        "draw from one distribution, whatever happened before.",
                        NULL, error);
}

static pess_status assume_collection(const pess__certification *job, pess__assumptions *to, pess_error *error) {
    PESS_TRY(assume_markov(job, to, error));
    if (!job->data) PESS_TRY(pess__counts_alone_assume(job, error));
    if (job->trajectories && pess__episodes_unknown(job->counts))
        return pess__assume(to, "trajectories-assumed",
                            "Counts do not say how the log was collected. How often a pair was tried may depend on "
                            "what was seen before, as in trajectories, and the bounds allow for it.",
                            NULL, error);
    if (job->trajectories)
        return pess__assume(to, "trajectories",
                            "The log was collected by trajectories: how often a pair was tried may depend on what was "
                            "seen before, and the bounds allow for it.",
                            NULL, error);
    if (job->counts->has_episodes || pess__episodes_unknown(job->counts))
        return pess__assume(to, "iid-declared",
                            job->counts->has_episodes
                                ? "Declared: the transitions are independent draws, even though the log has episodes."
                                : "Declared: the transitions are independent draws.",
                            NULL, error);
    return pess__assume(to, "iid", "The transitions are independent draws: the log has no episode column.", NULL,
                        error);
}

/* What a horizon makes of the log. */
static pess_status assume_horizon(const pess__certification *job, pess__assumptions *to, pess_error *error) {
    const double horizon = (double)job->options->horizon;
    if (horizon == 0) return PESS_OK;
    return pess__assume(to, "horizon",
                        "Episodes are worth what their first {0} steps bring. A state at each step counts as a state "
                        "of its own: the process may be another one at each step, and so may the policy.",
                        &horizon, error);
}

static pess_status assume_process(const pess__certification *job, pess__assumptions *to, pess_error *error) {
    const double successors = (double)job->options->max_successors;
    pess_model shown = *job->model;
    if (job->options->horizon > 0) shown.states = job->steps.each;
    PESS_TRY(pess__assume_sizes(to, job->counts, &shown, error));
    if (successors > 0)
        PESS_TRY(pess__assume(to, "max-successors",
                              "Declared: a state and action lead to at most {0} different next states.", &successors,
                              error));
    if (!job->model->has_terminals)
        return pess__assume(to, "no-ends", "No transition ends the episode: the log shows no terminal one.", NULL,
                            error);
    if (job->counts->terminals == 0)
        return pess__assume(
            to, "may-end",
            "A transition may end the episode, with value 0 after it, even though the log shows no such end.", NULL,
            error);
    return pess__assume(to, "ends",
                        "A terminal transition has no future, and a state that the log shows only after one is the "
                        "end: value 0.",
                        NULL, error);
}

static pess_status assume_starts(const pess__certification *job, pess__assumptions *to, pess_error *error) {
    const double episodes = (double)job->counts->episodes;
    if (!job->start_estimated)
        return pess__assume(to, "start-declared",
                            "Episodes start from the declared distribution or, if none was declared, uniformly from "
                            "the states that have actions.",
                            NULL, error);
    return pess__assume(to, "start-estimated",
                        "Episodes start independently from one distribution. It is estimated from the {0} starts in "
                        "the log, and the bounds allow for the error of that estimate.",
                        &episodes, error);
}

static pess_status assume_one_attempt(pess__assumptions *to, pess_error *error) {
    return pess__assume(to, "one-attempt",
                        "This is the only attempt: trying several splits, seeds, methods or candidates on the same log "
                        "and keeping the best certificate is a choice that the error probability does not cover.",
                        NULL, error);
}

static pess_status assume_one_logging_policy(const pess__certification *job, pess__assumptions *to, pess_error *error) {
    if (!job->compares) return PESS_OK;
    return pess__assume(to, "one-logging-policy",
                        "One policy made the log; it depends on the state alone and does not change. Only the "
                        "comparison with the logging policy needs this.",
                        NULL, error);
}

static pess_status assume_choice(const pess__certification *job, pess__assumptions *to, pess_error *error) {
    PESS_TRY(assume_one_attempt(to, error));
    if (!job->split) return assume_one_logging_policy(job, to, error);
    const double states[] = {(double)job->counts->states, PESS__POOLED_STATES};
    if (job->counts->states > PESS__POOLED_STATES)
        PESS_TRY(pess__assume(to, "coarse-test",
                              "With {0} states the test uses less than it could: up to {1} states it would also use "
                              "how their values differ, and guarantee more.",
                              states, error));
    const double rows[] = {(double)job->split->first_rows, (double)job->split->second_rows};
    PESS_TRY(assume_one_logging_policy(job, to, error));
    if (job->split->declared)
        PESS_TRY(pess__assume(to, "first-part-declared",
                              "Declared: how many rows choose the policy ({0}) was fixed before anyone looked at the "
                              "log.",
                              rows, error));
    if (!job->split->by_episodes) return PESS_OK;
    return pess__assume(to, "episodes-in-order",
                        "Episodes stand in the log in the order in which they were collected: the first {0} rows chose "
                        "the policy, {1} later ones tested it. Where the log ends may depend on what was seen.",
                        rows, error);
}

pess_status pess__certify_assumptions(const pess__certification *job, pess_error *error) {
    pess__assumptions *to = &job->certificate->assumptions;
    const bool alone = job->options->method == PESS_CERTIFY_EPISODES;
    if (job->episodes) PESS_TRY(pess__episodes_assumptions(job, job->episodes, alone, error));
    PESS_TRY(assume_horizon(job, to, error));
    if (job->origin.cells) PESS_TRY(assume_cells(&job->origin, to, error));
    if (alone) {
        if (job->origin.cells)
            PESS_TRY(pess__assume(to, "cells-need-not-be-markov",
                                  "The states are cells of measurements, and need not be Markov for these bounds.",
                                  NULL, error));
        PESS_TRY(pess__assume_value_range(to, job->model, error));
        return assume_one_attempt(to, error);
    }
    PESS_TRY(assume_collection(job, to, error));
    PESS_TRY(assume_process(job, to, error));
    PESS_TRY(assume_starts(job, to, error));
    PESS_TRY(pess__assume_cutoffs(to, job->counts, error));
    return assume_choice(job, to, error);
}
