/* How δ is shared between the tests, what was assumed, and both in words. */
#include "certify/certificate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Shares of δ, as fractions. The logarithm of a share is what a bound pays, so the shares need not be exact; the tests
 * that give the bounds get the most. */
pess__shares pess__shares_of(const pess__certification *job) {
    const pess_certify_method method = job->options->method;
    const bool split = job->parts != NULL;
    const bool tests = split && method != PESS_CERTIFY_ROBUST &&
                       (!job->options->policy || job->options->policy_fresh || method == PESS_CERTIFY_SPLIT);
    double start = job->start_estimated ? 0.12 : 0,
           sets = !tests                         ? 0.8
                  : method == PESS_CERTIFY_SPLIT ? 0.1
                                                 : 0.22,
           log_test = split ? 0.2 : 0;
    if (!split) sets = 1;
    const double test = tests ? 1 - sets - log_test : 0;
    if (!tests && split) sets = 1 - log_test;
    const double rest = 1 - start, delta = job->options->delta;
    const double parts = 1 + (tests ? 1 : 0) + (split ? 1 : 0);
    pess__shares s = {0};
    s.transitions = delta * rest * sets * 0.6;
    s.rewards_low = delta * rest * sets * 0.3;
    s.rewards_high = delta * rest * sets * 0.1;
    s.start_sets = delta * start / parts;
    s.box = delta * rest * test * 0.25;
    s.sets = delta * rest * test * 0.1;
    s.pooled = delta * rest * test * 0.4;
    s.relative = delta * rest * test * 0.25;
    s.start_test = tests ? delta * start / parts : 0;
    /* Whole episodes speak of their own starts: of no use where another distribution was declared. */
    const double whole = job->start_estimated && split ? 0.3 : 0, rows = log_test * (1 - whole);
    s.log_episodes = delta * rest * log_test * whole;
    s.log_transitions = delta * rest * rows * 0.1;
    s.log_rewards_low = delta * rest * rows * 0.02;
    s.log_rewards_high = delta * rest * rows * 0.08;
    s.log_box = delta * rest * rows * 0.15;
    s.log_sets = delta * rest * rows * 0.1;
    s.log_pooled = delta * rest * rows * 0.35;
    s.log_relative = delta * rest * rows * 0.2;
    s.log_start = split ? delta * start / parts : 0;
    return s;
}

static void enter(pess_certificate_info *info, const char *what, double delta) {
    if (!(delta > 0) || info->ledger_count >= PESS_LEDGER_LIMIT) return;
    pess_ledger_entry *entry = &info->ledger[info->ledger_count++];
    (void)snprintf(entry->what, sizeof entry->what, "%s", what);
    entry->delta = delta;
}

void pess__ledger_write(const pess__certification *job, const pess__shares *s) {
    pess_certificate_info *info = &job->certificate->info;
    enter(info, "sets: transitions", s->transitions);
    enter(info, "sets: rewards from below", s->rewards_low);
    enter(info, "sets: rewards from above", s->rewards_high);
    enter(info, "sets: start distribution", s->start_sets);
    enter(info, "test of the policy: each row", s->box);
    enter(info, "test of the policy: transitions", s->sets);
    enter(info, "test of the policy: pooled", s->pooled);
    enter(info, "test of the policy: differences of values", s->relative);
    enter(info, "test of the policy: start distribution", s->start_test);
    enter(info, "logging policy, sets: transitions", s->log_transitions);
    enter(info, "logging policy, sets: rewards from below", s->log_rewards_low);
    enter(info, "logging policy, sets: rewards from above", s->log_rewards_high);
    enter(info, "logging policy: each row", s->log_box);
    enter(info, "logging policy: transitions", s->log_sets);
    enter(info, "logging policy: pooled", s->log_pooled);
    enter(info, "logging policy: differences of values", s->log_relative);
    enter(info, "logging policy: start distribution", s->log_start);
    enter(info, "logging policy: whole episodes", s->log_episodes);
}

void pess__assume(pess_certificate_info *info, const char *format, ...) {
    if (info->assumption_count >= PESS_CERTIFY_ASSUMPTION_LIMIT) return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(info->assumptions[info->assumption_count++], sizeof info->assumptions[0], format, arguments);
    va_end(arguments);
}

static void assume_sizes(const pess__certification *job, pess_certificate_info *info) {
    const pess_counts *counts = job->counts;
    const pess_model *model = job->model;
    const pess_certify_options *options = job->options;
    if (!counts->states_declared)
        pess__assume(info, "There are %lld states: as many as the log shows (--states declares the number).",
                     (long long)counts->states);
    if (!counts->actions_declared)
        pess__assume(info, "There are %lld actions: as many as the log shows (--actions declares the number).",
                     (long long)counts->actions);
    if (isnan(options->reward_lo) || isnan(options->reward_hi))
        pess__assume(info, "Rewards lie in [%g, %g]: the range the log shows (--reward-range declares it).",
                     model->reward_lo, model->reward_hi);
    if (options->max_successors > 0)
        pess__assume(info, "Declared: a state and action lead to at most %lld different next states.",
                     (long long)options->max_successors);
    if (model->has_terminals)
        pess__assume(info, "A terminal transition has no future, and a state that the log shows only after one is the "
                           "end: value 0.");
    else
        pess__assume(info, "No transition ends the episode: the log shows no terminal one.");
}

void pess__assumptions_write(const pess__certification *job) {
    pess_certificate_info *info = &job->certificate->info;
    const pess_counts *counts = job->counts;
    pess__assume(info, "The process is Markov and does not change: each outcome of a state and action is a fresh draw "
                       "from one law, given all that happened before.");
    if (counts->has_episodes && !job->trajectories)
        pess__assume(info, "Declared: the transitions are independent draws, although the log has episodes (--iid).");
    else if (job->trajectories)
        pess__assume(info, "The log was collected by trajectories: how often a pair was tried may depend on what was "
                           "seen before, and the bounds allow for it.");
    else
        pess__assume(info, "The transitions are independent draws: the log has no episode column.");
    assume_sizes(job, info);
    if (job->start_estimated)
        pess__assume(info,
                     "Episodes start independently from one distribution, estimated from the %lld starts in the "
                     "log; part of delta pays for the estimate.",
                     (long long)counts->episodes);
    else
        pess__assume(info, "Episodes start from the declared distribution (uniform over the states with actions where "
                           "none was named).");
    if (counts->cutoffs > 0)
        pess__assume(info, "%lld cut-off transitions are taken to go on from their next state.",
                     (long long)counts->cutoffs);
    if (job->parts) {
        pess__assume(info, "The log was made by one policy that depends on the state alone and does not change (only "
                           "for the comparison with the logging policy).");
        if (job->parts->by_episodes)
            pess__assume(info,
                         "Episodes stand in the log in the order in which they were collected: the first %lld "
                         "rows chose, the later %lld tested.",
                         (long long)job->parts->first_rows, (long long)job->parts->second_rows);
    }
}
