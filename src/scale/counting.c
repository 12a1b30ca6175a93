#include "scale/counting.h"

#include "core/memory.h"
#include "core/threads.h"
#include "data/names.h"
#include "model/counts_file.h"
#include "model/counts_merge.h"
#include "scale/shards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BUCKETS = 1 << 16, SAMPLES = 64 };

/* What this rank has read, and how its numbers become those of all. */
typedef struct reader {
    pess__shards shards;
    pess__merging merging;
    int64_t *to[PESS__NUMBERINGS];
    bool as_they_come; /* names keep the numbers they have */
} reader;

static void reader_free(reader *r) {
    pess__shards_free(&r->shards);
    pess__merging_free(&r->merging);
    for (int k = 0; k < PESS__NUMBERINGS; k++) free(r->to[k]);
}

void pess__share_free(pess__share *share) {
    for (int k = 0; k < PESS__NUMBERINGS; k++) pess__dictionary_free(&share->names[k]);
    free(share->begin);
    pess__order_destroy(share->order);
    free(share->record);
    free(share->starts);
    free(share->start);
    *share = (pess__share){0};
}

/* ------------------------------------------------------------------------------------------------ reading */

static pess_status read_own(reader *r, const pess_read_options *options, pess_error *error) {
    for (int64_t i = 0; i < r->shards.count; i++)
        if (r->shards.rank[i] == pess__ranks_all.rank)
            PESS_TRY(pess__merging_read(&r->merging, r->shards.path[i], options, error));
    return PESS_OK;
}

typedef struct kind_of_rank {
    bool reads;
    pess__merging_kind kind;
    char path[400];
} kind_of_rank;

/* Shards on different ranks must be alike too. */
static pess_status check_alike(const reader *r, pess__share *out, pess_error *error) {
    const pess__merging *m = &r->merging;
    kind_of_rank mine = {
        m->first != NULL, {m->has_episode, {m->names[0] != NULL, m->names[1] != NULL, m->names[2] != NULL}}, ""};
    if (mine.reads) (void)snprintf(mine.path, sizeof mine.path, "%s", m->first);
    kind_of_rank *all = NULL;
    PESS__TRY_TOGETHER(pess__allocate(&all, pess__ranks_all.size, sizeof *all, "shards", error), error);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, pess__ranks_all.comm);
    int first = 0;
    while (!all[first].reads) first++;
    pess_status status = PESS_OK;
    for (int k = first + 1; k < pess__ranks_all.size && status == PESS_OK; k++)
        if (all[k].reads)
            status = pess__merging_check_alike(all[first].path, &all[first].kind, all[k].path, &all[k].kind, error);
    out->has_episode = all[first].kind.has_episode;
    for (int k = 0; k < PESS__NUMBERINGS; k++) out->named[k] = all[first].kind.named[k];
    free(all);
    return status;
}

static void add_totals(const pess__merging *m, pess__share *out) {
    const pess__tally *tally = &m->tally;
    const bool reads = m->first != NULL;
    out->transitions = pess__ranks_total(tally->rows);
    out->terminals = pess__ranks_total(tally->terminals);
    out->cutoffs = pess__ranks_total(tally->cutoffs);
    out->repeated = pess__ranks_total(pess__tally_repeated(tally));
    out->reward_min = -pess__ranks_most(reads ? -tally->reward_min : -INFINITY);
    out->reward_max = pess__ranks_most(reads ? tally->reward_max : -INFINITY);
    out->no_squares = pess__ranks_any(tally->no_squares);
    out->no_range = pess__ranks_any(tally->no_range);
    out->any_end = pess__ranks_any(tally->any_end);
    out->states_declared = pess__ranks_any(m->states_declared);
    out->actions_declared = pess__ranks_any(m->actions_declared);
    out->states = pess__ranks_largest(m->states);
    out->actions = pess__ranks_largest(m->actions);
}

static pess_status number_names(reader *r, pess__share *out, pess_error *error) {
    for (int k = 0; k < PESS__NUMBERINGS; k++) {
        if (!out->named[k]) continue;
        const pess_names *names = r->merging.names[k];
        const int64_t count = names != NULL ? pess_names_count(names) : 0;
        PESS__TRY_TOGETHER(pess__allocate(&r->to[k], count, sizeof *r->to[k], "names", error), error);
        PESS_TRY(pess__dictionary_create(names, r->as_they_come, &out->names[k], r->to[k], error));
    }
    const int64_t states = out->named[PESS__STATES] ? pess__dictionary_size(&out->names[PESS__STATES]) : 0;
    const int64_t actions = out->named[PESS__ACTIONS] ? pess__dictionary_size(&out->names[PESS__ACTIONS]) : 0;
    if (states > out->states) out->states = states;
    if (actions > out->actions) out->actions = actions;
    return PESS_OK;
}

