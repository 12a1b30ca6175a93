#include "certify/episodes.h"

#include "certify/behaviour.h"
#include "certify/betting.h"
#include "certify/episode_candidates.h"
#include "core/memory.h"
#include "data/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pess__episodes {
    pess__trajectories *trajectories;
    pess__returns *returns;
    pess__behaviour behaviour;
    int64_t cut;   /* the row with which the tested episodes begin */
    int64_t first; /* tested episode */
    int places;
};

void pess__episodes_destroy(pess__episodes *episodes) {
    if (episodes == NULL) return;
    pess__returns_destroy(episodes->returns);
    pess__trajectories_destroy(episodes->trajectories);
    pess__behaviour_release(&episodes->behaviour);
    free(episodes);
}

int pess__episodes_places(const pess__episodes *episodes) { return episodes->places; }

static pess_status check_choosing(const pess__episodes *e, pess_error *error) {
    const pess__trajectories *t = e->trajectories;
    int64_t count = 0;
    for (int64_t i = 0; i < e->first; i++) {
        bool before = true;
        for (int64_t k = t->begin[i]; k < t->begin[i + 1]; k++) before &= t->row[k] < e->cut;
        count += before;
    }
    if (count >= PESS__FOLDS) return PESS_OK;
    return pess__fail(
        error, PESS_INPUT,
        "the log is too small to split: the episodes in its first part, %lld, are too few to choose a policy in "
        "%d folds",
        (long long)count, PESS__FOLDS);
}

/* The cut must not move with the length of the log, which may have been chosen by looking (split.h). These places are
 * its own: 2⁵ … 2²⁴ rows, the largest that is at most the share. */
enum { LEAST_PLACE = 5, PLACES = 20 };

static int64_t place_of(int64_t rows, double share) {
    int64_t place = (int64_t)1 << LEAST_PLACE;
    for (int i = 1; i < PLACES && (double)(2 * place) <= share * (double)rows; i++) place *= 2;
    return place;
}

/* Half of the log chooses, unless another share was asked for: a better policy is worth more than a narrower bound. */
static double share_of(const pess_certify_options *options) { return isnan(options->split) ? 0.5 : options->split; }

/* The tested episodes are those from the first on that begins at or after the place. */
static pess_status cut_at(const pess__certification *job, pess__episodes *e, pess_error *error) {
    const pess_certify_options *options = job->options;
    const pess__trajectories *t = e->trajectories;
    const int64_t place = options->first_part > 0 ? options->first_part : place_of(job->data->rows, share_of(options));
    e->places = options->first_part > 0 ? 1 : PLACES;
    e->cut = 0;
    for (e->first = 0; e->first < t->count; e->first++) {
        e->cut = t->row[t->begin[e->first]];
        for (int64_t i = t->begin[e->first]; i < t->begin[e->first + 1]; i++)
            if (t->row[i] < e->cut) e->cut = t->row[i];
        if (e->cut >= place) return check_choosing(e, error);
    }
    return pess__fail(error, PESS_INPUT,
                      "the log is too small to split: no episode of its %lld rows begins at row %lld or later, so none "
                      "would test the policy",
                      (long long)job->data->rows, (long long)place + 1);
}

static pess_status prepare(const pess__certification *job, pess__episodes *e, pess_error *error) {
    const pess_certify_options *options = job->options;
    if (!job->counts->has_episodes)
        return pess__fail(error, PESS_INPUT, "the log has no episode column: whole episodes cannot be told apart");
    if (!job->start_estimated)
        return pess__fail(
            error, PESS_INPUT,
            "whole episodes tell only of the starts that they had: no other start distribution can be declared");
    PESS_TRY(pess__behaviour_create(job->data, job->counts, options->behaviour, options->behaviour_estimated,
                                    &e->behaviour, error));
    PESS_TRY(pess__trajectories_create(job->data, &e->trajectories, error));
    PESS_TRY(
        pess__returns_create(job->data, e->trajectories, options->gamma, job->v_lo, job->v_hi, &e->returns, error));
    return cut_at(job, e, error);
}

pess_status pess__episodes_create(const pess__certification *job, pess__episodes **out, pess_error *error) {
    pess__episodes *e = NULL;
    PESS_TRY(pess__allocate(&e, 1, sizeof *e, "the episodes", error));
    const pess_status status = prepare(job, e, error);
    if (status == PESS_OK)
        *out = e;
    else
        pess__episodes_destroy(e);
    return status;
}

