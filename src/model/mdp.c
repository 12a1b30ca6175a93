/* Known decision processes: memory, and building one from transitions in any order. */
#include "model/mdp.h"

#include "core/memory.h"
#include "model/model.h"
#include "model/named.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

pess_status pess__mdp_allocate(int64_t states, int64_t actions, int64_t transitions, pess_mdp **out,
                               pess_error *error) {
    PESS_TRY(pess__model_check_sizes(states, actions, error));
    pess_mdp *mdp = NULL;
    PESS_TRY(pess__allocate(&mdp, 1, sizeof *mdp, "an MDP", error));
    mdp->states = states;
    mdp->actions = actions;
    pess_status status = pess__allocate(&mdp->row, states * actions + 1, sizeof *mdp->row, "the MDP's rows", error);
    if (status == PESS_OK)
        status = pess__allocate(&mdp->terminal, states, sizeof *mdp->terminal, "the terminal states", error);
    if (status == PESS_OK)
        status = pess__allocate(&mdp->next, transitions, sizeof *mdp->next, "the MDP's next states", error);
    if (status == PESS_OK)
        status =
            pess__allocate(&mdp->probability, transitions, sizeof *mdp->probability, "the MDP's probabilities", error);
    if (status == PESS_OK)
        status = pess__allocate(&mdp->reward, transitions, sizeof *mdp->reward, "the MDP's rewards", error);
    if (status != PESS_OK) {
        pess_mdp_destroy(mdp);
        return status;
    }
    *out = mdp;
    return PESS_OK;
}

void pess_mdp_destroy(pess_mdp *mdp) {
    if (mdp == NULL) return;
    free(mdp->row);
    free(mdp->terminal);
    free(mdp->next);
    free(mdp->probability);
    free(mdp->reward);
    free(mdp);
}

int64_t pess_mdp_states(const pess_mdp *mdp) { return mdp->states; }
int64_t pess_mdp_actions(const pess_mdp *mdp) { return mdp->actions; }
int64_t pess_mdp_transitions(const pess_mdp *mdp) { return mdp->row[mdp->states * mdp->actions]; }

void pess__mdp_builder_clear(pess__mdp_builder *builder) {
    free(builder->runs);
    free(builder->next);
    free(builder->probability);
    free(builder->reward);
    *builder = (pess__mdp_builder){0};
}

static pess_status add_run(pess__mdp_builder *builder, uint32_t state, uint32_t action, pess_error *error) {
    PESS_TRY(pess__grow(&builder->runs, &builder->run_room, builder->run_count + 1, sizeof *builder->runs,
                        "the MDP's pairs", error));
    if (builder->run_count > 0) {
        const struct pess__mdp_run *last = &builder->runs[builder->run_count - 1];
        if (state < last->state || (state == last->state && action <= last->action)) builder->unsorted = true;
    }
    builder->runs[builder->run_count++] = (struct pess__mdp_run){state, action, builder->count};
    return PESS_OK;
}

pess_status pess__mdp_builder_add(pess__mdp_builder *builder, uint32_t state, uint32_t action, uint32_t next,
                                  double probability, double reward, pess_error *error) {
    const int64_t k = builder->count;
    if (k >= builder->next_room || k >= builder->probability_room || k >= builder->reward_room) {
        PESS_TRY(pess__grow(&builder->next, &builder->next_room, k + 1, sizeof *builder->next, "the MDP's next states",
                            error));
        PESS_TRY(pess__grow(&builder->probability, &builder->probability_room, k + 1, sizeof *builder->probability,
                            "the MDP's probabilities", error));
        PESS_TRY(pess__grow(&builder->reward, &builder->reward_room, k + 1, sizeof *builder->reward,
                            "the MDP's rewards", error));
    }
    const struct pess__mdp_run *last = builder->run_count > 0 ? &builder->runs[builder->run_count - 1] : NULL;
    if (last == NULL || last->state != state || last->action != action)
        PESS_TRY(add_run(builder, state, action, error));
    builder->next[k] = next;
    builder->probability[k] = probability;
    builder->reward[k] = reward;
    builder->count++;
    return PESS_OK;
}

static int64_t run_length(const pess__mdp_builder *builder, int64_t run) {
    const int64_t end = run + 1 < builder->run_count ? builder->runs[run + 1].begin : builder->count;
    return end - builder->runs[run].begin;
}

/* row[] from the runs' lengths. */
static void lay_out_rows(const pess__mdp_builder *builder, pess_mdp *mdp) {
    const int64_t pairs = mdp->states * mdp->actions;
    for (int64_t i = 0; i < builder->run_count; i++)
        mdp->row[(int64_t)builder->runs[i].state * mdp->actions + builder->runs[i].action + 1] +=
            run_length(builder, i);
    for (int64_t pair = 0; pair < pairs; pair++) mdp->row[pair + 1] += mdp->row[pair];
}

/* Runs to their places; runs of one pair keep their order. While it works row[z] is where z's next run goes. */
static void scatter_runs(const pess__mdp_builder *builder, pess_mdp *mdp) {
    const int64_t pairs = mdp->states * mdp->actions;
    for (int64_t i = 0; i < builder->run_count; i++) {
        const struct pess__mdp_run *run = &builder->runs[i];
        const int64_t pair = (int64_t)run->state * mdp->actions + run->action, length = run_length(builder, i);
        const int64_t to = mdp->row[pair];
        const size_t n = (size_t)length;
        memcpy(mdp->next + to, builder->next + run->begin, n * sizeof *mdp->next);
        memcpy(mdp->probability + to, builder->probability + run->begin, n * sizeof *mdp->probability);
        memcpy(mdp->reward + to, builder->reward + run->begin, n * sizeof *mdp->reward);
        mdp->row[pair] += length;
    }
    for (int64_t pair = pairs; pair > 0; pair--) mdp->row[pair] = mdp->row[pair - 1];
    mdp->row[0] = 0;
}