/* ------------------------------------------------------------------------------------------------ records */

typedef struct taking {
    const reader *reader;
    pess__share *share;
    int64_t room;
    pess_status status;
    pess_error *error;
} taking;

static uint32_t renumber(const reader *r, int numbering, uint32_t id) {
    return r->to[numbering] != NULL ? (uint32_t)r->to[numbering][id] : id;
}

static void take_record(void *user, const pess__pesscounts_record *record) {
    taking *t = user;
    pess__share *share = t->share;
    if (t->status != PESS_OK) return;
    t->status = pess__grow(&share->record, &t->room, share->records + 1, sizeof *share->record, "the counts", t->error);
    if (t->status != PESS_OK) return;
    pess__pesscounts_record *to = &share->record[share->records++];
    *to = *record;
    to->state = renumber(t->reader, PESS__STATES, to->state);
    to->action = renumber(t->reader, PESS__ACTIONS, to->action);
    if (to->kind != PESS__SQUARES) to->next_state = renumber(t->reader, PESS__STATES, to->next_state);
}

static pess_status take_records(reader *r, pess__share *out, pess_error *error) {
    taking t = {r, out, 0, PESS_OK, error};
    PESS_TRY(pess__tally_finish(&r->merging.tally, error));
    PESS_TRY(pess__counts_records(&r->merging.tally, take_record, &t, error));
    return t.status;
}

/* Ranges of states of about the same weight: their records, and their pairs. */
static pess_status cut_states(pess__share *out, pess_error *error) {
    const int64_t buckets = out->states < MOST_BUCKETS ? out->states : MOST_BUCKETS;
    double *weight = NULL;
    pess_status status = pess__allocate(&out->begin, pess__ranks_all.size + 1, sizeof *out->begin, "ranges", error);
    if (status == PESS_OK) status = pess__allocate(&weight, buckets, sizeof *weight, "ranges of states", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        const double pairs = (double)out->actions * (double)out->states / (double)buckets / pess__ranks_all.size;
        for (int64_t b = 0; b < buckets; b++) weight[b] = pairs;
        /* bucket b is the states b·S/B … (b+1)·S/B − 1, as pess__slab_cut has it */
        for (int64_t i = 0; i < out->records; i++) {
            int64_t b = (int64_t)out->record[i].state * buckets / out->states;
            while (b + 1 < buckets && (b + 1) * out->states / buckets <= (int64_t)out->record[i].state) b++;
            weight[b] += 1;
        }
        pess__slab_cut(out->states, weight, buckets, out->begin);
    }
    free(weight);
    return status;
}

static pess_status send_records(pess__share *out, pess_error *error) {
    int32_t *to = NULL;
    PESS__TRY_TOGETHER(pess__allocate(&to, out->records, sizeof *to, "the counts", error), error);
    for (int64_t i = 0; i < out->records; i++) to[i] = pess__slab_rank(out->begin, out->record[i].state);
    const pess_status status = pess__exchange(&out->record, &out->records, sizeof *out->record, to, error);
    free(to);
    return status;
}

pess_status pess__share_out(pess__share *share, pess_error *error) {
    PESS_TRY(cut_states(share, error));
    return send_records(share, error);
}

/* ------------------------------------------------------------------------------------------------ starts */

typedef struct state_count {
    int64_t state, count;
} state_count;

