#include "model/partition.h"

#include "core/exact.h"
#include "core/memory.h"
#include "core/threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_LIMIT = (32 << 20) / PESS__PAGE_BYTES, /* below 32 MB duplicates may wait */
    SAMPLE = 16,                                 /* every so many partitions show what compaction would gain */
    SMALL_SORT = 24,                             /* items that are sorted by insertion */
    DIGIT = 8,                                   /* bits, at most, that a pass sorts by */
    GROUP = 8,                                   /* blocks that are split at a time, or as many as there are threads */
    FEW_RECORDS = 1 << 15,                       /* not worth a team of threads */
    FEW_ROWS = 1 << 13                           /* not worth the tables in which rows are added up beforehand */
};

void pess__partitions_begin(pess__partitions *p, int threads) {
    *p = (pess__partitions){.threads = threads, .limit = FIRST_LIMIT, .combines = true};
    pess__page_pool_begin(&p->pool);
}

static void free_combiners(pess__partitions *p) {
    for (int i = 0; p->combiner != NULL && i < p->threads; i++) {
        free(p->combiner[i].slot);
        free(p->combiner[i].left);
    }
    free(p->combiner);
    p->combiner = NULL;
}

void pess__partitions_free(pess__partitions *p) {
    pess__page_pool_free(&p->pool);
    free_combiners(p);
    free(p->split);
    free(p->row);
}

/* ------------------------------------------------------------------------------------------------ keys */

static void widen_list(pess__page_list *list, size_t item, pess__key_bits from, pess__key_bits to) {
    for (pess__page *page = list->first; page != NULL; page = page->next)
        for (int64_t at = 0; at < page->used; at += (int64_t)item) {
            uint64_t *key = (uint64_t *)(void *)((uint8_t *)page->items + at); /* the first member of both records */
            *key = pess__key_of(to, pess__key_parts_of(from, *key));
        }
}

/* Halves the number of partitions that are in use. */
static void join_neighbours(pess__partitions *p) {
    for (int i = 0; i < PESS__PARTITIONS; i++) {
        pess__partition joined = {0};
        for (int k = 2 * i; k < 2 * i + 2 && k < PESS__PARTITIONS; k++) {
            pess__page_list_join(&joined.rows, &p->partition[k].rows);
            pess__page_list_join(&joined.sums, &p->partition[k].sums);
        }
        p->partition[i] = joined;
    }
    p->shift++;
}

/* What was added up beforehand becomes records. */
static void flush_combiners(pess__partitions *p) {
    for (int i = 0; p->combiner != NULL && i < p->threads; i++) {
        pess__combiner *c = &p->combiner[i];
        for (int64_t k = 0; c->used > 0 && k < PESS__COMBINE_SLOTS; k++) {
            const pess__combined *slot = &c->slot[k];
            if (slot->n == 0) continue;
            const uint64_t pair = slot->key >> (p->bits.state + 2);
            pess__partitions_add_sum(p, &(pess__sum_record){slot->key, slot->n, slot->sum, slot->rest});
            if (slot->square != 0)
                pess__partitions_add_sum(p, &(pess__sum_record){(pair << 2 | PESS__SQUARES) << p->bits.state, 0,
                                                                slot->square, slot->square_rest});
            c->slot[k].n = 0;
        }
        c->used = 0;
    }
}

int pess__partitions_threads(const pess__partitions *p) {
    int64_t records = 0;
    for (int i = 0; i < PESS__PARTITIONS; i++) records += p->partition[i].rows.items + p->partition[i].sums.items;
    return records > FEW_RECORDS ? p->threads : 1;
}

void pess__partitions_widen(pess__partitions *p, pess__key_bits bits) {
    const pess__key_bits old = p->bits;
    flush_combiners(p);
    while (bits.state - p->shift > 10) join_neighbours(p);
    _Static_assert(PESS__PARTITIONS == 1 << 10, "ten bits of the state choose the partition");
    p->bits = bits;
#pragma omp parallel for schedule(dynamic, 16) num_threads(pess__partitions_threads(p))
    for (int i = 0; i < PESS__PARTITIONS; i++) {
        widen_list(&p->partition[i].rows, sizeof(pess__row), old, bits);
        widen_list(&p->partition[i].sums, sizeof(pess__sum_record), old, bits);
    }
}

/* ------------------------------------------------------------------------------------------------ sorting */

/* A record on its way through sorting: a row's reward, or the place of a sum. */
typedef struct item {
    uint64_t key; /* twice the record's, plus 1 for a sum */
    union {
        double reward;
        int64_t sum;
    };
} item;

/* What one thread needs to compact a partition. */
typedef struct workspace {
    item *item, *other;
    pess__sum_record *sum;
    int64_t item_capacity, other_capacity, sum_capacity;
    pess__exact value, square; /* the sums of one (s,a,s') and of its pair */
} workspace;

