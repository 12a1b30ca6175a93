#include "scale/input.h"

#include "core/max_memory.h"
#include "core/memory.h"
#include "data/names.h"
#include "data/table.h"
#include "model/counts.h"
#include "model/problem.h"
#include "scale/chain.h"
#include "scale/counting.h"
#include "scale/output.h"
#include "scale/reorder.h"
#include "scale/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ memory */

/* What a rank needs to solve: counts, model, matrix and vectors, by the records and pairs it has. A record is counted,
 * is a successor in counts and model and an entry of the matrix and of its factors; docs/scale.md has the figures. */
static double bytes_needed(const pess__share *share) {
    const int64_t own = share->begin[pess__ranks_all.rank + 1] - share->begin[pess__ranks_all.rank];
    return 150.0 * (double)share->records + (double)own * (100.0 * (double)share->actions + 400.0);
}

/* Said before anything is built: how much is missing on the rank that lacks most, and how many ranks would do. */
static pess_status check_memory(const pess__share *share, pess_error *error) {
    const double need = pess__ranks_most(bytes_needed(share));
    int64_t used = 0;
    const bool fits = pess__memory_fits((size_t)bytes_needed(share), &used);
    const double lacking = pess__ranks_most(fits ? 0 : 1);
    if (lacking == 0) return PESS_OK;
    const double room = -pess__ranks_most(-fmax((double)pess_max_memory() - (double)used, 1e6));
    return pess__fail(error, PESS_MEMORY,
                      "one of %d ranks would need %.3g GB and has %.3g GB: about %.0f ranks with as much each would do",
                      pess__ranks_all.size, need / 1e9, room / 1e9,
                      ceil(need / room * (double)pess__ranks_all.size * 1.1));
}