static pess_status send_starts(const reader *r, pess__share *out, pess_error *error) {
    const pess__tally *tally = &r->merging.tally;
    const int64_t own = out->begin[pess__ranks_all.rank + 1] - out->begin[pess__ranks_all.rank];
    state_count *list = NULL;
    int32_t *to = NULL;
    int64_t count = 0, filled = 0;
    for (int64_t s = 0; s < tally->starts_capacity; s++) count += tally->starts[s] > 0;
    pess_status status = pess__allocate(&list, count, sizeof *list, "episode starts", error);
    if (status == PESS_OK) status = pess__allocate(&to, count, sizeof *to, "episode starts", error);
    if (status == PESS_OK) status = pess__allocate(&out->starts, own, sizeof *out->starts, "episode starts", error);
    status = pess__agree(status, error);
    for (int64_t s = 0; status == PESS_OK && s < tally->starts_capacity; s++) {
        if (tally->starts[s] == 0) continue;
        list[filled] = (state_count){renumber(r, PESS__STATES, (uint32_t)s), tally->starts[s]};
        to[filled] = pess__slab_rank(out->begin, list[filled].state);
        filled++;
    }
    if (status == PESS_OK) status = pess__exchange(&list, &count, sizeof *list, to, error);
    for (int64_t i = 0; status == PESS_OK && i < count; i++)
        out->starts[list[i].state - out->begin[pess__ranks_all.rank]] += list[i].count;
    free(list);
    free(to);
    return status;
}

/* By episode, then by step; of equal ones the first of the first shard, as `zero` numbers them while they are sorted.
 */
static int compare_starts(const void *left, const void *right) {
    const pess__pesscounts_start *a = left, *b = right;
    if (a->episode != b->episode) return a->episode < b->episode ? -1 : 1;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    return (a->zero > b->zero) - (a->zero < b->zero);
}

static void sort_starts(pess__share *out) {
    for (int64_t i = 0; i < out->start_count; i++) out->start[i].zero = (uint32_t)i;
    qsort(out->start, (size_t)out->start_count, sizeof *out->start, compare_starts);
    int64_t kept = 0;
    for (int64_t i = 0; i < out->start_count; i++)
        if (kept == 0 || out->start[i].episode != out->start[kept - 1].episode) out->start[kept++] = out->start[i];
    out->start_count = kept;
    for (int64_t i = 0; i < kept; i++) out->start[i].zero = 0;
}

static pess_status take_episodes(const reader *r, pess__share *out, pess_error *error) {
    const pess__tally *tally = &r->merging.tally;
    PESS_TRY(pess__allocate(&out->start, tally->first_used, sizeof *out->start, "episode starts", error));
    for (int64_t i = 0; i < tally->first_slots; i++) {
        const pess__first_row *row = &tally->first[i];
        if (!row->used) continue;
        const int64_t episode = r->to[PESS__EPISODES] != NULL ? r->to[PESS__EPISODES][row->episode] : row->episode;
        out->start[out->start_count++] =
            (pess__pesscounts_start){episode, row->step, renumber(r, PESS__STATES, row->state), 0};
    }
    sort_starts(out);
    return PESS_OK;
}