static void workspace_free(workspace *w) {
    free(w->item);
    free(w->other);
    free(w->sum);
}

static void sort_few(item *items, int64_t count) {
    for (int64_t i = 1; i < count; i++) {
        const item moving = items[i];
        int64_t k = i;
        for (; k > 0 && items[k - 1].key > moving.key; k--) items[k] = items[k - 1];
        items[k] = moving;
    }
}

/* How many of the highest bits to sort `count` items by: parts of about a dozen are left to insertion. */
static int digit_for(int64_t count) {
    int bits = 1;
    while (bits < DIGIT && count >> (bits + 4) != 0) bits++;
    return bits;
}

/* Radix sort from the highest bits that differ, so that after one or two passes parts fit the nearest cache and most
 * bits need not be looked at. The result is in `items`, or in `room` where that is asked for. */
static void sort_items(item *items, item *room, int64_t count, bool in_room) {
    uint64_t differ = 0;
    if (count <= SMALL_SORT)
        sort_few(items, count);
    else
        for (int64_t i = 1; i < count; i++) differ |= items[i].key ^ items[0].key;
    if (differ == 0) {
        if (in_room && count > 0) memcpy(room, items, (size_t)count * sizeof *items);
        return;
    }
    const int top = 64 - __builtin_clzll(differ), digit = digit_for(count), shift = top > digit ? top - digit : 0;
    const uint64_t mask = ((uint64_t)1 << digit) - 1;
    int64_t end[1 << DIGIT] = {0}, sum = 0, begin = 0;
    for (int64_t i = 0; i < count; i++) end[items[i].key >> shift & mask]++;
    for (uint64_t d = 0; d <= mask; d++) {
        const int64_t here = end[d];
        end[d] = sum;
        sum += here;
    }
    for (int64_t i = 0; i < count; i++) room[end[items[i].key >> shift & mask]++] = items[i];
    for (uint64_t d = 0; d <= mask; begin = end[d++]) sort_items(room + begin, items + begin, end[d] - begin, !in_room);
}

