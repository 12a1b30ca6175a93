#include "solve/lanes.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- the plan: minimum degree, ties to the least fill, then to the smallest number */

/* The graph that is eliminated, as a bit matrix: n is at most a few thousand. */
typedef struct graph {
    int64_t n, words;
    uint64_t *edge; /* [n*words] */
    int32_t *degree;
    bool *gone;
} graph;

static uint64_t *edges_of(const graph *g, int64_t v) { return g->edge + v * g->words; }
static bool has_edge(const graph *g, int64_t v, int64_t w) { return edges_of(g, v)[w >> 6] >> (w & 63) & 1; }

static void remove_edge(const graph *g, int64_t v, int64_t w) { edges_of(g, v)[w >> 6] &= ~((uint64_t)1 << (w & 63)); }

static int64_t list_edges(const graph *g, int64_t v, uint32_t *out) {
    int64_t count = 0;
    for (int64_t word = 0; word < g->words; word++)
        for (uint64_t bits = edges_of(g, v)[word]; bits != 0; bits &= bits - 1)
            out[count++] = (uint32_t)(64 * word + __builtin_ctzll(bits));
    return count;
}

static int64_t fill_of(const graph *g, int64_t v, uint32_t *list) {
    const int64_t count = list_edges(g, v, list);
    int64_t fill = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++) fill += !has_edge(g, list[i], list[j]);
    return fill;
}

/* Comparing fill is worth its cost on small graphs only. */
static int64_t choose(const graph *g, uint32_t *list) {
    int32_t least = INT32_MAX;
    for (int64_t v = 0; v < g->n; v++)
        if (!g->gone[v] && g->degree[v] < least) least = g->degree[v];
    int64_t best = -1, best_fill = INT64_MAX;
    for (int64_t v = 0; v < g->n; v++) {
        if (g->gone[v] || g->degree[v] != least) continue;
        const int64_t fill = g->n <= 256 ? fill_of(g, v, list) : 0;
        if (fill < best_fill) {
            best_fill = fill;
            best = v;
        }
    }
    return best;
}

/* The neighbours of v become neighbours of each other. */
static void eliminate(graph *g, int64_t v, const uint32_t *list, int64_t count) {
    g->gone[v] = true;
    for (int64_t i = 0; i < count; i++) {
        uint64_t *row = edges_of(g, list[i]);
        int32_t degree = 0;
        for (int64_t word = 0; word < g->words; word++) row[word] |= edges_of(g, v)[word];
        remove_edge(g, list[i], list[i]);
        remove_edge(g, list[i], v);
        for (int64_t word = 0; word < g->words; word++) degree += __builtin_popcountll(row[word]);
        g->degree[list[i]] = degree;
    }
}

static int compare_steps(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Fills state, upper_row and, growing it, upper (as states; number_steps turns them into steps). */
static pess_status order_states(pess__lanes_plan *plan, graph *g, uint32_t *list, uint32_t *fill_list,
                                pess_error *error) {
    int64_t capacity = 0;
    for (int64_t i = 0; i < plan->n; i++) {
        const int64_t v = choose(g, fill_list);
        const int64_t count = list_edges(g, v, list);
        PESS_TRY(pess__grow(&plan->upper, &capacity, plan->upper_count + count + 1, sizeof *plan->upper,
                            "the elimination plan", error));
        memcpy(plan->upper + plan->upper_count, list, (size_t)count * sizeof *list);
        plan->state[i] = (uint32_t)v;
        plan->upper_row[i] = plan->upper_count;
        plan->upper_count += count;
        plan->operations += count * count + 3 * count;
        eliminate(g, v, list, count);
    }
    plan->upper_row[plan->n] = plan->upper_count;
    return PESS_OK;
}

/* States become steps, rows are sorted, and the pattern of L is that of U transposed. */
static pess_status number_steps(pess__lanes_plan *plan, const uint32_t *neighbour, uint32_t *step_of,
                                pess_error *error) {
    const int64_t n = plan->n;
    for (int64_t i = 0; i < n; i++) step_of[plan->state[i]] = (uint32_t)i;
    for (int64_t i = 0; i < n; i++)
        for (int64_t d = 0; d < PESS__NEIGHBOURS; d++)
            plan->position[i * PESS__NEIGHBOURS + d] = step_of[neighbour[plan->state[i] * PESS__NEIGHBOURS + d]];
    PESS_TRY(pess__allocate(&plan->lower, plan->upper_count, sizeof *plan->lower, "the elimination plan", error));
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = plan->upper_row[i], end = plan->upper_row[i + 1];
        for (int64_t e = begin; e < end; e++) plan->upper[e] = step_of[plan->upper[e]];
        qsort(plan->upper + begin, (size_t)(end - begin), sizeof *plan->upper, compare_steps);
        for (int64_t e = begin; e < end; e++) plan->lower_row[plan->upper[e] + 1]++;
    }
    for (int64_t i = 0; i < n; i++) plan->lower_row[i + 1] += plan->lower_row[i];
    memset(step_of, 0, (size_t)n * sizeof *step_of); /* from here: entries placed per row */
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = plan->upper_row[i]; e < plan->upper_row[i + 1]; e++) {
            const uint32_t row = plan->upper[e];
            plan->lower[plan->lower_row[row] + step_of[row]++] = (uint32_t)i;
        }
    return PESS_OK;
}