static int compare_numbers(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Ranges of episodes, by samples of all ranks. */
static pess_status send_episodes(pess__share *out, pess_error *error) {
    const int size = pess__ranks_all.size;
    int64_t *sample = NULL;
    int32_t *to = NULL;
    pess_status status = pess__allocate(&sample, (int64_t)size * SAMPLES, sizeof *sample, "episodes", error);
    if (status == PESS_OK) status = pess__allocate(&to, out->start_count, sizeof *to, "episodes", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        int64_t own[SAMPLES], samples = 0;
        for (int i = 0; i < SAMPLES; i++)
            own[i] = out->start_count > 0 ? out->start[i * out->start_count / SAMPLES].episode : INT64_MAX;
        MPI_Allgather(own, SAMPLES, MPI_INT64_T, sample, SAMPLES, MPI_INT64_T, pess__ranks_all.comm);
        qsort(sample, (size_t)size * SAMPLES, sizeof *sample, compare_numbers);
        while (samples < (int64_t)size * SAMPLES && sample[samples] < INT64_MAX) samples++;
        for (int64_t i = 0; i < out->start_count; i++)
            while (to[i] + 1 < size && out->start[i].episode >= sample[(to[i] + 1) * samples / size]) to[i]++;
        status = pess__exchange(&out->start, &out->start_count, sizeof *out->start, to, error);
    }
    if (status == PESS_OK) sort_starts(out);
    if (status == PESS_OK) out->episodes = pess__ranks_total(out->start_count);
    free(sample);
    free(to);
    return status;
}

/* ------------------------------------------------------------------------------------------------ all of it */

static pess_status count(reader *r, const pess_read_options *options, pess__share *out, pess_error *error) {
    PESS__TRY_TOGETHER(read_own(r, options, error), error);
    PESS_TRY(check_alike(r, out, error));
    add_totals(&r->merging, out);
    PESS_TRY(number_names(r, out, error));
    PESS__TRY_TOGETHER(take_records(r, out, error), error);
    PESS_TRY(pess__share_out(out, error));
    if (!out->has_episode) return send_starts(r, out, error);
    PESS__TRY_TOGETHER(take_episodes(r, out, error), error);
    return send_episodes(out, error);
}

pess_status pess__count_together(const char *const *paths, int64_t path_count, bool as_they_come,
                                 const pess_read_options *options, pess__share *out, pess_error *error) {
    reader r = {0};
    *out = (pess__share){0};
    PESS_TRY(pess__shards_find(paths, path_count, &r.shards, error));
    r.as_they_come = as_they_come && r.shards.count == 1;
    pess__merging_begin(&r.merging, pess__threads(options != NULL ? options->threads : 0));
    const pess_status status = count(&r, options, out, error);
    reader_free(&r);
    if (status != PESS_OK) pess__share_free(out);
    return status;
}

/* ------------------------------------------------------------------------------------------------ what comes of it */

pess_status pess__share_slab(const pess__share *share, pess__slab **out, pess_error *error) {
    const int64_t first = share->begin[pess__ranks_all.rank], past = share->begin[pess__ranks_all.rank + 1];
    int64_t *elsewhere = NULL, count = 0;
    PESS__TRY_TOGETHER(pess__allocate(&elsewhere, share->records, sizeof *elsewhere, "states elsewhere", error), error);
    for (int64_t i = 0; i < share->records; i++) {
        const int64_t next = share->record[i].next_state;
        if (share->record[i].kind != PESS__SQUARES && (next < first || next >= past)) elsewhere[count++] = next;
    }
    const pess_status status = pess__slab_create(share->states, share->begin, elsewhere, count, out, error);
    free(elsewhere);
    return status;
}

/* Records as blocks of a counted log. */
static void put_row(pess__block *block, const pess__pesscounts_record *record, int64_t state, int64_t next) {
    const int64_t i = block->rows++;
    block->state[i] = (uint32_t)state;
    block->action[i] = record->action;
    block->next_state[i] = (uint32_t)next;
    block->end[i] = record->kind == PESS__SQUARES ? PESS__END_SQUARES
                    : record->kind == PESS__ENDS  ? PESS_END_TERMINAL
                                                  : PESS_END_NONE;
    block->count[i] = record->n;
    block->reward[i] = record->value;
    block->rest[i] = record->rest;
}

static pess_status add_blocks(const pess__share *share, pess__block *block, void *context,
                              int64_t (*place)(void *context, int64_t state), pess__tally *out, pess_error *error) {
    for (int64_t i = 0; i < share->records; i++) {
        const pess__pesscounts_record *record = &share->record[i];
        const int64_t next = record->kind == PESS__SQUARES ? 0 : place(context, record->next_state);
        put_row(block, record, place(context, record->state), next);
        if (block->rows < PESS__BLOCK_ROWS && i + 1 < share->records) continue;
        PESS_TRY(pess__tally_add(out, block, 1, error));
        block->rows = 0;
    }
    return PESS_OK;
}

pess_status pess__share_tally(const pess__share *share, int64_t states, void *context,
                              int64_t (*place)(void *context, int64_t state), pess__tally *out, pess_error *error) {
    pess__block block = {0};
    const pess__counted counted = {.squares = !share->no_squares,
                                   .range = !share->no_range,
                                   .reward_min = share->reward_min,
                                   .reward_max = share->reward_max};
    pess__tally_begin(out, 1);
    pess_status status = pess__block_create(&block, PESS__BLOCK_ROWS, false, false, false, error);
    if (status == PESS_OK) status = pess__block_add_counts(&block, PESS__BLOCK_ROWS, false, false, error);
    if (status == PESS_OK && block.rest == NULL)
        status = pess__allocate(&block.rest, PESS__BLOCK_ROWS, sizeof *block.rest, "counts", error);
    block.max_state = (uint32_t)(states - 1);
    block.max_action = (uint32_t)(share->actions - 1);
    if (status == PESS_OK) status = pess__tally_add(out, &block, 1, error); /* none yet: the keys get their widths */
    if (status == PESS_OK) status = add_blocks(share, &block, context, place, out, error);
    if (status == PESS_OK) status = pess__tally_add_counted(out, &counted, 0, error);
    if (status == PESS_OK) status = pess__tally_finish(out, error);
    pess__block_free(&block);
    return status;
}
