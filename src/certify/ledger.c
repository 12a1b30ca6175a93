/* How δ is shared between the tests, and the ledger that says so. */
#include "certify/certificate.h"
#include "certify/episodes.h"

#include "core/memory.h"
#include "data/dataset.h"
#include "model/spread.h"

#include <string.h>

/* A test after a cut was made at one of several places; the others had the same chance. */
static void share_places(pess__shares *s, double *share, int places) {
    const double used = *share / places;
    s->other_places += *share - used;
    *share = used;
}

static void share_places_of_rows(pess__shares *s, int places) {
    double *const after_the_cut[] = {&s->box,        &s->sets,         &s->floor,     &s->log_floor,  &s->pooled,
                                     &s->relative,   &s->start_test,   &s->learned,   &s->log_box,    &s->log_sets,
                                     &s->log_pooled, &s->log_relative, &s->log_start, &s->log_learned};
    for (size_t i = 0; i < sizeof after_the_cut / sizeof *after_the_cut; i++) share_places(s, after_the_cut[i], places);
}

static void share_places_of_episodes(pess__shares *s, int places) {
    share_places(s, &s->episodes, places);
    share_places(s, &s->episodes_difference, places);
}

/* Whole episodes alone. */
static pess__shares shares_of_episodes(const pess__certification *job) {
    const double delta = job->options->delta;
    pess__shares s = {.episodes = 0.5 * delta, .episodes_difference = 0.4 * delta, .log_episodes = 0.1 * delta};
    share_places_of_episodes(&s, pess__episodes_places(job->episodes));
    return s;
}

/* Beside `support` alone: l1 is for few possible successors, of which none needs to be learned. */
static bool learns_supports(const pess__certification *job) { return strcmp(job->uncertainty, "support") == 0; }

/* A test that is not run leaves its share to another. */
static void give_to(double *to, double *from) {
    *to += *from;
    *from = 0;
}

bool pess__pools(const pess__certification *job) {
    const int64_t states = pess__all_states(job->model);
    /* Sweeps need an end: a discount, or a last step. */
    const bool ends = job->options->gamma < 1 || job->options->horizon > 0;
    return states <= PESS__POOLED_STATES || (states <= PESS__POOLED_MOST && ends);
}

/* δ is spent on tests that are run. */
static void leave_out(const pess__certification *job, pess__shares *s) {
    const bool pools = pess__pools(job), small = pess__all_states(job->model) <= PESS__POOLED_STATES;
    if (!pools) give_to(&s->box, &s->pooled);
    if (!pools) give_to(&s->log_box, &s->log_pooled);
    /* At discount 1 a loop without reward keeps any floor; with a horizon there are no loops. */
    if (!small || (job->options->gamma == 1 && job->options->horizon == 0)) {
        give_to(&s->box, &s->floor);
        give_to(&s->log_box, &s->log_floor);
    }
    if (small) return;
    give_to(pools ? &s->pooled : &s->box, &s->relative);
    give_to(pools ? &s->log_pooled : &s->log_box, &s->log_relative);
}

/* What the logging policy's sets and tests by rows have together, delta, shared among them. */
static void share_rows_of_logging(pess__shares *s, double delta, bool learns) {
    s->log_learned = learns ? delta * 0.08 : 0;
    s->log_transitions = delta * 0.1 - s->log_learned;
    s->log_rewards_low = delta * 0.02;
    s->log_rewards_high = delta * 0.08;
    s->log_box = delta * 0.05;
    s->log_sets = delta * 0.05;
    s->log_floor = delta * 0.15;
    s->log_pooled = delta * 0.35;
    s->log_relative = delta * 0.2;
}

/* The same where sets are all there is: its rewards are asked for from above. */
static void share_sets_of_logging(pess__shares *s, double delta) {
    s->log_transitions = delta * 0.6;
    s->log_rewards_low = delta * 0.02;
    s->log_rewards_high = delta * 0.38;
}

/* Shares of δ, as fractions. The logarithm of a share is what a bound pays, so the shares need not be exact; the tests
 * that give the bounds get the most. Sets alone have 0.8 beside the logging policy's 0.2, the split alone 0.5 for its
 * test: so `best`, with 0.4 for each, has what robust has at δ/2 and at least what the split has at 0.8δ. */
