/* States in the order of a breadth-first search through the transitions that go on, in both directions: level by level
 * (those of Cuthill and McKee 1969), within a level by name. A step leads to the same level or the next one, so ranges
 * of states have few neighbours elsewhere, and rows lead to values nearby. It is a heuristic: graphs without any such
 * order keep that of their names, which is as good. The same on any number of ranks. */
#include "scale/reorder.h"

#include "core/memory.h"
#include "scale/slab.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW_STATES = 4096,   /* not worth it */
    SECTIONS = 16,       /* an edge is long where it leads from one sixteenth of the states to another */
    LONG_SHARE = 10,     /* at most one edge in so many is long: the order is good as it is */
    MOST_LEVELS = 50000, /* each costs a few messages; states beyond keep the order of their names */
    MOST_PIECES = 1000,  /* likewise */
    HUB = 16,
    HUB_AT = 64, /* a state of so many times the mean degree, and of so many neighbours, leads on to none */
    SMALL_SORT = 32
};

static pess__reorder wanted;

void pess__reorder_set(pess__reorder how) { wanted = how; }

/* ------------------------------------------------------------------------------------------------ the graph */

typedef struct edge {
    uint32_t from, to; /* numbers */
} edge;

/* Neighbours of the own states, each once, ascending. */
typedef struct graph {
    int64_t first, own;
    int64_t *row; /* [own+1] */
    uint32_t *to;
} graph;

static void graph_free(graph *g) {
    free(g->row);
    free(g->to);
    *g = (graph){0};
}