static pess_status make_plan(pess__lanes_plan *plan, const uint32_t *neighbour, graph *g, uint32_t **lists,
                             pess_error *error) {
    const int64_t n = plan->n;
    const char *what = "the elimination plan";
    PESS_TRY(pess__allocate(&plan->state, n, sizeof *plan->state, what, error));
    PESS_TRY(pess__allocate(&plan->position, n * PESS__NEIGHBOURS, sizeof *plan->position, what, error));
    PESS_TRY(pess__allocate(&plan->lower_row, n + 1, sizeof *plan->lower_row, what, error));
    PESS_TRY(pess__allocate(&plan->upper_row, n + 1, sizeof *plan->upper_row, what, error));
    PESS_TRY(pess__allocate(&g->edge, n * g->words, sizeof *g->edge, what, error));
    PESS_TRY(pess__allocate(&g->degree, n, sizeof *g->degree, what, error));
    PESS_TRY(pess__allocate(&g->gone, n, sizeof *g->gone, what, error));
    PESS_TRY(pess__allocate(lists, 2 * n, sizeof **lists, what, error));
    for (int64_t s = 0; s < n; s++) {
        for (int64_t d = 0; d < PESS__NEIGHBOURS; d++) {
            const uint32_t t = neighbour[s * PESS__NEIGHBOURS + d];
            if (t != s) edges_of(g, s)[t >> 6] |= (uint64_t)1 << (t & 63);
        }
        g->degree[s] = (int32_t)list_edges(g, s, *lists);
    }
    PESS_TRY(order_states(plan, g, *lists, *lists + n, error));
    return number_steps(plan, neighbour, *lists, error);
}

pess_status pess__lanes_plan_create(int64_t n, const uint32_t *neighbour, pess__lanes_plan **out, pess_error *error) {
    pess__lanes_plan *plan = NULL;
    PESS_TRY(pess__allocate(&plan, 1, sizeof *plan, "the elimination plan", error));
    plan->n = n;
    graph g = {.n = n, .words = (n + 63) / 64};
    uint32_t *lists = NULL;
    const pess_status status = make_plan(plan, neighbour, &g, &lists, error);
    free(g.edge);
    free(g.degree);
    free(g.gone);
    free(lists);
    if (status != PESS_OK) {
        pess__lanes_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return PESS_OK;
}

void pess__lanes_plan_destroy(pess__lanes_plan *plan) {
    if (plan == NULL) return;
    free(plan->state);
    free(plan->position);
    free(plan->lower_row);
    free(plan->lower);
    free(plan->upper_row);
    free(plan->upper);
    free(plan);
}

int64_t pess__lanes_plan_operations(const pess__lanes_plan *plan) { return plan->operations; }

/* ---- a batch */

enum { REGISTERS = PESS__LANES * sizeof(double) }; /* bytes of one number of every lane */

pess_status pess__lanes_create(const pess__lanes_plan *plan, pess__lanes *out, pess_error *error) {
    const int64_t n = plan->n, vectors = n * (PESS__NEIGHBOURS + 2 + 2 + 1 + 1 + 2) + plan->upper_count + 1;
    void *memory = NULL;
    PESS_TRY(pess__allocate(&memory, vectors + 1, REGISTERS, "a batch of systems", error));
    char *aligned = (char *)memory + (REGISTERS - (uintptr_t)memory % REGISTERS) % REGISTERS;
    double *at = (double *)(void *)aligned;
    out->memory = memory;
    double **const parts[] = {&out->coefficient, &out->right,   &out->solution, &out->pivot,
                              &out->work,        &out->forward, &out->upper};
    const int64_t sizes[] = {n * PESS__NEIGHBOURS, 2 * n, 2 * n, n, n, 2 * n, plan->upper_count};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        *parts[i] = at;
        at += sizes[i] * PESS__LANES;
    }
    return PESS_OK;
}

void pess__lanes_destroy(pess__lanes *lanes) {
    free(lanes->memory);
    memset(lanes, 0, sizeof *lanes);
}