pess__shares pess__shares_of(const pess__certification *job) {
    const pess_certify_method method = job->options->method;
    if (method == PESS_CERTIFY_EPISODES) return shares_of_episodes(job);
    const bool split = job->split != NULL, compares = job->compares;
    const bool tests = split && method != PESS_CERTIFY_ROBUST &&
                       (!job->options->policy || job->options->fresh || method == PESS_CERTIFY_SPLIT);
    const double start = job->start_estimated ? 0.12 : 0, log_test = compares ? 0.2 : 0;
    const bool whole_episodes = tests && job->episodes;
    const double sets = !tests ? 1 - log_test : method == PESS_CERTIFY_SPLIT ? 0.3 : whole_episodes ? 0.3 : 0.4;
    const double all_tests = tests ? 1 - sets - log_test : 0, episodes = whole_episodes ? 0.5 * all_tests : 0,
                 test = all_tests - episodes;
    const double rest = 1 - start, delta = job->options->delta;
    const double parts = 1 + (tests ? 1 : 0) + (compares ? 1 : 0);
    pess__shares s = {0};
    /* Supports are learned where all that is possible was not declared to be little. */
    const bool learns = split && learns_supports(job);
    s.learned = learns ? delta * rest * sets * 0.5 : 0;
    s.transitions = delta * rest * sets * 0.6 - s.learned;
    s.rewards_low = delta * rest * sets * 0.3;
    s.rewards_high = delta * rest * sets * 0.1;
    s.start_sets = delta * start / parts;
    s.box = delta * rest * test * 0.08;
    s.sets = delta * rest * test * 0.05;
    s.floor = delta * rest * test * 0.22;
    s.pooled = delta * rest * test * 0.4;
    s.relative = delta * rest * test * 0.25;
    s.episodes = delta * rest * episodes * 0.55;
    s.episodes_difference = delta * rest * episodes * 0.45;
    s.start_test = tests ? delta * start / parts : 0;
    /* Whole episodes speak of their own starts: of no use where another distribution was declared. */
    const double whole = job->start_estimated && compares && split ? 0.3 : 0, rows = log_test * (1 - whole);
    s.log_episodes = delta * rest * log_test * whole;
    if (split)
        share_rows_of_logging(&s, delta * rest * rows, learns);
    else
        share_sets_of_logging(&s, delta * rest * rows);
    leave_out(job, &s);
    s.log_start = compares ? delta * start / parts : 0;
    if (split) share_places_of_rows(&s, job->split->places);
    if (job->episodes) share_places_of_episodes(&s, pess__episodes_places(job->episodes));
    return s;
}

pess_status pess__ledger_write(const pess__certification *job, const pess__shares *s, pess_error *error) {
    const pess_ledger_entry entries[] = {
        {"sets: transitions", s->transitions},
        {"sets: learned supports", s->learned},
        {"sets: rewards from below", s->rewards_low},
        {"sets: rewards from above", s->rewards_high},
        {"sets: start distribution", s->start_sets},
        {"test of the policy: each row", s->box},
        {"test of the policy: transitions", s->sets},
        {"test of the policy: floor", s->floor},
        {"test of the policy: pooled", s->pooled},
        {"test of the policy: differences of values", s->relative},
        {"test of the policy: start distribution", s->start_test},
        {"logging policy, sets: transitions", s->log_transitions},
        {"logging policy, sets: learned supports", s->log_learned},
        {"logging policy, sets: rewards from below", s->log_rewards_low},
        {"logging policy, sets: rewards from above", s->log_rewards_high},
        {"logging policy: each row", s->log_box},
        {"logging policy: transitions", s->log_sets},
        {"logging policy: floor", s->log_floor},
        {"logging policy: pooled", s->log_pooled},
        {"logging policy: differences of values", s->log_relative},
        {"logging policy: start distribution", s->log_start},
        {"logging policy: whole episodes", s->log_episodes},
        {"whole episodes: the policy", s->episodes},
        {"whole episodes: the comparison with the logging policy", s->episodes_difference},
        {"the same tests at other places of the cut", s->other_places},
    };
    const int64_t count = sizeof entries / sizeof *entries;
    pess_certificate *to = job->certificate;
    PESS_TRY(pess__grow(&to->ledger, &to->ledger_capacity, count + 1, sizeof *to->ledger, "the ledger", error));
    for (int64_t i = 0; i < count; i++)
        if (entries[i].delta > 0) to->ledger[to->ledger_count++] = entries[i];
    if (job->origin.cells && job->origin.episodes_shared == 0)
        to->ledger[to->ledger_count++] = (pess_ledger_entry){"the cells, made of other episodes", 0};
    return PESS_OK;
}
