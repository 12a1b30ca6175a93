/* Data from a known MDP: independent transitions, or episodes. One random stream per block of transitions or per
 * episode; every draw is a binary search in running sums. */
#include "core/memory.h"
#include "core/rng.h"
#include "core/settings.h"
#include "core/threads.h"
#include "data/dataset.h"
#include "model/mdp.h"
#include "model/model.h"
#include "policy/policy.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 4096, BLOCKS_PER_REPORT = 64, HORIZON = 1000 /* where none is given */ };

#define FIELD(name) PESS__FIELD(pess_simulate_options, name)

static const pess_setting settings[] = {
    {"transitions", 0, PESS_SETTING_COUNT, FIELD(transitions), NULL, PESS__AT_LEAST(1), .argument = "N",
     .sentence = "how many independent transitions to draw"},
    {"state-dist", 0, PESS_SETTING_CHOICE, FIELD(state_dist), "start", .choices = "start|stationary",
     .sentence = "where the states of independent transitions come from: the start distribution or the policy's "
                 "stationary law"},
    {"episodes", 0, PESS_SETTING_COUNT, FIELD(episodes), NULL, PESS__AT_LEAST(1), .argument = "N",
     .sentence = "how many episodes to draw, in place of independent transitions"},
    {"horizon", 0, PESS_SETTING_COUNT, FIELD(horizon), NULL, PESS__AT_LEAST(1), .argument = "H",
     .sentence = "steps after which an episode is cut off", .where_unset = "1000"},
    {"epsilon", 0, PESS_SETTING_NUMBER, FIELD(epsilon), "0", PESS__FROM_TO(0, 1), .argument = "E",
     .sentence = "probability that an action is drawn uniformly instead"},
    PESS__SEED_SETTING(pess_simulate_options, "of the draws"),
    PESS__THREADS_SETTING(pess_simulate_options),
};

static const pess_setting_table table = PESS__SETTING_TABLE("simulate", pess_simulate_options, settings);
PESS__SETTINGS_OF(simulate, table)

/* What draws need: running sums per state, per action row and per row of transitions. */
typedef struct sampler {
    const pess_mdp *mdp;
    const pess_policy *policy;
    double *state_sum;  /* [S] */
    double *action_sum; /* [S*A] within a state */
    double *next_sum;   /* [transitions] within a pair */
} sampler;

/* Running sums that end in exactly 1 at the last entry that has mass, so that every u in [0,1) finds an entry with
 * mass. */
static void run_up(const double *p, int64_t count, double *sum) {
    double total = 0;
    for (int64_t i = 0; i < count; i++) sum[i] = total += p[i];
    for (int64_t i = count - 1; i >= 0 && sum[i] >= total; i--) sum[i] = 1;
}