/* ------------------------------------------------------------------------------------------------ the test */

/* The bound that a bet on the tested episodes gives; what every policy has where the bet is void. */
static pess_status test_bet(const pess__episode_log *log, int64_t first, const pess__bet_policy *on,
                            const pess__bet *bet, double delta, double *weights, double *values, double *bound,
                            pess_error *error) {
    const int64_t count = log->trajectories->count - first;
    const double range = log->returns->hi - log->returns->lo;
    bool void_bet = false;
    PESS_TRY(pess__bet_values(log, on, bet, first, first + count, weights, values, &void_bet, error));
    const double least = bet->paired ? -range : log->returns->lo;
    const pess__bet_numbers numbers = {values, count, log->threads};
    *bound = void_bet ? least : fmax(least, pess__bet_offset(log, bet) + pess__bet_lower_of(&numbers, delta));
    return PESS_OK;
}

/* Weights above 1 on average are impossible where the probabilities are right. */
static pess_status check_weights(const double *weights, int64_t count, pess_error *error) {
    const double mean = pess__bet_lower(weights, count, 1e-6);
    if (mean <= 1) return PESS_OK;
    return pess__fail(error, PESS_INPUT,
                      "the behaviour policy's probabilities contradict the log: the mean weight of the tested episodes "
                      "is at least %.4g, expected at most 1",
                      mean);
}

static void report(pess__certification *job, const pess__episodes *e, const pess__choosing *choosing,
                   const pess__chosen_policy *choice, const double *weights) {
    const int64_t count = e->trajectories->count - e->first;
    const pess__weight_summary s = pess__importance_summary(weights, count);
    job->certificate->has_episodes = true;
    job->certificate->episodes = (pess_episode_report){
        .behaviour = e->behaviour.source,
        .choosing = choosing->episodes,
        .tested = count,
        .bet = pess__bet_name(choice->value.kind),
        .difference_bet = pess__bet_name(choice->difference.kind),
        .cap = choice->value.cap,
        .difference_cap = choice->difference.cap,
        .floor = choice->value.floor,
        .difference_floor = choice->difference.floor,
        .effective = s.effective,
        .largest_weight = s.largest,
        .zero_share = s.zero_share,
        .mean_weight = s.mean,
        .mean_weight_lo = fmax(0, s.mean - 2.576 * s.error),
        .mean_weight_hi = s.mean + 2.576 * s.error,
    };
    pess_episode_report *r = &job->certificate->episodes;
    r->doubtful = r->mean_weight_lo > 1 || r->mean_weight_hi < 1;
}

/* At face value: self-normalised weights. */
static void estimate(const pess__episodes *e, const double *weights, pess__episodes_result *out) {
    const pess__returns *r = e->returns;
    double sum = 0, total = 0, all = 0;
    bool whole = true;
    for (int64_t i = e->first; i < e->trajectories->count; i++) {
        sum += weights[i - e->first] * r->least[i];
        total += weights[i - e->first];
        all += r->least[i];
        whole &= r->least[i] == r->most[i];
    }
    out->estimate = whole && total > 0 ? sum / total : NAN;
    out->behaviour_estimate = whole ? all / (double)(e->trajectories->count - e->first) : NAN;
}

static pess_status test_choice(pess__certification *job, const pess__episodes *e, const pess__choosing *choosing,
                               const pess__chosen_policy *choice, const pess__shares *shares,
                               pess__episodes_result *out, pess_error *error) {
    const int64_t count = e->trajectories->count - e->first;
    pess__episode_log log = choosing->log;
    log.data = job->data;
    log.probability = e->behaviour.probability;
    log.trajectories = e->trajectories;
    log.returns = e->returns;
    log.threads = job->threads;
    const pess__bet_policy on = {choice->policy->probability, choice->q};
    double *room = NULL;
    PESS_TRY(pess__allocate(&room, 2 * count, sizeof *room, "weights of episodes", error));
    pess__bet_weights(&log, &on, e->first, e->first + count, room);
    pess_status status =
        test_bet(&log, e->first, &on, &choice->value, shares->episodes, room, room + count, &out->lower, error);
    if (status == PESS_OK)
        status = test_bet(&log, e->first, &on, &choice->difference, shares->episodes_difference, room, room + count,
                          &out->difference, error);
    if (status == PESS_OK) status = check_weights(room, count, error);
    if (status == PESS_OK) {
        report(job, e, choosing, choice, room);
        estimate(e, room, out);
        job->certificate->candidates[choice->candidate].lower = out->lower;
    }
    free(room);
    return status;
}

