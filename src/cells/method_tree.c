/* Cells as the leaves of a small tree of questions "is lactate below 2.1?".
 *
 * A question is good where the rows on its two sides have different futures. The future of a row is its reward and the
 * measurements of the next row of its episode (standardised), each less the mean over the rows with the same action, so
 * that what the action explains does not count. Half of the weight is the reward's, half is shared by the measurements;
 * a log without rewards or next rows leaves the other half alone, one with neither is split by its own measurements.
 * The leaf is split, and the question asked, where the weighted squared errors about the means of the leaves fall most:
 *
 *     gain = Σ_t w_t ( S_left² / n_left + S_right² / n_right − S² / n ).
 *
 * Thresholds are among 63 quantiles of each column; a leaf has at least 20 rows. At most 100,000 rows take part, one of
 * each of as many equal ranges. */
#include "cells/map.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 64, LEAST_ROWS = 20, MOST_ROWS = 100000 };

typedef struct leaf {
    int64_t from, to; /* of `order` */
    int32_t node;
    double gain; /* of its best question; 0: none */
    int32_t coordinate, bin;
} leaf;

typedef struct grower {
    const pess__making *making;
    pess_map *map;
    int64_t rows, targets;
    int64_t *pick;  /* [rows] which of the making rows */
    uint8_t *bin;   /* [rows*coordinates] */
    double *edge;   /* [coordinates*(BINS - 1)] raw, ascending; INFINITY where there are fewer */
    float *target;  /* [rows*targets] the future, weighted by √w */
    int64_t *order; /* [rows] rows leaf by leaf */
    leaf *leaves;   /* [cells] */
    int64_t leaf_count;
} grower;

/* ---- the futures */

/* Takes off the mean of the rows with the same action (of all rows where there are none), and gives the column the
 * weight: its squares sum to weight × rows. */
static pess_status centre_column(grower *g, int64_t t, double weight, pess_error *error) {
    const uint32_t *action = g->making->measurements->action;
    int64_t actions = 1;
    for (int64_t i = 0; action != NULL && i < g->rows; i++) {
        const int64_t a = action[g->making->row[g->pick[i]]];
        actions = a >= actions ? a + 1 : actions;
    }
    double *sum = NULL;
    PESS_TRY(pess__allocate(&sum, 2 * actions, sizeof *sum, "the futures of rows", error));
    double *number = sum + actions, squares = 0;
    for (int64_t i = 0; i < g->rows; i++) {
        const int64_t a = action != NULL ? action[g->making->row[g->pick[i]]] : 0;
        if (isnan(g->target[i * g->targets + t])) continue;
        sum[a] += (double)g->target[i * g->targets + t];
        number[a]++;
    }
    for (int64_t i = 0; i < g->rows; i++) {
        const int64_t a = action != NULL ? action[g->making->row[g->pick[i]]] : 0;
        float *value = &g->target[i * g->targets + t];
        *value = isnan(*value) ? 0 : (float)((double)*value - sum[a] / number[a]);
        squares += (double)*value * (double)*value;
    }
    const double factor = squares > 0 ? sqrt(weight * (double)g->rows / squares) : 0;
    for (int64_t i = 0; i < g->rows; i++)
        g->target[i * g->targets + t] = (float)(factor * (double)g->target[i * g->targets + t]);
    free(sum);
    return PESS_OK;
}

/* Column 0 is the reward, the others are measurements: of the next row, or of the row itself where no row has a next
 * one. NAN: not known. */
static pess_status fill_futures(grower *g, const int64_t *next, pess_error *error) {
    const pess_measurements *m = g->making->measurements;
    const int64_t k = g->map->coordinates;
    bool follows = false;
    for (int64_t i = 0; i < g->rows; i++) follows |= next[g->making->row[g->pick[i]]] >= 0;
    const bool own = !follows && m->reward == NULL;
    for (int64_t i = 0; i < g->rows; i++) {
        const int64_t row = g->making->row[g->pick[i]];
        const bool dropped = m->dropped != NULL && m->dropped[row];
        const int64_t then = own ? row : dropped ? -1 : next[row];
        float *target = g->target + i * g->targets;
        double raw[PESS__MAX_COORDINATES];
        target[0] = m->reward != NULL && !dropped ? (float)m->reward[row] : NAN;
        if (then < 0 || pess__map_coordinates(g->map, m->values + then * m->features.count, raw, target + 1) >= 0)
            for (int64_t j = 0; j < k; j++) target[1 + j] = NAN;
    }
    PESS_TRY(centre_column(g, 0, 0.5, error));
    for (int64_t j = 0; j < k; j++) PESS_TRY(centre_column(g, 1 + j, 0.5 / (double)k, error));
    return PESS_OK;
}