pess_status pess__check_shares(int64_t states, int64_t places, int64_t actions, pess_error *error) {
    const int64_t records = UINT32_MAX, most = pess__petsc_most() < records ? pess__petsc_most() : records;
    if (states > most)
        return pess__fail(error, PESS_LIMIT, "%lld states; at most %lld can be numbered%s", (long long)states,
                          (long long)most, most < records ? ", with a PETSc of 64-bit indices twice as many" : "");
    if (places > PESS_MAX_STATES || actions > PESS_MAX_ACTIONS || actions > PESS_MAX_PAIRS / places)
        return pess__fail(error, PESS_LIMIT,
                          "one of %d ranks would have %lld states and %lld actions; at most %lld states, %lld actions "
                          "and %lld pairs are possible: more ranks have less each",
                          pess__ranks_all.size, (long long)places, (long long)actions, (long long)PESS_MAX_STATES,
                          (long long)PESS_MAX_ACTIONS, (long long)PESS_MAX_PAIRS);
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ counts */

static int64_t place_of(void *context, int64_t state) { return pess__slab_place(context, state); }

/* A state is terminal where transitions that end lead to it, none that goes on does, and the log never acts in it. */
static pess_status mark_terminals(const pess__share *share, const pess__slab *slab, pess_counts *c, pess_error *error) {
    double *ends = NULL, *goes_on = NULL;
    pess_status status = pess__allocate(&ends, slab->places, sizeof *ends, "terminal states", error);
    if (status == PESS_OK) status = pess__allocate(&goes_on, slab->places, sizeof *goes_on, "terminal states", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        for (int64_t i = 0; i < share->records; i++) {
            const pess__pesscounts_record *record = &share->record[i];
            if (record->kind == PESS__SQUARES || record->n == 0) continue;
            const int64_t place = pess__slab_place(slab, record->next_state);
            (record->kind == PESS__ENDS ? ends : goes_on)[place] = 1;
        }
        pess__slab_collect(slab, ends);
        pess__slab_collect(slab, goes_on);
        for (int64_t s = 0; s < slab->places; s++)
            c->terminal[s] = s >= slab->spread.own || (ends[s] > 0 && goes_on[s] == 0 && c->n_state[s] == 0);
    }
    free(ends);
    free(goes_on);
    return status;
}

/* How many episodes begin in each state, by number, to its place. */
static pess_status place_starts(const pess__slab *slab, const int64_t *by_number, int64_t *starts, pess_error *error) {
    if (slab->order != NULL) return pess__order_inward(slab->order, by_number, sizeof *by_number, starts, error);
    memcpy(starts, by_number, (size_t)slab->spread.own * sizeof *starts);
    return PESS_OK;
}

/* The starts of episodes, which are by episode, to the ranks that have the states. */
static pess_status count_starts(const pess__share *share, const pess__slab *slab, pess_counts *c, pess_error *error) {
    const int64_t *begin = pess__slab_numbers(slab), first = begin[pess__ranks_all.rank];
    pess__pesscounts_start *list = NULL;
    int32_t *to = NULL;
    int64_t *by_number = NULL, count = share->start_count, numbers = begin[pess__ranks_all.rank + 1] - first;
    pess_status status = pess__allocate(&c->starts, slab->places, sizeof *c->starts, "episode starts", error);
    if (status == PESS_OK) status = pess__allocate(&by_number, numbers, sizeof *by_number, "episode starts", error);
    if (status == PESS_OK) status = pess__allocate(&list, count, sizeof *list, "episode starts", error);
    if (status == PESS_OK) status = pess__allocate(&to, count, sizeof *to, "episode starts", error);
    status = pess__agree(status, error);
    for (int64_t i = 0; status == PESS_OK && i < count; i++) {
        list[i] = share->start[i];
        to[i] = pess__slab_rank(begin, list[i].state);
    }
    if (status == PESS_OK) status = pess__exchange(&list, &count, sizeof *list, to, error);
    for (int64_t i = 0; status == PESS_OK && i < count; i++) by_number[(int64_t)list[i].state - first]++;
    if (status == PESS_OK)
        status = place_starts(slab, share->starts != NULL ? share->starts : by_number, c->starts, error);
    free(by_number);
    free(list);
    free(to);
    return status;
}

/* The numbers of the own states and of those elsewhere that rows lead to. */
static pess_status known_numbers(const pess__slab *slab, int64_t *ids, pess_error *error) {
    const int64_t own = slab->spread.own;
    double *number = NULL;
    PESS__TRY_TOGETHER(pess__allocate(&number, slab->places, sizeof *number, "names", error), error);
    for (int64_t s = 0; s < own; s++) number[s] = (double)pess__number_in(&slab->spread, s);
    pess__slab_refresh(slab, number);
    for (int64_t i = 0; i < own + slab->copies; i++) ids[i] = (int64_t)number[i];
    free(number);
    return PESS_OK;
}

static pess_status take_names(pess__share *share, pess__slab *slab, pess_counts *c, pess_error *error) {
    int64_t *ids = NULL;
    const int64_t known = slab->spread.own + slab->copies, count = known > share->actions ? known : share->actions;
    PESS__TRY_TOGETHER(pess__allocate(&ids, count, sizeof *ids, "names", error), error);
    pess_status status = share->named[PESS__STATES] ? known_numbers(slab, ids, error) : PESS_OK;
    if (status == PESS_OK && share->named[PESS__STATES]) {
        status = pess__dictionary_look_up(&share->names[PESS__STATES], ids, known, &c->state_names, error);
        slab->state_names = share->names[PESS__STATES];
        share->names[PESS__STATES] = (pess__dictionary){0};
    }
    if (status == PESS_OK && share->named[PESS__ACTIONS]) {
        for (int64_t i = 0; i < share->actions; i++) ids[i] = i;
        status = pess__dictionary_look_up(&share->names[PESS__ACTIONS], ids, share->actions, &c->action_names, error);
    }
    free(ids);
    return status;
}

static void describe(const pess__share *share, pess__slab *slab, pess_counts *c) {
    c->spread = &slab->spread;
    c->states_declared = share->states_declared;
    c->actions_declared = share->actions_declared;
    c->transitions = share->transitions;
    c->terminals = share->terminals;
    c->cutoffs = share->cutoffs;
    c->repeated = share->repeated;
    c->episodes = share->has_episode ? share->episodes : 0;
    c->has_episodes = share->has_episode;
    c->has_starts = share->has_episode ? share->episodes > 0 : share->any_end;
    c->counted = true; /* nobody looked at whole episodes */
    c->squares_unknown = share->no_squares;
    c->reward_min = share->no_range ? NAN : share->reward_min;
    c->reward_max = share->no_range ? NAN : share->reward_max;
    c->pairs_seen = pess__ranks_total(c->pairs_seen);
    slab->spread.info = (pess_counts_info){.states = share->states,
                                           .actions = share->actions,
                                           .states_declared = share->states_declared,
                                           .actions_declared = share->actions_declared,
                                           .transitions = share->transitions,
                                           .terminals = share->terminals,
                                           .cutoffs = share->cutoffs,
                                           .episodes = c->episodes,
                                           .pairs_seen = c->pairs_seen,
                                           .successors = pess__ranks_total(c->row[c->states * c->actions]),
                                           .reward_min = c->reward_min,
                                           .reward_max = c->reward_max,
                                           .has_episodes = c->has_episodes,
                                           .has_starts = c->has_starts,
                                           .has_squares = !c->squares_unknown};
}

static pess_status fill_counts(pess__share *share, pess__slab *slab, pess_counts *c, pess_error *error) {
    pess__tally tally;
    c->states = slab->places;
    c->actions = share->actions;
    pess_status status = pess__share_tally(share, slab->places, slab, place_of, &tally, error);
    if (status == PESS_OK) status = pess__counts_fill(c, &tally, error);
    pess__tally_free(&tally);
    PESS__TRY_TOGETHER(status, error);
    describe(share, slab, c);
    PESS_TRY(mark_terminals(share, slab, c, error));
    if (c->has_starts) PESS_TRY(count_starts(share, slab, c, error));
    return take_names(share, slab, c, error);
}

/* ------------------------------------------------------------------------------------------------ model, start */

static pess_status make_start(const char *from, const pess_counts *c, const pess_model *model, double **out,
                              bool *from_log, pess_error *error) {
    const pess__slab *slab = pess__slab_of(model);
    PESS__TRY_TOGETHER(pess__allocate(out, slab->places, sizeof **out, "the start distribution", error), error);
    *from_log = from != NULL ? strcmp(from, "log") == 0 : c->has_episodes;
    if (*from_log) return pess_start_from_counts(c, *out, error);
    if (from != NULL && strcmp(from, "uniform") != 0) return pess__read_start_rows(from, slab, c, *out, error);
    return pess_start_uniform(model, *out, error);
}

static pess_status make_problem(pess_counts *c, const pess_model_options *options, const char *from, pess_problem **out,
                                pess_error *error) {
    pess_model *model = NULL;
    double *start = NULL;
    bool from_log = false;
    pess_status status = pess_model_estimate(c, options, &model, error);
    if (status == PESS_OK) status = make_start(from, c, model, &start, &from_log, error);
    if (status == PESS_OK) status = pess__problem_of_parts(c, model, start, from_log, out, error);
    if (status != PESS_OK) {
        pess_model_destroy(model);
        free(start);
    }
    return status;
}

pess_status pess__read_together(const char *path, const pess_read_options *read, const pess_model_options *model,
                                const char *start, pess_problem **out, pess_error *error) {
    pess__share share;
    pess__slab *slab = NULL; /* lives as long as the process: policies and values refer to it */
    pess_counts *c = NULL;
    PESS_TRY(pess__count_together(&path, 1, true, read, &share, error));
    pess_status status = pess__check_shares(share.states, 1, share.actions, error);
    if (status == PESS_OK) status = check_memory(&share, error);
    if (status == PESS_OK) status = pess__reorder_share(&share, error);
    if (status == PESS_OK) status = pess__share_slab(&share, &slab, error);
    if (status == PESS_OK)
        status = pess__check_shares(share.states, pess__ranks_largest(slab->places), share.actions, error);
    if (status == PESS_OK) pess__slab_take_order(slab, share.order);
    if (status == PESS_OK) share.order = NULL;
    if (status == PESS_OK) status = pess__agree(pess__allocate(&c, 1, sizeof *c, "counts", error), error);
    if (status == PESS_OK) status = fill_counts(&share, slab, c, error);
    pess__share_free(&share);
    if (status == PESS_OK) status = make_problem(c, model, start, out, error);
    if (status != PESS_OK) {
        pess_counts_destroy(c);
        pess__slab_destroy(slab);
        return status;
    }
    pess__output_of(slab);
    return PESS_OK;
}