static bool gather(workspace *w, const pess__partition *partition) {
    const int64_t count = partition->rows.items + partition->sums.items;
    static const char what[] = "sorting counts";
    if (pess__grow(&w->item, &w->item_capacity, count, sizeof *w->item, what, NULL) != PESS_OK ||
        pess__grow(&w->other, &w->other_capacity, count, sizeof *w->other, what, NULL) != PESS_OK ||
        pess__grow(&w->sum, &w->sum_capacity, partition->sums.items, sizeof *w->sum, what, NULL) != PESS_OK)
        return false;
    item *next = w->item;
    pess__page_cursor rows = {partition->rows.first, 0}, sums = {partition->sums.first, 0};
    for (const pess__row *row; (row = pess__page_next(&rows, sizeof *row)) != NULL;)
        *next++ = (item){.key = 2 * row->key, .reward = row->reward};
    int64_t place = 0;
    for (const pess__sum_record *sum; (sum = pess__page_next(&sums, sizeof *sum)) != NULL; place++) {
        w->sum[place] = *sum;
        *next++ = (item){.key = 2 * sum->key + 1, .sum = place};
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ compaction */

/* Writes what `exact` holds as one record, or as several where two parts are not enough. */
static bool put_sum(pess__partitions *p, pess__page_list *list, uint64_t key, int64_t n, pess__exact *exact) {
    double part[PESS__EXACT_PARTS];
    const int parts = pess__exact_take(exact, part);
    for (int i = 0; i < parts; i += 2) {
        pess__sum_record *sum = pess__page_list_put(&p->pool, list, sizeof *sum);
        if (sum == NULL) return false;
        *sum = (pess__sum_record){key, i == 0 ? n : 0, part[i], i + 1 < parts ? part[i + 1] : 0};
    }
    return true;
}

/* Adds up the items of one key, which are w->item[from] … w->item[to-1]. */
static bool put_group(pess__partitions *p, workspace *w, pess__partition *out, int64_t from, int64_t to) {
    const uint64_t key = w->item[from].key >> 1;
    const pess__record_kind kind = pess__key_parts_of(p->bits, key).kind;
    out->successors += kind == PESS__GOES_ON;
    if (to - from == 1 && (w->item[from].key & 1) == 0) {
        pess__row *row = pess__page_list_put(&p->pool, &out->rows, sizeof *row);
        if (row != NULL) *row = (pess__row){key, w->item[from].reward};
        return row != NULL;
    }
    int64_t n = 0;
    pess__exact *const value = kind == PESS__SQUARES ? &w->square : &w->value;
    for (int64_t i = from; i < to; i++) {
        if (w->item[i].key & 1) {
            const pess__sum_record *sum = &w->sum[w->item[i].sum];
            n += sum->n;
            pess__exact_add(value, sum->value);
            if (sum->rest != 0) pess__exact_add(value, sum->rest);
        } else {
            const double r = w->item[i].reward;
            n++;
            pess__exact_add(value, r);
            pess__exact_add(&w->square, r * r);
        }
    }
    return kind == PESS__SQUARES || put_sum(p, &out->sums, key, n, value);
}

/* The squares of a pair stand behind its other records. */
static bool put_squares(pess__partitions *p, workspace *w, pess__partition *out, uint64_t pair) {
    if (w->square.sum == 0 && !w->square.wide) return true;
    return put_sum(p, &out->sums, (pair << 2 | PESS__SQUARES) << p->bits.state, 0, &w->square);
}

static bool compact(pess__partitions *p, workspace *w, pess__partition *partition) {
    const int64_t count = partition->rows.items + partition->sums.items;
    if (!gather(w, partition)) return false;
    pess__page_list_recycle(&p->pool, &partition->rows);
    pess__page_list_recycle(&p->pool, &partition->sums);
    sort_items(w->item, w->other, count, false);
    pess__partition out = {0};
    const int pair_shift = p->bits.state + 3;
    bool fine = true;
    for (int64_t from = 0, to = 0; from < count && fine; from = to) {
        while (to < count && w->item[to].key >> 1 == w->item[from].key >> 1) to++;
        const uint64_t pair = w->item[from].key >> pair_shift;
        fine = put_group(p, w, &out, from, to);
        if (fine && (to == count || w->item[to].key >> pair_shift != pair)) fine = put_squares(p, w, &out, pair);
    }
    *partition = out;
    return fine;
}

/* Partitions first, first + step, … */
static void compact_some(pess__partitions *p, int first, int step) {
    atomic_bool failed = false;
#pragma omp parallel num_threads(pess__partitions_threads(p))
    {
        workspace w = {0};
#pragma omp for schedule(dynamic, 1)
        for (int i = first; i < PESS__PARTITIONS; i += step)
            if (!failed && !compact(p, &w, &p->partition[i])) failed = true;
        workspace_free(&w);
    }
    p->failed |= failed;
}

static pess_status check(const pess__partitions *p, pess_error *error) {
    return p->failed ? pess__fail(error, PESS_MEMORY, "not enough memory for the counts of the log") : PESS_OK;
}

pess_status pess__partitions_compact(pess__partitions *p, pess_error *error) {
    flush_combiners(p);
    free_combiners(p);
    compact_some(p, 0, 1);
    return check(p, error);
}

/* Adding up beforehand goes on while most rows are met there. */
static void judge_combiners(pess__partitions *p) {
    int64_t asked = 0, met = 0;
    for (int i = 0; i < p->threads; i++) {
        asked += p->combiner[i].asked;
        met += p->combiner[i].met;
        p->combiner[i].asked = p->combiner[i].met = 0;
    }
    if (4 * met >= 3 * asked) return;
    flush_combiners(p);
    free_combiners(p);
    p->combines = false;
}

pess_status pess__partitions_check(pess__partitions *p, pess_error *error) {
    if (p->combiner != NULL) judge_combiners(p);
    const int64_t before = p->pool.in_use;
    if (before <= p->limit || p->failed) return check(p, error);
    int64_t sampled = 0;
    for (int i = 0; i < PESS__PARTITIONS; i += SAMPLE)
        sampled += p->partition[i].rows.items * (int64_t)sizeof(pess__row) +
                   p->partition[i].sums.items * (int64_t)sizeof(pess__sum_record);
    compact_some(p, 0, SAMPLE);
    const int64_t gained = before - p->pool.in_use;
    if (gained * PESS__PAGE_BYTES * 4 > sampled)
        for (int i = 1; i < SAMPLE; i++) compact_some(p, i, SAMPLE);
    p->limit = p->pool.in_use + p->pool.in_use / 2;
    if (p->limit < FIRST_LIMIT) p->limit = FIRST_LIMIT;
    return check(p, error);
}

/* ------------------------------------------------------------------------------------------------ rows */

/* Adds up what it can of the block; the other rows are in combiner->left. Returns how many those are. */
static int64_t combine_block(const pess__partitions *p, const pess__block *block, pess__combiner *combiner) {
    uint16_t *const left = combiner->left;
    int64_t count = 0;
    for (int64_t i = 0; i < block->rows; i++) {
        const pess__record_kind kind = block->end[i] == PESS_END_TERMINAL ? PESS__ENDS : PESS__GOES_ON;
        const pess__key_parts of = {block->state[i], block->action[i], block->next_state[i], kind};
        left[count] = (uint16_t)i;
        count += !pess__combine(combiner, pess__key_of(p->bits, of), block->reward[i]);
    }
    combiner->asked += block->rows;
    combiner->met += block->rows - count;
    return count;
}

void pess__partitions_split(pess__partitions *p, const pess__block *block, int64_t b, int thread) {
    const int shift = p->shift;
    uint32_t *const from = p->split[b].from;
    pess__row *const out = p->row + p->split[b].begin;
    uint32_t at[PESS__PARTITIONS] = {0}, sum = 0;
    const int64_t rows = p->combiner != NULL ? combine_block(p, block, &p->combiner[thread]) : block->rows;
    const uint16_t *const left = p->combiner != NULL ? p->combiner[thread].left : NULL;
    for (int64_t k = 0; k < rows; k++) at[block->state[left != NULL ? left[k] : k] >> shift]++;
    for (int k = 0; k < PESS__PARTITIONS; k++) {
        from[k] = sum;
        sum += at[k];
        at[k] = from[k];
    }
    from[PESS__PARTITIONS] = sum;
    for (int64_t k = 0; k < rows; k++) {
        const int64_t i = left != NULL ? left[k] : k;
        const uint32_t s = block->state[i];
        const pess__record_kind kind = block->end[i] == PESS_END_TERMINAL ? PESS__ENDS : PESS__GOES_ON;
        out[at[s >> shift]++] =
            (pess__row){pess__key_of(p->bits, (pess__key_parts){s, block->action[i], block->next_state[i], kind}),
                        block->reward[i]};
    }
}

static bool append_rows(pess__partitions *p, pess__page_list *list, const pess__row *rows, int64_t count) {
    while (count > 0) {
        const int64_t room =
            list->last != NULL ? (list->last->room - list->last->used) / (int64_t)sizeof(pess__row) : 0;
        const int64_t now = count < room ? count : room;
        if (now == 0) {
            if (!pess__page_list_grow(&p->pool, list)) return false;
            continue;
        }
        memcpy((uint8_t *)list->last->items + list->last->used, rows, (size_t)now * sizeof *rows);
        list->last->used += (int32_t)(now * (int64_t)sizeof *rows);
        list->items += now;
        rows += now;
        count -= now;
    }
    return true;
}

static pess_status make_combiners(pess__partitions *p, pess_error *error) {
    PESS_TRY(pess__allocate(&p->combiner, p->threads, sizeof *p->combiner, "counting", error));
    for (int i = 0; i < p->threads; i++) {
        pess__combiner *c = &p->combiner[i];
        PESS_TRY(pess__allocate(&c->slot, PESS__COMBINE_SLOTS, sizeof *c->slot, "counting", error));
        PESS_TRY(pess__allocate(&c->left, PESS__BLOCK_ROWS, sizeof *c->left, "counting", error));
    }
    return PESS_OK;
}

pess_status pess__partitions_expect(pess__partitions *p, const pess__block *blocks, int64_t count, pess_error *error) {
    int64_t rows = 0;
    for (int64_t b = 0; b < count; b++) rows += blocks[b].rows;
    if (p->combines && p->combiner == NULL && rows >= FEW_ROWS) PESS_TRY(make_combiners(p, error));
    PESS_TRY(pess__grow(&p->split, &p->split_capacity, count, sizeof *p->split, "counting", error));
    PESS_TRY(pess__grow(&p->row, &p->row_capacity, rows, sizeof *p->row, "counting", error));
    for (int64_t b = 0, at = 0; b < count; at += blocks[b++].rows) p->split[b].begin = at;
    return PESS_OK;
}

void pess__partitions_append(pess__partitions *p, int partition, int64_t count) {
    pess__page_list *list = &p->partition[partition].rows;
    for (int64_t b = 0; b < count; b++) {
        const uint32_t from = p->split[b].from[partition], to = p->split[b].from[partition + 1];
        if (from < to && !append_rows(p, list, p->row + p->split[b].begin + from, to - from))
            __atomic_store_n(&p->failed, true, __ATOMIC_RELAXED);
    }
}

void pess__partitions_add_row(pess__partitions *p, const pess__row *row) {
    const uint32_t state = pess__key_parts_of(p->bits, row->key).state;
    p->failed |= !append_rows(p, &p->partition[state >> p->shift].rows, row, 1);
}

void pess__partitions_add_sum(pess__partitions *p, const pess__sum_record *sum) {
    const uint32_t state = pess__key_parts_of(p->bits, sum->key).state;
    pess__sum_record *to = pess__page_list_put(&p->pool, &p->partition[state >> p->shift].sums, sizeof *to);
    if (to != NULL) *to = *sum;
    p->failed |= to == NULL;
}