/* First entry whose running sum exceeds u. */
static int64_t draw(const double *sum, int64_t count, double u) {
    int64_t lo = 0, hi = count - 1;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (sum[middle] > u)
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

static void sampler_clear(sampler *s) {
    free(s->state_sum);
    free(s->action_sum);
    free(s->next_sum);
}

static pess_status sampler_prepare(sampler *s, const double *state_law, pess_error *error) {
    const pess_mdp *mdp = s->mdp;
    const int64_t pairs = mdp->states * mdp->actions;
    PESS_TRY(pess__allocate(&s->state_sum, mdp->states, sizeof *s->state_sum, "sums of probabilities", error));
    PESS_TRY(pess__allocate(&s->action_sum, pairs, sizeof *s->action_sum, "sums of probabilities", error));
    PESS_TRY(
        pess__allocate(&s->next_sum, pess_mdp_transitions(mdp), sizeof *s->next_sum, "sums of probabilities", error));
    run_up(state_law, mdp->states, s->state_sum);
    for (int64_t state = 0; state < mdp->states; state++)
        run_up(s->policy->probability + state * mdp->actions, mdp->actions, s->action_sum + state * mdp->actions);
    for (int64_t pair = 0; pair < pairs; pair++)
        run_up(mdp->probability + mdp->row[pair], mdp->row[pair + 1] - mdp->row[pair], s->next_sum + mdp->row[pair]);
    return PESS_OK;
}

/* One transition from `state` into row i; returns the next state. */
static int64_t draw_transition(const sampler *s, pess__rng *rng, int64_t state, pess_dataset *data, int64_t i) {
    const pess_mdp *mdp = s->mdp;
    const int64_t action = draw(s->action_sum + state * mdp->actions, mdp->actions, pess__rng_uniform(rng));
    const int64_t pair = state * mdp->actions + action, begin = mdp->row[pair];
    const int64_t k = begin + draw(s->next_sum + begin, mdp->row[pair + 1] - begin, pess__rng_uniform(rng));
    data->state[i] = (uint32_t)state;
    data->action[i] = (uint32_t)action;
    data->reward[i] = mdp->reward[k];
    data->next_state[i] = mdp->next[k];
    data->end[i] = mdp->terminal[mdp->next[k]] ? PESS_END_TERMINAL : PESS_END_NONE;
    data->probability[i] = s->policy->probability[pair];
    return (int64_t)mdp->next[k];
}

/* Makes room for `needed` rows in every column. */
static pess_status reserve(pess_dataset *data, int64_t *room, int64_t needed, bool episodes, pess_error *error) {
    if (needed <= *room) return PESS_OK;
    int64_t r = *room;
#define GROW(column)                                                                                                   \
    r = *room;                                                                                                         \
    PESS_TRY(pess__grow(&data->column, &r, needed, sizeof *data->column, "the simulated log", error))
    GROW(state);
    GROW(action);
    GROW(next_state);
    GROW(reward);
    GROW(end);
    GROW(probability);
    if (episodes) {
        GROW(episode);
        GROW(step);
    }
#undef GROW
    *room = r;
    return PESS_OK;
}

static pess_status report(const pess_progress *progress, double *last, int64_t done, int64_t total, const char *unit,
                          pess_error *error) {
    if (progress->report == NULL) return PESS_OK;
    const double now = pess__clock();
    if (now - *last < 0.1) return PESS_OK;
    *last = now;
    if (progress->report(progress->user, "simulating", (double)done, (double)total, unit)) return PESS_OK;
    return pess__fail(error, PESS_INTERRUPTED, "interrupted after %lld of %lld %s", (long long)done, (long long)total,
                      unit);
}

static pess_status run_transitions(const sampler *s, const pess_simulate_options *options, pess_dataset *data,
                                   pess_error *error) {
    const int64_t total = options->transitions, blocks = (total + BLOCK - 1) / BLOCK;
    int64_t room = 0;
    double last = pess__clock();
    PESS_TRY(reserve(data, &room, total, false, error));
    for (int64_t first = 0; first < blocks; first += BLOCKS_PER_REPORT) {
        const int64_t behind = first + BLOCKS_PER_REPORT < blocks ? first + BLOCKS_PER_REPORT : blocks;
#pragma omp parallel for num_threads(pess__threads(options->threads)) if (behind - first > 4)
        for (int64_t block = first; block < behind; block++) {
            pess__rng rng = pess__rng_stream(options->seed, "simulate transitions", (uint64_t)block);
            const int64_t end = (block + 1) * BLOCK < total ? (block + 1) * BLOCK : total;
            for (int64_t i = block * BLOCK; i < end; i++)
                (void)draw_transition(s, &rng, draw(s->state_sum, s->mdp->states, pess__rng_uniform(&rng)), data, i);
        }
        data->rows = behind * BLOCK < total ? behind * BLOCK : total;
        PESS_TRY(report(&options->progress, &last, data->rows, total, "transitions", error));
    }
    return PESS_OK;
}

static pess_status run_episodes(const sampler *s, const pess_simulate_options *options, pess_dataset *data,
                                pess_error *error) {
    int64_t room = 0, unreported = 0;
    double last = pess__clock();
    for (int64_t episode = 0; episode < options->episodes; episode++) {
        pess__rng rng = pess__rng_stream(options->seed, "simulate episode", (uint64_t)episode);
        int64_t state = draw(s->state_sum, s->mdp->states, pess__rng_uniform(&rng));
        for (int64_t step = 0; step < options->horizon; step++) {
            const int64_t i = data->rows;
            PESS_TRY(reserve(data, &room, i + 1, true, error));
            state = draw_transition(s, &rng, state, data, i);
            data->episode[i] = episode;
            data->step[i] = step;
            data->rows++;
            if (++unreported == BLOCK) {
                unreported = 0;
                PESS_TRY(report(&options->progress, &last, episode, options->episodes, "episodes", error));
            }
            if (data->end[i] == PESS_END_TERMINAL) break;
            if (step + 1 == options->horizon) data->end[i] = PESS_END_CUTOFF;
        }
    }
    return PESS_OK;
}

static pess_status check_amount(const pess_simulate_options *options, pess_error *error) {
    if ((options->transitions > 0) == (options->episodes > 0))
        return pess__fail(error, PESS_ARGUMENT,
                          "%lld transitions and %lld episodes: exactly one of the two must be given",
                          (long long)options->transitions, (long long)options->episodes);
    return PESS_OK;
}

static pess_status check_start(const pess_mdp *mdp, const double *start, pess_error *error) {
    if (start == NULL) return pess__fail(error, PESS_ARGUMENT, "a start distribution is needed");
    double sum = 0;
    for (int64_t s = 0; s < mdp->states; s++) {
        if (!(start[s] >= 0 && start[s] <= 1))
            return pess__fail(error, PESS_INPUT, "start distribution: state %lld has probability %g, not in [0,1]",
                              (long long)s, start[s]);
        if (start[s] > 0 && mdp->terminal[s])
            return pess__fail(error, PESS_INPUT,
                              "start distribution: state %lld is terminal but has probability %g: nothing can be drawn "
                              "from there",
                              (long long)s, start[s]);
        sum += start[s];
    }
    if (fabs(sum - 1) > 1e-6)
        return pess__fail(error, PESS_INPUT, "start distribution: the probabilities sum to %.12g, expected 1", sum);
    return PESS_OK;
}

static bool mdp_has(const void *process, int64_t pair) {
    const pess_mdp *mdp = process;
    return mdp->row[pair] < mdp->row[pair + 1];
}

/* The collecting policy (*soft stays NULL where it is the given one) and the law of the first states. */
static pess_status prepare_laws(const pess_mdp *mdp, const pess_policy *policy, const double *start,
                                const pess_simulate_options *options, pess_policy **soft, double *law,
                                pess_error *error) {
    const bool stationary = options->transitions > 0 && options->state_dist == PESS_STATE_DIST_STATIONARY;
    PESS_TRY(pess__policy_check_table(policy, mdp->states, mdp->actions, "the MDP", error));
    PESS_TRY(
        pess__policy_check_rows(policy->probability, mdp->states, mdp->actions, mdp->terminal, mdp_has, mdp, error));
    if (!stationary) {
        PESS_TRY(check_start(mdp, start, error));
        for (int64_t s = 0; s < mdp->states; s++) law[s] = start[s];
    }
    if (!stationary && options->epsilon == 0) return PESS_OK;
    pess_model *model = NULL;
    PESS_TRY(pess_mdp_model(mdp, 0, &model, error));
    pess_status status = PESS_OK;
    if (options->epsilon > 0) status = pess_policy_soften(policy, model, options->epsilon, soft, error);
    if (status == PESS_OK && stationary) status = pess_stationary(model, *soft != NULL ? *soft : policy, law, error);
    pess_model_destroy(model);
    return status;
}

static pess_status fill_dataset(const sampler *s, const pess_simulate_options *options, pess_dataset **out,
                                pess_error *error) {
    pess_dataset *data = NULL;
    PESS_TRY(pess__allocate(&data, 1, sizeof *data, "the simulated log", error));
    data->states = s->mdp->states;
    data->actions = s->mdp->actions;
    data->states_declared = data->actions_declared = true;
    const pess_status status =
        options->transitions > 0 ? run_transitions(s, options, data, error) : run_episodes(s, options, data, error);
    if (status != PESS_OK) {
        pess_dataset_destroy(data);
        return status;
    }
    *out = data;
    return PESS_OK;
}

pess_status pess_simulate(const pess_mdp *mdp, const pess_policy *policy, const double *start,
                          const pess_simulate_options *options, pess_dataset **out, pess_error *error) {
    pess_simulate_options settled;
    PESS_TRY(pess__settle(&table, options, &settled, error));
    if (settled.horizon == 0) settled.horizon = HORIZON;
    options = &settled;
    PESS_TRY(check_amount(options, error));
    sampler s = {.mdp = mdp, .policy = policy};
    pess_policy *soft = NULL;
    double *law = NULL;
    pess_status status = pess__allocate(&law, mdp->states, sizeof *law, "the law of the states", error);
    if (status == PESS_OK) status = prepare_laws(mdp, policy, start, options, &soft, law, error);
    if (status == PESS_OK) {
        if (soft != NULL) s.policy = soft;
        status = sampler_prepare(&s, law, error);
    }
    if (status == PESS_OK) status = fill_dataset(&s, options, out, error);
    sampler_clear(&s);
    pess_policy_destroy(soft);
    free(law);
    return status;
}