static void mark_terminals(pess_mdp *mdp) {
    for (int64_t s = 0; s < mdp->states; s++)
        mdp->terminal[s] = mdp->row[s * mdp->actions] == mdp->row[(s + 1) * mdp->actions];
}

static pess_status check_sums(pess_mdp *mdp, const char *source, pess_error *error) {
    const int64_t pairs = mdp->states * mdp->actions;
    for (int64_t pair = 0; pair < pairs; pair++) {
        const int64_t begin = mdp->row[pair], end = mdp->row[pair + 1];
        if (begin == end) continue;
        double sum = 0;
        for (int64_t k = begin; k < end; k++) sum += mdp->probability[k];
        if (fabs(sum - 1) <= 1e-9) continue;
        if (!(fabs(sum - 1) <= pess__sum_tolerance(end - begin)))
            return pess__fail(error, PESS_INPUT,
                              "%s%sstate %lld, action %lld: the probabilities sum to %.12g, expected 1",
                              source != NULL ? source : "", source != NULL ? ": " : "",
                              (long long)(pair / mdp->actions), (long long)(pair % mdp->actions), sum);
        for (int64_t k = begin; k < end; k++) mdp->probability[k] /= sum; /* written with few digits */
    }
    return PESS_OK;
}

pess_status pess__mdp_settle(pess_mdp *mdp, const char *source, pess_error *error) {
    mark_terminals(mdp);
    return check_sums(mdp, source, error);
}

/* Gives the builder's arrays, trimmed, to the MDP. */
static void hand_over(pess__mdp_builder *builder, pess_mdp *mdp) {
    const size_t n = builder->count > 0 ? (size_t)builder->count : 1;
    free(mdp->next);
    free(mdp->probability);
    free(mdp->reward);
    void *trimmed = realloc(builder->next, n * sizeof *builder->next);
    mdp->next = trimmed != NULL ? trimmed : builder->next;
    trimmed = realloc(builder->probability, n * sizeof *builder->probability);
    mdp->probability = trimmed != NULL ? trimmed : builder->probability;
    trimmed = realloc(builder->reward, n * sizeof *builder->reward);
    mdp->reward = trimmed != NULL ? trimmed : builder->reward;
    builder->next = NULL;
    builder->probability = builder->reward = NULL;
}

pess_status pess__mdp_builder_finish(pess__mdp_builder *builder, int64_t states, int64_t actions, const char *source,
                                     pess_mdp **out, pess_error *error) {
    pess_mdp *mdp = NULL;
    pess_status status = pess__mdp_allocate(states, actions, builder->unsorted ? builder->count : 0, &mdp, error);
    if (status == PESS_OK) {
        lay_out_rows(builder, mdp);
        if (builder->unsorted)
            scatter_runs(builder, mdp);
        else if (builder->count > 0)
            hand_over(builder, mdp);
        status = pess__mdp_settle(mdp, source, error);
    }
    pess__mdp_builder_clear(builder);
    if (status != PESS_OK) {
        pess_mdp_destroy(mdp);
        return status;
    }
    *out = mdp;
    return PESS_OK;
}

static pess_status check_transition(const pess_mdp_transition *transition, int64_t index, int64_t states,
                                    int64_t actions, pess_error *error) {
    if (transition->state < 0 || transition->state >= states || transition->next_state < 0 ||
        transition->next_state >= states || transition->action < 0 || transition->action >= actions)
        return pess__fail(error, PESS_INPUT,
                          "transition %lld: state %lld, action %lld, next state %lld: expected states below %lld and "
                          "actions below %lld",
                          (long long)index, (long long)transition->state, (long long)transition->action,
                          (long long)transition->next_state, (long long)states, (long long)actions);
    if (!(transition->probability >= 0 && transition->probability <= 1))
        return pess__fail(error, PESS_INPUT, "transition %lld: probability %g is not in [0,1]", (long long)index,
                          transition->probability);
    if (!isfinite(transition->reward))
        return pess__fail(error, PESS_INPUT, "transition %lld: reward %g is not finite", (long long)index,
                          transition->reward);
    return PESS_OK;
}

pess_status pess_mdp_create(int64_t states, int64_t actions, const pess_mdp_transition *transitions, int64_t count,
                            pess_mdp **out, pess_error *error) {
    PESS_TRY(pess__model_check_sizes(states, actions, error));
    if (count < 0) return pess__fail(error, PESS_ARGUMENT, "%lld transitions", (long long)count);
    pess__mdp_builder builder = {0};
    for (int64_t i = 0; i < count; i++) {
        const pess_mdp_transition *t = &transitions[i];
        pess_status status = check_transition(t, i, states, actions, error);
        if (status == PESS_OK)
            status = pess__mdp_builder_add(&builder, (uint32_t)t->state, (uint32_t)t->action, (uint32_t)t->next_state,
                                           t->probability, t->reward, error);
        if (status != PESS_OK) {
            pess__mdp_builder_clear(&builder);
            return status;
        }
    }
    return pess__mdp_builder_finish(&builder, states, actions, NULL, out, error);
}