static int compare_ids(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void sort_ids(uint32_t *id, int64_t count) {
    if (count > SMALL_SORT) {
        qsort(id, (size_t)count, sizeof *id, compare_ids);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        const uint32_t moved = id[i];
        int64_t at = i;
        for (; at > 0 && id[at - 1] > moved; at--) id[at] = id[at - 1];
        id[at] = moved;
    }
}

/* Each neighbour once. */
static void tidy(graph *g) {
    int64_t used = 0;
    for (int64_t s = 0, begin = 0; s < g->own; s++) {
        const int64_t end = g->row[s + 1], kept = used;
        sort_ids(g->to + begin, end - begin);
        for (int64_t i = begin; i < end; i++)
            if (used == kept || g->to[used - 1] != g->to[i]) g->to[used++] = g->to[i];
        begin = end;
        g->row[s + 1] = used;
    }
}

static pess_status graph_of(const edge *list, int64_t count, int64_t first, int64_t own, graph *out,
                            pess_error *error) {
    *out = (graph){.first = first, .own = own};
    PESS_TRY(pess__allocate(&out->row, own + 2, sizeof *out->row, "the graph of the states", error));
    PESS_TRY(pess__allocate(&out->to, count, sizeof *out->to, "the graph of the states", error));
    for (int64_t i = 0; i < count; i++) out->row[list[i].from - first + 2]++;
    for (int64_t s = 0; s < own; s++) out->row[s + 2] += out->row[s + 1];
    for (int64_t i = 0; i < count; i++) out->to[out->row[list[i].from - first + 1]++] = list[i].to;
    tidy(out);
    return PESS_OK;
}

/* Transitions that go on, forwards. */
static pess_status forward_edges(const pess__share *share, edge **list, int64_t *count, pess_error *error) {
    *count = 0;
    PESS_TRY(pess__allocate(list, share->records, sizeof **list, "the graph of the states", error));
    for (int64_t i = 0; i < share->records; i++) {
        const pess__pesscounts_record *r = &share->record[i];
        if (r->kind == PESS__GOES_ON && r->state != r->next_state)
            (*list)[(*count)++] = (edge){r->state, r->next_state};
    }
    return PESS_OK;
}

/* The edges of a graph, turned round, and who has the state that each then comes from. */
static pess_status turn_round(const graph *g, const int64_t *begin, edge **list, int32_t **to, int64_t *count,
                              pess_error *error) {
    *count = g->row[g->own];
    PESS_TRY(pess__allocate(list, *count, sizeof **list, "the graph of the states", error));
    PESS_TRY(pess__allocate(to, *count, sizeof **to, "the graph of the states", error));
    for (int64_t s = 0; s < g->own; s++)
        for (int64_t k = g->row[s]; k < g->row[s + 1]; k++) {
            (*list)[k] = (edge){g->to[k], (uint32_t)(s + g->first)};
            (*to)[k] = pess__slab_rank(begin, g->to[k]);
        }
    return PESS_OK;
}

static pess_status add_forwards(const graph *g, edge **list, int64_t *count, pess_error *error) {
    int64_t room = *count;
    PESS_TRY(pess__grow(list, &room, *count + g->row[g->own], sizeof **list, "the graph of the states", error));
    for (int64_t s = 0; s < g->own; s++)
        for (int64_t k = g->row[s]; k < g->row[s + 1]; k++)
            (*list)[(*count)++] = (edge){(uint32_t)(s + g->first), g->to[k]};
    return PESS_OK;
}

static pess_status graph_of_share(const pess__share *share, graph *out, pess_error *error) {
    const int64_t first = share->begin[pess__ranks_all.rank], own = share->begin[pess__ranks_all.rank + 1] - first;
    graph forwards = {0};
    edge *list = NULL;
    int32_t *to = NULL;
    int64_t count = 0;
    pess_status status = forward_edges(share, &list, &count, error);
    if (status == PESS_OK) status = graph_of(list, count, first, own, &forwards, error);
    free(list);
    list = NULL;
    if (status == PESS_OK) status = turn_round(&forwards, share->begin, &list, &to, &count, error);
    status = pess__agree(status, error);
    if (status == PESS_OK) status = pess__exchange(&list, &count, sizeof *list, to, error);
    free(to);
    if (status == PESS_OK) status = add_forwards(&forwards, &list, &count, error);
    graph_free(&forwards);
    if (status == PESS_OK) status = graph_of(list, count, first, own, out, error);
    free(list);
    return pess__agree(status, error);
}

/* ------------------------------------------------------------------------------------------------ levels */

/* What a rank sends to another, or gets from it, in one step. */
typedef struct parcel {
    int count; /* states that the wave comes to */
    int waves; /* whether the sender had a wave at all */
} parcel;

typedef struct search {
    const graph *graph;
    const int64_t *begin; /* [size+1] the first state of every rank */
    int32_t *level;       /* [own] -1: not reached */
    int32_t *wave, *next; /* [own] states of the present level and of the one behind it */
    int64_t waves, nexts; /* how many */
    uint32_t *sent, *got; /* [edges that lead elsewhere]: each is sent once at most, and comes once at most */
    parcel *to, *from;    /* [size] */
    int *counts;          /* [4*size] for MPI: counts and beginnings of what goes and comes */
    int64_t root;         /* no state before it can begin a piece */
    int64_t hub;          /* from this degree on */
    int32_t levels;
} search;

static void reach(search *f, int64_t s) {
    if (f->level[s] >= 0) return;
    f->level[s] = f->levels;
    f->next[f->nexts++] = (int32_t)s;
}

static int64_t degree(const graph *g, int64_t s) { return g->row[s + 1] - g->row[s]; }

static bool is_here(const graph *g, uint32_t state) { return state >= g->first && state < g->first + g->own; }

/* The next piece of the graph begins at its state of the smallest number. False: there is none. */
static bool begin_piece(search *f) {
    const graph *g = f->graph;
    while (f->root < g->own && (f->level[f->root] >= 0 || degree(g, f->root) == 0)) f->root++;
    const int64_t mine = f->root < g->own ? f->root + g->first : INT64_MAX;
    const int64_t smallest = -pess__ranks_largest(-mine);
    if (smallest == INT64_MAX) return false;
    if (smallest == mine) reach(f, f->root);
    return true;
}

/* Reaches what the wave comes to here and counts what it comes to elsewhere; with `begin`, lists the latter by rank. */
static void spread(search *f, int *begin) {
    const graph *g = f->graph;
    for (int64_t i = 0; i < f->waves; i++) {
        const int64_t s = f->wave[i];
        if (degree(g, s) >= f->hub) continue;
        for (int64_t k = g->row[s]; k < g->row[s + 1]; k++) {
            if (begin == NULL && is_here(g, g->to[k])) reach(f, (int64_t)g->to[k] - g->first);
            if (is_here(g, g->to[k])) continue;
            const int rank = pess__slab_rank(f->begin, g->to[k]);
            if (begin == NULL)
                f->to[rank].count++;
            else
                f->sent[begin[rank]++] = g->to[k];
        }
    }
}

/* One level further. False: there was no wave anywhere. */
static bool advance(search *f) {
    const int size = pess__ranks_all.size;
    int *count = f->counts, *begin = count + size, *from_count = begin + size, *from_begin = from_count + size;
    int32_t *const swap = f->wave;
    bool any = false;
    f->wave = f->next;
    f->next = swap;
    f->waves = f->nexts;
    f->nexts = 0;
    f->levels++;
    for (int r = 0; r < size; r++) f->to[r] = (parcel){.waves = f->waves > 0};
    spread(f, NULL);
    MPI_Alltoall(f->to, 2, MPI_INT, f->from, 2, MPI_INT, pess__ranks_all.comm);
    for (int r = 0, sends = 0, gets = 0; r < size; r++) {
        any = any || f->from[r].waves != 0;
        begin[r] = sends;
        from_begin[r] = gets;
        sends += count[r] = f->to[r].count;
        gets += from_count[r] = f->from[r].count;
    }
    spread(f, begin);
    for (int r = 0; r < size; r++) begin[r] -= count[r];
    MPI_Alltoallv(f->sent, count, begin, MPI_UINT32_T, f->got, from_count, from_begin, MPI_UINT32_T,
                  pess__ranks_all.comm);
    for (int64_t i = 0; i < (int64_t)from_begin[size - 1] + from_count[size - 1]; i++)
        reach(f, (int64_t)f->got[i] - f->graph->first);
    return any;
}

static void search_all(search *f, int64_t states) {
    const graph *g = f->graph;
    const int64_t mean = pess__ranks_total(g->row[g->own]) / states + 1;
    f->hub = mean * HUB > HUB_AT ? mean * HUB : HUB_AT;
    for (int pieces = 0; pieces < MOST_PIECES && f->levels < MOST_LEVELS && begin_piece(f); pieces++) {
        bool goes_on = true;
        while (goes_on && f->levels < MOST_LEVELS) goes_on = advance(f);
        f->levels -= !goes_on; /* the last one was empty */
    }
    for (int64_t s = 0; s < g->own; s++)
        if (f->level[s] < 0) f->level[s] = f->levels + 1;
}

static pess_status search_create(const graph *g, const int64_t *begin, search *out, pess_error *error) {
    static const char what[] = "a search of the states";
    const int size = pess__ranks_all.size;
    int64_t elsewhere = 0;
    *out = (search){.graph = g, .begin = begin};
    for (int64_t k = 0; k < g->row[g->own]; k++) elsewhere += !is_here(g, g->to[k]);
    if (elsewhere > INT_MAX)
        return pess__fail(error, PESS_LIMIT, "%lld next states elsewhere: more ranks are needed, each has too much",
                          (long long)elsewhere);
    PESS_TRY(pess__allocate(&out->level, g->own, sizeof *out->level, what, error));
    PESS_TRY(pess__allocate(&out->wave, g->own, sizeof *out->wave, what, error));
    PESS_TRY(pess__allocate(&out->next, g->own, sizeof *out->next, what, error));
    PESS_TRY(pess__allocate(&out->sent, elsewhere, sizeof *out->sent, what, error));
    PESS_TRY(pess__allocate(&out->got, elsewhere, sizeof *out->got, what, error));
    PESS_TRY(pess__allocate(&out->to, size, sizeof *out->to, what, error));
    PESS_TRY(pess__allocate(&out->from, size, sizeof *out->from, what, error));
    PESS_TRY(pess__allocate(&out->counts, 4 * (int64_t)size, sizeof *out->counts, what, error));
    for (int64_t s = 0; s < g->own; s++) out->level[s] = -1;
    return PESS_OK;
}

static void search_free(search *f) {
    free(f->level);
    free(f->wave);
    free(f->next);
    free(f->sent);
    free(f->got);
    free(f->to);
    free(f->from);
    free(f->counts);
}

/* Places by level, then by number: level begins + how many of it are on ranks before + how many were here before. */
static pess_status number_levels(const search *f, int64_t *place, pess_error *error) {
    const int64_t levels = f->levels + 2;
    int64_t *here = NULL, *before = NULL, *all = NULL, sum = 0;
    pess_status status = pess__allocate(&here, levels, sizeof *here, "levels", error);
    if (status == PESS_OK) status = pess__allocate(&before, levels, sizeof *before, "levels", error);
    if (status == PESS_OK) status = pess__allocate(&all, levels, sizeof *all, "levels", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) {
        for (int64_t s = 0; s < f->graph->own; s++) here[f->level[s]]++;
        MPI_Exscan(here, before, (int)levels, MPI_INT64_T, MPI_SUM, pess__ranks_all.comm);
        MPI_Allreduce(here, all, (int)levels, MPI_INT64_T, MPI_SUM, pess__ranks_all.comm);
        if (pess__ranks_all.rank == 0) memset(before, 0, (size_t)levels * sizeof *before);
        for (int64_t l = 0; l < levels; l++) before[l] += sum, sum += all[l];
        for (int64_t s = 0; s < f->graph->own; s++) place[s] = before[f->level[s]]++;
    }
    free(here);
    free(before);
    free(all);
    return status;
}

static pess_status find_places(const graph *g, const pess__share *share, int64_t *place, pess_error *error) {
    search f;
    pess_status status = pess__agree(search_create(g, share->begin, &f, error), error);
    if (status == PESS_OK) search_all(&f, share->states);
    if (status == PESS_OK) status = number_levels(&f, place, error);
    search_free(&f);
    return status;
}

/* ------------------------------------------------------------------------------------------------ does it pay? */

/* The share of edges that are long. place [places of the slab], or NULL: the places are the numbers. */
static double long_share(const graph *g, const pess__slab *slab, const double *place, int64_t states) {
    double longer = 0;
    for (int64_t s = 0; s < g->own; s++) {
        const int64_t from = place != NULL ? (int64_t)place[s] : s + g->first;
        for (int64_t k = g->row[s]; k < g->row[s + 1]; k++) {
            const int64_t to = place != NULL ? (int64_t)place[pess__slab_place(slab, g->to[k])] : (int64_t)g->to[k];
            longer += from * SECTIONS / states != to * SECTIONS / states;
        }
    }
    const double edges = pess__ranks_sum((double)g->row[g->own]);
    return edges > 0 ? pess__ranks_sum(longer) / edges : 0;
}

/* ------------------------------------------------------------------------------------------------ moving */

/* Records go by places, to whom the places belong. */
static pess_status move(pess__share *share, const pess__slab *slab, const int64_t *own_place, const double *place,
                        pess_error *error) {
    int64_t *const by_number = share->begin;
    for (int64_t i = 0; i < share->records; i++) {
        pess__pesscounts_record *r = &share->record[i];
        r->state = (uint32_t)own_place[r->state - slab->spread.first];
        if (r->kind != PESS__SQUARES) r->next_state = (uint32_t)place[pess__slab_place(slab, r->next_state)];
    }
    share->begin = NULL;
    pess_status status = pess__share_out(share, error);
    if (status == PESS_OK) status = pess__order_create(by_number, own_place, share->begin, &share->order, error);
    free(by_number);
    return status;
}

/* Places for the neighbours elsewhere, and for the states elsewhere that transitions end in. */
static pess_status places_of(const pess__share *share, const graph *g, pess__slab **out, pess_error *error) {
    const int64_t past = g->first + g->own;
    int64_t *elsewhere = NULL, count = 0;
    PESS__TRY_TOGETHER(
        pess__allocate(&elsewhere, share->records + g->row[g->own], sizeof *elsewhere, "states elsewhere", error),
        error);
    for (int64_t k = 0; k < g->row[g->own]; k++)
        if (g->to[k] < g->first || g->to[k] >= past) elsewhere[count++] = g->to[k];
    for (int64_t i = 0; i < share->records; i++) {
        const int64_t next = share->record[i].next_state;
        if (share->record[i].kind == PESS__ENDS && (next < g->first || next >= past)) elsewhere[count++] = next;
    }
    const pess_status status = pess__slab_create(share->states, share->begin, elsewhere, count, out, error);
    free(elsewhere);
    return status;
}

static pess_status consider(pess__share *share, const graph *g, const pess__slab *slab, pess_error *error) {
    int64_t *own_place = NULL;
    double *place = NULL;
    pess_status status = pess__allocate(&own_place, g->own, sizeof *own_place, "places", error);
    if (status == PESS_OK) status = pess__allocate(&place, slab->places, sizeof *place, "places", error);
    status = pess__agree(status, error);
    if (status == PESS_OK) status = find_places(g, share, own_place, error);
    if (status == PESS_OK) {
        for (int64_t s = 0; s < g->own; s++) place[s] = (double)own_place[s];
        pess__slab_refresh(slab, place);
        const double before = long_share(g, slab, NULL, share->states),
                     after = long_share(g, slab, place, share->states);
        if (wanted == PESS__REORDER_ON || 2 * after <= before) {
            status = move(share, slab, own_place, place, error);
            if (status == PESS_OK)
                (void)snprintf(share->order->why, sizeof share->order->why,
                               "states reordered: %.2g %% far successors instead of %.2g %%", 100 * after,
                               100 * before);
        }
    }
    free(own_place);
    free(place);
    return status;
}

pess_status pess__reorder_share(pess__share *share, pess_error *error) {
    graph g = {0};
    pess__slab *slab = NULL;
    if (wanted == PESS__REORDER_OFF || (wanted == PESS__REORDER_AUTO && share->states < FEW_STATES)) return PESS_OK;
    pess_status status = graph_of_share(share, &g, error);
    const bool good = status == PESS_OK && wanted == PESS__REORDER_AUTO &&
                      LONG_SHARE * long_share(&g, NULL, NULL, share->states) <= 1;
    if (status == PESS_OK && !good) status = places_of(share, &g, &slab, error);
    if (status == PESS_OK && !good) status = consider(share, &g, slab, error);
    pess__slab_destroy(slab);
    graph_free(&g);
    return status;
}