pess_status pess__episodes_test(pess__certification *job, const pess__episodes *e, const pess__shares *shares,
                                pess__episodes_result *out, pess_error *error) {
    pess__choosing *choosing = NULL;
    pess__chosen_policy choice = {0};
    const double share = share_of(job->options);
    const pess__choice_rule rule = {.delta_value = shares->episodes,
                                    .delta_difference = shares->episodes_difference,
                                    .ratio = ((e->places > 1 ? sqrt(2) : 1) - share) / share};
    PESS_TRY(pess__choosing_create(job, e->trajectories, e->behaviour.probability, job->options->behaviour != NULL,
                                   e->cut, &choosing, error));
    pess_status status = pess__choose_episode_policy(job, choosing, &rule, &choice, error);
    if (status == PESS_OK) status = test_choice(job, e, choosing, &choice, shares, out, error);
    if (status == PESS_OK) {
        out->policy = choice.policy;
        choice.policy = NULL;
        out->first_rows = choosing->trajectories->begin[choosing->episodes];
        out->second_rows = e->trajectories->begin[e->trajectories->count] - e->trajectories->begin[e->first];
    }
    pess__chosen_policy_release(&choice);
    pess__choosing_destroy(choosing);
    return status;
}

/* ------------------------------------------------------------------------------------------------ assumptions */

static pess_status assume_probabilities(const pess__certification *job, const char *source, pess_error *error) {
    pess__assumptions *to = &job->certificate->assumptions;
    if (strcmp(source, "estimated") == 0)
        return pess__assume(to, "behaviour-estimated",
                            "The probabilities with which actions were taken are estimates from this log. What whole "
                            "episodes say is proved only if they are right.",
                            NULL, error);
    if (strcmp(source, "declared") == 0)
        return pess__assume(to, "behaviour-declared",
                            "Declared: the policy that made the log, with its probability of every action at every "
                            "state.",
                            NULL, error);
    return pess__assume(to, "behaviour-logged",
                        "The logged probabilities are those with which the actions were taken. They may depend on "
                        "anything, even on what the log does not show.",
                        NULL, error);
}

pess_status pess__episodes_assumptions(const pess__certification *job, const pess__episodes *e, bool alone,
                                       pess_error *error) {
    pess__assumptions *to = &job->certificate->assumptions;
    PESS_TRY(assume_probabilities(job, e->behaviour.source, error));
    PESS_TRY(pess__assume(to, "episodes-fresh",
                          "Each episode is a fresh draw of one process, whatever happened in earlier ones. Within an "
                          "episode whole-episode bounds need no Markov assumption: variables may be hidden.",
                          NULL, error));
    if (job->counts->cutoffs > 0)
        PESS_TRY(pess__assume(to, "cutoffs-by-the-past",
                              "Whether an episode is cut off depends on its own past alone, not on what was about to "
                              "follow. What follows a cut-off counts as the least it can be.",
                              NULL, error));
    if (!alone) return PESS_OK;
    return pess__assume(to, "episodes-in-order",
                        "Episodes stand in the log in the order in which they were collected: the first {0} chose the "
                        "policy, {1} later ones tested it. Where the log ends may depend on what was seen.",
                        (const double[]){(double)e->first, (double)(e->trajectories->count - e->first)}, error);
}

pess_status pess__episodes_assume_bets(const pess__certification *job, pess_error *error) {
    const pess_episode_report *r = &job->certificate->episodes;
    const bool value = strcmp(r->bet, "doubly-robust") == 0,
               difference = strcmp(r->difference_bet, "doubly-robust") == 0;
    if (job->options->behaviour || !(value || difference)) return PESS_OK;
    return pess__assume(
        &job->certificate->assumptions, "behaviour-by-state",
        value ? "The policy that made the log depends on the state alone and does not change: its probabilities at a "
                "state are the same in every row. Doubly robust bets need this."
              : "The policy that made the log depends on the state alone and does not change: its probabilities at a "
                "state are the same in every row. Only the comparison with it needs this.",
        NULL, error);
}