/* ---- bins of the columns */

static int compare(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void bin_column(grower *g, int64_t j, double *sorted) {
    const int64_t k = g->map->coordinates;
    double *edge = g->edge + j * (BINS - 1);
    int edges = 0;
    for (int64_t i = 0; i < g->rows; i++) sorted[i] = g->making->raw[g->pick[i] * k + j];
    qsort(sorted, (size_t)g->rows, sizeof *sorted, compare);
    for (int b = 1; b < BINS; b++) {
        const double value = sorted[g->rows * b / BINS];
        if (value > sorted[0] && (edges == 0 || value > edge[edges - 1])) edge[edges++] = value;
    }
    if (edges == 0 && sorted[g->rows - 1] > sorted[0]) edge[edges++] = sorted[g->rows - 1];
    for (int e = edges; e < BINS - 1; e++) edge[e] = INFINITY;
    for (int64_t i = 0; i < g->rows; i++) {
        int b = 0;
        while (b < edges && edge[b] <= g->making->raw[g->pick[i] * k + j]) b++;
        g->bin[i * k + j] = (uint8_t)b;
    }
}

/* ---- questions */

/* The best question about coordinate j in the leaf; sums [BINS*(targets + 1)] is scratch: counts, then targets. */
static double best_question(const grower *g, const leaf *l, int64_t j, double *sums, int32_t *bin) {
    const int64_t k = g->map->coordinates, t = g->targets, width = t + 1, n = l->to - l->from;
    memset(sums, 0, (size_t)(BINS * width) * sizeof *sums);
    for (int64_t i = l->from; i < l->to; i++) {
        const int64_t row = g->order[i];
        double *to = sums + g->bin[row * k + j] * width;
        const float *target = g->target + row * t;
        to[0]++;
        for (int64_t c = 0; c < t; c++) to[1 + c] += (double)target[c];
    }
    for (int b = 1; b < BINS; b++)
        for (int64_t c = 0; c < width; c++) sums[b * width + c] += sums[(b - 1) * width + c];
    const double *all = sums + (BINS - 1) * width;
    double best = 0;
    for (int b = 0; b < BINS - 1; b++) {
        const double *left = sums + b * width;
        if (left[0] < LEAST_ROWS || all[0] - left[0] < LEAST_ROWS) continue;
        double gain = 0;
        for (int64_t c = 1; c <= t; c++) {
            const double right = all[c] - left[c];
            gain += left[c] * left[c] / left[0] + right * right / (all[0] - left[0]) - all[c] * all[c] / (double)n;
        }
        if (gain > best) {
            best = gain;
            *bin = b;
        }
    }
    return best;
}

static pess_status find_question(const grower *g, leaf *l, pess_error *error) {
    const int64_t k = g->map->coordinates, room = BINS * (g->targets + 1);
    double *sums = NULL, *gain = NULL;
    int32_t *bin = NULL;
    pess_status status = pess__allocate(&sums, k * room, sizeof *sums, "the tree", error);
    if (status == PESS_OK) status = pess__allocate(&gain, k, sizeof *gain, "the tree", error);
    if (status == PESS_OK) status = pess__allocate(&bin, k, sizeof *bin, "the tree", error);
    if (status == PESS_OK) {
#pragma omp parallel for num_threads(g->making->options->threads)                                                      \
    schedule(dynamic, 1) if (g->making->options->threads > 1)
        for (int64_t j = 0; j < k; j++) gain[j] = best_question(g, l, j, sums + j * room, &bin[j]);
        l->gain = 0;
        for (int64_t j = 0; j < k; j++)
            if (gain[j] > l->gain) {
                l->gain = gain[j];
                l->coordinate = (int32_t)j;
                l->bin = bin[j];
            }
    }
    free(sums);
    free(gain);
    free(bin);
    return status;
}

/* Rows below the threshold to the front, both sides in their old order. */
static int64_t part_rows(grower *g, const leaf *l, int64_t *scratch) {
    int64_t left = l->from, kept = 0;
    for (int64_t i = l->from; i < l->to; i++) {
        const int64_t row = g->order[i];
        if (g->bin[row * g->map->coordinates + l->coordinate] <= l->bin)
            g->order[left++] = row;
        else
            scratch[kept++] = row;
    }
    memcpy(g->order + left, scratch, (size_t)kept * sizeof *scratch);
    return left;
}

static pess_status split_leaf(grower *g, leaf *l, int64_t *scratch, pess_error *error) {
    pess_map *map = g->map;
    const int64_t middle = part_rows(g, l, scratch);
    const int32_t left = (int32_t)map->nodes++, right = (int32_t)map->nodes++;
    map->node[l->node] = (pess__tree_node){.coordinate = l->coordinate,
                                           .left = left,
                                           .right = right,
                                           .cell = -1,
                                           .threshold = g->edge[l->coordinate * (BINS - 1) + l->bin]};
    map->node[left] = map->node[right] = (pess__tree_node){.coordinate = -1};
    leaf *other = &g->leaves[g->leaf_count++];
    *other = (leaf){.from = middle, .to = l->to, .node = right};
    *l = (leaf){.from = l->from, .to = middle, .node = left};
    PESS_TRY(find_question(g, l, error));
    return find_question(g, other, error);
}

/* Cells are numbered from left to right. */
static void number_leaves(pess_map *map, int32_t at) {
    pess__tree_node *node = &map->node[at];
    if (node->coordinate < 0) {
        node->cell = (int32_t)map->cells++;
        return;
    }
    number_leaves(map, node->left);
    number_leaves(map, node->right);
}

static pess_status grow(grower *g, int64_t *scratch, pess_error *error) {
    const int64_t most = g->making->options->cells;
    g->map->nodes = g->leaf_count = 1;
    g->leaves[0] = (leaf){.to = g->rows};
    PESS_TRY(find_question(g, &g->leaves[0], error));
    while (g->leaf_count < most) {
        leaf *best = &g->leaves[0];
        for (int64_t i = 1; i < g->leaf_count; i++)
            if (g->leaves[i].gain > best->gain) best = &g->leaves[i];
        if (!(best->gain > 0)) break;
        PESS_TRY(split_leaf(g, best, scratch, error));
    }
    if (g->leaf_count == 1)
        return pess__fail(error, PESS_INPUT,
                          "tree: found no split that separates outcomes among %lld rows, expected one with at least "
                          "%d rows on each side",
                          (long long)g->rows, LEAST_ROWS);
    number_leaves(g->map, 0);
    return PESS_OK;
}

/* ---- the method */

static pess_status create(grower *g, pess_error *error) {
    const int64_t k = g->map->coordinates, cells = g->making->options->cells;
    const char *what = "the tree";
    g->targets = 1 + k;
    g->rows = g->making->count < MOST_ROWS ? g->making->count : MOST_ROWS;
    PESS_TRY(pess__allocate(&g->pick, g->rows, sizeof *g->pick, what, error));
    PESS_TRY(pess__allocate(&g->bin, g->rows * k, sizeof *g->bin, what, error));
    PESS_TRY(pess__allocate(&g->edge, k * (BINS - 1), sizeof *g->edge, what, error));
    PESS_TRY(pess__allocate(&g->target, g->rows * g->targets, sizeof *g->target, what, error));
    PESS_TRY(pess__allocate(&g->order, g->rows, sizeof *g->order, what, error));
    PESS_TRY(pess__allocate(&g->leaves, cells, sizeof *g->leaves, what, error));
    PESS_TRY(pess__allocate(&g->map->node, 2 * cells, sizeof *g->map->node, what, error));
    for (int64_t i = 0; i < g->rows; i++) {
        g->pick[i] = i * g->making->count / g->rows;
        g->order[i] = i;
    }
    return PESS_OK;
}

static pess_status make_tree(grower *g, pess_error *error) {
    int64_t *next = NULL, *scratch = NULL;
    double *sorted = NULL;
    pess_status status = pess__next_rows(g->making->measurements, &next, error);
    if (status == PESS_OK) status = fill_futures(g, next, error);
    if (status == PESS_OK) status = pess__allocate(&sorted, g->rows, sizeof *sorted, "the tree", error);
    for (int64_t j = 0; status == PESS_OK && j < g->map->coordinates; j++) bin_column(g, j, sorted);
    if (status == PESS_OK) status = pess__allocate(&scratch, g->rows, sizeof *scratch, "the tree", error);
    if (status == PESS_OK) status = grow(g, scratch, error);
    free(next);
    free(sorted);
    free(scratch);
    return status;
}

static void find(const pess_map *map, const float *x, const double *raw, int64_t rows, uint32_t *cell) {
    (void)x;
    for (int64_t i = 0; i < rows; i++) {
        const pess__tree_node *node = map->node;
        while (node->coordinate >= 0)
            node =
                map->node + (raw[i * map->coordinates + node->coordinate] < node->threshold ? node->left : node->right);
        cell[i] = (uint32_t)node->cell;
    }
}

static pess_status make(const pess__making *making, pess_map *map, uint32_t *cell, pess_error *error) {
    grower g = {.making = making, .map = map};
    pess_status status = create(&g, error);
    if (status == PESS_OK) status = make_tree(&g, error);
    free(g.pick);
    free(g.bin);
    free(g.edge);
    free(g.target);
    free(g.order);
    free(g.leaves);
    if (status == PESS_OK) find(map, making->x, making->raw, making->count, cell);
    return status;
}

static void write_nodes(const pess_map *map, pess__sink *sink) {
    for (int64_t i = 0; i < map->nodes; i++) {
        const pess__tree_node *node = &map->node[i];
        pess__sink_u32(sink, (uint32_t)node->coordinate);
        pess__sink_u32(sink, node->coordinate < 0 ? (uint32_t)node->cell : (uint32_t)node->left);
        pess__sink_u32(sink, (uint32_t)node->right);
        pess__sink_double(sink, node->threshold);
    }
}

/* Every node but the root is the child of one before it, and every cell is a leaf, so that every walk ends. */
static pess_status check_nodes(const pess_map *map, const char *name, pess_error *error) {
    uint8_t *seen = NULL;
    PESS_TRY(pess__allocate(&seen, map->nodes + map->cells, 1, "the tree", error));
    bool sound = true;
    for (int64_t i = 0; i < map->nodes && sound; i++) {
        const pess__tree_node *node = &map->node[i];
        if (node->coordinate < 0) {
            sound = node->coordinate == -1 && node->cell >= 0 && node->cell < map->cells &&
                    seen[map->nodes + node->cell]++ == 0;
            continue;
        }
        sound = node->coordinate < map->coordinates && isfinite(node->threshold) && node->left > i && node->right > i &&
                node->left < map->nodes && node->right < map->nodes && seen[node->left]++ == 0 &&
                seen[node->right]++ == 0;
    }
    free(seen);
    if (sound) return PESS_OK;
    return pess__fail(error, PESS_INPUT, "%s: damaged: its nodes are not a tree", name);
}

static pess_status read_nodes(pess_map *map, pess__cursor *cursor, pess_error *error) {
    map->nodes = 2 * map->cells - 1;
    if (cursor->left / 20 < (size_t)map->nodes)
        return pess__fail(error, PESS_INPUT, "%s: truncated: %zu bytes for the %lld nodes of its tree", cursor->name,
                          cursor->left, (long long)map->nodes);
    PESS_TRY(pess__allocate(&map->node, map->nodes, sizeof *map->node, "the tree", error));
    for (int64_t i = 0; i < map->nodes; i++) {
        pess__tree_node *node = &map->node[i];
        node->coordinate = (int32_t)pess__cursor_u32(cursor);
        node->left = node->cell = (int32_t)pess__cursor_u32(cursor);
        node->right = (int32_t)pess__cursor_u32(cursor);
        node->threshold = pess__cursor_double(cursor);
    }
    return check_nodes(map, cursor->name, error);
}

/* The bounds on each coordinate along the way to the leaf. */
static bool walk_to(const pess_map *map, int32_t at, int64_t cell, double *low, double *high) {
    const pess__tree_node *node = &map->node[at];
    if (node->coordinate < 0) return node->cell == cell;
    double *const up = &high[node->coordinate], *const down = &low[node->coordinate];
    const double old_high = *up, old_low = *down;
    if (node->threshold < *up) *up = node->threshold;
    if (walk_to(map, node->left, cell, low, high)) return true;
    *up = old_high;
    if (node->threshold > *down) *down = node->threshold;
    if (walk_to(map, node->right, cell, low, high)) return true;
    *down = old_low;
    return false;
}

static void describe(const pess_map *map, int64_t cell, char *text, size_t size) {
    double low[PESS__MAX_COORDINATES], high[PESS__MAX_COORDINATES];
    for (int64_t j = 0; j < map->coordinates; j++) low[j] = -INFINITY, high[j] = INFINITY;
    (void)walk_to(map, 0, cell, low, high);
    for (int64_t j = 0; j < map->coordinates; j++)
        if (isfinite(low[j]) || isfinite(high[j])) pess__describe_interval(map, j, low[j], high[j], text, size);
}

const pess__map_method pess__map_method_tree = {true, make, find, write_nodes, read_nodes, describe};

bool pess_map_get_node(const pess_map *map, int64_t index, pess_map_node *out) {
    if (index < 0 || index >= map->nodes) return false;
    const pess__tree_node *node = &map->node[index];
    *out = (pess_map_node){.cell = node->coordinate < 0 ? node->cell : -1, .feature = -1};
    if (node->coordinate < 0) return true;
    const int32_t flag = map->flag_of[node->coordinate];
    *out = (pess_map_node){.feature = flag >= 0 ? flag : node->coordinate,
                           .missing = flag >= 0,
                           .threshold = node->threshold,
                           .below = node->left,
                           .otherwise = node->right,
                           .cell = -1};
    return true;
}
